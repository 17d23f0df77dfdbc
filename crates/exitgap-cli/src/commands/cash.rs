//! `exitgap cash`: one sale that ends in cash, and how far any other way could be better.

use std::io::Write;
use std::process::ExitCode;

use exitgap_api::operations::{CashAsked, FigureOf, Operation};
use exitgap_api::{CashExit, CashPlan, Status, TokenLabel, size_as_written};

use super::{not_exact, print_json, write_file};
use crate::arguments::CashArgs;
use crate::failure::Failure;
use crate::format::{Columns, group_digits, printable, tokens};
use crate::recorded_source::question;
use crate::source::unreadable;

pub fn run(args: &CashArgs, json: bool) -> Result<ExitCode, Failure> {
    let asked = parse_args(args)?;
    let cash = args.source.ask(
        async |client| client.cash(&asked).await,
        async |service| service.cash(&asked).await,
    )?;
    if let Some(path) = &args.file {
        let url = &cash.evidence_url;
        let unread =
            || unreadable(format!("{} is not the address of a figure file", printable(url)));
        let of = FigureOf::from_url(url).ok_or_else(unread)?;
        let bytes = args.source.ask(
            async |client| client.figure_file(&of).await,
            async |service| Ok(service.figure_file_of(&of).await?.bytes.to_vec()),
        )?;
        return write_file(path, &bytes);
    }
    if json { print_json(&cash) } else { print_text(&cash) }?;
    Ok(ExitCode::SUCCESS)
}

fn parse_args(args: &CashArgs) -> Result<CashAsked, Failure> {
    let size = args.size_usd.as_deref().map(size_as_written).transpose()?;
    let size = size.map(|size| size.to_string());
    let mut named = args.token.splitn(2, '/').map(str::to_owned);
    let (chain, token) = (named.next(), named.next());
    let given = [
        ("chain", chain.as_ref()),
        ("token", token.as_ref()),
        ("size_usd", size.as_ref()),
        ("amount", args.amount.as_ref()),
        ("into", Some(&args.into)),
        ("tolerance_pct", Some(&args.tolerance_pct)),
        ("gas_usd", args.gas_usd.as_ref()),
        ("at", args.at.as_ref()),
    ];
    let asked: CashAsked = question(Operation::Cash, given)?;
    Ok(CashAsked { guards: args.source.guards()?, ..asked })
}

/// Raw units as whole tokens, with the symbol.
pub(super) fn whole(units: &str, token: &TokenLabel) -> String {
    format!("{} {}", tokens(units, token.decimals), printable(&token.symbol))
}

fn print_text(cash: &CashExit) -> Result<(), Failure> {
    let mut out = anstream::stdout().lock();
    let CashExit { plan, token, .. } = cash;
    let (size, sold) = (group_digits(plan.size_usd.as_str()), whole(&cash.amount_in_raw, token));
    writeln!(out, "Selling {sold} ({size} USD) on {} for {}", cash.chain, printable(&cash.into))?;
    if cash.cash.is_some() {
        writeln!(out, "ANY TOKEN  no cash is configured for this chain; name tokens with --into")?;
    }
    if plan.status == Status::Preview {
        writeln!(out, "PREVIEW  not a live chain; do not rely on these figures")?;
    }
    if let Some(line) = not_exact(&cash.exactness) {
        writeln!(out, "{line}")?;
    }
    let mut line = |name: &str, text: String| writeln!(out, "{name:<16}{text}");
    line("received", format!("{} USD", group_digits(plan.received_usd.as_str())))?;
    for received in &plan.received {
        let amount = whole(&received.amount_out_raw, &received.token);
        let least = whole(&received.amount_out_min_raw, &received.token);
        let tolerance = &plan.tolerance_pct;
        line("", format!("{amount}; at least {least}, {tolerance}% less"))?;
    }
    line("exit gap", against_oracle(plan))?;
    line("optimality", optimality(plan))?;
    if let Some((gas, after)) = plan.gas_usd.as_ref().zip(plan.received_after_gas_usd.as_ref()) {
        line("gas", format!("{gas} USD, your assumption; {after} USD are left"))?;
    }
    write!(out, "{}", legs(plan))?;
    let mut line = |name: &str, text: String| writeln!(out, "{name:<16}{text}");
    for left_out in &cash.left_out {
        let (pool, code) = (printable(&left_out.pool), printable(&left_out.code));
        line("left out", format!("{pool}: {code}, {}", printable(&left_out.detail)))?;
    }
    let not_counted: Vec<String> = cash.not_counted.iter().map(|one| printable(one)).collect();
    line("not counted", not_counted.join("; "))?;
    line("oracle", format!("{} USD for one {}", cash.oracle_price_usd, printable(&token.symbol)))?;
    line(
        "recorded",
        format!("slot {}, {} s old", printable(&cash.slot_time), cash.snapshot_age_s),
    )?;
    line("observed", format!("{} days, the fewest of all legs", cash.days_observed))?;
    let market = if cash.market_open { "open" } else { "CLOSED" };
    line("market", format!("{market} ({})", printable(&cash.session_note)))?;
    line("method", printable(&plan.method_version))?;
    Ok(line("evidence", printable(&cash.evidence_url))?)
}

/// The gap in words. Positive is worse than the oracle.
pub(super) fn against_oracle(plan: &CashPlan) -> String {
    let gap = plan.exit_gap_pct.as_str();
    let (gap, side) = gap.strip_prefix('-').map_or((gap, "worse"), |gap| (gap, "better"));
    format!("{gap}% {side} than the oracle")
}

/// The sales of a plan, in their order.
pub(super) fn legs(plan: &CashPlan) -> Columns {
    let mut table = Columns::new(&["<leg", "<sold", "<bought", "<pool"]);
    for leg in &plan.legs {
        table.row(vec![
            printable(&leg.name),
            whole(&leg.amount_in_raw, &leg.sold),
            whole(&leg.amount_out_raw, &leg.bought),
            printable(&leg.pool),
        ]);
    }
    table
}

pub(super) fn optimality(plan: &CashPlan) -> String {
    match &plan.optimality_gap_pct {
        Some(bound) => {
            format!("no other route through the pools that count is better by more than {bound}%")
        }
        None => "not bounded: the law of a pool is not known".to_owned(),
    }
}
