//! Renders an example request as Python with the package `exitgap`.

use exitgap_api::operations::{Answer, Method, Operation};

use super::example_request::{ExampleRequest, RULE, quote_text};

/// How the package makes the request.
enum Way {
    /// A function that takes the variable part of the path, and all other parameters by name.
    Function(&'static str),
    /// A function that takes the complete URL.
    At(&'static str),
    /// No specific function: the generic one that reads any document by its operation.
    Read,
    /// No function of the package: the standard library.
    Open,
}

fn way(operation: Operation) -> Way {
    let row = operation.row();
    // Owners' operations need a token, which the package cannot send.
    let is_owned = row.refusals.contains(&401);
    let is_document = matches!(row.answer, Answer::Document(_));
    let is_read = row.method == Method::Get && is_document && !is_owned;
    match row.calls.python {
        "" if is_read => Way::Read,
        "" => Way::Open,
        name if operation.is_figure_file() || operation == Operation::Evidence => Way::At(name),
        name => Way::Function(name),
    }
}

/// The first lines of every snippet.
pub fn before(api: &str) -> String {
    format!(
        "import json\nfrom urllib.request import Request, urlopen\n\nimport exitgap\n\nclient = exitgap.Client({})",
        quote_text(api)
    )
}

/// The request; the snippet assigns its answer to `answer`.
pub fn snippet(asked: &ExampleRequest<'_>) -> String {
    let call = match way(asked.operation) {
        Way::Open if asked.operation == Operation::Stream => return stream(asked),
        Way::Open => return urlopen_snippet(asked),
        Way::At(name) => format!("{name}(\n    {}\n)", quote_text(&asked.url())),
        Way::Function(name) => format!("{name}({})", arguments(asked, None)),
        Way::Read => format!("read({})", arguments(asked, Some(asked.operation.row().id))),
    };
    format!("answer = client.{call}")
}

/// The arguments: the variable part of the path, after `first`, and all other parameters by name.
fn arguments(asked: &ExampleRequest<'_>, first: Option<&str>) -> String {
    let named = asked.named.iter().map(|(_, part)| *part);
    let mut all: Vec<String> = first.into_iter().chain(named).map(quote_text).collect();
    for name in asked.names() {
        let (values, repeated) = asked.query_values(name);
        let values: Vec<String> =
            values.into_iter().map(|value| asked.literal(name, value)).collect();
        let values = values.join(", ");
        let values = if repeated { format!("[{values}]") } else { values };
        all.push(format!("{name}={values}"));
    }
    all.join(", ")
}

/// The request without the package.
fn urlopen_snippet(asked: &ExampleRequest<'_>) -> String {
    let address = match asked.url() {
        url if url.contains(RULE) => format!("f{}", quote_text(&url.replace(RULE, "{alert}"))),
        url => quote_text(&url),
    };
    let method = asked.operation.method();
    let mut told = Vec::new();
    if method != Method::Get {
        told.push(format!("    method={},\n", quote_text(method.name())));
    }
    if asked.is_owned() {
        told.push("    headers={\"authorization\": f\"Bearer {token}\"},\n".to_owned());
    }
    if let Some(sent) = asked.sent() {
        told.push(format!("    data=json.dumps({}).encode(),\n", sent.replace('\n', "\n    ")));
    }
    let request = match told.as_slice() {
        [] => String::new(),
        told => format!("request = Request(\n    {address},\n{})\n", told.concat()),
    };
    let opened = if told.is_empty() { address } else { "request".to_owned() };
    let read = match asked.operation.row().answer {
        Answer::Document(_) | Answer::Readiness => "json.load(response)",
        Answer::Bytes(_) | Answer::Nothing => "response.read()",
    };
    format!("{request}with urlopen({opened}) as response:\n    answer = {read}")
}

/// A stream, up to its first pool event.
fn stream(asked: &ExampleRequest<'_>) -> String {
    format!(
        "answer = []\nwith urlopen({}) as response:\n    for line in response:\n        answer.append(line.decode())\n        \
         if line.startswith(b\"event: pool\"):\n            break",
        quote_text(&asked.url())
    )
}
