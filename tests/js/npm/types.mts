// Uses every entry of the package. Compiled without the library `dom`.

import { Client, ExitgapError, MemoryStorage, estimate, init, open, verify } from 'exitgap';
import type { PublishedExit, VerificationReport } from 'exitgap';
import { evidence, keys } from 'exitgap/example';
import { fileStorage } from 'exitgap/file';
import { budget, fileLedger, payingFetch } from 'exitgap/pay';
import * as proof from 'exitgap/proof';
import { ExitgapVerified } from 'exitgap/verify-badge';
import module from 'exitgap/exitgap_bg.wasm';

await init();
await init(new Uint8Array(8));
await proof.init();
const report: VerificationReport = verify(evidence, { keys });
const client = new Client('https://a.example', { storage: new MemoryStorage() });
const exit: PublishedExit = await client.exit('a:0x1', { sizeUsd: 1 });
export const all = [report.verdict, exit.exit_gap_pct, ExitgapError, estimate, open, fileStorage, budget, fileLedger, payingFetch, ExitgapVerified, module];
