//! What followed a slot whose evidence was verified. This is a separate request, because evidence never changes, but
//! the status of its slot can.

use exitgap_api::operations::Operation;
use exitgap_api::{SlotState, SlotStatus};
use exitgap_core::evidence::{Check, CheckName, MAX_RETRACTION_SLOTS, Outcome, Policy};
use exitgap_core::series::Slot;
use exitgap_core::tlog::Checkpoint;

use crate::{Client, ClientError, EvidenceOf, Transport, Verification};

/// The service's statements about the slots after a verified one, and which of them are proven.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Since {
    /// The slot's status, according to the service.
    pub status: SlotStatus,
    /// The check `window` of the evidence with the pool's heads from the slot on, as far as one of them may retract the
    /// slot: 288 slots, or up to the newest. `None` if there is no later head yet.
    pub heads: Option<Check>,
    /// Whether these heads are proven: they lead to a head covered by a checkpoint that a trusted key signed. Otherwise
    /// they are only the service's claim.
    pub proven: bool,
}

impl Since {
    /// Whether the slot was retracted, according to the service or to a later head.
    pub fn is_taken_back(&self) -> bool {
        self.heads.as_ref().is_some_and(takes_back) || self.status.state == SlotState::Retracted
    }
}

impl<T: Transport> Client<T> {
    /// Requests what followed the slot of verified evidence.
    pub async fn since(
        &self,
        of: &EvidenceOf,
        verified: &Verification,
    ) -> Result<Since, ClientError> {
        let target = Operation::SlotStatus.target_of(&of.pool);
        let status = self.slot_status(&of.pool, of.slot).await?;
        if status.pool != of.pool.to_string() || status.slot != of.slot.number() {
            let why = format!("it returned the status of slot {} of {}", status.slot, status.pool);
            return Err(self.not_as_specified(&target, why));
        }
        let end = newest_slot(&verified.log.newest)
            .map(Slot::number)
            .map(|newest| newest.min(of.slot.number().saturating_add(MAX_RETRACTION_SLOTS)));
        let end = end.filter(|end| *end > of.slot.number());
        let keys = verified.log.keys.clone();
        let trusted = !keys.is_empty();
        let heads = match end.and_then(|end| Slot::new(end.into()).ok()) {
            None => None,
            Some(end) => {
                let mut policy = Policy::with_keys(keys);
                policy.window = Some(self.window(&of.pool, end).await?);
                let report = verified.evidence.verify(&policy);
                report.checks.into_iter().find(|check| check.name == CheckName::Window)
            }
        };
        // With a trusted key, the check gets this far only with a valid signature.
        let signed = |check: &Check| check.outcome == Outcome::Pass || takes_back(check);
        let proven = trusted && heads.as_ref().is_some_and(signed);
        Ok(Since { status, heads, proven })
    }
}

/// Whether the check found a later head that retracts the slot.
fn takes_back(check: &Check) -> bool {
    check.code == "slot_retracted"
}

/// The last slot that a checkpoint covers.
fn newest_slot(note: &str) -> Option<Slot> {
    let (checkpoint, _) = Checkpoint::from_note(note).ok()?;
    let first = u64::from(checkpoint.origin.first_slot().number());
    Slot::new(first.checked_add(checkpoint.size.checked_sub(1)?)?).ok()
}
