//! What the verdict on a figure file says that it is of, and what it says of files of later versions and of two histories.

use serde_json::{Value, json};

use super::figure::{deep_pair, exposure_of, failed, report_on_all, thin};
use super::*;
use crate::analytics::figure::{FigureCheckName, FigureVerifier, SealedHeads};
use crate::ids::HeadHash;

fn exposure() -> (Scene, Value) {
    let (scene, bytes) = exposure_of([thin, deep_pair], "1000000", Base::Token0, 0);
    assert_eq!(report_on_all(&scene, &bytes).verdict, Verdict::Valid);
    (scene, serde_json::from_slice(&bytes).unwrap())
}

/// The heads of the second pool are of a log that is another one from the fourth slot on, signed by the same key.
#[test]
fn windows_of_two_histories_of_one_log_are_invalid_though_each_is_sound() {
    let (scene, mut file) = exposure();
    let other = scene.relinked(1, |index, head| {
        if index == 3 {
            head.commits = Commits::to("fills".parse().unwrap(), DocumentHash([7; 32]));
        }
    });
    let window = other.window_of(1, 0..12);
    HeadWindow::from_canonical(&window).unwrap();
    file["windows"][1] = serde_json::from_slice(&window).unwrap();
    let report = report_on_all(&scene, &canonical(&file));
    assert_eq!(failed(&report), Some((FigureCheckName::Windows, "windows_invalid")));
    let windows = report.check(FigureCheckName::Windows).unwrap();
    assert!(windows.found.contains("another history of the log"), "{}", windows.found);
}

#[test]
fn a_later_version_of_a_figure_is_not_checked_whatever_fields_it_has() {
    let (scene, file) = exposure();
    let fills =
        json!([{"document": format!("0x{}", "07".repeat(32)), "pool": "anvil:0xaa", "slot": 1}]);
    let edits: [&dyn Fn(&mut Value); 4] = [
        &|_| {},
        &|file| file["fills"] = fills.clone(),
        &|file| file["later"] = json!({"more": [1]}),
        &|file| file["windows"] = json!({}),
    ];
    for name in ["accuracy/3", "exposure/3", "later/1"] {
        for edit in edits {
            let mut file = file.clone();
            file["figure"] = json!(name);
            edit(&mut file);
            let report = report_on_all(&scene, &canonical(&file));
            assert_eq!(report.verdict, Verdict::Incomplete, "{name}: {report:?}");
            let format = report.check(FigureCheckName::Format).unwrap();
            assert_eq!((format.outcome, format.code), (Outcome::NotChecked, "unsupported_figure"));
            assert_eq!(report.claim.unwrap().figure, name);
        }
    }
    // It has one spelling all the same.
    let spaced = canonical(&file);
    let spaced = String::from_utf8(spaced).unwrap().replacen("exposure/1\",", "exposure/2\", ", 1);
    let report = report_on_all(&scene, spaced.as_bytes());
    assert_eq!(failed(&report).unwrap(), (FigureCheckName::Format, "format_invalid"));
    // Of a figure that is known the same is wrong.
    for edit in &edits[1..] {
        let mut file = file.clone();
        edit(&mut file);
        let report = report_on_all(&scene, &canonical(&file));
        assert_eq!(failed(&report).unwrap(), (FigureCheckName::Format, "format_invalid"));
    }
}

#[test]
fn a_verdict_names_what_the_file_is_of_whatever_it_is() {
    let (scene, file) = exposure();
    let claim = report_on_all(&scene, &canonical(&file)).claim.unwrap();
    let pools: Vec<_> = claim.venues.iter().map(|venue| venue.pool.clone()).collect();
    let expected: Vec<_> = scene.pools.iter().map(|series| series.id.to_string()).collect();
    assert_eq!(pools, expected);
    assert!(claim.venues.iter().all(|venue| venue.base.as_deref() == Some("token0")));
    assert_eq!((claim.first_slot, claim.last_slot), (Some(slot(0)), Some(slot(11))));
    assert_eq!((claim.log.as_deref(), claim.status.as_deref()), (Some(ORIGIN), Some("preview")));
    assert_eq!(claim.checkpoints.len(), 1);
    // Refused, without a key, or without snapshots: it is named all the same.
    let mut refused = file.clone();
    refused["result"]["have_slots"] = json!(1);
    let report = report_on_all(&scene, &canonical(&refused));
    assert_eq!((report.verdict, report.claim.as_ref()), (Verdict::Invalid, Some(&claim)));
    let unkeyed = FigureVerifier::new(&canonical(&file), &[]).finish();
    assert_eq!((unkeyed.verdict, unkeyed.claim), (Verdict::Incomplete, Some(claim)));
    let document = serde_json::to_value(report).unwrap();
    assert_eq!(document["claim"]["venues"][1]["pool"], json!(expected[1]));
    assert_eq!(document["claim"]["first_slot"], json!(slot(0).number()));
}

#[test]
fn every_head_of_the_windows_is_one_that_the_log_sealed() {
    let (scene, file) = exposure();
    let bytes = canonical(&file);
    // The log has these slots, or others.
    let (whole, others) = ([slot(0), slot(11)], [slot(20); 2]);
    let sealed_in = |covered, edit: &dyn Fn(&mut SealedHeads), is_same_log| {
        let mut heads = SealedHeads::new();
        for bytes in scene.pools.iter().flat_map(|series| &series.heads) {
            let head = Head::from_canonical(bytes).unwrap();
            heads.insert((head.pool, head.slot), Head::hash_of(bytes));
        }
        edit(&mut heads);
        let mut verifier = FigureVerifier::new(&bytes, &[signer().verifier()]);
        assert_eq!(verifier.pools().len(), 2);
        verifier.check_sealed(&heads, covered, is_same_log);
        let report = verifier.finish();
        let check = report.check(FigureCheckName::SealedLeaves).unwrap();
        (check.outcome, check.code, report.verdict)
    };
    let sealed = |edit: &dyn Fn(&mut SealedHeads), is_same_log| sealed_in(whole, edit, is_same_log);
    let all = |_: &mut SealedHeads| {};
    assert_eq!(sealed(&all, true), (Outcome::Pass, "ok", Verdict::Incomplete));
    let rewritten = (Outcome::Fail, "history_rewritten", Verdict::Invalid);
    assert_eq!(sealed(&all, false), rewritten);
    let key = |heads: &SealedHeads| heads.keys().nth(15).cloned().unwrap();
    let other = |heads: &mut SealedHeads| {
        let key = key(heads);
        heads.insert(key, HeadHash([7; 32]));
    };
    assert_eq!(sealed(&other, true), (Outcome::Fail, "head_not_sealed", Verdict::Invalid));
    let absent = |heads: &mut SealedHeads| {
        let key = key(heads);
        heads.remove(&key);
    };
    assert_eq!(sealed(&absent, true), (Outcome::Fail, "head_not_sealed", Verdict::Invalid));
    // A pool of a forked log, of which this log has no head at all.
    let none = |heads: &mut SealedHeads| heads.clear();
    assert_eq!(sealed(&none, true), (Outcome::Fail, "head_not_sealed", Verdict::Invalid));
    let (outcome, code, _) = sealed_in(others, &none, true);
    assert_eq!((outcome, code), (Outcome::NotChecked, "no_leaves"));
}
