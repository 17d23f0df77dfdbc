// State bodies: what a pool's contract holds, and nothing that an operator chooses.

import { documentBytes } from './canonical.mjs';
import { sha256 } from './merkle.mjs';
import { isKind, readKind } from './pools/kinds.mjs';
import { code, fields, integer, list, Newer, open, raw, require, signedRaw } from './shape.mjs';
import { MAX_SQRT_PRICE, MAX_TICK, MIN_SQRT_PRICE, MIN_TICK, sqrtPriceAt } from './ticks.mjs';

const MAX_BYTES = 4 * 1024 * 1024;
const MAX_TICKS = 65_536;
/** The most bytes of the list of ticks. */
const MAX_TICK_BYTES = MAX_BYTES - 255;

const U112_MAX = 2n ** 112n - 1n;
const U128_MAX = 2n ** 128n - 1n;

function readConstantProduct(value) {
  const names = ['v', 'protocol', 'reserves', 'fee_numerator', 'fee_denominator'];
  const state = fields(value, names);
  const denominator = integer(state.fee_denominator, 1, 1_000_000);
  const numerator = integer(state.fee_numerator, 0, denominator - 1);
  return {
    protocol: state.protocol,
    reserves: list(state.reserves, 2, 2).map((reserve) => raw(reserve, 1n, U112_MAX)),
    fee: [BigInt(numerator), BigInt(denominator)],
  };
}

/** The gross liquidity of a tick stands there only where the net one does not tell it. */
function readGross(net, gross) {
  const size = net < 0n ? -net : net;
  if (gross === undefined) require(size > 0n, 'a tick without liquidity');
  else require(raw(gross, 1n, U128_MAX) > size, 'a gross liquidity said twice, or below the net one');
  return gross === undefined ? size : BigInt(gross);
}

/**
 * Every initialised tick, from the lowest, as `{tick, net, gross}`: multiples of `step`. No fill depends on
 * the gross.
 */
function readTicks(values, step) {
  return list(values, MAX_TICKS).map((entry, at) => {
    const [tick, net, gross] = list(entry, 3);
    require(entry.length >= 2, 'a tick without liquidity');
    integer(tick, MIN_TICK, MAX_TICK);
    require(tick % step === 0, 'a tick off the spacing');
    require(at === 0 || values[at - 1][0] < tick, 'ticks that do not ascend');
    const liquidity = signedRaw(net);
    return { tick, net: liquidity, gross: readGross(liquidity, gross) };
  });
}

/** The liquidity of all ticks at or below `tick`; all together must come to nothing. */
function activeLiquidity(ticks, tick) {
  let [sum, active] = [0n, 0n];
  for (const { tick: at, net } of ticks) {
    sum += net;
    require(sum >= 0n && sum <= U128_MAX, 'liquidity out of range');
    if (at <= tick) active = sum;
  }
  require(sum === 0n, 'liquidity that does not end');
  return active;
}

/**
 * Liquidity in ranges of prices, with these fields for its fees. `most` is the widest spacing;
 * where it does not bind, ticks need not be multiples of it.
 */
function readRanges(value, feeFields, { most = 16_383, binds = true } = {}) {
  const state = fields(value, ['v', 'protocol', 'sqrt_price_x96', 'tick', 'liquidity',
    'tick_spacing', 'ticks', ...feeFields]);
  const tick = integer(state.tick, MIN_TICK, MAX_TICK - 1);
  const spacing = integer(state.tick_spacing, 1, most);
  const sqrtPrice = raw(state.sqrt_price_x96, MIN_SQRT_PRICE, MAX_SQRT_PRICE - 1n);
  require(sqrtPriceAt(tick) <= sqrtPrice && sqrtPrice <= sqrtPriceAt(tick + 1),
    'a price outside its tick');
  const liquidity = raw(state.liquidity, 0n, U128_MAX);
  const ticks = readTicks(state.ticks, binds ? spacing : 1);
  require(JSON.stringify(state.ticks).length <= MAX_TICK_BYTES, 'too many bytes of ticks');
  require(activeLiquidity(ticks, tick) === liquidity, 'liquidity other than that of the ticks');
  return { protocol: state.protocol, sqrtPrice, tick, liquidity, spacing, ticks };
}

/** The same fee for both directions. */
function readOneFee(value, rules) {
  const ranges = readRanges(value, ['fee_pips'], rules);
  const feePips = integer(value.fee_pips, 0, 999_999);
  return { ...ranges, feePips: [feePips, feePips] };
}

/** The protocol's share, by the token sold, and the providers' of what it leaves. */
function readV4(value) {
  const ranges = readRanges(value, ['lp_fee_pips', 'protocol_fee'], { most: 32_767 });
  const providers = integer(value.lp_fee_pips, 0, 999_999);
  const feePips = list(value.protocol_fee, 2, 2).map((fee) => {
    const protocol = integer(fee, 0, 1_000);
    return integer(protocol + providers - Math.floor((protocol * providers) / 1_000_000), 0, 999_999);
  });
  return { ...ranges, feePips };
}

/** The state of a pool, for `poolOf`. */
export function readState(value) {
  documentBytes(value, MAX_BYTES);
  const { protocol } = open(value, ['protocol']);
  switch (code(protocol)) {
    case 'constant_product':
      return readConstantProduct(value);
    case 'concentrated_liquidity':
      return readOneFee(value);
    case 'concentrated_v4':
      return readV4(value);
    case 'concentrated_linked':
      return readOneFee(value, { binds: false });
    default:
      if (isKind(protocol)) return readKind(value);
      throw new Newer('protocol', protocol);
  }
}

/** The name of a state: the hash of its bytes, understood or not. */
export function nameOf(bytes) {
  return `0x${sha256(bytes).toString('hex')}`;
}
