// Hands what no caller should to every function. Each must answer with an error of this package,
// but for what MAY_ANSWER lists, and the module must go on as before, with no more memory than
// after the first round.

const HUGE = 50_000_000;

function garbage() {
  const cyclic = {};
  cyclic.self = cyclic;
  const throwing = new Proxy({}, { get() { throw new Error('no'); }, ownKeys() { throw new Error('no'); } });
  class Lying extends Uint8Array {
    get length() { return 3; }
    get byteLength() { return 3; }
  }
  const detached = new Uint8Array(8);
  structuredClone(detached, { transfer: [detached.buffer] });
  return [
    undefined, null, true, NaN, -1, 1e300, 2n ** 300n, Symbol('x'), () => 0, '', 'x', '\ud800', '\0',
    'a'.repeat(HUGE), '['.repeat(1_000_000), new Uint8Array(0), new Uint8Array(HUGE), new Lying(200_000),
    detached, new Float64Array(9), new DataView(new ArrayBuffer(9)), [], new Array(4_294_967_295), {},
    cyclic, [cyclic], throwing, [throwing], Object.create(null), new Date(NaN), new Map([[1, 2]]),
    { toString() { throw new Error('no'); } }, { length: 1e9 }, JSON.parse('{"__proto__": 1}'),
  ];
}

const RULE = JSON.stringify({
  v: 1, alert: 'mine', pool: 'a:0x00000000000000000000000000000000000000aa', base: 'token0', kind: 'missing',
  first_slot: 5958000, web_url: 'https://exits.example',
});
const CHECKPOINT = { origin: 'a/1', size: 1, root: `${'A'.repeat(43)}=` };

/** Every function as it is called with one argument replaced. */
function calls(exitgap, snapshot, opened, evidence, ladder) {
  const { Client, init, verify, witnessed, recompute, snapshotHash, open, rankRoutes, bestSplit, verifyFigure, openAlert } = exitgap;
  // A service that answers everything, so that only arguments can be wrong.
  const client = new Client('https://exitgap.example', { fetch: async () => new Response('{}') });
  const alert = openAlert(RULE);
  const [pool, url] = ['a:0x1', 'https://a/a:0x1?base=token0&slot=1&size_usd=1&method_version=1'];
  const service = [
    (x) => new Client(x), (x) => new Client('https://a', x), (x) => new Client('https://a', { fetch: x }),
    (x) => new Client('https://a', { timeoutMs: x }), (x) => new Client('https://a', { retries: x }),
    (x) => new Client('https://a', { fetch: async () => x, retries: 0 }).pools(),
    (x) => new Client('https://a', { fetch: async () => ({ status: 200, body: x }), retries: 0 }).pools(),
    (x) => new Client('https://a', { fetch: async () => { throw x; }, retries: 0 }).pools(),
    (x) => client.portfolio(x), (x) => client.portfolio([x]), (x) => client.portfolio([{ pool, sizeUsd: x }]),
    (x) => client.portfolio([{ pool, sizeUsd: 1, base: x }]), (x) => client.portfolio([], x),
    (x) => client.evidence(x), (x) => client.evidence(url, x), (x) => client.snapshot(x),
    (x) => client.verify(x), (x) => client.verify(url, x), (x) => client.verify(url, {}, x),
    (x) => client.exit(pool, { sizeUsd: x }), (x) => client.window(pool, { slot: x }), (x) => client.stateProof(pool, { slot: x }),
    (x) => client.slotStatus(pool, { slot: x }), (x) => client.fragility({ limit: x }),
  ];
  for (const name of ['pools', 'fragility', 'capabilities', 'payments', 'checkpoint', 'verifierKey']) {
    service.push((x) => client[name](x), (x) => client[name]({ signal: x }));
  }
  for (const name of ['exit', 'ladder', 'history', 'stress', 'slotStatus', 'window', 'snapshot']) {
    service.push((x) => client[name](x), (x) => client[name](pool, x), (x) => client[name](pool, { base: x, signal: x }));
  }
  const list = [
    (x) => init(x), ...service,
    (x) => verify(x), (x) => verify(evidence, x), (x) => verify(evidence, { keys: x }),
    (x) => verify(evidence, { keys: [x] }), (x) => verify(evidence, { seen: x }),
    (x) => verify(evidence, { seen: { note: x, proof: [] } }),
    (x) => verify(evidence, { seen: { note: '', proof: x } }),
    (x) => verify(evidence, { seen: { note: '', proof: [x] } }),
    (x) => verify(evidence, { window: x }), (x) => recompute(x), (x) => snapshotHash(x),
    (x) => openAlert(x), (x) => openAlert(RULE, x), (x) => openAlert(RULE, { kept: x }),
    (x) => alert.take(x), (x) => alert.take({ head: x, checkpoint: CHECKPOINT }),
    (x) => alert.take({ head: '{}', snapshot: x, checkpoint: CHECKPOINT }),
    (x) => alert.take({ head: '{}', checkpoint: x }),
    ...['origin', 'size', 'root'].map((name) =>
      (x) => alert.take({ head: '{}', checkpoint: { ...CHECKPOINT, [name]: x } })),
    (x) => witnessed(x, 'quorum none\n'), (x) => witnessed('x', x), (x) => witnessed('x', 'quorum none\n', x),
    (x) => witnessed('x', 'quorum none\n', { nowS: x }),
    (x) => verifyFigure(x), (x) => verifyFigure('x', x), (x) => verifyFigure('x', { keys: x }),
    (x) => verifyFigure('x', { page: x }), (x) => verifyFigure('x', { onProgress: x }),
    (x) => client.liquidationExposure(x), (x) => client.liquidationExposure([x], { cascadeUsd: 1 }),
    (x) => client.liquidationExposure([{ pool, base: x }], { cascadeUsd: 1 }), (x) => client.liquidationExposure([pool], x),
    (x) => client.liquidationExposure([pool], { cascadeUsd: x }),
    (x) => client.venueStress(x), (x) => client.venueStress([pool], x), (x) => client.venueStress([pool], { haircutPct: x }),
    (x) => client.figure(x), (x) => client.verifyFigure(x), (x) => client.verifyFigure('https://a', x),
    (x) => open(x), (x) => opened.fill(x), (x) => opened.fill({ amountInRaw: x, base: 'token0' }),
    (x) => rankRoutes(x, { sizeUsd: 1 }), (x) => rankRoutes([x], { sizeUsd: 1 }),
    (x) => rankRoutes([ladder], x), (x) => rankRoutes([ladder], { sizeUsd: x }),
    (x) => rankRoutes([ladder], { sizeUsd: 1, fixedCostsUsd: x }),
    (x) => rankRoutes([ladder], { sizeUsd: 1, fixedCostsUsd: [x] }),
    (x) => rankRoutes([{ ...ladder, by_gap: x }], { sizeUsd: 1 }),
    (x) => rankRoutes([{ ...ladder, by_size: [x] }], { sizeUsd: 1 }),
    (x) => bestSplit(x, { sizeUsd: 1, base: 'token0' }), (x) => bestSplit([x], { sizeUsd: 1, base: 'token0' }),
    (x) => bestSplit([snapshot], x), (x) => bestSplit([snapshot], { sizeUsd: x, base: 'token0' }),
    (x) => bestSplit([snapshot], { sizeUsd: 1, base: x }),
    (x) => bestSplit([snapshot], { sizeUsd: 1, base: 'token0', fixedCostsUsd: x }),
    (x) => rankRoutes([{ ...ladder, pool: x, base: { address: x } }], { sizeUsd: 1 }),
  ];
  const asked = {
    estimate: { base: 'token0', sizeUsd: 100 },
    ladder: { base: 'token0', gap: [1], sizeUsd: [1] },
    maxSizeFor: { base: 'token0', gap: 1 },
    simulateOrders: { base: 'token0', sizeUsd: 100, orders: 2, recoveryPct: 1, intervalS: 1 },
  };
  for (const [name, options] of Object.entries(asked)) {
    list.push((x) => exitgap[name](x, options), (x) => exitgap[name](snapshot, x));
    for (const option of [...Object.keys(options), 'other']) {
      list.push((x) => exitgap[name](snapshot, { ...options, [option]: x }));
      list.push((x) => exitgap[name](snapshot, { ...options, [option]: [x] }));
    }
  }
  return list;
}

// What may answer, since it is no garbage there or never looked at: by call, the places of the garbage.
// A ready module needs no source; a window or a file of any bytes has a report; what the service judges
// is sent to it; an option may be absent.
const MAY_ANSWER = {
  '(x) => bestSplit([snapshot], { sizeUsd: 1, base: \'token0\', fixedCostsUsd: x })': [0, 21],
  '(x) => client.evidence(url, x)': [0, 23, 28],
  '(x) => client.exit(pool, { sizeUsd: x })': [0, 3, 4, 5, 6, 9, 10, 11, 12],
  '(x) => client.fragility({ limit: x })': [0],
  '(x) => client.liquidationExposure([pool], x)': [0, 23, 28],
  '(x) => client.liquidationExposure([pool], { cascadeUsd: x })': [0, 3, 4, 5, 6, 9, 10, 11, 12],
  '(x) => client.liquidationExposure([x], { cascadeUsd: 1 })': [10],
  '(x) => client.liquidationExposure([{ pool, base: x }], { cascadeUsd: 1 })': [0, 10],
  '(x) => client.liquidationExposure(x)': [21],
  '(x) => client.venueStress(x)': [21],
  '(x) => client.venueStress([pool], x)': [0, 23, 28],
  '(x) => client.venueStress([pool], { haircutPct: x })': [0, 3, 4, 5, 6, 9, 10, 11, 12],
  '(x) => client.portfolio([], x)': [0, 23, 28],
  '(x) => client.portfolio([{ pool, sizeUsd: 1, base: x }])': [0, 10],
  '(x) => client.portfolio([{ pool, sizeUsd: x }])': [3, 4, 5, 6, 9, 10, 11, 12],
  '(x) => client.portfolio(x)': [21],
  '(x) => client.slotStatus(pool, { slot: x })': [0],
  '(x) => client.verifyFigure(\'https://a\', x)': [0, 23, 28],
  '(x) => client.verify(url, x)': [0, 23, 28],
  '(x) => client.verify(url, {}, x)': [0, 23, 28],
  '(x) => client.window(pool, { slot: x })': [0],
  '(x) => client[name](pool, x)': [0, 23, 28, 0, 23, 28, 0, 23, 28, 0, 23, 28, 0, 23, 28, 0, 23, 28],
  '(x) => client[name](pool, { base: x, signal: x })': [0, 0, 0, 0],
  '(x) => client[name](x)': [0, 23, 28, 0, 23, 28, 0, 23, 28, 0, 23, 28, 0, 23, 28, 0, 23, 28, 10, 10, 10, 10, 10, 10],
  '(x) => client[name]({ signal: x })': [0, 0, 0, 0, 0, 0],
  '(x) => exitgap[name](snapshot, { ...options, [option]: [x] })': [4],
  '(x) => exitgap[name](snapshot, { ...options, [option]: x })': [0, 0, 4, 0, 1, 0, 1],
  '(x) => init(x)': [...garbage().keys()],
  '(x) => new Client(\'https://a\', x)': [0, 23, 28],
  '(x) => new Client(\'https://a\', { fetch: x })': [0, 8],
  '(x) => new Client(\'https://a\', { retries: x })': [0],
  '(x) => new Client(\'https://a\', { timeoutMs: x })': [0],
  '(x) => openAlert(RULE, x)': [0, 23, 28],
  '(x) => openAlert(RULE, { kept: x })': [0, 1],
  '(x) => rankRoutes([ladder], { sizeUsd: 1, fixedCostsUsd: x })': [0, 21],
  '(x) => rankRoutes([{ ...ladder, by_gap: x }], { sizeUsd: 1 })': [21, 25],
  '(x) => rankRoutes([{ ...ladder, by_size: [x] }], { sizeUsd: 1 })': [15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 27, 28, 29, 30, 31, 32, 33],
  '(x) => rankRoutes([{ ...ladder, pool: x, base: { address: x } }], { sizeUsd: 1 })': [9, 10, 11, 12],
  '(x) => verify(evidence, x)': [0, 23, 28],
  '(x) => verify(evidence, { keys: x })': [0, 21],
  '(x) => verify(evidence, { seen: x })': [0, 1],
  '(x) => verify(evidence, { seen: { note: \'\', proof: x } })': [0, 21],
  '(x) => verify(evidence, { seen: { note: x, proof: [] } })': [9, 10, 11, 12, 14],
  '(x) => verify(evidence, { window: x })': [0, 1, 9, 10, 11, 12, 14, 15, 17],
  '(x) => verifyFigure(\'x\', x)': [0, 23, 28],
  '(x) => verifyFigure(\'x\', { keys: x })': [0, 21],
  '(x) => verifyFigure(\'x\', { onProgress: x })': [0, 8],
  '(x) => verifyFigure(\'x\', { page: x })': [0, 8],
  '(x) => verifyFigure(x)': [9, 10, 11, 12, 14, 15, 17],
  '(x) => verify(x)': [9, 10, 11, 12, 14, 15, 17],
  '(x) => witnessed(\'x\', \'quorum none\\n\', x)': [0, 23, 28],
  '(x) => witnessed(\'x\', \'quorum none\\n\', { nowS: x })': [0, 1],
  '(x) => witnessed(x, \'quorum none\\n\')': [9, 10, 11, 12, 14, 15, 17],
};

export async function tryGarbage(exitgap, memory, snapshot, evidence, keys) {
  const opened = exitgap.open(snapshot);
  const ladder = opened.ladder({ base: 'token0' });
  const sound = () =>
    JSON.stringify([exitgap.verify(evidence, { keys }), exitgap.estimate(snapshot, { sizeUsd: 100, base: 'token0' })]);
  const before = sound();
  const wrong = [];
  const codes = {};
  const sizes = [];
  const answered = {};
  let tried = 0;
  for (let round = 0; round < 4; round += 1) {
    for (const call of calls(exitgap, snapshot, opened, evidence, ladder)) {
      for (const [which, value] of garbage().entries()) {
        tried += 1;
        try {
          (await call(value))?.close?.();
          if (round === 0) (answered[String(call)] ??= []).push(which);
        } catch (error) {
          const typed = error instanceof exitgap.ExitgapError && typeof error.code === 'string';
          if (!typed || error.code === 'internal_error') {
            wrong.push(`${call}, garbage ${which}: ${error?.name} ${error?.code} ${error?.message}`);
          } else {
            codes[error.code] = (codes[error.code] ?? 0) + 1;
          }
        }
      }
    }
    sizes.push(memory.buffer.byteLength);
  }
  for (const call of new Set([...Object.keys(answered), ...Object.keys(MAY_ANSWER)])) {
    const [found, may] = [answered[call], MAY_ANSWER[call]].map(String);
    if (found !== may) wrong.push(`${call} answered garbage ${found}, not ${may}`);
  }
  return { tried, wrong: wrong.slice(0, 5), codes, sizes, sound: sound() === before };
}
