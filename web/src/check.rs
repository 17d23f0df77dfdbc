//! This browser's own verification. Only what passed through here is ever called confirmed.

use exitgap_api::{Claim, VerificationReport};
use exitgap_client::{Browser, Client, ClientError, EvidenceOf, LogWatch, Verification};
use exitgap_core::evidence::{Policy, Verdict, VerifierKey, verify};
use exitgap_core::units::Percent;

use crate::store::LocalStorage;

/// Fetches a result's evidence and verifies it here, against the log this browser saw before.
pub async fn remote(
    client: &Client<Browser>,
    of: &EvidenceOf,
    window: bool,
) -> Result<Verification, ClientError> {
    LogWatch::new(client, LocalStorage, Vec::new()).verify_remote(of, window).await
}

/// Verifies bytes that the reader has.
pub fn local(
    evidence: &[u8],
    keys: Vec<VerifierKey>,
    window: Option<Vec<u8>>,
) -> VerificationReport {
    let mut policy = Policy::trusting(keys);
    policy.window = window;
    let report = verify(evidence, &policy);
    VerificationReport { claim: Claim::of(evidence), report, contradiction: None }
}

/// How a published number stands with this reader.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// Nobody looked.
    NotChecked,
    /// Being fetched and verified.
    Checking,
    /// This browser recomputed it.
    Confirmed,
    /// It does not follow from its evidence.
    Refuted(String),
    /// It could not be checked.
    Failed(String),
}

/// Checks one published gap by its evidence.
pub async fn gap(client: &Client<Browser>, evidence_url: &str, published: &str) -> Standing {
    let Some(of) = EvidenceOf::from_url(evidence_url) else {
        return Standing::Failed("its evidence address cannot be read".to_owned());
    };
    match remote(client, &of, false).await {
        Err(error) => Standing::Failed(error.to_string()),
        Ok(found) => standing(&found.report, published),
    }
}

fn standing(found: &VerificationReport, published: &str) -> Standing {
    if found.contradiction.is_some() {
        return Standing::Refuted("the log's history was rewritten".to_owned());
    }
    match found.report.verdict {
        Verdict::Invalid => {
            let names = found
                .report
                .checks
                .iter()
                .filter(|check| check.outcome == exitgap_core::evidence::Outcome::Fail);
            let names: Vec<_> = names.map(|check| exitgap_api::check_name(check.name)).collect();
            Standing::Refuted(format!("failed: {}", names.join(", ")))
        }
        Verdict::Incomplete => Standing::Failed("not everything could be checked".to_owned()),
        Verdict::Valid => {
            let claimed = found.claim.as_ref().map(|claim| claim.exit_gap_pct.as_str());
            if claimed.is_some_and(|claimed| same_percent(claimed, published)) {
                Standing::Confirmed
            } else {
                let claimed = claimed.unwrap_or("nothing");
                Standing::Refuted(format!("published {published}, the evidence says {claimed}"))
            }
        }
    }
}

/// Whether two texts are one percentage: evidence writes six decimals, documents the shortest.
pub fn same_percent(one: &str, other: &str) -> bool {
    Percent::parse(one).is_ok_and(|one| Percent::parse(other).is_ok_and(|other| one == other))
}
