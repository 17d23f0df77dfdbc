// For browsers and bundlers: the WebAssembly module is a file next to this one, and is fetched.

import { start } from './module.js';

export * from './api.js';
export { Client } from './client.js';
export { ExitgapError } from './error.js';
export { MemoryStorage, webStorage } from './log.js';

/** Makes everything ready; see index.d.ts. */
export function init(source) {
  return start(() => source ?? new URL('./dist/exitgap_bg.wasm', import.meta.url));
}
