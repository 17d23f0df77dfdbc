// Reads files that `cargo xtask faults forged` changed: one question a line on stdin, one answer a line on stdout.
//
//   node forged.mjs second            the second verifier
//   node forged.mjs package <folder>  the npm package that is built in this folder

import { createInterface } from 'node:readline';

import { packageReaders } from './forged_package.mjs';
import { secondReaders } from './forged_second.mjs';

const [which, folder] = process.argv.slice(2);
const readers = which === 'package' ? await packageReaders(folder) : secondReaders;

/** What is kept of a seed for the questions that follow: documents by their hash. */
const contexts = new Map();

async function answer({ kind, seed, context, ...asked }) {
  if (context !== undefined) contexts.set(`${kind} ${seed}`, context);
  if (asked.file === undefined) return {};
  const file = Buffer.from(asked.file, 'hex');
  return readers[kind]({ ...asked, file, context: contexts.get(`${kind} ${seed}`) });
}

for await (const line of createInterface({ input: process.stdin })) {
  let found;
  try {
    found = await answer(JSON.parse(line));
  } catch (error) {
    found = { error: String(error?.stack ?? error).slice(0, 2000) };
  }
  process.stdout.write(`${JSON.stringify(found)}\n`);
}
