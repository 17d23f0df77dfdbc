// Method 1.0.0: what a request, a snapshot and a head determine.

import { hundredths, inRange, oneMinus, over, percentage, price, times } from './decimal.mjs';
import { least, poolOf } from './pools.mjs';
import { NotChecked, require, text } from './shape.mjs';

const RELEASED = ['1.0.0'];

/** Sizes in micro-dollars: 0.01 and 1,000,000,000 USD. */
const LEAST_SIZE = 10_000n;
const MOST_SIZE = 10n ** 15n;
const MICRO = 1_000_000n;

/** Far more than any real pool needs; a pool made to need more is not worth the time. */
const MAX_PROBES = 1_000_000;

export function requireReleased(version) {
  require(RELEASED.includes(version), 'rules that were never released');
}

/** A size in USD, in micro-dollars. */
function readSize(size) {
  // One spelling each: no leading and no trailing zeros.
  text(size, /^(0|[1-9][0-9]{0,9})(\.[0-9]{0,5}[1-9])?$/, 'a size');
  const [whole, part = ''] = size.split('.');
  const micro = BigInt(whole) * MICRO + BigInt(part.padEnd(6, '0'));
  require(micro >= LEAST_SIZE && micro <= MOST_SIZE, 'not from 0.01 to 1000000000 USD');
  return micro;
}

/** One direction of a snapshot: the pool, and USD for a raw unit of the base and quote token. */
function sale(snapshot, base) {
  const unit = (token) => over(snapshot.usd[token], [10n ** BigInt(snapshot.decimals[token]), 1n]);
  return {
    pool: poolOf(snapshot.state, base),
    baseUnit: unit(base),
    quoteUnit: unit(1 - base),
    wholeBase: [10n ** BigInt(snapshot.decimals[base]), 1n],
  };
}

/** The raw amount a size buys at the oracle's price, rounded down. */
function amountOf(size, baseUnit) {
  const [numerator, denominator] = over([size, MICRO], baseUnit);
  return numerator / denominator;
}

/** The largest size whose amount is at most `amount`. */
function largestSizeOf(amount, baseUnit) {
  // amountOf(size) <= amount exactly where size is below the worth of one raw unit more.
  const [numerator, denominator] = times([(amount + 1n) * MICRO, 1n], baseUnit);
  return (numerator + denominator - 1n) / denominator - 1n;
}

/**
 * The largest amount from the start of `limit`'s stretch to `limit` that could pass if the pool
 * rounded nothing. All above it fail, as rounding only takes away. Being concave, the bound
 * changes sides once where it passes at the start and fails at the limit; where it does not,
 * nothing is ruled out.
 */
function ruleOut(stretch, limit, couldPass) {
  let [passing, failing] = [stretch.start, limit];
  if (!couldPass(passing) || couldPass(failing)) return limit;
  while (failing - passing > 1n) {
    const middle = (passing + failing) / 2n;
    if (couldPass(middle)) passing = middle;
    else failing = middle;
  }
  return passing;
}

/**
 * Depth at 2 %, in whole dollars.
 *
 * Whether a size passes is a saw-tooth, so the search comes from above and skips only what fails
 * for certain: where `amount` brings `out` and fails, a smaller amount brings no more than `out`,
 * and passes only if it is at most the one `out` is just enough for.
 */
export function depth(snapshot, base) {
  const { pool, baseUnit, quoteUnit } = sale(snapshot, base);
  // Priced so far from the oracle, no sale of the pool has a gap, and none is within a limit.
  if (!inRange(oneMinus(over(times(pool.mid, quoteUnit), baseUnit)))) return 0n;
  // What `out` raw units of the quote token are just enough for: out × quote ÷ (98 % of base).
  const [factor, divisor] = over(quoteUnit, times(baseUnit, [98n, 100n]));
  const enoughFor = (numerator, denominator) => (numerator * factor) / (denominator * divisor);
  let limit = pool.largest(amountOf(MOST_SIZE, baseUnit));
  let searched;
  for (let probe = 0; probe < MAX_PROBES; probe += 1) {
    const dollars = least(largestSizeOf(limit, baseUnit), MOST_SIZE) / MICRO;
    const amount = amountOf(dollars * MICRO, baseUnit);
    if (dollars === 0n || amount === 0n) return 0n;
    const enough = enoughFor(pool.sell(amount).out, 1n);
    if (amount <= enough) return dollars;
    const stretch = pool.stretchAt(amount);
    limit = enough;
    if (searched !== stretch.start && enough > stretch.start) {
      searched = stretch.start;
      limit = ruleOut(stretch, enough, (part) => {
        const [numerator, denominator] = stretch.bound(part);
        return part * denominator * divisor <= numerator * factor;
      });
    }
  }
  throw new NotChecked('a depth that takes too long to find');
}

/** Both depths as a head states them, in whole dollars. */
export function depths(snapshot) {
  return [0, 1].map((base) => String(depth(snapshot, base)));
}

/** The result of a request, in every field. */
export function resultOf(request, snapshot, head) {
  const base = request.base === 'token0' ? 0 : 1;
  const { pool, baseUnit, quoteUnit, wholeBase } = sale(snapshot, base);
  const amount = amountOf(readSize(request.size_usd), baseUnit);
  require(amount > 0n, 'a size of less than one raw unit');
  require(pool.largest(amount) === amount, 'a size the pool does not take whole');
  const { out, after } = pool.sell(amount);
  require(out > 0n || pool.givesNothing, 'a size the pool gives nothing for');
  const kept = oneMinus(pool.fee);
  // A rate in raw units, as USD for a whole base token.
  const usd = (rate) => times(times(rate, quoteUnit), wholeBase);
  const rate = [out, amount];
  const oracle = snapshot.usd[base];
  return {
    amount_in_raw: String(amount),
    amount_out_raw: String(out),
    basis_pct: percentage(oneMinus(over(usd(pool.mid), oracle))),
    days_observed: hundredths((BigInt(head.recordedCount) * 100n) / 288n),
    exit_gap_pct: percentage(oneMinus(over(usd(rate), oracle))),
    fee_pct: percentage(pool.fee),
    impact_pct: percentage(oneMinus(over(rate, times(pool.mid, kept)))),
    lowest_depth_7d_usd: head.lowest[base],
    marginal_price_usd: price(usd(times(after, kept))),
    market_open: snapshot.session.market_open,
    mid_price_usd: price(usd(pool.mid)),
    oracle_price_usd: price(oracle),
    oracle_stale: snapshot.stale,
    realized_price_usd: price(usd(rate)),
    session_note: snapshot.session.note,
    status: snapshot.kind,
  };
}
