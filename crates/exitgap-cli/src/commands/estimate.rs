//! `exitgap estimate`: one exit of a stated size.

use std::io::Write;

use anstyle::Style;
use exitgap_api::{ExitResult, size_as_written};

use super::{Beside, QuestionContext, print_answer, print_heading, print_published, print_source};
use crate::arguments::GuardedQuestion;
use crate::failure::Failure;
use crate::format::{group_digits, tokens};
use crate::source;

pub fn run(guarded: &GuardedQuestion, size_usd: &str, json: bool) -> Result<(), Failure> {
    let size = size_as_written(size_usd)?;
    if let Some(published) = source::published_exit(guarded, size)? {
        let beside = Beside::from(&published);
        return if json {
            print_published(&published)
        } else {
            print_text(&published.answer, &beside)
        };
    }
    let asked = QuestionContext::find(guarded)?;
    let (result, beside) = (asked.answers().estimate(size)?, asked.beside());
    if json { print_answer(&result, &beside) } else { print_text(&result, &beside) }
}

pub fn print_text(result: &ExitResult, beside: &Beside) -> Result<(), Failure> {
    print_heading(&result.context)?;
    print_figures(result)?;
    print_source(&result.context, beside)
}

fn print_figures(result: &ExitResult) -> Result<(), Failure> {
    let ExitResult { figures: amounts, context } = result;
    let (base, quote) = (&context.base, &context.quote);
    let mut out = anstream::stdout().lock();
    let bold = Style::new().bold();
    let gap = amounts.exit_gap_pct.as_str();
    let side = if gap.starts_with('-') { "better" } else { "worse" };
    let mut line = |name: &str, text: String| writeln!(out, "{name:<16}{text}");
    line("size", format!("{} USD", group_digits(amounts.size_usd.as_str())))?;
    line("exit gap", format!("{bold}{gap}%{bold:#} {side} than the oracle"))?;
    if let Some(parts) = amounts.added_parts() {
        line("  basis", format!("{}%  the pool's mid price against the oracle", parts.basis))?;
        line("  fee", format!("{}%", parts.fee))?;
        line("  impact", format!("{}%  moving the price", parts.impact))?;
        if let Some(cost) = parts.against_pool() {
            line("", format!("Against the pool's own price this sale costs {cost}%."))?;
        }
    }
    let price = |number: &str| format!("{} USD per {}", group_digits(number), base.symbol);
    line("oracle price", price(context.oracle_price_usd.as_str()))?;
    line("realized price", price(amounts.realized_price_usd.as_str()))?;
    line("next unit at", price(amounts.marginal_price_usd.as_str()))?;
    let amount = |raw: &str, token: &exitgap_api::TokenLabel| {
        format!("{} {}  ({raw} units)", tokens(raw, token.decimals), token.symbol)
    };
    line("sells", amount(&amounts.amount_in_raw, base))?;
    line("receives", amount(&amounts.amount_out_raw, quote))?;
    Ok(())
}
