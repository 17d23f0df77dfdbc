//! The vectors whose policy has a window.

use base64ct::{Base64, Encoding};
use serde_json::{Value, json};

use super::{Vector, with_forged};
use crate::evidence::tests::{self, *};

/// A valid file with valid and invalid windows.
pub fn windows(scene: &Scene, stranger: &SignerKey) -> Vec<Vector> {
    let file = scene.evidence(0, 2, "1000.5");
    let vector =
        |name, evidence: &[u8], policy| Vector { name, evidence: evidence.to_vec(), policy };
    let mut all = Vec::new();
    for (name, window) in [
        ("window", scene.window(0, 3)),
        ("window_that_ends_later", scene.window(0, 5)),
        (
            "window_that_takes_the_slot_back",
            window_taking_back(
                scene,
                Retraction::for_orphan(slot(2), BlockHash([5; 32]), BlockHash([6; 32])),
            ),
        ),
        (
            "window_that_takes_the_slot_back_as_misread",
            window_taking_back(scene, Retraction::misread(slot(2))),
        ),
        (
            "window_that_takes_the_slot_back_for_a_future_reason",
            window_taking_back(scene, future_retraction()),
        ),
        ("window_of_another_log", elsewhere_window(scene)),
        ("window_signed_by_a_stranger", signed_by(&scene.window(0, 5), stranger)),
        ("window_with_a_forged_signature", resigned(&scene.window(0, 5), &with_forged)),
        ("window_of_a_split_view", split(scene).window(0, 3)),
        (
            "window_with_another_root",
            changed(&scene.window(0, 5), "\"pools\":2,\"root\":\"", "\"pools\":3,\"root\":\""),
        ),
        ("window_of_another_head", scene.window(0, 2)),
        ("window_of_another_pool", scene.window(1, 3)),
        (
            "window_with_another_depth",
            changed(&scene.window(0, 3), "\"depth_usd\":[[1", "\"depth_usd\":[[2"),
        ),
        (
            "window_with_a_long_method_version",
            changed(
                &scene.window(0, 5),
                "[[0,\"1.0.0\"]]",
                "[[0,\"1.0.0\"],[4,\"123456789.123456789.1\"]]",
            ),
        ),
        ("window_not_canonical", changed(&scene.window(0, 3), ",\"v\":1}", ", \"v\":1}")),
    ] {
        all.push(vector(name, &file, Policy { window: Some(window), ..trusting() }));
    }
    let tired = scene_missing(6, 5_000_000_000, MissingReason::Newer("tired".parse().unwrap()));
    let file = tired.evidence(0, 2, "1000.5");
    let window = tired.window(0, 5);
    let tampered = changed(&window, "\"depth_usd\":[[1", "\"depth_usd\":[[2");
    for (name, window) in [
        ("window_with_a_future_reason", window),
        ("window_with_a_future_reason_tampered", tampered),
    ] {
        all.push(vector(name, &file, Policy { window: Some(window), ..trusting() }));
    }
    all
}

/// Windows that do not belong to the file's own log.
pub fn windows_of_other_logs(scene: &Scene) -> Vec<Vector> {
    // The depth of the lowest slot was computed with later rules.
    let method = scene.relinked(0, |index, head| {
        if index == 0 {
            head.method_version = "2.0.0".to_owned();
        }
    });
    let later_leaf = scene.clone().with_later_leaf(4);
    let taking_back = head_taking_back(scene, Retraction::misread(slot(2)));
    let taking_back = scene.ending_in(0, &taking_back).with_later_leaf(4);
    let (of_another_slot, window) = naming_another_slots(scene);
    let vector = |name, file: Vec<u8>, window| {
        let policy = Policy { window: Some(window), ..trusting() };
        Vector { name, evidence: file, policy }
    };
    let file = |scene: &Scene, pool| scene.evidence(pool, 2, "1000.5");
    vec![
        vector("window_of_a_future_method", file(&method, 0), method.window(0, 5)),
        vector("window_with_a_future_leaf", file(scene, 0), later_leaf.window(0, 5)),
        vector(
            "window_with_a_future_leaf_that_takes_the_slot_back",
            file(scene, 0),
            taking_back.window(0, 5),
        ),
        vector("window_with_another_slots_snapshot", file(&of_another_slot, 1), window),
    ]
}

/// Windows of other forms: with commitments, with a pool's end, and with the maximum number of heads, which therefore
/// starts later.
pub fn windows_of_all_forms(scene: &Scene) -> Vec<Vector> {
    let committing = scene.relinked(0, |index, head| {
        if index % 2 == 1 {
            head.commits = Commits::to("fills".parse().unwrap(), DocumentHash([7; 32]));
        }
    });
    let retired = scene.ending_in(0, &retired(scene));
    let week = tests::scene(HEADS + 2, 5_000_000_000);
    let many = HEADS as usize;
    let vector = |name, file: Vec<u8>, window| {
        let policy = Policy { window: Some(window), ..trusting() };
        Vector { name, evidence: file, policy }
    };
    let last = week.evidence(0, HEADS + 1, "1000.5");
    let short = changed(&week.window_of(0, 2..many + 2), "\"heads\":2016", "\"heads\":2015");
    vec![
        vector(
            "window_with_commitments",
            committing.evidence(0, 2, "1000.5"),
            committing.window(0, 5),
        ),
        vector(
            "window_with_another_commitment",
            committing.evidence(0, 2, "1000.5"),
            changed(&committing.window(0, 5), "0x0707", "0x0708"),
        ),
        vector(
            "window_that_ends_with_the_pool",
            scene.evidence(0, 2, "1000.5"),
            retired.window(0, 5),
        ),
        vector("window_of_2016_later_heads", last.clone(), week.window_of(0, 2..many + 2)),
        vector("window_of_2015_later_heads", last, short),
    ]
}

/// The maximum number of heads in a window.
const HEADS: u32 = 2_016;

/// The first pool's last head if the pool is retired.
fn retired(scene: &Scene) -> Head {
    let last = Head::from_canonical(&scene.pools[0].heads[4]).unwrap();
    let before = Head::from_canonical(&scene.pools[0].heads[3]).unwrap();
    Head {
        recorded_count: before.recorded_count,
        entry: HeadEntry::Retired,
        lowest_depth_7d_usd: before.lowest_depth_7d_usd,
        ..last
    }
}

/// The first pool's last head if it retracts slot 2.
fn head_taking_back(scene: &Scene, retraction: Retraction) -> Head {
    let series = &scene.pools[0];
    let last = Head::from_canonical(&series.heads[4]).unwrap();
    let kept = (0..5).filter(|index| *index != 2);
    let lowest =
        |token: usize| kept.clone().filter_map(|index: usize| series.depths[index]?[token]).min();
    Head {
        recorded_count: last.recorded_count - 1,
        retracts: vec![retraction],
        lowest_depth_7d_usd: [lowest(0), lowest(1)],
        ..last
    }
}

/// The window of the first pool's first five heads, of which the last retracts slot 2.
fn window_taking_back(scene: &Scene, retraction: Retraction) -> Vec<u8> {
    scene.ending_in(0, &head_taking_back(scene, retraction)).window(0, 5)
}

/// A log in which the second pool's lowest slot, its first, names the snapshot of the next slot, which has the same
/// depth; and the window of its first five heads.
fn naming_another_slots(scene: &Scene) -> (Scene, Vec<u8>) {
    let other = scene.pools[1].snapshots[1].clone().unwrap();
    let log = scene.relinked(1, |index, head| {
        if let HeadEntry::Recorded { snapshot, .. } = &mut head.entry
            && index == 0
        {
            *snapshot = other.hash();
        }
    });
    let mut window: Value = serde_json::from_slice(&scene.window(1, 5)).unwrap();
    let mut hashes = Base64::decode_vec(window["snapshots"].as_str().unwrap()).unwrap();
    hashes[..32].copy_from_slice(&other.hash().0);
    window["snapshots"] = json!(Base64::encode_string(&hashes));
    let document = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).unwrap();
    window["lowest_snapshots"] =
        json!([{ "snapshot": document(&other.snapshot), "state": document(&other.state) }]);
    let HeadProof { leaf, pool_proof, log_proof } = log.proof(1, 4);
    window["leaf"] = document(&leaf);
    window["pool_proof"] = json!({ "hashes": pool_proof.hashes, "index": pool_proof.index });
    window["log_proof"] = json!(log_proof.to_text());
    (log, canonical(&window))
}

fn future_retraction() -> Retraction {
    let document = json!({ "slot": slot(2).number(), "code": "moonstruck", "phase": "full" });
    let code = "moonstruck".parse().unwrap();
    let cause = RetractionCause::Newer { code, document: canonical(&document) };
    Retraction { slot: slot(2), cause }
}

/// The window with its checkpoint's text signed with another key.
fn signed_by(window: &[u8], key: &SignerKey) -> Vec<u8> {
    resigned(window, &|text| key.sign(text).unwrap())
}

/// The log with other heads of the second pool only. At each size it signs another root.
fn split(scene: &Scene) -> Scene {
    scene.relinked(1, |_, head| head.method_version = "1.0.1".to_owned())
}

/// The window of a log with another name but the same content.
fn elsewhere_window(scene: &Scene) -> Vec<u8> {
    let key = SignerKey::from_seed("other.example/log/5957856", [8; 32]).unwrap();
    resigned(&scene.window(0, 5), &|text| key.sign(&text.replacen("exitgap", "other", 1)).unwrap())
}

fn resigned(window: &[u8], sign: &dyn Fn(&str) -> String) -> Vec<u8> {
    let mut value: Value = serde_json::from_slice(window).unwrap();
    let mut proof = LogProof::from_text(value["log_proof"].as_str().unwrap()).unwrap();
    proof.checkpoint = sign(Note::parse(&proof.checkpoint).unwrap().text);
    value["log_proof"] = json!(proof.to_text());
    canonical(&value)
}
