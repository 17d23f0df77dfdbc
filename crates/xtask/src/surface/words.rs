//! Finds words and forms that are hard to understand, in texts for users: string literals of programs and pages, and
//! documents.

use super::File;
use crate::check::Diagnostic;

/// Words to avoid, with replacements.
const FORBIDDEN: [(&str, &str); 18] = [
    ("told", "shown, reported, returned"),
    ("tells", "shows, reports, returns"),
    ("whoever", "anyone who"),
    ("somebody", "someone, or name them"),
    ("nobody", "no one, or rewrite"),
    ("beside", "and, next to, compared with"),
    ("for ever", "permanently"),
    ("take away", "download"),
    ("takes away", "downloads"),
    ("taken back", "retracted"),
    ("of it", "name the noun"),
    ("worth a word", "worth an alert"),
    ("in small letters", "in lower case"),
    ("recount", "recompute"),
    ("stretch", "interval"),
    ("is no", "is not a"),
    ("as it is", "unchanged"),
    ("what is there", "name it"),
];

/// Texts that keep such a word: file, text, reason. A test checks that each is still needed.
const EXCEPTIONS: [(&str, &str, &str); 4] = [
    ("crates/exitgap-chain/src/config/key.rs", "nobody", "a function's name"),
    ("crates/exitgap-core/docs/figure-v1.md", "(`stretch` in field names)", "a published field"),
    ("crates/exitgap-store/src/db/postgres/shards.rs", "'nobody'", "a value in databases"),
    ("crates/xtask/src/surface/names.rs", "told", "a list of words"),
];

/// The places, each with the word and its replacement.
pub fn find_forbidden(files: &[File]) -> Vec<String> {
    let mut places = Vec::new();
    for file in files.iter().filter(|file| is_for_users(&file.path)) {
        for (number, text) in texts(file) {
            let lower = text.to_lowercase();
            for (word, instead) in FORBIDDEN {
                if has(&lower, word) && !is_excepted(&file.path, &text) {
                    places.push(format!("{}:{number}: \"{word}\": write {instead}", file.path));
                }
            }
        }
    }
    places
}

/// The same as findings of the check.
pub fn findings(files: &[File]) -> Vec<Diagnostic> {
    let finding = |place: String| {
        let (place, words) = place.split_once(": ").unwrap_or((&place, ""));
        Diagnostic::error(place, words)
    };
    find_forbidden(files).into_iter().map(finding).collect()
}

fn is_excepted(path: &str, text: &str) -> bool {
    EXCEPTIONS.iter().any(|(file, part, _)| *file == path && text.contains(part))
}

fn is_for_users(path: &str) -> bool {
    let is_test = path.contains("/tests/") || path.ends_with("tests.rs") || path.contains("_tests");
    let is_ours = path.contains("/decisions/") || path.starts_with("crates/exitgap-bench/");
    let is_generated = path.ends_with("openapi.json");
    let is_list = path == "crates/xtask/src/surface/words.rs";
    !(is_test || is_ours || is_generated || is_list)
}

/// The texts of a file, by line: in a program the strings, and the comments that become help and descriptions; in a
/// document everything.
fn texts(file: &File) -> Vec<(usize, String)> {
    let is_document = super::is_a(&file.path, "md");
    let is_described = file.path.starts_with("crates/exitgap-api/src/")
        || file.path.starts_with("crates/exitgap-cli/src/");
    let mut texts = Vec::new();
    let mut is_test = false;
    for (index, line) in file.text.lines().enumerate() {
        is_test |= line.trim() == "#[cfg(test)]";
        if is_test {
            break;
        }
        let plain = line.trim();
        if is_document {
            texts.push((index + 1, line.to_owned()));
        } else if is_described && plain.starts_with("///") {
            texts.push((index + 1, plain.to_owned()));
        } else if !plain.starts_with("//") {
            let quoted: Vec<&str> = line.split('"').skip(1).step_by(2).collect();
            let continued = plain.ends_with('\\') && !line.contains('"');
            let text = if continued { line.to_owned() } else { quoted.join(" ") };
            let text = without_names(&text);
            if text.contains(' ') {
                texts.push((index + 1, text));
            }
        }
    }
    texts
}

/// A text without the names of values in braces.
fn without_names(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, named)) = rest.split_once('{') {
        plain.push_str(before);
        rest = named.split_once('}').map_or("", |(_, after)| after);
    }
    plain.push_str(rest);
    plain
}

/// Whether a text contains a word as a whole word.
fn has(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(start, _)| {
        let before = text[..start].chars().next_back();
        let after = text[start + word.len()..].chars().next();
        let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        // "There is no price" and "is no longer" are good English, "it is no price" is not.
        let is_idiom = word == "is no"
            && (text[..start].ends_with("there ") || text[start..].starts_with("is no longer"));
        !is_word(before) && !is_word(after) && !is_idiom
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace;

    fn of(path: &str, text: &str) -> Vec<String> {
        find_forbidden(&[File { path: path.to_owned(), text: text.to_owned() }])
    }

    #[test]
    fn a_word_in_a_text_for_users_is_found_and_elsewhere_not() {
        let found = of("web/src/a.rs", "let told = f(\"Nobody wrote it down\");\n// told\n");
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("web/src/a.rs:1: \"nobody\""));
        assert_eq!(of("README.md", "It holds for ever.\n").len(), 1);
        assert_eq!(of("crates/exitgap-api/src/a.rs", "/// What is told.\nlet a = 1;\n").len(), 1);
        assert_eq!(of("crates/exitgap-core/src/a.rs", "/// What is told.\n").len(), 0);
        assert_eq!(of("web/src/a.rs", "#[cfg(test)]\nf(\"is told here\");\n").len(), 0);
        assert_eq!(of("web/src/a.rs", "f(\"foretold as such\");\n").len(), 0);
        assert_eq!(of("web/src/a.rs", "f(\"a size of {told} here\");\n").len(), 0);
        assert_eq!(of("web/src/a.rs", "f(\"where there is no price\");\n").len(), 0);
        assert_eq!(of("web/src/a.rs", "f(\"it is no longer a price\");\n").len(), 0);
        assert_eq!(of("web/src/a.rs", "f(\"what is no price\");\n").len(), 1);
    }

    #[test]
    fn every_exception_is_still_needed() {
        for (file, part, reason) in EXCEPTIONS {
            assert!(!reason.is_empty());
            let text = std::fs::read_to_string(workspace::root().join(file)).unwrap();
            assert!(text.contains(part), "{file} has no such text any more: {part}");
        }
    }
}
