// The holder's question from the front page to its proof, and the lender's report: each number as the service says it.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { answer, eventually, local } from "./browser.mjs";

export default async function exit(scene) {
  await holder(scene);
  await oneVenue(scene);
  await ages(scene);
  await beyond(scene);
  await lender(scene);
  await unfillable(scene);
}

/** As a page shows a size. */
const dollars = (usd) => `$${Number(usd).toLocaleString("en-US", { maximumFractionDigits: 6 })}`;

/** Three actions: the token, the size, the button. Reload, back and share keep what was asked. */
async function holder({ exit, open, get, shoot, fits }) {
  const [chain] = exit.pool.split(":");
  const token = `${chain}:${exit.base.address}`;
  const page = await open("/");
  await page.locator("#held").selectOption(token);
  await page.locator("#worth").fill("$250,000");
  await page.keyboard.press("Enter");
  await page.waitForURL(`**/exit/${token}?size_usd=*`);
  await page.waitForSelector("#where table");
  const told = await get(`/v1/routes/${token.replace(":", "/")}?size_usd=250000`);
  assert.ok(told.legs.length > 1, "the scene splits this size");
  assert.equal(await page.locator("#gap").getAttribute("title"), `${told.exit_gap_pct} %`.replace("-", "−"));
  assert.equal(await page.locator("#gap").getAttribute("href"), "#where", "several legs prove it");
  const links = await page.locator("#where tbody th a").evaluateAll((all) => all.map((one) => one.getAttribute("href")));
  assert.deepEqual(links, told.alone.map(({ pool }) => `/pools/${pool}?size_usd=250000`), "the best first");
  const expected = told.alone.map(({ pool }) => told.legs.find((leg) => leg.pool === pool))
    .map((leg) => leg === undefined ? "nothing" : dollars(leg.size_usd));
  const exact = await page.locator("#where tbody td:nth-of-type(2)").evaluateAll((all) =>
    all.map((one) => one.querySelector("[title]")?.title ?? one.textContent));

  assert.deepEqual(exact, expected);
  const saved = Math.round((told.alone[0].exit_gap_pct - told.exit_gap_pct) * 1e6) / 1e6;
  assert.ok(saved >= 0);
  // What stays within a limit, of each venue.
  const within = async (limit) => {
    let sum = 0;
    for (const { pool } of told.alone) {
      sum += (await get(`/v1/size/${pool}?gap_pct=${limit}&base=${exit.base.address}`)).max_size_usd ?? 0;
    }
    return `$${Math.floor(sum + 1e-6).toLocaleString("en-US")}`;
  };
  const most = page.locator(".card").filter({ hasText: "Most within" }).locator(".value");
  const one = await within("1");
  await eventually("the most within 1 %", async () => await most.textContent() === one);
  await page.locator("#limit").selectOption("2");
  await page.waitForURL(/limit=2/);
  const two = await within("2");
  await eventually("the most within 2 %", async () => await most.textContent() === two);
  await dollarsAlone(page, { told, token, get });
  const week = new Date(Date.parse(told.slot_time) - 2015 * 300_000).toISOString().replace(".000", "");
  const stress = await get(`/v1/stress/${told.alone[0].pool}?size_usd=250000&base=${exit.base.address}&from=${week}&to=${told.slot_time}`);
  const worst = page.locator(".card").filter({ hasText: "Worst in 7 days" }).locator(".value a");
  assert.equal(await worst.getAttribute("href"), local(stress.detail.worst_slots[0].evidence_url));
  // Every gap is checked here.
  const all = await page.locator("#where .checked-gap").count();
  assert.ok(all > told.legs.length, "each venue and each leg");
  await page.getByRole("button", { name: "Check every gap in view" }).click();
  await eventually("all are confirmed", async () => await page.locator("#where table").getByText("confirmed here").count() === all);
  // An hour of the week, by keys: the worst of its rows, with its evidence.
  await page.waitForSelector("#best-hour");
  const rows = (await get(`/v1/history/${told.alone[0].pool}?size_usd=250000&interval=1h&base=${exit.base.address}`)).rows;
  const row = rows.findLast(({ worst, slots_refused: refused }) => worst !== undefined && refused === 0);
  const hour = (Math.floor(Date.parse(row.time) / 3600_000) + 72) % 168;
  const heat = page.locator(".heat svg").first();
  await heat.focus();
  await page.keyboard.press("ArrowRight");
  for (let step = 0; step < hour % 24; step += 1) await page.keyboard.press("ArrowRight");
  for (let step = 0; step < Math.floor(hour / 24); step += 1) await page.keyboard.press("ArrowDown");
  const link = await page.locator(".heat .reading a").getAttribute("href");
  assert.equal(link, local(row.worst.evidence_url));
  // The same hour by a tap where it lies.
  const byKeys = await page.locator(".heat .reading").textContent();
  await page.keyboard.press("ArrowDown");
  const frame = await heat.boundingBox();
  const [wide, high] = [40 + 28 * 24, 22 + 24 * 7];
  await page.mouse.click(frame.x + (40 + 28 * (hour % 24 + 0.4)) / wide * frame.width,
    frame.y + (22 + 24 * (Math.floor(hour / 24) + 0.4)) / high * frame.height);
  await eventually("the hour that was tapped", async () => await page.locator(".heat .reading").textContent() === byKeys);
  // All of it is in the address.
  const venue = told.alone[1].pool;
  await page.locator("#venue").selectOption(venue);
  await page.waitForURL((url) => url.searchParams.get("venue") === venue);
  await page.reload();
  await page.waitForSelector("#where table");
  const kept = [await page.locator("#held").inputValue(), await page.locator("#worth").inputValue(),
    await page.locator("#limit").inputValue(), await page.locator("#venue").inputValue()];
  assert.deepEqual(kept, [token, "$250,000", "2", venue]);
  await page.goBack();
  await page.waitForSelector("table.board");
  await page.goForward();
  await page.waitForSelector("#best-hour");
  assert.equal(await page.locator("#limit").inputValue(), "2");
  await eventually("nothing is loading", async () => await page.locator(".loading").count() === 0);
  await shoot(page, "exit");
  await page.setViewportSize({ width: 390, height: 900 });
  await page.reload();
  await page.waitForSelector("#best-hour");
  await fits(page, "an exit on a phone");
  const small = await page.locator("main button:visible, main select:visible").evaluateAll((all) =>
    all.map((one) => [one.outerHTML.slice(0, 80), one.getBoundingClientRect().height]).filter(([, height]) => height < 43.5));
  assert.deepEqual(small, [], "each target is high enough for a finger");
  const reached = await page.locator("main td a:visible, main th a:visible, main .value a:visible").evaluateAll((all) =>
    all.map((one) => [one.outerHTML.slice(0, 80), one.getBoundingClientRect().height]));
  assert.ok(reached.length > 3);
  assert.deepEqual(reached.filter(([, height]) => height < 43.5), [], "a link of a table or a card, too");
  await shoot(page, "exit-390");
  await page.context().close();
  console.log("exit: asked in three actions, as the service says, checked here, kept in the address");
}

/** What the split ends in is said, and what is no dollar is left out where that is asked for, in the address. */
async function dollarsAlone(page, { told, token, get }) {
  const endsIn = () => page.locator("#ends-in").textContent();
  const symbols = (routes) => [...new Set(routes.legs.map(({ quote }) => quote.symbol))];
  const said = (routes) => symbols(routes).join(", ");
  assert.ok(symbols(told).some((symbol) => !["USDC", "USDT", "DAI"].includes(symbol)), "the scene's split ends in more than dollars");
  assert.equal(await endsIn(), `It ends in ${said(told)}, counted at the oracle's price of each.`);
  await page.locator("#into").selectOption("dollars");
  await page.waitForURL(/into=dollars/);
  const dollars = await get(`/v1/routes/${token.replace(":", "/")}?size_usd=250000&quote_group=dollars`);
  assert.ok(symbols(dollars).every((symbol) => ["USDC", "USDT", "DAI"].includes(symbol)));
  await eventually("the split into dollars", async () =>
    await page.locator("#gap").getAttribute("title") === `${dollars.exit_gap_pct} %`.replace("-", "−"));
  assert.equal(await endsIn(), `It ends in ${said(dollars)}, counted at the oracle's price of each.`);
  await page.locator("#into").selectOption("");
  await page.waitForURL((url) => !url.searchParams.has("into"));
  await eventually("the split into any token", async () =>
    await page.locator("#gap").getAttribute("title") === `${told.exit_gap_pct} %`.replace("-", "−"));
}

/** What one venue fills best is proven by its one piece of evidence; a group that is none can be left again. */
async function oneVenue({ exit, open, get }) {
  const [chain] = exit.pool.split(":");
  const { address } = exit.base;
  const { legs } = await get(`/v1/routes/${chain}/${address}?size_usd=10`);
  assert.equal(legs.length, 1, "the scene sells so little in one venue");
  const page = await open(`/exit/${chain}:${address}?size_usd=10&into=nothing`, { expected: ["400"] });
  await page.waitForSelector(".refused >> text=quote_group");
  assert.equal(await page.locator("#where").count(), 0);
  await page.locator("#into-any").click();
  await page.waitForURL((url) => !url.searchParams.has("into") && url.searchParams.get("size_usd") === "10");
  await page.waitForSelector("#where table");
  assert.equal(await page.locator("#gap").getAttribute("href"), local(legs[0].evidence_url));
  assert.equal(await page.locator("#into-any").count(), 0);
  await page.context().close();
  console.log("exit: one venue's evidence, and a group that is none");
}

/** A slot that others should have followed is said to be old, a newer one is not. */
async function ages({ exit, open, get }) {
  const [chain] = exit.pool.split(":");
  const told = await get(`/v1/routes/${chain}/${exit.base.address}?size_usd=1000`);
  for (const [age, warned] of [[600, false], [601, true]]) {
    const routes = { "**/v1/routes/**": answer({ ...told, snapshot_age_s: age }) };
    const page = await open(`/exit/${chain}:${exit.base.address}?size_usd=1000`, { routes });
    await page.waitForSelector("#where table");
    assert.equal(await page.locator("text=a sale now may fill at something else").count() > 0, warned, `${age} s`);
    await page.context().close();
  }
  console.log("exit: how old it is");
}

/** What nothing fills is said, and proven, and the most that is filled is compared instead. */
async function beyond({ thin, pools, open, shoot }) {
  // A pool of constant product would take any size, at a gap of nearly all of it.
  const { chain, base } = pools.find(({ pool }) => pool === thin);
  const token = `${chain}:${base.address}`;
  const page = await open(`/exit/${token}?size_usd=999999999`, { expected: ["422"] });
  await page.waitForSelector("#beyond");
  await shoot(page, "exit-beyond");
  await page.locator("#where td a", { hasText: "cannot be filled" }).first().click();
  await page.waitForSelector(".verdict.pass");
  assert.match(page.url(), /size_usd=999999999/);
  assert.match(await page.locator(".verdict").first().textContent(), /cannot be filled/);
  await page.goto(new URL("/exit/nothing?size_usd=1", page.url()).href);
  await page.waitForSelector(".refused >> text=it is no <chain>:<address>");
  await page.context().close();
  console.log("exit: what cannot be filled is proven, and what is no token is said");
}

/** The same with liquidity gone: the service's own numbers, computed again; after moves alone; and as in a fall that has a name. */
async function gone({ own, asked, page, open, get }) {
  const venues = own.map((pool) => `venue=${pool}`).join("&");
  const rows = (on) => on.locator("table.stressed tbody tr");
  const told = await get(`/v1/stress?${venues}&size_usd=100000&haircut_pct=30&fall_pct=20`);
  await rows(page).first().waitFor();
  const depths = await rows(page).evaluateAll((all) => all.map((row) => row.querySelectorAll("td")[2].textContent));
  assert.deepEqual(depths, told.worst_slots.map((slot) => dollars(slot.depth_usd)));
  const drawn = await page.locator("#stress figure.chart text").allTextContents();
  assert.deepEqual(drawn.slice(0, 3), [`to be sold: ${dollars(100000)}`, `depth, median: ${dollars(told.depth_q50_usd)}`,
    `depth, least: ${dollars(told.lowest_depth_usd)}`]);
  await page.locator("#stress").getByRole("button", { name: "Compute it again in this browser" }).click();
  await page.locator("#stress .confirmed").waitFor();
  const button = page.getByRole("button", { name: "Take away the stress as CSV" });
  const [download] = await Promise.all([page.waitForEvent("download"), button.click()]);
  const lines = readFileSync(await download.path(), "utf8").trim().split("\n").map((line) => line.split(","));
  assert.equal(lines.length, 1 + told.worst_slots.length);
  assert.ok(lines.slice(1).every((line) => line.at(-1) === told.figure_url && line.length === lines[0].length));
  const shock = { name: "storm", about: "A storm", pool: own[0], base: null, fall_pct: 7, haircut_pct: 12.5 };
  const calm = { ...shock, name: "calm", fall_pct: null, haircut_pct: null, why_not: "no_fall" };
  const routes = { "**/v1/shocks": answer({ shocks: [shock, calm] }) };
  const other = await open(`/risk?${asked}&size_usd=100000&after_move_pct=0.01`, { routes });
  const link = other.locator("#shocks a");
  await link.waitFor();
  assert.equal(await link.textContent(), "A storm: the price fell by 7.00 %, 12.50 % of the book was gone");
  const after = await get(`/v1/stress?${venues}&size_usd=100000&haircut_pct=30&fall_pct=20&after_move_pct=0.01`);
  assert.equal(await rows(other).count(), after.worst_slots.length);
  const words = () => other.locator("#stress > p").first().textContent();
  assert.ok((await words()).includes(`${after.slots_unmoved} had not, of ${after.slots_untestable} it is not known`), await words());
  await link.click();
  await other.waitForURL(/haircut_pct=12\.5/);
  await eventually("the storm's numbers", async () => (await words()).startsWith("12.50 % of everybody's liquidity is gone in every slot, and the price 7.00 % lower"));
  assert.match(other.url(), /fall_pct=7&haircut_pct=12\.5&after_move_pct=0\.01/);
  await other.context().close();
}

/** A report of a size that no slot fills: that is the worst, said with the most that was filled, the least of it first. */
async function unfillable({ exit, pools, open, get }) {
  const size = 999_999_999;
  const atMost = ({ max_fillable_usd: most }) => `at most ${dollars(Math.trunc(most))}`;
  const most = async (pool) => (await get(`/v1/exit/${pool}?size_usd=${size}`)).max_fillable_usd;
  const concentrated = pools.filter(({ base, name }) => base?.address === exit.base.address && name.includes("Uniswap v3"));
  const found = await Promise.all(concentrated.map(async ({ pool }) => [pool, await most(pool)]));
  const [pool] = found.find(([, most]) => most !== undefined);
  const page = await open(`/risk?pool=${encodeURIComponent(pool)}&size_usd=${size}`);
  await page.waitForSelector("#band");
  const { from, to } = await get(`/v1/exposure?venue=${pool}&cascade_usd=${size}`);
  const { slots_refused: refused, detail: { worst_slots: slots } } = await get(`/v1/stress/${pool}?size_usd=${size}&from=${from}&to=${to}`);
  assert.ok(slots.length > 1 && slots.every((slot) => slot.exit_gap_pct === undefined), "no slot fills it");
  const cells = page.locator("table", { has: page.locator("caption >> text=Each pool alone") }).locator("tbody td");
  assert.equal(await cells.nth(2).textContent(), `cannot be filled${atMost(slots[0])}`);
  assert.equal(await cells.nth(2).locator("a").getAttribute("href"), local(slots[0].evidence_url));
  assert.equal(await cells.nth(3).textContent(), `${refused} of ${refused}, 100.0 %`);
  const listed = await page.locator("table").last().locator("tbody tr td:last-child").evaluateAll((all) =>
    all.map((cell) => [cell.querySelector("a").getAttribute("href"), cell.querySelector("small").textContent]));
  assert.deepEqual(listed, slots.map((slot) => [local(slot.evidence_url), atMost(slot)]));
  const filled = slots.map((slot) => slot.max_fillable_usd);
  assert.deepEqual(filled, filled.toSorted((one, other) => one - other), "the least of it first");
  await page.context().close();
  console.log("risk: what no slot fills is the worst");
}

/** The report of two pools, as the service says it, to print and to take away. */
async function lender({ exit, pools, open, get, shoot, fits }) {
  // Exposure is told of concentrated liquidity and of constant product.
  const own = pools.filter(({ base, name }) => base?.address === exit.base.address && /Uniswap v[23]/.test(name)).slice(0, 2).map(({ pool }) => pool);
  const asked = own.map((pool) => `pool=${encodeURIComponent(pool)}`).join("&");
  const page = await open("/risk");
  await page.waitForSelector("text=Choose at least one pool");
  for (const pool of own) await page.locator(`input[value="${pool}"]`).check();
  await page.locator("input[name=size_usd]").fill("100000");
  await page.getByRole("button", { name: "Make the report" }).click();
  await page.waitForSelector("#band");
  const told = await get(`/v1/exposure?${own.map((pool) => `venue=${pool}`).join("&")}&cascade_usd=100000`);
  const card = (name) => page.locator(".card").filter({ has: page.getByText(name, { exact: true }) }).locator(".value").textContent();
  const cut = (ratio) => `${(Math.floor(ratio * 100 + 1e-9) / 100).toLocaleString("en-US")}`;
  assert.ok((await card("Coverage")).startsWith(cut(told.coverage).split(".")[0]));
  const shortfall = told.slots_unfillable > 0 ? "no fill" : dollars(told.shortfall_usd);
  assert.equal(await card("Shortfall at the worst slot"), shortfall);
  assert.equal(await card("Reopening gap"), "never closes");
  const stress = await Promise.all(own.map((pool) => get(`/v1/stress/${pool}?size_usd=100000&from=${told.from}&to=${told.to}`)));
  // The worst of each pool, and the next worst of all.
  const gapOf = ({ exit_gap_pct: gap }) => gap ?? Infinity;
  const first = stress.map(({ detail }) => gapOf(detail.worst_slots[0]));
  const next = stress.flatMap(({ detail }) => detail.worst_slots.slice(1)).map(gapOf).sort((a, b) => b - a);
  const worst = [...first, ...next.slice(0, 10 - first.length)].sort((a, b) => b - a);
  const totals = page.locator("table", { has: page.locator("caption >> text=Each pool alone") });
  const shown = await totals.locator("tbody tr").evaluateAll((all) => all.map((row) => {
    const cells = row.querySelectorAll("td");
    return [cells[2].querySelector("a").getAttribute("href"), cells[3].textContent];
  }));
  const refusals = ({ slots_refused: refused, slots_recorded: recorded }) =>
    refused === 0 ? `none of ${recorded}` : `${refused} of ${recorded}, ${(Math.ceil(refused * 1000 / recorded) / 10).toFixed(1)} %`;
  assert.deepEqual(shown.map(([href]) => href).sort(), stress.map(({ detail }) => local(detail.worst_slots[0].evidence_url)).sort(),
    "the worst slot, also one that could not be filled, with its evidence");
  assert.ok(stress.every((one) => shown.some(([, words]) => words.startsWith(refusals(one)))), JSON.stringify(shown));
  // What was to be sold beside what would have been taken: drawn, listed, and computed again from its file.
  const exposure = page.locator("#exposure");
  const taken = await exposure.locator("tbody tr").evaluateAll((all) => all.map((row) => row.querySelector("td").textContent));
  assert.deepEqual(taken, [told.depth_now_usd, told.depth_q50_usd, told.break_even_depth_now_usd, told.break_even_depth_q50_usd,
    told.lowest_break_even_depth_usd, ...told.venues.map((venue) => venue.lowest_depth_usd)].map(dollars));
  assert.equal(await exposure.locator("figure.chart rect.fill").count(), 6);
  await exposure.getByRole("button", { name: "Compute it again in this browser" }).click();
  await exposure.locator(".confirmed, .refused, .failed").waitFor();
  assert.match(await exposure.locator(".checked-figure").textContent(), /Confirmed by this browser.* snapshots/);
  await gone({ own, asked, page, open, get });
  const names = pools.filter(({ pool }) => own.includes(pool)).map(({ base, quote, name }) => `${base.symbol} for ${quote.symbol}, ${name}`);
  const called = await page.locator("table", { has: page.locator("caption >> text=Each pool alone") }).locator("tbody th a").allTextContents();
  assert.deepEqual(called.sort(), names.sort(), "by venue and fee");
  const listed = page.locator("table").last().locator("tbody tr");
  assert.equal(await listed.count(), 10);
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Take away as CSV" }).click()]);
  const lines = readFileSync(await download.path(), "utf8").trim().split("\n").map((line) => line.split(","));
  const value = (name) => lines.filter((line) => line[1] === name).map((line) => line[2]);
  assert.deepEqual(value("coverage"), [String(told.coverage)]);
  assert.ok(lines.find((line) => line[1] === "coverage")[5] === told.figure_url, "with its figure");
  assert.deepEqual(value("worst_slot_gap_pct").map((gap) => Number.isNaN(Number(gap)) ? Infinity : Number(gap)), worst);
  assert.ok(lines.filter((line) => line[1] === "worst_slot_gap_pct").every((line) => line[4].includes("/api/v1/exit/")));
  // All of it in one file, with what proves each number: as the service sends it, a line each.
  const [whole] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Take it away with its proofs" }).click()]);
  const files = readFileSync(await whole.path(), "utf8").trim().split("\n");
  const figure = await fetch(new URL(local(told.figure_url), page.url()), { headers: { accept: "application/json" } });
  assert.equal(files[0], await figure.text());
  const evidence = files.filter((line) => JSON.parse(line).request !== undefined);
  assert.equal(evidence.length, 10, "the worst slots, those that are refused, too");
  await shoot(page, "risk");
  await page.emulateMedia({ media: "print" });
  assert.equal(await page.locator("header").isVisible(), false, "paper has no navigation");
  await page.emulateMedia({ media: "screen" });
  await page.setViewportSize({ width: 390, height: 900 });
  await fits(page, "a report on a phone");
  await shoot(page, "risk-390");
  // A period of one's own is in the address, and what is told is of it.
  const minute = (seconds) => new Date(Date.parse(told.to) - seconds * 1000).toISOString().slice(0, 16);
  const [from, to] = [minute(1800), minute(600)];
  await page.goto(new URL(`/risk?${asked}&size_usd=100000&from=${from}&to=${to}`, page.url()).href);
  await page.waitForSelector("#band");
  const period = await page.locator("#band").textContent();
  assert.ok([from, to].every((time) => period.includes(`${time.replace("T", " ")} UTC`)), period);
  assert.deepEqual([await page.locator("input[name=from]").inputValue(), await page.locator("input[name=to]").inputValue()], [from, to]);
  await page.goto(new URL(`/risk?${asked}&size_usd=abc`, page.url()).href);
  await page.waitForSelector(".refused >> text=size_usd");
  await page.context().close();
  console.log("risk: a report as the service says it, to print and to take away");
}
