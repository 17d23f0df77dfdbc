// Slot leaves, and what leads from a head through its leaf to a checkpoint.

import { documentBytes } from './canonical.mjs';
import { includes, leafHash } from './merkle.mjs';
import { base64Hash, code, fields, hexHash, integer, list, open, require, slot, string,
  U32_MAX } from './shape.mjs';

const MAX_BYTES = 4 * 1024;
const MAX_COMMITS = 16;

/** Documents by name, each by its hash: their names. Those that nobody knows are as good as others. */
export function readCommits(value) {
  if (value === undefined) return [];
  const commits = Object.entries(open(value, []));
  require(commits.length >= 1 && commits.length <= MAX_COMMITS, 'not 1 to 16 commitments');
  for (const [name, document] of commits) {
    code(name);
    hexHash(document);
  }
  return commits.map(([name]) => name);
}

export function readLeaf(value) {
  const bytes = documentBytes(value, MAX_BYTES);
  const leaf = fields(value, ['v', 'slot', 'pools', 'root'], ['commits']);
  return {
    bytes,
    commits: readCommits(leaf.commits),
    slot: slot(leaf.slot),
    pools: integer(leaf.pools, 0, U32_MAX),
    root: base64Hash(leaf.root),
  };
}

/** The form of a proof from a head to the root of its slot's leaf; not yet that it is one. */
export function readPoolProof(value) {
  const proof = fields(value, ['hashes', 'index']);
  integer(proof.index);
  list(proof.hashes).forEach(string);
  return proof;
}

/** Requires that a leaf commits to a head. */
export function requireSealed(headBytes, leaf, { hashes, index }) {
  require(includes(leafHash(headBytes), index, leaf.pools, hashes.map(base64Hash), leaf.root),
    'a leaf that does not commit to the head');
}

/** Requires that a log commits to a slot's leaf, at the slot's own index. */
export function requireLogged(leafBytes, ofSlot, { index, hashes, checkpoint }) {
  require(index === BigInt(ofSlot - checkpoint.firstSlot), 'not the index of the slot');
  require(includes(leafHash(leafBytes), index, checkpoint.size, hashes, checkpoint.root),
    'a log that does not commit to the leaf');
}
