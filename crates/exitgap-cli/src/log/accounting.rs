//! Which files of a log's folder nothing signed commits to. A replay reads the files that it needs; others could be there and
//! be taken for part of the log.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use exitgap_api::UnsignedFiles;
use exitgap_core::ids::DocumentHash;
use exitgap_core::log_folder::{Folder, LogFile};
use exitgap_core::series::Slot;
use exitgap_core::tlog::{Checkpoint, TILE_WIDTH, Tile, TileKind};

use super::fault::Rule;
use super::folder::FolderReader;

/// Files that are listed by name.
const LISTED: usize = 100;

/// How many folders are inside each other at most: a link may lead back.
const MOST_FOLDERS: u32 = 16;

/// Files that a copier keeps for itself in the folder of a copy.
const OF_COPIER: [&str; 2] = [".copy-lock", ".copy-aside"];

/// The files of a folder that neither its log commits to nor carry proofs or signatures of their own. All slots up to this
/// checkpoint were replayed, so that what their heads commit to is known to be there.
pub fn unsigned_files(
    folder: &FolderReader,
    path: &Path,
    checkpoint: &Checkpoint,
) -> Result<UnsignedFiles, Rule> {
    let mut files = Vec::new();
    list_files(path, "", MOST_FOLDERS, &mut files)?;
    let first = u64::from(checkpoint.origin.first_slot().number());
    let numbers = first..first.saturating_add(checkpoint.size);
    let mut parts = BTreeSet::<DocumentHash>::new();
    for slot in numbers.clone().map_while(|number| Slot::new(number).ok()) {
        parts.extend(folder.manifest(slot)?.parts.iter().map(|part| part.sha256));
    }
    let is_of_log = |slot: &Slot| numbers.contains(&u64::from(slot.number()));
    let mut found = UnsignedFiles::default();
    for file in files {
        let is_signed = match file.parse::<LogFile>() {
            // A file of documents to which no head of its slot commits is a fault, found before.
            Ok(LogFile::Slot(slot) | LogFile::Fills(slot) | LogFile::Issued(slot)) => {
                is_of_log(&slot)
            }
            Ok(LogFile::Part(hash)) => parts.contains(&hash),
            Ok(LogFile::Tile(tile)) => is_signed_tile(folder, &tile, checkpoint.size)?,
            // The signatures of the first two, and the document that the first leaf commits to, were checked.
            Ok(LogFile::Checkpoint | LogFile::VerifierKey | LogFile::Predecessor) => true,
            // Each is checked by what it has itself: the proofs here, the others by commands of their own.
            Ok(
                LogFile::Proof(_)
                | LogFile::Anchors(..)
                | LogFile::PeerSlot(..)
                | LogFile::PeerCheckpoint(_)
                | LogFile::Days(_),
            ) => {
                found.checked_elsewhere += u64::from(!file.starts_with("proofs/"));
                true
            }
            Ok(LogFile::SupersededBy | LogFile::DefaultBases) | Err(_) => false,
        };
        if !is_signed {
            found.count += 1;
            if found.names.len() < LISTED {
                found.names.push(file);
            }
        }
    }
    Ok(found)
}

/// Whether a log of this size has a tile, or had it when it was smaller and it begins the present one. The replay compared
/// the present ones with what is signed.
fn is_signed_tile(folder: &FolderReader, tile: &Tile, size: u64) -> Result<bool, Rule> {
    let level = match tile.kind() {
        TileKind::Entries => 0,
        TileKind::Level(level) => level,
    };
    let (places, in_log) =
        (tile.places(), size / TILE_WIDTH.checked_pow(level).unwrap_or(u64::MAX));
    if places.end > in_log {
        return Ok(false);
    }
    if tile.is_full() {
        return Ok(true);
    }
    folder.begins_present(tile, (in_log - places.start).min(TILE_WIDTH))
}

/// The paths of all files below a folder, in order, relative to it.
fn list_files(
    folder: &Path,
    below: &str,
    folders: u32,
    files: &mut Vec<String>,
) -> Result<(), Rule> {
    let failed = |error| Rule::FileUnreadable { file: below.to_owned(), error };
    let mut entries: Vec<_> = fs::read_dir(folder).and_then(Iterator::collect).map_err(failed)?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let name = entry.file_name().to_string_lossy().into_owned();
        if below.is_empty() && OF_COPIER.contains(&name.as_str()) {
            continue;
        }
        let path = if below.is_empty() { name } else { format!("{below}/{name}") };
        match folders.checked_sub(1) {
            Some(folders) if entry.path().is_dir() => {
                list_files(&entry.path(), &path, folders, files)?;
            }
            _ => files.push(path),
        }
    }
    Ok(())
}
