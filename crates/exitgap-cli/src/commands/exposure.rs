//! `exitgap exposure`: could the market have absorbed a liquidation in every slot of a week?

use exitgap_core::analytics::exposure::ExposureTerms;
use std::io::Write;
use std::process::ExitCode;

use exitgap_api::operations::{ExposureAsked, ExposureFileAsked, Operation};
use exitgap_api::{
    Band, LiquidationCascade, LiquidationExposure, Number, Status, parse_size, size_as_written,
};
use exitgap_core::units::SizeUsd;
use serde::Serialize;

use super::{cascade, left_out, measured_from, not_exact, print_json, write_file};
use crate::arguments::ExposureArgs;
use crate::failure::{Failure, too_little_recorded};
use crate::format::{Columns, group_digits, printable};
use crate::recorded_source::question;

/// The result for a positions file.
#[derive(Serialize)]
struct OfPositions<'a> {
    cascades: &'a [LiquidationCascade],
    exposure: Option<&'a LiquidationExposure>,
}

pub fn run(args: &ExposureArgs, json: bool) -> Result<ExitCode, Failure> {
    // Parse sizes and rules before any request.
    let named = args.cascade_usd.as_deref().map(size_as_written).transpose()?;
    let asked = parse_args(args, named.unwrap_or(SizeUsd::MIN))?;
    let Some(positions) = &args.positions else {
        return answer(args, &asked, &[], json);
    };
    let cascades = cascade::of_positions(args, &asked, positions)?;
    if !json {
        cascade::print(&cascades)?;
    }
    // The larger one: the oracle follows the market.
    if let Some(last) = cascades.last().filter(|last| last.liquidated > 0) {
        let cascade = parse_size(last.cascade_usd.as_str())?;
        return answer(args, &ExposureAsked { cascade, ..asked }, &cascades, json);
    }
    if json {
        print_json(&OfPositions { cascades: &cascades, exposure: None })?;
    } else {
        writeln!(anstream::stdout(), "No position is liquidated.")?;
    }
    Ok(ExitCode::SUCCESS)
}

fn answer(
    args: &ExposureArgs,
    asked: &ExposureAsked,
    cascades: &[LiquidationCascade],
    json: bool,
) -> Result<ExitCode, Failure> {
    if let Some(path) = &args.file {
        let bytes = args.source.ask(
            async |client| client.exposure_file(asked).await,
            async |service| {
                Ok(service
                    .figure_file::<ExposureTerms>(ExposureFileAsked(asked.clone()))
                    .await?
                    .bytes
                    .to_vec())
            },
        )?;
        return write_file(path, &bytes);
    }
    let exposure = args.source.ask(
        async |client| client.liquidation_exposure(asked).await,
        async |service| service.exposure(asked.clone()).await,
    )?;
    match (json, cascades) {
        (false, _) => print_text(&exposure),
        (true, []) => print_json(&exposure),
        (true, cascades) => print_json(&OfPositions { cascades, exposure: Some(&exposure) }),
    }?;
    Ok(if exposure.enough { ExitCode::SUCCESS } else { too_little_recorded() })
}

fn parse_args(args: &ExposureArgs, cascade: SizeUsd) -> Result<ExposureAsked, Failure> {
    let cascade = cascade.to_string();
    let given = [
        ("cascade_usd", Some(&cascade)),
        ("bonus_pct", Some(&args.bonus_pct)),
        ("protocol_fee_pct", Some(&args.protocol_fee_pct)),
        ("fall_pct", Some(&args.fall_pct)),
        ("from", args.from.as_ref()),
        ("to", args.to.as_ref()),
        ("reference", Some(&args.reference)),
    ];
    let venues = args.venues.iter().map(|venue| ("venue", Some(venue)));
    let asked: ExposureAsked = question(Operation::Exposure, venues.chain(given))?;
    Ok(ExposureAsked { guards: args.source.guards()?, ..asked })
}

fn in_words(band: Band) -> &'static str {
    match band {
        Band::Covered => {
            "covered: the lowest depth covers the full size, at 2% and at the break-even gap"
        }
        Band::Strained => {
            "strained: the lowest depth covers the full size at the break-even gap, but not at 2%"
        }
        Band::Exposed => {
            "exposed: in at least one slot, part of the size could not be liquidated profitably"
        }
        Band::Unfillable => {
            "unfillable: in at least one slot, the venues together could not absorb the sale"
        }
        Band::Unrated => "unrated: not enough data is recorded",
    }
}

fn print_text(exposure: &LiquidationExposure) -> Result<(), Failure> {
    let mut out = anstream::stdout().lock();
    let LiquidationExposure { of, .. } = exposure;
    let sold = group_digits(of.cascade_usd.as_str());
    writeln!(out, "Liquidating {sold} USD after a price drop of {}%", of.fall_pct)?;
    if exposure.status == Status::Preview {
        writeln!(out, "PREVIEW  not a live chain; do not rely on these figures")?;
    }
    if let Some(line) = not_exact(&of.exactness) {
        writeln!(out, "{line}")?;
    }
    let mut line = |name: &str, text: String| writeln!(out, "{name:<20}{text}");
    line("rating", in_words(exposure.band).to_owned())?;
    if let Some(causes) = &exposure.causes {
        line("causes", printable(&causes.note))?;
    }
    if let Some(reference) = &of.reference {
        line("measured from", measured_from(reference).to_owned())?;
    }
    for out in &exposure.left_out {
        line("left out", left_out(out))?;
    }
    let (from, to) = (printable(&of.from), printable(&of.to));
    let LiquidationExposure { have, needed, slots_missing, slots_incomplete, .. } = exposure;
    line("period", format!("{from} to {to}"))?;
    let not = format!("{slots_missing} missing, {slots_incomplete} without one of the venues");
    line("slots", format!("{have} of {needed} checked slots needed for a rating; {not}"))?;
    let usd = |value: &Option<Number>| {
        value.as_ref().map_or("-".to_owned(), |usd| group_digits(usd.as_str()))
    };
    let plain = |value: &Option<Number>| value.as_ref().map_or("-".to_owned(), ToString::to_string);
    let at = |time: &Option<String>| time.as_deref().map_or("-".to_owned(), printable);
    line("coverage", format!("{} at 2%", plain(&exposure.coverage)))?;
    let break_even = &exposure.break_even_gap_pct;
    let covered = plain(&exposure.coverage_break_even);
    line("", format!("{covered} at the break-even gap of {break_even}%"))?;
    let [lowest, when] =
        [usd(&exposure.lowest_break_even_depth_usd), at(&exposure.lowest_break_even_time)];
    line("lowest depth", format!("{lowest} USD at the break-even gap, {when}"))?;
    let worst = plain(&exposure.worst_gap_pct);
    line("widest gap", format!("{worst}%, {}", at(&exposure.worst_time)))?;
    if exposure.slots_unfillable > 0 {
        let least = usd(&exposure.least_fillable_usd);
        let many = exposure.slots_unfillable;
        line("not fillable", format!("in {many} slots; lowest limit {least} USD"))?;
    }
    let [shortfall, stranded] = [usd(&exposure.shortfall_usd), usd(&exposure.stranded_usd)];
    line("shortfall", format!("{shortfall} USD that liquidators would lose at the widest gap"))?;
    line("stranded", format!("{stranded} USD that could not be liquidated profitably"))?;
    let mut table = Columns::new(&["<venue", "<base", "lowest depth at 2% (USD)", "<when"]);
    for venue in &exposure.venues {
        table.row(vec![
            printable(&venue.pool),
            printable(&venue.base),
            usd(&venue.lowest_depth_usd),
            at(&venue.lowest_depth_time),
        ]);
    }
    write!(out, "\n{table}")?;
    let (figure, method) = (printable(&of.figure), printable(&of.method_version));
    writeln!(out, "{:<20}{figure} with {method}", "method")?;
    Ok(writeln!(out, "{:<20}{}", "figure", printable(&of.figure_url))?)
}
