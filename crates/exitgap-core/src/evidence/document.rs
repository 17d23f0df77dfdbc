//! Documents of the evidence: canonical JSON in, canonical JSON out.

use crate::json::{Json, Wire, read};
use crate::snapshot::CanonicalError;

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

/// A part of a document that is a document itself, kept as its canonical bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Part(pub Vec<u8>);

impl Part {
    /// The part that these bytes, canonical or not, spell.
    pub fn of(bytes: &[u8]) -> Result<Self, DocumentError> {
        Ok(Self(read(bytes).map_err(DocumentError::Shape)?.to_canonical()?))
    }
}

impl Wire for Part {
    fn read(json: &Json<'_>) -> Result<Self, String> {
        json.to_canonical().map(Self).map_err(|error| error.to_string())
    }

    fn write(&self) -> Json<'_> {
        Json::Canonical(&self.0)
    }
}

/// The canonical bytes of a document.
pub(super) fn to_canonical(document: &impl Wire) -> Result<Vec<u8>, DocumentError> {
    Ok(document.write().to_canonical()?)
}

/// Reads untrusted bytes, at most `most` of them, which must be the canonical ones.
pub(super) fn from_canonical<T: Wire>(bytes: &[u8], most: usize) -> Result<T, DocumentError> {
    from_parsed(&parse(bytes, most)?, bytes)
}

/// Parses untrusted bytes, at most `most` of them.
pub(super) fn parse(bytes: &[u8], most: usize) -> Result<Json<'_>, DocumentError> {
    if bytes.len() > most {
        return Err(DocumentError::TooLarge { found: bytes.len(), most });
    }
    read(bytes).map_err(DocumentError::Shape)
}

/// The document that parsed bytes spell, which must be the canonical ones.
pub(super) fn from_parsed<T: Wire>(json: &Json<'_>, bytes: &[u8]) -> Result<T, DocumentError> {
    let document = T::read(json).map_err(DocumentError::Shape)?;
    match first_difference(&to_canonical(&document)?, bytes) {
        Some(at) => Err(DocumentError::NotCanonical { at }),
        None => Ok(document),
    }
}

/// The first byte in which the canonical bytes and the given ones differ.
fn first_difference(canonical: &[u8], bytes: &[u8]) -> Option<usize> {
    let same = || canonical.iter().zip(bytes).take_while(|(a, b)| a == b).count();
    (canonical != bytes).then(same)
}
