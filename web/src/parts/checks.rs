//! A verification report: the verdict in a sentence, then each check.

use exitgap_api::{Claim, Explanation, VerificationReport, check_name};
use exitgap_core::evidence::{Check, CheckName, Outcome, Verdict};
use leptos::prelude::*;

use super::contradiction::Rewritten;
use crate::check::{NEWER, is_newer};
use crate::evidence_summary::EvidenceSummary;
use crate::text;

/// The claim of the evidence, and whether this browser could confirm it.
#[component]
pub fn Verdicts(
    /// The report.
    report: VerificationReport,
    /// A description of what the reader trusts.
    trust: String,
    /// The file's claims.
    told: EvidenceSummary,
) -> impl IntoView {
    let claim = describe_claim(report.claim.as_ref(), told);
    let confirmed = report.report.verdict == Verdict::Valid;
    let failed: Vec<CheckName> = report
        .report
        .checks
        .iter()
        .filter(|check| check.outcome == Outcome::Fail)
        .map(|check| check.name)
        .collect();
    let refusal = report.claim.as_ref().is_some_and(|claim| claim.refusal.is_some());
    let (class, words) = match report.report.verdict {
        Verdict::Valid if refusal => (
            "verdict pass",
            "Confirmed: this browser recomputed that the size cannot be filled, and it follows from the signed log.",
        ),
        Verdict::Valid => (
            "verdict pass",
            "Confirmed: this browser recomputed the number, and it follows from the signed log.",
        ),
        Verdict::Invalid => ("verdict fail", describe_refutation(&failed)),
        Verdict::Incomplete => ("verdict warn", incomplete(&report.report.checks)),
    };
    let names: Vec<_> = failed.iter().map(|name| check_name(*name).replace('_', " ")).collect();
    let failed = (!names.is_empty()).then(|| format!("Failed checks: {}.", names.join(", ")));
    view! {
        {report.contradiction.map(|found| view! { <Rewritten found=found/> })}
        <section class=class role="status">
            <p class="claim">{claim}</p>
            <p><strong>{words}</strong>" "{failed}</p>
            <p class="quiet">{trust}</p>
            {confirmed.then(|| view! {
                <p class="quiet">
                    "The program that checked it came from this same server. "
                    <a href=ELSEWHERE>"Verify with independent software"</a>"."
                </p>
            })}
        </section>
    }
}

/// The file's claim, as a sentence.
pub fn describe_claim(claim: Option<&Claim>, told: EvidenceSummary) -> String {
    let Some(claim) = claim else {
        return "This file contains no readable claim.".to_owned();
    };
    let time = claim.slot_time.as_deref();
    let time = time.map_or_else(|| "an unknown slot".to_owned(), text::instant);
    format!(
        "Claim: selling {} of {} in {} at {time} {}.",
        text::usd_exact(&claim.size_usd),
        told.sold.unwrap_or_else(|| claim.base.clone()),
        claim.pool,
        told.ends
    )
}

/// What an incomplete verdict lacks.
fn incomplete(checks: &[Check]) -> &'static str {
    let newer: Vec<CheckName> =
        checks.iter().filter(|check| is_newer(check)).map(|check| check.name).collect();
    if newer.is_empty() {
        "Not fully checked: no check failed, but something that a verdict needs is missing."
    } else if newer == [CheckName::Window] {
        "Neither confirmed nor wrong: the number follows from the file, but the days before it contain something made \
         by a newer version of exitgap. Update to check it."
    } else {
        "Neither confirmed nor wrong: part of this was made by a newer version of exitgap. Update to check it."
    }
}

/// What a failed check means for the number.
fn describe_refutation(failed: &[CheckName]) -> &'static str {
    if failed == [CheckName::Format] {
        "Not confirmed: this is not an evidence file, or it is damaged. Nothing in it was checked."
    } else if failed.contains(&CheckName::Result) {
        "Not confirmed: the number does not follow from this file's own snapshot."
    } else if failed == [CheckName::Consistency] {
        "Not confirmed: the file is consistent, but its log is not the one that this browser saw before."
    } else if failed == [CheckName::Window] {
        "Not confirmed: the number follows from the file, but the log entries of the seven days before do not lead to it."
    } else {
        "Not confirmed: the signed log does not contain the data that the number is computed from."
    }
}

/// Each check: passed, failed or not made, with what it proves and what it does not prove.
#[component]
pub fn Checks(
    /// The checks.
    checks: Vec<Check>,
) -> impl IntoView {
    let rows: Vec<_> = checks.into_iter().map(row).collect();
    view! { <ol class="checks">{rows}</ol> }
}

fn row(check: Check) -> impl IntoView {
    let explanation = Explanation::for_check(check.name);
    let (class, mark, word) = match check.outcome {
        Outcome::Pass => ("pass", "✓", "passed"),
        Outcome::Fail => ("fail", "✗", "FAILED"),
        Outcome::NotChecked if is_newer(&check) => ("warn", "–", NEWER),
        Outcome::NotChecked => ("warn", "–", "not checked"),
    };
    let found = match check.outcome {
        Outcome::Pass => view! { <p class="found">{check.found}</p> }.into_any(),
        Outcome::Fail => view! {
            <p class="found">"expected "<code>{check.expected}</code></p>
            <p class="found">"found "<code>{check.found}</code>" ("{check.code}")"</p>
        }
        .into_any(),
        Outcome::NotChecked if is_newer(&check) && check.found != "absent" => {
            view! { <p class="found">{check.found}</p> }.into_any()
        }
        Outcome::NotChecked => view! { <p class="found">"needs "{check.expected}</p> }.into_any(),
    };
    let open = check.outcome == Outcome::Fail;
    view! {
        <li class=class data-check=check_name(check.name) data-outcome=class>
            <details open=open>
                <summary>
                    <span class="mark" aria-hidden="true">{mark}</span>
                    <b>{check_name(check.name).replace('_', " ")}</b>" "
                    <span class="quiet">{word}</span>
                </summary>
                {found}
                <p>{explanation.means}</p>
                <p><b>"Proves: "</b>{explanation.proves}</p>
                <p><b>"Does not prove: "</b>{explanation.does_not_prove}</p>
            </details>
        </li>
    }
}

/// The address of the explanation of how to use another program.
pub const ELSEWHERE: &str = "/method#elsewhere";

/// A statement on every page, always in the same place.
#[component]
pub fn Whose() -> impl IntoView {
    view! {
        <p id="whose">
            "These checks run in code served by this same server. A dishonest server could send code that always \
             says yes. "
            <a href=ELSEWHERE>"Verify with independent software"</a>
            ": the command line, the npm package, or another server's "<code>"/verify"</code>"."
        </p>
    }
}
