//! Files in the log's folder that the log does not commit to: state proofs, anchors, findings about peers, and the
//! notice that the log has ended.

use std::collections::HashSet;
use std::fs::{self, DirEntry};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use exitgap_core::log_folder::{LogFile, MAX_PART_BYTES};
use exitgap_store::{LogFolder, PublishError};
use futures_util::{StreamExt, TryStreamExt, stream};

use super::error::BucketError;
use super::objects::Objects;

/// The folders of these files: each has one folder per contract, chain or peer, which contains the files.
const FOLDERS: [&str; 3] = ["proofs", "anchors", "peers"];

/// Interval between full comparisons with the bucket. In between, only newly written files are uploaded.
const WHOLE_EVERY: Duration = Duration::from_hours(24);

/// A file may have been started this long before it was moved to its place.
const SLACK: Duration = Duration::from_mins(10);

const AT_ONCE: usize = 8;

/// Maximum length of a text that names a successor, or of a peer's checkpoint.
const MAX_TEXT_BYTES: u64 = 1 << 20;

/// How far these files have been uploaded to the bucket.
#[derive(Debug, Default)]
pub struct Beside {
    /// When the last upload ran, by the clock that sets file times.
    brought: Option<SystemTime>,
    /// When the last full comparison ran.
    whole: Option<Instant>,
}

impl Beside {
    /// Uploads new files, and returns their number. After a failure all files that were not uploaded count as new
    /// again.
    pub async fn upload_new_files(
        &mut self,
        objects: &Objects,
        folder: &LogFolder,
    ) -> Result<u64, BucketError> {
        let (now, begun) = (SystemTime::now(), Instant::now());
        let is_whole = self.whole.is_none_or(|whole| whole.elapsed() >= WHOLE_EVERY);
        let since = self.brought.filter(|_| !is_whole).and_then(|at| at.checked_sub(SLACK));
        let mut files = 0;
        if let Some(successor) =
            folder.file(&LogFile::SupersededBy, MAX_TEXT_BYTES).map_err(BucketError::Own)?
        {
            objects.create(&LogFile::SupersededBy, successor.into()).await?;
        }
        for name in FOLDERS {
            for (group, _) in entries(&folder.path().join(name))? {
                let group = format!("{name}/{group}");
                files += bring_group(objects, folder, &group, since).await?;
            }
        }
        self.brought = Some(now);
        if is_whole {
            self.whole = Some(begun);
        }
        Ok(files)
    }
}

/// Uploads the files of one folder that are newer than `since`, or that the bucket does not have.
async fn bring_group(
    objects: &Objects,
    folder: &LogFolder,
    group: &str,
    since: Option<SystemTime>,
) -> Result<u64, BucketError> {
    let mut there = HashSet::new();
    if since.is_none() {
        let tell = |name: &str| {
            there.insert(name.to_owned());
        };
        objects.list(group, tell).await?;
    }
    let mut files: Vec<LogFile> = Vec::new();
    for (name, entry) in entries(&folder.path().join(group))? {
        let path = format!("{group}/{name}");
        // Temporary files do not have such a name.
        let Ok(file) = path.parse::<LogFile>() else { continue };
        let is_new = match since {
            Some(since) => written(&entry)?.is_some_and(|at| at >= since),
            None => !there.contains(&path) || matches!(file, LogFile::PeerCheckpoint(_)),
        };
        if is_new {
            files.push(file);
        }
    }
    let count = files.len() as u64;
    let bring = files.into_iter().map(|file| bring_file(objects, folder, file));
    stream::iter(bring).buffer_unordered(AT_ONCE).try_collect::<()>().await?;
    Ok(count)
}

async fn bring_file(
    objects: &Objects,
    folder: &LogFolder,
    file: LogFile,
) -> Result<(), BucketError> {
    // The file was just listed; if it is gone now, skip it.
    let Some(bytes) = folder.file(&file, MAX_PART_BYTES).map_err(BucketError::Own)? else {
        return Ok(());
    };
    if matches!(file, LogFile::PeerCheckpoint(_)) {
        let seen = objects.read_object(&file, MAX_TEXT_BYTES).await?;
        return objects.replace(&file, seen.as_ref(), bytes.into()).await;
    }
    objects.create(&file, bytes.into()).await
}

/// The entries of a folder by name; empty if the folder does not exist.
fn entries(path: &Path) -> Result<Vec<(String, DirEntry)>, BucketError> {
    let failed = |source| own(path.to_owned(), source);
    let entries = match fs::read_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(failed)?,
    };
    let named = |entry: io::Result<DirEntry>| {
        let entry = entry.map_err(failed)?;
        Ok(entry.file_name().into_string().ok().map(|name| (name, entry)))
    };
    entries.filter_map(|entry| named(entry).transpose()).collect()
}

/// When a file was last written; `None` if it is gone.
fn written(entry: &DirEntry) -> Result<Option<SystemTime>, BucketError> {
    match entry.metadata().and_then(|facts| facts.modified()) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        at => at.map(Some).map_err(|source| own(entry.path(), source)),
    }
}

fn own(path: PathBuf, source: io::Error) -> BucketError {
    BucketError::Own(PublishError::File { path, source })
}
