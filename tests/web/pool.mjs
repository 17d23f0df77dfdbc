// A pool's page: the size box compared with the service, and the states between two answers.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { answer, eventually } from "./browser.mjs";

export default async function pool(scene) {
  await sizeBox(scene);
  await noFalseAlarm(scene);
  await askedOnce(scene);
  await left(scene);
  await refusals(scene);
  await simulation(scene);
  await hostile(scene);
  await newer(scene);
}

const EXIT = "**/v1/exit/**";

/** The size box answers at once, and the service says the same; nonsense is refused in words. */
async function sizeBox({ service, pool, open, get }) {
  const page = await open(`/pools/${pool}?size_usd=1000`);
  await page.waitForSelector(".agreement .standing.pass");
  const exit = await get(`/v1/exit/${pool}?size_usd=2345.67`);
  await page.locator("#size").fill("2345.67");
  const expected = String(exit.exit_gap_pct).replace("-", "");
  await page.waitForFunction((text) => document.querySelector("#gap")?.title.startsWith(text), expected);
  await page.waitForSelector(".agreement .standing.pass");
  await page.waitForURL(/size_usd=2345.67/);
  const beside = (2345.67 * Math.abs(exit.exit_gap_pct) / 100).toFixed(2);
  assert.equal(await page.locator("#lost").textContent(), `$${beside} ${exit.exit_gap_pct < 0 ? "above" : "below"} the oracle value`);
  await page.waitForSelector("text=The parts multiply");
  // Digits may only be grouped in threes.
  await page.locator("#size").fill("23,45.67");
  await page.waitForSelector(".answer .refused >> text=23,45.67");
  await page.locator("#size").fill("2,345.67");
  await page.waitForFunction((text) => document.querySelector("#gap")?.title.startsWith(text), expected);
  await page.locator("#size").fill("1e5");
  for (const [text, words] of [["1e5", "Write a size in dollars, such as 250,000."], ["", "Write a size in dollars, such as 250,000."],
    ["$9,000,000,000", "The largest size is $1,000,000,000."], ["0.0010", "The smallest size is one cent, $0.01."],
    ["1.000", '"1.000" is ambiguous: write 1.0000 if the point is a decimal point, or 1,000 if it separates thousands.']]) {
    await page.locator("#size").fill(text);
    await eventually(`what is said of ${text}`, async () => (await page.locator(".answer .refused").allTextContents()).join() === words);
  }
  // People may write a size in other forms, here and in the plan of orders.
  const quarter = await get(`/v1/exit/${pool}?size_usd=250000`);
  const written = String(quarter.exit_gap_pct).replace("-", "");
  for (const size of ["250k", "$250,000", "250 000", " $ 250000 "]) {
    await page.locator("#size").fill("1000");
    await page.waitForFunction((text) => !document.querySelector("#gap")?.title.startsWith(text), written);
    await page.locator("#size").fill(size);
    await page.waitForFunction((text) => document.querySelector("#gap")?.title.startsWith(text), written);
    await page.waitForSelector("text=/\\$250,000 of .* in 4 orders/");
    await page.waitForSelector(".agreement .standing.pass");
  }
  // The values below the figure: market, feeds with their age, method, the lowest depth of seven days.
  assert.equal(await page.locator("#market").textContent(), "open (continuous)");
  const feeds = await page.locator("#feeds").innerHTML();
  for (const { feed, age_s: age } of quarter.method.oracles.filter((one) => one.feed)) {
    assert.ok(feeds.includes(feed) && (age > 119 || feeds.includes(`answered ${age} s before the block`)), feeds);
  }
  assert.ok(quarter.method.oracles.some((one) => one.feed), "a price of the scene is of a feed");
  assert.equal(await page.locator("#method").textContent(), quarter.method_version);
  const lowest = `$${quarter.lowest_depth_7d_usd.toLocaleString("en-US")}`;
  assert.equal(await page.locator("#lowest").textContent(), lowest);
  await page.locator("#size").fill("1000");
  await page.getByLabel(/^sell /).nth(1).check();
  await page.waitForURL(/base=token/);
  await page.waitForSelector(".agreement .standing.pass");
  const other = await get(`/v1/exit/${pool}?size_usd=1000&base=token1`);
  await eventually("the lowest depth of this direction", async () => await page.locator("#lowest").textContent()
    === `$${other.lowest_depth_7d_usd.toLocaleString("en-US")}`);
  // A base token that the pool does not have is reported as unknown.
  await page.goto(`${service}/pools/${pool}?base=token2`);
  await page.waitForSelector(".refused >> text=not one of this pool's tokens");
  await page.waitForSelector(".agreement .standing.pass");
  // The address alone leads to the same result, and the page follows the browser history.
  await page.goto(`${service}/pools/${pool}?size_usd=5000`);
  await eventually("the address's size", async () => await page.locator("#size").inputValue() === "5000");
  await page.context().close();
  console.log("pool: computed here, equal to the service");
}

/** What the service said of another question is never held against this one. */
async function noFalseAlarm({ thin, open }) {
  const page = await open(`/pools/${thin}?size_usd=100`, { expected: ["422"] });
  await page.waitForSelector(".agreement .standing.pass");
  await page.evaluate(() => {
    window.alarms = [];
    const look = () => document.querySelectorAll(".answer .standing.fail, .answer .standing.warn")
      .forEach((one) => window.alarms.push(one.textContent));
    new MutationObserver(look).observe(document.body, { childList: true, subtree: true, characterData: true });
  });
  const agreed = () => page.waitForSelector(".agreement .standing.pass");
  const asking = () => page.waitForSelector(".agreement >> text=Asking the service");
  for (const side of [1, 0, 1]) {
    const other = page.getByLabel(/^sell /).nth(side);
    if (await other.isChecked()) continue;
    await other.check();
    await asking();
    await agreed();
  }
  // A size that is rejected, followed by a valid one.
  await page.locator("#size").fill("999999999");
  await page.waitForSelector(".answer .refused");
  await page.waitForResponse(EXIT);
  await page.locator("#size").fill("123");
  await asking();
  await agreed();
  assert.deepEqual(await page.evaluate(() => window.alarms), [], "no alarm between two answers");
  // The alarm appears if the service's answer really differs.
  await page.route(EXIT, async (route) => {
    const said = await (await route.fetch()).json();
    await answer({ ...said, exit_gap_pct: 12.5 })(route);
  });
  await page.locator("#size").fill("99");
  await page.waitForSelector(".agreement .standing.fail >> text=tell the operator");
  await page.context().close();
  console.log("pool: no alarm but a true one");
}

/** The service is asked of what the reader meant, not of each key. */
async function askedOnce({ pool, open }) {
  const page = await open(`/pools/${pool}?size_usd=1000`);
  await page.waitForSelector(".agreement .standing.pass");
  const asked = [];
  page.on("request", (request) => { if (request.url().includes("/v1/exit/")) asked.push(new URL(request.url()).searchParams.get("size_usd")); });
  const length = await page.evaluate(() => history.length);
  await page.locator("#size").fill("");
  await page.locator("#size").pressSequentially("54321", { delay: 30 });
  await page.waitForURL(/size_usd=54321/);
  await page.waitForSelector(".agreement .standing.pass");
  assert.deepEqual(asked, ["54321"]);
  assert.equal(await page.evaluate(() => history.length), length, "typing is no step to go back to");
  await page.context().close();
  console.log("pool: asked once, after the last key");
}

/** Whoever leaves before the service is asked, or before it answers, sees nothing of it. */
async function left({ pool, open }) {
  const page = await open(`/pools/${pool}?size_usd=1000`);
  await page.waitForSelector(".agreement .standing.pass");
  await page.locator("#size").fill("777");
  await page.getByRole("link", { name: "Board", exact: true }).click();
  await page.waitForSelector("table.board tbody tr");
  // Waits longer than the delay after which the page would have sent the request.
  await page.evaluate(() => new Promise((done) => setTimeout(done, 700)));
  // The query of the address, which the typed size must not change after the reader has left the page.
  assert.equal(new URL(page.url()).search, "", "what was typed there changes no address here");
  await page.locator(`table.board a[href^="/pools/${pool}"]`).click();
  await page.waitForSelector(".agreement .standing.pass");
  let let_go;
  const gate = new Promise((done) => { let_go = done; });
  let waiting = 0;
  await page.route(EXIT, async (route) => {
    waiting += 1;
    await gate;
    // By then, the page has aborted the request.
    await route.continue().catch(() => {});
  });
  await page.locator("#size").fill("888");
  await eventually("the service is asked", () => waiting === 1);
  const given_up = page.waitForEvent("requestfailed", (request) => request.url().includes("/v1/exit/"));
  await page.getByRole("link", { name: "How it works" }).click();
  await page.waitForSelector("text=exact integer arithmetic");
  await given_up;
  let_go();
  await page.getByRole("link", { name: "Board", exact: true }).click();
  await page.waitForSelector("table.board tbody tr");
  await page.context().close();
  console.log("pool: left before an answer");
}

/** A size beyond the liquidity has no number, on the page as in the ladder. */
async function refusals({ pools, thin, open, get, shoot }) {
  const { max_fillable_usd: fillable } = await get(`/v1/exit/${thin}?size_usd=999999999`);
  const page = await open(`/pools/${thin}?size_usd=999999999`, { expected: ["422"] });
  await page.waitForSelector(".answer .refused >> text=The size exceeds the recorded liquidity");
  await page.waitForSelector(`.answer .refused >> text=at most ${fillable.toLocaleString("en-US", { maximumFractionDigits: 6 })} USD`);
  assert.equal(await page.locator("#gap").count(), 0);
  await page.waitForSelector(".agreement .standing.pass >> text=The service also reports that this size cannot be filled");
  const { refusal } = await get(await page.locator(".agreement a").getAttribute("href"));
  assert.equal(Number(refusal.max_fillable_usd), fillable);
  await eventually("all is there", async () => await page.locator(".loading").count() === 0);
  await shoot(page, "pool-refused");
  await page.context().close();

  // The page marks a depth that is limited by the pool's liquidity.
  const ladders = await Promise.all(pools.map(({ pool }) => get(`/v1/ladder/${pool}`)));
  const limited = (ladder) => ladder.by_gap.filter((rung) => rung.limited_by === "liquidity").length;
  const index = ladders.findIndex(limited);
  assert.ok(index >= 0, "no ladder of the scene ends with the liquidity");
  const ladder = await open(`/pools/${pools[index].pool}`);
  await ladder.waitForSelector("text=Depth by gap");
  assert.equal(await ladder.getByText("limited by liquidity").count(), limited(ladders[index]));
  await ladder.context().close();
  console.log("pool: refusals in words");
}

/** The largest size within a gap, and an order in parts. */
async function simulation({ pool, open, get }) {
  const page = await open(`/pools/${pool}?size_usd=100000`);
  await page.waitForSelector("text=Simulation");
  const ladder = await get(`/v1/ladder/${pool}`);
  const rung = ladder.by_gap.find((rung) => rung.max_size_usd > 0);
  await page.getByLabel("Largest accepted gap (%)").fill(String(rung.gap_limit_pct));
  const most = rung.max_size_usd.toLocaleString("en-US", { maximumFractionDigits: 6 });
  await page.waitForSelector(`text=The largest size within ${rung.gap_limit_pct}% is $${most}`);
  // Each depth and each loss at a standard size links to a sale whose evidence contains the same value.
  const sales = page.locator(".columns").getByTitle("Open the evidence of this sale");
  const deep = ladder.by_gap.filter((rung) => rung.max_size_usd > 0);
  const filled = ladder.by_size.filter((rung) => rung.exit);
  const refused = ladder.by_size.filter((rung) => rung.problem?.code === "beyond_liquidity");
  const links = deep.length + filled.length + refused.length;
  await eventually("links to evidence", async () => await sales.count() === links);
  const files = await Promise.all(
    (await sales.evaluateAll((all) => all.map((one) => one.getAttribute("href")))).map(get),
  );
  deep.forEach(({ gap_limit_pct: limit, max_size_usd: size }, at) => {
    const { request, result } = files[at];
    assert.equal(Number(request.size_usd), size);
    assert.ok(Number(result.exit_gap_pct) <= limit, `${result.exit_gap_pct} up to ${limit}`);
  });
  filled.forEach(({ exit }, at) => assert.equal(Number(files[deep.length + at].result.exit_gap_pct), exit.exit_gap_pct));
  for (const { refusal } of files.slice(deep.length + filled.length)) assert.equal(refusal.code, "beyond_liquidity");
  assert.equal(await page.getByRole("link", { name: "Open its evidence" }).count(), 1);
  const rows = page.locator("table").filter({ hasText: "Order" }).locator("tbody tr");
  await page.getByLabel("Orders", { exact: true }).fill("7");
  await eventually("seven orders", async () => await rows.count() === 7);
  // Without recovery, the parts together equal one sale, except for rounding and fees that stay in the pool.
  await page.getByLabel(/^Recovery/).fill("0");
  const exit = await get(`/v1/exit/${pool}?size_usd=100000`);
  const words = await page.getByText(/in 7 orders: a gap of/).textContent();
  const [parts, once] = [...words.matchAll(/([−\d.]+)%/g)].map((found) => Number(found[1].replace("−", "-")));
  assert.equal(once, exit.exit_gap_pct);
  assert.ok(Math.abs(parts - once) < once / 500, words);
  await page.getByLabel("Orders", { exact: true }).fill("1");
  await page.waitForSelector("text=in 1 order: a gap of");
  await page.getByLabel("Orders", { exact: true }).fill("0");
  await page.waitForSelector("p.refused >> text=orders");
  await page.context().close();
  console.log("simulation: as the ladder and the exit say");
}

/** Answers with the pool's newest snapshot as `change` made its text, under the name that it then has. */
async function changed({ pool, get }, change) {
  const ladder = await get(`/v1/ladder/${pool}`);
  const hash = ladder.method.depth_source.snapshot_hash;
  const snapshot = await get(`/api/v1/snapshots/${hash}`);
  const text = JSON.stringify(snapshot);
  const bytes = change(text, snapshot);
  assert.notEqual(bytes, text);
  const name = createHash("sha256").update(bytes).digest("hex");
  const named = JSON.parse(JSON.stringify(ladder).replaceAll(hash, hash.replace(/[0-9a-f]{64}/, name)));
  return {
    "**/v1/ladder/**": answer(named),
    "**/api/v1/snapshots/**": (route) => route.fulfill({ contentType: "application/json", body: bytes }),
  };
}

/** A snapshot that only a newer version reads is said to be one, and is no fault of anybody's. */
async function newer(scene) {
  const session = `{"calendar":"us_equities","note":"weekend","state":"closed","table":"0x${"07".repeat(32)}","token":0}`;
  const routes = await changed(scene, (text) => text.replace('"sessions":[]', `"sessions":[${session}]`));
  const page = await scene.open(`/pools/${scene.pool}`, { routes });
  await page.waitForSelector(".failed >> text=made by a newer version of exitgap; update to check it");
  await page.waitForSelector(".failed >> text=unsupported_calendar");
  await scene.shoot(page, "pool-newer-version");
  await page.context().close();
  console.log("pool: a newer version's snapshot is said to be one");
}

/** Symbols of a page, its title and its file are text, whatever they say. */
async function hostile(scene) {
  const { service, pool, open } = scene;
  const token = "token0";
  const symbol = "=<img src=x>";
  const routes = await changed(scene, (text, { tokens }) =>
    text.replace(`"symbol":"${tokens[0].symbol}"`, `"symbol":"${symbol}"`));
  const page = await open(`/pools/${pool}`, { routes });
  await page.waitForSelector(`h1 >> text=${symbol}`);
  await eventually("the title", async () => (await page.title()).includes(symbol));
  assert.equal(await page.locator("main img").count(), 0);
  await page.goto(`${service}/portfolio#${pool}/${token}:1000`);
  await page.waitForSelector(`table >> text=${symbol}`);
  assert.equal(await page.locator("main img").count(), 0);
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download CSV" }).click();
  const stream = await (await download).createReadStream();
  let csv = "";
  for await (const chunk of stream) csv += chunk;
  assert.ok(csv.includes(`"'${symbol}"`), `no cell begins a formula: ${csv}`);
  await page.context().close();
  console.log("pool: hostile symbols are text on the page, in its title and its file");
}
