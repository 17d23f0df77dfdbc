// Words of storage: where contracts keep what a fill reads and what a feed answered, and what is found there.

import { require } from '../shape.mjs';
import { keccak } from './keccak.mjs';
import { number } from './rlp.mjs';

/** A number as a word, or a mapping's key: of one below zero, its complement. */
function word(value) {
  return Buffer.from(BigInt.asUintN(256, BigInt(value)).toString(16).padStart(64, '0'), 'hex');
}

const valueOf = (bytes) => BigInt(`0x${bytes.toString('hex')}`);
const after = (place, by) => word(valueOf(place) + BigInt(by));
const mapped = (key, place) => keccak(Buffer.concat([key, place]));

/** Bits of a word, counted from its low end. */
export const bitsOf = (value, from, count) => (value >> BigInt(from)) & ((1n << BigInt(count)) - 1n);

/** Where pairs keep their reserves, and what a word says of them. */
const PAIRS = {
  uniswap_v2: { places: [8], reserves: ([both]) => [bitsOf(both, 0, 112), bitsOf(both, 112, 112)] },
  aerodrome_v2: { places: [19, 20], reserves: (both) => both },
};

/** √price, liquidity, ticks and bitmap of pools of ranges. */
const RANGES = {
  uniswap_v3: [0, 4, 5, 6],
  pancake_v3: [0, 5, 6, 7],
  slipstream: [6, 16, 17, 18],
  uniswap_v4: [0, 3, 4, 5],
};

const FEEDS = {
  chainlink_flux: { newest: 7, from: 32, rounds: 9, times: true,
    read: ([round, times]) => ({ answer: round, updatedAt: bitsOf(times, 64, 64) }) },
  chainlink_ocr1: { newest: 43, from: 176, rounds: 44,
    read: ([round]) => ({ answer: bitsOf(round, 0, 192), updatedAt: bitsOf(round, 192, 64) }) },
  chainlink_ocr1_42: { newest: 42, from: 176, rounds: 43,
    read: ([round]) => ({ answer: bitsOf(round, 0, 192), updatedAt: bitsOf(round, 192, 64) }) },
  chainlink_ocr2: { newest: 11, from: 48, rounds: 12,
    read: ([round]) => ({ answer: bitsOf(round, 0, 192), updatedAt: bitsOf(round, 224, 32) }) },
};

const PROXY = 2;
/** The most words of a bitmap. */
const MAX_BITMAP_WORDS = 6_932;

export const isPair = (layout) => Object.hasOwn(PAIRS, layout);
export const isLayout = (layout) => isPair(layout) || Object.hasOwn(RANGES, layout);
export const isFeedLayout = (layout) => Object.hasOwn(FEEDS, layout);

/** The word that a leaf holds: none is zero, and so is one without digits. */
export const wordIn = (leaf) => (leaf === null ? 0n : number(leaf, 32));

/** The first and the last word of the bitmap that a range touches. */
function bitmapOf({ range: [low, high], spacing }) {
  const [first, last] = [low, high].map((tick) => Math.floor(tick / spacing) >> 8);
  require(last - first < MAX_BITMAP_WORDS, 'a range of too many words');
  return Array.from({ length: last - first + 1 }, (_, at) => first + at);
}

/** The ticks of a range that a word of the bitmap has. */
function ticksIn({ range: [low, high], spacing }, place, bits) {
  const ticks = [];
  for (let bit = 0; bit < 256; bit += 1) {
    const tick = (place * 256 + bit) * spacing;
    if (bitsOf(bits, bit, 1) === 1n && low <= tick && tick <= high) ticks.push(tick);
  }
  return ticks;
}

/** A pool's words: `places` that are walked to, and `read`, what their values say. */
function pairWords(layout) {
  const { places, reserves } = PAIRS[layout];
  return { places: places.map(word), read: (values) => ({ reserves: reserves(values) }) };
}

function rangeWords({ layout, id, ranges }) {
  const base = id === undefined ? word(0) : mapped(id, word(6));
  const [price, liquidity, ticks, bitmap] = RANGES[layout].map((at) => after(base, at));
  const words = bitmapOf(ranges);
  const places = [price, liquidity, ...words.map((one) => mapped(word(one), bitmap)),
    ...ranges.ticks.map((tick) => mapped(word(tick), ticks))];
  const read = (values) => {
    const set = words.flatMap((one, at) => ticksIn(ranges, one, values[2 + at]));
    require(set.length === ranges.ticks.length && set.every((tick, at) => tick === ranges.ticks[at]),
      'ticks other than the bitmap\'s');
    return { price: values[0], liquidity: values[1], ticks: values.slice(2 + words.length) };
  };
  return { places, read };
}

/** The words of a pool: its `places`, and how to `read` what stands there. */
export function poolWords(subject) {
  return isPair(subject.layout) ? pairWords(subject.layout) : rangeWords(subject);
}

/** The one word of a proxy that is read. */
export const proxyPlaces = [word(PROXY)];

/** The words of an aggregator that a round takes. */
export function feedPlaces({ layout, round }) {
  const { newest, rounds, times } = FEEDS[layout];
  const first = mapped(word(round), word(rounds));
  return [word(newest), first, ...(times ? [after(first, 1)] : [])];
}

/** What a feed answered, by its proxy's word and its aggregator's. */
export function readingIn({ feed, aggregator, layout, round }, proxy, [newest, ...rest]) {
  const { from, read } = FEEDS[layout];
  require(bitsOf(proxy, 16, 160) === valueOf(aggregator), 'an aggregator other than the proxy\'s');
  require(bitsOf(newest, from, 32) === BigInt(round), 'a round other than the newest');
  return { feed, round: (bitsOf(proxy, 0, 16) << 64n) | BigInt(round), ...read(rest) };
}
