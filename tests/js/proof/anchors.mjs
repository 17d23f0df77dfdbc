// A day's anchors, from the format page alone: which blocks follow from the block that the file begins at.

import { parse } from '../canonical.mjs';
import { fields, hexHash, integer, list, require, U32_MAX, version1 } from '../shape.mjs';
import { readChain, readHeader } from './file.mjs';
import { hash, items, number } from './rlp.mjs';
import { found } from './trie.mjs';

const MAX_BYTES = 2 * 1024 * 1024;
const MAX_LINE = 32 * 1024;
const MAX_HOPS = 64;
const MAX_BLOCKS = 640;
const HISTORY = Buffer.from('0000f90827f1c53a10cb7a02335b175320002935', 'hex');
const RING = 8_191n;
const RING_OF_ARBITRUM = 393_168n;
const ARBITRUM = ['eip155:42161', 'eip155:42170', 'eip155:421614'];

const word = (value) => Buffer.from(value.toString(16).padStart(64, '0'), 'hex');

/** The hashes that a block's history contract has of blocks. */
function historyOf(header, blocks, ring, accounts, storage) {
  const [account] = found(header.stateRoot, [HISTORY], accounts);
  require(account !== null, 'no history of blocks');
  const parts = items(account, 4);
  require(parts.length === 4, 'an account that is none');
  const words = found(hash(parts[2]), blocks.map((block) => word(block % ring)), storage);
  return words.map((leaf) => {
    require(leaf !== null, 'a block without a hash');
    return word(number(leaf, 32));
  });
}

/** Reads a file; the block that it begins at, and `[number, hash]` of every block that follows from it. */
export function readAnchors(file) {
  require(file.length <= MAX_BYTES, 'too long');
  const end = file.subarray(0, MAX_LINE + 1).indexOf('\n');
  require(end >= 0, 'a first line that does not end');
  const line = parse(file.subarray(0, end), MAX_LINE);
  version1(line);
  fields(line, ['v', 'chain', 'day', 'block', 'hops']);
  integer(line.day, 0, U32_MAX);
  const hops = list(line.hops, MAX_HOPS).map((hop) => {
    fields(hop, ['blocks', 'lengths']);
    const blocks = list(hop.blocks).map((block) => BigInt(integer(block)));
    require(blocks.length > 0 && blocks.every((block, at) => at === 0 || blocks[at - 1] < block), 'blocks out of order');
    return { blocks, lengths: list(hop.lengths, 3, 3).map((length) => integer(length, 0, U32_MAX)) };
  });
  require(hops.length > 0 && hops.reduce((sum, { blocks }) => sum + blocks.length, 0) <= MAX_BLOCKS, 'too few or too many');
  const ring = ARBITRUM.includes(readChain(line.chain)) ? RING_OF_ARBITRUM : RING;
  let left = file.subarray(end + 1);
  let expected = Buffer.from(hexHash(line.block).slice(2), 'hex');
  let lowest;
  const proven = hops.flatMap(({ blocks, lengths }) => {
    const parts = lengths.map((length) => {
      require(length <= left.length, 'a part longer than what there is');
      const part = left.subarray(0, length);
      left = left.subarray(length);
      return part;
    });
    const header = readHeader(parts[0]);
    require(header.hash.equals(expected) && (lowest === undefined || header.number === lowest), 'another header');
    require(blocks.every((block) => block < header.number && header.number - block <= ring), 'a block out of reach');
    const hashes = historyOf(header, blocks, ring, parts[1], parts[2]);
    require(hashes.every((one) => !one.equals(word(0n))), 'a block without a hash');
    [expected] = hashes;
    [lowest] = blocks;
    return blocks.map((block, at) => [block, hashes[at].toString('hex')]);
  });
  require(left.length === 0, 'bytes after the last part');
  return { chain: line.chain, block: line.block, proven };
}
