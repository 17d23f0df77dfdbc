//! JSON schemas of arguments, kept small so that the tools use few of a model's tokens.
//!
//! Answers have none in the list of tools: a model reads the answer itself, and the service's `OpenAPI` document has the
//! complete schemas.

use exitgap_api::operations::parameters::{MAX_AGE, MIN_DAYS, ORDER_INTERVAL, REQUIRE};
use exitgap_api::operations::{Kind, Parameter};
use rmcp::model::JsonObject;
use serde_json::{Map, Value, json};

use crate::tool_list::Parameters;

/// The schema of a tool's arguments, for all questions that it answers. Arguments that are not in it are rejected.
pub fn of_arguments(questions: &[Parameters]) -> JsonObject {
    let mut parameters: Vec<&Parameter> = Vec::new();
    for parameter in questions.iter().copied().flatten() {
        if parameters.iter().all(|one| one.name != parameter.name) {
            parameters.push(parameter);
        }
    }
    let described = parameters.iter().map(|parameter| {
        let mut schema = of_argument(parameter);
        schema["description"] = json!(brief(parameter));
        (parameter.name.to_owned(), schema)
    });
    let mut schema = object(described.collect());
    let is_required = |name: &str| {
        let of = |parameter: &&Parameter| parameter.name == name && parameter.is_required();
        questions.iter().all(|parameters| parameters.iter().copied().any(|one| of(&one)))
    };
    let required: Vec<&str> =
        parameters.iter().map(|one| one.name).filter(|name| is_required(name)).collect();
    if !required.is_empty() {
        schema.insert("required".to_owned(), json!(required));
    }
    schema
}

fn object(properties: Map<String, Value>) -> JsonObject {
    let mut schema = Map::new();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), Value::Object(properties));
    schema
}

/// The part of a parameter's description that a model needs to choose a value: up to the first full stop. Errors
/// explain the rest.
fn brief(parameter: &Parameter) -> String {
    let words = match parameter.kind {
        Kind::Pool if parameter.is_required() => "Identifier from list_pools",
        Kind::Token => "Token sold: token0, token1, address, symbol",
        Kind::Instant => "RFC 3339",
        _ if parameter.name == CURSOR => "next_cursor of the previous page",
        _ if *parameter == MAX_AGE => "Reject an older snapshot",
        _ if *parameter == MIN_DAYS => "Reject a shorter series",
        _ if *parameter == REQUIRE => "Reject preview",
        _ => parameter.about.split([':', ';', '.']).next().unwrap_or_default(),
    };
    words.replace('`', "")
}

/// The name of every parameter with a page cursor.
const CURSOR: &str = "cursor";

/// A decimal is a number here: models write numbers, and up to fifteen digits nothing is lost. A text with the same
/// digits is accepted too.
fn of_argument(parameter: &Parameter) -> Value {
    let whole = parameter.schema();
    let mut schema = match parameter.kind {
        _ if parameter.name == CURSOR => json!({"type": "string"}),
        Kind::Size => json!({"type": "number", "minimum": 0.01}),
        Kind::Gap => json!({"type": "number", "minimum": -100, "maximum": 100}),
        Kind::Share => json!({"type": "number", "minimum": 0, "maximum": 100}),
        Kind::Days => json!({"type": "number"}),
        _ if *parameter == MAX_AGE || *parameter == ORDER_INTERVAL => json!({"type": "integer"}),
        // Their errors are more informative than a pattern.
        Kind::Pool | Kind::Chain | Kind::Token | Kind::Instant | Kind::EvidenceUrl => {
            json!({"type": "string"})
        }
        _ => return whole,
    };
    let default = whole["default"].as_str().and_then(|text| text.parse::<u32>().ok());
    if let Some(default) = default {
        schema["default"] = json!(default);
    }
    schema
}
