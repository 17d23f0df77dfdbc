// Where a WebAssembly module comes from, if the caller does not say: ways to get it, which are tried in turn.

import { body } from './answers.js';

/** The bytes of a module that a script carries, compressed by gzip and in base64. */
export async function unpacked(text) {
  const { readable, writable } = new DecompressionStream('gzip');
  const writer = writable.getWriter();
  // Both fail together with the reader below.
  writer.write(Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))).catch(() => {});
  writer.close().catch(() => {});
  return body({ body: readable }, Infinity, { aborted: false });
}

/**
 * The ways to a module that is a file `dist/<name>_bg.wasm` of this package: its address, and the script that carries
 * it. `address` is an expression that bundlers know, and replace by the address of the copied file; `own` is the
 * address of the calling script.
 *
 * esbuild, Rollup and `bun build` copy no file. They leave the expression as it is, and the calling script becomes
 * part of the same file as this one. Then only the script is left, and nothing is requested that is not there.
 */
export function fetched(name, address, own, script) {
  const inScript = async () => unpacked((await script()).default);
  const here = () => (import.meta.webpack ? undefined : import.meta.url);
  try {
    const [url, from] = [address(), own()];
    const isUntouched = from !== undefined && url.href === new URL(`dist/${name}_bg.wasm`, from).href;
    return isUntouched && from === here() ? [inScript] : [address, inScript];
  } catch {
    // A script that is not a module has no address.
    return [inScript];
  }
}
