//! An example request in its parts, which each language renders in its own way.

use exitgap_api::operations::{Kind, Operation, OwnerToken, Parameter, Place};
use serde_json::{Map, Value};

use super::super::openapi::examples;

/// A question of the examples, asked of a service.
pub struct ExampleRequest<'a> {
    /// The operation.
    pub operation: Operation,
    /// The base URL, without a slash at its end.
    pub host: &'a str,
    /// Path and query.
    pub target: &'a str,
    /// The variable parts of the path, by their names in the template.
    pub named: Vec<(&'static str, &'a str)>,
    /// The query parameters, decoded, in their order.
    pub given: Vec<(String, String)>,
    /// The request body, if there is one.
    pub body: Option<&'a Map<String, Value>>,
}

impl<'a> ExampleRequest<'a> {
    /// The example request of an operation. `api` is the API's base URL, `web` that of everything else.
    pub fn for_operation(operation: Operation, api: &'a str, web: &'a str) -> Option<Self> {
        let example = examples().get(operation.row().id)?;
        let target = example["request"].as_str()?;
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        Some(Self {
            operation,
            host: if operation.is_of_api() { api } else { web },
            target,
            named: match_template(operation.template(), path),
            given: form_urlencoded::parse(query.as_bytes()).into_owned().collect(),
            body: example["body"].as_object(),
        })
    }

    /// The example's answer: a document, or the beginning of an answer that is not a document.
    pub fn answer(&self) -> &'static Value {
        &examples()[self.operation.row().id]["answer"]
    }

    /// The complete URL.
    pub fn url(&self) -> String {
        format!("{}{}", self.host, self.target)
    }

    /// The variable part of the path with this name.
    pub fn in_path(&self, name: &str) -> &'a str {
        self.named.iter().find(|(known, _)| *known == name).map_or("", |(_, part)| part)
    }

    /// The query parameter with this name.
    pub fn query_value(&self, name: &str) -> Option<&str> {
        self.given.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The names of the given parameters, each once.
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for (name, _) in &self.given {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
        names
    }

    /// All values of a parameter, and whether it may be repeated.
    pub fn query_values(&self, name: &str) -> (Vec<&str>, bool) {
        let of_name = self.given.iter().filter(|(known, _)| known == name);
        let values = of_name.map(|(_, value)| value.as_str()).collect();
        let repeated = self.parameter(name).is_some_and(|known| known.kind.is_repeated());
        (values, repeated)
    }

    /// Whether the operation requires an owner's token.
    pub fn is_owned(&self) -> bool {
        self.operation.owner_token() == OwnerToken::Required
    }

    /// The body, as JSON over several lines, which is also valid JavaScript, Python and input of Rust's `json!`.
    pub fn sent(&self) -> Option<String> {
        self.body.and_then(|body| serde_json::to_string_pretty(body).ok())
    }

    fn parameter(&self, name: &str) -> Option<&'static Parameter> {
        let mut known = self.operation.row().parameters.iter().copied();
        known.find(|known| known.name == name && known.place == Place::Query)
    }

    /// A value in the syntax of JavaScript and Python: a number if the parameter is a number and the text is its
    /// canonical form.
    pub fn literal(&self, name: &str, value: &str) -> String {
        let kind = self.parameter(name).map(|known| known.kind);
        let is_number = match kind {
            Some(
                Kind::Size
                | Kind::Slot
                | Kind::Rank
                | Kind::Whole(..)
                | Kind::Tick
                | Kind::Gap
                | Kind::Share
                | Kind::Cost
                | Kind::Amount
                | Kind::Units
                | Kind::Sold
                | Kind::Days
                | Kind::OneOf(_),
            ) => value.len() <= 15 && value.chars().all(|c| c.is_ascii_digit() || c == '.'),
            _ => false,
        };
        if is_number { value.to_owned() } else { quote_text(value) }
    }
}

/// Placeholder in examples for the id of the reader's own rule.
pub const RULE: &str = "$ALERT";

/// A quoted text for JavaScript, Python and Rust. It is not escaped, because no example contains characters that need
/// it.
pub fn quote_text(text: &str) -> String {
    format!("\"{text}\"")
}

/// The variable parts of a path, by their names in a template.
fn match_template<'a>(template: &'static str, path: &'a str) -> Vec<(&'static str, &'a str)> {
    let mut rest = path;
    let mut found = Vec::new();
    for segment in template.split('/').skip(1) {
        rest = rest.strip_prefix('/').unwrap_or(rest);
        let Some(name) = segment.strip_prefix('{').and_then(|name| name.strip_suffix('}')) else {
            rest = rest.strip_prefix(segment).unwrap_or(rest);
            continue;
        };
        // The path of a log file contains slashes.
        let end = if name == "path" { None } else { rest.find('/') };
        let (part, after) = rest.split_at(end.unwrap_or(rest.len()));
        found.push((name, part));
        rest = after;
    }
    found
}
