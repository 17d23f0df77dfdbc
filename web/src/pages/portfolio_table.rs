//! A portfolio's exits and plans: individually, in total, and as a file.

use std::fmt::Write;

use exitgap_api::Status;
use exitgap_api::operations::Operation;
use exitgap_core::exit::{PortfolioPart, PortfolioTotal, worst_part};
use exitgap_core::units::{Percent, UsdMicros};
use leptos::prelude::*;

use super::cash_plan::{ShownPlan, tokens};
use super::portfolio_exits::{Exit, Found, Sale, Unsold};
use crate::browser::download;
use crate::document::Document;
use crate::parts::{PreviewNotice, Row, StatusTag, Table, exact, number};
use crate::paths::Page;
use crate::text;

/// What all positions bring.
#[component]
pub fn Exits(
    /// The exits and plans.
    found: Found,
    /// Retries what could not be read.
    retry: Callback<()>,
) -> impl IntoView {
    let Found { exits, tokens } = found;
    let (planned, failed) = match tokens {
        Some(Ok(planned)) => (Some(planned), None),
        Some(Err(error)) => (None, Some(error)),
        None => (None, None),
    };
    let (plans, unsold) = planned.map(|found| (found.plans, found.unsold)).unwrap_or_default();
    let sales: Vec<_> =
        exits.iter().filter_map(|exit| Some((exit, exit.outcome.as_ref().ok()?))).collect();
    let of_pools: Vec<_> = sales.iter().map(|(exit, sale)| sale.part(exit.size)).collect();
    let preview = sales.iter().any(|(_, sale)| sale.status == Status::Preview)
        || plans.iter().any(is_preview);
    let worst = worst_part(&of_pools).map(|index| worst_words(sales[index].0, sales[index].1));
    let kept = unsold.iter().map(|one| match one.problem {
        None => PortfolioPart { size: one.size, filled: one.size, gap: Some(Percent(0)) },
        Some(_) => PortfolioPart { size: one.size, filled: UsdMicros(0), gap: None },
    });
    let parts: Vec<_> =
        of_pools.into_iter().chain(plans.iter().map(plan_part)).chain(kept).collect();
    let unread = exits.len() - sales.len();
    let whole = unread == 0 && failed.is_none();
    let unread = (unread > 0).then(|| {
        format!(
            "{unread} of {} exits could not be computed. The sums do not include them.",
            exits.len()
        )
    });
    let failed = failed
        .map(|error| format!("No plan for your tokens: {error}. The sums do not include them."));
    let failures: Vec<_> = unread.into_iter().chain(failed).collect();
    let failures = (!failures.is_empty()).then(|| {
        let lines = failures
            .into_iter()
            .map(|line| view! { <p><strong>{text::grouped_within(&line)}</strong></p> });
        view! {
            <section class="failed" role="alert">
                {lines.collect_view()}
                <button type="button" on:click=move |_| retry.run(())>"Try again"</button>
            </section>
        }
    });
    let csv = StoredValue::new(csv(&exits, &plans, &unsold));
    let body: Vec<_> = exits.into_iter().map(|exit| row(&exit)).collect();
    let table = (!body.is_empty())
        .then(|| view! { <Table first="Exit" columns=["Size", "Exit gap"].map(number).into() rows=body/> });
    view! {
        <PreviewNotice shown=preview/>
        {failures}
        <Sums parts=parts whole=whole worst=worst/>
        {plans.iter().map(render_plan).collect_view()}
        {unsold.iter().map(render_unsold).collect_view()}
        {table}
        <p class="actions"><button type="button" on:click=move |_| {
            download(csv.read_value().as_bytes(), "text/csv", "exits.csv");
        }>"Download CSV"</button></p>
    }
}

fn is_preview(plan: &Document) -> bool {
    let status = plan.part("result").and_then(|result| result.text("status"));
    status.is_some_and(|status| status == "preview")
}

/// A plan as a part of the portfolio.
fn plan_part(plan: &Document) -> PortfolioPart {
    let micros = |name: &str| {
        let digits = plan.text_or_none(name);
        let micros = exitgap_core::units::parse_scaled(&digits, 6, false).ok();
        micros.and_then(|micros| u64::try_from(micros).ok()).unwrap_or_default()
    };
    let (size, unfilled) = (micros("size_usd"), micros("unfilled_usd"));
    let gap = plan.part("result").and_then(|result| result.text("exit_gap_pct"));
    let gap = gap.and_then(|gap| Percent::parse(&gap).ok());
    PortfolioPart { size: UsdMicros(size), filled: UsdMicros(size.saturating_sub(unfilled)), gap }
}

/// The tokens that a plan sells, in words.
fn sold(plan: &Document) -> String {
    let symbol = |one: &Document| Some(one.part("token")?.text_or_none("symbol"));
    let symbols: Vec<String> = plan.list("sold").iter().filter_map(symbol).collect();
    symbols.join(" and ")
}

fn render_plan(plan: &Document) -> AnyView {
    let chain = plan.text_or_none("chain");
    let heading = format!("{} on {chain}", sold(plan));
    let none = plan.text("cash").is_some().then(|| {
        view! { <p class="standing warn">"No cash tokens are configured for this chain, so the sale may end in any token."</p> }
    });
    let problem = plan.part("problem").map(|problem| {
        let left = text::usd_cents(&plan.text_or_none("unfilled_usd"));
        let why = text::grouped_within(&problem.text_or_none("detail"));
        view! { <p class="standing warn">{format!("{left} cannot be filled: {why}.")}</p> }
    });
    let amounts = plan
        .list("sold")
        .into_iter()
        .map(|one| tokens(&one, "amount_in_raw", "token", text::tokens_read));
    let amounts = format!("Sells {}.", amounts.collect::<Vec<_>>().join(" and "));
    let slot = plan.text_or_none("slot_time");
    let age = text::age(plan.count("snapshot_age_s"));
    let recorded = format!("Recorded in slot {}, {age} old.", text::instant(&slot));
    let tags = plan.part("result").map(|result| {
        let stale = result.text("oracle_state").is_some_and(|state| state == "stale");
        let stale = stale.then(|| view! { <span class="tag warn">"stale oracle"</span>" " });
        let closed = (!result.is_true("market_open")).then(|| {
            let note = result.text_or_none("session_note");
            view! { <span class="tag warn">"market closed: "{note}</span>" " }
        });
        let inexact = result.text("inexact_detail");
        let inexact = inexact.map(|why| view! { <span class="tag warn">{why}</span> });
        view! { <p>{stale}{closed}{inexact}</p> }
    });
    let left_out = plan.list("left_out").into_iter().map(|one| {
        let (pool, why) = (text::short_pool(&one.text_or_none("pool")), one.text_or_none("detail"));
        view! { <li>{format!("{pool}: {why}")}</li> }
    });
    let left_out: Vec<_> = left_out.collect();
    let left_out = (!left_out.is_empty())
        .then(|| view! { <p class="quiet">"Pools that take no part:"</p><ul class="quiet">{left_out}</ul> });
    let result = plan.part("result").map(|result| {
        let not_counted = plan.text_list("not_counted");
        let (file, id) = (Operation::PortfolioFile, format!("plan-{chain}"));
        ShownPlan { plan: &result, not_counted, file, id }.render()
    });
    view! {
        <section class="plan">
            <h2>{heading}</h2>
            {none}
            <p class="quiet">{format!("{amounts} {recorded}")}</p>
            {tags}
            {problem}
            {result}
            {left_out}
        </section>
    }
    .into_any()
}

fn render_unsold(Unsold { token, size, problem }: &Unsold) -> AnyView {
    let token = text::short_pool(&token.replacen('/', ":", 1));
    let size = text::usd_cents(&size.to_string());
    match problem {
        None => view! { <p class="quiet">{format!("{size} of {token} is cash already and is not sold.")}</p> }
            .into_any(),
        Some(problem) => view! { <p class="standing warn">{format!("{size} of {token} cannot be sold: {problem}.")}</p> }
            .into_any(),
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
            <div><dt>"Total size"</dt><dd id="to-sell">{text::usd_cents(&total.size.to_string())}</dd></div>
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

fn csv(exits: &[Exit], plans: &[Document], unsold: &[Unsold]) -> String {
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
    for plan in plans {
        let part = plan_part(plan);
        let result = plan.part("result");
        let status = result.and_then(|result| result.text("status")).unwrap_or_default();
        let gap = part.gap.map_or_else(String::new, |gap| gap.to_string());
        let whole = if part.filled == part.size { gap.as_str() } else { "" };
        let problem = plan.part("problem").map(|problem| problem.text_or_none("detail"));
        let _ = writeln!(
            out,
            "{},,{},{status},{},{},{whole},{},{gap},{}",
            cell(&format!("plan on {}", plan.text_or_none("chain"))),
            cell(&sold(plan)),
            plan.text_or_none("slot_time"),
            part.size,
            part.filled,
            cell(&problem.unwrap_or_default())
        );
    }
    for Unsold { token, size, problem } in unsold {
        let _ = match problem {
            None => writeln!(out, "{},,,,,{size},0,{size},0,", cell(&format!("cash: {token}"))),
            Some(problem) => writeln!(out, "{},,,,,{size},,0,,{}", cell(token), cell(problem)),
        };
    }
    out
}
