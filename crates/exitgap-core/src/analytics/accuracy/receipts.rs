//! The receipts of paid estimates as a recorder stores them: a canonical document, named by its hash, to which a head
//! commits.
//!
//! It contains only the hash of each receipt: the request and the payer stay private between the service and the payer.
//! Anyone who holds a receipt, or is shown one, can find its hash in the list. A service cannot later remove an
//! estimate that turned out wrong.

use sha2::{Digest as _, Sha256};

use super::committed_document::document_of_line;
use crate::Newer;
use crate::evidence::Commits;
use crate::ids::{DocumentHash, PoolId, Word};
use crate::json::{DocumentError, VERSION, from_canonical, to_canonical_within, wire_struct};
use crate::series::Slot;

/// The most receipts in a document. Further receipts wait for the next slot.
pub const MAX_ISSUED: usize = 4_096;

/// The maximum size of a document, in bytes.
pub const MAX_ISSUED_BYTES: usize = 512 << 10;

/// The receipts of paid estimates of a pool since its previous document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IssuedReceipts {
    /// The pool.
    pub pool: PoolId,
    /// The SHA-256 of each receipt's text, ascending and without duplicates; at least one.
    pub receipts: Vec<Word>,
}

/// Why bytes are not such a document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IssuedError {
    /// The bytes are not a document of this kind.
    #[error("not a document of issued estimates: {0}")]
    Document(#[from] DocumentError),
    /// The list is empty or too long.
    #[error(
        "not a document of issued estimates: {found} receipts; the number must be from 1 to {MAX_ISSUED}"
    )]
    Count {
        /// The number of receipts.
        found: usize,
    },
    /// The list is not ascending or contains a duplicate.
    #[error(
        "not a document of issued estimates: receipt {place} does not come after the previous one"
    )]
    OutOfOrder {
        /// The receipt's index in the list, from 0.
        place: usize,
    },
}

impl IssuedError {
    /// The newer version that wrote the document, if that is the cause of the error.
    pub fn newer(&self) -> Option<Newer> {
        match self {
            Self::Document(DocumentError::Newer(newer)) => Some(*newer),
            _ => None,
        }
    }
}

impl IssuedReceipts {
    /// The name under which a head commits to such a document.
    pub const NAME: &str = Commits::ISSUED;

    /// The hash of a receipt: the SHA-256 of its text exactly as sent in the header.
    pub fn receipt_of(signed: &str) -> Word {
        Word(Sha256::digest(signed).into())
    }

    /// Whether the list contains a receipt.
    pub fn has(&self, receipt: &Word) -> bool {
        self.receipts.binary_search(receipt).is_ok()
    }

    /// The canonical bytes. Refused if [`IssuedReceipts::from_canonical`] would not accept them.
    pub fn to_canonical(&self) -> Result<Vec<u8>, IssuedError> {
        self.check()?;
        let Self { pool, receipts } = self.clone();
        Ok(to_canonical_within(&Document { v: VERSION, pool, receipts }, MAX_ISSUED_BYTES)?)
    }

    /// Reads untrusted bytes.
    pub fn from_canonical(bytes: &[u8]) -> Result<Self, IssuedError> {
        let document: Document = from_canonical(bytes, MAX_ISSUED_BYTES, Self::NAME)?;
        let issued = Self { pool: document.pool, receipts: document.receipts };
        issued.check()?;
        Ok(issued)
    }

    /// The head's commitment to a document.
    pub fn commitment(document: DocumentHash) -> Commits {
        Self::NAME.parse().map_or_else(|_| Commits::default(), |name| Commits::to(name, document))
    }

    /// The hash that names canonical bytes.
    pub fn hash_of(canonical: &[u8]) -> DocumentHash {
        DocumentHash(Sha256::digest(canonical).into())
    }

    /// Reads an untrusted line. Returns the slot, the document, and the hash that the pool's head of that slot must
    /// commit to.
    pub fn from_line(line: &[u8]) -> Result<(Slot, Self, DocumentHash), IssuedError> {
        let (slot, document) = document_of_line(Self::NAME, MAX_ISSUED_BYTES, line)?;
        Ok((slot, Self::from_canonical(&document)?, Self::hash_of(&document)))
    }

    fn check(&self) -> Result<(), IssuedError> {
        let found = self.receipts.len();
        if !(1..=MAX_ISSUED).contains(&found) {
            return Err(IssuedError::Count { found });
        }
        let out_of_order = self.receipts.windows(2).position(|pair| pair[0] >= pair[1]);
        match out_of_order {
            Some(place) => Err(IssuedError::OutOfOrder { place: place + 1 }),
            None => Ok(()),
        }
    }
}

struct Document {
    v: u32,
    pool: PoolId,
    receipts: Vec<Word>,
}

wire_struct!(Document { v, pool, receipts });

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analytics::accuracy::CommittedDocument as _;

    fn issued(receipts: &[u8]) -> IssuedReceipts {
        let pool = "ethereum:0x88e6a0c2ddd26feeb64f039a2c41296fcb3f5640".parse().unwrap();
        IssuedReceipts { pool, receipts: receipts.iter().map(|byte| Word([*byte; 32])).collect() }
    }

    #[test]
    fn a_document_is_read_back_from_its_one_spelling_and_line() {
        let document = issued(&[3, 7, 9]);
        let canonical = document.to_canonical().unwrap();
        assert_eq!(IssuedReceipts::from_canonical(&canonical).unwrap(), document);
        assert!(document.has(&Word([7; 32])) && !document.has(&Word([8; 32])));
        let slot = Slot::new(5_990_000).unwrap();
        let line = IssuedReceipts::line(slot, &canonical).unwrap();
        let line = line.strip_suffix(b"\n").unwrap();
        assert!(line.starts_with(b"{\"issued\":{\"pool\":"), "{}", String::from_utf8_lossy(line));
        let read = IssuedReceipts::from_line(line).unwrap();
        assert_eq!(read, (slot, document, IssuedReceipts::hash_of(&canonical)));
        let spaced = [b" ", &canonical[..]].concat();
        assert!(IssuedReceipts::from_canonical(&spaced).is_err());
        // A document of another kind under the right name, and a document under another name.
        assert!(IssuedReceipts::from_line(br#"{"fills":{},"slot":5990000}"#).is_err());
        assert!(IssuedReceipts::from_line(br#"{"issued":{},"slot":5990000}"#).is_err());
    }

    #[test]
    fn receipts_ascend_each_once_and_are_neither_none_nor_too_many() {
        assert_eq!(issued(&[]).to_canonical(), Err(IssuedError::Count { found: 0 }));
        for (receipts, place) in [(&[3, 3][..], 1), (&[1, 4, 2], 2)] {
            assert_eq!(issued(receipts).to_canonical(), Err(IssuedError::OutOfOrder { place }));
            let document = issued(receipts);
            let forced = to_canonical_within(
                &Document { v: VERSION, pool: document.pool, receipts: document.receipts },
                MAX_ISSUED_BYTES,
            );
            let read = IssuedReceipts::from_canonical(&forced.unwrap());
            assert_eq!(read, Err(IssuedError::OutOfOrder { place }));
        }
        let many = |count: usize| {
            let word = |number: usize| {
                let mut word = [0; 32];
                word[24..].copy_from_slice(&(number as u64).to_be_bytes());
                Word(word)
            };
            IssuedReceipts { receipts: (0..count).map(word).collect(), ..issued(&[]) }
        };
        // The largest allowed number of receipts fits.
        assert!(many(MAX_ISSUED).to_canonical().is_ok());
        let found = MAX_ISSUED + 1;
        assert_eq!(many(found).to_canonical(), Err(IssuedError::Count { found }));
    }

    #[test]
    fn a_later_version_is_said_to_be_newer() {
        let canonical = issued(&[1]).to_canonical().unwrap();
        let later = String::from_utf8(canonical).unwrap().replace("\"v\":1", "\"v\":2");
        let error = IssuedReceipts::from_canonical(later.as_bytes()).unwrap_err();
        assert!(error.newer().is_some(), "{error}");
    }
}
