//! `exitgap verify-receipt`: checks whether a receipt was signed by its service, and which answer it covers.

use std::io::Write;
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use exitgap_api::invalid_parameter;
use exitgap_api::receipt::{MAX_RECEIPT_BYTES, Receipt, ReceiptError};
use exitgap_core::evidence::{Evidence, MAX_EVIDENCE_BYTES, Outcome, Verdict};
use exitgap_core::series::rfc3339;
use exitgap_pay::{Asset, Usdc};
use serde::Serialize;

use super::receipt_log::OfLog;
use super::{print_json, receipt_log};
use crate::arguments::VerifyReceiptArgs;
use crate::failure::{Failure, read_or_not, verdict_code};
use crate::format::printable;
use crate::{receipts, source};

/// Maximum length of an answer.
const MAX_ANSWER_BYTES: usize = 1 << 20;

/// The result of one check.
#[derive(Serialize)]
pub struct Check {
    #[serde(rename = "check")]
    name: &'static str,
    pub outcome: Outcome,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
}

/// The document of `--json`.
#[derive(Serialize)]
struct Report {
    verdict: Verdict,
    kid: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    receipt: Option<Receipt>,
    checks: Vec<Check>,
    /// The result for the log, if one was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    log: Option<OfLog>,
}

/// An unknown kind or later version cannot be checked, but is not wrong.
fn is_unknown(error: &ReceiptError) -> bool {
    matches!(error, ReceiptError::Newer { .. } | ReceiptError::NotEvidence { .. })
}

impl Check {
    /// A check that passed.
    pub fn with_pass(name: &'static str) -> Self {
        Self { name, outcome: Outcome::Pass, code: None, detail: None }
    }

    /// A check that failed or could not be made.
    pub fn new(name: &'static str, outcome: Outcome, code: &'static str, detail: String) -> Self {
        Self { name, outcome, code: Some(code), detail: Some(detail) }
    }

    fn from_result(name: &'static str, found: Result<(), &ReceiptError>) -> Self {
        let Err(error) = found else { return Self::with_pass(name) };
        let outcome = if is_unknown(error) { Outcome::NotChecked } else { Outcome::Fail };
        Self::new(name, outcome, error.code(), error.to_string())
    }
}

pub fn run(args: &VerifyReceiptArgs, json: bool) -> Result<ExitCode, Failure> {
    if args.log.is_none() && !args.trust.trust.is_empty() {
        let detail = "trust: this option needs a log";
        return Err(invalid_parameter("trust", detail, "give the log with --log").into());
    }
    let key = receipts::key(&args.key)?;
    // One byte more than the longest receipt with a line break.
    let bytes = source::read_named("receipt", &args.receipt, MAX_RECEIPT_BYTES + 2)?;
    let text = String::from_utf8_lossy(&bytes);
    let receipt = Receipt::verify(text.trim_end(), &key);
    let mut checks = vec![Check::from_result("signature", receipt.as_ref().map(drop))];
    let mut of_log = None;
    if let Ok(receipt) = &receipt {
        if let Some(path) = &args.answer {
            let answer = source::read_named("answer", path, MAX_ANSWER_BYTES)?;
            if answer.len() > MAX_ANSWER_BYTES {
                let why = format!("it is larger than the limit of {MAX_ANSWER_BYTES} bytes");
                return Err(source::unreadable(format!("answer {}: {why}", path.display())).into());
            }
            let found = receipt.check_answer(&answer).or_else(|error| {
                // Programs that print an answer add a line break, which is not part of it.
                let without = answer.strip_suffix(b"\n").ok_or(error)?;
                receipt.check_answer(without)
            });
            checks.push(Check::from_result("answer", found.as_ref().copied()));
        }
        if let Some(path) = &args.evidence {
            let evidence = Evidence::from_bytes(&source::read_named(
                "evidence file",
                path,
                MAX_EVIDENCE_BYTES,
            )?);
            checks.push(Check::from_result(
                "evidence",
                receipt.check_evidence(&evidence).as_ref().copied(),
            ));
        }
        if let Some(log) = &args.log {
            let (found, said) = receipt_log::look(args, log, (receipt, text.trim_end()))?;
            checks.extend(found);
            of_log = said;
        }
    }
    let any = |outcome| checks.iter().any(|check| check.outcome == outcome);
    let verdict = match (any(Outcome::Fail), any(Outcome::NotChecked)) {
        (true, _) => Verdict::Invalid,
        (false, true) => Verdict::Incomplete,
        (false, false) => Verdict::Valid,
    };
    let report = Report { verdict, kid: key.kid(), receipt: receipt.ok(), checks, log: of_log };
    read_or_not(if json { print_json(&report) } else { print_text(&report, args) })?;
    Ok(verdict_code(verdict))
}

fn print_text(report: &Report, args: &VerifyReceiptArgs) -> Result<(), Failure> {
    let mut out = anstream::stdout().lock();
    let (colour, verdict) = match report.verdict {
        Verdict::Valid => (AnsiColor::Green, "VALID: the key signed it"),
        Verdict::Invalid if report.receipt.is_some() => {
            (AnsiColor::Red, "INVALID: the key signed it, but not for this data")
        }
        Verdict::Invalid => (AnsiColor::Red, "INVALID"),
        Verdict::Incomplete => {
            (AnsiColor::Yellow, "INCOMPLETE: no check failed, but some were not made")
        }
    };
    let style = Style::new().bold().fg_color(Some(colour.into()));
    writeln!(out, "Receipt: {style}{verdict}{style:#}.\n")?;
    if let Some(receipt) = &report.receipt {
        print_receipt(&mut out, receipt)?;
        writeln!(out)?;
    }
    let colour_of = |outcome| match outcome {
        Outcome::Pass => AnsiColor::Green,
        Outcome::Fail => AnsiColor::Red,
        Outcome::NotChecked => AnsiColor::Yellow,
    };
    for Check { name: check, outcome, code, detail } in &report.checks {
        let style = Style::new().bold().fg_color(Some(colour_of(*outcome).into()));
        let word = match outcome {
            Outcome::Pass => "pass",
            Outcome::Fail => "FAIL",
            Outcome::NotChecked => "unknown",
        };
        let code = code.map_or_else(String::new, |code| format!("[{code}] "));
        let detail = printable(detail.as_deref().unwrap_or(""));
        writeln!(out, "{check:<12}{style}{word:<9}{style:#}{code}{detail}")?;
    }
    if report.receipt.is_some() {
        for (check, given, flag) in [
            ("answer", args.answer.is_some(), "--answer FILE"),
            ("evidence", args.evidence.is_some(), "--evidence FILE"),
            ("log", args.log.is_some(), "--log FOLDER|URL"),
        ] {
            if !given {
                writeln!(out, "{check:<12}not checked: give it with {flag}")?;
            }
        }
        if let Some(of) = &report.log {
            receipt_log::print(&mut out, of)?;
        }
        writeln!(
            out,
            "\nThe receipt shows what the service confirms was paid and answered. To check the number itself, verify its evidence: `exitgap verify`."
        )?;
    }
    Ok(())
}

fn print_receipt(out: &mut impl Write, receipt: &Receipt) -> Result<(), Failure> {
    let Receipt { network, asset, amount, .. } = receipt;
    let is_it = |known: &Asset| known.network == *network && known.address == *asset;
    let paid = match Asset::known().iter().find(|known| is_it(known)) {
        Some(known) => format!("{} {}", Usdc::from(*amount), known.symbol),
        None => format!("{amount} units of the token {asset}"),
    };
    let url = |url: &str| printable(url);
    writeln!(out, "paid        {paid} on {network}")?;
    writeln!(out, "by          {}", receipt.payer)?;
    writeln!(out, "in          transaction {}", receipt.transaction)?;
    writeln!(out, "at          {}", rfc3339(receipt.issued_at))?;
    writeln!(out, "for         {}", url(&receipt.resource_url))?;
    writeln!(out, "answer      SHA-256 {}", receipt.answer_sha256)?;
    writeln!(
        out,
        "from        snapshot {}, method {}",
        receipt.snapshot_hash,
        printable(&receipt.method_version)
    )?;
    if let Some(evidence) = &receipt.evidence_url {
        writeln!(out, "evidence    {}", url(evidence))?;
    }
    Ok(())
}
