//! The vectors that every verifier must agree on: evidence files true and false, with
//! the policy to check them by and what each check must say. They lie in
//! `tests/vectors/evidence/`; this test holds them to this build, and writes them
//! anew where `EXITGAP_WRITE_VECTORS` is set.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::*;

struct Vector {
    name: &'static str,
    evidence: Vec<u8>,
    policy: Policy,
}

impl Vector {
    fn document(&self) -> Value {
        let report = verify(&self.evidence, &self.policy);
        let text = |bytes: &Vec<u8>| String::from_utf8(bytes.clone()).unwrap();
        let keys: Vec<_> = self.policy.keys.iter().map(VerifierKey::to_string).collect();
        let seen = self.policy.seen.as_ref().map(|seen| {
            let proof: Vec<_> = seen.proof.iter().map(Hash::to_string).collect();
            json!({ "note": seen.note, "proof": proof })
        });
        let checks: Vec<_> = report
            .checks
            .iter()
            .map(|check| json!([check.name, check.outcome, check.code]))
            .collect();
        json!({
            "name": self.name,
            "evidence": text(&self.evidence),
            "policy": { "keys": keys, "seen": seen, "window": self.policy.window.as_ref().map(text) },
            "expected": {
                "verdict": report.verdict,
                "checks": checks,
                "unknown_signers": report.unknown_signers,
            },
        })
    }
}

fn window_of(scene: &Scene, pool: usize, heads: usize) -> Vec<u8> {
    let series = &scene.pools[pool];
    let snapshot =
        |slot: Slot| series.snapshots[(slot.number() - Slot::FIRST.number()) as usize].clone();
    HeadWindow::new(&series.heads[..heads], snapshot).unwrap().to_canonical().unwrap()
}

/// The window of the first pool's first five heads, of which the last takes slot 2 back.
fn window_taking_back(scene: &Scene) -> Vec<u8> {
    let series = &scene.pools[0];
    let last = Head::from_canonical(&series.heads[4]).unwrap();
    let kept = (0..5).filter(|index| *index != 2);
    let lowest =
        |token: usize| kept.clone().filter_map(|index: usize| series.depths[index]?[token]).min();
    let (orphaned, canonical) = (BlockHash([5; 32]), BlockHash([6; 32]));
    let head = Head {
        recorded_count: last.recorded_count - 1,
        retracts: vec![Retraction { slot: slot(2), orphaned, canonical }],
        lowest_depth_7d_usd: [lowest(0), lowest(1)],
        ..last
    };
    let mut heads = series.heads[..5].to_vec();
    heads[4] = head.to_canonical().unwrap();
    let snapshot =
        |slot: Slot| series.snapshots[(slot.number() - Slot::FIRST.number()) as usize].clone();
    HeadWindow::new(&heads, snapshot).unwrap().to_canonical().unwrap()
}

/// A file, what is replaced in it by what, and the vector's name.
const LIES: [(&str, &str, &str); 23] = [
    ("base_exchanged", "\"base\":\"token0\"", "\"base\":\"token1\""),
    ("size_changed", "\"size_usd\":\"1000.5\"", "\"size_usd\":\"1000.6\""),
    ("size_changed_but_true", "\"size_usd\":\"1000.5\"", "\"size_usd\":\"1000.501\""),
    ("size_spelled_otherwise", "\"size_usd\":\"1000.5\"", "\"size_usd\":\"1000.50\""),
    ("size_below_the_smallest", "\"size_usd\":\"1000.5\"", "\"size_usd\":\"0.001\""),
    ("size_beyond_liquidity", "\"size_usd\":\"1000.5\"", "\"size_usd\":\"999999999\""),
    (
        "method_never_released",
        "\"method_version\":\"1.0.0\",\"pool\":\"anvil:0xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\",\"size",
        "\"method_version\":\"1.0.1\",\"pool\":\"anvil:0xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\",\"size",
    ),
    ("gap_off_by_one_digit", "\"exit_gap_pct\":\"0.2758", "\"exit_gap_pct\":\"0.2759"),
    ("days_observed_raised", "\"days_observed\":\"0.0", "\"days_observed\":\"9.0"),
    ("status_raised_to_live", "\"status\":\"preview\"", "\"status\":\"live\""),
    ("chain_raised_to_live", "\"kind\":\"preview\"", "\"kind\":\"live\""),
    (
        "head_slot_moved",
        "\"recorded_count\":2,\"slot\":5957858",
        "\"recorded_count\":2,\"slot\":5957859",
    ),
    (
        "head_before_the_series",
        "\"recorded_count\":2,\"slot\":5957858",
        "\"recorded_count\":2,\"slot\":5957855",
    ),
    ("head_count_raised", "\"recorded_count\":2", "\"recorded_count\":3"),
    ("pools_of_the_slot_changed", "\"leaf\":{\"pools\":2", "\"leaf\":{\"pools\":3"),
    ("index_of_the_slot_changed", "\\nindex 2\\n", "\\nindex 1\\n"),
    ("size_of_the_log_changed", "/5957856\\n3\\n", "/5957856\\n4\\n"),
    ("checkpoint_with_crlf", "/5957856\\n3\\n", "/5957856\\r\\n3\\r\\n"),
    ("origin_changed", "exitgap.example/log/5957856\\n", "exitgap.example/Log/5957856\\n"),
    ("key_repeated", "\"v\":1}", "\"v\":1,\"v\":1}"),
    ("white_space", "{\"head\"", "{ \"head\""),
    ("number_spelled_otherwise", "\"tick\":3,", "\"tick\":3.0,"),
    ("unknown_field", "\"leaf\":", "\"leaf_\":0,\"leaf\":"),
];

fn vectors() -> Vec<Vector> {
    let (scene, rewritten) = (scene(6, 5_000_000_000), scene(6, 5_000_000_001));
    let file = scene.evidence(0, 2, "1000.5");
    let pair = scene.evidence(1, 4, "0.5");
    let stranger = SignerKey::from_seed(ORIGIN, [9; 32]).unwrap();
    let vector =
        |name, evidence: &[u8], policy| Vector { name, evidence: evidence.to_vec(), policy };
    let mut all = vec![
        vector("true_concentrated_liquidity", &file, trusting()),
        vector("true_constant_product", &pair, trusting()),
        vector("no_trusted_key", &file, Policy::trusting(Vec::new())),
        vector("another_key_of_the_name", &file, Policy::trusting(vec![stranger.verifier()])),
        vector("not_json", b"{\"head\":", trusting()),
    ];
    for (name, from, to) in LIES {
        all.push(vector(name, &changed(&file, from, to), trusting()));
    }
    for (name, seen_in, size) in [
        ("seen_earlier", &scene, 1),
        ("seen_later", &scene, 6),
        ("rewritten_before", &rewritten, 2),
        ("rewritten_after", &rewritten, 5),
        ("split_view", &rewritten, 3),
    ] {
        let proof = consistency_proof(&scene.log(size.max(3)), size.min(3) as usize).unwrap();
        let seen = SeenCheckpoint { note: seen_in.checkpoint(size), proof };
        all.push(vector(name, &file, Policy { seen: Some(seen), ..trusting() }));
    }
    let crlf = scene.checkpoint(3).replace('\n', "\r\n");
    let seen = SeenCheckpoint { note: crlf, proof: Vec::new() };
    all.push(vector("seen_with_crlf", &file, Policy { seen: Some(seen), ..trusting() }));
    let elsewhere = SignerKey::from_seed("other.example/log/5957856", [8; 32]).unwrap();
    let keys = vec![signer().verifier(), elsewhere.verifier()];
    let text = Note::parse(&scene.checkpoint(3)).unwrap().text.to_owned();
    // The same log, the same size, another root: nothing that a stranger's key can claim.
    let false_root = Note::parse(&rewritten.checkpoint(3)).unwrap().text.to_owned();
    for (name, note) in [
        ("seen_but_not_signed_by_a_trusted_key", stranger.sign(&text).unwrap()),
        ("seen_but_signed_by_another_logs_key", elsewhere.sign(&false_root).unwrap()),
        ("seen_of_another_log", elsewhere.sign(&text.replacen("exitgap", "other", 1)).unwrap()),
    ] {
        let seen = SeenCheckpoint { note, proof: Vec::new() };
        let policy = Policy { seen: Some(seen), ..Policy::trusting(keys.clone()) };
        all.push(vector(name, &file, policy));
    }
    all.push(vector("only_keys_of_other_logs", &file, Policy::trusting(keys[1..].to_vec())));
    for (name, window) in [
        ("window", window_of(&scene, 0, 3)),
        ("window_that_ends_later", window_of(&scene, 0, 5)),
        ("window_that_takes_the_slot_back", window_taking_back(&scene)),
        ("window_of_another_head", window_of(&scene, 0, 2)),
        ("window_of_another_pool", window_of(&scene, 1, 3)),
        (
            "window_with_another_depth",
            changed(&window_of(&scene, 0, 3), "\"depth_usd\":[[1", "\"depth_usd\":[[2"),
        ),
        (
            "window_with_a_long_method_version",
            changed(
                &window_of(&scene, 0, 5),
                "[[0,\"1.0.0\"]]",
                "[[0,\"1.0.0\"],[4,\"123456789.123456789.1\"]]",
            ),
        ),
        ("window_not_canonical", changed(&window_of(&scene, 0, 3), ",\"v\":1}", ", \"v\":1}")),
    ] {
        all.push(vector(name, &file, Policy { window: Some(window), ..trusting() }));
    }
    all
}

#[test]
fn the_vectors_are_these() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors/evidence");
    let write = std::env::var_os("EXITGAP_WRITE_VECTORS").is_some();
    let all = vectors();
    for vector in &all {
        let path = folder.join(format!("{}.json", vector.name));
        let expected = format!("{}\n", serde_json::to_string_pretty(&vector.document()).unwrap());
        if write {
            fs::create_dir_all(&folder).unwrap();
            fs::write(&path, &expected).unwrap();
        }
        let found = fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(found, expected, "{}: set EXITGAP_WRITE_VECTORS to write it anew", vector.name);
    }
    let files = fs::read_dir(&folder).unwrap().count();
    assert_eq!(files, all.len(), "a vector in the folder is none of these");
    let of = |name: &str| {
        let vector = all.iter().find(|vector| vector.name == name).unwrap();
        verify(&vector.evidence, &vector.policy).verdict
    };
    // Every lie is one, and only the true ones are accepted.
    for vector in &all {
        let expected = match vector.name {
            "true_concentrated_liquidity"
            | "true_constant_product"
            | "size_changed_but_true"
            | "seen_earlier"
            | "seen_later"
            | "window"
            | "window_that_ends_later" => Verdict::Valid,
            "no_trusted_key" => Verdict::Incomplete,
            _ => Verdict::Invalid,
        };
        assert_eq!(of(vector.name), expected, "{}", vector.name);
    }
}
