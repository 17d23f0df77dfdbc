// Compares evidence with the chain's state in a browser, through the reader's wallet (an EIP-1193 provider that
// forwards the answers of the real node), and checks the witnesses' cosignatures of the log.
// Usage: node chain.mjs <service> <folder of node_modules> <folder for screenshots> <node>
import assert from "node:assert/strict";
import { createHash, generateKeyPairSync, sign } from "node:crypto";
import { eventually, start } from "./browser.mjs";

const [service, modules, shots, node] = process.argv.slice(2);
const scene = await start(service, modules, shots);
const { evidence } = scene;
const asked = [];

/** A browser with a wallet that answers by `lie`, or else as the node does; none at all without `lie`. */
async function browser(lie, width = 1280) {
  const context = await scene.browser.newContext({ viewport: { width, height: 900 } });
  if (lie) {
    await context.exposeFunction("askNode", async (method, params) => {
      asked.push(method);
      const answer = lie(method, params);
      if (answer !== undefined) return answer;
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
      const told = await fetch(node, { method: "POST", headers: { "content-type": "application/json" }, body });
      return { result: (await told.json()).result };
    });
    await context.addInitScript(() => {
      window.ethereum = {
        async request({ method, params }) {
          const { result, error } = await window.askNode(method, params);
          if (error) throw new Error(error);
          return result;
        },
      };
    });
  }
  return context;
}

const rung = (page) => page.locator("#rung").getAttribute("data-rung");
const sentence = (page) => page.locator("#rung").textContent();
const later = [];
const outcomes = async (page) => Object.fromEntries(await page.locator("#by-chain li[data-check]")
  .evaluateAll((all) => all.map((one) => [one.dataset.check, one.dataset.outcome])));

/** Opens the evidence and its state proof. */
async function opened(context, width) {
  later.length = 0;
  const page = await scene.open(evidence, { context, width });
  page.on("request", (request) => later.push(request.url()));
  await page.waitForSelector(".verdict.pass");
  assert.equal(await rung(page), "signed");
  assert.match(await sentence(page), /^Signed by the operator; you still have to trust: /);
  assert.ok(!later.some((url) => /proof(_bg)?-/.test(url)), "what judges comes when it is asked for");
  await page.locator("#ask-chain").click();
  await page.waitForSelector("#chain-verdict");
  return page;
}

const proven = { header: "pass", pool_state: "pass", oracle_state: "pass", code: "pass" };
for (const [width, name] of [[1280, "chain"], [360, "chain-phone"]]) {
  const page = await opened(await browser(() => undefined, width), width);
  assert.deepEqual(await outcomes(page), proven);
  assert.ok((await page.locator("#unproven").textContent()).includes("that the chain has a block with this hash"));
  assert.ok((await page.locator("#chain-verdict").getAttribute("class")).includes("warn"), "nobody was asked yet");
  assert.equal(later.filter((url) => /\/proof(_bg)?-[0-9a-f]+\.(js|wasm)$/.test(url)).length, 2, later.join(", "));
  later.length = 0;
  assert.equal(await rung(page), "proof");
  await page.locator("#ask-wallet").click();
  await page.waitForSelector("#chain-verdict.pass >> text=Confirmed by the chain");
  assert.deepEqual(await outcomes(page), { ...proven, canonical: "pass" });
  assert.equal(await rung(page), "block");
  assert.match(await sentence(page), /^Confirmed by the chain: .*; you still have to trust: that the nodes you asked do not collude, and the operator's statement/);
  assert.ok(!(await page.locator("#unproven").textContent()).includes("that the chain has a block"));
  await scene.accessible(page, name);
  await page.locator("#by-chain").scrollIntoViewIfNeeded();
  await scene.shoot(page, name);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth);
  assert.ok(wide, `${name}: nothing stands out at the side`);
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download the proof" }).click();
  assert.equal((await download).suggestedFilename(), "state.egp");
}
assert.deepEqual([...new Set(asked)].sort(), ["eth_chainId", "eth_getBlockByNumber"], "nothing else is asked");

// Every failure of a wallet has its own message.
const other = { number: "0x1", hash: `0x${"22".repeat(32)}` };
for (const [lie, words, canonical] of [
  [(method) => (method === "eth_chainId" ? { result: "0x1" } : undefined), "Your wallet is on chain 0x1", undefined],
  [() => ({ error: "User rejected the request." }), "User rejected the request", undefined],
  [(method) => (method === "eth_getBlockByNumber" ? { result: null } : undefined), "", "warn"],
  [(method) => (method === "eth_getBlockByNumber" ? { result: other } : undefined), "", "fail"],
  [undefined, "No wallet was found in this browser", undefined],
]) {
  const page = await opened(await browser(lie));
  await page.locator("#ask-wallet").click();
  if (words) await page.waitForSelector(`#wallet >> text=${words}`);
  else await eventually("the wallet answered", async () => (await outcomes(page)).canonical !== undefined);
  assert.equal((await outcomes(page)).canonical, canonical);
  assert.equal(await rung(page), canonical === "fail" ? "contradicted" : "proof");
}

// A proof that the service does not have, and a proof of another state.
const gone = { status: 404, contentType: "application/problem+json", body: JSON.stringify({ type: "about:blank", title: "", status: 404, detail: "none", code: "not_found" }) };
const without = await scene.open(evidence, { expected: ["404"], routes: { "**/api/v1/proof/**": (route) => route.fulfill(gone) } });
await without.waitForSelector(".verdict.pass");
await without.locator("#ask-chain").click();
await without.waitForSelector("#no-proof >> text=trust the operator");
const changed = await scene.open(evidence, {
  routes: {
    "**/api/v1/proof/**": async (route) => {
      const response = await route.fetch();
      const body = await response.body();
      body[body.length - 9] ^= 1;
      await route.fulfill({ response, body });
    },
  },
});
await changed.waitForSelector(".verdict.pass");
await changed.locator("#ask-chain").click();
await changed.waitForSelector("#chain-verdict >> text=Not proven");
assert.deepEqual(await outcomes(changed), { header: "warn", pool_state: "warn", oracle_state: "warn" });

// The module that checks proofs does not load: the page shows the error and can try again.
let isCut = true;
const cut = await scene.open(evidence, {
  expected: ["ERR_FAILED", "Failed to load"],
  routes: { "**/proof_bg-*.wasm": (route) => (isCut ? route.abort() : route.continue()) },
});
await cut.waitForSelector(".verdict.pass");
await cut.locator("#ask-chain").click();
await cut.waitForSelector("text=its program did not load");
isCut = false;
await cut.getByRole("button", { name: "Try again" }).click();
await cut.waitForSelector("#chain-verdict");
assert.deepEqual(await outcomes(cut), proven);

// The reader trusts two witnesses; one of them cosigned the checkpoint that the service serves.
function witness(name) {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const key = Buffer.concat([Buffer.from([4]), publicKey.export({ format: "der", type: "spki" }).subarray(-32)]);
  const id = createHash("sha256").update(`${name}\n`).update(key).digest().subarray(0, 4);
  return {
    key: `${name}+${id.toString("hex")}+${key.toString("base64")}`,
    /** The line of a cosignature of a checkpoint's text; `by` bits of it are not as they were signed. */
    line(text, by = 0) {
      const time = Math.floor(Date.now() / 1000) - 30;
      const signature = sign(null, Buffer.from(`cosignature/v1\ntime ${time}\n${text}`), privateKey);
      signature[5] ^= by;
      const stamp = Buffer.alloc(8);
      stamp.writeBigUInt64BE(BigInt(time));
      return `\u2014 ${name} ${Buffer.concat([id, stamp, signature]).toString("base64")}\n`;
    },
  };
}
const [one, two] = [witness("one.example/w"), witness("two.example/w")];
/** One of the two is enough, or both are wanted. */
const policyOf = (quorum) => `witness one ${one.key}\nwitness two ${two.key}\ngroup trusted ${quorum === "both" ? "all" : "1"} one two\nquorum trusted\n`;

/** The evidence page where what is served was cosigned so. */
async function cosigned(lines) {
  const page = await scene.open(evidence, {
    routes: {
      "**/api/v1/exit/**": async (route) => {
        if (route.request().resourceType() === "document") return route.continue();
        const response = await route.fetch();
        const file = JSON.parse(await response.text());
        // The checkpoint is the note at the end; its text ends at the empty line before the signatures.
        const note = file.log_proof.slice(file.log_proof.indexOf("\n\n") + 2);
        file.log_proof += lines(note.slice(0, note.indexOf("\n\n") + 1));
        return route.fulfill({ response, body: JSON.stringify(file) });
      },
    },
  });
  await page.waitForSelector(".verdict.pass");
  return page;
}

async function judged(page, policy) {
  await page.locator("#witness-policy").fill(policy);
  await page.locator("#ask-witnesses").click();
  await page.waitForSelector("#witnessed");
  return page.locator("#witnessed").evaluate(({ dataset }) => `${dataset.outcome} ${dataset.code ?? ""}`);
}

const page = await cosigned((text) => one.line(text));
assert.equal(await judged(page, policyOf("any")), "pass ok");
assert.match(await page.locator("#witnessed").textContent(), /Cosigned by one, .* before 20/);
assert.equal(await rung(page), "witnesses");
await page.locator("#ask-chain").click();
await page.waitForSelector("#chain-verdict");
assert.equal(await rung(page), "witnesses", "nobody said that the chain has the block");
await scene.accessible(page, "witnesses");
await scene.fits(page, "witnesses");
// The browser stores the policy and sends it nowhere.
await page.reload();
await page.waitForSelector(".verdict.pass");
assert.equal(await page.locator("#witness-policy").inputValue(), policyOf("any"));
assert.equal(await judged(page, policyOf("both")), "not_checked quorum_missing");
assert.equal(await rung(page), "signed");
assert.equal(await judged(page, "quorum"), "failed ");
const forged = await cosigned((text) => one.line(text, 1) + two.line(text));
assert.equal(await judged(forged, policyOf("any")), "fail cosignature_forged");
assert.equal(await rung(forged), "contradicted");
assert.match(await sentence(forged), /^Contradicted: a signature in the name of a witness you trust was forged/);

await scene.browser.close();
assert.deepEqual(scene.noise, [], "the browser complained");
console.log("sound");
