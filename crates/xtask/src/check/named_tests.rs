//! Checks that the tests which a document names exist: `path/to/file.rs::name_of_the_test` in backquotes.

use super::{Diagnostic, Source};

/// The documents that name tests, each with the least number of tests that it must name.
const DOCUMENTS: [(&str, usize); 1] = [("crates/exitgap-server/docs/threat-model.md", 30)];

/// Named tests that do not exist, and documents that name fewer tests than they must.
pub fn absent(sources: &[Source]) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    for (path, least) in DOCUMENTS {
        let text = sources.iter().find(|source| source.path == path).map_or("", |one| &one.text);
        let mut named = 0;
        for (index, line) in text.lines().enumerate() {
            for (file, test) in tests_in(line) {
                named += 1;
                let found = sources.iter().find(|source| source.path == file);
                if !found.is_some_and(|found| found.text.contains(&format!("fn {test}("))) {
                    let message = format!("the test `{test}` is not in {file}");
                    findings.push(Diagnostic::error(format!("{path}:{}", index + 1), message));
                }
            }
        }
        if named < least {
            findings.push(Diagnostic::error(
                path,
                format!("it names {named} tests, not {least} or more"),
            ));
        }
    }
    findings
}

/// The file and the name of each test that a line names.
fn tests_in(line: &str) -> impl Iterator<Item = (&str, &str)> {
    let quoted = line.split('`').skip(1).step_by(2);
    quoted.filter_map(|name| {
        name.split_once(".rs::").map(|(file, test)| (&name[..file.len() + 3], test))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(path: &str, text: &str) -> Source {
        Source { path: path.into(), text: text.into() }
    }

    #[test]
    fn a_test_that_is_gone_and_a_document_that_names_too_few_are_found() {
        let (path, least) = DOCUMENTS[0];
        let rows: String = (0..least - 1).map(|_| "| `tests/a.rs::it_is_here` |\n").collect();
        let messages = |document: String| {
            let all = [source(path, &document), source("tests/a.rs", "fn it_is_here() {}")];
            absent(&all)
                .into_iter()
                .map(|one| format!("{}: {}", one.place, one.message))
                .collect::<Vec<_>>()
        };
        assert_eq!(messages(format!("{rows}`tests/a.rs::it_is_here`")), Vec::<String>::new());
        let gone = messages(format!("{rows}`tests/a.rs::it_is_gone`"));
        assert_eq!(gone, [format!("{path}:{least}: the test `it_is_gone` is not in tests/a.rs")]);
        assert!(messages(format!("{rows}`tests/b.rs::it_is_here`"))[0].contains("tests/b.rs"));
        assert!(messages(rows)[0].contains("names 29 tests"));
    }
}
