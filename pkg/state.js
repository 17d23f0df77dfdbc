// Compares evidence with the state of the chain. The main module reads the evidence and returns what it claims as
// bytes; the module that is loaded here verifies the state proof, starting at its block, and compares the two.

import load, * as judge from './dist/proof.js';

import { bytes, list, options, text, wrong } from './arguments.js';
import { call, limits, once, wasm } from './module.js';

let isLoaded = false;

/** Loads the module that judges. */
export const startJudge = once('proof_bg.wasm', async (source) => {
  await load({ module_or_path: source });
  isLoaded = true;
});

const OUTCOMES = ['pass', 'fail', 'not_checked'];
const HASH = /^0x[0-9a-fA-F]{64}$/;

/** Whom the caller asked for the block, a line each: the hash, or `-`, and the name. */
function lineOf(block) {
  const { by, hash } = options(block, ['by', 'hash'], 'blocks');
  if (/[^ -~]/.test(text(by, 'blocks', 200))) throw wrong('blocks', 'a name must be printable ASCII');
  if (hash == null) return `- ${by}`;
  if (!HASH.test(text(hash, 'blocks', 100))) throw wrong('blocks', 'a block hash must be 0x and 64 hex digits');
  return `${hash.toLowerCase()} ${by}`;
}

const parted = (line) => (line === '' ? [] : line.split('\t'));

/** The report in the lines of an answer: six of each check, then four. */
function reportOf(answer) {
  const lines = answer.split('\n');
  const [left, says, rung, sentence] = lines.splice(-4);
  const checks = [];
  for (let at = 0; at < lines.length; at += 6) {
    const [name, outcome, code, expected, found, unproven] = lines.slice(at, at + 6);
    checks.push({ name, outcome, code, expected, found, unproven: parted(unproven) });
  }
  return { checks, unproven: parted(left), says, rung, sentence };
}

/** How many of those who were asked must have the block; 0: all. */
function leastOf(atLeast, asked) {
  if (atLeast == null) return 0;
  const isOne = Number.isInteger(atLeast) && atLeast >= 1 && atLeast <= asked;
  if (!isOne) throw wrong('atLeast', `it must be a whole number from 1 to ${asked}, the number of sources asked`);
  return atLeast;
}

/** Holds evidence against what the chain's own state says, and against the block of those who were asked for it. */
export function verifyState(evidence, proof, of) {
  return call(() => {
    const { blocks, atLeast, witnessed } = options(of, ['blocks', 'atLeast', 'witnessed']);
    const asked = list(blocks ?? undefined, 'blocks', 100, lineOf);
    const least = leastOf(atLeast, asked.length);
    if (witnessed != null && !OUTCOMES.includes(witnessed)) throw wrong('witnessed', 'an outcome must be pass, fail or not_checked');
    const file = proof == null ? new Uint8Array() : bytes(proof, 'proof', limits.proof);
    const claim = wasm.stateClaim(bytes(evidence, 'evidence', limits.evidence));
    return reportOf(judge.check(claim, file, asked.join('\n'), least, witnessed ?? ''));
  }, isLoaded && limits !== null, 'exitgap/proof');
}
