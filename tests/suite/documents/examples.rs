//! The example answers of the reference: real answers from a recorded scene that conform to the schemas of their
//! operations.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use exitgap_api::operations::{Answer as Answers, Operation};
use serde_json::{Map, Value, json};

use crate::scenes::reference::{BASE, HOOK, RULE, Reference};
use crate::scenes::service::Answer;

const FILE: &str = "crates/exitgap-server/docs/examples.json";

/// Maximum number of characters shown of an answer that is not a JSON document.
const SHOWN_CHARACTERS: usize = 300;

/// Cuts the lists of an example to two entries and sets its age to one minute.
fn cut(value: &mut Value) {
    match value {
        Value::Array(all) => {
            all.truncate(2);
            all.iter_mut().for_each(cut);
        }
        Value::Object(members) => {
            for (name, member) in members {
                cut(member);
                if name.ends_with("snapshot_age_s") {
                    *member = json!(60);
                }
            }
        }
        _ => {}
    }
}

/// Returns everything in `value` that does not conform to the schema, by its location.
fn misfits(document: &Value, schema: &Value, value: &Value, at: &str) -> Vec<String> {
    if let Some(name) = schema["$ref"].as_str().and_then(|name| name.rsplit('/').next()) {
        return misfits(document, &document["components"]["schemas"][name], value, at);
    }
    let mut found = Vec::new();
    for part in schema["allOf"].as_array().into_iter().flatten() {
        found.extend(misfits(document, part, value, at));
    }
    if let Some(parts) = schema["oneOf"].as_array().or(schema["anyOf"].as_array())
        && !parts.iter().any(|part| misfits(document, part, value, at).is_empty())
    {
        found.push(format!("{at}: none of the kinds that it may be"));
    }
    let is_of = |kind: &Value| match kind.as_str().unwrap_or_default() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        other => panic!("{at}: a type {other}"),
    };
    let types = &schema["type"];
    let fits = match types.as_array() {
        Some(all) => all.iter().any(is_of),
        None => types.is_null() || is_of(types),
    };
    if !fits {
        found.push(format!("{at}: {value} is not of {types}"));
    }
    if let Some(values) = schema["enum"].as_array()
        && !values.contains(value)
    {
        found.push(format!("{at}: {value} is none of {values:?}"));
    }
    for name in schema["required"].as_array().into_iter().flatten() {
        if value.is_object() && value.get(name.as_str().unwrap()).is_none() {
            found.push(format!("{at}: without {name}"));
        }
    }
    for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
        if let Some(member) = value.get(name) {
            found.extend(misfits(document, inner, member, &format!("{at}.{name}")));
        }
    }
    for (place, entry) in value.as_array().into_iter().flatten().enumerate() {
        if schema["items"].is_object() {
            found.extend(misfits(document, &schema["items"], entry, &format!("{at}[{place}]")));
        }
    }
    found
}

/// A schema with fixed fields detects an unknown field.
#[test]
fn a_misfit_is_noticed() {
    let document = json!({"components": {"schemas": {"One": {
        "type": "object", "required": ["a"],
        "properties": {"a": {"type": ["integer", "null"]}, "b": {"type": "array", "items": {"enum": ["x"]}}},
    }}}});
    let schema = json!({"allOf": [{"$ref": "#/components/schemas/One"}]});
    let of = |value: Value| misfits(&document, &schema, &value, "").len();
    assert_eq!(of(json!({"a": null, "b": ["x", "x"]})), 0);
    for wrong in [
        json!({"b": []}),
        json!({"a": "1"}),
        json!({"a": 1.5}),
        json!({"a": 1, "b": ["y"]}),
        json!([]),
    ] {
        assert!(of(wrong.clone()) > 0, "{wrong}");
    }
}

/// Collects the names of all fields of a value; for lists, those of the first entry.
fn shape(value: &Value, at: &str, into: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                into.push(format!("{at}.{name}"));
                shape(member, &format!("{at}.{name}"), into);
            }
        }
        Value::Array(all) => {
            all.iter().take(1).for_each(|one| shape(one, &format!("{at}[]"), into));
        }
        _ => {}
    }
}

/// The displayed form of an answer: the document, or the beginning of an answer that is not a document.
fn shown(
    reference: &Reference,
    id: &str,
    answer: &Answer,
    rule: Option<&(String, String)>,
) -> Value {
    let row = Operation::list_all().map(Operation::row).find(|row| row.id == id);
    let row = row.unwrap_or_else(|| panic!("{id} is no operation"));
    let mut text = String::from_utf8_lossy(&answer.body).replace(&reference.here(), BASE);
    text = text.replace(&reference.receiver.url("/exits"), HOOK);
    if let Some((name, _)) = rule {
        text = text.replace(name, RULE);
    }
    match (row.answer, answer.status) {
        (Answers::Document(_), 200 | 201) | (Answers::Readiness, _) => {
            let mut answer = serde_json::from_str(&text).unwrap();
            cut(&mut answer);
            answer
        }
        (Answers::Bytes("application/octet-stream"), 200)
            if std::str::from_utf8(&answer.body).is_err() =>
        {
            json!(format!("{} bytes", answer.body.len()))
        }
        _ => {
            let begin: String = text.chars().take(SHOWN_CHARACTERS).collect();
            json!(if begin.len() < text.len() { begin + "…" } else { begin })
        }
    }
}

/// Replaces values that differ between runs and carry no information.
fn settle(example: &mut Value) {
    match example {
        Value::Object(members) => {
            for (name, member) in members {
                match name.as_str() {
                    "token" | "ticket" | "webhook_secret" if member.is_string() => {
                        *member = json!("…");
                    }
                    "public_key" | "previous_public_key" if member.is_string() => {
                        *member = json!("whpk_…");
                    }
                    _ => settle(member),
                }
            }
        }
        Value::Array(all) => all.iter_mut().for_each(settle),
        _ => {}
    }
}

/// The entries of the reference by operation, with the description from the `OpenAPI` document.
fn described(document: &Value) -> BTreeMap<String, Value> {
    let items = document["paths"].as_object().unwrap().values();
    let operations = items.flat_map(|item| item.as_object().unwrap().values());
    operations
        .map(|operation| (operation["operationId"].as_str().unwrap().to_owned(), operation.clone()))
        .collect()
}

/// Returns the schema of an operation's answer.
fn schema_of(operation: &Value) -> &Value {
    let status = if operation["responses"]["201"].is_object() { "201" } else { "200" };
    &operation["responses"][status]["content"]["application/json"]["schema"]
}

#[tokio::test(flavor = "multi_thread")]
async fn every_address_has_an_example_and_each_is_as_its_address_is_described() {
    let reference = Reference::new().await;
    let document = reference.service.get("/v1/openapi.json").found();
    let rows = described(&document);
    let asked = reference.asked();
    let mut told: Vec<&str> = asked.iter().map(|asked| asked.id).collect();
    told.sort_unstable();
    assert_eq!(told, rows.keys().collect::<Vec<_>>(), "every address has an example");
    let mut examples = Map::new();
    let mut rule: Option<(String, String)> = None;
    for one in &asked {
        let answer = reference.ask(one, rule.as_ref());
        if one.id == "keepAlert" {
            let made = answer.json();
            let text = |value: &Value| value.as_str().unwrap().to_owned();
            rule = Some((text(&made["alert"]["alert"]), text(&made["token"])));
            reference.wait_until_verified(rule.as_ref().unwrap());
        }
        let mut example = json!({"answer": shown(&reference, one.id, &answer, rule.as_ref())});
        settle(&mut example);
        if example["answer"].is_object() {
            let fits = misfits(&document, schema_of(&rows[one.id]), &example["answer"], one.id);
            assert_eq!(fits, Vec::<String>::new(), "{}", one.target);
        }
        example["request"] = json!(one.target);
        if let Some(body) = &one.body {
            let body = body.to_string().replace(&reference.receiver.url("/exits"), HOOK);
            example["body"] = serde_json::from_str(&body).unwrap();
        }
        examples.insert(one.id.to_owned(), example);
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    if std::env::var_os("EXITGAP_WRITE_EXAMPLES").is_some() {
        let text = serde_json::to_string_pretty(&Value::Object(examples.clone())).unwrap();
        fs::write(root.join(FILE), text + "\n").unwrap();
    }
    let kept: Map<String, Value> = serde_json::from_str(&super::document(FILE)).unwrap();
    assert_eq!(kept.keys().collect::<Vec<_>>(), examples.keys().collect::<Vec<_>>());
    for (id, example) in &kept {
        let row = &rows[id];
        assert_eq!(row["x-example-request"], example["request"], "{id}: the reference shows it");
        if example["answer"].is_object() {
            let fits = misfits(&document, schema_of(row), &example["answer"], id);
            assert_eq!(fits, Vec::<String>::new(), "the example that is kept");
        }
        let [mut is, mut was] = [Vec::new(), Vec::new()];
        shape(&examples[id], "", &mut is);
        shape(example, "", &mut was);
        assert_eq!(is, was, "{id}: EXITGAP_WRITE_EXAMPLES makes it anew");
        assert_eq!(examples[id]["answer"].is_object(), example["answer"].is_object(), "{id}");
    }
    let page = String::from_utf8(reference.service.get("/docs").body).unwrap();
    assert_eq!(page.matches("<summary>Example answer</summary>").count(), kept.len());
    let stress = kept["readStress"]["request"].as_str().unwrap().replace('&', "&amp;");
    assert!(page.contains(&format!("curl '{}{stress}'", reference.here())), "{stress}");
    assert_eq!(reference.service.end(), Some(0));
}
