// Every page, in a real browser, against a running service.
// Usage: node pages.mjs <service's address> <folder of node_modules> <folder for screenshots>
import { createRequire } from "node:module";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import assert from "node:assert/strict";

const [service, modules, shots] = process.argv.slice(2);
const require = createRequire(join(modules, "x.js"));
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
mkdirSync(shots, { recursive: true });

const browser = await chromium.launch({
  executablePath: process.env.EXITGAP_CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});
const noise = [];
let violations = 0;

/** A page that remembers what the browser complained of and what it asked other hosts for. */
async function open(path, { width = 1280, dark = false, context, expected = [] } = {}) {
  const own = context ?? await browser.newContext({
    viewport: { width, height: 900 }, colorScheme: dark ? "dark" : "light", bypassCSP: false,
  });
  const page = await own.newPage();
  page.on("console", (message) => {
    const text = message.text();
    if (["error", "warning"].includes(message.type()) && !expected.some((part) => text.includes(part))) {
      noise.push(`${path}: ${text}`);
    }
  });
  page.on("pageerror", (error) => noise.push(`${path}: ${error}`));
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(service) && !url.startsWith("blob:") && !url.startsWith("data:")) {
      noise.push(`${path}: asked elsewhere: ${url}`);
    }
  });
  await page.goto(service + path);
  return page;
}

/** No accessibility rule is broken. `axe` is run in a world of its own, so the page's policy stays. */
async function accessible(page, name) {
  const session = await page.context().newCDPSession(page);
  const tree = await session.send("Page.getFrameTree");
  const world = await session.send("Page.createIsolatedWorld", { frameId: tree.frameTree.frame.id });
  const run = (expression) => session.send("Runtime.evaluate", {
    expression, contextId: world.executionContextId, awaitPromise: true, returnByValue: true,
  });
  await run(axe + ";0");
  const { result } = await run(
    "axe.run(document, { resultTypes: ['violations'] }).then(found => JSON.stringify(found.violations.map("
      + "one => one.id + ': ' + one.nodes.map(node => node.html.slice(0, 160)).join(' | '))))");
  const found = JSON.parse(result.value);
  violations += found.length;
  assert.deepEqual(found, [], `${name}: accessibility`);
}

async function shoot(page, name) {
  await page.screenshot({ path: join(shots, `${name}.png`), fullPage: true });
}

/** Nothing is cut off: the page is no wider than the screen. */
async function fits(page, name) {
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  assert.ok(wide <= 0, `${name} is ${wide} px wider than the screen`);
}

const { pools } = await (await fetch(`${service}/v1/pools`)).json();
const pool = pools[0].pool;
const exit = await (await fetch(`${service}/v1/exit/${pool}?size_usd=1000`)).json();
const evidence = exit.evidence_url.replace(/^https?:\/\/[^/]+/, "");
const ready = {
  "/": "table.board tbody tr",
  [`/pools/${pool}?size_usd=1000`]: ".agreement .standing.pass",
  [evidence]: ".verdict.pass",
  "/verify": "textarea#pasted",
  [`/portfolio#${pool}:1000,${pool}/token1:2500`]: "table tbody tr",
  "/capabilities": "table tbody tr",
  "/method": "h2",
  "/nothing/here": "h1",
};
const name = (path) => (path.startsWith("/api") ? "evidence" : path.split(/[/?#]/)[1] || "board");

// Each page at both widths, light and dark: it becomes ready, fits, and breaks no accessibility rule.
for (const [path, selector] of Object.entries(ready)) {
  for (const [width, dark] of [[1280, false], [390, false], [1280, true], [390, true]]) {
    const expected = path === "/nothing/here" ? ["404"] : [];
    const page = await open(path, { width, dark, expected });
    await page.waitForSelector(selector);
    await fits(page, `${path} at ${width}`);
    await accessible(page, `${path} at ${width}${dark ? " dark" : ""}`);
    await shoot(page, `${name(path)}-${width}${dark ? "-dark" : ""}`);
    await page.context().close();
  }
  console.log(`page ${name(path)}: ready, fits, accessible`);
}

// The titles are in the HTML as served, and a preview figure says so everywhere.
const html = await (await fetch(`${service}/pools/${pool}`, { headers: { accept: "text/html" } })).text();
const symbols = [exit.base.symbol, exit.quote.symbol];
assert.ok(symbols.every((symbol) => html.split("</title>")[0].includes(symbol)), "title names the tokens");
for (const path of ["/", `/pools/${pool}`, evidence, `/portfolio#${pool}:1000`]) {
  const page = await open(path);
  await page.waitForSelector(".preview-notice");
  await page.context().close();
}
console.log("preview notice: on every page with figures");

// The board: not checked until the reader checks, then all in view; the size is in the address.
{
  const page = await open("/?size=1000");
  await page.waitForSelector("table.board tbody tr");
  assert.ok(await page.getByText("not checked here").count() > 0);
  assert.equal(await page.getByText("confirmed here").count(), 0);
  await page.getByRole("button", { name: "Check every gap in view" }).click();
  await page.waitForFunction(() => !document.body.textContent.includes("not checked here")
    && !document.body.textContent.includes("checking…"));
  assert.ok(await page.getByText("confirmed here").count() > 0);
  await page.getByLabel("Size sold").selectOption("10000");
  await page.waitForURL(/size=10000/);
  await page.waitForSelector("text=Gap at $10,000");
  await shoot(page, "board-checked");
  await page.context().close();
}
console.log("board: checked on request, size kept in the address");

// The size box answers at once, and the service says the same; nonsense is refused in words.
{
  const page = await open(`/pools/${pool}?size_usd=1000`);
  await page.waitForSelector(".agreement .standing.pass");
  const answer = await (await fetch(`${service}/v1/exit/${pool}?size_usd=2345.67`)).json();
  await page.locator("#size").fill("2345.67");
  const expected = String(answer.exit_gap_pct).replace("-", "");
  await page.waitForFunction((text) => document.querySelector("#gap")?.textContent.startsWith(text), expected);
  await page.waitForSelector(".agreement .standing.pass");
  await page.locator("#size").fill("1e5");
  await page.waitForSelector(".answer .refused >> text=size_usd is a plain number");
  await page.locator("#size").fill("1000");
  await page.getByLabel(/^sell /).nth(1).check();
  await page.waitForURL(/base=token/);
  await page.waitForSelector(".agreement .standing.pass");
  await page.context().close();
}
for (const { pool } of pools) {
  const most = await fetch(`${service}/v1/exit/${pool}?size_usd=999999999`);
  if (most.status !== 422) continue;
  const { max_fillable_usd: fillable } = await most.json();
  const page = await open(`/pools/${pool}?size_usd=999999999`, { expected: ["422"] });
  await page.waitForSelector(".answer .refused >> text=Beyond the recorded liquidity");
  await page.waitForSelector(`.answer .refused >> text=at most ${fillable} USD`);
  await shoot(page, "pool-refused");
  await page.context().close();
  break;
}
console.log("pool: computed here, equal to the service, refusals in words");

// Keyboard only: the chart is read with the arrow keys.
{
  const page = await open(`/pools/${pool}`);
  const chart = page.locator("figure.chart svg").first();
  await chart.focus();
  await page.keyboard.press("End");
  await page.keyboard.press("ArrowLeft");
  const reading = await page.locator("figure.chart .reading").first().textContent();
  assert.match(reading, /%$/);
  await page.context().close();
}
console.log("keyboard: charts read");

// Evidence: confirmed, then broken on purpose; the failing check is named.
{
  const page = await open(evidence);
  await page.waitForSelector(".verdict.pass");
  const number = async (id) => Number((await page.locator(id).textContent()).replace("−", "-").split(" ")[0]);
  assert.equal(await number("#published"), await number("#recomputed"));
  assert.equal(await page.locator('.checks li[data-outcome="fail"]').count(), 0);
  for (const [button, check] of [["number's last digit", "result"], ["digit of the snapshot", "snapshot"], ["signed checkpoint", "signature"]]) {
    await page.getByRole("button", { name: button }).click();
    await page.waitForSelector("#broken .verdict.fail");
    const failed = await page.locator('#broken li[data-outcome="fail"]').evaluateAll((all) => all.map((one) => one.dataset.check));
    assert.ok(failed.includes(check), `${button}: ${failed}`);
  }
  await shoot(page, "evidence-broken");
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: /Download/ }).click();
  const file = await (await download).path();
  const bytes = readFileSync(file, "utf8");
  assert.equal(bytes, await (await fetch(service + evidence)).text());

  // Verify works offline once loaded, with the key this browser kept.
  const verify = await open("/verify", { context: page.context() });
  await verify.waitForSelector("textarea#pasted");
  await page.context().setOffline(true);
  await verify.locator("#pasted").fill(bytes);
  await verify.waitForSelector(".verdict.pass");
  await verify.locator("#pasted").fill(bytes.replace(/"exit_gap_pct":"([^"]*)\d"/, '"exit_gap_pct":"$1x"'));
  await verify.waitForSelector(".verdict.fail");
  await verify.locator("#pasted").fill("not an evidence file");
  await verify.waitForSelector(".verdict.fail");
  await verify.locator("#keys").fill("no key");
  await verify.waitForSelector("text=Key 1:");
  await shoot(verify, "verify-failed");
  await page.context().setOffline(false);
  await page.context().close();
}
console.log("evidence: confirmed, broken on purpose, downloaded, verified offline");

// A history rewritten since this browser's last visit is shouted, with both signed states.
{
  const context = await browser.newContext();
  const first = await open(evidence, { context });
  await first.waitForSelector(".verdict.pass");
  const forged = process.env.EXITGAP_FORGED_CHECKPOINT;
  if (forged) {
    await first.evaluate(([note, origin]) => {
      const kept = Object.keys(localStorage).find((name) => name.startsWith(`exitgap checkpoint ${origin} `));
      localStorage.setItem(kept, note);
    }, [forged, service]);
    const again = await open(evidence, { context });
    await again.waitForSelector("text=history was rewritten");
    await again.waitForSelector(".verdict.fail");
    assert.ok((await again.locator("section.failed pre").first().textContent()).includes("—"));
    await shoot(again, "evidence-rewritten");
    console.log("evidence: a rewritten history is shouted");
  }
  await context.close();
}

// The portfolio stays in the fragment; what is wrong is said with its line.
{
  const page = await open("/portfolio");
  const asked = [];
  page.on("request", (request) => asked.push(request.url()));
  await page.locator("#positions").fill(`${pool}:1000\n${pool}:500`);
  await page.waitForSelector("text=$1,500");
  assert.match(page.url(), /#.*:1000,/);
  assert.ok(asked.every((url) => !url.includes("1000") && !url.includes("portfolio")), "positions are not sent");
  await page.locator("#positions").fill("nonsense");
  await page.waitForSelector("text=Line 1:");
  await page.context().close();
}
console.log("portfolio: computed here, sent nowhere");

// A service that is gone, slow, or broken is said to be so.
{
  const expected = ["Failed to load resource", "net::ERR"];
  const page = await open("/", { expected });
  await page.waitForSelector("table.board tbody tr");
  await page.route("**/v1/ladder/**", (route) => route.abort());
  await page.locator("table.board tbody th a").first().click();
  await page.waitForSelector(".failed[role=alert]", { timeout: 20000 });
  await page.waitForSelector("text=does not answer");
  await shoot(page, "pool-gone");
  await page.unroute("**/v1/ladder/**");
  await page.route("**/v1/fragility**", async (route) => {
    await new Promise((done) => setTimeout(done, 1500));
    await route.continue();
  });
  await page.goto(service);
  await page.waitForSelector(".loading");
  await page.waitForSelector("table.board tbody tr");
  await page.unroute("**/v1/fragility**");
  await page.route("**/v1/fragility**", (route) => route.fulfill({ contentType: "application/json",
    body: JSON.stringify({ score_method: "x", method_version: "1.0.0", pools: 0, pools_without_snapshot: 0, rows: [] }) }));
  await page.goto(service);
  await page.waitForSelector("text=No pool has a snapshot yet");
  await page.context().close();
}
console.log("failures: gone, slow and empty are different");

// A board of a thousand pools, with hostile names.
{
  const board = await (await fetch(`${service}/v1/fragility`)).json();
  const symbol = "<img src=x onerror=alert(1)>";
  const rows = Array.from({ length: 100 }, (_, index) => ({
    ...board.rows[0], pool: `anvil:0x${String(index).padStart(40, "0")}`, base: { ...board.rows[0].base, symbol },
  }));
  const page = await open("/");
  await page.route("**/v1/fragility**", (route) => route.fulfill({ contentType: "application/json",
    body: JSON.stringify({ ...board, pools: 1000, rows, next_cursor: "100" }) }));
  await page.goto(service);
  await page.waitForFunction(() => document.querySelectorAll("table.board tbody tr").length === 100);
  assert.equal(await page.locator("table.board img").count(), 0);
  assert.match(await page.locator("a.next").getAttribute("href"), /cursor=100/);
  await fits(page, "a board of a thousand");
  await page.context().close();
}
console.log("board: a thousand pools, hostile names as text");

await browser.close();
assert.deepEqual(noise, [], "the browser complained");
console.log(JSON.stringify({ "web.axe_violations": violations, "web.console_errors": noise.length }));
