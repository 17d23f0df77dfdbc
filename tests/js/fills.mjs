// Runs the recorded fills of every kind of pool beside Uniswap's first two.
//
//   node fills.mjs             those of the shared vectors
//   node fills.mjs <folder>    those of a folder of files like them, packed or not
//
// One JSON line per kind: cases, mismatches, and how many refusals of the contract's price upkeep,
// which comes after the fill, were filled here; exits 1 where there is a mismatch.

import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inflateSync } from 'node:zlib';

import { fill as balancer } from './pools/balancer.mjs';
import { fill as cryptoswap } from './pools/cryptoswap.mjs';
import { fill as solidly } from './pools/solidly.mjs';
import { fill as stableswap } from './pools/stableswap.mjs';
import { readCryptoswap, readSolidly, readStableswap, readStableV2, readStableV3,
  readWeighted } from './pools/form.mjs';
import { ONE, Reverted } from './pools/word.mjs';
import { poolOf } from './pools.mjs';
import { integer, list, open, raw, require } from './shape.mjs';
import { readState } from './state.mjs';

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

function cryptoBody(state) {
  const version = state.n === 3 ? 'tricrypto_ng_2_0_0' : 'twocrypto_ng_2_1_0';
  const same = ['balances', 'decimals', 'price_scale', 'last_prices', 'D', 'gamma', 'fee_gamma'];
  return { ...some(state, same, ['A', 'mid_fee', 'out_fee']), version };
}

/** Recorded ticks say no gross liquidity, which no fill depends on. */
function rangesBody(state) {
  const withGross = ([tick, net]) => (net === '0' ? [tick, net, '1'] : [tick, net]);
  return { ...state, ticks: state.ticks.map(withGross) };
}

/** A kind by whose rules pools fill a sale whole, or refuse it. */
const whole = (bodyOf, readBody, rules) => ({
  read: (state) => readBody({ ...bodyOf(state), v: 1, protocol: '' }),
  brought: (state, sale) => paid(rules, state, sale),
});

/** A kind whose pools take as much of a sale as they can. */
const inPart = (protocol) => ({
  read(state) {
    const read = readState({ ...rangesBody(state), v: 1, protocol });
    return [poolOf(read, 0), poolOf(read, 1)];
  },
  brought(pools, { i, in: amount }) {
    const pool = pools[integer(i, 0, 1)];
    const most = pool.largest(number(amount));
    return most === 0n ? null : outcome(pool.sell(most).out, most, number(amount));
  },
});

/** Each kind of file. */
const KINDS = {
  uniswap_v3: inPart('concentrated_liquidity'),
  pancake_v3: inPart('concentrated_liquidity'),
  slipstream: inPart('concentrated_liquidity'),
  uniswap_v4: inPart('concentrated_v4'),
  algebra_integral: inPart('concentrated_linked'),
  curve_plain: whole(curveBody, readStableswap, stableswap),
  curve_ng: whole(curveBody, readStableswap, stableswap),
  aerodrome_stable: whole((state) => state, readSolidly, solidly),
  aerodrome_volatile: whole((state) => state, readSolidly, solidly),
  balancer_v2_weighted: whole(weightedBody, readWeighted, balancer),
  balancer_v2_composable_stable: whole(stableBody, readStableV2, balancer),
  balancer_v3_weighted: whole(weightedBody, readWeighted, balancer),
  balancer_v3_stable: whole(stableBody, readStableV3, balancer),
  curve_tricrypto_ng: { ...whole(cryptoBody, readCryptoswap, cryptoswap), hasUpkeep: true },
  curve_twocrypto_ng: { ...whole(cryptoBody, readCryptoswap, cryptoswap), hasUpkeep: true },
};

/** The pools of a kind's file, or nothing where the folder has none. */
function read(folder, kind) {
  const path = [`${kind}.json.zz`, `${kind}.json`].map((name) => join(folder, name)).find(existsSync);
  if (path === undefined) return undefined;
  require(statSync(path).size <= MAX_PACKED, `more than ${MAX_PACKED} bytes`);
  const bytes = readFileSync(path);
  const text = path.endsWith('.zz') ? inflateSync(bytes, { maxOutputLength: MAX_UNPACKED }) : bytes;
  const file = open(JSON.parse(text), ['kind', 'pools']);
  require(file.kind === kind, `of kind ${file.kind}`);
  const pools = list(file.pools, MAX_POOLS);
  require(pools.length > 0, 'without pools');
  return pools;
}

/** What a sale came to, in words that are compared. */
const outcome = (out, consumed, offered) =>
  (consumed === offered ? String(out) : `${out} for ${consumed}`);

/** What a sale brings by a kind's rules, or null where they refuse it. */
function paid(fill, state, { i, j = 1 - i, in: amount }) {
  const tokens = state.balances.length;
  require(integer(i, 0, tokens - 1) !== integer(j, 0, tokens - 1), 'a token sold for itself');
  try {
    return String(fill(state, i, j, number(amount)).out);
  } catch (error) {
    if (error instanceof Reverted) return null;
    throw error;
  }
}

/** What the contract did, in the same words. */
function recorded({ revert, out, in: offered, consumed = offered }) {
  return revert ? null : outcome(number(out), number(consumed), number(offered));
}

function compare(kind, pools, { read: readPool, brought, hasUpkeep = false }) {
  let [cases, mismatches, unmodelled] = [0, 0, 0];
  for (const { id, state: fields, cases: sales } of pools) {
    const state = readPool(open(fields, []));
    for (const sale of list(sales, MAX_CASES)) {
      const [expected, found] = [recorded(sale), brought(state, sale)];
      cases += 1;
      if (found === expected) continue;
      if (hasUpkeep && expected === null) {
        unmodelled += 1;
        continue;
      }
      mismatches += 1;
      console.error(`${kind}/${id}: ${sale.in} of ${sale.i} for ${sale.j}: `
        + `expected ${expected ?? 'a refusal'}, found ${found ?? 'a refusal'}`);
    }
  }
  require(cases > 0, 'without cases');
  console.log(JSON.stringify({ kind, cases, mismatches, ...(hasUpkeep && { unmodelled }) }));
  return mismatches === 0;
}

const folder = process.argv[2] ?? fileURLToPath(new URL('../vectors/pools', import.meta.url));
let compared = 0;
for (const [kind, rules] of Object.entries(KINDS)) {
  try {
    const pools = read(folder, kind);
    if (pools === undefined) continue;
    compared += 1;
    if (!compare(kind, pools, rules)) process.exitCode = 1;
  } catch (error) {
    console.error(`${kind}: not a file of recorded fills: ${error.message}`);
    process.exitCode = 1;
  }
}
if (compared === 0) {
  console.error(`${folder}: without files of recorded fills`);
  process.exitCode = 1;
}
