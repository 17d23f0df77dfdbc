//! Checkpoints (C2SP `tlog-checkpoint`) and inclusion proofs (C2SP `tlog-proof`).

use core::fmt;
use core::str::FromStr;

use super::note::{MAX_NOTE_BYTES, Note, NoteError, empty_lines};
use super::tree::Hash;
use crate::series::Slot;

/// The most hashes of a proof: a log of `2^64` leaves.
pub const MAX_PROOF_HASHES: usize = 64;

/// The longest proof text looked at.
pub const MAX_PROOF_BYTES: usize = MAX_NOTE_BYTES + (4 << 10);

const PROOF_HEADER: &str = "c2sp.org/tlog-proof@v1";

/// Why a text is not a checkpoint or proof of an exitgap log.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CheckpointError {
    /// Not a signed note.
    #[error(transparent)]
    Note(#[from] NoteError),
    /// The origin does not end with the log's first slot.
    #[error("origin {found:?} is not <name>/<first slot>")]
    Origin {
        /// The line found, cut to 100 characters.
        found: String,
    },
    /// The size is no plain number.
    #[error("size {found:?} is not a whole number without leading zeros")]
    Size {
        /// The line found, cut to 100 characters.
        found: String,
    },
    /// The root is not 32 bytes of base64.
    #[error("root {found:?} is not 32 bytes of base64")]
    Root {
        /// The line found, cut to 100 characters.
        found: String,
    },
    /// An extension line is empty.
    #[error("a checkpoint's extension lines are not empty")]
    Extension,
    /// The proof is not of the tlog-proof form.
    #[error("line {line} of the proof is not as c2sp.org/tlog-proof@v1 has it")]
    Proof {
        /// Counted from 1.
        line: usize,
    },
    /// More than [`MAX_PROOF_HASHES`] hashes or [`MAX_PROOF_BYTES`] bytes.
    #[error("the proof is longer than any log's")]
    ProofTooLong,
}

/// A log's name: the line that opens its checkpoints. It ends with the log's first
/// slot, so that leaf `i` is slot `first + i`: no slot can be left out quietly.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    name: String,
    first_slot: Slot,
}

impl Origin {
    /// The log `name` (no white space, no `+`) that begins at `first_slot`.
    pub fn new(name: &str, first_slot: Slot) -> Result<Self, CheckpointError> {
        let fits =
            !name.is_empty() && !name.chars().any(|c| c.is_whitespace() || c == '+' || c < ' ');
        let wrong = || CheckpointError::Origin { found: cut(name) };
        if fits { Ok(Self { name: name.to_owned(), first_slot }) } else { Err(wrong()) }
    }

    /// The name before the first slot: that of the key it was made with.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The slot of leaf 0.
    pub fn first_slot(&self) -> Slot {
        self.first_slot
    }

    /// The leaf of `slot`; `None` before the log began.
    pub fn index_of(&self, slot: Slot) -> Option<u64> {
        slot.number().checked_sub(self.first_slot.number()).map(u64::from)
    }
}

impl FromStr for Origin {
    type Err = CheckpointError;
    fn from_str(line: &str) -> Result<Self, CheckpointError> {
        let wrong = || CheckpointError::Origin { found: cut(line) };
        let (name, slot) = line.rsplit_once('/').ok_or_else(wrong)?;
        let number = plain_number(slot).ok_or_else(wrong)?;
        Self::new(name, Slot::new(number).map_err(|_| wrong())?)
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.name, self.first_slot.number())
    }
}

/// A log's state: how many slots it holds, and the root over them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// The log.
    pub origin: Origin,
    /// Leaves, one per slot.
    pub size: u64,
    /// The RFC 6962 root over the slot leaves.
    pub root: Hash,
    /// Extension lines, which nothing here reads.
    pub extensions: Vec<String>,
}

impl Checkpoint {
    /// The text to sign.
    pub fn to_text(&self) -> String {
        let mut text = format!("{}\n{}\n{}\n", self.origin, self.size, self.root);
        for line in &self.extensions {
            text.push_str(line);
            text.push('\n');
        }
        text
    }

    /// Reads the text of a note.
    pub fn from_text(text: &str) -> Result<Self, CheckpointError> {
        // Not `lines`, which takes CR LF for a line's end, too.
        let mut lines = text.split_terminator('\n');
        let mut next = || lines.next().unwrap_or_default();
        let (origin, size, root) = (next(), next(), next());
        let origin = origin.parse()?;
        let size = plain_number(size).ok_or_else(|| CheckpointError::Size { found: cut(size) })?;
        let root =
            Hash::from_base64(root).ok_or_else(|| CheckpointError::Root { found: cut(root) })?;
        let extensions: Vec<_> = lines.map(str::to_owned).collect();
        if extensions.iter().any(String::is_empty) {
            return Err(CheckpointError::Extension);
        }
        Ok(Self { origin, size, root, extensions })
    }

    /// Reads a signed checkpoint; its signatures are not yet verified.
    pub fn from_note(note: &str) -> Result<(Self, Note<'_>), CheckpointError> {
        let note = Note::parse(note)?;
        Ok((Self::from_text(note.text)?, note))
    }
}

/// A leaf's place in the log, with the signed checkpoint that it is proved against.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogProof {
    /// The leaf's index.
    pub index: u64,
    /// Siblings from the leaf up.
    pub hashes: Vec<Hash>,
    /// The signed checkpoint, as the log published it.
    pub checkpoint: String,
}

impl LogProof {
    /// The proof as C2SP `tlog-proof` text, which other tools read too.
    pub fn to_text(&self) -> String {
        let mut text = format!("{PROOF_HEADER}\nindex {}\n", self.index);
        for hash in &self.hashes {
            text.push_str(&hash.to_string());
            text.push('\n');
        }
        text.push('\n');
        text.push_str(&self.checkpoint);
        text
    }

    /// Reads untrusted text. Extra data, which exitgap does not use, is refused.
    pub fn from_text(text: &str) -> Result<Self, CheckpointError> {
        if text.len() > MAX_PROOF_BYTES {
            return Err(CheckpointError::ProofTooLong);
        }
        let split = empty_lines(text).next().ok_or(CheckpointError::Proof { line: 1 })?;
        let (proof, checkpoint) = (&text[..split], &text[split + 2..]);
        let mut lines = proof.split('\n');
        if lines.next() != Some(PROOF_HEADER) {
            return Err(CheckpointError::Proof { line: 1 });
        }
        let index = lines.next().and_then(|line| line.strip_prefix("index "));
        let index = index.and_then(plain_number).ok_or(CheckpointError::Proof { line: 2 })?;
        let hashes = (3..)
            .zip(lines)
            .map(|(line, text)| Hash::from_base64(text).ok_or(CheckpointError::Proof { line }))
            .collect::<Result<Vec<_>, _>>()?;
        if hashes.len() > MAX_PROOF_HASHES {
            return Err(CheckpointError::ProofTooLong);
        }
        Ok(Self { index, hashes, checkpoint: checkpoint.to_owned() })
    }
}

/// ASCII digits without leading zeros.
pub(super) fn plain_number(text: &str) -> Option<u64> {
    text.parse().ok().filter(|number: &u64| number.to_string() == text)
}

fn cut(text: &str) -> String {
    text.chars().take(100).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tlog::SignerKey;
    use CheckpointError as E;

    fn checkpoint() -> Checkpoint {
        let origin = Origin::new("exitgap.example/log", Slot::FIRST).unwrap();
        Checkpoint { origin, size: 42, root: Hash([1; 32]), extensions: Vec::new() }
    }

    #[test]
    fn checkpoints_read_as_written() {
        let text = checkpoint().to_text();
        assert_eq!(text.lines().next(), Some("exitgap.example/log/5957856"));
        assert_eq!(Checkpoint::from_text(&text), Ok(checkpoint()));
        let read =
            |from: &str, to: &str| Checkpoint::from_text(&text.replacen(from, to, 1)).unwrap_err();
        assert!(matches!(read("/5957856", "/12"), E::Origin { .. }));
        assert!(matches!(read("/5957856", ""), E::Origin { .. }));
        assert!(matches!(read("42", "042"), E::Size { .. }));
        assert!(matches!(read("AQEB", "AQE"), E::Root { .. }));
        assert_eq!(Checkpoint::from_text(&format!("{text}\nx\n")), Err(E::Extension));
        let broken_otherwise = text.replace('\n', "\r\n");
        assert!(matches!(Checkpoint::from_text(&broken_otherwise), Err(E::Origin { .. })));
        let last = text.replace('\n', "\r\n").replacen("\r\n", "\n", 2);
        assert!(matches!(Checkpoint::from_text(&last), Err(E::Root { .. })), "{last:?}");
    }

    #[test]
    fn proofs_read_as_written() {
        let signer = SignerKey::from_seed("exitgap.example/log", [5; 32]).unwrap();
        let note = signer.sign(&checkpoint().to_text()).unwrap();
        let proof =
            LogProof { index: 7, hashes: vec![Hash([2; 32]), Hash([3; 32])], checkpoint: note };
        let text = proof.to_text();
        assert_eq!(LogProof::from_text(&text), Ok(proof));
        for (from, to, line) in [("@v1", "@v2", 1), ("index 7", "index 07", 2), ("AgIC", "AgI", 3)]
        {
            let changed = text.replacen(from, to, 1);
            assert_eq!(LogProof::from_text(&changed), Err(CheckpointError::Proof { line }));
        }
        let long = text.replacen(
            "index 7\n",
            &format!("index 7\n{}", format!("{}\n", Hash([4; 32])).repeat(64)),
            1,
        );
        assert_eq!(LogProof::from_text(&long), Err(CheckpointError::ProofTooLong));
    }
}
