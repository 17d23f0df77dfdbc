//! A comparison of two operators' logs for the same pools and slots.

use exitgap_core::evidence::Verdict;
use exitgap_core::series::Slot;
use exitgap_core::snapshot::{Difference, Testimony};
use serde::Serialize;

use crate::AuditFault;

/// Two published logs, each replayed and compared with the other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ComparisonReport {
    /// `valid`: both logs are valid, signed by keys that the caller trusts, and nothing differs;
    /// `invalid`: one log is not valid, or the two differ about one block; `incomplete`: no error
    /// was found, but not everything was signed by a trusted key, the blocks differ, or there was
    /// nothing to compare.
    pub verdict: Verdict,
    /// The first log and the second.
    pub logs: [ComparedLog; 2],
    /// Pools that both recorded, matched by chain and contract, independent of the chain's name.
    pub pools: u64,
    /// Slots of these pools that both recorded and neither retracted.
    pub slots: u64,
    /// Those slots as a share of all slots of these pools that at least one of the two recorded, in percent. Absent if
    /// neither recorded any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slots_in_common_pct: Option<String>,
    /// Slots in which the two differ.
    pub differing: u64,
    /// Of those, slots that were read at different blocks.
    pub other_block: u64,
    /// Slots of these pools that only one of the two recorded: the first, the second.
    pub only_one: [u64; 2],
    /// Differences, in order, at most 100.
    pub differences: Vec<ComparedSlot>,
}

/// One of the logs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ComparedLog {
    /// `<name>/<first slot>`.
    pub origin: String,
    /// Whether a key given by the caller signed the log. If not, the folder's own key did.
    pub keys_trusted: bool,
    /// Slots found valid.
    pub slots: u64,
    /// The first error in the log.
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
    /// The pool's identifier in each log.
    pub pools: [String; 2],
    /// `other_block`, `state_differs`, `feed_differs` or `decimals_differ`.
    pub code: String,
    /// The feed or the token, if the difference is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
    /// The block numbers.
    pub blocks: [u64; 2],
    /// The block hashes.
    pub block_hashes: [String; 2],
    /// The hashes of the states.
    pub states: [String; 2],
}

impl ComparedSlot {
    /// A difference between the records of two operators, each with its own name of the pool.
    pub fn from_difference(
        slot: Slot,
        pools: [String; 2],
        difference: Difference,
        of: [&Testimony; 2],
    ) -> Self {
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

/// A slot in which a recorder's log and another operator's log that it follows differ: a file of
/// the recorder's own folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PeerSlot {
    /// The version, 1.
    pub v: u32,
    /// The other log, `<name>/<first slot>`.
    pub origin: String,
    /// The slot number.
    pub slot: u64,
    /// The time of the slot, RFC 3339.
    pub slot_time: String,
    /// The other log's checkpoint that covers the slot, as signed.
    pub checkpoint: String,
    /// The checkpoint that this one contradicts: the log signed two histories.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contradicts: Option<String>,
    /// Pools that both recorded at the slot.
    pub compared: u64,
    /// Pools in which the two differ.
    pub differing: u64,
    /// These differences, at most 100. In each pair, this log's value comes first.
    pub differences: Vec<PeerDifference>,
}

/// A pool in which two operators differ, with the chain's own state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PeerDifference {
    /// The difference.
    #[serde(flatten)]
    pub compared: ComparedSlot,
    /// The hashes of the snapshots.
    pub snapshots: [String; 2],
    /// The state proof that decides, by its path in this folder. Absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proof: Option<String>,
    /// The snapshots that the proof contradicts: `ours`, `theirs`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub refutes: Vec<&'static str>,
}
