// When a market is open: a calendar's table, read from its canonical text, and what it says of an instant.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

import { Newer } from './shape.mjs';

const DAY_S = 86_400;

/** A table's trading days, each `{day, bounds}`, and its hash. */
function readTable(name) {
  const text = readFileSync(new URL(`../vectors/hours/${name}`, import.meta.url), 'latin1');
  const [title, columns, ...rows] = text.trimEnd().split('\n');
  if (columns !== 'overnight_open,pre_open,open,close,after_close') throw new Error('not a table');
  const days = rows.map((row) => {
    const bounds = row.split(',').map(Number);
    return { day: Math.floor(bounds[2] / DAY_S), bounds };
  });
  const hash = `0x${createHash('sha256').update(text, 'latin1').digest('hex')}`;
  return { name: title.split(' ')[0], days, hash };
}

const TABLES = [readTable('xnys_1.csv')];
/** The sessions that a calendar's suffix counts as open. */
const OPEN = {
  '': ['regular'],
  _extended: ['pre', 'regular', 'after'],
  _24x5: ['overnight', 'pre', 'regular', 'after'],
};
/** Which of a trading day's instants open and close it, by a calendar's suffix; the regular session's without one. */
const BOUNDS = [['_extended', 1, 4], ['_24x5', 0, 4], ['_continuous']];
const SUFFIXES = [...Object.keys(OPEN), '_continuous'];

/** Whether a day since 1970-01-01, which was a Thursday, is a Saturday or a Sunday. */
const isWeekend = (day) => [0, 6].includes((day + 4) % 7);

/** The session of an instant. */
function stateOf({ days }, at) {
  const next = days.findIndex(({ bounds }) => bounds[0] > at);
  const index = (next < 0 ? days.length : next) - 1;
  if (index < 0) return 'unknown';
  const { day, bounds: [, ...ends] } = days[index];
  const session = ends.findIndex((end) => at < end);
  if (session >= 0) return ['overnight', 'pre', 'regular', 'after'][session];
  if (next < 0) return 'unknown';
  const between = Array.from({ length: days[next].day - day - 1 }, (_, skipped) => day + 1 + skipped);
  return between.length > 0 && between.every(isWeekend) ? 'weekend' : 'holiday';
}

/** What follows an exchange's code in a calendar's name. */
const suffixOf = (calendar, { name }) => calendar.slice(name.indexOf('@'));

/** The table of a calendar; what only a later version knows, as `Newer`. */
export function tableOf(calendar, hash) {
  const tables = TABLES.filter(({ name }) => calendar.startsWith(name.split('@')[0].toLowerCase()));
  const known = tables.filter((table) => SUFFIXES.includes(suffixOf(calendar, table)));
  if (known.length === 0) return new Newer('calendar', calendar);
  return known.find((one) => one.hash === hash) ?? new Newer('table', hash);
}

/** What a calendar's table says of an instant: `{state, note, open}`; what only a later version knows, as `Newer`. */
export function sessionAt(calendar, hash, at) {
  const table = tableOf(calendar, hash);
  if (table instanceof Newer) return table;
  const state = stateOf(table, at);
  return { state, note: `${table.name}/${state}`, open: OPEN[suffixOf(calendar, table)]?.includes(state) ?? true };
}

/** The sessions of a calendar that count as open, each `{from, to, day}`, ascending; undefined where it is always open. */
function openOf(calendar, hash) {
  const table = TABLES.find(({ name, hash: own }) => own === hash && calendar.startsWith(name.split('@')[0].toLowerCase()));
  if (table === undefined) throw new Newer('table', hash);
  const [, opens, closes] = BOUNDS.find(([suffix]) => calendar.endsWith(suffix)) ?? ['', 2, 3];
  if (opens === undefined) return undefined;
  return table.days.map(({ day, bounds }) => ({ day, from: bounds[opens], to: bounds[closes] }));
}

/** What lies between two trading days: 0 a night, 1 a weekend, 2 a holiday. */
function kindBetween(before, next) {
  const days = Array.from({ length: next - before - 1 }, (_, skipped) => before + 1 + skipped);
  if (days.length === 0) return 0;
  return days.every(isWeekend) ? 1 : 2;
}

/** The times between the sessions of one calendar. */
function closuresOf(sessions) {
  const between = sessions.slice(1).map((next, at) => {
    const { day, to } = sessions[at];
    return { from: to, to: next.from, kind: kindBetween(day, next.day) };
  });
  return between.filter(({ from, to }) => from < to);
}

/**
 * The markets of some calendars, each `{calendar, table}`, open while all of them are: their closures, ascending, those
 * that touch as one of the greater kind, and whether all are open at an instant.
 */
export function marketsOf(calendars) {
  const open = calendars.map(({ calendar, table }) => openOf(calendar, table)).filter((sessions) => sessions !== undefined);
  const all = open.flatMap(closuresOf).sort((a, b) => a.from - b.from);
  const closures = [];
  for (const closure of all) {
    const last = closures.at(-1);
    if (last === undefined || closure.from > last.to) closures.push({ ...closure });
    else Object.assign(last, { to: Math.max(last.to, closure.to), kind: Math.max(last.kind, closure.kind) });
  }
  const isOpen = (at) => open.every((sessions) => sessions.some(({ from, to }) => from <= at && at < to));
  return { closures, isOpen };
}

/** The regular sessions' closures of a calendar's table, whatever its hours, and the session of an instant. */
export function regularOf({ calendar, table: hash }) {
  const table = TABLES.find((one) => one.hash === hash);
  const exchange = calendar.split('_')[0];
  return { ...marketsOf([{ calendar: exchange, table: hash }]), stateAt: (at) => stateOf(table, at) };
}

/** Compares a file of instants with what the first table says of them. */
export function judgeHours(cases) {
  const line = ({ at, state, open }) => `${at} ${state} ${open.join(' ')}`;
  const [{ hash }] = TABLES;
  const found = cases.map(({ at }) => {
    const said = SUFFIXES.map((suffix) => sessionAt(`xnys${suffix}`, hash, at));
    return { at, state: said[0].state, open: said.map(({ open }) => open) };
  });
  return { expected: cases.map(line), found: found.map(line) };
}
