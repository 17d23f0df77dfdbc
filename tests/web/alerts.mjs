// Creates an alert rule on a pool's page: tests it on the pool's history, saves it, and waits until the page shows that
// it fires, without a reload. After this script has printed a key and a token, its caller seals two slots.
// Usage: node alerts.mjs <service's address> <folder of node_modules> <folder for screenshots> <webhook>
import assert from "node:assert/strict";
import { eventually, start } from "./browser.mjs";

const [service, modules, shots, webhook] = process.argv.slice(2);
const { browser, pool, open, shoot, noise } = await start(service, modules, shots);

const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
// The script sends two invalid rules on purpose.
const page = await open(`/pools/${pool}?size_usd=250k`, { context, expected: ["status of 400"] });
await page.waitForSelector(".agreement .standing.pass");
// One click opens the form, which immediately evaluates the rule with the default values.
await page.locator("#alert summary").click();
await page.waitForSelector("#alert >> text=/would (not )?have fired/");
// Every sale loses more than nothing, and the rule needs two slots of four.
await page.fill("#alert-number", "0");
await page.waitForSelector("#alert >> text=The alert would have fired once");
await page.waitForSelector("#alert figure.chart svg");
// For an invalid rule, the page shows the reason.
await page.fill("#alert-number", "many");
await page.waitForSelector("#alert >> text=pct");
await page.fill("#alert-number", "0");
await page.waitForSelector("#alert >> text=The alert would have fired once");
await shoot(page, "pool-alert");
// The service would parse 1.000 as one dollar, but the user may mean a thousand: the page rejects it without a request.
await page.selectOption("#alert select", "depth_below");
await page.fill("#alert-number", "1.000");
await page.waitForSelector("#alert >> text=ambiguous");
await page.selectOption("#alert select", "gap_above");
await page.fill("#alert-number", "0");
await page.waitForSelector("#alert >> text=The alert would have fired once");
await page.fill("#alert-webhook", "http://10.0.0.1/");
await page.click("#keep-alert");
await page.waitForSelector("#alert >> text=webhook_url");
await page.fill("#alert-webhook", webhook);
await page.click("#keep-alert");
await page.waitForSelector("#alert >> text=The alert was created");
const secret = await page.locator("#alert code").textContent();
await page.getByRole("link", { name: "Your alerts" }).click();
await page.waitForSelector("h1 >> text=Alerts");
await page.waitForSelector("text=Not triggered yet.");
const link = await page.getByRole("link", { name: "Your alerts link" }).getAttribute("href");
const token = link.split("#")[1];
assert.match(token, /^exa_[A-Za-z0-9_-]{43}$/);
console.info(secret);
console.info(token);

// The caller seals the slots; this script clicks nothing.
await page.waitForSelector("section .tag >> text=firing", { timeout: 20_000 });
await page.waitForSelector("td >> text=firing");
await eventually("it is sent", async () => (await page.locator("tbody tr").first().textContent()).includes("delivered")
  || (await page.reload(), await page.waitForSelector("tbody tr"), false));
await shoot(page, "alerts");
// Each value links to its evidence, which this browser checks.
await page.locator("tbody a").first().click();
await page.waitForSelector(".verdict.pass");
// Another browser with the same link shows the same; without the link it shows nothing.
const other = await open("/alerts");
await other.waitForSelector("text=No alerts yet");
await other.close();
const linked = await open(`/alerts#${token}`, { width: 390 });
await linked.waitForSelector("td >> text=firing");
await shoot(linked, "alerts-phone");
const asked = [];
linked.on("request", (request) => asked.push(request.url()));
await linked.getByRole("button", { name: "Delete alert" }).click();
await linked.waitForSelector("section .tag >> text=deleted");
assert.ok(asked.every((url) => !url.includes("exa_")), "the token is in no address");
await linked.getByRole("button", { name: "Remove from this browser" }).click();
await linked.waitForSelector("text=No alerts yet");
await browser.close();
assert.deepEqual(noise, [], "the browser complained");
