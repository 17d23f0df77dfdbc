// A snapshot beside what the chain's own state says: `header`, `pool_state`, `oracle_state`, `canonical`, `code`.

import { inRange, oneMinus, over, times } from '../decimal.mjs';
import { amountOf, depth, saleOf } from '../method.mjs';
import { readReading } from '../oracle.mjs';
import { instant, Newer, Refusal } from '../shape.mjs';
import { readSnapshot } from '../snapshot.mjs';
import { squareRoot } from '../square.mjs';
import { MAX_TICK, MIN_TICK, sqrtPriceAt } from '../ticks.mjs';
import { codeCheck } from './code.mjs';
import { readProof } from './file.mjs';
import { bitsOf } from './words.mjs';

const MICRO = 1_000_000n;
const MOST_SIZE = 10n ** 15n;

const passed = (name) => ({ name, outcome: 'pass', code: 'ok' });
const failed = (name, code) => ({ name, outcome: 'fail', code });
const unchecked = (name, code) => ({ name, outcome: 'not_checked', code });

/** What a snapshot's facts say of its pool's layout: the first that says anything. */
const LAYOUT_OF_FACT = {
  aerodrome_v2: 'aerodrome_v2',
  pancake_v3: 'pancake_v3',
  pool_key: 'uniswap_v4',
  slipstream: 'slipstream',
  sushi_v3: 'uniswap_v3',
  uniswap_v2: 'uniswap_v2',
  uniswap_v3: 'uniswap_v3',
};

/** The kinds of state that a layout can be held against. */
const LAYOUTS_OF_STATE = {
  constant_product: ['uniswap_v2'],
  solidly: ['aerodrome_v2'],
  concentrated_liquidity: ['uniswap_v3', 'pancake_v3', 'slipstream'],
  concentrated_v4: ['uniswap_v4'],
};

/** Whether a proof is of a snapshot's block and pool at all. */
function isOf({ subject, header }, { block, chain, contract, facts }) {
  const [, named] = contract.split(':');
  const isId = named.length === 66;
  const manager = facts.find(({ name }) => name === 'pool_key')?.contract;
  const holder = isId ? manager : named;
  const layout = facts.map(({ name }) => LAYOUT_OF_FACT[name]).find((one) => one !== undefined);
  const id = subject.id && `0x${subject.id.toString('hex')}`;
  return `0x${header.hash.toString('hex')}` === block.hash
    && subject.chain === chain.caip2
    && id === (isId ? named : undefined)
    && (holder === undefined || subject.address === holder)
    && (layout === undefined || subject.layout === layout);
}

function headerCheck({ header, child }, { block, slot }) {
  const same = header.number === BigInt(block.number) && header.timestamp === BigInt(block.timestamp);
  if (!same) return failed('header', 'block_differs');
  const late = child !== undefined && child.timestamp <= BigInt(instant(slot));
  // Anyone can write a header that follows: by itself it shows no fault.
  return late ? unchecked('header', 'not_the_last_block') : passed('header');
}

/** What of a pool's first word counts: √price and tick, and of Uniswap v4 the fees. */
function priceBits({ layout }) {
  return layout === 'uniswap_v4' ? 232 : 184;
}

function claimedPrice({ layout }, { sqrt_price_x96: price, tick, protocol_fee: protocol, lp_fee_pips: providers }) {
  const low = BigInt(price) | (BigInt.asUintN(24, BigInt(tick)) << 160n);
  if (layout !== 'uniswap_v4') return low;
  const [zero, one] = protocol.map(BigInt);
  return low | (zero << 184n) | (one << 196n) | (BigInt(providers) << 208n);
}

/** A tick's first word: gross below, net above. */
function claimedTick([, net, gross]) {
  const signed = BigInt(net);
  const size = gross === undefined ? (signed < 0n ? -signed : signed) : BigInt(gross);
  return (BigInt.asUintN(128, signed) << 128n) | size;
}

/** Whether a state's words are those that were proven. */
function sameWords({ subject, words }, state) {
  if (words.reserves !== undefined) {
    return words.reserves.every((reserve, at) => String(reserve) === state.reserves[at]);
  }
  const { range: [low, high], spacing, ticks } = subject.ranges;
  const own = state.ticks.filter(([tick]) => low <= tick && tick <= high);
  return bitsOf(words.price, 0, priceBits(subject)) === claimedPrice(subject, state)
    && String(bitsOf(words.liquidity, 0, 128)) === state.liquidity
    && spacing === state.tick_spacing
    && own.length === ticks.length
    && own.every((one, at) => one[0] === ticks[at] && claimedTick(one) === words.ticks[at]);
}

/** The tick that a √price lies in. */
function tickAt(price) {
  let [last, past] = [MIN_TICK, MAX_TICK + 1];
  while (past - last > 1) {
    const middle = Math.floor((last + past) / 2);
    if (sqrtPriceAt(middle) <= price) last = middle;
    else past = middle;
  }
  return last;
}

/** The tick at which a sale leaves the price; null where the pool does not take all of it. */
function endOf({ pool, baseUnit, quoteUnit, basis }, base, micro) {
  const endAt = (amount) => {
    if (pool.largest(amount) < amount) return null;
    const { after } = pool.sell(amount);
    // The mid price is the square of this one, or its inverse.
    return tickAt(squareRoot(after[base]));
  };
  const amount = amountOf(micro, baseUnit);
  const end = amount === 0n ? null : endAt(amount);
  if (amount !== 0n && end === null) return null;
  // What comes to no figures reads as much as one raw unit does.
  const out = amount === 0n ? 0n : pool.sell(amount).out;
  const gap = out > 0n && oneMinus(over(times([out, amount], quoteUnit), baseUnit));
  return out > 0n && inRange(basis) && inRange(gap) ? end : endAt(1n);
}

/** The ticks that the sale asked about and both depths at 2% read; of each depth also the first dollar that does not pass. */
function neededRange(snapshot, size) {
  const ends = [snapshot.state.tick];
  for (const base of [0, 1]) {
    const sale = saleOf(snapshot, base);
    const found = depth(snapshot, base);
    const beyond = found === null ? MOST_SIZE + 1n : (found + 1n) * MICRO;
    const sizes = [...(size?.base === base ? [size.micro] : []), ...(beyond <= MOST_SIZE ? [beyond] : [])];
    ends.push(...sizes.map((micro) => endOf(sale, base, micro)));
  }
  return ends.includes(null) ? [MIN_TICK, MAX_TICK] : [Math.min(...ends), Math.max(...ends)];
}

function poolCheck(proof, { state }, snapshot, size) {
  const { subject } = proof;
  const layouts = LAYOUTS_OF_STATE[state.protocol] ?? [];
  if (!layouts.includes(subject.layout)) return unchecked('pool_state', 'unsupported_layout');
  if (!sameWords(proof, state)) return failed('pool_state', 'state_differs');
  if (subject.ranges === undefined) return passed('pool_state');
  const [low, high] = neededRange(snapshot, size);
  const { range } = subject.ranges;
  const covered = range[0] <= low && high <= range[1];
  return covered ? passed('pool_state') : unchecked('pool_state', 'beyond_proven_range');
}

function oracleCheck({ readings }, { oracles, tokens }) {
  let unproven = false;
  for (const { sequencer, answer, round } of oracles.map((one) => readReading(one, tokens.length))) {
    // When a sequencer's feed was last asked counts, and how it keeps that is not known.
    if (sequencer) continue;
    const proven = round && readings.find(({ feed }) => feed === round.feed);
    if (proven === undefined) {
      unproven = true;
      continue;
    }
    const same = proven.round === round.id && proven.answer === answer && proven.updatedAt === BigInt(round.updatedAt);
    if (!same) return failed('oracle_state', 'reading_differs');
  }
  return unproven ? unchecked('oracle_state', 'reading_unproven') : passed('oracle_state');
}

/** Whether the chain has the block, by those who were asked: `[by, hash]`, null where no hash came. */
function canonicalCheck(asked, { block }) {
  if (asked.some(([, hash]) => hash !== null && hash !== block.hash)) return failed('canonical', 'other_block');
  const all = asked.every(([, hash]) => hash !== null);
  return all ? passed('canonical') : unchecked('canonical', 'not_answered');
}

/** The proof in a file that is of this snapshot; undefined where there is none. */
function usable(file, documents) {
  try {
    const proof = readProof(file);
    return isOf(proof, documents) ? proof : undefined;
  } catch (error) {
    // What a later version made of it proves nothing here either.
    if (error instanceof Refusal || error instanceof Newer) return undefined;
    throw error;
  }
}

/** What is said where no file is a proof of this snapshot; of a state that no layout keeps, that there can be none. */
function withoutProof({ state }) {
  const ofPool = LAYOUTS_OF_STATE[state.protocol] === undefined ? 'unsupported_layout' : 'proof_unusable';
  return [unchecked('header', 'proof_unusable'), unchecked('pool_state', ofPool), unchecked('oracle_state', 'proof_unusable')];
}

/**
 * Holds a snapshot and its state, as documents, of the pool that `pool` names, against the bytes of a proof. `size`
 * (`{base, micro}`) is the sale that is asked about, `asked` whom the reader asked for the block, and `code` what somebody handed
 * over as the contract's code.
 */
export function checkState({ snapshot: document, state, pool }, file, { size, asked = [], code } = {}) {
  const snapshot = readSnapshot(document, state, pool);
  const documents = { ...document, state };
  const proof = usable(file, documents);
  const checks = proof === undefined
    ? withoutProof(documents)
    : [headerCheck(proof, documents), poolCheck(proof, documents, snapshot, size), oracleCheck(proof, documents)];
  if (asked.length > 0) checks.push(canonicalCheck(asked, documents));
  const ofCode = proof && codeCheck(proof, documents, code);
  return ofCode === undefined ? checks : [...checks, ofCode];
}
