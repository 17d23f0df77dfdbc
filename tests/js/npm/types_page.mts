// Passes the objects of a page to the package. Compiled with the library `dom`.

import { Client, init, webStorage } from 'exitgap';
import { ExitgapVerified } from 'exitgap/verify-badge';
import { budget, fileLedger, payingFetch } from 'exitgap/pay';
await init(new URL('https://a.example/x.wasm'));
await init(fetch('/x.wasm'));
const end = new AbortController();
const client = new Client(new URL('https://a.example'), { fetch, storage: webStorage(), webUrl: new URL('https://b.example') });
new Client('https://a.example', { fetch: (url, request) => fetch(url, { ...request, credentials: 'omit' }) });
await client.pools({ signal: end.signal });
const badge: HTMLElement = new ExitgapVerified();
document.body.append(badge, document.createElement('exitgap-verified'));
const pay = budget({ maxPerCall: '1', budgets: [], networks: [], ledger: fileLedger('a') });
const paying = payingFetch(fetch, { signer: null as never, pay });
const answer: Response = await paying('https://a.example', { method: 'POST' });
export default answer.status;
