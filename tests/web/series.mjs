// The recorded series of a pool: its missing, retracted and rejected slots, and the worst slot of a period.
import assert from "node:assert/strict";
import { answer, eventually, problem } from "./browser.mjs";

export default async function series(scene) {
  await holes(scene);
  await rows(scene);
  await refused(scene);
  await reloading(scene);
  await dragged(scene);
  await failures(scene);
}

const HISTORY = "**/v1/history/**";
const STRESS = "**/v1/stress/**";
const chart = (page) => page.locator("figure.chart").filter({ hasText: "Price in % of the oracle" });

/** Missing and retracted slots are drawn as such, apart, with a legend, and told in words. */
async function holes({ retracted, open, get, shoot }) {
  const page = await open(`/pools/${retracted.pool}`);
  await page.waitForSelector(".stress");
  await page.getByLabel("Interval").selectOption("5m");
  await chart(page).locator("rect.retracted").waitFor();
  const drawn = async (kind) => chart(page).locator(`svg rect.${kind}`).count();
  assert.deepEqual([await drawn("missing"), await drawn("retracted")], [1, 1]);
  const legend = await chart(page).locator(".legend").textContent();
  assert.ok(legend.includes("missing") && legend.includes("retracted"), legend);
  await chart(page).locator("summary").click();
  const { rows } = await get(`/v1/history/${retracted.pool}?size_usd=100000&interval=5m`);
  const taken = rows.findIndex((row) => row.state === "retracted");
  const table = chart(page).locator("tbody tr");
  assert.equal(await table.count(), rows.length);
  assert.match(await table.nth(taken).textContent(), /retracted by a later entry/);
  for (const reason of ["chain_lagging", "recorder_down"]) {
    const at = rows.findIndex((row) => row.missing_reason === reason);
    assert.ok(at > 0, `no slot is missing because of ${reason}`);
    assert.match(await table.nth(at).textContent(), new RegExp(`missing: ${reason}`));
  }
  // The keyboard works, too.
  await chart(page).locator("svg").focus();
  await page.keyboard.press("Home");
  for (let step = 0; step < taken; step += 1) await page.keyboard.press("ArrowRight");
  assert.match(await chart(page).locator(".reading").textContent(), /retracted/);
  const recorded = rows.findIndex((row) => row.worst?.exit_gap_pct !== undefined);
  const { worst } = rows[recorded];
  const price = String(Math.round((100 - worst.exit_gap_pct) * 1e6) / 1e6);
  assert.ok((await table.nth(recorded).textContent()).includes(`${price}%`), "100 less the gap");
  await chart(page).locator("summary").click();
  await shoot(page, "pool-holes");
  await page.setViewportSize({ width: 390, height: 900 });
  await page.reload();
  await page.locator("#history > summary").click();
  await page.waitForSelector(".stress");
  await page.getByLabel("Interval").selectOption("5m");
  await chart(page).locator("rect.retracted").waitFor();
  await shoot(page, "pool-holes-390");
  await page.context().close();
  console.log("series: missing and retracted slots are drawn and told apart");
}

/** Rows of hours and days: a row that lacks some of its slots says so, and labels do not overlap. */
async function rows({ retracted, open, get, shoot }) {
  const page = await open(`/pools/${retracted.pool}`);
  await page.waitForSelector(".stress");
  for (const interval of ["1h", "1d"]) {
    await page.getByLabel("Interval").selectOption(interval);
    const { rows } = await get(`/v1/history/${retracted.pool}?size_usd=100000&interval=${interval}`);
    await chart(page).locator("summary").click();
    await eventually(`rows of ${interval}`, async () => await chart(page).locator("tbody tr").count() === rows.length);
    const torn = rows.findIndex((row) => row.slots_recorded > 0 && row.slots_retracted > 0);
    const words = await chart(page).locator("tbody tr").nth(torn).textContent();
    assert.match(words, new RegExp(`${rows[torn].slots_retracted} retracted of \\d+ slots`));
    assert.ok(await chart(page).locator("svg rect.partly").count() > 0);
    const labels = await chart(page).locator("svg text.tick:not([text-anchor=end]), svg text.tick[y='252.0']").evaluateAll(
      (all) => all.map((one) => one.getBoundingClientRect()).map(({ left, right }) => [left, right]).sort((a, b) => a[0] - b[0]));
    const frame = await chart(page).locator("svg").boundingBox();
    labels.forEach(([left, right], index) => {
      assert.ok(left >= frame.x && right <= frame.x + frame.width, "a label is cut off");
      assert.ok(index === 0 || labels[index - 1][1] <= left, "labels lie over each other");
    });
    assert.ok(labels.length >= Math.min(rows.length, 2) && labels.length <= 7, `${labels.length} labels`);
    await shoot(page, `pool-rows-${interval}`);
  }
  // The chart shows the quoted and the realized price of the same slot, the last one. The band reaches to the worst.
  const { rows: [day] } = await get(`/v1/history/${retracted.pool}?size_usd=100000&interval=1d`);
  assert.ok(day.worst.exit_gap_pct > day.last.exit_gap_pct, "the last slot of the day is its worst");
  const cells = await chart(page).locator("tbody tr").first().textContent();
  for (const below of [day.last_basis_pct, day.last.exit_gap_pct]) {
    assert.ok(cells.includes(`${Math.round((100 - below) * 1e6) / 1e6}%`), cells);
  }
  assert.ok(!cells.includes(`${Math.round((100 - day.worst.exit_gap_pct) * 1e6) / 1e6}%`), cells);
  assert.ok((await chart(page).locator(".legend").textContent()).includes("fill price (same slot"));
  // The list shows the newest rows with their evidence.
  await page.locator("details.listed summary").click();
  const gaps = await page.locator("details.listed .checked-gap").count();
  await page.locator("details.listed").getByRole("button", { name: "Check every gap in view" }).click();
  await eventually("rows are confirmed", async () =>
    await page.locator("details.listed .standing.pass").count() === gaps);
  assert.ok(gaps > 0);
  await page.context().close();
  console.log("series: rows of hours and days");
}

/** A recorded slot that could not fill the size is marked, not left out. */
async function refused({ thin, open, get, shoot }) {
  const { rows } = await get(`/v1/history/${thin}?size_usd=1000000&interval=1h`);
  const page = await open(`/pools/${thin}`, { expected: ["422"] });
  await page.waitForSelector(".stress");
  await page.getByLabel("Size sold").selectOption("1000000");
  await chart(page).locator("svg rect.refused-band").first().waitFor();
  await chart(page).locator("summary").click();
  const at = rows.findIndex((row) => row.slots_refused > 0);
  assert.ok(at >= 0, "the thin pool fills a million");
  const { slots_refused: refused, slots_recorded: recorded, least_fillable: least } = rows[at];
  const words = `${refused} of ${recorded} recorded slots could not fill this size; the lowest maximum was $`;
  const told = await chart(page).locator("tbody tr").nth(at).textContent();
  assert.ok(told.includes("cannot be filled") && told.includes(words) && least.max_fillable_usd > 0, told);
  const stress = await get(`/v1/stress/${thin}?size_usd=1000000`);
  assert.ok((await page.locator("#refused").textContent()).startsWith(`${stress.slots_refused} recorded slots; the lowest maximum`));
  await page.waitForSelector(".stress >> text=none: no recorded slot could fill this size");
  await chart(page).locator("summary").click();
  await shoot(page, "pool-series-refused");
  await page.context().close();
  console.log("series: refused slots are marked");
}

/** Under another size neither the old chart nor the old worst is shown; both name their size. */
async function reloading({ pool, open, get }) {
  const page = await open(`/pools/${pool}`);
  await page.waitForSelector(".stress");
  const gates = {};
  for (const pattern of [HISTORY, STRESS]) {
    const gate = new Promise((done) => { gates[pattern] = done; });
    await page.route(pattern, async (route) => { await gate; await route.continue(); });
  }
  await page.getByLabel("Size sold").selectOption("1000");
  await eventually("both load", async () => await page.locator(".loading").count() === 2);
  assert.equal(await chart(page).count(), 0);
  assert.equal(await page.locator(".stress").count(), 0);
  gates[STRESS]();
  await page.waitForSelector(".stress >> text=Worst gap, $1,000 of");
  gates[HISTORY]();
  await chart(page).locator("figcaption >> text=$1,000 of").waitFor();
  // The lowest depth links to a sale of that size in its slot, and its evidence shows a gap within 2%.
  const lowest = page.locator(".stress").getByTitle("Open the evidence of this sale");
  const { request, result } = await get(await lowest.getAttribute("href"));
  assert.equal(await lowest.textContent(), `$${Number(request.size_usd).toLocaleString("en-US")}`);
  assert.ok(Number(result.exit_gap_pct) <= 2, result.exit_gap_pct);
  await page.context().close();
  console.log("series: loading under new controls");
}

/** A period is dragged over: it ends with the last row's last slot. */
async function dragged({ retracted, open, get, shoot }) {
  const page = await open(`/pools/${retracted.pool}`);
  await page.waitForSelector(".stress");
  const { rows } = await get(`/v1/history/${retracted.pool}?size_usd=100000&interval=1h`);
  assert.ok(rows.length > 2, `${rows.length} rows`);
  await chart(page).locator("svg").scrollIntoViewIfNeeded();
  const frame = await chart(page).locator("svg").boundingBox();
  const asked = page.waitForRequest((request) => request.url().includes("/v1/stress/") && request.url().includes("from="));
  await page.mouse.move(frame.x + frame.width * 0.08, frame.y + 60);
  await page.mouse.down();
  await page.mouse.move(frame.x + frame.width * 0.3, frame.y + 60);
  await page.mouse.move(frame.x + frame.width * 0.5, frame.y + 60);
  // Releasing the button outside the chart ends the drag, too.
  await page.mouse.move(frame.x + frame.width * 0.5, frame.y - 40);
  await page.mouse.up();
  const query = new URL((await asked).url()).searchParams;
  const first = rows.findIndex((row) => row.time === query.get("from"));
  assert.equal(first, 0);
  const ends = rows.slice(1).map((row) => new Date(Date.parse(row.time) - 300_000).toISOString().replace(".000", ""));
  const last = ends.indexOf(query.get("to"));
  assert.ok(last >= 1, `${query.get("to")} is the end of no row: ${ends}`);
  const period = await get(`/v1/stress/${retracted.pool}?${query}`);
  const slots = rows.slice(0, last + 1).reduce((sum, row) => sum + row.slots_recorded + row.slots_missing + row.slots_retracted, 0);
  assert.equal(period.slots_recorded + period.slots_missing + period.slots_retracted, slots, "whole rows");
  await page.waitForSelector(`.stress >> text=${period.slots_recorded} recorded, ${period.slots_missing} missing, ${period.slots_retracted} retracted`);
  await page.locator(".stress").getByRole("button", { name: "check" }).click();
  await page.waitForSelector(".stress .standing.pass");
  await shoot(page, "pool-stress");
  // A period needs both of its times.
  await page.getByLabel("To (UTC)").fill("");
  await page.getByRole("button", { name: "Show the worst" }).click();
  await page.waitForSelector("text=A period needs both times");
  await page.getByRole("button", { name: "Show whole series" }).click();
  await page.waitForSelector(".stress");
  assert.equal(await page.getByLabel("From (UTC)").inputValue(), "");
  await page.context().close();
  console.log("series: the worst of a period by dragging");
}

/** The rest of the page stands where the series cannot be had, and it is asked again on request. */
async function failures({ pool, open, shoot }) {
  const routes = {
    [HISTORY]: problem(500, "source_unreadable", "the series could not be read"),
    [STRESS]: answer({ nonsense: true }),
  };
  const page = await open(`/pools/${pool}?size_usd=1000`, { routes, expected: ["500"] });
  await page.waitForSelector(".agreement .standing.pass");
  await page.waitForSelector(".failed >> text=the series could not be read");
  await page.waitForSelector(".failed >> text=not the expected document");
  await shoot(page, "pool-series-failed");
  await page.unroute(HISTORY);
  await page.unroute(STRESS);
  await page.getByRole("button", { name: "Try again" }).first().click();
  await chart(page).waitFor();
  await page.getByRole("button", { name: "Try again" }).click();
  await page.waitForSelector(".stress");
  await page.context().close();
  console.log("series: failed, and asked again");
}
