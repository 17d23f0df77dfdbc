//! Tiles (C2SP `tlog-tiles`): the log's tree in pieces of eight levels, and its entries.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{PublishError, durable};
use crate::error::{CorruptLog, StoreError};
use crate::reader::Reader;

/// Hashes of a full tile.
const WIDTH: u64 = 256;
/// Levels of the tree in one level of tiles.
const HEIGHT: u32 = 8;

/// Writes the tiles that the log's growth from `before` to `size` slots changed.
pub fn write(reader: &Reader, folder: &Path, before: u64, size: u64) -> Result<(), PublishError> {
    for (level, from, to) in levels(before, size) {
        for index in from / WIDTH..to.div_ceil(WIDTH) {
            let end = to.min((index + 1) * WIDTH);
            let mut hashes = Vec::new();
            for node in index * WIDTH..end {
                hashes.extend_from_slice(&reader.nodes().node(level * HEIGHT, node)?.0);
            }
            let width = end - index * WIDTH;
            durable::write(&tile(folder, &level.to_string(), index, width), &hashes)?;
            if level == 0 {
                let entries = entries(reader, index * WIDTH, end)?;
                durable::write(&tile(folder, "entries", index, width), &entries)?;
            }
        }
    }
    Ok(())
}

/// Removes the partial tiles that gave way to full ones when the log grew from `before` to `size`
/// slots. Until then each stays: whoever holds an earlier checkpoint may ask for it.
pub fn remove_partial(folder: &Path, before: u64, size: u64) -> Result<(), PublishError> {
    for (level, from, to) in levels(before, size) {
        for name in [Some(level.to_string()), (level == 0).then(|| "entries".to_owned())] {
            let Some(name) = name else { continue };
            for index in from / WIDTH..to / WIDTH {
                let mut partial = tile(folder, &name, index, WIDTH);
                partial.as_mut_os_string().push(".p");
                match fs::remove_dir_all(&partial) {
                    Err(source) if source.kind() != io::ErrorKind::NotFound => {
                        return Err(PublishError::File { path: partial, source });
                    }
                    _ => {}
                }
            }
        }
    }
    Ok(())
}

/// The levels of tiles that a log of `size` has: level, hashes in it before and after.
fn levels(before: u64, size: u64) -> impl Iterator<Item = (u32, u64, u64)> {
    (0..u64::BITS / HEIGHT)
        .map(move |level| (level, before >> (level * HEIGHT), size >> (level * HEIGHT)))
        .take_while(|(_, _, after)| *after > 0)
        .filter(|(_, before, after)| before < after)
}

/// The slot leaves of a tile, each after its length in two bytes.
fn entries(reader: &Reader, from: u64, to: u64) -> Result<Vec<u8>, StoreError> {
    let mut entries = Vec::new();
    for index in from..to {
        let slot = reader.slot_at(Some(index))?;
        let leaf = slot.map(|slot| reader.leaf(slot)).transpose()?.flatten();
        let leaf = leaf.ok_or_else(|| StoreError::CorruptRow {
            table: "sealed_slot",
            found: format!("no slot for leaf {index}"),
        })?;
        let length = u16::try_from(leaf.canonical.len()).map_err(|_| StoreError::CorruptLog {
            slot: leaf.leaf.slot,
            what: CorruptLog::Absent("a leaf of less than 64 KiB"),
        })?;
        entries.extend_from_slice(&length.to_be_bytes());
        entries.extend_from_slice(&leaf.canonical);
    }
    Ok(entries)
}

/// Where a tile of `width` lies: `tile/<level>/x001/x234/067`, and partial ones under
/// `….p/<width>`.
fn tile(folder: &Path, level: &str, index: u64, width: u64) -> PathBuf {
    let mut path = folder.join("tile").join(level);
    let digits = format!("{index:03}");
    let first = digits.len() % 3;
    let padded = if first == 0 { digits } else { format!("{}{digits}", "0".repeat(3 - first)) };
    let groups = padded.len() / 3;
    for group in 0..groups {
        let end = if group + 1 == groups { "" } else { "x" };
        path.push(format!("{end}{}", &padded[group * 3..group * 3 + 3]));
    }
    if width < WIDTH {
        path.as_mut_os_string().push(".p");
        path.push(width.to_string());
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_lie_where_the_format_has_them() {
        let at = |index, width| tile(Path::new("log"), "0", index, width).display().to_string();
        assert_eq!(at(0, 256), "log/tile/0/000");
        assert_eq!(at(67, 5), "log/tile/0/067.p/5");
        assert_eq!(at(1_234_067, 256), "log/tile/0/x001/x234/067");
        assert_eq!(at(1_000, 255), "log/tile/0/x001/000.p/255");
        let grown = |before, size| levels(before, size).collect::<Vec<_>>();
        assert_eq!(grown(0, 1), [(0, 0, 1)]);
        assert_eq!(grown(255, 256), [(0, 255, 256), (1, 0, 1)]);
        assert_eq!(grown(256, 300), [(0, 256, 300)]);
    }
}
