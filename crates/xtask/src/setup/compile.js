// Compiles contracts of which only the source is published, and those of the tests' own. Run by `cargo xtask setup`
// with the folder of what was fetched, the folder that receives one file per contract, and that of the tests' sources.
const fs = require("node:fs");
const path = require("node:path");

const [fetched, out, own] = process.argv.slice(2).map((folder) => path.resolve(folder));

// Aerodrome's two versions and a vault, each with its compiler: what a source's name begins with and the folder
// that it stands for, and the contracts that are wanted.
const SETS = [
  {
    compiler: "solc",
    roots: { "@openzeppelin/contracts/": "openzeppelin-contracts/", "tests/": own },
    contracts: { Vault: "tests/Vault.sol", TaxedToken: "tests/TaxedToken.sol" },
  },
  {
    compiler: "solc",
    roots: {
      "@openzeppelin/contracts/": "openzeppelin-contracts/",
      "aerodrome/": "aerodrome-sources/domains/aerodrome/contracts/",
    },
    contracts: { Pool: "aerodrome/Pool.sol", PoolFactory: "aerodrome/factories/PoolFactory.sol" },
  },
  {
    compiler: "solc-0.7.6",
    roots: { "slipstream/": "aerodrome-sources/domains/aerodrome-slipstream/" },
    contracts: {
      CLPool: "slipstream/contracts/core/CLPool.sol",
      CLFactory: "slipstream/contracts/core/CLFactory.sol",
    },
  },
];

function sourcesOf({ roots, contracts }) {
  const sources = {};
  function add(name) {
    if (name in sources) return;
    const root = Object.keys(roots).find((root) => name.startsWith(root));
    if (root === undefined) throw new Error(`${name} is in no package that is fetched`);
    const content = fs.readFileSync(path.resolve(fetched, roots[root], name.slice(root.length)), "utf8");
    sources[name] = { content };
    for (const [, imported] of content.matchAll(/^import[^"']*["']([^"']+)["'];/gm)) {
      add(imported.startsWith(".") ? path.posix.join(path.posix.dirname(name), imported) : imported);
    }
  }
  Object.values(contracts).forEach(add);
  return sources;
}

const settings = {
  optimizer: { enabled: true, runs: 200 },
  metadata: { bytecodeHash: "none" },
  outputSelection: { "*": { "*": ["evm.bytecode.object"] } },
};
for (const set of SETS) {
  const compiler = require(path.join(fetched, set.compiler, "soljson.js"));
  const compile = compiler.cwrap("solidity_compile", "string", ["string", "number", "number"]);
  const asked = { language: "Solidity", sources: sourcesOf(set), settings };
  const compiled = JSON.parse(compile(JSON.stringify(asked), 0, 0));
  const errors = (compiled.errors ?? []).filter((error) => error.severity === "error");
  if (errors.length > 0) throw new Error(errors[0].formattedMessage);
  for (const [name, source] of Object.entries(set.contracts)) {
    const bytecode = `0x${compiled.contracts[source][name].evm.bytecode.object}`;
    fs.writeFileSync(path.join(out, `${name}.json`), `${JSON.stringify({ bytecode })}\n`);
  }
}
