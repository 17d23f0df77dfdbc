//! What two operators' logs say of the same pools and slots.

use exitgap_core::evidence::Verdict;
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
    /// The slot's number.
    pub slot: u64,
    /// Its instant, RFC 3339.
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
