// `require` of the installed package.
'use strict';

const { readFileSync } = require('node:fs');
const { init, verify } = require('exitgap');

init().then(() => {
  const { evidence, keys } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
  console.log(verify(new Uint8Array(Buffer.from(evidence)), { keys }).verdict);
});
