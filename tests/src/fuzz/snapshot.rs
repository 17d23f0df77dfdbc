//! Snapshots parsed from arbitrary bytes; a valid one is sealed into a log of its own, and its evidence must verify,
//! but not with another result.

use exitgap_core::evidence::{
    Answer, Base, CheckName, Commits, EvidenceRefusal, EvidenceRequest, EvidenceResult, Head,
    HeadEntry, HeadProof, Outcome, Policy, PoolProof, SlotLeaf, Verdict, depths, verify,
    write_evidence,
};
use exitgap_core::snapshot::{SnapshotDocuments, SnapshotFile};
use exitgap_core::tlog::{Checkpoint, Hash, LogProof, Origin, SignerKey};

use super::known::{canonical, known};

/// The snapshot of every vector with its state, as a file.
pub fn seeds() -> Vec<Vec<u8>> {
    let file = |documents: &SnapshotDocuments| {
        SnapshotFile { pool: None, documents: documents.clone() }.to_bytes().ok()
    };
    known().sealed.iter().filter_map(|parts| file(&parts.documents)).collect()
}

/// Whether the bytes are a snapshot's file.
pub fn body(input: &[u8]) -> bool {
    let Ok(file) = SnapshotFile::from_json(input) else { return false };
    let Ok(snapshot) = file.open() else { return false };
    let documents = file.documents;
    assert_eq!(snapshot.to_canonical().as_ref(), Ok(&documents));
    for document in [&documents.snapshot, &documents.state] {
        assert_eq!(canonical(document).as_ref(), Some(document));
    }
    let depths = depths(&snapshot);
    let head = Head {
        pool: snapshot.observation().pool().clone(),
        slot: snapshot.slot(),
        height: 0,
        recorded_count: 1,
        prev: None,
        entry: HeadEntry::Recorded { snapshot: documents.hash(), depth_usd: depths },
        lowest_depth_7d_usd: depths,
        method_version: "1.0.0".to_owned(),
        retracts: Vec::new(),
        commits: Commits::default(),
    };
    let sealed = Sealed::new(&head);
    // The input determines the size, so that mutations vary it.
    let digest = documents.hash().0;
    let exponent = u32::from(digest[0] % 12);
    let micros = (u64::from(digest[1]) * 4 + 1).saturating_mul(10_u64.pow(exponent + 4));
    let size = format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000);
    let size = size.trim_end_matches('0').trim_end_matches('.');
    for base in [Base::Token0, Base::Token1] {
        let Ok(size) = size.parse() else { continue };
        let request = EvidenceRequest::new(head.pool.clone(), head.slot, base, size);
        if let Ok(answer) = Answer::compute(&request, &snapshot, &head) {
            sealed.check(&request, &answer, &documents);
        }
    }
    true
}

/// A log with one leaf that commits to one head.
struct Sealed {
    head: Vec<u8>,
    proof: HeadProof,
    policy: Policy,
}

impl Sealed {
    fn new(head: &Head) -> Self {
        let bytes = head.to_canonical().expect("a head of a snapshot is a document");
        let root = Head::leaf_of(&bytes);
        let leaf = SlotLeaf { slot: head.slot, pools: 1, root, commits: Commits::default() };
        let leaf = leaf.to_canonical().expect("a leaf is a document");
        let origin = Origin::new("exitgap.example/fuzz", head.slot).expect("it is a name");
        let signer =
            SignerKey::from_seed(&origin.to_string(), [3; 32]).expect("an origin is a name");
        let root: Hash = SlotLeaf::leaf_of(&leaf);
        let text = Checkpoint { origin, size: 1, root, extensions: Vec::new() }.to_text();
        let checkpoint = signer.sign(&text).expect("a checkpoint is a text");
        let log_proof = LogProof { index: 0, hashes: Vec::new(), checkpoint };
        let policy = Policy::with_keys(vec![signer.verifier()]);
        let proof = HeadProof { leaf, pool_proof: PoolProof::new(0, &[]), log_proof };
        Self { head: bytes, proof, policy }
    }

    fn check(&self, request: &EvidenceRequest, answer: &Answer, documents: &SnapshotDocuments) {
        let write = |answer: &Answer| {
            write_evidence(request, answer, documents, &self.head, &self.proof)
                .expect("its parts are documents")
        };
        let file = write(answer);
        assert_eq!(canonical(&file), Some(file.clone()));
        let report = verify(&file, &self.policy);
        assert_eq!(report.verdict, Verdict::Valid, "{report:?}");
        let more = |raw: &str| format!("{raw}0");
        let false_one = match answer.clone() {
            Answer::Result(result) => {
                let amount_out_raw = more(&result.amount_out_raw);
                Answer::Result(EvidenceResult { amount_out_raw, ..result })
            }
            Answer::Refusal(refusal) => {
                let paid_raw = more(&refusal.paid_raw);
                Answer::Refusal(EvidenceRefusal { paid_raw, ..refusal })
            }
        };
        let report = verify(&write(&false_one), &self.policy);
        let check = report.check(CheckName::Result).expect("every check is there");
        assert_eq!((report.verdict, check.outcome), (Verdict::Invalid, Outcome::Fail));
    }
}
