//! Checks the text of the sources.

use super::{Diagnostic, Source};

/// Maximum number of lines in a file: more than the first is a warning, more than the second a failure.
const FILE_LINES: (usize, usize) = (400, 600);

/// Maximum number of lines in the README: it answers a reader's questions, and links to longer texts.
const README_LINES: usize = 200;

/// Words that mark unfinished work, split in two so that this file does not contain them.
const LEFTOVERS: [&str; 5] = [
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("XX", "X"),
    concat!("to", "do!"),
    concat!("unimple", "mented!"),
];

/// Libraries that only certain files and folders may name, also split in two.
const BEHIND_SEAMS: [(&str, &[&str]); 4] = [
    (
        concat!("rus", "qlite"),
        &[
            "crates/exitgap-store/src/db/",
            // Stores created without the recorder, and stores that were tampered with.
            "crates/exitgap-bench/src/http/generate.rs",
            "crates/exitgap-bench/src/http/template.rs",
            "tests/src/faults/bit_flip.rs",
            "tests/src/faults/bit_flip_rows.rs",
            "tests/suite/store/",
            "tests/suite/scenes/store.rs",
        ],
    ),
    (concat!("tokio_", "postgres"), &["crates/exitgap-store/src/db/postgres/"]),
    (
        concat!("object_", "store"),
        &[
            "crates/exitgap-server/src/bucket/",
            // Failing buckets, and inspected buckets.
            "tests/src/faults/s3.rs",
            "tests/suite/store/bucket.rs",
        ],
    ),
    // The word alone is also a file name extension.
    (
        concat!("use par", "quet"),
        &[
            "crates/exitgap-store/src/days/",
            // Days that were tampered with.
            "tests/src/faults/forged_parquet.rs",
        ],
    ),
];

/// Files that are too long to keep in mind.
pub fn lengths(sources: &[Source]) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    if let Some(readme) = sources.iter().find(|source| source.path == "README.md") {
        let lines = readme.text.lines().count();
        if lines >= README_LINES {
            let message = format!("it has {lines} lines; move details to other documents");
            findings.push(Diagnostic::error(&readme.path, message));
        }
    }
    for source in sources.iter().filter(|source| is_rust(source)) {
        let (soft, hard) = FILE_LINES;
        let lines = source.text.lines().count();
        let message = format!("this file has {lines} lines; aim below {soft}, {hard} is the limit");
        if lines > hard {
            findings.push(Diagnostic::error(&source.path, message));
        } else if lines > soft {
            findings.push(Diagnostic::warning(&source.path, message));
        }
    }
    findings
}

/// Notes to self that were left in a file.
pub fn leftovers(sources: &[Source]) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    for source in sources {
        for (index, line) in source.text.lines().enumerate() {
            if let Some(word) = LEFTOVERS.iter().find(|word| has_word(line, word)) {
                findings.push(Diagnostic::error(
                    format!("{}:{}", source.path, index + 1),
                    format!("`{word}` marks unfinished work: finish it, or open an issue"),
                ));
            }
        }
    }
    findings
}

/// Libraries that are named outside their permitted files.
pub fn beyond_seams(sources: &[Source]) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    for source in sources.iter().filter(|source| is_rust(source)) {
        for (library, places) in BEHIND_SEAMS {
            if places.iter().any(|place| source.path.starts_with(place)) {
                continue;
            }
            for (index, line) in source.text.lines().enumerate() {
                if has_word(line, library) {
                    let room = places[0];
                    findings.push(Diagnostic::error(
                        format!("{}:{}", source.path, index + 1),
                        format!(
                            "`{library}` may be used only in {room}; get typed rows from that room"
                        ),
                    ));
                }
            }
        }
    }
    findings
}

fn has_word(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(start, _)| {
        let before = line[..start].chars().next_back();
        let after = line[start + word.len()..].chars().next();
        let begins = !before.is_some_and(is_word);
        begins && (word.ends_with('!') || !after.is_some_and(is_word))
    })
}

/// Crates that the code map does not mention.
pub fn missing_on_map(names: &[String], map: &str) -> Vec<Diagnostic> {
    names
        .iter()
        .filter(|name| !has_word(map, name))
        .map(|name| {
            Diagnostic::error("crates/ARCHITECTURE.md", format!("it does not mention `{name}`"))
        })
        .collect()
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

fn is_rust(source: &Source) -> bool {
    std::path::Path::new(&source.path).extension().is_some_and(|extension| extension == "rs")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(path: &str, text: &str) -> Source {
        Source { path: path.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn long_files_warn_then_fail() {
        let file = |lines: usize| lengths(&[source("a.rs", &"\n".repeat(lines))]);
        assert_eq!(file(400), []);
        assert!(file(401)[0].warning);
        assert!(!file(601)[0].warning);
        assert_eq!(lengths(&[source("a.sql", &"\n".repeat(700))]), []);
        assert_eq!(lengths(&[source("README.md", &"\n".repeat(199))]), []);
        assert!(!lengths(&[source("README.md", &"\n".repeat(200))])[0].warning);
    }

    #[test]
    fn leftovers_are_whole_words_in_any_file() {
        for word in LEFTOVERS {
            let found = leftovers(&[source("a.md", &format!("x\n// {word} later"))]);
            assert_eq!(found.len(), 1, "{word}");
            assert_eq!(found[0].place, "a.md:2");
        }
        let (inside, lower) = (format!("{}S", LEFTOVERS[0]), LEFTOVERS[0].to_lowercase());
        assert_eq!(leftovers(&[source("a.md", &inside), source("b.md", &lower)]), []);
    }

    #[test]
    fn a_library_behind_a_seam_is_named_in_its_room_only() {
        let (library, _) = BEHIND_SEAMS[0];
        let text =
            format!("use std::fs;\nuse {library}::Connection;\n// {library}s are no such thing");
        let at = |path: &str| beyond_seams(&[source(path, &text)]);
        for outside in [
            "crates/exitgap-store/src/error.rs",
            "crates/exitgap-server/src/db/mod.rs",
            "web/src/x.rs",
        ] {
            let found = at(outside);
            assert_eq!(found.len(), 1, "{outside}");
            assert_eq!(found[0].place, format!("{outside}:2"));
            assert!(!found[0].warning && found[0].message.contains("crates/exitgap-store/src/db/"));
        }
        assert_eq!(at("crates/exitgap-store/src/db/open.rs"), []);
        assert_eq!(at("tests/suite/store/tamper.rs"), []);
        assert_eq!(at("crates/exitgap-store/Cargo.toml"), []);
    }

    #[test]
    fn a_crate_the_map_does_not_name_is_found() {
        let names = ["exitgap-core".to_owned(), "exitgap-api".to_owned()];
        let found = missing_on_map(&names, "`exitgap-core` is pure");
        assert_eq!(found.len(), 1);
        assert!(found[0].message.contains("exitgap-api"));
    }
}
