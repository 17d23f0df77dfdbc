// The lowest depths of a head window, borne out.

import { bytesOf } from './canonical.mjs';
import { requireDepths, requireReleased } from './method.mjs';
import { fields, list, Newer, NotChecked, require } from './shape.mjs';
import { readSnapshot, requireOf } from './snapshot.mjs';
import { nameOf } from './state.mjs';

/** The slots that later heads take back, for whatever reason. Each can be taken back once. */
function retractedSlots(heads, fromFirst) {
  const retracted = new Set();
  const firstSlot = heads[0].slot;
  for (const { slot: ofSlot } of heads.flatMap((head) => head.retracts)) {
    require(!retracted.has(ofSlot), 'a slot retracted twice');
    retracted.add(ofSlot);
    // A slot before the window cannot be looked up; before the first head there is none.
    const head = heads[ofSlot - firstSlot];
    require(head === undefined ? !fromFirst : head.kind === 'snapshot',
      'a retraction of a slot without a snapshot');
  }
  return retracted;
}

/** The first head with the lowest depth of a direction, if any has one. */
function lowestHead(heads, retracted, direction) {
  let lowest;
  for (const head of heads) {
    const own = head.depths?.[direction] ?? null;
    if (own === null || retracted.has(head.slot)) continue;
    if (lowest === undefined || BigInt(own) < BigInt(lowest.depths[direction])) lowest = head;
  }
  return lowest;
}

/** Requires that a head's depths are those of its snapshot; answers what keeps them from being told. */
function requireMeasured(head, value) {
  const { snapshot: document, state } = fields(value, ['snapshot', 'state']);
  require(nameOf(bytesOf(document)) === head.snapshot, 'another snapshot');
  try {
    const snapshot = readSnapshot(document, state, head.pool);
    requireOf(snapshot, head.pool, head.slot);
    if (snapshot.newer !== undefined) return snapshot.newer;
    requireReleased(head.methodVersion);
    requireDepths(snapshot, head.depths);
    return undefined;
  } catch (error) {
    if (error instanceof Newer || error instanceof NotChecked) return error;
    throw error;
  }
}

/**
 * Requires that the last head's lowest depths are those of the heads, and those their snapshots'.
 * Answers what is newer and keeps the second from being told.
 */
export function requireLowest(heads, fromFirst, given) {
  const retracted = retractedSlots(heads, fromFirst);
  const carriers = [0, 1].map((direction) => lowestHead(heads, retracted, direction));
  carriers.forEach((head, direction) => {
    const expected = head === undefined ? null : head.depths[direction];
    require(heads.at(-1).lowest[direction] === expected, 'a lowest depth that is not the lowest');
  });
  const wanted = [...new Set(carriers)].filter((head) => head !== undefined);
  const unknown = list(given, 2, wanted.length).map((value, at) => requireMeasured(wanted[at], value));
  return unknown.find(Boolean);
}
