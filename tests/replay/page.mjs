// Opens pages in Chromium: JSON in on stdin, JSON out on stdout.
//
// in:  [{"url", "width", "scheme", "picture"?: "FILE.png"}]
// out: for each {"said", "loaded", "scrolls", "charts", "pale": texts whose contrast is below 4.5}

import { readFileSync } from "node:fs";
import { chromium } from "playwright-core";

/** What is to be seen; runs in the page. */
function look() {
  const known = color => {
    const [red, green, blue, alpha = 1] = color.match(/[\d.]+/g).map(Number);
    return [red, green, blue, alpha];
  };
  const background = element => {
    if (!element) return matchMedia("(prefers-color-scheme: dark)").matches ? [0, 0, 0] : [255, 255, 255];
    const own = known(getComputedStyle(element).backgroundColor);
    return own[3] === 1 ? own.slice(0, 3) : background(element.parentElement);
  };
  const luminance = color => {
    const [red, green, blue] = color.map(part => {
      const share = part / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const contrast = element => {
    const style = getComputedStyle(element);
    const front = known(element.closest("svg") ? style.fill : style.color).slice(0, 3);
    const [light, dark] = [luminance(front), luminance(background(element))].sort((a, b) => b - a);
    return (light + 0.05) / (dark + 0.05);
  };
  const texts = [...document.querySelectorAll("body *")].filter(element =>
    [...element.childNodes].some(node => node.nodeType === 3 && node.data.trim()));
  return {
    pale: texts.filter(e => contrast(e) < 4.5).map(e => `${contrast(e).toFixed(2)} ${e.textContent}`),
    charts: document.querySelectorAll("svg").length,
    scrolls: document.documentElement.scrollWidth > innerWidth,
  };
}

async function visit(browser, wanted) {
  const context = await browser.newContext({
    viewport: { width: wanted.width, height: 800 }, colorScheme: wanted.scheme,
  });
  const page = await context.newPage();
  const said = [], loaded = [];
  page.on("console", message => said.push(message.text()));
  page.on("pageerror", error => said.push(String(error)));
  page.on("request", request => loaded.push(request.url()));
  await page.goto(wanted.url);
  const seen = await page.evaluate(look);
  if (wanted.picture) await page.screenshot({ path: wanted.picture, fullPage: true });
  await context.close();
  return { ...seen, said, loaded };
}

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"],
});
try {
  const seen = [];
  for (const wanted of JSON.parse(readFileSync(0, "utf8"))) seen.push(await visit(browser, wanted));
  process.stdout.write(JSON.stringify(seen));
} finally {
  await browser.close();
}
