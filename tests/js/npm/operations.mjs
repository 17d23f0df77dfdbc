// Every address that the package's client asks for, and every parameter it can give, is one that the service
// describes; what it leaves out is said here. Usage: node operations.mjs <openapi.json>
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { Client } from 'exitgap';

const { paths } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const [api, web] = ['https://api.example', 'https://web.example'];
const pool = `ethereum:0x${'12'.repeat(20)}`;
const hash = `0x${'ab'.repeat(32)}`;
const asked = [];
const client = new Client(api, {
  webUrl: web,
  retries: 0,
  fetch: async (url) => {
    asked.push(new URL(url));
    return new Response(JSON.stringify({ state: hash }));
  },
});

const guards = { maxAgeS: 900, minDaysObserved: '0.5', require: 'live' };
const series = { sizeUsd: 1000, base: 'token0', from: '2026-08-22T00:00:00Z', to: '2026-08-23T00:00:00Z', ...guards };
const evidence = `${web}/api/v1/exit/${pool}?base=token0&slot=5957856&size_usd=1000&method_version=1.0.0`;
const calls = [
  client.pools({ chain: 'ethereum', limit: 7, cursor: pool }),
  client.exit(pool, { sizeUsd: 1000, base: 'token0', at: new Date(Date.parse(series.from) + 999), ...guards }),
  client.maxSize(pool, { gapPct: 2, base: 'token0', at: series.from, ...guards }),
  client.simulate(pool, { sizeUsd: 1000, orders: 3, recoveryPct: '12.5', intervalS: 60, base: 'token0', at: series.from, ...guards }),
  client.alerts(pool, {
    kind: 'gap_above', base: 'token0', sizeUsd: 1000, pct: 2, clearPct: '1.5', usd: 1, clearUsd: 2, atPct: 1, reason: 'any',
    forSlots: 1, clearForSlots: 2, noDataSlots: 3, refireSlots: 4, remindSlots: 5, onMissing: 'hold', alert: 'mine',
    from: series.from, to: series.to, ...guards,
  }),
  client.accuracy(undefined, { chain: 'ethereum', limit: 7, cursor: pool }),
  client.accuracy(pool, { from: series.from, to: series.to, ...guards }),
  client.redemptionWindow(pool, { sizeUsd: 1000, base: 'token0', at: series.from, ...guards }),
  client.ladder(pool, { base: 'token0', at: series.from, ...guards }),
  client.history(pool, { ...series, interval: '1h', order: 'desc', limit: 7, cursor: 'desc-5957857' }),
  client.whenToSell(pool, series),
  client.stress(pool, { ...series, limitPct: 1 }),
  client.routes('ethereum', `0x${'ab'.repeat(20)}`, { sizeUsd: 1000, quoteGroup: 'usd', fixedCostUsd: 2, at: series.from, ...guards }),
  client.sellForCash('ethereum', `0x${'ab'.repeat(20)}`, { sizeUsd: 1000, into: 'cash', tolerancePct: 1, gasUsd: 2, at: series.from, ...guards }),
  client.sellForCash('ethereum', `0x${'ab'.repeat(20)}`, { amount: '0.5' }),
  client.figure(`${web}/api/v1/cash/ethereum/0x${'ab'.repeat(20)}?amount_in=1&into=0x${'cd'.repeat(20)}&slot=5957856&pool=${pool}`),
  client.depthDecay(pool, { movePct: 2, withinSlots: 3, gapPct: 1, base: 'token0', from: series.from, to: series.to, ...guards }),
  client.liquidationExposure([pool, { pool, base: 'token0' }], { cascadeUsd: 1000, bonusPct: 5, protocolFeePct: 1, fallPct: 20, reference: 'mid', from: series.from, to: series.to, ...guards }),
  client.venueStress([pool, { pool, base: 'token0' }], { sizeUsd: 1000, haircutPct: 40, fallPct: 20, limitPct: 3, afterMovePct: 2, withinSlots: 3, reference: 'mid', from: series.from, to: series.to, ...guards }),
  client.shocks(),
  client.figure(`${web}/api/v1/stress?venue=${pool}/token0&size_usd=1&haircut_pct=5&fall_pct=20&limit_pct=3&after_move_pct=1&within_slots=3&reference=mid&from=${series.from}&to=${series.to}`),
  client.figure(`${web}/api/v1/exposure?venue=${pool}/token0&cascade_usd=1&bonus_pct=5&protocol_fee_pct=0&fall_pct=20&reference=mid&from=${series.from}&to=${series.to}`),
  client.figure(`${web}/api/v1/accuracy/${pool}?from=${series.from}&to=${series.to}&until=${series.to}`),
  client.figure(`${web}/api/v1/depths/${pool}?from=${series.from}&to=${series.to}`),
  client.figure(`${web}/api/v1/hours/${pool}?size_usd=1&base=token0&from=${series.from}&to=${series.to}`),
  client.figure(`${web}/api/v1/equity/${pool}?size_usd=1&gap_pct=2&base=token0&from=${series.from}&to=${series.to}`),
  client.equities(),
  client.equityScore('ethereum', `0x${'ab'.repeat(20)}`, { sizeUsd: 1000, gapPct: 2, ...guards }),
  client.verifyFigure(`${web}/api/v1/decay/${pool}?base=token0&from=${series.from}&to=${series.to}&move_pct=2&within_slots=3&gap_pct=1`),
  client.marketHours(pool, { sizeUsd: 1000, base: 'token0', ...guards }),
  client.fragility({ chain: 'ethereum', sort: 'gap', sizeUsd: 1000, limit: 7, cursor: '7' }),
  client.portfolio([{ pool, base: 'token0', sizeUsd: 1000 }], { into: 'cash', tolerancePct: 1, ...guards }),
  client.figure(`${web}/api/v1/portfolio/ethereum?sold=0x${'ab'.repeat(20)}:1&into=0x${'cd'.repeat(20)}&slot=5957856&pool=${pool}`),
  client.capabilities(),
  client.payments(),
  client.slotStatus(pool, { slot: 5957856 }),
  client.evidence(evidence),
  client.window(pool, { slot: 5957856 }),
  client.stateProof(pool, { slot: 5957856, low: -60, high: 60 }),
  client.snapshot(hash),
  client.checkpoint(),
  client.verifierKey(),
];
// What the answers hold is not what the service would send: which call is content with it does not matter here.
await Promise.allSettled(calls);

// A Date is its instant, to the whole second; what is none is named before anything is asked.
const exits = asked.filter(({ pathname }) => pathname.startsWith('/v1/exit/'));
assert.ok(exits.length > 0 && exits.every(({ searchParams }) => searchParams.get('at') === series.from));
for (const at of [new Date(NaN), {}, 5, null]) {
  const before = asked.length;
  await assert.rejects(client.exit(pool, { sizeUsd: 1000, at }), /at: .* is not a time/);
  assert.equal(asked.length, before);
}

const given = {};
for (const { origin, pathname, searchParams } of asked) {
  const match = (template) => {
    const [before] = template.split('{');
    return before === template ? pathname === template : pathname.startsWith(before);
  };
  const template = Object.keys(paths).find(match);
  assert.ok(template, `${pathname} is described`);
  assert.equal(origin, template.startsWith('/v1/') ? api : web, pathname);
  given[template] = new Set([...(given[template] ?? []), ...searchParams.keys()]);
}
const left = [];
for (const [template, { get }] of Object.entries(paths)) {
  // What is made or changed there, its owner does.
  if (!get) continue;
  if (!(template in given)) {
    left.push(template);
    continue;
  }
  const names = get.parameters.filter((one) => one.in === 'query').map((one) => one.name);
  for (const name of given[template]) assert.ok(names.includes(name), `${template} takes ${name}`);
  left.push(...names.filter((name) => !given[template].has(name)).map((name) => `${template}?${name}`));
}
assert.deepEqual(left.sort(), [
  // Asked once a figure file names snapshots; closed days are files for other programs.
  '/api/v1/series/{pool}', '/livez', '/metrics', '/readyz', '/v1/alerts', '/v1/alerts/{alert}',
  '/v1/alerts/{alert}/events', '/v1/export', '/v1/fills/{pool}', '/v1/issued/{pool}',
  // A browser has EventSource for it.
  '/v1/stream',
]);
console.log('sound');
