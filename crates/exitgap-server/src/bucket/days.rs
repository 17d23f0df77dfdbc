//! Closed days, brought into the bucket: a day's files, its manifest after them, the log of days last.

use bytes::Bytes;
use exitgap_core::published::LogFile;
use exitgap_core::published::days::{DayFile, DayManifest, DaysFile, DaysHistory};
use exitgap_core::tlog::{Frontier, MAX_KEY_FILE_BYTES, MAX_NOTE_BYTES, Tile};
use exitgap_store::LogFolder;
use exitgap_store::days::{DaysError, PublishedDays};

use super::error::BucketError;
use super::fetch::size_of;
use super::objects::{Found, Objects};

const MAX_TEXT_BYTES: u64 = MAX_NOTE_BYTES as u64;

/// Brings the days that the bucket does not have; how many files that was. Safe to call again after any failure.
pub async fn bring(objects: &Objects, folder: &LogFolder) -> Result<u64, BucketError> {
    let Some(days) = PublishedDays::read(folder).map_err(own)? else { return Ok(0) };
    let newest = LogFile::Days(DaysFile::Checkpoint);
    let there = objects.read(&newest, MAX_TEXT_BYTES).await?;
    if there.as_ref().is_some_and(|there| there.bytes == days.note.as_bytes()) {
        return Ok(0);
    }
    let before = held(objects, &days.history, there.as_ref())?;
    let size = days.history.checkpoint.size;
    let mut files = 0;
    for leaf in days.history.leaves.iter().skip(usize::try_from(before).unwrap_or(usize::MAX)) {
        let manifest: DayManifest = days.manifest(leaf).map_err(own)?;
        let of_day = manifest.files.iter().map(|file| file.file).chain([DayFile::Manifest]);
        for file in of_day {
            create(objects, folder, LogFile::Days(DaysFile::Day(leaf.day, file))).await?;
            files += 1;
        }
    }
    for tile in Tile::grown(before, size) {
        create(objects, folder, LogFile::Days(DaysFile::Tile(tile))).await?;
    }
    let keys = LogFile::Days(DaysFile::VerifierKey);
    let seen = objects.read(&keys, MAX_KEY_FILE_BYTES as u64).await?;
    objects.replace(&keys, seen.as_ref(), needed(folder, &keys)?).await?;
    objects.replace(&newest, there.as_ref(), days.note.into()).await?;
    for tile in Tile::filled(before, size) {
        let full = LogFile::Days(DaysFile::Tile(tile)).to_string();
        objects.remove_below(&format!("{full}.p")).await?;
    }
    Ok(files)
}

/// How many days the bucket has; refused where they are not the first of the folder's.
fn held(
    objects: &Objects,
    history: &DaysHistory,
    there: Option<&Found>,
) -> Result<u64, BucketError> {
    let Some(there) = there else { return Ok(0) };
    let object = || objects.name(&LogFile::Days(DaysFile::Checkpoint));
    let size = size_of(&there.bytes).map_err(|_| BucketError::Differs { object: object() })?;
    let mut tree = Frontier::default();
    let leaves = usize::try_from(size).ok().and_then(|size| history.leaves.get(..size));
    for leaf in leaves.ok_or_else(|| BucketError::Differs { object: object() })? {
        let leaf = leaf.to_canonical().map_err(|_| BucketError::Differs { object: object() })?;
        tree.push(exitgap_core::published::days::DayLeaf::leaf_of(&leaf));
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
    objects.create(&file, needed(folder, &file)?).await
}

fn needed(folder: &LogFolder, file: &LogFile) -> Result<Bytes, BucketError> {
    let bytes = folder.file(file, file.max_bytes()).map_err(BucketError::Own)?;
    let path = || folder.path().join(file.to_string());
    bytes.map(Bytes::from).ok_or_else(|| BucketError::Absent { path: path() })
}

fn own(error: DaysError) -> BucketError {
    BucketError::Days(Box::new(error))
}
