// Evidence that is confirmed, deliberately damaged, of a rejected estimate, retracted later, or of a rewritten log; and
// files to verify.
import { readFileSync } from "node:fs";
import assert from "node:assert/strict";
import { answer, eventually, local, problem } from "./browser.mjs";

export default async function evidence(scene) {
  const bytes = await confirmed(scene);
  await meant(scene);
  await files(scene, bytes);
  await refused(scene);
  await newer(scene);
  await retracted(scene);
  await partial(scene);
  await rewritten(scene);
  await otherKey(scene);
}

/** The checks that fail, by name. */
const failing = (page, within) =>
  page.locator(`${within} li[data-outcome="fail"]`).evaluateAll((all) => all.map((one) => one.dataset.check));

/** Confirmed, then broken on purpose; the failing check is named. Gives the file as downloaded. */
async function confirmed({ service, evidence, exit, open, shoot }) {
  const page = await open(evidence);
  await page.waitForSelector(".verdict.pass");
  const number = async (id) => Number((await page.locator(id).textContent()).replace("−", "-").split("%")[0]);
  assert.equal(await number("#published"), await number("#recomputed"));
  assert.deepEqual(await failing(page, ".checks"), []);
  assert.equal(await page.getByRole("button", { name: "Undo" }).getAttribute("aria-disabled"), "true");
  const side = exit.exit_gap_pct < 0 ? "above" : "below";
  const claim = await page.locator(".claim").textContent();
  assert.ok(claim.includes(`% ${side} the oracle price`) && !claim.includes("−"), claim);
  assert.ok(claim.includes(exit.base.symbol) && !claim.includes("token0"), claim);
  // On a first visit, the page says that it has no earlier state to compare with, which program verified the evidence,
  // and what remains unproven.
  const said = await page.locator(".verdict").first().textContent();
  assert.ok(said.includes("had not seen this log before, so there was nothing to compare it with"), said);
  assert.ok(said.includes("came from this same server"), said);
  assert.equal(await page.locator(".verdict a").first().getAttribute("href"), "/method#elsewhere");
  await page.waitForSelector("#later >> text=Not retracted");
  assert.equal(await page.locator("#market").textContent(), "open (continuous)");
  const { feed } = exit.method.oracles.find((one) => one.feed);
  assert.ok((await page.locator("#feeds").innerHTML()).includes(feed));
  assert.equal(await page.locator("#method").textContent(), exit.method_version);
  for (const [button, check, words] of [
    ["number's last digit", "result", "does not follow from this file's own snapshot"],
    ["digit of the snapshot", "snapshot", "Not confirmed"],
    ["digit of the pool's state", "snapshot", "Not confirmed"],
    ["signed checkpoint", "signature", "the signed log does not contain"],
  ]) {
    await page.getByRole("button", { name: button }).click();
    await page.waitForSelector(`#broken .verdict.fail >> text=${words}`);
    const failed = await failing(page, "#broken");
    assert.ok(failed.includes(check), `${button}: ${failed}`);
  }
  await shoot(page, "evidence-broken");
  await page.getByRole("button", { name: "Undo" }).click();
  await eventually("undone", async () => await page.locator("#broken").count() === 0);
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download the file" }).click();
  const bytes = readFileSync(await (await download).path(), "utf8");
  assert.equal(bytes, await (await fetch(service + evidence)).text());
  await page.context().close();
  console.log("evidence: confirmed, broken on purpose, downloaded");
  return bytes;
}

/** What an address says is used, and refused where it is wrong; only what it leaves out is chosen. */
async function meant({ pool, exit, open, get, shoot }) {
  const { rows } = await get(`/v1/history/${pool}?size_usd=1000&interval=5m`);
  const older = rows.slice(0, -1).findLast((row) => row.last?.evidence_url).last;
  const named = new URL(older.evidence_url, "http://any").searchParams;
  const slot = named.get("slot");
  const time = older.time.slice(0, 16).replace("T", " ");
  for (const base of ["", `&base=${named.get("base")}`]) {
    const page = await open(`/api/v1/exit/${pool}?slot=${slot}&size_usd=1000${base}`);
    await page.waitForSelector(".verdict.pass");
    const claim = await page.locator(".claim").textContent();
    assert.ok(claim.includes(`selling $1,000 of ${exit.base.symbol} in ${pool} at ${time} UTC`), claim);
    assert.match(await page.locator("#window").textContent(), new RegExp(`entries, .* to ${time} UTC`));
    await page.context().close();
  }
  for (const [query, words] of [
    ["slot=abc&size_usd=1000", "is not a number"],
    ["slot=1&size_usd=1000", "before the start of the series"],
    ["size_usd=abc", "is not a plain decimal number"],
    ["size_usd=1000&base=NOPE", "NOPE"],
    ["size_usd=1000&method_version=abc", "was never released"],
  ]) {
    const page = await open(`/api/v1/exit/${pool}?${query}`);
    await page.waitForSelector(`.refused >> text=${words}`);
    assert.equal(await page.locator(".verdict, .failed, main button").count(), 0, query);
    if (query.includes("NOPE")) await shoot(page, "evidence-wrong-address");
    await page.context().close();
  }
  console.log("evidence: an address means what it says");
}

/** Verify works offline once loaded, with the key this browser kept: pasted, chosen or dropped. */
async function files({ browser, exit, evidence, open, shoot }, bytes) {
  // A browser without an earlier visit has no state to compare with, and says so.
  const stranger = await open("/verify");
  await stranger.waitForSelector("textarea#pasted");
  await stranger.locator("#pasted").fill(bytes);
  await stranger.waitForSelector(".verdict.warn >> text=Without a key, the log cannot be compared");
  await stranger.locator("#keys").fill(await (await fetch(new URL("/log/verifier-key", stranger.url()))).text());
  await stranger.waitForSelector(".verdict.pass >> text=has not seen this log before, so there is nothing to compare it with");
  await stranger.context().close();

  const page = await open(evidence);
  await page.waitForSelector(".verdict.pass");
  const verify = await open("/verify", { context: page.context(), expected: ["ERR_INTERNET_DISCONNECTED"] });
  await verify.waitForSelector("textarea#pasted");
  // Compares the file with the state that this browser kept: the log has grown since the file.
  await verify.locator("#pasted").fill(bytes);
  await verify.waitForSelector(".verdict.pass >> text=The log continues the version this browser saw before");
  assert.equal(await verify.locator('li[data-check="consistency"]').getAttribute("data-outcome"), "pass");
  await verify.waitForSelector("#later >> text=A file cannot show");
  const claim = await verify.locator(".claim").textContent();
  assert.ok(claim.includes(`of ${exit.base.symbol} in`) && !claim.includes("token0"), claim);
  const name = await kept(verify, "checkpoint");
  const newest = await verify.evaluate((name) => localStorage.getItem(name), name);
  const forge = (note) => verify.evaluate(([name, note]) => localStorage.setItem(name, note), [name, note]);
  await forge(process.env.EXITGAP_FORGED_CHECKPOINT);
  await verify.locator("#pasted").fill("");
  await verify.locator("#pasted").fill(bytes);
  await verify.waitForSelector("text=history was rewritten");
  await verify.waitForSelector(".verdict.fail >> text=its log is not the one that this browser saw before");
  await forge(newest);
  await verify.locator("#pasted").fill("");
  await page.context().setOffline(true);
  const broken = bytes.replace(/"exit_gap_pct":"([^"]*)(\d)"/, (_, head, digit) => `"exit_gap_pct":"${head}${(Number(digit) + 1) % 10}"`);
  assert.notEqual(broken, bytes);
  await verify.locator("#pasted").fill(bytes);
  await verify.waitForSelector(".verdict.pass >> text=The log was not compared with the version");
  await verify.locator("#pasted").fill(broken);
  await eventually("the result fails", async () => (await failing(verify, ".checks")).includes("result"));
  assert.equal(await verify.locator(".verdict.pass").count(), 0);
  await verify.locator("#pasted").fill("not an evidence file");
  await eventually("only the format fails", async () => (await failing(verify, ".checks")).join() === "format");
  await shoot(verify, "verify-failed");

  const file = (text) => ({ name: "evidence.json", mimeType: "application/json", buffer: Buffer.from(text) });
  await verify.getByLabel("Evidence or report file").setInputFiles(file(bytes));
  await verify.waitForSelector(".verdict.pass");
  const drop = (text) => verify.evaluate((text) => {
    const data = new DataTransfer();
    data.items.add(new File([text], "evidence.json", { type: "application/json" }));
    document.querySelector(".drop").dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
  }, text);
  await drop(broken);
  await eventually("the dropped file fails", async () => (await failing(verify, ".checks")).includes("result"));
  await drop(bytes);
  await verify.waitForSelector(".verdict.pass");
  await shoot(verify, "verify-passed");
  await verify.getByLabel("Evidence or report file").setInputFiles(file(" ".repeat(34 << 20)));
  await verify.waitForSelector(".failed >> text=larger than");
  await drop(bytes);
  await verify.waitForSelector(".verdict.pass");

  // A wrong key is reported, and the file stays loaded.
  const keys = await verify.locator("#keys").inputValue();
  await verify.locator("#keys").fill("no key");
  await verify.waitForSelector(".refused >> text=Key 1:");
  await verify.waitForSelector("text=File loaded");
  assert.equal(await verify.getByText("No file yet").count(), 0);
  await verify.locator("#keys").fill("");
  await eventually("no key, no confirmation", async () => await verify.locator(".verdict.pass").count() === 0);
  await verify.locator("#keys").fill(keys);
  await verify.waitForSelector(".verdict.pass");
  await page.context().setOffline(false);
  await page.context().close();
  console.log("verify: pasted, chosen and dropped, offline");
}

/** A size that cannot be filled has evidence, too: with the most that can be. */
async function refused({ thin, open, get, shoot }) {
  const { max_fillable_usd: most, evidence_url: url } = await get(`/v1/exit/${thin}?size_usd=999999999`);
  const page = await open(local(url));
  await page.waitForSelector(".verdict.pass >> text=the size cannot be filled");
  const words = `cannot be filled: at most $${most.toLocaleString("en-US", { maximumFractionDigits: 6 })} can be sold`;
  for (const id of ["#published", "#recomputed"]) assert.equal(await page.locator(id).textContent(), words);
  assert.ok((await page.locator(".claim").textContent()).includes(words));
  await shoot(page, "evidence-refused");
  await page.getByRole("button", { name: "number's last digit" }).click();
  await page.waitForSelector("#broken .verdict.fail");
  assert.deepEqual(await failing(page, "#broken"), ["result"]);
  await page.context().close();
  console.log("evidence: a refusal is confirmed");
}

/** What a newer version made is neither confirmed nor wrong; what is known of it can still be wrong. */
async function newer({ open, shoot }) {
  const vector = (name) => JSON.parse(readFileSync(new URL(`../vectors/evidence/${name}.json`, import.meta.url), "utf8"));
  const page = await open("/verify");
  await page.waitForSelector("textarea#pasted");
  for (const [name, unknown] of [["future_protocol", "result"], ["future_method", "head"], ["future_file", "format"]]) {
    const { evidence, policy } = vector(name);
    await page.locator("#keys").fill(policy.keys.join("\n"));
    await page.locator("#pasted").fill("");
    await page.locator("#pasted").fill(evidence);
    await page.waitForSelector(".verdict.warn >> text=Neither confirmed nor wrong");
    await page.waitForSelector(`li[data-check="${unknown}"][data-outcome="warn"] >> text=made by a newer version of exitgap; update to check it`);
    assert.deepEqual(await failing(page, ".checks"), [], name);
  }
  await shoot(page, "verify-newer");
  await page.locator("#pasted").fill("");
  await page.locator("#pasted").fill(vector("future_protocol_tampered").evidence);
  await page.waitForSelector(".verdict.fail");
  assert.deepEqual(await failing(page, ".checks"), ["snapshot"]);
  await page.context().close();
  console.log("verify: what a newer version made is neither confirmed nor wrong");
}

/** A slot that was retracted later: what is proved stays proved, and the retraction is said. */
async function retracted({ retracted, open, get, shoot }) {
  const { exit_gap_pct: _, ...status } = await get(`/api/v1/status/${retracted.pool}?slot=${retracted.slot}`);
  assert.equal(status.state, "retracted");
  const path = `/api/v1/exit/${retracted.pool}?base=token0&slot=${retracted.slot}&size_usd=1000&method_version=1.0.0`;
  const page = await open(path, { expected: ["503"] });
  await page.waitForSelector("#later.failed >> text=This slot was retracted later");
  await page.waitForSelector("#later >> text=according to a later entry of the signed log");
  assert.equal(status.retraction.code, "orphaned");
  await page.waitForSelector(`#later >> text=${status.retraction.orphaned_block_hash}`);
  await page.waitForSelector(".verdict.pass");
  await shoot(page, "evidence-retracted");
  // The page reports that it could not check for a retraction.
  await page.route("**/api/v1/status/**", problem(503, "source_unreadable", "come back later", { "retry-after": "90" }));
  await page.reload();
  await page.waitForSelector(".verdict.pass");
  await page.waitForSelector("#later >> text=Could not check whether this slot was retracted later");
  await shoot(page, "evidence-status-unknown");
  await page.unroute("**/api/v1/status/**");
  await page.getByRole("button", { name: "Try again" }).click();
  await page.waitForSelector("#later.failed >> text=This slot was retracted later");
  // Without the later entries, a retraction rests on the service's word alone. The page shows other causes unchanged.
  await page.route("**/api/v1/window/**", problem(503, "source_unreadable", "come back later", { "retry-after": "90" }));
  await page.route("**/api/v1/status/**", answer({ ...status, retraction: { by_slot: status.retraction.by_slot, code: "misread" } }));
  await page.reload();
  await page.waitForSelector("#later.failed >> text=according to this server");
  await page.waitForSelector("#later >> text=a later full reading of the pool proved");
  await page.context().close();
  console.log("evidence: a later retraction is said, and so is not knowing");
}

/** Without the window the file is still verified; without the file nothing is. */
async function partial({ evidence, open, shoot }) {
  const page = await open(evidence, { expected: ["503"], routes: {
    "**/api/v1/window/**": problem(503, "source_unreadable", "come back later", { "retry-after": "90" }),
  } });
  await page.waitForSelector(".verdict.pass");
  await page.waitForSelector("dd >> text=not checked: it could not be fetched (come back later)");
  await page.context().close();

  const gone = await open(evidence, { expected: ["503"], routes: {
    "**/log/checkpoint": problem(503, "source_unreadable", "come back later", { "retry-after": "90" }),
  } });
  await gone.waitForSelector(".failed >> text=come back later");
  assert.equal(await gone.locator(".verdict").count(), 0);
  await shoot(gone, "evidence-failed");
  await gone.unroute("**/log/checkpoint");
  await gone.getByRole("button", { name: "Try again" }).click();
  await gone.waitForSelector(".verdict.pass");
  await gone.context().close();
  console.log("evidence: without its window, and without the log");
}

/** What this browser keeps of the log: names and texts. */
const kept = (page, what) => page.evaluate((what) =>
  Object.keys(localStorage).find((name) => name.startsWith(`exitgap ${what} `)), what);

/** A history rewritten since this browser's last visit is shouted, with both signed states to pass on. */
async function rewritten({ browser, evidence, open, shoot }) {
  const forged = process.env.EXITGAP_FORGED_CHECKPOINT;
  assert.ok(forged, "EXITGAP_FORGED_CHECKPOINT holds a state that contradicts the log");
  const context = await browser.newContext();
  const first = await open(evidence, { context });
  await first.waitForSelector(".verdict.pass");
  const name = await kept(first, "checkpoint");
  await first.evaluate(([name, note]) => localStorage.setItem(name, note), [name, forged]);
  const page = await open(evidence, { context });
  await page.waitForSelector("text=history was rewritten");
  await page.waitForSelector(".verdict.fail >> text=its log is not the one that this browser saw before");
  assert.deepEqual(await failing(page, ".checks"), ["consistency"]);
  assert.equal(await page.locator("section.failed pre").first().textContent(), forged);
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download the proof" }).click();
  const proof = JSON.parse(readFileSync(await (await download).path(), "utf8"));
  assert.equal(proof.checkpoint_seen_before, forged);
  assert.ok(proof.checkpoint_shown_now.includes("—") && proof.checkpoint_shown_now !== forged);
  assert.ok(proof.log.endsWith("/log") && proof.proves);
  await shoot(page, "evidence-rewritten");
  await context.close();
  console.log("evidence: a rewritten history is shouted, and its proof handed over");
}

/** A log that is signed by another key than at the last visit is no first visit. */
async function otherKey({ browser, evidence, open, shoot }) {
  const context = await browser.newContext();
  const first = await open(evidence, { context });
  await first.waitForSelector(".verdict.pass");
  const name = await kept(first, "keys");
  await first.evaluate(([name, key]) => localStorage.setItem(name, key), [name, process.env.EXITGAP_OTHER_KEY]);
  const page = await open(evidence, { context });
  await page.waitForSelector(".failed >> text=not signed by the key that this browser has kept");
  assert.equal(await page.locator(".verdict").count(), 0);
  await shoot(page, "evidence-other-key");
  await context.close();
  console.log("evidence: another key than before is no first visit");
}
