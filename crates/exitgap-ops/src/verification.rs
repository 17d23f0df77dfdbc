//! Verifies evidence of this service's own log for callers that cannot verify it themselves.

use exitgap_api::operations::{EvidenceAsked, Operation, SlotAsked, VerificationAsked};
use exitgap_api::{KeysFrom, Problem, VerificationReport, VerifiedBy, VerifiedEvidence};
use exitgap_core::evidence::{CheckName, Evidence, Policy};
use exitgap_store::Reader;

use super::Service;

impl Service {
    /// Verifies the evidence at a URL of this service, with its head window, using the log's own keys. Nothing is
    /// fetched over the network: URLs of other hosts are refused, and those of this host are answered from the store.
    /// `verified_by` states whom the caller has to trust for the result.
    pub async fn verify(
        &self,
        asked: VerificationAsked,
        verified_by: VerifiedBy,
    ) -> Result<VerifiedEvidence, Problem> {
        asked.require_host(&[&self.urls.web, &self.urls.base])?;
        let VerificationAsked { url, of } = asked;
        // Parses the URL exactly as when it is served, with the same refusals.
        let target = of.target();
        let query = target.as_str().split_once('?').map_or("", |(_, query)| query);
        let evidence: EvidenceAsked =
            Operation::Evidence.parse_question(Some(&of.pool.to_string()), query)?;
        let at = SlotAsked { pool: of.pool, slot: of.slot };
        let (evidence, window) = (self.evidence(evidence).await?, self.window(at.clone()).await?);
        let log = self.readers.read_store(Reader::log).await?;
        let keys = log.map(|log| log.keys).unwrap_or_default();
        let mut policy = Policy::with_keys(keys.clone());
        policy.window = Some(window.to_vec());
        policy.window_ends_with_file = true;
        policy.required.push(CheckName::Window);
        let verify =
            move || VerificationReport::from_evidence(&Evidence::from_bytes(&evidence), &policy);
        let report = self.lane.run(verify).await?;
        let keys = keys.iter().map(ToString::to_string).collect();
        let verified =
            VerifiedEvidence::from_report(url, report, verified_by, (keys, KeysFrom::Own));
        Ok(verified.since(&self.slot_status(&at).await?))
    }
}
