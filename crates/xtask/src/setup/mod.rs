//! `cargo xtask setup`: downloads the node and the contracts' published bytecode into `.fixtures/`, and compiles
//! contracts that are published as source.
//!
//! Each package is downloaded, checked against its pinned checksum, unpacked in a temporary folder and renamed to its
//! place, so an interrupted run leaves nothing incomplete and the next one continues. With a stamp of the pin list, a
//! run without changes takes milliseconds.

mod cargo_tools;
mod compiled_contracts;
mod debian;
mod fetch;
mod npm_tree;
mod pins;
mod python;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use sha2::{Digest, Sha256};

use crate::failure::{Context, Failure, Result};
use pins::Pin;

pub use cargo_tools::{ensure_about, ensure_wasm_bindgen, ensure_wasm_split};
pub use debian::{
    ensure_chromium, ensure_deployment_tools, ensure_firefox, ensure_postgres, ensure_strace,
};
pub use npm_tree::{
    ensure_firefox_driver, ensure_js_sdk, ensure_lighthouse, ensure_mcp_clients, ensure_npm_hosts,
    ensure_npm_tools, ensure_x402_clients,
};
pub use python::{
    ensure_deny, ensure_maturin, ensure_mcp_python, ensure_moto, ensure_mypy,
    ensure_parquet_readers, ensure_schemathesis, ensure_webhooks_python, ensure_witness,
    ensure_x402_python, fresh_with, require_python,
};

/// The output of `cargo xtask setup --help`.
pub const HELP: &str = "\
Fetch what the tests and the demo need into .fixtures/ (git ignores it).

Usage: cargo xtask setup [--bench]

  --bench   also fetch what the benches need: the JavaScript library used for comparison (20 MB)
            and the optimiser of WASM modules (23 MB)

The anvil node and the published bytecode of Uniswap v2, v3 and v4, PancakeSwap v3, Algebra Integral,
Balancer v2, Chainlink, Multicall3, WETH9, Circle's FiatToken and an ERC-20 are packages of the npm registry,
pinned by version and SHA-512. So are the sources of Aerodrome v2 and Slipstream and the compilers that make bytecode of them,
which is checked by SHA-512 too. They are fetched once; a run with nothing to do takes milliseconds, and one that was
interrupted is carried on by the next. test, demo, bench and parity run this by themselves.

Needs: Node.js 20.19 or later (for npm), tar, and the network the first time.
EXITGAP_ANVIL=<path> names your own anvil instead, where no checked package exists for a platform.";

/// The oldest Node.js the project supports, as (major, minor).
const NODE_MINIMUM: (u32, u32) = (20, 19);

/// The variable with the path of another `anvil` than the downloaded one.
pub const ANVIL_VARIABLE: &str = "EXITGAP_ANVIL";

/// Folder of all downloads, in the workspace root; git ignores it.
pub fn fixtures_folder(root: &Path) -> PathBuf {
    root.join(".fixtures")
}

/// Completes the fixtures; messages go only to stderr.
pub fn ensure(root: &Path) -> Result<()> {
    let folder = fixtures_folder(root);
    let own_anvil = std::env::var_os(ANVIL_VARIABLE).is_some();
    let pins = select_pins(std::env::consts::OS, std::env::consts::ARCH, own_anvil)?;
    let stamp = stamp_of(&pins);
    let stamp_path = folder.join("stamp");
    let stamped = fs::read_to_string(&stamp_path).is_ok_and(|found| found == stamp);
    if stamped && complete(&folder, &pins) && compiled_contracts::complete(&folder) {
        return Ok(());
    }
    require_node("setup fetches packages of the npm registry with it")?;
    fs::create_dir_all(&folder).context(format!("creating {}", folder.display()))?;
    fetch::sweep(&folder);
    fetch_all(&folder, &pins)?;
    compiled_contracts::ensure(&folder)?;
    fs::write(&stamp_path, stamp).context(format!("writing {}", stamp_path.display()))?;
    eprintln!("setup: fixtures are complete in {}", folder.display());
    Ok(())
}

/// The published code of Uniswap v3's pool, alone of all fixtures; answers the file that has it.
pub fn ensure_published_pool(root: &Path) -> Result<PathBuf> {
    const FOLDER: &str = "uniswap-v3-core";
    const FILE: &str = "artifacts/contracts/UniswapV3Pool.sol/UniswapV3Pool.json";
    let folder = fixtures_folder(root);
    if let Some(pin) = pins::contracts().iter().find(|pin| pin.folder == FOLDER)
        && !package_is_in_place(&folder.join(FOLDER), pin)
    {
        require_node("setup fetches packages of the npm registry with it")?;
        fs::create_dir_all(&folder).context(format!("creating {}", folder.display()))?;
        ensure_package(&folder, pin, ":")?;
    }
    Ok(folder.join(FOLDER).join(FILE))
}

/// Downloads packages, several at once, because most of the time is spent waiting for the registry.
fn fetch_all(folder: &Path, pins: &[Pin]) -> Result<()> {
    const AT_ONCE: usize = 4;
    let next = AtomicUsize::new(0);
    let fetch = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(pin) = pins.get(index) else { return Ok(()) };
            ensure_package(folder, pin, &format!(" [{}/{}]", index + 1, pins.len()))?;
        }
    };
    std::thread::scope(|scope| {
        let fetching: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(fetch)).collect();
        let ended = fetching.into_iter().map(|thread| {
            thread.join().unwrap_or_else(|_| Err(Failure::new("fetching a package panicked")))
        });
        ended.collect()
    })
}

/// Installs the optimiser of WASM modules if needed, and returns its script for Node.js.
pub fn ensure_wasm_opt(root: &Path) -> Result<PathBuf> {
    require_node("the optimiser of WASM modules runs in it")?;
    let folder = fixtures_folder(root);
    ensure_package(&folder, &pins::BINARYEN, ":")?;
    Ok(folder.join(pins::BINARYEN.folder).join("bin/wasm-opt"))
}

/// Downloads the light client whose module the benchmarks compare with ours; returns its folder.
pub fn ensure_helios(root: &Path) -> Result<PathBuf> {
    require_node("setup fetches packages of the npm registry with it")?;
    let folder = fixtures_folder(root);
    ensure_package(&folder, &pins::HELIOS, ":")?;
    Ok(folder.join(pins::HELIOS.folder))
}

fn ensure_package(folder: &Path, pin: &Pin, counted: &str) -> Result<()> {
    if package_is_in_place(&folder.join(pin.folder), pin) {
        return Ok(());
    }
    eprintln!("setup{counted} {}@{} ({})", pin.package, pin.version, size_text(pin.bytes));
    fetch::fetch(folder, pin)
}

/// The packages that this machine needs, or why it cannot have them.
fn select_pins(os: &str, arch: &str, own_anvil: bool) -> Result<Vec<Pin>> {
    let mut pins = pins::contracts().to_vec();
    if own_anvil {
        return Ok(pins);
    }
    match pins::anvil_for(os, arch) {
        Some(anvil) => pins.insert(0, anvil),
        None => {
            return Err(Failure::new(format!(
                "no verified package of the anvil node exists for {os} on {arch}"
            ))
            .remedy(format!(
                "install anvil {} (part of Foundry) and set {ANVIL_VARIABLE} to its path",
                pins::ANVIL_VERSION
            )));
        }
    }
    Ok(pins)
}

/// Changes whenever anything about the pins changes, including the files that are kept.
fn stamp_of(pins: &[Pin]) -> String {
    let mut hasher = Sha256::new();
    for pin in pins {
        hasher.update(format!("{pin:?}\n"));
    }
    format!("{}\n", hex(&hasher.finalize()))
}

fn complete(folder: &Path, pins: &[Pin]) -> bool {
    pins.iter().all(|pin| {
        let place = folder.join(pin.folder);
        pin.keep.iter().all(|path| place.join(path).is_file())
    })
}

/// A folder only gets its name when it is complete, so its version and file names are sufficient.
fn package_is_in_place(place: &Path, pin: &Pin) -> bool {
    let version_matches = fs::read_to_string(place.join("package.json"))
        .ok()
        .and_then(|text| serde_json::from_str::<serde_json::Value>(&text).ok())
        .is_some_and(|manifest| {
            manifest["name"] == pin.package && manifest["version"] == pin.version
        });
    version_matches && pin.keep.iter().all(|path| place.join(path).is_file())
}

/// Fails with a remedy if Node.js is missing or too old; `why` names the purpose.
pub fn require_node(why: &str) -> Result<()> {
    let remedy = format!(
        "install Node.js {}.{} or later (npm comes with it) and put `node` and `npm` on PATH",
        NODE_MINIMUM.0, NODE_MINIMUM.1
    );
    let output = Command::new("node")
        .arg("--version")
        .output()
        .map_err(|_| Failure::new(format!("`node` was not found; {why}")).remedy(&remedy))?;
    let text = String::from_utf8_lossy(&output.stdout);
    match node_version(&text) {
        Some(version) if version >= NODE_MINIMUM => Ok(()),
        _ => Err(Failure::new(format!(
            "`node --version` reports `{}`, older than the project supports; {why}",
            text.trim()
        ))
        .remedy(remedy)),
    }
}

/// The major and minor version from `node --version`, such as `v20.19.0`.
fn node_version(text: &str) -> Option<(u32, u32)> {
    let mut parts = text.trim().strip_prefix('v')?.split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

fn size_text(bytes: u64) -> String {
    if bytes < 1_000_000 {
        format!("{} KB", bytes.div_ceil(1000))
    } else {
        format!("{}.{} MB", bytes / 1_000_000, bytes % 1_000_000 / 100_000)
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn node_versions_compare_by_number() {
        assert_eq!(node_version("v20.19.2\n"), Some((20, 19)));
        assert!(node_version("v20.9.0").unwrap() < NODE_MINIMUM);
        assert!(node_version("v100.0.0").unwrap() > NODE_MINIMUM);
        assert_eq!(node_version("nonsense"), None);
    }

    #[test]
    fn an_unknown_platform_is_told_what_to_install() {
        let failure = select_pins("plan9", "mips", false).unwrap_err().to_string();
        assert!(failure.contains("plan9 on mips"), "{failure}");
        assert!(failure.contains(ANVIL_VARIABLE), "{failure}");
        assert_eq!(select_pins("plan9", "mips", true).unwrap().len(), pins::contracts().len());
    }

    #[test]
    fn a_changed_pin_changes_the_stamp() {
        let pins = pins::contracts().to_vec();
        let mut changed = pins.clone();
        changed[0].version = "1.0.2";
        assert_ne!(stamp_of(&pins), stamp_of(&changed));
    }

    #[test]
    fn every_pin_is_a_whole_sha512_and_keeps_its_manifest() {
        for pin in pins::contracts().iter().chain([&pins::BINARYEN, &pins::HELIOS]) {
            assert_eq!(pin.sha512.len(), 128, "{}", pin.package);
            assert!(pin.keep.contains(&"package.json"), "{}", pin.package);
        }
    }
}
