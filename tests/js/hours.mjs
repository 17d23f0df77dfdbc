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

/** What a calendar's table says of an instant: `{state, note, open}`; what only a later version knows, as `Newer`. */
export function sessionAt(calendar, hash, at) {
  const tables = TABLES.filter(({ name }) => calendar.startsWith(name.split('@')[0].toLowerCase()));
  const suffixOf = ({ name }) => calendar.slice(name.indexOf('@'));
  const known = tables.filter((table) => SUFFIXES.includes(suffixOf(table)));
  if (known.length === 0) return new Newer('calendar', calendar);
  const table = known.find((one) => one.hash === hash);
  if (table === undefined) return new Newer('table', hash);
  const state = stateOf(table, at);
  return { state, note: `${table.name}/${state}`, open: OPEN[suffixOf(table)]?.includes(state) ?? true };
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
