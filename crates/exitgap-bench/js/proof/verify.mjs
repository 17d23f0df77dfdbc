// Holds evidence against a state proof, and tells what that took. In Node: node verify.mjs, with evidence.json and
// state.egp beside it.

import { readFileSync } from 'node:fs';
import { init, verifyState } from 'exitgap';

await init();
const [evidence, proof] = ['evidence.json', 'state.egp'].map((name) => readFileSync(name));
const work = () => verifyState(evidence, proof);
const { checks } = work();
const once = () => {
  const start = performance.now();
  work();
  return performance.now() - start;
};
for (let at = 0; at < 20; at += 1) once();
const took = Array.from({ length: 101 }, once).sort((a, b) => a - b);
console.log(JSON.stringify({ codes: checks.map(({ name, code }) => `${name} ${code}`), ms: took[50] }));
