// A pool's accuracy record, and the proceeds of redeeming compared with selling: as the service returns them, as
// charts, and as downloads.
// Usage: node record.mjs <service's address> <folder of node_modules> <folder for screenshots> <pool> <token>
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { start } from "./browser.mjs";

const [service, modules, shots, pool, token] = process.argv.slice(2);
const { browser, open, get, shoot, fits, noise, figures } = await start(service, modules, shots);

/** A number as a page writes it. */
const percent = (number) => `${number.toLocaleString("en-US", { maximumFractionDigits: 6 })}%`.replace("-", "−");

async function taken(page, section) {
  const button = page.locator(section).getByRole("button", { name: "Download CSV" });
  const [download] = await Promise.all([page.waitForEvent("download"), button.click()]);
  return readFileSync(await download.path(), "utf8").trim().split("\n").map((line) => line.split(","));
}

const told = await get(`/v1/accuracy/${pool}`);
assert.ok(told.compared >= 3 && told.worst.length >= 3, JSON.stringify(told));
for (const [width, dark] of [[1280, false], [390, true]]) {
  const page = await open(`/pools/${pool}`, { width, dark });
  const section = page.locator("#accuracy");
  const asked = [];
  page.on("request", (request) => request.url().includes("/v1/accuracy/") && asked.push(request.url()));
  await page.waitForSelector(".agreement .standing.pass");
  assert.deepEqual(asked, [], "swaps are replayed for those who open it");
  await section.locator("summary").first().click();
  await page.waitForSelector("#compared");
  assert.equal(await page.locator("#swaps").textContent(), String(told.swaps));
  assert.equal(Number(await page.locator("#compared").evaluate((one) => one.firstChild.textContent)), told.compared);
  const worst = section.locator("table", { has: page.locator("caption >> text=The largest errors") }).locator("tbody tr");
  assert.equal(await worst.count(), told.worst.length);
  for (const [place, swap] of told.worst.entries()) {
    const cells = await worst.nth(place).locator("td").allTextContents();
    assert.deepEqual(cells.slice(1, 4), [swap.estimated_out_raw, swap.amount_out_raw, percent(swap.error_pct)]);
  }
  // Selects the age of an estimate by keyboard.
  const chart = section.locator("figure.chart", { has: page.locator("figcaption >> text=by age of the estimate") });
  await chart.locator("svg").focus();
  await page.keyboard.press("Home");
  const newest = told.by_age.find(({ older_slots: older }) => older === 0);
  assert.ok((await chart.locator(".reading").textContent()).includes(`median error ${percent(newest.abs_error_pct_q50)}`));
  // Each of the newest swaps is a dot; the keyboard selects the last one.
  const against = section.locator("figure.chart", { has: page.locator("figcaption >> text=Realized and estimated gap") });
  assert.equal(await against.locator("circle.dot").count(), told.newest.length);
  await against.locator("svg").focus();
  await page.keyboard.press("End");
  const last = told.newest.at(-1);
  const read = await against.locator(".reading").textContent();
  assert.ok(read.includes(`in block ${last.block}: estimated ${percent(last.estimated_gap_pct)}, realized `), read);
  // Recomputes everything from the snapshots and the pool's logs.
  await section.getByRole("button", { name: "Recompute in this browser" }).click();
  await section.locator(".confirmed, .refused, .failed").first().waitFor();
  assert.match(await section.locator(".checked-figure").textContent(), /Confirmed by this browser/);
  const lines = await taken(page, "#accuracy");
  assert.equal(lines.length, 1 + told.by_age.length + told.worst.length);
  assert.ok(lines.slice(1).every((line) => line.at(-2) === told.fills_url && line.at(-1) === told.figure_url), lines.join("; "));
  await fits(page, `accuracy at ${width}`);
  await shoot(page, `accuracy-${width}${dark ? "-dark" : ""}`);
  await page.context().close();
}

const [chain] = pool.split(":");
for (const [width, dark] of [[1280, false], [390, true]]) {
  const page = await open(`/exit/${chain}:${token}?size_usd=250000`, { width, dark });
  if (width === 390) await page.locator("#wait > summary").click();
  await page.waitForSelector("#wait .actions");
  const { alone: [best] } = await get(`/v1/routes/${chain}/${token}?size_usd=250000`);
  const now = await get(`/v1/redemption/${best.pool}?size_usd=250000&base=${token}`);
  assert.equal(now.paths.length, 2);
  assert.ok(now.paths.some(({ advantage_pct: more }) => more > 0), "redeeming pays more than this sale");
  // Values that were read from the chain are marked, unlike values that a person wrote.
  const marked = page.locator("#wait tbody tr", { hasText: "read from the chain at the slot's block" });
  assert.deepEqual(await marked.locator("small").last().allTextContents(), ["capacity: read from the chain at the slot's block"]);
  assert.deepEqual(now.paths.map(({ facts = [] }) => facts.map(({ says }) => says)), [[], ["capacity"]]);
  // The chart has one step line for the sale and one for each redemption path, and a dot wherever a path paid more.
  const drawn = page.locator("#wait figure.chart");
  const paying = now.paths.filter(({ receives_usd: usd, t_min_s: wait }) => usd !== null && wait !== null);
  assert.equal(await drawn.locator("path").count(), 1 + paying.length);
  assert.equal(await drawn.locator("circle").count(), paying.filter(({ advantage_pct: more }) => more > 0).length);
  const lines = await taken(page, "#wait");
  assert.deepEqual(lines.slice(1).map((line) => [Number(line[3]), Number(line[4]), line.at(-1)]),
    now.paths.map((path) => [path.receives_usd, path.advantage_pct, now.evidence_url]));
  await fits(page, `redeeming at ${width}`);
  await shoot(page, `redeeming-${width}${dark ? "-dark" : ""}`);
  await page.context().close();
}
await browser.close();
assert.deepEqual(noise, []);
console.log(JSON.stringify(figures()));
