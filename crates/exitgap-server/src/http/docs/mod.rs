//! `/docs`: the human-readable API reference, generated from the `OpenAPI` document, with an example of every address
//! in four languages. One page, without scripts or external resources.

pub mod documents;
mod example_request;
mod javascript;
mod language;
mod python;
mod rust;

use std::fmt::Write;

use axum::extract::State;
use axum::http::HeaderValue;
use axum::http::header::CONTENT_SECURITY_POLICY;
use axum::response::{IntoResponse, Response};
use exitgap_api::operations::{Keep, Operation};
use exitgap_ops::Urls;
use serde_json::Value;

use self::example_request::ExampleRequest;
use self::language::Language;
use super::SharedApp;
use super::address::Plain;
use super::openapi::ADDRESS;
use super::reply::Reply;
use super::site::Frame;

/// The address of this page.
const ADDRESS_OF_PAGE: &str = "/docs";

const STYLE: &str = include_str!("docs.css");

/// `GET /docs`.
pub async fn serve(State(app): State<SharedApp>, _: Plain) -> Response {
    let urls = app.service.urls();
    let frame = || app.site.frame(ADDRESS_OF_PAGE);
    let page = app.described.page(&urls.base, |document| page(document, urls, frame()));
    let reply = Reply::new(page, "text/html; charset=utf-8", Keep::Seconds(300));
    let policy = "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; \
                  frame-ancestors 'none'";
    ([(CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy))], reply).into_response()
}

/// `GET /docs.css`.
pub async fn style(_: Plain) -> Reply {
    Reply::new(STYLE, "text/css; charset=utf-8", Keep::Seconds(300))
}

/// Renders the page from a document, with these URLs, in the frame of the site.
fn page(document: &Value, urls: &Urls, frame: Option<Frame>) -> String {
    let Frame { links, header } = frame.unwrap_or_default();
    let mut page = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><title>API reference | exitgap</title>\
         <meta name=\"color-scheme\" content=\"light dark\">{links}<link rel=\"stylesheet\" href=\"/docs.css\">\
         <body class=\"docs\">{header}<div class=\"reference\">"
    );
    contents(&mut page, document);
    let base = text(&document["servers"][0]["url"]);
    let _ = write!(
        page,
        "<main id=\"top\"><h1>API reference</h1><p class=\"lead\">{}</p><p>Base URL: \
         <code>{base}</code>. All calls are GET and need no key, except alerts. All answers are \
         JSON. Errors are <code>application/problem+json</code> with a stable <code>code</code>. \
         Machine-readable: <a href=\"{ADDRESS}\">OpenAPI 3.1</a>.</p>",
        text(&document["info"]["description"])
    );
    languages(&mut page, urls);
    for tag in document["tags"].as_array().into_iter().flatten() {
        let _ = write!(
            page,
            "<h2 id=\"{}\">{}</h2><p>{}.</p>",
            anchor(tag),
            text(&tag["name"]),
            text(&tag["description"]).trim_end_matches('.')
        );
        for (method, path, operation) in operations(document, tag) {
            address(&mut page, &method, path, operation, document, urls);
        }
    }
    page.push_str("</main></div></html>");
    page
}

/// The anchor of a tag on this page.
fn anchor(tag: &Value) -> String {
    text(&tag["name"]).to_lowercase().replace(' ', "-")
}

/// The operations of a tag: method, path and description.
fn operations<'a>(
    document: &'a Value,
    tag: &'a Value,
) -> impl Iterator<Item = (String, &'a String, &'a Value)> {
    let paths = document["paths"].as_object().into_iter().flatten();
    let all = paths.flat_map(|(path, item)| {
        let methods = item.as_object().into_iter().flatten();
        methods.map(move |(method, operation)| (method.to_uppercase(), path, operation))
    });
    all.filter(|(_, _, operation)| operation["tags"][0] == tag["name"])
}

/// The table of contents, which stays visible if there is room.
fn contents(page: &mut String, document: &Value) {
    page.push_str("<nav class=\"contents\" aria-label=\"Addresses\">");
    for tag in document["tags"].as_array().into_iter().flatten() {
        let _ = write!(
            page,
            "<details><summary><a href=\"#{}\">{}</a></summary><ul>",
            anchor(tag),
            text(&tag["name"])
        );
        for (method, path, operation) in operations(document, tag) {
            let short = path.strip_prefix("/v1").unwrap_or(path);
            let method = if method == "GET" { String::new() } else { format!("<b>{method}</b> ") };
            let _ = write!(
                page,
                "<li><a href=\"#{}\" title=\"{}\"><code>{method}{}</code></a>",
                text(&operation["operationId"]),
                text(&operation["summary"]),
                escape(short)
            );
        }
        page.push_str("</ul></details>");
    }
    page.push_str("</nav>");
}

/// The choice of a language, which stays visible while scrolling, and the common beginning of its snippets.
fn languages(page: &mut String, urls: &Urls) {
    page.push_str("<fieldset class=\"languages\"><legend>Language</legend>");
    for language in Language::ALL {
        let checked = if language == Language::Curl { " checked" } else { "" };
        let _ = write!(
            page,
            "<label><input type=\"radio\" name=\"language\" id=\"{}\"{checked}> {}</label>",
            language.code(),
            language.name()
        );
    }
    page.push_str("</fieldset>");
    for language in Language::ALL {
        let _ = write!(
            page,
            "<div class=\"{}\"><p>{}</p><pre>{}</pre></div>",
            language.code(),
            code_of(language.about()),
            escape(&language.before(&urls.base)),
        );
    }
}

fn address(
    page: &mut String,
    method: &str,
    path: &str,
    operation: &Value,
    document: &Value,
    urls: &Urls,
) {
    let _ = write!(
        page,
        "<section id=\"{id}\"><div><h3><a href=\"#{id}\"><code>{method} {path}</code></a></h3><p><b>{}</b><br>{}</p>",
        text(&operation["summary"]),
        code(&operation["description"]),
        id = text(&operation["operationId"]),
        path = escape(path),
    );
    let parameters = operation["parameters"].as_array().map_or(&[][..], Vec::as_slice);
    let body = &operation["requestBody"]["content"]["application/json"]["schema"];
    if !parameters.is_empty() || body.is_object() {
        page.push_str("<table class=\"parameters\"><thead><tr><th>Parameter<th>Meaning<tbody>");
        for parameter in parameters {
            let needed = if parameter["required"] == true { ", required" } else { "" };
            let _ = write!(
                page,
                "<tr><td><code>{}</code><br><small>{}{needed}</small><td>{}{}",
                text(&parameter["name"]),
                text(&parameter["in"]),
                code(&parameter["description"]),
                list_enum_values(&parameter["schema"]),
            );
        }
        for (name, schema) in body["properties"].as_object().into_iter().flatten() {
            let is = |required: &Value| required == name.as_str();
            let needed = body["required"].as_array().is_some_and(|all| all.iter().any(is));
            let _ = write!(
                page,
                "<tr><td><code>{}</code><br><small>body{}</small><td>{}{}",
                escape(name),
                if needed { ", required" } else { "" },
                code(&schema["description"]),
                list_enum_values(schema),
            );
        }
        page.push_str("</table>");
    }
    let answer = ["200", "201"].map(|status| &operation["responses"][status]);
    let answer = answer.into_iter().find(|answer| answer.is_object()).unwrap_or(&Value::Null);
    let schema = &answer["content"]["application/json"]["schema"]["$ref"];
    if let Some(name) = schema.as_str().and_then(|name| name.rsplit('/').next()) {
        fields(page, name, &document["components"]["schemas"]);
    }
    let refusals = operation["responses"].as_object().into_iter().flatten();
    let refusals: Vec<String> = refusals
        .filter(|(status, _)| !status.starts_with('2'))
        .map(|(status, response)| {
            format!("<b>{}</b> {}", escape(status), code(&response["description"]))
        })
        .collect();
    let _ = write!(
        page,
        "<p><small>Errors: {}.</small></p></div><div class=\"example\">",
        refusals.join("; ")
    );
    shown(page, operation["operationId"].as_str().unwrap_or_default(), urls);
    page.push_str("</div></section>");
}

/// The example request in each language, with a recorded answer.
fn shown(page: &mut String, id: &str, urls: &Urls) {
    let operation = Operation::list_all().find(|operation| operation.row().id == id);
    let asked = operation
        .and_then(|operation| ExampleRequest::for_operation(operation, &urls.base, &urls.web));
    let Some(asked) = asked else { return };
    for language in Language::ALL {
        let snippet = escape(&language.snippet(&asked));
        let _ = write!(page, "<pre class=\"{}\">{snippet}</pre>", language.code());
    }
    let answer = match asked.answer() {
        Value::String(begin) if begin.is_empty() => "(empty)".to_owned(),
        Value::String(begin) => begin.clone(),
        answer => serde_json::to_string_pretty(answer).unwrap_or_default(),
    };
    let _ = write!(
        page,
        "<details class=\"shown\"><summary>Example answer</summary><pre \
         class=\"answer\">{}</pre><p><small>From a recorded development chain. Lists are cut to \
         two entries, and answers that are not documents to their first \
         lines.</small></p></details>",
        escape(&answer),
    );
}

/// The fields of a document, including those of nested documents.
fn fields(page: &mut String, name: &str, schemas: &Value) {
    page.push_str(
        "<details><summary>Fields of the answer</summary><table><thead><tr><th>Field<th>Meaning<tbody>",
    );
    rows(page, &schemas[name], schemas, "", 0);
    page.push_str("</table></details>");
}

/// Greater than the nesting depth of any document.
const MAX_DEPTH: u32 = 6;

fn rows(page: &mut String, schema: &Value, schemas: &Value, prefix: &str, depth: u32) {
    if depth > MAX_DEPTH {
        return;
    }
    let target = schema["$ref"].as_str().and_then(|name| name.rsplit('/').next());
    if let Some(name) = target {
        return rows(page, &schemas[name], schemas, prefix, depth + 1);
    }
    for parts in [&schema["allOf"], &schema["oneOf"]] {
        for part in parts.as_array().into_iter().flatten() {
            rows(page, part, schemas, prefix, depth + 1);
        }
    }
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let about = describe_field(property, schemas);
        let path = format!("{prefix}{name}");
        let _ = write!(page, "<tr><td><code>{}</code><td>{}", escape(&path), about);
        if depth + 1 < MAX_DEPTH {
            let inner = format!("{path}.");
            rows(page, property, schemas, &inner, depth + 1);
            let inner = format!("{path}[].");
            rows(page, &property["items"], schemas, &inner, depth + 1);
        }
    }
}

/// The description of a field: its own, or that of the schema it refers to.
fn describe_field(property: &Value, schemas: &Value) -> String {
    if property["description"].is_string() {
        return code(&property["description"]);
    }
    let parts = ["oneOf", "allOf"].iter().filter_map(|kind| property[kind].as_array());
    let nested = parts.flatten().map(|part| describe_field(part, schemas));
    let target = property["$ref"].as_str().and_then(|name| name.rsplit('/').next());
    let target = target.map(|name| code(&schemas[name]["description"]));
    target.into_iter().chain(nested).find(|words| !words.is_empty()).unwrap_or_default()
}

/// The values of an enumeration, if they are few.
fn list_enum_values(schema: &Value) -> String {
    let Some(values) = schema["enum"].as_array() else { return String::new() };
    let values: Vec<String> =
        values.iter().map(|value| format!("<code>{}</code>", text(value))).collect();
    format!(" One of {}.", values.join(", "))
}

fn text(value: &Value) -> String {
    escape(value.as_str().unwrap_or_default())
}

/// Renders text with `this` as code.
fn code(value: &Value) -> String {
    code_of(value.as_str().unwrap_or_default())
}

fn code_of(text: &str) -> String {
    let escaped = escape(text);
    let parts: Vec<&str> = escaped.split('`').collect();
    let mut out = String::new();
    for (index, part) in parts.iter().enumerate() {
        match index % 2 {
            0 => out.push_str(part),
            _ => {
                let _ = write!(out, "<code>{part}</code>");
            }
        }
    }
    out
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
