//! What an example asks, in its parts: what each language spells in its own way.

use exitgap_api::operations::{Kind, Operation, Parameter, Place};
use serde_json::{Map, Value};

use super::super::openapi::examples;

/// A question of the examples, asked of a service.
pub struct ExampleRequest<'a> {
    /// Which address it is of.
    pub operation: Operation,
    /// Where that is, without a slash at its end.
    pub host: &'a str,
    /// Path and query.
    pub target: &'a str,
    /// What varies of the path, by the names that its template has.
    pub named: Vec<(&'static str, &'a str)>,
    /// What is asked in the query, decoded, in its order.
    pub given: Vec<(String, String)>,
    /// What is sent, where something is.
    pub body: Option<&'a Map<String, Value>>,
}

impl<'a> ExampleRequest<'a> {
    /// What the examples ask of an operation. `api` is where the API is, `web` where everything else is.
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

    /// What was answered: a document, or the beginning of what is none.
    pub fn answer(&self) -> &'static Value {
        &examples()[self.operation.row().id]["answer"]
    }

    /// The whole address.
    pub fn url(&self) -> String {
        format!("{}{}", self.host, self.target)
    }

    /// What varies of the path under this name.
    pub fn in_path(&self, name: &str) -> &'a str {
        self.named.iter().find(|(known, _)| *known == name).map_or("", |(_, part)| part)
    }

    /// What is given under this name.
    pub fn query_value(&self, name: &str) -> Option<&str> {
        self.given.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The names that are given, once each.
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for (name, _) in &self.given {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
        names
    }

    /// All that is given under a name, and whether there may be several.
    pub fn query_values(&self, name: &str) -> (Vec<&str>, bool) {
        let of_name = self.given.iter().filter(|(known, _)| known == name);
        let values = of_name.map(|(_, value)| value.as_str()).collect();
        let repeated = self.parameter(name).is_some_and(|known| known.kind.is_repeated());
        (values, repeated)
    }

    /// Whether only who shows a token is answered. Without one a rule is made, and a stream tells of slots.
    pub fn is_owned(&self) -> bool {
        let optional = matches!(self.operation, Operation::KeepAlert | Operation::Stream);
        !optional && self.operation.row().refusals.contains(&401)
    }

    /// What is sent, as JSON over several lines, which JavaScript, Python and Rust's `json!` read, too.
    pub fn sent(&self) -> Option<String> {
        self.body.and_then(|body| serde_json::to_string_pretty(body).ok())
    }

    fn parameter(&self, name: &str) -> Option<&'static Parameter> {
        let mut known = self.operation.row().parameters.iter().copied();
        known.find(|known| known.name == name && known.place == Place::Query)
    }

    /// A value as JavaScript and Python spell it: a number where the parameter is one and the text its plain spelling.
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
                | Kind::Days
                | Kind::OneOf(_),
            ) => value.len() <= 15 && value.chars().all(|c| c.is_ascii_digit() || c == '.'),
            _ => false,
        };
        if is_number { value.to_owned() } else { quote_text(value) }
    }
}

/// What stands in an example for the name of a rule of one's own.
pub const RULE: &str = "$ALERT";

/// A text as JavaScript, Python and Rust spell one that has nothing to be escaped; what has is not among the examples.
pub fn quote_text(text: &str) -> String {
    format!("\"{text}\"")
}

/// The parts of a path that a template names.
fn match_template<'a>(template: &'static str, path: &'a str) -> Vec<(&'static str, &'a str)> {
    let mut rest = path;
    let mut found = Vec::new();
    for segment in template.split('/').skip(1) {
        rest = rest.strip_prefix('/').unwrap_or(rest);
        let Some(name) = segment.strip_prefix('{').and_then(|name| name.strip_suffix('}')) else {
            rest = rest.strip_prefix(segment).unwrap_or(rest);
            continue;
        };
        // A file of the log has slashes of its own.
        let end = if name == "path" { None } else { rest.find('/') };
        let (part, after) = rest.split_at(end.unwrap_or(rest.len()));
        found.push((name, part));
        rest = after;
    }
    found
}
