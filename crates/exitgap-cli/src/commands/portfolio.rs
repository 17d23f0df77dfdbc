//! `exitgap portfolio`: sells several positions at once.

use std::io::Write;
use std::process::ExitCode;

use exitgap_api::operations::{Operation, PortfolioAsked};
use exitgap_api::{Number, Portfolio, PortfolioExit, Status, invalid_parameter, size_as_written};

use super::print_json;
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
    let mut asked: PortfolioAsked = question(Operation::Portfolio, given)?;
    asked.guards = args.source.guards()?;
    let told = args.source.ask(
        async |client| client.portfolio(&asked.positions).await,
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
    let mut table =
        Columns::new(&["<exit", "<sells", "USD", "gap %", "unfilled", "<evidence or error"]);
    for (place, exit) in told.exits.iter().enumerate() {
        let worst = u32::try_from(place).is_ok_and(|place| place == told.worst_exit);
        table.row(cells(exit, worst));
    }
    Ok(write!(out, "\n{table}")?)
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
