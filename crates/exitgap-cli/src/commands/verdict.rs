//! Prints a verification report.

use std::io::Write;

use anstyle::{AnsiColor, Style};
use exitgap_api::{
    Claim, Contradiction, Explanation, SlotsAfterClock, VerificationReport, check_name,
};
use exitgap_client::{ClientError, Since};
use exitgap_core::evidence::{
    Base, Check, CheckName, Evidence, Outcome, Report, Verdict, WitnessCheck,
};
use exitgap_core::proof::{Rung, StateCheck};
use serde::Serialize;

use crate::failure::Failure;
use crate::format::{group_digits, printable};

fn style(colour: AnsiColor) -> Style {
    Style::new().bold().fg_color(Some(colour.into()))
}

/// A report, with explanations of its checks if requested.
#[derive(Serialize)]
pub struct ExplainedReport<'a> {
    #[serde(flatten)]
    report: &'a VerificationReport,
    #[serde(skip_serializing_if = "Option::is_none")]
    explanations: Option<Vec<Explanation>>,
    /// Slots of the log that are later than this machine's clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    after_clock: Option<&'a SlotsAfterClock>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    chain: &'a [StateCheck],
    #[serde(skip_serializing_if = "Option::is_none")]
    witnessed: Option<&'a WitnessCheck>,
    /// The highest verification level reached, as a word.
    #[serde(skip_serializing_if = "Option::is_none")]
    rung: Option<&'static str>,
    /// The same in a sentence, with who still has to be trusted.
    #[serde(skip_serializing_if = "Option::is_none")]
    sentence: Option<String>,
}

impl<'a> ExplainedReport<'a> {
    /// Creates the report, with explanations of its checks if `explain` is set.
    pub fn from_report(report: &'a VerificationReport, explain: bool) -> Self {
        let checks = &report.report.checks;
        let explanations =
            || checks.iter().map(|check| Explanation::for_check(check.name)).collect();
        let (chain, witnessed, rung, sentence) = (&[], None, None, None);
        let after_clock = None;
        let explanations = explain.then(explanations);
        Self { report, explanations, after_clock, chain, witnessed, rung, sentence }
    }

    /// Adds the slots of its log that are later than this machine's clock.
    pub fn with_after_clock(self, after_clock: Option<&'a SlotsAfterClock>) -> Self {
        Self { after_clock, ..self }
    }

    /// Adds the checks against the chain itself.
    pub fn with_chain(self, chain: &'a [StateCheck]) -> Self {
        Self { chain, ..self }
    }

    /// Adds the overall level.
    pub fn with_rung(self, rung: Option<Rung>) -> Self {
        Self { rung: rung.map(Rung::code), sentence: rung.map(Rung::sentence), ..self }
    }

    /// Adds the result of its witnesses.
    pub fn with_witnesses(self, witnessed: Option<&'a WitnessCheck>) -> Self {
        Self { witnessed, ..self }
    }
}

/// Prints the overall level, and who still has to be trusted.
pub fn print_rung(rung: Option<Rung>) -> Result<(), Failure> {
    let Some(rung) = rung else { return Ok(()) };
    let bold = Style::new().bold();
    writeln!(anstream::stdout(), "\n{bold}{}{bold:#}", rung.sentence())?;
    Ok(())
}

/// Prints which slots of the log are later than this machine's clock.
pub fn print_after_clock(after: Option<&SlotsAfterClock>) -> Result<(), Failure> {
    let Some(after) = after else { return Ok(()) };
    let style = style(AnsiColor::Yellow);
    writeln!(anstream::stdout(), "\n{style}After the clock{style:#}   {}", after.sentence())?;
    Ok(())
}

pub fn print_text(
    evidence: &Evidence,
    document: &VerificationReport,
    explain: bool,
    witnessed: Option<&WitnessCheck>,
) -> Result<(), Failure> {
    let mut out = anstream::stdout().lock();
    let report = &document.report;
    let (colour, verdict) = match report.verdict {
        Verdict::Valid => (AnsiColor::Green, "VALID: it follows from the signed log".to_owned()),
        Verdict::Invalid => (AnsiColor::Red, format!("INVALID: {}", describe_failures(report))),
        Verdict::Incomplete => {
            let verdict = "INCOMPLETE: no check failed, but some were not made";
            (AnsiColor::Yellow, verdict.to_owned())
        }
    };
    let claim = document.claim.as_ref();
    let claim = claim.map_or_else(no_claim, |claim| sentence(claim, &sold(claim, evidence)));
    let style = style(colour);
    writeln!(out, "{claim}: {style}{verdict}{style:#}.\n")?;
    for check in &report.checks {
        print_check(&mut out, check)?;
        if explain {
            print_explanation(&mut out, &Explanation::for_check(check.name), "    ")?;
            writeln!(out)?;
        }
    }
    let cosigned = |signer: &&String| {
        witnessed.is_some_and(|check| check.cosigned.iter().any(|by| by.key == **signer))
    };
    for signer in report.unknown_signers.iter().filter(|signer| !cosigned(signer)) {
        writeln!(out, "\nSigned by {}, a key that is not trusted: ignored.", printable(signer))?;
    }
    for (names, by) in [(&report.unknown_commits, "commitment"), (&report.unknown_facts, "fact")] {
        for name in names {
            writeln!(
                out,
                "\nContains the {by} {name}, which this version does not know: ignored."
            )?;
        }
    }
    if let Some(contradiction) = &document.contradiction {
        print_contradiction(contradiction)?;
    }
    Ok(())
}

/// Prints what a check means, proves and does not prove.
pub fn print_explanation(
    out: &mut impl Write,
    explanation: &Explanation,
    indent: &str,
) -> Result<(), Failure> {
    writeln!(out, "{indent}means           {}", explanation.means)?;
    writeln!(out, "{indent}proves          {}", explanation.proves)?;
    Ok(writeln!(out, "{indent}does not prove  {}", explanation.does_not_prove)?)
}

fn describe_failures(report: &Report) -> String {
    let failed = report.checks.iter().filter(|check| check.outcome == Outcome::Fail);
    let names: Vec<_> = failed.map(|check| check_name(check.name)).collect();
    format!("{} {}", names.join(", "), if names.len() == 1 { "fails" } else { "fail" })
}

fn no_claim() -> String {
    "The file's claim cannot be read".to_owned()
}

/// The token that is sold, with its symbol from the file's snapshot if that can be read.
pub fn sold(claim: &Claim, evidence: &Evidence) -> String {
    let Some(snapshot) = evidence.snapshot() else { return claim.base.clone() };
    let token = &snapshot.observation().tokens()[usize::from(claim.base == Base::Token1.code())];
    format!("{} ({})", token.symbol, claim.base)
}

/// The file's claim, unverified.
fn sentence(claim: &Claim, sold: &str) -> String {
    let slot = claim.slot_time.as_deref().map_or_else(|| claim.slot.to_string(), str::to_owned);
    let what = format!(
        "{} USD of {} sold in {} at {slot}",
        group_digits(&printable(&claim.size_usd)),
        printable(sold),
        claim.pool
    );
    let chain = claim.chain.as_ref().map_or_else(String::new, |id| format!(", chain {id}"));
    let status = claim.status.as_deref().unwrap_or_default();
    let by = claim.genesis_hash.as_ref().map_or_else(String::new, |hash| {
        format!(" (a chain configured by its operator, genesis {})", printable(hash))
    });
    let on = format!("status {}{chain}{by}", printable(status));
    match (&claim.exit_gap_pct, &claim.refusal) {
        (_, Some(code)) => {
            let code = printable(code);
            format!("The file claims that {what} cannot be filled ({code}), {on}")
        }
        (gap, None) => {
            let gap = printable(gap.as_deref().unwrap_or_default());
            format!("The file claims a gap of {gap}% for {what}, {on}")
        }
    }
}

fn print_check(out: &mut impl Write, check: &Check) -> Result<(), Failure> {
    let (colour, outcome) = match check.outcome {
        Outcome::Pass => (AnsiColor::Green, "pass"),
        Outcome::Fail => (AnsiColor::Red, "FAIL"),
        Outcome::NotChecked => (AnsiColor::Yellow, "not checked"),
    };
    let (style, name) = (style(colour), check_name(check.name));
    let (expected, found) = (printable(&check.expected), printable(&check.found));
    write!(out, "{name:<13}{style}{outcome:<13}{style:#}")?;
    match check.outcome {
        Outcome::Pass => writeln!(out, "{found}")?,
        Outcome::NotChecked if check.code.starts_with("unsupported_") => writeln!(out, "{found}")?,
        Outcome::NotChecked => writeln!(out, "needs {expected}")?,
        Outcome::Fail => {
            writeln!(out, "{}", check.code)?;
            writeln!(out, "{:<26}expected  {expected}", "")?;
            writeln!(out, "{:<26}found     {found}", "")?;
        }
    }
    Ok(())
}

/// Prints what followed the slot, as claimed by the service: this does not affect the verdict.
pub fn print_since(since: &Result<Since, ClientError>) -> Result<(), Failure> {
    let mut out = anstream::stdout().lock();
    let (colour, words) = match since {
        Err(error) => (AnsiColor::Yellow, format!("could not be reached: {error}")),
        Ok(since) if since.is_taken_back() => (AnsiColor::Red, taken_back(since)),
        Ok(Since { heads: None, .. }) => (AnsiColor::Green, "no later slot yet".to_owned()),
        Ok(Since { heads: Some(check), .. }) => match check.outcome {
            Outcome::Pass => (AnsiColor::Green, format!("not retracted; {}", check.found)),
            Outcome::NotChecked => (AnsiColor::Yellow, check.found.clone()),
            Outcome::Fail => {
                (AnsiColor::Red, format!("the claimed heads do not follow: {}", check.found))
            }
        },
    };
    let style = style(colour);
    writeln!(out, "\n{style}Since then{style:#}   {}", printable(&words))?;
    Ok(())
}

fn taken_back(since: &Since) -> String {
    let heads = if since.proven { "later, proven" } else { "later, claimed" };
    let Some(told) = &since.status.retraction else {
        return format!("RETRACTED by a {heads} head; later figures exclude this slot");
    };
    let why = match (&told.orphaned_block_hash, &told.canonical_block_hash) {
        (Some(orphaned), Some(canonical)) => {
            format!("block {orphaned} was orphaned and replaced by {canonical}")
        }
        _ if told.code == "misread" => {
            "a later full reading showed that its ticks were read wrongly".to_owned()
        }
        _ => format!("stated cause {:?}", told.code),
    };
    format!(
        "RETRACTED by the head of slot {}: {why}. The number follows from the recorded data, but later figures exclude it.",
        told.by_slot
    )
}

/// Prints both complete checkpoints, so that the reader can pass them on as proof.
pub fn print_contradiction(contradiction: &Contradiction) -> Result<(), Failure> {
    let mut out = anstream::stdout().lock();
    let style = style(AnsiColor::Red);
    writeln!(out, "\n{style}PROOF OF MISBEHAVIOUR{style:#}  {}. Keep them.", contradiction.proves)?;
    for (title, note) in ["kept before", "now"].into_iter().zip(&contradiction.checkpoints) {
        writeln!(out, "\n--- {title}")?;
        for line in note.lines() {
            writeln!(out, "{}", printable(line))?;
        }
    }
    if contradiction.fork.is_some() {
        writeln!(
            out,
            "\nTo share the proof as one file for `exitgap verify`: run with --json and save .contradiction.fork"
        )?;
    }
    Ok(())
}

/// Prints on stderr what to do about the verdict on a file.
pub fn print_advice(document: &VerificationReport, no_key: bool) {
    let report = &document.report;
    // Only a window that continues from the file's head covers later ones.
    let goes_on = report.check(CheckName::Window).is_some_and(|c| c.found.contains(", then "));
    if report.verdict == Verdict::Valid && !goes_on {
        anstream::eprintln!(
            "A file cannot show whether the slot was retracted later: give later heads with --window, or ask a service with --api."
        );
    }
    let code = |name| report.check(name).map(|check| check.code);
    if no_key && code(CheckName::Signature) == Some("no_trusted_key") {
        anstream::eprintln!(
            "No trusted key was given, so no signature counts. Get the log's verifier key from a place you trust (its operator's page, the file `verifier-key` of its folder), check that it begins with the name and id above, and pass it with --trust. Compare the whole key, not only the id."
        );
    }
    if code(CheckName::Consistency) == Some("history_rewritten") && document.contradiction.is_none()
    {
        anstream::eprintln!(
            "If a proof does not link the two checkpoints, either it belongs to other checkpoints or history was rewritten. To find out, give a copy of the log's folder with --log FOLDER."
        );
    }
}
