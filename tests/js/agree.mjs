// Runs the verifier over the shared vectors and compares.
//
//   node agree.mjs                     exits 0 only if every vector agrees
//   node agree.mjs --flip <vector>     expects something else of that vector, so it must not
//
// Evidence vectors say what a file and a caller's policy come to. Quote vectors, and those of pools of
// other venues, say what the contracts themselves gave, in more pools than evidence is made of.

import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { parseArgs } from 'node:util';
import { inflateSync } from 'node:zlib';

import { judgeHours } from './hours.mjs';
import { poolOf } from './pools.mjs';
import { readState } from './state.mjs';
import { verify } from './verify.mjs';

/** Everything compared, as lines. But for what is newer, codes are each verifier's own. */
function lines(verdict, checks, { signers, commits, facts }) {
  const stable = (code) => (code?.startsWith('unsupported_') ? ` ${code}` : '');
  return [
    `verdict ${verdict}`,
    ...checks.map(([name, outcome, code]) => `${name} ${outcome}${stable(code)}`),
    ...signers.map((signer) => `unknown signer ${signer}`),
    ...commits.map((name) => `unknown commitment ${name}`),
    ...facts.map((name) => `unknown fact ${name}`),
  ];
}

/** Of this protocol the format page does not say how it fills, so that it is newer to this verifier. */
const UNTOLD = 'cryptoswap';
const RESTS_ON_THE_STATE = ['snapshot', 'head', 'slot_rule', 'result'];

/** What is to be said of a vector by a verifier to which the state is newer. */
function expectedOf(evidence, expected, checks) {
  const untold = evidence.includes(`"protocol":"${UNTOLD}"`);
  const newer = checks.some(({ name, code }) => name === 'snapshot' && code === 'unsupported_protocol');
  if (!untold || !newer) return expected;
  const left = expected.checks.map(([name, outcome, code]) => (RESTS_ON_THE_STATE.includes(name)
    ? [name, ...(name === 'slot_rule' ? ['pass'] : ['not_checked', 'unsupported_protocol'])]
    : [name, outcome, code]));
  const failed = left.some(([, outcome]) => outcome === 'fail');
  return { ...expected, checks: left, verdict: failed ? 'invalid' : 'incomplete' };
}

function judgeEvidence({ evidence, policy, expected: stated }) {
  const { verdict, checks, unknown } = verify(Buffer.from(evidence), policy);
  const expected = expectedOf(evidence, stated, checks);
  const { unknown_signers: signers, unknown_commits: commits, unknown_facts: facts } = expected;
  return {
    expected: lines(expected.verdict, expected.checks, { signers, commits, facts }),
    found: lines(verdict, checks.map(({ name, outcome, code }) => [name, outcome, code]), unknown),
  };
}

function expectedSale({ amount_in: amount, expected }) {
  switch (expected.outcome) {
    case 'filled':
      return `${amount} brings ${expected.amount_out}`;
    case 'zero_output':
      return `${amount} is refused`;
    case 'beyond_liquidity':
      return `${amount} is cut to ${expected.consumed}, for ${expected.paid}`;
    default:
      throw new Error(`an outcome this comparison does not know: ${expected.outcome}`);
  }
}

function foundSale(pool, amount) {
  const whole = pool.largest(amount);
  const { out } = pool.sell(whole);
  if (whole < amount) return `${amount} is cut to ${whole}, for ${out}`;
  return out > 0n || pool.givesNothing ? `${amount} brings ${out}` : `${amount} is refused`;
}

/** A quote's state as a state body. It says no gross liquidity, which no quote depends on. */
function bodyOf(state) {
  const withGross = ([tick, net]) => (net === '0' ? [tick, net, '1'] : [tick, net]);
  return { v: 1, ...state, ...(state.ticks && { ticks: state.ticks.map(withGross) }) };
}

function judgeQuotes({ state, token_in: base, sales }) {
  const pool = poolOf(readState(bodyOf(state)), base);
  return {
    expected: sales.map(expectedSale),
    found: sales.map(({ amount_in: amount }) => foundSale(pool, BigInt(amount))),
  };
}

/** The venues whose recorded fills this verifier knows the rules of, and what their states are. */
const VENUES = {
  pancake_v3: 'concentrated_liquidity',
  slipstream: 'concentrated_liquidity',
  uniswap_v4: 'concentrated_v4',
  algebra_integral: 'concentrated_linked',
};

/** What a contract did: took all, or as much as it says, or refused, where a price is at its limit. */
function expectedFill({ in: amount, out, consumed, revert }) {
  if (revert) return `${amount} is cut to 0, for 0`;
  if (consumed === undefined || consumed === amount) return `${amount} brings ${out}`;
  return `${amount} is cut to ${consumed}, for ${out}`;
}

/** Compares every recorded sale of the venues; says how many there were and how many disagreed. */
function compareVenues() {
  let [compared, disagreeing] = [0, 0];
  for (const [venue, protocol] of Object.entries(VENUES)) {
    const file = new URL(`../vectors/pools/${venue}.json.zz`, import.meta.url);
    for (const { id, state, cases } of JSON.parse(inflateSync(readFileSync(file))).pools) {
      const read = readState(bodyOf({ ...state, protocol }));
      const pools = [poolOf(read, 0), poolOf(read, 1)];
      for (const sale of cases) {
        const [expected, found] = [expectedFill(sale), foundSale(pools[sale.i], BigInt(sale.in))];
        compared += 1;
        if (expected === found) continue;
        disagreeing += 1;
        console.error(`pools/${id}: expected ${expected}, found ${found}`);
      }
    }
  }
  console.log(`pools: compared ${compared}, disagreeing ${disagreeing}`);
  return compared > 0 && disagreeing === 0;
}

/** Compares every vector of a folder; says how many there were and how many disagreed. */
function compare(kind, judge, flipped) {
  const folder = new URL(`../vectors/${kind}/`, import.meta.url);
  const names = readdirSync(folder).filter((name) => name.endsWith('.json')).sort();
  let disagreeing = 0;
  for (const name of names) {
    const { expected, found } = judge(JSON.parse(readFileSync(new URL(name, folder), 'utf8')));
    if (basename(name, '.json') === flipped) expected[0] += ', flipped';
    if (expected.join('\n') === found.join('\n')) continue;
    disagreeing += 1;
    console.error([`${kind}/${name}`, 'expected:', ...expected, 'found:', ...found].join('\n  '));
  }
  console.log(`${kind}: compared ${names.length}, disagreeing ${disagreeing}`);
  return names.length > 0 && disagreeing === 0;
}

const { values } = parseArgs({ options: { flip: { type: 'string' } } });
const agreed = [
  compare('evidence', judgeEvidence, values.flip),
  compare('quotes', judgeQuotes, values.flip),
  compare('hours', judgeHours, values.flip),
  compareVenues(),
];
process.exitCode = agreed.every(Boolean) ? 0 : 1;
