// For Cloudflare Workers and Next's edge runtime: the WebAssembly module that checks state proofs is imported,
// compiled.

import compiled from './dist/proof_bg.wasm?module';
import { init as initMain } from './edge.js';
import { startJudge } from './state.js';

export { ExitgapError } from './error.js';
export { verifyState } from './state.js';

/** Makes everything ready, the main module too; see proof.d.ts. */
export async function init(source) {
  await Promise.all([initMain(), startJudge(source, () => [() => compiled])]);
}
