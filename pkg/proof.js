// For browsers and bundlers: the WebAssembly module that checks state proofs is a file next to this one, and is fetched
// on first use.

import { init as initMain } from './index.js';
import { startJudge } from './state.js';

export { ExitgapError } from './error.js';
export { verifyState } from './state.js';

/** Makes everything ready, the main module too; see proof.d.ts. */
export async function init(source) {
  await Promise.all([initMain(), startJudge(() => source ?? new URL('./dist/proof_bg.wasm', import.meta.url))]);
}
