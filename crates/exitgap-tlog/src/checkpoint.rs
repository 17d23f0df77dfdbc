//! Checkpoints (C2SP `tlog-checkpoint`) and inclusion proofs (C2SP `tlog-proof`).

use core::fmt;
use core::str::FromStr;

use super::note::{MAX_NOTE_BYTES, Note, NoteError, empty_lines};
use super::tree::Hash;

/// The most hashes that a proof may hold: enough for a log of `2^64` leaves.
pub const MAX_PROOF_HASHES: usize = 64;

/// The longest proof text that is parsed.
pub const MAX_PROOF_BYTES: usize = MAX_NOTE_BYTES + (4 << 10);

const PROOF_HEADER: &str = "c2sp.org/tlog-proof@v1";

/// Why a text is not a checkpoint or a log proof.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CheckpointError {
    /// Not a signed note.
    #[error(transparent)]
    Note(#[from] NoteError),
    /// The origin does not have the form that this kind of log requires.
    #[error("origin {found:?} is not {form}")]
    Origin {
        /// The form, for example `<name>/<first slot>`.
        form: &'static str,
        /// The line found, cut to 100 characters.
        found: String,
    },
    /// The size is not a decimal number without leading zeros.
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
    #[error("a checkpoint's extension lines must not be empty")]
    Extension,
    /// The text is not a valid `tlog-proof`.
    #[error("line {line} of the proof does not follow c2sp.org/tlog-proof@v1")]
    Proof {
        /// Counted from 1.
        line: usize,
    },
    /// More than [`MAX_PROOF_HASHES`] hashes or [`MAX_PROOF_BYTES`] bytes.
    #[error("the proof is longer than a proof of any log can be")]
    ProofTooLong,
}

impl CheckpointError {
    /// The error for an origin that does not have this form. The line is cut to 100 characters.
    pub fn origin(form: &'static str, line: &str) -> Self {
        Self::Origin { form, found: cut(line) }
    }
}

/// A log's name: the first line of its checkpoints. A log whose name carries more than that has an origin type of its
/// own, and [`Checkpoint`] works with that type as well.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin(String);

impl Origin {
    /// The log `name`: not empty, no white space, no `+`, no control character.
    pub fn new(name: &str) -> Result<Self, CheckpointError> {
        let fits =
            !name.is_empty() && !name.chars().any(|c| c.is_whitespace() || c == '+' || c < ' ');
        let form = "a name without white space or '+'";
        if fits { Ok(Self(name.to_owned())) } else { Err(CheckpointError::origin(form, name)) }
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Origin {
    type Err = CheckpointError;
    fn from_str(line: &str) -> Result<Self, CheckpointError> {
        Self::new(line)
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A log's name as others may write it: any line, also one with spaces, which no key's name has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OriginLine(String);

impl OriginLine {
    /// The line, which is not empty and has no control character.
    pub fn new(line: &str) -> Result<Self, CheckpointError> {
        let fits = !line.is_empty() && !line.chars().any(char::is_control);
        let form = "a line of text";
        if fits { Ok(Self(line.to_owned())) } else { Err(CheckpointError::origin(form, line)) }
    }

    /// The line.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for OriginLine {
    type Err = CheckpointError;
    fn from_str(line: &str) -> Result<Self, CheckpointError> {
        Self::new(line)
    }
}

impl fmt::Display for OriginLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A log's state: the number of its leaves and the root over them. `O` is the form of the log's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint<O = Origin> {
    /// The log.
    pub origin: O,
    /// The number of leaves.
    pub size: u64,
    /// The RFC 6962 root over them.
    pub root: Hash,
    /// Extension lines. This crate does not interpret them.
    pub extensions: Vec<String>,
}

impl<O: fmt::Display> Checkpoint<O> {
    /// The text to sign.
    pub fn to_text(&self) -> String {
        let mut text = format!("{}\n{}\n{}\n", self.origin, self.size, self.root);
        for line in &self.extensions {
            text.push_str(line);
            text.push('\n');
        }
        text
    }
}

impl<O: FromStr<Err = CheckpointError>> Checkpoint<O> {
    /// Reads the text of a note.
    pub fn from_text(text: &str) -> Result<Self, CheckpointError> {
        // Not `lines`, which also accepts CR LF as the end of a line.
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
    use crate::SignerKey;
    use CheckpointError as E;

    fn checkpoint() -> Checkpoint {
        let origin = Origin::new("exitgap.example/log/5957856").unwrap();
        Checkpoint { origin, size: 42, root: Hash([1; 32]), extensions: Vec::new() }
    }

    #[test]
    fn checkpoints_read_as_written() {
        let text = checkpoint().to_text();
        assert_eq!(text.lines().next(), Some("exitgap.example/log/5957856"));
        assert_eq!(Checkpoint::from_text(&text), Ok(checkpoint()));
        let read = |from: &str, to: &str| {
            Checkpoint::<Origin>::from_text(&text.replacen(from, to, 1)).unwrap_err()
        };
        for wrong in ["", " ", "+"] {
            assert!(matches!(read("exitgap.example/log/5957856", wrong), E::Origin { .. }));
        }
        assert!(matches!(read("42", "042"), E::Size { .. }));
        assert!(matches!(read("AQEB", "AQE"), E::Root { .. }));
        assert_eq!(Checkpoint::<Origin>::from_text(&format!("{text}\nx\n")), Err(E::Extension));
        let broken_otherwise = text.replace('\n', "\r\n");
        assert!(matches!(
            Checkpoint::<Origin>::from_text(&broken_otherwise),
            Err(E::Origin { .. })
        ));
        let last = text.replace('\n', "\r\n").replacen("\r\n", "\n", 2);
        assert!(matches!(Checkpoint::<Origin>::from_text(&last), Err(E::Root { .. })), "{last:?}");
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
