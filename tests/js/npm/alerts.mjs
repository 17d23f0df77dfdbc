// Evaluates rules over the slots of a log with the package, and compares each event with the native ones, byte for
// byte. A run is kept and taken up again now and then: what is in memory may not count.

import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';

import { init, openAlert } from 'exitgap';

const lines = (name) => createInterface({ input: createReadStream(name), crlfDelay: Infinity });

await init();
const rules = [];
for await (const line of lines('rules.jsonl')) {
  const { pool, rule, events } = JSON.parse(line);
  const run = openAlert(rule);
  if (run.standing().rule !== rule) throw new Error(`another rule: ${run.standing().rule}`);
  rules.push({ pool, rule, events, run, first: JSON.parse(rule).first_slot, said: [] });
}

const counts = { slots: 0, compared: 0, differing: 0, resumed: 0, refused: 0 };

/** What may not be taken, of each of which the run must be as if it had not been offered. */
function refuses(run, slot, before) {
  const { head, snapshot, checkpoint } = slot;
  const wrong = [
    { head, checkpoint },
    { head, snapshot: before.snapshot, checkpoint },
    { head: head.replace('"height":', '"height":1'), snapshot, checkpoint },
    { head: head.replace(/"prev":"0x./, '"prev":"0x0'), snapshot, checkpoint },
    { head: before.head, snapshot: before.snapshot, checkpoint },
    { head, snapshot, checkpoint: { ...checkpoint, root: 'x' } },
  ];
  for (const one of wrong.filter((one) => JSON.stringify(one) !== JSON.stringify(slot))) {
    try {
      run.take(one);
    } catch (error) {
      if (error.code !== 'source_unreadable' && error.code !== 'invalid_parameter') throw error;
      counts.refused += 1;
      continue;
    }
    throw new Error(`taken: ${JSON.stringify(one).slice(0, 300)}`);
  }
}

let before;
for await (const line of lines('slots.jsonl')) {
  const { pool, head, snapshot, checkpoint } = JSON.parse(line);
  const number = JSON.parse(head).slot;
  const slot = { head, snapshot: snapshot ?? undefined, checkpoint };
  counts.slots += 1;
  for (const rule of rules.filter((rule) => rule.pool === pool && number >= rule.first)) {
    if (counts.slots % 500 === 250 && number > rule.first && snapshot !== null && before.snapshot !== undefined) {
      refuses(rule.run, slot, before);
    }
    rule.said.push(...rule.run.take(slot));
    if ((counts.slots + rules.indexOf(rule)) % 97 === 0) {
      const kept = rule.run.keep();
      rule.run.close();
      rule.run = openAlert(rule.rule, { kept });
      counts.resumed += 1;
    }
  }
  before = slot;
}
for (const { events, said, run } of rules) {
  const same = events.filter(([id, document], at) => said[at]?.id === id && said[at].document === document);
  const all = Math.max(events.length, said.length);
  counts.compared += all;
  counts.differing += all - same.length;
  if (run.standing().seq !== said.length) throw new Error('a run counts otherwise');
}
console.log(JSON.stringify(counts));
