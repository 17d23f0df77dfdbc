//! The accuracy of the estimates: every swap of the pool compared with its earlier estimate.

use core::fmt::Write;

use exitgap_api::operations::Operation;
use exitgap_client::ClientError;
use exitgap_core::ids::PoolId;
use leptos::prelude::*;

use super::figure_check::CheckedFigure;
use super::pool_decay::is_other_kind;
use crate::browser::download;
use crate::chart::{Dot, Line, LineChart, Scatter, format_fixed, parse_number};
use crate::document::Document;
use crate::parts::{Empty, FailureNotice, LiveQuery, LoadingNotice, Row, Table, number, words};
use crate::paths::Page;
use crate::service::client;
use crate::text;

/// Reasons why swaps were not compared: the field, and the text.
pub const NOT_COMPARED: [(&str, &str); 5] = [
    ("fills_incomplete", "a log is missing"),
    ("estimate_refused", "the pool could not fill that size at the slot"),
    ("two_sided", "both tokens were paid in, or paid out"),
    ("zero", "nothing was paid in, or paid out"),
    ("out_of_range", "the error is out of range"),
];

/// The heading of the swaps that agree with their estimate.
pub const EXACT: &str = "Exact to the raw unit";

/// The errors of many swaps: the field, and the heading.
pub const ERRORS: [(&str, &str); 5] = [
    ("abs_error_pct_q50", "Median"),
    ("abs_error_pct_q95", "95th percentile"),
    ("worst_pct", "Largest error"),
    ("worst_for_seller_pct", "Worst for the seller"),
    ("mean_error_pct", "Mean error (signed)"),
];

/// How many swaps received exactly the estimated amount, and how many ordered an output that agrees with the estimate.
pub fn agreeing(errors: &Document) -> String {
    let exact = format!("{} of {}", errors.count("exact_n"), errors.count("n"));
    match errors.count("bracketed_n") {
        0 => exact,
        _ => format!("{exact}, {}", bracketed(errors)),
    }
}

/// How many orders for an exact output agree within one raw unit.
pub fn bracketed(errors: &Document) -> String {
    match errors.count("bracketed_n") {
        1 => "1 order for an output within one raw unit".to_owned(),
        some => format!("{some} orders for an output within one raw unit"),
    }
}

/// The section.
#[component]
pub fn PoolAccuracy(
    /// The pool.
    pool: PoolId,
    /// Both tokens' symbols.
    symbols: [String; 2],
) -> impl IntoView {
    // An address may link directly to this section.
    let led = window().location().hash().is_ok_and(|hash| hash == "#accuracy");
    let (opened, set_opened) = signal(led);
    let section = NodeRef::<leptos::html::Section>::new();
    Effect::new(move |_| {
        if let Some(section) = section.get().filter(|_| led) {
            section.scroll_into_view();
        }
    });
    let of = StoredValue::new((pool, symbols));
    view! {
        <section id="accuracy" node_ref=section>
            <h2>"Estimate accuracy"</h2>
            <p class="quiet">
                "Each swap that the pool logged, compared with the estimates from the last snapshot before it and from older snapshots. \
                 All swaps are included. An error is the realized gap minus the estimated gap. Above zero, the swap filled worse than \
                 estimated. "
                <a href=Page::Accuracy.href()>"All pools"</a>
            </p>
            // The service replays every swap for this, so it is loaded only on demand.
            <details open=led on:toggle=move |_| set_opened.set(true)>
                <summary>"Show the record"</summary>
                <Show when=move || opened.get()><Record of=of.get_value()/></Show>
            </details>
        </section>
    }
}

/// The content, once it is open.
#[component]
fn Record(of: (PoolId, [String; 2])) -> impl IntoView {
    let (pool, symbols) = of;
    let record = LiveQuery::new(
        || (),
        move |()| {
            let (client, pool) = (client(), pool.clone());
            async move {
                let target = Operation::Accuracy.target_of(&pool);
                client.get_document::<Document>(&target).await
            }
        },
    );
    let retry = record.again();
    move || match record.answer(&()) {
        None => view! { <LoadingNotice what="all swaps"/> }.into_any(),
        Some(Err(error)) if is_other_kind(&error) => {
            let words = "Available only for pools that log swaps like Uniswap v2 and v3.";
            view! { <Empty words=words.to_owned()/> }.into_any()
        }
        Some(Err(error)) => render_failure(error, retry),
        Some(Ok(record)) => {
            view! { {render_record(&record, &symbols)}{render_figure_check(&record)} }.into_any()
        }
    }
}

fn render_failure(error: ClientError, retry: Callback<()>) -> AnyView {
    view! { <FailureNotice error=error retry=retry/> }.into_any()
}

/// A percentage in a document, exact.
pub fn percent(of: &Document, name: &str) -> String {
    of.text(name).map_or_else(|| "–".to_owned(), |error| text::percent(&error))
}

/// How many swaps were not compared, and why; empty if all were.
pub fn not_compared(record: &Document) -> String {
    let not = record.part("not_compared");
    let why = |(field, words): &(&str, &str)| {
        let count = not.as_ref().map_or(0, |not| not.count(field));
        (count > 0).then(|| format!("{count}: {words}"))
    };
    NOT_COMPARED.iter().filter_map(why).collect::<Vec<_>>().join("; ")
}

/// Renders the answer.
fn render_record(record: &Document, symbols: &[String; 2]) -> AnyView {
    let (from, to) = (record.text_or_none("from"), record.text_or_none("to"));
    let period = format!("{} to {}", text::instant(&from), text::instant(&to));
    let (swaps, compared) = (record.count("swaps"), record.count("compared"));
    let why = not_compared(record);
    let why = (!why.is_empty()).then(|| view! { <small>{why}</small> });
    let (stretches, incomplete) = (record.count("stretches"), record.count("stretches_incomplete"));
    let replayed = format!("{} of {stretches}", stretches.saturating_sub(incomplete));
    let short = (!record.is_true("enough")).then(|| {
        let judged = text::group_digits(&record.count("judged_slots").to_string());
        let words = format!(
            "Partial record: a full one needs 200 compared swaps and 2,016 judged slots (seven days). {judged} slots were judged."
        );
        view! { <p class="quiet">{words}</p> }
    });
    let csv = csv(record);
    let keep = move |_| download(csv.as_bytes(), "text/csv", "accuracy.csv");
    let drawn = (compared > 0)
        .then(|| view! { {against(record, symbols)}{fan(record)}{by_size(record, symbols)}{worst(record, symbols)} });
    view! {
        <dl class="facts">
            <div><dt>"Period"</dt><dd>{period}</dd></div>
            <div><dt>"Swaps logged"</dt><dd id="swaps">{text::group_digits(&swaps.to_string())}</dd></div>
            <div><dt>"Compared"</dt><dd id="compared">{text::group_digits(&compared.to_string())}{why}</dd></div>
            <div><dt>"Intervals whose replayed logs match the recorded state"</dt><dd>{replayed}</dd></div>
        </dl>
        {short}
        {drawn}
        <p class="actions">
            <button type="button" class="small" on:click=keep>"Download CSV"</button>
            <span class="quiet">"Recompute it from any node: "<code>"exitgap accuracy --rpc"</code></span>
        </p>
    }
    .into_any()
}

/// Recomputes the record from the file that the answer names.
fn render_figure_check(record: &Document) -> Option<impl IntoView + use<>> {
    let (service, url) = (client(), StoredValue::new(record.text("figure_url")?));
    let fetch = move || {
        let (client, url) = (service.clone(), url.get_value());
        async move { client.figure(Operation::AccuracyFile, &url).await }
    };
    Some(view! { <CheckedFigure at="check-accuracy" fetch=fetch/> })
}

/// The estimated and actual fills of the newest swaps.
fn against(record: &Document, symbols: &[String; 2]) -> AnyView {
    let dot = |swap: &Document| {
        let number = |name: &str| swap.text(name).as_deref().and_then(parse_number);
        let (estimated, error) = (number("estimated_gap_pct")?, number("error_pct")?);
        let realised = format_fixed(estimated + error, 6);
        let sold = text::usd(&swap.text_or_none("size_usd"));
        let (block, of) = (swap.count("block"), symbol(swap, symbols));
        let [guess, found] = [percent(swap, "estimated_gap_pct"), text::percent(&realised)];
        let said = format!("{sold} of {of} in block {block}: estimated {guess}, realized {found}");
        Some(Dot { across: estimated, up: estimated + error, said })
    };
    let dots: Vec<Dot> = record.list("newest").iter().filter_map(dot).collect();
    let title = format!("Realized and estimated gap of the newest {} swaps, %", dots.len());
    view! { <Scatter title=title dots=dots unit="%"/> }.into_any()
}

/// A chart of errors by the age of the estimate: the median, and the 95th percentile.
fn fan(record: &Document) -> AnyView {
    let ages: Vec<Document> =
        record.list("by_age").into_iter().filter(|age| age.count("n") > 0).collect();
    let place = |age: &Document| match age.count("older_slots") {
        0 => "last slot before".to_owned(),
        older => format!("{} older", text::age(older * 300)),
    };
    let values = |name: &str| -> Vec<Option<f64>> {
        ages.iter().map(|age| age.text(name).as_deref().and_then(parse_number)).collect()
    };
    let line = |words: &str, class, name: &str, others: Vec<Option<f64>>| Line {
        name: words.to_owned(),
        class,
        values: values(name),
        others,
        shown: ages.iter().map(|age| percent(age, name)).collect(),
    };
    let lines = vec![
        line("median error", "line-a", "abs_error_pct_q50", values("abs_error_pct_q95")),
        line("95th percentile", "line-c", "abs_error_pct_q95", Vec::new()),
    ];
    let title = "Absolute error by age of the estimate, %".to_owned();
    view! { <LineChart title=title places=ages.iter().map(place).collect() lines=lines unit="%"/> }
        .into_any()
}

fn symbol(of: &Document, symbols: &[String; 2]) -> String {
    symbols[usize::from(of.text_or_none("base") == "token1")].clone()
}

/// Errors by size and by the token that was sold.
fn by_size(record: &Document, symbols: &[String; 2]) -> AnyView {
    let row = |size: &Document| -> Row {
        let from = size.count("from_usd");
        let sizes = if from == 0 {
            "below $1".to_owned()
        } else {
            format!("{} to {}", text::usd(&from.to_string()), text::usd(&(from * 10).to_string()))
        };
        let cells = [agreeing(size)]
            .into_iter()
            .chain(ERRORS.map(|(name, _)| percent(size, name)))
            .map(IntoAny::into_any);
        (format!("{sizes} of {}", symbol(size, symbols)).into_any(), cells.collect())
    };
    let rows = record.list("by_size").iter().map(row).collect();
    let columns = [EXACT].into_iter().chain(ERRORS.map(|(_, words)| words)).map(number);
    view! { <Table caption="By size (estimate from the last snapshot)" first="Sold" columns=columns.collect() rows=rows/> }
        .into_any()
}

/// The largest errors in both directions.
fn worst(record: &Document, symbols: &[String; 2]) -> AnyView {
    let row = |swap: &Document| -> Row {
        let flags = swap.text_list("flags").join(", ").replace('_', " ");
        let agreement = swap.text_or_none("agreement");
        let cells = vec![
            format!("{} of {}", text::usd(&swap.text_or_none("size_usd")), symbol(swap, symbols))
                .into_any(),
            swap.text_or_none("estimated_out_raw").into_any(),
            swap.text_or_none("amount_out_raw").into_any(),
            percent(swap, "error_pct").into_any(),
            agreement.into_any(),
            flags.into_any(),
        ];
        let place = format!("block {}, log {}", swap.count("block"), swap.count("log_index"));
        let transaction = text::short_hash(&swap.text_or_none("transaction"));
        (view! { {place}<small>{transaction}</small> }.into_any(), cells)
    };
    let rows = record.list("worst").iter().map(row).collect();
    let columns = vec![
        number("Sold"),
        number("Estimated (raw units)"),
        number("Received (raw units)"),
        number("Error"),
        words("Agreement"),
        words("Flags"),
    ];
    view! { <Table caption="The largest errors" first="Swap" columns=columns rows=rows/> }
        .into_any()
}

/// One CSV line for each age and for each of the largest errors, with the file from which they can be recomputed.
fn csv(record: &Document) -> String {
    let from = ["fills_url", "figure_url"].map(|name| record.text_or_none(name)).join(",");
    let mut out = String::from(
        "of,n,exact_n,bracketed_n,abs_error_pct_q50,abs_error_pct_q95,worst_pct,worst_for_seller_pct,error_pct,\
         fills_url,figure_url\n",
    );
    for age in record.list("by_age") {
        let counted = ["n", "exact_n", "bracketed_n"];
        let fields = counted.into_iter().chain(ERRORS.map(|(name, _)| name));
        let fields = fields.map(|name| age.text_or_none(name)).collect::<Vec<_>>().join(",");
        let _ = writeln!(out, "{} slots older,{fields},{from}", age.count("older_slots"));
    }
    for swap in record.list("worst") {
        let (transaction, error) =
            (swap.text_or_none("transaction"), swap.text_or_none("error_pct"));
        let _ = writeln!(out, "{transaction},1,,,,,,,{error},{from}");
    }
    out
}
