// The pages and the package in Firefox, driven over WebDriver BiDi: the front page's question, a pool, evidence that is
// confirmed and evidence that is rejected, a recomputed figure, and the package's own computations. Prints a JSON
// object.
// Usage: node firefox.mjs <service's address> <folder of node_modules> <folder of node_modules with puppeteer-core>
//   <folder for screenshots> <pool> <folder with the package installed and vectors.html>
import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { eventually, local, ways } from "./browser.mjs";
import { serve } from "../js/npm/serve.mjs";

const [service, modules, drivers, shots, pool, project] = process.argv.slice(2);
const require = createRequire(join(modules, "x.js"));
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const entry = createRequire(join(drivers, "x.js")).resolve("puppeteer-core");
const { default: puppeteer } = await import(pathToFileURL(entry));
mkdirSync(shots, { recursive: true });

const DESKTOP = 1280, PHONE = 375;
const noise = [];
let violations = 0;
process.on("exit", (code) => code !== 0 && noise.length > 0 && console.error(noise));

/** A Firefox of its own, whose pages are light or dark. */
const firefox = (dark) => puppeteer.launch({
  browser: "firefox",
  protocol: "webDriverBiDi",
  defaultViewport: null,
  executablePath: process.env.EXITGAP_FIREFOX ?? "/usr/bin/firefox-esr",
  extraPrefsFirefox: { "layout.css.prefers-color-scheme.content-override": dark ? 0 : 1 },
});

/** Gives a page its width. Not every Firefox knows the screen's orientation, which is said beside it and matters to nothing here. */
async function widen(page, width) {
  try {
    await page.setViewport({ width, height: 900 });
  } catch (error) {
    if (!String(error).includes("setScreenOrientationOverride")) throw error;
  }
}

/** A page that remembers what the browser complained of, and what its policy refused. */
async function open(browser, url, width = DESKTOP) {
  const page = await browser.newPage();
  await widen(page, width);
  // Test pages have no icon, but Firefox requests one anyway.
  const complain = (text) => text.includes("/favicon.ico") || noise.push(`${url}: ${text}`);
  page.on("console", (line) => ["error", "warn"].includes(line.type()) && complain(line.text()));
  page.on("pageerror", (error) => complain(String(error)));
  await page.evaluateOnNewDocument(() => {
    document.addEventListener("securitypolicyviolation", (refused) =>
      console.error(`refused by the policy: ${refused.violatedDirective} ${refused.blockedURI}`));
  });
  await page.goto(url);
  await eventually(`${url} is ${width} wide`, async () => {
    if (await page.evaluate(() => window.innerWidth) === width) return true;
    // A new process loads the page and may not know the width that was set for the empty page before.
    await widen(page, width);
    return false;
  });
  return page;
}

const words = (page, selector) =>
  page.evaluate((selector) => document.querySelector(selector)?.textContent ?? "", selector);
const has = (page, selector, part = "") => eventually(`${selector} with "${part}"`, async () =>
  page.evaluate((selector, part) =>
    [...document.querySelectorAll(selector)].some((one) => one.textContent.includes(part)), selector, part));
const press = (page, selector, part) => page.evaluate((selector, part) =>
  [...document.querySelectorAll(selector)].find((one) => one.textContent.includes(part)).click(), selector, part);
/** Writes into a box, key by key, in place of what stands there. */
const write = async (page, selector, text) => {
  await page.evaluate((selector) => { document.querySelector(selector).value = ""; }, selector);
  await page.type(selector, text);
};
const get = async (path) => (await fetch(service + path)).json();

/** No rule of accessibility is broken, and nothing is cut off; a picture to look at. */
async function sound(page, name) {
  const wide = await page.evaluate(() =>
    document.documentElement.scrollWidth - document.documentElement.clientWidth);
  assert.ok(wide <= 0, `${name} is ${wide} px wider than the screen`);
  await page.screenshot({ path: join(shots, `firefox-${name}.png`), fullPage: true });
  await page.evaluate(`${axe};0`);
  const found = await page.evaluate(async () => {
    const { violations } = await globalThis.axe.run(document, { resultTypes: ["violations"] });
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html.slice(0, 160)).join(" | ")}`);
  });
  violations += found.length;
  assert.deepEqual(found, [], `${name}: accessibility`);
}

/** Token, size, Enter: what the service says stands there, and is confirmed. */
async function question(browser, exit) {
  const [chain] = pool.split(":");
  const token = `${chain}:${exit.base.address}`;
  const page = await open(browser, `${service}/`);
  await has(page, "table.board tbody tr");
  await has(page, "#held option", exit.base.symbol);
  await page.select("#held", token);
  await write(page, "#worth", "250000");
  await page.keyboard.press("Enter");
  await has(page, "#where table");
  const told = await get(`/v1/routes/${token.replace(":", "/")}?size_usd=250000`);
  const where = await page.evaluate(() => location.href);
  assert.ok(where.includes(`/exit/${token}`), where);
  const shown = await page.evaluate(() => document.querySelector("#gap").title);
  assert.equal(shown, `${told.exit_gap_pct}%`.replace("-", "−"));
  await press(page, "button", "Check every gap in view");
  const all = await page.evaluate(() => document.querySelectorAll("#where .checked-gap").length);
  await eventually("all gaps are confirmed", async () =>
    all > 0 && await page.evaluate(() => document.querySelectorAll("#where .standing.pass").length) === all);
  await page.close();
}

/** A size that is typed is answered by the module in the page, as by the service. */
async function aPool(browser) {
  const page = await open(browser, `${service}/pools/${pool}?size_usd=1000`);
  await has(page, ".agreement .standing.pass");
  const before = await words(page, "#gap");
  await write(page, "#size", "54321");
  await eventually("another size, another gap", async () => await words(page, "#gap") !== before);
  await has(page, ".agreement .standing.pass");
  const told = await get(`/v1/exit/${pool}?size_usd=54321`);
  await eventually("the service's number", async () =>
    (await page.evaluate(() => document.querySelector("#gap").title || document.querySelector("#gap").textContent))
      .includes(String(told.exit_gap_pct).replace("-", "")));
  await page.close();
}

/** Evidence is confirmed, and with a digit changed it is not: on its page, and as a file. */
async function evidence(browser, exit) {
  const page = await open(browser, service + local(exit.evidence_url));
  await has(page, ".verdict.pass");
  await press(page, "button", "number's last digit");
  await has(page, "#broken .verdict.fail", "does not follow from this file's own snapshot");
  await page.close();
  const verify = await open(browser, `${service}/verify`);
  await has(verify, "textarea#pasted");
  const file = await (await fetch(service + local(exit.evidence_url))).text();
  const pasted = (text) => verify.evaluate((text) => {
    const box = document.querySelector("#pasted");
    box.value = text;
    box.dispatchEvent(new Event("input", { bubbles: true }));
  }, text);
  await pasted(file);
  await has(verify, ".verdict.pass");
  const changed = file.replace(/("exit_gap_pct":"-?[0-9.]*)(\d)"/, (_, head, last) => `${head}${(Number(last) + 1) % 10}"`);
  assert.notEqual(changed, file);
  await pasted(changed);
  await has(verify, ".verdict.fail");
  await has(verify, 'li[data-check="result"][data-outcome="fail"]');
  await verify.close();
}

/** A figure of many snapshots is computed again; a file that was changed is refused. */
async function figure(browser) {
  const page = await open(browser, `${service}/pools/${pool}#accuracy`);
  await has(page, "#compared");
  await press(page, "#accuracy button", "Recompute in this browser");
  await has(page, "#accuracy .checked-figure .confirmed", "Confirmed by this browser");
  await page.close();
}

/** The package's answers in this browser, byte for byte those of the native code. */
async function npm(browser) {
  const { server, origin } = await serve(project);
  const page = await open(browser, `${origin}/vectors.html`);
  await eventually("the package's answers", async () => (await words(page, "#out")).trim() !== "", 4_000);
  const outcome = JSON.parse(await words(page, "#out"));
  await page.close();
  server.close();
  return outcome;
}

/** Each page in two ways, which have both widths and both colours; in all four where all is asked for. */
async function everyPage(exit) {
  const ready = {
    board: ["/", "table.board tbody tr"],
    pool: [`/pools/${pool}?size_usd=1000`, ".agreement .standing.pass"],
    evidence: [local(exit.evidence_url), ".verdict.pass"],
    exit: [`/exit/${pool.split(":")[0]}:${exit.base.address}?size_usd=250000`, "#best-hour"],
    risk: [`/risk?pool=${pool}&size_usd=100000`, "#band"],
    accuracy: ["/accuracy", "table.accuracy tbody tr"],
    equities: ["/equities", "main p.empty, table.shares"],
    verify: ["/verify", "textarea#pasted"],
    portfolio: [`/portfolio#${pool}:1000,${pool}/token1:2500`, "table tbody tr"],
    alerts: ["/alerts", "h1"],
    capabilities: ["/capabilities", "table tbody tr"],
    method: ["/method", "h2"],
  };
  for (const [width, dark] of ways(DESKTOP, PHONE).slice(0, process.env.EXITGAP_EVERY_WAY ? 4 : 2)) {
    const browser = await firefox(dark);
    for (const [name, [path, selector]] of Object.entries(ready)) {
      const page = await open(browser, service + path, width);
      await has(page, selector);
      await eventually(`${name} is quiet`, async () =>
        await page.evaluate(() => document.querySelectorAll(".loading").length) === 0);
      await sound(page, `${name}-${width}${dark ? "-dark" : ""}`);
      await page.close();
    }
    await browser.close();
  }
}

const exit = await get(`/v1/exit/${pool}?size_usd=1000`);
const browser = await firefox(false);
const version = await browser.version();
assert.match(version, /firefox/i);
await question(browser, exit);
await aPool(browser);
await evidence(browser, exit);
await figure(browser);
const outcome = await npm(browser);
await browser.close();
await everyPage(exit);
assert.deepEqual(noise, []);
console.log(JSON.stringify({ package: outcome, "firefox.axe_violations": violations, "firefox.console_errors": noise.length }));
