//! The protocol between a log and its witnesses (C2SP `tlog-witness`): the request, and the rules by which a witness
//! may cosign. Pure: storing the state and sending the response are up to the caller.

use core::str::FromStr;

use super::checkpoint::{Checkpoint, CheckpointError, OriginLine, plain_number};
use super::note::{MAX_NOTE_BYTES, VerifierKey, empty_lines};
use super::signatures::{SignedError, TrustError};
use super::tree::{Hash, is_consistent};

/// The most hashes in a request's proof.
pub const MAX_REQUEST_HASHES: usize = 63;
/// The longest request that is parsed.
pub const MAX_REQUEST_BYTES: usize = MAX_NOTE_BYTES + (4 << 10);

/// A request to cosign a checkpoint: `add-checkpoint`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddCheckpoint {
    /// The size of the checkpoint that the witness cosigned last, as far as the log knows; 0 if there is none.
    pub old: u64,
    /// RFC 6962 proof that the checkpoint extends the tree of `old` leaves.
    pub proof: Vec<Hash>,
    /// The signed checkpoint.
    pub checkpoint: String,
}

/// Why a text is not a request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// More than [`MAX_REQUEST_BYTES`].
    #[error("the request has {found} bytes; at most {most} are accepted", most = MAX_REQUEST_BYTES)]
    TooLarge {
        /// Bytes found.
        found: usize,
    },
    /// A line before the empty line is malformed.
    #[error(
        "line {line}: expected `old <size>`, then at most 63 hashes in base64, then an empty line"
    )]
    Line {
        /// Counted from 1.
        line: usize,
    },
    /// The text after the empty line is not a checkpoint.
    #[error("the checkpoint: {0}")]
    Checkpoint(#[from] CheckpointError),
    /// The old size is larger than the checkpoint's.
    #[error("the old size, {old}, is larger than the checkpoint's, {size}")]
    OldLarger {
        /// The old size.
        old: u64,
        /// The checkpoint's.
        size: u64,
    },
}

impl AddCheckpoint {
    /// The request's body.
    pub fn to_text(&self) -> String {
        let mut text = format!("old {}\n", self.old);
        for hash in &self.proof {
            text.push_str(&hash.to_string());
            text.push('\n');
        }
        text.push('\n');
        text.push_str(&self.checkpoint);
        text
    }

    /// Parses an untrusted request body. The checkpoint must be readable and not smaller than the old size. Signatures
    /// and proof are not verified here.
    pub fn from_text<O: FromStr<Err = CheckpointError>>(
        text: &str,
    ) -> Result<(Self, Checkpoint<O>), RequestError> {
        if text.len() > MAX_REQUEST_BYTES {
            return Err(RequestError::TooLarge { found: text.len() });
        }
        let split = empty_lines(text).next().ok_or(RequestError::Line { line: 1 })?;
        let (head, note) = (&text[..split], &text[split + 2..]);
        let mut lines = head.split('\n');
        let old = lines.next().and_then(|line| line.strip_prefix("old ")).and_then(plain_number);
        let old = old.ok_or(RequestError::Line { line: 1 })?;
        let mut proof = Vec::new();
        for (line, text) in (2..).zip(lines) {
            let hash = Hash::from_base64(text).filter(|_| proof.len() < MAX_REQUEST_HASHES);
            proof.push(hash.ok_or(RequestError::Line { line })?);
        }
        let (checkpoint, _) = Checkpoint::from_note(note)?;
        let size = checkpoint.size;
        if old > size {
            return Err(RequestError::OldLarger { old, size });
        }
        Ok((Self { old, proof, checkpoint: note.to_owned() }, checkpoint))
    }
}

/// The state of a log that a witness last cosigned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WitnessedState {
    /// The number of leaves.
    pub size: u64,
    /// The root over them.
    pub root: Hash,
}

/// Why a witness does not cosign a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WitnessRefusal {
    /// No key of the log signed it, or a signature under one of its keys is forged.
    #[error(transparent)]
    Unsigned(TrustError),
    /// The old size in the request is not the size that the witness cosigned last.
    #[error("the last cosigned size is {size}")]
    OtherSize {
        /// The size that the witness cosigned last.
        size: u64,
    },
    /// The log signed two different roots for the same size.
    #[error("the log signed a different root of size {size} before")]
    Contradiction {
        /// The size of both.
        size: u64,
    },
    /// The proof does not lead from the old state to this one.
    #[error("the proof does not connect size {old} to size {size}")]
    Proof {
        /// The old size.
        old: u64,
        /// The checkpoint's.
        size: u64,
    },
}

/// Whether a checkpoint of a log may be cosigned after `last`; nothing was, where that is `None`. All of `keys` are keys of
/// the log that the checkpoint names: the caller sees to that. A log
/// that signed two roots of one size is found out whatever the request goes on from.
pub fn may_cosign(
    request: &AddCheckpoint,
    keys: &[VerifierKey],
    last: Option<WitnessedState>,
) -> Result<WitnessedState, WitnessRefusal> {
    let checkpoint = match Checkpoint::<OriginLine>::signed_by_its(&request.checkpoint, keys) {
        Ok(checkpoint) => checkpoint,
        Err(SignedError::Unsigned(unsigned)) => return Err(WitnessRefusal::Unsigned(unsigned)),
        Err(SignedError::Unreadable(_)) => {
            let (origin, found) = (String::new(), Vec::new());
            return Err(WitnessRefusal::Unsigned(TrustError::NotTrusted { origin, found }));
        }
    };
    let Checkpoint { size, root, .. } = checkpoint;
    let before = last.unwrap_or(WitnessedState { size: 0, root: super::tree::root(&[]) });
    if last.is_some() && before.size == size && before.root != root {
        return Err(WitnessRefusal::Contradiction { size });
    }
    if request.old != before.size {
        return Err(WitnessRefusal::OtherSize { size: before.size });
    }
    if !is_consistent(before.size, before.root, size, root, &request.proof) {
        return Err(WitnessRefusal::Proof { old: before.size, size });
    }
    Ok(WitnessedState { size, root })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Origin, SignerKey, consistency_proof, leaf_hash, root};

    fn leaves(count: u8, of: u8) -> Vec<Hash> {
        (0..count).map(|leaf| leaf_hash(&[of, leaf])).collect()
    }

    fn signer() -> SignerKey {
        SignerKey::from_seed("exitgap.example/log/5957856", [1; 32]).unwrap()
    }

    fn request(leaves: &[Hash], old: usize, signer: &SignerKey) -> AddCheckpoint {
        let origin = Origin::new("exitgap.example/log/5957856").unwrap();
        let (size, root) = (leaves.len() as u64, root(leaves));
        let checkpoint = Checkpoint { origin, size, root, extensions: Vec::new() };
        let proof = if old == 0 { Vec::new() } else { consistency_proof(leaves, old).unwrap() };
        let checkpoint = signer.sign(&checkpoint.to_text()).unwrap();
        AddCheckpoint { old: old as u64, proof, checkpoint }
    }

    fn state(leaves: &[Hash]) -> WitnessedState {
        WitnessedState { size: leaves.len() as u64, root: root(leaves) }
    }

    #[test]
    fn requests_read_as_written_and_say_which_line_is_wrong() {
        let request = request(&leaves(11, 0), 7, &signer());
        let text = request.to_text();
        assert!(text.starts_with("old 7\n") && request.proof.len() > 1);
        assert_eq!(AddCheckpoint::from_text::<Origin>(&text).unwrap().0, request);
        let refused = |from: &str, to: &str| {
            AddCheckpoint::from_text::<Origin>(&text.replacen(from, to, 1)).unwrap_err()
        };
        for wrong in ["old 07", "old -7", "old", "size 7", " old 7"] {
            assert_eq!(refused("old 7", wrong), RequestError::Line { line: 1 });
        }
        let first = request.proof[0].to_string();
        assert_eq!(refused(&first, "AAAA"), RequestError::Line { line: 2 });
        assert_eq!(refused("old 7", "old 12"), RequestError::OldLarger { old: 12, size: 11 });
        assert!(matches!(refused("\n11\n", "\n011\n"), RequestError::Checkpoint(_)));
        assert_eq!(
            AddCheckpoint::from_text::<Origin>("old 7\n"),
            Err(RequestError::Line { line: 1 })
        );
        let long = format!("old 7\n{}\n", format!("{first}\n").repeat(64));
        let long = AddCheckpoint::from_text::<Origin>(&format!("{long}{}", request.checkpoint));
        assert_eq!(long, Err(RequestError::Line { line: 65 }));
        let large = AddCheckpoint::from_text::<Origin>(&"x".repeat(MAX_REQUEST_BYTES + 1));
        assert!(matches!(large, Err(RequestError::TooLarge { .. })));
    }

    #[test]
    fn only_what_goes_on_from_the_state_cosigned_last_may_be_cosigned() {
        use WitnessRefusal as W;
        let (ours, other) = (leaves(11, 0), leaves(11, 1));
        let keys = [signer().verifier()];
        let judge = |request: &AddCheckpoint, last| may_cosign(request, &keys, last);
        let at = |size: usize| Some(state(&ours[..size]));
        assert_eq!(judge(&request(&ours[..7], 0, &signer()), None), Ok(state(&ours[..7])));
        assert_eq!(judge(&request(&ours, 7, &signer()), at(7)), Ok(state(&ours)));
        // The same checkpoint is cosigned again, because the first response may have been lost.
        assert_eq!(judge(&request(&ours[..7], 7, &signer()), at(7)), Ok(state(&ours[..7])));
        // The log states another old size than the witness knows, also a smaller one: the witness never goes back.
        assert_eq!(judge(&request(&ours, 5, &signer()), at(7)), Err(W::OtherSize { size: 7 }));
        assert_eq!(judge(&request(&ours, 0, &signer()), at(7)), Err(W::OtherSize { size: 7 }));
        assert_eq!(judge(&request(&ours[..5], 5, &signer()), at(7)), Err(W::OtherSize { size: 7 }));
        assert_eq!(judge(&request(&ours, 7, &signer()), None), Err(W::OtherSize { size: 0 }));
        // A fork: of the same size, whatever old size it states, and of a larger size.
        for old in [0, 3, 7] {
            let fork = request(&other[..7], old, &signer());
            assert_eq!(judge(&fork, at(7)), Err(W::Contradiction { size: 7 }));
        }
        let refused = Err(W::Proof { old: 7, size: 11 });
        assert_eq!(judge(&request(&other, 7, &signer()), at(7)), refused);
        let mut longer = request(&ours, 7, &signer());
        longer.proof.push(Hash([0; 32]));
        assert_eq!(judge(&longer, at(7)), refused);
        // A proof is sent although there is no earlier state.
        let mut first = request(&ours, 0, &signer());
        first.proof.push(Hash([0; 32]));
        assert_eq!(judge(&first, None), Err(W::Proof { old: 0, size: 11 }));
        // A stranger's key is not accepted, nor a forged signature next to a valid one.
        let stranger = SignerKey::from_seed(signer().verifier().name(), [2; 32]).unwrap();
        let unsigned = judge(&request(&ours, 7, &stranger), at(7));
        assert!(matches!(unsigned, Err(W::Unsigned(TrustError::NotTrusted { .. }))));
        let mut forged = request(&ours, 7, &signer());
        let line = request(&other, 7, &signer()).checkpoint.lines().last().unwrap().to_owned();
        forged.checkpoint.push_str(&line);
        forged.checkpoint.push('\n');
        let forged = judge(&forged, at(7));
        assert!(matches!(forged, Err(W::Unsigned(TrustError::Forged { .. }))));
    }
}
