//! Verifies evidence of this service's own log for callers that cannot verify it themselves.

use exitgap_api::operations::{
    EvidenceAsked, EvidenceOf, FigureOf, Operation, ProofOf, SlotAsked, VerificationAsked,
};
use exitgap_api::{KeysFrom, Problem, VerificationReport, VerifiedBy, VerifiedEvidence};
use exitgap_core::evidence::{CheckName, Evidence, Policy};
use exitgap_core::tlog::VerifierKey;
use exitgap_store::{Reader, StoreError};

use super::Service;

impl Service {
    /// Verifies the evidence or the figure file at a URL of this service, using the log's own keys. Nothing is fetched over
    /// the network: URLs of other hosts are refused, and those of this host are answered from the store. `verified_by`
    /// states whom the caller has to trust for the result.
    pub async fn verify(
        &self,
        asked: VerificationAsked,
        verified_by: VerifiedBy,
    ) -> Result<VerifiedEvidence, Problem> {
        asked.require_host(&[&self.urls.web, &self.urls.base])?;
        let VerificationAsked { url, of } = asked;
        match of {
            ProofOf::Exit(of) => self.verify_exit(url, &of, verified_by).await,
            ProofOf::Figure(of) => self.verify_figure(url, &of, verified_by).await,
        }
    }

    /// Verifies evidence of one number, with its head window.
    async fn verify_exit(
        &self,
        url: String,
        of: &EvidenceOf,
        verified_by: VerifiedBy,
    ) -> Result<VerifiedEvidence, Problem> {
        // Parses the URL exactly as when it is served, with the same refusals.
        let target = of.target();
        let query = target.as_str().split_once('?').map_or("", |(_, query)| query);
        let evidence: EvidenceAsked =
            Operation::Evidence.parse_question(Some(&of.pool.to_string()), query)?;
        let at = SlotAsked { pool: of.pool.clone(), slot: of.slot };
        let (evidence, window) = (self.evidence(evidence).await?, self.window(at.clone()).await?);
        let keys = self.log_keys().await?;
        let mut policy = Policy::with_keys(keys.clone());
        policy.window = Some(window.to_vec());
        policy.window_ends_with_file = true;
        policy.required.push(CheckName::Window);
        let verify =
            move || VerificationReport::from_evidence(&Evidence::from_bytes(&evidence), &policy);
        let report = self.lane.run(verify).await?;
        let trusted = (keys.iter().map(ToString::to_string).collect(), KeysFrom::Own);
        let verified = VerifiedEvidence::from_report(url, report, verified_by, trusted);
        Ok(verified.since(&self.slot_status(&at).await?))
    }

    /// Verifies a figure file: recomputes its result from the snapshots that it names.
    async fn verify_figure(
        &self,
        url: String,
        of: &FigureOf,
        verified_by: VerifiedBy,
    ) -> Result<VerifiedEvidence, Problem> {
        let file = self.figure_file_of(of).await?.bytes;
        let keys = self.log_keys().await?;
        let verify = move |reader: &Reader| {
            let report = reader.verify_figure(&file, &keys, |_, _| {})?;
            let trusted = (keys.iter().map(ToString::to_string).collect(), KeysFrom::Own);
            let verified =
                VerifiedEvidence::from_figure(url, (&file, report), verified_by, trusted);
            Ok::<_, StoreError>(verified)
        };
        self.figures.read_store(verify).await
    }

    /// The keys of the service's own log.
    async fn log_keys(&self) -> Result<Vec<VerifierKey>, Problem> {
        let log = self.readers.read_store(Reader::log).await?;
        Ok(log.map(|log| log.keys).unwrap_or_default())
    }
}
