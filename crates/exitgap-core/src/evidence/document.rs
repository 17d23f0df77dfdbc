//! Documents of the evidence: canonical JSON in, canonical JSON out.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::snapshot::{CanonicalError, to_canonical_json};

/// Why bytes are not a document of the evidence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DocumentError {
    /// More bytes than any such document has.
    #[error("{found} bytes are more than the {most} accepted")]
    TooLarge {
        /// Bytes found.
        found: usize,
        /// Bytes accepted.
        most: usize,
    },
    /// Not JSON of the document's shape: says what and where.
    #[error("{0}")]
    Shape(String),
    /// A version this build does not know.
    #[error("version {found} is not known; this build reads version {known}")]
    Version {
        /// The version found.
        found: u32,
        /// The version read.
        known: u32,
    },
    /// White space, key order, a repeated key or another spelling.
    #[error("the bytes are not canonical JSON (they differ from byte {at})")]
    NotCanonical {
        /// The first byte that differs.
        at: usize,
    },
    /// The document has no canonical form.
    #[error(transparent)]
    Canonical(#[from] CanonicalError),
}

/// The canonical bytes of a document.
pub(super) fn to_canonical<T: Serialize>(document: &T) -> Result<Vec<u8>, DocumentError> {
    let value =
        serde_json::to_value(document).map_err(|error| DocumentError::Shape(error.to_string()))?;
    Ok(to_canonical_json(&value)?)
}

/// Reads untrusted bytes, at most `most` of them, which must be the canonical ones.
pub(super) fn from_canonical<T: Serialize + DeserializeOwned>(
    bytes: &[u8],
    most: usize,
) -> Result<T, DocumentError> {
    if bytes.len() > most {
        return Err(DocumentError::TooLarge { found: bytes.len(), most });
    }
    let document: T =
        serde_json::from_slice(bytes).map_err(|error| DocumentError::Shape(error.to_string()))?;
    let canonical = to_canonical(&document)?;
    if canonical != bytes {
        let at = canonical.iter().zip(bytes).take_while(|(a, b)| a == b).count();
        return Err(DocumentError::NotCanonical { at });
    }
    Ok(document)
}
