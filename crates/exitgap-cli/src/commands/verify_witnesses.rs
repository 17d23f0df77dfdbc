//! `exitgap verify --witnesses`: checks whether witnesses that the reader trusts cosigned the log's checkpoint, and
//! since when it existed.

use std::io::Write;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use anstyle::{AnsiColor, Style};
use exitgap_api::check_witnesses;
use exitgap_core::evidence::{Evidence, Outcome, Verdict, WitnessCheck};
use exitgap_core::tlog::MAX_POLICY_BYTES;

use crate::failure::Failure;
use crate::format::printable;
use crate::source;

/// The policy's result for a file; `None` if no policy is given.
pub fn check(policy: Option<&Path>, evidence: &Evidence) -> Result<Option<WitnessCheck>, Failure> {
    let Some(path) = policy else { return Ok(None) };
    let policy = source::read_named("policy of witnesses", path, MAX_POLICY_BYTES)?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Ok(Some(check_witnesses(evidence, &policy, Some(now.as_secs()))?))
}

/// Combines a verdict with the witnesses' result: a false cosignature makes it invalid, a missing quorum incomplete.
pub fn together(verdict: Verdict, check: Option<&WitnessCheck>) -> Verdict {
    match (verdict, check.map(|check| check.outcome)) {
        (Verdict::Valid | Verdict::Incomplete, Some(Outcome::Fail)) => Verdict::Invalid,
        (Verdict::Valid, Some(Outcome::NotChecked)) => Verdict::Incomplete,
        (verdict, _) => verdict,
    }
}

/// Prints the check.
pub fn print(check: Option<&WitnessCheck>) -> Result<(), Failure> {
    let Some(check) = check else { return Ok(()) };
    let mut out = anstream::stdout().lock();
    let bold = Style::new().bold();
    writeln!(out, "\n{bold}Checked with its witnesses{bold:#}")?;
    let (colour, outcome) = match check.outcome {
        Outcome::Pass => (AnsiColor::Green, "pass"),
        Outcome::Fail => (AnsiColor::Red, "FAIL"),
        Outcome::NotChecked => (AnsiColor::Yellow, "not checked"),
    };
    let style = Style::new().bold().fg_color(Some(colour.into()));
    let (expected, found) = (printable(&check.expected), printable(&check.found));
    write!(out, "{:<13}{style}{outcome:<13}{style:#}", check.name)?;
    if check.outcome == Outcome::Pass {
        writeln!(out, "{found}")?;
    } else {
        writeln!(out, "{}", check.code)?;
        writeln!(out, "{:<26}expected  {expected}", "")?;
        writeln!(out, "{:<26}found     {found}", "")?;
    }
    if check.recorded_before_s.is_some() {
        writeln!(
            out,
            "\nStill taken on trust: the witnesses do not collude, and their clocks are right."
        )?;
    }
    Ok(())
}
