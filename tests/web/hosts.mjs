// The pages when the API has its own host: each request goes to the host that serves it.
// Usage: node hosts.mjs <the pages' host> <the API's host> <folder of node_modules> <folder for screenshots>
import assert from "node:assert/strict";
import { eventually, start } from "./browser.mjs";

const [web, api, modules, shots] = process.argv.slice(2);
const { browser, pool, evidence, open, noise } = await start(web, modules, shots, api);
for (const [path, ready] of [
  ["/?size=1000", "table.board tbody tr"],
  [`/pools/${pool}?size_usd=1000`, ".agreement .standing.pass"],
  [evidence, ".verdict.pass"],
  [`/portfolio#${pool}:1000`, "#to-sell"],
  ["/capabilities", "table tbody tr"],
]) {
  const asked = [];
  const page = await open("/method");
  page.on("request", (request) => asked.push(request.url()));
  await page.goto(web + path);
  await page.waitForSelector(ready);
  await eventually(`${path} is quiet`, async () => await page.locator(".loading").count() === 0);
  if (path.startsWith("/?")) {
    await page.getByRole("button", { name: "Check every gap in view" }).click();
    const gaps = await page.locator(".checked-gap").count();
    await eventually("all are confirmed", async () => await page.locator("table").getByText("confirmed here").count() === gaps);
  }
  const of = (part) => asked.filter((url) => new URL(url).pathname.startsWith(part));
  assert.ok(of("/v1/").length > 0 || path === evidence, `${path} asks the API for something`);
  assert.deepEqual(of("/v1/").filter((url) => !url.startsWith(api)), [], path);
  for (const part of ["/api/", "/log/"]) assert.deepEqual(of(part).filter((url) => !url.startsWith(web)), [], path);
  await page.context().close();
}
await browser.close();
assert.deepEqual(noise, [], "the browser complained");
