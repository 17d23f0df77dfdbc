// Runs the measured module on the shared vectors and answers how many disagree with what the
// vector expects: node verify.cjs <module.wasm> <folder of vectors>
'use strict';

const fs = require('node:fs');
const path = require('node:path');

const [, , module_, folder] = process.argv;
const { input, output, check, memory } = new WebAssembly.Instance(
  new WebAssembly.Module(fs.readFileSync(module_)),
).exports;

function verify(evidence, { keys, seen, window }) {
  const parts = [
    evidence,
    keys.join('\n'),
    seen ? seen.note : '',
    seen ? seen.proof.join('\n') : '',
    window ?? '',
  ].map((text) => Buffer.from(text));
  new Uint8Array(memory.buffer).set(Buffer.concat(parts), input());
  const length = check(...parts.map((part) => part.length));
  const text = Buffer.from(memory.buffer, output(), length).toString();
  const [verdict, ...lines] = text.split('\n');
  const checks = Array.from({ length: 10 }, (_, at) => lines.slice(at * 4, at * 4 + 2));
  return JSON.stringify({ verdict, checks, signers: lines.slice(40) });
}

let [compared, disagreeing] = [0, 0];
for (const name of fs.readdirSync(folder)) {
  const { evidence, policy, expected } = JSON.parse(fs.readFileSync(path.join(folder, name)));
  const wanted = JSON.stringify({
    verdict: expected.verdict,
    checks: expected.checks.map(([, outcome, code]) => [outcome, code]),
    signers: expected.unknown_signers,
  });
  compared += 1;
  const found = verify(evidence, policy);
  if (found !== wanted) {
    disagreeing += 1;
    console.error(`${name}: found ${found}, expected ${wanted}`);
  }
}
console.log(JSON.stringify({ compared, disagreeing }));
