//! The report of a slot, or why it was not recorded.

use std::collections::BTreeMap;
use std::time::Duration;

use exitgap_chain::{LogsChecked, RequestOutcomes, Unproven};
use exitgap_core::ids::{ChainSlug, PoolId};
use exitgap_core::series::{MissingReason, Slot};
use exitgap_store::{PublishError, RestoreError, StoreError};

use super::append::SealedSlot;
use super::publish::Publication;

/// The report of a slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlotReport {
    /// The slot.
    pub slot: Slot,
    /// Number of pools with a snapshot.
    pub recorded: u32,
    /// Number of pools without one, by reason code.
    pub missing: BTreeMap<MissingReason, u32>,
    /// Number of earlier snapshots that it retracted, because their blocks were orphaned.
    pub retracted: u32,
    /// Number of pools whose earlier slots are in doubt: a full reading found different ticks than the incremental
    /// updates.
    pub doubts: u32,
    /// Number of pools whose state the chain's own state confirms.
    pub proven: u32,
    /// Of these, the number whose oracle readings are confirmed too.
    pub oracles_proven: u32,
    /// Number of recorded pools without a proof, by reason; empty if proofs are off.
    pub unproven: BTreeMap<Unproven, u32>,
    /// The result of the whole-pool proofs that the previous slot drew.
    pub drawn: Drawn,
    /// Number of witnesses that cosigned it.
    pub cosigned: u32,
    /// Witnesses that were asked but did not cosign, by name, each with the reason.
    pub not_cosigned: Vec<(String, String)>,
    /// Number of HTTP requests.
    pub requests: u64,
    /// The nodes' answers since the previous slot, by node, method and outcome.
    pub node_outcomes: Vec<RequestOutcomes>,
    /// For each chain whose pools' logs were needed, how they were checked for being complete.
    pub logs_checked: BTreeMap<ChainSlug, LogsChecked>,
    /// Number of pools whose logs arrived but cannot be read.
    pub unread_logs: u32,
    /// Number of documents of logs and receipts that the store rejected; the slot was written without them.
    pub refused_documents: u32,
    /// Number of earlier slots that were filled with `recorder_down`.
    pub filled_slots: u32,
    /// From the start of the reading to the end of the commit.
    pub elapsed: Duration,
    /// Why the slot is not published although it should be. It is recorded all the same, and published with a later
    /// one.
    pub unpublished: Option<String>,
}

impl SlotReport {
    /// The report of a recorded slot, whether it is published or not.
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
            logs_checked: BTreeMap::new(),
            unread_logs: counts.unread_logs,
            refused_documents: counts.refused_documents,
            filled_slots: *filled_slots,
            elapsed,
            unpublished,
        }
    }
}

/// Whole-pool proofs that a slot drew from the previous one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Drawn {
    /// Number that were due.
    pub due: u32,
    /// Number that were created and stored.
    pub proven: u32,
}

/// Why a slot was not recorded.
#[derive(Debug, thiserror::Error)]
pub enum RecorderError {
    /// The store already has the slot, or a later one.
    #[error("slot {slot} is sealed; the store's last is {last}")]
    Sealed {
        /// The requested slot.
        slot: Slot,
        /// The store's last slot.
        last: Slot,
    },
    /// Only the machine's clock says that the slot's time has come.
    #[error(
        "slot {slot} is not recorded: neither the chains' blocks nor the time that passed since the last of them confirm \
         that its time has come. Check the clock of this machine and the nodes"
    )]
    ClockUnconfirmed {
        /// The slot according to the machine's clock.
        slot: Slot,
    },
    /// No pool is configured, and the store has none.
    #[error("no pool to record; configure at least one [[pool]]")]
    NoPool,
    /// A configured pool was already retired, which is final.
    #[error(
        "{pool} is configured, but it was retired at slot {slot}, which is final; remove it from the configuration, or record it under a new log"
    )]
    Retired {
        /// The pool.
        pool: PoolId,
        /// The slot of its last entry.
        slot: Slot,
    },
    /// A pool is both configured and listed for retirement.
    #[error(
        "{pool} is both configured and listed in `retire`; remove its [[pool]], or remove it from `retire`"
    )]
    RetiringConfigured {
        /// The pool.
        pool: PoolId,
    },
    /// Two nodes of a chain serve different chains.
    #[error("{0}")]
    NodesDisagree(String),
    /// The store returned an error.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The published log in the folder does not match the reopened store.
    #[error(transparent)]
    Folder(PublishError),
    /// A claimed slot cannot be sealed.
    #[error(transparent)]
    Claimed(Box<RestoreError>),
    /// An earlier call was interrupted while it wrote, and the store was lost.
    #[error("the recorder was interrupted while writing; open the store again")]
    Interrupted,
}

impl RecorderError {
    /// The store's error, also if it occurred while a claimed slot was sealed.
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

    /// Whether nothing of the slot was written and the store is unchanged, so that the recorder can continue with the
    /// next slot. Answers of nodes and contents of contracts never end the recorder.
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

    /// Whether the error is from a server, another recorder or a bucket, and may disappear later.
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
