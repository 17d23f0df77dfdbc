//! One pool of a tokenized stock: its statistics, as charts side by side and as tables, with the file that proves them.

use core::fmt::Write;

use exitgap_api::operations::Operation;
use leptos::prelude::*;

use super::figure_check::CheckedFigure;
use crate::browser::download;
use crate::chart::{Bar, Bars, parse_number};
use crate::document::Document;
use crate::parts::{Row, Table, number, words};
use crate::paths::Page;
use crate::service::client;
use crate::text;

/// The sessions in the charts; the others are only in the table.
const DRAWN: [&str; 3] = ["regular", "after", "weekend"];

/// The fields of a session's row: name of the column, field, and whether it is in dollars.
const FIELDS: [(&str, &str, bool); 7] = [
    ("Median depth", "depth_usd_q50", true),
    ("Lowest depth", "depth_usd_lowest", true),
    ("Median gap", "exit_gap_pct_q50", false),
    ("95th percentile gap", "exit_gap_pct_q95", false),
    ("Widest gap", "exit_gap_pct_worst", false),
    ("Median discount to last close", "basis_to_last_close_pct_q50", false),
    ("Largest deviation from last close", "basis_to_last_close_pct_worst", false),
];

/// The section of a pool, at its position on the page.
pub fn vector(place: usize, pool: &Document, size: &str) -> AnyView {
    let id = pool.text_or_none("pool");
    let sessions = pool.list("sessions");
    let [from, to] = ["from", "to"].map(|field| text::instant(&pool.text_or_none(field)));
    let short = (!pool.is_true("enough")).then(|| {
        let count = |field: &str| pool.count(field).to_string();
        let words = format!(
            "Not enough data for statistics: {} of {} regular sessions and {} of {} weekends are recorded.",
            count("have_regular_sessions"),
            count("needed_regular_sessions"),
            count("have_weekends"),
            count("needed_weekends"),
        );
        view! { <p class="refused" role="status">{words}</p> }
    });
    let counted = format!(
        "{from} to {to}: {} slots, {} missing, {} while trading was paused or before a multiplier change, {} without contract data.",
        text::group_digits(&pool.count("slots_recorded").to_string()),
        text::group_digits(&pool.count("slots_missing").to_string()),
        text::group_digits(&pool.count("slots_corporate_action").to_string()),
        text::group_digits(&pool.count("slots_without_facts").to_string()),
    );
    let csv = csv(pool, &sessions);
    let keep = move |_| download(csv.as_bytes(), "text/csv", "share.csv");
    view! {
        <section class="card">
            <h3><a href=Page::Pool(id).href()>{pool.text_or_none("name")}</a></h3>
            <p class="quiet">{counted}</p>
            {short}
            {unseen(pool)}
            {pictures(&sessions, size)}
            {table(&sessions)}
            {reopenings(pool)}
            {events(pool)}
            <p class="actions"><button type="button" class="small" on:click=keep>"Download CSV"</button></p>
            {render_figure_check(place, pool)}
        </section>
    }
    .into_any()
}

/// The balance changes that a pool may not have noticed.
fn unseen(pool: &Document) -> Option<impl IntoView + use<>> {
    let reason = pool.text("inexact_because")?;
    let short =
        pool.part("balance").map(|balance| balance.count("slots_short")).filter(|count| *count > 0);
    let short = short.map(|count| {
        let slots = text::group_digits(&count.to_string());
        format!(
            " In {slots} slots the pool held less than a purchase of this size would pay out, so it would revert."
        )
    });
    let words = match reason.as_str() {
        "balances_change_unseen" => {
            "Balances of this token can change without the pool noticing.".to_owned()
        }
        other => other.replace('_', " "),
    };
    Some(view! { <p class="standing warn">{words}{short}</p> })
}

/// Charts of the same measures while open, after hours and on weekends, compared with the open session.
fn pictures(sessions: &[Document], size: &str) -> Option<AnyView> {
    let drawn = || {
        DRAWN
            .iter()
            .filter_map(|name| sessions.iter().find(|one| one.text_or_none("session") == *name))
    };
    let bars = |field: &'static str, class: &'static str, shown: fn(&str) -> String| -> Vec<Bar> {
        let bar = |one: &Document| {
            let value = one.text(field);
            Bar {
                name: one.text_or_none("session"),
                value: value.as_deref().and_then(parse_number),
                class,
                shown: value.map_or_else(|| "not known".to_owned(), |value| shown(&value)),
            }
        };
        drawn().map(bar).collect()
    };
    let depth = bars("depth_usd_q50", "line-a", text::usd);
    let gap = bars("exit_gap_pct_q95", "line-c", text::percent_read);
    let is_known = |bars: &[Bar]| bars.iter().any(|bar| bar.value.is_some());
    (is_known(&depth) || is_known(&gap)).then(|| {
        view! {
            <div class="pair">
                <Bars title="Median depth by session; dashed line: while the exchange is open".to_owned() bars=depth/>
                <Bars title=format!("95th percentile gap at {size} by session; dashed line: while the exchange is open") bars=gap/>
            </div>
        }
        .into_any()
    })
}

/// A table of every session.
fn table(sessions: &[Document]) -> AnyView {
    let row = |one: &Document| -> Row {
        let refused = one.count("slots_refused");
        let slots = text::group_digits(&one.count("slots").to_string());
        let slots =
            if refused == 0 { slots } else { format!("{slots}, {refused} could not be filled") };
        let value = |field: &str, is_usd: bool| {
            let shown = if is_usd { text::usd } else { text::percent_read };
            one.text(field).map_or_else(|| "–".to_owned(), |value| shown(&value)).into_any()
        };
        let cells = FIELDS.iter().map(|(_, field, is_usd)| value(field, *is_usd));
        let cells = core::iter::once(slots.into_any()).chain(cells).collect();
        (one.text_or_none("session").into_any(), cells)
    };
    let rows = sessions.iter().map(row).collect();
    let columns = core::iter::once("Slots")
        .chain(FIELDS.iter().map(|(name, ..)| *name))
        .map(number)
        .collect();
    view! { <Table class="sessions" first="Session" columns=columns rows=rows/> }.into_any()
}

/// The prices at reopenings.
fn reopenings(pool: &Document) -> Option<AnyView> {
    let told = pool.list("reopening");
    if told.is_empty() {
        return None;
    }
    let row = |one: &Document| -> Row {
        let percent = |field: &str| {
            one.text(field)
                .map_or_else(|| "–".to_owned(), |part| text::percent_read(&part))
                .into_any()
        };
        let cells = vec![
            one.count("closures").to_string().into_any(),
            percent("reopening_gap_pct_q50"),
            percent("reopening_gap_pct_worst"),
        ];
        (one.text_or_none("closure_kind").into_any(), cells)
    };
    let rows = told.iter().map(row).collect();
    let columns =
        vec![number("Closures"), number("Median reopening gap"), number("Worst reopening gap")];
    Some(view! { <Table first="Closure" columns=columns rows=rows/> }.into_any())
}

/// The events of the tokenized stock.
fn events(pool: &Document) -> Option<AnyView> {
    let told = pool.list("events");
    if told.is_empty() {
        return None;
    }
    let row = |one: &Document| -> Row {
        let part = |field: &str| one.text(field).unwrap_or_else(|| "–".to_owned()).into_any();
        let due = one.text("effective_at").map_or_else(|| "–".to_owned(), |at| text::instant(&at));
        let cells = vec![
            one.text_or_none("event").replace('_', " ").into_any(),
            part("from_raw"),
            part("to_raw"),
            due.into_any(),
        ];
        (text::instant(&one.text_or_none("slot_time")).into_any(), cells)
    };
    let rows = told.iter().rev().map(row).collect();
    let columns = vec![
        words("Event"),
        number("Multiplier before (raw)"),
        number("Multiplier after (raw)"),
        words("Effective at"),
    ];
    let count = told.len();
    let view = view! {
        <details><summary>{format!("Corporate actions: {count}")}</summary>
            <Table first="Slot" columns=columns rows=rows/>
        </details>
    };
    Some(view.into_any())
}

/// Recomputes the statistics from the file that the answer names.
fn render_figure_check(place: usize, pool: &Document) -> Option<impl IntoView + use<>> {
    let (service, url) = (client(), StoredValue::new(pool.text("figure_url")?));
    let fetch = move || {
        let (client, url) = (service.clone(), url.get_value());
        async move { client.figure(Operation::EquityFile, &url).await }
    };
    Some(view! { <CheckedFigure at=format!("check-sessions-{place}") fetch=fetch/> })
}

/// One CSV line per session, with the file that proves the whole figure.
fn csv(pool: &Document, sessions: &[Document]) -> String {
    let names = FIELDS.map(|(_, field, _)| field).join(",");
    let mut out = format!("pool,session,slots,slots_refused,{names},figure_url\n");
    let [id, figure] = ["pool", "figure_url"].map(|field| pool.text_or_none(field));
    for one in sessions {
        let [session, slots, refused] =
            ["session", "slots", "slots_refused"].map(|field| one.text(field).unwrap_or_default());
        let line = FIELDS.map(|(_, field, _)| one.text(field).unwrap_or_default()).join(",");
        let _ = writeln!(out, "{id},{session},{slots},{refused},{line},{figure}");
    }
    out
}
