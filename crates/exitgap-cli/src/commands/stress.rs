//! `exitgap stress`: the worst moment of a period, and how long it lasted.

use std::io::Write;
use std::process::ExitCode;

use exitgap_api::operations::{Operation, StressAsked};
use exitgap_api::{GapPoint, Number, PoolBook, Status, Stress, size_as_written};
use exitgap_client::HistoryOf;

use super::{not_exact, print_json, venue_stress};
use crate::arguments::StressArgs;
use crate::failure::Failure;
use crate::format::{Columns, group_digits, printable};
use crate::recorded_source::question;

pub fn run(args: &StressArgs, json: bool) -> Result<ExitCode, Failure> {
    let pool = match args.venues.as_slice() {
        [pool] if !pool.contains('/') && !is_shocked(args) => pool,
        _ => return venue_stress::run(args, json),
    };
    let asked = parse_args(args, pool)?;
    let stress = args.source.ask(
        async |client| client.stress(&HistoryOf::from(&asked.series), asked.limit).await,
        async |service| service.stress(asked.clone()).await,
    )?;
    if json { print_json(&stress) } else { print_text(&stress) }?;
    Ok(ExitCode::SUCCESS)
}

/// Whether the stress test goes beyond the recorded series.
fn is_shocked(args: &StressArgs) -> bool {
    args.haircut_pct.is_some()
        || args.fall_pct.is_some()
        || args.shock.is_some()
        || args.after_move_pct.is_some()
        || args.file.is_some()
}

fn parse_args(args: &StressArgs, pool: &String) -> Result<StressAsked, Failure> {
    let size = size_as_written(&args.size_usd)?.to_string();
    let given = [
        ("pool", Some(pool)),
        ("size_usd", Some(&size)),
        ("limit_pct", args.limit_pct.as_ref()),
        ("base", args.base.as_ref()),
        ("from", args.from.as_ref()),
        ("to", args.to.as_ref()),
    ];
    let mut asked: StressAsked = question(Operation::Stress, given)?;
    asked.series.guards = args.source.guards()?;
    Ok(asked)
}

fn print_text(stress: &Stress) -> Result<(), Failure> {
    let mut out = anstream::stdout().lock();
    let Stress { of, .. } = stress;
    let size = group_digits(of.size_usd.as_str());
    writeln!(out, "Worst of {} in {}, selling {size} USD", of.base, printable(&of.pool))?;
    if of.status == Status::Preview {
        writeln!(out, "PREVIEW  not a live chain; do not rely on these figures")?;
    }
    if let Some(line) = not_exact(&of.exactness) {
        writeln!(out, "{line}")?;
    }
    let mut line = |name: &str, text: String| writeln!(out, "{name:<16}{text}");
    line("period", format!("{} to {}", printable(&of.from), printable(&of.to)))?;
    let Stress { slots_recorded, slots_missing, slots_retracted, .. } = stress;
    line(
        "slots",
        format!("{slots_recorded} recorded, {slots_missing} missing, {slots_retracted} retracted"),
    )?;
    let point = |point: &GapPoint| {
        let gap = point.exit_gap_pct.as_ref().map(|gap| format!("{gap}%"));
        format!("{}, {}", gap.unwrap_or_else(|| "-".to_owned()), printable(&point.time))
    };
    line("widest gap", stress.worst_gap.as_ref().map_or("-".to_owned(), point))?;
    if let Some(book) = &stress.worst_gap_book {
        line("", in_words(book))?;
    }
    if stress.slots_refused > 0 {
        let least = stress.least_fillable.as_ref().map_or(String::new(), |least| {
            let usd = group_digits(least.max_fillable_usd.as_str());
            format!("; lowest limit {usd} USD, {}", printable(&least.time))
        });
        line("not filled", format!("in {} slots{least}", stress.slots_refused))?;
    }
    let depth = stress.lowest_depth.as_ref().map_or("-".to_owned(), |depth| {
        format!("{} USD at 2%, {}", group_digits(depth.depth_usd.as_str()), printable(&depth.time))
    });
    line("lowest depth", depth)?;
    if let Some(book) = &stress.lowest_depth_book {
        line("", in_words(book))?;
    }
    let lowest = stress.lowest_depth.as_ref();
    if let Some(note) = lowest.and_then(|lowest| lowest.reading.depth_note.as_deref()) {
        line("cause", printable(note))?;
    }
    let Some(detail) = &stress.detail else {
        return Ok(line("more", "available for at most 31 days".to_owned())?);
    };
    let percent = |value: &Option<Number>| {
        value.as_ref().map_or("none (not filled)".to_owned(), |gap| format!("{gap}%"))
    };
    let [median, most] = [percent(&detail.gap_q50_pct), percent(&detail.gap_q95_pct)];
    line("gap", format!("median {median}, 95th percentile {most}"))?;
    let near = detail.slots_missing_near_worst;
    line("near the worst", format!("{near} slots missing within an hour"))?;
    if let Some(above) = &detail.above {
        let from = above.longest_run_from.as_deref().map_or(String::new(), |from| {
            format!(", the longest run {} from {}", above.longest_run_slots, printable(from))
        });
        line("above", format!("{}% in {} slots{from}", above.limit_pct, above.slots))?;
    }
    let mut table = Columns::new(&["<worst slots", "gap %", "largest fill USD", "<evidence"]);
    for point in &detail.worst_slots {
        let number = |value: &Option<Number>| value.as_ref().map(ToString::to_string);
        table.row(vec![
            printable(&point.time),
            number(&point.exit_gap_pct).unwrap_or_else(|| "none".to_owned()),
            point.max_fillable_usd.as_ref().map_or(String::new(), |usd| group_digits(usd.as_str())),
            point.evidence_url.as_deref().map_or(String::new(), printable),
        ]);
    }
    Ok(write!(out, "\n{table}")?)
}

/// Whether liquidity was removed, or the price moved away from it.
fn in_words(book: &PoolBook) -> String {
    let usd = book.book_usd.as_ref().map_or("-".to_owned(), |usd| group_digits(usd.as_str()));
    let held = format!("{usd} USD at 2% from the pool's own price");
    match book.basis_pct.as_ref().map(Number::as_str) {
        Some(basis) if basis.starts_with('-') => {
            format!("{held}, {}% above the oracle", &basis[1..])
        }
        Some(basis) => format!("{held}, {basis}% below the oracle"),
        None => held,
    }
}
