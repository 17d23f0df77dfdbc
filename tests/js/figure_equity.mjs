// Tokenized equities, `equity/1`: what a pool of a share is like in each session of the share's exchange.

import { inRange, over, price, times } from './decimal.mjs';
import { closedOf, compare, filled, KINDS, lineOf, pct, rank, readHours, requireCalendars, spread, statusOf } from './figure_hours.mjs';
import { marketsOf, regularOf } from './hours.mjs';
import { saleOf } from './method.mjs';
import { isStale } from './oracle.mjs';
import { code, fields, integer, require, text } from './shape.mjs';

const KIND = /^(rebasing|scaled_ui|split_rebase|total_return)$/;
const REBASES = ['rebasing', 'split_rebase'];
const SESSIONS = ['regular', 'pre', 'after', 'overnight', 'weekend', 'holiday', 'unknown'];
const NAMES = ['effective_at_fact', 'multiplier_fact', 'paused_fact', 'pending_multiplier_fact'];
const NEEDED = { sessions: 20, weekends: 4 };
const WITHIN_S = 86_400n;
const HUNDRED = 100_000_000n;
const MAX_SLOTS = 42 * 288;

/** What is asked. */
export function readEquity(value) {
  const asked = fields(value, ['base', 'calendars', 'from', 'gap_pct', 'kind', 'multiplier_decimals', 'pool', 'size_usd', 'to', ...NAMES]);
  const { base, calendars, from, pool, size_usd, to } = asked;
  text(asked.kind, KIND, 'a kind of share');
  text(asked.gap_pct, /^(0|[1-9][0-9]{0,2})(\.[0-9]{0,5}[1-9])?$/, 'a percentage');
  const [whole, part = ''] = asked.gap_pct.split('.');
  const gap = BigInt(whole) * 1_000_000n + BigInt(part.padEnd(6, '0'));
  require(gap > 0n && gap <= HUNDRED, 'not above 0 and up to 100 percent');
  integer(asked.multiplier_decimals, 0, 36);
  const names = Object.fromEntries(NAMES.map((name) => [name, asked[name] === null ? null : code(asked[name])]));
  require(names.pending_multiplier_fact === null || (names.multiplier_fact !== null && names.effective_at_fact !== null),
    'a pending multiplier without the one that holds, or without an instant');
  return { ...readHours({ base, calendars, from, pool, size_usd, to }, MAX_SLOTS), gap, kind: asked.kind, names, decimals: asked.multiplier_decimals };
}

/** What a snapshot's facts say of the share. */
function saidOf({ names }, { said }) {
  const word = (name) => {
    const found = said.filter((fact) => fact.name === name);
    return found.length === 1 && found[0].words.length > 0 ? BigInt(found[0].words[0]) : undefined;
  };
  const [at, multiplier, paused, pending] = NAMES.map((name) => (names[name] === null ? null : word(names[name])));
  const whole = [at, multiplier, paused, pending].every((one) => one !== undefined);
  const held = (one) => one ?? undefined;
  const most = 2n ** 53n - 1n;
  return {
    at: held(at) === undefined ? undefined : at < most ? at : most,
    multiplier: held(multiplier),
    paused: held(paused) === undefined ? undefined : paused !== 0n,
    pending: held(pending),
    whole,
  };
}

/** When the multiplier changes, where that is due. */
function dueOf({ at, multiplier, pending }, now) {
  const changes = pending === undefined || (pending !== 0n && pending !== multiplier);
  return at !== undefined && at > BigInt(now) && changes ? at : undefined;
}

const raw = (one) => (one === undefined ? null : String(one));

/** What became of the share, slot by slot. */
function eventsOf(told) {
  const events = [];
  let [multiplier, due, paused] = [undefined, undefined, false];
  for (const { slot, at, said } of told) {
    const tell = (event, more = {}) => events.push({ effective_at_s: null, event, from_raw: null, slot, to_raw: null, ...more });
    if (said.multiplier !== undefined) {
      if (multiplier !== undefined && multiplier !== said.multiplier) {
        tell('multiplier_changed', { from_raw: raw(multiplier), to_raw: raw(said.multiplier) });
      }
      multiplier = said.multiplier;
    }
    if (said.at !== undefined) {
      const next = dueOf(said, at);
      const key = next === undefined ? undefined : `${said.pending} ${next}`;
      if (key !== due && next !== undefined) {
        tell('scheduled', { effective_at_s: Number(next), from_raw: raw(said.multiplier), to_raw: raw(said.pending) });
      }
      due = key;
    }
    if (said.paused !== undefined && said.paused !== paused) {
      paused = said.paused;
      tell(paused ? 'paused' : 'resumed');
    }
  }
  return events;
}

/** How the oracle's answers of a snapshot stand. */
function oracleOf({ readings, sessions, pair, timestamp }) {
  const states = readings.filter((reading) => isStale(reading, timestamp)).map(({ sequencer, own, round }) => {
    const session = sessions.find(({ token }) => token === pair[own]);
    if (sequencer || session === undefined) return 'stale';
    const closed = marketsOf([session]).closures.find(({ from, to }) => from <= timestamp && timestamp < to);
    return closed !== undefined && round.updatedAt + round.heartbeat >= closed.from ? 'held_over_close' : 'stale';
  });
  return ['stale', 'held_over_close'].find((state) => states.includes(state)) ?? 'fresh';
}

/** What the pool's own contract holds of the share, where a fact is that question. */
function balanceOf({ base, pool }, { said, addresses }) {
  const [, address] = pool.contract.split(':');
  if (address.length !== 42) return undefined;
  const call = `0x70a08231${'0'.repeat(24)}${address.slice(2)}`;
  const word = said.find((fact) => fact.contract === addresses[base] && fact.call === call)?.words[0];
  return word === undefined ? undefined : BigInt(word);
}

/** What a purchase of the size pays; nothing where it is refused. */
const purchaseOf = ({ base, size }, snapshot) => filled(saleOf(snapshot, 1 - base), size)?.out;

/** What the pool holds, over the slots that say so, and whether its state has noticed all of it. */
function balancesOf(asked, slots) {
  if (!REBASES.includes(asked.kind)) return { balance: null, noticed: true };
  const all = slots.map(([slot, snapshot]) => ({ slot, snapshot, held: balanceOf(asked, snapshot) }));
  const noticed = all.every(({ snapshot: { state }, held }) => state.protocol === 'constant_product' && held === state.reserves[asked.base]);
  const told = all.filter(({ held }) => held !== undefined)
    .map((one) => ({ ...one, paid: purchaseOf(asked, one.snapshot) }));
  const last = told.at(-1);
  const balance = last === undefined ? null : {
    balance_raw: raw(last.held),
    purchase_raw: raw(last.paid),
    slot: last.slot,
    slots: told.length,
    slots_short: told.filter(({ held, paid }) => paid !== undefined && paid > held).length,
  };
  return { balance, noticed };
}

/** Where the share stands in the last slot. */
function newestOf(asked, told) {
  if (told === undefined) return null;
  const { slot, snapshot, said } = told;
  const oracle = snapshot.usd[asked.base];
  const ui = () => {
    if (REBASES.includes(asked.kind)) return oracle;
    if (said.multiplier === undefined || said.multiplier === 0n) return undefined;
    return over(times(oracle, [10n ** BigInt(asked.decimals), 1n]), [said.multiplier, 1n]);
  };
  const shown = ui();
  return {
    effective_at_s: said.at === undefined ? null : Number(said.at),
    feed_paused: said.paused ?? null,
    multiplier_raw: raw(said.multiplier),
    oracle_price_usd: price(oracle),
    pending_multiplier_raw: raw(said.pending),
    slot,
    ui_price_usd: shown === undefined ? null : price(shown),
  };
}

/** The lines of slots that count, with session, place among the closures, and basis. */
function linesOf(asked, told) {
  const own = asked.calendars.find(({ token }) => token === asked.base);
  const { closures, stateAt } = own === undefined ? { closures: [], stateAt: () => 'unknown' } : regularOf(own);
  let [held, known] = [undefined, undefined];
  return told.flatMap(({ slot, at, snapshot, said, counts }) => {
    const { multiplier } = said;
    if (multiplier !== undefined) {
      if (known !== undefined && known !== multiplier && REBASES.includes(asked.kind)) held = undefined;
      known = multiplier;
    }
    if (!counts) return [];
    const place = closures.findIndex(({ to }) => to > at);
    const session = stateAt(at);
    let basis;
    if (session === 'regular') held = { place, usd: snapshot.usd[asked.base] };
    else if (place >= 0 && closures[place].from <= at && held?.place === place) {
      const usd = snapshot.usd.map((one, token) => (token === asked.base ? held.usd : one));
      const found = saleOf({ ...snapshot, usd }, asked.base).basis;
      basis = inRange(found) ? found : undefined;
    }
    return [{ ...lineOf(asked, slot, snapshot, at), at, session, place, basis, oracle: oracleOf(snapshot) }];
  });
}

const magnitude = ([a, b]) => [a < 0n ? -a : a, b];

/** The median of bases, and the one farthest from zero. */
function basisOf(lines, enough) {
  const all = lines.flatMap(({ basis }) => (basis === undefined ? [] : [basis])).sort(compare);
  const [low, high] = [all[0], all.at(-1)];
  const worst = low === undefined || compare(magnitude(high), magnitude(low)) >= 0 ? high : low;
  const told = (one) => pct(enough ? one : undefined);
  return { basis_to_last_close_pct_q50: told(rank(all, all.length, 50)), basis_to_last_close_pct_worst: told(worst) };
}

function sessionOf(session, lines, enough) {
  const own = lines.filter((line) => line.session === session);
  const all = spread(own, enough);
  const gaps = own.flatMap(({ found }) => (found === undefined ? [] : [found.gap])).sort(compare);
  return {
    ...basisOf(own, enough),
    gap_worst_pct: pct(enough && all.slots_refused === 0 ? gaps.at(-1) : undefined),
    session,
    spread: all,
  };
}

function reopeningOf(kind, closures, enough) {
  const own = closures.filter((closure) => closure.kind === kind);
  const gaps = own.flatMap(({ reopened }) => (reopened?.gap === undefined ? [] : [reopened.gap])).sort(compare);
  const told = (one) => pct(enough ? one : undefined);
  return {
    closure_kind: KINDS[kind],
    closures: own.length,
    reopening_gap_pct_q50: told(rank(gaps, gaps.length, 50)),
    reopening_gap_pct_worst: told(gaps.at(-1)),
    reopened: gaps.length,
  };
}

const distinct = (lines, session) => new Set(lines.filter((line) => line.session === session).map(({ place }) => place)).size;

/** The figure of standing slots, ascending, each with its snapshot. */
export function equity(asked, slots) {
  let before = 0;
  const told = slots.map(([slot, snapshot]) => {
    const at = Math.max(snapshot.timestamp, before);
    before = at;
    const said = saidOf(asked, snapshot);
    const due = dueOf(said, at);
    const action = said.paused === true || (due !== undefined && due - BigInt(at) <= WITHIN_S);
    return { slot, at, snapshot, said, action, counts: !action && said.whole };
  });
  requireCalendars(asked, slots.at(-1)?.[1]);
  const lines = linesOf(asked, told);
  const [sessions, weekends] = [distinct(lines, 'regular'), distinct(lines, 'weekend')];
  const enough = sessions >= NEEDED.sessions && weekends >= NEEDED.weekends;
  const events = eventsOf(told);
  const { balance, noticed } = balancesOf(asked, slots);
  const changed = events.some(({ event }) => event === 'multiplier_changed');
  const exact = noticed || (asked.kind === 'split_rebase' && !changed);
  const closures = closedOf(asked, lines);
  const share = (state) => {
    const part = lines.filter(({ oracle }) => oracle === state).length;
    return pct(enough ? [BigInt(part), BigInt(lines.length)] : undefined);
  };
  return {
    balance,
    ...basisOf(lines, enough),
    enough,
    events,
    exact,
    have_regular_sessions: sessions,
    have_slots: told.length,
    have_weekends: weekends,
    inexact_because: exact ? null : 'balances_change_unseen',
    needed_regular_sessions: NEEDED.sessions,
    needed_weekends: NEEDED.weekends,
    newest: newestOf(asked, told.at(-1)),
    oracle_fresh_pct: share('fresh'),
    oracle_held_over_close_pct: share('held_over_close'),
    oracle_stale_pct: share('stale'),
    reopening: KINDS.map((_, kind) => reopeningOf(kind, closures, enough)),
    sessions: SESSIONS.map((session) => sessionOf(session, lines, enough)),
    slots_corporate_action: told.filter(({ action }) => action).length,
    slots_missing: asked.to - asked.from + 1 - told.length,
    slots_without_facts: told.filter(({ action, counts }) => !action && !counts).length,
    status: statusOf(slots),
  };
}
