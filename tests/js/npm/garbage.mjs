// Hands what no caller should to every function. Each must answer with an error of this package,
// and the module must go on as before, with no more memory than after the first round.

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

/** Every function as it is called with one argument replaced. */
function calls(exitgap, snapshot, opened, evidence, ladder) {
  const { verify, recompute, snapshotHash, open, rankRoutes } = exitgap;
  const list = [
    (x) => verify(x), (x) => verify(evidence, x), (x) => verify(evidence, { keys: x }),
    (x) => verify(evidence, { keys: [x] }), (x) => verify(evidence, { seen: x }),
    (x) => verify(evidence, { seen: { note: x, proof: [] } }),
    (x) => verify(evidence, { seen: { note: '', proof: x } }),
    (x) => verify(evidence, { seen: { note: '', proof: [x] } }),
    (x) => verify(evidence, { window: x }), (x) => recompute(x), (x) => snapshotHash(x),
    (x) => open(x), (x) => opened.fill(x), (x) => opened.fill({ amountInRaw: x }),
    (x) => rankRoutes(x, { sizeUsd: 1 }), (x) => rankRoutes([x], { sizeUsd: 1 }),
    (x) => rankRoutes([ladder], x), (x) => rankRoutes([ladder], { sizeUsd: x }),
    (x) => rankRoutes([ladder], { sizeUsd: 1, fixedCostsUsd: x }),
    (x) => rankRoutes([ladder], { sizeUsd: 1, fixedCostsUsd: [x] }),
    (x) => rankRoutes([{ ...ladder, by_gap: x }], { sizeUsd: 1 }),
    (x) => rankRoutes([{ ...ladder, by_size: [x] }], { sizeUsd: 1 }),
    (x) => rankRoutes([{ ...ladder, pool: x, base: { address: x } }], { sizeUsd: 1 }),
  ];
  const asked = {
    estimate: { sizeUsd: 100 },
    ladder: { gap: [1], sizeUsd: [1] },
    maxSizeFor: { gap: 1 },
    simulateOrders: { sizeUsd: 100, orders: 2, recoveryPct: 1, intervalS: 1 },
  };
  for (const [name, options] of Object.entries(asked)) {
    list.push((x) => exitgap[name](x, options), (x) => exitgap[name](snapshot, x));
    for (const option of [...Object.keys(options), 'base', 'other']) {
      list.push((x) => exitgap[name](snapshot, { ...options, [option]: x }));
      list.push((x) => exitgap[name](snapshot, { ...options, [option]: [x] }));
    }
  }
  return list;
}

export function tryGarbage(exitgap, memory, snapshot, evidence, keys) {
  const opened = exitgap.open(snapshot);
  const ladder = opened.ladder();
  const sound = () =>
    JSON.stringify([exitgap.verify(evidence, { keys }), exitgap.estimate(snapshot, { sizeUsd: 100 })]);
  const before = sound();
  const wrong = [];
  const codes = {};
  const sizes = [];
  let tried = 0;
  for (let round = 0; round < 4; round += 1) {
    for (const [at, call] of calls(exitgap, snapshot, opened, evidence, ladder).entries()) {
      for (const [which, value] of garbage().entries()) {
        tried += 1;
        try {
          call(value)?.close?.();
          codes.answered = (codes.answered ?? 0) + 1;
        } catch (error) {
          const typed = error instanceof exitgap.ExitgapError && typeof error.code === 'string';
          if (!typed || error.code === 'internal_error') {
            wrong.push(`call ${at}, garbage ${which}: ${error?.name} ${error?.code} ${error?.message}`);
          } else {
            codes[error.code] = (codes[error.code] ?? 0) + 1;
          }
        }
      }
    }
    sizes.push(memory.buffer.byteLength);
  }
  return { tried, wrong: wrong.slice(0, 5), codes, sizes, sound: sound() === before };
}
