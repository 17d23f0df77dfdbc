// x402-once: does a client pay twice for one answer? Runs clients against the trap and prints, for each, how many
// authorizations it signed beyond the first for one request. README.md says how.

import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { WAYS, openTrap } from './trap.mjs';

const CALLS = 3;
// A client that gives no answer for so long is stopped.
const PATIENCE_MS = 120_000;
const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const { values: options, positionals: own } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: 'boolean', default: false },
    fixtures: { type: 'string', default: here('../../.fixtures') },
    rust: { type: 'string' },
    way: { type: 'string', multiple: true, default: Object.keys(WAYS) },
  },
});

/** The clients that can be run here: ours, the control, and others as far as they are installed. */
function clientsHere() {
  const script = (name) => ['node', here(`clients/${name}.mjs`)];
  // A client of the registry, if the folder has it in its node_modules.
  const installed = (folder, name, command) => {
    const PACKAGES = join(options.fixtures, folder);
    return existsSync(join(PACKAGES, 'node_modules', name)) ? [{ name: `${name} (npm)`, command, env: { PACKAGES } }] : [];
  };
  const python = join(options.fixtures, 'x402-python/bin/python');
  return [
    { name: 'exitgap/pay (npm)', ours: true, command: script('npm-wallet') },
    ...(options.rust ? [
      { name: 'exitgap-pay (Rust)', ours: true, command: [options.rust] },
      { name: 'both in turn', ours: true, command: [...script('in-turn'), options.rust] },
    ] : []),
    { name: 'control', control: true, command: script('careless') },
    ...installed('x402-clients', '@x402/fetch', script('x402-fetch')),
    ...installed('x402-v1-client', 'x402-fetch', script('x402-fetch-v1')),
    ...(existsSync(python) ? [{ name: 'x402 with httpx (PyPI)', command: [python, here('clients/x402_httpx.py')] }] : []),
    ...(own.length > 0 ? [{ name: own.join(' '), command: own }] : []),
  ];
}

/** Runs a client for one request against one way. */
async function run(client, way) {
  const trap = await openTrap({ way });
  const folder = mkdtempSync(join(tmpdir(), 'x402-once-'));
  try {
    const [program, ...rest] = client.command;
    const env = { ...process.env, ...client.env, URL: trap.url, KEY: `0x${'11'.repeat(32)}`, LEDGER: join(folder, 'ledger.jsonl'), CALLS: String(CALLS) };
    const { output, errors } = await ended(spawn(program, rest, { env, stdio: ['ignore', 'pipe', 'pipe'] }));
    const { calls, answered } = resultOf(output);
    const { signed, seen } = trap;
    // Without a payment that was sent while it was settling, nothing was tried.
    const tried = seen.pending > 0 && seen.unreadable === 0;
    return { client: client.name, way, tried, calls, answered, signed, signed_twice: Math.max(signed - 1, 0), errors: tried ? undefined : errors };
  } finally {
    trap.close();
    rmSync(folder, { recursive: true });
  }
}

function ended(child) {
  return new Promise((done, failed) => {
    let [output, errors] = ['', ''];
    child.stdout.on('data', (data) => { output += data; });
    child.stderr.on('data', (data) => { errors += data; });
    const timer = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS);
    child.on('error', failed);
    child.on('close', () => {
      clearTimeout(timer);
      done({ output, errors: errors.slice(-500) });
    });
  });
}

/** Another client need not print what it did. */
function resultOf(output) {
  try {
    const { calls, answered } = JSON.parse(output.trim().split('\n').at(-1));
    return { calls, answered };
  } catch {
    return {};
  }
}

const clients = clientsHere();
const results = [];
for (const client of clients) {
  for (const way of options.way) results.push(await run(client, way));
}

const sum = (list) => list.reduce((total, { signed_twice: twice }) => total + twice, 0);
const of = (name) => results.filter((one) => one.client === name);
const byKind = (kind) => clients.filter((client) => client[kind]).flatMap(({ name }) => of(name));
const problems = results.filter(({ tried }) => !tried).map((one) => `${one.client}, ${one.way}: no payment reached the trap ${one.errors ?? ''}`);
for (const one of byKind('ours')) {
  if (one.signed_twice > 0 || one.answered !== true) problems.push(`${one.client}, ${one.way}: ${JSON.stringify(one)}`);
}
for (const one of byKind('control')) {
  if (one.signed_twice !== CALLS - 1) problems.push(`the trap did not catch the control, ${one.way}: ${JSON.stringify(one)}`);
}
const ours = sum(byKind('ours'));

if (options.json) {
  console.log(JSON.stringify({ 'payments.signed_twice': ours, results, problems }, undefined, 2));
} else {
  const widest = Math.max(...clients.map(({ name }) => name.length));
  console.log(`authorizations signed beyond the first, for one request in at most ${CALLS} calls`);
  console.log(`${''.padEnd(widest)}  ${options.way.map((way) => way.padStart(8)).join('')}   answered`);
  for (const { name } of clients) {
    const counts = of(name).map(({ signed_twice: twice }) => String(twice).padStart(8)).join('');
    console.log(`${name.padEnd(widest)}  ${counts}   ${of(name).filter(({ answered }) => answered).length} of ${of(name).length}`);
  }
  console.log(`payments.signed_twice ${ours}`);
  for (const { name } of clients.filter((client) => !client.ours)) {
    console.log(`payments.signed_twice{client="${name}"} ${sum(of(name))}`);
  }
  for (const problem of problems) console.error(`problem: ${problem}`);
}
process.exitCode = problems.length > 0 ? 1 : 0;
