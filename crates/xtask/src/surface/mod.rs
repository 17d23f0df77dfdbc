//! `cargo xtask surface`: how much there is to read and to name, counted the same way for any commit.
//!
//! - `code`: files and lines of code; `names`: meaningless names; `words`: texts that are hard to understand

mod code;
mod names;
pub mod words;

use std::path::Path;
use std::process::{Command, Stdio};

use crate::failure::{Context, Failure, Result};

/// The output of `cargo xtask surface --help`.
pub const HELP: &str = "\
Count what a reader of the code meets.

Usage: cargo xtask surface [--at COMMIT] [--json] [--list KEY]

  --at COMMIT  count the files of that commit instead of those in the folder
  --json       one flat JSON object of numbers
  --list KEY   print the places that a key counts: forbidden_words, generic_names, files_per_figure, short_files

Counted is production code: Rust, SQL, JavaScript, TypeScript, Python, CSS and HTML below crates, web and pkg, without
blank lines, comments, tests (files of tests and modules marked `#[cfg(test)]`), benches and generated files.

  surface.production_lines, surface.files   all of it
  surface.long_files, surface.short_files   files above 600 lines, and below 40
  surface.files_per_figure, surface.lines_per_figure
                                            of the figures decay and exposure, the larger: files that name it, and the lines
                                            of its own files and those that name it elsewhere
  surface.generic_names                     definitions named by one word that says nothing of what they are
  surface.forbidden_words                   texts for users that do not pass `cargo xtask check`
  surface.operations, surface.commands, surface.pages, surface.metrics, surface.config_keys, surface.error_codes
                                            what users see; changes of the code must not change it";

/// The files that are read, by extension.
const KINDS: [&str; 10] = ["rs", "sql", "js", "mjs", "ts", "py", "pyi", "css", "html", "md"];

/// A file to count.
pub struct File {
    pub path: String,
    pub text: String,
}

/// Counts, and prints.
pub fn run(root: &Path, arguments: &[String]) -> Result<()> {
    let (mut at, mut json, mut list) = (None, false, None);
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "--json" => json = true,
            "--at" => at = rest.next().cloned(),
            "--list" => list = rest.next().cloned(),
            other => {
                return Err(Failure::usage(format!("unexpected `{other}`"))
                    .remedy("the options are --at COMMIT, --json and --list KEY"));
            }
        }
    }
    let files = read_files(root, at.as_deref())?;
    if let Some(key) = list {
        return list_places(&files, &key);
    }
    let counts = count(&files);
    if json {
        let fields: Vec<String> =
            counts.iter().map(|(key, count)| format!("\"surface.{key}\":{count}")).collect();
        println!("{{{}}}", fields.join(","));
    } else {
        for (key, count) in counts {
            println!("surface.{key:<24} {count:>8}");
        }
    }
    Ok(())
}

fn count(files: &[File]) -> Vec<(&'static str, usize)> {
    let code = code::collect_code(files);
    let figures = code::FIGURES.map(|figure| code::figure(&code, figure));
    let most = |of: fn(&code::FigureCount) -> usize| figures.iter().map(of).max().unwrap_or(0);
    vec![
        ("production_lines", code.iter().map(|file| file.lines.len()).sum()),
        ("files", code.len()),
        ("long_files", code.iter().filter(|file| file.whole_lines > 600).count()),
        ("short_files", code::short(&code).count()),
        ("files_per_figure", most(|figure| figure.files.len())),
        ("lines_per_figure", most(|figure| figure.lines)),
        ("generic_names", names::generic(&code).len()),
        ("forbidden_words", words::find_forbidden(files).len()),
        (
            "operations",
            code::matches(files, "crates/exitgap-server/docs/openapi.json", "operationId"),
        ),
        ("commands", code::variants(&code, "crates/exitgap-cli/src/arguments.rs", "enum Command")),
        ("pages", code::pages(&code)),
        ("metrics", code::metrics(&code)),
        ("config_keys", code::config_keys(&code)),
        (
            "error_codes",
            code::variants(&code, "crates/exitgap-api/src/problem.rs", "enum ProblemCode"),
        ),
    ]
}

fn list_places(files: &[File], key: &str) -> Result<()> {
    let code = code::collect_code(files);
    let places: Vec<String> = match key {
        "forbidden_words" => words::find_forbidden(files),
        "generic_names" => names::generic(&code),
        "short_files" => code::short(&code).map(|file| file.path.clone()).collect(),
        "files_per_figure" => code::FIGURES
            .iter()
            .flat_map(|name| {
                let figure = code::figure(&code, name);
                figure.files.into_iter().map(move |file| format!("{name}: {file}"))
            })
            .collect(),
        other => {
            return Err(Failure::usage(format!("`{other}` has no list")).remedy(
                "those with a list are forbidden_words, generic_names, files_per_figure and short_files",
            ));
        }
    };
    for place in places {
        println!("{place}");
    }
    Ok(())
}

/// The files in the folder under version control, or those of a commit.
pub fn read_files(root: &Path, commit: Option<&str>) -> Result<Vec<File>> {
    let mut list = Command::new("git");
    match commit {
        Some(commit) => list.args(["ls-tree", "-r", "--name-only", commit]),
        None => list.args(["ls-files"]),
    };
    let listed = output(list.current_dir(root))?;
    let mut files = Vec::new();
    for path in listed.lines().filter(|path| is_read(path)) {
        let text = match commit {
            Some(commit) => {
                let mut show = Command::new("git");
                output(show.arg("show").arg(format!("{commit}:{path}")).current_dir(root))?
            }
            None => std::fs::read_to_string(root.join(path)).context(format!("reading {path}"))?,
        };
        files.push(File { path: path.to_owned(), text });
    }
    Ok(files)
}

/// Whether a file has this extension.
fn is_a(path: &str, kind: &str) -> bool {
    Path::new(path).extension().is_some_and(|extension| extension == kind)
}

fn is_read(path: &str) -> bool {
    let folders = ["crates/", "web/", "pkg/", "README.md"];
    folders.iter().any(|folder| path.starts_with(folder))
        && (KINDS.iter().any(|kind| is_a(path, kind)) || path.ends_with("openapi.json"))
}

fn output(command: &mut Command) -> Result<String> {
    let output = command.stderr(Stdio::inherit()).output().context("starting git")?;
    if !output.status.success() {
        return Err(Failure::new("git failed: its words are above"));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace;

    #[test]
    fn the_repository_is_counted() {
        let files = read_files(&workspace::root(), None).unwrap();
        let counts = count(&files);
        let of = |key: &str| counts.iter().find(|(name, _)| *name == key).unwrap().1;
        assert!(of("production_lines") > 50_000 && of("files") > 500, "{counts:?}");
        for (key, least) in [
            ("operations", 50),
            ("commands", 20),
            ("pages", 10),
            ("metrics", 20),
            ("config_keys", 60),
            ("error_codes", 40),
        ] {
            assert!(of(key) >= least, "{key}: {counts:?}");
        }
    }
}
