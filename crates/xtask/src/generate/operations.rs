//! The operations for the JavaScript client: the address of each operation, and how its parameters are parsed; and the
//! same as types.

use std::fmt::Write;

use serde_json::Value;

use super::schema::Kind;

/// An operation that reads.
pub struct Operation {
    id: String,
    about: String,
    path: String,
    parameters: Vec<Parameter>,
}

struct Parameter {
    /// The spelling in a URL.
    name: String,
    about: String,
    required: bool,
    reader: Reader,
    words: Vec<String>,
}

/// How a caller's value is parsed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reader {
    Decimal,
    Instant,
    Whole,
    Short,
}

impl Reader {
    fn name(self) -> &'static str {
        match self {
            Self::Decimal => "decimal",
            Self::Instant => "instant",
            Self::Whole => "whole",
            Self::Short => "short",
        }
    }
}

/// The operations that support `GET`, by id.
pub fn read_operations(description: &Value) -> Result<Vec<Operation>, String> {
    let paths = description["paths"].as_object().ok_or("it has no paths")?;
    let mut operations = Vec::new();
    for (path, methods) in paths {
        let Some(id) = methods["get"]["operationId"].as_str().filter(|_| is_asked(path)) else {
            continue;
        };
        let listed = methods["get"]["parameters"].as_array();
        let parameters = listed.into_iter().flatten().filter_map(parameter);
        operations.push(Operation {
            id: id.to_owned(),
            about: methods["get"]["summary"].as_str().unwrap_or_default().to_owned(),
            path: path.clone(),
            parameters: parameters.collect(),
        });
    }
    operations.sort_by(|a, b| a.id.cmp(&b.id));
    Ok(operations)
}

/// Whether the client uses it through this table: not operations for operators or owners of alerts, and not files or
/// streams.
fn is_asked(path: &str) -> bool {
    let is_owned = path.starts_with("/v1/alerts") && !path.contains("/backtest/");
    let is_file = path.starts_with("/api/v1/") && !path.contains("/status/");
    path.contains("/v1/") && !is_owned && !is_file && path != "/v1/stream"
}

/// A query parameter. The client itself handles repeated parameters, except words.
fn parameter(value: &Value) -> Option<Parameter> {
    let schema = &value["schema"];
    let is_list = schema["type"] == "array";
    let is_word =
        schema["items"]["pattern"].as_str().is_some_and(|of| of.starts_with("^[a-z][a-z0-9_]"));
    if value["in"] != "query" || (is_list && !is_word) {
        return None;
    }
    let words = schema["enum"].as_array().into_iter().flatten();
    let words: Vec<String> = words.filter_map(Value::as_str).map(str::to_owned).collect();
    let name = value["name"].as_str()?.to_owned();
    let pattern = schema["pattern"].as_str().unwrap_or_default();
    let is_number = |word: &String| word.bytes().all(|byte| byte.is_ascii_digit());
    let reader = if name == "cursor" {
        // As returned with the previous page.
        Reader::Short
    } else if schema["type"] == "integer" {
        Reader::Whole
    } else if schema["format"] == "date-time" {
        Reader::Instant
    } else if pattern.starts_with("^0*")
        || pattern.starts_with("^-?0*")
        || (!words.is_empty() && words.iter().all(is_number))
    {
        Reader::Decimal
    } else {
        Reader::Short
    };
    Some(Parameter {
        name,
        about: value["description"].as_str().unwrap_or_default().to_owned(),
        required: value["required"].as_bool().unwrap_or(false),
        reader,
        words,
    })
}

/// The request table of the client.
pub fn table(operations: &[Operation]) -> String {
    let mut text = "\
// Made by `cargo xtask generate` from crates/exitgap-server/docs/openapi.json. Do not edit.
//
// Where each operation is, and how each parameter of its query is read from what a caller gives.

export const OPERATIONS = {
"
    .to_owned();
    for Operation { id, path, parameters, .. } in operations {
        let parameters = parameters.iter();
        let read = parameters.map(|one| format!("{}: '{}'", camel(&one.name), one.reader.name()));
        let read: Vec<String> = read.collect();
        let read =
            if read.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", read.join(", ")) };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {id}: ['{path}', {read}],");
    }
    text + "};\n"
}

/// The types of the operations' inputs.
pub fn types(operations: &[Operation]) -> String {
    let mut text = "\
// Made by `cargo xtask generate` from crates/exitgap-server/docs/openapi.json. Do not edit.
//
// What each operation is asked with, as the client takes it.

import type { BaseInput, DecimalInput, InstantInput } from './index.js';
"
    .to_owned();
    for Operation { id, about, parameters, .. } in operations {
        if parameters.is_empty() {
            continue;
        }
        let name = id[..1].to_ascii_uppercase() + &id[1..];
        let _ = write!(text, "\n/** {} */\nexport interface {name}Options {{\n", sentence(about));
        for parameter in parameters {
            super::typescript::comment(&mut text, "  ", &parameter.about);
            let mark = if parameter.required { "" } else { "?" };
            let _ = writeln!(text, "  {}{mark}: {};", camel(&parameter.name), type_of(parameter));
        }
        text += "}\n";
    }
    text
}

fn type_of(parameter: &Parameter) -> String {
    match parameter.reader {
        Reader::Decimal => "DecimalInput".to_owned(),
        Reader::Instant => "InstantInput".to_owned(),
        Reader::Whole => "number".to_owned(),
        Reader::Short if parameter.name == "base" => "BaseInput".to_owned(),
        Reader::Short if !parameter.words.is_empty() => {
            super::typescript::typescript_type(&Kind::Words(parameter.words.clone()), "")
        }
        Reader::Short => "string".to_owned(),
    }
}

/// Adds a full stop if there is none.
fn sentence(about: &str) -> String {
    if about.ends_with(['.', '?']) { about.to_owned() } else { format!("{about}.") }
}

/// `within_slots` as `withinSlots`.
fn camel(name: &str) -> String {
    let mut text = String::new();
    let mut is_next_upper = false;
    for letter in name.chars() {
        if letter == '_' {
            is_next_upper = true;
        } else if is_next_upper {
            text.push(letter.to_ascii_uppercase());
            is_next_upper = false;
        } else {
            text.push(letter);
        }
    }
    text
}
