// The accuracy record, `accuracy/1` and `accuracy/2`: every swap that a pool logged against what was estimated of it before. Both
// are computed in one pass, with what only the second one states beside the rest.

import { inRange, millionthsOf, oneMinus, over, percentage, times } from './decimal.mjs';
import { flagsOf, isToldOf, paidOnce, replay, saleIn, soldOnce } from './logged.mjs';
import { saleOf, writeSize } from './method.mjs';
import { fields, poolId, require, slot } from './shape.mjs';

const MAX_SLOTS = 31 * 288;
const OLDER_SLOTS = [0, 1, 2, 6, 12, 48, 288];
const DECADES = [0n, 10n, 100n, 1_000n, 10_000n, 100_000n, 1_000_000n];
const [MAX_LOGS, MAX_LOGS_HELD] = [2_097_152, 262_144];
const MICRO = 1_000_000n;
const MOST_WORTH = 2n ** 64n - 1n;
const FLAGS = ['same_tx', 'jit', 'sandwich_suspected'];

/** What is asked. */
export function readAccuracy(value) {
  const asked = fields(value, ['from', 'pool', 'to', 'until']);
  const { from, to, until } = asked;
  [from, to, until].forEach(slot);
  require(from <= to && to - from < MAX_SLOTS, 'not a period of 1 to 8928 slots');
  require(until >= to && until - to <= 288, 'heads before the period ends, or more than a day after it');
  return { from, pool: poolId(asked.pool), to, until };
}

/** The slots whose logs are known, each with those since the slot before; how many others wait, and how many documents it took. */
function stretchesOf(asked, slots, documents) {
  const [told, unused] = [[], []];
  let [read, until, waiting, all] = [0, -1, 0, 0];
  for (const [place, [at, snapshot]] of slots.entries()) {
    require(isToldOf(snapshot.state), 'a pool of a kind without this figure');
    require(place === 0 || slots[place - 1][1].block <= snapshot.block, 'blocks out of order');
    while (until < snapshot.block && read < documents.length) {
      const { contract, after, to, logs } = documents[read];
      const follows = until < 0 || after === until || (after === to && logs.length === 0 && after > until);
      require(contract === asked.pool.contract && follows, 'a document of another pool, or out of order');
      [until, read, all] = [to, read + 1, all + logs.length];
      require(all <= MAX_LOGS && unused.length + logs.length <= MAX_LOGS_HELD, 'more logs than a period may have');
      unused.push(...logs);
    }
    if (until < snapshot.block) {
      waiting += 1;
    } else {
      const later = unused.findIndex((log) => log.block > snapshot.block);
      told.push({ at, snapshot, logs: unused.splice(0, later < 0 ? unused.length : later) });
    }
  }
  return { told, waiting, read };
}

/** How a sale agrees with an estimate, as `accuracy/2` tells it. */
function agreementOf(state, { base, amountIn, amountOut, forOutput }, estimated) {
  const isBracketed = forOutput && amountOut < estimated && amountOut >= paidOnce(state, base, amountIn - 1n);
  if (isBracketed) return 'bracketed';
  return amountOut === estimated ? 'exact' : 'differs';
}

/** A sale against an estimate of it: the realised gap less the estimated one, as a share. */
function compared(snapshot, sale, version) {
  const { base, amountIn, amountOut } = sale;
  const estimate = soldOnce(snapshot.state, base, amountIn);
  if (estimate === undefined) return { why: 'estimate_refused' };
  const { baseUnit, quoteUnit } = saleOf(snapshot, base);
  const share = (out) => over(times([out, amountIn], quoteUnit), baseUnit);
  const agreement = version === 1 ? undefined : agreementOf(snapshot.state, sale, estimate.out);
  const error = agreement === 'bracketed' ? [0n, 1n] : share(estimate.out - amountOut);
  const gap = oneMinus(share(estimate.out));
  return { agreement, error, gap, out: estimate.out, worth: times([amountIn * MICRO, 1n], baseUnit) };
}

/** Why a swap of a stretch is not compared at all, or what it sold. */
const saleOr = (log, forOutput) => (forOutput === undefined
  ? { why: 'fills_incomplete' } : { ...saleIn(log.says), forOutput: forOutput.has(log) });

/** A swap against the newest slot before it, and the errors against older ones. */
function judge({ known, newest, version }, log, flags, sale) {
  const errors = [];
  let swap = { why: undefined };
  for (const [place, older] of OLDER_SLOTS.entries()) {
    const snapshot = known.get(newest - older);
    if (snapshot === undefined) continue;
    const found = compared(snapshot, sale, version);
    const isFound = found.why === undefined && inRange(found.error);
    const told = isFound && { error: millionthsOf(found.error), agreement: found.agreement };
    if (place > 0 && isFound) errors.push([place, told]);
    if (place > 0) continue;
    if (!isFound || !inRange(found.gap)) {
      swap = { why: found.why ?? 'out_of_range' };
      continue;
    }
    const worth = found.worth[0] / found.worth[1];
    swap = { ...sale, ...told, log, flags, slot: newest, gap: found.gap, out: found.out,
      worth: worth < MOST_WORTH ? worth : MOST_WORTH };
  }
  return { swap, errors };
}

const size = (number) => (number < 0n ? -number : number);
const pct = (millionths) => (millionths === undefined ? null : percentage([millionths, 100_000_000n]));

/** Which errors are the worst, and how many swaps agree; the first version counts those whose error rounds to nothing. */
function worstOf(told, version) {
  const errors = told.map(({ error }) => error);
  const greatest = errors.length === 0 ? undefined : errors.reduce((most, one) => (one > most ? one : most));
  if (version === 1) return { exact_n: errors.filter((one) => one === 0n).length, worst_pct: pct(greatest) };
  const further = (most, one) => size(one) > size(most) || (size(one) === size(most) && one > most);
  const furthest = errors.length === 0 ? undefined : errors.reduce((most, one) => (further(most, one) ? one : most));
  const count = (kind) => told.filter(({ agreement }) => agreement === kind).length;
  return { bracketed_n: count('bracketed'), exact_n: count('exact'), worst_for_seller_pct: pct(greatest), worst_pct: pct(furthest) };
}

/** Errors of many swaps, each with how it agrees. */
function errorsOf(told, version) {
  const errors = told.map(({ error }) => error);
  const sizes = errors.map(size).sort((a, b) => (a < b ? -1 : Number(a > b)));
  const rank = (place) => sizes[Math.ceil((place * sizes.length) / 100) - 1];
  const sum = errors.reduce((all, one) => all + one, 0n);
  return {
    abs_error_pct_q50: pct(rank(50)),
    abs_error_pct_q95: pct(rank(95)),
    mean_error_pct: errors.length === 0 ? null : percentage([sum, 100_000_000n * BigInt(errors.length)]),
    n: errors.length,
    ...worstOf(told, version),
  };
}

const rowOf = (swap) => ({
  ...(swap.agreement === undefined ? {} : { agreement: swap.agreement }),
  amount_in: String(swap.amountIn),
  amount_out: String(swap.amountOut),
  base: `token${swap.base}`,
  block: swap.log.block,
  error_pct: pct(swap.error),
  estimated_gap_pct: percentage(swap.gap),
  estimated_out: String(swap.out),
  flags: FLAGS.filter((name) => swap.flags[name]),
  log_index: swap.log.index,
  size_usd: writeSize(swap.worth),
  slot: swap.slot,
  transaction: swap.log.transaction,
});

/** Swaps by decade of size and token sold. */
function bySize(swaps, version) {
  const decadeOf = ({ worth }) => DECADES.findLastIndex((from) => worth / MICRO >= from);
  return DECADES.flatMap((from, decade) => [0, 1].map((base) => {
    const own = swaps.filter((swap) => swap.base === base && decadeOf(swap) === decade);
    return { base: `token${base}`, errors: errorsOf(own, version), from_usd: Number(from) };
  })).filter(({ errors }) => errors.n > 0);
}

/** The record of standing slots, ascending, each with its snapshot, and of the documents of their heads, in one of two versions. */
export function accuracy(asked, slots, documents, version) {
  const { told, waiting, read } = stretchesOf(asked, slots, documents);
  const known = new Map();
  const not = { estimate_refused: 0, fills_incomplete: 0, out_of_range: 0, two_sided: 0, zero: 0 };
  const byAge = OLDER_SLOTS.map(() => []);
  const swaps = [];
  let [incomplete, logged] = [0, 0];
  for (const [at, { snapshot, logs }] of told.entries()) {
    const before = told[at - 1];
    if (before !== undefined) {
      const forOutput = replay(before.snapshot.state, logs, snapshot.state);
      incomplete += forOutput === undefined ? 1 : 0;
      for (const [place, log] of logs.entries()) {
        if (log.kind !== 'swap') continue;
        logged += 1;
        const sale = saleOr(log, forOutput);
        const { swap, errors } = sale.why === undefined
          ? judge({ known, newest: before.at, version }, log, flagsOf(logs, place), sale) : { swap: sale, errors: [] };
        for (const [age, told] of errors) byAge[age].push(told);
        if (swap.why === undefined) swaps.push(swap);
        else not[swap.why] += 1;
      }
    }
    known.set(told[at].at, snapshot);
  }
  byAge[0] = swaps;
  const flagged = (name) => swaps.filter(({ flags }) => flags[name]).length;
  const worst = swaps.toSorted((a, b) => (size(a.error) > size(b.error) ? -1 : Number(size(a.error) < size(b.error))));
  const stretches = Math.max(told.length - 1, 0);
  const judged = stretches - incomplete;
  const counted = version === 1 ? told.length : judged;
  return {
    by_age: OLDER_SLOTS.map((older, age) => ({ errors: errorsOf(byAge[age], version), older_slots: older })),
    by_size: bySize(swaps, version),
    compared: swaps.length,
    documents: read,
    enough: swaps.length >= 200 && counted >= 2_016,
    first_slot: told[0]?.at ?? null,
    flagged: { jit: flagged('jit'), same_tx: flagged('same_tx'), sandwich_suspected: flagged('sandwich_suspected') },
    have_slots: told.length,
    ...(version === 1 ? {} : { judged_slots: judged }),
    last_slot: told.at(-1)?.at ?? null,
    newest: swaps.slice(-100).map(rowOf),
    not_compared: not,
    slots_waiting: waiting,
    status: told.length > 0 && told.every(({ snapshot }) => snapshot.kind === 'live') ? 'live' : 'preview',
    stretches,
    stretches_incomplete: incomplete,
    swaps: logged,
    worst: worst.slice(0, 10).map(rowOf),
  };
}
