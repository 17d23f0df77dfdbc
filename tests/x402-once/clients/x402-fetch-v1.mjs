// x402-fetch, the official client of version 1, unchanged. PACKAGES has it in its node_modules.

import { createRequire } from 'node:module';
import { join } from 'node:path';

import { callUntilAnswered } from './until.mjs';

const load = createRequire(join(process.env.PACKAGES, 'any.js'));
const { createSigner, wrapFetchWithPayment } = load('x402-fetch');

const signer = await createSigner('base-sepolia', process.env.KEY);
await callUntilAnswered(wrapFetchWithPayment(fetch, signer));
