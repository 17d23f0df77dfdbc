//! Splits the site's program into the part for the front page, and parts that are loaded on demand.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use sha2::{Digest, Sha256};

use crate::failure::{Context, Failure, Result};
use crate::{process, web, web_order};

/// The tools' names for the scripts.
const MAIN: &str = "main.js";
const LINKED: &str = "__wasm_split.js";

/// The text before the name of an imported script.
const FROM: &str = "from ";

/// The feature name that makes wasm-bindgen pass browser values as references, and the same with one letter changed.
/// The feature would change the signatures of functions that parts call through the table, and wasm-bindgen does not
/// see the parts.
const BY_REFERENCE: [&[u8]; 2] = [b"reference-types", b"reference-type_"];

/// The files of a program, with their names in the site. Each name contains the hash of all files: they refer to each
/// other, so none could contain the hash of its own content alone.
pub struct Program {
    face: String,
    module: String,
    /// The script that loads parts.
    pub linked: String,
    /// The parts.
    pub parts: Vec<String>,
}

impl Program {
    /// Splits a linked module, and puts the results into a folder.
    pub fn split(
        wasm_split: &Path,
        wasm_bindgen: &Path,
        module: &Path,
        made: &Path,
    ) -> Result<Self> {
        let apart = made.with_extension("parts");
        fs::create_dir_all(&apart).context(format!("creating {}", apart.display()))?;
        let mut split = Command::new(wasm_split);
        web_order::fix(&mut split, &made.with_extension("order"))?;
        process::run(split.arg(module).arg(&apart), "wasm_split_cli")?;
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

    /// Gives every file its name, also in the files that refer to it.
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

    /// The lines that replace the page's script. The served page is painted first: the program's downloads then do not
    /// compete with anything visible, and they run in parallel. A page in the background is not painted, so it does not
    /// wait.
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

/// A module in which browser values are passed as numbers.
fn by_handle(mut module: Vec<u8>) -> Result<Vec<u8>> {
    let [feature, other] = BY_REFERENCE;
    let at = module.windows(feature.len()).position(|window| window == feature);
    let at = at.ok_or_else(|| missing_output("reference-types"))?;
    module[at..at + feature.len()].copy_from_slice(other);
    Ok(module)
}

/// The text of a file that is removed from its folder, to be written under another name.
fn extract_text(made: &Path, name: &str, other: &str) -> Result<String> {
    let file = made.join(name);
    let text = fs::read_to_string(&file).context(format!("reading {}", file.display()))?;
    fs::remove_file(&file).context(format!("naming {other}"))?;
    Ok(text)
}

/// A script in which the name of a neighbouring file is replaced, if `before` precedes it: the name also occurs
/// elsewhere, because a module still imports under its old name.
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
