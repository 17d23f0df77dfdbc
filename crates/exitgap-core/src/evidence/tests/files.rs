//! Changed evidence files and the checks that they fail.

use serde_json::Value;

use super::*;
use crate::exit::{Exit, NotSized};
use crate::pools::Direction;
use crate::units::{GapLimit, SizeUsd};

/// The failing checks of a changed file. Requires that the file is invalid.
fn failing(evidence: &[u8], policy: &Policy) -> Vec<(CheckName, &'static str)> {
    let report = verify(evidence, policy);
    assert_eq!(report.verdict, Verdict::Invalid, "{report:#?}");
    let failed = report.checks.iter().filter(|check| check.outcome == Outcome::Fail);
    failed.map(|check| (check.name, check.code)).collect()
}

#[test]
fn a_true_file_is_valid_and_says_what_it_does_not_show() {
    let scene = scene(5, 5_000_000_000);
    for (pool, index) in [(0, 0), (0, 4), (1, 1), (1, 3)] {
        let report = verify(&scene.evidence(pool, index, "1000"), &trusting());
        assert_eq!(report.verdict, Verdict::Valid, "{report:#?}");
        let names: Vec<_> = report.checks.iter().map(|check| check.name).collect();
        assert_eq!(names, CheckName::ALL);
        for name in [CheckName::Consistency, CheckName::Window] {
            assert_eq!(report.check(name).unwrap().outcome, Outcome::NotChecked);
        }
    }
    let untrusting = verify(&scene.evidence(0, 0, "1000"), &Policy::with_keys(Vec::new()));
    assert_eq!(untrusting.verdict, Verdict::Incomplete);
    assert_eq!(untrusting.unknown_signers.len(), 1);
}

#[test]
fn each_lie_fails_the_check_that_is_there_for_it() {
    let scene = scene(4, 5_000_000_000);
    let file = scene.evidence(0, 2, "1000");
    let other = scene.evidence(1, 2, "1000");
    let policy = trusting();
    let text = core::str::from_utf8(&file).unwrap();
    let fails = |from: &str, to: &str| failing(&changed(&file, from, to), &policy);
    let part = |file: &[u8], name: &str| {
        let value: Value = serde_json::from_slice(file).unwrap();
        String::from_utf8(canonical(&value[name])).unwrap()
    };

    // The last digit of the result is changed.
    let gap = part(&file, "result").split("exit_gap_pct\":\"").nth(1).unwrap()[..8].to_owned();
    let mut lie = gap.clone().into_bytes();
    lie[7] = if lie[7] == b'9' { b'8' } else { lie[7] + 1 };
    let result = fails(&gap, core::str::from_utf8(&lie).unwrap());
    assert_eq!(result, [(CheckName::Result, "result_mismatch")]);
    // Base, size or method are changed.
    let result = fails("\"base\":\"token0\"", "\"base\":\"token1\"");
    assert_eq!(result, [(CheckName::Result, "result_mismatch")]);
    let result = fails("\"size_usd\":\"1000\"", "\"size_usd\":\"1001\"");
    assert_eq!(result, [(CheckName::Result, "result_mismatch")]);
    let result = fails("\"size_usd\":\"1000\"", "\"size_usd\":\"1000.0\"");
    assert_eq!(result, [(CheckName::Result, "no_result")]);
    // Rules that this build does not know do not make a file invalid.
    let later = changed(
        &file,
        "\"method_version\":\"1.0.0\",\"pool\":\"anvil:0xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\",\"size",
        "\"method_version\":\"9.9.9\",\"pool\":\"anvil:0xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\",\"size",
    );
    let report = verify(&later, &policy);
    assert_eq!(report.verdict, Verdict::Incomplete);
    assert_eq!(report.check(CheckName::Result).unwrap().code, "unsupported_method");
    // The snapshot is of another pool, of another slot, or claims to be live.
    let result = fails(&part(&file, "snapshot"), &part(&other, "snapshot"));
    assert_eq!(result[0], (CheckName::Snapshot, "snapshot_invalid"));
    let with = |other: &[u8]| {
        let changed = changed(&file, &part(&file, "snapshot"), &part(other, "snapshot"));
        failing(&super::changed(&changed, &part(&file, "state"), &part(other, "state")), &policy)
    };
    let result = with(&other);
    assert_eq!(result[0], (CheckName::Snapshot, "snapshot_hash_mismatch"));
    assert!(result.contains(&(CheckName::SlotRule, "snapshot_pool_mismatch")));
    let result = with(&scene.evidence(0, 3, "1000"));
    assert_eq!(result[0], (CheckName::Snapshot, "snapshot_hash_mismatch"));
    assert!(result.contains(&(CheckName::SlotRule, "snapshot_slot_mismatch")));
    assert_eq!(fails("\"status\":\"preview\"", "\"status\":\"live\"")[0].1, "result_mismatch");
    assert_eq!(fails("\"kind\":\"preview\"", "\"kind\":\"live\"")[0].1, "snapshot_invalid");
    // The head is of another pool or has other depths.
    let result = fails(&part(&file, "head"), &part(&other, "head"));
    assert!(result.contains(&(CheckName::Head, "head_pool_mismatch")));
    assert!(result.contains(&(CheckName::SlotLeaf, "pool_proof_mismatch")));
    let depths = text.split("\"depth_usd\":[\"").nth(1).unwrap().split('"').next().unwrap();
    let result = fails(&format!("[\"{depths}\""), &format!("[\"1{depths}\""));
    assert!(result.contains(&(CheckName::Head, "depth_mismatch")));
    assert!(result.contains(&(CheckName::SlotLeaf, "pool_proof_mismatch")));
    let result = fails("\"lowest_depth_7d_usd\":[\"1", "\"lowest_depth_7d_usd\":[\"");
    assert_eq!(result[0], (CheckName::SlotLeaf, "pool_proof_mismatch"));
    // The proof is for another index or size.
    assert_eq!(fails("\\nindex 2\\n", "\\nindex 1\\n"), [(CheckName::Inclusion, "index_mismatch")]);
    let result = fails("/5957856\\n3\\n", "/5957856\\n4\\n");
    assert!(result.iter().any(|(name, _)| *name == CheckName::Inclusion));
    assert!(result.contains(&(CheckName::Signature, "signature_forged")));
    let result = fails("/5957856\\n3\\n", "/5957855\\n3\\n");
    assert!(result.iter().any(|(_, code)| *code == "log_proof_invalid"));
    // The slot is before the series.
    let result = fails("\"slot\":5957858,\"v\":1},\"log", "\"slot\":5957855,\"v\":1},\"log");
    assert_eq!(result[0], (CheckName::SlotLeaf, "leaf_invalid"));
}

#[test]
fn a_signature_counts_only_by_a_trusted_key_of_this_log() {
    let scene = scene(3, 5_000_000_000);
    let file = scene.evidence(0, 2, "1000");
    let stranger = SignerKey::from_seed(ORIGIN, [9; 32]).unwrap();
    let code = |policy: &Policy| failing(&file, policy)[0];
    let only_stranger = Policy::with_keys(vec![stranger.verifier()]);
    assert_eq!(code(&only_stranger), (CheckName::Signature, "signature_not_trusted"));
    // A trusted key of another log signed this log's checkpoint.
    let text: Value = serde_json::from_slice(&file).unwrap();
    let proof = LogProof::from_text(text["log_proof"].as_str().unwrap()).unwrap();
    let (checkpoint, _) = Checkpoint::from_note(&proof.checkpoint).unwrap();
    let elsewhere = SignerKey::from_seed("other.example/log/5957856", [8; 32]).unwrap();
    let resigned = elsewhere.sign(&checkpoint.to_text()).unwrap();
    let replace = |note: &str| {
        let escape = |text: &str| serde_json::to_string(text).unwrap().trim_matches('"').to_owned();
        changed(&file, &escape(&proof.checkpoint), &escape(note))
    };
    let both = Policy::with_keys(vec![signer().verifier(), elsewhere.verifier()]);
    assert_eq!(
        failing(&replace(&resigned), &both),
        [(CheckName::Signature, "signature_not_trusted")]
    );
    // A further signature by an unknown key is ignored and reported.
    let line = stranger.sign(&checkpoint.to_text()).unwrap();
    let extra = format!("{}{}\n", proof.checkpoint, line.lines().last().unwrap());
    let report = verify(&replace(&extra), &trusting());
    assert_eq!(report.verdict, Verdict::Valid);
    assert_eq!(report.unknown_signers, [format!("{ORIGIN}+{}", stranger.verifier().id())]);
    // A text without any signature is not a note.
    let bare = checkpoint.to_text();
    assert_eq!(failing(&replace(&bare), &trusting())[0].1, "log_proof_invalid");
}

#[test]
fn a_rewritten_or_split_history_is_caught_by_a_checkpoint_seen_before() {
    let (truth, rewritten) = (scene(6, 5_000_000_000), scene(6, 5_000_000_001));
    let file = truth.evidence(0, 3, "1000");
    let check = |seen_scene: &Scene, size: u32, proof: Vec<Hash>| {
        let seen = SeenCheckpoint { note: seen_scene.checkpoint(size), proof };
        let policy = Policy { seen: Some(seen), ..trusting() };
        verify(&file, &policy).check(CheckName::Consistency).unwrap().clone()
    };
    for size in 1..=6 {
        let (old, new) = (size.min(4), size.max(4));
        let proof = consistency_proof(&truth.log(new), old as usize).unwrap();
        assert_eq!(check(&truth, size, proof.clone()).outcome, Outcome::Pass, "{size}");
        let found = check(&rewritten, size, proof);
        assert_eq!(found.outcome, Outcome::Fail, "{size}");
        let code = if size == 4 { "split_view" } else { "history_rewritten" };
        assert_eq!(found.code, code);
    }
    let stranger = SignerKey::from_seed(ORIGIN, [9; 32]).unwrap();
    let unsigned = stranger.sign(Note::parse(&truth.checkpoint(2)).unwrap().text).unwrap();
    let seen = SeenCheckpoint { note: unsigned, proof: Vec::new() };
    let policy = Policy { seen: Some(seen), ..trusting() };
    assert!(
        failing(&file, &policy).contains(&(CheckName::Consistency, "seen_checkpoint_not_trusted"))
    );
}

#[test]
fn no_flipped_byte_is_accepted_unless_the_file_stays_true() {
    let scene = scene(3, 5_000_000_000);
    let file = scene.evidence(0, 2, "1000.5");
    let policy = trusting();
    let (mut tried, mut still_true) = (0, Vec::new());
    for index in 0..file.len() {
        for bit in [0, 1, 4] {
            let mut changed = file.clone();
            changed[index] ^= 1 << bit;
            tried += 1;
            if verify(&changed, &policy).verdict == Verdict::Valid {
                still_true.push((index, bit));
            }
        }
    }
    assert_eq!(tried, 3 * file.len());
    // 1000.5 USD are 500250 units. A thousandth of a token is worth 0.002 USD, so 1000.4 and 1000.1 are other amounts,
    // and no changed file stays valid.
    assert_eq!(still_true, []);
    // 1000.501 USD round down to the same amount, so that file is valid.
    let same = changed(&file, "\"size_usd\":\"1000.5\"", "\"size_usd\":\"1000.501\"");
    assert_eq!(verify(&same, &policy).verdict, Verdict::Valid);
}

/// Every document that differs from `value` in one place, where something is removed, renamed or of another type.
fn mutations(value: &Value, all: &mut Vec<Value>, rebuild: &dyn Fn(Value) -> Value) {
    for other in [Value::Null, Value::Bool(true), 7.into(), "x".into(), Value::Array(vec![])] {
        if other != *value {
            all.push(rebuild(other));
        }
    }
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                let mut without = fields.clone();
                without.remove(name);
                all.push(rebuild(Value::Object(without.clone())));
                without.insert(format!("{name}_"), field.clone());
                all.push(rebuild(Value::Object(without)));
                mutations(field, all, &|new| {
                    let mut changed = fields.clone();
                    changed.insert(name.clone(), new);
                    rebuild(Value::Object(changed))
                });
            }
        }
        Value::Array(items) => {
            let mut reversed = items.clone();
            reversed.reverse();
            if reversed != *items {
                all.push(rebuild(Value::Array(reversed)));
            }
            for (index, item) in items.iter().enumerate() {
                let mut doubled = items.clone();
                doubled.insert(index, item.clone());
                all.push(rebuild(Value::Array(doubled)));
                let mut without = items.clone();
                without.remove(index);
                all.push(rebuild(Value::Array(without)));
                mutations(item, all, &|new| {
                    let mut changed = items.clone();
                    changed[index] = new;
                    rebuild(Value::Array(changed))
                });
            }
        }
        _ => {}
    }
}

#[test]
fn no_field_can_be_removed_renamed_doubled_reordered_or_retyped() {
    let scene = scene(3, 5_000_000_000);
    let file = scene.evidence(0, 2, "1000");
    let value: Value = serde_json::from_slice(&file).unwrap();
    let mut all = Vec::new();
    mutations(&value, &mut all, &|value| value);
    assert!(all.len() > 400, "{}", all.len());
    for changed in all {
        let bytes = canonical(&changed);
        assert_ne!(verify(&bytes, &trusting()).verdict, Verdict::Valid, "{changed}");
    }
    // A repeated key is refused even if both values are equal.
    let doubled = changed(&file, "\"v\":1}", "\"v\":1,\"v\":1}");
    assert_eq!(failing(&doubled, &trusting()), [(CheckName::Format, "format_invalid")]);
}

#[test]
fn bombs_are_refused_before_they_go_off() {
    let policy = trusting();
    let format = |bytes: &[u8]| failing(bytes, &policy) == [(CheckName::Format, "format_invalid")];
    assert!(format(&vec![b' '; MAX_EVIDENCE_BYTES + 1]));
    assert!(format("[".repeat(100_000).as_bytes()));
    assert!(format("{\"a\":".repeat(100_000).as_bytes()));
    assert!(format(b""));
    assert!(format(b"\xff\xfe"));
    let file = scene(3, 5_000_000_000).evidence(0, 2, "1000");
    assert!(format(&changed(&file, "\"tick\":3", "\"tick\":3.0")));
    assert!(format(&changed(&file, "\"tick\":3", "\"tick\":3e0")));
    assert!(format(&changed(&file, "\"tick\":3", "\"tick\": 3")));
    // An overlong text is refused without being repeated in the report.
    let long = "x".repeat(4 << 20);
    let value: Value = serde_json::from_slice(&file).unwrap();
    for (pointer, code) in [
        ("/request/method_version", "no_result"),
        ("/request/size_usd", "no_result"),
        ("/result/session_note", "result_mismatch"),
        ("/head/method_version", "head_invalid"),
        ("/leaf/root", "leaf_invalid"),
        ("/log_proof", "log_proof_invalid"),
        ("/snapshot/tokens/0/symbol", "snapshot_invalid"),
    ] {
        let mut changed = value.clone();
        *changed.pointer_mut(pointer).unwrap() = long.clone().into();
        let report = verify(&canonical(&changed), &policy);
        let check = report.checks.iter().find(|check| check.code == code);
        let check = check.unwrap_or_else(|| panic!("{pointer}: {report:?}"));
        assert!(check.expected.len() + check.found.len() < 2_000, "{pointer}: {}", check.found);
    }
}

#[test]
fn a_depth_that_is_hard_to_find_is_given_up_after_the_same_count_everywhere() {
    // An unsigned, synthetic file. A whole dollar is 815 units sold, but only every thousandth amount loses nothing to
    // the fee's rounding, and the limit is exactly the gap of an infinitely small sale.
    let file = include_bytes!("slow.json");
    let read = Evidence::from_bytes(file);
    let snapshot = read.snapshot().unwrap();
    let exit = Exit::from_pool(snapshot.observation(), Direction::ZeroForOne);
    let whole = exit.depth_usd(GapLimit::DEPTH).unwrap_err();
    let NotSized::Exhausted(exhausted) = whole else { panic!("{whole}") };
    assert_eq!(exhausted.comparisons, 1 << 13, "the bound is part of the method");
    // The search also ends after the same count on a partial curve.
    let mut of_start =
        Exit::of_start(snapshot.observation(), Direction::ZeroForOne, GapLimit::DEPTH, None);
    assert!(of_start.curve().segment_count() < exit.curve().segment_count());
    assert_eq!(of_start.depth_usd(GapLimit::DEPTH), Err(whole));
    of_start = Exit::of_start(
        snapshot.observation(),
        Direction::ZeroForOne,
        GapLimit::DEPTH,
        Some(SizeUsd::MAX),
    );
    assert_eq!(of_start.depth_usd(GapLimit::DEPTH), Err(whole));
    // A search for an interactive request has no such limit and finds the answer.
    assert!(exit.max_size_for(GapLimit::DEPTH).is_ok());
    let report = verify(file, &Policy::with_keys(Vec::new()));
    let head = report.check(CheckName::Head).unwrap();
    assert_eq!((head.code, &*head.expected), ("depth_mismatch", "none, 1000000000"));
}
