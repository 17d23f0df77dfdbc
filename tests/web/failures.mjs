// The pages report a service that is unreachable, slow, or empty.
import assert from "node:assert/strict";
import { answer } from "./browser.mjs";

export default async function failures({ service, pool, open, fits, shoot }) {
  const expected = ["Failed to load resource", "net::ERR", "Failed to fetch"];
  const page = await open("/", { expected });
  await page.waitForSelector("table.board tbody tr");
  await page.route("**/v1/ladder/**", (route) => route.abort());
  await page.locator(`table.board a[href^="/pools/${pool}"]`).click();
  await page.waitForSelector(".failed[role=alert] strong >> text=The service does not answer.", { timeout: 20000 });
  await shoot(page, "pool-gone");
  await page.unroute("**/v1/ladder/**");
  await page.getByRole("button", { name: "Try again" }).click();
  await page.waitForSelector(".agreement .standing.pass");
  // A part of the program that does not load is reported too, and can be loaded again.
  await page.goto(service);
  await page.waitForSelector("table.board tbody tr");
  await page.route("**/split_words*", (route) => route.abort());
  await page.getByRole("link", { name: "How it works" }).click();
  await page.waitForSelector(".failed[role=alert] >> text=this page's program did not load");
  await page.unroute("**/split_words*");
  await page.getByRole("button", { name: "Try again" }).click();
  await page.waitForSelector("#rules");
  let let_go;
  const gate = new Promise((done) => { let_go = done; });
  await page.route("**/v1/fragility**", async (route) => { await gate; await route.continue(); });
  await page.goto(service);
  await page.waitForSelector(".loading");
  await shoot(page, "board-loading");
  let_go();
  await page.waitForSelector("table.board tbody tr");
  await page.unroute("**/v1/fragility**");
  await page.route("**/v1/fragility**", answer({
    score_method: "x", method_version: "1.0.0", pools: 0, pools_without_snapshot: 0, rows: [],
  }));
  await page.goto(service);
  await page.waitForSelector("text=No pool has a snapshot yet");
  await shoot(page, "board-empty");
  await page.route("**/v1/capabilities", (route) => route.abort());
  await page.goto(`${service}/capabilities`);
  await page.waitForSelector(".failed[role=alert]", { timeout: 20000 });
  await page.unroute("**/v1/capabilities");
  await page.getByRole("button", { name: "Try again" }).click();
  await page.waitForSelector("table tbody tr");
  await page.context().close();
  // Invalid requests are rejected without an offer to try again.
  for (const [name, wrong] of [["invalid", "nonsense"], ["unknown", pool.replace(/.$/, (last) => (last === "0" ? "1" : "0"))]]) {
    const refused = await open(`/pools/${wrong}`, { width: 390, expected: ["400", "404"] });
    await refused.waitForSelector('.refused a[href="/"]');
    assert.equal(await refused.locator(".failed, main button").count(), 0, wrong);
    await fits(refused, `a pool that is ${name}`);
    await shoot(refused, `pool-${name}`);
    await refused.context().close();
  }
  console.log("failures: gone, slow, empty and wrongly asked are different");
}
