//! `cargo xtask web`: builds the site, from the crate `exitgap-web`, into the folder that the server embeds.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest, Sha256};

use crate::failure::{Context, Failure, Result};
use crate::web_program::Program;
use crate::workspace::Purpose;
use crate::{pkg, process, setup, test, workspace};

/// The output of `cargo xtask web --help`.
pub const HELP: &str = "\
Build the site into web/dist (git ignores it), which the next release build of exitgap-server embeds.

Usage: cargo xtask web [--plain]

  --plain   build into target/pages, for build speed instead of size: used by the demo, the tests and a debug
            build of the server

web/ is compiled for wasm32-unknown-unknown at the smallest size and split at the functions of
web/src/later.rs; wasm-opt shrinks each part, and every file gets a Brotli copy. Missing tools are installed
and reported: the Rust target, wasm_split_cli_support and wasm-bindgen-cli (from source, into .fixtures/) and
binaryen (a pinned package of the npm registry). Prints the size of every file, uncompressed and compressed,
and what each part of the program loads; exceeding the budget is an error.";

/// Maximum size of the front page, in bytes of Brotli: all files except those loaded on demand.
const MOST_BYTES: u64 = 205_000;

/// Maximum size of any page, including its part of the program.
const MOST_BYTES_OF_A_PAGE: u64 = 542_000;

/// Modules of the npm package that a page loads on demand.
const LATER: [&str; 2] = ["proof", "exitgap"];

/// The page's placeholder for them: the location of each interface and module file.
const NO_FILES: &str = "const files = {};";

/// Compresses every file of a folder, and prints the sizes; then the size of each part of the program.
const COMPRESS: &str = r"
const { brotliCompressSync, gzipSync, constants } = require('node:zlib');
const { readdirSync, readFileSync, writeFileSync } = require('node:fs');
const [folder, most, mostOfPage, linked, ...later] = process.argv.slice(1);
const total = [0, 0, 0], weight = {};
for (const name of readdirSync(folder).sort()) {
  const bytes = readFileSync(`${folder}/${name}`);
  const params = { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
  const packed = brotliCompressSync(bytes, { params });
  if (name !== 'index.html') writeFileSync(`${folder}/${name}.br`, packed);
  const sizes = [bytes.length, gzipSync(bytes).length, packed.length];
  weight[name] = packed.length;
  const isLater = later.includes(name);
  if (!isLater) sizes.forEach((size, index) => { total[index] += size; });
  console.log(`web: ${name}: ${sizes[0]} bytes, gzip ${sizes[1]}, brotli ${sizes[2]}${isLater ? ', when it is asked for' : ''}`);
}
console.log(`web: all: ${total[0]} bytes, gzip ${total[1]}, brotli ${total[2]} of at most ${most}`);
const chunks = {};
let heaviest = total[2];
for (const line of readFileSync(`${folder}/${linked}`, 'utf8').split('\n')) {
  const file = line.match(/URL\(.\.\/([^ ]+\.wasm)/)?.[1];
  const chunk = line.match(/^const (__chunk_\d+) = /)?.[1];
  if (chunk !== undefined) chunks[chunk] = weight[file] ?? 0;
  const part = line.match(/^export const __wasm_split_load_(\w+) = /)?.[1];
  if (part === undefined) continue;
  const needs = line.match(/__chunk_\d+/g) ?? [];
  const more = needs.reduce((sum, chunk) => sum + chunks[chunk], weight[file] ?? 0);
  heaviest = Math.max(heaviest, total[2] + more);
  console.log(`web: part ${part}: brotli ${more} more, ${total[2] + more} of at most ${mostOfPage}`);
}
if (total[2] > Number(most) || heaviest > Number(mostOfPage)) process.exit(1);
";

/// Builds the site.
pub fn build(root: &Path) -> Result<()> {
    let wasm_opt = setup::ensure_wasm_opt(root)?;
    let (made, dist, kept) =
        (root.join("target/site"), root.join("web/dist"), root.join("target/site.stamp"));
    let (tools, module) = compile(root, Purpose::Shipped)?;
    let modules = pkg::modules(root, Purpose::Shipped, &LATER)?;
    // The stamp covers the inputs: what did not change is not split and compressed again.
    let stamp = stamp(root, &module, &modules)?;
    if dist.join("index.html").is_file() && fs::read_to_string(&kept).is_ok_and(|old| old == stamp)
    {
        eprintln!("web: {} is of this source", dist.display());
        return Ok(());
    }
    let program = make(root, &tools, &module, &made)?;
    let later = add_modules(&modules, &made)?;
    for (name, _) in files(&made)? {
        let is_module = Path::new(&name).extension().is_some_and(|extension| extension == "wasm");
        if is_module && !later.contains(&name) {
            pkg::optimise(&wasm_opt, &made.join(&name), &made.join(&name))?;
        }
    }
    let mut compress = Command::new("node");
    compress.args(["-e", COMPRESS]).arg(&made);
    compress.args([MOST_BYTES, MOST_BYTES_OF_A_PAGE].map(|most| most.to_string()));
    compress.arg(&program.linked).args(program.parts.iter().chain(&later));
    process::run(&mut compress, "compressing and weighing the site").map_err(|failure| {
        failure.remedy("decision 23 states the budget, and where size was saved before")
    })?;
    place(&made, &dist)?;
    fs::write(&kept, stamp).context(format!("writing {}", kept.display()))
}

/// Compresses every file of a folder as fast as possible.
const COMPRESS_FAST: &str = r"
const { brotliCompressSync, constants } = require('node:zlib');
const { readdirSync, readFileSync, writeFileSync } = require('node:fs');
const [folder] = process.argv.slice(1);
for (const name of readdirSync(folder).filter((name) => name !== 'index.html')) {
  const params = { [constants.BROTLI_PARAM_QUALITY]: 1 };
  writeFileSync(`${folder}/${name}.br`, brotliCompressSync(readFileSync(`${folder}/${name}`), { params }));
}
";

/// The same program and page, built and compressed for speed instead of size, into `target/pages`, whose path is
/// returned.
pub fn build_plain(root: &Path, purpose: Purpose) -> Result<PathBuf> {
    let made = root.join("target/pages");
    let (tools, module) = compile(root, purpose)?;
    make(root, &tools, &module, &made)?;
    for name in LATER {
        pkg::plain_module(root, purpose, name, &tools.wasm_bindgen, &made)?;
    }
    add_modules(&made, &made)?;
    let mut compress = Command::new("node");
    compress.args(["-e", COMPRESS_FAST]).arg(&made);
    process::run(&mut compress, "compressing the plain pages")?;
    Ok(made)
}

/// The page's lines that name files; the names are replaced with those of the built files.
const ICON: &str = r#"<link rel="icon" href="favicon.svg" type="image/svg+xml">"#;
const STYLE: &str = r#"<link rel="stylesheet" href="site.css">"#;
const PROGRAM: &str = r#"<script type="module" src="exitgap-web.js"></script>"#;

/// The tools for building a site from a module.
struct Tools {
    wasm_bindgen: PathBuf,
    wasm_split: PathBuf,
}

/// The compiled program, and the tools.
fn compile(root: &Path, purpose: Purpose) -> Result<(Tools, PathBuf)> {
    test::ensure_wasm_target(root)?;
    // At its end, a build for size uses only one core: the other builds the tools.
    let (tools, module) = std::thread::scope(|scope| {
        let tools = scope.spawn(|| {
            let wasm_bindgen = setup::ensure_wasm_bindgen(root)?;
            Ok(Tools { wasm_bindgen, wasm_split: setup::ensure_wasm_split(root)? })
        });
        let module = workspace::wasm_module(root, purpose, ["exitgap-web"; 2], &[]);
        let panicked = |_| Err(Failure::new("installing a tool panicked"));
        (tools.join().unwrap_or_else(panicked), module)
    });
    Ok((tools?, module?))
}

/// Page, style and program, in a fresh folder.
fn make(root: &Path, tools: &Tools, module: &Path, made: &Path) -> Result<Program> {
    empty(made)?;
    let program = Program::split(&tools.wasm_split, &tools.wasm_bindgen, module, made)?;
    let page = root.join("web/index.html");
    let mut text = fs::read_to_string(&page).context(format!("reading {}", page.display()))?;
    let assets = root.join("web/assets");
    let [icon, style] =
        ["favicon.svg", "site.css"].map(|name| name_by_content(&assets.join(name), made));
    for (line, here) in [
        (ICON, format!(r#"<link rel="icon" href="/{}" type="image/svg+xml">"#, icon?)),
        (STYLE, format!(r#"<link rel="stylesheet" href="/{}">"#, style?)),
        (PROGRAM, program.lines()),
    ] {
        if !text.contains(line) {
            return Err(Failure::new(format!("{} has no line {line}", page.display())));
        }
        text = text.replace(line, &here);
    }
    fs::write(made.join("index.html"), text).context("writing the page")?;
    Ok(program)
}

fn empty(folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).context(format!("removing {}", folder.display()))?;
    }
    fs::create_dir_all(folder).context(format!("creating {}", folder.display()))
}

/// Adds the modules that are loaded on demand to the site, and writes their names into the page; returns the names.
fn add_modules(from: &Path, made: &Path) -> Result<Vec<String>> {
    let (mut names, mut told) = (Vec::new(), Vec::new());
    for module in LATER {
        let face = name_by_content(&from.join(format!("{module}.js")), made)?;
        let file = name_by_content(&from.join(format!("{module}_bg.wasm")), made)?;
        told.push(format!("{module}: ['/{face}', '/{file}']"));
        names.extend([face, file]);
    }
    let page = made.join("index.html");
    let text = fs::read_to_string(&page).context(format!("reading {}", page.display()))?;
    if !text.contains(NO_FILES) {
        return Err(Failure::new(format!("{} has no line {NO_FILES}", page.display())));
    }
    let told = format!("const files = {{ {} }};", told.join(", "));
    fs::write(&page, text.replace(NO_FILES, &told)).context("writing the page")?;
    Ok(names)
}

/// Copies a file under a name that contains its hash, because browsers cache such files forever.
fn name_by_content(file: &Path, folder: &Path) -> Result<String> {
    let bytes = fs::read(file).context(format!("reading {}", file.display()))?;
    let (stem, extension) = (file.file_stem(), file.extension());
    let text =
        |part: Option<&std::ffi::OsStr>| part.unwrap_or_default().to_string_lossy().into_owned();
    let mut hash = format!("{:x}", Sha256::digest(&bytes));
    hash.truncate(16);
    let name = format!("{}-{hash}.{}", text(stem), text(extension));
    fs::write(folder.join(&name), bytes).context(format!("writing {name}"))?;
    if file.parent() == Some(folder) {
        fs::remove_file(file).context(format!("removing {}", file.display()))?;
    }
    Ok(name)
}

/// The files of a folder, by name.
pub fn files(folder: &Path) -> Result<BTreeMap<String, Vec<u8>>> {
    let reading = || format!("reading {}", folder.display());
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder).context(reading())? {
        let path: PathBuf = entry.context(reading())?.path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        if let Some(name) = name.filter(|_| path.is_file()) {
            files.insert(name, fs::read(&path).context(reading())?);
        }
    }
    Ok(files)
}

/// The sources that define how a site is built.
const MADE_BY: [&str; 4] = [
    include_str!("web.rs"),
    include_str!("web_program.rs"),
    include_str!("web_order.rs"),
    include_str!("pkg.rs"),
];

/// The hash of all of a site's inputs, and of how it is built.
fn stamp(root: &Path, module: &Path, modules: &Path) -> Result<String> {
    let mut of = Sha256::new();
    let mut add = |name: &str, bytes: &[u8]| {
        of.update(format!("{name} {}\n", bytes.len()));
        of.update(bytes);
    };
    for file in [module, &root.join("web/index.html")] {
        add("file", &fs::read(file).context(format!("reading {}", file.display()))?);
    }
    for source in MADE_BY {
        add("source", source.as_bytes());
    }
    let made = LATER.map(|name| [format!("{name}.js"), format!("{name}_bg.wasm")]).concat();
    let modules = files(modules)?.into_iter().filter(|(name, _)| made.contains(name));
    for (name, bytes) in files(&root.join("web/assets"))?.into_iter().chain(modules) {
        add(&name, &bytes);
    }
    Ok(of.finalize().iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}")))
}

/// Replaces the old files: names contain hashes, so old files must be removed.
fn place(made: &Path, dist: &Path) -> Result<()> {
    let placing = || format!("placing the site in {}", dist.display());
    if dist.is_dir() {
        fs::remove_dir_all(dist).context(placing())?;
    }
    fs::create_dir_all(dist).context(placing())?;
    for (name, bytes) in files(made)? {
        fs::write(dist.join(name), bytes).context(placing())?;
    }
    Ok(())
}
