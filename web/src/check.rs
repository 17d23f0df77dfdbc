//! Verification in this browser. Only numbers that were checked here are called confirmed.

use exitgap_api::{VerificationReport, check_name, slot_at};
use exitgap_client::{
    Browser, Client, ClientError, Continuity, EvidenceOf, LogWatch, Verification,
};
use exitgap_core::evidence::{Base, Check, CheckName, Evidence, Outcome, Policy, Verdict};
use exitgap_core::tlog::VerifierKey;
use exitgap_core::units::{Percent, SizeUsd};

use crate::browser::LocalStorage;
use crate::text;

/// Downloads a result's evidence and verifies it here, comparing its log with the one this browser saw before.
pub async fn remote(
    client: &Client<Browser>,
    of: &EvidenceOf,
    window: bool,
) -> Result<Verification, ClientError> {
    LogWatch::new(client, LocalStorage, Vec::new()).verify_remote(of, window).await
}

/// Verifies a file alone.
pub fn alone(evidence: &Evidence, keys: Vec<VerifierKey>) -> VerificationReport {
    VerificationReport::from_evidence(evidence, &Policy::with_keys(keys))
}

/// Verifies the reader's file, comparing its log with what this browser has stored about it; also returns the result of
/// that comparison as text. Offline, everything else is still verified.
pub async fn file(
    client: &Client<Browser>,
    evidence: &Evidence,
    keys: Vec<VerifierKey>,
) -> (VerificationReport, String) {
    let found = if keys.is_empty() {
        Err("Without a key, the log cannot be compared with the version this browser saw before."
            .to_owned())
    } else {
        let watch = LogWatch::new(client, LocalStorage, keys.clone());
        match watch.verify_file(evidence).await {
            Ok(Some(found)) => Ok(found),
            Ok(None) => Err(
                "This browser has not seen this log before, so there is nothing to compare it with."
                    .to_owned(),
            ),
            Err(error) => Err(format!(
                "The log was not compared with the version this browser saw before: {error}."
            )),
        }
    };
    match found {
        Ok((report, log)) => (report, describe_continuity(log.continuity).to_owned()),
        Err(words) => (alone(evidence, keys), words),
    }
}

/// How a log relates to what this browser has stored about it.
pub fn describe_continuity(continuity: Continuity) -> &'static str {
    match continuity {
        Continuity::Contradicts => "The log contradicts the version this browser saw before.",
        Continuity::Continues => "The log continues the version this browser saw before.",
        Continuity::NotCompared => {
            "The log could not be compared with the version this browser saw before, which contains more slots. A copy \
             that lags behind shows fewer slots, and so does one that hides rewritten history. Try again later."
        }
        Continuity::FirstSeen => {
            "This browser had not seen this log before, so there was nothing to compare it with. It stores this version \
             from now on."
        }
    }
}

/// The text for data that this program is too old for, which is neither right nor wrong.
pub const NEWER: &str = "made by a newer version of exitgap; update to check it";

/// Whether a check met data that only a newer version of exitgap knows.
pub fn is_newer(check: &Check) -> bool {
    check.outcome == Outcome::NotChecked && check.code.starts_with("unsupported_")
}

/// The state of a published number's check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckState {
    /// Not checked yet.
    NotChecked,
    /// The evidence is being downloaded and verified.
    Checking,
    /// This browser recomputed it.
    Confirmed,
    /// The number does not follow from its evidence.
    Refuted(String),
    /// It could not be checked.
    Failed(String),
}

/// The token that is sold in a published gap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sold {
    /// `token0` or `token1`.
    Base(String),
    /// The token's address.
    Token(String),
}

/// A gap as the service published it, with everything it claims to be about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublishedGap {
    /// Its evidence.
    pub evidence_url: String,
    /// The pool.
    pub pool: String,
    /// The token that is sold.
    pub sold: Sold,
    /// The size.
    pub size: SizeUsd,
    /// The slot's instant, RFC 3339.
    pub time: String,
    /// The gap, in digits.
    pub exit_gap_pct: String,
}

impl PublishedGap {
    /// The difference between the evidence's address and what the number claims to be about, if any.
    fn differs(&self, of: &EvidenceOf) -> Option<String> {
        let differs = |what, found: String, published: &str| {
            Some(format!("its evidence is for {what} {found}, not {published}"))
        };
        if of.pool.to_string() != self.pool {
            return differs("pool", of.pool.to_string(), &self.pool);
        }
        if of.size != self.size {
            return differs("size", of.size.to_string(), &self.size.to_string());
        }
        if slot_at("time", &self.time).ok() != Some(of.slot) {
            return differs("slot", of.slot.to_string(), &self.time);
        }
        match &self.sold {
            Sold::Base(base) if of.base.code() != base => {
                differs("selling", of.base.code().to_owned(), base)
            }
            _ => None,
        }
    }

    /// Whether the evidence sells another token than the published number.
    fn sells_another(&self, evidence: &Evidence, base: Base) -> bool {
        let Sold::Token(address) = &self.sold else { return false };
        evidence.snapshot().is_none_or(|snapshot| {
            let token = &snapshot.observation().tokens()[usize::from(base == Base::Token1)];
            !token.address.to_string().eq_ignore_ascii_case(address)
        })
    }
}

/// Checks a published gap by its evidence.
pub async fn gap(client: &Client<Browser>, published: &PublishedGap) -> CheckState {
    let Some(of) = EvidenceOf::from_url(&published.evidence_url) else {
        return CheckState::Failed("its evidence address is not valid".to_owned());
    };
    if let Some(why) = published.differs(&of) {
        return CheckState::Refuted(why);
    }
    match remote(client, &of, false).await {
        Err(error) => CheckState::Failed(error.to_string()),
        Ok(found) if published.sells_another(&found.evidence, of.base) => {
            CheckState::Refuted("its evidence sells the other token".to_owned())
        }
        Ok(found) => judge_report(&found.report, &published.exit_gap_pct),
    }
}

fn judge_report(found: &VerificationReport, published: &str) -> CheckState {
    if found.contradiction.is_some() {
        return CheckState::Refuted("the log's history was rewritten".to_owned());
    }
    match found.report.verdict {
        Verdict::Invalid => {
            let failed = found.report.checks.iter().filter(|check| check.outcome == Outcome::Fail);
            let names: Vec<_> = failed.map(|check| check_name(check.name)).collect();
            if names == [check_name(CheckName::Format)] {
                return CheckState::Failed("the service did not send an evidence file".to_owned());
            }
            CheckState::Refuted(format!("failed: {}", names.join(", ").replace('_', " ")))
        }
        Verdict::Incomplete if found.report.checks.iter().any(is_newer) => {
            CheckState::Failed(NEWER.to_owned())
        }
        Verdict::Incomplete => CheckState::Failed("not everything could be checked".to_owned()),
        Verdict::Valid => {
            let claimed = found.claim.as_ref().and_then(|claim| claim.exit_gap_pct.as_deref());
            if claimed.is_some_and(|claimed| same_percent(claimed, published)) {
                CheckState::Confirmed
            } else {
                let claimed =
                    claimed.map_or_else(|| "that it cannot be filled".to_owned(), text::percent);
                let published = text::percent(published);
                CheckState::Refuted(format!(
                    "published as {published}, but the evidence shows {claimed}"
                ))
            }
        }
    }
}

/// Whether two texts are the same percentage: evidence always has six decimals, documents as few as possible.
fn same_percent(one: &str, other: &str) -> bool {
    Percent::parse(one).is_ok_and(|one| Percent::parse(other).is_ok_and(|other| one == other))
}
