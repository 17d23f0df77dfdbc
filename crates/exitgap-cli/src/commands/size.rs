//! `exitgap size`: the largest sale within a gap.

use std::io::Write;

use anstyle::Style;
use exitgap_api::{Amounts, MaxSize, MaxSizeResult, parse_gap_limit};

use super::{Beside, QuestionContext, print_answer, print_heading, print_source};
use crate::arguments::GuardedQuestion;
use crate::failure::Failure;
use crate::format::{group_digits, tokens};

pub fn run(guarded: &GuardedQuestion, gap: &str, json: bool) -> Result<(), Failure> {
    let limit = parse_gap_limit(gap)?;
    let asked = QuestionContext::find(guarded)?;
    let (answer, beside) = (asked.answers().max_size_for(limit)?, asked.beside());
    if json { print_answer(&answer, &beside) } else { print_text(&answer, &beside) }
}

fn print_text(answer: &MaxSizeResult, beside: &Beside) -> Result<(), Failure> {
    print_heading(&answer.context)?;
    if let Some(depth) = &answer.figures.depth {
        print_figures(answer, depth)?;
    }
    print_source(&answer.context, beside)
}

fn print_figures(answer: &MaxSizeResult, depth: &MaxSize) -> Result<(), Failure> {
    let mut out = anstream::stdout().lock();
    let bold = Style::new().bold();
    let mut line = |name: &str, text: String| writeln!(out, "{name:<16}{text}");
    line("gap up to", format!("{}%", answer.figures.gap_limit_pct))?;
    line(
        "largest exit",
        format!("{bold}{} USD{bold:#}", group_digits(depth.max_size_usd.as_str())),
    )?;
    let why = match (&answer.figures.exit, depth.limited_by.as_str()) {
        (None, _) if answer.figures.problem.is_some() => "the pool has no gap at any size",
        (None, "liquidity") => "liquidity: the pool cannot fill any sale in this direction",
        (None, _) => "no size of 0.01 USD or more stays within the gap",
        (_, "liquidity") => "liquidity: every size the pool can fill stays within the gap",
        (_, "size_bound") => "the largest accepted size",
        _ => "gap: a larger exit exceeds the limit",
    };
    line("limited by", why.to_owned())?;
    if let Some(exit) = &answer.figures.exit {
        line("exit gap", format!("{}%", exit.exit_gap_pct))?;
        let (base, quote) = (&answer.context.base, &answer.context.quote);
        let Amounts { amount_in_raw, amount_out_raw, .. } = exit;
        line("sells", format!("{} {}", tokens(amount_in_raw, base.decimals), base.symbol))?;
        line("receives", format!("{} {}", tokens(amount_out_raw, quote.decimals), quote.symbol))?;
    }
    Ok(())
}
