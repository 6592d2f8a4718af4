// Opens pages in Chromium and says what is to be seen on them: JSON in on stdin, JSON out on stdout.
//
// in:  {"pages": [{"url", "width", "scheme", "click"?, "picture"?: {"path", "articles", "scale"}}]}
// out: for each page {"said", "errors", "loaded", "opened", "plain": [...]} and what `look` returns

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { chromium } from "playwright-core";

const ARGS = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync",
];
const MARKDOWN = join(
  dirname(createRequire(import.meta.url).resolve("markdown-it/package.json")),
  "dist/browser/markdown-it.umd.min.js",
);

/** What is to be seen of each card, drawn by the page; runs in the page. */
function look() {
  const known = color => {
    const [red, green, blue, alpha = 1] = color.match(/[\d.]+/g).map(Number);
    return [red, green, blue, alpha];
  };
  const over = (front, back) =>
    front.slice(0, 3).map((part, n) => part * front[3] + back[n] * (1 - front[3]));
  const background = element => {
    if (!element) return [255, 255, 255];
    const own = known(getComputedStyle(element).backgroundColor);
    return own[3] === 1 ? own.slice(0, 3) : over(own, background(element.parentElement));
  };
  const luminance = color => {
    const [red, green, blue] = color.map(part => {
      const share = part / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const contrast = element => {
    const style = getComputedStyle(element), back = background(element);
    const front = over(known(element.closest("svg") ? style.fill : style.color), back);
    const [light, dark] = [luminance(front), luminance(back)].sort((a, b) => b - a);
    return (light + 0.05) / (dark + 0.05);
  };
  const shown = root => {
    const found = [], walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const node = walker.currentNode, element = node.parentElement;
      const range = document.createRange();
      range.selectNodeContents(node);
      const boxes = [...range.getClientRects()].filter(box => box.width && box.height);
      if (!node.data.trim() || !boxes.length || element.closest("script, style")) continue;
      found.push({ text: node.data, element, boxes });
    }
    return found;
  };
  const elementsOut = (root, box) => [...root.querySelectorAll("*")]
    .filter(element => element.getBoundingClientRect().right > box.right + 0.5)
    .map(element => element.outerHTML.slice(0, 80));

  const loose = shown(document.body).filter(({ element }) => contrast(element) < 4.5);
  const cards = [...document.querySelectorAll(".card")].map(card => {
    const box = card.getBoundingClientRect(), texts = shown(card);
    const out = texts.filter(({ boxes }) =>
      boxes.some(part => part.left < box.left - 0.5 || part.right > box.right + 0.5));
    return {
      drawn: !!card.querySelector(".ac-adaptiveCard"),
      text: card.innerText,
      bold: [...card.querySelectorAll("b")].map(element => element.textContent),
      foreign: [...card.querySelectorAll("a, i, em, img, script, ul, ol")].map(e => e.outerHTML),
      curves: card.querySelectorAll("svg.curve polyline").length,
      buttons: [...card.querySelectorAll("button")].map(element => element.innerText),
      out: [...out.map(({ text }) => text), ...elementsOut(card, box)],
    };
  });
  return {
    cards,
    pale: loose.map(({ text, element }) => `${contrast(element).toFixed(2)} ${text.slice(0, 60)}`),
    scrolls: document.documentElement.scrollWidth > innerWidth,
  };
}

/** Each card as a client draws it that knows neither charts nor code, but CommonMark's emphasis,
 *  links and lists; runs in the page. */
function strict() {
  const AC = window.AdaptiveCards;
  const markdown = window.markdownit("zero")
    .enable(["emphasis", "link", "autolink", "list", "entity", "escape"]);
  AC.AdaptiveCard.onProcessMarkdown = (text, result) => {
    result.outputHtml = markdown.render(text);
    result.didProcess = true;
  };
  for (const name of ["Chart.Line", "CodeBlock"]) AC.GlobalRegistry.elements.unregister(name);
  const sources = [...document.querySelectorAll("article script")]
    .map(script => JSON.parse(script.textContent));
  return sources.filter(source => source.body).map(source => {
    const card = new AC.AdaptiveCard(), context = new AC.SerializationContext();
    card.parse(source, context);
    const events = Array.from({ length: context.eventCount }, (_, n) => context.getEventAt(n))
      .map(event => event.message);
    document.body.append(card.render());
    const drawn = document.body.lastElementChild;
    const seen = {
      events,
      text: drawn.innerText,
      bold: [...drawn.querySelectorAll("strong")].map(element => element.textContent),
      foreign: [...drawn.querySelectorAll("a, i, em, img, script, ul, ol")].map(e => e.outerHTML),
    };
    drawn.remove();
    return seen;
  });
}

/** Where each button leads, by clicking it. */
async function clicked(page) {
  await page.evaluate(() => {
    window.opened = [];
    window.open = (url, target, features) => { window.opened.push([url, target, features]); };
    for (const button of document.querySelectorAll(".card button")) button.click();
  });
  return page.evaluate(() => window.opened);
}

async function picture(page, { path, articles }) {
  await page.evaluate(kept => {
    document.querySelectorAll("article").forEach((article, n) => {
      if (!kept.includes(n)) article.remove();
    });
    document.querySelectorAll("details, .hint, header").forEach(element => element.remove());
    document.querySelector("main").style.padding = "4px 20px";
    document.querySelectorAll("article").forEach(article => { article.style.margin = "16px 0"; });
  }, articles);
  await page.screenshot({ path, fullPage: true });
}

async function visit(browser, wanted) {
  const context = await browser.newContext({
    viewport: { width: wanted.width, height: 800 },
    colorScheme: wanted.scheme,
    deviceScaleFactor: wanted.picture?.scale ?? 1,
  });
  const page = await context.newPage();
  const said = [], errors = [], loaded = [];
  page.on("console", message => said.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", error => errors.push(String(error)));
  page.on("request", request => loaded.push(request.url()));
  await page.goto(wanted.url);
  const seen = await page.evaluate(look);
  const opened = wanted.click ? await clicked(page) : [];
  if (wanted.picture) await picture(page, wanted.picture);
  await page.addScriptTag({ path: MARKDOWN });
  const plain = await page.evaluate(strict);
  await context.close();
  return { ...seen, said, errors, loaded, opened, plain };
}

// A profile of its own, fresh and deleted in the end, is what `launch` makes.
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
  args: ARGS,
});
try {
  const { pages } = JSON.parse(readFileSync(0, "utf8"));
  const seen = [];
  for (const wanted of pages) seen.push(await visit(browser, wanted));
  process.stdout.write(JSON.stringify(seen));
} finally {
  await browser.close();
}
