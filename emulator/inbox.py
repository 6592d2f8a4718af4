"""The inbox as a page: posted cards as Teams would draw them, newest first.

Every message stands in the page as plain text first; the adaptivecards script, where it is
installed, replaces that by the drawn card.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

SCRIPT = Path(__file__).parents[1] / "node_modules/adaptivecards/dist/adaptivecards.min.js"


def page(messages: Sequence[Mapping[str, object]], title: str = "Inbox") -> str:
    """A page that needs nothing but itself.

    Each message is the body of a post, with `received` (ISO text) and `channel` added.
    """
    newest = sorted(messages, key=lambda message: str(message.get("received", "")), reverse=True)
    posts = "\n".join(_post(message) for message in newest)
    script = SCRIPT.read_text() if SCRIPT.exists() else ""
    draw = f"<script>{_code(script)}</script>\n<script>{_DRAW}</script>" if script else ""
    hint = "" if script else '<p class="hint">To see the cards drawn, run <code>npm ci</code>.</p>'
    return _PAGE.format(
        title=escape(title),
        count=f"{len(newest)} message{'' if len(newest) == 1 else 's'}",
        style=_STYLE,
        hint=hint,
        posts=posts or '<p class="hint">Nothing was posted yet.</p>',
        draw=draw,
    )


def _post(message: Mapping[str, object]) -> str:
    channel, received = str(message.get("channel", "")), str(message.get("received", ""))
    body = {key: value for key, value in message.items() if key not in ("channel", "received")}
    card = _card(body)
    fallback = str(card.get("fallbackText") or body.get("summary") or "A message without a card")
    return _POST.format(
        time=escape(received),
        shown=escape(received.replace("T", " ").replace("Z", " UTC")),
        channel=escape(channel),
        fallback=escape(fallback),
        json=escape(json.dumps(body, indent=2, ensure_ascii=False)),
        card=_data(card),
    )


def _card(body: Mapping[str, object]) -> Mapping[str, object]:
    """The first card of a post; empty if there is none: a page shows whatever was posted."""
    attachments = body.get("attachments")
    first = attachments[0] if isinstance(attachments, list) and attachments else None
    content = first.get("content") if isinstance(first, Mapping) else None
    return content if isinstance(content, Mapping) else {}


def _data(value: object) -> str:
    """JSON for inside a script element: nothing in it can end the element."""
    return json.dumps(value).replace("<", "\\u003c")


def _code(script: str) -> str:
    """A script for inside a script element; texts in it may speak of its end."""
    return re.sub("</(?=script)", r"<\\/", script, flags=re.IGNORECASE)


_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<header><span class="logo">T</span><h1>{title}</h1><span class="count">{count}</span></header>
<main>
{hint}{posts}
</main>
{draw}
</body>
</html>
"""

_POST = """<article>
<div class="avatar" aria-hidden="true">TW</div>
<div class="post">
<p class="who"><b>Tokenwatch</b> <span class="tag">Workflows</span>
<time datetime="{time}">{shown}</time> <span class="channel">#{channel}</span></p>
<div class="card"><p>{fallback}</p></div>
<details><summary>JSON</summary><pre>{json}</pre></details>
<script type="application/json">{card}</script>
</div>
</article>"""

_STYLE = """
:root { --page: #f5f5f5; --card: #fff; --ink: #242424; --dim: #616161; --line: #e0e0e0;
  --brand: #5b5fc7; --good: #e7f2da; --warning: #fbf0d9; --attention: #fbe3e4; --accent: #e8ebfa;
  --emphasis: #f5f5f5; --good-ink: #237b4b; --warning-ink: #835b00; --attention-ink: #c4314b; }
@media (prefers-color-scheme: dark) {
  :root { --page: #1f1f1f; --card: #292929; --ink: #fff; --dim: #adadad; --line: #424242;
    --brand: #7f85f5; --good: #17331f; --warning: #3d2e0c; --attention: #431d22;
    --accent: #2a2d4d; --emphasis: #333; --good-ink: #92c353; --warning-ink: #f8d22a;
    --attention-ink: #f9526b; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink);
  font: 14px/20px "Segoe UI", system-ui, -apple-system, "Helvetica Neue", Arial, sans-serif; }
header { position: sticky; top: 0; z-index: 1; display: flex; align-items: center; gap: 10px;
  padding: 12px 24px; background: var(--card); border-bottom: 1px solid var(--line); }
.logo { width: 28px; height: 28px; border-radius: 6px; background: #5b5fc7; color: #fff;
  display: grid; place-items: center; font-weight: 700; }
h1 { font-size: 18px; margin: 0; }
.count, .hint, time, .channel { color: var(--dim); }
main { max-width: 920px; margin: 0 auto; padding: 16px 24px 48px; }
article { display: flex; gap: 12px; margin: 20px 0; }
.avatar { flex: none; width: 32px; height: 32px; border-radius: 6px; background: #5b5fc7;
  color: #fff; display: grid; place-items: center; font-size: 12px; font-weight: 600; }
.post { flex: 1; min-width: 0; }
.who { margin: 0 0 4px; font-size: 12px; }
.who b { font-size: 14px; }
.tag { border-radius: 3px; padding: 0 5px; background: var(--accent); font-size: 11px; }
.channel { float: right; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 6px;
  overflow: hidden; box-shadow: 0 1px 3px #0002; }
.card > p { margin: 0; padding: 12px 16px; }
.card p { margin-top: 0; margin-bottom: 0; overflow-wrap: anywhere; }
.card p + p { margin-top: 6px !important; }
.ac-adaptiveCard { outline: none; }
.ac-actionSet { flex-wrap: wrap; row-gap: 8px; }
.ac-pushButton { font: 600 13px/18px inherit; font-family: inherit; color: var(--ink);
  background: var(--card); border: 1px solid var(--line); border-radius: 4px;
  padding: 5px 14px; cursor: pointer; }
.ac-pushButton:hover { border-color: var(--brand); color: var(--brand); }
.curve { display: block; width: 100%; height: auto; }
.curve text { fill: var(--dim); font-size: 11px; }
.curve .title { fill: var(--ink); font-size: 13px; font-weight: 600; }
.curve line { stroke: var(--line); }
.curve polyline { fill: none; stroke: var(--brand); stroke-width: 2; stroke-linejoin: round; }
.curve .limit { stroke: var(--attention-ink); stroke-width: 1.5; stroke-dasharray: 5 4; }
.snippet { margin: 0; padding: 8px 12px; background: var(--emphasis); border-radius: 4px;
  border: 1px solid var(--line); }
details { margin-top: 4px; font-size: 12px; color: var(--dim); }
summary { cursor: pointer; width: max-content; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; font: 12px/17px ui-monospace, Consolas,
  "DejaVu Sans Mono", monospace; }
"""

# Teams draws Chart.Line and CodeBlock, which the adaptivecards script does not know.
_DRAW = r"""
(() => {
const AC = window.AdaptiveCards;
const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const html = text => text.replace(/[&<>"]/g, c => `&#${c.charCodeAt(0)};`);
AC.AdaptiveCard.onProcessMarkdown = (text, result) => {
  const marked = html(text).replace(/\*\*(.+?)\*\*/g, "<b>$1</b>");
  result.outputHtml = marked.split(/\n\n+/).map(part => `<p>${part}</p>`).join("");
  result.didProcess = true;
};
const color = name => ({ default: css(name), subtle: css(name) });
const ink = () => ({
  default: { default: css("--ink"), subtle: css("--dim") },
  accent: color("--brand"), good: color("--good-ink"), warning: color("--warning-ink"),
  attention: color("--attention-ink"),
});
const style = back => ({ backgroundColor: css(back), foregroundColors: ink() });
const config = new AC.HostConfig({
  fontFamily: "inherit",
  fontTypes: {
    default: { fontFamily: "inherit",
      fontSizes: { small: 12, default: 14, medium: 16, large: 18, extraLarge: 24 } },
    monospace: { fontFamily: "ui-monospace, Consolas, 'DejaVu Sans Mono', monospace",
      fontSizes: { small: 12, default: 14, medium: 16, large: 18, extraLarge: 24 } },
  },
  lineHeights: { small: 16, default: 20, medium: 22, large: 24, extraLarge: 32 },
  spacing: { small: 4, default: 8, medium: 12, large: 16, extraLarge: 24, padding: 16 },
  separator: { lineThickness: 1, lineColor: css("--line") },
  containerStyles: {
    default: style("--card"), emphasis: style("--emphasis"), accent: style("--accent"),
    good: style("--good"), warning: style("--warning"), attention: style("--attention"),
  },
  factSet: {
    title: { weight: "Bolder", wrap: true, maxWidth: 240 }, value: { wrap: true }, spacing: 16,
  },
  actions: { maxActions: 6, buttonSpacing: 8, spacing: "Medium", actionAlignment: "Left",
    actionsOrientation: "Horizontal", showCard: { actionMode: "Inline" } },
});
const tag = (name, attributes, text = "") =>
  `<${name} ${Object.entries(attributes).map(([k, v]) => `${k}="${v}"`).join(" ")}>` +
  `${html(String(text))}</${name}>`;

class Unknown extends AC.CardElement {
  parse(source, context) { super.parse(source, context); this.source = source; }
  internalRender() {
    const element = document.createElement("div");
    element.innerHTML = this.drawn(this.source);
    return element;
  }
}
class LineChart extends Unknown {
  getJsonTypeName() { return "Chart.Line"; }
  drawn(chart) {
    // As wide as the card, so that letters keep their size.
    const room = document.querySelector(".card").clientWidth - 34;
    const [width, height, left, right, top, bottom] = [Math.max(room, 200), 190, 52, 8, 28, 22];
    const names = [...new Set(chart.data.flatMap(d => d.values.map(v => v.x)))].sort();
    const values = chart.data.flatMap(d => d.values.map(v => v.y));
    const low = Math.min(...values, chart.yMin ?? Infinity), high = Math.max(...values, low + 1e-9);
    const x = n => left + names.indexOf(n) / Math.max(names.length - 1, 1) * (width - left - right);
    const y = v => height - bottom - (v - low) / (high - low) * (height - top - bottom);
    const label = v => Number(v.toPrecision(3)).toLocaleString("en");
    const parts = [tag("text", { x: 0, y: 14, class: "title" }, chart.title)];
    for (const share of [0, 0.5, 1]) {
      const value = low + share * (high - low);
      parts.push(tag("line", { x1: left, x2: width - right, y1: y(value), y2: y(value) }),
        tag("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end" }, label(value)));
    }
    names.forEach((name, place) => {
      if (place % Math.ceil(names.length * 80 / (width - left)) === 0)
        parts.push(tag("text", { x: x(name), y: height - 6, "text-anchor": "middle" }, name));
    });
    chart.data.forEach((series, place) => parts.push(tag("polyline", {
      points: series.values.map(v => `${x(v.x)},${y(v.y)}`).join(" "), class: place ? "limit" : "",
    })));
    return `<svg class="curve" viewBox="0 0 ${width} ${height}">${parts.join("")}</svg>`;
  }
}
class CodeBlock extends Unknown {
  getJsonTypeName() { return "CodeBlock"; }
  drawn(block) { return `<pre class="snippet">${html(block.codeSnippet)}</pre>`; }
}
AC.GlobalRegistry.elements.register("Chart.Line", LineChart, AC.Versions.v1_0);
AC.GlobalRegistry.elements.register("CodeBlock", CodeBlock, AC.Versions.v1_0);

function draw() {
  for (const post of document.querySelectorAll(".post")) {
    const source = JSON.parse(post.querySelector("script").textContent);
    if (!source.body) continue;
    const card = new AC.AdaptiveCard();
    card.hostConfig = config;
    card.onExecuteAction = action => action.url && window.open(action.url, "_blank", "noopener");
    const context = new AC.SerializationContext();
    card.parse(source, context);
    for (let place = 0; place < context.eventCount; place++)
      console.warn("card:", context.getEventAt(place).message);
    for (const event of card.validateProperties().validationEvents)
      console.warn("card:", event.message);
    const drawn = card.render();
    if (drawn) post.querySelector(".card").replaceChildren(drawn);
  }
}
draw();
addEventListener("resize", draw);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => location.reload());
})();
"""
