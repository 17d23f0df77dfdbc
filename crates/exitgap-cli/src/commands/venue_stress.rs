//! `exitgap stress` for several venues, or after a shock.

use exitgap_core::analytics::stress::StressTerms;
use std::io::Write;
use std::process::ExitCode;

use exitgap_api::operations::{Operation, VenueStressAsked, VenueStressFileAsked};
use exitgap_api::{Number, Problem, ProblemCode, Status, VenueStress, size_as_written};

use super::{left_out, measured_from, not_exact, print_json, shocks, write_file};
use crate::arguments::StressArgs;
use crate::failure::Failure;
use crate::format::{Columns, group_digits, printable};
use crate::recorded_source::question;

pub fn run(args: &StressArgs, json: bool) -> Result<ExitCode, Failure> {
    let asked = parse_args(args)?;
    if let Some(path) = &args.file {
        let bytes = args.source.ask(
            async |client| client.venue_stress_file(&asked).await,
            async |service| {
                let asked = VenueStressFileAsked(asked.clone());
                Ok(service.figure_file::<StressTerms>(asked).await?.bytes.to_vec())
            },
        )?;
        return write_file(path, &bytes);
    }
    let stress = args.source.ask(
        async |client| client.venue_stress(&asked).await,
        async |service| service.venue_stress(asked.clone()).await,
    )?;
    if json { print_json(&stress) } else { print_text(&stress) }?;
    Ok(ExitCode::SUCCESS)
}

fn parse_args(args: &StressArgs) -> Result<VenueStressAsked, Failure> {
    let size = size_as_written(&args.size_usd)?.to_string();
    let venues: Vec<String> = match (&args.base, args.venues.as_slice()) {
        (None, venues) => venues.to_vec(),
        (Some(base), [pool]) if !pool.contains('/') => vec![format!("{pool}/{base}")],
        (Some(_), _) => {
            let detail = "base: with several pools, give the token for each pool";
            let problem = Problem::new(ProblemCode::InvalidParameter, detail).field("base");
            return Err(problem.hint("write <chain>:<address>/<base> for each pool").into());
        }
    };
    let [haircut, fall] = match &args.shock {
        Some(name) => shocks::find_shock(args, name)?.map(Some),
        None => [args.haircut_pct.clone(), args.fall_pct.clone()],
    };
    let given = [
        ("size_usd", Some(&size)),
        ("haircut_pct", haircut.as_ref()),
        ("fall_pct", fall.as_ref()),
        ("after_move_pct", args.after_move_pct.as_ref()),
        ("within_slots", args.within_slots.as_ref()),
        ("limit_pct", args.limit_pct.as_ref()),
        ("from", args.from.as_ref()),
        ("to", args.to.as_ref()),
        ("reference", Some(&args.reference)),
    ];
    let venues = venues.iter().map(|venue| ("venue", Some(venue)));
    let asked: VenueStressAsked = question(Operation::VenueStress, venues.chain(given))?;
    Ok(VenueStressAsked { guards: args.source.guards()?, ..asked })
}

fn print_text(stress: &VenueStress) -> Result<(), Failure> {
    let mut out = anstream::stdout().lock();
    let VenueStress { of, .. } = stress;
    let sold = group_digits(of.size_usd.as_str());
    let (haircut, fall) = (&of.haircut_pct, &of.fall_pct);
    writeln!(
        out,
        "Selling {sold} USD with {haircut}% of liquidity withdrawn and the price {fall}% lower"
    )?;
    if stress.status == Status::Preview {
        writeln!(out, "PREVIEW  not a live chain; do not rely on these figures")?;
    }
    if let Some(line) = not_exact(&of.exactness) {
        writeln!(out, "{line}")?;
    }
    let mut line = |name: &str, text: String| writeln!(out, "{name:<16}{text}");
    let usd = |value: &Option<Number>| {
        value.as_ref().map_or("-".to_owned(), |usd| group_digits(usd.as_str()))
    };
    let at = |time: &Option<String>| time.as_deref().map_or("-".to_owned(), printable);
    let percent = |value: &Option<Number>| {
        value.as_ref().map_or("none (not filled)".to_owned(), |gap| format!("{gap}%"))
    };
    line("period", format!("{} to {}", printable(&of.from), printable(&of.to)))?;
    let VenueStress { have, slots_missing, slots_incomplete, slots_unanswered, .. } = stress;
    let not = format!("{slots_missing} missing, {slots_incomplete} without some venue");
    line("slots", format!("{have} checked, {not}, {slots_unanswered} unanswered"))?;
    let [median, most] = [percent(&stress.gap_q50_pct), percent(&stress.gap_q95_pct)];
    line("gap", format!("median {median}, 95th percentile {most}"))?;
    line("not filled", format!("in {} slots", stress.slots_unfillable))?;
    let near = stress.slots_missing_near_worst;
    line("near the worst", format!("{near} slots missing within an hour"))?;
    if let (Some(moved), Some(within)) = (&of.after_move_pct, of.within_slots) {
        let [unmoved, unknown] =
            [stress.slots_unmoved, stress.slots_untestable].map(Option::unwrap_or_default);
        let skipped = format!("{unmoved} slots without such a move, {unknown} unknown");
        line("after a move", format!("of {moved}% within {within} slots; {skipped}"))?;
    }
    if let Some(above) = &stress.above {
        let from = above.longest_run_from.as_deref().map_or(String::new(), |from| {
            format!(", the longest run {} from {}", above.longest_run_slots, printable(from))
        });
        line("above", format!("{}% in {} slots{from}", above.limit_pct, above.slots))?;
    }
    if let Some(causes) = &stress.causes {
        line("causes", printable(&causes.note))?;
    }
    if let Some(reference) = &of.reference {
        line("measured from", measured_from(reference).to_owned())?;
    }
    for out in &stress.left_out {
        line("left out", left_out(out))?;
    }
    let [lowest, when] = [usd(&stress.lowest_depth_usd), at(&stress.lowest_depth_time)];
    line("lowest depth", format!("{lowest} USD at 2%, {when}"))?;
    let book = usd(&stress.lowest_depth_book_usd);
    line("", format!("{book} USD at 2% from the pools' own prices at that time"))?;
    let [lowest, when] = [usd(&stress.lowest_book_usd), at(&stress.lowest_book_time)];
    line("lowest at mid", format!("{lowest} USD at 2% from the pools' own prices, {when}"))?;
    let mut table =
        Columns::new(&["<worst slots", "gap %", "largest fill USD", "depth USD", "at mid USD"]);
    for slot in &stress.worst_slots {
        let number = |value: &Option<Number>| value.as_ref().map(ToString::to_string);
        table.row(vec![
            printable(&slot.time),
            number(&slot.exit_gap_pct).unwrap_or_else(|| "none".to_owned()),
            slot.max_fillable_usd.as_ref().map_or(String::new(), |usd| group_digits(usd.as_str())),
            group_digits(slot.depth_usd.as_str()),
            group_digits(slot.book_usd.as_str()),
        ]);
    }
    write!(out, "\n{table}")?;
    let mut table = Columns::new(&["<venue", "<base", "lowest depth at 2% (USD)", "<when"]);
    for venue in &stress.venues {
        table.row(vec![
            printable(&venue.pool),
            printable(&venue.base),
            usd(&venue.lowest_depth_usd),
            at(&venue.lowest_depth_time),
        ]);
    }
    write!(out, "\n{table}")?;
    let (figure, method) = (printable(&of.figure), printable(&of.method_version));
    writeln!(out, "{:<16}{figure} with {method}", "method")?;
    Ok(writeln!(out, "{:<16}{}", "figure", printable(&of.figure_url))?)
}
