//! A pool whose market closes: whether it is open, and how the closures of the last weeks affected depth and gap.

use core::fmt::Write;

use exitgap_api::operations::Operation;
use exitgap_api::operations::parameters::{BASE, STANDARD_SIZE};
use exitgap_api::{History, Interval, RowOrder};
use exitgap_client::{ClientError, HistoryOf};
use exitgap_core::evidence::Base;
use exitgap_core::ids::PoolId;
use exitgap_core::units::SizeUsd;
use leptos::prelude::*;

use super::exit_wait::market;
use super::figure_check::CheckedFigure;
use super::pool::base_name;
use crate::browser::download;
use crate::chart::{Line, LineChart, Mark, MarkNote, parse_number};
use crate::document::Document;
use crate::parts::{
    FailureNotice, LiveQuery, LoadingNotice, Row, Table, link_evidence, number, words,
};
use crate::paths::evidence_href;
use crate::service::client;
use crate::text;

/// The hours of the strip: a week.
const STRIP: usize = 168;

/// A closure: its beginning and end, both RFC 3339, and its kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Closure {
    closed_at: String,
    opens_at: String,
    kind: String,
}

impl Closure {
    /// The closures of an hours document.
    fn from_hours(told: &Document) -> Vec<Self> {
        let closure = |one: &Document| Self {
            closed_at: one.text_or_none("closed_at"),
            opens_at: one.text_or_none("opens_at"),
            kind: one.text_or_none("closure_kind"),
        };
        told.list("closures").iter().map(closure).collect()
    }

    /// The mark of a row that begins at this instant, if it is inside a closure. Instants of the same format are
    /// ordered like their texts.
    pub fn mark(closures: &[Self], time: &str) -> Option<MarkNote> {
        let within = |one: &&Self| one.closed_at.as_str() <= time && time < one.opens_at.as_str();
        let found = closures.iter().find(within)?;
        Some(MarkNote { mark: Mark::Closed, words: format!("market closed: {}", found.kind) })
    }
}

/// Requests the hours of a pool.
pub async fn hours(pool: PoolId, base: usize, size: SizeUsd) -> Result<Document, ClientError> {
    let target = Operation::Hours.target_of(&pool).with(&STANDARD_SIZE, size);
    client().get_document(&target.with(&BASE, base_name(base))).await
}

/// The closures of a pool; empty if they are not available, so that the chart is drawn all the same.
pub async fn closures(pool: PoolId, base: usize) -> Vec<Closure> {
    let told = hours(pool, base, SizeUsd::STANDARD[2]).await;
    told.map(|told| Closure::from_hours(&told)).unwrap_or_default()
}

/// The section for a pool with a calendar.
#[component]
pub fn PoolHours(
    /// The pool.
    pool: PoolId,
    /// The token that is sold.
    base: Memo<usize>,
) -> impl IntoView {
    let size = SizeUsd::STANDARD[2];
    let found = LiveQuery::new(
        move || base.get(),
        move |base| {
            let (pool, client) = (pool.clone(), client());
            let sold = Some(if base == 0 { Base::Token0 } else { Base::Token1 });
            let told = hours(pool.clone(), base, size);
            async move {
                let told = told.await?;
                let (from, to, interval, cursor) = (None, None, Interval::Hour, None);
                let order = RowOrder::Ascending;
                let of = HistoryOf { pool, base: sold, size, interval, order, from, to, cursor };
                Ok::<_, ClientError>((told, client.history(&of).await?))
            }
        },
    );
    let retry = found.again();
    view! {
        <section id="hours">
            <h2>"Market hours"</h2>
            {move || match found.answer(&base.get()) {
                None => view! { <LoadingNotice what="the market's hours"/> }.into_any(),
                Some(Err(error)) => view! { <FailureNotice error=error retry=retry/> }.into_any(),
                Some(Ok((told, history))) => view! { {market(&told)}{strip(&told, &history)}{render_closures(&told)}{render_figure_check(&told)} }.into_any(),
            }}
        </section>
    }
}

/// Recomputes the closures from the file that the answer names.
fn render_figure_check(told: &Document) -> Option<impl IntoView + use<>> {
    let (service, url) = (client(), StoredValue::new(told.text("figure_url")?));
    let fetch = move || {
        let (client, url) = (service.clone(), url.get_value());
        async move { client.figure(Operation::HoursFile, &url).await }
    };
    Some(view! { <CheckedFigure at="check-hours" fetch=fetch/> })
}

/// The last week, hour by hour: the lowest depth, with closures shaded.
fn strip(told: &Document, history: &History) -> AnyView {
    let rows = &history.rows[history.rows.len().saturating_sub(STRIP)..];
    let closures = Closure::from_hours(told);
    let depth = |row: &exitgap_api::HistoryRow| {
        row.lowest_depth.as_ref().map(|point| point.depth_usd.as_str().to_owned())
    };
    let line = Line {
        name: "lowest depth at 2% in the hour".to_owned(),
        class: "line-a",
        values: rows.iter().map(|row| depth(row).as_deref().and_then(parse_number)).collect(),
        others: Vec::new(),
        shown: rows
            .iter()
            .map(|row| depth(row).map_or_else(String::new, |usd| text::usd(&usd)))
            .collect(),
    };
    let missing = |row: &exitgap_api::HistoryRow| {
        let words = "missing".to_owned();
        (row.slots_recorded == 0).then_some(MarkNote { mark: Mark::Missing, words })
    };
    let marks = rows
        .iter()
        .map(|row| Closure::mark(&closures, &row.time).into_iter().chain(missing(row)).collect())
        .collect();
    let places = rows.iter().map(|row| text::instant(&row.time)).collect();
    let title = "Depth at 2% over the last week (USD), closures shaded".to_owned();
    view! { <LineChart title=title places=places lines=vec![line] unit="" marks=marks/> }.into_any()
}

/// Each closure, with the price at reopening.
fn render_closures(told: &Document) -> AnyView {
    let row = |one: &Document| -> Row {
        let gap = one.text("reopening_gap_pct");
        let href = one.text("evidence_url").as_deref().and_then(evidence_href);
        let gap = match gap {
            Some(gap) => link_evidence(text::percent(&gap), href),
            None => "not known".into_any(),
        };
        let depth =
            one.text("depth_usd_lowest").map_or_else(|| "–".to_owned(), |usd| text::usd(&usd));
        let cells = vec![
            one.text_or_none("closure_kind").into_any(),
            text::instant(&one.text_or_none("opens_at")).into_any(),
            depth.into_any(),
            gap,
        ];
        (text::instant(&one.text_or_none("closed_at")).into_any(), cells)
    };
    let closures = told.list("closures");
    let rows = closures.iter().rev().map(row).collect();
    let columns =
        vec![words("Kind"), words("Opened"), number("Lowest depth at 2%"), number("Reopening gap")];
    let csv = csv(told);
    let keep = move |_| download(csv.as_bytes(), "text/csv", "closures.csv");
    view! {
        <details><summary>{format!("All {} closures", closures.len())}</summary>
            <p class="quiet">"A reopening gap is the loss from selling in the last closed slot, compared with the first fresh price after it."</p>
            <Table first="Closed" columns=columns rows=rows/>
            <button type="button" class="small" on:click=keep>"Download CSV"</button>
        </details>
    }
    .into_any()
}

/// One CSV line per closure, with the evidence of its fill and of the whole figure.
fn csv(told: &Document) -> String {
    let figure = told.text_or_none("figure_url");
    let fields = [
        "closed_at",
        "opens_at",
        "closure_kind",
        "slots_recorded",
        "depth_usd_lowest",
        "reopening_gap_pct",
        "last_closed_slot",
        "reopened_slot",
        "evidence_url",
    ];
    let mut out = format!("{},figure_url\n", fields.join(","));
    for closure in told.list("closures") {
        let line = fields.map(|name| closure.text(name).unwrap_or_default()).join(",");
        let _ = writeln!(out, "{line},{figure}");
    }
    out
}
