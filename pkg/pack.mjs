// Called by `cargo xtask pkg` before it packs: makes the scripts that carry the modules, and the example as a script.
// Usage: node pack.mjs

import { readFileSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

const read = (path) => readFileSync(new URL(path, import.meta.url));
const made = '// Made by `cargo xtask pkg`.\n';

for (const name of ['exitgap', 'proof']) {
  const packed = gzipSync(read(`dist/${name}_bg.wasm`), { level: 9 }).toString('base64');
  writeFileSync(new URL(`dist/${name}_inline.js`, import.meta.url), `${made}export default '${packed}';\n`);
}

const evidence = JSON.stringify(read('example/evidence.json').toString());
const keys = JSON.stringify([read('example/verifier-key').toString().trim()]);
const example = `${made}export const evidence = ${evidence};\nexport const keys = ${keys};\n`;
writeFileSync(new URL('dist/example.js', import.meta.url), example);
