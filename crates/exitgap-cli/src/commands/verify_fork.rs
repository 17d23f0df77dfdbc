//! `exitgap verify` of a proof that the holder of a log's key signed two histories.

use std::io::Write;
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use exitgap_api::ForkReport;
use exitgap_core::evidence::Verdict;
use exitgap_core::tlog::Fork;

use super::print_json;
use super::verify::of_evidence_alone;
use crate::arguments::VerifyArgs;
use crate::failure::{Failure, verdict_code};
use crate::format::printable;
use crate::source::unreadable;
use crate::trust;

pub fn run(file: &[u8], args: &VerifyArgs, json: bool) -> Result<ExitCode, Failure> {
    of_evidence_alone(args, "a proof of misbehaviour", "omit it: the proof is complete by itself")?;
    let keys = trust::keys(&args.trust.trust)?;
    let fork = Fork::from_canonical(file).map_err(|error| unreadable(error.to_string()))?;
    let report = ForkReport::from_result(fork.judge(&keys), keys.is_empty());
    if json { print_json(&report) } else { print_text(&report) }?;
    Ok(verdict_code(report.verdict))
}

fn print_text(report: &ForkReport) -> Result<(), Failure> {
    let mut out = anstream::stdout().lock();
    let (colour, verdict) = match report.verdict {
        Verdict::Valid => (AnsiColor::Red, "PROVEN: its holder signed two histories of this log"),
        Verdict::Invalid => (AnsiColor::Yellow, "NOT PROVEN: it does not show two histories"),
        Verdict::Incomplete => (AnsiColor::Yellow, "INCOMPLETE: no trusted key signed both"),
    };
    let style = Style::new().bold().fg_color(Some(colour.into()));
    writeln!(out, "Proof of misbehaviour: {style}{verdict}{style:#}.\n")?;
    let mut line = |name: &str, text: &str| writeln!(out, "{name:<14}{}", printable(text));
    if let (Some(log), Some([older, newer]), Some([first, second])) =
        (&report.log, report.sizes, &report.roots)
    {
        line("log", log)?;
        line("first", &format!("{older} slots, root {first}"))?;
        line("second", &format!("{newer} slots, the first {older} with root {second}"))?;
        line("so", "do not rely on this log; show this file to others")?;
    } else {
        line("why", &report.why)?;
    }
    Ok(())
}
