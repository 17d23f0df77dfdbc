// Hosts that are a page in a browser: without a bundler, and with each bundler. Every page is served under a strict
// policy.

import { createHash } from 'node:crypto';

export async function policy(project) {
  await project.add('page.html', 'page.js');
  const { readme } = project;
  // The server of the tests makes its policy from the page. It is the README's.
  const [, script] = (await project.read('page.html')).match(/<script type="importmap">([^]*?)<\/script>/);
  const hash = createHash('sha256').update(script).digest('base64');
  const line = `default-src 'none'; script-src 'self' 'wasm-unsafe-eval' 'sha256-${hash}'; connect-src 'self'`;
  const isThere = readme.includes(`Content-Security-Policy: ${line}\n`);
  if (!isThere) throw new Error(`the README does not have the policy ${line}`);
  return project.page('.', 'page.html', true);
}

/** What the page shows that loads the bundler's script. */
async function built(project, copied, script = 'page.js') {
  const page = (await project.read('index.html')).replace('./page.js', `./${script}`);
  await project.write('dist/index.html', page);
  return project.page('dist', 'index.html', copied);
}

export async function vite(project) {
  await project.add('index.html', 'page.js');
  await project.run('node', [project.tool('vite/bin/vite.js'), 'build', '--logLevel', 'error']);
  return project.page('dist', 'index.html', true);
}

const REACT = `
import { createElement } from 'react';
import { createRoot } from 'react-dom/client';
import Exit from './exit.jsx';

createRoot(document.querySelector('main')).render(createElement(Exit));
`;

export async function react(project) {
  await project.add('exit.jsx');
  await project.write('page.js', REACT);
  const script = '<script type="module" src="./page.js"></script>';
  await project.write('index.html', `<!doctype html><meta charset="utf-8"><main></main>${script}`);
  await project.run('node', [project.tool('vite/bin/vite.js'), 'build', '--logLevel', 'error']);
  return project.page('dist', 'index.html', true);
}

export async function webpack(project) {
  await project.add('index.html', 'page.js');
  await project.run('node', [project.tool('webpack-cli/bin/cli.js'), '--mode', 'production', '--entry', './page.js']);
  const script = await project.read('dist/main.js');
  if (script.includes(project.folder)) throw new Error('the script names the folder in which it was built');
  return built(project, true, 'main.js');
}

export async function parcel(project) {
  await project.add('index.html', 'page.js');
  await project.script('parcel/lib/bin.js', ['build', 'index.html', '--no-cache', '--no-source-maps']);
  return project.page('dist', 'index.html', true);
}

export async function esbuild(project) {
  await project.add('index.html', 'page.js');
  const tool = project.tool('esbuild/bin/esbuild');
  const command = (...more) => project.run('node', [tool, 'page.js', '--bundle', ...more]);
  await command('--format=esm', '--outdir=dist');
  const found = await built(project, false);
  // A script that is not a module has no address from which a file could be found.
  await command('--outdir=dist');
  const shown = await built(project, false);
  if (shown !== found) throw new Error(`esbuild without a format: ${shown}`);
  return found;
}

export async function rollup(project) {
  await project.add('index.html', 'page.js');
  const tool = project.tool('rollup/dist/bin/rollup');
  await project.run('node', [tool, 'page.js', '-p', 'node-resolve', '-d', 'dist', '--silent']);
  return built(project, false);
}
