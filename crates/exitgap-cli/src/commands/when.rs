//! `exitgap when`: the newest slot ranked among all others, and the gap by hour of the week.

use std::io::Write;
use std::process::ExitCode;

use exitgap_api::operations::{Operation, SeriesAsked};
use exitgap_api::{HourOfWeek, Number, RankedSlot, Status, WhenToSell, size_as_written};
use exitgap_client::HistoryOf;

use super::{not_exact, print_json};
use crate::arguments::WhenArgs;
use crate::failure::{Failure, too_little_recorded};
use crate::format::{Columns, group_digits, printable};
use crate::recorded_source::question;

/// The days of a week, as its hours are counted.
const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

pub fn run(args: &WhenArgs, json: bool) -> Result<ExitCode, Failure> {
    let size = size_as_written(&args.size_usd)?.to_string();
    let given = [
        ("pool", Some(&args.pool)),
        ("size_usd", Some(&size)),
        ("base", args.base.as_ref()),
        ("from", args.from.as_ref()),
        ("to", args.to.as_ref()),
    ];
    let asked: SeriesAsked = question(Operation::When, given)?;
    let asked = SeriesAsked { guards: args.source.guards()?, ..asked };
    let when = args.source.ask(
        async |client| client.when_to_sell(&HistoryOf::from(&asked)).await,
        async |service| service.when(asked.clone()).await,
    )?;
    if json { print_json(&when) } else { print_text(&when) }?;
    Ok(if when.enough { ExitCode::SUCCESS } else { too_little_recorded() })
}

/// An hour of the week, UTC.
fn name_hour(hour: u32) -> String {
    let day = usize::try_from(hour / 24).ok().and_then(|day| DAYS.get(day));
    format!("{} {:02}:00", day.unwrap_or(&"?"), hour % 24)
}

fn percent(gap: Option<&Number>) -> String {
    gap.map_or_else(|| "not filled".to_owned(), |gap| format!("{gap}%"))
}

fn rank(now: &RankedSlot) -> String {
    let RankedSlot { point, slots_worse, slots_equal, slots_better, worse_pct } = now;
    let gap = percent(point.exit_gap_pct.as_ref());
    let at = printable(&point.time);
    let share = worse_pct.as_ref().map_or_else(String::new, |share| format!(" ({share}%)"));
    let others = slots_worse + slots_equal + slots_better;
    format!("{gap} at {at}; {slots_worse} of {others} other slots were worse{share}")
}

fn print_text(when: &WhenToSell) -> Result<(), Failure> {
    let mut out = anstream::stdout().lock();
    let WhenToSell { of, .. } = when;
    let size = group_digits(of.size_usd.as_str());
    writeln!(out, "When to sell {size} USD of {} in {}", of.base, printable(&of.pool))?;
    if of.status == Status::Preview {
        writeln!(out, "PREVIEW  not a live chain; do not rely on these figures")?;
    }
    if let Some(line) = not_exact(&of.exactness) {
        writeln!(out, "{line}")?;
    }
    let mut line = |name: &str, text: String| writeln!(out, "{name:<16}{text}");
    line("period", format!("{} to {}", printable(&of.from), printable(&of.to)))?;
    let WhenToSell { slots, slots_refused, slots_missing, .. } = when;
    line(
        "slots",
        format!(
            "{slots} recorded, {slots_missing} missing, {slots_refused} could not fill the size"
        ),
    )?;
    line("now", when.now.as_ref().map_or_else(|| "-".to_owned(), rank))?;
    let best = match when.best_hour {
        Some(hour) => format!("{} UTC", name_hour(hour)),
        None if when.enough => "none: no hour of four weeks could fill the size".to_owned(),
        None => "not known: that needs four weeks of data".to_owned(),
    };
    line("best hour", best)?;
    let header =
        ["<hour, UTC", "slots", "weeks", "not filled", "gap Q50", "gap Q95", "worst", "<worst at"];
    let mut table = Columns::new(&header);
    for hour in &when.hours {
        table.row(cells(hour));
    }
    write!(out, "{table}")?;
    Ok(writeln!(out, "{:<16}{}", "method", printable(&of.method_version))?)
}

fn cells(hour: &HourOfWeek) -> Vec<String> {
    vec![
        name_hour(hour.hour),
        hour.slots.to_string(),
        hour.weeks.to_string(),
        hour.slots_refused.to_string(),
        percent(hour.exit_gap_pct_q50.as_ref()),
        percent(hour.exit_gap_pct_q95.as_ref()),
        percent(hour.worst.exit_gap_pct.as_ref()),
        printable(&hour.worst.time),
    ]
}
