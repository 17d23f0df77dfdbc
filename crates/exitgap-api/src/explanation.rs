//! What each check of an evidence file means, proves, and does not prove.

use exitgap_core::evidence::CheckName;
use serde::Serialize;

/// The explanation of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// The check.
    pub check: CheckName,
    /// The meaning of the check.
    pub means: &'static str,
    /// The conclusion if the check passes.
    pub proves: &'static str,
    /// What the check does not prove.
    pub does_not_prove: &'static str,
    /// Whether the default policy requires the check.
    pub required: bool,
}

impl Explanation {
    /// The explanation of one check.
    pub fn for_check(check: CheckName) -> Self {
        let [means, proves, does_not_prove] = words(check);
        let required = CheckName::REQUIRED.contains(&check);
        Self { check, means, proves, does_not_prove, required }
    }

    /// All explanations, in the order in which the checks are made.
    pub fn for_all_checks() -> [Self; CheckName::ALL.len()] {
        CheckName::ALL.map(Self::for_check)
    }
}

/// A check's name as used in the report document.
pub fn check_name(check: CheckName) -> &'static str {
    match check {
        CheckName::Format => "format",
        CheckName::Snapshot => "snapshot",
        CheckName::Head => "head",
        CheckName::SlotLeaf => "slot_leaf",
        CheckName::Inclusion => "inclusion",
        CheckName::Signature => "signature",
        CheckName::Consistency => "consistency",
        CheckName::Window => "window",
        CheckName::SlotRule => "slot_rule",
        CheckName::Result => "result",
    }
}

/// The texts: what the check means, what it proves, and what it does not prove.
fn words(check: CheckName) -> [&'static str; 3] {
    match check {
        CheckName::Format => [
            "The file is one JSON document of evidence version 1, in its only valid spelling.",
            "Everyone who hashes the file hashes the same bytes, and every field in it is checked.",
            "Anything about its content.",
        ],
        CheckName::Snapshot => [
            "The pool's state in the file follows the rules of its kind, and its SHA-256 is the state hash in the head.",
            "The result is computed from the recorded state.",
            "That the chain really had that state. A state proof shows that, under a block hash that you look up yourself (`exitgap verify --rpc`).",
        ],
        CheckName::Head => [
            "The pool's entry for the slot has the requested pool and slot, follows released rules, and states the depths of the snapshot.",
            "The entry belongs to this question, and its depths follow from the snapshot.",
            "Anything about the entries before it: see `window`.",
        ],
        CheckName::SlotLeaf => [
            "Hashing the entry up the slot's tree gives the root in the slot's leaf.",
            "The sealed slot, with all its pools, contains exactly this entry for this pool.",
            "That the log contains this leaf: see `inclusion`.",
        ],
        CheckName::Inclusion => [
            "Hashing the leaf up the log's tree gives the checkpoint's root, at the index of this slot.",
            "The log of that checkpoint contains this leaf, and exactly one leaf for every slot before it.",
            "Whose log it is: see `signature`.",
        ],
        CheckName::Signature => [
            "A key that you trust, with the name of the log, signed the checkpoint. Other signatures are ignored and reported.",
            "The holder of that key is responsible for this log and cannot deny it.",
            "When it was signed. Only a checkpoint that someone kept shows that. days_observed counts slots; it does not show their age.",
        ],
        CheckName::Consistency => [
            "The file's checkpoint and another checkpoint of the log belong to one history. The other one is a checkpoint that you kept, or else the newest that a service shows.",
            "Nothing was rewritten, left out or inserted between the two. Two signed checkpoints of one size with different roots are proof of misbehaviour.",
            "That others see the same history: witnesses will show that later. Against a checkpoint that was only just fetched, it also does not show anything about earlier times.",
        ],
        CheckName::Window => [
            "An unbroken chain of the pool's entries, up to seven days long, ends at this entry and confirms its figures. The lowest depth is recomputed from its snapshot. Or the chain continues from this entry to claimed later entries, and none of them retracts the slot.",
            "lowest_depth_7d_usd and days_observed are correct for those seven days. A chain that continues shows nothing of this kind: it is only its maker's claim about later slots.",
            "That each earlier entry is the one its slot sealed, or that the other depths are correct: `exitgap audit` replays the log for that. That a later entry was ever sealed: only its own evidence shows that.",
        ],
        CheckName::SlotRule => [
            "The snapshot is for the requested pool and slot, and its block is at most 600 seconds older than the slot.",
            "The state was not taken from another pool or from an old block.",
            "That no later block came before the slot's time. The operator states that.",
        ],
        CheckName::Result => [
            "The result, recomputed on this machine from request, snapshot and head, equals the result in the file in every digit.",
            "The number follows from what was recorded.",
            "That a server ever returned the result. The result is recomputed, not signed.",
        ],
    }
}
