//! What two operators' logs say of the same pools and slots.

use exitgap_core::evidence::Verdict;
use exitgap_core::series::Slot;
use exitgap_core::snapshot::{Difference, Testimony};
use serde::Serialize;

use crate::AuditFault;

/// Two published logs, each replayed, and held against each other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ComparisonReport {
    /// `valid`: both hold, signed by keys the caller trusts, and nothing differs; `invalid`: one does not hold, or both say
    /// something else of one block; `incomplete`: nothing is wrong, but not all of it was signed by a trusted key, they were
    /// read at different blocks, or there was nothing to compare.
    pub verdict: Verdict,
    /// The first log and the second.
    pub logs: [ComparedLog; 2],
    /// Pools that both recorded, by chain and contract, whatever they call the chain.
    pub pools: u64,
    /// Slots of these pools that both recorded and neither took back.
    pub slots: u64,
    /// Of them, those in which they differ.
    pub differing: u64,
    /// Of those, slots that were read at different blocks.
    pub other_block: u64,
    /// Slots of these pools that only one of them recorded: the first, the second.
    pub only_one: [u64; 2],
    /// Differences, in order, at most a hundred.
    pub differences: Vec<ComparedSlot>,
}

/// One of the logs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ComparedLog {
    /// `<name>/<first slot>`.
    pub origin: String,
    /// Whether a key that the caller named signed it; else the folder's own did.
    pub keys_trusted: bool,
    /// Slots found to hold.
    pub slots: u64,
    /// The first thing wrong with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<AuditFault>,
}

/// A slot of a pool in which two operators differ.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ComparedSlot {
    /// The slot number.
    pub slot: u64,
    /// The time of the slot, RFC 3339.
    pub slot_time: String,
    /// The pool as each of them calls it.
    pub pools: [String; 2],
    /// `other_block`, `state_differs`, `feed_differs` or `decimals_differ`.
    pub code: String,
    /// The feed or the token, where it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
    /// The block of each: its number.
    pub blocks: [u64; 2],
    /// The hashes of these blocks.
    pub block_hashes: [String; 2],
    /// The state of each, by its hash.
    pub states: [String; 2],
}

impl ComparedSlot {
    /// A difference between what two operators say, each with its own name of the pool.
    pub fn of(slot: Slot, pools: [String; 2], difference: Difference, of: [&Testimony; 2]) -> Self {
        let about = match difference {
            Difference::FeedDiffers(of) | Difference::DecimalsDiffer(of) => Some(of.to_string()),
            Difference::OtherBlock | Difference::StateDiffers => None,
        };
        Self {
            slot: u64::from(slot.number()),
            slot_time: slot.to_string(),
            pools,
            code: difference.code().to_owned(),
            of: about,
            blocks: of.map(|one| one.block.number),
            block_hashes: of.map(|one| one.block.hash.to_string()),
            states: of.map(|one| one.state.to_string()),
        }
    }
}

/// A slot of another operator's log that a recorder follows, in which they differ: a file of the recorder's own folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PeerSlot {
    /// 1.
    pub v: u32,
    /// The other log, `<name>/<first slot>`.
    pub origin: String,
    /// The slot number.
    pub slot: u64,
    /// The time of the slot, RFC 3339.
    pub slot_time: String,
    /// The other log's checkpoint up to and with the slot, as it was signed.
    pub checkpoint: String,
    /// The checkpoint that this one contradicts: the log signed two pasts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contradicts: Option<String>,
    /// Pools that both recorded at the slot.
    pub compared: u64,
    /// Of them, those in which they differ.
    pub differing: u64,
    /// These differences, at most a hundred; in each pair this log's comes first.
    pub differences: Vec<PeerDifference>,
}

/// A pool in which two operators differ, and what the chain's own state says of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PeerDifference {
    /// In what.
    #[serde(flatten)]
    pub compared: ComparedSlot,
    /// The snapshot of each, by its hash.
    pub snapshots: [String; 2],
    /// The state proof that decides, by its path in this folder; absent where none does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proof: Option<String>,
    /// Whose snapshot it contradicts: `ours`, `theirs`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub refutes: Vec<&'static str>,
}
