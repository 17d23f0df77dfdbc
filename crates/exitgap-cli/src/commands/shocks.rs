//! `exitgap shocks`: the effects of recorded moves that a service's operator named.

use std::io::Write;
use std::process::ExitCode;

use exitgap_api::{Guards, NamedShock, NamedShocks, Number, Problem, ProblemCode};

use super::print_json;
use crate::arguments::StressArgs;
use crate::failure::Failure;
use crate::format::{Columns, printable};
use crate::source::api;

pub fn run(url: &str, json: bool) -> Result<ExitCode, Failure> {
    let told = fetch_shocks(url)?;
    if json { print_json(&told) } else { print_text(&told) }?;
    Ok(ExitCode::SUCCESS)
}

fn fetch_shocks(url: &str) -> Result<NamedShocks, Failure> {
    api::through(url, api::native()?, Guards::default(), async |client| client.shocks().await)
}

/// The haircut and the price drop of a named shock, as parameters of a stress test.
pub(super) fn find_shock(args: &StressArgs, name: &str) -> Result<[String; 2], Failure> {
    let refused = |detail: String, hint: &str| {
        let problem = Problem::new(ProblemCode::InvalidParameter, detail).field("shock");
        Err(Failure::from(problem.hint(hint)))
    };
    let Some(url) = &args.source.from.api else {
        let detail = "shock: a database has no named shocks".to_owned();
        return refused(detail, "give the service with --api, or use --haircut-pct and --fall-pct");
    };
    let all = fetch_shocks(url)?.shocks;
    let Some(shock) = all.iter().find(|shock| shock.name == name) else {
        let names: Vec<_> = all.iter().map(|shock| printable(&shock.name)).collect();
        let known = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        let detail = format!("shock: the service has no shock named {:?}", printable(name));
        return refused(detail, &format!("available shocks: {known}"));
    };
    if let (Some(haircut), Some(fall)) = (&shock.haircut_pct, &shock.fall_pct) {
        return Ok([haircut.to_string(), fall.to_string()]);
    }
    let why = printable(shock.why_not.as_deref().unwrap_or("?"));
    let detail = format!("shock: {} has no measurements: {why}", printable(name));
    refused(detail, "`exitgap shocks` lists the shocks with measurements")
}

fn print_text(told: &NamedShocks) -> Result<(), Failure> {
    let mut out = anstream::stdout().lock();
    if told.shocks.is_empty() {
        return Ok(writeln!(
            out,
            "The service has no named shocks; its operator configures them with [[shock]]"
        )?);
    }
    let mut rows = Columns::new(&[
        "<name",
        "price drop %",
        "liquidity withdrawn %",
        "<when",
        "<pool",
        "<what",
    ]);
    let number = |value: &Option<Number>| value.as_ref().map_or("-".to_owned(), Number::to_string);
    for shock in &told.shocks {
        let NamedShock { name, about, pool, time, fall_pct, haircut_pct, why_not, .. } = shock;
        let when = time.as_deref().or(why_not.as_deref()).unwrap_or("-");
        rows.row(vec![
            printable(name),
            number(fall_pct),
            number(haircut_pct),
            printable(when),
            printable(pool),
            printable(about),
        ]);
    }
    Ok(write!(out, "{rows}")?)
}
