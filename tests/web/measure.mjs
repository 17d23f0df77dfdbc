// Measures the size of the pages, their speed in a real browser on loopback, their console errors, and their Lighthouse
// scores. Prints one flat JSON object.
// Usage: node measure.mjs <service's address> <folder of node_modules> <folder of the built site>
//   <folder for screenshots> <folder of node_modules with lighthouse>
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync } from "node:zlib";
import { start } from "./browser.mjs";
import { judge, lowest } from "./lighthouse.mjs";
import { everyPage } from "./shell.mjs";

const [service, modules, site, shots, lighthouse] = process.argv.slice(2);
const RUNS = 7;

// By nearest rank, like every median of the product.
const median = (values) => values.toSorted((a, b) => a - b)[Math.ceil(values.length / 2) - 1];
// The files that a first page loads: without the JavaScript modules that the page names and the parts of the program,
// which are loaded later.
const [, later] = /const files = (.*);/.exec(readFileSync(join(site, "index.html"), "utf8"));
const isLater = (name) => name.endsWith(".br") || /^(split|chunk)_/.test(name) || later.includes(name);
const files = readdirSync(site).filter((name) => !isLater(name));
const bytes = files.map((name) => brotliCompressSync(readFileSync(join(site, name))).length);
// Standard output is reserved for the figures.
console.log = console.error;
const scene = await start(service, join(modules, "node_modules"), shots);
const { browser, pool, evidence, collateral, exit } = scene;

/** When the verdict stands, and when the last byte it rests on had come, in ms since navigation began. What
    became of the slot later is asked apart: the verdict does not wait for it. */
async function evidenceTimes(slowDown) {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(service + evidence);
  await page.waitForSelector(".verdict.pass");
  const session = await context.newCDPSession(page);
  await session.send("Emulation.setCPUThrottlingRate", { rate: slowDown });
  await page.addInitScript(() => {
    const watch = new MutationObserver(() => {
      if (!window.verdictAt && document.querySelector(".verdict.pass")) window.verdictAt = performance.now();
    });
    watch.observe(document, { childList: true, subtree: true });
  });
  await page.goto(service + evidence);
  await page.waitForFunction(() => window.verdictAt);
  const times = await page.evaluate(() => {
    const needed = performance.getEntriesByType("resource")
      .filter((one) => /\/(api|log)\//.test(one.name) && !one.name.includes("/api/v1/status/"))
      .filter((one) => one.responseEnd <= window.verdictAt);
    return { verdict: window.verdictAt, data: Math.max(...needed.map((one) => one.responseEnd)) };
  });
  await context.close();
  return times;
}

/** The holder's question, in a browser that was never here: what a reader does until its answer stands, and how long the
    service and the program take for it, from the opening of the front page. Nothing is waited for but them. */
async function firstAnswer(slowDown) {
  const context = await browser.newContext();
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send("Emulation.setCPUThrottlingRate", { rate: slowDown });
  const started = performance.now();
  await page.goto(`${service}/`, { waitUntil: "commit" });
  const acts = [
    () => page.locator("#held").selectOption(`${pool.split(":")[0]}:${exit.base.address}`),
    () => page.locator("#worth").fill("250,000"),
    () => page.locator("#worth").press("Enter"),
  ];
  for (const act of acts) await act();
  await page.waitForSelector("#gap");
  const ms = performance.now() - started;
  await context.close();
  return { ms, actions: acts.length };
}

/** From a key stroke in the size box to the new number on the page. */
async function recompute() {
  const page = await browser.newPage();
  await page.goto(`${service}/pools/${pool}?size_usd=1000`);
  await page.waitForSelector("#gap");
  const times = await page.evaluate(async (runs) => {
    const times = [];
    for (let run = 0; run < runs * 3; run += 1) {
      const before = document.querySelector("#gap").title;
      const box = document.querySelector("#size");
      box.value = String(1100 + 137 * run);
      const start = performance.now();
      const changed = new Promise((done) => {
        const watch = new MutationObserver(() => {
          if (document.querySelector("#gap")?.title !== before) { watch.disconnect(); done(performance.now()); }
        });
        watch.observe(document.body, { attributes: true, childList: true, subtree: true, characterData: true });
      });
      box.dispatchEvent(new Event("input", { bubbles: true }));
      times.push(await changed - start);
    }
    return times;
  }, RUNS);
  await page.close();
  return median(times);
}

const slow = [], plain = [], first = [];
for (let run = 0; run < RUNS; run += 1) {
  slow.push(await evidenceTimes(4));
  plain.push(await evidenceTimes(1));
  first.push(await firstAnswer(4));
}
const round = (value) => Math.round(value * 100) / 100;
const found = {
  "web.total_brotli_bytes": bytes.reduce((sum, one) => sum + one, 0),
  "web.first_answer_ms": round(median(first.map((one) => one.ms))),
  "web.actions_to_answer": Math.max(...first.map((one) => one.actions)),
  "web.evidence_interactive_ms": round(median(slow.map((one) => one.verdict))),
  "web.verify_ms": round(median(plain.map((one) => one.verdict - one.data))),
  "web.recompute_ms": round(await recompute()),
};
await everyPage(scene);
await browser.close();
const token = `${pool.split(":")[0]}:${exit.base.address}`;
const paths = ["/", `/pools/${pool}`, evidence, `/exit/${token}?size_usd=250000`, `/risk?pool=${collateral}&size_usd=100000`,
  "/accuracy", "/equities", "/verify", "/portfolio", "/alerts", "/capabilities", "/method"];
const figures = { ...found, ...scene.figures() };
try {
  Object.assign(figures, lowest(await judge(service, join(lighthouse, "node_modules"), paths)));
} finally {
  // Prints the measurements even if Lighthouse fails.
  console.info(JSON.stringify(figures));
}
