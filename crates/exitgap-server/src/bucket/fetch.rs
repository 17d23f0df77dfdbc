//! Downloads what the bucket has and a folder lacks, so that a store can be restored from it.

use exitgap_core::log_folder::{LogFile, PartRef};
use exitgap_core::tlog::{Checkpoint, MAX_NOTE_BYTES};
use exitgap_store::LogFolder;
use futures_util::{StreamExt, TryStreamExt, stream};

use super::error::BucketError;
use super::objects::Objects;

const AT_ONCE: usize = 8;

/// Downloads what the bucket has and the folder lacks, if the bucket's checkpoint covers more slots or the folder has
/// none; returns the number of files. The checkpoint is written last.
pub async fn fetch(
    objects: &Objects,
    folder: &LogFolder,
    progress: impl Fn(u64, u64),
) -> Result<u64, BucketError> {
    let newest = LogFile::Checkpoint;
    let Some(there) = objects.read_object(&newest, MAX_NOTE_BYTES as u64).await? else {
        return Ok(0);
    };
    let damaged =
        |why: String| BucketError::Damaged { path: objects.place().join("checkpoint"), why };
    let size_there = size_of(&there.bytes).map_err(damaged)?;
    if let Some(here) = folder.file(&newest, MAX_NOTE_BYTES as u64).map_err(BucketError::Own)? {
        let path = folder.path().join("checkpoint");
        let size_here = size_of(&here).map_err(|why| BucketError::Damaged { path, why })?;
        if size_here >= size_there {
            return Ok(0);
        }
    }
    let mut files: Vec<LogFile> = Vec::new();
    objects.list("", |name| files.extend(name.parse().ok())).await?;
    let mut absent = Vec::new();
    // Closed days have a checkpoint of their own.
    let of_log = |file: &LogFile| *file != newest && !matches!(file, LogFile::Days(_));
    for file in files.into_iter().filter(of_log) {
        // New keys and default bases may have been added since.
        let may_change = matches!(file, LogFile::VerifierKey | LogFile::DefaultBases);
        if may_change || !folder.has(&file).map_err(BucketError::Own)? {
            absent.push(file);
        }
    }
    let (of, mut done) = (absent.len() as u64, 0);
    let bring = absent.into_iter().map(|file| fetch_file(objects, folder, file));
    let mut brought = stream::iter(bring).buffer_unordered(AT_ONCE);
    while let Some(()) = brought.try_next().await? {
        done += 1;
        progress(done, of);
    }
    folder.put(&newest, &there.bytes).map_err(BucketError::Own)?;
    Ok(of + 1)
}

async fn fetch_file(
    objects: &Objects,
    folder: &LogFolder,
    file: LogFile,
) -> Result<(), BucketError> {
    let found = objects.read_object(&file, file.max_bytes()).await?;
    // The object was listed, but an outdated listing may name deleted objects.
    let Some(found) = found else { return Ok(()) };
    if let LogFile::Part(sha256) = file
        && PartRef::hash_of(&found.bytes) != sha256
    {
        let path = objects.place().join(file.to_string());
        return Err(BucketError::Damaged {
            path,
            why: "its hash does not match its name".to_owned(),
        });
    }
    folder.put(&file, &found.bytes).map_err(BucketError::Own)
}

/// How many slots a checkpoint covers.
pub fn size_of(note: &[u8]) -> Result<u64, String> {
    let note = core::str::from_utf8(note).map_err(|error| error.to_string())?;
    let (checkpoint, _) = Checkpoint::from_note(note).map_err(|error| error.to_string())?;
    Ok(checkpoint.size)
}
