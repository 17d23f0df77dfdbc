// The shared requirements of all pages: they become ready, fit the screen, are accessible, have titles, and work by
// keyboard.
import assert from "node:assert/strict";
import { eventually, tabTo, ways } from "./browser.mjs";

export default async function shell(scene) {
  await everyPage(scene);
  await elsewhere(scene);
  await folded(scene);
  await parts(scene);
  await preview(scene);
  await titles(scene);
  await keyboard(scene);
}

/** What a page is at most on a phone: four of its screens, a third of what pages once were. */
const PHONE = 3600;

/** Rows of a list that a page of this length has: more are longer. */
const ROWS = 8;

async function isShort(page, path) {
  const [high, further] = await page.evaluate((most) => {
    const rows = [...document.querySelectorAll("main table.board tbody tr, main table.accuracy tbody tr, main table.capabilities tbody tr")];
    const further = rows.slice(most).reduce((sum, row) => sum + row.getBoundingClientRect().height + 8, 0);
    return [document.documentElement.scrollHeight, further];
  }, ROWS);
  assert.ok(high - further <= PHONE, `${path} is ${high} px long on a phone, ${further} of them rows beyond ${ROWS}`);
}

const name = (path) => (path.startsWith("/api") ? "evidence" : path.split(/[/?#]/)[1] || "board");

/** Each page at both widths, light and dark. */
export async function everyPage({ pool, collateral, exit, evidence, open, fits, shoot }) {
  const ready = {
    "/": "table.board tbody tr",
    [`/pools/${pool}?size_usd=1000`]: ".agreement .standing.pass",
    [evidence]: ".verdict.pass",
    [`/exit/${pool.split(":")[0]}:${exit.base.address}?size_usd=250000`]: "#best-hour",
    [`/risk?pool=${collateral}&size_usd=100000`]: "#band",
    "/accuracy": "table.accuracy tbody tr",
    "/equities": "main p.empty, table.shares",
    "/verify": "textarea#pasted",
    [`/portfolio#${pool}:1000,${pool}/token1:2500`]: "table tbody tr",
    "/capabilities": "table tbody tr",
    "/method": "h2",
    "/nothing/here": "h1",
  };
  for (const [path, selector] of Object.entries(ready)) {
    for (const [width, dark] of ways(1280, 390)) {
      const expected = path === "/nothing/here" ? ["404"] : [];
      const page = await open(path, { width, dark, expected });
      await page.waitForSelector(selector);
      await eventually(`${path} is quiet`, async () => await page.locator(".loading").count() === 0);
      await fits(page, `${path} at ${width}`);
      if (width === 390) await isShort(page, path);
      await page.waitForSelector('#whose >> text=code served by this same server');
      assert.equal(await page.locator("#whose a").getAttribute("href"), "/method#elsewhere");
      await shoot(page, `${name(path)}-${width}${dark ? "-dark" : ""}`);
      await page.context().close();
    }
    console.log(`page ${name(path)}: ready, fits, accessible`);
  }
}

/** Whoever does not take this server's word is told which other programs there are. */
async function elsewhere({ open }) {
  const page = await open("/");
  await page.waitForSelector("table.board tbody tr");
  await page.locator("#whose a").click();
  await page.waitForSelector("#elsewhere");
  assert.ok(page.url().endsWith("/method#elsewhere"), page.url());
  for (const way of ["exitgap verify evidence.json --trust", "npm package", "/verify"]) {
    assert.ok((await page.locator("#elsewhere ~ ul").first().textContent()).includes(way), way);
  }
  await page.context().close();
  console.log("elsewhere: each page says whose program confirms, and which other there is");
}

/** On a phone a section is a tap away, unless the address names it; what the board calls fragility is explained. */
async function folded({ open }) {
  const [closed, named] = [await open("/method", { width: 390 }), await open("/method#who-can-lie", { width: 390 })];
  for (const [page, shown] of [[closed, false], [named, true]]) {
    await page.waitForSelector("#who-can-lie > summary");
    assert.equal(await page.locator("#who-can-lie ul").isVisible(), shown, page.url());
    await page.context().close();
  }
  const board = await open("/", { width: 390 });
  await board.getByRole("link", { name: "Definitions of fragility and depth" }).click();
  await board.waitForURL(/\/method#fragility$/);
  await board.locator("#fragility", { hasText: "usual book" }).waitFor();
  await board.context().close();
  console.log("folded: closed on a phone, but where the address names it");
}

/** The front page loads one module; what a page or a check needs more comes when it is asked for, once. */
async function parts({ open }) {
  const asked = [];
  const page = await open("/?size=1000", { routes: {
    "**/*.wasm": (route) => { asked.push(route.request().url().split("/").at(-1)); return route.continue(); },
  } });
  await page.waitForSelector("table.board tbody tr");
  await page.waitForLoadState("networkidle");
  assert.equal(new Set(asked).size, 1, asked.join(", "));
  await page.getByRole("button", { name: "Check every gap in view" }).click();
  await page.waitForSelector("table.board .standing.pass");
  assert.ok(asked.some((name) => name.startsWith("split_evidence")), asked.join(", "));
  const before = asked.length;
  await page.getByRole("link", { name: "Verify", exact: true }).click();
  await page.waitForSelector("textarea#pasted");
  assert.equal(asked.length, before, "what is there is not fetched again");
  await page.context().close();
  console.log("parts: the front page loads none, a check and a page theirs");
}

/** A preview figure says so everywhere. */
async function preview({ pool, evidence, open }) {
  for (const path of ["/", `/pools/${pool}`, evidence, `/portfolio#${pool}:1000`]) {
    const page = await open(path);
    await page.waitForSelector(".preview-notice");
    await page.context().close();
  }
  console.log("preview notice: on every page with figures");
}

/** Titles are in the HTML as served, and follow the reader from page to page, as focus does. */
async function titles({ service, pool, exit, open }) {
  const html = await (await fetch(`${service}/pools/${pool}`, { headers: { accept: "text/html" } })).text();
  const symbols = [exit.base.symbol, exit.quote.symbol];
  assert.ok(symbols.every((symbol) => html.split("</title>")[0].includes(symbol)), "title names the tokens");
  const served = html.match(/<title>(.*?)<\/title>/)[1];
  const page = await open("/");
  await page.waitForSelector("table.board tbody tr");
  const first = await page.title();
  await page.locator(`table.board a[href^="/pools/${pool}"]`).click();
  await eventually("the pool's title", async () => await page.title() === served);
  assert.equal(await page.evaluate(() => document.activeElement.id), "content", "focus is at the content");
  for (const [link, title] of [["Verify", "Verify an evidence file | exitgap"], ["How it works", "How it works | exitgap"], ["Board", first]]) {
    await page.getByRole("link", { name: link, exact: true }).click();
    await eventually(title, async () => await page.title() === title);
    assert.equal(await page.evaluate(() => document.activeElement.id), "content");
  }
  await page.context().close();
  // The same holds for the texts that a page initially contains.
  for (const path of ["/", "/verify", "/portfolio", "/accuracy", "/equities", "/alerts", "/risk", "/capabilities", "/method"]) {
    const html = await (await fetch(service + path, { headers: { accept: "text/html" } })).text();
    const page = await open(path);
    await page.waitForSelector("#content .lead");
    await eventually(`${path} is there`, async () => await page.getByText("Loading this page…").count() === 0);
    const said = await page.locator(".lead").textContent();
    assert.ok(html.includes(`<p class="lead">${said}</p>`), `${path} says: ${said}`);
    await page.context().close();
  }
  console.log("titles: as served, and on the way");
}

/** From the address bar on, with nothing but keys. */
async function keyboard({ pool, open, get }) {
  // The skip link does not change the portfolio in the address.
  const held = await open(`/portfolio#${pool}:1000`);
  await held.waitForSelector("#to-sell");
  const before = held.url();
  await held.keyboard.press("Tab");
  assert.equal(await held.evaluate(() => document.activeElement.className), "skip", "Tab begins at the skip link");
  await held.keyboard.press("Enter");
  assert.equal(await held.evaluate(() => document.activeElement.id), "content");
  assert.equal(held.url(), before, "the positions are still in the address");
  await held.context().close();

  // Checks the gaps: focus stays on the button that started the check.
  const board = await open("/?size=1000");
  await board.waitForSelector("table.board tbody tr");
  await tabTo(board, "form[role=search] button");
  await board.keyboard.press("Enter");
  await board.waitForSelector("table.board .standing.pass");
  const focused = await board.evaluate(() => document.activeElement.textContent);
  assert.equal(focused, "Check every gap in view", "focus stays on the button");
  await board.context().close();

  // Reads the chart and selects a period without dragging.
  const page = await open(`/pools/${pool}`);
  await page.waitForSelector(".stress");
  await tabTo(page, "figure.chart svg");
  await page.keyboard.press("ArrowLeft");
  const reading = page.locator("figure.chart .reading").first();
  const last = await reading.textContent();
  assert.match(last, /%$/);
  await page.keyboard.press("ArrowLeft");
  assert.notEqual(await reading.textContent(), last, "another place is read");
  await page.keyboard.press("End");
  assert.equal(await reading.textContent(), last, "the last place was read first");
  const whole = await page.locator(".stress").textContent();
  const { from } = await get(`/v1/stress/${pool}?size_usd=100000`);
  const [year, month, day] = from.slice(0, 10).split("-");
  for (const [place, time] of [[1, "1200"], [2, "1215"]]) {
    await tabTo(page, `label:nth-of-type(${place}) > input[type=datetime-local]`);
    await page.keyboard.type(month + day + year);
    await page.keyboard.press("ArrowRight");
    await page.keyboard.type(`${time}AM`);
  }
  await page.keyboard.press("Enter");
  await eventually("the period by keys", async () => {
    const now = await page.locator(".stress").textContent().catch(() => whole);
    return now !== whole && now.includes("00:15 UTC");
  });
  await page.context().close();
  console.log("keyboard: skipped, checked, charts read, a period chosen");
}
