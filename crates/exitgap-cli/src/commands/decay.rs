//! `exitgap decay`: how depth decreases after price moves.

use exitgap_core::analytics::decay::DecayTerms;
use std::io::Write;
use std::process::ExitCode;

use exitgap_api::operations::{DecayAsked, DecayFileAsked, Operation};
use exitgap_api::{DepthDecay, DepthDecaySide, Number};

use super::{print_json, write_file};
use crate::arguments::DecayArgs;
use crate::failure::{Failure, too_little_recorded};
use crate::format::{Columns, group_digits, printable};
use crate::recorded_source::question;

pub fn run(args: &DecayArgs, json: bool) -> Result<ExitCode, Failure> {
    let asked = parse_args(args)?;
    if let Some(path) = &args.file {
        let bytes = args.source.ask(
            async |client| client.decay_file(&asked).await,
            async |service| {
                Ok(service
                    .figure_file::<DecayTerms>(DecayFileAsked(asked.clone()))
                    .await?
                    .bytes
                    .to_vec())
            },
        )?;
        return write_file(path, &bytes);
    }
    let decay = args.source.ask(
        async |client| client.depth_decay(&asked).await,
        async |service| service.decay(asked.clone()).await,
    )?;
    if json { print_json(&decay) } else { print_text(&decay) }?;
    Ok(if decay.enough { ExitCode::SUCCESS } else { too_little_recorded() })
}

fn parse_args(args: &DecayArgs) -> Result<DecayAsked, Failure> {
    let given = [
        ("pool", Some(&args.pool)),
        ("move_pct", Some(&args.move_pct)),
        ("within_slots", Some(&args.within_slots)),
        ("gap_pct", Some(&args.gap)),
        ("base", args.base.as_ref()),
        ("from", args.from.as_ref()),
        ("to", args.to.as_ref()),
    ];
    let asked: DecayAsked = question(Operation::Decay, given)?;
    Ok(DecayAsked { guards: args.source.guards()?, ..asked })
}

fn print_text(decay: &DepthDecay) -> Result<(), Failure> {
    let mut out = anstream::stdout().lock();
    let DepthDecay { of, .. } = decay;
    writeln!(out, "Depth of {} in {} at {}% from the mid price", of.base, of.pool, of.gap_pct)?;
    let (from, to) = (printable(&of.from), printable(&of.to));
    writeln!(
        out,
        "{:<16}{from} to {to}: {} slots recorded, {} missing",
        "period", decay.have, decay.slots_missing
    )?;
    let events = decay.events.len();
    let moved = format!("{events} of {}% within {} slots", of.move_pct, of.within_slots);
    writeln!(
        out,
        "{:<16}{moved}, {} follow-on moves not counted",
        "moves", decay.events_suppressed
    )?;
    if !decay.enough {
        let DepthDecay { have, needed, .. } = decay;
        writeln!(out, "{:<16}{have} of {needed} slots needed for statistics", "too short")?;
    }
    for (name, side) in [("after drops", &decay.down), ("after rises", &decay.up)] {
        print_side(&mut out, name, side)?;
    }
    let header =
        ["<event", "move %", "after", "before USD", "move alone", "providers", "depth USD"];
    let mut table = Columns::new(&header);
    for event in &decay.events {
        for (at, step) in event.at.iter().enumerate() {
            let first = |text: String| if at == 0 { text } else { String::new() };
            table.row(vec![
                first(printable(&event.time)),
                first(event.move_pct.to_string()),
                step.h_slots.to_string(),
                group_digits(step.book_before_usd.as_str()),
                group_digits(step.mechanical_usd.as_str()),
                group_digits(step.liquidity_usd.as_str()),
                group_digits(step.book_usd.as_str()),
            ]);
        }
    }
    write!(out, "{table}")?;
    writeln!(
        out,
        "{:<16}{} with {}",
        "method",
        printable(&of.figure),
        printable(&of.method_version)
    )?;
    Ok(writeln!(out, "{:<16}{}", "figure", printable(&of.figure_url))?)
}

fn print_side(out: &mut impl Write, name: &str, side: &DepthDecaySide) -> Result<(), Failure> {
    let first = format!("<{name}");
    let header = [
        first.as_str(),
        "events",
        "left Q50 %",
        "left Q5 %",
        "move alone %",
        "withdrawn %",
        "baseline %",
    ];
    let mut table = Columns::new(&header);
    let percent =
        |value: &Option<Number>| value.as_ref().map_or("-".to_owned(), ToString::to_string);
    for horizon in &side.horizons {
        table.row(vec![
            format!("{} slots", horizon.h_slots),
            horizon.n.to_string(),
            percent(&horizon.retained_pct_q50),
            percent(&horizon.retained_pct_q5),
            percent(&horizon.static_pct_q50),
            percent(&horizon.withdrawn_pct_q50),
            percent(&horizon.baseline_withdrawn_pct_q50),
        ]);
    }
    write!(out, "{table}")?;
    let half = side.half_life_slots_q50.map_or("-".to_owned(), |slots| format!("{slots} slots"));
    Ok(writeln!(out, "{:<16}{half}, over {} events", "half-life", side.half_life_n)?)
}
