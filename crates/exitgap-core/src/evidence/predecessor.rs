//! The predecessor of a log: an earlier log whose data was lost.

use sha2::{Digest, Sha256};

use super::commits::Commits;
use crate::ids::DocumentHash;
use crate::tlog::{Checkpoint, CheckpointError, Hash, Origin};

/// The last state of a lost log. The first leaf of its successor commits to this document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Predecessor {
    /// The log that ended.
    pub origin: Origin,
    /// The number of slots in its last checkpoint.
    pub size: u64,
    /// The root over them.
    pub root: Hash,
}

impl Predecessor {
    /// The name under which a leaf commits to it.
    pub const NAME: &str = "predecessor";

    /// The document: the text of the last checkpoint, without extension lines.
    pub fn to_document(&self) -> String {
        format!("{}\n{}\n{}\n", self.origin, self.size, self.root)
    }

    /// Reads an untrusted document.
    pub fn from_document(text: &str) -> Result<Self, CheckpointError> {
        let Checkpoint { origin, size, root, .. } = Checkpoint::from_text(text)?;
        let read = Self { origin, size, root };
        // Only the canonical form is accepted.
        if read.to_document() == text { Ok(read) } else { Err(CheckpointError::Extension) }
    }

    /// The commitment in the successor's first leaf.
    pub fn commitment(&self) -> Commits {
        let document = DocumentHash(Sha256::digest(self.to_document().as_bytes()).into());
        Self::NAME.parse().map_or_else(|_| Commits::default(), |name| Commits::to(name, document))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_predecessor_has_one_spelling() {
        let root = Hash([4; 32]);
        let text = format!("exitgap.example/log/5957856\n70\n{root}\n");
        let read = Predecessor::from_document(&text).unwrap();
        assert_eq!((read.origin.name(), read.size), ("exitgap.example/log", 70));
        assert_eq!(read.to_document(), text);
        let hash = read.commitment().get(Predecessor::NAME).unwrap();
        assert_eq!(hash.0, *Sha256::digest(text.as_bytes()));
        for wrong in [
            text.replace("\n70", "\n070"),
            text.replace("BAQ", "BA"),
            text.trim_end().to_owned(),
            format!("{text}more\n"),
            format!("{text}\n"),
        ] {
            assert!(Predecessor::from_document(&wrong).is_err(), "{wrong:?}");
        }
    }
}
