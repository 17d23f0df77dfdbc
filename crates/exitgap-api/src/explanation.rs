//! What each check of an evidence file means, proves, and does not prove.

use exitgap_core::evidence::CheckName;
use serde::Serialize;

/// A check in words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// The check.
    pub check: CheckName,
    /// What is done.
    pub means: &'static str,
    /// What follows where it passes.
    pub proves: &'static str,
    /// What does not.
    pub does_not_prove: &'static str,
    /// Whether a verdict needs it unless the caller says otherwise.
    pub required: bool,
}

impl Explanation {
    /// The explanation of one check.
    pub fn of(check: CheckName) -> Self {
        let [means, proves, does_not_prove] = words(check);
        let required = CheckName::REQUIRED.contains(&check);
        Self { check, means, proves, does_not_prove, required }
    }

    /// All explanations, in the order the checks are made.
    pub fn all() -> [Self; CheckName::ALL.len()] {
        CheckName::ALL.map(Self::of)
    }
}

/// A check's name, as the report's document spells it.
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

/// Means, proves, does not prove.
fn words(check: CheckName) -> [&'static str; 3] {
    match check {
        CheckName::Format => [
            "The file is one JSON document of evidence version 1, in the one spelling it can have.",
            "Everybody who hashes it hashes the same bytes, and it holds no field that is not checked.",
            "Anything about its content.",
        ],
        CheckName::Snapshot => [
            "The pool's state in the file obeys the rules of its kind, and its SHA-256 is the name that the head gives.",
            "The state that the result is computed from is the state that was recorded.",
            "That the chain really was in that state: a state proof does, under a block's hash that you look up yourself (`exitgap verify --rpc`).",
        ],
        CheckName::Head => [
            "The pool's entry for the slot is of the pool and slot asked about, by released rules, and states the depths that the snapshot has.",
            "The entry belongs to this question, and its depths are no mere claim.",
            "Anything about the entries before it: see `window`.",
        ],
        CheckName::SlotLeaf => [
            "Hashing the entry up the slot's tree gives the root that the slot's leaf states.",
            "The slot, sealed with all its pools, holds exactly this entry for this pool.",
            "That the log holds this leaf: see `inclusion`.",
        ],
        CheckName::Inclusion => [
            "Hashing the leaf up the log's tree gives the checkpoint's root, at the index that is the slot's own.",
            "The log of that checkpoint holds this leaf, and exactly one leaf for every slot before it.",
            "Whose log it is: see `signature`.",
        ],
        CheckName::Signature => [
            "A key you trust, and whose name is the log's, signed the checkpoint. Other signatures are ignored and reported.",
            "The holder of that key stands for this log, and cannot deny it.",
            "When it was signed. Only a checkpoint that somebody kept says that: days_observed tells how many slots, not how old they are.",
        ],
        CheckName::Consistency => [
            "The file's checkpoint and another of the log are states of one history: one that you kept, else the newest that a service shows.",
            "Nothing was rewritten, left out or put in between the two. Two signed checkpoints of one size with different roots prove misbehaviour by themselves.",
            "That others are shown the same history: witnesses will, later. Against a checkpoint that was fetched just now: anything of the time before.",
        ],
        CheckName::Window => [
            "An unbroken chain of the pool's entries of up to seven days ends at this one and bears out its figures; the lowest depth is recomputed from its snapshot. Or the chain goes on from this entry to later ones that are claimed, and none of these takes the slot back.",
            "lowest_depth_7d_usd and days_observed add up over those seven days. Of a chain that goes on nothing of this kind: it is what its maker claims of later slots.",
            "That each earlier entry is the one its slot sealed, nor the other depths: `exitgap audit` replays the log for that. That a later entry was ever sealed: only its own evidence shows it.",
        ],
        CheckName::SlotRule => [
            "The snapshot is of the pool and slot asked about, and its block is at most 600 seconds older than the slot.",
            "The state was not taken from another pool or an old block.",
            "That no later block came before the slot's instant: that is the operator's word.",
        ],
        CheckName::Result => [
            "The result, computed anew on this machine from request, snapshot and head, is the one in the file, in every digit.",
            "The number follows from what was recorded.",
            "That a server ever returned it: the result is not signed, it follows.",
        ],
    }
}
