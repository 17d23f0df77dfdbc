// Both wallets in turn with one ledger, each call in a process of its own: what one left open, the other goes on with. The
// argument is the Rust wallet's program.

import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

import { callUntilAnswered } from './until.mjs';

const wallets = [['node', fileURLToPath(new URL('npm-wallet.mjs', import.meta.url))], [process.argv[2]]];
let call = 0;

/** One call of one wallet, as a response. */
function callOnce() {
  const [program, ...rest] = wallets[call++ % wallets.length];
  return new Promise((done, failed) => {
    const child = spawn(program, rest, { env: { ...process.env, CALLS: '1' }, stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    child.stdout.on('data', (data) => { output += data; });
    child.on('error', failed);
    child.on('close', () => done(Response.json({ answer: output.includes('"answered":true') ? 'new' : 'none' })));
  });
}

await callUntilAnswered(callOnce);
