#!/usr/bin/env node
// The program of the package: `npx exitgap try`, `verify` and `estimate`. It reads files and uses no network.

import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';

import { ExitgapError, init, open, verify, version } from 'exitgap';

const HELP = `At this size, how far below the oracle price will I really fill?

Usage: exitgap <command> [options]

Commands:
  try                    show an estimate, verify its evidence and tamper with it, on a recorded sample
    --size-usd USD       the size, such as 250000 [default: 1000000]
  verify FILE            verify an evidence file
    --trust KEY|FILE     the log's verifier key, or a file with one key per line
  estimate FILE          estimate a sale from a snapshot file or an evidence file
    --size-usd USD       the size, such as 250000
    --base TOKEN         the token to sell: token0, token1, its symbol or its address

Options:
  --json                 print JSON
  --help, --version

Exit codes:
  0  done       2  wrong arguments       3  the pool cannot fill this size       5  a file could not be read
  6  a check failed       7  no check failed, but some could not be made
`;

const OPTIONS = { try: ['size-usd'], verify: ['trust'], estimate: ['size-usd', 'base'] };

/** Exit codes of refusals; every other error of an argument has 2. */
const CODES = {
  beyond_liquidity: 3,
  gap_out_of_range: 3,
  rounds_to_no_input: 3,
  rounds_to_no_output: 3,
  search_exhausted: 3,
  source_unreadable: 5,
  init_failed: 5,
};
const VERDICTS = { valid: 0, invalid: 6, incomplete: 7 };

const FIELD = '"exit_gap_pct":"';

const here = (name) => readFile(new URL(`./sample/${name}`, import.meta.url), 'utf8');

const wrong = (detail) => new ExitgapError('invalid_parameter', detail, { hint: 'exitgap --help' });

/** A number of a document with its digits in groups, without an exponent. */
const grouped = (number) => {
  const [, sign, whole, rest] = /^(-?)(\d+)(.*)$/.exec(
    typeof number === 'number' ? number.toLocaleString('en-US', { maximumSignificantDigits: 15, useGrouping: false }) : number,
  );
  return `${sign}${whole.replace(/\B(?=(\d{3})+$)/g, ',')}${rest}`;
};

/** A raw amount as whole tokens. */
const tokens = (raw, decimals) => {
  const digits = raw.padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '');
  return grouped(fraction === '' ? whole : `${whole}.${fraction}`);
};

const failed = (report) => report.checks.find((check) => check.outcome === 'fail');

async function read(path) {
  try {
    return await readFile(path);
  } catch (cause) {
    throw new ExitgapError('source_unreadable', `reading ${path}: ${cause.message}`);
  }
}

/** The names of the text's numbers, and their values. */
function values(estimate, report, tampering, next) {
  const change = failed(tampering.verification);
  return {
    size_usd: grouped(estimate.size_usd),
    base: estimate.base.symbol,
    quote: estimate.quote.symbol,
    name: estimate.name,
    slot_time: estimate.method.depth_source.slot_time,
    oracle_price_usd: grouped(estimate.oracle_price_usd),
    realized_price_usd: grouped(estimate.realized_price_usd),
    exit_gap_pct: grouped(estimate.exit_gap_pct),
    side: estimate.exit_gap_pct < 0 ? 'better' : 'worse',
    amount_in: tokens(estimate.amount_in_raw, estimate.base.decimals),
    amount_out: tokens(estimate.amount_out_raw, estimate.quote.decimals),
    published_gap_pct: report.claim.exit_gap_pct,
    published_size_usd: grouped(report.claim.size_usd),
    passed: report.checks.filter((check) => check.outcome === 'pass').length,
    was: tampering.was,
    is: tampering.is,
    byte: grouped(tampering.byte),
    changed_gap_pct: tampering.verification.claim.exit_gap_pct,
    check: change.name,
    expected: change.expected,
    found: change.found,
    next: next.map((line) => `  ${line}`).join('\n'),
  };
}

/** The evidence with the last digit of its number changed. */
function tamper(evidence, keys) {
  const at = evidence.indexOf('"', evidence.indexOf(FIELD) + FIELD.length) - 1;
  const was = evidence[at];
  const is = was === '9' ? '8' : String(Number(was) + 1);
  const changed = `${evidence.slice(0, at)}${is}${evidence.slice(at + 1)}`;
  const byte = new TextEncoder().encode(evidence.slice(0, at)).length;
  return { byte, was, is, verification: verify(changed, { keys }) };
}

async function trySample({ 'size-usd': size, json }) {
  const [evidence, key, template] = await Promise.all(['evidence.json', 'verifier-key', 'try.txt'].map(here));
  const { request } = JSON.parse(evidence);
  const keys = [key];
  const estimate = open(evidence).estimate({ sizeUsd: size ?? request.size_usd, base: request.base });
  const verification = verify(evidence, { keys });
  const tampering = tamper(evidence, keys);
  if (verification.verdict !== 'valid' || tampering.verification.verdict !== 'invalid') {
    console.error('error: the sample is damaged; install exitgap again');
    return VERDICTS.invalid;
  }
  if (json) {
    console.log(JSON.stringify({ sample: true, estimate, verification, tampering }, null, 2));
    return 0;
  }
  const next = [
    'npx exitgap try --size-usd 1000                          another size',
    'npx exitgap estimate FILE --size-usd 1000 --base TOKEN   a snapshot or evidence file of yours',
    'npx exitgap verify FILE --trust KEY                      an evidence file of a service',
  ];
  const known = values(estimate, verification, tampering, next);
  process.stdout.write(template.replace(/\{(\w+)\}/g, (_, name) => known[name]));
  return 0;
}

async function verifyFile(path, { trust, json }) {
  let keys = [];
  if (trust !== undefined) {
    keys = trust.includes('+') ? [trust] : String(await read(trust)).split('\n').filter((line) => line.trim() !== '');
  }
  const report = verify(await read(path), { keys });
  if (json) {
    console.log(JSON.stringify(report, null, 2));
  } else {
    console.log(report.verdict.toUpperCase());
    for (const { name, outcome, code, expected, found } of report.checks) {
      const more = outcome === 'pass' ? found : `${code}: expected ${expected}, found ${found}`;
      console.log(`${name.padEnd(12)} ${outcome.padEnd(12)} ${more}`);
    }
  }
  return VERDICTS[report.verdict];
}

async function estimateFile(path, { 'size-usd': sizeUsd, base, json }) {
  if (sizeUsd === undefined) throw wrong('no size is given: --size-usd USD');
  if (base === undefined) throw wrong('no token is given: --base TOKEN');
  const found = open(await read(path)).estimate({ sizeUsd, base });
  if (json) {
    console.log(JSON.stringify(found, null, 2));
    return 0;
  }
  const preview = found.status === 'preview' ? [['PREVIEW', 'not a live chain; do not rely on these figures']] : [];
  const lines = [
    ...preview,
    ['pool', `${found.name}, ${found.pool}`],
    ['size', `${grouped(found.size_usd)} USD`],
    ['oracle price', `${grouped(found.oracle_price_usd)} USD per ${found.base.symbol}`],
    ['realized price', `${grouped(found.realized_price_usd)} USD per ${found.base.symbol}`],
    ['exit gap', `${grouped(found.exit_gap_pct)}% ${found.exit_gap_pct < 0 ? 'better' : 'worse'} than the oracle price`],
    ['you sell', `${tokens(found.amount_in_raw, found.base.decimals)} ${found.base.symbol}`],
    ['you receive', `${tokens(found.amount_out_raw, found.quote.decimals)} ${found.quote.symbol}`],
  ];
  for (const [name, value] of lines) console.log(`${name.padEnd(16)}${value}`);
  return 0;
}

/** Runs the command line; returns the exit code. */
async function run(given) {
  const [command, ...rest] = given;
  if (command === undefined || ['help', '--help', '-h'].includes(command) || rest.includes('--help')) {
    process.stdout.write(HELP);
    return command === undefined ? 2 : 0;
  }
  await init();
  if (command === '--version') {
    console.log(version());
    return 0;
  }
  if (!Object.hasOwn(OPTIONS, command)) throw wrong(`there is no command ${command}`);
  const options = { json: { type: 'boolean' } };
  for (const name of OPTIONS[command]) options[name] = { type: 'string' };
  let parsed;
  try {
    parsed = parseArgs({ args: rest, options, allowPositionals: command !== 'try' });
  } catch (error) {
    throw wrong(error.message);
  }
  if (command === 'try') return trySample(parsed.values);
  if (parsed.positionals.length !== 1) throw wrong(`${command} needs one file`);
  return (command === 'verify' ? verifyFile : estimateFile)(parsed.positionals[0], parsed.values);
}

try {
  process.exitCode = await run(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof ExitgapError)) throw error;
  console.error(`error [${error.code}]: ${error.message}`);
  if (error.hint) console.error(`  hint: ${error.hint}`);
  process.exitCode = CODES[error.code] ?? 2;
}
