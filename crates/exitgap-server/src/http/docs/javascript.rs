//! Renders an example request as JavaScript with the npm package `exitgap`.

use exitgap_api::operations::{Answer, Kind, Method, Operation, Parameter};

use super::example_request::{ExampleRequest, RULE, quote_text};

/// How the package makes the request.
enum Way {
    /// A function that takes the variable part of the path, and an object with all other parameters.
    Function(&'static str),
    /// A function that takes a list of the repeated parameter, and an object with all other parameters.
    List(&'static str),
    /// A function that takes the complete URL.
    At(&'static str),
    /// A function without parameters.
    Alone(&'static str),
    /// No function of the package: the platform's own `fetch`.
    Fetch,
}

fn way(operation: Operation) -> Way {
    let row = operation.row();
    let is_list = |one: &&Parameter| matches!(one.kind, Kind::Positions | Kind::Venues);
    match row.calls.javascript {
        "" => Way::Fetch,
        name if operation.is_figure_file() || operation == Operation::Evidence => Way::At(name),
        name if operation == Operation::Log => Way::Alone(name),
        name if row.parameters.iter().any(is_list) => Way::List(name),
        name => Way::Function(name),
    }
}

/// The first lines of every snippet.
pub fn before(api: &str) -> String {
    format!(
        "import {{ Client, init }} from \"exitgap\";\n\nawait init();\nconst client = new Client({});",
        quote_text(api)
    )
}

/// The request; the snippet assigns its answer to `answer`.
pub fn snippet(asked: &ExampleRequest<'_>) -> String {
    let call = match way(asked.operation) {
        Way::Fetch if asked.operation == Operation::Stream => return stream(asked),
        Way::Fetch => return fetch_snippet(asked),
        Way::Alone(name) => format!("{name}()"),
        Way::At(name) => format!("{name}(\n  {},\n)", quote_text(&asked.url())),
        Way::Function(name) => {
            let parts = asked.named.iter().filter(|(name, _)| *name != "slot");
            let mut arguments: Vec<String> = parts.map(|(_, part)| quote_text(part)).collect();
            arguments.extend(options(asked, ""));
            format!("{name}({})", arguments.join(", "))
        }
        Way::List(name) => {
            let repeated = if name == "portfolio" { "position" } else { "venue" };
            let entries: Vec<String> =
                asked.query_values(repeated).0.into_iter().map(entry).collect();
            let mut arguments = vec![format!("[{}]", entries.join(", "))];
            arguments.extend(options(asked, repeated));
            format!("{name}({})", arguments.join(", "))
        }
    };
    format!("const answer = await client.{call};")
}

/// A position, or a venue, in the package's syntax.
fn entry(written: &str) -> String {
    // The pool's id contains a colon; the size is separated by another.
    match written.rsplit_once(':').filter(|(pool, _)| pool.contains(':')) {
        Some((pool, size)) => format!("{{ pool: {}, sizeUsd: {size} }}", quote_text(pool)),
        None => quote_text(written),
    }
}

/// An object with all parameters except `but`, with JavaScript names; `None` if there are no others.
fn options(asked: &ExampleRequest<'_>, but: &str) -> Option<String> {
    let slot = asked.named.iter().filter(|(name, _)| *name == "slot");
    let mut all: Vec<String> = slot.map(|(_, slot)| format!("slot: {slot}")).collect();
    for name in asked.names().into_iter().filter(|name| *name != but) {
        let value = asked.literal(name, asked.query_value(name).unwrap_or_default());
        all.push(format!("{}: {value}", in_camel_case(name)));
    }
    (!all.is_empty()).then(|| format!("{{ {} }}", all.join(", ")))
}

fn in_camel_case(name: &str) -> String {
    let mut parts = name.split('_');
    let mut camel = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (first, rest) = part.split_at(1);
        camel.push_str(&first.to_ascii_uppercase());
        camel.push_str(rest);
    }
    camel
}

/// The request without the package.
fn fetch_snippet(asked: &ExampleRequest<'_>) -> String {
    let address = match asked.url() {
        url if url.contains(RULE) => format!("`{}`", url.replace(RULE, "${alert}")),
        url => quote_text(&url),
    };
    let method = asked.operation.method();
    let mut told = Vec::new();
    if method != Method::Get {
        told.push(format!("  method: {},\n", quote_text(method.name())));
    }
    if asked.is_owned() {
        told.push("  headers: { authorization: `Bearer ${token}` },\n".to_owned());
    }
    if let Some(sent) = asked.sent() {
        told.push(format!("  body: JSON.stringify({}),\n", sent.replace('\n', "\n  ")));
    }
    let told = if told.is_empty() { String::new() } else { format!(", {{\n{}}}", told.concat()) };
    let read = match asked.operation.row().answer {
        Answer::Document(_) | Answer::Readiness => "json",
        Answer::Bytes(_) | Answer::Nothing => "text",
    };
    format!(
        "const response = await fetch({address}{told});\nconst answer = await response.{read}();"
    )
}

/// A stream, up to its first pool event.
fn stream(asked: &ExampleRequest<'_>) -> String {
    format!(
        "const response = await fetch({});\nlet answer = \"\";\n\
         for await (const part of response.body.pipeThrough(new TextDecoderStream())) {{\n  answer += part;\n  \
         if (answer.includes(\"event: pool\")) break;\n}}",
        quote_text(&asked.url())
    )
}
