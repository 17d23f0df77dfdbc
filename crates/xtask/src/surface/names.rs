//! Finds names that say nothing about what they name.

use super::code::Code;

/// Words that are not meaningful names by themselves.
const GENERIC: [&str; 26] = [
    "read", "of", "write", "take", "say", "told", "asked", "found", "came", "is", "why", "apart",
    "desk", "till", "lane", "shelf", "bell", "it", "its", "this", "that", "one", "all", "other",
    "what", "who",
];

/// The keywords that begin a definition.
const DEFINES: [&str; 8] =
    ["fn ", "struct ", "enum ", "trait ", "type ", "mod ", "const ", "static "];

/// The places of definitions with such names.
pub fn generic(code: &[Code]) -> Vec<String> {
    let mut places = Vec::new();
    for file in code.iter().filter(|file| super::is_a(&file.path, "rs")) {
        for line in &file.lines {
            if let Some(name) = defined_name(line)
                && is_generic(name, line)
            {
                places.push(format!("{}: {}", file.path, line.trim()));
            }
        }
    }
    places
}

/// The name that a line defines.
fn defined_name(line: &str) -> Option<&str> {
    let mut rest = line.trim_start();
    for word in ["pub ", "async ", "const fn ", "unsafe "] {
        if word == "const fn " {
            rest =
                rest.strip_prefix("const ").filter(|rest| rest.starts_with("fn ")).unwrap_or(rest);
            continue;
        }
        rest = rest.strip_prefix(word).unwrap_or(rest);
    }
    if let Some(visible) = rest.strip_prefix("pub(") {
        rest = visible.split_once(") ")?.1;
        rest = rest.strip_prefix("async ").unwrap_or(rest);
        rest = rest.strip_prefix("const ").filter(|rest| rest.starts_with("fn ")).unwrap_or(rest);
    }
    let rest = DEFINES.iter().find_map(|word| rest.strip_prefix(word))?;
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
    Some(&rest[..end.unwrap_or(rest.len())]).filter(|name| !name.is_empty())
}

fn is_generic(name: &str, line: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    if lower == "new" {
        // A constructor returns what it creates.
        return line.contains("fn new") && line.contains("->") && !line.contains("Self");
    }
    let is_type = name.starts_with(|c: char| c.is_ascii_uppercase());
    let is_several = is_type && name[1..].contains(|c: char| c.is_ascii_uppercase());
    let is_one_word = !name.contains('_') && !is_several;
    let is_participle = is_one_word && (lower.ends_with("ed") || lower.ends_with("ing"));
    is_one_word && (is_participle || GENERIC.contains(&&*lower))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_one_empty_word_is_generic() {
        for line in [
            "pub struct Told {",
            "    pub fn of(pool: &Pool) -> Self {",
            "pub(super) fn read(text: &str) -> Self {",
            "    async fn asked(&self) {",
            "mod apart;",
            "fn checked(self) -> Result<Self> {",
            "    pub fn new(a: u8) -> Vec<u8> {",
        ] {
            assert!(is_generic(defined_name(line).unwrap(), line), "{line}");
        }
    }

    #[test]
    fn a_name_that_says_what_it_is_passes() {
        for line in [
            "pub struct ExitParameters {",
            "    pub fn new(pool: Pool) -> Self {",
            "fn read_parameters(text: &str) {",
            "pub const fn named_slot() {",
            "enum Status {",
        ] {
            assert!(!is_generic(defined_name(line).unwrap(), line), "{line}");
        }
        assert_eq!(defined_name("let told = 1;"), None);
    }
}
