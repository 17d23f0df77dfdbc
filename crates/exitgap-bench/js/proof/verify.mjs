// Holds evidence against a state proof, and tells what that took, and what of it reading the evidence and saying what it claims. In
// Node: node verify.mjs, with evidence.json and state.egp beside it.

import { readFileSync } from 'node:fs';
import { init, verifyState } from 'exitgap/proof';
// Not for users: the two halves of the same question.
import { wasm } from './node_modules/exitgap/module.js';

await init();
const [evidence, proof] = ['evidence.json', 'state.egp'].map((name) => readFileSync(name));

/** The median of what it took, in milliseconds. */
function median(work) {
  const once = () => {
    const start = performance.now();
    work();
    return performance.now() - start;
  };
  for (let at = 0; at < 20; at += 1) once();
  return Array.from({ length: 101 }, once).sort((a, b) => a - b)[50];
}

const { checks } = verifyState(evidence, proof);
console.log(JSON.stringify({
  codes: checks.map(({ name, code }) => `${name} ${code}`),
  ms: median(() => verifyState(evidence, proof)),
  claimMs: median(() => wasm.stateClaim(evidence)),
  claimBytes: wasm.stateClaim(evidence).length,
}));
