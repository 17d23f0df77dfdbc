// Makes the code of real pools out of the published one, and compares its hash with what the chain has; then changes it.
//
//   node code.mjs <published pool> <published pair> <facts>    exits 0 only if every pool agrees

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

import { codeCheck, isCodeOf } from './proof/code.mjs';
import { keccak } from './proof/keccak.mjs';

const [pool, pair, facts] = process.argv.slice(2).map((path) => JSON.parse(readFileSync(path, 'utf8')));
const bytesOf = (hex) => Buffer.from(hex.replace(/^0x/, ''), 'hex');
const published = bytesOf(pool.deployedBytecode);
const factory = '0x1f98431c8ad98523631ae4a59f267346ea31f984';

/** The code of a pool, by the places that the facts name. */
function codeOf([address, , token0, token1, fee, spacing]) {
  const code = Buffer.from(published);
  const ticks = 2n * BigInt(Math.floor(887_272 / spacing)) + 1n;
  const values = { factory, token0, token1, fee, spacing, self: address, max_liquidity_per_tick: ((1n << 128n) - 1n) / ticks };
  for (const [name, places] of Object.entries(facts.immutables)) {
    const word = BigInt(values[name]).toString(16).padStart(64, '0');
    for (const place of places) code.write(word, place + 1, 'hex');
  }
  return code;
}

/** What is said of a pool whose account has this hash of its code. */
function said([address, , token0, token1, fee, spacing], hash, code, chain = 'eip155:1', by = factory) {
  const state = { protocol: 'concentrated_liquidity', fee_pips: fee, tick_spacing: spacing };
  const documents = { chain: { caip2: chain }, facts: [{ name: 'uniswap_v3', contract: by }], state,
    tokens: [{ address: token0 }, { address: token1 }] };
  return codeCheck({ subject: { address }, codeHash: hash }, documents, code)?.code;
}

for (const one of facts.cases) {
  const [address, , token0, token1, fee, spacing, expected] = one;
  const code = codeOf(one);
  assert.ok(keccak(code).equals(bytesOf(expected)), address);
  assert.ok(isCodeOf({ pool: address, factory, tokens: [token0, token1], fee, spacing }, code), address);
}
const [one, other] = facts.cases;
const [code, hash] = [codeOf(one), bytesOf(one[6])];
assert.equal(said(one, hash, code), 'ok');
assert.equal(said(one, hash, undefined), undefined);
assert.equal(said(one, hash, codeOf(other)), 'code_unusable');
assert.equal(said(one, bytesOf(other[6]), codeOf(other)), 'code_differs');
assert.equal(said(one.with(4, 500), hash, code), 'code_differs');
assert.equal(said(one, hash, code, 'eip155:31337', `0x${'aa'.repeat(20)}`), 'code_differs');
const own = Buffer.concat([code, Buffer.of(0)]);
assert.equal(said(one, keccak(own), own), 'code_differs');
assert.equal(said(one, keccak(own), own, 'eip155:31337'), undefined);
const hashOfPair = keccak(bytesOf(pair.evm.deployedBytecode.object));
assert.ok(hashOfPair.equals(bytesOf(facts.v2_pair_code_hash)));
console.log(`code: ${facts.cases.length} pools`);
