// All pages, in a real browser, with a running service.
// Usage: node pages.mjs <service's address> <folder of node_modules> <folder for screenshots> [part ...]
import assert from "node:assert/strict";
import { start } from "./browser.mjs";
import shell from "./shell.mjs";
import board from "./board.mjs";
import pool from "./pool.mjs";
import figures from "./figures.mjs";
import series from "./series.mjs";
import evidence from "./evidence.mjs";
import exit from "./exit.mjs";
import risk from "./risk.mjs";
import portfolio from "./portfolio.mjs";
import failures from "./failures.mjs";

const [service, modules, shots, ...only] = process.argv.slice(2);
const parts = { shell, board, pool, figures, series, evidence, exit, risk, portfolio, failures };
const [retractedPool, slot] = process.env.EXITGAP_RETRACTED.split(" ");
const scene = { ...await start(service, modules, shots), retracted: { pool: retractedPool, slot } };
assert.ok(scene.thin, "no pool of the scene refuses a size");
for (const [name, part] of Object.entries(parts)) {
  if (only.length === 0 || only.includes(name)) await part(scene);
}
await scene.browser.close();
assert.deepEqual(scene.noise, [], "the browser complained");
console.log(JSON.stringify(scene.figures()));
