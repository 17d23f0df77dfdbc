//! Head windows, and heads and slot leaves, on any bytes.

use exitgap_core::evidence::{
    CheckName, Head, HeadWindow, LOWEST_DEPTH_SLOTS, Outcome, Policy, SlotLeaf, verify,
};
use exitgap_core::snapshot::Snapshot;

use super::known::{canonical, known, parts};

/// Windows, heads and leaves.
pub fn seeds() -> Vec<Vec<u8>> {
    let known = known();
    let mut seeds: Vec<Vec<u8>> =
        known.vectors.iter().filter_map(|v| v.window.clone().map(String::into_bytes)).collect();
    seeds.extend(known.sealed.iter().flat_map(|[head, leaf, _]| [head.clone(), leaf.clone()]));
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
    // Made anew of its heads and the snapshots that it brought, it is the same.
    let brought: Vec<Vec<u8>> = serde_json::from_slice::<serde_json::Value>(input)
        .ok()
        .and_then(|document| document.get("lowest_snapshots")?.as_array().cloned())
        .into_iter()
        .flatten()
        .filter_map(|snapshot| canonical(snapshot.to_string().as_bytes()))
        .collect();
    let snapshot = |slot| {
        let of_slot = |bytes: &&Vec<u8>| {
            Snapshot::from_canonical(bytes).is_ok_and(|snapshot| snapshot.slot() == slot)
        };
        brought.iter().find(of_slot).cloned()
    };
    let bytes: Vec<_> = heads.iter().map(|(_, bytes)| bytes.clone()).collect();
    // A window does not ask which slot a snapshot states: its hash says it all.
    if let Ok(again) = HeadWindow::new(&bytes, snapshot) {
        assert_eq!(again.to_canonical().as_deref(), Ok(input));
    }
    // A window bears a file out where the file's head is in it, and no later head takes that back;
    // and no other window than the file's own ends with a head that was sealed.
    let file = known().file_with_window();
    let policy = Policy { window: Some(input.to_vec()), ..known().policy.clone() };
    let report = verify(&file.evidence, &policy);
    let outcome = report.check(CheckName::Window).expect("every check is there").outcome;
    let [sealed, ..] = parts(&file.evidence).expect("the file is a true one");
    let place = heads.iter().position(|(_, bytes)| *bytes == sealed);
    let taken_back = place.is_some_and(|place| {
        let (own, later) = (heads[place].0.slot, &heads[place + 1..]);
        later.iter().any(|(head, _)| head.retracts.iter().any(|taken| taken.slot == own))
    });
    assert_eq!(outcome == Outcome::Pass, place.is_some() && !taken_back);
    let true_one = file.window.as_deref().is_some_and(|window| window.as_bytes() == input);
    assert_eq!(true_one, place == Some(heads.len() - 1));
}
