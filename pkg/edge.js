// For Cloudflare Workers and Next's edge runtime, which compile no WebAssembly from bytes: the module is imported,
// compiled.

import compiled from './dist/exitgap_bg.wasm?module';
import { start } from './module.js';

export * from './shared.js';

/** Makes everything ready; see index.d.ts. */
export function init(source) {
  return start(source, () => [() => compiled]);
}
