//! Checks on the text of the sources.

use super::lexer::{code_only, is_word};
use super::{Finding, Source};

/// Lines of a file, and of a function: above the first a warning, above the second a failure.
const FILE_LINES: (usize, usize) = (400, 600);
const FUNCTION_LINES: (usize, usize) = (70, 120);

/// The folder in which a result must not depend on floating point.
const EXACT: &str = "crates/exitgap-core/src/";

/// Words that mark unfinished work, spelled in two halves so that this file holds none.
const LEFTOVERS: [&str; 5] = [
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("XX", "X"),
    concat!("to", "do!"),
    concat!("unimple", "mented!"),
];

/// Floating-point types and literals in the core. Its tests may use them, to show them refused.
pub fn floats(sources: &[Source]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for source in sources.iter().filter(|source| is_exact(source)) {
        for (index, line) in without_tests(&code_only(&source.text)).lines().enumerate() {
            if let Some(token) = float_in(line) {
                findings.push(Finding::error(
                    format!("{}:{}", source.path, index + 1),
                    format!("`{token}`: results are integers or exact fractions, never floats"),
                ));
            }
        }
    }
    findings
}

/// Code with the bodies of its `#[cfg(test)]` items blanked out, line for line.
fn without_tests(code: &str) -> String {
    const MARK: &str = "#[cfg(test)]";
    let mut kept = String::with_capacity(code.len());
    let mut rest = code;
    while let Some(start) = rest.find(MARK) {
        let (before, item) = rest.split_at(start);
        // A test module in a file of its own ends at its semicolon.
        let end = body_length(&item[MARK.len()..]).map_or(MARK.len(), |body| MARK.len() + body);
        kept.push_str(before);
        kept.extend(item[..end].chars().filter(|&one| one == '\n'));
        rest = &item[end..];
    }
    kept + rest
}

/// The first float type, or number with a decimal point, of a line of code.
fn float_in(line: &str) -> Option<String> {
    let characters: Vec<char> = line.chars().collect();
    let mut at = 0;
    while at < characters.len() {
        if !is_word(characters[at]) {
            at += 1;
            continue;
        }
        let start = at;
        while at < characters.len() && is_word(characters[at]) {
            at += 1;
        }
        let word: String = characters[start..at].iter().collect();
        let is_number = word.starts_with(|first: char| first.is_ascii_digit());
        // `pair.0.1` names fields: its numbers follow a dot.
        let after_dot = start > 0 && characters[start - 1] == '.';
        let has_fraction = is_number
            && !after_dot
            && characters.get(at) == Some(&'.')
            && characters.get(at + 1).is_some_and(char::is_ascii_digit);
        let typed = ["f32", "f64"].iter().any(|float| {
            word == *float || (is_number && !word.starts_with("0x") && word.ends_with(float))
        });
        if has_fraction || typed {
            return Some(if has_fraction { format!("{word}.…") } else { word });
        }
    }
    None
}

/// Files and functions that are longer than a reader holds in mind.
pub fn lengths(sources: &[Source]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for source in sources.iter().filter(|source| is_rust(source)) {
        let lines = source.text.lines().count();
        findings.extend(too_long(&source.path, "this file", lines, FILE_LINES));
        for function in functions(&code_only(&source.text)) {
            let place = format!("{}:{}", source.path, function.line);
            let what = format!("function `{}`", function.name);
            findings.extend(too_long(&place, &what, function.lines, FUNCTION_LINES));
        }
    }
    findings
}

fn too_long(place: &str, what: &str, lines: usize, limits: (usize, usize)) -> Option<Finding> {
    let (soft, hard) = limits;
    let message = format!("{what} has {lines} lines; aim below {soft}, {hard} is the limit");
    if lines > hard {
        Some(Finding::error(place, message))
    } else if lines > soft {
        Some(Finding::warning(place, message))
    } else {
        None
    }
}

#[derive(Debug, PartialEq, Eq)]
struct Function {
    name: String,
    /// Where it begins, counted from 1.
    line: usize,
    /// From its signature to its closing brace.
    lines: usize,
}

/// Every function with a body, in code without comments and literals.
fn functions(code: &str) -> Vec<Function> {
    let mut functions = Vec::new();
    let mut offset = 0;
    while let Some(found) = code[offset..].find("fn ") {
        let start = offset + found;
        offset = start + 3;
        if code[..start].chars().next_back().is_some_and(is_word) {
            continue;
        }
        let name: String = code[offset..].chars().take_while(|&one| is_word(one)).collect();
        let Some(length) = body_length(&code[start..]) else { continue };
        functions.push(Function {
            name,
            line: code[..start].matches('\n').count() + 1,
            lines: code[start..start + length].matches('\n').count() + 1,
        });
    }
    functions
}

/// Bytes from the signature to the closing brace; `None` for a declaration without a body.
fn body_length(code: &str) -> Option<usize> {
    let mut braces = 0_usize;
    let mut brackets = 0_usize;
    for (index, character) in code.char_indices() {
        match character {
            '(' | '[' => brackets += 1,
            ')' | ']' => brackets = brackets.saturating_sub(1),
            ';' if braces == 0 && brackets == 0 => return None,
            '{' => braces += 1,
            '}' => {
                braces = braces.saturating_sub(1);
                if braces == 0 {
                    return Some(index + 1);
                }
            }
            _ => {}
        }
    }
    None
}

/// Notes to self that were left in any file.
pub fn leftovers(sources: &[Source]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for source in sources {
        for (index, line) in source.text.lines().enumerate() {
            if let Some(word) = LEFTOVERS.iter().find(|word| has_word(line, word)) {
                findings.push(Finding::error(
                    format!("{}:{}", source.path, index + 1),
                    format!("`{word}` marks unfinished work: finish it, or open an issue"),
                ));
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

/// Crates that the code map does not name.
pub fn missing_on_map(names: &[String], map: &str) -> Vec<Finding> {
    names
        .iter()
        .filter(|name| !has_word(map, name))
        .map(|name| Finding::error("crates/ARCHITECTURE.md", format!("it does not name `{name}`")))
        .collect()
}

fn is_exact(source: &Source) -> bool {
    source.path.starts_with(EXACT) && is_rust(source) && !source.path.ends_with("/tests.rs")
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
    fn floats_are_found_in_core_code_only() {
        let core = "crates/exitgap-core/src/a.rs";
        for bad in ["let x: f64 = y;", "x as f32", "let y = 1.5;", "1_f64", "2f32"] {
            let found = floats(&[source(core, &format!("\n{bad}\n"))]);
            assert_eq!(found.len(), 1, "{bad}");
            assert_eq!(found[0].place, "crates/exitgap-core/src/a.rs:2");
        }
        for good in ["// f64", "\"f64 1.5\"", "pair.0.1", "0..5", "1.max(2)", "0x1f64", "xf64"] {
            assert_eq!(floats(&[source(core, good)]), [], "{good}");
        }
        for path in ["crates/exitgap-cli/src/a.rs", "crates/exitgap-core/src/a/tests.rs"] {
            assert_eq!(floats(&[source(path, "f64")]), []);
        }
    }

    #[test]
    fn floats_are_found_behind_tests_but_not_in_them() {
        let text = "#[cfg(test)]\nmod tests {\n  f64\n}\n#[cfg(test)]\nmod more;\nf32\n";
        let found = floats(&[source("crates/exitgap-core/src/a.rs", text)]);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].place, "crates/exitgap-core/src/a.rs:7");
    }

    #[test]
    fn long_files_warn_then_fail() {
        let file = |lines: usize| lengths(&[source("a.rs", &"\n".repeat(lines))]);
        assert_eq!(file(400), []);
        assert!(file(401)[0].warning);
        assert!(!file(601)[0].warning);
        assert_eq!(lengths(&[source("a.sql", &"\n".repeat(700))]), []);
    }

    #[test]
    fn long_functions_warn_then_fail() {
        let function = |lines: usize| {
            let body = "    let x = [0; 2];\n".repeat(lines - 2);
            lengths(&[source("a.rs", &format!("/// fn doc\nfn long(\n{body}) {{}}"))])
        };
        assert_eq!(function(70), []);
        let warned = function(71);
        assert_eq!((warned[0].place.as_str(), warned[0].warning), ("a.rs:2", true));
        assert!(warned[0].message.contains("`long` has 71 lines"), "{}", warned[0].message);
        assert!(!function(121)[0].warning);
    }

    #[test]
    fn declarations_and_pointers_are_no_functions() {
        let found = functions("trait T { fn a(); fn b() { x } } type F = fn(u8); fn_like();");
        assert_eq!(found.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["b"]);
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
    fn a_crate_the_map_does_not_name_is_found() {
        let names = ["exitgap-core".to_owned(), "exitgap-api".to_owned()];
        let found = missing_on_map(&names, "`exitgap-core` is pure");
        assert_eq!(found.len(), 1);
        assert!(found[0].message.contains("exitgap-api"));
    }
}
