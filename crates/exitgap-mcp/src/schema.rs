//! JSON schemas of arguments and of answers, kept small so that the tools use few of a model's tokens.
//!
//! An answer's schema is generated from the document's own type. It lists the document's top-level members, and
//! describes nested values only as an object or a list; the service's `OpenAPI` document has the complete schema. It
//! always permits further members, because a later version may add some.

use exitgap_api::operations::parameters::{MAX_AGE, MIN_DAYS, ORDER_INTERVAL, REQUIRE};
use exitgap_api::operations::{Kind, Parameter};
use rmcp::model::JsonObject;
use serde_json::{Map, Value, json};
use utoipa::OpenApi;

#[derive(OpenApi)]
#[openapi(components(schemas(
    exitgap_api::PoolList,
    exitgap_api::Published<exitgap_api::Amounts>,
    exitgap_api::Published<exitgap_api::GapRung>,
    exitgap_api::Published<exitgap_api::Simulation>,
    exitgap_api::Published<exitgap_api::LadderRows>,
    exitgap_api::History,
    exitgap_api::Fragility,
    exitgap_api::VerifiedEvidence,
)))]
struct Documents;

/// The schema of a tool's arguments. Arguments that are not in it are rejected.
pub fn of_arguments(parameters: &[&Parameter]) -> JsonObject {
    let described = parameters.iter().map(|parameter| {
        let mut schema = of_argument(parameter);
        schema["description"] = json!(brief(parameter));
        (parameter.name.to_owned(), schema)
    });
    let mut schema = object(described.collect());
    let required: Vec<&str> =
        parameters.iter().filter(|one| one.is_required()).map(|one| one.name).collect();
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

/// The schema of a document, by its name among the documents' types.
pub fn of_document(name: &str) -> JsonObject {
    let components = serde_json::to_value(Documents::openapi()).unwrap_or_default();
    let schemas = &components["components"]["schemas"];
    let (mut members, mut enums) = (Vec::new(), Map::new());
    members_of(schemas, &schemas[name], &mut members, MAX_DEPTH);
    let properties = members
        .into_iter()
        .filter(|(name, _)| !EXPLANATIONS.contains(&name.as_str()))
        .map(|(name, schema)| (name, member(schemas, schema, &mut enums, MAX_DEPTH)))
        .collect();
    let mut properties = Value::Object(properties);
    let text = properties.to_string();
    let is_once = |name: &str| text.matches(&format!("\"{DEFS}{name}\"")).count() == 1;
    let (once, enums): (Map<_, _>, Map<_, _>) =
        enums.into_iter().partition(|(name, _)| is_once(name));
    inline(&mut properties, &once);
    let mut schema = Map::new();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), properties);
    if !enums.is_empty() {
        schema.insert("$defs".to_owned(), Value::Object(enums));
    }
    schema
}

/// Members that only explain another member, such as `exact`. Answers have them, and the schema permits further members.
const EXPLANATIONS: [&str; 11] = [
    "depth_cause",
    "depth_note",
    "depths_url",
    "inexact_because",
    "inexact_detail",
    "lowest_depth_7d_cause",
    "lowest_depth_7d_note",
    "newer_heads_url",
    "oracle_lead_7d",
    "session_note",
    "window_url",
];

/// The prefix of references to shared definitions.
const DEFS: &str = "#/$defs/";

/// Inlines definitions that are referenced only once, which is shorter.
fn inline(schema: &mut Value, once: &Map<String, Value>) {
    let name = schema.get("$ref").and_then(Value::as_str).and_then(|to| to.strip_prefix(DEFS));
    if let Some(words) = name.and_then(|name| once.get(name)) {
        *schema = words.clone();
        return;
    }
    match schema {
        Value::Object(members) => members.values_mut().for_each(|member| inline(member, once)),
        Value::Array(all) => all.iter_mut().for_each(|one| inline(one, once)),
        _ => {}
    }
}

/// Greater than the nesting depth of any document.
const MAX_DEPTH: u32 = 12;

/// The schema of a member. An enumeration becomes a separate definition, under the name of its type.
fn member(schemas: &Value, schema: &Value, enums: &mut Map<String, Value>, depth: u32) -> Value {
    if let Some(name) = name_of(schema).filter(|_| depth > 0) {
        let target = &schemas[name];
        if let Some(words) = target.get("enum") {
            enums.insert(name.to_owned(), json!({"enum": words}));
            return json!({"$ref": format!("{DEFS}{name}")});
        }
        return member(schemas, target, enums, depth - 1);
    }
    if let Some(parts) = schema["oneOf"].as_array()
        && let Some(part) = parts.iter().find(|part| part["type"] != "null")
        && depth > 0
    {
        return member(schemas, part, enums, depth - 1);
    }
    // An optional member is absent, never null.
    let kind = match &schema["type"] {
        Value::Array(kinds) => kinds.iter().find(|kind| **kind != "null"),
        kind @ Value::String(_) => Some(kind),
        _ => None,
    };
    json!({"type": kind.and_then(Value::as_str).unwrap_or("object")})
}

/// The name in a schema's reference.
fn name_of(schema: &Value) -> Option<&str> {
    schema["$ref"].as_str()?.rsplit('/').next()
}

/// The members of an object, including those of the objects it is composed of.
fn members_of<'a>(
    schemas: &'a Value,
    schema: &'a Value,
    members: &mut Vec<(String, &'a Value)>,
    depth: u32,
) {
    if depth == 0 {
        return;
    }
    if let Some(name) = name_of(schema) {
        return members_of(schemas, &schemas[name], members, depth - 1);
    }
    for kind in ["allOf", "oneOf"] {
        for part in schema[kind].as_array().into_iter().flatten() {
            members_of(schemas, part, members, depth - 1);
        }
    }
    let properties = schema["properties"].as_object().into_iter().flatten();
    members.extend(properties.map(|(name, schema)| (name.clone(), schema)));
}
