//! Selling now beside redeeming later, by the terms that the operator wrote down.

use exitgap_api::operations::ExitAsked;
use exitgap_api::{Problem, ProblemCode, PublishedRedemption, RedemptionWindow};
use exitgap_core::analytics::redemption::RedemptionTermsRead;
use exitgap_core::ids::{Address, ChainSlug};

use super::answers::direction;
use super::{Prepared, Service};

/// Terms of a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TermsOfToken {
    /// Its chain.
    pub chain: ChainSlug,
    /// The token.
    pub token: Address,
    /// The terms.
    pub terms: RedemptionTermsRead,
}

impl Service {
    /// The same with terms by which tokens are redeemed.
    #[must_use]
    pub fn with_redemption_terms(self, redemption: Vec<TermsOfToken>) -> Self {
        Self { redemption, ..self }
    }

    /// A sale, beside each way of redeeming the same.
    pub async fn redemption(&self, asked: &ExitAsked) -> Result<PublishedRedemption, Problem> {
        let ExitAsked { snapshot, size } = asked;
        let (found, size) = (self.find(snapshot).await?, *size);
        let direction = direction(&found.prepared, snapshot.base.as_deref())?;
        let observation = found.prepared.snapshot.observation();
        let token = observation.tokens()[direction.base_index()].address;
        let chain = observation.pool().chain();
        let is_its = |one: &&TermsOfToken| one.token == token && one.chain == *chain;
        let terms: Vec<_> =
            self.redemption.iter().filter(is_its).map(|one| one.terms.clone()).collect();
        let compare = move |prepared: &Prepared| {
            let observation = prepared.snapshot.observation();
            prepared
                .with_exit(direction, |exit| RedemptionWindow::of(observation, exit, size, &terms))
        };
        let window = self.work_out(&found, compare).await?;
        let has_evidence = window.refusal.is_none_or(ProblemCode::has_evidence);
        let evidence =
            has_evidence.then(|| self.evidence_url(&found.prepared, direction, &size.to_string()));
        Ok(self.publish(&found, direction, window, Some(size), evidence))
    }
}
