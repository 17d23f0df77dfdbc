// Runs the recorded fills of pools that are read beside Uniswap's and its kin.
//
//   node fills.mjs    one JSON line per kind: cases and mismatches; exits 1 where there is a mismatch

import { readFileSync, statSync } from 'node:fs';
import { inflateSync } from 'node:zlib';

import { fill as balancer } from './pools/balancer.mjs';
import { fill as solidly } from './pools/solidly.mjs';
import { fill as stableswap } from './pools/stableswap.mjs';
import { readSolidly, readStableswap, readStableV2, readStableV3, readWeighted } from './pools/form.mjs';
import { ONE, Reverted } from './pools/word.mjs';
import { integer, list, open, raw, require } from './shape.mjs';

const MAX_PACKED = 1 << 20;
const MAX_UNPACKED = 1 << 26;
const MAX_POOLS = 1_000;
const MAX_CASES = 10_000;
const MAX_TOKENS = 8;
const U256_MAX = 2n ** 256n - 1n;

const number = (value) => raw(value, 0n, U256_MAX);

/** These fields of a recorded state, and these as numbers, which stand in strings there. */
function some(state, same, numbers = []) {
  open(state, [...same, ...numbers]);
  return Object.fromEntries([...same.map((name) => [name, state[name]]),
    ...numbers.map((name) => [name, Number(state[name])])]);
}

function curveBody(state) {
  const ng = Object.hasOwn(state, 'offpeg_fee_multiplier');
  return {
    ...some(state, ['balances', 'rates'], ['amp', 'a_precision', 'fee', 'admin_fee']),
    ...(ng
      ? { ...some(state, ['admin_balances', 'asset_types'], ['offpeg_fee_multiplier']),
        d_rule: 'n_pow_n', less_one: 1, version: 'ng_7_0_0' }
      : { ...some(state, ['d_rule'], ['less_one']), version: 'plain' }),
  };
}

/** What a vault holds; version 2 tells the decimals, and whole rates not at all. */
function vaultBody(state) {
  if (Object.hasOwn(state, 'balances_raw')) {
    return some(state, ['balances_raw', 'balances_live_scaled18', 'scaling_factors', 'rates', 'swap_fee']);
  }
  const factors = list(state.decimals, MAX_TOKENS)
    .map((decimals) => String(10n ** BigInt(18 - integer(decimals, 0, 18))));
  const rates = state.rates ?? factors.map(() => String(ONE));
  return { ...some(state, ['balances', 'swap_fee']), scaling_factors: factors, rates };
}

function weightedBody(state) {
  const guarded = Object.hasOwn(state, 'min_balances_scaled18');
  const third = Object.hasOwn(state, 'balances_raw') ? `v3_${guarded ? 2 : 1}` : 'v2';
  const own = some(state, ['weights', ...(guarded ? ['min_balances_scaled18'] : [])]);
  return { ...vaultBody(state), ...own, version: third };
}

function stableBody(state) {
  const release = /^stable v([123]) /.exec(state.version);
  const version = release === null ? {} : { version: `v3_${release[1]}` };
  return { ...vaultBody(state), ...some(state, [], ['amp']), ...version };
}

/** Each kind of file: how its states become state bodies, how those are read, and by which rules its pools fill. */
const KINDS = {
  curve_plain: [curveBody, readStableswap, stableswap],
  curve_ng: [curveBody, readStableswap, stableswap],
  aerodrome_stable: [(state) => state, readSolidly, solidly],
  aerodrome_volatile: [(state) => state, readSolidly, solidly],
  balancer_v2_weighted: [weightedBody, readWeighted, balancer],
  balancer_v2_composable_stable: [stableBody, readStableV2, balancer],
  balancer_v3_weighted: [weightedBody, readWeighted, balancer],
  balancer_v3_stable: [stableBody, readStableV3, balancer],
};

function read(kind) {
  const path = new URL(`../vectors/pools/${kind}.json.zz`, import.meta.url);
  require(statSync(path).size <= MAX_PACKED, `more than ${MAX_PACKED} bytes`);
  const text = inflateSync(readFileSync(path), { maxOutputLength: MAX_UNPACKED });
  const file = open(JSON.parse(text), ['kind', 'pools']);
  require(file.kind === kind, `of kind ${file.kind}`);
  const pools = list(file.pools, MAX_POOLS);
  require(pools.length > 0, 'without pools');
  return pools;
}

/** What a sale brings, or null where it is refused. */
function brought(fill, state, { i, j = 1 - i, in: amount }) {
  const tokens = state.balances.length;
  require(integer(i, 0, tokens - 1) !== integer(j, 0, tokens - 1), 'a token sold for itself');
  try {
    return String(fill(state, i, j, number(amount)).out);
  } catch (error) {
    if (error instanceof Reverted) return null;
    throw error;
  }
}

function compare(kind, [bodyOf, readBody, fill]) {
  let [cases, mismatches] = [0, 0];
  for (const { id, state: recorded, cases: sales } of read(kind)) {
    const state = readBody({ ...bodyOf(open(recorded, [])), v: 1, protocol: kind });
    for (const sale of list(sales, MAX_CASES)) {
      const expected = sale.revert ? null : String(number(sale.out));
      const found = brought(fill, state, sale);
      cases += 1;
      if (found === expected) continue;
      mismatches += 1;
      console.error(`${kind}/${id}: ${sale.in} of ${sale.i} for ${sale.j}: `
        + `expected ${expected ?? 'a refusal'}, found ${found ?? 'a refusal'}`);
    }
  }
  require(cases > 0, 'without cases');
  console.log(JSON.stringify({ kind, cases, mismatches }));
  return mismatches === 0;
}

for (const [kind, rules] of Object.entries(KINDS)) {
  try {
    if (!compare(kind, rules)) process.exitCode = 1;
  } catch (error) {
    console.error(`${kind}: not a file of recorded fills: ${error.message}`);
    process.exitCode = 1;
  }
}
