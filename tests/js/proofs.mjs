// Holds snapshots against state proofs, and compares what is found with the shared vectors; then walks what real nodes
// of mainnet answered.
//
//   node proofs.mjs                    exits 0 only if every case agrees
//   node proofs.mjs --flip <vector>    expects something else of that vector's first case, so it must not

import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { parseArgs } from 'node:util';

import { readSize } from './method.mjs';
import { checkState } from './proof/check.mjs';
import { keccak } from './proof/keccak.mjs';
import { hash, items, number } from './proof/rlp.mjs';
import { found } from './proof/trie.mjs';
import { poolWords, wordIn } from './proof/words.mjs';
import { poolId, require } from './shape.mjs';

const bytesOf = (hex) => Buffer.from(hex.replace(/^0x/, ''), 'hex');

/** A proof's bytes, some of them replaced. */
function spliced(bytes, splice) {
  if (splice === undefined) return bytes;
  const [at, removed, added] = splice;
  return Buffer.concat([bytes.subarray(0, at), bytesOf(added), bytes.subarray(at + removed)]);
}

/** What this verifier says of a case, as the vectors spell it. */
function said({ pools, snapshots, proofs }, { snapshot, proof, splice, size, asked }) {
  const documents = { ...snapshots[snapshot], pool: poolId(pools[snapshot]) };
  const file = spliced(bytesOf(proofs[proof]), splice);
  const sale = size && { base: size[0], micro: readSize(size[1]) };
  const checks = checkState(documents, file, { size: sale, asked });
  return checks.map(({ name, outcome, code }) => `${name} ${outcome} ${code}`).join(', ');
}

function compareVectors(flipped) {
  const folder = new URL('../vectors/proofs/', import.meta.url);
  const names = readdirSync(folder).filter((name) => name.endsWith('.json')).sort();
  let [compared, disagreeing] = [0, 0];
  for (const name of names) {
    const vector = JSON.parse(readFileSync(new URL(name, folder), 'utf8'));
    vector.cases.forEach((one, at) => {
      const isFlipped = at === 0 && basename(name, '.json') === flipped;
      const expected = one.expected.join(', ') + (isFlipped ? ', flipped' : '');
      const own = said(vector, one);
      compared += 1;
      if (own === expected) return;
      disagreeing += 1;
      console.error(`${name}, ${one.name}:\n  expected ${expected}\n  found    ${own}`);
    });
  }
  console.log(`proofs: compared ${compared}, disagreeing ${disagreeing}`);
  return names.length > 0 && disagreeing === 0;
}

/** The nodes of several proofs of one trie, as one walk meets them: what a node answered is one proof a key. */
function inOrder(proofs) {
  const sorted = proofs.map(({ key, nodes }) => ({ key: keccak(key), nodes }))
    .sort((a, b) => Buffer.compare(a.key, b.key));
  return Buffer.concat(sorted.flatMap(({ nodes }, at) =>
    nodes.filter((node, depth) => at === 0 || !sorted[at - 1].nodes[depth]?.equals(node))));
}

const mainnet = (name) => JSON.parse(readFileSync(
  new URL(`../../crates/exitgap-core/src/proof/vectors/${name}.json`, import.meta.url), 'utf8'));
const nodesOf = (values) => values.map(bytesOf);
const wordOf = (hex) => bytesOf(hex.slice(2).padStart(64, '0'));

/** A header, an account and a word, as a node of mainnet answered them. */
function walkHeader() {
  const { block, header_rlp: rlp, proof } = mainnet('header');
  const header = items(bytesOf(rlp), 32);
  require(keccak(bytesOf(rlp)).equals(bytesOf(block.hash)), 'a header of another hash');
  require(number(header[8], 8) === BigInt(block.number) && number(header[11], 8) === BigInt(block.timestamp),
    'a header of another block');
  const [account] = found(hash(header[3]), [bytesOf(proof.address)], Buffer.concat(nodesOf(proof.accountProof)));
  const storage = hash(items(account, 4)[2]);
  const [{ key, value, proof: nodes }] = proof.storageProof;
  const [leaf] = found(storage, [wordOf(key)], Buffer.concat(nodesOf(nodes)));
  require(wordIn(leaf) === BigInt(value), 'another word');
}

/** Seven words of a pool, of which one is absent, where the layout says that they are. */
function walkPool() {
  const { pool } = mainnet('pool');
  const [account] = found(bytesOf(pool.stateRoot), [bytesOf(pool.address)], Buffer.concat(nodesOf(pool.accountProof)));
  const named = new Map(pool.storageProof.map((one) => [one.name, one]));
  const ranges = { range: [195_820, 195_820], spacing: 10, ticks: [195_820] };
  const { places } = poolWords({ layout: 'uniswap_v3', ranges });
  const own = ['slot0', 'liquidity', 'word76', 'tick195820'].map((name) => wordOf(named.get(name).key));
  require(places.every((place, at) => place.equals(own[at])), 'a word elsewhere than the layout says');
  const all = [...named.values()];
  const keys = all.map(({ key }) => wordOf(key));
  const nodes = inOrder(all.map(({ key, proof }) => ({ key: wordOf(key), nodes: nodesOf(proof) })));
  const leaves = found(hash(items(account, 4)[2]), keys, nodes);
  require(all.every(({ value }, at) => wordIn(leaves[at]) === BigInt(`0x${wordOf(value).toString('hex')}`)), 'another word');
  require(leaves.filter((leaf) => leaf === null).length === 1, 'not one that is absent');
}

const { values } = parseArgs({ options: { flip: { type: 'string' } } });
const agreed = compareVectors(values.flip);
walkHeader();
walkPool();
console.log('mainnet: a header, two accounts and eight words');
process.exitCode = agreed ? 0 : 1;
