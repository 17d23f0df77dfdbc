// What the reference shows in JavaScript, asked: each answer is what its address answers, or refused as that is.
// Usage: node reference.mjs <service> <what stands for a rule's name>
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { run } from './snippets.mjs';

const [service, rule] = process.argv.slice(2);
let [token, alert] = ['', ''];

/** Without what may change between two questions: ages, and how a webhook does. */
function settled(value) {
  if (Array.isArray(value)) return value.map(settled);
  if (value === null || typeof value !== 'object') return value;
  const members = Object.entries(value).filter(([name]) => !name.endsWith('age_s') && name !== 'webhook');
  return Object.fromEntries(members.map(([name, member]) => [name, settled(member)]));
}

/** What the address itself answers. */
async function served({ target, kind }) {
  const headers = token ? { authorization: `Bearer ${token}` } : {};
  const response = await fetch(service + target.replace(rule, alert), { headers });
  return response.ok && kind === 'bytes' ? Buffer.from(await response.arrayBuffer()) : response.json();
}

for (const one of JSON.parse(readFileSync('asked.json', 'utf8'))) {
  // A function of the package throws what a service refuses.
  const answer = await run[one.id](token, alert).catch((error) => error);
  if (one.id === 'keepAlert') ({ token, alert: { alert } } = answer);
  if (one.id === 'streamSlots') assert.match(answer, /event: pool\n/);
  else if (one.id === 'readMetrics') assert.match(answer, /^# /);
  else if (one.method !== 'GET') assert.ok(answer.code === undefined, JSON.stringify(answer));
  else {
    const expected = await served(one);
    if (expected.code) assert.equal(answer.code, expected.code, one.id);
    else if (one.kind === 'json') assert.deepEqual(settled(answer), settled(expected), one.id);
    // A snapshot file holds the snapshot and its state.
    else if (one.id === 'readSnapshot') assert.ok(answer.includes(expected.toString()), one.id);
    else assert.deepEqual(Buffer.from(answer), expected, one.id);
  }
}
console.log('sound');
