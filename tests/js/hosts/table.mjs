// The hosts of the package's README, and how the README's program runs on each. Each answers what the program found
// there.

import { nextClient, nextEdge, nextServer } from './next.mjs';
import { bun, deno, required, dynamic, workers } from './programs.mjs';
import { esbuild, parcel, policy, react, rollup, vite, webpack } from './pages.mjs';
import { jest, vitest } from './runners.mjs';

export const HOSTS = {
  import: async (project) => {
    await project.add('main.mjs');
    return project.run('node', ['main.mjs']);
  },
  require: required,
  dynamic_import: dynamic,
  vite,
  webpack,
  parcel,
  react,
  bun,
  deno,
  vitest_node: (project) => vitest(project, 'node'),
  vitest_jsdom: (project) => vitest(project, 'jsdom'),
  vitest_happy_dom: (project) => vitest(project, 'happy-dom'),
  jest,
  strict_policy: policy,
  next_server: nextServer,
  next_client: nextClient,
  next_edge: nextEdge,
  workers,
  esbuild,
  rollup,
};
