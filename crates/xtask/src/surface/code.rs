//! Files and lines of production code.

use std::collections::BTreeSet;

use super::File;

/// The figures whose share of the code is counted.
pub const FIGURES: [&str; 2] = ["decay", "exposure"];

/// A file of production code.
pub struct Code {
    pub path: String,
    /// Its lines of code.
    pub lines: Vec<String>,
    /// The number of all lines.
    pub whole_lines: usize,
}

/// The code for one figure.
pub struct FigureCount {
    pub files: Vec<String>,
    pub lines: usize,
}

/// The production code in these files.
pub fn collect_code(files: &[File]) -> Vec<Code> {
    let production = files.iter().filter(|file| is_production(file));
    production
        .map(|file| Code {
            path: file.path.clone(),
            lines: lines(&file.path, &file.text),
            whole_lines: file.text.lines().count(),
        })
        .collect()
}

fn is_production(file: &File) -> bool {
    let File { path, text } = file;
    let is_code = super::KINDS.iter().any(|kind| *kind != "md" && super::is_a(path, kind));
    let is_test = path.contains("/tests/") || path.ends_with("tests.rs") || path.contains("_tests");
    let is_bench = path.starts_with("crates/exitgap-bench/");
    let head = text.lines().take(3).collect::<Vec<_>>().join("\n");
    let is_generated = head.contains("Do not edit") || head.contains("do not edit");
    is_code && !is_test && !is_bench && !is_generated
}

/// The code lines of a file: not blank, not a comment, and not in a test module.
fn lines(path: &str, text: &str) -> Vec<String> {
    let marks: &[&str] = match path.rsplit('.').next() {
        Some("py" | "pyi") => &["#"],
        Some("sql") => &["--"],
        _ => &["//", "/*", "*/", "* "],
    };
    let is_rust = super::is_a(path, "rs");
    let mut code = Vec::new();
    // The indentation of an item marked for tests, until it ends.
    let mut skipped: Option<usize> = None;
    let mut is_marked = false;
    for line in text.lines() {
        let plain = line.trim();
        let indent = line.len() - line.trim_start().len();
        if let Some(of) = skipped {
            if indent <= of && (plain == "}" || plain == "};" || plain.ends_with(';')) {
                skipped = None;
            }
            continue;
        }
        if plain.is_empty() || marks.iter().any(|mark| plain.starts_with(mark)) || plain == "*" {
            continue;
        }
        if is_rust && plain == "#[cfg(test)]" {
            is_marked = true;
            continue;
        }
        if is_marked {
            if plain.starts_with("#[") {
                continue;
            }
            is_marked = false;
            if !plain.ends_with(';') {
                skipped = Some(indent);
            }
            continue;
        }
        code.push(line.to_owned());
    }
    code
}

/// Files that are shorter than one page.
pub fn short(code: &[Code]) -> impl Iterator<Item = &Code> {
    code.iter().filter(|file| file.whole_lines < 40)
}

/// The files that mention a figure, and the lines of its own files and of those elsewhere that mention it.
pub fn figure(code: &[Code], name: &str) -> FigureCount {
    let mut counted = FigureCount { files: Vec::new(), lines: 0 };
    for file in code {
        let named = file.lines.iter().filter(|line| names(line, name)).count();
        if named == 0 {
            continue;
        }
        let is_own = file.path.rsplit(['/', '.', '_']).any(|part| part == name);
        counted.lines += if is_own { file.lines.len() } else { named };
        counted.files.push(file.path.clone());
    }
    counted
}

/// Whether a line mentions a figure, ignoring case.
fn names(line: &str, name: &str) -> bool {
    line.to_ascii_lowercase().contains(name)
}

/// How often a text occurs in a file.
pub fn matches(files: &[File], path: &str, text: &str) -> usize {
    let file = files.iter().find(|file| file.path == path);
    file.map_or(0, |file| file.text.matches(&format!("\"{text}\"")).count())
}

/// The variants of an enum.
pub fn variants(code: &[Code], path: &str, declared: &str) -> usize {
    let Some(file) = code.iter().find(|file| file.path == path) else { return 0 };
    let lines = file.lines.iter().skip_while(|line| !line.contains(declared)).skip(1);
    let body = lines.take_while(|line| line.trim() != "}");
    body.filter(|line| {
        line.strip_prefix("    ")
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()))
    })
    .count()
}

/// The number of the site's pages, by their routes.
pub fn pages(code: &[Code]) -> usize {
    let site = code.iter().filter(|file| file.path.starts_with("web/src/"));
    site.flat_map(|file| &file.lines).filter(|line| line.contains("<Route ")).count()
}

/// The number of metrics: each is registered on a separate line.
pub fn metrics(code: &[Code]) -> usize {
    let files = code.iter().filter(|file| {
        file.lines.iter().any(|line| line.starts_with("use prometheus_client::registry"))
    });
    let names = files.flat_map(|file| &file.lines).filter_map(|line| {
        // A short registration is one line; in a long one the name is alone on a line.
        let (_, after) = line.rsplit_once("registry, ").unwrap_or(("", line.trim()));
        Some(after.strip_prefix('"')?.split_once("\",")?.0)
    });
    let is_name = |name: &&str| {
        name.bytes().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'_')
    };
    names.filter(is_name).collect::<BTreeSet<_>>().len()
}

/// The number of configuration keys: fields of the types parsed from the file.
pub fn config_keys(code: &[Code]) -> usize {
    let files = code.iter().filter(|file| {
        let is_server = file.path.starts_with("crates/exitgap-server/src/");
        let is_chain = file.path.starts_with("crates/exitgap-chain/src/config");
        (is_server || is_chain)
            && file.lines.iter().any(|line| line.contains("deny_unknown_fields"))
    });
    let mut keys = 0;
    for file in files {
        let mut is_in = false;
        for line in &file.lines {
            if line.contains("deny_unknown_fields") {
                is_in = true;
            } else if line == "}" {
                is_in = false;
            } else if is_in && line.starts_with("    pub ") && line.ends_with(',') {
                keys += 1;
            }
        }
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> File {
        File { path: path.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn comments_blanks_and_tests_are_not_code() {
        let text = "//! About.\n\nuse a::b;\n\n/// Doc.\npub fn f() {\n    // why\n    g();\n}\n\n#[cfg(test)]\nmod tests {\n    fn t() {\n        g();\n    }\n}\n";
        let code = collect_code(&[file("crates/a/src/x.rs", text)]);
        assert_eq!(code[0].lines, ["use a::b;", "pub fn f() {", "    g();", "}"]);
        let one = "#[cfg(test)]\nuse a::b;\nfn f() {}\n";
        assert_eq!(collect_code(&[file("crates/a/src/x.rs", one)])[0].lines, ["fn f() {}"]);
    }

    #[test]
    fn tests_benches_and_generated_files_are_not_counted() {
        for (path, text) in [
            ("crates/a/src/tests.rs", "fn f() {}"),
            ("crates/exitgap-bench/src/main.rs", "fn f() {}"),
            ("pkg/documents.d.ts", "// Made by `x`. Do not edit.\n"),
            ("crates/a/README.md", "text"),
        ] {
            assert!(collect_code(&[file(path, text)]).is_empty(), "{path}");
        }
    }

    #[test]
    fn a_figures_own_files_count_whole() {
        let files = [
            file("crates/a/src/decay/scan.rs", "fn a() {}\nfn decay() {}\n"),
            file("crates/a/src/list.rs", "use x;\nuse crate::DecayTerms;\n"),
            file("crates/a/src/other.rs", "use x;\n"),
        ];
        let counted = figure(&collect_code(&files), "decay");
        assert_eq!((counted.files.len(), counted.lines), (2, 3));
    }
}
