// Computes recorded figures again from their files and the snapshots beside them, and compares; and
// one whose result is another, which must be refused.
//
//   node figures.mjs                   exits 0 only if every figure comes out so

import { readdirSync, readFileSync } from 'node:fs';

import { verifyFigure } from './figure.mjs';
import { nameOf } from './state.mjs';

const PASSED = ['verdict valid', 'format pass', 'windows pass', 'signature pass', 'sealed_leaves not_checked',
  'uses pass', 'snapshots pass', 'result pass'];
const REFUSED = { 'verdict valid': 'verdict invalid', 'result pass': 'result fail' };

/** What a file comes to, as lines. */
function linesOf(file, documents, keys) {
  const { verdict, checks } = verifyFigure(Buffer.from(file), (hash) => documents.get(hash), keys);
  return [`verdict ${verdict}`, ...checks.map(({ name, outcome }) => `${name} ${outcome}`)];
}

let [compared, disagreeing] = [0, 0];
const folder = new URL('../vectors/figures/', import.meta.url);
for (const name of readdirSync(folder).sort()) {
  const { figure, fills = [], keys, snapshots } = JSON.parse(readFileSync(new URL(name, folder), 'utf8'));
  const given = [...snapshots, ...fills.map((text) => [text])];
  const documents = new Map(given.map((texts) => [nameOf(Buffer.from(texts[0])), texts]));
  const other = figure.replace('"have_slots":', '"have_slots":1');
  const refused = PASSED.map((line) => REFUSED[line] ?? line);
  for (const [file, expected] of [[figure, PASSED], [other, refused]]) {
    const found = linesOf(file, documents, keys);
    compared += 1;
    if (found.join('\n') === expected.join('\n')) continue;
    disagreeing += 1;
    console.error([name, 'expected:', ...expected, 'found:', ...found].join('\n  '));
  }
}
console.log(`figures: compared ${compared}, disagreeing ${disagreeing}`);
process.exitCode = compared > 0 && disagreeing === 0 ? 0 : 1;
