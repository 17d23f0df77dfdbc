//! Selling now compared with redeeming later, under the terms that the operator configured.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use exitgap_api::operations::ExitAsked;
use exitgap_api::{Problem, ProblemCode, PublishedRedemption, RedemptionWindow};
use exitgap_core::analytics::redemption::{Pace, PacedTerms, RedemptionFacts, RedemptionTermsRead};
use exitgap_core::ids::{Address, ChainSlug, Code, PoolId};
use exitgap_core::series::Slot;

use super::answers::direction;
use super::{PreparedSnapshot, Service};

/// The redemption terms of a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TermsOfToken {
    /// Its chain.
    pub chain: ChainSlug,
    /// The token.
    pub token: Address,
    /// The terms.
    pub terms: RedemptionTermsRead,
}

/// A queue, identified by the pool with which it is recorded and the name of the fact with its length.
type Queue = (PoolId, Code);

/// The newest known pace of each queue, with its slot.
#[derive(Debug, Default)]
pub(super) struct Paces(Mutex<BTreeMap<Queue, (Slot, Option<Pace>)>>);

impl Service {
    /// The same service with redemption terms of tokens.
    #[must_use]
    pub fn with_redemption_terms(self, redemption: Vec<TermsOfToken>) -> Self {
        Self { redemption, ..self }
    }

    /// A sale, compared with each way to redeem the same amount.
    pub async fn redemption(&self, asked: &ExitAsked) -> Result<PublishedRedemption, Problem> {
        let ExitAsked { snapshot, size } = asked;
        let (found, size) = (self.find(snapshot).await?, *size);
        let direction = direction(&found.prepared, snapshot.base.as_deref())?;
        let observation = found.prepared.snapshot.observation();
        let token = observation.tokens()[direction.base_index()].address;
        let chain = observation.pool().chain();
        let is_its = |one: &&TermsOfToken| one.token == token && one.chain == *chain;
        let (pool, slot) = (observation.pool().clone(), found.prepared.slot);
        let mut terms = Vec::new();
        for read in self.redemption.iter().filter(is_its).map(|one| one.terms.clone()) {
            let pace = self.pace(&pool, &read.facts, slot).await?;
            terms.push(PacedTerms { read, pace });
        }
        let compare = move |prepared: &PreparedSnapshot| {
            let observation = prepared.snapshot.observation();
            prepared.with_exit(direction, |exit| {
                RedemptionWindow::from_terms(observation, exit, size, &terms)
            })
        };
        let window = self.work_out(&found, compare).await?;
        let has_evidence = window.refusal.is_none_or(ProblemCode::has_evidence);
        let evidence =
            has_evidence.then(|| self.evidence_url(&found.prepared, direction, &size.to_string()));
        Ok(self.publish(&found, direction, window, Some(size), evidence))
    }

    /// The pace of a queue up to a slot, if the terms need it.
    async fn pace(
        &self,
        pool: &PoolId,
        facts: &RedemptionFacts,
        slot: Slot,
    ) -> Result<Option<Pace>, Problem> {
        let Some(name) = facts.ahead.filter(|_| facts.recorded_pace) else { return Ok(None) };
        let kept = || self.paces.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (pool.clone(), name);
        let known = kept().get(&key).copied();
        if let Some((at, pace)) = known
            && at == slot
        {
            return Ok(pace);
        }
        let (of, facts) = (pool.clone(), *facts);
        let pace = self.figures.read_store(move |reader| reader.pace(&of, &facts, slot)).await?;
        if known.is_none_or(|(at, _)| at < slot) {
            kept().insert(key, (slot, pace));
        }
        Ok(pace)
    }
}
