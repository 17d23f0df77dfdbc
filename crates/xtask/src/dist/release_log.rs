//! The log of releases: an append-only transparency log in a folder (C2SP `tlog-tiles`), with a leaf for each signed list.

use std::fs;
use std::path::Path;

use exitgap_tlog::{
    Checkpoint, Hash, LogProof, Origin, SignerKey, Tile, TileKind, inclusion_proof, leaf_hash,
    push_entry, root, split_entries,
};

use crate::failure::{Context, Failure, Result};

/// The name of the log's state in its folder.
const CHECKPOINT: &str = "checkpoint";

/// Appends an entry, unless the log has it, and returns the proof of its place as text. The whole log is read and checked
/// against its signed state before it is continued.
pub fn append(folder: &Path, key: &SignerKey, entry: &str) -> Result<String> {
    let mut log = Log::read(folder, key)?;
    let known = log.entries.iter().position(|known| known == entry.as_bytes());
    let index = known.unwrap_or(log.entries.len());
    if known.is_none() {
        log.entries.push(entry.as_bytes().to_vec());
        log.write(folder, key)?;
    }
    let leaves = log.leaves();
    let hashes = inclusion_proof(&leaves, index)
        .ok_or_else(|| Failure::new("the log has no leaf for its own entry"))?;
    let checkpoint = log.checkpoint(key)?;
    Ok(LogProof { index: index as u64, hashes, checkpoint }.to_text())
}

/// The entries of a log, and how many of them are published.
struct Log {
    entries: Vec<Vec<u8>>,
    published: u64,
}

impl Log {
    fn read(folder: &Path, key: &SignerKey) -> Result<Self> {
        let path = folder.join(CHECKPOINT);
        let damaged = |why: String| {
            Failure::new(format!("the log of releases in {}: {why}", folder.display())).remedy(
                "restore the folder from what was published; a new log would be another one",
            )
        };
        if !path.exists() {
            let holds_tiles = folder.join("tile").exists();
            let absent = || damaged(format!("there are tiles, but no file {CHECKPOINT}"));
            return if holds_tiles {
                Err(absent())
            } else {
                Ok(Self { entries: Vec::new(), published: 0 })
            };
        }
        let note = fs::read_to_string(&path).context(format!("reading {}", path.display()))?;
        let state = Checkpoint::<Origin>::signed_by(&note, &[key.verifier()])
            .map_err(|error| damaged(error.to_string()))?;
        let mut entries = Vec::new();
        for tile in Tile::grown(0, state.size).filter(|tile| tile.kind() == TileKind::Entries) {
            let path = folder.join(tile.path());
            let bytes = fs::read(&path).context(format!("reading {}", path.display()))?;
            let (found, rest) = split_entries(&bytes);
            if !rest.is_empty() || found.len() as u64 != tile.width() {
                return Err(damaged(format!("{} is not whole", tile.path())));
            }
            entries.extend(found.into_iter().map(<[u8]>::to_vec));
        }
        let log = Self { entries, published: state.size };
        if root(&log.leaves()) != state.root {
            return Err(damaged("its entries are not those that were signed".to_owned()));
        }
        Ok(log)
    }

    fn leaves(&self) -> Vec<Hash> {
        self.entries.iter().map(|entry| leaf_hash(entry)).collect()
    }

    /// The signed state.
    fn checkpoint(&self, key: &SignerKey) -> Result<String> {
        let name = key.verifier();
        let unsigned =
            |error: &dyn std::fmt::Display| Failure::new(format!("signing the log: {error}"));
        let origin = Origin::new(name.name()).map_err(|error| unsigned(&error))?;
        let (size, root) = (self.entries.len() as u64, root(&self.leaves()));
        let state = Checkpoint { origin, size, root, extensions: Vec::new() };
        key.sign(&state.to_text()).map_err(|error| unsigned(&error))
    }

    /// Writes the tiles that grew, and last the state, which commits to them.
    fn write(&self, folder: &Path, key: &SignerKey) -> Result<()> {
        let leaves = self.leaves();
        for tile in Tile::grown(self.published, leaves.len() as u64) {
            let too_long = || Failure::new("the log has no room for this entry");
            let bytes = self.tile(&tile, &leaves).ok_or_else(too_long)?;
            replace(&folder.join(tile.path()), &bytes)?;
        }
        replace(&folder.join(CHECKPOINT), self.checkpoint(key)?.as_bytes())
    }

    /// The content of a tile.
    fn tile(&self, tile: &Tile, leaves: &[Hash]) -> Option<Vec<u8>> {
        let place = |place: u64| usize::try_from(place).ok();
        let mut bytes = Vec::new();
        if tile.kind() == TileKind::Entries {
            let places = tile.places();
            for entry in self.entries.get(place(places.start)?..place(places.end)?)? {
                if !push_entry(&mut bytes, entry) {
                    return None;
                }
            }
            return Some(bytes);
        }
        for subtree in tile.subtrees() {
            let (first, end) =
                (subtree.index << subtree.height, (subtree.index + 1) << subtree.height);
            bytes.extend(root(leaves.get(place(first)?..place(end)?)?).0);
        }
        Some(bytes)
    }
}

/// Writes a file whole, or leaves the old one.
fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    let writing = || format!("writing {}", path.display());
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).context(writing())?;
    }
    let partial = path.with_extension("partial");
    fs::write(&partial, bytes).context(writing())?;
    fs::rename(&partial, path).context(writing())
}

#[cfg(test)]
mod tests {
    use exitgap_tlog::root_from_inclusion;

    use super::*;

    fn key(seed: u8) -> SignerKey {
        SignerKey::from_seed("example.org/release-log", [seed; 32]).unwrap()
    }

    /// Whether a proof's text leads from the entry to a state signed by the key; its size, too.
    fn proven(proof: &str, entry: &str) -> u64 {
        let proof = LogProof::from_text(proof).unwrap();
        let state =
            Checkpoint::<Origin>::signed_by(&proof.checkpoint, &[key(1).verifier()]).unwrap();
        let leaf = leaf_hash(entry.as_bytes());
        let found = root_from_inclusion(leaf, proof.index, state.size, &proof.hashes);
        assert_eq!(found, Some(state.root), "{entry}");
        state.size
    }

    #[test]
    fn a_log_grows_over_a_tile_and_refuses_to_continue_what_is_damaged() {
        let folder = std::env::temp_dir().join(format!("exitgap-releases-{}", std::process::id()));
        let of = |number: u64| format!("release {number}\n");
        for number in 0..258 {
            let proof = append(&folder, &key(1), &of(number)).unwrap();
            assert_eq!(proven(&proof, &of(number)), number + 1);
        }
        for path in ["tile/0/000", "tile/1/000.p/1", "tile/entries/000", "tile/entries/001.p/2"] {
            assert!(folder.join(path).is_file(), "{path}");
        }
        assert_eq!(fs::read(folder.join("tile/0/000")).unwrap().len(), 256 * 32);
        // The same entry again changes nothing, and is proven.
        let again = append(&folder, &key(1), &of(7)).unwrap();
        assert_eq!(proven(&again, &of(7)), 258);
        let refused = |words: &str| {
            let failure = append(&folder, &key(1), "another\n").unwrap_err().to_string();
            assert!(failure.contains(words) && failure.contains("restore the folder"), "{failure}");
        };
        let other = append(&folder, &key(2), "another\n").unwrap_err().to_string();
        assert!(other.contains("not signed by a trusted key"), "{other}");
        let entries = folder.join("tile/entries/001.p/2");
        let whole = fs::read(&entries).unwrap();
        fs::write(&entries, &whole[..whole.len() - 1]).unwrap();
        refused("is not whole");
        let mut changed = whole.clone();
        *changed.last_mut().unwrap() ^= 1;
        fs::write(&entries, &changed).unwrap();
        refused("are not those that were signed");
        fs::write(&entries, whole).unwrap();
        fs::remove_file(folder.join("checkpoint")).unwrap();
        refused("no file checkpoint");
        fs::remove_dir_all(&folder).unwrap();
    }
}
