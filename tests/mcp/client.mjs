// The official TypeScript clients, as their users have them, against the tools: over HTTP and over
// standard input and output. Both hold structured content against the schema of the tool.
//
// node client.mjs <client | sdk> <url of /mcp> <pool> <program> [its arguments…]
import assert from 'node:assert/strict';

const [which, url, pool, program, ...args] = process.argv.slice(2);
const names = ['list_pools', 'estimate_exit', 'max_exit_size', 'simulate_orders', 'depth_ladder', 'exit_history', 'fragility_board', 'verify_evidence'];

async function packages() {
  if (which === 'client') {
    const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
    const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
    return { Client, StreamableHTTPClientTransport, StdioClientTransport };
  }
  const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
  const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js');
  const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js');
  return { Client, StreamableHTTPClientTransport, StdioClientTransport };
}

async function uses(client, by) {
  const { tools } = await client.listTools();
  assert.deepEqual(tools.map((tool) => tool.name), names);
  const call = (name, args) => client.callTool({ name, arguments: args });
  const asked = [
    ['list_pools', {}],
    ['estimate_exit', { pool, size_usd: 1000 }],
    ['max_exit_size', { pool, gap_pct: 2 }],
    ['simulate_orders', { pool, size_usd: 1000, orders: 2 }],
    ['depth_ladder', { pool }],
    ['exit_history', { pool, size_usd: '1000' }],
    ['fragility_board', {}],
  ];
  let evidence_url;
  for (const [name, args] of asked) {
    const result = await call(name, args);
    assert.ok(!result.isError, JSON.stringify(result));
    assert.deepEqual(JSON.parse(result.content[0].text), result.structuredContent);
    evidence_url ??= result.structuredContent.evidence_url;
  }
  const verified = (await call('verify_evidence', { evidence_url })).structuredContent;
  assert.deepEqual([verified.verdict, verified.verified_by], ['valid', by]);
  const refused = await call('estimate_exit', { pool, size_usd: 1000, require: 'live' });
  assert.ok(refused.isError);
  assert.equal(JSON.parse(refused.content[0].text).code, 'not_live');
  await client.close();
}

const { Client, StreamableHTTPClientTransport, StdioClientTransport } = await packages();
const info = { name: 'test', version: '1' };
// Of the newer client, both eras: that of a handshake, and the newest, named and found out.
const modes = which === 'client' ? ['legacy', 'auto', { pin: '2026-07-28' }] : ['legacy'];
const eras = modes.map((mode) => ({ versionNegotiation: { mode } }));
for (const era of eras) {
  const client = new Client(info, era);
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  await uses(client, 'operator');
}
const client = new Client(info);
await client.connect(new StdioClientTransport({ command: program, args }));
await uses(client, 'here');
console.log('sound');
