// Whether a pool's contract runs the published code of its kind: `code`.

import { keccak } from './keccak.mjs';

/** The hash of the code of every pair of Uniswap v2. */
const PAIR = '5b83bdbcc56b2e630f2807bbadd2b0c21619108066b92a58de081261089e9ce5';
/** That of a pool of Uniswap v3 as it is published: its immutables are zero. */
const POOL = '625b6d8f5997d0c283ff977419660c618cb36c48553129d0ecbb8c7bcde0c9ca';

/** Where the words of each immutable begin. */
const PLACES = {
  factory: [8_315, 8_829, 10_457],
  token0: [2_258, 4_853, 6_740, 7_822, 9_150, 15_650],
  token1: [4_551, 6_789, 7_924, 9_284, 10_529, 15_979],
  fee: [3_311, 6_603, 6_658, 10_565],
  spacing: [3_072, 10_493, 19_402, 19_452],
  self: [11_259],
  mostLiquidity: [8_174, 19_295, 19_350],
};

/** Factories that make nothing but published code, by their chains. */
const OF_CHAINS = {
  uniswap_v2: { 'eip155:1': '0x5c69bee701ef814a2b6a3edd4b1652cb9cc5aa6f' },
  uniswap_v3: Object.fromEntries([1, 10, 137, 42_161].map((id) =>
    [`eip155:${id}`, '0x1f98431c8ad98523631ae4a59f267346ea31f984'])),
};

const word = (value) => Buffer.from(BigInt(value).toString(16).padStart(64, '0'), 'hex');
const is = (bytes, hex) => bytes.toString('hex') === hex;

/** Code whose immutables are these words; undefined where it is too short for them. */
function withImmutables(code, words) {
  const changed = Buffer.from(code);
  for (const [name, places] of Object.entries(PLACES)) {
    for (const place of places) {
      if (place + 32 > changed.length) return undefined;
      words[name].copy(changed, place);
    }
  }
  return changed;
}

const ZEROS = Object.fromEntries(Object.keys(PLACES).map((name) => [name, word(0)]));

function isPublished(code) {
  const published = withImmutables(code, ZEROS);
  return published !== undefined && is(keccak(published), POOL);
}

/** Whether this is the code of the pool of these immutables. */
export function isCodeOf({ pool, factory, tokens: [token0, token1], fee, spacing }, code) {
  if (!Number.isInteger(spacing) || spacing < 1 || !isPublished(code)) return false;
  const ticks = 2n * BigInt(Math.floor(887_272 / spacing)) + 1n;
  const words = { factory, token0, token1, fee, spacing, self: pool, mostLiquidity: ((1n << 128n) - 1n) / ticks };
  const expected = Object.fromEntries(Object.entries(words).map(([name, value]) => [name, word(value)]));
  return withImmutables(code, expected).equals(code);
}

const passed = { name: 'code', outcome: 'pass', code: 'ok' };
const differs = { name: 'code', outcome: 'fail', code: 'code_differs' };
const unusable = { name: 'code', outcome: 'not_checked', code: 'code_unusable' };

function pairCheck(hash, state, isOfficial) {
  if (!is(hash, PAIR)) return isOfficial ? differs : undefined;
  const { fee_numerator: part, fee_denominator: whole } = state;
  return BigInt(part) * 1_000n === 3n * BigInt(whole) ? passed : differs;
}

function rangesCheck(hash, code, immutables, isOfficial) {
  if (code === undefined) return undefined;
  if (!keccak(code).equals(hash)) return unusable;
  if (isCodeOf(immutables, code)) return passed;
  return isPublished(code) || isOfficial ? differs : undefined;
}

/**
 * The check, where there is anything to be judged; else undefined. `code` is what somebody handed over as the contract's code,
 * without which a pool of Uniswap v3 is not judged.
 */
export function codeCheck({ subject, codeHash }, { chain, facts, state, tokens }, code) {
  const kind = { constant_product: 'uniswap_v2', concentrated_liquidity: 'uniswap_v3' }[state.protocol];
  const fact = facts.find(({ name }) => name === kind);
  if (fact === undefined || codeHash === undefined) return undefined;
  const isOfficial = OF_CHAINS[kind][chain.caip2] === fact.contract;
  if (kind === 'uniswap_v2') return pairCheck(codeHash, state, isOfficial);
  const { fee_pips: fee, tick_spacing: spacing } = state;
  const immutables = { pool: subject.address, factory: fact.contract, tokens: tokens.map((token) => token.address), fee, spacing };
  return rangesCheck(codeHash, code, immutables, isOfficial);
}
