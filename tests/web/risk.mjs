// The lender's report: each number equals the service's answer, and the report can be printed, downloaded, and verified
// elsewhere.
import { execSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import assert from "node:assert/strict";
import { answer, dollars, eventually, local } from "./browser.mjs";

export default async function risk(scene) {
  await lender(scene);
  await unfillable(scene);
}

/** The same with liquidity gone: the service's own numbers, computed again; after moves alone; and as in a fall that has a name. */
async function gone({ own, asked, page, open, get }) {
  const venues = own.map((pool) => `venue=${pool}`).join("&");
  const rows = (on) => on.locator("table.stressed tbody tr");
  const told = await get(`/v1/stress?${venues}&size_usd=100000&haircut_pct=30&fall_pct=20`);
  await rows(page).first().waitFor();
  const depths = await rows(page).evaluateAll((all) => all.map((row) => row.querySelectorAll("td")[3].textContent));
  assert.deepEqual(depths, told.worst_slots.map((slot) => dollars(slot.depth_usd)));
  const drawn = await page.locator("#stress figure.chart text").allTextContents();
  assert.deepEqual(drawn.slice(0, 3), [`to be sold: ${dollars(100000)}`, `median depth: ${dollars(told.depth_q50_usd)}`,
    `lowest depth: ${dollars(told.lowest_depth_usd)}`]);
  await page.locator("#stress").getByRole("button", { name: "Recompute in this browser" }).click();
  await page.locator("#stress .confirmed").waitFor();
  const button = page.getByRole("button", { name: "Download the stress test (CSV)" });
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
  assert.equal(await link.textContent(), "A storm: the price fell by 7.00%, and 12.50% of the depth was withdrawn");
  const after = await get(`/v1/stress?${venues}&size_usd=100000&haircut_pct=30&fall_pct=20&after_move_pct=0.01`);
  assert.equal(await rows(other).count(), after.worst_slots.length);
  const words = () => other.locator("#stress > p").first().textContent();
  assert.ok((await words()).includes(`${after.slots_unmoved} slots had no such move, and ${after.slots_untestable} could not be tested`), await words());
  await link.click();
  await other.waitForURL(/haircut_pct=12\.5/);
  await eventually("the storm's numbers", async () => (await words()).startsWith("In every slot, 12.50% of all liquidity is withdrawn and the price is 7.00% lower"));
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
  const { from, to } = await get(`/v1/exposure?venue=${pool}&cascade_usd=${size}&reference=mid`);
  const { slots_refused: refused, detail: { worst_slots: slots } } = await get(`/v1/stress/${pool}?size_usd=${size}&from=${from}&to=${to}`);
  assert.ok(slots.length > 1 && slots.every((slot) => slot.exit_gap_pct === undefined), "no slot fills it");
  const cells = page.locator("table", { has: page.locator("caption >> text=Each pool alone") }).locator("tbody td");
  assert.equal(await cells.nth(2).textContent(), `cannot be filled${atMost(slots[0])}`);
  assert.equal(await cells.nth(2).locator("a").getAttribute("href"), local(slots[0].evidence_url));
  assert.equal(await cells.nth(3).textContent(), `${refused} of ${refused}, 100.0%`);
  const listed = await page.locator("table").last().locator("tbody tr td:last-child").evaluateAll((all) =>
    all.map((cell) => [cell.querySelector("a").getAttribute("href"), cell.querySelector("small").textContent]));
  assert.deepEqual(listed, slots.map((slot) => [local(slot.evidence_url), atMost(slot)]));
  const filled = slots.map((slot) => slot.max_fillable_usd);
  assert.deepEqual(filled, filled.toSorted((one, other) => one - other), "the least of it first");
  await page.context().close();
  console.log("risk: what no slot fills is the worst");
}

/** A card that is of two slots tells both, and one that has a period of its own says which. */
async function notes({ page, told, own, get }) {
  const note = (name) => page.locator(".card").filter({ has: page.getByText(name, { exact: true }) }).locator(".note").textContent();
  const minute = (time) => `${time.slice(0, 16).replace("T", " ")} UTC`;
  if (told.slots_unfillable === 0) {
    const shortfall = await note("Shortfall at the worst slot");
    assert.ok(shortfall.includes(`at ${minute(told.worst_time)}. Stranded: ${dollars(told.stranded_usd)} at ${minute(told.lowest_break_even_time)}`), shortfall);
  }
  const { from, to } = await get(`/v1/decay/${own[0]}?to=${told.to}`);
  const withdrawn = await note("Withdrawn after moves");
  assert.ok(withdrawn.endsWith(`, ${from.slice(0, 10)} to ${to.slice(0, 10)}`), withdrawn);
}

/** The file that is taken away is verified by the command that is printed, by this site, too; what was cut off is told. */
async function handedOver({ page, text, files, get, open, shoot }) {
  const key = (await (await fetch(new URL("/log/verifier-key", page.url()))).text()).trim();
  const command = (on) => on.locator("code.command").textContent();
  await page.waitForSelector("code.command");
  const printed = await command(page);
  assert.equal(printed, `exitgap verify risk.jsonl --trust ${key} --snapshots ${new URL(page.url()).origin}`);
  const folder = mkdtempSync(join(tmpdir(), "report-"));
  const path = `${dirname(process.env.EXITGAP_BINARY)}${delimiter}${process.env.PATH}`;
  writeFileSync(join(folder, "risk.jsonl"), text);
  const said = execSync(printed, { cwd: folder, encoding: "utf8", env: { ...process.env, PATH: path } });
  rmSync(folder, { recursive: true });
  assert.ok(said.includes(`Report of ${files} files: VALID`) && said.includes(`Complete: the ${files} files`), said);
  assert.match(said, /figure exposure\/2 of .*: liquidation size \$100,000, rating .*, shortfall /);
  const verify = await open("/verify", { context: page.context() });
  await verify.locator("#keys").fill(key);
  const give = async (name, text, verdict, words) => {
    await verify.locator("input[type=file]").setInputFiles({ name, mimeType: "application/jsonl", buffer: Buffer.from(text) });
    await verify.locator(`#report.${verdict}`, { hasText: words }).waitFor();
  };
  await give("risk.jsonl", text, "warn", `A report of ${files} files, one per line.The report is complete`);
  assert.match(await verify.locator("#report").textContent(), /10 of 10 evidence files were confirmed by this browser; \d figures were not checked/);
  await verify.waitForSelector("code.command");
  assert.equal(await command(verify), printed);
  await verify.locator(".checks .warn", { hasText: "the figure exposure/2" }).waitFor();
  await shoot(verify, "verify-report");
  const lines = text.trim().split("\n");
  await give("cut.jsonl", lines.slice(0, 4).join("\n"), "fail", "The report does not match its first line");
  await give("twice.jsonl", [...lines, lines.at(-1)].join("\n"), "fail", "The report does not match its first line");
  await give("unstated.jsonl", lines.slice(1).join("\n"), "warn", "The report does not state its length");
  await give("figure.json", lines[1], "warn", "A report of 1 file");
  const digit = lines.at(-1).replace(/"size_usd":"(\d)/, (_, digit) => `"size_usd":"${(Number(digit) % 9) + 1}`);
  await give("changed.jsonl", [...lines.slice(1, -1), digit].join("\n"), "fail", "1 failed");
  await verify.close();
}

/** On paper: no form, but what was asked and of which log; light, within its width, and without room for nothing. */
async function onPaper({ page, own, shoot, fits }) {
  await page.emulateMedia({ media: "print", colorScheme: "dark" });
  await page.setViewportSize({ width: 718, height: 1000 });
  for (const gone of ["header", "form", "#asked > summary", "#worst-after > summary"]) assert.equal(await page.locator(gone).first().isVisible(), false, gone);
  const head = await page.locator(".printed").innerText();
  const key = (await (await fetch(new URL("/log/verifier-key", page.url()))).text()).trim();
  for (const told of [...own, "$100,000", "liquidation bonus 5%", key, new URL(page.url()).origin]) assert.ok(head.includes(told), `${told}: ${head}`);
  for (const folded of ["#worst h2", "#worst table", "#worst-after table"]) assert.ok(await page.locator(folded).isVisible(), folded);
  const colours = await page.evaluate(() => {
    const of = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    return [getComputedStyle(document.documentElement).backgroundColor, of("--accent"), of("--fail-ground")];
  });
  assert.deepEqual(colours, ["rgb(255, 255, 255)", "#1f4fbf", "#fdeaea"], "light, whatever the screen is");
  await fits(page, "a report on paper");
  const room = await page.evaluate(() => document.documentElement.scrollHeight - document.querySelector("main").lastElementChild.getBoundingClientRect().bottom - scrollY);
  assert.ok(room < 120, `${room} px of nothing at the end`);
  await shoot(page, "risk-print");
  await page.emulateMedia({ media: "screen", colorScheme: "light" });
  await page.setViewportSize({ width: 1280, height: 900 });
}

/** No number of a card is broken in its middle. */
async function unbroken(page, name) {
  const broken = await page.locator(".cards .value").evaluateAll((all) => all.filter((one) => {
    const words = one.textContent.trim();
    const range = document.createRange();
    range.selectNodeContents(one);
    const lines = new Set([...range.getClientRects()].map(({ bottom }) => Math.round(bottom)));
    return !words.includes(" ") && lines.size > 1;
  }).map((one) => one.textContent));
  assert.deepEqual(broken, [], name);
}

/** The report of two pools, as the service says it, to print and to take away. */
async function lender({ exit, pools, open, get, shoot, fits }) {
  // The exposure figure exists only for concentrated-liquidity and constant-product pools.
  const own = pools.filter(({ base, name }) => base?.address === exit.base.address && /Uniswap v[23]/.test(name)).slice(0, 2).map(({ pool }) => pool);
  const asked = own.map((pool) => `pool=${encodeURIComponent(pool)}`).join("&");
  const page = await open("/risk");
  await page.waitForSelector("text=Select at least one pool");
  await page.locator(`input[value="${own[0]}"]`).waitFor();
  const shifted = await page.evaluate(() => new Promise((done) => {
    new PerformanceObserver((list) => done(list.getEntries().reduce((sum, { value }) => sum + value, 0)))
      .observe({ type: "layout-shift", buffered: true });
    setTimeout(() => done(0), 300);
  }));
  assert.ok(shifted < 0.02, `the page shifts by ${shifted} while the pools load`);
  // Selecting a collateral keeps the pools that sell it; no other pool is queried.
  const other = pools.find(({ base }) => base.symbol !== exit.base.symbol);
  await page.locator(`input[value="${other.pool}"]`).check();
  await page.locator("#collateral").selectOption(exit.base.symbol);
  const offered = await page.locator(".pools label:visible input").evaluateAll((all) => all.map(({ value }) => value));
  assert.deepEqual(offered.sort(), pools.filter(({ base }) => base.symbol === exit.base.symbol).map(({ pool }) => pool).sort());
  for (const pool of own) await page.locator(`input[value="${pool}"]`).check();
  assert.equal(await page.getByText("Select at least one pool").count(), 0, "some are chosen");
  await page.locator("input[name=size_usd]").fill("100000");
  await page.getByRole("button", { name: "Create report" }).click();
  await page.waitForSelector("#band");
  assert.deepEqual(new URL(page.url()).searchParams.getAll("pool").sort(), own.toSorted());
  const told = await get(`/v1/exposure?${own.map((pool) => `venue=${pool}`).join("&")}&cascade_usd=100000&reference=mid`);
  const card = (name) => page.locator(".card").filter({ has: page.getByText(name, { exact: true }) }).locator(".value").textContent();
  const cut = (ratio) => `${(Math.floor(ratio * 100 + 1e-9) / 100).toLocaleString("en-US")}`;
  assert.ok((await card("Coverage")).startsWith(cut(told.coverage).split(".")[0]));
  const shortfall = told.slots_unfillable > 0 ? "no fill" : dollars(told.shortfall_usd);
  assert.equal(await card("Shortfall at the worst slot"), shortfall);
  assert.equal(await card("Reopening gap"), "never closes");
  await notes({ page, told, own, get });
  const stress = await Promise.all(own.map((pool) => get(`/v1/stress/${pool}?size_usd=100000&from=${told.from}&to=${told.to}`)));
  // The worst slot of each pool, and the next worst of all.
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
    refused === 0 ? `none of ${recorded}` : `${refused} of ${recorded}, ${(Math.ceil(refused * 1000 / recorded) / 10).toFixed(1)}%`;
  assert.deepEqual(shown.map(([href]) => href).sort(), stress.map(({ detail }) => local(detail.worst_slots[0].evidence_url)).sort(),
    "the worst slot, also one that could not be filled, with its evidence");
  assert.ok(stress.every((one) => shown.some(([, words]) => words.startsWith(refusals(one)))), JSON.stringify(shown));
  // The amount to be sold and the amount that the pools would have taken: as a chart, as a list, and recomputed from
  // the file.
  const exposure = page.locator("#exposure");
  const taken = await exposure.locator("tbody tr").evaluateAll((all) => all.map((row) => row.querySelector("td").textContent));
  assert.deepEqual(taken, [told.depth_now_usd, told.depth_q50_usd, told.break_even_depth_now_usd, told.break_even_depth_q50_usd,
    told.lowest_break_even_depth_usd, ...told.venues.map((venue) => venue.lowest_depth_usd)].map(dollars));
  assert.equal(await exposure.locator("figure.chart rect.fill").count(), 6);
  await exposure.getByRole("button", { name: "Recompute in this browser" }).click();
  await exposure.locator(".confirmed, .refused, .failed").waitFor();
  assert.match(await exposure.locator(".checked-figure").textContent(), /Confirmed by this browser.* snapshots/);
  await gone({ own, asked, page, open, get });
  const names = pools.filter(({ pool }) => own.includes(pool)).map(({ base, quote, name }) => `${base.symbol} for ${quote.symbol}, ${name}`);
  const called = await page.locator("table", { has: page.locator("caption >> text=Each pool alone") }).locator("tbody th a").allTextContents();
  assert.deepEqual(called.sort(), names.sort(), "by venue and fee");
  const listed = page.locator("table").last().locator("tbody tr");
  assert.equal(await listed.count(), 10);
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Download CSV" }).click()]);
  const lines = readFileSync(await download.path(), "utf8").trim().split("\n").map((line) => line.split(","));
  const value = (name) => lines.filter((line) => line[1] === name).map((line) => line[2]);
  assert.deepEqual(value("coverage"), [String(told.coverage)]);
  assert.ok(lines.find((line) => line[1] === "coverage")[5] === told.figure_url, "with its figure");
  assert.deepEqual(value("worst_slot_gap_pct").map((gap) => Number.isNaN(Number(gap)) ? Infinity : Number(gap)), worst);
  assert.ok(lines.filter((line) => line[1] === "worst_slot_gap_pct").every((line) => line[4].includes("/api/v1/exit/")));
  // One file contains the whole report and the proof of each number: the service's documents unchanged, one per line.
  const [whole] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Download with proofs" }).click()]);
  const text = readFileSync(await whole.path(), "utf8");
  const [head, ...files] = text.trim().split("\n");
  const sha = (line) => `0x${createHash("sha256").update(line).digest("hex")}`;
  assert.equal(head, JSON.stringify({ files: files.map(sha), report: 1 }), "it names what follows");
  const figure = await fetch(new URL(local(told.figure_url), page.url()), { headers: { accept: "application/json" } });
  assert.equal(files[0], await figure.text());
  // Each pool's own numbers equal those of a figure in the file, digit by digit.
  const alone = files.filter((line) => line.startsWith('{"figure":"stress/2"')).map((line) => JSON.parse(line))
    .filter(({ parameters }) => parameters.venues.length === 1);
  assert.deepEqual(alone.map(({ parameters }) => parameters.venues[0].pool).sort(), own.toSorted());
  for (const { parameters, result } of alone) {
    const { pool } = parameters.venues[0];
    const { detail, slots_recorded, slots_refused, lowest_depth } = stress[own.indexOf(pool)];
    assert.deepEqual([result.gap_q50_pct, result.gap_q95_pct].map((gap) => gap === null ? undefined : Number(gap)), [detail.gap_q50_pct, detail.gap_q95_pct].map((gap) => gap ?? undefined));
    assert.deepEqual([result.have_slots, result.slots_unfillable, result.depth_lowest_usd], [slots_recorded, slots_refused, String(lowest_depth.depth_usd)]);
    const named = (name) => lines.find((line) => line[0] === pool && line[1] === name);
    for (const name of ["gap_q50_pct", "gap_q95_pct", "slots_refused", "slots_missing", "lowest_depth_usd"]) {
      assert.match(named(name)[5], /\/v1\/stress\?venue=.*haircut_pct=0.*fall_pct=0/, name);
    }
    assert.equal(named("lowest_depth_usd")[2], result.depth_lowest_usd);
  }
  await page.locator("#check-alone > summary").click();
  const again = page.locator("#check-alone-0");
  await again.getByRole("button", { name: "Recompute in this browser" }).click();
  await again.locator(".confirmed").waitFor();
  const evidence = files.filter((line) => JSON.parse(line).request !== undefined);
  assert.equal(evidence.length, 10, "the worst slots, those that are refused, too");
  const figures = files.filter((line) => line.startsWith('{"figure":')).map((line) => JSON.parse(line).figure);
  assert.ok(figures.includes("stress/2"), figures.join());
  await handedOver({ page, text, files: files.length, get, open, shoot });
  await shoot(page, "risk");
  await onPaper({ page, own, shoot, fits });
  await page.setViewportSize({ width: 390, height: 900 });
  await fits(page, "a report on a phone");
  await unbroken(page, "a report on a phone");
  await shoot(page, "risk-390");
  // The address contains the selected period, and the report covers exactly this period.
  const minute = (seconds) => new Date(Date.parse(told.to) - seconds * 1000).toISOString().slice(0, 16);
  const [from, to] = [minute(1800), minute(600)];
  await page.goto(new URL(`/risk?${asked}&size_usd=100000&from=${from}&to=${to}`, page.url()).href);
  await page.waitForSelector("#band");
  const period = await page.locator("#band").textContent();
  assert.ok([from, to].every((time) => period.includes(`${time.replace("T", " ")} UTC`)), period);
  assert.deepEqual([await page.locator("input[name=from]").inputValue(), await page.locator("input[name=to]").inputValue()], [from, to]);
  await page.goto(new URL(`/risk?${asked}&size_usd=abc`, page.url()).href);
  await page.waitForSelector(".refused >> text=Write a size in dollars, such as 250,000.");
  await page.context().close();
  const phone = await open(`/risk?${asked}&size_usd=100000`, { width: 390 });
  await phone.waitForSelector("#worst");
  await phone.locator("#stress > summary").click();
  await phone.waitForSelector("#worst-after");
  for (const folded of ["#asked form", "#exposure table", "#worst table", "#worst-after table"]) {
    assert.equal(await phone.locator(folded).isVisible(), false, `${folded} is folded on a phone`);
  }
  await phone.locator("#worst > summary").click();
  await phone.locator("#worst table").waitFor();
  await phone.context().close();
  console.log("risk: a report as the service says it, to print and to take away");
}
