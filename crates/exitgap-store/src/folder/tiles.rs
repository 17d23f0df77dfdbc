//! Writes tiles (C2SP `tlog-tiles`) to the folder: the log's tree in pieces of eight levels, and its entries. The core
//! defines their content and paths.

use std::fs;
use std::io;
use std::ops::Range;
use std::path::Path;

use exitgap_core::tlog::{Hash, TILE_WIDTH, Tile, TileKind, push_entry, split_entries};

use super::{PublishError, durable};
use crate::corrupt::CorruptLog;
use crate::error::StoreError;
use crate::reader::Reader;

/// Writes the tiles that change when the log grows from `before` to `size` slots.
pub fn write_tiles(
    reader: &Reader,
    folder: &Path,
    before: u64,
    size: u64,
) -> Result<(), PublishError> {
    for tile in Tile::grown(before, size) {
        let bytes = match tile.kind() {
            TileKind::Level(_) => hashes(reader, tile)?,
            TileKind::Entries => entries(reader, tile.places())?,
        };
        durable::replace_file(&folder.join(tile.path()), &bytes)?;
    }
    Ok(())
}

/// A tile's bytes, from its own file or from the beginning of a wider tile at the same position.
pub fn read_tile(folder: &Path, tile: Tile) -> Result<Option<Vec<u8>>, PublishError> {
    let place = tile.places().start / TILE_WIDTH;
    let widths = [tile.width(), TILE_WIDTH].into_iter().chain(tile.width() + 1..TILE_WIDTH);
    for wider in widths.filter_map(|width| Tile::new(tile.kind(), place, width)) {
        let path = folder.join(wider.path());
        let mut bytes = match fs::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            read => read.map_err(|source| PublishError::File { path: path.clone(), source })?,
        };
        let width = usize::try_from(tile.width()).unwrap_or(usize::MAX);
        let length = match tile.kind() {
            TileKind::Level(_) => width.checked_mul(size_of::<Hash>()),
            TileKind::Entries => {
                let (entries, _) = split_entries(&bytes);
                let entries = entries.get(..width);
                entries.map(|entries| entries.iter().map(|entry| entry.len() + 2).sum())
            }
        };
        let Some(length) = length.filter(|length| *length <= bytes.len()) else {
            let source = io::ErrorKind::UnexpectedEof.into();
            return Err(PublishError::File { path, source });
        };
        bytes.truncate(length);
        return Ok(Some(bytes));
    }
    Ok(None)
}

/// Removes the partial tiles that full ones replaced when the log grew from `before` to `size` slots. They stay until
/// then because a client with an earlier checkpoint may request them.
pub fn remove_partial(folder: &Path, before: u64, size: u64) -> Result<(), PublishError> {
    for tile in Tile::full_tiles(before, size) {
        let path = folder.join(format!("{}.p", tile.path_when_full()));
        match fs::remove_dir_all(&path) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                return Err(PublishError::File { path, source });
            }
            _ => {}
        }
    }
    Ok(())
}

/// The hashes of a tile of the tree.
fn hashes(reader: &Reader, tile: Tile) -> Result<Vec<u8>, StoreError> {
    let mut hashes = Vec::new();
    for node in tile.subtrees() {
        hashes.extend_from_slice(&reader.nodes().node(node.height, node.index)?.0);
    }
    Ok(hashes)
}

/// The slot leaves of a tile, each prefixed with its length in two bytes.
fn entries(reader: &Reader, leaves: Range<u64>) -> Result<Vec<u8>, StoreError> {
    let mut entries = Vec::new();
    for index in leaves {
        let slot = reader.slot_at(Some(index))?;
        let leaf = slot.map(|slot| reader.leaf(slot)).transpose()?.flatten();
        let leaf = leaf.ok_or_else(|| StoreError::CorruptRow {
            table: "sealed_slot",
            found: format!("no slot for leaf {index}"),
        })?;
        if !push_entry(&mut entries, &leaf.canonical) {
            let what = CorruptLog::Absent("a leaf of less than 64 KiB");
            return Err(StoreError::CorruptLog { slot: leaf.leaf.slot, what });
        }
    }
    Ok(entries)
}
