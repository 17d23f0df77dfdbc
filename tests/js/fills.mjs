// Runs the recorded fills of pools that are read beside Uniswap's and its kin.
//
//   node fills.mjs    one JSON line per kind: cases and mismatches; exits 1 where there is a mismatch

import { readFileSync, statSync } from 'node:fs';
import { inflateSync } from 'node:zlib';

import { fill as balancer } from './pools/balancer.mjs';
import { fill as solidly } from './pools/solidly.mjs';
import { fill as stableswap } from './pools/stableswap.mjs';
import { ONE, Reverted } from './pools/word.mjs';
import { integer, list, open, raw, require } from './shape.mjs';

const MAX_PACKED = 1 << 20;
const MAX_UNPACKED = 1 << 26;
const MAX_POOLS = 1_000;
const MAX_CASES = 10_000;
const MAX_TOKENS = 8;
const U256_MAX = 2n ** 256n - 1n;

const number = (value) => raw(String(value), 0n, U256_MAX);
const numbers = (values) => list(values, MAX_TOKENS).map(number);

function curveState(state) {
  const ng = Object.hasOwn(state, 'offpeg_fee_multiplier');
  return {
    ng,
    balances: numbers(state.balances),
    rates: numbers(state.rates),
    amp: number(state.amp),
    aPrecision: number(state.a_precision),
    dRule: ng ? 'n_pow_n' : state.d_rule,
    lessOne: ng ? 1n : number(state.less_one),
    fee: number(state.fee),
    adminFee: number(state.admin_fee),
    offpegFeeMultiplier: ng ? number(state.offpeg_fee_multiplier) : undefined,
  };
}

function solidlyState(state) {
  return {
    stable: state.stable,
    balances: numbers(state.reserves),
    reserves: numbers(state.reserves),
    units: list(state.decimals, 2, 2).map((decimals) => 10n ** BigInt(integer(decimals, 0, 36))),
    fee: number(state.fee_numerator),
  };
}

/** The releases of vault 3 by how their names begin. */
const RELEASES = { 'weighted v1': 'v3_1', 'weighted v2': 'v3_2', 'stable v1': 'v3_1',
  'stable v2': 'v3_2', 'stable v3': 'v3_3' };

function balancerState(state) {
  const vault = Object.hasOwn(state, 'balances_raw') ? 3 : 2;
  const optional = (name) => (Object.hasOwn(state, name) ? numbers(state[name]) : undefined);
  const own = vault === 3
    ? { scalingFactors: numbers(state.scaling_factors), live: numbers(state.balances_live_scaled18),
      version: RELEASES[state.version.split(' (')[0]] }
    : { scalingFactors: list(state.decimals, MAX_TOKENS)
      .map((decimals) => 10n ** BigInt(18 - integer(decimals, 0, 18))) };
  const balances = numbers(vault === 3 ? state.balances_raw : state.balances);
  return {
    ...own,
    vault,
    balances,
    rates: optional('rates') ?? balances.map(() => ONE),
    swapFee: number(state.swap_fee),
    weights: optional('weights'),
    minBalances: optional('min_balances_scaled18'),
    amp: Object.hasOwn(state, 'amp') ? number(state.amp) : undefined,
  };
}

/** Each kind of file: how its states are read, and by which rules its pools fill. */
const KINDS = {
  curve_plain: [curveState, stableswap],
  curve_ng: [curveState, stableswap],
  aerodrome_stable: [solidlyState, solidly],
  aerodrome_volatile: [solidlyState, solidly],
  balancer_v2_weighted: [balancerState, balancer],
  balancer_v2_composable_stable: [balancerState, balancer],
  balancer_v3_weighted: [balancerState, balancer],
  balancer_v3_stable: [balancerState, balancer],
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

function compare(kind, [stateOf, fill]) {
  let [cases, mismatches] = [0, 0];
  for (const { id, state: recorded, cases: sales } of read(kind)) {
    const state = stateOf(open(recorded, []));
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
