//! Head windows, heads and slot leaves, parsed from arbitrary bytes.

use exitgap_core::evidence::{
    CheckName, Head, HeadProof, HeadWindow, LOWEST_DEPTH_SLOTS, Outcome, Policy, PoolProof,
    SlotLeaf, verify,
};
use exitgap_core::snapshot::{Snapshot, SnapshotDocuments};
use exitgap_core::tlog::{Hash, LogProof};
use serde_json::Value;

use crate::canonical::to_canonical_json;

use super::known::{canonical, known, parts};

/// Windows, heads and leaves.
pub fn seeds() -> Vec<Vec<u8>> {
    let known = known();
    let mut seeds: Vec<Vec<u8>> =
        known.vectors.iter().filter_map(|v| v.window.clone().map(String::into_bytes)).collect();
    seeds.extend(known.sealed.iter().flat_map(|parts| [parts.head.clone(), parts.leaf.clone()]));
    seeds
}

/// Whether the bytes are a window, a head or a leaf.
pub fn body(input: &[u8]) -> bool {
    let head = Head::from_canonical(input);
    if let Ok(head) = &head {
        assert_eq!(head.to_canonical().as_deref(), Ok(input));
        assert_eq!(canonical(input).as_deref(), Some(input));
    }
    let leaf = SlotLeaf::from_canonical(input);
    if let Ok(leaf) = &leaf {
        assert_eq!(leaf.to_canonical().as_deref(), Ok(input));
    }
    let window = HeadWindow::from_canonical(input);
    if let Ok(window) = &window {
        check(input, window);
    }
    head.is_ok() || leaf.is_ok() || window.is_ok()
}

fn check(input: &[u8], window: &HeadWindow) {
    assert_eq!(window.to_canonical().as_deref(), Ok(input));
    assert_eq!(canonical(input).as_deref(), Some(input));
    let heads = window.heads();
    assert!((1..=LOWEST_DEPTH_SLOTS as usize).contains(&heads.len()));
    for (head, bytes) in heads {
        assert_eq!(Head::from_canonical(bytes).as_ref(), Ok(head));
    }
    for pair in heads.windows(2) {
        let hash = Head::hash_of(&pair[0].1);
        assert_eq!(pair[1].0.check_follows(&pair[0].0, hash), Ok(()));
    }
    // A window rebuilt from its heads and its other content is the same.
    let document: Value = serde_json::from_slice(input).expect("a window is JSON");
    let brought = document["lowest_snapshots"].as_array().into_iter().flatten();
    let brought: Vec<SnapshotDocuments> = brought
        .filter_map(|lowest| {
            let part = |name: &str| to_canonical_json(lowest.get(name)?);
            Some(SnapshotDocuments { snapshot: part("snapshot")?, state: part("state")? })
        })
        .collect();
    let (first, _) = &heads[0];
    let snapshot = |slot| {
        let of_slot = |documents: &&SnapshotDocuments| {
            Snapshot::of_pool(&first.pool, &documents.snapshot, &documents.state)
                .is_ok_and(|snapshot| snapshot.slot() == slot)
        };
        brought.iter().find(of_slot).cloned()
    };
    let bytes: Vec<_> = heads.iter().map(|(_, bytes)| bytes.clone()).collect();
    // The proof of a later version's leaf is not parsed.
    let Some(proof) = proof_in(&document) else {
        assert_ne!(document["leaf"]["v"], 1, "a window has a proof");
        return;
    };
    // A window does not check which slot a snapshot states: its hash is sufficient.
    if let Ok(again) = HeadWindow::new(&bytes, snapshot, proof) {
        assert_eq!(again.to_canonical().as_deref(), Ok(input));
    }
    // A window confirms a file if it contains the file's head, and no later head retracts it; and only the file's own
    // window ends with a head that was sealed.
    let file = known().file_with_window();
    let policy = Policy { window: Some(input.to_vec()), ..known().policy.clone() };
    let report = verify(&file.evidence, &policy);
    let outcome = report.check(CheckName::Window).expect("every check is there").outcome;
    let sealed = parts(&file.evidence).expect("the file is a true one").head;
    let place = heads.iter().position(|(_, bytes)| *bytes == sealed);
    let taken_back = place.is_some_and(|place| {
        let (own, later) = (heads[place].0.slot, &heads[place + 1..]);
        later.iter().any(|(head, _)| head.retracts.iter().any(|taken| taken.slot == own))
    });
    let passes = outcome == Outcome::Pass;
    // A window that the log's key did not sign confirms nothing; a signed one does, if it contains the head.
    let signed = known().texts.iter().any(|text| window.checkpoint().starts_with(text.as_str()));
    assert!(!passes || (signed && place.is_some() && !taken_back));
    let true_one = file.window.as_deref().is_some_and(|window| window.as_bytes() == input);
    assert_eq!(true_one, passes && place == Some(heads.len() - 1));
}

fn proof_in(window: &Value) -> Option<HeadProof> {
    let hashes = window["pool_proof"]["hashes"].as_array()?;
    let hashes = hashes.iter().map(|hash| Hash::from_base64(hash.as_str()?));
    let hashes = hashes.collect::<Option<Vec<_>>>()?;
    Some(HeadProof {
        leaf: to_canonical_json(&window["leaf"])?,
        pool_proof: PoolProof::new(window["pool_proof"]["index"].as_u64()?, &hashes),
        log_proof: LogProof::from_text(window["log_proof"].as_str()?).ok()?,
    })
}
