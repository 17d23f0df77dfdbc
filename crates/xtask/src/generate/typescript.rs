//! Documents as TypeScript types.

use std::fmt::Write;

use super::schema::{Field, Kind, Schema};

const HEAD: &str = "\
// Made by `cargo xtask generate` from crates/exitgap-server/docs/openapi.json. Do not edit.
//
// The documents of a service, spelled as it spells them. A field that is absent or `null` has no value.
";

/// All documents.
pub fn types(schemas: &[Schema]) -> String {
    let mut text = HEAD.to_owned();
    // A decimal is a number, without a type of its own.
    for schema in schemas.iter().filter(|schema| schema.name != "Number") {
        text.push('\n');
        comment(&mut text, "", &schema.about);
        let name = &schema.name;
        // Writing to a string cannot fail.
        let _ = match &schema.kind {
            Kind::Object(fields) => {
                writeln!(text, "export interface {name} {}", object(fields, ""))
            }
            kind => writeln!(text, "export type {name} = {};", typescript_type(kind, "")),
        };
    }
    text
}

/// A kind, as written after a field with this indentation.
pub fn typescript_type(kind: &Kind, indent: &str) -> String {
    match kind {
        Kind::Text => "string".to_owned(),
        Kind::Number | Kind::Integer => "number".to_owned(),
        Kind::Boolean => "boolean".to_owned(),
        Kind::Any => "unknown".to_owned(),
        Kind::Null => "null".to_owned(),
        Kind::Words(words) => {
            words.iter().map(|word| format!("'{word}'")).collect::<Vec<_>>().join(" | ")
        }
        Kind::List(item) => format!("{}[]", within(item, indent)),
        Kind::Members(item) => format!("Record<string, {}>", typescript_type(item, indent)),
        Kind::Object(fields) => object(fields, indent),
        Kind::Named(name) => type_name(name).to_owned(),
        Kind::OneOf(kinds) => {
            kinds.iter().map(|kind| typescript_type(kind, indent)).collect::<Vec<_>>().join(" | ")
        }
        Kind::AllOf(kinds) => {
            kinds.iter().map(|kind| part(kind, indent)).collect::<Vec<_>>().join(" & ")
        }
    }
}

/// The type of a decimal document is a number.
fn type_name(name: &str) -> &str {
    if name == "Number" { "number" } else { name }
}

/// A kind to which something is appended.
fn within(kind: &Kind, indent: &str) -> String {
    let text = typescript_type(kind, indent);
    match kind {
        Kind::OneOf(_) | Kind::Words(_) => format!("({text})"),
        _ => text,
    }
}

/// One of the parts of an object: all fields of an optional part are optional.
fn part(kind: &Kind, indent: &str) -> String {
    if let Kind::OneOf(kinds) = kind
        && let [Kind::Named(name), Kind::Null] = kinds.as_slice()
    {
        return format!("Partial<{}>", type_name(name));
    }
    within(kind, indent)
}

fn object(fields: &[Field], indent: &str) -> String {
    let inner = format!("{indent}  ");
    let mut text = "{\n".to_owned();
    for Field { name, about, required, kind } in fields {
        comment(&mut text, &inner, about);
        let mark = if *required { "" } else { "?" };
        let _ = writeln!(text, "{inner}{name}{mark}: {};", typescript_type(kind, &inner));
    }
    text.push_str(indent);
    text.push('}');
    text
}

/// Writes a description as a comment.
pub fn comment(text: &mut String, indent: &str, about: &str) {
    let about = about.replace("*/", "* /");
    let lines: Vec<&str> = about.lines().collect();
    match lines.as_slice() {
        [] => {}
        [line] => {
            let _ = writeln!(text, "{indent}/** {line} */");
        }
        lines => {
            let _ = writeln!(text, "{indent}/**");
            for line in lines {
                let _ = writeln!(text, "{}", format!("{indent} * {line}").trim_end());
            }
            let _ = writeln!(text, "{indent} */");
        }
    }
}
