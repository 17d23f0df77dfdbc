// Runs the verifier over the shared vectors and compares.
//
//   node agree.mjs                     exits 0 only if every vector agrees
//   node agree.mjs --flip <vector>     expects something else of that vector, so it must not
//
// Evidence vectors say what a file and a caller's policy come to. Quote vectors say what the contracts
// themselves gave, in more pools than evidence is made of; `fills.mjs` does so for other venues.

import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { parseArgs } from 'node:util';

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

function judgeEvidence({ evidence, policy, expected }) {
  const { verdict, checks, unknown } = verify(Buffer.from(evidence), policy);
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
];
process.exitCode = agreed.every(Boolean) ? 0 : 1;
