// A wallet in a process of its own, in Node: the counterpart of `faults payer`. Says a word for each
// attempt: `paid`, or the code of the refusal. Its signatures are none: the service it pays knows them by their bytes.

import { parseArgs } from 'node:util';

import { budget, fileLedger, payingFetch } from '../../../pkg/pay.js';

const texts = ['url', 'ledger', 'limit', 'attempts'];
const options = Object.fromEntries(texts.map((name) => [name, { type: 'string' }]));
const { url, ledger, limit, attempts, distinct } = parseArgs({ options: { ...options, distinct: { type: 'boolean' } } }).values;

const units = limit.padStart(7, '0');
const pay = budget({
  maxPerCall: '0.01',
  budgets: [{ host: new URL(url).host, pathPrefix: '/v1/exit', limit: `${units.slice(0, -6)}.${units.slice(-6)}` }],
  networks: ['eip155:84532'],
  ledger: fileLedger(ledger),
});
const signer = {
  address: '0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A',
  signTypedData: async () => `0x${'11'.repeat(65)}`,
};
const paid = payingFetch(fetch, { signer, pay });

for (let attempt = 0; attempt < Number(attempts); attempt += 1) {
  try {
    const answer = await paid(distinct ? `${url}&asked=${process.pid}-${attempt}` : url);
    console.log(answer.status === 200 ? 'paid' : String(answer.status));
  } catch (error) {
    if (error.code === undefined) throw error;
    console.log(error.code);
  }
}
