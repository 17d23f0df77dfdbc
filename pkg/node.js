// For Node: the module lies beside this file, and is read.

import { readFile } from 'node:fs/promises';

import { start } from './module.js';

export * from './api.js';
export { Client } from './client.js';
export { ExitgapError } from './error.js';
export { MemoryStorage, webStorage } from './log.js';

/** Makes everything ready; see index.d.ts. */
export function init(source) {
  return start(() => source ?? readFile(new URL('./dist/exitgap_bg.wasm', import.meta.url)));
}
