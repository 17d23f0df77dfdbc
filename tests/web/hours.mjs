// A pool whose market closes: charts over time shade the closures, and a list shows each with the price after it.
// Usage: node hours.mjs <service's address> <folder of node_modules> <folder for screenshots>
import assert from "node:assert/strict";
import { eventually, local, start } from "./browser.mjs";

const [service, modules, shots] = process.argv.slice(2);
const { browser, pools, open, get, shoot, fits, noise, figures } = await start(service, modules, shots);
const told = await Promise.all(pools.map(async ({ pool }) => [pool, await get(`/v1/hours/${pool}?size_usd=100000`)]));
const [closing, hours] = told.find(([, { sessions }]) => sessions.length > 0);
const [around] = told.find(([, { sessions }]) => sessions.length === 0);
const [closure] = hours.closures;
const { rows } = await get(`/v1/history/${closing}?size_usd=100000&interval=1h`);
const shut = rows.filter(({ time }) => closure.closed_at <= time && time < closure.opens_at);
assert.ok(shut.length > 24 && shut.length < rows.length, "a weekend, and an hour after it");

for (const [width, dark] of [[1280, false], [1280, true], [390, false], [390, true]]) {
  const page = await open(`/pools/${closing}`, { width, dark });
  const section = page.locator("#hours");
  if (width === 390) await page.locator("#history > summary").click();
  await section.locator("figure.chart svg").waitFor();
  assert.match(await section.textContent(), /The market is open for another \d+ h/);
  // Both the strip and the series shade one range of hours.
  for (const chart of [section.locator("figure.chart"), page.locator("figure.chart", { hasText: "Price in % of the oracle" })]) {
    await eventually("closures are shaded", async () => await chart.locator("rect.closed").count() === 1);
    await chart.locator(".legend >> text=market closed").waitFor();
  }
  // The row of each hour of the closure says so, and the first row after it does not.
  const chart = section.locator("figure.chart");
  await chart.locator("details summary").click();
  const notes = await chart.locator("tbody tr").evaluateAll((all) => all.map((row) => row.textContent));
  assert.equal(notes.filter((note) => note.includes("market closed: weekend")).length, shut.length);
  assert.ok(!notes.at(-1).includes("market closed"));
  await chart.locator("svg").focus();
  await page.keyboard.press("Home");
  assert.match(await chart.locator(".reading").textContent(), /market closed: weekend/);
  await section.locator("> details summary").click();
  const row = section.locator("> details tbody tr");
  assert.equal(await row.count(), hours.closures.length);
  const link = row.first().locator("td").last().locator("a");
  assert.equal(await link.textContent(), `${closure.reopening_gap_pct}%`.replace("-", "−"));
  assert.equal(await link.getAttribute("href"), local(closure.evidence_url));
  await fits(page, `hours at ${width}`);
  await shoot(page, `hours-${width}${dark ? "-dark" : ""}`);
  await page.context().close();
}

const page = await open(`/pools/${around}`);
await page.waitForSelector(".agreement .standing.pass");
await page.waitForSelector(".stress");
assert.equal(await page.locator("#hours").count(), 0, "what never closes has no such section");
assert.equal(await page.locator("rect.closed").count(), 0);
await browser.close();
assert.deepEqual(noise, []);
console.log(JSON.stringify(figures()));
