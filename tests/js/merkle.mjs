// Merkle trees of RFC 6962, section 2.1; the verification algorithms are those of RFC 9162,
// sections 2.1.3.2 and 2.1.4.2. Indices and sizes are whole numbers of either kind.

import { createHash } from 'node:crypto';

export function sha256(...parts) {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
}

export function leafHash(data) {
  return sha256(Buffer.of(0), data);
}

function nodeHash(left, right) {
  return sha256(Buffer.of(1), left, right);
}

/** Whether `hashes` leads from the leaf at `index` to the root of a tree of `size` leaves. */
export function includes(leaf, index, size, hashes, root) {
  if (index < 0 || index >= size) return false;
  let fn = BigInt(index);
  let sn = BigInt(size) - 1n;
  let computed = leaf;
  for (const hash of hashes) {
    if (sn === 0n) return false;
    if ((fn & 1n) === 1n || fn === sn) {
      computed = nodeHash(hash, computed);
      while ((fn & 1n) === 0n && fn !== 0n) [fn, sn] = [fn >> 1n, sn >> 1n];
    } else {
      computed = nodeHash(computed, hash);
    }
    [fn, sn] = [fn >> 1n, sn >> 1n];
  }
  return sn === 0n && computed.equals(root);
}

/** The complete subtrees whose hashes a proof of inclusion has or makes: no longer log changes them. */
export function completeSubtrees(leaf, index, size, hashes) {
  let [fn, sn, height, computed] = [BigInt(index), BigInt(size) - 1n, 0, leaf];
  const found = [[`0 ${fn}`, leaf]];
  const up = () => { [fn, sn, height] = [fn >> 1n, sn >> 1n, height + 1]; };
  for (const hash of hashes) {
    if ((fn & 1n) === 1n || fn === sn) {
      while ((fn & 1n) === 0n && fn !== 0n) up();
      found.push([`${height} ${fn - 1n}`, hash]);
      computed = nodeHash(hash, computed);
    } else {
      if (fn + 1n < sn) found.push([`${height} ${fn + 1n}`, hash]);
      computed = nodeHash(computed, hash);
    }
    up();
    if (fn < sn) found.push([`${height} ${fn}`, computed]);
  }
  return found;
}

/** Whether the tree of `first` leaves is the beginning of the tree of `second` leaves. */
export function extendsTree(first, firstRoot, second, secondRoot, hashes) {
  const [size, more] = [BigInt(first), BigInt(second)];
  if (size > more) return false;
  if (size === more) return hashes.length === 0 && firstRoot.equals(secondRoot);
  // The empty tree is the beginning of any other; its root is the hash of nothing.
  if (size === 0n) return hashes.length === 0 && firstRoot.equals(sha256());
  // A complete subtree stands for itself, so its hash is not repeated in the proof.
  const path = (size & (size - 1n)) === 0n ? [firstRoot, ...hashes] : hashes;
  if (path.length === 0) return false;
  let [fn, sn] = [size - 1n, more - 1n];
  while ((fn & 1n) === 1n) [fn, sn] = [fn >> 1n, sn >> 1n];
  let [older, newer] = [path[0], path[0]];
  for (const hash of path.slice(1)) {
    if (sn === 0n) return false;
    if ((fn & 1n) === 1n || fn === sn) {
      older = nodeHash(hash, older);
      newer = nodeHash(hash, newer);
      while ((fn & 1n) === 0n && fn !== 0n) [fn, sn] = [fn >> 1n, sn >> 1n];
    } else {
      newer = nodeHash(newer, hash);
    }
    [fn, sn] = [fn >> 1n, sn >> 1n];
  }
  return sn === 0n && older.equals(firstRoot) && newer.equals(secondRoot);
}
