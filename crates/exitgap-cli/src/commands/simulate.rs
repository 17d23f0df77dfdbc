//! `exitgap simulate`: one exit, split into several orders.

use std::io::Write;

use anstyle::Style;
use exitgap_api::{AtOnce, SimulationResult};
use exitgap_core::exit::OrderPlan;

use super::{Beside, QuestionContext, print_answer, print_heading, print_source};
use crate::arguments::GuardedQuestion;
use crate::failure::Failure;
use crate::format::{Columns, group_digits, tokens_short};

pub fn run(guarded: &GuardedQuestion, plan: OrderPlan, json: bool) -> Result<(), Failure> {
    let asked = QuestionContext::find(guarded)?;
    let (answer, beside) = (asked.answers().simulate_orders(plan)?, asked.beside());
    if json { print_answer(&answer, &beside) } else { print_text(&answer, &beside) }
}

fn print_text(answer: &SimulationResult, beside: &Beside) -> Result<(), Failure> {
    print_heading(&answer.context)?;
    print_figures(answer)?;
    print_source(&answer.context, beside)
}

fn print_figures(answer: &SimulationResult) -> Result<(), Failure> {
    let SimulationResult { figures: simulation, context } = answer;
    let (base, quote) = (&context.base, &context.quote);
    let header = [
        "order",
        "exit gap %",
        &format!("sells {}", base.symbol),
        &format!("receives {}", quote.symbol),
    ];
    let mut rows = Columns::new(&header);
    for fill in &simulation.fills {
        let cells = vec![
            fill.order.to_string(),
            fill.exit_gap_pct.to_string(),
            tokens_short(&fill.amount_in_raw, base.decimals),
            tokens_short(&fill.amount_out_raw, quote.decimals),
        ];
        rows.row(cells);
    }
    let mut out = anstream::stdout().lock();
    writeln!(out, "{rows}")?;
    let bold = Style::new().bold();
    let mut line = |name: &str, text: String| writeln!(out, "{name:<16}{text}");
    line("size", format!("{} USD", group_digits(simulation.size_usd.as_str())))?;
    let orders = simulation.orders;
    line("all orders", format!("{bold}{}%{bold:#} in {orders}", simulation.exit_gap_pct))?;
    let at_once = match &simulation.at_once {
        AtOnce::Exit(exit) => format!("{}%", exit.exit_gap_pct),
        AtOnce::Problem(problem) => format!("refused: {}", problem.detail),
    };
    line("at once", at_once)?;
    let assumed = format!("√price recovers {}% between orders", simulation.recovery_pct);
    line("assumed", format!("{assumed}; liquidity and oracle price do not change"))?;
    if simulation.interval_s > 0 {
        line("interval", format!("{} s, as given; not modelled", simulation.interval_s))?;
    }
    Ok(())
}
