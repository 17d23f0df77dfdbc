//! A slot's files, and tiles: fetched where they are not there, checked, put in their places.

use exitgap_core::evidence::MAX_LEAF_BYTES;
use exitgap_core::log_folder::{LogFile, MAX_MANIFEST_BYTES, MAX_PART_BYTES, Manifest, PartRef};
use exitgap_core::series::Slot;
use exitgap_core::tlog::{Hash, TILE_WIDTH, Tile, TileKind, split_entries};

use super::Log;
use super::error::CopyError;

/// The most bytes of a file of what a slot's heads commit to: a service serves no larger one.
const MAX_COMMITTED_FILE_BYTES: u64 = MAX_PART_BYTES;

impl Log {
    /// A slot: its parts, what its heads commit to, and then its manifest. So where a manifest is, documents that are
    /// not there are none, and are not asked for again.
    pub(super) async fn slot(&self, slot: Slot) -> Result<(), CopyError> {
        let file = LogFile::Slot(slot);
        let url = || self.fetcher.url(&file);
        if let Some(here) = self.place.read_file(&file, MAX_MANIFEST_BYTES)? {
            let manifest = Manifest::from_bytes(&here).map_err(|error| {
                let path = self.place.path_of(&file);
                CopyError::Damaged { path, why: error.to_string() }
            })?;
            return self.parts(&manifest).await;
        }
        let there = self.fetcher.require_bytes(&file, MAX_MANIFEST_BYTES).await?;
        let manifest = Manifest::from_bytes(&there).map_err(|error| match error.newer() {
            Some(newer) => CopyError::Newer { url: url(), newer },
            None => CopyError::Invalid { url: url(), why: error.to_string() },
        })?;
        self.parts(&manifest).await?;
        for committed in [LogFile::Fills(slot), LogFile::Issued(slot)] {
            self.fetch_committed(committed).await?;
        }
        self.place.put(&file, &there)
    }

    /// The parts that a manifest names.
    async fn parts(&self, manifest: &Manifest) -> Result<(), CopyError> {
        for part in &manifest.parts {
            let file = LogFile::Part(part.sha256);
            match self.place.length(&file)? {
                None => self.part(&file, part).await?,
                Some(length) if length == part.bytes => {}
                Some(length) => {
                    let why = format!("it has {length} bytes, but its manifest has {}", part.bytes);
                    return Err(CopyError::Damaged { path: self.place.path_of(&file), why });
                }
            }
        }
        Ok(())
    }

    async fn part(&self, file: &LogFile, part: &PartRef) -> Result<(), CopyError> {
        let mut aside = self.place.aside()?;
        let url = || self.fetcher.url(file);
        if !self.fetcher.get(file, length(part.bytes), &mut aside).await? {
            return Err(CopyError::Absent { url: url() });
        }
        let (found, hash) = aside.length_and_hash();
        if found != part.bytes {
            return Err(CopyError::PartLength { url: url(), expected: part.bytes, found });
        }
        if hash != part.sha256 {
            return Err(CopyError::PartHash { url: url(), found: hash });
        }
        self.place.place(&aside, file)
    }

    async fn fetch_committed(&self, file: LogFile) -> Result<(), CopyError> {
        // Here already, and whole, where a copy was cut off between it and the manifest.
        if self.place.length(&file)?.is_some() {
            return Ok(());
        }
        let mut aside = self.place.aside()?;
        if !self.fetcher.get(&file, length(MAX_COMMITTED_FILE_BYTES), &mut aside).await? {
            return Ok(());
        }
        if !aside.is_one_frame()? {
            let why = "it is not a complete Zstandard frame".to_owned();
            return Err(CopyError::Invalid { url: self.fetcher.url(&file), why });
        }
        self.place.place(&aside, &file)
    }

    /// A tile, or the full one of its place, where the log has grown over it since.
    pub(super) async fn tile(&self, tile: Tile) -> Result<(), CopyError> {
        let full = Tile::new(tile.kind(), tile.places().start / TILE_WIDTH, TILE_WIDTH);
        let wider = full.filter(|_| !tile.is_full());
        for here in [Some(tile), wider].into_iter().flatten() {
            if self.place.length(&LogFile::Tile(here))?.is_some() {
                return Ok(());
            }
        }
        for there in [Some(tile), wider].into_iter().flatten() {
            let file = LogFile::Tile(there);
            let Some(bytes) = self.fetcher.bytes(&file, most_of(&there)).await? else { continue };
            if !is_whole(&there, &bytes) {
                let why = format!("{} bytes are not a valid tile", bytes.len());
                return Err(CopyError::Invalid { url: self.fetcher.url(&file), why });
            }
            return self.place.put(&file, &bytes);
        }
        Err(CopyError::Absent { url: self.fetcher.url(&LogFile::Tile(tile)) })
    }
}

/// A length of what is held in memory; one that cannot be is a limit that is never met.
fn length(length: u64) -> usize {
    usize::try_from(length).unwrap_or(usize::MAX)
}

/// The most bytes of a tile.
fn most_of(tile: &Tile) -> usize {
    let width = length(tile.width());
    match tile.kind() {
        TileKind::Level(_) => width * size_of::<Hash>(),
        TileKind::Entries => width * (MAX_LEAF_BYTES + 2),
    }
}

/// Whether these are as many hashes or entries as the tile has.
fn is_whole(tile: &Tile, bytes: &[u8]) -> bool {
    let width = length(tile.width());
    match tile.kind() {
        TileKind::Level(_) => bytes.len() == width * size_of::<Hash>(),
        TileKind::Entries => {
            let (entries, rest) = split_entries(bytes);
            entries.len() == width && rest.is_empty()
        }
    }
}
