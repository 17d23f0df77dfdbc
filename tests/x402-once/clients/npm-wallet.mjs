// The wallet of the npm package exitgap. The module may be named by PAY_MODULE: another version of it.

import { callUntilAnswered } from './until.mjs';

const { budget, fileLedger, payingFetch } = await import(process.env.PAY_MODULE ?? '../../../pkg/pay.js');

const pay = budget({
  maxPerCall: '0.01',
  budgets: [{ host: new URL(process.env.URL).host, limit: '1.00' }],
  networks: ['eip155:84532'],
  ledger: fileLedger(process.env.LEDGER),
});
// The trap checks no signature.
const signer = {
  address: '0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A',
  signTypedData: async () => `0x${'11'.repeat(65)}`,
};
await callUntilAnswered(payingFetch(fetch, { signer, pay, maxWaitMs: 400 }));
