//! Documents as Python types: typed dictionaries.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::schema::{Field, Kind, Schema};

const HEAD: &str = "\
# Made by `cargo xtask generate` from crates/exitgap-server/docs/openapi.json. Do not edit.
\"\"\"The documents of a service, as types: dictionaries, named as the service names their fields.

What is ``NotRequired`` is absent or ``None`` if there is no value. Numbers of USD, prices and percentages are floats; raw
amounts of tokens are texts. A newer service may have more fields.
\"\"\"

# ruff: noqa: E501
from typing import Any, Literal, NotRequired, TypedDict
";

/// Names that cannot be fields of a class.
const KEYWORDS: [&str; 5] = ["from", "in", "is", "class", "import"];

/// All documents, each after those it depends on.
pub fn types(schemas: &[Schema]) -> String {
    let mut text = HEAD.to_owned();
    let mut written = BTreeSet::new();
    for schema in schemas {
        write_after(&mut text, schema, schemas, &mut written);
    }
    text
}

/// Writes a document, preceded by those it refers to.
fn write_after<'s>(
    text: &mut String,
    schema: &'s Schema,
    all: &'s [Schema],
    written: &mut BTreeSet<&'s str>,
) {
    if schema.name == "Number" || !written.insert(&schema.name) {
        return;
    }
    let mut names = Vec::new();
    collect_names(&schema.kind, &mut names);
    for name in names {
        if let Some(other) = all.iter().find(|other| other.name == name) {
            write_after(text, other, all, written);
        }
    }
    document(text, schema, all);
}

/// The documents that a kind refers to.
fn collect_names<'k>(kind: &'k Kind, names: &mut Vec<&'k str>) {
    match kind {
        Kind::Named(name) => names.push(name),
        Kind::List(item) | Kind::Members(item) => collect_names(item, names),
        Kind::Object(fields) => {
            for field in fields {
                collect_names(&field.kind, names);
            }
        }
        Kind::OneOf(kinds) | Kind::AllOf(kinds) => {
            for kind in kinds {
                collect_names(kind, names);
            }
        }
        _ => {}
    }
}

fn document(text: &mut String, schema: &Schema, all: &[Schema]) {
    let Schema { name, about, kind } = schema;
    // Writing to a string cannot fail.
    let _ = match kind {
        Kind::Object(fields) if fields.iter().all(|field| !is_keyword(&field.name)) => {
            write!(text, "\n\nclass {name}(TypedDict):\n{}", body(about, fields))
        }
        Kind::Object(fields) => {
            write!(text, "\n\n#: {}\n{}", one_line(about), functional(name, fields))
        }
        Kind::AllOf(parts) => whole(text, name, about, parts, all),
        kind => write!(text, "\n\n#: {}\n{name} = {}\n", one_line(about), python_type(kind)),
    };
}

/// A document composed of several parts: a class that inherits from them, with a separate class for its own fields.
fn whole(
    text: &mut String,
    name: &str,
    about: &str,
    parts: &[Kind],
    all: &[Schema],
) -> std::fmt::Result {
    let mut over = Vec::new();
    let mut own: Vec<&Field> = Vec::new();
    for part in flatten_parts(parts) {
        match part {
            Kind::Named(base) => over.push(base.clone()),
            Kind::Object(fields) => own.extend(fields),
            // All fields of an optional part are optional.
            Kind::OneOf(kinds) => {
                if let [Kind::Named(base), Kind::Null] = kinds.as_slice() {
                    let fields = all.iter().find(|other| other.name == *base);
                    let fields = fields.map(|base| fields_of(&base.kind)).unwrap_or_default();
                    let partial = format!("_{name}_{base}");
                    let lines: String = fields.iter().map(|field| line(field, false)).collect();
                    write!(text, "\n\nclass {partial}(TypedDict):\n{lines}")?;
                    over.push(partial);
                }
            }
            _ => {}
        }
    }
    if own.iter().any(|field| is_keyword(&field.name)) {
        let lines: String = own.iter().map(|field| pair(field)).collect();
        write!(text, "\n\n_{name} = TypedDict(\n    \"_{name}\",\n    {{\n{lines}    }},\n)\n")?;
        over.push(format!("_{name}"));
        own.clear();
    }
    let over = if over.is_empty() { "TypedDict".to_owned() } else { over.join(", ") };
    let lines: String = own.iter().map(|field| line(field, field.required)).collect();
    let gap = if lines.is_empty() { "" } else { "\n" };
    write!(text, "\n\nclass {name}({over}):\n    \"\"\"{}\"\"\"\n{gap}{lines}", one_line(about))
}

/// The parts, including those of nested parts.
fn flatten_parts(parts: &[Kind]) -> Vec<&Kind> {
    let mut all = Vec::new();
    for part in parts {
        match part {
            Kind::AllOf(inner) => all.extend(flatten_parts(inner)),
            other => all.push(other),
        }
    }
    all
}

fn fields_of(kind: &Kind) -> Vec<&Field> {
    match kind {
        Kind::Object(fields) => fields.iter().collect(),
        Kind::AllOf(parts) => parts.iter().flat_map(fields_of).collect(),
        _ => Vec::new(),
    }
}

fn is_keyword(name: &str) -> bool {
    KEYWORDS.contains(&name)
}

fn body(about: &str, fields: &[Field]) -> String {
    let lines: String = fields.iter().map(|field| line(field, field.required)).collect();
    format!("    \"\"\"{}\"\"\"\n\n{lines}", one_line(about))
}

fn line(field: &Field, required: bool) -> String {
    let mut text = String::new();
    if !field.about.is_empty() {
        text = format!("    #: {}\n", one_line(&field.about));
    }
    text + &format!("    {}: {}\n", field.name, field_type(field, required))
}

fn functional(name: &str, fields: &[Field]) -> String {
    let lines: String = fields.iter().map(pair).collect();
    format!("{name} = TypedDict(\n    \"{name}\",\n    {{\n{lines}    }},\n)\n")
}

fn pair(field: &Field) -> String {
    format!("        \"{}\": {},\n", field.name, field_type(field, field.required))
}

fn field_type(field: &Field, required: bool) -> String {
    let kind = python_type(&field.kind);
    if required { kind } else { format!("NotRequired[{kind}]") }
}

fn python_type(kind: &Kind) -> String {
    match kind {
        Kind::Text => "str".to_owned(),
        Kind::Number => "float".to_owned(),
        Kind::Integer => "int".to_owned(),
        Kind::Boolean => "bool".to_owned(),
        Kind::Any | Kind::Object(_) | Kind::AllOf(_) => "Any".to_owned(),
        Kind::Null => "None".to_owned(),
        Kind::Words(words) => {
            let words: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
            format!("Literal[{}]", words.join(", "))
        }
        Kind::List(item) => format!("list[{}]", python_type(item)),
        Kind::Members(item) => format!("dict[str, {}]", python_type(item)),
        Kind::Named(name) if name == "Number" => "float".to_owned(),
        Kind::Named(name) => name.clone(),
        Kind::OneOf(kinds) => {
            let mut texts: Vec<String> = kinds.iter().map(python_type).collect();
            texts.dedup();
            texts.join(" | ")
        }
    }
}

fn one_line(about: &str) -> String {
    about.split_whitespace().collect::<Vec<_>>().join(" ").replace("\"\"\"", "'''")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::generate::schema::read_schemas;

    #[test]
    fn a_part_that_has_parts_itself_is_not_left_out() {
        let optional = json!({"oneOf": [{"$ref": "#/components/schemas/Limit"}, {"type": "null"}]});
        let row = json!({"allOf": [optional, {"type": "object", "required": ["gap"],
            "properties": {"gap": {"type": "string"}}}]});
        let text = json!({"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}});
        let schemas = read_schemas(&json!({"components": {"schemas": {
            "Context": text, "Limit": text,
            "Answer": {"allOf": [row, {"$ref": "#/components/schemas/Context"}]},
        }}}))
        .unwrap();
        let made = types(&schemas);
        assert!(
            made.contains("class _Answer_Limit(TypedDict):\n    name: NotRequired[str]"),
            "{made}"
        );
        assert!(made.contains("class Answer(_Answer_Limit, Context):"), "{made}");
        assert!(made.contains("    gap: str\n"), "{made}");
    }
    #[test]
    fn every_part_of_the_description_has_a_place_in_a_class() {
        let path = crate::workspace::root().join(crate::generate::DESCRIPTION);
        let text = std::fs::read_to_string(path).unwrap();
        let schemas = read_schemas(&serde_json::from_str(&text).unwrap()).unwrap();
        let mut parts = 0;
        for Schema { name, kind, .. } in &schemas {
            let Kind::AllOf(of_several) = kind else { continue };
            for part in flatten_parts(of_several) {
                parts += 1;
                let is_optional = |kinds: &[Kind]| matches!(kinds, [Kind::Named(_), Kind::Null]);
                let has_place = match part {
                    Kind::Named(_) | Kind::Object(_) => true,
                    Kind::OneOf(kinds) => is_optional(kinds),
                    _ => false,
                };
                assert!(has_place, "{name} has a part that Python's types would leave out");
            }
        }
        assert!(parts > 10, "{parts}");
    }
}
