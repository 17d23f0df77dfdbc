//! `cargo xtask pkg`: the npm package `exitgap`, from the crates `exitgap-wasm` and `exitgap-proof-wasm` and the files in `pkg/`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::failure::{Context, Failure, Result};
use crate::workspace::Purpose;
use crate::{process, setup, test, workspace};

/// The output of `cargo xtask pkg --help`.
pub const HELP: &str = "\
Build the npm package: pkg/dist (git ignores it) and in it the tarball, whose path is printed.

Usage: cargo xtask pkg

Compiles crates/exitgap-wasm and crates/exitgap-proof-wasm for wasm32-unknown-unknown as small as it gets, makes
their JavaScript faces with wasm-bindgen, shrinks them with wasm-opt and packs pkg/ with npm. Missing tools are
installed and reported: the Rust target, wasm-bindgen-cli (from source, into .fixtures/) and binaryen (a pinned package of the npm registry). The package's version must be the workspace's. Nothing is published.
Prints the gzip size of each module with its scripts, as a file and carried by a script; exceeding its budget is an error.";

/// A module of the package, loaded on demand.
struct Module {
    /// The import path.
    entry: &'static str,
    /// The crate, and the name of its compiled module.
    built_of: [&'static str; 2],
    /// The base name of the files in `dist`.
    name: &'static str,
    /// Files that are loaded with the module and its JavaScript interface.
    scripts: &'static [&'static str],
    /// Maximum gzip size with its scripts, bytes.
    most_bytes: u64,
}

/// All modules. Another entry needs a line here, one in `exports` of `package.json`, and its scripts.
const MODULES: [Module; 2] = [
    Module {
        entry: "exitgap",
        built_of: ["exitgap-wasm", "exitgap_wasm"],
        name: "exitgap",
        scripts: &[
            "index.js",
            "answers.js",
            "api.js",
            "arguments.js",
            "client.js",
            "error.js",
            "module.js",
            "shared.js",
            "where.js",
        ],
        most_bytes: 496_000,
    },
    // Used together with `exitgap`, which reads the evidence for it.
    Module {
        entry: "exitgap/proof",
        built_of: ["exitgap-proof-wasm", "exitgap_proof_wasm"],
        name: "proof",
        scripts: &["proof.js", "state.js"],
        most_bytes: 60_000,
    },
];

/// Adds up the sizes of files, each compressed separately as they are served.
const WEIGH: &str = "
const { gzipSync } = require('node:zlib');
const { readFileSync } = require('node:fs');
const [entry, most, ...files] = process.argv.slice(1);
const weigh = (file) => gzipSync(readFileSync(file), { level: 9 }).length;
const all = files.reduce((sum, file) => sum + weigh(file), 0);
console.error(`pkg: ${entry}: gzip ${all} of at most ${most} bytes, module and scripts`);
if (all > Number(most)) process.exit(1);
";

/// Optimises for size; the enabled features are those in the compiler's own output. The lowest addresses are unused,
/// because the stack ends there.
const WASM_OPT: [&str; 14] = [
    // Rebuilt control flow has fewer blocks than the compiler's.
    "--flatten",
    "--rereloop",
    "-Oz",
    "--converge",
    // A second round finds more.
    "-Oz",
    // The functions that are called most get the shortest indices.
    "--reorder-functions",
    "--strip-producers",
    "--low-memory-unused",
    "--enable-bulk-memory",
    "--enable-nontrapping-float-to-int",
    "--enable-sign-ext",
    "--enable-mutable-globals",
    "--enable-multivalue",
    "--enable-reference-types",
];

/// Builds the package and returns its tarball.
pub fn build(root: &Path, purpose: Purpose) -> Result<PathBuf> {
    let folder = root.join("pkg");
    let version = check_version(root, &folder)?;
    let dist = modules(root, purpose, &MODULES.map(|module| module.name))?;
    for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
        let from = root.join(licence);
        fs::copy(&from, dist.join(licence)).context(format!("copying {}", from.display()))?;
    }
    let mut make = Command::new("node");
    process::run(make.arg(folder.join("pack.mjs")), "making the package's scripts")?;
    if purpose == Purpose::Shipped {
        MODULES.iter().try_for_each(|module| weigh(module, "_inline.js", &folder))?;
    }
    pack(&folder, &dist)?;
    let tarball = dist.join(format!("exitgap-{version}.tgz"));
    if tarball.is_file() {
        return Ok(tarball);
    }
    Err(Failure::new(format!("npm pack made no {}", tarball.display())))
}

/// Builds the modules with these names, and returns the folder with them and their JavaScript interfaces.
pub fn modules(root: &Path, purpose: Purpose, names: &[&str]) -> Result<PathBuf> {
    let folder = root.join("pkg");
    test::ensure_wasm_target(root)?;
    let wasm_bindgen = setup::ensure_wasm_bindgen(root)?;
    let dist = folder.join("dist");
    fs::create_dir_all(&dist).context(format!("creating {}", dist.display()))?;
    for module in MODULES.iter().filter(|module| names.contains(&module.name)) {
        let built = workspace::wasm_module(root, purpose, module.built_of, &[])?;
        match purpose {
            Purpose::Shipped => {
                let wasm_opt = setup::ensure_wasm_opt(root)?;
                shrink(&built, module.name, &dist, &wasm_bindgen, &wasm_opt)?;
                weigh(module, FILE, &folder)?;
            }
            Purpose::Shown | Purpose::Tested => {
                // Otherwise the next build of the shipped package would mistake this module for its own.
                remove_stamp(&dist, module.name)?;
                face(&built, module.name, &dist, &wasm_bindgen)?;
            }
        }
    }
    Ok(dist)
}

/// Removes the stamp that records from which build a module was optimised.
fn remove_stamp(dist: &Path, name: &str) -> Result<()> {
    let kept = dist.join(format!("{name}.stamp"));
    if kept.exists() {
        fs::remove_file(&kept).context(format!("removing {}", kept.display()))?;
    }
    Ok(())
}

/// The main module without state proofs, in a separate folder, which is returned: the size of the proofs is the
/// difference.
pub fn without_proof(root: &Path) -> Result<PathBuf> {
    let (wasm_bindgen, wasm_opt) =
        (setup::ensure_wasm_bindgen(root)?, setup::ensure_wasm_opt(root)?);
    let folder = root.join("target/without-proof");
    fs::create_dir_all(&folder).context(format!("creating {}", folder.display()))?;
    let without = ["--no-default-features"];
    let built = workspace::wasm_module(root, Purpose::Shipped, MODULES[0].built_of, &without)?;
    shrink(&built, MODULES[0].name, &folder, &wasm_bindgen, &wasm_opt)?;
    Ok(folder)
}

/// A module of the table as compiled, with its JavaScript interface, in a folder: neither optimised nor weighed.
pub fn plain_module(
    root: &Path,
    purpose: Purpose,
    name: &str,
    wasm_bindgen: &Path,
    folder: &Path,
) -> Result<()> {
    let module = MODULES.iter().find(|module| module.name == name);
    let module = module.ok_or_else(|| Failure::new(format!("there is no module {name}")))?;
    let built = workspace::wasm_module(root, purpose, module.built_of, &[])?;
    face(&built, name, folder, wasm_bindgen)
}

/// The JavaScript interface of a module, and the module, in a folder. One build serves Node.js, bundlers and pages. The
/// program that loads the module provides its location.
fn face(built: &Path, name: &str, folder: &Path, wasm_bindgen: &Path) -> Result<()> {
    let mut face = Command::new(wasm_bindgen);
    face.args(["--target", "web", "--omit-default-module-path", "--no-typescript"]);
    face.args(["--out-name", name, "--out-dir"]).arg(folder).arg(built);
    process::run(&mut face, "wasm-bindgen")?;
    leave_out_comments(&folder.join(format!("{name}.js")))
}

/// Makes a module smaller.
pub fn optimise(wasm_opt: &Path, from: &Path, to: &Path) -> Result<()> {
    let mut optimise = Command::new("node");
    optimise.arg(wasm_opt).args(WASM_OPT).arg("-o").arg(to).arg(from);
    process::run(&mut optimise, "wasm-opt")
}

/// The end of the name of a module's file.
const FILE: &str = "_bg.wasm";

/// Fails if a module exceeds its maximum size in this form: as a file, or carried by a script, which takes up to 2% more.
fn weigh(module: &Module, form: &str, folder: &Path) -> Result<()> {
    let more = if form == FILE { 0 } else { module.most_bytes / 50 };
    let mut weigh = Command::new("node");
    weigh.args(["-e", WEIGH, &format!("{} (*{form})", module.entry)]);
    weigh.arg((module.most_bytes + more).to_string());
    weigh.args(module.scripts.iter().map(|script| folder.join(script)));
    for made in [".js", form] {
        weigh.arg(folder.join("dist").join(format!("{}{made}", module.name)));
    }
    process::run(&mut weigh, "weighing a module").map_err(|failure| {
        failure.remedy("decision 23 lists the budgets, and where size was saved before")
    })
}

/// Builds the JavaScript interface and the optimised module from the compiled one; does nothing if they are up to date.
fn shrink(
    built: &Path,
    name: &str,
    dist: &Path,
    wasm_bindgen: &Path,
    wasm_opt: &Path,
) -> Result<()> {
    let bytes = fs::read(built).context(format!("reading {}", built.display()))?;
    let mut of = Sha256::new();
    of.update(&bytes);
    of.update(format!("{WASM_OPT:?} {BETWEEN:?}"));
    // The optimiser itself, whichever version it is.
    of.update(fs::read(wasm_opt).context(format!("reading {}", wasm_opt.display()))?);
    let stamp =
        of.finalize().iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"));
    let [module, kept] = ["_bg.wasm", ".stamp"].map(|made| dist.join(format!("{name}{made}")));
    let whole = module.is_file() && dist.join(format!("{name}.js")).is_file();
    if whole && fs::read_to_string(&kept).is_ok_and(|found| found == stamp) {
        return Ok(());
    }
    remove_stamp(dist, name)?;
    face(built, name, dist, wasm_bindgen)?;
    let larger = dist.join("larger.wasm");
    fs::rename(&module, &larger).context("renaming the module")?;
    optimise(wasm_opt, &larger, &module)?;
    fs::remove_file(&larger).context("removing the larger module")?;
    fs::write(&kept, stamp).context(format!("writing {}", kept.display()))
}

/// The delimiters of the interface's comments: the Rust functions' documentation and the argument types. They are left
/// out, because only the package's own files call this interface.
const BETWEEN: [&str; 2] = ["/**", "*/"];

fn leave_out_comments(face: &Path) -> Result<()> {
    let text = fs::read_to_string(face).context(format!("reading {}", face.display()))?;
    let mut parts = text.split(BETWEEN[0]);
    let mut code = parts.next().unwrap_or_default().trim_end().to_owned();
    for part in parts {
        code.push_str(part.split_once(BETWEEN[1]).map_or("", |(_, code)| code).trim_end());
    }
    code.push('\n');
    fs::write(face, code).context(format!("writing {}", face.display()))
}

fn pack(folder: &Path, dist: &Path) -> Result<()> {
    let mut pack = Command::new("npm");
    pack.args(["pack", "--silent", "--ignore-scripts", "--pack-destination"]).arg(dist);
    let output = pack.current_dir(folder).output().context("starting npm pack")?;
    if output.status.success() {
        return Ok(());
    }
    let words = String::from_utf8_lossy(&output.stderr);
    Err(Failure::new(format!("npm pack failed:\n    {}", words.trim())))
}

/// The common version of package and workspace.
fn check_version(root: &Path, folder: &Path) -> Result<String> {
    let path = folder.join("package.json");
    let text = fs::read_to_string(&path).context(format!("reading {}", path.display()))?;
    let manifest: Value = serde_json::from_str(&text)
        .map_err(|error| Failure::new(format!("reading {}: {error}", path.display())))?;
    let metadata = workspace::metadata(root)?;
    let mut packages = metadata["packages"].as_array().into_iter().flatten();
    let ours = packages.find(|package| package["name"] == "exitgap-wasm");
    let ours = ours.and_then(|package| package["version"].as_str()).unwrap_or_default();
    let found = manifest["version"].as_str().unwrap_or_default();
    if found == ours && !found.is_empty() {
        return Ok(ours.to_owned());
    }
    Err(Failure::new(format!("pkg/package.json has version {found:?}, the workspace {ours:?}"))
        .remedy("set both to the same"))
}
