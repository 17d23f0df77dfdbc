//! Hashed documents: canonical JSON in, canonical JSON out.

use super::{CanonicalError, Json, Wire, parse_json};
use crate::newer::Newer;

/// The version of every document that this build writes and reads.
pub const VERSION: u32 = 1;

/// Why bytes are not a document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DocumentError {
    /// More bytes than any such document has.
    #[error("{found} bytes are more than the maximum of {most}")]
    TooLarge {
        /// Bytes found.
        found: usize,
        /// Bytes accepted.
        most: usize,
    },
    /// Not JSON of the document's shape: says what and where.
    #[error("{0}")]
    Shape(String),
    /// A canonical document, but one that a later version of exitgap made.
    #[error("{0}")]
    Newer(Newer),
    /// White space, key order, a repeated key or another spelling.
    #[error("the bytes are not canonical JSON (the first difference is at byte {at})")]
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
pub struct Part(pub Vec<u8>);

impl Part {
    /// The part that these bytes, canonical or not, spell.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, DocumentError> {
        Ok(Self(parse_json(bytes).map_err(DocumentError::Shape)?.to_canonical()?))
    }
}

impl Wire for Part {
    fn from_json(json: &Json<'_>) -> Result<Self, String> {
        json.to_canonical().map(Self).map_err(|error| error.to_string())
    }

    fn to_json(&self) -> Json<'_> {
        Json::Canonical(&self.0)
    }
}

/// The canonical bytes of a document.
pub fn to_canonical(document: &impl Wire) -> Result<Vec<u8>, DocumentError> {
    Ok(document.to_json().to_canonical()?)
}

/// The same, where readers accept at most so many.
pub fn to_canonical_within(document: &impl Wire, most: usize) -> Result<Vec<u8>, DocumentError> {
    let bytes = to_canonical(document)?;
    let found = bytes.len();
    if found > most { Err(DocumentError::TooLarge { found, most }) } else { Ok(bytes) }
}

/// Reads untrusted bytes, at most `most` of them, which must be the canonical ones of version 1.
pub fn from_canonical<T: Wire>(
    bytes: &[u8],
    most: usize,
    name: &'static str,
) -> Result<T, DocumentError> {
    from_parsed(&parse(bytes, most)?, bytes, name)
}

/// Parses untrusted bytes, at most `most` of them.
pub fn parse(bytes: &[u8], most: usize) -> Result<Json<'_>, DocumentError> {
    if bytes.len() > most {
        return Err(DocumentError::TooLarge { found: bytes.len(), most });
    }
    parse_json(bytes).map_err(DocumentError::Shape)
}

/// The document of version 1 that parsed bytes spell, which must be the canonical ones.
pub fn from_parsed<T: Wire>(
    json: &Json<'_>,
    bytes: &[u8],
    name: &'static str,
) -> Result<T, DocumentError> {
    check_version(json, bytes, name)?;
    let document = T::from_json(json).map_err(DocumentError::Shape)?;
    check_canonical(&to_canonical(&document)?, bytes)?;
    Ok(document)
}

/// Requires version 1. A later one is told apart from what is no document.
pub fn check_version(
    json: &Json<'_>,
    bytes: &[u8],
    document: &'static str,
) -> Result<(), DocumentError> {
    let version = json.field("v").ok_or_else(|| wrong_version("absent"))?;
    match u32::from_json(version) {
        Ok(VERSION) => Ok(()),
        Ok(found) if found > VERSION => {
            check_canonical(&json.to_canonical()?, bytes)?;
            Err(DocumentError::Newer(Newer::Version { document, found }))
        }
        Ok(_) => Err(wrong_version("below 1")),
        Err(error) => Err(wrong_version(&error)),
    }
}

#[cold]
fn wrong_version(what: &str) -> DocumentError {
    DocumentError::Shape(format!("v: {what}"))
}

/// Requires that the canonical bytes are the given ones.
pub fn check_canonical(canonical: &[u8], bytes: &[u8]) -> Result<(), DocumentError> {
    if canonical == bytes {
        return Ok(());
    }
    let at = canonical.iter().zip(bytes).take_while(|(a, b)| a == b).count();
    Err(DocumentError::NotCanonical { at })
}
