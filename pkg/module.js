// Loads the WebAssembly module once, calls it only after it is loaded, and converts everything it throws to an
// `ExitgapError`.

import load, * as wasm from './dist/exitgap.js';

import { ExitgapError, errorOf, said, typed } from './error.js';

export { wasm };

/**
 * What loads a module once; a start that failed can be tried again. Without a `source`, the
 * `ways` to the module are tried in turn.
 * `file` is its name in the error.
 */
export function once(file, open) {
  let starting = null;
  const first = async (ways) => {
    let failed;
    for (const way of ways) {
      try {
        return await open(await way());
      } catch (cause) {
        failed ??= cause;
      }
    }
    throw failed;
  };
  return (source, ways) => {
    starting ??= (async () => {
      try {
        await first(source === undefined || source === null ? ways() : [() => source]);
      } catch (cause) {
        starting = null;
        const hint = `check that ${file} is served and that the page's policy has 'wasm-unsafe-eval'`;
        throw new ExitgapError('init_failed', `the module did not load: ${said(cause)}`, { cause, hint });
      }
    })();
    return starting;
  };
}

/** The most bytes of each kind of document; null until the module is there. */
export let limits = null;

/** Loads the module. */
export const start = once('exitgap_bg.wasm', async (source) => {
  await load({ module_or_path: source });
  limits = wasm.limits();
});

/** Runs `body` once the module is there; whatever it throws is an ExitgapError. */
export function call(body, isThere = limits !== null, entry = 'exitgap') {
  if (!isThere) {
    throw new ExitgapError('not_initialized', 'call `await init()` before using anything else', {
      hint: `import { init } from "${entry}" and await it once`,
    });
  }
  try {
    return body();
  } catch (thrown) {
    throw failure(thrown);
  }
}

/** The error of whatever was thrown: by the module, or by a caller's own object while it was read. */
export function failure(thrown) {
  try {
    if (thrown instanceof WebAssembly.RuntimeError) {
      return new ExitgapError('internal_error', `the module failed: ${thrown.message}`, { cause: thrown });
    }
    // The module reports a rejected argument by throwing a problem object.
    const refused = typeof thrown?.code === 'string' && typeof thrown.detail === 'string';
    return refused ? errorOf(thrown) : typed(thrown);
  } catch {
    return new ExitgapError('invalid_parameter', 'an argument could not be read', { cause: thrown });
  }
}
