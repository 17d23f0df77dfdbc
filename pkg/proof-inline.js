// For Node, Bun and Deno, and for bundlers of programs that run there: the WebAssembly module that checks state
// proofs is in a script.

import packed from './dist/proof_inline.js';
import { init as initMain } from './inline.js';
import { startJudge } from './state.js';
import { unpacked } from './where.js';

export { ExitgapError } from './error.js';
export { verifyState } from './state.js';

/** Makes everything ready, the main module too; see proof.d.ts. */
export async function init(source) {
  await Promise.all([initMain(), startJudge(source, () => [() => unpacked(packed)])]);
}
