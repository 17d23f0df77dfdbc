//! `exitgap routes`: a token's venues, each alone and in an optimal split.

use std::io::Write;

use exitgap_api::operations::{Operation, RoutesAsked};
use exitgap_api::{BestSplit, Routes, Status, size_as_written};

use super::print_json;
use crate::arguments::RoutesArgs;
use crate::failure::Failure;
use crate::format::{Columns, group_digits, printable};
use crate::recorded_source::question;

pub fn run(args: &RoutesArgs, json: bool) -> Result<(), Failure> {
    let asked = parse_args(args)?;
    let routes = args.source.ask(
        async |client| client.recomputed_routes(&asked).await,
        async |service| service.routes(&asked).await,
    )?;
    if json { print_json(&routes) } else { print_text(&routes) }
}

fn parse_args(args: &RoutesArgs) -> Result<RoutesAsked, Failure> {
    let size = size_as_written(&args.size_usd)?.to_string();
    let mut named = args.token.splitn(2, '/').map(str::to_owned);
    let (chain, token) = (named.next(), named.next());
    let given = [
        ("chain", chain.as_ref()),
        ("token", token.as_ref()),
        ("size_usd", Some(&size)),
        ("fixed_cost_usd", Some(&args.fixed_cost_usd)),
        ("quote_group", args.quote_group.as_ref()),
        ("at", args.at.as_ref()),
    ];
    let asked: RoutesAsked = question(Operation::Routes, given)?;
    Ok(RoutesAsked { guards: args.source.guards()?, ..asked })
}

fn print_text(routes: &Routes) -> Result<(), Failure> {
    let mut out = anstream::stdout().lock();
    let Routes { split, token, .. } = routes;
    let size = group_digits(split.size_usd.as_str());
    writeln!(out, "Selling {size} USD of {} on {}", printable(&token.symbol), routes.chain)?;
    if split.status == Status::Preview {
        writeln!(out, "PREVIEW  not a live chain; do not rely on these figures")?;
    }
    writeln!(out, "{:<16}{}% below the oracle, all legs together", "exit gap", split.exit_gap_pct)?;
    let optimality = match &split.optimality_gap_pct {
        Some(bound) => format!("no other split improves on this by more than {bound}%"),
        None => "not bounded: the best venue is not part of the split".to_owned(),
    };
    writeln!(out, "{:<16}{optimality}", "optimality")?;
    print_legs(&mut out, split)?;
    print_alone(&mut out, split)?;
    for left_out in &split.left_out {
        let (pool, code) = (printable(&left_out.pool), printable(&left_out.code));
        writeln!(out, "{:<16}{pool}: {code}, {}", "left out", printable(&left_out.detail))?;
    }
    let (slot, age) = (printable(&routes.slot_time), routes.snapshot_age_s);
    writeln!(out, "{:<16}slot {slot}, {age} s old", "recorded")?;
    writeln!(out, "{:<16}{} days, the fewest of all legs", "observed", routes.days_observed)?;
    if let Some(detail) = &routes.inexact_detail {
        writeln!(out, "{:<16}{}", "not exact", printable(detail))?;
    }
    let market = if routes.market_open { "open" } else { "CLOSED" };
    writeln!(out, "{:<16}{market} ({})", "market", printable(&routes.session_note))?;
    writeln!(out, "{:<16}{}", "method", printable(&split.method_version))?;
    for leg in &split.legs {
        if let Some(url) = &leg.evidence_url {
            writeln!(out, "{:<16}{}", "evidence", printable(url))?;
        }
    }
    Ok(())
}

fn print_legs(out: &mut impl Write, split: &BestSplit) -> Result<(), Failure> {
    let mut table = Columns::new(&["<split over", "<for", "size USD", "gap %", "<pool"]);
    for leg in &split.legs {
        table.row(vec![
            printable(&leg.name),
            printable(&leg.quote.symbol),
            group_digits(leg.size_usd.as_str()),
            leg.exit_gap_pct.to_string(),
            printable(&leg.pool),
        ]);
    }
    Ok(write!(out, "{table}")?)
}

fn print_alone(out: &mut impl Write, split: &BestSplit) -> Result<(), Failure> {
    let mut table = Columns::new(&["<alone", "gap %", "largest fill USD", "<pool"]);
    for venue in &split.alone {
        let gap = venue.exit_gap_pct.as_ref().map(ToString::to_string);
        let most = venue.max_fillable_usd.as_ref().map(|most| group_digits(most.as_str()));
        table.row(vec![
            printable(&venue.name),
            gap.or_else(|| venue.code.as_deref().map(printable)).unwrap_or_default(),
            most.unwrap_or_default(),
            printable(&venue.pool),
        ]);
    }
    Ok(write!(out, "{table}")?)
}
