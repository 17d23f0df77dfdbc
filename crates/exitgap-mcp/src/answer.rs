//! Documents and problems as results of a tool.

use exitgap_api::{Problem, ProblemCode};
use rmcp::model::{CallToolResult, ContentBlock, Resource};
use serde::Serialize;

use crate::sanitize::{tame, tame_problem};

/// The links of a document: the member with the URL, the link's name, and its description.
const LINKS: [(&str, &str, &str); 2] = [
    ("evidence_url", "evidence", "Evidence for the number; input of verify_evidence"),
    ("snapshot_url", "snapshot", "The recorded snapshot behind the answer, canonical bytes"),
];

/// The result of a tool that returns a document: the document as structured content and as text, with a link to its
/// proof.
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

/// The result of a tool that failed: the problem as text, without structured content, which clients would validate
/// against the schema of an answer.
pub fn result_from_problem(problem: Problem) -> CallToolResult {
    // A problem contains only strings and numbers, so serialization cannot fail.
    let text = serde_json::to_string(&tame_problem(problem)).unwrap_or_default();
    CallToolResult::error(vec![ContentBlock::text(text)])
}
