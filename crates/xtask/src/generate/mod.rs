//! `cargo xtask generate`: generates sources from the committed API description, so that each document is described
//! only once, in Rust.
//!
//! - `schema`: parses the description's schemas; `typescript`, `python`: the types of each language
//! - `operations`: the request table of the JavaScript client

mod operations;
mod python;
mod schema;
mod typescript;

use std::fs;
use std::path::Path;

use crate::check::Diagnostic;
use crate::failure::{Context, Failure, Result};

/// The output of `cargo xtask generate --help`.
pub const HELP: &str = "\
Make the types of the API's documents from crates/exitgap-server/docs/openapi.json.

Usage: cargo xtask generate [--check]

  --check  change nothing; fail if a file is not what would be made

Made are the documents as types, pkg/documents.d.ts (TypeScript, part of the npm package) and
crates/exitgap-py/python/exitgap/_documents.py (Python), and the operations that the npm package's client asks,
pkg/operations.js and pkg/operations.d.ts. The description itself is made by
`EXITGAP_WRITE_OPENAPI=1 cargo test -p exitgap-server openapi` from the Rust types.";

/// The description of the API.
const DESCRIPTION: &str = "crates/exitgap-server/docs/openapi.json";

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

/// The files that differ from the generated ones.
pub fn stale(root: &Path) -> Result<Vec<Diagnostic>> {
    let mut findings = Vec::new();
    for (file, made) in made(root)? {
        if fs::read_to_string(root.join(file)).is_ok_and(|found| found == made) {
            continue;
        }
        let what = format!(
            "{file} is not what {DESCRIPTION} gives: run `cargo xtask generate`, and commit what it changed"
        );
        findings.push(Diagnostic::error(file, what));
    }
    Ok(findings)
}

/// The files, each with its text.
fn made(root: &Path) -> Result<[(&'static str, String); 4]> {
    let path = root.join(DESCRIPTION);
    let text = fs::read_to_string(&path).context(format!("reading {}", path.display()))?;
    let wrong = |why: String| Failure::new(format!("{DESCRIPTION}: {why}"));
    let description = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    let schemas = schema::read_schemas(&description).map_err(wrong)?;
    let operations = operations::read_operations(&description).map_err(wrong)?;
    Ok([
        ("pkg/documents.d.ts", typescript::types(&schemas)),
        ("pkg/operations.js", operations::table(&operations)),
        ("pkg/operations.d.ts", operations::types(&operations)),
        ("crates/exitgap-py/python/exitgap/_documents.py", python::types(&schemas)),
    ])
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
        let schemas =
            schema::read_schemas(&serde_json::from_str(DESCRIPTION_OF_TWO).unwrap()).unwrap();
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
    fn operations_become_a_table_and_its_types() {
        let description = serde_json::json!({"paths": {"/v1/a/{pool}": {"get": {
            "operationId": "readA", "summary": "An answer", "parameters": [
                {"name": "pool", "in": "path", "required": true, "schema": {"type": "string"}},
                {"name": "size_usd", "in": "query", "required": true, "description": "The size.",
                    "schema": {"type": "string", "pattern": "^0*([1-9])$"}},
                {"name": "at", "in": "query", "schema": {"type": "string", "format": "date-time"}},
                {"name": "sort", "in": "query", "schema": {"type": "string", "enum": ["a", "b"]}},
                {"name": "venue", "in": "query", "schema": {"type": "array", "items": {}}}]}}}});
        let read = operations::read_operations(&description).unwrap();
        let row = "readA: ['/v1/a/{pool}', { sizeUsd: 'decimal', at: 'instant', sort: 'short' }],";
        assert!(operations::table(&read).contains(row), "{}", operations::table(&read));
        let types = "/** An answer. */\nexport interface ReadAOptions {\n  /** The size. */\n  \
                     sizeUsd: DecimalInput;\n  at?: InstantInput;\n  sort?: 'a' | 'b';\n}";
        assert!(operations::types(&read).contains(types), "{}", operations::types(&read));
    }

    #[test]
    fn what_is_no_description_is_refused() {
        for wrong in ["[]", "{}", r#"{"components": {"schemas": {"A": {"type": "tuple"}}}}"#] {
            assert!(
                schema::read_schemas(&serde_json::from_str(wrong).unwrap()).is_err(),
                "{wrong}"
            );
        }
        assert!(operations::read_operations(&serde_json::json!({})).is_err());
    }

    #[test]
    fn the_committed_files_are_what_the_description_gives() {
        run(&workspace::root(), true).unwrap();
    }
}
