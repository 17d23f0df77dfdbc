//! `exitgap portfolio`: sells several positions at once.

use std::io::Write;
use std::process::ExitCode;

use exitgap_api::operations::{Operation, PortfolioAsked};
use exitgap_api::{
    Number, OracleState, Portfolio, PortfolioExit, PortfolioPlan, Status, invalid_parameter,
    size_as_written,
};

use super::cash::{against_oracle, legs, optimality, whole};
use super::{not_exact, print_json};
use crate::arguments::PortfolioArgs;
use crate::failure::Failure;
use crate::format::{Columns, group_digits, printable};
use crate::recorded_source::question;

pub fn run(args: &PortfolioArgs, json: bool) -> Result<ExitCode, Failure> {
    let positions: Vec<String> = args
        .positions
        .iter()
        .map(|position| normalize_position(position))
        .collect::<Result<_, _>>()?;
    let given = positions.iter().map(|position| ("position", Some(position)));
    let given =
        given.chain([("into", Some(&args.into)), ("tolerance_pct", Some(&args.tolerance_pct))]);
    let mut asked: PortfolioAsked = question(Operation::Portfolio, given)?;
    asked.guards = args.source.guards()?;
    let told = args.source.ask(
        async |client| client.portfolio(&asked).await,
        async |service| service.portfolio(&asked).await,
    )?;
    if json { print_json(&told) } else { print_text(&told) }?;
    Ok(ExitCode::SUCCESS)
}

/// A position in the syntax of an address: the size, as people write it, comes last.
fn normalize_position(position: &str) -> Result<String, Failure> {
    let Some((held, size)) = position.rsplit_once(':') else {
        let detail = format!("position: {:?} has no size", printable(position));
        let hint =
            "write a position as <pool>:<size>, <pool>/<base>:<size> or <chain>/<token>:<size>";
        return Err(invalid_parameter("position", &detail, hint).into());
    };
    Ok(format!("{held}:{}", size_as_written(size)?))
}

fn print_text(told: &Portfolio) -> Result<(), Failure> {
    let mut out = anstream::stdout().lock();
    let total = &told.total;
    let number = |gap: &Option<Number>| {
        gap.as_ref().map_or("none; a part cannot be filled".to_owned(), |gap| format!("{gap}%"))
    };
    writeln!(out, "Selling {} USD at once", group_digits(total.size_usd.as_str()))?;
    if total.status == Status::Preview {
        writeln!(out, "PREVIEW  not a live chain; do not rely on these figures")?;
    }
    writeln!(out, "gap       {}", number(&total.exit_gap_pct))?;
    writeln!(out, "unfilled  {} USD", group_digits(total.unfilled_usd.as_str()))?;
    if let (None, Some(gap)) = (&total.exit_gap_pct, &total.filled_gap_pct) {
        writeln!(out, "filled    {gap}% on the part that can be filled")?;
    }
    if !told.exits.is_empty() {
        let mut table =
            Columns::new(&["<exit", "<sells", "USD", "gap %", "unfilled", "<evidence or error"]);
        for (place, exit) in told.exits.iter().enumerate() {
            let is_worst = told.worst_exit.is_some_and(|worst| worst as usize == place);
            table.row(cells(exit, is_worst));
        }
        write!(out, "\n{table}")?;
    }
    for position in told.positions.iter().filter(|position| position.is_cash) {
        let token = position.token.as_deref().unwrap_or_default();
        writeln!(out, "\n{} is cash already and is not sold", printable(token))?;
    }
    for position in &told.positions {
        let Some(problem) = &position.problem else { continue };
        let token = position.token.as_deref().unwrap_or_default();
        let size = group_digits(position.size_usd.as_str());
        writeln!(
            out,
            "\n{} ({size} USD) is not sold: {}",
            printable(token),
            printable(&problem.detail)
        )?;
    }
    told.plans.iter().try_for_each(|plan| print_plan(&mut out, plan))
}

/// One plan: what is sold, what it brings, and its legs.
fn print_plan(out: &mut impl Write, plan: &PortfolioPlan) -> Result<(), Failure> {
    writeln!(out, "\nOne plan for {} on {}", printable(&plan.into), printable(&plan.chain))?;
    if plan.cash.is_some() {
        writeln!(out, "ANY TOKEN  no cash is configured for this chain; name tokens with --into")?;
    }
    for sold in &plan.sold {
        let (size, amount) = (&sold.size_usd, whole(&sold.amount_in_raw, &sold.token));
        let (size, price) = (group_digits(size.as_str()), &sold.oracle_price_usd);
        writeln!(out, "sells     {amount}; held: {size} USD at {price} USD each")?;
    }
    if let Some(problem) = &plan.problem {
        let unfilled = group_digits(plan.unfilled_usd.as_str());
        writeln!(out, "unfilled  {unfilled} USD: {}", printable(&problem.detail))?;
    }
    let Some(result) = &plan.result else { return Ok(()) };
    if let Some(line) = not_exact(&result.exactness) {
        writeln!(out, "{line}")?;
    }
    let found = &result.plan;
    writeln!(out, "receives  {} USD", group_digits(found.received_usd.as_str()))?;
    for received in &found.received {
        let amount = whole(&received.amount_out_raw, &received.token);
        let least = whole(&received.amount_out_min_raw, &received.token);
        writeln!(out, "          {amount}; at least {least}, {}% less", found.tolerance_pct)?;
    }
    writeln!(out, "gap       {}; {}", against_oracle(found), optimality(found))?;
    write!(out, "{}", legs(found))?;
    for left_out in &plan.left_out {
        let (pool, detail) = (printable(&left_out.pool), printable(&left_out.detail));
        writeln!(out, "left out  {pool}: {detail}")?;
    }
    let not_counted: Vec<String> = plan.not_counted.iter().map(|one| printable(one)).collect();
    writeln!(out, "not counted  {}", not_counted.join("; "))?;
    writeln!(out, "recorded  slot {}, {} s old", printable(&plan.slot_time), plan.snapshot_age_s)?;
    let market = if result.market_open { "open" } else { "CLOSED" };
    writeln!(out, "market    {market} ({})", printable(&result.session_note))?;
    if result.oracle_state == OracleState::Stale {
        writeln!(out, "oracle    STALE: an answer is older than its heartbeat")?;
    }
    Ok(writeln!(out, "evidence  {}", printable(&result.evidence_url))?)
}

fn cells(exit: &PortfolioExit, worst: bool) -> Vec<String> {
    let mark = if worst { ", the worst" } else { "" };
    let gap = exit
        .result
        .as_ref()
        .map_or("none".to_owned(), |one| one.answer.figures.exit_gap_pct.to_string());
    let proof = exit.result.as_ref().and_then(|one| one.evidence_url.as_deref());
    let why = exit.problem.as_ref().map(|problem| problem.detail.as_str());
    vec![
        format!("{}{mark}", printable(&exit.pool)),
        printable(&exit.base),
        group_digits(exit.size_usd.as_str()),
        gap,
        group_digits(exit.unfilled_usd.as_str()),
        printable(proof.or(why).unwrap_or("-")),
    ]
}
