//! The shared vectors of evidence, with the key of their log, whose secret half is known: the harness can sign what it changed.

use std::fs;
use std::path::PathBuf;

use base64ct::{Base64, Encoding};
use exitgap_core::evidence::{Head, PoolProof, SlotLeaf};
use exitgap_core::log_folder::PartRef;
use exitgap_core::snapshot::Snapshot;
use exitgap_core::tlog::{Checkpoint, Hash, LogProof, SignerKey, VerifierKey, root_from_inclusion};
use serde_json::Value;

use super::Result;
use super::forged_change::below;
use crate::canonical::to_canonical_json;
use crate::devchain::Rng;

/// The log of the vectors.
pub const ORIGIN: &str = "exitgap.example/log/5957856";

/// Files above this size are too slow for the many changes made here.
const MOST_BYTES: usize = 12 << 10;

/// The key of the vectors' log.
pub fn signer() -> SignerKey {
    SignerKey::from_seed(ORIGIN, [42; 32]).expect("a name")
}

/// A key with the same name that the reader does not trust.
pub fn stranger() -> SignerKey {
    SignerKey::from_seed(ORIGIN, [9; 32]).expect("a name")
}

/// A valid vector of evidence.
pub struct Vector {
    /// Its name.
    pub name: String,
    /// The evidence.
    pub file: Vec<u8>,
    /// The window of its policy.
    pub window: Option<Vec<u8>>,
    /// The checkpoint seen before, with the proof.
    pub seen: Option<(String, Vec<String>)>,
}

/// A folder of shared vectors.
pub fn folder(kind: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("vectors").join(kind)
}

/// The documents of a folder of vectors, by name.
pub fn documents(kind: &str) -> Result<Vec<(String, Value)>> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder(kind))?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    files.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    let read = |path: &PathBuf| {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok((name, serde_json::from_slice(&fs::read(path)?)?))
    };
    files.iter().map(read).collect()
}

/// The vectors that are valid for a reader who trusts the log's key alone.
pub fn valid() -> Result<Vec<Vector>> {
    let key = signer().verifier().to_string();
    let mut vectors = Vec::new();
    for (name, document) in documents("evidence")? {
        let policy = &document["policy"];
        let is_ours = policy["keys"].as_array().is_some_and(|keys| *keys == [key.as_str()]);
        let text = |value: &Value| value.as_str().map(|text| text.as_bytes().to_vec());
        let Some(file) = text(&document["evidence"]) else { continue };
        if !is_ours || document["expected"]["verdict"] != "valid" || file.len() > MOST_BYTES {
            continue;
        }
        let window = text(&policy["window"]).filter(|window| window.len() < MOST_BYTES);
        let seen = policy["seen"]["note"].as_str().map(|note| {
            let proof = policy["seen"]["proof"].as_array().into_iter().flatten();
            (note.to_owned(), proof.filter_map(|hash| Some(hash.as_str()?.to_owned())).collect())
        });
        vectors.push(Vector { name, file, window, seen });
    }
    if vectors.len() < 40 {
        return Err(
            format!("only {} valid vectors by the key of this harness", vectors.len()).into()
        );
    }
    Ok(vectors)
}

/// How far a changed file is made to fit together again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sealed {
    /// Nothing.
    Nothing,
    /// The snapshot names its state, and the head its snapshot.
    Snapshot,
    /// The leaf commits to the head.
    Leaf,
    /// The log commits to the leaf, under the signature of the true checkpoint.
    Log,
    /// A stranger signed that.
    Stranger,
    /// A stranger signed that, under the id of the log's key.
    Impostor,
    /// The log's own key signed that.
    LogKey,
}

impl Sealed {
    const ALL: [Self; 7] = [
        Self::Nothing,
        Self::Snapshot,
        Self::Leaf,
        Self::Log,
        Self::Stranger,
        Self::Impostor,
        Self::LogKey,
    ];

    /// One of them.
    pub fn draw(rng: &mut Rng) -> Self {
        Self::ALL[below(rng, Self::ALL.len())]
    }

    /// Makes an evidence file fit together again as far as this says; `None` if it no longer has the parts for it.
    pub fn apply(self, file: &mut Value) -> Option<()> {
        if self >= Self::Snapshot {
            let state = to_canonical_json(&file["state"])?;
            let named = PartRef::hash_of(&state);
            *file.pointer_mut("/snapshot/state")? = named.to_string().into();
            let snapshot = Snapshot::hash_of(&to_canonical_json(&file["snapshot"])?);
            *file.pointer_mut("/head/snapshot")? = snapshot.to_string().into();
        }
        if self >= Self::Leaf {
            Self::reseal_leaf(file)?;
        }
        if self >= Self::Log {
            self.reseal_log(file)?;
        }
        Some(())
    }

    fn reseal_leaf(file: &mut Value) -> Option<()> {
        let head = Head::leaf_of(&to_canonical_json(&file["head"])?);
        let hashes = file["pool_proof"]["hashes"].as_array()?;
        let hashes: Vec<Hash> =
            hashes.iter().map(|hash| Hash::from_base64(hash.as_str()?)).collect::<Option<_>>()?;
        let proof = PoolProof::new(file["pool_proof"]["index"].as_u64()?, &hashes);
        let pools = file["leaf"]["pools"].as_u64()?;
        let root = root_from_inclusion(head, proof.index, pools, &hashes)?;
        *file.pointer_mut("/leaf/root")? = root.to_string().into();
        Some(())
    }

    fn reseal_log(self, file: &mut Value) -> Option<()> {
        let leaf = SlotLeaf::leaf_of(&to_canonical_json(&file["leaf"])?);
        let proof = self.reseal_proof(file["log_proof"].as_str()?, leaf)?;
        file["log_proof"] = proof.into();
        Some(())
    }

    /// A log proof whose checkpoint is of the root that a leaf gives.
    pub fn reseal_proof(self, proof: &str, leaf: Hash) -> Option<String> {
        let mut proof = LogProof::from_text(proof).ok()?;
        let (before, _) = Checkpoint::from_note(&proof.checkpoint).ok()?;
        let root = root_from_inclusion(leaf, proof.index, before.size, &proof.hashes)?;
        proof.checkpoint = self.sign(&proof.checkpoint, &Checkpoint { root, ..before })?;
        Some(proof.to_text())
    }

    /// The note of a checkpoint in place of another note.
    pub fn sign(self, before: &str, checkpoint: &Checkpoint) -> Option<String> {
        let text = checkpoint.to_text();
        let name = checkpoint.origin.to_string();
        let by = |key: SignerKey| key.with_name(&name).ok()?.sign(&text).ok();
        match self {
            Self::Stranger => by(stranger()),
            Self::Impostor => {
                let signed = by(stranger())?;
                let [own, other] = [signer(), stranger()].map(|key| id_of(&key.verifier()));
                impersonate(&signed, other, own)
            }
            Self::LogKey => by(signer()),
            _ => {
                let lines = before.rsplit_once("\n\n")?.1;
                Some(format!("{text}\n{lines}"))
            }
        }
    }
}

fn id_of(key: &VerifierKey) -> [u8; 4] {
    let id = key.id().to_string();
    let mut bytes = [0; 4];
    alloy_primitives::hex::decode_to_slice(id, &mut bytes).expect("an id is eight hex digits");
    bytes
}

/// A note whose signature has the id of another key.
fn impersonate(note: &str, own: [u8; 4], other: [u8; 4]) -> Option<String> {
    let (start, encoded) = note.trim_end().rsplit_once(' ')?;
    let mut bytes = Base64::decode_vec(encoded).ok()?;
    let id = bytes.first_chunk_mut::<4>()?;
    if *id != own {
        return None;
    }
    *id = other;
    Some(format!("{start} {}\n", Base64::encode_string(&bytes)))
}
