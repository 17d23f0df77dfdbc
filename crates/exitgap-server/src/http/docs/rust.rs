//! Renders an example request as Rust with the crate `exitgap-client`.

use exitgap_api::Interval;
use exitgap_api::operations::{Answer, Operation};

use super::example_request::{ExampleRequest, quote_text};

/// The first lines of every snippet.
pub fn before(api: &str) -> String {
    format!("{IMPORTS}\n\nlet client = Client::new(Native::new()?, {}.parse()?);", quote_text(api))
}

/// The imports of the snippets.
pub const IMPORTS: &str = "use std::time::Duration;\n\n\
    use exitgap_api::operations::parameters::{ALERT_KIND, ALERT_PCT, ALERT_SIZE, SLOT};\n\
    use exitgap_api::operations::{\n    \
        AccuracyAsked, CashAsked, DecayAsked, EquityAsked, EvidenceOf, ExportAsked, ExposureAsked,\n    \
        Given, Method, Operation, PortfolioAsked, Question, RoutesAsked, VenueStressAsked,\n};\n\
    use exitgap_api::{AlertsTold, Interval, RowOrder};\n\
    use exitgap_client::{Client, HistoryOf, Native, Request};\n\
    use exitgap_core::exit::OrderPlan;\n\
    use exitgap_core::ids::Code;\n\
    use exitgap_core::series::Slot;\n\
    use exitgap_core::units::Percent;";

/// The request; the snippet assigns its answer to `answer`.
pub fn snippet(asked: &ExampleRequest<'_>) -> String {
    if asked.operation == Operation::Stream {
        return stream(asked);
    }
    let (before, call) = call(asked);
    format!("{before}let answer = client.{call}.await?;")
}

/// The statements before the call, and the call.
fn call(asked: &ExampleRequest<'_>) -> (String, String) {
    use Operation as O;
    let pool = || parse_expr(asked.in_path("pool"));
    let sale = |name: &str, what: &str| {
        let (base, at) = (option_expr(asked, "base"), option_expr(asked, "at"));
        format!("{name}(&{}, {}, {base}, {at})", pool(), param_expr(asked, what))
    };
    let (operation, calls) = (asked.operation, asked.operation.row().calls);
    let name = format!("{operation:?}");
    if operation.is_figure_file() {
        return (String::new(), figure(asked, &name));
    }
    if !calls.rust.is_empty() {
        return question(asked, &name, calls.rust);
    }
    let call = match operation {
        O::Pools => "pools(None, None)".to_owned(),
        O::Exit => sale("exit", "size_usd"),
        O::MaxSize => sale("max_size", "gap_pct"),
        O::Redemption => sale("redemption", "size_usd"),
        O::Simulation => return orders(asked),
        O::Ladder => {
            format!(
                "ladder(&{}, {}, {})",
                pool(),
                option_expr(asked, "base"),
                option_expr(asked, "at")
            )
        }
        O::History => return (series(asked), "history(&of)".to_owned()),
        O::Stress => {
            return (
                series(asked),
                format!("stress(&of, Some({}))", param_expr(asked, "limit_pct")),
            );
        }
        O::When => return (series(asked), "when_to_sell(&of)".to_owned()),
        O::Hours => return (series(asked), "hours(&of)".to_owned()),
        O::Fragility => {
            format!("fragility(None, None, None, Some({}), None)", given(asked, "limit"))
        }
        O::Portfolio => return question(asked, "Portfolio", "portfolio"),
        O::Capabilities => "capabilities()".to_owned(),
        O::Payments => "payments()".to_owned(),
        O::Evidence => return evidence(asked),
        O::Window => format!("window(&{}, {})", pool(), slot(asked)),
        O::SlotStatus => format!("slot_status(&{}, {})", pool(), slot(asked)),
        O::StateProof => format!("state_proof(&{}, {})", pool(), slot(asked)),
        O::Snapshot => format!("snapshot_documents({})", parse_expr(asked.in_path("hash"))),
        O::Log => "checkpoint()".to_owned(),
        O::Snapshots => format!("series(&{}, {})", pool(), slot(asked)),
        O::Fills => format!("fills(&{}, {})", pool(), slot(asked)),
        O::Shocks => "shocks()".to_owned(),
        O::Equities => "equities()".to_owned(),
        O::AccuracyTable => "accuracy_table(None, None)".to_owned(),
        O::AlertsOf => return rule(asked),
        O::State => bytes(asked, "State", asked.in_path("hash")),
        O::Issued => bytes(asked, "Issued", asked.in_path("pool")),
        O::Livez => bytes(asked, "Livez", ""),
        O::Readyz => bytes(asked, "Readyz", ""),
        O::Metrics => bytes(asked, "Metrics", ""),
        O::KeepAlert => {
            let rule = asked.sent().unwrap_or_default();
            let rule = format!("let rule = serde_json::from_str(r#\"{rule}\"#)?;\n");
            return (rule, "keep_alert(&rule, None)".to_owned());
        }
        O::Alerts => "kept_alerts(token)".to_owned(),
        O::Alert => "kept_alert(alert, token)".to_owned(),
        O::EndAlert => "end_alert(alert, token)".to_owned(),
        O::AlertEvents => "alert_events(alert, 0, 100, token)".to_owned(),
        O::AskEndpoint => "ask_webhook(alert, token)".to_owned(),
        O::RotateKeys => "rotate_keys(alert, token)".to_owned(),
        O::SendAgain => {
            let from = asked.body.map_or(0, |body| body["from_seq"].as_u64().unwrap_or_default());
            format!("send_again(alert, {from}, token)")
        }
        O::StreamTicket => "stream_ticket(token)".to_owned(),
        // A stream is read event by event; the other operations are handled above.
        _ => String::new(),
    };
    (String::new(), call)
}

/// An expression that parses a text.
fn parse_expr(text: &str) -> String {
    format!("{}.parse()?", quote_text(text))
}

fn given<'a>(asked: &'a ExampleRequest<'_>, name: &str) -> &'a str {
    asked.query_value(name).unwrap_or_default()
}

fn param_expr(asked: &ExampleRequest<'_>, name: &str) -> String {
    parse_expr(given(asked, name))
}

/// An optional parameter, as an expression for its text.
fn option_expr(asked: &ExampleRequest<'_>, name: &str) -> String {
    asked
        .query_value(name)
        .map_or("None".to_owned(), |value| format!("Some({})", quote_text(value)))
}

fn slot(asked: &ExampleRequest<'_>) -> String {
    let number = asked.query_value("slot").unwrap_or_else(|| asked.in_path("slot"));
    format!("Slot::new({})?", group_digits(number))
}

/// An integer with Rust's digit separators.
fn group_digits(number: &str) -> String {
    let mut text = String::new();
    for (place, digit) in number.chars().enumerate() {
        if place > 0 && (number.len() - place).is_multiple_of(3) && number.len() > 5 {
            text.push('_');
        }
        text.push(digit);
    }
    text
}

fn orders(asked: &ExampleRequest<'_>) -> (String, String) {
    let (size, parts) = (param_expr(asked, "size_usd"), given(asked, "orders"));
    let plan = format!("let plan = OrderPlan::new({size}, {parts}, Percent(0), 0)?;\n");
    (plan, format!("simulate(&{}, &plan, None, None)", parse_expr(asked.in_path("pool"))))
}

/// A request for a series with the client.
fn series(asked: &ExampleRequest<'_>) -> String {
    let interval = match asked.query_value("interval").and_then(Interval::from_code) {
        None | Some(Interval::FiveMinutes) => "FiveMinutes",
        Some(Interval::Hour) => "Hour",
        Some(Interval::Day) => "Day",
    };
    format!(
        "let of = HistoryOf {{\n    pool: {},\n    size: {},\n    interval: Interval::{interval},\n    order: RowOrder::Ascending,\n    base: None,\n    \
         from: None,\n    to: None,\n    cursor: None,\n}};\n",
        parse_expr(asked.in_path("pool")),
        param_expr(asked, "size_usd"),
    )
}

fn evidence(asked: &ExampleRequest<'_>) -> (String, String) {
    let of = format!("let of = EvidenceOf::from_url(\n    {},\n);\n", quote_text(&asked.url()));
    (of, "evidence(&of.ok_or(\"no evidence_url\")?)".to_owned())
}

/// A request whose parameters are parsed from its path and query, in the same way as in the service.
fn question(asked: &ExampleRequest<'_>, operation: &str, function: &str) -> (String, String) {
    let parts: Vec<&str> = asked.named.iter().map(|(_, part)| *part).collect();
    let path = match parts.as_slice() {
        [] => "None".to_owned(),
        parts => format!("Some({})", quote_text(&parts.join("/"))),
    };
    let query = asked.target.split_once('?').map_or("", |(_, query)| query);
    let of = format!(
        "let of = Given::from_url(\n    Operation::{operation}.row().parameters,\n    {path},\n    {},\n)?;\n",
        quote_text(query)
    );
    (of, format!("{function}(&{operation}Asked::from_parameters(&of)?)"))
}

fn figure(asked: &ExampleRequest<'_>, operation: &str) -> String {
    format!("figure(\n    Operation::{operation},\n    {},\n)", quote_text(&asked.url()))
}

/// A request that backtests a rule: the client reads its document by the table of operations.
fn rule(asked: &ExampleRequest<'_>) -> (String, String) {
    let target = format!(
        "let target = Operation::AlertsOf\n    .target_of({})\n    .with(&ALERT_KIND, {})\n    \
         .with(&ALERT_SIZE, {})\n    .with(&ALERT_PCT, {});\n",
        quote_text(asked.in_path("pool")),
        quote_text(given(asked, "kind")),
        quote_text(given(asked, "size_usd")),
        quote_text(given(asked, "pct")),
    );
    (target, "get_document::<AlertsTold>(&target)".to_owned())
}

/// A request whose answer is not a document and that has no function of its own.
fn bytes(asked: &ExampleRequest<'_>, operation: &str, named: &str) -> String {
    let target = match named {
        "" => "target()".to_owned(),
        named => format!("target_of({})", quote_text(named)),
    };
    let slot = asked
        .query_value("slot")
        .map(|slot| format!(".with(&SLOT, {})", group_digits(slot)))
        .unwrap_or_default();
    let media_type = match asked.operation.row().answer {
        Answer::Bytes(media_type) => media_type,
        Answer::Document(_) | Answer::Readiness | Answer::Nothing => "application/json",
    };
    format!(
        "bytes(\n    &Operation::{operation}.{target}{slot},\n    {},\n    4 << 20,\n)",
        quote_text(media_type)
    )
}

/// A stream, up to its first event.
fn stream(asked: &ExampleRequest<'_>) -> String {
    let target = asked.target;
    format!(
        "let request = Request {{\n    method: Method::Get,\n    body: Vec::new(),\n    \
         url: format!(\"{{}}{target}\", client.base()),\n    accept: \"text/event-stream\",\n    \
         timeout: Duration::from_secs(30),\n    max_bytes: 1 << 20,\n    fresh: true,\n    \
         headers: Vec::new(),\n}};\nlet mut stream = client.transport().open(&request).await?;\n\
         let answer = stream.piece().await?;"
    )
}
