// Several positions: those in pools are computed here and sent nowhere; tokens are in one plan of the service, which is checked here.
import { readFileSync } from "node:fs";
import assert from "node:assert/strict";
import { eventually, problem } from "./browser.mjs";

export default async function portfolio(scene) {
  await kept(scene);
  await parity(scene);
  await plan(scene);
  await oneFails(scene);
}

const LADDER = "**/v1/ladder/**";

/** The positions stay in the fragment; what is wrong is said with its line. */
async function kept({ service, pool, pools, open }) {
  const page = await open("/portfolio");
  const asked = [];
  page.on("request", (request) => asked.push(request.url()));
  const steps = await page.evaluate(() => history.length);
  await page.locator("#positions").pressSequentially(`${pool}:1357\n${pool}:500`);
  await page.waitForSelector("#to-sell >> text=$1,857");
  await page.waitForURL(/#.*:1357,/);
  assert.equal(await page.evaluate(() => history.length), steps, "typing is no step to go back to");
  assert.equal(asked.filter((url) => url.includes("/v1/ladder/")).length, 1, "a snapshot is fetched once");
  // The page sends no size, neither by itself nor through a link.
  await page.locator("table tbody th a").first().click();
  await page.waitForSelector(".agreement .standing.pass");
  const sent = asked.filter((url) => /1357|1857|portfolio/.test(new URL(url).pathname + new URL(url).search));
  assert.deepEqual(sent, [], "positions are not sent");
  await page.goBack();
  await page.waitForSelector("#to-sell >> text=$1,857");
  // A new fragment in the address fills the box.
  await page.evaluate((fragment) => { location.hash = fragment; }, `${pools[1].pool}:42`);
  await page.waitForSelector("#to-sell >> text=$42");
  assert.equal(await page.locator("#positions").inputValue(), `${pools[1].pool}:42`);
  await page.locator("#positions").fill(`${pools[1].pool}:1,042.5`);
  await page.waitForSelector("#to-sell >> text=$1,042.5");
  await page.locator("#positions").fill("nonsense");
  await page.waitForSelector(".refused >> text=Line 1:");
  await page.locator("#positions").fill("");
  await page.waitForSelector("text=No positions yet");
  await page.waitForURL(`${service}/portfolio`);
  // Selects the token by its symbol twice, with sizes in different notations.
  for (const [worth, sum] of [["$1,000", "$1,000"], ["250", "$1,250"]]) {
    await page.locator("#worth").fill(worth);
    await page.getByRole("button", { name: "Add position" }).click();
    await page.waitForSelector(`#to-sell >> text=${sum}`);
  }
  const token = (await page.locator("#held").inputValue()).replace(":", "/");
  assert.equal(await page.locator("#positions").inputValue(), `${token}:$1,000\n${token}:250`);
  await page.context().close();
  console.log("portfolio: kept in the address, sent nowhere");
}

/** Exits, sums and the worst are the service's; a size without a fill has no number anywhere. */
async function parity({ service, pools, thin, open, shoot }) {
  const sizes = [1000, 250000, 10000000, 999.5];
  const positions = [...pools.slice(0, 4).map(({ pool }, index) => `${pool}:${sizes[index]}`), `${pools[0].pool}/token1:50`];
  positions.push(`${thin}:10000000`);
  const query = positions.map((one) => `position=${encodeURIComponent(one)}`).join("&");
  const said = await (await fetch(`${service}/v1/portfolio?${query}`)).json();
  const page = await open(`/portfolio#${positions.join(",")}`);
  await page.waitForSelector("#to-sell");
  const text = async (id) => (await page.locator(id).textContent()).replace(/[$,]/g, "").replace("−", "-");
  assert.equal(await text("#to-sell"), String(said.total.size_usd));
  assert.equal(await text("#whole-gap"), `none: ${String(said.total.unfilled_usd).replace(/(\.\d\d)\d+/, "$1")} cannot be filled`);
  const exact = (place) => place.evaluate((one) => one.querySelector("[title]")?.title ?? one.textContent);
  assert.equal(await exact(page.locator("#filled-gap")), `${said.total.filled_gap_pct}%`);
  const worst = said.exits[said.worst_exit];
  assert.ok(worst.problem, "the worst exit is one without a fill");
  assert.match(await text("#worst"), new RegExp(`${worst.pool}: cannot be filled`));
  await shoot(page, "portfolio-unfilled");

  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download CSV" }).click();
  const [head, ...lines] = readFileSync(await (await download).path(), "utf8").trim().split("\n");
  assert.equal(head, "pool,base,base_symbol,status,slot,size_usd,exit_gap_pct,filled_usd,filled_gap_pct,problem");
  assert.equal(lines.length, said.exits.length);
  const rows = page.locator("table tbody tr");
  for (const [index, exit] of said.exits.entries()) {
    const [pool, base, , status, slot, size, gap, filled, filledGap, problem] = lines[index].split(",");
    assert.deepEqual([pool, base, Number(size)], [exit.pool, exit.base, exit.size_usd]);
    assert.equal(status, "preview");
    assert.match(slot, /^\d{4}-\d\d-\d\dT/);
    assert.equal(gap, exit.result ? String(exit.result.exit_gap_pct) : "");
    assert.equal(Number(filled), Math.round((exit.size_usd - exit.unfilled_usd) * 1e6) / 1e6);
    assert.equal(problem !== '""', Boolean(exit.problem));
    const shown = await rows.nth(index).locator("td").last().textContent();
    if (exit.problem) {
      assert.match(shown, /^cannot be filled/);
      assert.ok(filledGap === "" || shown.includes("that can"), shown);
    }
  }
  await page.context().close();
  console.log("portfolio: as the service computes it, on the page and in the file");
}

/** Tokens are sold in one plan, next to a position in a pool, and the browser recomputes the plan. */
async function plan({ pools, open, shoot, fits, get }) {
  const [chain] = pools[0].pool.split(":");
  const tokens = new Map((await get("/v1/pools")).pools.flatMap(({ base, quote }) => [base, quote]).map(({ symbol, address }) => [symbol, address]));
  const positions = [`${chain}/${tokens.get("WETH")}:25000`, `${chain}/${tokens.get("ALT")}:500`, `${chain}/${tokens.get("USDC")}:75`, `${pools[1].pool}:100`];
  const query = positions.map((one) => `position=${encodeURIComponent(one)}`).join("&");
  const said = await get(`/v1/portfolio?${query}`);
  const page = await open(`/portfolio#${positions.join(",")}`);
  await page.waitForSelector(`#plan-${chain}-route`);
  const exact = (place) => place.evaluate((one) => one.querySelector("[title]")?.title ?? one.textContent);
  assert.equal(await page.locator("#to-sell").textContent(), "$25,675");
  assert.equal((await exact(page.locator("#whole-gap"))).replace("−", "-"), `${said.total.exit_gap_pct}%`);
  const [{ result }] = said.plans;
  const dollars = Number(await page.locator(`#plan-${chain}-received`).getAttribute("title").then((title) => title.replace(/[^\d.]/g, "")));
  assert.equal(dollars, result.received_usd);
  const legs = await page.locator(".plan tbody th a").evaluateAll((all) => all.map((one) => one.getAttribute("href")));
  assert.deepEqual(legs, result.legs.map(({ pool }) => `/pools/${pool}`));
  const cash = said.positions.filter(({ is_cash: isCash }) => isCash).length;
  assert.equal(await page.getByText("is cash already and is not sold").count(), cash);
  await page.locator(`#check-plan-${chain}`).getByRole("button").click();
  await eventually("the plan is recomputed here", async () => /Confirmed by this browser/.test(await page.locator(`#check-plan-${chain}`).textContent()));
  await shoot(page, "portfolio-plan");
  await page.setViewportSize({ width: 390, height: 900 });
  await shoot(page, "portfolio-plan-phone");
  await fits(page, "a plan on a phone");
  await shoot(page, "portfolio-plan-phone");
  await page.context().close();
  // A token that no pool trades is named, and the others are sold without it.
  const unknown = `${chain}/0x${"11".repeat(20)}:5`;
  const other = await open(`/portfolio#${[positions[0], unknown].join(",")}`);
  await other.waitForSelector(`#plan-${chain}-route`);
  assert.equal(await other.getByText("cannot be sold").count(), 1);
  await shoot(other, "portfolio-unsold");
  await other.context().close();
  console.log("portfolio: tokens in one plan, recomputed in the browser");
}

/** A pool that cannot be read takes only its own exit with it. */
async function oneFails({ pool, pools, open, shoot }) {
  const other = pools[1].pool;
  const page = await open("/portfolio", { expected: ["503"] });
  let asked = 0;
  await page.route(LADDER, (route) => {
    if (!route.request().url().includes(other)) return route.continue();
    asked += 1;
    return problem(503, "source_unreadable", "come back later", { "retry-after": "90" })(route);
  });
  await page.locator("#positions").fill(`${pool}:1000\n${other}:1000`);
  await page.waitForSelector(".failed >> text=1 of 2 exits could not be computed");
  await page.waitForSelector("table >> text=come back later");
  await page.waitForSelector("#whole-gap >> text=none: not every exit");
  assert.equal(await page.locator("table tbody tr").count(), 2);
  assert.equal(asked, 1);
  await shoot(page, "portfolio-one-failed");
  await page.unroute(LADDER);
  await page.getByRole("button", { name: "Try again" }).click();
  await eventually("both", async () => await page.locator(".failed").count() === 0 && await page.locator("table tbody tr").count() === 2);
  await page.context().close();
  // If nothing could be computed, the page does not say how much can be filled.
  const none = await open("/portfolio", { expected: ["503"], routes: {
    [LADDER]: problem(503, "source_unreadable", "come back later", { "retry-after": "90" }),
  } });
  await none.locator("#positions").fill(`${pool}:1000`);
  await none.waitForSelector("#whole-gap >> text=none: no exit could be computed");
  await none.context().close();
  console.log("portfolio: one exit failed, and was asked again");
}
