//! What the log of the shared vectors signed: the only files that may verify with its key.

use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use exitgap_core::evidence::{Policy, Verdict, verify};
use exitgap_core::snapshot::SnapshotDocuments;
use exitgap_core::tlog::{Hash, Note};
use serde_json::Value;

use crate::canonical::to_canonical_json;

/// A shared vector, `tests/vectors/evidence/<name>.json`.
pub struct Vector {
    /// The evidence file.
    pub evidence: Vec<u8>,
    /// Whether it is valid under its policy.
    pub valid: bool,
    /// The window in its policy.
    pub window: Option<String>,
    /// The checkpoint seen before in its policy.
    pub note: Option<String>,
    /// The consistency proof with it.
    pub proof: Vec<Hash>,
}

/// Everything that was signed.
pub struct Known {
    /// Every vector.
    pub vectors: Vec<Vector>,
    /// A policy that trusts the log's key.
    pub policy: Policy,
    /// The documents of every valid file.
    pub sealed: Vec<Parts>,
    /// The texts that the key signed.
    pub texts: Vec<String>,
}

/// Loads them once.
pub fn known() -> &'static Known {
    static KNOWN: OnceLock<Known> = OnceLock::new();
    KNOWN.get_or_init(|| {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/vectors/evidence");
        let mut files: Vec<_> =
            fs::read_dir(folder).expect("the vectors").map(|file| file.unwrap().path()).collect();
        files.sort();
        let documents: Vec<Value> = files
            .iter()
            .map(|file| serde_json::from_slice(&fs::read(file).unwrap()).unwrap())
            .collect();
        Known::of(&documents)
    })
}

impl Known {
    fn of(documents: &[Value]) -> Self {
        let vectors: Vec<Vector> = documents.iter().map(Vector::of).collect();
        let of = |name| documents.iter().find(|document| document["name"] == name).unwrap();
        let key = of("true_constant_product")["policy"]["keys"][0].as_str().unwrap();
        let policy = Policy::with_keys(vec![key.parse().unwrap()]);
        let mut texts = Vec::new();
        let mut sealed = Vec::new();
        for vector in &vectors {
            let mut notes: Vec<String> = vector.note.iter().cloned().collect();
            let read = parts(&vector.evidence);
            notes.extend(read.iter().map(|parts| checkpoint_of(&parts.log_proof).to_owned()));
            let window = vector.window.as_deref().map(serde_json::from_str::<Value>);
            let window = window.and_then(Result::ok);
            let proof = window.as_ref().and_then(|window| window["log_proof"].as_str());
            notes.extend(proof.map(|proof| checkpoint_of(proof).to_owned()));
            // If only the additional inputs are false, the file itself is valid.
            let alone = verify(&vector.evidence, &policy).verdict == Verdict::Valid;
            sealed.extend(read.filter(|_| vector.valid || alone));
            for note in &notes {
                // One vector's text is not a note.
                let Ok(note) = Note::parse(note) else { continue };
                if !note.signers(&policy.keys).trusted.is_empty() {
                    texts.push(note.text.to_owned());
                }
            }
        }
        Self { vectors, policy, sealed, texts }
    }

    /// The evidence file of the window vectors.
    pub fn file_with_window(&self) -> &Vector {
        let with = |vector: &&Vector| vector.valid && vector.window.is_some();
        self.vectors.iter().find(with).expect("a vector with a window")
    }
}

impl Vector {
    fn of(document: &Value) -> Self {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let seen = &document["policy"]["seen"];
        let proof = seen["proof"].as_array().into_iter().flatten();
        Self {
            evidence: text(&document["evidence"]).unwrap().into_bytes(),
            valid: document["expected"]["verdict"] == "valid",
            window: text(&document["policy"]["window"]),
            note: text(&seen["note"]),
            proof: proof.map(|hash| Hash::from_base64(hash.as_str().unwrap()).unwrap()).collect(),
        }
    }
}

/// The canonical bytes of any JSON, if it has a canonical form.
pub fn canonical(bytes: &[u8]) -> Option<Vec<u8>> {
    to_canonical_json(&serde_json::from_slice(bytes).ok()?)
}

/// The documents of an evidence file, as canonical bytes.
pub struct Parts {
    /// The head.
    pub head: Vec<u8>,
    /// The slot's leaf.
    pub leaf: Vec<u8>,
    /// The snapshot, with its state.
    pub documents: SnapshotDocuments,
    /// The log proof, a text.
    pub log_proof: String,
}

/// The parts of an evidence file.
pub fn parts(evidence: &[u8]) -> Option<Parts> {
    let document: Value = serde_json::from_slice(evidence).ok()?;
    let part = |name: &str| to_canonical_json(document.get(name)?);
    let log_proof = document.get("log_proof")?.as_str()?.to_owned();
    let documents = SnapshotDocuments { snapshot: part("snapshot")?, state: part("state")? };
    Some(Parts { head: part("head")?, leaf: part("leaf")?, documents, log_proof })
}

/// The checkpoint at the end of a log proof.
pub fn checkpoint_of(log_proof: &str) -> &str {
    log_proof.split_once("\n\n").map_or("", |(_, checkpoint)| checkpoint)
}
