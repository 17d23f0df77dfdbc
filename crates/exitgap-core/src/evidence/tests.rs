//! A small log of two pools, and what happens to a file from it that is changed.

use serde_json::Value;

use super::*;
use crate::ids::{Address, BlockHash, PoolId};
use crate::pools::{
    Concentrated, ConstantProduct, FeeRate, PoolState, TickNet, sqrt_ratio_at_tick,
};
use crate::series::{MissingReason, Slot};
use crate::snapshot::{
    BlockRef, ChainKind, ChainTag, Observation, OracleReading, OracleRole, OracleSource, Session,
    Snapshot, Symbol, Token, to_canonical_json,
};
use crate::wide::U256;

const ORIGIN: &str = "exitgap.example/log/5957856";

fn signer() -> SignerKey {
    SignerKey::from_seed(ORIGIN, [42; 32]).unwrap()
}

fn slot(index: u32) -> Slot {
    Slot::new(u64::from(Slot::FIRST.number() + index)).unwrap()
}

fn snapshot(pool: &PoolId, state: PoolState, slot: Slot) -> Snapshot {
    let timestamp = slot.unix_s() - 12;
    let token = |last: u8| Token {
        address: Address([last; 20]),
        decimals: 3,
        symbol: Symbol::clean("TOK"),
    };
    let price = |role| OracleReading {
        role,
        answer: U256::from(2),
        decimals: 0,
        source: OracleSource::Fixed,
    };
    let observation = Observation::new(
        pool.clone(),
        ChainTag { caip2: "eip155:31337".parse().unwrap(), kind: ChainKind::Preview },
        BlockRef { hash: BlockHash([5; 32]), number: u64::from(slot.number()), timestamp },
        [token(1), token(2)],
        state,
        vec![price(OracleRole::Token0Usd), price(OracleRole::Token1Usd)],
        Session::continuous(),
    );
    Snapshot::new(slot, observation.unwrap()).unwrap()
}

fn concentrated(liquidity: i128) -> PoolState {
    let ticks = vec![
        TickNet { tick: -600, liquidity_net: liquidity },
        TickNet { tick: 600, liquidity_net: -liquidity },
    ];
    let price = sqrt_ratio_at_tick(3).unwrap();
    let active = u128::try_from(liquidity).unwrap();
    PoolState::Concentrated(Concentrated::new(price, 3, active, 3_000, 60, ticks).unwrap())
}

fn pair() -> PoolState {
    let fee = FeeRate { numerator: 3, denominator: 1_000 };
    PoolState::ConstantProduct(ConstantProduct::new([9_000_000; 2], fee).unwrap())
}

/// One pool of the log: what was recorded in each slot.
struct Series {
    id: PoolId,
    snapshots: Vec<Option<Vec<u8>>>,
    heads: Vec<Vec<u8>>,
}

/// A log in which the first pool missed slot 1 and the second none.
struct Scene {
    pools: Vec<Series>,
    leaves: Vec<Vec<u8>>,
}

fn extend(series: &mut Series, slot: Slot, snapshot: Option<&Snapshot>) {
    let before = series.heads.last().map(|bytes| Head::from_canonical(bytes).unwrap());
    let canonical = snapshot.map(|snapshot| snapshot.to_canonical().unwrap());
    let entry = match (snapshot, &canonical) {
        (Some(snapshot), Some(bytes)) => {
            HeadEntry::Recorded { snapshot: Snapshot::hash_of(bytes), depth_usd: depths(snapshot) }
        }
        _ => HeadEntry::Missing(MissingReason::ChainLagging),
    };
    let recorded = series.snapshots.iter().flatten().count() + usize::from(snapshot.is_some());
    let head = Head {
        pool: series.id.clone(),
        slot,
        height: before.as_ref().map_or(0, |before| before.height + 1),
        recorded_count: u32::try_from(recorded).unwrap(),
        prev: series.heads.last().map(|bytes| Head::hash_of(bytes)),
        entry,
        lowest_depth_7d_usd: [Some(17), None],
        method_version: "1.0.0".to_owned(),
        retracts: Vec::new(),
    };
    series.snapshots.push(canonical);
    series.heads.push(head.to_canonical().unwrap());
}

fn scene(slots: u32, liquidity: i128) -> Scene {
    let id = |last: u8| PoolId::new("anvil".parse().unwrap(), Address([last; 20]));
    let series = |last| Series { id: id(last), snapshots: Vec::new(), heads: Vec::new() };
    let mut scene = Scene { pools: vec![series(0xaa), series(0xbb)], leaves: Vec::new() };
    for index in 0..slots {
        let slot = slot(index);
        for (number, state) in [concentrated(liquidity), pair()].into_iter().enumerate() {
            let missing = number == 0 && index == 1;
            let series = &mut scene.pools[number];
            let snapshot = (!missing).then(|| snapshot(&series.id, state, slot));
            extend(series, slot, snapshot.as_ref());
        }
        let hashes = scene.head_hashes(index);
        let leaf = SlotLeaf { slot, pools: 2, root: root(&hashes) };
        scene.leaves.push(leaf.to_canonical().unwrap());
    }
    scene
}

impl Scene {
    fn head_hashes(&self, index: u32) -> Vec<Hash> {
        self.pools.iter().map(|series| Head::leaf_of(&series.heads[index as usize])).collect()
    }

    fn log(&self, size: u32) -> Vec<Hash> {
        self.leaves[..size as usize].iter().map(|leaf| SlotLeaf::leaf_of(leaf)).collect()
    }

    fn checkpoint(&self, size: u32) -> String {
        let checkpoint = Checkpoint {
            origin: ORIGIN.parse().unwrap(),
            size: size.into(),
            root: root(&self.log(size)),
            extensions: Vec::new(),
        };
        signer().sign(&checkpoint.to_text()).unwrap()
    }

    /// The evidence file of a sale at slot `index` with the first checkpoint that
    /// covers it.
    fn evidence(&self, pool: usize, index: u32, size_usd: &str) -> Vec<u8> {
        let series = &self.pools[pool];
        let canonical = series.snapshots[index as usize].as_ref().unwrap();
        let snapshot = Snapshot::from_canonical(canonical).unwrap();
        let head_bytes = &series.heads[index as usize];
        let head = Head::from_canonical(head_bytes).unwrap();
        let size = size_usd.parse().unwrap();
        let request = EvidenceRequest::new(series.id.clone(), slot(index), Base::Token0, size);
        let result = EvidenceResult::compute(&request, &snapshot, &head).unwrap();
        let hashes = self.head_hashes(index);
        let pool_proof = PoolProof::new(pool as u64, &inclusion_proof(&hashes, pool).unwrap());
        let log_proof = LogProof {
            index: index.into(),
            hashes: inclusion_proof(&self.log(index + 1), index as usize).unwrap(),
            checkpoint: self.checkpoint(index + 1),
        };
        let leaf = &self.leaves[index as usize];
        write_evidence(&request, &result, canonical, head_bytes, leaf, &pool_proof, &log_proof)
            .unwrap()
    }
}

fn trusting() -> Policy {
    Policy::trusting(vec![signer().verifier()])
}

/// The failing checks of a changed file, and that it is invalid.
fn failing(evidence: &[u8], policy: &Policy) -> Vec<(CheckName, &'static str)> {
    let report = verify(evidence, policy);
    assert_eq!(report.verdict, Verdict::Invalid, "{report:#?}");
    let failed = report.checks.iter().filter(|check| check.outcome == Outcome::Fail);
    failed.map(|check| (check.name, check.code)).collect()
}

/// The file with one text in it replaced, which must be there.
fn changed(evidence: &[u8], from: &str, to: &str) -> Vec<u8> {
    let text = core::str::from_utf8(evidence).unwrap();
    let changed = text.replacen(from, to, 1);
    assert_ne!(changed, text, "the change must happen");
    changed.into_bytes()
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
    let untrusting = verify(&scene.evidence(0, 0, "1000"), &Policy::trusting(Vec::new()));
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
        String::from_utf8(to_canonical_json(&value[name]).unwrap()).unwrap()
    };

    // The last digit of the result.
    let gap = part(&file, "result").split("exit_gap_pct\":\"").nth(1).unwrap()[..8].to_owned();
    let mut lie = gap.clone().into_bytes();
    lie[7] = if lie[7] == b'9' { b'8' } else { lie[7] + 1 };
    let result = fails(&gap, core::str::from_utf8(&lie).unwrap());
    assert_eq!(result, [(CheckName::Result, "result_mismatch")]);
    // Another base, size, method.
    let result = fails("\"base\":\"token0\"", "\"base\":\"token1\"");
    assert_eq!(result, [(CheckName::Result, "result_mismatch")]);
    let result = fails("\"size_usd\":\"1000\"", "\"size_usd\":\"1001\"");
    assert_eq!(result, [(CheckName::Result, "result_mismatch")]);
    let result = fails("\"size_usd\":\"1000\"", "\"size_usd\":\"1000.0\"");
    assert_eq!(result, [(CheckName::Result, "no_result")]);
    let result = fails(
        "\"method_version\":\"1.0.0\",\"pool\":\"anvil:0xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\",\"size",
        "\"method_version\":\"9.9.9\",\"pool\":\"anvil:0xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\",\"size",
    );
    assert_eq!(result, [(CheckName::Result, "no_result")]);
    // The snapshot of another pool, of another slot, or presented as live.
    let result = fails(&part(&file, "snapshot"), &part(&other, "snapshot"));
    assert_eq!(result[0], (CheckName::Snapshot, "snapshot_hash_mismatch"));
    assert!(result.contains(&(CheckName::SlotRule, "snapshot_pool_mismatch")));
    let result = fails(&part(&file, "snapshot"), &part(&scene.evidence(0, 3, "1000"), "snapshot"));
    assert_eq!(result[0], (CheckName::Snapshot, "snapshot_hash_mismatch"));
    assert!(result.contains(&(CheckName::SlotRule, "snapshot_slot_mismatch")));
    assert_eq!(fails("\"status\":\"preview\"", "\"status\":\"live\"")[0].1, "result_mismatch");
    assert_eq!(fails("\"kind\":\"preview\"", "\"kind\":\"live\"")[0].1, "snapshot_invalid");
    // A head of another pool, or with other depths.
    let result = fails(&part(&file, "head"), &part(&other, "head"));
    assert!(result.contains(&(CheckName::Head, "head_pool_mismatch")));
    assert!(result.contains(&(CheckName::SlotLeaf, "pool_proof_mismatch")));
    let depths = text.split("\"depth_usd\":[\"").nth(1).unwrap().split('"').next().unwrap();
    let result = fails(&format!("[\"{depths}\""), "[\"999\"");
    assert!(result.contains(&(CheckName::Head, "depth_mismatch")));
    assert!(result.contains(&(CheckName::SlotLeaf, "pool_proof_mismatch")));
    assert_eq!(
        fails("\"lowest_depth_7d_usd\":[\"17\"", "\"lowest_depth_7d_usd\":[\"18\"")[0].0,
        CheckName::SlotLeaf
    );
    // A proof for another index or size.
    assert_eq!(fails("\\nindex 2\\n", "\\nindex 1\\n"), [(CheckName::Inclusion, "index_mismatch")]);
    let result = fails("/5957856\\n3\\n", "/5957856\\n4\\n");
    assert!(result.iter().any(|(name, _)| *name == CheckName::Inclusion));
    assert!(result.contains(&(CheckName::Signature, "signature_forged")));
    let result = fails("/5957856\\n3\\n", "/5957855\\n3\\n");
    assert!(result.iter().any(|(_, code)| *code == "log_proof_invalid"));
    // A slot before the series.
    let result = fails("\"slot\":5957858,\"v\":1},\"log", "\"slot\":5957855,\"v\":1},\"log");
    assert_eq!(result[0], (CheckName::SlotLeaf, "leaf_invalid"));
}

#[test]
fn a_signature_counts_only_by_a_trusted_key_of_this_log() {
    let scene = scene(3, 5_000_000_000);
    let file = scene.evidence(0, 2, "1000");
    let stranger = SignerKey::from_seed(ORIGIN, [9; 32]).unwrap();
    let code = |policy: &Policy| failing(&file, policy)[0];
    let only_stranger = Policy::trusting(vec![stranger.verifier()]);
    assert_eq!(code(&only_stranger), (CheckName::Signature, "signature_not_trusted"));
    // A trusted key of another log under this log's checkpoint.
    let text: Value = serde_json::from_slice(&file).unwrap();
    let proof = LogProof::from_text(text["log_proof"].as_str().unwrap()).unwrap();
    let (checkpoint, _) = Checkpoint::from_note(&proof.checkpoint).unwrap();
    let elsewhere = SignerKey::from_seed("other.example/log/5957856", [8; 32]).unwrap();
    let resigned = elsewhere.sign(&checkpoint.to_text()).unwrap();
    let replace = |note: &str| {
        let escape = |text: &str| serde_json::to_string(text).unwrap().trim_matches('"').to_owned();
        changed(&file, &escape(&proof.checkpoint), &escape(note))
    };
    let both = Policy::trusting(vec![signer().verifier(), elsewhere.verifier()]);
    assert_eq!(
        failing(&replace(&resigned), &both),
        [(CheckName::Signature, "signature_not_trusted")]
    );
    // An extra signature by an unknown key is ignored, and reported.
    let line = stranger.sign(&checkpoint.to_text()).unwrap();
    let extra = format!("{}{}\n", proof.checkpoint, line.lines().last().unwrap());
    let report = verify(&replace(&extra), &trusting());
    assert_eq!(report.verdict, Verdict::Valid);
    assert_eq!(report.unknown_signers, [format!("{ORIGIN}+{}", stranger.verifier().id())]);
    // No signature at all is no note.
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
    // 1000.5 USD are 500250 units: a thousandth of a token is worth 0.002 USD, so
    // 1000.4 and 1000.1 are other amounts and nothing else stays true.
    assert_eq!(still_true, []);
    // 1000.501 USD floor to the same amount: that file is true, and accepted.
    let same = changed(&file, "\"size_usd\":\"1000.5\"", "\"size_usd\":\"1000.501\"");
    assert_eq!(verify(&same, &policy).verdict, Verdict::Valid);
}

/// Every document that differs from `value` in one place by removing, renaming or
/// retyping.
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
        let bytes = to_canonical_json(&changed).unwrap();
        assert_ne!(verify(&bytes, &trusting()).verdict, Verdict::Valid, "{changed}");
    }
    // A repeated key, though its values agree.
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
}
