//! The log of days, read as a whole because it is small.

use super::{DayLeaf, DayLeafError};
use crate::series::Day;
use crate::tlog::{
    Checkpoint, CheckpointError, Frontier, Hash, Note, Origin, TILE_WIDTH, Tile, TileKind,
    TrustError, VerifierKey, split_entries,
};

/// The most days in a log: eleven hundred years.
const MAX_DAYS: u64 = 400_000;

/// A complete log of days, verified against its checkpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DaysHistory {
    /// The checkpoint.
    pub checkpoint: Checkpoint,
    /// The leaves, one per day in order.
    pub leaves: Vec<DayLeaf>,
}

/// Why a log of days is invalid. `E` is the error of reading a tile.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum HistoryError<E> {
    /// Its checkpoint cannot be parsed.
    #[error("days/checkpoint: {0}")]
    Checkpoint(CheckpointError),
    /// It is not the log of days of a log with trusted keys.
    #[error("days/checkpoint is of {found}, which is not a log of days of {expected}")]
    OtherLog {
        /// The logs of the trusted keys.
        expected: String,
        /// The log found.
        found: String,
    },
    /// No trusted key signed it.
    #[error("days/checkpoint is not signed by a trusted key of {expected}, but by {found}")]
    NotTrusted {
        /// The log.
        expected: String,
        /// The keys that signed it.
        found: String,
    },
    /// A signature under a key's name was not made with that key.
    #[error("days/checkpoint: the signature named {signer} was not made by that key")]
    Forged {
        /// The key, as `<name>+<id>`.
        signer: String,
    },
    /// More days than a log can have.
    #[error("days/checkpoint has {found} days, which is more than possible")]
    TooLarge {
        /// Days.
        found: u64,
    },
    /// A tile could not be read.
    #[error("{0}")]
    Tile(E),
    /// A tile has the wrong number of entries.
    #[error("days/{path} has {found} whole entries, expected {expected}")]
    Entries {
        /// The tile.
        path: String,
        /// The expected number of entries.
        expected: u64,
        /// The number of entries found.
        found: usize,
    },
    /// An entry is not a valid leaf.
    #[error("day {index} of the log of days: {error}")]
    Leaf {
        /// Its index.
        index: u64,
        /// The reason.
        error: DayLeafError,
    },
    /// An entry is for another day.
    #[error("day {index} of the log of days is {found}, expected {expected}")]
    Day {
        /// Its index.
        index: u64,
        /// The day that belongs at that index.
        expected: Day,
        /// The day in the entry.
        found: Day,
    },
    /// The root over the leaves is not the checkpoint's.
    #[error("the days give the root {found}, but days/checkpoint has {expected}")]
    Root {
        /// The checkpoint's root.
        expected: Hash,
        /// The root over the leaves.
        found: Hash,
    },
}

/// The keys that may sign the log of days with this name: the keys of its log, under the name of the log of days.
pub fn days_keys(keys: &[VerifierKey], days: &Origin) -> Vec<VerifierKey> {
    let own = keys.iter().filter(|key| is_of(key, days));
    own.filter_map(|key| key.with_name(&days.to_string()).ok()).collect()
}

/// Whether a key belongs to the log whose days these are. Its name is the log's name, with or without the first slot.
fn is_of(key: &VerifierKey, days: &Origin) -> bool {
    let named = |log: &str| days.name().strip_suffix("/days") == Some(log);
    named(key.name()) || key.name().parse().is_ok_and(|log: Origin| named(log.name()))
}

impl DaysHistory {
    /// Reads a log of days by its checkpoint, which must be signed with one of `keys`, the keys of its log. `entries`
    /// reads a tile of entries.
    pub fn from_log<E>(
        note: &str,
        keys: &[VerifierKey],
        mut entries: impl FnMut(Tile) -> Result<Vec<u8>, E>,
    ) -> Result<Self, HistoryError<E>> {
        let (checkpoint, note) = Checkpoint::from_note(note).map_err(HistoryError::Checkpoint)?;
        check_signed(&checkpoint.origin, &note, keys)?;
        if checkpoint.size > MAX_DAYS {
            return Err(HistoryError::TooLarge { found: checkpoint.size });
        }
        let (mut leaves, mut tree) = (Vec::new(), Frontier::default());
        let first = Day::from_slot(checkpoint.origin.first_slot());
        let mut start = 0;
        while start < checkpoint.size {
            let width = (checkpoint.size - start).min(TILE_WIDTH);
            let Some(tile) = Tile::new(TileKind::Entries, start / TILE_WIDTH, width) else { break };
            let bytes = entries(tile).map_err(HistoryError::Tile)?;
            let (found, rest) = split_entries(&bytes);
            if found.len() as u64 != width || !rest.is_empty() {
                let path = tile.path();
                return Err(HistoryError::Entries { path, expected: width, found: found.len() });
            }
            for (index, entry) in (start..).zip(found) {
                let leaf = DayLeaf::from_canonical(entry)
                    .map_err(|error| HistoryError::Leaf { index, error })?;
                let expected = first.later(index).unwrap_or(first);
                if leaf.day != expected {
                    return Err(HistoryError::Day { index, expected, found: leaf.day });
                }
                tree.push(DayLeaf::leaf_of(entry));
                leaves.push(leaf);
            }
            start += width;
        }
        if tree.root() != checkpoint.root {
            return Err(HistoryError::Root { expected: checkpoint.root, found: tree.root() });
        }
        Ok(Self { checkpoint, leaves })
    }

    /// The leaf of a day; `None` if the log does not contain the day.
    pub fn leaf(&self, day: Day) -> Option<&DayLeaf> {
        let first = self.leaves.first()?.day;
        self.leaves.get(usize::try_from(day.days_after(first)?).ok()?)
    }
}

fn check_signed<E>(
    origin: &Origin,
    note: &Note<'_>,
    keys: &[VerifierKey],
) -> Result<(), HistoryError<E>> {
    let own = days_keys(keys, origin);
    if own.is_empty() {
        let names: Vec<&str> = keys.iter().map(VerifierKey::name).collect();
        let (expected, found) = (names.join(", "), origin.to_string());
        return Err(HistoryError::OtherLog { expected, found });
    }
    match note.signed_by(origin, &own) {
        Ok(_) => Ok(()),
        Err(TrustError::Forged { signer }) => Err(HistoryError::Forged { signer }),
        Err(TrustError::NotTrusted { origin, found }) => {
            let found = if found.is_empty() { "no one".to_owned() } else { found.join(", ") };
            Err(HistoryError::NotTrusted { expected: origin, found })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::DocumentHash;
    use crate::log_folder::days::days_origin;
    use crate::series::Slot;
    use crate::tlog::{SignerKey, push_entry};

    /// A log of 300 days: its checkpoint, its log's key, and its leaves.
    fn log() -> (String, VerifierKey, Vec<Vec<u8>>) {
        let log: Origin = "exitgap.example/log/5957900".parse().unwrap();
        let signer = SignerKey::from_seed(&log.to_string(), [7; 32]).unwrap();
        let origin = days_origin(&log).unwrap();
        let first = Day::from_slot(log.first_slot());
        let leaf = |index: u8| DayLeaf {
            day: first.later(index.into()).unwrap(),
            manifest: DocumentHash([index; 32]),
        };
        let leaves: Vec<Vec<u8>> = (0..=255).map(|n| leaf(n).to_canonical().unwrap()).collect();
        let more = (0..44_u64).map(|n| DayLeaf {
            day: first.later(256 + n).unwrap(),
            manifest: DocumentHash([1; 32]),
        });
        let leaves: Vec<Vec<u8>> =
            leaves.into_iter().chain(more.map(|leaf| leaf.to_canonical().unwrap())).collect();
        let mut tree = Frontier::default();
        for leaf in &leaves {
            tree.push(DayLeaf::leaf_of(leaf));
        }
        let (root, extensions) = (tree.root(), Vec::new());
        let checkpoint = Checkpoint { origin: origin.clone(), size: 300, root, extensions };
        let days = signer.with_name(&origin.to_string()).unwrap();
        (days.sign(&checkpoint.to_text()).unwrap(), signer.verifier(), leaves)
    }

    fn tile_of(leaves: &[Vec<u8>], tile: Tile) -> Result<Vec<u8>, String> {
        let mut bytes = Vec::new();
        for index in tile.places() {
            let leaf = leaves.get(usize::try_from(index).unwrap()).ok_or("no such tile")?;
            assert!(push_entry(&mut bytes, leaf));
        }
        Ok(bytes)
    }

    #[test]
    fn a_log_of_days_is_read_by_the_key_of_its_log_alone() {
        let (note, key, leaves) = log();
        let keys = std::slice::from_ref(&key);
        let read = DaysHistory::from_log(&note, keys, |tile| tile_of(&leaves, tile)).unwrap();
        assert_eq!(read.leaves.len(), 300);
        let day = read.leaves[299].day;
        assert_eq!(read.leaf(day), Some(&read.leaves[299]));
        assert_eq!(read.leaf(day.later(1).unwrap()), None);
        let bare = key.with_name("exitgap.example/log").unwrap();
        assert!(DaysHistory::from_log(&note, &[bare], |tile| tile_of(&leaves, tile)).is_ok());
        assert_eq!(read.leaf(Day::from_slot(Slot::FIRST)), Some(&read.leaves[0]));

        let other = SignerKey::from_seed(key.name(), [8; 32]).unwrap().verifier();
        let refused = |note: &str, key: &VerifierKey, leaves: &[Vec<u8>]| {
            DaysHistory::from_log(note, std::slice::from_ref(key), |tile| tile_of(leaves, tile))
                .unwrap_err()
        };
        let error = refused(&note, &other, &leaves);
        assert!(matches!(error, HistoryError::NotTrusted { .. }), "{error}");
        let named = SignerKey::from_seed("other.example/log/5957900", [7; 32]).unwrap().verifier();
        let error = refused(&note, &named, &leaves);
        assert!(matches!(error, HistoryError::OtherLog { .. }), "{error}");
        let forged = note.replacen("\n300\n", "\n299\n", 1);
        assert!(matches!(refused(&forged, &key, &leaves), HistoryError::Forged { .. }));
        assert!(matches!(refused(&note, &key, &leaves[..299]), HistoryError::Tile(_)));
        let mut changed = leaves.clone();
        changed[17] = changed[16].clone();
        assert!(matches!(refused(&note, &key, &changed), HistoryError::Day { index: 17, .. }));
        let mut changed = leaves.clone();
        let leaf = DayLeaf::from_canonical(&changed[17]).unwrap();
        let leaf = DayLeaf { manifest: DocumentHash([3; 32]), ..leaf };
        changed[17] = leaf.to_canonical().unwrap();
        assert!(matches!(refused(&note, &key, &changed), HistoryError::Root { .. }));
        changed[17].push(b' ');
        assert!(matches!(refused(&note, &key, &changed), HistoryError::Leaf { index: 17, .. }));
        let short = DaysHistory::from_log(&note, std::slice::from_ref(&key), |_| {
            Ok::<_, String>(Vec::new())
        });
        assert!(matches!(short, Err(HistoryError::Entries { found: 0, .. })));
    }
}
