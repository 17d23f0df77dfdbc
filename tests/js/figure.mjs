// Figure files: figures drawn from many snapshots, computed again.

import { bytesOf, parse, write } from './canonical.mjs';
import { accuracy, readAccuracy } from './accuracy.mjs';
import { decay, readParameters } from './decay.mjs';
import { depths, readDepths } from './depths.mjs';
import { hours, readHours } from './figure_hours.mjs';
import { equity, readEquity } from './figure_equity.mjs';
import { exposure, readExposure } from './exposure.mjs';
import { readFills } from './logged.mjs';
import { judgeSignatures, parseKey } from './note.mjs';
import { fields, hexHash, list, Newer, NotChecked, poolId, Refusal, require, slot, string, version1 } from './shape.mjs';
import { readPortfolio, readRoute, route } from './route.mjs';
import { readSnapshot, requireOf } from './snapshot.mjs';
import { nameOf } from './state.mjs';
import { readStress, stress } from './stress.mjs';
import { readWindow } from './window.mjs';

const MAX_WINDOWS = 24;
const MAX_BYTES = 32 * 1024 * 1024;

/** The accuracy record in one of its versions. */
const accuracyOf = (version) => ({
  read: (value) => {
    const asked = readAccuracy(value);
    return { ...asked, pools: [asked.pool] };
  },
  make: (asked, slots, documents) => accuracy(asked, slots.map(([at, [snapshot]]) => [at, snapshot]), documents, version),
  takesFills: true,
});

/** How each figure's parameters are read, its pools in their order, and what it makes of slots and snapshots. */
const FIGURES = {
  'accuracy/1': accuracyOf(1),
  'accuracy/2': accuracyOf(2),
  'decay/1': {
    read: (value) => {
      const asked = readParameters(value);
      return { ...asked, pools: [asked.pool] };
    },
    make: (asked, slots) => decay(asked, slots.map(([at, [snapshot]]) => [at, snapshot])),
  },
  'depths/1': {
    read: (value) => {
      const asked = readDepths(value);
      return { ...asked, pools: [asked.pool] };
    },
    make: (asked, slots) => depths(asked, slots.map(([at, [snapshot]]) => [at, snapshot])),
  },
  'equity/1': {
    read: (value) => {
      const asked = readEquity(value);
      return { ...asked, pools: [asked.pool] };
    },
    make: (asked, slots) => equity(asked, slots.map(([at, [snapshot]]) => [at, snapshot])),
  },
  'exposure/1': { read: readExposure, make: exposure },
  'exposure/2': { read: (value) => readExposure(value, 2), make: exposure },
  'hours/1': {
    read: (value) => {
      const asked = readHours(value);
      return { ...asked, pools: [asked.pool] };
    },
    make: (asked, slots) => hours(asked, slots.map(([at, [snapshot]]) => [at, snapshot])),
  },
  'portfolio/1': { read: readPortfolio, make: route },
  'route/1': { read: readRoute, make: route },
  'stress/1': { read: readStress, make: stress },
  'stress/2': { read: (value) => readStress(value, 2), make: stress },
};

function readFigure(bytes) {
  const value = parse(bytes, MAX_BYTES);
  // Of a figure that is not known, not even the fields are.
  if (typeof value?.figure === 'string' && !Object.hasOwn(FIGURES, value.figure)) throw new Newer('figure', value.figure);
  version1(value);
  const file = fields(value, ['v', 'figure', 'method', 'parameters', 'result', 'uses', 'windows'], ['fills']);
  const rules = FIGURES[string(file.figure)];
  if (string(file.method) !== '1.0.0') throw new Newer('method', file.method);
  const uses = list(file.uses).map((use) => {
    const { pool, slot: of, snapshot } = fields(use, ['pool', 'slot', 'snapshot']);
    return { pool: poolId(pool).name, slot: (slot(of), of), snapshot: hexHash(snapshot) };
  });
  require(file.fills === undefined || (rules.takesFills && file.fills.length > 0), 'documents of a figure that is drawn from none');
  const fills = list(file.fills ?? []).map((one) => {
    const { document, pool, slot: of } = fields(one, ['document', 'pool', 'slot']);
    return { document: hexHash(document), pool: poolId(pool).name, slot: (slot(of), of) };
  });
  const asked = rules.read(file.parameters);
  if (asked.newer !== undefined) throw asked.newer;
  return { rules, asked, fills, result: file.result, uses, windows: list(file.windows, MAX_WINDOWS) };
}

/** The heads of one pool's windows, unbroken, of the whole period. */
function headsOf(read, pool, { from, to, until = to }) {
  require(read.length > 0, 'no window of a pool');
  for (const [at, { heads: [first] }] of read.entries()) {
    if (at === 0) continue;
    const last = read[at - 1].heads.at(-1);
    require(first.prev === nameOf(last.bytes) && first.slot === last.slot + 1, 'a window that does not follow');
  }
  const heads = read.flatMap((window) => window.heads);
  require(heads[0].slot <= from && heads.at(-1).slot === until, 'windows of another period');
  require(read[0].heads.at(-1).slot >= from, 'a window that is not needed');
  return heads;
}

/** Requires that no two windows of one log give a place of its tree, or a size, different hashes. */
function requireOneHistory(read) {
  const [known, log] = [new Map(), read[0]?.checkpoint.origin];
  for (const { checkpoint, subtrees } of read.filter((window) => window.checkpoint.origin === log)) {
    for (const [place, hash] of [[`size ${checkpoint.size}`, checkpoint.root], ...subtrees]) {
      const same = known.get(place) ?? hash;
      require(same.equals(hash), 'windows of two histories of one log');
      known.set(place, hash);
    }
  }
}

/** The heads of each pool, and the checkpoint of each window. The windows of a pool stand together, in the pools' order. */
function readPeriod({ asked, windows }) {
  const read = windows.map((window) => readWindow(bytesOf(window)));
  requireOneHistory(read);
  const poolOf = ({ heads: [first] }) => first.pool.name;
  const names = asked.pools.map(({ name }) => name);
  const order = read.map((window) => names.indexOf(poolOf(window)));
  require(order.every((place, at) => place >= 0 && (at === 0 || order[at - 1] <= place)), 'windows of another pool, or out of order');
  const heads = asked.pools.map((pool) => headsOf(read.filter((window) => poolOf(window) === pool.name), pool, asked));
  return { heads, checkpoints: read.map(({ checkpoint }) => checkpoint), newer: read.find(({ newer }) => newer)?.newer };
}

/** The slots of the period that are recorded and taken back by no head. */
function standingOf(heads, { from, to }) {
  const retracted = new Set(heads.flatMap(({ retracts }) => retracts.map((taken) => taken.slot)));
  return heads.filter((head) => head.kind === 'snapshot' && head.slot >= from && head.slot <= to && !retracted.has(head.slot));
}

function requireSigned(checkpoints, keys) {
  if (keys.length === 0) throw new NotChecked('no trusted key');
  for (const checkpoint of checkpoints) {
    const { signed, forged } = judgeSignatures(checkpoint, keys);
    require(signed && !forged, 'a checkpoint that no trusted key signed');
    require(checkpoint.origin === checkpoints[0].origin, 'windows of two logs');
  }
}

function requireUses({ asked, uses }, heads) {
  const expected = heads.flatMap((own, place) => standingOf(own, asked)
    .map((head) => ({ place, use: { pool: asked.pools[place].name, slot: head.slot, snapshot: head.snapshot } })));
  expected.sort((a, b) => a.use.slot - b.use.slot || a.place - b.place);
  require(write(expected.map(({ use }) => use)) === write(uses), 'other snapshots than those of the standing slots');
}

/** Requires the documents that heads of the period commit to, all of them. */
function requireFills({ asked, fills }, heads) {
  const expected = heads.flatMap((own, place) => own
    .filter((head) => head.slot >= asked.from && head.fills !== undefined)
    .map((head) => ({ document: head.fills, pool: asked.pools[place].name, slot: head.slot })));
  require(write(expected) === write(fills), 'other documents than those that the heads commit to');
}

/** The documents of what pools logged, in the order of their heads. */
function readDocuments({ fills }, documentsOf) {
  return fills.map(({ document }) => {
    const [text] = documentsOf(document) ?? [];
    if (text === undefined) throw new NotChecked('a document that is not at hand');
    require(nameOf(Buffer.from(text)) === document, 'another document');
    return readFills(Buffer.from(text));
  });
}

/** The snapshots of the uses, by slot and pool; `documentsOf` gives the texts of a snapshot and its state. */
function readSnapshots({ asked, uses }, documentsOf) {
  const slots = new Map();
  for (const use of uses) {
    const documents = documentsOf(use.snapshot);
    if (documents === undefined) throw new NotChecked('a snapshot that is not at hand');
    require(nameOf(Buffer.from(documents[0])) === use.snapshot, 'another snapshot');
    const [value, state] = documents.map((text) => parse(Buffer.from(text), 5 * 1024 * 1024));
    const place = asked.pools.findIndex(({ name }) => name === use.pool);
    require(place >= 0, 'a snapshot of no pool of the figure');
    const snapshot = readSnapshot(value, state, asked.pools[place]);
    if (snapshot.newer) throw snapshot.newer;
    requireOf(snapshot, asked.pools[place], use.slot);
    if (!slots.has(use.slot)) slots.set(use.slot, asked.pools.map(() => undefined));
    slots.get(use.slot)[place] = snapshot;
  }
  return [...slots];
}

/**
 * Verifies a figure file for a caller who trusts `keys`, from the snapshots and documents that `documentsOf`
 * gives by their hash: texts of a snapshot and its state, or of a document.
 */
export function verifyFigure(bytes, documentsOf, spelledKeys) {
  const keys = spelledKeys.map(parseKey);
  const [checks, found] = [[], {}];
  const check = (name, run) => {
    try {
      run();
      checks.push({ name, outcome: 'pass' });
    } catch (error) {
      const refused = error instanceof Refusal;
      if (!refused && !(error instanceof NotChecked) && !(error instanceof Newer)) throw error;
      checks.push({ name, outcome: refused ? 'fail' : 'not_checked', code: error.code, why: error.message });
    }
  };
  const need = (part) => {
    if (found[part] === undefined) throw new NotChecked('what it builds on did not pass');
    return found[part];
  };
  check('format', () => { found.file = readFigure(bytes); });
  check('windows', () => {
    found.period = readPeriod(need('file'));
    if (found.period.newer) throw found.period.newer;
  });
  check('signature', () => requireSigned(need('period').checkpoints, keys));
  check('sealed_leaves', () => { throw new NotChecked('no leaves'); });
  check('uses', () => {
    requireUses(need('file'), need('period').heads);
    if (need('file').rules.takesFills) requireFills(need('file'), need('period').heads);
  });
  check('snapshots', () => {
    found.slots = readSnapshots(need('file'), documentsOf);
    found.documents = readDocuments(need('file'), documentsOf);
  });
  check('result', () => {
    const { rules, asked, result } = need('file');
    require(write(rules.make(asked, need('slots'), need('documents'))) === write(result), 'a result other than the one computed');
  });
  const failed = checks.some(({ outcome }) => outcome === 'fail');
  const open = checks.some(({ name, outcome }) => outcome !== 'pass' && name !== 'sealed_leaves');
  return { verdict: failed ? 'invalid' : open ? 'incomplete' : 'valid', checks };
}
