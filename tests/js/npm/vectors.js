// The installed package in a page, and in a worker of its own.

import * as exitgap from 'exitgap';

import { compare } from './cases.mjs';
import { tryGarbage } from './garbage.mjs';

async function run() {
  const questions = await (await fetch('./cases.json')).json();
  const { snapshot, evidence, keys } = questions;
  const started = performance.now();
  await exitgap.init();
  const initMs = performance.now() - started;
  const glue = await import('./node_modules/exitgap/dist/exitgap.js');
  const { memory } = await glue.default();
  const worker = new Worker(new URL('./worker.js', import.meta.url), { type: 'module' });
  const fromWorker = await new Promise((resolve, reject) => {
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = (event) => reject(new Error(`worker: ${event.message}`));
  });
  return {
    initMs,
    compared: compare(glue, exitgap, questions),
    worker: fromWorker,
    garbage: await tryGarbage(exitgap, memory, snapshot, evidence, keys),
  };
}

const outcome = await run().catch((error) => ({ failed: String(error?.stack ?? error) }));
document.getElementById('out').textContent = JSON.stringify(outcome);
