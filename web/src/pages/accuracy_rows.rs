//! The rows of the accuracy table, for the page and for download.

use exitgap_api::Status;
use leptos::prelude::*;

use super::accuracy::why_not;
use super::pool_accuracy::{ERRORS, NOT_COMPARED, bracketed, not_compared, percent};
use crate::document::Document;
use crate::parts::{Row, StatusTag};
use crate::paths::Page;
use crate::text;

/// The status of a record's figures: preview, unless it says that they are live.
pub fn status(record: &Document) -> Status {
    if record.text_or_none("status") == "live" { Status::Live } else { Status::Preview }
}

/// A row for each pool, with its record or the reason why there is none.
pub fn rows(pools: &[Document], names: &[(String, String)]) -> Vec<Row> {
    let row = |pool: &Document| -> Row {
        let id = pool.text_or_none("pool");
        let called = names.iter().find(|(pool, _)| *pool == id).map(|(_, name)| name.clone());
        let name = called.or_else(|| pool.text("name")).unwrap_or_else(|| text::short_pool(&id));
        let record = pool.part("record");
        let tag = record.as_ref().map(|record| view! { <StatusTag status=status(record)/> });
        // A pool's page opens its record if the address names it.
        let href = format!("{}#accuracy", Page::Pool(id.clone()).href());
        let heading =
            view! { <a href=href>{name}</a>" "{tag}<small>{text::short_pool(&id)}</small> };
        let cells = if let Some(record) = &record {
            cells(record)
        } else {
            let why = why_not(&pool.text_or_none("why_not"));
            vec![view! { <span class="none">{why}</span> }.into_any()]
        };
        (heading.into_any(), cells)
    };
    pools.iter().map(row).collect()
}

/// The cells of a record.
fn cells(record: &Document) -> Vec<AnyView> {
    let grouped = |name: &str| text::group_digits(&record.count(name).to_string());
    let why = not_compared(record);
    let why = (!why.is_empty()).then(|| view! { <small>{why}</small> });
    let outputs =
        (record.count("bracketed_n") > 0).then(|| view! { <small>{bracketed(record)}</small> });
    let stretches = record.count("stretches");
    let whole = stretches.saturating_sub(record.count("stretches_incomplete"));
    let short = (!record.is_true("enough")).then(|| view! { <small>"partial record"</small> });
    let until = text::instant(&record.text_or_none("until"));
    let days = format!("{} days observed", record.text_or_none("days_observed"));
    let file = record.text_or_none("figure_url");
    if record.count("swaps") == 0 {
        return vec![
            view! {
                "No swaps were logged. "<a href=file rel="external">"figure file"</a>
                <small>{format!("computed {until}; {days}")}</small>
            }
            .into_any(),
        ];
    }
    let mut cells = vec![
        view! { {format!("{} of {}", grouped("compared"), grouped("swaps"))}{why}{short} }
            .into_any(),
        view! { {format!("{} of {}", grouped("exact_n"), grouped("n"))}{outputs} }.into_any(),
    ];
    cells.extend(ERRORS.map(|(name, _)| render_error(record, name)));
    cells.push(
        format!("{} of {}", text::group_digits(&whole.to_string()), grouped("stretches"))
            .into_any(),
    );
    cells.push(view! { {until}<small>{days}</small> }.into_any());
    cells.push(view! { <a href=file rel="external">"figure file"</a> }.into_any());
    cells
}

/// A rounded error, with the exact value on hover.
fn render_error(record: &Document, name: &str) -> AnyView {
    let shown =
        record.text(name).map_or_else(|| "–".to_owned(), |error| text::percent_read(&error));
    view! { <span title=percent(record, name)>{shown}</span> }.into_any()
}

/// One CSV line per pool: everything in its row, and the file from which it can be recomputed.
pub fn csv(pools: &[Document]) -> String {
    let counted = ["from", "to", "until", "status", "enough", "days_observed", "swaps", "compared"];
    let told = [
        "n",
        "exact_n",
        "bracketed_n",
        "abs_error_pct_q50",
        "abs_error_pct_q95",
        "worst_pct",
        "worst_for_seller_pct",
        "mean_error_pct",
        "stretches",
        "stretches_incomplete",
        "slots_waiting",
        "accuracy_url",
        "figure_url",
    ];
    let not = NOT_COMPARED.map(|(field, _)| field);
    let head = ["pool", "why_not"].iter().chain(&counted).chain(&not).chain(&told);
    let mut out = head.copied().collect::<Vec<_>>().join(",") + "\n";
    for pool in pools {
        let record = pool.part("record");
        let field = |name: &&str| match &record {
            Some(record) if *name == "enough" => record.is_true("enough").to_string(),
            Some(record) => record.text_or_none(name),
            None => String::new(),
        };
        let apart = record.as_ref().and_then(|record| record.part("not_compared"));
        let of_apart =
            |name: &&str| apart.as_ref().map_or_else(String::new, |of| of.text_or_none(name));
        let line = [pool.text_or_none("pool"), pool.text_or_none("why_not")].into_iter();
        let line = line.chain(counted.iter().map(field)).chain(not.iter().map(of_apart));
        out.push_str(&line.chain(told.iter().map(field)).collect::<Vec<_>>().join(","));
        out.push('\n');
    }
    out
}
