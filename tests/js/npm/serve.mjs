// Serves a folder under the strict policy of the package's README.

import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';

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

/** A server of the folder, and its origin. */
export async function serve(folder) {
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
  return { server, origin: `http://127.0.0.1:${server.address().port}` };
}
