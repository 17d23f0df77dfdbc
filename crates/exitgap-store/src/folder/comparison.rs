//! Compares a published log, in a folder or elsewhere, with the store that is to continue it.

use std::path::{Path, PathBuf};

use exitgap_core::tlog::Checkpoint;

use super::PublishError;
use crate::log::LogIdentity;
use crate::reader::Reader;

/// Requires that a store may continue a log that is also published elsewhere, with these keys and this checkpoint.
/// Returns the number of slots that the checkpoint covers.
pub fn check_published(
    place: &Path,
    keys: Option<&str>,
    note: Option<&str>,
    reader: &Reader,
) -> Result<u64, PublishError> {
    let log = reader.log()?;
    if let (Some(keys), Some(log)) = (keys, &log) {
        keys_named_in(place.join("verifier-key"), keys, log)?;
    }
    note.map_or(Ok(0), |note| published_in(place, note, reader, log.as_ref()))
}

/// The number of slots that a checkpoint covers. It must belong to the store's log.
pub fn published_in(
    place: &Path,
    note: &str,
    reader: &Reader,
    log: Option<&LogIdentity>,
) -> Result<u64, PublishError> {
    let path = place.join("checkpoint");
    let (checkpoint, note) = Checkpoint::from_note(note)
        .map_err(|error| PublishError::Checkpoint { path: path.clone(), error })?;
    let (size, found) = (checkpoint.size, reader.log_size()?);
    let path_of_log = || place.to_owned();
    let older = || PublishError::StoreOlder { path: path_of_log(), published: size, found };
    let Some(log) = log else { return Err(older()) };
    if note.signed_by(&log.origin, &log.keys).is_err() || checkpoint.origin != log.origin {
        let (expected, found) = (log.named_keys(), checkpoint.origin.to_string());
        return Err(PublishError::OtherLog { path, expected, found });
    }
    if size > found {
        return Err(older());
    }
    let found = reader.nodes().root(size)?;
    if checkpoint.root != found {
        let (path, published) = (path_of_log(), checkpoint.root);
        return Err(PublishError::Rewritten { path, size, published, found });
    }
    Ok(size)
}

/// Requires that the store knows the keys that are listed where its log is published.
pub fn keys_named_in(path: PathBuf, found: &str, log: &LogIdentity) -> Result<(), PublishError> {
    let known = log.key_lines();
    if found.ends_with('\n') && known.starts_with(found) {
        return Ok(());
    }
    if found.starts_with(&known) {
        return Err(PublishError::KeyNotKnown { path });
    }
    let expected = log.named_keys();
    let found = found.trim_end().chars().take(200).collect();
    Err(PublishError::OtherLog { path, expected, found })
}
