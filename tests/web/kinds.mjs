// The pages of pools of other kinds: their names, their pricing rules, how large an exit may be or why this is unknown,
// and their evidence.
// Usage: node kinds.mjs <service's address> <folder of node_modules> <folder for screenshots> <pools as JSON>
import assert from "node:assert/strict";
import { eventually, start } from "./browser.mjs";

const [service, modules, shots, wanted] = process.argv.slice(2);
const { browser, pools, open, get, shoot, fits, noise, figures } = await start(service, modules, shots);

/** The rows of a pool in which a smaller size is worse, as the service says. */
async function worseRows(pool) {
  const { by_gap: gaps, by_size: sizes } = await get(`/v1/ladder/${pool}`);
  return [...gaps, ...sizes].filter((row) => row.worse_below_usd !== undefined).length;
}

/** A depth in dollars, or that the kind has none; and a note in each row in which a smaller size is worse. */
async function depths(page, { pool, sized, worse }, name) {
  const cells = page.locator("table", { has: page.locator("caption >> text=Depth by gap") }).locator("tbody tr td:nth-child(2)");
  const said = await cells.allTextContents();
  assert.ok(said.length > 3, name);
  for (const one of said) {
    if (sized) assert.match(one, /^\$[\d,]+|^\$0/, name);
    else assert.equal(one, "The largest exit is not available for this kind of pool", name);
  }
  const notes = await page.getByText("a smaller size is worse: $").count();
  assert.equal(notes, await worseRows(pool), `${name}: notes of a smaller size that is worse`);
  if (!worse) assert.equal(notes, 0, `${name}: only a fee that depends on the size does that`);
}

/** Both amounts, to the last unit, and the gap: as the service says them. */
async function amounts(page, { pool }, name) {
  const told = await get(`/v1/exit/${pool}?size_usd=1000`);
  const whole = (raw, { decimals, symbol }) => {
    const digits = raw.padStart(decimals + 1, "0");
    const [units, part] = [digits.slice(0, digits.length - decimals), digits.slice(digits.length - decimals)];
    const fraction = part.replace(/0+$/, "");
    const grouped = BigInt(units).toLocaleString("en-US");
    return `${fraction === "" ? grouped : `${grouped}.${fraction}`} ${symbol}`;
  };
  const fact = (words) => page.locator(".answer .facts > div").filter({ has: page.getByText(words, { exact: true }) }).locator("dd").evaluate((one) => one.querySelector("[title]")?.title ?? one.textContent);
  assert.equal(await fact("Sells"), whole(told.amount_in_raw, told.base), name);
  assert.equal(await fact("Receives"), whole(told.amount_out_raw, told.quote), name);
  assert.equal(await page.locator("#gap").getAttribute("title"), `${Math.abs(told.exit_gap_pct)}%`, name);
}

for (const kind of JSON.parse(wanted)) {
  const name = kind.vector;
  const page = await open(`/pools/${kind.pool}?size_usd=1000`, { expected: kind.sized ? [] : ["422"] });
  await page.waitForSelector(".agreement .standing.pass");
  const title = await page.locator("h1").textContent();
  assert.ok(title.includes(`, ${kind.called}`), `${name}: ${title}`);
  assert.ok((await page.title()).includes(kind.called), await page.title());
  const rule = await page.locator("#rule").textContent();
  assert.ok(rule.includes(kind.rule), `${name}: ${rule}`);
  await depths(page, kind, name);
  await amounts(page, kind, name);
  if (!kind.sized) {
    const refused = await get(`/v1/simulate/${kind.pool}?size_usd=1000&orders=10&recovery_pct=50`);
    assert.equal(refused.code, "orders_not_exact");
    await page.locator("p.refused", { hasText: refused.detail.split(": ").at(-1) }).waitFor();
  }
  await fits(page, name);
  await shoot(page, `kind-${name}`);
  await page.locator(".agreement a").click();
  await page.waitForURL(/\/api\/v1\/exit\//);
  await page.waitForSelector(".verdict.pass");
  const claim = await page.locator(".claim").textContent();
  assert.ok(claim.includes("the oracle price"), claim);
  await shoot(page, `kind-${name}-evidence`);
  await page.context().close();
}

const rows = await Promise.all(pools.map(async ({ pool }) => [pool, await worseRows(pool)]));
const [steep, count] = rows.find(([, rows]) => rows > 0) ?? assert.fail("no pool has a smaller size that is worse");
const page = await open(`/pools/${steep}?size_usd=1000`);
await page.waitForSelector(".agreement .standing.pass");
await eventually("smaller sizes that are worse are told", async () => await page.getByText("a smaller size is worse: $").count() === count);
await page.context().close();

const method = await open("/method");
// The method page loads its texts as a separate part of the program.
await method.waitForSelector("#rules li");
const rules = await method.locator("#rules li").allTextContents();
for (const { rule } of JSON.parse(wanted)) {
  assert.equal(rules.filter((one) => one.includes(rule)).length, 1, `${rule}: ${rules.join("; ")}`);
}
await method.context().close();

const board = await open("/?size=1000");
await board.waitForSelector("table.board tbody tr");
const names = await board.locator("table.board tbody th a").allTextContents();
assert.equal(new Set(names).size, names.length, names.join("; "));
for (const { called } of JSON.parse(wanted)) {
  assert.ok(names.some((one) => one.includes(called)), `${called}: ${names.join("; ")}`);
}
await shoot(board, "board-of-kinds");
await browser.close();
assert.deepEqual(noise, []);
console.log(JSON.stringify(figures()));
