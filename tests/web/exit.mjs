// The holder's question, from the front page to the proof: each number equals the service's answer.
import assert from "node:assert/strict";
import { answer, dollars, eventually, local } from "./browser.mjs";

export default async function exit(scene) {
  await holder(scene);
  await cashed(scene);
  await oneVenue(scene);
  await ages(scene);
  await shaded(scene);
  await beyond(scene);
}

/** What arrives in dollars, by which pools, and its proof, computed again in this browser. */
async function cashed({ exit, open, get, shoot, fits }) {
  const [chain] = exit.pool.split(":");
  const token = exit.base.address;
  const page = await open(`/exit/${chain}:${token}?size_usd=250000`);
  const told = await get(`/v1/cash/${chain}/${token}?size_usd=250000`);
  await page.waitForSelector("#in-cash table");
  assert.equal(await page.locator("#cash-received").getAttribute("title"), dollars(told.received_usd));
  const pools = await page.locator("#in-cash tbody th a").evaluateAll((all) => all.map((one) => one.getAttribute("href")));
  assert.deepEqual(pools, told.legs.map(({ pool }) => `/pools/${pool}`));
  const words = await page.locator("#in-cash").textContent();
  for (const { token: { symbol } } of told.received) assert.ok(words.includes(symbol), symbol);
  assert.match(words, /No other route through the pools that count brings more than \$/);
  assert.match(words, /Not counted: venues that are not recorded, private quotes, gas/);
  await page.locator("#check-cash").getByRole("button").click();
  await eventually("the plan is recomputed here", async () => /Confirmed by this browser/.test(await page.locator("#check-cash").textContent()));
  await fits(page, "an exit into cash");
  await shoot(page, "exit-cash");
  await page.setViewportSize({ width: 390, height: 900 });
  await fits(page, "an exit into cash on a phone");
  await shoot(page, "exit-cash-phone");
  await page.context().close();
  // What no recorded pools take has no plan, and says so. A pair of two reserves takes any size, a range does not.
  const { pools: all } = await get("/v1/pools");
  const thin = all.find(({ base }) => base.symbol === "ALT").base.address;
  const beyond = await open(`/exit/${chain}:${thin}?size_usd=999999999`, { expected: ["422"] });
  await beyond.waitForSelector("#no-cash");
  assert.match(await beyond.locator("#no-cash").textContent(), /the largest size that they take is [\d,.]+ USD\./);
  await beyond.context().close();
}

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
  assert.equal(await page.locator("#gap").getAttribute("title"), `${told.exit_gap_pct}%`.replace("-", "−"));
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
  // The sum of all venues' sizes within a gap limit.
  const within = async (limit) => {
    let sum = 0;
    for (const { pool } of told.alone) {
      sum += (await get(`/v1/size/${pool}?gap_pct=${limit}&base=${exit.base.address}`)).max_size_usd ?? 0;
    }
    return `$${Math.floor(sum + 1e-6).toLocaleString("en-US")}`;
  };
  const most = page.locator(".card").filter({ hasText: "Largest sale within" }).locator(".value");
  const one = await within("1");
  await eventually("the most within 1%", async () => await most.textContent() === one);
  await page.locator("#limit").selectOption("2");
  await page.waitForURL(/limit=2/);
  const two = await within("2");
  await eventually("the most within 2%", async () => await most.textContent() === two);
  await madeOf(page, told, exit.base.address, get);
  await dollarsAlone(page, { told, token, get });
  const week = new Date(Date.parse(told.slot_time) - 2015 * 300_000).toISOString().replace(".000", "");
  const stress = await get(`/v1/stress/${told.alone[0].pool}?size_usd=250000&base=${exit.base.address}&from=${week}&to=${told.slot_time}`);
  const worst = page.locator(".card").filter({ hasText: "Worst in 7 days" }).locator(".value a");
  assert.equal(await worst.getAttribute("href"), local(stress.detail.worst_slots[0].evidence_url));
  // This browser checks every gap.
  const all = await page.locator("#where .checked-gap").count();
  assert.ok(all > told.legs.length, "each venue and each leg");
  await page.getByRole("button", { name: "Check every gap in view" }).click();
  await eventually("all are confirmed", async () => await page.locator("#where table").getByText("confirmed here").count() === all);
  // Selects an hour of the week by keyboard: it shows its percentiles and its worst slot, with the evidence.
  await page.waitForSelector("#best-hour");
  const when = await get(`/v1/when/${told.alone[0].pool}?size_usd=250000&base=${exit.base.address}`);
  const row = when.hours.findLast(({ worst }) => worst.exit_gap_pct !== undefined);
  const { hour } = row;
  const heat = page.locator(".heat svg").first();
  // The newest slot is ranked among slots, not among hours.
  const said = /Right now: (.*)%\. (\d+)% of the last .* were worse \(([\d,]+) of ([\d,]+) other slots\)/.exec(await page.locator("#best-hour").textContent());
  const [now, share, worse, others] = said.slice(1).map((words) => Number(words.replace("\u2212", "-").replaceAll(",", "")));
  assert.equal(now.toFixed(1), told.alone[0].exit_gap_pct.toFixed(1));
  assert.deepEqual([worse, others], [when.now.slots_worse, when.slots - 1]);
  assert.ok(Math.abs(share - when.now.worse_pct) <= 0.5, `${share}`);
  // Without four weeks there is no best hour, and each hour has the number of its slots.
  assert.match(await page.locator("#best-hour").textContent(), /No best hour yet: that needs four weeks of data/);
  const counts = await page.locator(".heat tbody td:nth-of-type(4)").evaluateAll((all) => all.map((cell) => Number(cell.textContent)));
  assert.deepEqual(counts, when.hours.map(({ slots }) => slots));
  await heat.focus();
  await page.keyboard.press("ArrowRight");
  for (let step = 0; step < hour % 24; step += 1) await page.keyboard.press("ArrowRight");
  for (let step = 0; step < Math.floor(hour / 24); step += 1) await page.keyboard.press("ArrowDown");
  const link = await page.locator(".heat .reading a").getAttribute("href");
  assert.equal(link, local(row.worst.evidence_url));
  // Tapping the cell selects the same hour.
  const byKeys = await page.locator(".heat .reading").textContent();
  await page.keyboard.press("ArrowDown");
  const frame = await heat.boundingBox();
  const [wide, high] = [40 + 28 * 24, 22 + 24 * 7];
  await page.mouse.click(frame.x + (40 + 28 * (hour % 24 + 0.4)) / wide * frame.width,
    frame.y + (22 + 24 * (Math.floor(hour / 24) + 0.4)) / high * frame.height);
  await eventually("the hour that was tapped", async () => await page.locator(".heat .reading").textContent() === byKeys);
  // The address contains all of it.
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
  assert.equal(await page.locator(".heat svg").isVisible(), false, "folded on a phone");
  await page.locator("#by-hour > summary").click();
  await page.locator(".heat svg").waitFor();
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

/** The gap is said against the oracle, with parts that add up to it, and how old the oracles' answers were. */
async function madeOf(page, told, base, get) {
  const gap = page.locator(".card").filter({ has: page.locator("#gap") });
  assert.match(await gap.locator(".note").textContent(), told.exit_gap_pct < 0 ? /above the oracle/ : /below the oracle/);
  assert.doesNotMatch(await gap.textContent(), /lost|gained/);
  const exits = [];
  for (const { pool, size_usd: size } of told.legs) {
    exits.push(await get(`/v1/exit/${pool}?size_usd=${size}&base=${base}&at=${told.slot_time}`));
  }
  await page.waitForSelector("#made-of >> text=because the pool");
  const words = await page.locator("#made-of").textContent();
  const read = (text) => Number(text.replace("−", "-"));
  const [shown, ...parts] = words.match(/of (\S+)%: (\S+)% because .* (\S+)% fee, (\S+)% price impact/).slice(1, 5).map(read);
  assert.equal(parts.reduce((sum, part) => sum + part, 0).toFixed(4), shown.toFixed(4), words);
  assert.ok(Math.abs(shown - told.exit_gap_pct) < 0.006, words);
  const basis = exits.reduce((sum, { size_usd: size, split }) => sum + size * split.basis_pct, 0) / told.size_usd;
  assert.ok(Math.abs(parts[0] - basis) < 0.006, words);
  const cost = words.match(/own prices? this sale costs (\S+)%\./);
  assert.equal((cost === null ? shown : read(cost[1])).toFixed(4), (shown - parts[0]).toFixed(4), words);
  const ages = exits.flatMap((exit) => exit.method.oracles).map(({ age_s: age }) => age).filter((age) => age !== undefined && age !== null);
  assert.equal(words.includes("oldest oracle price was"), ages.length > 0, words);
}

/** What the split ends in is said, and what is no dollar is left out where that is asked for, in the address. */
async function dollarsAlone(page, { told, token, get }) {
  const endsIn = () => page.locator("#ends-in").textContent();
  const symbols = (routes) => [...new Set(routes.legs.map(({ quote }) => quote.symbol))];
  const said = (routes) => symbols(routes).join(", ");
  assert.ok(symbols(told).some((symbol) => !["USDC", "USDT", "DAI"].includes(symbol)), "the scene's split ends in more than dollars");
  assert.equal(await endsIn(), `You receive ${said(told)}, valued at each token's oracle price.`);
  await page.locator("#into").selectOption("dollars");
  await page.waitForURL(/into=dollars/);
  const dollars = await get(`/v1/routes/${token.replace(":", "/")}?size_usd=250000&quote_group=dollars`);
  assert.ok(symbols(dollars).every((symbol) => ["USDC", "USDT", "DAI"].includes(symbol)));
  await eventually("the split into dollars", async () =>
    await page.locator("#gap").getAttribute("title") === `${dollars.exit_gap_pct}%`.replace("-", "−"));
  assert.equal(await endsIn(), `You receive ${said(dollars)}, valued at each token's oracle price.`);
  await page.locator("#into").selectOption("");
  await page.waitForURL((url) => !url.searchParams.has("into"));
  await eventually("the split into any token", async () =>
    await page.locator("#gap").getAttribute("title") === `${told.exit_gap_pct}%`.replace("-", "−"));
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
    assert.equal(await page.locator("text=A sale now may fill at a different price").count() > 0, warned, `${age} s`);
    await page.context().close();
  }
  console.log("exit: how old it is");
}

/** Each shade is of as many hours, however far a few of them lie from the others; equals have one shade. */
async function shaded({ exit, open, get }) {
  const [chain] = exit.pool.split(":");
  const hour = (place) => new Date(Date.UTC(2026, 8, 7, place)).toISOString().replace(".000", "");
  const gap = (place) => place < 28 ? 0.1 : place < 140 ? 0.1 + place / 1e4 : place;
  const told = await get(`/v1/when/${exit.pool}?size_usd=1000&base=${exit.base.address}`);
  const hours = Array.from({ length: 168 }, (_, place) => ({
    hour: place, slots: 12, weeks: 1, slots_refused: 0, exit_gap_pct_q50: gap(place), exit_gap_pct_q95: gap(place),
    worst: { ...told.hours[0].worst, exit_gap_pct: gap(place), time: hour(place) },
  }));
  const page = await open(`/exit/${chain}:${exit.base.address}?size_usd=1000`, { routes: { "**/v1/when/**": answer({ ...told, hours }) } });
  await page.waitForSelector("#best-hour");
  const count = (shade) => page.locator(`.heat svg rect.shade-${shade}`).count();
  assert.deepEqual(await Promise.all([0, 1, 2, 3, 4, 5].map(count)), [28, 28, 28, 28, 28, 28]);
  assert.match(await page.locator(".heat .legend").textContent(), /0.10% to 167.00%, each shade covers the same number of hours/);
  await page.context().close();
  console.log("exit: shades of as many hours each");
}

/** What nothing fills is said, and proven, and the most that is filled is compared instead. */
async function beyond({ thin, pools, open, shoot }) {
  // A constant-product pool would accept any size, at a gap of nearly 100%.
  const { chain, base } = pools.find(({ pool }) => pool === thin);
  const token = `${chain}:${base.address}`;
  const page = await open(`/exit/${token}?size_usd=999999999`, { expected: ["422"] });
  await page.waitForSelector("#beyond");
  await shoot(page, "exit-beyond");
  await page.locator("#where td a", { hasText: "cannot be filled" }).first().click();
  await page.waitForSelector(".verdict.pass");
  assert.match(page.url(), /size_usd=999999999/);
  assert.match(await page.locator(".verdict").first().textContent(), /cannot be filled/);
  for (const [size, words] of [["$9,000,000,000", "The largest size is $1,000,000,000."], ["abc", "Write a size in dollars, such as 250,000."],
    ["", "Write a size in dollars, such as 250,000."]]) {
    await page.goto(new URL(`/exit/${token}?size_usd=${encodeURIComponent(size)}`, page.url()).href);
    await page.locator(".refused", { hasText: words }).waitFor();
    assert.equal(await page.locator(".refused").textContent(), words, "and nothing else");
  }
  await page.goto(new URL("/exit/nothing?size_usd=1", page.url()).href);
  await page.waitForSelector(".refused >> text=not in the form <chain>:<address>");
  await page.context().close();
  console.log("exit: what cannot be filled is proven, and what is no token is said");
}
