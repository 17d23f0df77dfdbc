//! Two signed states that cannot both belong to one log, in one file. Anyone who has the log's public key can see from
//! the file alone that the key's holder signed two histories.

use exitgap_tlog::{
    Hash, MAX_NOTE_BYTES, MAX_PROOF_HASHES, SignedError, VerifierKey, is_consistent,
};

use super::{Checkpoint, Origin};
use crate::json::{DocumentError, VERSION, from_canonical, to_canonical, wire_struct};

/// The maximum size of a file, in bytes: two notes and a proof.
pub const MAX_FORK_BYTES: usize = 2 * (2 * MAX_NOTE_BYTES) + 4_096;

/// A parsed file. Nothing is verified yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fork {
    /// The two signed notes, the one with fewer leaves first.
    pub checkpoints: [String; 2],
    /// Proves that as many first leaves of the second log as the first log has give the root below. Empty if both have
    /// the same number.
    pub proof: Vec<Hash>,
    /// The root over those leaves in the second log.
    pub root: Hash,
}

/// The proven contents of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProvenFork {
    /// The log that both checkpoints are signed for.
    pub origin: Origin,
    /// The number of leaves in each.
    pub sizes: [u64; 2],
    /// The root that the first checkpoint signs, and the root over the same number of leaves in the second.
    pub roots: [Hash; 2],
}

/// Why a file proves nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ForkError {
    /// The bytes are not a document of this kind.
    #[error("not a proof of two histories: {0}")]
    Document(#[from] DocumentError),
    /// The document has an impossible value.
    #[error("not a proof of two histories: {0}")]
    Shape(&'static str),
    /// A note is not signed by a trusted key.
    #[error("the {place} checkpoint: {why}")]
    NotSigned {
        /// `first` or `second`.
        place: &'static str,
        /// Why its signature is not accepted.
        why: Box<SignedError>,
    },
    /// The checkpoints are of two logs, or the first has more leaves.
    #[error("the checkpoints must be two of one log, the one with fewer slots first")]
    NotOfOneLog,
    /// The proof does not lead from the root to the second checkpoint.
    #[error("the proof does not connect the root to the second checkpoint")]
    NoProof,
    /// Both are states of the same history.
    #[error("both checkpoints belong to one history, so the log is consistent")]
    OneHistory,
}

struct Document {
    v: u32,
    checkpoints: Vec<String>,
    proof: Vec<String>,
    root: String,
}

wire_struct!(Document { v, checkpoints, proof, root });

impl Fork {
    /// Whether the bytes start like such a file. No other document starts this way.
    pub fn is_file(bytes: &[u8]) -> bool {
        bytes.starts_with(b"{\"checkpoints\":")
    }

    /// The canonical bytes.
    pub fn to_canonical(&self) -> Result<Vec<u8>, ForkError> {
        let proof = self.proof.iter().map(ToString::to_string).collect();
        let checkpoints = self.checkpoints.to_vec();
        Ok(to_canonical(&Document { v: VERSION, checkpoints, proof, root: self.root.to_string() })?)
    }

    /// Parses untrusted bytes.
    pub fn from_canonical(bytes: &[u8]) -> Result<Self, ForkError> {
        let document: Document = from_canonical(bytes, MAX_FORK_BYTES, "a proof of two histories")?;
        let two = "it must have two checkpoints";
        let checkpoints = document.checkpoints.try_into().map_err(|_| ForkError::Shape(two))?;
        if document.proof.len() > MAX_PROOF_HASHES {
            return Err(ForkError::Shape("its proof has too many hashes"));
        }
        let hash = |text: &String| {
            Hash::from_base64(text).ok_or(ForkError::Shape("a hash is not valid base64"))
        };
        let proof = document.proof.iter().map(hash).collect::<Result<_, _>>()?;
        Ok(Self { checkpoints, proof, root: hash(&document.root)? })
    }

    /// What the file proves, if these keys are trusted.
    pub fn judge(&self, keys: &[VerifierKey]) -> Result<ProvenFork, ForkError> {
        let signed = |place: &'static str, note: &String| {
            Checkpoint::signed_by(note, keys)
                .map_err(|why| ForkError::NotSigned { place, why: Box::new(why) })
        };
        let first = signed("first", &self.checkpoints[0])?;
        let second = signed("second", &self.checkpoints[1])?;
        if first.origin != second.origin || first.size > second.size || first.size == 0 {
            return Err(ForkError::NotOfOneLog);
        }
        if !is_consistent(first.size, self.root, second.size, second.root, &self.proof) {
            return Err(ForkError::NoProof);
        }
        if self.root == first.root {
            return Err(ForkError::OneHistory);
        }
        let sizes = [first.size, second.size];
        Ok(ProvenFork { origin: first.origin, sizes, roots: [first.root, self.root] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tlog::{SignerKey, consistency_proof, leaf_hash, root};

    const ORIGIN: &str = "exitgap.example/log/5957856";

    fn signer() -> SignerKey {
        SignerKey::from_seed(ORIGIN, [42; 32]).unwrap()
    }

    fn leaves(count: u8, other: Option<u8>) -> Vec<Hash> {
        let leaf = |n: u8| {
            leaf_hash(if other == Some(n) { b"another" } else { &[0; 7][..n as usize % 7] })
        };
        (0..count).map(leaf).collect()
    }

    fn note(leaves: &[Hash]) -> String {
        let checkpoint = Checkpoint {
            origin: ORIGIN.parse().unwrap(),
            size: leaves.len() as u64,
            root: root(leaves),
            extensions: Vec::new(),
        };
        signer().sign(&checkpoint.to_text()).unwrap()
    }

    fn fork(old: &[Hash], new: &[Hash]) -> Fork {
        let proof = consistency_proof(new, old.len()).unwrap();
        Fork { checkpoints: [note(old), note(new)], proof, root: root(&new[..old.len()]) }
    }

    #[test]
    fn whoever_signed_two_histories_is_shown_by_one_file() {
        let keys = [signer().verifier()];
        for (old, new) in [(5, 11), (4, 9), (8, 8), (1, 2)] {
            let (seen, shown) = (leaves(old, None), leaves(new, Some(old - 1)));
            let file = fork(&seen, &shown).to_canonical().unwrap();
            assert!(Fork::is_file(&file));
            let read = Fork::from_canonical(&file).unwrap();
            let forked = read.judge(&keys).unwrap();
            assert_eq!(forked.sizes, [u64::from(old), u64::from(new)]);
            assert_eq!(forked.roots, [root(&seen), root(&shown[..seen.len()])]);
            // Two states of one history prove nothing, whatever the file claims.
            let honest = fork(&seen, &leaves(new, None));
            assert_eq!(honest.judge(&keys), Err(ForkError::OneHistory), "{old} {new}");
            let claimed = Fork { root: root(&shown[..seen.len()]), ..honest };
            assert_eq!(claimed.judge(&keys), Err(ForkError::NoProof));
        }
    }

    #[test]
    fn what_is_not_signed_or_of_two_logs_proves_nothing() {
        let (seen, shown) = (leaves(5, None), leaves(11, Some(2)));
        let file = fork(&seen, &shown);
        let stranger = SignerKey::from_seed(ORIGIN, [7; 32]).unwrap().verifier();
        for keys in [vec![], vec![stranger]] {
            assert!(matches!(file.judge(&keys), Err(ForkError::NotSigned { place: "first", .. })));
        }
        let keys = [signer().verifier()];
        let [first, second] = file.checkpoints.clone();
        let reversed = Fork { checkpoints: [second, first], ..file.clone() };
        assert_eq!(reversed.judge(&keys), Err(ForkError::NotOfOneLog));
        let changed =
            Fork { checkpoints: [note(&seen), note(&shown).replace("\n11\n", "\n12\n")], ..file };
        assert!(matches!(changed.judge(&keys), Err(ForkError::NotSigned { place: "second", .. })));
        for text in [
            "{\"checkpoints\":[],\"proof\":[],\"root\":\"\",\"v\":1}",
            "{\"checkpoints\":[\"a\",\"b\"],\"proof\":[],\"root\":\"AA\",\"v\":1}",
            "{\"checkpoints\":[\"a\",\"b\"],\"proof\":[],\"v\":1}",
            "{}",
        ] {
            assert!(Fork::from_canonical(text.as_bytes()).is_err(), "{text}");
        }
        let long = vec![Hash([1; 32]); MAX_PROOF_HASHES + 1];
        let long = Fork {
            checkpoints: ["a".to_owned(), "b".to_owned()],
            proof: long,
            root: Hash([0; 32]),
        };
        let long = long.to_canonical().unwrap();
        assert!(matches!(Fork::from_canonical(&long), Err(ForkError::Shape(_))));
    }
}
