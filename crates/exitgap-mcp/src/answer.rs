//! Documents and refusals as results of a tool.

use exitgap_api::{Problem, ProblemCode};
use rmcp::model::{CallToolResult, ContentBlock, Resource};
use serde::Serialize;

use crate::sanitize::{tame, tame_problem};

/// What a document links to: the member that holds the address, and what is there.
const LINKS: [(&str, &str, &str); 2] = [
    ("evidence_url", "evidence", "Evidence for the number; input of verify_evidence"),
    ("snapshot_url", "snapshot", "The recorded snapshot behind the answer, canonical bytes"),
];

/// The result of a tool that has a document for an answer: the document as structured content, the
/// same as text, and where its proof is.
pub fn result_from_document<D: Serialize>(document: &D) -> CallToolResult {
    let Ok(mut document) = serde_json::to_value(document) else {
        return result_from_problem(Problem::new(
            ProblemCode::InternalError,
            "the answer could not be written",
        ));
    };
    tame(&mut document);
    let links = LINKS.iter().filter_map(|(member, name, about)| {
        let url = document[member].as_str()?;
        let link = Resource::new(url, *name).with_description(*about);
        Some(ContentBlock::resource_link(link.with_mime_type("application/json")))
    });
    let links: Vec<_> = links.collect();
    let mut result = CallToolResult::structured(document);
    result.content.extend(links);
    result
}

/// The result of a tool that has none: the problem as text, and no structured content, which would be
/// held against the schema of an answer.
pub fn result_from_problem(problem: Problem) -> CallToolResult {
    // A problem holds strings and numbers only: it always has a JSON form.
    let text = serde_json::to_string(&tame_problem(problem)).unwrap_or_default();
    CallToolResult::error(vec![ContentBlock::text(text)])
}
