// node browser.mjs <folder> <page>: serves the folder under a strict policy, opens the page in
// Chromium and prints, as JSON, the text of its `#out` (or body), what the browser complained of and what it requested.

import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { serve } from './serve.mjs';

const [, , folder, page, address] = process.argv;
const { server, origin: own } = await serve(folder);

const tools = join(process.env.EXITGAP_NPM_TOOLS, 'node_modules/playwright-core/index.mjs');
const { chromium } = await import(pathToFileURL(tools));
const browser = await chromium.launch({
  executablePath: process.env.EXITGAP_CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
    '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});
const [complaints, requested] = [[], []];
try {
  const tab = await browser.newPage();
  // What could not be loaded is named by its answer, where the console does not name it.
  const loading = 'Failed to load resource';
  tab.on('console', (line) => {
    if (line.type() === 'error' && !line.text().startsWith(loading)) complaints.push(line.text());
  });
  tab.on('request', (request) => requested.push(request.url()));
  tab.on('response', (response) => {
    const asked = process.env.EXITGAP_ASKED !== undefined && response.url().startsWith(process.env.EXITGAP_ASKED);
    const found = asked || response.ok() || response.status() === 304 || response.url().endsWith('/favicon.ico');
    if (!found) complaints.push(`${response.status()} ${response.url()}`);
  });
  tab.on('pageerror', (error) => complaints.push(String(error)));
  await tab.goto(`${address ?? own}/${page}`);
  const out = page.includes('index') ? 'body' : '#out';
  await tab.waitForFunction((name) => document.querySelector(name)?.textContent.trim(), out, { timeout: 200_000 });
  const text = (await tab.textContent(out)).trim();
  console.log(JSON.stringify({ text, complaints, requested }));
} finally {
  await browser.close();
  server.close();
}
