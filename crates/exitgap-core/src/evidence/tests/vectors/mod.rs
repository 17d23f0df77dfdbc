//! The vectors that every verifier must agree on: valid and invalid evidence files, the policy to verify each with, and
//! the expected result of each check. They are in `tests/vectors/evidence/`. This test compares them with this build,
//! and rewrites them if `EXITGAP_WRITE_VECTORS` is set.

mod bounds;
mod kinds;
mod sessions;
mod windows;

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
                "unknown_commits": report.unknown_commits,
                "unknown_facts": report.unknown_facts,
            },
        })
    }
}

/// The first pool's file of slot 2 with changed documents, for which all hashes, proofs and signatures are recomputed:
/// a file that a later version of exitgap might write.
fn future(scene: &Scene, edit: &dyn Fn(&mut Value)) -> Vec<u8> {
    resealed(scene, 0, edit)
}

/// The same for any pool.
fn resealed(scene: &Scene, pool: usize, edit: &dyn Fn(&mut Value)) -> Vec<u8> {
    let mut file: Value = serde_json::from_slice(&scene.evidence(pool, 2, "1000.5")).unwrap();
    edit(&mut file);
    let hash = |part: &Value| json!(Snapshot::hash_of(&canonical(part)).to_string());
    file["snapshot"]["state"] = hash(&file["state"]);
    file["head"]["snapshot"] = hash(&file["snapshot"]);
    let mut heads = scene.head_hashes(2);
    heads[pool] = Head::leaf_of(&canonical(&file["head"]));
    file["leaf"]["root"] = json!(root(&heads).to_string());
    let mut log = scene.log(3);
    log[2] = SlotLeaf::leaf_of(&canonical(&file["leaf"]));
    let checkpoint = Checkpoint {
        origin: ORIGIN.parse().unwrap(),
        size: 3,
        root: root(&log),
        extensions: Vec::new(),
    };
    let proof = LogProof {
        index: 2,
        hashes: inclusion_proof(&log, 2).unwrap(),
        checkpoint: signer().sign(&checkpoint.to_text()).unwrap(),
    };
    file["log_proof"] = json!(proof.to_text());
    canonical(&file)
}

/// A change that a later version might make to a file, and a one-byte change inside it.
type Future = (&'static str, &'static dyn Fn(&mut Value), [&'static str; 2]);

const LIQUIDITY: [&str; 2] = ["\"liquidity\":\"9", "\"liquidity\":\"8"];
const DEPTH: [&str; 2] = ["\"depth_usd\":[\"", "\"depth_usd\":[\"1"];

const FUTURES: [Future; 13] = [
    ("future_file", &|file| file["v"] = json!(2), ["{\"head\"", "{ \"head\""]),
    (
        "future_snapshot",
        &|file| file["snapshot"]["v"] = json!(2),
        ["\"number\":5957858", "\"number\":5957859"],
    ),
    ("future_state", &|file| file["state"]["v"] = json!(2), LIQUIDITY),
    ("future_head", &|file| file["head"]["v"] = json!(2), DEPTH),
    ("future_leaf", &|file| file["leaf"]["v"] = json!(2), DEPTH),
    ("future_protocol", &|file| file["state"]["protocol"] = json!("concentrated_v9"), LIQUIDITY),
    (
        "future_protocol_of_three_tokens",
        &|file| {
            file["state"]["protocol"] = json!("stableswap_v9");
            let third = format!("0x{}", "03".repeat(20));
            let token = json!({ "address": third, "decimals": 6, "symbol": "THIRD" });
            file["snapshot"]["tokens"].as_array_mut().unwrap().push(token);
            let mut reading = file["snapshot"]["oracles"][1].clone();
            reading["token"] = json!(2);
            file["snapshot"]["oracles"].as_array_mut().unwrap().push(reading);
            let pool = format!("{}.0-2", file["head"]["pool"].as_str().unwrap());
            file["head"]["pool"] = json!(pool);
            file["request"]["pool"] = json!(pool);
        },
        LIQUIDITY,
    ),
    (
        "future_oracle_source",
        &|file| {
            let oracle = json!({"source": "medianizer", "role": "token_usd", "token": 0, "new": 1});
            file["snapshot"]["oracles"][0] = oracle;
        },
        LIQUIDITY,
    ),
    (
        "future_calendar",
        &|file| {
            let table = format!("0x{}", "5a".repeat(32));
            file["snapshot"]["sessions"] = json!([{
                "token": 1, "calendar": "moon", "table": table, "state": "open", "note": "full",
            }]);
        },
        LIQUIDITY,
    ),
    (
        "future_table_of_a_calendar",
        &|file| {
            let table = format!("0x{}", "5a".repeat(32));
            file["snapshot"]["sessions"] = json!([{
                "token": 1, "calendar": "xnys", "table": table, "state": "regular",
                "note": "XNYS@2/regular",
            }]);
        },
        LIQUIDITY,
    ),
    (
        "future_method",
        &|file| {
            file["head"]["method_version"] = json!("2.0.0");
            file["request"]["method_version"] = json!("2.0.0");
        },
        DEPTH,
    ),
    // A commitment with a name that no reader knows. No check uses it.
    (
        "future_commitment",
        &|file| {
            let document = format!("0x{}", "5a".repeat(32));
            file["head"]["commits"] = json!({ "fills": document });
            file["leaf"]["commits"] = json!({ "rainfall": document, "weather": document });
        },
        ["0x5a5a5a5a", "0x5a5a5a5b"],
    ),
    (
        "future_fact",
        &|file| {
            let contract = format!("0x{}", "11".repeat(20));
            file["snapshot"]["facts"] = json!([{
                "name": "moon_phase", "contract": contract, "call": "0x5a5a5a5a",
                "words": [format!("0x{}", "00".repeat(32))],
            }]);
        },
        ["0x5a5a5a5a", "0x5a5a5a5b"],
    ),
];

/// The text to replace, its replacement, and the vector's name.
const LIES: [(&str, &str, &str); 26] = [
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
    ("version_0", "},\"v\":1}", "},\"v\":0}"),
    ("an_empty_commitment", "{\"depth_usd\"", "{\"commits\":{},\"depth_usd\""),
    (
        "gross_liquidity_said_twice",
        "[[-600,\"9000000000\"]",
        "[[-600,\"9000000000\",\"9000000000\"]",
    ),
];

fn vectors() -> Vec<Vector> {
    let kin = scene_of_kin(3);
    let (scene, rewritten) = (scene(6, 5_000_000_000), scene(6, 5_000_000_001));
    let file = scene.evidence(0, 2, "1000.5");
    let pair = scene.evidence(1, 4, "0.5");
    let too_large = scene.evidence(0, 4, "1000000000");
    let stranger = SignerKey::from_seed(ORIGIN, [9; 32]).unwrap();
    let vector =
        |name, evidence: &[u8], policy| Vector { name, evidence: evidence.to_vec(), policy };
    let mut all = vec![
        vector("true_concentrated_liquidity", &file, trusting()),
        vector("true_constant_product", &pair, trusting()),
        vector("true_concentrated_v4", &kin.evidence(0, 2, "1000.5"), trusting()),
        vector(
            "v4_fee_of_the_other_direction",
            &changed(&kin.evidence(0, 2, "1000.5"), "[1000,250]", "[250,1000]"),
            trusting(),
        ),
        vector("true_concentrated_linked", &kin.evidence(1, 2, "1000.5"), trusting()),
        vector("true_refusal", &too_large, trusting()),
        vector(
            "refusal_that_pays_more",
            &changed(&too_large, "\"paid_raw\":\"", "\"paid_raw\":\"1"),
            trusting(),
        ),
        vector(
            "refusal_of_what_is_filled",
            &changed(&too_large, "\"size_usd\":\"1000000000\"", "\"size_usd\":\"10\""),
            trusting(),
        ),
        vector("no_trusted_key", &file, Policy::with_keys(Vec::new())),
        vector("another_key_of_the_name", &file, Policy::with_keys(vec![stranger.verifier()])),
        vector("not_json", b"{\"head\":", trusting()),
    ];
    for (name, from, to) in LIES {
        all.push(vector(name, &changed(&file, from, to), trusting()));
    }
    for (name, edit, [from, to]) in FUTURES {
        let future = future(&scene, edit);
        all.push(vector(name, &future, trusting()));
        let tampered: &'static str = format!("{name}_tampered").leak();
        all.push(vector(tampered, &changed(&future, from, to), trusting()));
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
    all.extend(at_bounds(&scene));
    // A pool with two tokens has no pairs.
    let pair_of_two = future(&scene, &|file| {
        let pool = format!("{}.3-5", file["head"]["pool"].as_str().unwrap());
        file["head"]["pool"] = json!(pool);
        file["request"]["pool"] = json!(pool);
    });
    all.push(vector("pair_of_a_pool_of_two", &pair_of_two, trusting()));
    let crlf = scene.checkpoint(3).replace('\n', "\r\n");
    let seen = SeenCheckpoint { note: crlf, proof: Vec::new() };
    all.push(vector("seen_with_crlf", &file, Policy { seen: Some(seen), ..trusting() }));
    let elsewhere = SignerKey::from_seed("other.example/log/5957856", [8; 32]).unwrap();
    let keys = vec![signer().verifier(), elsewhere.verifier()];
    let text = Note::parse(&scene.checkpoint(3)).unwrap().text.to_owned();
    let forged = with_forged(&text).replace('\n', "\\n");
    let signed = scene.checkpoint(3).replace('\n', "\\n");
    all.push(vector(
        "forged_beside_a_good_signature",
        &changed(&file, &signed, &forged),
        trusting(),
    ));
    // The same log and size with another root: a stranger's key must not be able to claim this.
    let false_root = Note::parse(&rewritten.checkpoint(3)).unwrap().text.to_owned();
    for (name, note) in [
        ("seen_but_not_signed_by_a_trusted_key", stranger.sign(&text).unwrap()),
        ("seen_but_signed_by_another_logs_key", elsewhere.sign(&false_root).unwrap()),
        ("seen_of_another_log", elsewhere.sign(&text.replacen("exitgap", "other", 1)).unwrap()),
        ("seen_with_a_forged_signature", with_forged(&text)),
        ("seen_empty", empty_log(root(&[]))),
        ("seen_empty_with_another_root", empty_log(root(&scene.log(1)))),
    ] {
        let seen = SeenCheckpoint { note, proof: Vec::new() };
        let policy = Policy { seen: Some(seen), ..Policy::with_keys(keys.clone()) };
        all.push(vector(name, &file, policy));
    }
    // A consistency proof from the empty log must be empty, so any other proof is wrong.
    let seen = SeenCheckpoint { note: empty_log(root(&[])), proof: scene.log(1) };
    let policy = Policy { seen: Some(seen), ..trusting() };
    all.push(vector("seen_empty_with_a_proof", &file, policy));
    all.push(vector("only_keys_of_other_logs", &file, Policy::with_keys(keys[1..].to_vec())));
    all.extend(bounds::bounds(&scene));
    all.extend(kinds::kinds());
    all.extend(windows::windows(&scene, &stranger));
    all.extend(windows::windows_of_other_logs(&scene));
    all.extend(windows::windows_of_all_forms(&scene));
    all.extend(sessions::sessions(&scene));
    all
}

/// A text with the trusted key's signature, followed by a forged signature under its name.
fn with_forged(text: &str) -> String {
    let forged = signer().sign("another text\n").unwrap();
    format!("{}{}\n", signer().sign(text).unwrap(), forged.lines().last().unwrap())
}

/// Files whose documents are at a bound or exceed it.
fn at_bounds(scene: &Scene) -> Vec<Vector> {
    let vector =
        |name, evidence: &[u8], policy| Vector { name, evidence: evidence.to_vec(), policy };
    let mut all = Vec::new();
    // Slots before a pool's first head cannot be retracted.
    let before_first = future(scene, &|file| {
        let head = &mut file["head"];
        head["height"] = json!(1);
        head["recorded_count"] = json!(1);
        head["retracts"] = json!([{ "code": "misread", "slot": slot(0).number() }]);
    });
    all.push(vector("retraction_before_the_first_head", &before_first, trusting()));
    // An object may have at most 64 fields, even where any field names are allowed.
    let wide = future(scene, &|file| {
        let mut retraction = json!({ "code": "moonstruck", "slot": slot(1).number() });
        for number in 0..62 {
            retraction[format!("other{number}")] = Value::Null;
        }
        file["head"]["recorded_count"] = json!(2);
        file["head"]["retracts"] = json!([retraction]);
    });
    all.push(vector("future_retraction_code_of_64_fields", &wide, trusting()));
    let wider = changed(&wide, "\"other0\":", "\"other\":null,\"other0\":");
    all.push(vector("object_of_65_fields", &wider, trusting()));
    let hashes = |many: usize| json!(vec![Hash([7; 32]).to_string(); many]);
    let long_proof = future(scene, &|file| file["pool_proof"]["hashes"] = hashes(65));
    all.push(vector("pool_proof_of_65_hashes", &long_proof, trusting()));
    all
}

/// A checkpoint of no slots.
fn empty_log(root: Hash) -> String {
    let origin = ORIGIN.parse().unwrap();
    let checkpoint = Checkpoint { origin, size: 0, root, extensions: Vec::new() };
    signer().sign(&checkpoint.to_text()).unwrap()
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
    // Every invalid file fails as expected, and only the valid ones are accepted.
    for vector in &all {
        let expected = match vector.name {
            "true_concentrated_liquidity"
            | "true_constant_product"
            | "true_concentrated_v4"
            | "true_concentrated_linked"
            | "true_refusal"
            | "future_commitment"
            | "future_fact"
            | "window_with_a_future_reason"
            | "window_of_a_future_method"
            | "window_with_a_future_leaf"
            | "size_changed_but_true"
            | "seen_earlier"
            | "seen_empty"
            | "seen_later"
            | "window"
            | "window_of_2016_later_heads"
            | "window_that_ends_later"
            | "window_that_ends_with_the_pool"
            | "window_with_commitments" => Verdict::Valid,
            "no_trusted_key" | "method_never_released" => Verdict::Incomplete,
            name if bounds::is_true(name) || kinds::is_true(name) || sessions::is_true(name) => {
                Verdict::Valid
            }
            name if name.starts_with("future_") && !name.ends_with("_tampered") => {
                Verdict::Incomplete
            }
            _ => Verdict::Invalid,
        };
        assert_eq!(of(vector.name), expected, "{}", vector.name);
    }
}
