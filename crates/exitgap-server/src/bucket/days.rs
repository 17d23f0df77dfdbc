//! Uploads closed days to the bucket: first a day's files, then its manifest, and finally the log of days.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use bytes::Bytes;
use exitgap_core::log_folder::LogFile;
use exitgap_core::log_folder::days::{
    DayFile, DayLeaf, DayManifest, DaysFile, DaysHistory, FileRef,
};
use exitgap_core::tlog::{Frontier, MAX_KEY_FILE_BYTES, MAX_NOTE_BYTES, Tile};
use exitgap_store::LogFolder;
use exitgap_store::days::{DaysError, PublishedDays};

use super::error::BucketError;
use super::fetch::size_of;
use super::objects::{Objects, StoredObject};

const MAX_TEXT_BYTES: u64 = MAX_NOTE_BYTES as u64;

/// What was uploaded.
pub struct Brought {
    /// Number of files.
    pub files: u64,
    /// Whether there is more to upload.
    pub is_behind: bool,
}

/// Uploads the days that the bucket does not have, within a time limit. Safe to call again after any failure: uploaded
/// files stay, and the checkpoint of the log of days is uploaded only after everything that it commits to.
pub async fn upload_days(
    objects: &Objects,
    folder: &LogFolder,
    within: Duration,
) -> Result<Brought, BucketError> {
    let began = Instant::now();
    let nothing = Brought { files: 0, is_behind: false };
    let Some(days) = PublishedDays::from_folder(folder).map_err(own)? else { return Ok(nothing) };
    let newest = LogFile::Days(DaysFile::Checkpoint);
    let there = objects.read_object(&newest, MAX_TEXT_BYTES).await?;
    if there.as_ref().is_some_and(|there| there.bytes == days.note.as_bytes()) {
        return Ok(nothing);
    }
    let before = held(objects, &days.history, there.as_ref())?;
    let size = days.history.checkpoint.size;
    let mut brought = Brought { files: 0, is_behind: true };
    for leaf in days.history.leaves.iter().skip(usize::try_from(before).unwrap_or(usize::MAX)) {
        let manifest: DayManifest = days.manifest(leaf).map_err(own)?;
        let mut here = HashSet::new();
        let of_day = format!("{}/{}", DaysFile::FOLDER, leaf.day);
        let tell = |name: &str| {
            here.insert(name.to_owned());
        };
        objects.list(&of_day, tell).await?;
        let files = manifest.files.iter().map(|file| file.file).chain([DayFile::Manifest]);
        for file in files.map(|file| LogFile::Days(DaysFile::Day(leaf.day, file))) {
            // Uploaded in a round that was interrupted.
            if here.contains(&file.to_string()) {
                continue;
            }
            create(objects, folder, file).await?;
            brought.files += 1;
            if began.elapsed() >= within {
                return Ok(brought);
            }
        }
    }
    for tile in Tile::grown(before, size) {
        create(objects, folder, LogFile::Days(DaysFile::Tile(tile))).await?;
    }
    let keys = LogFile::Days(DaysFile::VerifierKey);
    let seen = objects.read_object(&keys, MAX_KEY_FILE_BYTES as u64).await?;
    objects.replace(&keys, seen.as_ref(), read_required(folder, &keys)?).await?;
    objects.replace(&newest, there.as_ref(), days.note.into()).await?;
    for tile in Tile::full_tiles(before, size) {
        let full = format!("{}/{}", DaysFile::FOLDER, tile.path_when_full());
        objects.remove_below(&format!("{full}.p")).await?;
    }
    Ok(Brought { is_behind: false, ..brought })
}

/// Requires that the bucket has every file of a day, by reading each back.
pub async fn check(objects: &Objects, day: &DayManifest) -> Result<(), BucketError> {
    let manifest = day.to_canonical().map_err(|error| own(error.into()))?;
    let whole = (DayFile::Manifest, DayManifest::hash_of(&manifest));
    for (file, hash) in day.files.iter().map(|file| (file.file, file.sha256)).chain([whole]) {
        let file = LogFile::Days(DaysFile::Day(day.day, file));
        let object = || objects.name(&file);
        let found = objects.read_object(&file, file.max_bytes()).await?;
        let found = found.ok_or_else(|| BucketError::Lacks { object: object() })?;
        if FileRef::hash_of(&found.bytes) != hash {
            return Err(BucketError::Differs { object: object() });
        }
    }
    Ok(())
}

/// The number of days in the bucket, signed by any key.
pub async fn count(objects: &Objects) -> Result<u64, BucketError> {
    let newest = LogFile::Days(DaysFile::Checkpoint);
    let there = objects.read_object(&newest, MAX_TEXT_BYTES).await?;
    let size = there.map(|there| size_of(&there.bytes)).transpose();
    Ok(size.map_err(|_| BucketError::Differs { object: objects.name(&newest) })?.unwrap_or(0))
}

/// Downloads the days that the bucket has and the folder does not, if the bucket has more; returns the number of files.
/// The checkpoint of the log of days is written last.
pub async fn fetch(objects: &Objects, folder: &LogFolder) -> Result<u64, BucketError> {
    let newest = LogFile::Days(DaysFile::Checkpoint);
    let Some(there) = objects.read_object(&newest, MAX_TEXT_BYTES).await? else { return Ok(0) };
    let damaged =
        |why: String| BucketError::Damaged { path: objects.place().join(newest.to_string()), why };
    let size = size_of(&there.bytes).map_err(damaged)?;
    let here = folder.file(&newest, MAX_TEXT_BYTES).map_err(BucketError::Own)?;
    if here.is_some_and(|here| size_of(&here).is_ok_and(|here| here >= size)) {
        return Ok(0);
    }
    let mut files: Vec<LogFile> = Vec::new();
    objects.list(DaysFile::FOLDER, |name| files.extend(name.parse().ok())).await?;
    let mut count = 0;
    for file in files.into_iter().filter(|file| *file != newest) {
        let may_change = file == LogFile::Days(DaysFile::VerifierKey);
        if !may_change && folder.has(&file).map_err(BucketError::Own)? {
            continue;
        }
        // The object was listed, but an outdated listing may name deleted objects.
        if let Some(found) = objects.read_object(&file, file.max_bytes()).await? {
            folder.put(&file, &found.bytes).map_err(BucketError::Own)?;
            count += 1;
        }
    }
    folder.put(&newest, &there.bytes).map_err(BucketError::Own)?;
    Ok(count + 1)
}

/// How many days the bucket has; an error if they are not the first days of the folder.
fn held(
    objects: &Objects,
    history: &DaysHistory,
    there: Option<&StoredObject>,
) -> Result<u64, BucketError> {
    let Some(there) = there else { return Ok(0) };
    let object = || objects.name(&LogFile::Days(DaysFile::Checkpoint));
    let size = size_of(&there.bytes).map_err(|_| BucketError::Differs { object: object() })?;
    let mut tree = Frontier::default();
    let leaves = usize::try_from(size).ok().and_then(|size| history.leaves.get(..size));
    for leaf in leaves.ok_or_else(|| BucketError::Differs { object: object() })? {
        let leaf = leaf.to_canonical().map_err(|_| BucketError::Differs { object: object() })?;
        tree.push(DayLeaf::leaf_of(&leaf));
    }
    let said = String::from_utf8_lossy(&there.bytes);
    let root = tree.root().to_string();
    if said.lines().nth(2) == Some(root.as_str()) {
        Ok(size)
    } else {
        Err(BucketError::Differs { object: object() })
    }
}

async fn create(objects: &Objects, folder: &LogFolder, file: LogFile) -> Result<(), BucketError> {
    objects.create(&file, read_required(folder, &file)?).await
}

fn read_required(folder: &LogFolder, file: &LogFile) -> Result<Bytes, BucketError> {
    let bytes = folder.file(file, file.max_bytes()).map_err(BucketError::Own)?;
    let path = || folder.path().join(file.to_string());
    bytes.map(Bytes::from).ok_or_else(|| BucketError::Absent { path: path() })
}

fn own(error: DaysError) -> BucketError {
    BucketError::Days(Box::new(error))
}
