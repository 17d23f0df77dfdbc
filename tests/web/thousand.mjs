// The board of a store with a thousand pools: each pool can be reached, found and sorted; measures how long the page
// blocks at a time.
// Usage: node thousand.mjs <service's address> <folder of node_modules> <folder for screenshots>
import assert from "node:assert/strict";
import { eventually, start } from "./browser.mjs";

const POOLS = 1_000, A_PAGE = 100;
const [service, modules, shots] = process.argv.slice(2);
const { open, fits, shoot, browser, noise } = await start(service, modules, shots);

/** From now on the page keeps how long it was busy at most, ms. */
const watched = (page) => page.evaluate(() => {
  window.busiest = 0;
  const keep = (list) => list.getEntries().forEach(({ duration }) => { window.busiest = Math.max(window.busiest, duration); });
  new PerformanceObserver(keep).observe({ type: "longtask" });
});

const page = await open("/");
const rows = page.locator("table.board tbody tr");
await rows.first().waitFor();
await watched(page);
const hrefs = () => rows.locator("th a").evaluateAll((all) => all.map((one) => one.getAttribute("href")));
const seen = new Set();
for (let from = 1; from <= POOLS; from += A_PAGE) {
  await page.waitForSelector(`text=Ranks ${from}–${from + A_PAGE - 1}`);
  const shown = await hrefs();
  assert.equal(shown.length, A_PAGE, "no page draws more rows than that");
  shown.forEach((href) => seen.add(href));
  if (from + A_PAGE <= POOLS) await page.locator("a.next").click();
}
assert.equal(seen.size, POOLS, "each pool is on one of the pages");
assert.equal(await page.locator("a.next").count(), 0);
await fits(page, "the board of a thousand recorded pools");
const [, wanted] = /\/pools\/([^?]+)/.exec([...seen].at(-1));
await page.locator("#search").pressSequentially(decodeURIComponent(wanted).slice(-8));
await eventually("the pool is found", async () => await rows.count() === 1);
assert.ok((await hrefs())[0].includes(wanted));
await page.locator("#search").fill("");
await eventually("all of the page are there again", async () => await rows.count() === A_PAGE);
await page.getByLabel("Order").selectOption("depth");
await page.waitForSelector("text=Ranks 1–100");
const busiest = await page.evaluate(() => window.busiest);
await shoot(page, "board-thousand");
await browser.close();
assert.deepEqual(noise, [], "the browser complained");
console.log(JSON.stringify({ "web.board_1000_longest_task_ms": Math.round(busiest) }));
