// Computes recorded figures again from their files and the snapshots beside them, and compares; and
// one whose result is another, which must be refused; and one with the table of a later version, which is not checked.
//
//   node figures.mjs [folder]          exits 0 only if every figure of the folder, or of the vectors, comes out so

import { readdirSync, readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

import { verifyFigure } from './figure.mjs';
import { nameOf } from './state.mjs';

const PASSED = ['verdict valid', 'format pass', 'windows pass', 'signature pass', 'sealed_leaves not_checked',
  'uses pass', 'snapshots pass', 'result pass'];
const NOT_CHECKED = ['verdict incomplete', ...PASSED.slice(1).map((line) => `${line.split(' ')[0]} not_checked`)];
const REFUSED = { 'verdict valid': 'verdict invalid', 'result pass': 'result fail' };

/** What a file comes to, as lines. */
function linesOf(file, documents, keys) {
  const { verdict, checks } = verifyFigure(Buffer.from(file), (hash) => documents.get(hash), keys);
  return [`verdict ${verdict}`, ...checks.map(({ name, outcome }) => `${name} ${outcome}`)];
}

let [compared, disagreeing] = [0, 0];
const folder = process.argv[2] === undefined ? new URL('../vectors/figures/', import.meta.url) : pathToFileURL(`${process.argv[2]}/`);
for (const name of readdirSync(folder).sort()) {
  const { figure, fills = [], keys, snapshots } = JSON.parse(readFileSync(new URL(name, folder), 'utf8'));
  const given = [...snapshots, ...fills.map((text) => [text])];
  const documents = new Map(given.map((texts) => [nameOf(Buffer.from(texts[0])), texts]));
  const other = figure.replace(/"have_slots":|"received_usd":"/, '$&1');
  const refused = PASSED.map((line) => REFUSED[line] ?? line);
  const later = figure.replace(/("calendars":\[[^\]]*"table":"0x)[0-9a-f]{64}/, `$1${'0'.repeat(63)}1`);
  const cases = [[figure, PASSED], [other, refused], ...(later === figure ? [] : [[later, NOT_CHECKED]])];
  for (const [file, expected] of cases) {
    const found = linesOf(file, documents, keys);
    compared += 1;
    if (found.join('\n') === expected.join('\n')) continue;
    disagreeing += 1;
    console.error([name, 'expected:', ...expected, 'found:', ...found].join('\n  '));
  }
}
console.log(`figures: compared ${compared}, disagreeing ${disagreeing}`);
process.exitCode = compared > 0 && disagreeing === 0 ? 0 : 1;
