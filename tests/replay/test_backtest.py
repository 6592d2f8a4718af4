"""A backtest says what the watchdog would have said, and what a change of the rules does to it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from cli.sources import WORLDS
from emulator.faults import ErrorCode, Fault
from emulator.world import World
from replay.backtest import Lived, Outcome, Span, cut, judge_deployment
from replay.backtestchanges import ChangesError, read_changes
from replay.backtestpool import Work, judge_all
from replay.backtestref import RefError, rules_at
from replay.backtestrun import Against, Found, SpanError, run, span_of
from replay.compare import overlapping
from replay.live import judge_past
from replay.recorded import Blind, Recorded, load, past_of
from replay.recordplan import DAY, LEAD_IN
from replay.report import Report, report
from replay.reporthtml import MOST_CHARTS, page
from replay.reportmarkdown import LONGEST, markdown, plain
from shared.model import Account, Change, Component, Event
from shared.model import Deployment as Place
from shared.rulebook.load import load as load_rules
from shared.rulebook.rules import Rulebook
from shared.rulebook.silences import Silence
from tests.browser.chromium import missing
from tests.pipeline.story import ACCOUNT, START, Deployment, recording, rule, rules_folder, scene
from tests.replay.azure import BOOK, ROOT, azure, command, tapes, write_file

HERE = Account(ACCOUNT.casefold(), "swedencentral")
FULL = rule("Full", "utilization >= 100%", over="1m", for_="3 of 5")


def recorded(*deployments: Deployment, lead_in: int = 60) -> Recorded:
    found = tapes(*deployments)
    end = START + max(one.minutes for one in deployments)
    accounts = {HERE.id: HERE}
    return Recorded(found, accounts, START, START + lead_in, end)


def rulebook(folder: Path, *rules: str) -> Rulebook:
    folder.mkdir(exist_ok=True)
    book = load_rules(rules_folder(folder, *rules))
    assert not book.errors, book.errors
    return book


def judged(
    history: Recorded, book: Rulebook, against: Rulebook | None = None, curves: int = 0
) -> Found:
    before = Against("main", against) if against else None
    return run(history, book, span_of(history, None, None), (), before, 1, curves, lambda _: None)


def key(event: Event) -> tuple[int, str, str]:
    return event.slot, event.id, event.kind


def test_live_and_backtest_say_the_same(tmp_path: Path) -> None:
    """A world that is recorded and backtested gives the events of a watchdog that lived it, to the
    last fact and the last point of their charts."""
    world = World.load(WORLDS / "small.yaml")
    changes = tuple(Change(c.kind, int(c.at), c.deployment, c.reference) for c in world.changes)
    with scene(world, tmp_path) as stage, stage.watchdog() as watch:
        for change in changes:
            watch.ledger.record_change(change)
        slots = range(world.start, world.end)
        live = [event for slot in slots for event in stage.tick(watch, slot).events]
    out = tmp_path / "small.parquet"
    with azure(world) as there:
        there.record(out, there.asked(world.start, world.end, lead_in=LEAD_IN))
    history = load(out)
    span = span_of(history, None, None)
    again: list[Event] = []
    for tape in history.tapes:
        account = history.account(tape)
        past = past_of(tape, account, history.begin, history.end, BOOK.needed)
        again += judge_deployment(BOOK, account, past, span, changes).events
    assert len(live) >= 16
    assert sorted(again, key=key) == sorted(live, key=key)


def test_the_numbers_of_a_rule(tmp_path: Path) -> None:
    """Episodes, minutes from the first breach to the end, messages, the noisiest deployment."""
    often = Deployment(400, "often")
    for at in (100, 200, 300):
        often.set("utilization", 120, at, at + 10)
    once = Deployment(400, "once").set("utilization", 120, 380)
    found = judged(recorded(often, once), rulebook(tmp_path, FULL)).report
    (full,) = found.rules
    assert full.episodes == 4
    # Ten minutes of breach, and clear from the eleventh minute after them; the last one is open.
    assert full.minutes == 3 * 20 + 20
    assert full.by_kind == {"fired": 4, "resolved": 3}
    assert full.messages_a_week == pytest.approx(7 * 7 * DAY / 340, abs=0.01)
    assert [(p.deployment, p.episodes, p.minutes) for p in full.noisiest] == [
        ("often", 3, 60),
        ("once", 1, 20),
    ]
    assert [one.open for one in found.episodes] == [False, False, False, True]
    assert full.verdicts == 2 * 340


def test_what_is_not_told_is_an_episode_and_no_message(tmp_path: Path) -> None:
    """Observed or silenced, or another rule says more: they count as episodes alone."""
    chat = Deployment(200).set("utilization", 120, 100, 120)
    named = [rule(name, "utilization >= 100%", over="1m", for_="0") for name in ("More", "Less")]
    named.append(rule("Quiet", "utilization >= 100%", over="1m", for_="0"))
    named.append(rule("Seen", "utilization >= 100%", over="1m", for_="0", mode="observe"))
    book = rulebook(tmp_path, *named)
    rules = tuple(replace(r, unless=("More",) if r.name == "Less" else ()) for r in book.rules)
    silence = Silence("planned work", "ops", ("Quiet",))
    found = judged(recorded(chat), replace(book, rules=rules, silences=(silence,))).report
    numbers = {r.name: (r.episodes, r.messages, r.muted) for r in found.rules}
    assert numbers == {"More": (1, 2, 0), "Less": (1, 0, 1), "Quiet": (1, 0, 1), "Seen": (1, 0, 1)}


def test_reminders_are_messages(tmp_path: Path) -> None:
    """What is told again and again counts each time."""
    chat = Deployment(400).set("utilization", 120, 100)
    book = rulebook(tmp_path, rule("Full", "utilization >= 100%", over="1m", for_="0"))
    (full,) = book.rules
    again = replace(book, rules=(replace(full, remind_every=60),))
    (found,) = judged(recorded(chat), again).report.rules
    assert found.by_kind == {"fired": 1, "reminded": 4}


def test_unknown_verdicts_have_their_reason(tmp_path: Path) -> None:
    """Why a rule could not tell: here half of the time nobody asked anything."""
    chat = Deployment(460).silent(260)
    (full,) = judged(recorded(chat), rulebook(tmp_path, FULL)).report.rules
    assert full.unknown == {"idle": 200}
    assert full.verdicts == 400


def test_without_lead_in_the_beginning_is_learning(tmp_path: Path) -> None:
    """Nothing is known before the recording begins, and the report says so."""
    slow = rule("Slow", "ttlt > 2 * baseline(ttlt)", needs="requests >= 5")
    found = judged(recorded(Deployment(DAY), lead_in=0), rulebook(tmp_path, slow)).report
    assert found.rules[0].unknown["learning"] > 100
    assert any("0 min of history" in n and "`learning`" in n for n in found.notes)


def test_fits_know_nothing_of_the_future(tmp_path: Path) -> None:
    """What comes after a minute does not change what was said of it."""
    slow = rule("Slow", "ttlt > 1.5 * baseline(ttlt)", needs="requests >= 5", for_="0")
    book = rulebook(tmp_path, slow)
    calm, wild = (Deployment(3 * DAY).set("ttlt", 5000, 2000, 2100) for _ in range(2))
    wild.set("ttlt", 9000, 2500)
    early, late = (judged(recorded(one, lead_in=DAY), book).report for one in (calm, wild))
    before = [one for one in late.episodes if one.since == early.episodes[0].since]
    assert [one.until for one in before] == [early.episodes[0].until]
    assert len(late.episodes) == 2


def test_fits_that_come_to_nothing_may_be_spared(tmp_path: Path) -> None:
    """A metric without a point gives the same verdicts whether its fits are tried or not."""
    low = rule("Low", "cache_match_rate < 0.5 * baseline(cache_match_rate)", for_="0")
    slow = rule("Slow", "ttlt > 1.5 * baseline(ttlt)", needs="requests >= 5", for_="0")
    book = rulebook(tmp_path, low, slow)
    chat = Deployment(2 * DAY).set("ttlt", 5000, 2000, 2100).set("cache", np.nan)
    history = recorded(chat, lead_in=300)
    span = span_of(history, None, None)
    past = past_of(history.tapes[0], HERE, history.begin, history.end, book.needed)
    outcome = judge_deployment(book, HERE, past, span)
    whole = judge_past(book, HERE, past, span.first, span.last)
    assert outcome.events == whole.events
    assert outcome.tally == whole.tally
    assert len(whole.events) == 2


def test_a_gap_of_the_recording_is_no_idleness(tmp_path: Path) -> None:
    """Where Azure Monitor could not be read the verdict is `query failed`, and alerts hold."""
    chat = Deployment(DAY + 200).set("utilization", 120, DAY - 20, DAY + 30)
    out = tmp_path / "a.parquet"
    with azure(recording(chat)) as there:
        fault = ErrorCode(code="Forbidden")
        there.server.faults.set(Fault(effect=fault, metric="*UtilizationV2", calls=(4, 99)))
        asked = there.asked(START, START + DAY + 200)
        there.record(out, asked, allow_gaps=True)
    history = load(out)
    (full,) = judged(history, rulebook(tmp_path, FULL)).report.rules
    assert full.unknown == {"query failed": 200}
    (episode,) = judged(history, rulebook(tmp_path / "b", FULL)).report.episodes
    assert episode.open, "not being able to see is no recovery"
    assert any("could not be read" in n for n in judged(history, BOOK).report.notes)


def test_what_was_not_recorded_is_said(tmp_path: Path) -> None:
    """A recording for other rules cannot judge this one; nobody takes it for silence."""
    folder = rules_folder(tmp_path, rule("Slow", "ttlt > 9s"))
    out = tmp_path / "a.parquet"
    with azure(recording(Deployment(300))) as there:
        there.record(out, there.asked(START, START + 300, load_rules(folder)))
    found = judged(load(out), rulebook(tmp_path / "b", FULL)).report
    assert found.rules[0].unknown == {"query failed": 300}
    assert any("has no AzureOpenAIProvisionedManaged" in n and "Full" in n for n in found.notes)


A, B = (Component(name, "total") for name in ("A", "B"))


@pytest.mark.parametrize(
    ("blind", "pieces"),
    [
        ([], [(10, 19, set())]),
        ([Blind(0, 99, frozenset([A]))], [(10, 19, {A})]),
        ([Blind(12, 15, frozenset([A]))], [(10, 11, set()), (12, 14, {A}), (15, 19, set())]),
        (
            [Blind(0, 15, frozenset([A])), Blind(13, 30, frozenset([B]))],
            [(10, 12, {A}), (13, 14, {A, B}), (15, 19, {B})],
        ),
    ],
)
def test_a_span_is_cut_where_sight_changes(
    blind: list[Blind], pieces: list[tuple[int, int, set[Component]]]
) -> None:
    """Each piece has one set of components that cannot be seen."""
    found = [(first, last, set(missing)) for first, last, missing in cut(Span(0, 10, 19), blind)]
    assert found == pieces


def test_processes_change_nothing(tmp_path: Path) -> None:
    """Two processes find what one finds, in the same order."""
    several = [Deployment(300, f"d{n}").set("utilization", 120, 100 + n, 120) for n in range(5)]
    history = recorded(*several)
    work = Work((rulebook(tmp_path, FULL), BOOK), history, span_of(history, None, None))
    counted: list[int] = []
    assert judge_all(work, 2, counted.append) == judge_all(work, 1, lambda _: None)
    assert counted == [1, 2, 3, 4, 5]


def test_a_span_outside_the_recording_is_refused() -> None:
    """What is not there cannot be judged; the text says what is."""
    history = recorded(Deployment(100))
    with pytest.raises(SpanError, match="choose --from and --to within it"):
        span_of(history, START - 5, None)


def lived(since: int, until: int) -> Lived:
    return Lived("Full", Place("a", "chat"), since, until, open=False)


@pytest.mark.parametrize(
    ("old", "new", "groups"),
    [
        ([], [], []),
        ([(1, 5)], [(1, 5)], [(1, 1)]),
        ([(1, 5)], [(5, 9)], [(1, 0), (0, 1)]),
        ([(1, 5)], [(4, 9)], [(1, 1)]),
        ([(1, 9)], [(2, 3), (5, 6)], [(1, 2)]),
        ([(1, 3), (5, 8), (20, 30)], [(2, 6)], [(2, 1), (1, 0)]),
        ([(1, 2)], [(1, 2), (9, 10)], [(1, 1), (0, 1)]),
    ],
)
def test_episodes_are_matched_by_time(
    old: list[tuple[int, int]], new: list[tuple[int, int]], groups: list[tuple[int, int]]
) -> None:
    """Old and new episodes that overlap are one matter, however they are divided."""
    sides = [[lived(*one) for one in side] for side in (old, new)]
    assert [(len(was), len(now)) for was, now in overlapping(*sides)] == groups


def test_what_a_change_of_the_rules_does(tmp_path: Path) -> None:
    """Added, removed, longer and shorter episodes, by rule and with old and new counts."""
    chat = Deployment(800)
    for at, value in ((100, 105), (200, 120), (300, 96)):
        chat.set("utilization", value, at, at + 20)
    chat.set("throttled", 5, 500, 520)
    refused = rule("Refused", "throttled_requests >= 1", over="1m", for_="0")
    brief = rule("Brief", "utilization >= 118%", over="1m", for_="0", keep_firing_for="5m")
    old = rulebook(tmp_path / "old", FULL, refused, brief)
    lower = rule("Full", "utilization >= 95%", over="1m", for_="3 of 5")
    longer = rule("Brief", "utilization >= 118%", over="1m", for_="0", keep_firing_for="9m")
    new = rulebook(tmp_path / "new", lower, longer)
    found = judged(recorded(chat), new, old)
    assert found.comparison
    kinds = [
        (one.kind, one.rule, one.old_minutes, one.new_minutes)
        for one in found.comparison.differences
    ]
    assert kinds == [
        ("longer", "Brief", 25, 29),
        ("added", "Full", 0, 30),
        ("removed", "Refused", 30, 0),
    ]
    rules = {r.name: (r.added, r.removed, r.longer) for r in found.comparison.rules}
    assert rules == {"Full": (1, 0, 0), "Brief": (0, 0, 1), "Refused": (0, 1, 0)}
    (gone,) = [r for r in found.comparison.rules if r.new is None]
    assert gone.old is not None
    assert gone.old.messages == 2


def git(folder: Path, *words: str) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.com"]
    subprocess.run(["git", "-C", str(folder), *identity, *words], check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository whose rules were changed since its one commit."""
    top = tmp_path / "repository"
    top.mkdir()
    folder = rules_folder(top, FULL)
    git(top, "init", "-b", "main")
    (folder / "notes.txt").write_text("no rules", "utf-8")
    (folder / "linked.yaml").symlink_to("/etc/passwd")
    git(top, "add", ".")
    git(top, "commit", "-m", "rules")
    (folder / "linked.yaml").unlink()
    (folder / "rules-0.yaml").write_text(
        "rules:\n" + rule("Full", "utilization >= 95%", over="1m", for_="3 of 5"), "utf-8"
    )
    return top


def test_the_rules_of_a_commit(repository: Path) -> None:
    """The files as they were, nothing but rule files, and the working tree untouched."""
    before = (repository / "rules" / "rules-0.yaml").read_text("utf-8")
    with rules_at("main", repository / "rules") as folder:
        assert sorted(path.name for path in folder.iterdir()) == ["rules-0.yaml", "signals.yaml"]
        assert "100%" in (folder / "rules-0.yaml").read_text("utf-8")
    assert not folder.exists()
    assert (repository / "rules" / "rules-0.yaml").read_text("utf-8") == before


@pytest.mark.parametrize(
    ("reference", "why"),
    [
        ("nowhere", "git knows no 'nowhere'"),
        ("--output=stolen", "is no branch"),
        ("-h", "is no branch"),
        ("main; touch stolen", "git knows no"),
        ("$(touch stolen)", "git knows no"),
        ("main:rules", "git knows no"),
        ("", "is no branch"),
    ],
)
def test_a_reference_that_is_none_is_refused(repository: Path, reference: str, why: str) -> None:
    """A name is a name: neither an option of git nor a line for a shell."""
    with pytest.raises(RefError) as refused, rules_at(reference, repository / "rules"):
        pass
    assert why in str(refused.value)
    assert not list(repository.rglob("stolen"))


def test_outside_a_repository_there_is_nothing_to_compare(tmp_path: Path) -> None:
    """Git's own words are passed on."""
    folder = rules_folder(tmp_path, FULL)
    with pytest.raises(RefError, match="not a git repository"), rules_at("main", folder):
        pass


def many(number: int, name: str = "chat") -> Found:
    """A report of many episodes."""
    place = Place(HERE.id, name)
    times = [(START + 60 * n, START + 60 * n + n % 50 + 1) for n in range(number)]
    every = [replace(lived(*time), deployment=place, worst="120 %") for time in times]
    outcome = Outcome(place, tuple(every))
    return Found(_reported([outcome]), [outcome])


def _reported(outcomes: Sequence[Outcome]) -> Report:
    book = replace(BOOK, rules=(replace(BOOK.rules[0], name="Full"),))
    return report(book, outcomes, Span(START - 60, START, START + 7 * DAY - 1))


@pytest.mark.parametrize("number", [0, 1, 3000])
def test_a_comment_is_bounded(number: int) -> None:
    """A pull request takes 65,536 characters: what is left out is counted."""
    text = markdown(many(number).report, None)
    assert len(text) <= LONGEST
    assert text.count("<details>") == text.count("</details>")
    assert ("more" in text) == (number == 3000)


def test_names_mean_nothing_in_a_comment() -> None:
    """A deployment can neither break a table, nor mention anybody, nor bring HTML along."""
    text = markdown(many(1, "a|b <img> @team [x](http://e) `c`").report, None)
    assert "<img" not in text
    assert "@team" not in text
    assert "a\\|b" in text
    assert plain("x\n\n# y") == "x \\# y"


def test_the_page_stands_alone_and_can_be_read(tmp_path: Path) -> None:
    """Nothing is loaded, texts stand out in light and dark, and charts are bounded."""
    if problem := missing():
        pytest.skip(problem)
    chat = Deployment(2000, "a<b>&'\"c")
    for at in range(100, 1900, 100):
        chat.set("utilization", 120, at, at + 10)
    slow = rule("Slow", "ttlt > 1.5 * baseline(ttlt)", needs="requests >= 5", for_="0")
    chat.set("ttlt", 9000, 1500, 1600)
    history = recorded(chat, lead_in=0)
    book, old = rulebook(tmp_path / "n", FULL, slow), rulebook(tmp_path / "o", slow)
    found = judged(history, book, old, curves=MOST_CHARTS)
    path = tmp_path / "page.html"
    path.write_text(page(found.report, found.outcomes, found.comparison), "utf-8")
    views = [("light", 1000), ("dark", 1000), ("light", 380)]
    for seen in looked_at(path, views):
        assert seen["pale"] == []
        assert seen["said"] == []
        assert seen["loaded"] == [path.as_uri()]
        assert not seen["scrolls"]
        assert seen["charts"] == MOST_CHARTS + 1
    text = path.read_text("utf-8")
    assert "+10 more" in text
    assert "a<b>" not in text
    assert text.count('class="badge">added<') == MOST_CHARTS


def looked_at(path: Path, views: list[tuple[str, int]]) -> list[dict[str, object]]:
    """What Chromium shows of a page, in some schemes and widths."""
    asked = [{"url": path.as_uri(), "width": width, "scheme": scheme} for scheme, width in views]
    done = subprocess.run(
        ["node", str(Path(__file__).with_name("page.mjs"))],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    seen: list[dict[str, object]] = json.loads(done.stdout)
    return seen


def test_a_curve_is_what_the_engine_saw(tmp_path: Path) -> None:
    """Signal, threshold and expectation of a chart, with the fits of the episode's beginning."""
    slow = rule("Slow", "ttlt > 1.5 * baseline(ttlt)", needs="requests >= 5", for_="0")
    chat = Deployment(2 * DAY).set("ttlt", 5000, DAY + 600, DAY + 700)
    found = judged(recorded(chat, lead_in=DAY), rulebook(tmp_path, slow), curves=1)
    (episode,) = found.outcomes[0].lived
    curve = episode.curve
    assert curve is not None
    assert (curve.title, str(curve.unit), curve.sign) == ("TTLT", "ms", ">")
    assert np.nanmax(curve.values) == 5000
    assert curve.expected is not None
    assert np.allclose(curve.expected, 2000, rtol=0.02)
    assert np.allclose(curve.threshold, 1.5 * curve.expected)
    assert curve.start <= episode.since - 60


def test_changes_come_from_a_file(tmp_path: Path) -> None:
    """YAML or JSON, with the fields of `tokenwatch change record`; of any age."""
    yaml, data = tmp_path / "c.yaml", tmp_path / "c.json"
    yaml.write_text(
        "- {kind: prompt_template, deployment: chat-*, reference: pull 9, "
        "time: 2024-06-07T02:49:00Z}\n", "utf-8",
    )  # fmt: skip
    sent = {"kind": "prompt_template", "deployment": "chat-*", "reference": "pull 9"}
    data.write_text(json.dumps({"changes": [{**sent, "time": "2024-06-07T02:49:00Z"}]}), "utf-8")
    (one,) = read_changes(yaml)
    assert (one.kind, one.deployment, one.reference) == ("prompt_template", "chat-*", "pull 9")
    assert read_changes(data) == (one,)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("- {kind: prompt, deployment: a, reference: r, time: 2024-06-07T02:49:00Z}", "kind is"),
        ("- {kind: sku, deployment: a, reference: r}", "change 1: time is missing"),
        ("- {kind: sku, deployment: a, reference: r, time: yesterday}", "time must be"),
        ("- {kind: sku, deployment: a, reference: r, time: 2024-06-07T02:49}", "time must be"),
        ("- {kind: sku, deploymet: a, reference: r}", "unknown field 'deploymet'"),
        ("changes: 5", "write a list"),
        ("- [", "not YAML"),
    ],
)
def test_a_wrong_change_is_named(tmp_path: Path, text: str, why: str) -> None:
    """Every problem with its number in the file."""
    path = tmp_path / "c.yaml"
    path.write_text(text, "utf-8")
    with pytest.raises(ChangesError, match=why):
        read_changes(path)


def spoiled(folder: Path) -> Path:
    """A file in which one deployment is full at 105 % once, and at 97 % another time."""
    chat = Deployment(400).set("utilization", 105, 200, 220).set("utilization", 97, 300, 320)
    return write_file(folder / "load.csv", chat, Deployment(400, "other"))


def test_the_command_compares_with_a_commit(repository: Path, tmp_path: Path) -> None:
    """From a file and two states of the rules to a comment on a pull request."""
    words = ["backtest", "--recording", str(spoiled(tmp_path)), "--rules", "rules", "--jobs", "1"]
    done = command(*words, "--against", "main", "--markdown", cwd=repository)
    assert done.returncode == 0, done.stderr
    assert "Full | 1 → **2** |" in done.stdout
    assert "Added episodes: 1" in done.stdout
    as_json = json.loads(command(*words, "--against", "main", "--json", cwd=repository).stdout)
    assert as_json["rules"][0]["episodes"] == 2
    assert [one["kind"] for one in as_json["against"]["differences"]] == ["added"]
    shown = command(*words, "--against", "main", cwd=repository)
    assert "1 -> 2" in shown.stdout
    assert "added" in shown.stdout


@pytest.mark.parametrize(
    ("more", "code", "said"),
    [
        (["--fail-over", "0"], 1, "more than --fail-over 0"),
        (["--fail-over", "1000"], 0, ""),
        (["--against", "nowhere"], 2, "git knows no"),
        (["--json", "--markdown"], 2, "choose one"),
        (["--recording", "missing.csv"], 2, "missing.csv"),
        (["--rules", "missing"], 2, "missing"),
        (["--changes", "missing.yaml"], 2, "missing.yaml cannot be read"),
        (["--from", "2020-01-01"], 2, "the recording covers"),
    ],
)
def test_exit_codes(
    repository: Path, tmp_path: Path, more: list[str], code: int, said: str
) -> None:
    """0, 1 where there are too many messages, 2 where there is no result; stderr says why."""
    given = {"--recording": str(spoiled(tmp_path)), "--rules": "rules", "--jobs": "1"}
    given = {k: v for k, v in given.items() if k not in more}
    words = [word for pair in given.items() for word in pair]
    done = command("backtest", *words, *more, cwd=repository)
    assert done.returncode == code, done.stderr
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_broken_rule_has_no_backtest(repository: Path, tmp_path: Path) -> None:
    """Numbers without the broken rule would mislead: its error is shown instead, exit code 2."""
    broken = repository / "rules" / "broken.yaml"
    broken.write_text("rules:\n" + rule("Slow", "tlt > 9s"), "utf-8")
    words = ["--recording", str(spoiled(tmp_path)), "--rules", "rules"]
    done = command("backtest", *words, cwd=repository)
    assert done.returncode == 2
    assert "unknown signal tlt" in done.stderr


def test_from_and_to_record_first(tmp_path: Path) -> None:
    """Without a file the time is recorded, kept, and not asked a second time; no state, no card."""
    now = datetime.now(UTC).replace(second=0, microsecond=0)
    world = World.load(WORLDS / "small.yaml", now - timedelta(hours=4))
    span = [f"{now - timedelta(hours=back):%Y-%m-%dT%H:%M}" for back in (4, 1)]
    words = ["backtest", "--from", span[0], "--to", span[1], "--lead-in", "1d", "--json"]
    with azure(world) as there:
        there.server.clock.set(now)
        settings = {**there.settings, "XDG_CACHE_HOME": str(tmp_path)}
        first = command(*words, "--rules", str(ROOT / "rules"), environment=settings, cwd=tmp_path)
        assert first.returncode == 0, first.stderr
        asked = len(there.server.log)
        again = command(*words, "--rules", str(ROOT / "rules"), environment=settings, cwd=tmp_path)
        assert len(there.server.log) == asked
    assert again.stdout == first.stdout
    assert {e["rule"] for e in json.loads(first.stdout)["episodes"]} >= {"SuccessRateLow"}
