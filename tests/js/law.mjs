// What pools of amplified and of stable curves bring without roundings, never less than their contracts pay: a function of the
// amount sold, in units of 2^-64 raw units.

import { ceilDiv } from './pools.mjs';
import * as balancer from './pools/balancer.mjs';
import * as solidly from './pools/solidly.mjs';
import * as stableswap from './pools/stableswap.mjs';
import { ONE } from './pools/word.mjs';
import { squareRoot } from './square.mjs';

const U = 2n ** 96n;
const TO_PARTS = 2n ** 32n;
const PARTS = 2n ** 64n;
const FEE_WHOLE = 10n ** 10n;
const SOLIDLY_WHOLE = 10_000n;
const ROUNDS = 600;

const isWider = (value, bits) => value >= 1n << bits;
const notBelow = (value) => (value > 0n ? value : 0n);

/** What an amplified curve multiplies, and what the contract may have lost of it; nothing where it is too large. */
function productOf({ x, d, ann, precision, isExact }, i, j) {
  const count = BigInt(x.length);
  let [c, o] = [d * U, 0n];
  const step = (above, below, own) => {
    o = ceilDiv(o * above, below) + 1n;
    c = (c * above) / own;
    return !isWider(c, 500n) && (isExact || !isWider(o, 500n));
  };
  for (const [token, balance] of x.entries()) {
    // The balance of the token sold is divided by later.
    const own = token === i ? count : balance * count;
    if (token !== j && !step(d, balance * count, own)) return undefined;
  }
  return step(d * precision, ann * count, ann * count) ? { c, o: isExact ? 0n : o } : undefined;
}

/** The balance bought that keeps an amplified invariant, by that of the token sold; both in parts of 2^-96. */
function rootOf(curve, i, j) {
  const { x, d, ann, precision } = curve;
  const product = isWider(d, 128n) ? undefined : productOf(curve, i, j);
  const others = x.reduce((sum, balance, token) => (token === i || token === j ? sum : sum + balance), 0n);
  const fixed = others * U + ceilDiv(d * U * precision, ann) - d * U;
  return (sold) => {
    if (product === undefined || isWider(sold, 246n)) return 0n;
    const c = (product.c * U) / sold - product.o * U;
    if (c < 0n) return 0n;
    const s = fixed + sold;
    return notBelow(squareRoot(s * s + 4n * c * U) - s) / 2n;
  };
}

function stableswapLaw(state, i, j) {
  const { rates, amp, aPrecision, fee, lessOne } = state;
  const x = stableswap.scaledOf(state);
  const curve = { x, d: stableswap.invariantOf(state), ann: amp * BigInt(x.length), precision: aPrecision, isExact: false };
  const root = rootOf(curve, i, j);
  const [own, whole] = [root(x[i] * U), (x[j] + 1n - lessOne) * U];
  const start = own > whole ? own : whole;
  return (amount) => {
    const left = root(x[i] * U + ceilDiv(amount * rates[i] * U, ONE));
    const paid = ceilDiv(notBelow(start - left) * (FEE_WHOLE - fee), FEE_WHOLE) + U;
    return ceilDiv(paid * ONE, rates[j] * TO_PARTS);
  };
}

function balancerLaw(state, i, j) {
  const { rates, scalingFactors, amp, swapFee } = state;
  const x = balancer.liveOf(state);
  const curve = { x, d: balancer.invariantOf(state), ann: amp * BigInt(x.length), precision: 1000n, isExact: true };
  const root = rootOf(curve, i, j);
  const [own, other] = [i, j].map((token) => scalingFactors[token] * rates[token]);
  return (amount) => {
    const left = root(x[i] * U + ceilDiv(amount * own * (ONE - swapFee) * U, ONE * ONE));
    return ceilDiv(notBelow(x[j] * U - left) * ONE, other * TO_PARTS);
  };
}

/** The balance from `y` down at which `sold·y·(sold² + y²)` is at most `wanted`, found by rounds; nothing where they do not end. */
function leftOf(sold, y, wanted) {
  const value = (at) => sold * at * (sold * sold + at * at);
  for (let round = 0; round < ROUNDS; round += 1) {
    const less = notBelow(value(y) - wanted) / (sold * (sold * sold + 3n * y * y));
    if (less === 0n) {
      const root = notBelow(y - 2n);
      return value(root) <= wanted ? root : undefined;
    }
    y = notBelow(y - less);
  }
  return undefined;
}

function solidlyLaw(state, i, j) {
  const { reserves, units, fee } = state;
  const [own, other] = [i, j].map((token) => (reserves[token] * ONE) / units[token]);
  const wanted = solidly.invariantOf(state) * ONE ** 3n * U ** 4n;
  const all = reserves[j] * PARTS;
  return (amount) => {
    const kept = amount * (SOLIDLY_WHOLE - fee) + SOLIDLY_WHOLE;
    const sold = own * U + ceilDiv(kept * ONE * U, SOLIDLY_WHOLE * units[i]);
    if (isWider(own, 158n) || isWider(other, 158n) || isWider(sold, 254n)) return all;
    const left = leftOf(sold, other * U, wanted);
    return left === undefined ? all : ceilDiv(notBelow(other * U - left) * units[j], ONE * TO_PARTS);
  };
}

/** The law of a state, for selling token `i` of its tokens for token `j`. */
export function lawOf(state, i, j) {
  const laws = { stableswap: stableswapLaw, solidly: solidlyLaw, stable_v2: balancerLaw, stable_v3: balancerLaw };
  return laws[state.protocol](state, i, j);
}
