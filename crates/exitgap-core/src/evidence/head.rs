//! Heads: a pool's entry for one slot, linked to the previous head.

use sha2::{Digest, Sha256};

use super::commits::Commits;
use super::retraction::{Retraction, check_retractions};
use crate::Newer;
use crate::ids::{HeadHash, PoolId, SnapshotHash};
use crate::json::{
    DocumentError, VERSION, from_canonical, to_canonical, to_canonical_within, wire_struct,
};
use crate::series::{MissingReason, Slot, SlotError};
use crate::tlog::{Hash, leaf_hash};
use crate::units::{SizeUsd, UsdMicros};

/// The largest head that is parsed, in bytes: 288 retractions of maximum length.
pub const MAX_HEAD_BYTES: usize = 128 << 10;

/// The longest name of a version of the rules. A window repeats it in each of its heads: without a limit, a name of 120
/// KB would expand to hundreds of megabytes.
pub const MAX_METHOD_VERSION_LENGTH: usize = Newer::METHOD_LENGTH;

/// The slots of `lowest_depth_7d_usd`, the head's own included.
pub const LOWEST_DEPTH_SLOTS: u32 = 7 * Slot::PER_DAY;

/// Depths in whole dollars, rounded down, when selling token 0 and when selling token 1. `None` if there is no depth.
pub type Depths = [Option<u64>; 2];

/// A pool's entry for one slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// The pool.
    pub pool: PoolId,
    /// The slot.
    pub slot: Slot,
    /// The number of earlier heads of this pool.
    pub height: u32,
    /// The number of snapshots so far, including this one and excluding retracted ones.
    pub recorded_count: u32,
    /// The hash of the previous head; `None` for a pool's first head.
    pub prev: Option<HeadHash>,
    /// The recorded entry.
    pub entry: HeadEntry,
    /// The lowest depth at 2 % in the last 2,016 slots, excluding retracted ones; `None` if none of them is recorded.
    pub lowest_depth_7d_usd: Depths,
    /// The version of the rules that the depths were computed with.
    pub method_version: String,
    /// Earlier slots that this head retracts, ascending.
    pub retracts: Vec<Retraction>,
    /// Commitments other than the snapshot.
    pub commits: Commits,
}

/// A slot's entry in a head.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HeadEntry {
    /// The snapshot with this hash, and its depths at 2%.
    Recorded {
        /// The snapshot's hash.
        snapshot: SnapshotHash,
        /// The snapshot's depths.
        depth_usd: Depths,
    },
    /// No snapshot, for this reason.
    Missing(MissingReason),
    /// The pool is no longer recorded. No further head follows.
    Retired,
}

/// Why a document is not a head, or does not follow another.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HeadError {
    /// The bytes are not a canonical head.
    #[error("not a head: {0}")]
    Document(#[from] DocumentError),
    /// The slot is not one of the series.
    #[error(transparent)]
    Slot(#[from] SlotError),
    /// Not exactly one of `snapshot`, `missing` and `retired` is present.
    #[error("a head must have exactly one of snapshot, missing and retired")]
    Entry,
    /// A depth is not a valid amount of whole dollars.
    #[error("depth {found:?} must be a whole dollar amount up to 1000000000")]
    Depth {
        /// The text found, cut to 30 characters.
        found: String,
    },
    /// A recorded slot needs depths, and other slots must not have them.
    #[error("depth_usd must be present exactly when snapshot is")]
    DepthPlace,
    /// The lowest depth of the last slots cannot exceed this slot's own.
    #[error("lowest_depth_7d_usd of token{token} exceeds the slot's own depth")]
    LowestDepth {
        /// The token sold: 0 or 1.
        token: usize,
    },
    /// The version of the rules is not a short word.
    #[error("method_version must be 1 to 20 printable characters")]
    MethodVersion,
    /// A first head must not have a predecessor, and every other head must have one.
    #[error("a head of height {height} {}", if *.height == 0 { "must not have prev" } else { "must have prev" })]
    Prev {
        /// The head's height.
        height: u32,
    },
    /// The count is larger than the number of heads, or zero although this head holds a snapshot.
    #[error("recorded_count {recorded_count} is not possible for a head of height {height}")]
    RecordedCount {
        /// The head's height.
        height: u32,
        /// The count found.
        recorded_count: u32,
    },
    /// A retraction breaks a rule: they must be ascending, for slots 1 to 288 back, and have two different hashes if a
    /// block was orphaned. A first head must not have any.
    #[error(
        "the retraction of slot {slot} is out of order, not 1 to 288 slots back, or without two different hashes"
    )]
    Retraction {
        /// The slot retracted.
        slot: Slot,
    },
    /// A head does not follow the previous one.
    #[error("the head of slot {slot} does not follow the previous one: {rule}")]
    DoesNotFollow {
        /// The later head's slot.
        slot: Slot,
        /// The broken rule.
        rule: &'static str,
    },
}

struct WireHead {
    v: u32,
    pool: PoolId,
    slot: u64,
    height: u32,
    recorded_count: u32,
    prev: Option<HeadHash>,
    snapshot: Option<SnapshotHash>,
    missing: Option<MissingReason>,
    retired: Option<bool>,
    depth_usd: Option<[Option<String>; 2]>,
    lowest_depth_7d_usd: [Option<String>; 2],
    method_version: String,
    retracts: Vec<Retraction>,
    commits: Commits,
}

wire_struct!(WireHead {
    v, pool, slot, height, recorded_count, prev, lowest_depth_7d_usd, method_version;
    optional snapshot, missing, retired, depth_usd, retracts, commits,
});

impl HeadError {
    /// The later version that wrote it, if that is the cause of the error.
    pub fn newer(&self) -> Option<Newer> {
        match self {
            Self::Document(DocumentError::Newer(newer)) => Some(*newer),
            _ => None,
        }
    }
}

impl Head {
    /// The head's first value that only a later version of exitgap knows: a reason for a missing slot or for a
    /// retraction.
    pub fn newer(&self) -> Option<Newer> {
        match &self.entry {
            HeadEntry::Missing(MissingReason::Newer(code)) => Some(Newer::MissingReason(*code)),
            _ => self.retracts.iter().find_map(Retraction::newer),
        }
    }

    /// The canonical bytes, which are stored, served and hashed.
    pub fn to_canonical(&self) -> Result<Vec<u8>, DocumentError> {
        to_canonical(&WireHead::from(self))
    }

    /// The SHA-256 of canonical bytes. The next head contains it.
    pub fn hash_of(canonical: &[u8]) -> HeadHash {
        HeadHash(Sha256::digest(canonical).into())
    }

    /// The hash of canonical bytes as a leaf of the slot's tree.
    pub fn leaf_of(canonical: &[u8]) -> Hash {
        leaf_hash(canonical)
    }

    /// Parses and validates untrusted bytes.
    pub fn from_canonical(bytes: &[u8]) -> Result<Self, HeadError> {
        let wire: WireHead = from_canonical(bytes, MAX_HEAD_BYTES, "a head")?;
        wire.check()
    }

    /// The canonical bytes, if parsing them would give exactly this head.
    pub(super) fn checked_to_canonical(&self) -> Result<Vec<u8>, HeadError> {
        let wire = WireHead::from(self);
        let bytes = to_canonical_within(&wire, MAX_HEAD_BYTES)?;
        wire.check()?;
        Ok(bytes)
    }

    /// Checks that this head is the next one of its pool after `before`, whose canonical bytes have the hash
    /// `before_hash`.
    pub fn check_follows(&self, before: &Self, before_hash: HeadHash) -> Result<(), HeadError> {
        let recorded = u32::from(matches!(self.entry, HeadEntry::Recorded { .. }));
        let retracted = u32::try_from(self.retracts.len()).unwrap_or(u32::MAX);
        let count = before.recorded_count.checked_add(recorded);
        let count = count.and_then(|count| count.checked_sub(retracted));
        let rules = [
            (before.entry != HeadEntry::Retired, "the pool was already retired"),
            (self.pool == before.pool, "its pool differs"),
            (Some(self.slot) == before.slot.next(), "its slot is not the next one"),
            (before.height.checked_add(1) == Some(self.height), "its height is not the next one"),
            (self.prev == Some(before_hash), "its prev is not the hash of the previous head"),
            (Some(self.recorded_count) == count, "its recorded_count is wrong"),
        ];
        match rules.into_iter().find(|(holds, _)| !holds) {
            Some((_, rule)) => Err(HeadError::DoesNotFollow { slot: self.slot, rule }),
            None => Ok(()),
        }
    }
}

impl WireHead {
    fn check(self) -> Result<Head, HeadError> {
        let slot = Slot::new(self.slot)?;
        if !is_method_version(&self.method_version) {
            return Err(HeadError::MethodVersion);
        }
        if self.depth_usd.is_some() != self.snapshot.is_some() {
            return Err(HeadError::DepthPlace);
        }
        let depth_usd = parse_depths(&self.depth_usd.unwrap_or_default())?;
        let entry = match (self.snapshot, self.missing, self.retired) {
            (Some(snapshot), None, None) => HeadEntry::Recorded { snapshot, depth_usd },
            (None, Some(reason), None) => HeadEntry::Missing(reason),
            (None, None, Some(true)) => HeadEntry::Retired,
            _ => return Err(HeadError::Entry),
        };
        if (self.height == 0) != self.prev.is_none() {
            return Err(HeadError::Prev { height: self.height });
        }
        let least = u64::from(matches!(entry, HeadEntry::Recorded { .. }));
        if !(least..=u64::from(self.height) + least).contains(&self.recorded_count.into()) {
            let (height, recorded_count) = (self.height, self.recorded_count);
            return Err(HeadError::RecordedCount { height, recorded_count });
        }
        check_retractions(slot, &self.retracts)?;
        // The slots before the pool's first head cannot be retracted. Retractions are ascending.
        let first = u64::from(slot.number()).saturating_sub(self.height.into());
        let before = |retraction: &&Retraction| u64::from(retraction.slot.number()) < first;
        if let Some(retraction) = self.retracts.first().filter(before) {
            return Err(HeadError::Retraction { slot: retraction.slot });
        }
        let lowest_depth_7d_usd = parse_depths(&self.lowest_depth_7d_usd)?;
        for (token, own) in depth_usd.iter().enumerate() {
            if own.is_some_and(|own| lowest_depth_7d_usd[token].is_none_or(|low| low > own)) {
                return Err(HeadError::LowestDepth { token });
            }
        }
        Ok(Head {
            pool: self.pool,
            slot,
            height: self.height,
            recorded_count: self.recorded_count,
            prev: self.prev,
            entry,
            lowest_depth_7d_usd,
            method_version: self.method_version,
            retracts: self.retracts,
            commits: self.commits,
        })
    }
}

/// Whether a text can be the name of a version of the rules.
pub(super) fn is_method_version(text: &str) -> bool {
    (1..=MAX_METHOD_VERSION_LENGTH).contains(&text.len())
        && text.bytes().all(|c| c.is_ascii_graphic())
}

fn parse_depths(texts: &[Option<String>; 2]) -> Result<Depths, HeadError> {
    let parse = |text: &Option<String>| {
        let Some(text) = text else { return Ok(None) };
        let most = UsdMicros::from(SizeUsd::MAX).whole_dollars();
        let depth =
            text.parse::<u64>().ok().filter(|depth| *depth <= most && depth.to_string() == *text);
        let wrong = || HeadError::Depth { found: text.chars().take(30).collect() };
        depth.map(Some).ok_or_else(wrong)
    };
    Ok([parse(&texts[0])?, parse(&texts[1])?])
}

impl From<&Head> for WireHead {
    fn from(head: &Head) -> Self {
        let texts = |depths: &Depths| depths.map(|depth| depth.map(|depth| depth.to_string()));
        let (snapshot, depth_usd) = match &head.entry {
            HeadEntry::Recorded { snapshot, depth_usd } => {
                (Some(*snapshot), Some(texts(depth_usd)))
            }
            _ => (None, None),
        };
        let missing = match head.entry {
            HeadEntry::Missing(reason) => Some(reason),
            _ => None,
        };
        Self {
            v: VERSION,
            pool: head.pool.clone(),
            slot: head.slot.number().into(),
            height: head.height,
            recorded_count: head.recorded_count,
            prev: head.prev,
            snapshot,
            missing,
            retired: (head.entry == HeadEntry::Retired).then_some(true),
            depth_usd,
            lowest_depth_7d_usd: texts(&head.lowest_depth_7d_usd),
            method_version: head.method_version.clone(),
            retracts: head.retracts.clone(),
            commits: head.commits.clone(),
        }
    }
}
