// Compiles contracts of which only the source is published. Run by `cargo xtask setup` with the
// folder of what was fetched and the folder that receives one file per contract.
const fs = require("node:fs");
const path = require("node:path");

const [fetched, out] = process.argv.slice(2).map((folder) => path.resolve(folder));

// What a source's name begins with, and the folder that it stands for.
const ROOTS = {
  "@openzeppelin/contracts/": "openzeppelin-contracts/",
  "aerodrome/": "aerodrome-sources/domains/aerodrome/contracts/",
};
const CONTRACTS = { Pool: "aerodrome/Pool.sol", PoolFactory: "aerodrome/factories/PoolFactory.sol" };

const sources = {};
function add(name) {
  if (name in sources) return;
  const root = Object.keys(ROOTS).find((root) => name.startsWith(root));
  if (root === undefined) throw new Error(`${name} is in no package that is fetched`);
  const content = fs.readFileSync(path.join(fetched, ROOTS[root], name.slice(root.length)), "utf8");
  sources[name] = { content };
  for (const [, imported] of content.matchAll(/^import[^"']*["']([^"']+)["'];/gm)) {
    add(imported.startsWith(".") ? path.posix.join(path.posix.dirname(name), imported) : imported);
  }
}
Object.values(CONTRACTS).forEach(add);

const settings = {
  optimizer: { enabled: true, runs: 200 },
  metadata: { bytecodeHash: "none" },
  outputSelection: { "*": { "*": ["evm.bytecode.object"] } },
};
const compiler = require(path.join(fetched, "solc/soljson.js"));
const compile = compiler.cwrap("solidity_compile", "string", ["string", "number", "number"]);
const compiled = JSON.parse(compile(JSON.stringify({ language: "Solidity", sources, settings }), 0, 0));
const errors = (compiled.errors ?? []).filter((error) => error.severity === "error");
if (errors.length > 0) throw new Error(errors[0].formattedMessage);
for (const [name, source] of Object.entries(CONTRACTS)) {
  const bytecode = `0x${compiled.contracts[source][name].evm.bytecode.object}`;
  fs.writeFileSync(path.join(out, `${name}.json`), `${JSON.stringify({ bytecode })}\n`);
}
