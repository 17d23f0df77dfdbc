// Evidence of a service held against the state proof that it hands out; then against changed ones, and against what
// those say who were asked for the block. Prints the checks, to be compared with the command line's.
// Usage: node state.mjs <service> <pool> <slot> <folder>
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { Client } from 'exitgap';
import { ExitgapError, init, verifyState } from 'exitgap/proof';

assert.throws(() => verifyState('{}', null), { code: 'not_initialized' });
await assert.rejects(init(new Uint8Array(8)), { code: 'init_failed' });
await init();
const [service, pool, slot, folder] = process.argv.slice(2);
const client = new Client(service);
const told = await client.exit(pool, { sizeUsd: 1000, base: 'token0' });
const evidence = await client.evidence(told.evidence_url);
const proof = await client.stateProof(pool, { slot: Number(slot) });
writeFileSync(`${folder}/evidence.json`, evidence);
writeFileSync(`${folder}/state.egp`, proof);

const words = (report) => report.checks.map(({ name, outcome, code }) => `${name} ${outcome} ${code}`);
const proven = ['header pass ok', 'pool_state pass ok', 'oracle_state pass ok'];
// All pairs have the same code. That of a pool of ranges would have to be handed over.
const isPair = new TextDecoder().decode(evidence).includes('"constant_product"');
const code = isPair ? ['code pass ok'] : [];
const report = verifyState(evidence, proof);
assert.deepEqual(words(report), [...proven, ...code], JSON.stringify(report));
assert.equal(report.unproven.includes("what the contract's code does"), !isPair);
assert.ok(report.unproven.includes('that the chain has a block with this hash'));

// Whom one asked for the block decides whether the chain has it.
const { block } = JSON.parse(new TextDecoder().decode(evidence)).snapshot;
const asked = (...blocks) => verifyState(evidence, proof, { blocks });
const same = asked({ by: 'my node', hash: block.hash }, { by: 'my wallet', hash: block.hash });
assert.deepEqual(words(same), [...proven, 'canonical pass ok', ...code]);
assert.ok(!same.unproven.includes('that the chain has a block with this hash'));
const other = asked({ by: 'my node', hash: block.hash }, { by: 'theirs', hash: `0x${'11'.repeat(32)}` });
assert.equal(words(other)[3], 'canonical fail other_block');
assert.equal(words(asked({ by: 'my node' }))[3], 'canonical not_checked not_answered');
// So many as the caller asks for, and what all of it comes to: with witnesses, where those were checked.
const least = (atLeast, ...blocks) => verifyState(evidence, proof, { blocks, atLeast });
const [own, theirs] = [{ by: 'my node', hash: block.hash }, { by: 'theirs', hash: `0x${'11'.repeat(32)}` }];
assert.equal(words(least(1, own, { by: 'silent' }))[3], 'canonical pass ok');
assert.equal(words(least(2, own, { ...own, by: 'mine too' }, theirs))[3], 'canonical pass ok');
assert.equal(words(least(1, own, theirs))[3], 'canonical fail other_block');
for (const wrong of [0, 3, 1.5, -1, '1', NaN]) {
  assert.throws(() => least(wrong, own, theirs), { code: 'invalid_parameter', field: 'atLeast' });
}
assert.deepEqual([report, same, other].map(({ says, rung }) => `${says} ${rung}`),
  ['proven proof', 'confirmed block', 'other_block contradicted']);
assert.match(same.sentence, /^Confirmed by the chain: .*; you still have to trust: that the nodes you asked do not collude, and the operator's statement about when/);
const cosigned = verifyState(evidence, proof, { blocks: [own], witnessed: 'pass' });
assert.equal(cosigned.rung, 'block_and_witnesses');
assert.match(cosigned.sentence, /your witnesses do not collude/);
assert.equal(verifyState(evidence, proof, { witnessed: 'fail' }).rung, 'contradicted');
assert.throws(() => verifyState(evidence, proof, { witnessed: 'maybe' }), { code: 'invalid_parameter' });

assert.throws(() => asked({ by: 'my node', hash: 'soon' }), { code: 'invalid_parameter', field: 'blocks' });
assert.throws(() => asked({ hash: block.hash }), { code: 'invalid_parameter', field: 'blocks' });
assert.throws(() => verifyState('{}', proof), { code: 'invalid_parameter', field: 'evidence' });
assert.throws(() => verifyState(evidence, new Uint8Array((4 << 20) + 1)), { code: 'invalid_parameter', field: 'proof' });

// Another state than the snapshot names, and bytes of the proof changed.
const text = new TextDecoder().decode(evidence);
const lied = text.replace(/("reserves":\["|"liquidity":")(\d+)"/, '$1$21"');
assert.notEqual(lied, text);
assert.throws(() => verifyState(lied, proof), { code: 'invalid_parameter', field: 'evidence' }, 'it is not the state that is named');
const header = new TextDecoder().decode(proof.subarray(0, proof.indexOf(10)));
const { lengths } = JSON.parse(header);
const child = [proof.indexOf(10) + 1 + lengths[0], proof.indexOf(10) + 1 + lengths[0] + lengths[1]];
let accepted = 0;
for (let tried = 0; tried < 400; tried += 1) {
  const at = (tried * 7919) % proof.length;
  const changed = proof.slice();
  changed[at] ^= 1 << (tried % 8);
  const { checks } = verifyState(evidence, changed);
  // Another next block has another hash, which is not this check's.
  const passed = checks.every(({ outcome }) => outcome === 'pass');
  if (passed && (at < child[0] || at >= child[1])) accepted += 1;
}
assert.ok(accepted <= 2, `${accepted}: a range of the same words is as true`);
assert.ok(words(verifyState(evidence, 'nothing')).every((one) => one.endsWith('not_checked proof_unusable')));

// Without a proof it is said that there is none, and what no caller should pass is an error of this package.
assert.deepEqual(words(verifyState(evidence, null)), words(verifyState(evidence, 'nothing')));
const garbage = [undefined, null, 7, NaN, '', '\ud800', [], {}, [7], () => 0, Symbol('x'), new Float64Array(9), 2n ** 300n,
  new Proxy({}, { get() { throw new Error('no'); }, ownKeys() { throw new Error('no'); } })];
let refused = 0;
for (const x of garbage) {
  for (const call of [() => verifyState(x, proof), () => verifyState(evidence, x), () => verifyState(evidence, proof, x),
    () => asked(x), () => asked({ by: x }), () => asked({ by: 'me', hash: x }), () => asked({ by: 'two\nlines' })]) {
    try {
      call();
    } catch (error) {
      assert.ok(error instanceof ExitgapError, String(error));
      refused += 1;
    }
  }
}
assert.ok(refused > 70, `${refused}`);
assert.deepEqual(words(verifyState(evidence, proof)), [...proven, ...code], 'it goes on as before');
const { checks, rung, sentence } = report;
console.log(JSON.stringify({ chain: checks, rung, sentence }));
