//! The `OpenAPI` 3.1 description of the service: generated from the table of operations, with schemas from the
//! documents' own types.

use std::sync::{Mutex, OnceLock, PoisonError};

use axum::body::Bytes;
use axum::extract::State;
use exitgap_api::operations::{
    Answer, Group, Keep, Method, Operation, OwnerToken, Parameter, Place, Row,
};
use serde_json::{Map, Value, json};
use utoipa::OpenApi;

use super::SharedApp;
use super::address::Plain;
use super::reply::{JSON, Reply};

/// Its address.
pub const ADDRESS: &str = "/v1/openapi.json";

#[derive(OpenApi)]
#[openapi(components(schemas(
    exitgap_api::PoolList,
    exitgap_api::Published<exitgap_api::Amounts>,
    exitgap_api::Published<exitgap_api::GapRung>,
    exitgap_api::Published<exitgap_api::Simulation>,
    exitgap_api::Published<exitgap_api::RedemptionWindow>,
    exitgap_api::Published<exitgap_api::LadderRows>,
    exitgap_api::History,
    exitgap_api::Stress,
    exitgap_api::MarketHours,
    exitgap_api::Equities,
    exitgap_api::EquityScore,
    exitgap_api::CashExit,
    exitgap_api::Routes,
    exitgap_api::Export,
    exitgap_api::DepthDecay,
    exitgap_api::AccuracyTable,
    exitgap_api::PoolAccuracy,
    exitgap_api::AlertsTold,
    exitgap_api::AlertMade,
    exitgap_api::AlertKept,
    exitgap_api::AlertsKept,
    exitgap_api::AlertEventsKept,
    exitgap_api::WebhookKeys,
    exitgap_api::AlertsResent,
    exitgap_api::StreamTicket,
    exitgap_api::LiquidationExposure,
    exitgap_api::NamedShocks,
    exitgap_api::WhenToSell,
    exitgap_api::VenueStress,
    exitgap_api::Fragility,
    exitgap_api::Portfolio,
    exitgap_api::Capabilities,
    exitgap_api::Payments,
    exitgap_api::SlotStatus,
    exitgap_api::ProblemDocument,
)))]
struct Schemas;

fn parameter(parameter: &Parameter) -> Value {
    let (place, required) = match parameter.place {
        Place::Path => ("path", true),
        Place::Query => ("query", parameter.is_required()),
    };
    let mut value = json!({
        "name": parameter.name,
        "in": place,
        "required": required,
        "description": parameter.about,
        "schema": parameter.schema(),
    });
    if parameter.kind.is_repeated() {
        value["style"] = json!("form");
        value["explode"] = json!(true);
    }
    value
}

fn refusal(status: u16) -> Value {
    let description = match status {
        400 => "A parameter is unknown, repeated, missing or invalid",
        402 => {
            "The operator charges for this call (`/v1/payments`) and it was not paid. The headers \
             and the body offer payment by x402 and by transfer"
        }
        401 => "The owner's token is missing or unknown",
        409 => {
            "The payment or the idempotency key was used for another request, or the payment was \
             used long ago, or the chain has a different block than the recorded one"
        }
        413 => "The body is larger than the limit",
        404 => "There is no such pool, token in it, slot, file or rule",
        412 => "There is an answer, but it does not meet a guard of the request",
        414 => "The URL is too long",
        422 => {
            "Valid request, but no answer exists: the size cannot be filled (with the reason, and \
             `max_fillable_usd` if it exceeds the liquidity), or the period ends before it begins"
        }
        429 => "More requests than one client may make",
        502 => "A node of the chain did not answer, or answered without a valid proof",
        _ => "Nothing is recorded yet",
    };
    let schema = json!({"$ref": "#/components/schemas/ProblemDocument"});
    json!({"description": description, "content": {"application/problem+json": {"schema": schema}}})
}

/// A real answer for each operation, with its request; for answers that are not documents, their beginning as text. A
/// test in the suite generates them from a recorded scene and compares them with this file.
const EXAMPLES: &str = include_str!("../../docs/examples.json");

/// The examples, parsed once.
pub(super) fn examples() -> &'static Value {
    static READ: OnceLock<Value> = OnceLock::new();
    READ.get_or_init(|| serde_json::from_str(EXAMPLES).unwrap_or_default())
}

/// The answers of an operation, by status.
fn responses(row: &Row) -> Map<String, Value> {
    let (media_type, schema) = match row.answer {
        Answer::Document(name) => {
            ("application/json", json!({"$ref": format!("#/components/schemas/{name}")}))
        }
        Answer::Bytes("application/json") | Answer::Readiness => {
            ("application/json", json!({"type": "object"}))
        }
        Answer::Bytes(media_type) => (media_type, json!({})),
        Answer::Nothing => ("application/problem+json", json!({})),
    };
    let mut content = Map::new();
    let mut of_document = json!({"schema": schema.clone()});
    if let Some(answer) = examples().get(row.id).map(|example| &example["answer"])
        && matches!(row.answer, Answer::Document(_))
    {
        of_document["example"] = answer.clone();
    }
    content.insert(media_type.to_owned(), of_document);
    if row.operation == Operation::Log {
        content.insert("text/plain".to_owned(), json!({"schema": schema}));
    }
    let mut responses = Map::new();
    if row.answer == Answer::Readiness {
        let content = content.clone();
        let stale = json!({"description": "Not ready: the same document", "content": content});
        responses.insert("503".to_owned(), stale);
    }
    if row.answer != Answer::Nothing {
        let answer = json!({"description": "The answer", "content": content});
        let status = if row.operation == Operation::KeepAlert { "201" } else { "200" };
        responses.insert(status.to_owned(), answer);
    }
    for status in row.refusals.iter().chain(&[429]) {
        responses.insert(status.to_string(), refusal(*status));
    }
    responses
}

fn operation(row: &Row) -> Value {
    let in_body = |one: &&Parameter| row.method == Method::Post && one.place == Place::Query;
    let (members, others): (Vec<&Parameter>, Vec<&Parameter>) =
        row.parameters.iter().copied().partition(in_body);
    let mut operation = json!({
        "operationId": row.id,
        "tags": [row.group.name()],
        "summary": row.title,
        "description": row.about,
        "parameters": others.iter().map(|one| parameter(one)).collect::<Vec<_>>(),
        "responses": responses(row),
        "x-price-class": row.price.code(),
    });
    if let Some(example) = examples().get(row.id) {
        operation["x-example-request"] = example["request"].clone();
    }
    if !members.is_empty() {
        operation["requestBody"] = body(&members);
    }
    match row.operation.owner_token() {
        OwnerToken::Unused => {}
        OwnerToken::Optional => operation["security"] = json!([{}, {"owner": []}]),
        OwnerToken::Required => operation["security"] = json!([{"owner": []}]),
    }
    operation
}

/// The schema of a body: the members of a JSON object.
fn body(members: &[&Parameter]) -> Value {
    let properties: Map<String, Value> = members
        .iter()
        .map(|one| {
            let mut schema = one.schema();
            schema["description"] = json!(one.about);
            (one.name.to_owned(), schema)
        })
        .collect();
    let required: Vec<&str> =
        members.iter().filter(|one| one.is_required()).map(|one| one.name).collect();
    let schema = json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    });
    json!({"required": !required.is_empty(), "content": {"application/json": {"schema": schema}}})
}

/// The document. `base_url` is the service's base URL.
pub fn document(base_url: &str) -> Value {
    let schemas = serde_json::to_value(Schemas::openapi()).unwrap_or_default();
    let mut paths = Map::new();
    for row in Operation::list_all().map(Operation::row) {
        let at = paths.entry(row.template).or_insert_with(|| json!({}));
        at[row.method.name().to_ascii_lowercase()] = operation(row);
    }
    let mut components = schemas["components"].clone();
    components["securitySchemes"] = json!({
        "owner": {"type": "http", "scheme": "bearer", "description": "The token returned when the owner's first rule was created."}
    });
    let tag = |group: Group| json!({"name": group.name(), "description": group.about()});
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "exitgap",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "At this size, how far below the oracle price will I really fill? Exact, recorded, checkable.",
            "license": {"name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0"},
        },
        "servers": [{"url": base_url}],
        "tags": Group::ALL.map(tag),
        "paths": paths,
        "components": components,
    })
}

/// The slot that the parameters' examples refer to: pool, slot and snapshot.
type ExampleSlot = (String, u32, String);

/// A cache of a service's description, built once, and of its last serialization: it is half a megabyte.
#[derive(Debug, Default)]
pub struct ApiDescription {
    document: OnceLock<Value>,
    page: OnceLock<Bytes>,
    written: Mutex<Option<(Option<ExampleSlot>, Bytes)>>,
}

impl ApiDescription {
    /// The document for a base URL, which must be the same each time.
    fn document(&self, base_url: &str) -> &Value {
        self.document.get_or_init(|| document(base_url))
    }

    /// The page made from it.
    pub fn page(&self, base_url: &str, made: impl FnOnce(&Value) -> String) -> Bytes {
        self.page.get_or_init(|| made(self.document(base_url)).into()).clone()
    }

    /// The document as JSON, with examples from the recorded data.
    fn written(&self, base_url: &str, recorded: Option<ExampleSlot>) -> Bytes {
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, bytes)) = &*written
            && *of == recorded
        {
            return bytes.clone();
        }
        let mut document = self.document(base_url).clone();
        if let Some((pool, slot, hash)) = &recorded {
            give_examples(&mut document, pool, *slot, hash);
        }
        let bytes = Bytes::from(document.to_string());
        *written = Some((recorded, bytes.clone()));
        bytes
    }
}

/// Answers with the document.
pub async fn serve(State(app): State<SharedApp>, _: Plain) -> Reply {
    let written = app.described.written(&app.service.urls().base, app.service.example());
    Reply::new(written, JSON, Keep::Seconds(300))
}

/// Sets parameter examples to recorded data, so that readers who try them get answers.
fn give_examples(document: &mut Value, pool: &str, slot: u32, hash: &str) {
    let Some(paths) = document["paths"].as_object_mut() else { return };
    for item in paths.values_mut() {
        // Use `get_mut` and not indexing, which would add a `get` to an address that only supports POST.
        let parameters = item.get_mut("get").and_then(|get| get.get_mut("parameters"));
        for parameter in parameters.and_then(Value::as_array_mut).into_iter().flatten() {
            let example = match parameter["name"].as_str() {
                Some("pool") => json!(pool),
                Some("slot") => json!(slot),
                Some("hash") => json!(hash),
                Some("position") => json!([format!("{pool}:1000"), format!("{pool}/token1:500")]),
                Some("chain") => json!(pool.split(':').next()),
                _ => continue,
            };
            parameter["schema"]["examples"] = json!([example]);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    /// A change of the document changes the published API, so a review must see it.
    #[test]
    fn the_committed_document_is_the_one_that_is_served() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/openapi.json");
        let mut text = serde_json::to_string_pretty(&document("https://api.example.org")).unwrap();
        text.push('\n');
        if std::env::var_os("EXITGAP_WRITE_OPENAPI").is_some() {
            fs::write(&path, &text).unwrap();
        }
        let committed = fs::read_to_string(&path).unwrap_or_default();
        let changed = committed.lines().zip(text.lines()).position(|(before, now)| before != now);
        assert!(
            committed == text,
            "docs/openapi.json is not what the service describes, from line {} on: callers rely on \
             it, so write it anew with EXITGAP_WRITE_OPENAPI=1 and look at the difference",
            changed.map_or(0, |line| line + 1)
        );
    }

    /// Everything the table names is described: every document's schema, and every variable part of an address.
    #[test]
    fn nothing_in_the_document_points_nowhere() {
        let document = document("https://api.example.org");
        let text = document.to_string();
        let references = text.split("\"#/components/schemas/").skip(1);
        for name in references.filter_map(|rest| rest.split('"').next()) {
            assert!(document["components"]["schemas"][name].is_object(), "{name}");
        }
        for (path, item) in document["paths"].as_object().unwrap() {
            let named = path.split('{').skip(1).filter_map(|rest| rest.split('}').next());
            let named: Vec<_> = named.collect();
            for operation in item.as_object().unwrap().values() {
                let parameters = operation["parameters"].as_array().unwrap();
                let in_path = parameters.iter().filter(|parameter| parameter["in"] == "path");
                let in_path = in_path.map(|parameter| parameter["name"].as_str().unwrap());
                assert_eq!(in_path.collect::<Vec<_>>(), named, "{path}");
            }
        }
    }
}
