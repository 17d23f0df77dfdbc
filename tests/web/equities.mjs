// Tokenized stocks by trading session: each value as the service returns it, a pool's results as a chart once there is
// enough data, recomputed from the file, and as a download; and an invalid size.
// Usage: node equities.mjs <service's address> <folder of node_modules> <folder for screenshots> <token>
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { answer, start, ways } from "./browser.mjs";

const [service, modules, shots, token] = process.argv.slice(2);
const { browser, open, get, shoot, fits, noise, figures } = await start(service, modules, shots);

const SHARE = `**/v1/equities/anvil/${token}**`;
const at = (more = "") => `/equities?token=anvil:${token}${more}`;

/** The list, and the way from the board to it and on to a share. */
async function listed() {
  const page = await open("/");
  await page.getByRole("link", { name: "Tokenized stocks" }).click();
  await page.waitForURL("**/equities");
  const row = page.locator("table.shares tbody tr");
  await row.first().waitFor();
  assert.equal(await row.count(), 1);
  assert.match(await row.locator("th").textContent(), /^WBTC scaled ui$/);
  const words = await row.textContent();
  assert.ok(words.includes("weekend") && words.includes("Normal"), words);
  await row.locator("th a").click();
  await page.waitForURL(`**/equities?token=anvil:${token}&size_usd=10000`);
  await page.locator("#share section").first().waitFor();
  await page.close();
}

/** What is recorded is too little, and says so; what of it there is, is told and proven. */
async function short(told) {
  const page = await open(at("&size_usd=5k"));
  const pools = page.locator("#share section");
  await pools.first().waitFor();
  assert.equal(await pools.count(), told.vectors.length);
  const [first] = told.vectors;
  assert.match(await pools.first().locator("[role=status]").textContent(),
    new RegExp(`: ${first.have_regular_sessions} of 20 regular sessions and ${first.have_weekends} of 4 weekends`));
  assert.equal(await pools.first().locator("figure").count(), 0, "nothing is drawn of what is not known");
  assert.equal(await pools.first().locator("table.sessions tbody tr").count(), first.sessions.length);
  assert.equal(await pools.first().locator("summary").textContent(), `Corporate actions: ${first.events.length}`);
  await pools.first().getByRole("button", { name: /Recompute/ }).click();
  await pools.first().locator(".confirmed").waitFor({ timeout: 60_000 });
  const button = pools.first().getByRole("button", { name: "Download CSV" });
  const [download] = await Promise.all([page.waitForEvent("download"), button.click()]);
  const lines = readFileSync(await download.path(), "utf8").trim().split("\n").map((line) => line.split(","));
  assert.equal(lines.length, 1 + first.sessions.length);
  assert.ok(lines.every((line) => line.length === lines[0].length));
  assert.ok(lines.slice(1).every((line) => line.at(-1) === first.figure_url));
  await page.close();
}

/** With six weeks there are pictures, against the open session. */
async function whole(told) {
  const of = { regular: [900000, 0.2], after: [300000, 0.7], weekend: [0, 1.5] };
  const sessions = told.vectors[0].sessions.map((one) => {
    const [depth, gap] = of[one.session] ?? [null, null];
    return { ...one, depth_usd_q50: depth, exit_gap_pct_q95: gap };
  });
  const inexact = { exact: false, inexact_because: "balances_change_unseen" };
  const balance = { slot_time: told.vectors[0].to, balance_raw: "1", purchase_raw: "2", slots: 9, slots_short: 7 };
  const vectors = [{ ...told.vectors[0], ...inexact, balance, enough: true, sessions }];
  const left = [{ pool: told.vectors[0].pool, code: "figure_period", detail: "it began too late" }];
  const routes = { [SHARE]: answer({ ...told, enough: true, vectors, left_out: left }) };
  for (const [width, dark] of ways(1280, 375)) {
    const page = await open(at(), { width, dark, routes });
    const pictures = page.locator("#share figure");
    await pictures.first().waitFor();
    assert.equal(await pictures.count(), 2);
    const names = await pictures.first().locator("text").allTextContents();
    assert.deepEqual(names, ["regular: $900,000", "after: $300,000", "weekend: $0"]);
    assert.equal(await page.locator("#share [role=status]").count(), 0);
    assert.match(await page.locator("#share > ul").textContent(), /: it began too late$/);
    assert.match(await page.locator("#share .standing.warn").textContent(), /without the pool noticing\. In 7 slots the pool held less/);
    await fits(page, `shares at ${width}`);
    await shoot(page, `shares-${width}${dark ? "-dark" : ""}`);
    await page.context().close();
  }
}

/** A size in the address is read as written, and one that is none says why. */
async function sized(told) {
  const page = await open(at(`&size_usd=${told.size_usd}`));
  await page.locator("#share section").first().waitFor();
  await page.locator("#share-size").fill("lots");
  await page.getByRole("button", { name: "Show gaps" }).click();
  await page.waitForURL("**size_usd=lots");
  await page.locator("#content .refused", { hasText: "Write a size in dollars" }).waitFor();
  await page.locator("#share-size").fill("$2.5k");
  await page.getByRole("button", { name: "Show gaps" }).click();
  await page.locator("#share section").first().waitFor();
  assert.ok(page.url().endsWith("size_usd=%242.5k"), page.url());
  await page.close();
}

const told = await get(`/v1/equities/anvil/${token}?size_usd=5000`);
await listed();
await short(told);
await whole(told);
await sized(told);
await browser.close();
assert.deepEqual(noise, []);
console.log(JSON.stringify(figures()));
