// Checks a service's log across visits: the client keeps the newest checkpoint that it has seen, and every later
// checkpoint of the service must be consistent with it. Consistency is proven from the log's tiles (C2SP tlog-tiles).
// Two checkpoints that cannot both belong to one log are kept as a proof that `exitgap verify` reads.

import { notAsSpecified } from './answers.js';
import { text, wrong } from './arguments.js';
import { ExitgapError } from './error.js';

const WIDTH = 256;
const HEIGHT = 8;

/** The largest power of two below `size`, which is at least two. */
function leftSize(size) {
  let left = 1;
  while (left * 2 < size) left *= 2;
  return left;
}

/** The runs of leaves whose roots prove that the first `old` leaves are a prefix of `size`, in the proof's order. */
function consistencyRuns(old, size) {
  const runs = [];
  let [start, end] = [0, size];
  while (old !== end) {
    const middle = start + leftSize(end - start);
    if (old <= middle) {
      runs.push([middle, end]);
      end = middle;
    } else {
      runs.push([start, middle]);
      start = middle;
    }
  }
  if (start > 0) runs.push([start, end]);
  return runs.reverse();
}

/** The complete subtrees that a run of leaves is made of, from left to right. */
function subtreesOf([from, end]) {
  const found = [];
  for (let start = from; start < end;) {
    let [height, width] = [0, 1];
    while (start + width * 2 <= end && start % (width * 2) === 0) [height, width] = [height + 1, width * 2];
    found.push({ height, index: start / width });
    start += width;
  }
  return found;
}

async function nodeHash(left, right) {
  const node = new Uint8Array(65);
  node[0] = 1;
  node.set(left, 1);
  node.set(right, 33);
  return new Uint8Array(await crypto.subtle.digest('SHA-256', node));
}

/** The root over hashes whose number is a power of two. */
async function rootOf(hashes) {
  let level = hashes;
  while (level.length > 1) {
    const pairs = Array.from({ length: level.length / 2 }, (_, at) => nodeHash(level[2 * at], level[2 * at + 1]));
    level = await Promise.all(pairs);
  }
  return level[0];
}

/** The path of a tile: the digits of its place in threes, all but the last marked. */
function tilePath(level, place, width) {
  const digits = String(place).padStart(Math.ceil(String(place).length / 3) * 3, '0').match(/.{3}/g);
  const path = digits.map((three, at) => (at < digits.length - 1 ? `x${three}` : three)).join('/');
  return `tile/${level}/${path}${width < WIDTH ? `.p/${width}` : ''}`;
}

/**
 * What the tiles of a log of `size` leaves say: the proof that its first `old` are a prefix, and the two roots to which that
 * proof leads, so that tiles which contradict each other accuse nobody.
 */
async function told(old, size, fetchTile) {
  const tiles = new Map();
  const hashOf = async ({ height, index }) => {
    const level = Math.floor(height / HEIGHT);
    const span = 2 ** (height % HEIGHT);
    const [place, hashes] = [Math.floor((index * span) / WIDTH), Math.floor(size / WIDTH ** level)];
    const path = tilePath(level, place, Math.min(WIDTH, hashes - place * WIDTH));
    if (!tiles.has(path)) tiles.set(path, fetchTile(path, Math.min(WIDTH, hashes - place * WIDTH)));
    const from = index * span - place * WIDTH;
    return rootOf((await tiles.get(path)).slice(from, from + span));
  };
  const runRoot = async (run) => {
    const roots = [];
    for (const one of subtreesOf(run)) roots.push(await hashOf(one));
    let whole = roots.pop();
    while (roots.length > 0) whole = await nodeHash(roots.pop(), whole);
    return whole;
  };
  const runs = consistencyRuns(old, size);
  const proof = [];
  for (const run of runs) proof.push(await runRoot(run));
  // If the first run ends at the older size, both trees contain it: both roots are computed starting from it.
  const begun = runs.length > 0 && runs[0][1] === old ? 1 : 0;
  let oldRoot = begun === 1 ? proof[0] : await runRoot([0, old]);
  let root = oldRoot;
  for (let at = begun; at < runs.length; at++) {
    const isLater = runs[at][0] >= old;
    if (!isLater) oldRoot = await nodeHash(proof[at], oldRoot);
    root = await (isLater ? nodeHash(root, proof[at]) : nodeHash(proof[at], root));
  }
  return { proof, oldRoot, root };
}

const base64 = (bytes) => btoa(String.fromCharCode(...bytes));

/** Origin, size and root of a checkpoint. Nothing of it is checked. */
export function checkpointOf(note) {
  const [origin, size, root] = note.split('\n');
  return { origin, size: /^(0|[1-9]\d{0,14})$/.test(size) ? Number(size) : undefined, root };
}

/** That an older state of a log is a prefix of a newer one, as its tiles tell it: hashes in base64. */
export async function consistencyProof(older, newer, fetchTile, url) {
  if (globalThis.crypto?.subtle === undefined) {
    const hint = 'a page has SHA-256 (crypto.subtle) only over https or on localhost';
    throw new ExitgapError('not_comparable', 'the log was seen before, and cannot be compared here', { hint });
  }
  const { proof, oldRoot, root } = await told(older.size, newer.size, fetchTile);
  if (base64(root) !== newer.root) {
    throw notAsSpecified(url, `its tiles do not give the root of its ${newer.size} slots`);
  }
  return { proof: proof.map(base64), oldRoot: base64(oldRoot) };
}

/** Two signed states that cannot both be a log's, as a file: that the newer one has another past than the older. */
export function forkOf(notes, { proof, oldRoot }) {
  return JSON.stringify({ checkpoints: notes, proof, root: oldRoot, v: 1 });
}

/** Where a client keeps what it saw: small texts by name. Ends with the program. */
export class MemoryStorage {
  #texts = new Map();

  get(name) {
    return this.#texts.get(name) ?? null;
  }

  put(name, value) {
    this.#texts.set(name, value);
  }
}

/** What a page's `localStorage` keeps, or another of its kind. */
export function webStorage(area = globalThis.localStorage) {
  if (typeof area?.getItem !== 'function') throw wrong('area', 'it is not the storage of a page');
  return { get: (name) => area.getItem(name), put: (name, value) => area.setItem(name, value) };
}

/** A storage that a caller gave. */
export function storageOf(value) {
  if (value === undefined) return new MemoryStorage();
  if (typeof value?.get !== 'function' || typeof value.put !== 'function') {
    throw wrong('storage', 'it must have get and put', 'use webStorage() in a page or fileStorage(path) in Node');
  }
  return value;
}

/** Those of the keys that are a log's. */
const keysOfLog = (origin, keys) => keys.filter((key) => key.startsWith(`${origin}+`));

/** Where a checkpoint is kept that a key signed. The key has the log's name. */
const nameOf = (key) => `exitgap checkpoint ${key}`;

/** Whether a note has a signature line with the number of a key. */
function names(note, key) {
  const number = key.match(/^[^+]*\+([0-9a-f]{8})\+/)?.[1];
  return note.slice(note.indexOf('\n\n')).split('\n').some((line) => {
    const signature = line.match(/^\u2014 \S+ ([A-Za-z0-9+/]{8})/)?.[1];
    return signature !== undefined && Array.from(atob(signature).slice(0, 4), hexOf).join('') === number;
  });
}

const hexOf = (byte) => byte.charCodeAt(0).toString(16).padStart(2, '0');

/** What is kept of one service. */
export class Kept {
  #storage;
  #base;

  constructor(storage, base) {
    this.#storage = storage;
    this.#base = base;
  }

  async #text(name) {
    const found = await this.#storage.get(name);
    return found === null || found === undefined ? undefined : text(found, 'storage', 65_536);
  }

  /** The keys that signed what is kept; none before the first visit. */
  async keys() {
    const found = await this.#text(`exitgap keys ${this.#base}`);
    return found === undefined ? [] : found.split('\n').filter((line) => line !== '');
  }

  /** The newest checkpoint seen of a log, at whichever address: a log is known by its name and its key. */
  async checkpoint(origin, keys) {
    let newest;
    // Earlier versions kept it by the service's address.
    const former = `exitgap checkpoint ${this.#base} ${origin}`;
    for (const name of [...keysOfLog(origin, keys).map(nameOf), former]) {
      const note = await this.#text(name);
      if (note === undefined) continue;
      const kept = checkpointOf(note);
      if (kept.origin !== origin || !(kept.size > 0)) {
        throw new ExitgapError('kept_unusable', `the saved checkpoint of ${origin} is not a checkpoint of this log`);
      }
      if (newest === undefined || checkpointOf(newest).size < kept.size) newest = note;
    }
    return newest;
  }

  /** Keeps a checkpoint in place of the one that it was held against, unless another visit has put its own there meanwhile. */
  async keep(before, note, keys) {
    const { origin } = checkpointOf(note);
    if ((await this.checkpoint(origin, keys)) !== before) return;
    const known = await this.keys();
    const own = keysOfLog(origin, keys);
    // Stores the keys first: a checkpoint without its key could not be verified again.
    const added = own.filter((key) => !known.includes(key));
    if (added.length > 0) await this.#storage.put(`exitgap keys ${this.#base}`, [...known, ...added].join('\n'));
    for (const key of own.filter((key) => names(note, key))) await this.#storage.put(nameOf(key), note);
  }
}
