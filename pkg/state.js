// Evidence held against the chain's own state. The main module reads the evidence and says in bytes what it claims; the one
// that is loaded here follows a proof down from its block, and compares.

import load, * as judge from './dist/proof.js';

import { bytes, list, options, text, wrong } from './arguments.js';
import { call, limits, once, wasm } from './module.js';

let isLoaded = false;

/** Loads the module that judges. */
export const startJudge = once('proof_bg.wasm', async (source) => {
  await load({ module_or_path: source });
  isLoaded = true;
});

const HASH = /^0x[0-9a-fA-F]{64}$/;

/** Whom the caller asked for the block, a line each: the hash, or `-`, and the name. */
function lineOf(block) {
  const { by, hash } = options(block, ['by', 'hash'], 'blocks');
  if (/[^ -~]/.test(text(by, 'blocks', 200))) throw wrong('blocks', 'a name is printable ASCII');
  if (hash == null) return `- ${by}`;
  if (!HASH.test(text(hash, 'blocks', 100))) throw wrong('blocks', 'a block\'s hash is 0x and 64 hex digits');
  return `${hash.toLowerCase()} ${by}`;
}

const parted = (line) => (line === '' ? [] : line.split('\t'));

/** The report in the lines of an answer: six of each check, then one. */
function reportOf(answer) {
  const lines = answer.split('\n');
  const checks = [];
  for (let at = 0; at + 6 < lines.length; at += 6) {
    const [name, outcome, code, expected, found, unproven] = lines.slice(at, at + 6);
    checks.push({ name, outcome, code, expected, found, unproven: parted(unproven) });
  }
  return { checks, unproven: parted(lines.at(-1)) };
}

/** Holds evidence against what the chain's own state says, and against the block of those who were asked for it. */
export function verifyState(evidence, proof, of) {
  return call(() => {
    const { blocks } = options(of, ['blocks']);
    const asked = list(blocks ?? undefined, 'blocks', 100, lineOf).join('\n');
    const file = proof == null ? new Uint8Array() : bytes(proof, 'proof', limits.proof);
    const claim = wasm.stateClaim(bytes(evidence, 'evidence', limits.evidence));
    return reportOf(judge.check(claim, file, asked));
  }, isLoaded && limits !== null, 'exitgap/proof');
}
