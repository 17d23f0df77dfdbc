// The accuracy table of all pools: every row equals the service's answer, no row is missing, it can be downloaded, and
// its filters are in the address.
// Usage: node accuracy.mjs <service's address> <folder of node_modules> <folder for screenshots> <pool with swaps>
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { answer, eventually, problem, start, ways } from "./browser.mjs";

const [service, modules, shots, pool] = process.argv.slice(2);
const { browser, pools, open, get, shoot, fits, noise, figures } = await start(service, modules, shots);

const TABLE = "**/v1/accuracy";
const plain = (error) => `${error.toLocaleString("en-US", { maximumFractionDigits: 6 })}%`.replace("-", "−");

/** Every pool has its row, with the service's numbers, or says why not. */
async function rows(table) {
  assert.deepEqual(table.pools.map((row) => row.pool), pools.map((one) => one.pool), "no pool is left out");
  for (const [width, dark] of ways(1280, 375)) {
    const page = await open("/accuracy", { width, dark });
    const body = page.locator("table.accuracy tbody tr");
    await body.first().waitFor();
    assert.equal(await body.count(), table.pools.length);
    for (const [place, { pool, record, why_not: why }] of table.pools.entries()) {
      const row = body.nth(place);
      assert.equal(await row.locator("th a").getAttribute("href"), `/pools/${pool}#accuracy`);
      if (record === null) {
        assert.equal(await row.locator("td").count(), 1, why);
        continue;
      }
      assert.equal(await row.getByRole("link", { name: "figure file" }).getAttribute("href"), record.figure_url);
      if (record.swaps === 0) {
        assert.match(await row.locator("td").textContent(), /^No swaps were logged\./);
        continue;
      }
      const cells = await row.locator("td > div").evaluateAll((all) => all.map((one) => one.firstChild.textContent));
      assert.equal(cells[0], `${record.compared} of ${record.swaps}`);
      assert.equal(cells[1], `${record.exact_n} of ${record.n}`);
      const orders = await row.getByText(/orders? for an output within one raw unit/).count();
      assert.equal(orders, record.bracketed_n === 0 ? 0 : 1, pool);
      assert.equal(cells[7], `${record.stretches - record.stretches_incomplete} of ${record.stretches}`);
      const exact = await row.locator("td [title]").evaluateAll((all) => all.map((one) => one.title));
      const errors = [record.abs_error_pct_q50, record.abs_error_pct_q95, record.worst_pct, record.worst_for_seller_pct,
        record.mean_error_pct];
      assert.deepEqual(exact, errors.map((error) => (error === null ? "–" : plain(error))), pool);
    }
    await fits(page, `the table of accuracy at ${width}`);
    await shoot(page, `accuracy-table-${width}${dark ? "-dark" : ""}`);
    await page.context().close();
  }
}

/** A line for each pool, with the file that it is recounted from. */
async function taken(table) {
  const page = await open("/accuracy");
  const button = page.getByRole("button", { name: "Download CSV" });
  const [download] = await Promise.all([page.waitForEvent("download"), button.click()]);
  const [head, ...lines] = readFileSync(await download.path(), "utf8").trim().split("\n").map((line) => line.split(","));
  const field = (line, name) => line[head.indexOf(name)];
  assert.deepEqual(lines.map((line) => field(line, "pool")), table.pools.map((row) => row.pool));
  for (const [place, line] of lines.entries()) {
    assert.equal(line.length, head.length);
    const { record, why_not: why } = table.pools[place];
    assert.equal(field(line, "why_not"), why ?? "");
    assert.equal(field(line, "figure_url"), record?.figure_url ?? "");
    assert.equal(field(line, "compared"), record === null ? "" : String(record.compared));
    assert.equal(field(line, "mean_error_pct"), record?.mean_error_pct === undefined || record.mean_error_pct === null
      ? "" : String(record.mean_error_pct));
  }
  await page.context().close();
}

/** From the board to the table, from there to a pool's record, which is open, and back. */
async function found() {
  const page = await open("/");
  await page.getByRole("link", { name: "Estimate accuracy" }).click();
  await page.waitForURL("**/accuracy");
  assert.equal(await page.title(), "Estimate accuracy | exitgap");
  await page.locator(`table.accuracy a[href="/pools/${pool}#accuracy"]`).click();
  await page.waitForSelector("#accuracy #compared");
  await page.locator("#accuracy").getByRole("link", { name: "All pools" }).click();
  await page.waitForURL("**/accuracy");
  // The chain is in the address, and going back removes it.
  await page.getByRole("button", { name: "anvil", exact: true }).click();
  await page.waitForURL("**/accuracy?chain=anvil");
  await page.waitForSelector("table.accuracy tbody tr");
  await page.goBack();
  await eventually("all chains again", async () =>
    await page.getByRole("button", { name: "all chains" }).getAttribute("aria-pressed") === "true");
  await page.context().close();
}

/** What waits says so and is asked for again; a page has the next; what is refused is told. */
async function others(table) {
  const [row] = table.pools.filter((one) => one.record !== null);
  const waits = { ...table, waiting: 1, next_cursor: row.pool,
    pools: ["waiting", "figure_unsupported_kind"].map((why) => ({ pool: row.pool, name: row.name, record: null, why_not: why })) };
  const page = await open("/accuracy", { routes: { [TABLE]: answer(waits) } });
  await page.waitForSelector("#waiting >> text=1 pool has no result yet.");
  await page.waitForSelector("table.accuracy td >> text=Not computed yet.");
  await page.waitForSelector("table.accuracy td >> text=This report does not support this kind of pool.");
  await page.waitForSelector(".actions >> text=One row per pool on this page");
  assert.equal(await page.locator("a.next").getAttribute("href"), `/accuracy?cursor=${encodeURIComponent(row.pool)}`);
  await shoot(page, "accuracy-waiting");
  await page.unroute(TABLE);
  await page.getByRole("button", { name: "Refresh table" }).click();
  await eventually("the row is there", async () => await page.locator("#waiting").count() === 0);
  await page.context().close();
  const after = await open(`/accuracy?cursor=${encodeURIComponent(pools[0].pool)}`);
  await after.waitForSelector("a.previous");
  assert.equal(await after.locator("table.accuracy tbody tr").count(), pools.length - 1);
  await after.context().close();
  const unknown = await open("/accuracy?chain=nowhere", { expected: ["400", "404"] });
  await unknown.waitForSelector(".refused");
  await unknown.context().close();
  const busy = await open("/accuracy", { expected: ["503"], routes: {
    [TABLE]: problem(503, "source_unreadable", "come back later", { "retry-after": "90" }),
  } });
  await busy.waitForSelector(".failed >> text=come back later");
  await busy.unroute(TABLE);
  await busy.getByRole("button", { name: "Try again" }).click();
  await busy.waitForSelector("table.accuracy tbody tr");
  await busy.context().close();
}

// The rows appear one after the other.
let table;
await eventually("all rows are summed up", async () => (table = await get("/v1/accuracy")).waiting === 0, 4_000);
await rows(table);
await taken(table);
await found();
await others(table);
await browser.close();
assert.deepEqual(noise, []);
console.log(JSON.stringify(figures()));
