// Asks the module itself, below the package's own functions, and compares every byte it answers
// with what the native code answered. Runs in Node, in a page and in a worker.

const bytes = (text) => new TextEncoder().encode(text);
const some = (value) => value ?? undefined;

function ask(glue, opened, { ask: what, args }) {
  if (what === 'verify') {
    const [evidence, keys, seen, proof, window] = args;
    return glue.verify(bytes(evidence), keys, some(seen), proof, window === null ? undefined : bytes(window));
  }
  if (what === 'recompute') return glue.recompute(bytes(args[0]));
  if (what === 'rankRoutes') {
    const venues = new glue.Venues();
    try {
      for (const row of JSON.parse(args[0])) venues[row.length === 3 ? 'venue' : 'row'](...row);
      return venues.rank(args[1], args[2]);
    } finally {
      venues.free();
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
  const texts = rest.map((one, at) => (what === 'simulateOrders' && at !== 0 && at !== 2 ? Number(one) : one));
  return opened.get(snapshot)[what](some(base), ...texts);
}

/** How many were compared, and the first of those that differ. */
export function compare(glue, cases) {
  const opened = new Map();
  const differing = [];
  for (const [index, one] of cases.entries()) {
    let found;
    try {
      found = { text: ask(glue, opened, one), thrown: false };
    } catch (error) {
      found = { text: String(error), thrown: true };
    }
    if (found.text !== one.expected || found.thrown !== one.thrown) {
      differing.push({ index, ask: one.ask, expected: one.expected, found: found.text });
    }
  }
  for (const one of opened.values()) one.free();
  return { compared: cases.length, differing: differing.length, first: differing.slice(0, 3) };
}
