// node node.mjs <cases.json>: the installed package in Node, as JSON on stdout.

import { readFile } from 'node:fs/promises';

import * as exitgap from 'exitgap';

import { compare } from './cases.mjs';
import { tryGarbage } from './garbage.mjs';

const questions = JSON.parse(await readFile(process.argv[2], 'utf8'));
const { snapshot, evidence, keys } = questions;

let early = null;
try {
  exitgap.verify(evidence);
} catch (error) {
  early = error.code;
}
let broken = null;
try {
  await exitgap.init(new Uint8Array([0, 97, 115, 109]));
} catch (error) {
  broken = error.code;
}
await Promise.all([exitgap.init(), exitgap.init()]);
// The ways to a module are tried in turn, until one is loaded.
const { once } = await import('./node_modules/exitgap/module.js');
const tried = [];
const way = (found) => () => tried.push(found) && found;
await once('a file', async (found) => {
  if (found === 'lost') throw new Error('it is not there');
})(undefined, () => ['lost', 'there', 'spare'].map(way));
const glue = await import('./node_modules/exitgap/dist/exitgap.js');
const { memory } = await glue.default();
const { MOST } = await import('./node_modules/exitgap/client.js');
console.log(JSON.stringify({
  early,
  broken,
  tried,
  version: exitgap.version(),
  limits: { module: glue.limits(), client: MOST },
  compared: compare(glue, exitgap, questions),
  garbage: await tryGarbage(exitgap, memory, snapshot, evidence, keys),
}));
