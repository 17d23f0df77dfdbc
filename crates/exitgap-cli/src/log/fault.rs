//! The possible faults of a log: one variant per rule.

use std::io;

use exitgap_api::AuditFault;
use exitgap_core::Newer;
use exitgap_core::analytics::accuracy::IssuedReceipts;
use exitgap_core::evidence::{Depths, HeadError, LeafError};
use exitgap_core::ids::{DocumentHash, PoolId, SnapshotHash};
use exitgap_core::log_folder::{BodyError, PublishedError};
use exitgap_core::series::Slot;
use exitgap_core::snapshot::SnapshotError;
use exitgap_core::tlog::{CheckpointError, Hash};

/// A broken rule, with its place.
#[derive(Debug)]
pub struct Fault {
    /// The rule.
    pub rule: Rule,
    /// The slot, if the fault is in one slot.
    pub slot: Option<Slot>,
    /// The pool, if the fault is in one pool.
    pub pool: Option<PoolId>,
}

impl Fault {
    /// The fault as a document.
    pub fn document(&self) -> AuditFault {
        AuditFault {
            code: self.rule.code(),
            detail: self.rule.to_string(),
            slot: self.slot.map(Slot::number),
            slot_time: self.slot.map(|slot| slot.to_string()),
            pool: self.pool.as_ref().map(PoolId::to_string),
        }
    }
}

impl From<BodyError<Self>> for Rule {
    fn from(error: BodyError<Self>) -> Self {
        match error {
            BodyError::Folder(rule) => rule,
            error => Self::BodyInvalid { reason: error.to_string() },
        }
    }
}

impl From<Rule> for Fault {
    fn from(rule: Rule) -> Self {
        Self { rule, slot: None, pool: None }
    }
}

/// A broken rule of a log's folder.
#[derive(Debug, thiserror::Error)]
pub enum Rule {
    #[error("{file} does not exist")]
    FileAbsent { file: String },
    /// Not the log's fault: this machine could not read the file.
    #[error("reading {file}: {error}")]
    FileUnreadable { file: String, error: io::Error },
    #[error("{file} is larger than the limit of {most} bytes")]
    FileTooLarge { file: String, most: usize },
    #[error("{file} is not UTF-8 text")]
    FileNotText { file: String },
    #[error(
        "this folder was published by a version of exitgap from before the first release, whose format is not supported"
    )]
    OlderFolder,
    #[error("{file}: {error}")]
    ManifestInvalid { file: String, error: PublishedError },
    #[error("{file} has the hash {found}, which does not match its name")]
    PartHash { file: String, found: DocumentHash },
    #[error("{file}: {reason}")]
    PartInvalid { file: String, reason: String },
    #[error("{file} contains a document with hash {found} that no head commits to there")]
    CommittedHash { name: &'static str, file: String, found: DocumentHash },
    #[error("{file}: {reason}")]
    CommittedInvalid { name: &'static str, file: String, reason: String, newer: Option<Newer> },
    #[error("{file} contains more documents than the heads of its slot commit to")]
    CommittedExtra { name: &'static str, file: String },
    #[error("{file} is of {what}")]
    CommittedOfOther { name: &'static str, file: String, what: String },
    #[error("{reason}")]
    BodyInvalid { reason: String },
    #[error("{file} is not a tile: {reason}")]
    TileInvalid { file: String, reason: String },
    #[error("{file}: hash {index} is {found}, the entries make {expected}")]
    TileMismatch { file: String, index: usize, expected: Hash, found: Hash },

    #[error("{file}: {error}")]
    CheckpointInvalid { file: String, error: CheckpointError },
    #[error("{file}: {of} is {found}, expected {expected}")]
    CheckpointMismatch { file: String, of: &'static str, expected: String, found: String },
    #[error("{file}: the signature by {signer} does not match that key")]
    SignatureForged { file: String, signer: String },
    #[error("{file}: expected a signature by a trusted key of {expected}, found {found}")]
    SignatureNotTrusted { file: String, expected: String, found: String },
    #[error("verifier-key: {error}")]
    VerifierKeyInvalid { error: String },
    #[error("verifier-key contains {found}, which is not a trusted key")]
    VerifierKeyNotTrusted { found: String },
    #[error(
        "the first leaf commits to the predecessor {expected}, the folder's predecessor file has {found}"
    )]
    Predecessor { expected: String, found: String },
    #[error("predecessor: {error}")]
    PredecessorInvalid { error: CheckpointError },
    #[error("the log's slots end after the year 9999")]
    SizeBeyondSeries,

    #[error("the manifest's first line: {error}")]
    LeafInvalid { error: LeafError },
    #[error("the slot leaf is of slot {found}")]
    LeafSlot { found: Slot },
    #[error("the manifest's slot leaf is {found}, the entry in the tiles is {expected}")]
    LeafEntry { expected: String, found: String },
    #[error("the heads make the root {found}, the slot leaf commits to {expected}")]
    HeadsRoot { expected: Hash, found: Hash },

    #[error("head {number} of the slot: {error}")]
    HeadInvalid { number: u32, error: HeadError },
    #[error("the head is of slot {found}")]
    HeadSlot { found: Slot },
    #[error("the head is out of order by pool id, after {after}")]
    HeadOrder { after: String },
    #[error("{error}")]
    HeadDoesNotFollow { error: HeadError },
    #[error("a second first head (height 0): the pool already has heads since height {height}")]
    SecondFirstHead { height: u32 },
    #[error("the pool's first head in this log has height {height}: earlier heads are left out")]
    HeadWithoutPredecessor { height: u32 },
    #[error("the pool's first head {rule}")]
    FirstHead { rule: &'static str },
    #[error("a head after the pool was retired")]
    HeadAfterRetired,
    #[error("the pool has no head in this slot and was not retired")]
    PoolDropped,
    #[error("the retraction of slot {retracted}: {rule}")]
    Retraction { retracted: Slot, rule: &'static str },
    #[error("lowest_depth_7d_usd is {}, the last 2016 slots make {}", depths(.found), depths(.expected))]
    LowestDepth { expected: Depths, found: Depths },

    #[error("the snapshot in the part has the hash {found}, the head has {expected}")]
    SnapshotHash { expected: SnapshotHash, found: SnapshotHash },
    #[error("the snapshot: {error}")]
    SnapshotInvalid { error: SnapshotError },
    #[error("the head has a snapshot of {found}")]
    SnapshotOfAnother { found: String },
    #[error("depth_usd is {}, the snapshot makes {}", depths(.found), depths(.expected))]
    Depth { expected: Depths, found: Depths },

    #[error("{file} proves {proven} at the snapshot's block, the snapshot has {recorded}")]
    StateDiffers { file: String, code: &'static str, proven: String, recorded: String },

    #[error("the checkpoint seen before has {seen} slots, the newest published one only {found}")]
    RolledBack { seen: u64, found: u64 },
    #[error("at size {size} the log's root is {found}, the checkpoint seen before has {seen}")]
    HistoryRewritten { size: u64, seen: Hash, found: Hash },
}

impl Rule {
    /// What a later version of exitgap wrote, if nothing else is wrong.
    pub fn newer(&self) -> Option<Newer> {
        match self {
            Self::ManifestInvalid { error, .. } => error.newer(),
            Self::LeafInvalid { error } => error.newer(),
            Self::HeadInvalid { error, .. } => error.newer(),
            Self::CommittedInvalid { newer, .. } => *newer,
            _ => None,
        }
    }

    /// A stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::FileAbsent { .. } => "file_absent",
            Self::FileUnreadable { .. } => "file_unreadable",
            Self::FileTooLarge { .. } => "file_too_large",
            Self::FileNotText { .. } => "file_not_text",
            Self::OlderFolder => "older_folder",
            Self::ManifestInvalid { .. } => "manifest_invalid",
            Self::PartHash { .. } => "part_hash_mismatch",
            Self::PartInvalid { .. } => "part_invalid",
            Self::CommittedHash { name: IssuedReceipts::NAME, .. } => "issued_hash_mismatch",
            Self::CommittedHash { .. } => "fills_hash_mismatch",
            Self::CommittedInvalid { name: IssuedReceipts::NAME, .. } => "issued_invalid",
            Self::CommittedInvalid { .. } => "fills_invalid",
            Self::CommittedExtra { name: IssuedReceipts::NAME, .. } => "issued_not_committed",
            Self::CommittedExtra { .. } => "fills_not_committed",
            Self::CommittedOfOther { name: IssuedReceipts::NAME, .. } => "issued_of_another_pool",
            Self::CommittedOfOther { .. } => "fills_do_not_follow",
            Self::BodyInvalid { .. } => "body_invalid",
            Self::TileInvalid { .. } => "tile_invalid",
            Self::TileMismatch { .. } => "tile_mismatch",
            Self::Predecessor { .. } => "predecessor_mismatch",
            Self::PredecessorInvalid { .. } => "predecessor_invalid",
            Self::CheckpointInvalid { .. } => "checkpoint_invalid",
            Self::CheckpointMismatch { .. } => "checkpoint_mismatch",
            Self::SignatureForged { .. } => "signature_forged",
            Self::SignatureNotTrusted { .. } => "signature_not_trusted",
            Self::VerifierKeyInvalid { .. } => "verifier_key_invalid",
            Self::VerifierKeyNotTrusted { .. } => "verifier_key_not_trusted",
            Self::SizeBeyondSeries => "size_beyond_series",
            Self::LeafInvalid { .. } => "leaf_invalid",
            Self::LeafSlot { .. } => "leaf_slot_mismatch",
            Self::LeafEntry { .. } => "leaf_entry_mismatch",
            Self::HeadsRoot { .. } => "heads_root_mismatch",
            Self::HeadInvalid { error: HeadError::Retraction { .. }, .. }
            | Self::Retraction { .. } => "retraction_invalid",
            Self::HeadInvalid { .. } => "head_invalid",
            Self::HeadSlot { .. } => "head_slot_mismatch",
            Self::HeadOrder { .. } => "head_order",
            Self::HeadDoesNotFollow { .. } => "head_does_not_follow",
            Self::SecondFirstHead { .. } => "second_first_head",
            Self::HeadWithoutPredecessor { .. } => "head_without_predecessor",
            Self::FirstHead { .. } => "first_head_invalid",
            Self::HeadAfterRetired => "head_after_retired",
            Self::PoolDropped => "pool_dropped",
            Self::LowestDepth { .. } => "lowest_depth_mismatch",
            Self::SnapshotHash { .. } => "snapshot_hash_mismatch",
            Self::SnapshotInvalid { .. } => "snapshot_invalid",
            Self::SnapshotOfAnother { .. } => "snapshot_of_another",
            Self::Depth { .. } => "depth_mismatch",
            Self::StateDiffers { code, .. } => code,
            Self::RolledBack { .. } => "rolled_back",
            Self::HistoryRewritten { .. } => "history_rewritten",
        }
    }

    /// The fault of this rule in `slot`.
    pub fn at(self, slot: Slot) -> Fault {
        Fault { rule: self, slot: Some(slot), pool: None }
    }

    /// The fault of this rule in `slot`, by `pool`.
    pub fn by(self, slot: Slot, pool: &PoolId) -> Fault {
        Fault { rule: self, slot: Some(slot), pool: Some(pool.clone()) }
    }
}

fn depths(depths: &Depths) -> String {
    depths.map(|depth| depth.map_or("none".to_owned(), |depth| depth.to_string())).join(", ")
}
