//! The site's program, taken apart: what the front page needs, and parts that come when they are asked for.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use sha2::{Digest, Sha256};

use crate::failure::{Context, Failure, Result};
use crate::{process, web};

/// What the tools call the scripts.
const MAIN: &str = "main.js";
const LINKED: &str = "__wasm_split.js";

/// What stands before the name of a script that is imported.
const FROM: &str = "from ";

/// What tells wasm-bindgen to hand values of the browser over as such, and the same with another letter. It would change
/// the signatures of functions that parts call through the table, and the parts it does not see.
const BY_REFERENCE: [&[u8]; 2] = [b"reference-types", b"reference-type_"];

/// The files of a program, by the names that they have in the site. Each holds the hash of all of them: they name each
/// other, so that none could hold the hash of its own content alone.
pub struct Program {
    face: String,
    module: String,
    /// The script that fetches parts.
    pub linked: String,
    /// The parts.
    pub parts: Vec<String>,
}

impl Program {
    /// Takes a linked module apart, and puts what comes of it into a folder.
    pub fn split(
        wasm_split: &Path,
        wasm_bindgen: &Path,
        module: &Path,
        made: &Path,
    ) -> Result<Self> {
        let apart = made.with_extension("parts");
        fs::create_dir_all(&apart).context(format!("creating {}", apart.display()))?;
        process::run(Command::new(wasm_split).arg(module).arg(&apart), "wasm_split_cli")?;
        let main = apart.join("main.wasm");
        let bytes = fs::read(&main).context(format!("reading {}", main.display()))?;
        fs::write(&main, by_handle(bytes)?).context(format!("writing {}", main.display()))?;
        let mut face = Command::new(wasm_bindgen);
        face.args(["--target", "web", "--no-typescript", "--keep-lld-exports"]);
        face.args(["--out-name", "exitgap-web", "--out-dir"]).arg(made);
        process::run(face.arg(main), "wasm-bindgen")?;
        let found = Self::with_hashed_names(&web::files(&apart)?, made);
        fs::remove_dir_all(&apart).context(format!("removing {}", apart.display()))?;
        found
    }

    /// Gives everything its name, also where it is called by it.
    fn with_hashed_names(apart: &BTreeMap<String, Vec<u8>>, made: &Path) -> Result<Self> {
        let mut hash = Sha256::new();
        for (name, bytes) in apart.iter().chain(&web::files(made)?) {
            hash.update(format!("{name} {}\n", bytes.len()));
            hash.update(bytes);
        }
        let mut hash = format!("{:x}", hash.finalize());
        hash.truncate(16);
        let program = Self {
            face: format!("exitgap-web-{hash}.js"),
            module: format!("exitgap-web-{hash}_bg.wasm"),
            linked: format!("parts-{hash}.js"),
            parts: Vec::new(),
        };
        let face = extract_text(made, "exitgap-web.js", &program.face)?;
        let face = replace_import(&face, FROM, LINKED, &program.linked)?;
        fs::write(made.join(&program.face), face).context("writing the program's face")?;
        fs::rename(made.join("exitgap-web_bg.wasm"), made.join(&program.module))
            .context("naming the program")?;
        let linked = apart.get(LINKED).ok_or_else(|| missing_output(LINKED))?;
        let mut linked =
            replace_import(&String::from_utf8_lossy(linked), FROM, MAIN, &program.face)?;
        let mut parts = Vec::new();
        for (name, bytes) in apart {
            let Some(stem) = name.strip_suffix(".wasm").filter(|stem| *stem != "main") else {
                continue;
            };
            let named = format!("{stem}-{hash}.wasm");
            linked = replace_import(&linked, "URL(", name, &named)?;
            fs::write(made.join(&named), bytes).context(format!("writing {named}"))?;
            parts.push(named);
        }
        fs::write(made.join(&program.linked), linked).context("writing the script of parts")?;
        Ok(Self { parts, ..program })
    }

    /// What the page says in place of its script. What was served is painted first: its program takes the network from nothing
    /// that is there to read, and what it needs then comes side by side. A page that nobody looks at is not painted.
    pub fn lines(&self) -> String {
        let Self { face, module, linked, .. } = self;
        format!(
            "<script type=\"module\">
      if (document.visibilityState === 'visible') {{
        await new Promise((painted) => requestAnimationFrame(() => setTimeout(painted)));
      }}
      const file = fetch('/{module}');
      for (const href of ['/{face}', '/{linked}']) {{
        document.head.append(Object.assign(document.createElement('link'), {{ rel: 'modulepreload', href }}));
      }}
      const {{ default: init }} = await import('/{face}');
      await init({{ module_or_path: file }});
    </script>"
        )
    }
}

/// A module whose values of the browser are handed over as numbers.
fn by_handle(mut module: Vec<u8>) -> Result<Vec<u8>> {
    let [feature, other] = BY_REFERENCE;
    let at = module.windows(feature.len()).position(|window| window == feature);
    let at = at.ok_or_else(|| missing_output("reference-types"))?;
    module[at..at + feature.len()].copy_from_slice(other);
    Ok(module)
}

/// The text of a file that is taken out of its folder, to be written under another name.
fn extract_text(made: &Path, name: &str, other: &str) -> Result<String> {
    let file = made.join(name);
    let text = fs::read_to_string(&file).context(format!("reading {}", file.display()))?;
    fs::remove_file(&file).context(format!("naming {other}"))?;
    Ok(text)
}

/// A script that calls a file beside it by another name, where `before` stands before it: under the old name a module
/// still asks for what it imports.
fn replace_import(script: &str, before: &str, name: &str, other: &str) -> Result<String> {
    let (name, other) = (format!("{before}\"./{name}\""), format!("{before}\"./{other}\""));
    if !script.contains(&name) {
        return Err(missing_output(&name));
    }
    Ok(script.replace(&name, &other))
}

fn missing_output(name: &str) -> Failure {
    Failure::new(format!("the splitting tool did not report {name}"))
        .remedy("its version is pinned in setup/cargo_tools.rs")
}
