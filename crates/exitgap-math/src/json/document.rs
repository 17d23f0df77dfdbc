//! Hashed documents as canonical JSON.

use super::{CanonicalError, Json, Wire, parse_json};
use crate::newer::Newer;

/// The version of every document that this build writes and reads.
pub const VERSION: u32 = 1;

/// Why bytes are not a valid document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DocumentError {
    /// There are more bytes than the limit for this kind of document.
    #[error("{found} bytes are more than the maximum of {most}")]
    TooLarge {
        /// The number of bytes found.
        found: usize,
        /// The maximum number of bytes.
        most: usize,
    },
    /// The JSON does not have the document's structure. The text states what is wrong and where.
    #[error("{0}")]
    Shape(String),
    /// A canonical document of a later version of exitgap.
    #[error("{0}")]
    Newer(Newer),
    /// The bytes are not canonical: white space, key order, a repeated key or another notation.
    #[error("the bytes are not canonical JSON (the first difference is at byte {at})")]
    NotCanonical {
        /// The index of the first different byte.
        at: usize,
    },
    /// The document has no canonical form.
    #[error(transparent)]
    Canonical(#[from] CanonicalError),
}

/// A part of a document that is itself a document, stored as its canonical bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part(pub Vec<u8>);

impl Part {
    /// Parses a part from bytes that may not be canonical.
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

/// Same as [`to_canonical`], but fails if the result has more than `most` bytes.
pub fn to_canonical_within(document: &impl Wire, most: usize) -> Result<Vec<u8>, DocumentError> {
    let bytes = to_canonical(document)?;
    let found = bytes.len();
    if found > most { Err(DocumentError::TooLarge { found, most }) } else { Ok(bytes) }
}

/// Parses untrusted bytes, at most `most` of them. They must be canonical and of version 1.
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

/// The document of version 1 from parsed bytes, which must be canonical.
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

/// Requires version 1. A later version gives a different error than an invalid document.
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

/// Requires that the given bytes equal the canonical ones.
pub fn check_canonical(canonical: &[u8], bytes: &[u8]) -> Result<(), DocumentError> {
    if canonical == bytes {
        return Ok(());
    }
    let at = canonical.iter().zip(bytes).take_while(|(a, b)| a == b).count();
    Err(DocumentError::NotCanonical { at })
}
