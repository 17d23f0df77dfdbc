//! A verified number for a pool, in one call.

use exitgap_api::PublishedExit;
use exitgap_core::evidence::Verdict;
use exitgap_core::ids::PoolId;
use exitgap_core::units::SizeUsd;

use crate::logwatch::Verification;
use crate::{ClientError, EvidenceOf, LogWatch, Storage, Transport};

/// An exit whose evidence passed every check.
#[derive(Debug, Clone)]
pub struct VerifiedExit {
    /// The service's answer, recomputed here from the snapshot that it names.
    pub exit: PublishedExit,
    /// Its evidence, and the state of its log.
    pub verification: Verification,
}

impl<T: Transport, S: Storage> LogWatch<'_, T, S> {
    /// The estimate for a sale of `size`, with every check made: the answer is recomputed from its snapshot, its
    /// evidence matches it, and its log extends what this reader saw of it. If anything is not proven, the error
    /// contains the report.
    pub async fn estimate(
        &self,
        pool: &PoolId,
        size: SizeUsd,
        base: Option<&str>,
        at: Option<&str>,
    ) -> Result<VerifiedExit, ClientError> {
        let exit = self.client().recomputed_exit(pool, size, base, at).await?;
        let url = exit.evidence_url.clone().unwrap_or_default();
        let wrong =
            |why: &str| ClientError::NotAsSpecified { url: url.clone(), why: why.to_owned() };
        let of = EvidenceOf::from_url(&url).ok_or_else(|| wrong("the answer has no evidence"))?;
        let verification = self.verify_remote(&of, false).await?;
        if verification.report.report.verdict != Verdict::Valid {
            let report = Box::new(verification.report);
            return Err(ClientError::NotProven { url, report });
        }
        let proven = verification.evidence.snapshot();
        let proven = proven.and_then(|snapshot| snapshot.to_canonical().ok());
        let proven = proven.map(|documents| documents.hash().to_string());
        if proven != exit.answer.context.method.depth_source.snapshot_hash {
            return Err(wrong("its evidence has a different snapshot from the answer"));
        }
        Ok(VerifiedExit { exit, verification })
    }
}
