//! `exitgap ladder`: depth by gap, slippage by size.

use std::io::Write;

use exitgap_api::operations::Operation;
use exitgap_api::{
    Amounts, DepthReading, Ladder, PublishedLadder, parse_gap_limit, parse_steps, size_as_written,
};
use exitgap_core::units::{GapLimit, SizeUsd};

use super::{Beside, QuestionContext, print_answer, print_heading, print_published, print_source};
use crate::arguments::GuardedQuestion;
use crate::failure::Failure;
use crate::format::{Columns, group_digits, tokens_short};
use crate::source;

pub fn run(
    guarded: &GuardedQuestion,
    gaps: &[String],
    sizes: &[String],
    json: bool,
) -> Result<(), Failure> {
    let limits = parse_steps("gap", gaps, &GapLimit::LADDER, parse_gap_limit)?;
    let sizes = parse_steps("size_usd", sizes, &SizeUsd::STANDARD, size_as_written)?;
    let asked = QuestionContext::find(guarded)?;
    let (ladder, beside) = (asked.answers().ladder(&limits, &sizes), asked.beside());
    if !json {
        return print_text(&ladder, &beside);
    }
    let standard = limits == GapLimit::LADDER && sizes == SizeUsd::STANDARD;
    match (&asked.found.published, &guarded.question.source.api) {
        (Some(published), Some(url)) if standard => {
            require_same(published, &ladder, url)?;
            print_published(published)
        }
        _ => print_answer(&ladder, &beside),
    }
}

/// Whether a service's ladder equals the one computed from its snapshot.
pub fn is_same(published: &PublishedLadder, ladder: &Ladder) -> bool {
    let (mut served, mut ladder) = (published.answer.clone(), ladder.clone());
    served.figures.by_gap.iter_mut().for_each(|rung| rung.evidence_url = None);
    served.figures.by_size.iter_mut().for_each(|rung| rung.evidence_url = None);
    for (served, computed) in served.figures.by_gap.iter().zip(&mut ladder.figures.by_gap) {
        // A service from before the second reading does not have it.
        if served.reading == DepthReading::default() {
            computed.reading = DepthReading::default();
        }
    }
    served == ladder
}

/// Requires that they are equal.
fn require_same(published: &PublishedLadder, ladder: &Ladder, url: &str) -> Result<(), Failure> {
    if is_same(published, ladder) {
        return Ok(());
    }
    let target = Operation::Ladder.target_of(&ladder.context.pool);
    Err(source::api::not_as_specified(url, target.path(), "it does not follow from its snapshot"))
}

fn print_text(ladder: &Ladder, beside: &Beside) -> Result<(), Failure> {
    print_heading(&ladder.context)?;
    print_by_gap(ladder)?;
    print_by_size(ladder)?;
    print_source(&ladder.context, beside)
}

fn fill_columns(ladder: &Ladder, exit: &Amounts) -> Vec<String> {
    let (base, quote) = (&ladder.context.base, &ladder.context.quote);
    vec![
        tokens_short(&exit.amount_in_raw, base.decimals),
        tokens_short(&exit.amount_out_raw, quote.decimals),
        group_digits(exit.realized_price_usd.as_str()),
        group_digits(exit.marginal_price_usd.as_str()),
    ]
}

fn headings(ladder: &Ladder) -> [String; 2] {
    let (base, quote) = (&ladder.context.base.symbol, &ladder.context.quote.symbol);
    [format!("sells {base}"), format!("receives {quote}")]
}

fn print_by_gap(ladder: &Ladder) -> Result<(), Failure> {
    let [sells, receives] = headings(ladder);
    let header = [
        "gap up to %",
        "depth USD",
        "at mid USD",
        &sells,
        &receives,
        "realized USD",
        "next unit USD",
        "<limited by",
    ];
    let mut table = Columns::new(&header);
    for rung in &ladder.figures.by_gap {
        let depth = rung.depth.as_ref();
        let size = depth.map_or("-".to_owned(), |depth| group_digits(depth.max_size_usd.as_str()));
        let book = rung.reading.book_usd.as_ref();
        let book = book.map_or("-".to_owned(), |usd| group_digits(usd.as_str()));
        let mut cells = vec![rung.gap_limit_pct.to_string(), size, book];
        match &rung.exit {
            Some(exit) => cells.extend(fill_columns(ladder, exit)),
            None => cells.extend(["-"; 4].map(String::from)),
        }
        let refused = rung.problem.as_ref().map(|problem| problem.code.as_str().to_owned());
        let limited_by = depth.map_or_else(String::new, |depth| depth.limited_by.clone());
        let why = refused.unwrap_or(limited_by);
        cells.push(match &rung.worse_below_usd {
            Some(worse) => format!("{why}, but {} is worse", group_digits(worse.as_str())),
            None => why,
        });
        table.row(cells);
    }
    let mut out = anstream::stdout().lock();
    write!(out, "{table}")?;
    for rung in &ladder.figures.by_gap {
        if let Some(note) = &rung.reading.depth_note {
            writeln!(out, "up to {}%  {note}", rung.gap_limit_pct)?;
        }
    }
    Ok(writeln!(out)?)
}

fn print_by_size(ladder: &Ladder) -> Result<(), Failure> {
    let [sells, receives] = headings(ladder);
    let mut header =
        vec!["size USD", "exit gap %", &sells, &receives, "realized USD", "next unit USD"];
    // A smaller size can be worse only if the fee depends on the size: other tables lack this column.
    let is_uneven = ladder.figures.by_size.iter().any(|rung| rung.worse_below_usd.is_some());
    if is_uneven {
        header.push("worse at USD");
    }
    let mut table = Columns::new(&header);
    for rung in &ladder.figures.by_size {
        let mut cells = vec![group_digits(rung.size_usd.as_str())];
        match (&rung.exit, &rung.problem) {
            (Some(exit), _) => {
                cells.push(exit.exit_gap_pct.to_string());
                cells.extend(fill_columns(ladder, exit));
            }
            (None, problem) => {
                let code = problem.as_ref().map_or("refused", |problem| problem.code.as_str());
                cells.push(code.to_owned());
                cells.extend(["-"; 4].map(String::from));
            }
        }
        if is_uneven {
            let worse = rung.worse_below_usd.as_ref();
            cells.push(worse.map_or_else(String::new, |size| group_digits(size.as_str())));
        }
        table.row(cells);
    }
    Ok(writeln!(anstream::stdout(), "{table}")?)
}
