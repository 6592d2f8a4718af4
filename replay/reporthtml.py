"""A report as a page of its own: nothing is loaded from anywhere, light and dark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape

from replay.backtest import Lived, Outcome
from replay.charts import svg
from replay.compare import KINDS, Comparison, Difference, OldNew, of_kind
from replay.recordplan import spell
from replay.report import OfRule, Report, naming, reasons, worst_of
from replay.reporttext import NOTHING, aside, covered, headline_words, lasted, weekly
from shared.model import iso, time_of

MOST_CHARTS = 8
"""Charts a rule, the worst episodes first."""
MOST_ROWS = 50
"""Rows of a table of differences."""
_STYLE = """
:root { color-scheme: light dark; --page: #ffffff; --card: #f6f7f9; --line: #d8dce2; --ink: #24292f;
  --soft: #57606a; --faint: #e3e6ea; --signal: #0b5cad; --expected: #177245; --threshold: #b3261e;
  --band: #fde3df; --critical: #b3261e; --warning: #8a5300; --info: #0b5cad; --note: #fff4d6; }
@media (prefers-color-scheme: dark) { :root { --page: #14171c; --card: #1c2027; --line: #363c46;
  --ink: #e4e7eb; --soft: #a3abb6; --faint: #2b3039; --signal: #7ab8f5; --expected: #6fcf97;
  --threshold: #ff8a80; --band: #46282a; --critical: #ff8a80; --warning: #f2b84b; --info: #7ab8f5;
  --note: #3a3115; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 24px 20px 60px; max-width: 1080px; background: var(--page);
  color: var(--ink); font: 15px/1.5 system-ui, "Segoe UI", Roboto, "Liberation Sans", sans-serif; }
h1 { font-size: 24px; margin: 0 0 2px; } h2 { font-size: 19px; margin: 40px 0 4px; }
h3 { font-size: 15px; margin: 24px 0 6px; } p { margin: 4px 0; } .soft { color: var(--soft); }
.big { font-size: 20px; font-weight: 600; margin-top: 12px; }
.wide { overflow-x: auto; margin: 16px 0; } table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: 6px 16px 6px 0; border-bottom: 1px solid var(--line);
  vertical-align: top; } th { font-weight: 600; color: var(--soft); white-space: nowrap; }
td:last-child { padding-right: 0; overflow-wrap: anywhere; } summary { cursor: pointer; }
.n { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
a { color: inherit; } td a { font-weight: 600; } .critical { color: var(--critical); }
.warning { color: var(--warning); } .info { color: var(--info); }
.note { background: var(--note); border-radius: 6px; padding: 8px 12px; margin: 10px 0; }
figure { margin: 14px 0; padding: 12px 14px 6px; background: var(--card); border-radius: 8px;
  border: 1px solid var(--line); } figcaption { margin-bottom: 6px; }
svg { display: block; width: 100%; height: auto; font-family: inherit; }
svg * { stroke-linejoin: round; stroke-linecap: butt; }
.key { display: flex; flex-wrap: wrap; gap: 4px 22px; margin: 14px 0 0; color: var(--soft); }
.key i { display: inline-block; width: 22px; height: 0; border-top: 3px solid; margin-right: 7px;
  vertical-align: middle; } .key .band { height: 12px; border: 0; background: var(--band); }
.badge { border: 1px solid currentColor; border-radius: 10px; padding: 0 8px; font-size: 13px; }
"""
_KEY = (
    '<p class="key"><span><i style="border-color:var(--signal)"></i>signal, as it is judged</span>'
    '<span><i style="border-color:var(--expected)"></i>expected</span>'
    '<span><i style="border-top-style:dashed;border-color:var(--threshold)"></i>threshold</span>'
    '<span><i style="border-top-style:dotted;border-color:var(--threshold)"></i>told</span>'
    '<span><i class="band"></i>first breach to end</span></p>'
)


def page(report: Report, outcomes: Sequence[Outcome], comparison: Comparison | None) -> str:
    """The whole page.

    Raises:
        ChartsError: Matplotlib is missing.
    """
    alone = tuple(OldNew(rule.name, rule, rule) for rule in report.rules)
    found = comparison.differences if comparison else ()
    head = escape(headline_words(report, comparison))
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8"><title>Tokenwatch backtest</title>',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<style>{_STYLE}</style></head><body>",
        f'<h1>Tokenwatch backtest</h1><p class="soft">{escape(covered(report))}</p>',
        f'<p class="big">{head}</p>',
        *_notes([*report.notes, *(comparison.notes if comparison else ())]),
        _table(comparison.rules if comparison else alone),
        *(_differences(comparison) if comparison else ()),
        _unknown(report),
        _KEY if report.episodes else '<p class="soft">No rule fired.</p>',
        *(part for rule in report.rules for part in _rule(rule, outcomes, found)),
        "</body></html>\n",
    ]
    return "\n".join(parts)


def _notes(notes: Iterable[str]) -> Iterator[str]:
    return (f'<p class="note">{escape(note)}</p>' for note in notes)


def _grid(titles: Sequence[str], numbers: Sequence[int], rows: Iterable[Sequence[str]]) -> str:
    """A table of cells that are HTML already; `numbers` are columns that are aligned right."""

    def cells(tag: str, row: Sequence[str]) -> str:
        return "".join(
            f"<{tag}{' class=n' if n in numbers else ''}>{cell}</{tag}>"
            for n, cell in enumerate(row)
        )

    body = "".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
    return f'<div class="wide"><table><tr>{cells("th", titles)}</tr>{body}</table></div>'


def _table(rules: Iterable[OldNew]) -> str:
    titles = ("rule", "episodes", "firing", "messages a week", "noisiest")
    return _grid(titles, (1, 2, 3), map(_row, rules))


def _row(rule: OldNew) -> list[str]:
    old, new = rule.old or NOTHING, rule.new or NOTHING
    known = rule.new or old
    name = escape(rule.name)
    link = f'<a href="#{name}">{name}</a>' if new.episodes else name
    return [
        f'{link}<br><span class="{known.severity}">{known.severity} {aside(rule)}</span>',
        _pair(f"{old.episodes:,}", f"{new.episodes:,}"),
        _pair(spell(old.minutes), spell(new.minutes)),
        _pair(weekly(old.messages_a_week), weekly(new.messages_a_week)),
        "<br>".join(escape(f"{p.deployment} {p.episodes}x") for p in new.noisiest),
    ]


def _unknown(report: Report) -> str:
    rows = [
        [escape(rule.name), escape(reasons(rule.unknown, rule.verdicts))]
        for rule in report.rules
        if rule.unknown
    ]
    if not rows:
        return ""
    summary = "<summary>Unknown verdicts, and why</summary>"
    return f"<details>{summary}{_grid(('rule', 'share and reason'), (), rows)}</details>"


def _pair(old: str, new: str) -> str:
    return new if old == new else f'<span class="soft">{old} &rarr;</span> <b>{new}</b>'


def _differences(comparison: Comparison) -> Iterator[str]:
    titles = ("rule", "deployment", "from (UTC)", "lasted", "worst")
    for kind in KINDS:
        mine = of_kind(comparison.differences, kind)
        if not mine:
            continue
        rows = (
            (one.rule, one.deployment, one.since[:16].replace("T", " "), lasted(one), one.worst)
            for one in mine[:MOST_ROWS]
        )
        yield f"<h3>Episodes {kind}: {len(mine):,}</h3>"
        yield _grid(titles, (), ([escape(cell) for cell in row] for row in rows))
        yield _more(len(mine) - MOST_ROWS)


def _more(number: int) -> str:
    return f'<p class="soft">+{number:,} more</p>' if number > 0 else ""


def _rule(
    rule: OfRule, outcomes: Sequence[Outcome], differences: Sequence[Difference]
) -> Iterator[str]:
    if not rule.episodes:
        return
    say = naming(outcomes)
    worst, more = worst_of(outcomes, rule.name, MOST_CHARTS)
    name = escape(rule.name)
    episodes = f"{rule.episodes:,} episode{'s' * (rule.episodes != 1)}"
    said = f"{rule.severity} {aside(OldNew(name, rule, rule))}".strip()
    yield f'<h2 id="{name}">{name}</h2>'
    yield (
        f'<p class="soft"><span class="{rule.severity}">{said}</span>, {episodes}, '
        f"{spell(rule.minutes)} firing</p>"
    )
    for one in worst:
        mine = (d for d in differences if d.rule == rule.name and _is_of(d, one))
        yield _figure(one, say(one.deployment), next((d.kind for d in mine), ""))
    yield _more(more)


def _is_of(difference: Difference, one: Lived) -> bool:
    """Whether the episode is among those of a difference."""
    place = difference.account == one.deployment.account
    within = difference.since <= iso(one.since) and iso(one.until) <= difference.until
    return place and within and difference.name.casefold() == one.deployment.name.casefold()


def _figure(one: Lived, deployment: str, badge: str) -> str:
    ended = "still fires" if one.open else one.reason or "nobody was told"
    said = [f"{time_of(one.since):%Y-%m-%d %H:%M}", spell(one.minutes), ended]
    said += [f"worst {one.worst}"] if one.worst else []
    told = f"{one.messages} message{'s' * (one.messages != 1)}"
    signal = f" &middot; {escape(one.curve.title)}" if one.curve else ""
    badge = f' <span class="badge">{badge}</span>' if badge else ""
    caption = f"<b>{escape(deployment)}</b>{signal}{badge}<br>"
    caption += f'<span class="soft">{escape(", ".join([*said, told]))}</span>'
    label = f"{one.rule} on {deployment} from {time_of(one.since):%Y-%m-%d %H:%M}"
    chart = svg(one.curve, one.since, one.until, one.fired, label) if one.curve else ""
    return f"<figure><figcaption>{caption}</figcaption>{chart}</figure>"
