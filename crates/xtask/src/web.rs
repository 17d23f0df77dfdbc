//! `cargo xtask web`: the site, from the crate `exitgap-web`, into the folder that the server embeds.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest, Sha256};

use crate::failure::{Context, Failure, Result};
use crate::{pkg, process, setup, test, workspace};

/// What `cargo xtask web --help` prints.
pub const HELP: &str = "\
Build the site into web/dist (git ignores it), which the next build of exitgap-server embeds.

Usage: cargo xtask web [--plain]

  --plain   into target/pages instead, put together without Trunk, not shrunk and not compressed: what
            the demonstration serves, which need not wait for Trunk to be built

Trunk compiles web/ for wasm32-unknown-unknown as small as it gets; wasm-opt shrinks the module, and
every file gets a Brotli copy beside it. What is missing is installed, and said: the Rust target, trunk
and wasm-bindgen-cli (from source, into .fixtures/) and binaryen (a pinned package of the npm registry).
Prints the size of every file, as it is and compressed; a first page that loads more than its budget
is an error.";

/// The most that any first page loads, in bytes of Brotli. Every page loads all files but the copies, and but the modules
/// that it asks for later.
const MOST_BYTES: u64 = 593_000;

/// Modules of the npm package that a page asks for when its reader does.
const LATER: [&str; 2] = ["proof", "exitgap"];

/// What the page is told of them: where each has its face and its file.
const NO_FILES: &str = "const files = {};";

/// Compresses every file of a folder, and prints the sizes.
const COMPRESS: &str = "
const { brotliCompressSync, gzipSync, constants } = require('node:zlib');
const { readdirSync, readFileSync, writeFileSync } = require('node:fs');
const [folder, most, ...later] = process.argv.slice(1);
const total = [0, 0, 0];
for (const name of readdirSync(folder).sort()) {
  const bytes = readFileSync(`${folder}/${name}`);
  const params = { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
  const packed = brotliCompressSync(bytes, { params });
  if (name !== 'index.html') writeFileSync(`${folder}/${name}.br`, packed);
  const sizes = [bytes.length, gzipSync(bytes).length, packed.length];
  const isLater = later.includes(name);
  if (!isLater) sizes.forEach((size, index) => { total[index] += size; });
  console.log(`web: ${name}: ${sizes[0]} bytes, gzip ${sizes[1]}, brotli ${sizes[2]}${isLater ? ', when it is asked for' : ''}`);
}
console.log(`web: all: ${total[0]} bytes, gzip ${total[1]}, brotli ${total[2]} of at most ${most}`);
if (total[2] > Number(most)) process.exit(1);
";

/// Builds the site.
pub fn build(root: &Path) -> Result<()> {
    test::ensure_wasm_target(root)?;
    let (wasm_bindgen, wasm_opt, trunk) = setup::ensure_web_tools(root)?;
    let made = root.join("target/site");
    run_trunk(root, &trunk, &wasm_bindgen, &made)?;
    let later = add_modules(&pkg::modules(root, &LATER)?, &made)?;
    let (dist, kept) = (root.join("web/dist"), root.join("target/site.stamp"));
    let stamp = stamp(&files(&made)?);
    if dist.join("index.html").is_file() && fs::read_to_string(&kept).is_ok_and(|old| old == stamp)
    {
        eprintln!("web: {} is of this source", dist.display());
        return Ok(());
    }
    for (name, _) in files(&made)? {
        let is_module = Path::new(&name).extension().is_some_and(|extension| extension == "wasm");
        if is_module && !later.contains(&name) {
            pkg::optimise(&wasm_opt, &made.join(&name), &made.join(&name))?;
        }
    }
    let mut compress = Command::new("node");
    compress.args(["-e", COMPRESS]).arg(&made).arg(MOST_BYTES.to_string()).args(&later);
    process::run(&mut compress, "compressing and weighing the site").map_err(|failure| {
        failure.remedy("decision 23 says what the budget is, and where weight was found before")
    })?;
    place(&made, &dist)?;
    fs::write(&kept, stamp).context(format!("writing {}", kept.display()))
}

/// What Trunk puts in the place of the page's own lines, in the order of the page.
const TRUNKS: [(&str, &str); 3] = [
    (
        r#"<link data-trunk rel="icon" href="assets/favicon.svg" type="image/svg+xml">"#,
        "favicon.svg",
    ),
    (r#"<link data-trunk rel="css" href="assets/site.css" data-integrity="none">"#, "site.css"),
    (
        r#"<link data-trunk rel="rust" data-wasm-opt="0" data-integrity="none" data-bin="exitgap-web">"#,
        "exitgap-web.js",
    ),
];

/// The same program and page without Trunk, into `target/pages`, which is answered.
pub fn build_plain(root: &Path) -> Result<PathBuf> {
    test::ensure_wasm_target(root)?;
    // The end of a build for size keeps one core busy: the other makes the tool.
    let (wasm_bindgen, module) = std::thread::scope(|scope| {
        let tool = scope.spawn(|| setup::ensure_wasm_bindgen(root));
        let module = workspace::wasm_module(root, "exitgap-web", "exitgap-web", &[]);
        let panicked = |_| Err(Failure::new("installing wasm-bindgen panicked"));
        (tool.join().unwrap_or_else(panicked), module)
    });
    let (wasm_bindgen, module, made) = (wasm_bindgen?, module?, root.join("target/pages"));
    if made.exists() {
        fs::remove_dir_all(&made).context(format!("removing {}", made.display()))?;
    }
    let mut face = Command::new(&wasm_bindgen);
    face.args(["--target", "web", "--no-typescript", "--out-name", "exitgap-web", "--out-dir"]);
    process::run(face.arg(&made).arg(module), "wasm-bindgen")?;
    let page = root.join("web/index.html");
    let mut text = fs::read_to_string(&page).context(format!("reading {}", page.display()))?;
    for (line, name) in TRUNKS {
        let from = if line.contains("rel=\"rust\"") { &made } else { &root.join("web/assets") };
        let named = name_by_content(&from.join(name), &made)?;
        let here = match name {
            "favicon.svg" => format!(r#"<link rel="icon" href="/{named}" type="image/svg+xml">"#),
            "site.css" => format!(r#"<link rel="stylesheet" href="/{named}">"#),
            _ => {
                let module = name_by_content(&made.join("exitgap-web_bg.wasm"), &made)?;
                format!(
                    "<script type=\"module\">import init from '/{named}';\n\
                     await init({{ module_or_path: '/{module}' }});</script>"
                )
            }
        };
        if !text.contains(line) {
            return Err(Failure::new(format!("{} has no line {line}", page.display())));
        }
        text = text.replace(line, &here);
    }
    fs::write(made.join("index.html"), text).context("writing the page")?;
    for name in LATER {
        pkg::plain_module(root, name, &wasm_bindgen, &made)?;
    }
    add_modules(&made, &made)?;
    Ok(made)
}

/// Puts the modules that are asked for later beside the page, and tells it their names, which are answered.
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

/// Copies a file under a name that says its content: browsers keep such files for ever.
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

fn run_trunk(root: &Path, trunk: &Path, wasm_bindgen: &Path, made: &Path) -> Result<()> {
    // Trunk takes wasm-bindgen from the path.
    let tools = wasm_bindgen.parent().unwrap_or(Path::new("."));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let paths = [tools.to_path_buf()].into_iter().chain(std::env::split_paths(&path));
    let path = std::env::join_paths(paths).map_err(|error| Failure::new(error.to_string()))?;
    let mut build = Command::new(trunk);
    build.args([
        "build",
        "--release",
        "--cargo-profile",
        "wasm",
        "--locked",
        "--offline",
        "--dist",
    ]);
    build.arg(made).current_dir(root).env("PATH", path).env_remove("NO_COLOR");
    workspace::forget_folders(root, &mut build);
    process::run(&mut build, "trunk build")
}

/// The files of a folder, by name.
fn files(folder: &Path) -> Result<BTreeMap<String, Vec<u8>>> {
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

fn stamp(files: &BTreeMap<String, Vec<u8>>) -> String {
    let mut of = Sha256::new();
    for (name, bytes) in files {
        of.update(format!("{name} {}\n", bytes.len()));
        of.update(bytes);
    }
    of.finalize().iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

/// Puts what was made in the place of what was there: names hold hashes, so old files must go.
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
