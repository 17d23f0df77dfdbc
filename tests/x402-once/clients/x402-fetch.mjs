// @x402/fetch, the official client of version 2, unchanged. PACKAGES has it in its node_modules.

import { createRequire } from 'node:module';
import { join } from 'node:path';

import { callUntilAnswered } from './until.mjs';

const load = createRequire(join(process.env.PACKAGES, 'any.js'));
const { wrapFetchWithPayment, x402Client } = load('@x402/fetch');
const { registerExactEvmScheme } = load('@x402/evm/exact/client');
const { privateKeyToAccount } = load('viem/accounts');

const client = new x402Client();
registerExactEvmScheme(client, { signer: privateKeyToAccount(process.env.KEY) });
await callUntilAnswered(wrapFetchWithPayment(fetch, client));
