//! `exitgap hours`: compares open and closed markets.

use exitgap_core::analytics::hours::HoursTerms;
use std::io::Write;
use std::process::ExitCode;

use exitgap_api::operations::{HoursAsked, HoursFileAsked, Operation};
use exitgap_api::{HoursSpread, MarketHours, Number};
use exitgap_client::HistoryOf;

use super::{print_json, write_file};
use crate::arguments::HoursArgs;
use crate::failure::{Failure, too_little_recorded};
use crate::format::{Columns, group_digits, printable};
use crate::recorded_source::question;

pub fn run(args: &HoursArgs, json: bool) -> Result<ExitCode, Failure> {
    let asked = parse_args(args)?;
    if let Some(path) = &args.file {
        let bytes = args.source.ask(
            async |client| client.hours_file(&HistoryOf::from(&asked.series)).await,
            async |service| {
                let asked = HoursFileAsked { series: asked.series.clone() };
                Ok(service.figure_file::<HoursTerms>(asked).await?.bytes.to_vec())
            },
        )?;
        return write_file(path, &bytes);
    }
    let hours = args.source.ask(
        async |client| client.hours(&HistoryOf::from(&asked.series)).await,
        async |service| service.hours(asked.clone()).await,
    )?;
    if json { print_json(&hours) } else { print_text(&hours) }?;
    Ok(if hours.enough { ExitCode::SUCCESS } else { too_little_recorded() })
}

fn parse_args(args: &HoursArgs) -> Result<HoursAsked, Failure> {
    let given = [
        ("pool", Some(&args.pool)),
        ("size_usd", Some(&args.size_usd)),
        ("base", args.base.as_ref()),
    ];
    let mut asked: HoursAsked = question(Operation::Hours, given)?;
    asked.series.guards = args.source.guards()?;
    Ok(asked)
}

fn print_text(hours: &MarketHours) -> Result<(), Failure> {
    let mut out = anstream::stdout().lock();
    let MarketHours { of, .. } = hours;
    writeln!(
        out,
        "Selling {} in {} at {} USD",
        of.base,
        of.pool,
        group_digits(of.size_usd.as_str())
    )?;
    let market = if hours.market_open { "open" } else { "CLOSED" };
    let note = printable(&hours.session_note);
    writeln!(out, "{:<16}{market} ({note}) at {}", "market", printable(&hours.block_time))?;
    let closure = hours.closure_kind.as_deref().unwrap_or("closure");
    let lasts = hours.closure_length_s.map_or_else(String::new, |s| format!(" of {}", time(s)));
    if let Some(opens_in_s) = hours.opens_in_s {
        writeln!(out, "{:<16}in {}, after a {closure}{lasts}", "opens", time(opens_in_s))?;
    }
    if let Some(closes_in_s) = hours.closes_in_s {
        writeln!(out, "{:<16}in {}, for a {closure}{lasts}", "closes", time(closes_in_s))?;
    }
    if hours.thin_when_closed == Some(true) {
        writeln!(out, "{:<16}half of the depth is missing during a {closure}", "THIN")?;
    }
    if !hours.enough {
        let MarketHours { have, needed, .. } = hours;
        writeln!(out, "{:<16}{have} of {needed} closures needed", "too few")?;
    }
    let header = [
        "<28 days",
        "closures",
        "slots",
        "refused",
        "depth Q50",
        "lowest",
        "gap Q50 %",
        "gap Q95 %",
        "reopening %",
    ];
    let mut table = Columns::new(&header);
    table.row(cells("open", None, &hours.open, None));
    for closed in &hours.closed {
        let (kind, have) = (printable(&closed.closure_kind), Some(closed.have));
        let worst = closed.reopening_gap_pct_worst.as_ref();
        table.row(cells(&kind, have, &closed.spread, worst));
    }
    write!(out, "{table}")?;
    writeln!(out, "{:<16}{} slots of the period", "missing", hours.slots_missing)?;
    writeln!(out, "{:<16}{}", "figure", printable(&hours.figure_url))?;
    Ok(writeln!(out, "{:<16}{}", "method", printable(&of.method_version))?)
}

fn cells(
    name: &str,
    closures: Option<u32>,
    spread: &HoursSpread,
    worst: Option<&Number>,
) -> Vec<String> {
    let dollars = |depth: &Option<Number>| {
        depth.as_ref().map_or("-".to_owned(), |depth| group_digits(depth.as_str()))
    };
    let percent = |gap: Option<&Number>| gap.map_or("-".to_owned(), ToString::to_string);
    vec![
        name.to_owned(),
        closures.map_or("-".to_owned(), |count| count.to_string()),
        spread.slots.to_string(),
        spread.slots_refused.to_string(),
        dollars(&spread.depth_usd_q50),
        dollars(&spread.depth_usd_lowest),
        percent(spread.exit_gap_pct_q50.as_ref()),
        percent(spread.exit_gap_pct_q95.as_ref()),
        percent(worst),
    ]
}

/// Formats seconds as hours and minutes, rounded up to whole minutes.
fn time(seconds: u64) -> String {
    let minutes = seconds.div_ceil(60);
    format!("{} h {:02} min", minutes / 60, minutes % 60)
}
