// For browsers, with or without a bundler: the WebAssembly module is a file next to this one, and is fetched.

import { start } from './module.js';
import { fetched } from './where.js';

export * from './shared.js';

/** Makes everything ready; see index.d.ts. */
export function init(source) {
  // A bundler that copies files finds them by exactly this expression. webpack would write the builder's folder for
  // `url` alone.
  return start(source, () => fetched('exitgap', () => new URL('./dist/exitgap_bg.wasm', import.meta.url),
    () => (import.meta.webpack ? undefined : import.meta.url), () => import('./dist/exitgap_inline.js')));
}
