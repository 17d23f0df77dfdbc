// A pool's page and the board while the series grows: ages tick, and the page offers a newer slot as soon as the
// service announces it, without polling. When this script prints "waiting" on standard output, its caller seals a slot.
// Usage: node follow.mjs <service's address> <folder of node_modules> <folder for screenshots>
import assert from "node:assert/strict";
import { eventually, start } from "./browser.mjs";

const [service, modules, shots] = process.argv.slice(2);
const { browser, pool, open, shoot, get, noise } = await start(service, modules, shots);
const LADDER = "**/v1/ladder/**";

const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
// The test controls the page's clock, so nothing here waits for real time to pass.
await context.clock.install();
let asked = 0;
await context.route(LADDER, async (route) => {
  asked += 1;
  const ladder = await (await route.fetch()).json();
  await route.fulfill({ json: { ...ladder, snapshot_age_s: 40 } });
});
const page = await open(`/pools/${pool}?size_usd=250k`, { context });
await page.waitForSelector(".agreement .standing.pass");
const newest = page.locator("#newest");
const { method } = await get(`/v1/ladder/${pool}`);
const slot = (time) => `${time.slice(0, 10)} ${time.slice(11, 16)} UTC`;
assert.match(await newest.textContent(), new RegExp(`Newest recorded slot ${slot(method.depth_source.slot_time)}, 4\\d s old`));
await context.clock.runFor(70_000);
assert.match(await newest.textContent(), /, 11\d s old/);
await context.clock.runFor(180_000);
assert.match(await newest.textContent(), /, 4 min old/);
assert.equal(asked, 1, "nothing newer was told: nobody is asked");
const board = await open("/", { context });
await board.waitForSelector("table");
assert.equal(await board.locator("#newer").count(), 0);

console.info("waiting");
await eventually("the slot is sealed", async () =>
  (await get(`/v1/ladder/${pool}`)).method.depth_source.slot > method.depth_source.slot);
const { method: now } = await get(`/v1/ladder/${pool}`);
await board.waitForSelector("#newer >> text=A newer slot was recorded.");
await shoot(board, "board-newer");
await board.getByRole("button", { name: "Show newer slot" }).click();
await eventually("the board is asked for again", async () => (await board.locator("#newer").count()) === 0);
await board.waitForSelector("table");
await board.close();
await page.waitForSelector(`#newer >> text=A newer slot was recorded, ${slot(now.depth_source.slot_time)}`);
assert.ok((await newest.textContent()).includes(slot(method.depth_source.slot_time)), "what is read stays");
await shoot(page, "pool-newer");
await page.getByRole("button", { name: "Show newer slot" }).click();
await page.waitForSelector(".agreement .standing.pass");
await eventually("the newer slot is shown", async () =>
  (await newest.textContent()).includes(`Newest recorded slot ${slot(now.depth_source.slot_time)}`));
assert.equal(await page.locator("#newer").count(), 0);
assert.equal(await page.locator("#size").inputValue(), "250k", "the size stays");
// After the reader leaves the page, it sends no more requests.
await page.getByRole("link", { name: "How it works" }).click();
await page.waitForSelector("text=exact integer arithmetic");
const before = asked;
await context.clock.runFor(600_000);
assert.equal(asked, before, "a page that was left asks for nothing");
await browser.close();
assert.deepEqual(noise, [], "the browser complained");
