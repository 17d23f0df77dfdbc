// The board: what the browser verifies, what it requests, and what it shows meanwhile.
import assert from "node:assert/strict";
import { answer, eventually, local, problem } from "./browser.mjs";

export default async function board(scene) {
  await checked(scene);
  await somethingElse(scene);
  await refusedForNow(scene);
  await leftMeanwhile(scene);
  await reloading(scene);
  await thousand(scene);
  await wrongSize(scene);
  await nothingLeft(scene);
}

const FRAGILITY = "**/v1/fragility**";
const EVIDENCE = "**/api/v1/exit/**";

/** Not checked until the reader checks, then all in view; the size is in the address. */
async function checked({ open, shoot }) {
  const page = await open("/?size=1000");
  await page.waitForSelector("table.board tbody tr");
  await page.waitForSelector("text=no gap is checked here yet");
  assert.equal(await page.getByText("confirmed here").count(), 0);
  assert.equal(await page.locator("table.board button").count(), 0, "one button for all rows");
  const names = await page.locator("table.board tbody th a").allTextContents();
  assert.equal(new Set(names).size, names.length, "no two rows have one name");
  for (const venue of ["Uniswap v3 0.05%", "Uniswap v3 0.3%", "Uniswap v2 0.3%"]) {
    assert.ok(names.some((name) => name.includes(venue)), `${venue}: ${names.join("; ")}`);
  }
  const all = await page.locator(".checked-gap").count();
  await page.getByRole("button", { name: "Check every gap in view" }).click();
  await eventually("all are confirmed", async () => await page.locator("table.board").getByText("confirmed here").count() === all);
  await page.waitForSelector(`text=${all} of ${all} confirmed here`);
  await shoot(page, "board-checked");
  await page.getByLabel("Size sold").selectOption("10000");
  await page.waitForURL(/size=10000/);
  await page.waitForSelector("text=Gap at $10,000");
  await page.goBack();
  await page.waitForSelector("text=Gap at $1,000");
  assert.equal(await page.getByLabel("Size sold").inputValue(), "1000", "the control follows the way back");
  await page.context().close();
  console.log("board: checked on request, size kept in the address");
}

/** Genuine evidence of something else confirms nothing. */
async function somethingElse({ open, get, shoot }) {
  const board = await get("/v1/fragility?size_usd=1000");
  const [one, other] = board.rows.filter((row) => row.gaps[0].evidence_url);
  // The row contains the gap and the evidence link of another pool: each part is genuine by itself.
  const forged = { ...board, rows: [{ ...one, gaps: other.gaps }] };
  // The second forged row links to the evidence for the other token of the same pool.
  const turned = one.gaps[0].evidence_url.replace(/base=token(\d)/, (_, base) => `base=token${1 - base}`);
  const swapped = { ...board, rows: [{ ...one, gaps: [{ ...one.gaps[0], evidence_url: turned }, ...one.gaps.slice(1)] }] };
  for (const document of [forged, swapped]) {
    const page = await open("/?size=1000", { routes: { [FRAGILITY]: answer(document) } });
    await page.waitForSelector("table.board tbody tr");
    await page.getByRole("button", { name: "Check every gap in view" }).click();
    await page.waitForSelector(".standing.fail >> text=its evidence");
    await page.waitForSelector("text=0 of 1 confirmed here");
    const link = await page.locator(".standing.fail a").getAttribute("href");
    assert.match(link, /^\/api\/v1\/exit\//, "the row leads to the evidence");
    if (document === forged) await shoot(page, "board-refuted");
    await page.context().close();
  }
  // The right address serves the evidence of another pool.
  const page = await open("/?size=1000", { routes: { [FRAGILITY]: answer({ ...board, rows: [one] }) } });
  let served = 0;
  await page.route(EVIDENCE, async (route) => {
    served += 1;
    const file = await fetch(new URL(local(other.gaps[0].evidence_url), page.url()));
    await route.fulfill({ contentType: "application/json", body: await file.text() });
  });
  await page.waitForSelector("table.board tbody tr");
  await page.getByRole("button", { name: "Check every gap in view" }).click();
  await page.waitForSelector(".standing.warn >> text=could not check");
  assert.ok(served > 0, "another's evidence was served");
  await page.waitForSelector("text=0 of 1 confirmed here");
  await page.context().close();
  console.log("board: evidence of something else confirms nothing");
}

/** A service that is too busy is asked again when the reader says so. */
async function refusedForNow({ open }) {
  const page = await open("/?size=1000", { expected: ["429"] });
  await page.waitForSelector("table.board tbody tr");
  let refused = 0;
  await page.route(EVIDENCE, (route) => {
    refused += 1;
    return problem(429, "rate_limited", "too many requests", { "retry-after": "90" })(route);
  });
  const row = page.locator("table.board .checked-gap").first();
  await page.getByRole("button", { name: "Check every gap in view" }).click();
  await row.getByText("could not check: too many requests").waitFor();
  assert.ok(refused > 0, "the service refused");
  // Waits until no check is running before the service works again.
  await eventually("all were tried", async () => await page.locator("table.board .standing").count() === await page.locator(".checked-gap").count() && await page.getByText("checking…").count() === 0);
  await page.unroute(EVIDENCE);
  await page.getByRole("button", { name: "Check every gap in view" }).click();
  await row.getByText("confirmed here").waitFor();
  await page.context().close();
  console.log("board: what failed is checked again");
}

/** Whoever goes on to another page while gaps are checked sees nothing of it. */
async function leftMeanwhile({ open }) {
  const page = await open("/?size=1000");
  await page.waitForSelector("table.board tbody tr");
  let waiting = 0, let_go;
  const gate = new Promise((done) => { let_go = done; });
  await page.route(EVIDENCE, async (route) => { waiting += 1; await gate; await route.continue(); });
  await page.getByRole("button", { name: "Check every gap in view" }).click();
  await eventually("a check under way", () => waiting > 0);
  await page.getByRole("link", { name: "How it works" }).click();
  await page.waitForSelector("text=exact integer arithmetic");
  const arrived = page.waitForResponse(EVIDENCE);
  let_go();
  await (await arrived).finished();
  // The site still works: the program did not panic.
  await page.getByRole("link", { name: "Board", exact: true }).click();
  await page.waitForSelector("table.board tbody tr");
  await page.context().close();
  console.log("board: left while it checks");
}

/** Under a new question no old answer is shown. */
async function reloading({ open }) {
  const page = await open("/?size=1000");
  await page.waitForSelector("table.board tbody tr");
  let let_go;
  const gate = new Promise((done) => { let_go = done; });
  await page.route(FRAGILITY, async (route) => { await gate; await route.continue(); });
  await page.getByLabel("Size sold").selectOption("100000");
  await page.waitForSelector(".loading");
  assert.equal(await page.locator("table.board").count(), 0, "the old gaps are gone");
  let_go();
  await page.waitForSelector("text=Gap at $100,000");
  await page.context().close();
  console.log("board: loading under new controls");
}

/** A size that the board has not is said to be none, and what is shown instead. */
async function wrongSize({ pool, open, shoot }) {
  const page = await open("/?size=abc");
  await page.waitForSelector(".refused >> text=$100,000 is shown instead");
  await page.waitForSelector("text=Gap at $100,000");
  await shoot(page, "board-wrong-size");
  await page.getByLabel("Size sold").selectOption("10000");
  await eventually("it is gone", async () => await page.locator(".refused").count() === 0);
  // The link keeps the size, and the pool's page uses it for its series.
  await page.locator(`table.board a[href="/pools/${pool}?size_usd=10000"]`).click();
  await page.waitForSelector(".agreement .standing.pass");
  assert.equal(await page.locator("#size").inputValue(), "10000");
  assert.equal(await page.getByLabel("Size sold").inputValue(), "10000");
  await page.context().close();
  console.log("board: a wrong size is said, a right one goes along");
}

/** A thousand pools, by pages, orders and chains, with hostile names. */
async function thousand({ open, get, fits, shoot }) {
  const { rows: [row], ...rest } = await get("/v1/fragility");
  const symbol = "<img src=x onerror=alert(1)>";
  const asked = [];
  const serve = (route) => {
    const query = new URL(route.request().url()).searchParams;
    asked.push(Object.fromEntries(query));
    if (query.get("chain") === "elsewhere") {
      return answer({ ...rest, pools: 0, rows: [] })(route);
    }
    const from = Number((query.get("cursor") ?? "&at=0").slice(4));
    const rows = Array.from({ length: 100 }, (_, index) => ({
      ...row, pool: `anvil:0x${String(from + index).padStart(40, "0")}`, base: { ...row.base, symbol },
    }));
    const next = from + 100 < 1000 ? { next_cursor: `&at=${from + 100}` } : {};
    return answer({ ...rest, pools: 1000, rows, ...next })(route);
  };
  const page = await open("/", { routes: { [FRAGILITY]: serve } });
  const first = (number) => eventually(`the board begins at ${number}`, async () =>
    (await page.locator("table.board tbody th a").first().getAttribute("href").catch(() => ""))?.endsWith(`x${String(number).padStart(40, "0")}?size_usd=100000`));
  await first(0);
  assert.equal(await page.locator("table.board tbody tr").count(), 100);
  assert.equal(await page.locator("table.board img").count(), 0);
  // A search keeps the rows that contain all of its words.
  await page.locator("#search").fill(`IMG 0x${"42".padStart(40, "0")}`);
  await eventually("one pool is found", async () => await page.locator("table.board tbody tr").count() === 1);
  await page.locator("#search").fill("no such pool");
  await page.waitForSelector("text=No pool on this page matches all of these words");
  await page.locator("#search").fill("");
  await eventually("all are there again", async () => await page.locator("table.board tbody tr").count() === 100);
  assert.equal(await page.locator("a.previous").count(), 0);
  await fits(page, "a board of a thousand");
  for (let number = 100; number < 1000; number += 100) {
    await page.locator("a.next").click();
    await first(number);
    await page.waitForSelector(`text=Ranks ${number + 1}–${number + 100}`);
  }
  assert.equal(await page.locator("a.next").count(), 0, "the last page says so");
  await shoot(page, "board-last-page");
  await page.locator("a.previous").click();
  await first(800);
  assert.equal(asked.at(-1).cursor, "&at=800", "a cursor survives the address");
  // A new query starts at the first page.
  await page.getByLabel("Order").selectOption("depth");
  await first(0);
  assert.deepEqual([asked.at(-1).sort, asked.at(-1).cursor], ["depth", undefined]);
  assert.ok(!page.url().includes("cursor"));
  const { chains: [{ chain }] } = await get("/v1/capabilities");
  await page.getByRole("button", { name: chain, exact: true }).click();
  await eventually("that chain is asked for", () => asked.at(-1).chain === chain);
  await page.goto(new URL("/?size=100000&sort=depth&chain=elsewhere", page.url()).href);
  await page.waitForSelector("text=No pool on elsewhere has a snapshot yet");
  assert.equal(asked.at(-1).chain, "elsewhere");
  // An unknown chain is rejected, not ignored.
  const before = asked.length;
  await page.goto(new URL(`/?chain=${encodeURIComponent("No Chain&sort=gap")}`, page.url()).href);
  await page.waitForSelector(".refused >> text=chain:");
  assert.equal(asked.length, before, "what is no chain is not asked for");
  await page.goBack();
  await page.waitForSelector("text=No pool on elsewhere has a snapshot yet");
  await page.context().close();
  console.log("board: a thousand pools by pages, orders and chains; hostile names as text");
}

/** A pool without depth from the oracle's price shows why, and the depth from its own price first. */
async function nothingLeft({ open, get }) {
  const { rows: [row], ...rest } = await get("/v1/fragility");
  const note = "$0: the oracle was 6.0% above the pool for 4 slots (20 min). Around its own price the pool held $486,468.";
  const lead = { largest_pct: 5.96, limit_pct: 2, slots_above: 4, longest_run_slots: 4 };
  for (const [depth, said] of [[0, 1], [1, 0]]) {
    const rows = [{
      ...row, lowest_depth_7d: { ...row.lowest_depth_7d, depth_usd: depth }, lowest_book_7d_usd: 486468,
      lowest_depth_7d_note: depth === 0 ? note : undefined, oracle_lead_7d: lead, book_fragility_score: 0.02,
    }];
    const page = await open("/", { routes: { [FRAGILITY]: answer({ ...rest, rows }) } });
    await page.waitForSelector("table.board tbody tr");
    assert.equal(await page.locator("table.board tbody").getByText(note).count(), said, `$${depth}`);
    for (const words of ["$486,468", "above 2% in 4 slots", "0.02"]) {
      assert.ok((await page.locator("table.board tbody").textContent()).includes(words), words);
    }
    await page.context().close();
  }
  console.log("board: what nothing is of");
}
