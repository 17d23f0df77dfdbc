//! Claims in external storage: a record of what is about to be signed, which all machines can see whatever happens to
//! their databases.
//!
//! A claim in the database is only as safe as the database's commits. Storage in which an object can be created only
//! once, and is visible to all, does not depend on a database. Of two recorders, the first to claim a slot decides its
//! contents, and the other seals the same, even if a standby was promoted that lacks data that was already signed.
//! [`Claims`] is that storage. This module defines what is stored in it and how it is verified.
//!
//! # A claim's file
//!
//! The length of a note, four bytes, big-endian; the note; the body. The note's text is `exitgap/claim/1`, the size of
//! the log including the slot, and the body's SHA-256, one line each. The log's key signs the note, so that no one else
//! who can write to the storage can determine what is signed next. Its first line is not a log's name, so readers do
//! not accept it as a checkpoint. The body has the slot's manifest, its unsigned checkpoint, and the files that are not
//! named by their hashes, each preceded by its path; lengths have the same form. Parts are stored where they are
//! published, by their hashes.

use exitgap_core::ids::DocumentHash;
use exitgap_core::log_folder::{LogFile, MAX_MANIFEST_BYTES, MAX_PART_BYTES, Manifest, PartRef};
use exitgap_core::tlog::{Checkpoint, Note, SignerKey, VerifierKey};
use sha2::{Digest, Sha256};

use crate::db::Claim;
use crate::error::StoreError;

/// The maximum size of a claim's file: a manifest and two files of documents.
pub const MAX_CLAIM_BYTES: u64 = MAX_MANIFEST_BYTES as u64 + 2 * MAX_PART_BYTES + (1 << 16);

/// The first line of a claim's note.
const FORMAT: &str = "exitgap/claim/1";

/// The storage's error.
pub type ClaimsError = Box<dyn std::error::Error + Send + Sync>;

/// Storage in which an object can be created only once.
pub trait Claims: Send + Sync {
    /// The claim for this size, of at most [`MAX_CLAIM_BYTES`].
    fn find(&self, size: u64) -> Result<Option<Vec<u8>>, ClaimsError>;

    /// A part that a claim names.
    fn part(&self, part: &PartRef) -> Result<Vec<u8>, ClaimsError>;

    /// Creates the parts, then the claim. Returns whether the claim now exists with these bytes, and not with others.
    fn put(
        &self,
        size: u64,
        claim: &[u8],
        parts: &[(DocumentHash, &[u8])],
    ) -> Result<bool, ClaimsError>;
}

fn claim_error(size: u64, source: impl Into<ClaimsError>) -> StoreError {
    StoreError::NotClaimed { size, source: source.into() }
}

/// Claims a slot. Refused if other contents are claimed for it ([`StoreError::Claimed`]).
pub fn put(claims: &dyn Claims, claim: &Claim, signer: &SignerKey) -> Result<(), StoreError> {
    let size = claim.size;
    let (mut parts, mut files) = (Vec::new(), Vec::new());
    for (path, bytes) in &claim.files {
        match path.parse() {
            Ok(LogFile::Part(hash)) => parts.push((hash, &bytes[..])),
            _ => files.push((path.as_str(), &bytes[..])),
        }
    }
    let body = body_of(&claim.manifest, &files);
    let note = signer.sign(&text_of(size, &body)).map_err(|error| claim_error(size, error))?;
    let bytes = [&length(note.as_bytes())[..], note.as_bytes(), &body].concat();
    if bytes.len() as u64 > MAX_CLAIM_BYTES {
        let why = format!("it has {} bytes; at most {MAX_CLAIM_BYTES} can be read", bytes.len());
        return Err(claim_error(size, why));
    }
    let is_first = claims.put(size, &bytes, &parts).map_err(|error| claim_error(size, error))?;
    if is_first { Ok(()) } else { Err(StoreError::Claimed { size }) }
}

/// The claim for a log of this size, signed with one of the `known` keys; without its parts.
fn load_claim(
    claims: &dyn Claims,
    size: u64,
    known: &[VerifierKey],
) -> Result<Option<Claim>, StoreError> {
    let found = claims.find(size).map_err(|error| claim_error(size, error))?;
    let read =
        |bytes: Vec<u8>| parse_claim(size, &bytes, known).map_err(|why| claim_error(size, why));
    found.map(read).transpose()
}

/// The checkpoint that is claimed for a log of this size, not signed yet.
pub fn checkpoint(
    claims: &dyn Claims,
    size: u64,
    known: &[VerifierKey],
) -> Result<Option<String>, StoreError> {
    Ok(load_claim(claims, size, known)?.map(|claim| claim.checkpoint))
}

/// The claim for a log of this size, with all its files.
pub fn find(
    claims: &dyn Claims,
    size: u64,
    known: &[VerifierKey],
) -> Result<Option<Claim>, StoreError> {
    let Some(mut claim) = load_claim(claims, size, known)? else { return Ok(None) };
    let manifest =
        Manifest::from_bytes(&claim.manifest).map_err(|error| claim_error(size, error))?;
    for part in &manifest.parts {
        let bytes = claims.part(part).map_err(|error| claim_error(size, error))?;
        if PartRef::hash_of(&bytes) != part.sha256 {
            return Err(claim_error(size, format!("{} has different content", part.path())));
        }
        claim.files.push((part.path(), bytes));
    }
    Ok(Some(claim))
}

fn text_of(size: u64, body: &[u8]) -> String {
    format!("{FORMAT}\n{size}\n{}\n", DocumentHash(Sha256::digest(body).into()))
}

fn length(bytes: &[u8]) -> [u8; 4] {
    u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_be_bytes()
}

fn body_of(manifest: &[u8], files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut body = Vec::new();
    let files = files.iter().flat_map(|(path, bytes)| [path.as_bytes(), bytes]);
    for piece in std::iter::once(manifest).chain(files) {
        body.extend(length(piece));
        body.extend(piece);
    }
    body
}

/// A verified claim file, without its parts.
fn parse_claim(size: u64, bytes: &[u8], known: &[VerifierKey]) -> Result<Claim, String> {
    let mut rest = bytes;
    let note = piece(&mut rest).ok_or("it is truncated")?;
    let note = std::str::from_utf8(note).map_err(|error| error.to_string())?;
    let note = Note::parse(note).map_err(|error| error.to_string())?;
    if note.text != text_of(size, rest) {
        return Err("its note belongs to a different claim".to_owned());
    }
    let manifest = piece(&mut rest).ok_or("it is truncated")?.to_vec();
    let read = Manifest::from_bytes(&manifest).map_err(|error| error.to_string())?;
    let checkpoint = Checkpoint::from_text(&read.checkpoint).map_err(|error| error.to_string())?;
    if checkpoint.size != size {
        return Err(format!("it belongs to a log of {} slots", checkpoint.size));
    }
    // Before a log begins, its key does not have the log's name yet.
    let known: Vec<_> = known.iter().filter_map(|key| checkpoint.origin.key_of(key)).collect();
    if note.signers(&known).trusted.is_empty() {
        return Err("it is not signed by any key of the log".to_owned());
    }
    let mut files = Vec::new();
    while !rest.is_empty() {
        let path = piece(&mut rest).ok_or("it is truncated")?;
        let path = String::from_utf8(path.to_vec()).map_err(|error| error.to_string())?;
        files.push((path, piece(&mut rest).ok_or("it is truncated")?.to_vec()));
    }
    Ok(Claim { size, checkpoint: read.checkpoint, manifest, files })
}

/// The next piece, which is preceded by its length.
fn piece<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (length, after) = rest.split_first_chunk::<4>()?;
    let length = usize::try_from(u32::from_be_bytes(*length)).ok()?;
    let (piece, after) = after.split_at_checked(length)?;
    *rest = after;
    Some(piece)
}
