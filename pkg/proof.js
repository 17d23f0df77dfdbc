// For browsers, with or without a bundler: the WebAssembly module that checks state proofs is a file next to this
// one, and is fetched on first use.

import { init as initMain } from './index.js';
import { startJudge } from './state.js';
import { fetched } from './where.js';

export { ExitgapError } from './error.js';
export { verifyState } from './state.js';

/** Makes everything ready, the main module too; see proof.d.ts. */
export async function init(source) {
  // As in index.js.
  const ways = () => fetched('proof', () => new URL('./dist/proof_bg.wasm', import.meta.url),
    () => (import.meta.webpack ? undefined : import.meta.url), () => import('./dist/proof_inline.js'));
  await Promise.all([initMain(), startJudge(source, ways)]);
}
