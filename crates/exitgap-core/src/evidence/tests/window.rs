//! Head windows: what they prove about a file, and how changed windows fail.

use serde_json::{Value, json};

use super::*;
use crate::snapshot::SnapshotError;

/// The window with one value changed.
fn changed(window: &[u8], pointer: &str, to: Value) -> Vec<u8> {
    let mut value: Value = serde_json::from_slice(window).unwrap();
    let place = value.pointer_mut(pointer).unwrap();
    assert_ne!(*place, to, "the change must happen");
    *place = to;
    canonical(&value)
}

fn refusal(window: &[u8]) -> WindowError {
    HeadWindow::from_canonical(window).unwrap_err()
}

#[test]
fn a_window_rebuilds_every_head_byte_for_byte() {
    let scene = scene(9, 5_000_000_000);
    for pool in 0..2 {
        let bytes = scene.window(pool, 9);
        let rebuilt = HeadWindow::from_canonical(&bytes).unwrap();
        let heads: Vec<_> = rebuilt.heads().iter().map(|(_, bytes)| bytes.clone()).collect();
        assert_eq!(heads, scene.pools[pool].heads);
        let policy = Policy { window: Some(bytes), ..trusting() };
        let report = verify(&scene.evidence(pool, 8, "1000"), &policy);
        assert_eq!(report.verdict, Verdict::Valid);
        assert_eq!(report.check(CheckName::Window).unwrap().outcome, Outcome::Pass);
    }
}

#[test]
fn a_window_of_another_head_does_not_bear_out_a_file() {
    let scene = scene(6, 5_000_000_000);
    let file = scene.evidence(0, 5, "1000");
    for other in [scene.window(0, 5), scene.window(1, 6)] {
        let policy = Policy { window: Some(other), ..trusting() };
        let report = verify(&file, &policy);
        assert_eq!(report.verdict, Verdict::Invalid);
        assert_eq!(report.check(CheckName::Window).unwrap().code, "window_ends_elsewhere");
    }
    let policy = Policy { window: Some(b"{}".to_vec()), ..trusting() };
    assert_eq!(verify(&file, &policy).check(CheckName::Window).unwrap().code, "window_invalid");
}

#[test]
fn a_window_with_a_head_removed_swapped_or_turned_is_caught() {
    let scene = scene(8, 5_000_000_000);
    let series = &scene.pools[0];
    let snapshot = |slot| scene.documents(0, slot);
    let of = |heads: &[Vec<u8>]| HeadWindow::new(heads, snapshot, scene.proof(0, 7));
    // Whole heads are removed or swapped: the links break.
    let mut removed = series.heads.clone();
    removed.remove(4);
    let follows = |error| matches!(error, WindowError::Head(HeadError::DoesNotFollow { .. }));
    assert!(follows(of(&removed).unwrap_err()));
    let mut swapped = series.heads.clone();
    swapped.swap(3, 4);
    assert!(follows(of(&swapped).unwrap_err()));
    // The compact form rebuilds the links, so the last head comes out differently.
    let bytes = scene.window(0, 8);
    let value: Value = serde_json::from_slice(&bytes).unwrap();
    let reason = changed(&bytes, "/missing/0/2", json!("recorder_down"));
    let not_proven =
        |error| matches!(error, WindowError::NotProven { code: "pool_proof_mismatch", .. });
    assert!(not_proven(refusal(&reason)));
    // A missing slot is turned into a recorded one: the columns no longer fit.
    let turned = changed(&bytes, "/missing", json!([]));
    assert_eq!(refusal(&turned), WindowError::Column { column: "snapshots" });
    let shorter = changed(&bytes, "/heads", json!(7));
    assert_eq!(refusal(&shorter), WindowError::Column { column: "heads" });
    // A depth below the recorded one lowers the lowest depth as well.
    let depth = value["depth_usd"][0][5].as_u64().unwrap();
    let lowered = changed(&bytes, "/depth_usd/0/5", json!(depth.min(3) - 1));
    assert_eq!(refusal(&lowered), WindowError::Head(HeadError::LowestDepth { token: 0 }));
    // A higher depth makes slot 5 the lowest in that direction: two slots, but only one snapshot.
    let raised_depth = changed(&bytes, "/depth_usd/0/0", json!(999_999_999));
    assert_eq!(refusal(&raised_depth), WindowError::Column { column: "lowest_snapshots" });
    // A lowest depth that no slot has.
    let rows = value["lowest_depth_7d_usd"].as_array().unwrap().len();
    let raised = changed(&bytes, &format!("/lowest_depth_7d_usd/{}/1", rows - 1), json!(7));
    assert!(matches!(refusal(&raised), WindowError::LowestDepth { token: 0, found: Some(_), .. }));
    // The snapshot of the lowest slot must be present and must be the right one.
    let without = changed(&bytes, "/lowest_snapshots", json!([]));
    assert_eq!(refusal(&without), WindowError::Column { column: "lowest_snapshots" });
    let other: Value =
        serde_json::from_slice(&scene.documents(1, slot(0)).unwrap().snapshot).unwrap();
    let exchanged = changed(&bytes, "/lowest_snapshots/0/snapshot", other);
    assert!(matches!(refusal(&exchanged), WindowError::LowestSnapshot { .. }));
    let state = changed(&bytes, "/lowest_snapshots/0/state/fee_pips", json!(3_001));
    assert!(matches!(refusal(&state), WindowError::Snapshot(SnapshotError::OtherState { .. })));
    // The last head must be the one that its leaf committed to, and the log must contain the leaf.
    let elsewhere = changed(&bytes, "/pool_proof/index", json!(1));
    assert!(not_proven(refusal(&elsewhere)));
    let before: Value = serde_json::from_slice(&scene.leaves[6]).unwrap();
    let before = refusal(&changed(&bytes, "/leaf", before));
    assert!(matches!(before, WindowError::NotProven { code: "leaf_slot_mismatch", .. }));
    let smaller = scene.proof(0, 6).log_proof.to_text();
    let smaller = refusal(&changed(&bytes, "/log_proof", json!(smaller)));
    assert!(matches!(smaller, WindowError::NotProven { code: "index_mismatch", .. }));
    // The window does not start at the pool's first head and is not seven days long.
    assert_eq!(of(&series.heads[2..]), Err(WindowError::NotWhole));
    assert_eq!(of(&[]), Err(WindowError::Length { found: 0 }));
    let absurd = changed(&bytes, "/heads", json!(4_000_000_000_u32));
    assert_eq!(refusal(&absurd), WindowError::Length { found: 4_000_000_000 });
}

#[test]
fn a_retraction_takes_its_slot_out_of_every_figure() {
    let scene = scene(5, 5_000_000_000);
    let series = &scene.pools[0];
    let lowest = |head: &Head| head.lowest_depth_7d_usd;
    let last = Head::from_canonical(&series.heads[4]).unwrap();
    // Slot 0 has the lowest depth, so its retraction raises the lowest depth.
    let retraction =
        |index| Retraction::for_orphan(slot(index), BlockHash([5; 32]), BlockHash([6; 32]));
    let left = |token: usize| (1..5).filter_map(|index| series.depths[index]?[token]).min();
    let head = Head {
        recorded_count: last.recorded_count - 1,
        retracts: vec![retraction(0)],
        lowest_depth_7d_usd: [left(0), left(1)],
        ..last.clone()
    };
    assert!(lowest(&head)[0] > lowest(&last)[0]);
    let with = |head: &Head| {
        let scene = scene.ending_in(0, head);
        HeadWindow::new(&scene.pools[0].heads, |slot| scene.documents(0, slot), scene.proof(0, 4))
    };
    let window = with(&head).unwrap();
    let bytes = window.to_canonical().unwrap();
    assert_eq!(HeadWindow::from_canonical(&bytes), Ok(window));
    // The old figure no longer holds, and a missing slot cannot be retracted.
    let stale = Head { lowest_depth_7d_usd: last.lowest_depth_7d_usd, ..head.clone() };
    assert!(matches!(with(&stale), Err(WindowError::LowestDepth { .. })));
    let missing = Head { retracts: vec![retraction(1)], ..head.clone() };
    assert_eq!(with(&missing), Err(WindowError::Retraction { slot: slot(1) }));
}

/// A text of 120 KB appears once in a window and in each of its 2,016 heads after rebuilding. Everything else about
/// them is consistent.
#[test]
fn a_long_text_is_refused_before_a_window_repeats_it() {
    let long = "9".repeat(120_000);
    let bomb = json!({
        "v": 1, "pool": "anvil:0xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        "first_slot": Slot::FIRST.number(), "first_height": 0, "first_prev": null,
        "recorded_before": 0, "heads": LOWEST_DEPTH_SLOTS, "method_versions": [[0, long]],
        "missing": [[0, LOWEST_DEPTH_SLOTS, "recorder_down"]], "retired": false, "snapshots": "",
        "depth_usd": [[], []], "lowest_depth_7d_usd": [[0, null, null]], "retracts": [],
        "commits": [], "lowest_snapshots": [],
        "leaf": {}, "pool_proof": { "hashes": [], "index": 0 }, "log_proof": "none",
    });
    let bomb = canonical(&bomb);
    assert_eq!(refusal(&bomb), WindowError::Head(HeadError::MethodVersion));
    // With a text of the maximum length, the same window only lacks its proof.
    let defused = changed(&bomb, "/method_versions/0/1", json!("12345678901234567890"));
    assert!(matches!(refusal(&defused), WindowError::LogProof(_)));
    let at_its_end = changed(&defused, "/method_versions", json!([[0, "1.0.0"], [2_015, long]]));
    assert_eq!(refusal(&at_its_end), WindowError::Head(HeadError::MethodVersion));
}
