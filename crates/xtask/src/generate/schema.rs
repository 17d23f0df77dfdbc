//! The schemas of an `OpenAPI` description, limited to what ours uses.

use serde_json::{Map, Value};

/// A named document.
pub struct Schema {
    pub name: String,
    pub about: String,
    pub kind: Kind,
}

/// The kind of a value.
pub enum Kind {
    Text,
    Number,
    Integer,
    Boolean,
    /// Any JSON value.
    Any,
    Null,
    /// One of these words.
    Words(Vec<String>),
    List(Box<Kind>),
    /// An object whose members all have one kind.
    Members(Box<Kind>),
    Object(Vec<Field>),
    /// Another document.
    Named(String),
    /// One of several.
    OneOf(Vec<Kind>),
    /// All of several at once.
    AllOf(Vec<Kind>),
}

/// A member of an object.
pub struct Field {
    pub name: String,
    pub about: String,
    pub required: bool,
    pub kind: Kind,
}

/// The schemas of a description, by name.
pub fn read_schemas(description: &Value) -> Result<Vec<Schema>, String> {
    let schemas = description["components"]["schemas"].as_object().ok_or("it has no schemas")?;
    let mut read = Vec::new();
    for (name, value) in schemas {
        let kind = kind(value).map_err(|why| format!("{name}: {why}"))?;
        read.push(Schema { name: name.clone(), about: about(value), kind });
    }
    read.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(read)
}

fn about(value: &Value) -> String {
    value["description"].as_str().unwrap_or_default().to_owned()
}

fn kind(value: &Value) -> Result<Kind, String> {
    if let Some(reference) = value["$ref"].as_str() {
        let name = reference.rsplit('/').next().unwrap_or_default();
        return Ok(Kind::Named(name.to_owned()));
    }
    for (key, of) in [("allOf", Kind::AllOf as fn(Vec<Kind>) -> Kind), ("oneOf", Kind::OneOf)] {
        if let Some(parts) = value[key].as_array() {
            return parts.iter().map(kind).collect::<Result<_, _>>().map(of);
        }
    }
    if let Some(words) = value["enum"].as_array() {
        let words = words.iter().filter_map(Value::as_str).map(str::to_owned);
        return Ok(Kind::Words(words.collect()));
    }
    match &value["type"] {
        Value::String(one) => kind_of_type(one, value),
        Value::Array(several) => {
            let several = several.iter().filter_map(Value::as_str);
            let kinds = several.map(|one| kind_of_type(one, value)).collect::<Result<_, _>>()?;
            Ok(Kind::OneOf(kinds))
        }
        Value::Null => Ok(Kind::Any),
        other => Err(format!("a type that is not known: {other}")),
    }
}

fn kind_of_type(name: &str, value: &Value) -> Result<Kind, String> {
    Ok(match name {
        "string" => Kind::Text,
        "number" => Kind::Number,
        "integer" => Kind::Integer,
        "boolean" => Kind::Boolean,
        "null" => Kind::Null,
        "array" => Kind::List(Box::new(kind(&value["items"])?)),
        "object" => match (value["properties"].as_object(), &value["additionalProperties"]) {
            (Some(properties), _) => Kind::Object(fields(properties, &value["required"])?),
            (None, Value::Null | Value::Bool(_)) => Kind::Members(Box::new(Kind::Any)),
            (None, of) => Kind::Members(Box::new(kind(of)?)),
        },
        other => return Err(format!("a type that is not known: {other}")),
    })
}

fn fields(properties: &Map<String, Value>, required: &Value) -> Result<Vec<Field>, String> {
    let required: Vec<&str> =
        required.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let mut fields = Vec::new();
    for (name, value) in properties {
        fields.push(Field {
            name: name.clone(),
            about: about_field(value),
            required: required.contains(&name.as_str()),
            kind: kind(value).map_err(|why| format!("{name}: {why}"))?,
        });
    }
    Ok(fields)
}

/// The description of a field; for an optional document it is inside the choice.
fn about_field(value: &Value) -> String {
    let inner = value["oneOf"].as_array().into_iter().flatten().map(about);
    std::iter::once(about(value)).chain(inner).find(|about| !about.is_empty()).unwrap_or_default()
}
