// For browsers and bundlers: what judges state proofs lies beside this file, and is fetched when it is asked for.

import { init as initMain } from './index.js';
import { startJudge } from './state.js';

export { ExitgapError } from './error.js';
export { verifyState } from './state.js';

/** Makes everything ready, the main module too; see proof.d.ts. */
export async function init(source) {
  await Promise.all([initMain(), startJudge(() => source ?? new URL('./dist/proof_bg.wasm', import.meta.url))]);
}
