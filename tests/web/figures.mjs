// A figure computed from many snapshots, on a pool's page: the service's answer, and the browser's own computation.
import assert from "node:assert/strict";

export default async function figures({ pool, open, get, shoot, fits }) {
  const page = await open(`/pools/${pool}`);
  const section = page.locator("#decay");
  const asked = [];
  page.on("request", (request) => request.url().includes("/v1/decay/") && asked.push(request.url()));
  await section.locator("summary").first().waitFor();
  await page.waitForLoadState("networkidle");
  assert.deepEqual(asked, [], "weeks of snapshots are read for those who open it");
  await section.locator("summary").first().click();
  await section.locator(".facts").waitFor();
  await section.getByLabel("Moves of at least").selectOption("200000");
  const told = await get(`/v1/decay/${pool}?move_pct=0.2&base=token0`);
  assert.ok(told.events.length > 0, "the scene's price moves");
  await section.locator(`text=${told.events.length} of 0.2% or more`).waitFor();
  await section.locator(`text=${told.have} are recorded`).waitFor();
  const shown = section.locator("table").last().locator("tbody tr");
  assert.equal(await shown.count(), Math.min(told.events.length, 12));
  const newest = told.events.at(-1);
  const after = newest.at.find(({ h_slots: slots }) => slots >= 1) ?? newest.at[0];
  const cells = await shown.first().locator("td").allTextContents();
  const dollars = (text) => Number(text.replace(/[^0-9−-]/g, "").replace("−", "-"));
  assert.deepEqual(cells.slice(1, 4).map(dollars), [after.book_before_usd, after.mechanical_usd, after.liquidity_usd]);
  await section.locator("svg").waitFor();
  await fits(page, "the decay of a pool");
  await shoot(page, "decay");

  // Recomputes the figure from its file and all of its snapshots.
  const check = section.getByRole("button", { name: "Recompute in this browser" });
  await check.click();
  const checked = section.locator(".checked-figure");
  await checked.locator(".confirmed, .refused, .failed").waitFor();
  assert.match(await checked.textContent(), new RegExp(`Confirmed by this browser.* ${told.have} snapshots`));
  // The browser notices a file that is wrong by one dollar, and a snapshot that does not load.
  const files = "**/api/v1/decay/**";
  await page.route(files, async (route) => {
    const response = await route.fetch();
    const text = (await response.text()).replace(/"book_usd":"(\d+)"/, (_, usd) => `"book_usd":"${BigInt(usd) + 1n}"`);
    await route.fulfill({ response, body: text });
  });
  await check.click();
  await section.locator("text=the figure does not follow from its data").waitFor();
  assert.match(await section.locator(".checked-figure .refused").textContent(), /result_mismatch/);
  await page.unroute(files);
  await page.route("**/api/v1/series/**", (route) => route.fulfill({ body: "", contentType: "application/x-ndjson" }));
  await check.click();
  await section.locator("text=Not everything could be checked.").waitFor();
  await page.context().close();
  console.log("figures: recomputed here, and not where they were changed");
}
