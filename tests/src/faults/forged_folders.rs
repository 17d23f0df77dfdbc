//! Published logs: folders of which files are replaced, removed or sealed anew.

use std::collections::BTreeSet;
use std::path::Path;

use exitgap_core::evidence::Verdict;
use exitgap_core::tlog::{
    Checkpoint, MAX_KEY_FILE_BYTES, MAX_NOTE_BYTES, Note, VerifierKey, keys_from_lines,
};
use exitgap_store::{LogFolder, Reader, Store};
use serde_json::Value;

use super::Result;
use super::bit_flip::Victim;
use super::forged_change::{
    below, change_bytes, change_lines, change_structure, change_value, one,
};
use super::forged_kind::{Changed, Kind, Said};
use super::forged_sealed_folder::seal_again;
use super::forged_tree::{Copies, Tree, read_tree, replaced_by_heavy, with_replaced};
use super::memory_folder;
use crate::canonical::to_canonical_json;
use crate::devchain::Rng;
use crate::fuzz::log::{
    Against, FolderReader, SignedCheckpoint, WatchedPools, replay, unsigned_files,
};

/// The folder of one log.
pub struct Folders {
    copies: Copies,
    keys: Vec<VerifierKey>,
    /// The texts of all checkpoints that the log signed.
    signed: BTreeSet<String>,
}

impl Folders {
    /// A log with retractions, a retirement, documents and two keys.
    pub fn new() -> Result<Self> {
        let victim = Victim::new(false)?;
        let reader = Reader::open(victim.home.store())?;
        let log = reader.log()?.ok_or("the store has no log")?;
        let mut signed = BTreeSet::new();
        for size in 1..=reader.log_size()? {
            let note = reader.checkpoint(size)?.ok_or("a checkpoint is absent")?;
            signed.insert(Note::parse(&note)?.text.to_owned());
        }
        let copies = Copies::new(read_tree(&victim.home.log())?);
        let kind = Self { copies, keys: log.keys, signed };
        let said = kind.read(0, &kind.whole(0));
        if said.verdict == Verdict::Valid && kind.is_true(&said.stated) {
            Ok(kind)
        } else {
            Err(format!(
                "the log is {} before anything was changed: {}",
                said.compared, said.stated
            )
            .into())
        }
    }

    /// The files, and the keys that their reader trusts.
    pub fn log(&self) -> (&Tree, &[VerifierKey]) {
        (self.copies.tree(), &self.keys)
    }

    fn is_valid(&self, path: &Path) -> Option<SignedCheckpoint> {
        let folder = FolderReader::new(path);
        let note = folder.text("checkpoint", MAX_NOTE_BYTES).ok()?;
        let (checkpoint, _) = Checkpoint::from_note(&note).ok()?;
        let newest = SignedCheckpoint { note, checkpoint };
        let keys = &self.keys;
        let (folder, newest_of) = (&folder, &newest);
        let watched = WatchedPools::All;
        let against = Against { folder, newest: newest_of, keys, since: None, watched };
        let (counts, broken) = replay(&against, |_| {}, &mut |_| {});
        (broken.is_none() && counts.unsupported == 0 && self.names_its_keys(folder, newest_of))
            .then_some(newest)
    }

    /// Whether the keys in the folder are trusted, or signed with a trusted one.
    fn names_its_keys(&self, folder: &FolderReader, newest: &SignedCheckpoint) -> bool {
        let named = folder.text("verifier-key", MAX_KEY_FILE_BYTES).ok();
        let named = named.and_then(|text| keys_from_lines(text.as_bytes()).ok());
        let Some(named) = named.filter(|named| !named.is_empty()) else { return false };
        let origin = &newest.checkpoint.origin;
        named.iter().all(|key| {
            let signed = Note::parse(&newest.note)
                .is_ok_and(|note| note.signed_by(origin, std::slice::from_ref(key)).is_ok());
            self.keys.contains(key) || signed
        })
    }

    /// What a valid log states that the true one does not: a checkpoint, or a file that its checkpoint commits to.
    fn differing(&self, path: &Path, newest: &SignedCheckpoint, found: &Tree) -> Option<String> {
        let text = newest.checkpoint.to_text();
        if !self.signed.contains(&text) {
            return Some(format!("the checkpoint {text}"));
        }
        let unsigned = unsigned_files(&FolderReader::new(path), path, &newest.checkpoint).ok()?;
        found.iter().find_map(|(name, bytes)| {
            let is_same = self.copies.tree().get(name).map(|own| meaning(name, own));
            let is_unsigned = unsigned.names.contains(name);
            (!is_unsigned && is_same != Some(meaning(name, bytes)))
                .then(|| format!("the file {name}"))
        })
    }

    /// What a follower has of the log after it applied all that it accepts.
    fn followed(&self, path: &Path) -> Result<Vec<String>> {
        let note = std::fs::read_to_string(path.join("checkpoint"))?;
        let place = memory_folder()?;
        let folder = place.path().join("log");
        crate::folders::copy(path, &folder)?;
        let mut store = Store::open_follower(place.path().join("series.db"), &self.keys)?;
        // What was accepted before an error counts, too.
        let _ = LogFolder::new(folder).follow(&mut store, &note, &self.keys, u64::MAX);
        let reader = store.reader();
        let texts = (1..=reader.log_size()?).map(|size| {
            let note = reader.checkpoint(size)?.ok_or("a checkpoint is absent")?;
            Ok(Note::parse(&note)?.text.to_owned())
        });
        texts.collect()
    }

    /// Changes one file of the folder.
    fn change_file(&self, rng: &mut Rng) -> Changed {
        let tree = self.copies.tree();
        let names: Vec<&String> = tree.keys().collect();
        let name = *one(rng, &names);
        let kind = name.split('/').next().unwrap_or_default();
        let alike: Vec<&String> =
            names.iter().copied().filter(|other| other.starts_with(kind)).collect();
        let (file, other) = (&tree[name], &tree[*one(rng, &alike)]);
        let (bytes, what) = match rng.below(6) {
            0 => (other.clone(), "replaced by another".to_owned()),
            1 => change_lines(rng, file, other),
            2 => change_line_of_json(rng, file, other),
            3 => {
                let files = vec![(name.clone(), None)];
                return Changed { files, ..Changed::new(0, Vec::new(), format!("{name} removed")) };
            }
            _ => change_bytes(rng, file, other),
        };
        let files = vec![(name.clone(), Some(bytes.clone()))];
        Changed { files, ..Changed::new(0, bytes, format!("{name}: {what}")) }
    }
}

/// Changes a value or the structure of a line that is JSON.
fn change_line_of_json(rng: &mut Rng, file: &[u8], other: &[u8]) -> (Vec<u8>, String) {
    let mut lines: Vec<Vec<u8>> =
        file.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    let at = below(rng, lines.len());
    let line = lines.get(at).cloned().unwrap_or_default();
    let Ok(mut value) = serde_json::from_slice::<Value>(&line) else {
        return change_bytes(rng, file, other);
    };
    let changed = if rng.once_in(3) {
        change_structure(rng, &line)
    } else {
        let what = change_value(rng, &mut value, None);
        to_canonical_json(&value).map(|bytes| (bytes, what))
    };
    let Some((mut bytes, what)) = changed else { return change_bytes(rng, file, other) };
    bytes.push(b'\n');
    lines[at] = bytes;
    (lines.concat(), what)
}

/// What a file states: unpacked, and without signatures of keys that do not count.
fn meaning(name: &str, bytes: &[u8]) -> Vec<u8> {
    if name == "checkpoint" {
        let note = String::from_utf8_lossy(bytes).into_owned();
        return Note::parse(&note).map_or(bytes.to_vec(), |note| note.text.as_bytes().to_vec());
    }
    if name.starts_with("slots/") {
        let lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
        let (rest, last) = lines.split_at(lines.len().saturating_sub(2));
        let last: Value =
            last.first().and_then(|line| serde_json::from_slice(line).ok()).unwrap_or_default();
        let note = last["checkpoint"].as_str().unwrap_or_default();
        return [&rest.concat(), meaning("checkpoint", note.as_bytes()).as_slice()].concat();
    }
    if name.starts_with("fills/") || name.starts_with("issued/") {
        return zstd::decode_all(bytes).unwrap_or_else(|_| bytes.to_vec());
    }
    if name == "verifier-key" {
        // Every key in it was found to be the log's.
        return Vec::new();
    }
    bytes.to_vec()
}

impl Kind for Folders {
    fn name(&self) -> &'static str {
        "folder"
    }

    fn seeds(&self) -> usize {
        1
    }

    fn whole(&self, seed: usize) -> Changed {
        Changed::new(seed, Vec::new(), "the log as it is")
    }

    fn change(&self, _seed: usize, rng: &mut Rng) -> Changed {
        let tree = self.copies.tree();
        loop {
            let sealed = if rng.once_in(2) { seal_again(tree, rng) } else { None };
            let changed = sealed.unwrap_or_else(|| self.change_file(rng));
            if with_replaced(tree, &changed.files) != *tree {
                return changed;
            }
        }
    }

    fn heavy(&self) -> Vec<Changed> {
        let tree = self.copies.tree();
        let mut changed = Vec::new();
        for start in ["checkpoint", "verifier-key", "slots/", "parts/", "fills/", "tile/entries"] {
            let Some(name) = tree.keys().find(|name| name.starts_with(start)) else { continue };
            changed.extend(replaced_by_heavy(0, name, &tree[name]));
        }
        changed
    }

    fn readers(&self) -> &'static [&'static str] {
        &["command's functions", "replica"]
    }

    fn read(&self, reader: usize, changed: &Changed) -> Said {
        let found = with_replaced(self.copies.tree(), &changed.files);
        let read = self.copies.with(&changed.files, |path| {
            if reader == 1 {
                // A replica takes the slots before a fault, and does not read all that an audit does.
                let texts = self.followed(path).unwrap_or_default();
                let false_text = texts.into_iter().find(|text| !self.signed.contains(text));
                let said = Said::valid(
                    false_text.map_or(String::new(), |text| format!("followed {text}")),
                );
                return Said { compared: String::new(), ..said };
            }
            match self.is_valid(path) {
                Some(newest) => {
                    Said::valid(self.differing(path, &newest, &found).unwrap_or_default())
                }
                None => Said::not_valid(Verdict::Invalid),
            }
        });
        read.unwrap_or_else(|_| Said::not_valid(Verdict::Invalid))
    }

    fn is_true(&self, stated: &str) -> bool {
        stated.is_empty()
    }

    fn size(&self, changed: &Changed) -> usize {
        with_replaced(self.copies.tree(), &changed.files).values().map(Vec::len).sum()
    }

    fn command(&self, changed: &Changed, folder: &Path) -> Option<std::io::Result<Vec<String>>> {
        let place = folder.join("log");
        let written = std::fs::remove_dir_all(&place).or(Ok(())).and_then(|()| {
            let tree = with_replaced(self.copies.tree(), &changed.files);
            super::forged_tree::write_tree(&place, &tree)
        });
        Some(written.map(|()| {
            let mut arguments =
                vec!["audit".to_owned(), place.display().to_string(), "--json".to_owned()];
            for key in &self.keys {
                arguments.extend(["--trust".to_owned(), key.to_string()]);
            }
            arguments
        }))
    }
}
