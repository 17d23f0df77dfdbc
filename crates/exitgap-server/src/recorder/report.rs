//! What became of a slot, or why nothing did.

use std::collections::BTreeMap;
use std::time::Duration;

use exitgap_chain::{RequestOutcomes, Unproven};
use exitgap_core::ids::PoolId;
use exitgap_core::series::{MissingReason, Slot};
use exitgap_store::{PublishError, RestoreError, StoreError};

use super::append::SealedSlot;
use super::publish::Publication;

/// What became of a slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlotReport {
    /// The slot.
    pub slot: Slot,
    /// Pools with a snapshot.
    pub recorded: u32,
    /// Pools without one, by reason code.
    pub missing: BTreeMap<MissingReason, u32>,
    /// Earlier slots of pools that it took back: their blocks were orphaned.
    pub retracted: u32,
    /// Pools of which earlier slots are in doubt since: their ticks, read in full, were not what
    /// had been followed.
    pub doubts: u32,
    /// Pools whose state the chain's own confirms.
    pub proven: u32,
    /// Of them those whose oracles' readings it confirms, too.
    pub oracles_proven: u32,
    /// Recorded pools that it says nothing of, by why; none where it is not asked.
    pub unproven: BTreeMap<Unproven, u32>,
    /// What became of the proofs of whole pools that the slot before it drew.
    pub drawn: Drawn,
    /// Witnesses that cosigned it.
    pub cosigned: u32,
    /// Those that were asked and did not, by name, each with why.
    pub not_cosigned: Vec<(String, String)>,
    /// HTTP requests it took.
    pub requests: u64,
    /// What nodes answered since the slot before, by node, method and outcome.
    pub node_outcomes: Vec<RequestOutcomes>,
    /// Pools whose logs came with it and cannot be read.
    pub unread_logs: u32,
    /// Documents of pools' logs and of receipts that the store refused, without which it was written.
    pub refused_documents: u32,
    /// Slots before it that were filled with `recorder_down`.
    pub filled_slots: u32,
    /// From the start of the reading to the end of the commit.
    pub elapsed: Duration,
    /// Why the slot is not published, where it should be. It is recorded all the same, and
    /// published with a later one.
    pub unpublished: Option<String>,
}

impl SlotReport {
    /// The report of a slot that is recorded, whether it is published or not.
    pub(super) fn from_sealed(
        sealed: &SealedSlot,
        publication: Publication,
        drawn: Drawn,
        elapsed: Duration,
    ) -> Self {
        let SealedSlot { slot, counts, filled_slots, .. } = sealed;
        let Publication { cosigned, not_cosigned, unpublished } = publication;
        Self {
            slot: *slot,
            recorded: counts.recorded,
            missing: counts.missing.clone(),
            retracted: counts.retracted,
            doubts: counts.doubts,
            proven: counts.proven,
            oracles_proven: counts.oracles_proven,
            unproven: counts.unproven.clone(),
            drawn,
            cosigned,
            not_cosigned,
            requests: counts.requests,
            node_outcomes: Vec::new(),
            unread_logs: counts.unread_logs,
            refused_documents: counts.refused_documents,
            filled_slots: *filled_slots,
            elapsed,
            unpublished,
        }
    }
}

/// Proofs of whole pools that a slot drew of the one before it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Drawn {
    /// How many were due.
    pub due: u32,
    /// How many of them were made and kept.
    pub proven: u32,
}

/// Why a slot was not recorded.
#[derive(Debug, thiserror::Error)]
pub enum RecorderError {
    /// The slot is in the store, or lies before what is.
    #[error("slot {slot} is sealed; the store's last is {last}")]
    Sealed {
        /// The slot asked for.
        slot: Slot,
        /// The store's last.
        last: Slot,
    },
    /// Only the machine's clock shows that the slot's time has come.
    #[error(
        "slot {slot} is not recorded: neither the chains' blocks nor the time that passed since the last of them confirm \
         that its time has come. Check the clock of this machine and the nodes"
    )]
    ClockUnconfirmed {
        /// The slot by the machine's clock.
        slot: Slot,
    },
    /// No pool is configured and the store has none.
    #[error("no pool to record; configure at least one [[pool]]")]
    NoPool,
    /// A pool is configured that was retired, which is final.
    #[error(
        "{pool} is configured, but it was retired at slot {slot}, which is final; remove it from the configuration, or record it under a new log"
    )]
    Retired {
        /// The pool.
        pool: PoolId,
        /// The slot of its last entry.
        slot: Slot,
    },
    /// A pool is to be recorded and to retire.
    #[error(
        "{pool} is both configured and listed in `retire`; remove its [[pool]], or remove it from `retire`"
    )]
    RetiringConfigured {
        /// The pool.
        pool: PoolId,
    },
    /// Two nodes of a chain answer, and serve different chains.
    #[error("{0}")]
    NodesDisagree(String),
    /// The store refused.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The folder does not go on from the store, which was opened again.
    #[error(transparent)]
    Folder(PublishError),
    /// What was about to be signed before cannot be sealed.
    #[error(transparent)]
    Claimed(Box<RestoreError>),
    /// An earlier call was interrupted while it wrote; the store went with it.
    #[error("the recorder was interrupted while writing; open the store again")]
    Interrupted,
}

impl RecorderError {
    /// What the store said, also where it said so while what was claimed was sealed.
    pub(super) fn of_store(&self) -> Option<&StoreError> {
        match self {
            Self::Store(error) => Some(error),
            Self::Claimed(error) => match &**error {
                RestoreError::Store(error) => Some(error),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether nothing of the slot was written and the store is as it was, so that the recorder goes on with the next slot.
    /// What nodes answered and contracts hold never ends it.
    pub(super) fn leaves_store_whole(&self) -> bool {
        match self {
            Self::ClockUnconfirmed { .. } | Self::Sealed { .. } => true,
            Self::Store(error) => {
                let passes = matches!(
                    error,
                    StoreError::Database { .. }
                        | StoreError::NotClaimed { .. }
                        | StoreError::ClockDiffers { .. }
                        | StoreError::Compress { .. }
                );
                passes || error.is_of_entries()
            }
            _ => false,
        }
    }

    /// Whether it is of a server, of another recorder or of a bucket that may answer otherwise later.
    pub(super) fn passes(&self) -> bool {
        matches!(
            self.of_store(),
            Some(
                StoreError::Leased { .. }
                    | StoreError::ClockDiffers { .. }
                    | StoreError::Unreachable { .. }
                    | StoreError::NotClaimed { .. }
                    | StoreError::Database { .. }
            )
        )
    }
}
