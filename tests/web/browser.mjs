// A browser that records errors, and the requirements that every page must meet.
import { createRequire } from "node:module";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import assert from "node:assert/strict";

const COMPLAINTS = ["error", "warning"];

/** How pages are looked at, width and darkness. The first two have each of both. */
export const ways = (desk, phone) => [[desk, false], [phone, true], [phone, false], [desk, true]];

/** Everything the scripts of a page need: the service, its newest exit, and a watched browser. The API may have a
    host of its own. */
export async function start(service, modules, shots, api = service) {
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
  // When a script fails, the errors of the page often explain why.
  process.on("exit", (code) => code !== 0 && noise.length > 0 && console.error(noise));
  let violations = 0;

  /** A page that remembers what the browser complained of and what it asked other hosts for. */
  async function open(path, { width = 1280, dark = false, context, expected = [], routes = {} } = {}) {
    const own = context ?? await browser.newContext({
      viewport: { width, height: 900 }, colorScheme: dark ? "dark" : "light", bypassCSP: false,
    });
    const page = await own.newPage();
    const complain = (text) => {
      if (!expected.some((part) => text.includes(part))) noise.push(`${path}: ${text}`);
    };
    page.on("console", (message) => COMPLAINTS.includes(message.type()) && complain(message.text()));
    page.on("pageerror", (error) => complain(String(error)));
    page.on("request", (request) => {
      const url = request.url();
      if (!url.startsWith(service) && !url.startsWith(`${api}/v1/`) && !url.startsWith("blob:") && !url.startsWith("data:")) {
        noise.push(`${path}: asked elsewhere: ${url}`);
      }
    });
    for (const [pattern, handler] of Object.entries(routes)) await page.route(pattern, handler);
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

  /** A picture to look at; the state in it is accessible. */
  async function shoot(page, name) {
    await page.screenshot({ path: join(shots, `${name}.png`), fullPage: true });
    await accessible(page, name);
  }

  /** Nothing is cut off: the page is no wider than the screen. */
  async function fits(page, name) {
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    assert.ok(wide <= 0, `${name} is ${wide} px wider than the screen`);
  }

  const { pools } = await get(api, "/v1/pools");
  const pool = pools[0].pool;
  const exit = await get(api, `/v1/exit/${pool}?size_usd=1000`);
  // The pool with the smallest fillable size.
  const most = await Promise.all(pools.map(async ({ pool }) =>
    [pool, (await get(api, `/v1/exit/${pool}?size_usd=999999999`)).max_fillable_usd]));
  const [thin] = most.filter(([, most]) => most !== undefined).sort((a, b) => a[1] - b[1])[0] ?? [];
  // The first pool that the exposure report supports: not all kinds of pools have this figure.
  let collateral;
  for (const { pool } of pools) {
    if (collateral === undefined && (await fetch(`${api}/v1/exposure?venue=${pool}&cascade_usd=1000`)).ok) collateral = pool;
  }
  return {
    service, browser, pools, pool, collateral, thin, exit, evidence: local(exit.evidence_url),
    open, accessible, shoot, fits, get: (path) => get(path.startsWith("/v1/") ? api : service, path),
    figures: () => ({ "web.axe_violations": violations, "web.console_errors": noise.length }), noise,
  };
}

async function get(service, path) {
  return (await fetch(service + path)).json();
}

/** An address of the service without its host. */
export const local = (url) => url.replace(/^https?:\/\/[^/]+/, "");

/** As a page shows a size. */
export const dollars = (usd) => `$${Number(usd).toLocaleString("en-US", { maximumFractionDigits: 6 })}`;

/** Waits until something holds, and says what did not. */
export async function eventually(what, holds, tries = 400) {
  for (let tried = 0; tried < tries; tried += 1) {
    if (await holds()) return;
    await new Promise((done) => setTimeout(done, 25));
  }
  assert.fail(`${what}: never`);
}

/** Answers with a document. */
export const answer = (document, status = 200, headers = {}) => (route) => route.fulfill({
  status, headers, contentType: status < 400 ? "application/json" : "application/problem+json",
  body: JSON.stringify(document),
});

/** A problem document, as the service writes them. */
export const problem = (status, code, detail, headers) =>
  answer({ type: `urn:exitgap:problem:${code}`, title: code, status, code, detail, request_id: "0" }, status, headers);

/** Presses Tab until this holds focus, as often as a reader would put up with. */
export async function tabTo(page, selector) {
  for (let presses = 0; presses < 120; presses += 1) {
    await page.keyboard.press("Tab");
    if (await page.evaluate((selector) => document.activeElement?.matches(selector) ?? false, selector)) return;
  }
  assert.fail(`Tab does not lead to ${selector}`);
}
