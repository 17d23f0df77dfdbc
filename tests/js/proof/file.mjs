// State proofs by their bytes, `.egp`: what a block's state says of a pool, if it says anything.

import { parse } from '../canonical.mjs';
import { address, fields, hexHash, integer, list, require, string, text, U32_MAX, U64_MAX, version1 }
  from '../shape.mjs';
import { MAX_TICK, MIN_TICK } from '../ticks.mjs';
import { keccak } from './keccak.mjs';
import { hash, item, items, number } from './rlp.mjs';
import { found } from './trie.mjs';
import { feedPlaces, isFeedLayout, isLayout, isPair, poolWords, proxyPlaces, readingIn, wordIn } from './words.mjs';

const MAX_BYTES = 4 * 1024 * 1024;
const MAX_LINE = 128 * 1024;
const MAX_HEADER = 8 * 1024;
const MAX_FEEDS = 17;
const MAX_TICKS = 8_192;
const MAX_SPACING = 32_767;

const bytesOf = (hex) => Buffer.from(hex.slice(2), 'hex');

/** What of a header counts. */
export function readHeader(rlp) {
  require(rlp.length <= MAX_HEADER, 'a header of more than 8,192 bytes');
  const parts = items(rlp, 32);
  require(parts.length >= 15 && parts.length <= 32, 'a header of fewer than 15 or more than 32 fields');
  return {
    hash: keccak(rlp),
    parent: hash(parts[0]),
    stateRoot: hash(parts[3]),
    number: number(parts[8], 8),
    timestamp: number(parts[11], 8),
  };
}

/** The root of a contract's storage, and the hash of its code where that is one. */
function readAccount(account) {
  require(account !== null, 'no such contract');
  const parts = items(account, 4);
  require(parts.length === 4, 'an account that is none');
  const code = item(parts[3]);
  const isHash = !code.isList && code.payload.length === 32;
  return { storage: hash(parts[2]), codeHash: isHash ? code.payload : undefined };
}

export function readChain(value) {
  const [, id] = text(value, /^eip155:(0|[1-9][0-9]{0,19})$/, 'an EVM chain').split(':');
  require(BigInt(id) <= U64_MAX, 'a chain id of more than 64 bits');
  return value;
}

function readFeed(value) {
  const feed = fields(value, ['feed', 'aggregator', 'layout', 'round']);
  require(isFeedLayout(string(feed.layout)), 'no layout of feeds');
  return { feed: address(feed.feed), aggregator: bytesOf(address(feed.aggregator)), layout: feed.layout,
    round: integer(feed.round, 0, U32_MAX) };
}

/** Feeds ascend by their proxies. What is empty is left out. */
function readFeeds(values = []) {
  const feeds = list(values, MAX_FEEDS).map(readFeed);
  require(feeds.every(({ feed }, at) => at === 0 || feeds[at - 1].feed < feed), 'feeds out of order');
  return feeds;
}

function readRanges({ range, tick_spacing: spacing, ticks = [] }) {
  const [low, high] = list(range, 2, 2).map((tick) => integer(tick, MIN_TICK, MAX_TICK));
  require(low <= high, 'no range');
  integer(spacing, 1, MAX_SPACING);
  list(ticks, MAX_TICKS).forEach((tick, at) => {
    integer(tick, low, high);
    require(tick % spacing === 0, 'a tick off the spacing');
    require(at === 0 || ticks[at - 1] < tick, 'ticks that do not ascend');
  });
  return { range: [low, high], spacing, ticks };
}

/** What a line says is proven. */
function subjectOf(line) {
  const { layout } = line;
  require(isLayout(string(layout)), 'no layout');
  const named = ['range', 'tick_spacing', 'ticks'].filter((name) => line[name] !== undefined);
  const id = line.id === undefined ? undefined : bytesOf(hexHash(line.id));
  require((id !== undefined) === (layout === 'uniswap_v4'), 'an id where there is none, or none where there is one');
  if (isPair(layout)) require(named.length === 0, 'a pair with a range');
  const ranges = isPair(layout) ? undefined : readRanges(line);
  return { chain: readChain(line.chain), address: address(line.address), id, layout, ranges, feeds: readFeeds(line.feeds) };
}

const LINE = ['v', 'chain', 'block', 'address', 'layout', 'lengths'];
const OF_SOME = ['feeds', 'id', 'range', 'tick_spacing', 'ticks'];

/** The line, and the parts of bytes after it. */
function readParts(file) {
  require(file.length <= MAX_BYTES, `more than ${MAX_BYTES} bytes`);
  const end = file.subarray(0, MAX_LINE + 1).indexOf('\n');
  require(end >= 0, 'a first line that does not end');
  const line = parse(file.subarray(0, end), MAX_LINE);
  version1(line);
  fields(line, LINE, OF_SOME);
  // What holds nothing is left out, so that there is one spelling.
  for (const name of OF_SOME) require(line[name]?.length !== 0 && line[name] !== null, `an empty ${name}`);
  let left = file.subarray(end + 1);
  const parts = list(line.lengths, 4 + 2 * MAX_FEEDS).map((length) => {
    require(integer(length, 0, U32_MAX) <= left.length, 'a part longer than what there is');
    const part = left.subarray(0, length);
    left = left.subarray(length);
    return part;
  });
  require(left.length === 0, 'bytes after the last part');
  return { line, parts };
}

/** The next block's header, which must follow; undefined where it is not there. */
function readChild(rlp, header) {
  if (rlp.length === 0) return undefined;
  const child = readHeader(rlp);
  require(child.parent.equals(header.hash) && child.number === header.number + 1n, 'a header that does not follow');
  return child;
}

/** All contracts' accounts, by their addresses. */
function readContracts({ address: pool, feeds }, stateRoot, nodes) {
  const named = [pool, ...feeds.flatMap(({ feed, aggregator }) => [feed, `0x${aggregator.toString('hex')}`])];
  const contracts = [...new Set(named)];
  const accounts = found(stateRoot, contracts.map(bytesOf), nodes);
  return new Map(contracts.map((contract, at) => [contract, readAccount(accounts[at])]));
}

/**
 * Reads a file, and follows every word in it down from its block: `{subject, header, child, codeHash, words, readings}`, `words` being
 * `{reserves}` or `{price, liquidity, ticks}`. Whatever is wrong with it is a refusal.
 */
export function readProof(file) {
  const { line, parts } = readParts(file);
  const subject = subjectOf(line);
  require(parts.length === 4 + 2 * subject.feeds.length, 'not two parts for each feed');
  const [headerRlp, childRlp, accounts, storage, ...ofFeeds] = parts;
  const header = readHeader(headerRlp);
  require(`0x${header.hash.toString('hex')}` === hexHash(line.block), 'the header of another block');
  const child = readChild(childRlp, header);
  const contracts = readContracts(subject, header.stateRoot, accounts);
  const { codeHash } = contracts.get(subject.address);
  const values = (contract, places, nodes) => found(contracts.get(contract).storage, places, nodes).map(wordIn);
  const { places, read } = poolWords(subject);
  const words = read(values(subject.address, places, storage));
  const readings = subject.feeds.map((feed, at) => {
    const [proxy] = values(feed.feed, proxyPlaces, ofFeeds[2 * at]);
    const aggregator = `0x${feed.aggregator.toString('hex')}`;
    return readingIn(feed, proxy, values(aggregator, feedPlaces(feed), ofFeeds[2 * at + 1]));
  });
  return { subject, header, child, codeHash, words, readings };
}
