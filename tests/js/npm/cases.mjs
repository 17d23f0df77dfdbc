// Asks the module itself, below the package's own functions, and compares the objects it answers,
// field by field and bit by bit, with what `JSON.parse` makes of the native code's document; then asks
// the package's function the same, as a caller does, and compares what that answers or throws. Runs in
// Node, in a page and in a worker.

const bytes = (text) => new TextEncoder().encode(text);
const some = (value) => value ?? undefined;
const several = (text) => (text === null || text === '' ? [] : text.split('\n'));

/** Whether two values are alike to the bit: plain objects with the same fields in the same order. */
function alike(one, other) {
  if (typeof one !== 'object' || one === null || typeof other !== 'object' || other === null) {
    return Object.is(one, other);
  }
  if (Object.getPrototypeOf(one) !== Object.getPrototypeOf(other)) return false;
  const [names, others] = [Reflect.ownKeys(one), Reflect.ownKeys(other)];
  return names.length === others.length
    && names.every((name, at) => name === others[at] && alike(one[name], other[name]));
}

function ask(glue, opened, { ask: what, args }) {
  if (what === 'verify') {
    const [evidence, keys, note, proof, window] = args;
    const heads = window === null ? undefined : bytes(window);
    return glue.verify(bytes(evidence), several(keys), some(note), several(proof), heads);
  }
  if (what === 'recompute') return glue.recompute(bytes(args[0]));
  if (what === 'rankRoutes') {
    const venues = new glue.Venues();
    try {
      for (const row of JSON.parse(args[0])) venues[row.length === 3 ? 'venue' : 'row'](...row);
      return venues.rank(several(args[1]), args[2]);
    } finally {
      venues.free();
    }
  }
  if (what === 'bestSplit') {
    const over = new glue.SplitOver();
    try {
      for (const one of JSON.parse(args[0])) {
        if (!opened.has(one)) opened.set(one, glue.Opened.read(bytes(one)));
        over.add(opened.get(one), args[1]);
      }
      return over.best(several(args[2]), args[3]);
    } finally {
      over.free();
    }
  }
  const [snapshot, base, ...rest] = args;
  const parts = [0n, 64n, 128n, 192n];
  if (!opened.has(snapshot)) opened.set(snapshot, glue.Opened.read(bytes(snapshot)));
  if (what === 'fill') {
    const amount = BigInt(rest[0]);
    const one = opened.get(snapshot);
    const paid = one.fill(one.baseIndex(base), ...parts.map((bits) => BigInt.asUintN(64, amount >> bits)));
    return String(paid.reduceRight((sum, part) => (sum << 64n) | part, 0n));
  }
  const asked = {
    ladder: () => rest.map(several),
    simulateOrders: () => rest.map((one, at) => (at === 0 || at === 2 ? one : Number(one))),
  };
  return opened.get(snapshot)[what](some(base), ...(asked[what]?.() ?? rest));
}

/** The same question to the package's own function. */
function askPublicly(exitgap, opened, ladders, { ask: what, args }) {
  const given = (text) => (text === null || text === '' ? undefined : several(text));
  if (what === 'verify') {
    const [evidence, keys, note, proof, window] = args;
    const seen = note === null ? undefined : { note, proof: given(proof) };
    return exitgap.verify(evidence, { keys: given(keys), seen, window: some(window) });
  }
  if (what === 'recompute') return exitgap.recompute(bytes(args[0]));
  if (what === 'rankRoutes') {
    return exitgap.rankRoutes(ladders, { fixedCostsUsd: given(args[1]), sizeUsd: args[2] });
  }
  if (what === 'bestSplit') {
    const of = { base: args[1], fixedCostsUsd: given(args[2]), sizeUsd: args[3] };
    return exitgap.bestSplit(JSON.parse(args[0]), of);
  }
  const [snapshot, base, ...rest] = args;
  if (!opened.has(snapshot)) opened.set(snapshot, exitgap.open(snapshot));
  const [first, second, third, fourth] = rest;
  const asked = {
    estimate: () => ({ sizeUsd: first }),
    ladder: () => ({ gap: given(first), sizeUsd: given(second) }),
    maxSizeFor: () => ({ gap: first }),
    simulateOrders: () => ({
      sizeUsd: first, orders: Number(second), recoveryPct: third, intervalS: Number(fourth),
    }),
    fill: () => ({ amountInRaw: first }),
  };
  return opened.get(snapshot)[what]({ base: some(base), ...asked[what]() });
}

/** What a caller is to get for what the native code answered. */
function due({ expected, thrown }) {
  if (!thrown) return JSON.parse(expected);
  const { code, detail, field, hint, reason, max_fillable_usd: most } = JSON.parse(expected);
  const camel = field?.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase());
  return errorFields({ code, message: detail, field: camel, hint, reason, maxFillableUsd: most });
}

function errorFields({ code, message, field, hint, reason, maxFillableUsd }) {
  return { code, message, field, hint, reason, maxFillableUsd };
}

/** What `call` answers, or what it throws. */
function outcome(call, thrown) {
  try {
    return { found: call(), thrown: false };
  } catch (error) {
    return { found: thrown(error), thrown: true };
  }
}

/** How many were compared, and the first of those that differ. */
export function compare(glue, exitgap, { cases, ladders }) {
  const [opened, openedPublicly] = [new Map(), new Map()];
  const differing = [];
  const note = (index, one, how, found) =>
    differing.push({ index, ask: one.ask, how, expected: one.expected, found });
  for (const [index, one] of cases.entries()) {
    const below = outcome(() => ask(glue, opened, one), (problem) => problem);
    if (!alike(below.found, JSON.parse(one.expected)) || below.thrown !== one.thrown) note(index, one, 'module', below.found);
    const above = outcome(() => askPublicly(exitgap, openedPublicly, ladders, one), errorFields);
    if (!alike(above.found, due(one)) || above.thrown !== one.thrown) note(index, one, 'package', above.found);
  }
  for (const one of opened.values()) one.free();
  for (const one of openedPublicly.values()) one.close();
  return { compared: cases.length, differing: differing.length, first: differing.slice(0, 3) };
}
