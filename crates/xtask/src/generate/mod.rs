//! `cargo xtask generate`: sources that are made from the committed description of the API, so that a document is
//! described once: in Rust.
//!
//! - `schema`: the schemas of the description, read; `typescript`, `python`: the types of each language

mod python;
mod schema;
mod typescript;

use std::fs;
use std::path::Path;

use crate::check::Finding;
use crate::failure::{Context, Failure, Result};
use schema::Schema;

/// What `cargo xtask generate --help` prints.
pub const HELP: &str = "\
Make the types of the API's documents from crates/exitgap-server/docs/openapi.json.

Usage: cargo xtask generate [--check]

  --check  change nothing; fail if a file is not what would be made

Made are pkg/documents.d.ts (TypeScript, part of the npm package) and
crates/exitgap-py/python/exitgap/_documents.py (Python). The description itself is made by
`EXITGAP_BLESS=1 cargo test -p exitgap-tests documents` from the Rust types.";

/// The description of the API.
const DESCRIPTION: &str = "crates/exitgap-server/docs/openapi.json";

/// The files, and what makes each.
const FILES: [(&str, fn(&[Schema]) -> String); 2] = [
    ("pkg/documents.d.ts", typescript::types),
    ("crates/exitgap-py/python/exitgap/_documents.py", python::types),
];

/// Writes the files, or checks them.
pub fn run(root: &Path, check_only: bool) -> Result<()> {
    if check_only {
        return match stale(root)?.first() {
            None => Ok(()),
            Some(finding) => Err(Failure::new(finding.message.clone())),
        };
    }
    for (file, made) in made(root)? {
        let path = root.join(file);
        fs::write(&path, made).context(format!("writing {}", path.display()))?;
        println!("{file}");
    }
    Ok(())
}

/// The files that are not what would be made.
pub fn stale(root: &Path) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for (file, made) in made(root)? {
        if fs::read_to_string(root.join(file)).is_ok_and(|found| found == made) {
            continue;
        }
        let what = format!(
            "{file} is not what {DESCRIPTION} gives: run `cargo xtask generate`, and commit what it changed"
        );
        findings.push(Finding::error(file, what));
    }
    Ok(findings)
}

fn made(root: &Path) -> Result<Vec<(&'static str, String)>> {
    let path = root.join(DESCRIPTION);
    let text = fs::read_to_string(&path).context(format!("reading {}", path.display()))?;
    let schemas =
        schema::read(&text).map_err(|why| Failure::new(format!("{DESCRIPTION}: {why}")))?;
    Ok(FILES.iter().map(|(file, make)| (*file, make(&schemas))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace;

    const DESCRIPTION_OF_TWO: &str = r#"{"components": {"schemas": {
        "Pair": {"allOf": [
            {"$ref": "\u0023/components/schemas/One", "description": "The first."},
            {"type": "object", "required": ["from", "kind"], "properties": {
                "from": {"type": "string", "description": "An instant.\nRFC 3339."},
                "kind": {"type": "string", "enum": ["a", "b"]},
                "rows": {"type": "array", "items": {"oneOf": [
                    {"$ref": "\u0023/components/schemas/One"}, {"type": "null"}]}}}}],
            "description": "Two."},
        "One": {"type": "object", "required": ["n"], "description": "One.",
            "properties": {"n": {"type": "integer"}, "of": {"type": ["string", "null"]}}}}}}"#;

    #[test]
    fn documents_become_types_of_both_languages() {
        let schemas = schema::read(DESCRIPTION_OF_TWO).unwrap();
        let ts = typescript::types(&schemas);
        for expected in [
            "export interface One {\n  n: number;\n  of?: string | null;\n}",
            "export type Pair = One & {\n  /**\n   * An instant.\n   * RFC 3339.\n   */\n  from: string;",
            "  kind: 'a' | 'b';",
            "  rows?: (One | null)[];",
        ] {
            assert!(ts.contains(expected), "{expected}\n---\n{ts}");
        }
        let python = python::types(&schemas);
        for expected in [
            "class One(TypedDict):\n    \"\"\"One.\"\"\"\n\n    n: int\n    of: NotRequired[str | None]\n",
            "\"from\": str,",
            "class Pair(One, _Pair):",
            "\"kind\": Literal[\"a\", \"b\"],",
        ] {
            assert!(python.contains(expected), "{expected}\n---\n{python}");
        }
    }

    #[test]
    fn what_is_no_description_is_refused() {
        for wrong in ["", "{}", r#"{"components": {"schemas": {"A": {"type": "tuple"}}}}"#] {
            assert!(schema::read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_committed_files_are_what_the_description_gives() {
        run(&workspace::root(), true).unwrap();
    }
}
