// The readers of the npm package, each as an application calls it.

import { pathToFileURL } from 'node:url';

const spelled = (checks) => checks.map(({ name, outcome }) => `${name} ${outcome}`).join(', ');

/** Every reader of the package in this folder. */
export async function packageReaders(folder) {
  const exitgap = await import(pathToFileURL(`${folder}/inline.js`));
  const proof = await import(pathToFileURL(`${folder}/proof-inline.js`));
  await exitgap.init();
  await proof.init();
  return {
    evidence({ file, keys, window, seen }) {
      const policy = { keys, ...(window && { window: Buffer.from(window, 'hex') }), ...(seen && { seen }) };
      const report = exitgap.verify(file, policy);
      return { verdict: report.verdict, compared: spelled(report.checks) };
    },
    async figure({ file, keys, context }) {
      const documents = new Map(context.map(([hash, ...texts]) => [hash, texts]));
      const page = (wanted) => {
        const texts = documents.get(wanted.snapshot ?? wanted.fills);
        if (texts === undefined) return undefined;
        const line = texts.length === 1
          ? `{"fills":${texts[0]},"slot":${wanted.slot}}`
          : `{"snapshot":${texts[0]},"state":${texts[1]}}`;
        return Buffer.from(`${line}\n`);
      };
      const { verdict } = await exitgap.verifyFigure(file, { keys, page });
      return { verdict, compared: verdict };
    },
  };
}
