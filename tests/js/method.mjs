// Method 1.0.0: what a request, a snapshot and a head determine.

import { hundredths, inRange, oneMinus, over, percentage, price, times } from './decimal.mjs';
import { depthOf } from './depth.mjs';
import { least, poolOf } from './pools.mjs';
import { isKind, isSized } from './pools/kinds.mjs';
import { methodVersion, Newer, NotChecked, require, text } from './shape.mjs';
import { largestDollars } from './sized.mjs';

const RELEASED = ['1.0.0'];

/** Sizes in micro-dollars: 0.01 and 1,000,000,000 USD. */
export const LEAST_SIZE = 10_000n;
const MOST_SIZE = 10n ** 15n;
const MICRO = 1_000_000n;
/** The most raw units a refusal names. */
const MOST_AMOUNT = 2n ** 256n - 1n;

/** Requires rules known here. Whatever else can name a version of them names a later one. */
export function requireReleased(version) {
  if (!RELEASED.includes(methodVersion(version))) throw new Newer('method', version);
}

/** A size in USD, in micro-dollars. */
export function readSize(size) {
  // One spelling each: no leading and no trailing zeros.
  text(size, /^(0|[1-9][0-9]{0,9})(\.[0-9]{0,5}[1-9])?$/, 'a size');
  const [whole, part = ''] = size.split('.');
  const micro = BigInt(whole) * MICRO + BigInt(part.padEnd(6, '0'));
  require(micro >= LEAST_SIZE && micro <= MOST_SIZE, 'not from 0.01 to 1000000000 USD');
  return micro;
}

/** The one spelling of a size. */
export function writeSize(micro) {
  const part = String(micro % MICRO).padStart(6, '0').replace(/0+$/, '');
  return `${micro / MICRO}${part === '' ? '' : `.${part}`}`;
}

/** One direction of a snapshot: the pool, and USD for a raw unit of the base and quote token. */
export function saleOf(snapshot, base) {
  const unit = (token) => over(snapshot.usd[token], [10n ** BigInt(snapshot.decimals[token]), 1n]);
  const [baseUnit, quoteUnit] = [unit(base), unit(1 - base)];
  const pool = poolOf(snapshot.state, base, snapshot.pair);
  const basis = oneMinus(over(times(pool.mid, quoteUnit), baseUnit));
  return { pool, baseUnit, quoteUnit, basis, wholeBase: [10n ** BigInt(snapshot.decimals[base]), 1n] };
}

/** The raw amount a size buys at the oracle's price, rounded down. */
export function amountOf(size, baseUnit) {
  const [numerator, denominator] = over([size, MICRO], baseUnit);
  return numerator / denominator;
}

/** The largest size whose amount is at most `amount`, and no larger than sizes are. */
export function largestSizeOf(amount, baseUnit) {
  // amountOf(size) <= amount exactly where size is below the worth of one raw unit more.
  const [numerator, denominator] = times([(amount + 1n) * MICRO, 1n], baseUnit);
  return least((numerator + denominator - 1n) / denominator - 1n, MOST_SIZE);
}

/** How whole dollars and raw amounts of the base token go together. */
export function dollarsOf(baseUnit) {
  return {
    amountOf: (whole) => amountOf(whole * MICRO, baseUnit),
    within: (amount) => largestSizeOf(amount, baseUnit) / MICRO,
    // One raw unit is worth a dollar or more.
    fine: baseUnit[0] >= baseUnit[1],
  };
}

/**
 * The book of a snapshot with this state, at a limit in millionths of a percent: a depth with the
 * pool's own mid price in place of the oracle's.
 */
export function book(snapshot, state, base, limit) {
  const { pool, baseUnit } = saleOf({ ...snapshot, state }, base);
  const [numerator, denominator] = pool.mid;
  const weights = [denominator * 100_000_000n, numerator * (100_000_000n - limit)];
  return depthOf({ pool, weights, dollars: dollarsOf(baseUnit) });
}

/** Depth at 2% or another limit, in whole dollars; null where the method gives its search up, or the kind has none. */
export function depth(snapshot, base, limit = 2_000_000n) {
  if (!isSized(snapshot.state.protocol)) return null;
  const { pool, baseUnit, quoteUnit, basis } = saleOf(snapshot, base);
  // Priced so far from the oracle, no sale of the pool has a gap, and none is within a limit.
  if (!inRange(basis)) return 0n;
  const dollars = dollarsOf(baseUnit);
  // out × quote >= 98% of in × base
  const weights = over(quoteUnit, times(baseUnit, [100_000_000n - limit, 100_000_000n]));
  return (pool.segment === undefined ? largestDollars : depthOf)({ pool, weights, dollars });
}

/** Requires that both depths are those a head states, in whole dollars. */
export function requireDepths(snapshot, stated) {
  // The page does not count the steps of a search of these kinds, and so not which are given up.
  const { protocol } = snapshot.state;
  const openEnded = isKind(protocol) && isSized(protocol);
  let givenUp;
  // A direction that cannot be compared does not hide the other.
  stated.forEach((of, base) => {
    if (of === null && openEnded) {
      givenUp = new NotChecked('a depth given up');
      return;
    }
    let found;
    try {
      found = depth(snapshot, base);
    } catch (error) {
      if (!openEnded || !(error instanceof NotChecked)) throw error;
      givenUp = error;
      return;
    }
    require((found === null ? null : String(found)) === of, 'depths other than the snapshot\'s');
  });
  if (givenUp !== undefined) throw givenUp;
}

function refusal(code, asked, consumed, paid, most = null) {
  return {
    refusal: {
      amount_in_raw: asked > MOST_AMOUNT ? null : String(asked),
      code,
      consumed_raw: String(consumed),
      max_fillable_usd: most,
      paid_raw: String(paid),
    },
  };
}

/** The largest size that the pool fills of an amount it takes whole, if there is one. */
function largestFilled({ pool, baseUnit, basis }, most) {
  const size = largestSizeOf(most, baseUnit);
  const amount = amountOf(size, baseUnit);
  const filled = inRange(basis) && size >= LEAST_SIZE && pool.sell(amount).out > 0n;
  return filled ? writeSize(size) : null;
}

function beyondLiquidity(sale, asked, most) {
  const { out: paid } = sale.pool.sell(most);
  return refusal('beyond_liquidity', asked, most, paid, largestFilled(sale, most));
}

/** What a filled sale comes to, in every field. */
function resultOf({ pool, baseUnit, quoteUnit, basis, wholeBase }, amount, base, snapshot, head) {
  const { out, after, fee = pool.fee } = pool.sell(amount);
  const kept = oneMinus(fee);
  // A rate in raw units, as USD for a whole base token.
  const usd = (rate) => times(times(rate, quoteUnit), wholeBase);
  const rate = [out, amount];
  return {
    amount_in_raw: String(amount),
    amount_out_raw: String(out),
    basis_pct: percentage(basis),
    days_observed: hundredths((BigInt(head.recordedCount) * 100n) / 288n),
    exit_gap_pct: percentage(oneMinus(over(times(rate, quoteUnit), baseUnit))),
    fee_pct: percentage(fee),
    impact_pct: percentage(oneMinus(over(rate, times(pool.mid, kept)))),
    lowest_depth_7d_usd: head.lowest[base],
    marginal_price_usd: price(usd(times(after, kept))),
    market_open: snapshot.sessions.every(({ open }) => open),
    mid_price_usd: price(usd(pool.mid)),
    oracle_price_usd: price(snapshot.usd[base]),
    oracle_stale: snapshot.stale,
    realized_price_usd: price(usd(rate)),
    // Without a calendar a token trades around the clock.
    session_note: snapshot.sessions.map(({ note }) => note).join(', ') || 'continuous',
    status: snapshot.kind,
  };
}

/** The answer to a request: a `result`, or the `refusal` of what the pool cannot fill. */
export function answerOf(request, snapshot, head) {
  requireReleased(request.method_version);
  const base = request.base === 'token0' ? 0 : 1;
  const sale = saleOf(snapshot, base);
  const amount = amountOf(readSize(request.size_usd), sale.baseUnit);
  if (amount === 0n) return refusal('rounds_to_no_input', amount, 0n, 0n);
  const most = sale.pool.largest(amount);
  if (most < amount) return beyondLiquidity(sale, amount, most);
  if (sale.pool.sell(amount).out === 0n) return refusal('rounds_to_no_output', amount, amount, 0n);
  return { result: resultOf(sale, amount, base, snapshot, head) };
}
