//! Snapshots on any bytes; what is one is sealed into a log of its own, and its evidence must
//! verify, and must not with another result.

use exitgap_core::evidence::{
    Base, CheckName, Checkpoint, EvidenceRequest, EvidenceResult, Hash, Head, HeadEntry, LogProof,
    Origin, Outcome, Policy, PoolProof, SignerKey, SlotLeaf, Verdict, depths, verify,
    write_evidence,
};
use exitgap_core::snapshot::Snapshot;

use super::known::{canonical, known};

/// The snapshot of every vector, and of every window.
pub fn seeds() -> Vec<Vec<u8>> {
    known().sealed.iter().map(|[_, _, snapshot]| snapshot.clone()).collect()
}

/// Whether the bytes are a snapshot.
pub fn body(input: &[u8]) -> bool {
    let Ok(snapshot) = Snapshot::from_canonical(input) else { return false };
    assert_eq!(snapshot.to_canonical().as_deref(), Ok(input));
    assert_eq!(canonical(input).as_deref(), Some(input));
    let depths = depths(&snapshot);
    let head = Head {
        pool: snapshot.observation().pool().clone(),
        slot: snapshot.slot(),
        height: 0,
        recorded_count: 1,
        prev: None,
        entry: HeadEntry::Recorded { snapshot: Snapshot::hash_of(input), depth_usd: depths },
        lowest_depth_7d_usd: depths,
        method_version: "1.0.0".to_owned(),
        retracts: Vec::new(),
    };
    let sealed = Sealed::new(&head);
    // The input decides the size, so that mutations vary it.
    let digest = Snapshot::hash_of(input).0;
    let exponent = u32::from(digest[0] % 12);
    let micros = (u64::from(digest[1]) * 4 + 1).saturating_mul(10_u64.pow(exponent + 4));
    let size = format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000);
    let size = size.trim_end_matches('0').trim_end_matches('.');
    for base in [Base::Token0, Base::Token1] {
        let Ok(size) = size.parse() else { continue };
        let request = EvidenceRequest::new(head.pool.clone(), head.slot, base, size);
        if let Ok(result) = EvidenceResult::compute(&request, &snapshot, &head) {
            sealed.check(&request, &result, input);
        }
    }
    true
}

/// A log whose one leaf commits to one head.
struct Sealed {
    head: Vec<u8>,
    leaf: Vec<u8>,
    log_proof: LogProof,
    policy: Policy,
}

impl Sealed {
    fn new(head: &Head) -> Self {
        let bytes = head.to_canonical().expect("a head of a snapshot is a document");
        let root = Head::leaf_of(&bytes);
        let leaf = SlotLeaf { slot: head.slot, pools: 1, root };
        let leaf = leaf.to_canonical().expect("a leaf is a document");
        let origin = Origin::new("exitgap.example/fuzz", head.slot).expect("it is a name");
        let signer =
            SignerKey::from_seed(&origin.to_string(), [3; 32]).expect("an origin is a name");
        let root: Hash = SlotLeaf::leaf_of(&leaf);
        let text = Checkpoint { origin, size: 1, root, extensions: Vec::new() }.to_text();
        let checkpoint = signer.sign(&text).expect("a checkpoint is a text");
        let log_proof = LogProof { index: 0, hashes: Vec::new(), checkpoint };
        let policy = Policy::trusting(vec![signer.verifier()]);
        Self { head: bytes, leaf, log_proof, policy }
    }

    fn check(&self, request: &EvidenceRequest, result: &EvidenceResult, snapshot: &[u8]) {
        let proof = PoolProof::new(0, &[]);
        let write = |result| {
            let (head, leaf) = (&self.head, &self.leaf);
            write_evidence(request, result, snapshot, head, leaf, &proof, &self.log_proof)
                .expect("its parts are documents")
        };
        let file = write(result);
        assert_eq!(canonical(&file), Some(file.clone()));
        let report = verify(&file, &self.policy);
        assert_eq!(report.verdict, Verdict::Valid, "{report:?}");
        let more = EvidenceResult {
            amount_out_raw: format!("{}0", result.amount_out_raw),
            ..result.clone()
        };
        let report = verify(&write(&more), &self.policy);
        let check = report.check(CheckName::Result).expect("every check is there");
        assert_eq!((report.verdict, check.outcome), (Verdict::Invalid, Outcome::Fail));
    }
}
