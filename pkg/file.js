// Keeps the client's log state in a file. For Node.

import { readFile, rename, writeFile } from 'node:fs/promises';

import { text } from './arguments.js';
import { ExitgapError, said } from './error.js';

/** A storage for `Client`: one JSON file of texts by name, replaced whole. One process at a time. */
export function fileStorage(path) {
  const at = text(path, 'path', 4096);
  let queue = Promise.resolve();
  const read = async () => {
    try {
      const found = JSON.parse(await readFile(at, 'utf8'));
      const isTexts = typeof found === 'object' && found !== null && Object.values(found).every((one) => typeof one === 'string');
      if (!isTexts) throw new Error('it is not an object with text values');
      return found;
    } catch (cause) {
      if (cause.code === 'ENOENT') return {};
      // Starting with an empty state would treat a rewritten log as a first visit.
      throw new ExitgapError('kept_unusable', `${at}: ${said(cause)}`, { cause, hint: 'move the file away to start again' });
    }
  };
  const next = (work) => {
    const done = queue.then(work);
    queue = done.catch(() => {});
    return done;
  };
  return {
    get: (name) => next(async () => (await read())[name] ?? null),
    put: (name, value) => next(async () => {
      const whole = { ...(await read()), [name]: value };
      await writeFile(`${at}.new`, `${JSON.stringify(whole, null, 1)}\n`);
      await rename(`${at}.new`, at);
    }),
  };
}
