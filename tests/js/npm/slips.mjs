// node slips.mjs <cases.json>: what callers often get wrong is forgiven, or told with its remedy.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';

import * as exitgap from 'exitgap';

const { snapshot, evidence, keys } = JSON.parse(await readFile(process.argv[2], 'utf8'));
await exitgap.init();
const opened = exitgap.open(snapshot);
const told = (call) => {
  try {
    call();
  } catch (error) {
    assert(error instanceof exitgap.ExitgapError);
    return error;
  }
  assert.fail(`${call} answered`);
};

// Forgiven: a buffer in the place of its bytes, a key with its file's line break, null for nothing.
const { buffer } = new TextEncoder().encode(evidence);
const { verdict } = exitgap.verify(evidence, { keys });
assert.equal(verdict, 'valid');
const policy = { keys: keys.map((key) => `${key}\n`), seen: null, window: null };
assert.equal(exitgap.verify(buffer, policy).verdict, verdict);

// An evidence file has the two documents of a snapshot file.
assert.equal(exitgap.snapshotHash(evidence), exitgap.snapshotHash(snapshot));
const of = { sizeUsd: 100, base: 'token0' };
assert.deepEqual(exitgap.estimate(evidence, of), opened.estimate(of));

// Told, with the remedy.
const { snapshot: alone, state } = JSON.parse(snapshot);
const other = { ...state, v: 2 };
for (const parts of [alone, { snapshot: alone }, { snapshot: alone, state: other }, { snapshot: state, state }]) {
  for (const call of [exitgap.open, exitgap.snapshotHash]) {
    const error = told(() => call(JSON.stringify(parts)));
    assert.deepEqual([error.code, error.field], ['source_unreadable', 'snapshot']);
    assert.match(error.hint, /pass a snapshot file/);
  }
}
for (const document of [JSON.parse(evidence), Promise.resolve(evidence), new Response(evidence)]) {
  const error = told(() => exitgap.verify(document, { keys }));
  assert.deepEqual([error.code, error.field], ['invalid_parameter', 'evidence']);
  assert.match(error.hint, /awaited and not parsed/);
}
for (const amountInRaw of [1e21, -1, 0.5, '1_000', ' 1']) {
  const error = told(() => opened.fill({ amountInRaw, base: 'token0' }));
  assert(error.message.includes(`${amountInRaw} is not a whole number`), error.message);
  assert.match(error.hint, /text or bigint/);
}
for (const orders of [0, 1001]) {
  assert.match(told(() => opened.simulateOrders({ sizeUsd: 1, orders, base: 'token0' })).message, /from 1 to 1000$/);
}
for (const orders of [-1, 2.5, '2']) {
  assert.match(told(() => opened.simulateOrders({ sizeUsd: 1, orders, base: 'token0' })).message, /whole number/);
}
for (const steps of [{ gap: [] }, { sizeUsd: [] }]) {
  assert.match(told(() => opened.ladder({ ...steps, base: 'token0' })).message, /: an empty array$/);
}

// No other token is sold than the one that is named.
for (const base of [undefined, null]) {
  for (const call of [
    () => opened.estimate({ sizeUsd: 1, base }), () => opened.ladder({ base }), () => opened.ladder(),
    () => opened.maxSizeFor({ gap: 1, base }), () => opened.simulateOrders({ sizeUsd: 1, orders: 1, base }),
    () => opened.fill({ amountInRaw: 1, base }),
  ]) {
    const error = told(call);
    assert.deepEqual([error.code, error.field], ['invalid_parameter', 'base'], String(call));
    assert.match(error.hint, /token0, token1/);
  }
}

// A caller's own object may throw anything while it is read: what comes out is an error of the package.
const shy = new Proxy({}, { getPrototypeOf() { throw new Error('no'); } });
for (const thrown of ['boom', 'null', '{"a":1}', '[', new RangeError('mine'), null, undefined, 7, shy]) {
  const policy = { get keys() { throw thrown; } };
  assert.equal(told(() => exitgap.verify(evidence, policy)).code, 'invalid_parameter');
}
// A list whose length grows while it is read is as long as it was.
let asked = 0;
const growing = new Proxy([keys[0]], {
  get: (list, name) => (name === 'length' ? (asked += 1) === 1 ? 1 : 1e6 : list[name]),
});
assert.equal(exitgap.verify(evidence, { keys: growing }).verdict, verdict);

// An error sent to a log says what happened.
const error = told(() => exitgap.verify(7));
const { code, field, hint, message } = error;
assert.deepEqual(JSON.parse(JSON.stringify(error)), { name: 'ExitgapError', code, field, hint, message });
console.log('sound');
