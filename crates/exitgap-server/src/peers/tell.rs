//! Publishes the findings about a peer in this log's folder: differences, once; its newest checkpoint; and this
//! operator's cosignature as an observer if everything compared agreed.

use std::fs::{self, File};
use std::io::Read;

use exitgap_api::{PeerDifference, PeerSlot};
use exitgap_core::ids::DocumentHash;
use exitgap_core::log_folder::LogFile;
use exitgap_core::series::Slot;
use exitgap_core::tlog::{Cosigner, Note, Origin};
use exitgap_store::LogFolder;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::Trouble;
use super::slot::Seen;

/// Maximum number of differences in a file.
const LISTED: usize = 100;

/// Maximum size for reading back a file of differences: a hundred, and two checkpoints.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// The folder about one peer's log in this log's folder.
pub struct PeerFolder<'a> {
    folder: &'a LogFolder,
    peer: DocumentHash,
}

impl<'a> PeerFolder<'a> {
    /// The folder for the log of this origin.
    pub fn for_origin(folder: &'a LogFolder, origin: &Origin) -> Self {
        let peer = DocumentHash(Sha256::digest(origin.to_string()).into());
        Self { folder, peer }
    }

    /// Publishes a slot's differences. An existing file is not changed.
    pub fn differences(
        &self,
        slot: Slot,
        seen: &Seen,
        contradicts: Option<String>,
        (compared, differences): (u64, Vec<PeerDifference>),
    ) -> Result<(), Trouble> {
        let document = PeerSlot {
            v: 1,
            origin: seen.checkpoint.origin.to_string(),
            slot: u64::from(slot.number()),
            slot_time: slot.to_string(),
            checkpoint: seen.note.clone(),
            contradicts,
            compared,
            differing: differences.len() as u64,
            differences: differences.into_iter().take(LISTED).collect(),
        };
        let mut bytes = serde_json::to_vec(&document).map_err(Trouble::own)?;
        bytes.push(b'\n');
        let file = LogFile::PeerSlot(self.peer, slot);
        self.folder.publish_beside(&file, &bytes).map_err(Trouble::own)
    }

    /// Publishes the newest compared checkpoint, with the observer's signature if there is one.
    pub fn checkpoint(
        &self,
        seen: &Seen,
        observed: Option<(&Cosigner, u64)>,
    ) -> Result<(), Trouble> {
        let mut note = seen.note.clone();
        if let Some((observer, now_s)) = observed {
            let text = Note::parse(&seen.note).map_err(Trouble::own)?.text;
            note.push_str(&observer.cosign(text, now_s));
        }
        self.folder.publish_peer(self.peer, &note).map_err(Trouble::own)
    }

    /// The checkpoint that was published last.
    pub fn newest(&self) -> Result<Option<String>, Trouble> {
        self.folder.peer(self.peer).map_err(Trouble::own)
    }

    /// Whether a published file shows that this log contradicts the records here. Different blocks do not count: until
    /// they are final, retractions decide.
    pub fn has_contradicted(&self) -> bool {
        let of_slot = LogFile::PeerSlot(self.peer, Slot::FIRST).to_string();
        let path = self.folder.path().join(of_slot);
        let files = path.parent().map(fs::read_dir).into_iter().flatten().flatten().flatten();
        let is_document =
            |path: &std::path::PathBuf| path.extension().is_some_and(|end| end == "json");
        let read = |path: std::path::PathBuf| {
            let mut bytes = Vec::new();
            File::open(&path).ok()?.take(MAX_FILE_BYTES).read_to_end(&mut bytes).ok()?;
            serde_json::from_slice::<Value>(&bytes).ok()
        };
        // A file that can no longer be read may have contained one.
        files
            .map(|file| file.path())
            .filter(is_document)
            .any(|path| read(path).is_none_or(|told| contradicts(&told)))
    }
}

/// Whether a file of differences contains a contradiction.
fn contradicts(told: &Value) -> bool {
    let differences = told["differences"].as_array();
    told.get("contradicts").is_some()
        || differences.is_none_or(|all| all.iter().any(|one| one["code"] != "other_block"))
}
