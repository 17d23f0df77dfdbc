// Verifies a figure file, its snapshots fetched page by page, and tells what it took.

import * as exitgap from 'exitgap';

const get = async (name) => new Uint8Array(await (await fetch(`./${name}`)).arrayBuffer());
const { keys } = await (await fetch('./question.json')).json();
const file = await get('figure.json');
await exitgap.init();
const [taken, told] = [[], []];
let report;
for (let round = 0; round < 3; round += 1) {
  const started = performance.now();
  report = await exitgap.verifyFigure(file, {
    keys,
    page: ({ pool, slot }) => get(`${pool.replace(':', '-')}-${slot}.ndjson`),
    onProgress: (seen, all) => told.push(seen / all),
  });
  taken.push(performance.now() - started);
}
const verify_ms = taken.sort((a, b) => a - b)[1];
const open = report.checks.filter(({ outcome }) => outcome !== "pass");
const found = { verdict: report.verdict, verify_ms, told: told.length, open };
document.getElementById('out').textContent = JSON.stringify(found);
