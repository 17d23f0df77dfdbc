//! `exitgap audit` with an honest log, and with every kind of false log that an operator with the key can seal.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use exitgap_core::evidence::{Commits, HeadEntry, Retraction};
use exitgap_core::ids::{BlockHash, HeadHash, SnapshotHash};
use exitgap_core::pools::PoolState;
use exitgap_core::series::{MissingReason, Slot};
use exitgap_tests::binaries;
use serde_json::Value;
use tempfile::TempDir;

use crate::scenes::log::{
    Log, MISSING, POOLS, RETIRED, RETRACTED, RETRACTED_AT, block_hash, recorded, signer, slot,
    snapshot,
};

pub const SLOTS: u32 = 12;

/// A published log in a temporary folder.
pub struct Published {
    folder: TempDir,
}

impl Published {
    pub fn of(log: &Log) -> Self {
        let folder = tempfile::tempdir().unwrap();
        log.publish(&folder.path().join("log"));
        fs::write(folder.path().join("key"), signer().verifier().to_string()).unwrap();
        Self { folder }
    }

    pub fn log(&self) -> PathBuf {
        self.folder.path().join("log")
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.log().join(name)
    }

    pub fn keep(&self, name: &str, checkpoint: &str) -> String {
        let file = self.folder.path().join(name);
        fs::write(&file, checkpoint).unwrap();
        file.to_str().unwrap().to_owned()
    }

    pub fn run(&self, more: &[&str]) -> Output {
        let (log, key) = (self.log(), self.folder.path().join("key"));
        let args = ["audit", log.to_str().unwrap(), "--json", "--trust", key.to_str().unwrap()];
        exitgap(&[&args[..], more].concat())
    }

    pub fn report(&self, more: &[&str], exit_code: i32) -> Value {
        let output = self.run(more);
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(exit_code), "{words}");
        serde_json::from_slice(&output.stdout).expect(&words)
    }

    /// What is printed for people.
    pub fn text(&self) -> String {
        let (log, key) = (self.log(), self.folder.path().join("key"));
        let output = exitgap(&["audit", log.to_str().unwrap(), "--trust", key.to_str().unwrap()]);
        String::from_utf8(output.stdout).unwrap()
    }

    /// Returns the first fault: its code, the slot's index in the log, and the pool's number.
    pub fn fault(&self, more: &[&str]) -> (String, Option<u32>, Option<usize>) {
        let fault = &self.report(more, 6)["fault"];
        let code = fault["code"].as_str().unwrap().to_owned();
        let index = fault["slot"]
            .as_u64()
            .map(|number| u32::try_from(number - u64::from(slot(0).number())).unwrap());
        let pool = fault["pool"].as_str();
        let pool = pool.map(|pool| POOLS.iter().position(|id| *id == pool).unwrap());
        (code, index, pool)
    }
}

pub fn exitgap(args: &[&str]) -> Output {
    Command::new(binaries::path("exitgap")).args(args).output().unwrap()
}

/// Seals a modified log, as an operator with the key could, and requires that `audit` reports this fault.
#[track_caller]
fn cheat(change: impl FnOnce(&mut Log), code: &str, index: u32, pool: Option<usize>) {
    let honest = Log::honest(SLOTS);
    let mut log = honest.clone();
    change(&mut log);
    let published = Published::of(&log);
    let unchanged = (0..SLOTS).all(|index| honest.files(index) == log.files(index));
    assert!(!unchanged, "the change must happen");
    assert_eq!(published.fault(&[]), (code.to_owned(), Some(index), pool));
}

#[test]
fn a_true_log_is_valid_and_without_a_trusted_key_incomplete() {
    let published = Published::of(&Log::honest(SLOTS));
    let report = published.report(&[], 0);
    assert_eq!(report["verdict"], "valid");
    assert_eq!(report["slots"], SLOTS);
    assert_eq!((&report["pools"], &report["heads"]), (&2.into(), &22.into()));
    assert_eq!((&report["snapshots"], &report["retracted"]), (&20.into(), &1.into()));
    assert_eq!(report["last_slot"], slot(SLOTS - 1).to_string());
    assert!(report.get("fault").is_none());
    let log = published.log();
    let own = exitgap(&["audit", log.to_str().unwrap(), "--json"]);
    assert_eq!(own.status.code(), Some(7));
    let own: Value = serde_json::from_slice(&own.stdout).unwrap();
    assert_eq!((&own["verdict"], &own["keys_trusted"]), (&"incomplete".into(), &false.into()));
    assert_eq!(own["keys"][0], signer().verifier().to_string());
}

#[test]
fn what_an_operator_leaves_out_swaps_or_begins_anew_is_named() {
    let dropped = |log: &mut Log| {
        log.slots[3].remove(1);
        log.settle();
    };
    cheat(dropped, "pool_dropped", 3, Some(1));
    let closed_up = |log: &mut Log| {
        log.slots.remove(3);
        log.settle();
    };
    cheat(closed_up, "head_slot_mismatch", 3, Some(0));
    let swapped_slots = |log: &mut Log| {
        let other = log.slots[3][0].clone();
        log.slots[3][0] = std::mem::replace(&mut log.slots[2][0], other);
        log.link();
    };
    cheat(swapped_slots, "head_slot_mismatch", 2, Some(0));
    cheat(|log| log.slots[3].swap(0, 1), "head_order", 3, Some(0));
    let twice = |log: &mut Log| {
        let entry = log.slots[3][0].clone();
        log.slots[3].insert(0, entry);
    };
    cheat(twice, "head_order", 3, Some(0));
    let first_again = |log: &mut Log| {
        for index in 8..SLOTS {
            let head = log.head(index);
            (head.height, head.recorded_count) = (index - 8, index - 7);
        }
        log.link();
    };
    cheat(first_again, "second_first_head", 8, Some(0));
    let begins_late = |log: &mut Log| {
        for index in 0..SLOTS {
            log.head(index).height += 1;
        }
        log.link();
        log.head(0).prev = Some(HeadHash([1; 32]));
    };
    cheat(begins_late, "head_without_predecessor", 0, Some(0));
    let counts_more = |log: &mut Log| {
        log.head(0).entry = HeadEntry::Missing(MissingReason::ChainLagging);
        log.slots[0][0].snapshot = None;
    };
    // Such a head is invalid by itself: it counts a snapshot that no head can contain.
    cheat(counts_more, "head_invalid", 0, Some(0));
    let not_linked = |log: &mut Log| {
        log.head(5).prev = Some(HeadHash([1; 32]));
    };
    cheat(not_linked, "head_does_not_follow", 5, Some(0));
    let raised = |log: &mut Log| {
        log.head(8).recorded_count += 1;
        log.link();
    };
    cheat(raised, "head_does_not_follow", 8, Some(0));
    let returns = |log: &mut Log| {
        let mut entry = log.slots[RETIRED as usize - 1][1].clone();
        entry.head.slot = slot(RETIRED + 1);
        log.slots[RETIRED as usize + 1].push(entry);
        log.settle();
    };
    cheat(returns, "head_after_retired", RETIRED + 1, Some(1));
}

#[test]
fn false_snapshots_depths_and_methods_are_named() {
    // Everything is consistent, but the slot was originally missing. Only the previous head or an older checkpoint
    // reveals the change.
    let recorded_later = |log: &mut Log| {
        let taken = snapshot(0, MISSING);
        log.head(MISSING).entry = recorded(&taken);
        log.slots[MISSING as usize][0].snapshot = Some(taken.to_canonical().unwrap());
        log.link();
    };
    cheat(recorded_later, "head_does_not_follow", MISSING, Some(0));
    let of_another_slot = |log: &mut Log| {
        let taken = snapshot(0, 2);
        log.head(3).entry = recorded(&taken);
        log.slots[3][0].snapshot = Some(taken.to_canonical().unwrap());
        log.settle();
    };
    cheat(of_another_slot, "snapshot_of_another", 3, Some(0));
    let of_another_pool = |log: &mut Log| {
        let taken = snapshot(1, 3);
        log.head(3).entry = recorded(&taken);
        log.slots[3][0].snapshot = Some(taken.to_canonical().unwrap());
        log.settle();
    };
    cheat(of_another_pool, "snapshot_of_another", 3, Some(0));
    let deeper = |log: &mut Log| {
        if let HeadEntry::Recorded { depth_usd, .. } = &mut log.head(3).entry {
            depth_usd[1] = depth_usd[1].map(|depth| depth + 1);
        }
        log.settle();
    };
    cheat(deeper, "depth_mismatch", 3, Some(0));
    let never_low = |log: &mut Log| {
        let lowest = &mut log.head(6).lowest_depth_7d_usd[0];
        *lowest = lowest.map(|depth| depth + 1);
        log.link();
    };
    cheat(never_low, "lowest_depth_mismatch", 6, Some(0));
    let unnamed = |log: &mut Log| {
        if let HeadEntry::Recorded { snapshot, .. } = &mut log.head(3).entry {
            *snapshot = SnapshotHash([3; 32]);
        }
        log.link();
    };
    cheat(unnamed, "snapshot_hash_mismatch", 3, Some(0));
}

/// The report on a consistent log with an entry of a later version of exitgap.
fn later(change: impl FnOnce(&mut Log)) -> Value {
    let mut log = Log::honest(SLOTS);
    change(&mut log);
    Published::of(&log).report(&[], 7)
}

#[test]
fn what_only_a_later_version_knows_is_not_wrong_but_not_checked() {
    let slots = &Value::from(SLOTS);
    let rules = later(|log| {
        log.head(3).method_version = "1.0.1".to_owned();
        log.link();
    });
    let reason = later(|log| {
        log.head(MISSING).entry = HeadEntry::Missing("tired".to_owned().try_into().unwrap());
        log.link();
    });
    let commitment = "0x5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a";
    for report in [&rules, &reason] {
        assert_eq!((&report["verdict"], &report["slots"]), (&"incomplete".into(), slots));
        assert_eq!((&report["unsupported"], report.get("fault")), (&1.into(), None));
    }
    // The state is of an unknown kind, but its snapshot hash still equals that in the head.
    let protocol = later(|log| {
        let documents = log.slots[3][0].snapshot.as_mut().unwrap();
        let text = String::from_utf8(documents.state.clone()).unwrap();
        let named = PoolState::hash_of(&documents.state).to_string();
        documents.state = text.replace("concentrated_liquidity", "concentrated_v9").into_bytes();
        let text = String::from_utf8(documents.snapshot.clone()).unwrap();
        let now = PoolState::hash_of(&documents.state).to_string();
        documents.snapshot = text.replace(&named, &now).into_bytes();
        let hash = documents.hash();
        if let HeadEntry::Recorded { snapshot, .. } = &mut log.head(3).entry {
            *snapshot = hash;
        }
        log.link();
    });
    assert_eq!((&protocol["verdict"], &protocol["unsupported"]), (&"incomplete".into(), &1.into()));
    // The audit does not judge unknown additional commitments.
    let mut log = Log::honest(SLOTS);
    log.head(3).commits = Commits::to("weather".parse().unwrap(), commitment.parse().unwrap());
    log.link();
    assert_eq!(Published::of(&log).report(&[], 0)["verdict"], "valid");
}

#[test]
fn retractions_that_break_a_rule_are_named() {
    let retracting = |index: u32, retraction: Retraction| {
        move |log: &mut Log| {
            log.head(index).retracts = vec![retraction];
            log.link();
        }
    };
    let of = |number: u32, orphaned, canonical| {
        Retraction::for_orphan(Slot::new(number.into()).unwrap(), orphaned, canonical)
    };
    let (orphaned, canonical) = (block_hash(RETRACTED), BlockHash([7; 32]));
    let first = slot(0).number();
    let named = "retraction_invalid";
    // One slot further back than a day.
    let too_far = of(first + 7 - 289, orphaned, canonical);
    cheat(retracting(7, too_far), named, 7, Some(0));
    cheat(retracting(7, of(first + 5, block_hash(5), block_hash(5))), named, 7, Some(0));
    let unsettled = |retraction| {
        move |log: &mut Log| {
            let head = log.head(8);
            head.retracts = vec![retraction];
            head.recorded_count -= 1;
            log.link();
        }
    };
    cheat(unsettled(of(first - 1, orphaned, canonical)), named, 8, Some(0));
    cheat(unsettled(of(first + MISSING, block_hash(MISSING), canonical)), named, 8, Some(0));
    cheat(unsettled(of(first + RETRACTED, orphaned, canonical)), named, 8, Some(0));
    cheat(unsettled(of(first + 5, block_hash(6), canonical)), named, 8, Some(0));
    let uncounted = |log: &mut Log| {
        log.head(RETRACTED_AT).recorded_count += 1;
        log.link();
    };
    cheat(uncounted, "head_does_not_follow", RETRACTED_AT, Some(0));
    // A retracted slot must not count in any figure.
    let still_counted = |log: &mut Log| {
        let depths = match log.head(RETRACTED).entry {
            HeadEntry::Recorded { depth_usd, .. } => depth_usd,
            _ => [None; 2],
        };
        log.head(RETRACTED_AT).lowest_depth_7d_usd = depths;
        log.link();
    };
    cheat(still_counted, "lowest_depth_mismatch", RETRACTED_AT, Some(0));
}

#[test]
fn a_rewritten_history_is_caught_by_whoever_kept_a_checkpoint() {
    let honest = Log::honest(SLOTS);
    let mut rewritten = honest.clone();
    let taken = snapshot(0, MISSING);
    rewritten.head(MISSING).entry = recorded(&taken);
    rewritten.slots[MISSING as usize][0].snapshot = Some(taken.to_canonical().unwrap());
    rewritten.settle();
    let published = Published::of(&rewritten);
    // The false history is consistent by itself.
    assert_eq!(published.report(&[], 0)["verdict"], "valid");
    let kept = honest.checkpoint(5);
    let since = published.keep("kept", &kept);
    let report = published.report(&["--since", &since], 6);
    assert_eq!(report["fault"]["code"], "history_rewritten");
    assert_eq!(report["fault"]["slot"], slot(4).number());
    assert_eq!((&report["slots"], &report["heads"]), (&4.into(), &8.into()), "of what holds");
    let proof = &report["contradiction"]["checkpoints"];
    assert_eq!((&proof[0], &proof[1]), (&kept.into(), &rewritten.checkpoint(5).into()));
    // Up to the slot before the change, both histories are identical.
    let since = published.keep("before", &honest.checkpoint(1));
    assert_eq!(published.report(&["--since", &since], 0)["since_size"], 1);

    let shorter = Published::of(&Log::honest(SLOTS - 1));
    let since = shorter.keep("later", &honest.checkpoint(SLOTS));
    assert_eq!(shorter.fault(&["--since", &since]).0, "rolled_back");
    let text = exitgap(&["audit", shorter.log().to_str().unwrap(), "--since", &since]);
    assert!(String::from_utf8_lossy(&text.stdout).contains("rolled_back"));
    let forged = honest.checkpoint(5).replacen("\n5\n", "\n6\n", 1);
    let since = shorter.keep("forged", &forged);
    assert_eq!(shorter.run(&["--since", &since]).status.code(), Some(5));
}

#[test]
fn evidence_is_checked_against_a_kept_checkpoint_by_a_copy_of_the_log() {
    let honest = Log::honest(SLOTS);
    let published = Published::of(&honest);
    let (log, key) = (published.log(), published.folder.path().join("key"));
    let file = published.folder.path().join("evidence.json");
    fs::write(&file, honest.evidence(0, 7)).unwrap();
    let (log, key) = (log.to_str().unwrap().to_owned(), key.to_str().unwrap().to_owned());
    let verify = |kept: &str| {
        let since = published.keep("kept", kept);
        let file = file.to_str().unwrap();
        let args = ["verify", file, "--trust", &key, "--since", &since, "--log", &log, "--json"];
        exitgap(&args)
    };
    let consistency = |output: &Output| {
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let proved = report.get("contradiction").is_some();
        (report["checks"][6]["code"].as_str().unwrap().to_owned(), proved)
    };
    for size in [1, 5, 8, 9, SLOTS] {
        let output = verify(&honest.checkpoint(size));
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(consistency(&output), ("ok".to_owned(), false), "{size}");
    }
    let mut other = honest.clone();
    other.head(2).method_version = "9".to_owned();
    other.settle();
    let output = verify(&other.checkpoint(5));
    assert_eq!(output.status.code(), Some(6));
    assert_eq!(consistency(&output), ("history_rewritten".to_owned(), true));
    let output = verify(&other.checkpoint(8));
    assert_eq!(consistency(&output), ("split_view".to_owned(), true));
    // The folder does not belong to the later checkpoint: this says nothing about the log.
    let output = verify(&other.checkpoint(9));
    assert_eq!(output.status.code(), Some(5));
}
