// Evidence held against policies of witnesses. Prints a check for each, to be compared with the command line's.
// Usage: node witnessed.mjs <evidence> <policy>...
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { init, verify, witnessed } from 'exitgap';

await init();
const [file, ...policies] = process.argv.slice(2);
const evidence = readFileSync(file);
const nowS = Math.floor(Date.now() / 1000);
const checks = policies.map((policy) => witnessed(evidence, readFileSync(policy), { nowS }));
// Whoever's clock is behind does not count what is to come; without a clock all counts.
const early = witnessed(evidence, readFileSync(policies[0]), { nowS: 1_000_000_000 });
assert.equal(early.code, 'quorum_missing');
assert.ok(early.found.includes('is to come'), early.found);
assert.equal(witnessed(evidence, readFileSync(policies[0], 'utf8')).code, 'ok');
assert.throws(() => witnessed(evidence, 'quorum nobody\n'), { code: 'invalid_parameter', field: 'policy' });
assert.throws(() => witnessed(evidence, 'quorum none\n', { nowS: 1.5 }), { code: 'invalid_parameter', field: 'nowS' });
assert.equal(witnessed('nothing', 'quorum none\n').code, 'log_proof_invalid');
// A cosignature more is nothing to who trusts the log's key alone.
assert.equal(verify(evidence).checks.every(({ outcome }) => outcome !== 'fail'), true);
console.log(JSON.stringify(checks));
