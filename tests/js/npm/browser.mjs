// node browser.mjs <folder> <page>: serves the folder under a strict policy, opens the page in
// Chromium and prints, as JSON, the text of its `#out` (or body) and what the browser complained of.

import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { pathToFileURL } from 'node:url';

const [, , folder, page, address] = process.argv;
const TYPES = {
  '.html': 'text/html', '.js': 'text/javascript', '.mjs': 'text/javascript',
  '.json': 'application/json', '.wasm': 'application/wasm', '.css': 'text/css',
};

/** The README's policy, with the hash of each script that is written into the page. */
function policy(html) {
  const inline = [...html.matchAll(/<script(?![^>]*\ssrc=)[^>]*>([^]*?)<\/script>/g)];
  const hashes = inline.map(([, script]) =>
    ` 'sha256-${createHash('sha256').update(script).digest('base64')}'`);
  const scripts = `script-src 'self' 'wasm-unsafe-eval'${hashes.join('')}`;
  // A page that asks a service of another origin names it.
  const asked = process.env.EXITGAP_ASKED ?? '';
  return `default-src 'none'; ${scripts}; connect-src 'self' ${asked}; worker-src 'self'`;
}

const server = createServer(async (request, response) => {
  const path = normalize(decodeURIComponent(new URL(request.url, 'http://x').pathname));
  try {
    const body = await readFile(join(folder, path));
    const headers = { 'content-type': TYPES[extname(path)] ?? 'application/octet-stream' };
    if (path.endsWith('.html')) headers['content-security-policy'] = policy(body.toString());
    response.writeHead(200, headers).end(body);
  } catch {
    response.writeHead(404).end();
  }
});
await new Promise((ready) => server.listen(0, '127.0.0.1', ready));

const tools = join(process.env.EXITGAP_NPM_TOOLS, 'node_modules/playwright-core/index.mjs');
const { chromium } = await import(pathToFileURL(tools));
const browser = await chromium.launch({
  executablePath: process.env.EXITGAP_CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
    '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});
const complaints = [];
try {
  const tab = await browser.newPage();
  // What could not be loaded is named by its answer, where the console does not name it.
  const loading = 'Failed to load resource';
  tab.on('console', (line) => {
    if (line.type() === 'error' && !line.text().startsWith(loading)) complaints.push(line.text());
  });
  tab.on('response', (response) => {
    const asked = process.env.EXITGAP_ASKED !== undefined && response.url().startsWith(process.env.EXITGAP_ASKED);
    const found = asked || response.ok() || response.status() === 304 || response.url().endsWith('/favicon.ico');
    if (!found) complaints.push(`${response.status()} ${response.url()}`);
  });
  tab.on('pageerror', (error) => complaints.push(String(error)));
  const origin = address ?? `http://127.0.0.1:${server.address().port}`;
  await tab.goto(`${origin}/${page}`);
  const out = page.includes('index') ? 'body' : '#out';
  await tab.waitForFunction((name) => document.querySelector(name)?.textContent.trim(), out, { timeout: 200_000 });
  const text = (await tab.textContent(out)).trim();
  console.log(JSON.stringify({ text, complaints }));
} finally {
  await browser.close();
  server.close();
}
