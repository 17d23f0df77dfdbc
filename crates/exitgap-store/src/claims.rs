//! What is about to be signed, written down once outside of the database: where several machines look, whatever became of
//! their databases.
//!
//! A claim in the database is as safe as its commits. Storage that makes an object once, and for everybody, needs no
//! database's word: of two recorders one claims a slot first, and the other seals the same, also where a standby was
//! promoted that lacks what was signed. [`Claims`] is that storage; what stands in it, and why it is believed, stands here.
//!
//! # A claim's file
//!
//! The length of a note, four bytes, the highest first; the note; the body. The note's text is `exitgap/claim/1`, the size of
//! the log with the slot and the body's SHA-256, a line each: the log's key signs it, so that nobody else who can write there
//! says what is signed next. Its first line is no log's name, so that no reader takes it for a checkpoint. The body has the
//! slot's manifest, its checkpoint unsigned, and the files that are not named by their hashes, each behind its path; lengths
//! as before. Parts are where they are published, by their hashes.

use exitgap_core::ids::DocumentHash;
use exitgap_core::log_folder::{LogFile, MAX_MANIFEST_BYTES, MAX_PART_BYTES, Manifest, PartRef};
use exitgap_core::tlog::{Checkpoint, Note, SignerKey, VerifierKey};
use sha2::{Digest, Sha256};

use crate::db::Claim;
use crate::error::StoreError;

/// The longest claim's file: a manifest and two files of documents.
pub const MAX_CLAIM_BYTES: u64 = MAX_MANIFEST_BYTES as u64 + 2 * MAX_PART_BYTES + (1 << 16);

/// The first line of a claim's note.
const FORMAT: &str = "exitgap/claim/1";

/// Why the storage did not do what was asked.
pub type ClaimsError = Box<dyn std::error::Error + Send + Sync>;

/// Storage in which an object is made once.
pub trait Claims: Send + Sync {
    /// The claim of this size, of at most [`MAX_CLAIM_BYTES`].
    fn find(&self, size: u64) -> Result<Option<Vec<u8>>, ClaimsError>;

    /// A part that a claim names.
    fn part(&self, part: &PartRef) -> Result<Vec<u8>, ClaimsError>;

    /// Makes the parts, then the claim: whether it is there with these bytes, and not with others.
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

/// Claims a slot; refused where another content of it is claimed ([`StoreError::Claimed`]).
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

/// What is claimed for a log of this size, by whoever has one of the `known` keys; without its parts.
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

/// What is claimed for a log of this size, with all its files.
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

/// A claim's file, read and believed: but for its parts.
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
    // Before a log begins its key has no log's name yet.
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

/// The next piece behind its length.
fn piece<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (length, after) = rest.split_first_chunk::<4>()?;
    let length = usize::try_from(u32::from_be_bytes(*length)).ok()?;
    let (piece, after) = after.split_at_checked(length)?;
    *rest = after;
    Some(piece)
}
