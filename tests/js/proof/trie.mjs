// A walk down a Merkle-Patricia trie, through nodes that stand in the order in which it meets them.

import { require } from '../shape.mjs';
import { keccak } from './keccak.mjs';
import { item, items, split, text } from './rlp.mjs';

const NIBBLES = 64;
const EMPTY = Buffer.from([0x80]);

const nibble = (key, at) => (at % 2 === 0 ? key[at >> 1] >> 4 : key[at >> 1] & 15);

/** What a node of two items says: `{isLeaf, path}`, the nibbles of its path. */
function pathOf(packed) {
  require(packed.length > 0, 'a path without bytes');
  const flags = packed[0] >> 4;
  const isOdd = flags % 2 === 1;
  require(flags <= 3 && (isOdd || (packed[0] & 15) === 0), 'a path of another spelling');
  const path = [];
  for (let at = isOdd ? 1 : 2; at < 2 * packed.length; at += 1) path.push(nibble(packed, at));
  return { isLeaf: flags >= 2, path };
}

/** What a node says of a key of which `depth` nibbles lead to it: `{value}`, or `{child, depth}`. */
function step(node, key, depth) {
  if (node.equals(EMPTY)) return { value: null };
  const parts = items(node, 17);
  if (parts.length === 17) {
    require(depth < NIBBLES, 'a branch below a whole key');
    return { child: parts[nibble(key, depth)], depth: depth + 1 };
  }
  require(parts.length === 2, 'a node that is none');
  const { isLeaf, path } = pathOf(text(parts[0]));
  const end = depth + path.length;
  require(isLeaf ? end === NIBBLES : path.length > 0 && end < NIBBLES, 'a path of another length');
  if (path.some((one, at) => one !== nibble(key, depth + at))) return { value: null };
  return isLeaf ? { value: text(parts[1]) } : { child: parts[1], depth: end };
}

/** How many nibbles two keys share at their beginning. */
function shared(a, b) {
  let at = 0;
  while (at < NIBBLES && nibble(a, at) === nibble(b, at)) at += 1;
  return at;
}

/**
 * The payloads under keys, which ascend, below a root; null where the trie has none. The nodes are exactly those that the walk
 * meets, each once.
 */
export function walk(root, keys, nodes) {
  let left = nodes;
  const take = (named) => {
    require(left.length > 0, 'a node that is absent');
    const { whole, rest } = split(left);
    require(keccak(whole).equals(named), 'a node that does not hash to what names it');
    left = rest;
    return whole;
  };
  // The nodes that lead to the key before, and how deep each stands.
  let path = [];
  const values = keys.map((key, at) => {
    if (at === 0) {
      path = [{ node: take(root), depth: 0 }];
    } else {
      require(Buffer.compare(keys[at - 1], key) < 0, 'keys that do not ascend');
      const common = shared(keys[at - 1], key);
      path = path.filter(({ depth }, place) => place === 0 || depth <= common);
    }
    let { node, depth } = path.at(-1);
    for (;;) {
      const next = step(node, key, depth);
      if (next.value !== undefined) return next.value;
      ({ depth } = next);
      const { isList, payload, whole } = item(next.child);
      if (!isList && payload.length === 0) return null;
      if (isList) {
        require(whole.length < 32, 'a node in its parent that has room for its hash only');
        node = whole;
      } else {
        require(payload.length === 32, 'a child that is no hash');
        node = take(payload);
        path.push({ node, depth });
      }
    }
  });
  require(left.length === 0, 'nodes that nothing leads to');
  return values;
}

/** What a walk finds below a root of contracts or words by their names, in the order of these. */
export function found(root, names, nodes) {
  const keys = names.map((name, at) => ({ at, key: keccak(name) }))
    .sort((a, b) => Buffer.compare(a.key, b.key));
  const values = walk(root, keys.map(({ key }) => key), nodes);
  const inOrder = new Array(names.length);
  keys.forEach(({ at }, place) => { inOrder[at] = values[place]; });
  return inOrder;
}
