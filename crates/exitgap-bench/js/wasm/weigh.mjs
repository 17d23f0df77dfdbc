// node weigh.mjs <package> <helios> <folder of @uniswap/v3-sdk> <npm tools>: compressed bytes, as JSON.
//
// A peer in scripts is weighed as a page would load it: with all it imports, bundled and minified.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const [folder, helios, sdk, tools] = process.argv.slice(2);

const gzip = (bytes) => gzipSync(bytes, { level: 9 }).length;
const brotli = (bytes) => {
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_LGWIN]: 22 };
  return brotliCompressSync(bytes, { params }).length;
};

async function bundled(name) {
  const { rolldown } = await import(createRequire(join(tools, 'x.js')).resolve('rolldown'));
  const entry = 'entry';
  const bundle = await rolldown({
    input: entry,
    cwd: sdk,
    platform: 'browser',
    logLevel: 'silent',
    plugins: [{
      name: entry,
      resolveId: (id) => (id === entry ? join(sdk, 'entry.js') : null),
      load: (id) => (id === join(sdk, 'entry.js') ? `export * from ${JSON.stringify(name)};` : null),
    }],
  });
  const { output } = await bundle.generate({ format: 'esm', minify: true, codeSplitting: false });
  await bundle.close();
  return output.map((chunk) => chunk.code ?? '').join('');
}

const module = readFileSync(join(folder, 'dist/exitgap_bg.wasm'));
const scripts = ['index.js', 'api.js', 'arguments.js', 'error.js', 'client.js', 'dist/exitgap.js'];
const glue = Buffer.concat(scripts.map((name) => readFileSync(join(folder, name))));
const light = readFileSync(join(helios, 'pkg/index_bg.wasm'));
const v3 = await bundled('@uniswap/v3-sdk');
console.log(JSON.stringify({
  'pkg.wasm_gzip_bytes': gzip(module),
  'pkg.wasm_brotli_bytes': brotli(module),
  'pkg.glue_gzip_bytes': gzip(glue),
  'pkg.glue_brotli_bytes': brotli(glue),
  'peer.helios_gzip_bytes': gzip(light),
  'peer.helios_brotli_bytes': brotli(light),
  'peer.v3_sdk_gzip_bytes': gzip(v3),
  'peer.v3_sdk_brotli_bytes': brotli(v3),
}));
