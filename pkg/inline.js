// For Node, Bun and Deno, and for bundlers of programs that run there: the WebAssembly module is in a script, so that
// no file has to be found or copied.

import packed from './dist/exitgap_inline.js';
import { start } from './module.js';
import { unpacked } from './where.js';

export * from './shared.js';

/** Makes everything ready; see index.d.ts. */
export function init(source) {
  return start(source, () => [() => unpacked(packed)]);
}
