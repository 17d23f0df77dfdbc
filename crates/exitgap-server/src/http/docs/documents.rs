//! The guides and format pages as Markdown, and `/llms.txt`, the list of them and of the addresses for agents
//! (<https://llmstxt.org>). Both come from the same list, and the addresses from the table of operations.

use std::fmt::Write;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use exitgap_api::operations::{Group, Keep, Operation};
use exitgap_api::{Problem, ProblemCode};
use exitgap_ops::Urls;

use super::super::SharedApp;
use super::super::address::{Address, Plain};
use super::super::openapi::ADDRESS;
use super::super::reply::{HttpRefusal, Reply};
use super::super::site::DESCRIPTION;

/// The address of the list.
pub const LIST: &str = "/llms.txt";

/// A document: its name in addresses, and its text.
struct Document {
    name: &'static str,
    text: &'static str,
}

/// Includes documents of a crate, by their names.
macro_rules! documents {
    ($($path:literal: $($name:literal)*;)*) => {
        [$($(Document {
            name: $name,
            text: include_str!(concat!("../../../../", $path, "/docs/", $name, ".md")),
        },)*)*]
    };
}

/// The documents, in the order of the list.
const DOCUMENTS: [Document; 14] = documents! {
    "exitgap-server": "agents" "addresses" "conventions" "glossary" "webhooks" "change" "threat-model" "releases";
    "exitgap-core": "evidence-v1" "figure-v1" "state-proof-v1" "anchors-v1" "log-folder-v1" "days-v1";
};

const MARKDOWN: &str = "text/markdown; charset=utf-8";

/// `GET /llms.txt`.
pub async fn serve_list(State(app): State<SharedApp>, _: Plain) -> Reply {
    let text = list(app.service.urls());
    Reply::new(text, "text/plain; charset=utf-8", Keep::Seconds(300))
}

/// `GET /docs/{name}.md`.
pub async fn serve_document(State(app): State<SharedApp>, address: Address) -> Response {
    let name = address.path_or_empty();
    let found = name
        .strip_suffix(".md")
        .and_then(|name| DOCUMENTS.iter().find(|document| document.name == name));
    let Some(document) = found else {
        let problem = Problem::new(ProblemCode::NotFound, "no document has this name");
        return HttpRefusal::from(problem.hint("GET /llms.txt lists the documents"))
            .into_response();
    };
    let text = document.with_links(&app.service.urls().web);
    Reply::new(text, MARKDOWN, Keep::Seconds(300)).into_response()
}

/// The list.
fn list(urls: &Urls) -> String {
    let Urls { base, web } = urls;
    let mut text = format!(
        "# exitgap\n\n> {DESCRIPTION}\n\n\
         A service that records the depth of on-chain liquidity pools every five minutes. Each number is exact and can be \
         recomputed from its evidence. Read `exit_gap_pct`: a positive gap is worse than the oracle price. Eight read-only tools \
         for agents are at {base}/mcp.\n\n\
         ## Documents\n\n\
         - [OpenAPI 3.1]({base}{ADDRESS}): every address with its parameters and fields, for programs\n\
         - [API reference]({base}/docs): the same for people, with examples in four languages\n"
    );
    for document in &DOCUMENTS {
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "- [{}]({web}/docs/{}.md){}",
            document.title(),
            document.name,
            document.summary().map(|summary| format!(": {summary}")).unwrap_or_default()
        );
    }
    for group in Group::ALL.into_iter().filter(|group| *group != Group::Operators) {
        let _ = writeln!(text, "\n## {}\n", group.name());
        for row in Operation::list_all().map(Operation::row).filter(|row| row.group == group) {
            let (method, template) = (row.method.name(), row.template);
            let _ =
                writeln!(text, "- [{method} {template}]({base}/docs#{}): {}", row.id, row.title);
        }
    }
    text
}

impl Document {
    fn title(&self) -> &'static str {
        self.text.lines().next().unwrap_or_default().trim_start_matches("# ")
    }

    /// The first sentence of the document, if it begins with one, without links.
    fn summary(&self) -> Option<String> {
        let paragraph = self.text.split("\n\n").nth(1)?;
        let plain = without_links(&paragraph.replace('\n', " "), |_| None);
        let end = plain.find(". ").or_else(|| plain.ends_with('.').then(|| plain.len() - 1))?;
        (!plain.starts_with('|')).then(|| plain[..end].to_owned())
    }

    /// The text, with links to documents that are served here, and without those to files of the repository.
    fn with_links(&self, web: &str) -> String {
        without_links(self.text, |target| {
            let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
            if target.contains("://") || path.is_empty() {
                return Some(target.to_owned());
            }
            let name = path.rsplit('/').next().and_then(|file| file.strip_suffix(".md"));
            let served = DOCUMENTS.iter().find(|document| Some(document.name) == name)?;
            let anchor = if anchor.is_empty() { String::new() } else { format!("#{anchor}") };
            Some(format!("{web}/docs/{}.md{anchor}", served.name))
        })
    }
}

/// A Markdown text in which each link has another target, or is only its text.
fn without_links(text: &str, target_of: impl Fn(&str) -> Option<String>) -> String {
    let mut made = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(middle) = rest.find("](") {
        let end = rest[middle..].find(')').map(|end| middle + end);
        let (Some(begin), Some(end)) = (rest[..middle].rfind('['), end) else { break };
        let (label, target) = (&rest[begin + 1..middle], &rest[middle + 2..end]);
        made.push_str(&rest[..begin]);
        match target_of(target) {
            Some(target) => {
                let _ = write!(made, "[{label}]({target})");
            }
            None => made.push_str(label),
        }
        rest = &rest[end + 1..];
    }
    made.push_str(rest);
    made
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    fn urls() -> Urls {
        Urls { base: "https://api.example.org".to_owned(), web: "https://example.org".to_owned() }
    }

    #[test]
    fn the_list_has_every_document_and_every_address_for_clients_once() {
        let text = list(&urls());
        for document in &DOCUMENTS {
            let link =
                format!("- [{}](https://example.org/docs/{}.md)", document.title(), document.name);
            assert_eq!(text.matches(&link).count(), 1, "{link}\n{text}");
        }
        for row in Operation::list_all().map(Operation::row) {
            let link = format!(
                "- [{} {}](https://api.example.org/docs#{})",
                row.method.name(),
                row.template,
                row.id
            );
            let times = usize::from(row.group != Group::Operators);
            assert_eq!(text.matches(&link).count(), times, "{link}");
        }
        assert!(text.starts_with("# exitgap\n\n> "), "{text}");
    }

    /// A new guide or format page is listed, or left out here for a reason.
    #[test]
    fn every_document_of_the_folders_is_served() {
        // For those who install a service, with this repository at hand.
        let left_out = ["operators", "tutorial"];
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut found = BTreeSet::new();
        for folder in [here.join("docs"), here.join("../exitgap-core/docs")] {
            for entry in std::fs::read_dir(folder).unwrap() {
                let name = entry.unwrap().file_name().to_string_lossy().into_owned();
                found.extend(name.strip_suffix(".md").map(str::to_owned));
            }
        }
        let served: BTreeSet<String> = DOCUMENTS
            .iter()
            .map(|document| document.name)
            .chain(left_out)
            .map(str::to_owned)
            .collect();
        assert_eq!(found, served);
    }

    #[test]
    fn links_lead_to_served_documents_or_are_only_text() {
        for document in &DOCUMENTS {
            let text = document.with_links("https://example.org");
            for target in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
                assert!(
                    target.starts_with("https://") || target.starts_with('#'),
                    "{}: {target}",
                    document.name
                );
            }
            assert!(!document.title().is_empty() && !document.title().starts_with('#'));
            assert!(
                document.summary().is_none_or(|summary| !summary.contains("](")),
                "{}",
                document.name
            );
        }
        let made = without_links("a [b](c.md#d) [e](f) g]( h", |target| {
            target.starts_with('c').then(|| "x".to_owned())
        });
        assert_eq!(made, "a [b](x) e g]( h");
    }
}
