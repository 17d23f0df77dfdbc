//! A portfolio's exits: individually, in total, and as a file.

use std::fmt::Write;

use exitgap_api::Status;
use exitgap_core::exit::{PortfolioPart, PortfolioTotal, worst_part};
use exitgap_core::units::Percent;
use leptos::prelude::*;

use super::portfolio_exits::{Exit, Sale};
use crate::browser::download;
use crate::parts::{PreviewNotice, Row, StatusTag, Table, exact, number};
use crate::paths::Page;
use crate::text;

/// The estimated exits of all positions.
#[component]
pub fn Exits(
    /// The exits.
    exits: Vec<Exit>,
    /// Retries what could not be read.
    retry: Callback<()>,
) -> impl IntoView {
    let sales: Vec<_> =
        exits.iter().filter_map(|exit| Some((exit, exit.outcome.as_ref().ok()?))).collect();
    let parts: Vec<_> = sales.iter().map(|(exit, sale)| sale.part(exit.size)).collect();
    let preview = sales.iter().any(|(_, sale)| sale.status == Status::Preview);
    let worst = worst_part(&parts).map(|index| worst_words(sales[index].0, sales[index].1));
    let unread = exits.len() - sales.len();
    let unread = (unread > 0).then(|| {
        view! {
            <section class="failed" role="alert">
                <p><strong>{format!("{unread} of {} exits could not be computed. The sums do not include them.", exits.len())}</strong></p>
                <button type="button" on:click=move |_| retry.run(())>"Try again"</button>
            </section>
        }
    });
    let csv = StoredValue::new(csv(&exits));
    let whole = unread.is_none();
    let body: Vec<_> = exits.into_iter().map(|exit| row(&exit)).collect();
    view! {
        <PreviewNotice shown=preview/>
        {unread}
        <Sums parts=parts whole=whole worst=worst/>
        <Table first="Exit" columns=["Size", "Exit gap"].map(number).into() rows=body/>
        <p class="actions"><button type="button" on:click=move |_| {
            download(csv.read_value().as_bytes(), "text/csv", "exits.csv");
        }>"Download CSV"</button></p>
    }
}

fn percent(gap: Option<Percent>) -> AnyView {
    let read = |gap: Percent| {
        let digits = gap.to_string();
        exact(text::percent_read(&digits), text::percent(&digits))
    };
    gap.map_or_else(|| "none".into_any(), read)
}

/// The sums over all exits.
#[component]
fn Sums(parts: Vec<PortfolioPart>, whole: bool, worst: Option<String>) -> impl IntoView {
    let total = PortfolioTotal::from_parts(&parts);
    let of_all = match total.gap {
        Some(_) if whole => percent(total.gap),
        Some(_) => "none: not every exit could be computed".into_any(),
        None if parts.is_empty() => "none: no exit could be computed".into_any(),
        None => {
            let unfilled = text::usd_cents(&total.unfilled.to_string());
            format!("none: {unfilled} cannot be filled").into_any()
        }
    };
    view! {
        <dl class="facts">
            <div><dt>"To sell"</dt><dd id="to-sell">{text::usd_cents(&total.size.to_string())}</dd></div>
            <div><dt>"Total gap"</dt><dd><b id="whole-gap">{of_all}</b></dd></div>
            <div><dt>"Gap of the part that can be filled"</dt><dd id="filled-gap">{percent(total.filled_gap)}</dd></div>
            <div><dt>"Worst exit"</dt><dd id="worst">{worst.unwrap_or_else(|| "none".to_owned())}</dd></div>
        </dl>
    }
}

fn worst_words(exit: &Exit, sale: &Sale) -> String {
    let how = match sale.gap(exit.size) {
        Some(gap) => text::percent_read(&gap.to_string()),
        None => "cannot be filled".to_owned(),
    };
    format!("{} in {}: {how}", sale.name(), exit.pool)
}

fn row(exit: &Exit) -> Row {
    let size = exit.size.to_string();
    let size = exact(text::usd_cents(&size), text::usd_exact(&size));
    let pool = text::short_pool(&exit.pool.to_string());
    let page = Page::Pool(exit.pool.to_string()).href();
    let sale = match &exit.outcome {
        Ok(sale) => sale,
        Err(error) => {
            let why = error.to_string();
            let heading =
                view! { <a href=page>{pool}</a><small class="standing warn">{why}</small> };
            let none = view! { <span class="none">"could not be computed"</span> };
            return (heading.into_any(), vec![size, none.into_any()]);
        }
    };
    // Without the size, because holdings are private.
    let href = format!("{page}?base={}", sale.base);
    let gap = match (sale.gap(exit.size), sale.filled_gap) {
        (Some(gap), _) => percent(Some(gap)),
        (None, Some(filled)) => {
            let most = format!(" for the {} that can", text::usd_cents(&sale.filled.to_string()));
            view! { "cannot be filled; "{percent(Some(filled))}{most} }.into_any()
        }
        (None, None) => "cannot be filled".into_any(),
    };
    let problem = sale.problem.as_ref().map(|problem| {
        view! { <small class="standing warn">{text::grouped_within(&problem.detail)}</small> }
    });
    let stale = sale.oracle_stale.then(|| view! { <span class="tag warn">"stale oracle"</span> });
    let closed = sale.closed.clone();
    let closed = closed.map(|note| view! { <span class="tag warn">"market closed: "{note}</span> });
    let slot = format!("slot {}, {} old", text::instant(&sale.slot), text::age(sale.age_s));
    let heading = view! {
        <a href=href>{sale.name()}</a>" "<StatusTag status=sale.status/>{stale}{closed}
        <small>{pool}", "{slot}</small>{problem}
    };
    (heading.into_any(), vec![size, gap])
}

/// Symbols are untrusted text: quotation marks are doubled, and a cell never begins like a formula.
fn cell(text: &str) -> String {
    let text = text.replace('"', "\"\"");
    let guard = if text.starts_with(['=', '+', '-', '@', '\t', '\r']) { "'" } else { "" };
    format!("\"{guard}{text}\"")
}

fn csv(exits: &[Exit]) -> String {
    let mut out = String::from(
        "pool,base,base_symbol,status,slot,size_usd,exit_gap_pct,filled_usd,filled_gap_pct,problem\n",
    );
    for Exit { pool, size, outcome } in exits {
        let _ = match outcome {
            Ok(sale) => {
                let digits =
                    |gap: Option<Percent>| gap.map_or_else(String::new, |gap| gap.to_string());
                let status = match sale.status {
                    Status::Live => "live",
                    Status::Preview => "preview",
                };
                let problem = sale.problem.as_ref().map_or("", |problem| &problem.detail);
                writeln!(
                    out,
                    "{pool},{},{},{status},{},{size},{},{},{},{}",
                    sale.base,
                    cell(&sale.symbols[0]),
                    sale.slot,
                    digits(sale.gap(*size)),
                    sale.filled,
                    digits(sale.filled_gap),
                    cell(problem)
                )
            }
            Err(error) => writeln!(out, "{pool},,,,,{size},,,,{}", cell(&error.to_string())),
        };
    }
    out
}
