//! Snapshot files as a source.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use exitgap_api::{Direct, Provenance};
use exitgap_core::ids::PoolId;
use exitgap_core::snapshot::{MAX_SNAPSHOT_FILE_BYTES, SnapshotFile};

use super::{FoundPool, unreadable};
use crate::failure::Failure;

/// Reads the snapshot in `path` (`-` is stdin); it must be of `pool` if one is given.
pub fn find(path: &Path, pool: Option<&PoolId>) -> Result<FoundPool, Failure> {
    let name = path.display();
    let bytes = read_limited(path, MAX_SNAPSHOT_FILE_BYTES)
        .map_err(|error| unreadable(format!("reading snapshot {name}: {error}")))?;
    let wrong = |error: &dyn std::fmt::Display| {
        unreadable(format!("{name}: {error}"))
            .hint("write a snapshot with `exitgap snapshot <pool> --db FILE > FILE`")
    };
    let file = SnapshotFile::from_json(&bytes).map_err(|error| wrong(&error))?;
    let snapshot = file.open().map_err(|error| wrong(&error))?;
    let documents = file.documents;
    let found = snapshot.observation().pool();
    if let Some(expected) = pool.filter(|pool| *pool != found) {
        return Err(
            unreadable(format!("{name} is a snapshot of {found}, not of {expected}")).into()
        );
    }
    Ok(FoundPool {
        observation: snapshot.observation().clone(),
        provenance: Provenance::Direct(Direct::SnapshotFile(snapshot.slot(), documents.hash())),
        default_base: None,
        lowest_depth_7d_usd: [None, None],
        weeks: Default::default(),
        published: None,
        documents: Some(documents),
    })
}

/// Reads `path` (`-` is stdin), at most one byte more than `most`, which is enough to detect that it is too large.
pub fn read_limited(path: &Path, most: usize) -> io::Result<Vec<u8>> {
    let input: Box<dyn Read> = if path == Path::new("-") {
        Box::new(io::stdin().lock())
    } else {
        Box::new(File::open(path)?)
    };
    let mut bytes = Vec::new();
    input.take(most as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
