// State bodies of the kinds in this folder, read with the bounds of the format page into what
// their fills take.

import { boolean, fields, integer, list, raw, require, text } from '../shape.mjs';
import { ONE } from './word.mjs';

const MAX_TOKENS = 8;
const U256_MAX = 2n ** 256n - 1n;
const FEE_WHOLE = 10n ** 10n;
const COMMON = ['v', 'protocol'];

const whole = (value, least, most) => BigInt(integer(value, least, most));

/** One raw integer for each of so many tokens, or of two to eight. */
function raws(values, count, least = 0n, most = U256_MAX) {
  require(list(values, MAX_TOKENS, count).length >= 2, 'fewer than two tokens');
  return values.map((value) => raw(value, least, most));
}

const NG = ['offpeg_fee_multiplier', 'admin_balances', 'asset_types'];

export function readStableswap(value) {
  const ng = value.version === 'ng_7_0_0';
  fields(value, [...COMMON, 'balances', 'rates', 'amp', 'a_precision', 'd_rule', 'less_one', 'fee',
    'admin_fee', 'version', ...(ng ? NG : [])]);
  require(ng || value.version === 'plain', 'a version that is not known');
  const balances = raws(value.balances);
  const count = balances.length;
  const rates = raws(value.rates, count, 0n, 2n ** 192n - 1n);
  for (const [token, rate] of rates.entries()) {
    const product = rate * balances[token];
    require(product >= ONE && product <= U256_MAX, 'a balance out of range, or none');
  }
  const aPrecision = whole(value.a_precision);
  require(aPrecision === 1n || aPrecision === 100n, 'a precision neither 1 nor 100');
  const amp = whole(value.amp);
  const ann = amp * BigInt(count);
  require(ann >= aPrecision && ann < 2n ** 53n, 'an amplification out of range');
  const dRule = text(value.d_rule, /^(each_n|each_n_plus_1|n_pow_n)$/, 'a rule');
  const lessOne = whole(value.less_one, 0, 1);
  const [fee, adminFee] = [whole(value.fee), whole(value.admin_fee, 0, Number(FEE_WHOLE))];
  const multiplier = ng ? whole(value.offpeg_fee_multiplier) : 0n;
  const most = multiplier > FEE_WHOLE ? multiplier : FEE_WHOLE;
  require(most * fee < FEE_WHOLE * FEE_WHOLE, 'a fee that can take all');
  if (ng) {
    require(dRule === 'n_pow_n' && aPrecision === 100n && lessOne === 1n, 'rules other than NG\'s');
    raws(value.admin_balances, count);
    for (const type of list(value.asset_types, MAX_TOKENS, count)) {
      require([0, 1, 3].includes(type), 'a type of asset that is not known');
    }
  }
  return { ng, balances, rates, amp, aPrecision, dRule, lessOne, fee, adminFee,
    offpegFeeMultiplier: multiplier };
}

export function readSolidly(value) {
  fields(value, [...COMMON, 'stable', 'reserves', 'decimals', 'fee_numerator', 'fee_denominator']);
  integer(value.fee_denominator, 10_000, 10_000);
  const reserves = raws(value.reserves, 2, 1n);
  return {
    stable: boolean(value.stable),
    balances: reserves,
    reserves,
    units: list(value.decimals, 2, 2).map((decimals) => 10n ** whole(decimals, 0, 24)),
    fee: whole(value.fee_numerator, 0, 9_999),
  };
}

/** What every pool of a vault has, with these fields of its own. */
function readVault(value, vault, own) {
  const held = vault === 3 ? ['balances_raw', 'balances_live_scaled18'] : ['balances'];
  fields(value, [...COMMON, 'scaling_factors', 'rates', 'swap_fee', ...held, ...own]);
  const most = 2n ** (vault === 3 ? 128n : 112n) - 1n;
  const balances = raws(value[held[0]], undefined, 1n, most);
  const count = balances.length;
  const scale = (name) => raws(value[name], count, 1n, 2n ** 96n - 1n);
  return {
    vault,
    balances,
    live: vault === 3 ? raws(value[held[1]], count, 1n, 2n ** 150n - 1n) : undefined,
    scalingFactors: scale('scaling_factors'),
    rates: scale('rates'),
    swapFee: raw(value.swap_fee, 0n, ONE - 1n),
    version: value.version,
  };
}

export function readWeighted(value) {
  const version = text(value.version, /^(v2|v3_1|v3_2)$/, 'a version that is known');
  const guarded = version === 'v3_2';
  const own = ['weights', 'version', ...(guarded ? ['min_balances_scaled18'] : [])];
  const pool = readVault(value, version === 'v2' ? 2 : 3, own);
  const count = pool.balances.length;
  require(version !== 'v2' || pool.rates.every((rate) => rate === ONE), 'rates of version 2');
  const weights = raws(value.weights, count, ONE / 100n, ONE);
  require(weights.reduce((sum, weight) => sum + weight) === ONE, 'weights that are not a whole');
  const minBalances = guarded ? raws(value.min_balances_scaled18, count) : undefined;
  return { ...pool, weights, minBalances };
}

export function readStableV2(value) {
  return { ...readVault(value, 2, ['amp']), amp: whole(value.amp, 1_000, 100_000_000) };
}

export function readStableV3(value) {
  text(value.version, /^v3_[123]$/, 'a version that is known');
  return { ...readVault(value, 3, ['amp', 'version']), amp: whole(value.amp, 1_000, 100_000_000) };
}

const CRYPTO_VERSIONS = { 2: 'twocrypto_ng_2_1_0', 3: 'tricrypto_ng_2_0_0' };

export function readCryptoswap(value) {
  fields(value, [...COMMON, 'version', 'balances', 'decimals', 'price_scale', 'last_prices', 'D', 'A',
    'gamma', 'mid_fee', 'out_fee', 'fee_gamma']);
  const most = 2n ** 128n - 1n;
  const balances = raws(value.balances, undefined, 1n, most);
  const count = balances.length;
  require(value.version === CRYPTO_VERSIONS[count], 'a version that is not of so many tokens');
  // The first token is what prices are in.
  const prices = (values) =>
    [ONE, ...list(values, MAX_TOKENS, count - 1).map((price) => raw(price, 1n, most))];
  const highest = whole(value.out_fee, 0, Number(FEE_WHOLE) - 1);
  return {
    balances,
    precisions: list(value.decimals, MAX_TOKENS, count)
      .map((decimals) => 10n ** (18n - whole(decimals, 0, 18))),
    scales: prices(value.price_scale),
    lastPrices: prices(value.last_prices),
    d: raw(value.D, 1n, most),
    amp: whole(value.A, 1),
    gamma: raw(value.gamma, 1n, ONE),
    fees: [whole(value.mid_fee, 0, Number(highest)), highest],
    feeGamma: raw(value.fee_gamma, 0n, ONE),
  };
}
