//! The files of a release: a list in the form of `sha256sum`, whose text a release key signs as a note, and the entry of
//! that list in a log of releases.

use core::fmt::Write;

use sha2::{Digest, Sha256};

use super::checkpoint::{Checkpoint, CheckpointError, LogProof, OriginLine};
use super::note::VerifierKey;
use super::signatures::SignedError;
use super::tree::{leaf_hash, root_from_inclusion};

/// The name of the list in a release.
pub const SUMS_FILE: &str = "SHA256SUMS";
/// The name of the signed list.
pub const SUMS_NOTE_FILE: &str = "SHA256SUMS.note";
/// The name of the proof that a log of releases has the list (C2SP `tlog-proof`).
pub const RELEASE_PROOF_FILE: &str = "release-proof";

/// The most files that a list may have.
pub const MAX_RELEASE_FILES: usize = 256;
/// The longest name of a file.
pub const MAX_RELEASE_NAME_BYTES: usize = 128;

/// Why a text is not the list of a release.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReleaseListError {
    /// A line has another form.
    #[error("line {line} is not a hash in 64 lower-case hexadecimal digits, two spaces and a name")]
    Line {
        /// Counted from 1.
        line: usize,
    },
    /// A name could leave the folder, hide, or be taken for an option or for the list itself.
    #[error(
        "line {line}: {name:?} is not a valid file name; it needs 1 to {most} of the characters A-Z a-z 0-9 . _ - +, must begin with a letter or digit, and must not be the name of the list, its note or its proof",
        most = MAX_RELEASE_NAME_BYTES
    )]
    Name {
        /// Counted from 1.
        line: usize,
        /// The name, cut to 100 characters.
        name: String,
    },
    /// Two lines have the same name.
    #[error("line {line}: {name} is listed a second time")]
    Twice {
        /// Counted from 1.
        line: usize,
        /// The name.
        name: String,
    },
    /// No file, or more than [`MAX_RELEASE_FILES`].
    #[error("it lists {found} files; a release has 1 to {most}", most = MAX_RELEASE_FILES)]
    Count {
        /// The number of lines.
        found: usize,
    },
}

/// Why a proof does not show that a log has a list.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReleaseProofError {
    /// The text is not a proof.
    #[error(transparent)]
    Malformed(#[from] CheckpointError),
    /// No given key signed the proof's checkpoint.
    #[error(transparent)]
    NotSigned(#[from] SignedError),
    /// The proof does not lead from the list to the signed root.
    #[error("the proof does not lead from this list to the state of {log} that was signed")]
    NotInLog {
        /// The log.
        log: String,
    },
}

/// The place of a list in a log of releases.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReleasePlace {
    /// The log's name.
    pub log: String,
    /// The leaf's index.
    pub index: u64,
    /// The number of leaves when the proof was made.
    pub size: u64,
}

/// A file of a release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReleaseFile {
    /// The name in the release's folder.
    pub name: String,
    /// The hash of the content.
    pub sha256: [u8; 32],
}

/// The list of a release's files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReleaseList(Vec<ReleaseFile>);

impl ReleaseList {
    /// Makes a list, in the order of names. Refused where [`Self::from_text`] would refuse its text.
    pub fn new(mut files: Vec<ReleaseFile>) -> Result<Self, ReleaseListError> {
        files.sort_by(|one, other| one.name.cmp(&other.name));
        Self::checked(files)
    }

    /// Reads untrusted text.
    pub fn from_text(text: &str) -> Result<Self, ReleaseListError> {
        let found = text.split_terminator('\n').count();
        if !(1..=MAX_RELEASE_FILES).contains(&found) {
            return Err(ReleaseListError::Count { found });
        }
        // Not `lines`, which also accepts CR LF as the end of a line, and a last line without an end.
        let mut files = Vec::with_capacity(found);
        for (line, text) in (1..).zip(text.split_inclusive('\n')) {
            let wrong = || ReleaseListError::Line { line };
            let (hash, name) =
                text.strip_suffix('\n').and_then(|text| text.split_once("  ")).ok_or_else(wrong)?;
            let sha256 = hash_from_hex(hash).ok_or_else(wrong)?;
            files.push(ReleaseFile { name: name.to_owned(), sha256 });
        }
        Self::checked(files)
    }

    fn checked(files: Vec<ReleaseFile>) -> Result<Self, ReleaseListError> {
        if !(1..=MAX_RELEASE_FILES).contains(&files.len()) {
            return Err(ReleaseListError::Count { found: files.len() });
        }
        for (index, file) in files.iter().enumerate() {
            let (line, name) = (index + 1, &file.name);
            if !is_valid_name(name) {
                let name = name.chars().take(100).collect();
                return Err(ReleaseListError::Name { line, name });
            }
            if files[..index].iter().any(|before| before.name == *name) {
                return Err(ReleaseListError::Twice { line, name: name.clone() });
            }
        }
        Ok(Self(files))
    }

    /// The files.
    pub fn files(&self) -> &[ReleaseFile] {
        &self.0
    }

    /// The text to sign, as `sha256sum` writes it.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for file in &self.0 {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{}  {}", to_hex(&file.sha256), file.name);
        }
        text
    }

    /// The data of this list's leaf in a log of releases: what `sha256sum SHA256SUMS` prints.
    pub fn log_entry(&self) -> String {
        let hash: [u8; 32] = Sha256::digest(self.to_text()).into();
        format!("{}  {SUMS_FILE}\n", to_hex(&hash))
    }

    /// Checks untrusted text, a C2SP `tlog-proof`: the list is in the log whose checkpoint one of `keys` signed.
    pub fn place_in_log(
        &self,
        proof: &str,
        keys: &[VerifierKey],
    ) -> Result<ReleasePlace, ReleaseProofError> {
        let proof = LogProof::from_text(proof)?;
        let checkpoint = Checkpoint::<OriginLine>::signed_by(&proof.checkpoint, keys)?;
        let (log, size) = (checkpoint.origin.as_str().to_owned(), checkpoint.size);
        let leaf = leaf_hash(self.log_entry().as_bytes());
        if root_from_inclusion(leaf, proof.index, size, &proof.hashes) != Some(checkpoint.root) {
            return Err(ReleaseProofError::NotInLog { log });
        }
        Ok(ReleasePlace { log, index: proof.index, size })
    }
}

/// Whether a file of a release may have this name, on every system.
fn is_valid_name(name: &str) -> bool {
    let is_fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '+');
    let begins = name.starts_with(|c: char| c.is_ascii_alphanumeric());
    let is_own = [SUMS_FILE, SUMS_NOTE_FILE, RELEASE_PROOF_FILE].contains(&name);
    begins && name.len() <= MAX_RELEASE_NAME_BYTES && name.chars().all(is_fine) && !is_own
}

fn to_hex(hash: &[u8; 32]) -> String {
    hash.iter().fold(String::with_capacity(64), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn hash_from_hex(text: &str) -> Option<[u8; 32]> {
    let mut hash = [0; 32];
    if text.len() != 64 || !text.bytes().all(|c| matches!(c, b'0'..=b'9' | b'a'..=b'f')) {
        return None;
    }
    for (byte, pair) in hash.iter_mut().zip(text.as_bytes().chunks(2)) {
        *byte = u8::from_str_radix(core::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(hash)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Hash, Origin, SignerKey, inclusion_proof, root};

    fn list() -> ReleaseList {
        let file = |name: &str, byte| ReleaseFile { name: name.to_owned(), sha256: [byte; 32] };
        ReleaseList::new(vec![file("b-1.0+x_y.tar.gz", 0xab), file("a", 1)]).unwrap()
    }

    #[test]
    fn a_list_is_what_sha256sum_writes_and_reads_as_written() {
        let text = list().to_text();
        assert_eq!(
            text,
            format!("{}  a\n{}  b-1.0+x_y.tar.gz\n", "01".repeat(32), "ab".repeat(32))
        );
        assert_eq!(ReleaseList::from_text(&text), Ok(list()));
        // What `sha256sum` prints for a file with that text.
        let hash = "b920f2612a7d16f967f84144d6e25f9d6e17060a757aea4944a7da1a4a7c92b1";
        assert_eq!(list().log_entry(), format!("{hash}  SHA256SUMS\n"));
    }

    #[test]
    fn other_forms_are_refused_with_their_line() {
        let text = list().to_text();
        let refused = |from: &str, to: &str| {
            let changed = text.replacen(from, to, 1);
            assert_ne!(changed, text, "{from}");
            ReleaseList::from_text(&changed).unwrap_err()
        };
        for (from, to, line) in [
            ("0101", "010", 1),
            ("0101", "010g", 1),
            ("abab", "ABAB", 2),
            ("  a\n", " a\n", 1),
            ("  a\n", " *a\n", 1),
            (".gz\n", ".gz", 2),
            ("a\n", "a\n\n", 2),
        ] {
            assert_eq!(refused(from, to), ReleaseListError::Line { line }, "{from:?} {to:?}");
        }
        assert_eq!(ReleaseList::from_text(""), Err(ReleaseListError::Count { found: 0 }));
        let file = |n| ReleaseFile { name: format!("file{n}"), sha256: [0; 32] };
        let many = ReleaseList((0..257).map(file).collect()).to_text();
        assert_eq!(ReleaseList::from_text(&many), Err(ReleaseListError::Count { found: 257 }));
        let twice = ReleaseListError::Twice { line: 2, name: "a".to_owned() };
        assert_eq!(refused("b-1.0+x_y.tar.gz", "a"), twice);
    }

    #[test]
    fn names_that_leave_the_folder_hide_or_confuse_are_refused() {
        let text = list().to_text();
        let long = "a".repeat(MAX_RELEASE_NAME_BYTES + 1);
        for name in [
            "../a",
            "x/a",
            "/a",
            "x\\a",
            "..",
            ".",
            ".a",
            "-a",
            "+a",
            "",
            "a b",
            "a\r",
            "a\u{0}",
            "ä",
            "C:a",
            "SHA256SUMS",
            "SHA256SUMS.note",
            "release-proof",
            &long,
        ] {
            let changed = text.replacen("  a\n", &format!("  {name}\n"), 1);
            let refused = ReleaseList::from_text(&changed).unwrap_err();
            assert!(matches!(refused, ReleaseListError::Name { line: 1, .. }), "{name}: {refused}");
        }
        let longest = &long[1..];
        let changed = text.replacen("  a\n", &format!("  {longest}\n"), 1);
        assert_eq!(ReleaseList::from_text(&changed).unwrap().files()[0].name, longest);
    }

    #[test]
    fn a_list_is_found_in_a_log_signed_by_a_given_key_and_only_there() {
        let key = SignerKey::from_seed("example.org/release-log", [4; 32]).unwrap();
        let entry = list().log_entry();
        let leaves: Vec<Hash> =
            ["one", &entry, "three"].iter().map(|data| leaf_hash(data.as_bytes())).collect();
        let origin = Origin::new("example.org/release-log").unwrap();
        let state = Checkpoint { origin, size: 3, root: root(&leaves), extensions: Vec::new() };
        let proof = |index: usize, key: &SignerKey| LogProof {
            index: index as u64,
            hashes: inclusion_proof(&leaves, index).unwrap(),
            checkpoint: key.sign(&state.to_text()).unwrap(),
        };
        let trusted = [key.verifier()];
        let log = "example.org/release-log".to_owned();
        let text = proof(1, &key).to_text();
        let place = ReleasePlace { log: log.clone(), index: 1, size: 3 };
        assert_eq!(list().place_in_log(&text, &trusted), Ok(place));
        // The proof of another leaf, and this proof for another list.
        let not_in = Err(ReleaseProofError::NotInLog { log });
        assert_eq!(list().place_in_log(&proof(2, &key).to_text(), &trusted), not_in);
        let other = ReleaseList::new(vec![list().files()[0].clone()]).unwrap();
        assert_eq!(other.place_in_log(&text, &trusted), not_in);
        let stranger = SignerKey::from_seed("example.org/release-log", [5; 32]).unwrap();
        let unsigned = list().place_in_log(&proof(1, &stranger).to_text(), &trusted);
        assert!(matches!(unsigned, Err(ReleaseProofError::NotSigned(_))), "{unsigned:?}");
        let malformed = list().place_in_log(&text.replacen("index 1", "index 01", 1), &trusted);
        assert!(matches!(malformed, Err(ReleaseProofError::Malformed(_))), "{malformed:?}");
    }
}
