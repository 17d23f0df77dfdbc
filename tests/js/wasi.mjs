// Runs a program built for wasm32-wasip1 as if it were a native one.
//
//   node wasi.mjs <program.wasm> [its arguments]
//
// The program sees the repository's files and nothing else of the machine. Its tests run one by one:
// a failure ends it, after the name of the test and what was expected.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { argv } from 'node:process';
import { WASI } from 'node:wasi';

const [program, ...args] = argv.slice(2);
const root = fileURLToPath(new URL('../..', import.meta.url));
const wasi = new WASI({
  version: 'preview1',
  args: [program, ...args],
  preopens: { [root]: root },
  returnOnExit: true,
});
const module = await WebAssembly.compile(readFileSync(program));
const instance = await WebAssembly.instantiate(module, wasi.getImportObject());
try {
  process.exitCode = wasi.start(instance);
} catch (error) {
  // A panic ends the program where it stands; what it had to say is said.
  if (!(error instanceof WebAssembly.RuntimeError)) throw error;
  console.error(`the program ended: ${error.message}`);
  process.exitCode = 101;
}
