//! Heads: a pool's entry for one slot, linked to the one before.

use sha2::{Digest, Sha256};

use super::commits::Commits;
use super::retraction::{Retraction, check_retractions};
use crate::ids::{HeadHash, PoolId, SnapshotHash};
use crate::json::{
    DocumentError, VERSION, from_canonical, to_canonical, to_canonical_within, wire_struct,
};
use crate::newer::Newer;
use crate::series::{MissingReason, Slot, SlotError};
use crate::tlog::{Hash, leaf_hash};
use crate::units::{SizeUsd, UsdMicros};

/// The most bytes of a head that are looked at: 288 retractions at their longest.
pub const MAX_HEAD_BYTES: usize = 128 << 10;

/// The longest name of a version of the rules. A window repeats it in each of its heads: without a
/// bound, 120 KB of one would become hundreds of megabytes.
pub const MAX_METHOD_VERSION_LENGTH: usize = Newer::METHOD_LENGTH;

/// The slots of `lowest_depth_7d_usd`, the head's own included.
pub const LOWEST_DEPTH_SLOTS: u32 = 7 * Slot::PER_DAY;

/// Depths in whole dollars, rounded down: selling token 0, selling token 1. `None`
/// where there is none to tell.
pub type Depths = [Option<u64>; 2];

/// A pool's entry for one slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// The pool.
    pub pool: PoolId,
    /// The slot.
    pub slot: Slot,
    /// Heads of this pool before this one.
    pub height: u32,
    /// Snapshots so far, this one included, less the retracted.
    pub recorded_count: u32,
    /// The hash of the head before; `None` for a pool's first.
    pub prev: Option<HeadHash>,
    /// What was recorded.
    pub entry: HeadEntry,
    /// The lowest depth at 2 % of the last 2,016 slots, retracted ones left out;
    /// `None` where none of them is recorded.
    pub lowest_depth_7d_usd: Depths,
    /// The version of the rules behind the depths.
    pub method_version: String,
    /// Earlier slots that this head takes back, ascending.
    pub retracts: Vec<Retraction>,
    /// What it commits to beside its slot's snapshot.
    pub commits: Commits,
}

/// What a head says of its slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HeadEntry {
    /// The snapshot with this hash, and its depths at 2 %.
    Recorded {
        /// The snapshot's hash.
        snapshot: SnapshotHash,
        /// The snapshot's depths.
        depth_usd: Depths,
    },
    /// No snapshot, for this reason.
    Missing(MissingReason),
    /// The pool is monitored no longer. Final.
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
    /// Not exactly one of `snapshot`, `missing` and `retired`.
    #[error("a head holds exactly one of snapshot, missing and retired")]
    Entry,
    /// A depth is not a whole dollar amount a size can have.
    #[error("depth {found:?} is not a whole dollar amount up to 1000000000")]
    Depth {
        /// The text found, cut to 30 characters.
        found: String,
    },
    /// Depths belong to a recorded slot, and only there.
    #[error("depth_usd stands exactly where snapshot does")]
    DepthPlace,
    /// The lowest depth of the last slots cannot exceed this slot's own.
    #[error("lowest_depth_7d_usd of token{token} exceeds the slot's own depth")]
    LowestDepth {
        /// The token sold: 0 or 1.
        token: usize,
    },
    /// The version of the rules is no short word.
    #[error("method_version is not 1 to 20 printable characters")]
    MethodVersion,
    /// A first head has no predecessor, every other has one.
    #[error("a head of height {height} {}", if *.height == 0 { "has no prev" } else { "has a prev" })]
    Prev {
        /// The head's height.
        height: u32,
    },
    /// More snapshots than heads, or none where this head holds one.
    #[error("recorded_count {recorded_count} cannot be that of a head of height {height}")]
    RecordedCount {
        /// The head's height.
        height: u32,
        /// The count found.
        recorded_count: u32,
    },
    /// Retractions are ascending, of earlier slots at most 288 back; of an orphaned block
    /// with two different hashes. A first head has none.
    #[error(
        "the retraction of slot {slot} is out of order, not 1 to 288 back, or without two hashes"
    )]
    Retraction {
        /// The slot retracted.
        slot: Slot,
    },
    /// A head does not follow the one before it.
    #[error("the head of slot {slot} does not follow the one before: {rule}")]
    DoesNotFollow {
        /// The later head's slot.
        slot: Slot,
        /// The rule broken.
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
    /// What a later version of exitgap made, where that is the reason.
    pub fn newer(&self) -> Option<Newer> {
        match self {
            Self::Document(DocumentError::Newer(newer)) => Some(*newer),
            _ => None,
        }
    }
}

impl Head {
    /// What of the head only a later version of exitgap knows: why its slot is missing, or why it
    /// takes one back.
    pub fn newer(&self) -> Option<Newer> {
        match &self.entry {
            HeadEntry::Missing(MissingReason::Newer(code)) => Some(Newer::MissingReason(*code)),
            _ => self.retracts.iter().find_map(Retraction::newer),
        }
    }

    /// The canonical bytes: what is stored, served and hashed.
    pub fn to_canonical(&self) -> Result<Vec<u8>, DocumentError> {
        to_canonical(&WireHead::from(self))
    }

    /// The SHA-256 of canonical bytes: what the next head names.
    pub fn hash_of(canonical: &[u8]) -> HeadHash {
        HeadHash(Sha256::digest(canonical).into())
    }

    /// The hash of canonical bytes as a leaf of the slot's tree.
    pub fn leaf_of(canonical: &[u8]) -> Hash {
        leaf_hash(canonical)
    }

    /// Reads and checks untrusted bytes.
    pub fn from_canonical(bytes: &[u8]) -> Result<Self, HeadError> {
        let wire: WireHead = from_canonical(bytes, MAX_HEAD_BYTES, "a head")?;
        wire.check()
    }

    /// The canonical bytes, where reading them would give this very head.
    pub(super) fn checked_to_canonical(&self) -> Result<Vec<u8>, HeadError> {
        let wire = WireHead::from(self);
        let bytes = to_canonical_within(&wire, MAX_HEAD_BYTES)?;
        wire.check()?;
        Ok(bytes)
    }

    /// Checks that this head is the next of its pool after `before`, whose canonical
    /// bytes hash to `before_hash`.
    pub fn check_follows(&self, before: &Self, before_hash: HeadHash) -> Result<(), HeadError> {
        let recorded = u32::from(matches!(self.entry, HeadEntry::Recorded { .. }));
        let retracted = u32::try_from(self.retracts.len()).unwrap_or(u32::MAX);
        let count = before.recorded_count.checked_add(recorded);
        let count = count.and_then(|count| count.checked_sub(retracted));
        let rules = [
            (before.entry != HeadEntry::Retired, "it was retired"),
            (self.pool == before.pool, "its pool is another"),
            (Some(self.slot) == before.slot.next(), "its slot"),
            (before.height.checked_add(1) == Some(self.height), "its height"),
            (self.prev == Some(before_hash), "its prev"),
            (Some(self.recorded_count) == count, "its recorded_count"),
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
        if let Some(retraction) = self.retracts.first().filter(|_| self.height == 0) {
            // Nothing was recorded before a first head.
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

/// Whether a text can name a version of the rules.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::BlockHash;
    use HeadError as E;

    fn first() -> Head {
        Head {
            pool: "anvil:0x00000000000000000000000000000000000000aa".parse().unwrap(),
            slot: Slot::FIRST,
            height: 0,
            recorded_count: 1,
            prev: None,
            entry: HeadEntry::Recorded {
                snapshot: SnapshotHash([1; 32]),
                depth_usd: [Some(1_000), None],
            },
            lowest_depth_7d_usd: [Some(1_000), None],
            method_version: "1.0.0".to_owned(),
            retracts: Vec::new(),
            commits: Commits::default(),
        }
    }

    fn second(before: &Head) -> Head {
        Head {
            slot: before.slot.next().unwrap(),
            height: 1,
            recorded_count: 0,
            prev: Some(Head::hash_of(&before.to_canonical().unwrap())),
            entry: HeadEntry::Missing(MissingReason::ChainLagging),
            lowest_depth_7d_usd: [None, None],
            retracts: vec![Retraction::orphaned(
                before.slot,
                BlockHash([1; 32]),
                BlockHash([2; 32]),
            )],
            ..before.clone()
        }
    }

    #[test]
    fn heads_have_these_bytes_and_follow_each_other() {
        let first = first();
        let bytes = first.to_canonical().unwrap();
        assert_eq!(
            core::str::from_utf8(&bytes).unwrap(),
            concat!(
                r#"{"depth_usd":["1000",null],"height":0,"lowest_depth_7d_usd":["1000",null],"#,
                r#""method_version":"1.0.0","pool":"anvil:0x00000000000000000000000000000000000000aa","#,
                r#""prev":null,"recorded_count":1,"slot":5957856,"#,
                r#""snapshot":"0x0101010101010101010101010101010101010101010101010101010101010101","v":1}"#
            )
        );
        assert_eq!(Head::from_canonical(&bytes), Ok(first.clone()));
        let second = second(&first);
        let hash = Head::hash_of(&bytes);
        assert_eq!(second.check_follows(&first, hash), Ok(()));
        assert_eq!(Head::from_canonical(&second.to_canonical().unwrap()), Ok(second.clone()));
        let broken = |head: Head| head.check_follows(&first, hash).unwrap_err().to_string();
        assert!(broken(Head { height: 2, ..second.clone() }).contains("height"));
        assert!(broken(Head { recorded_count: 1, ..second.clone() }).contains("recorded_count"));
        assert!(broken(Head { prev: Some(HeadHash([0; 32])), ..second.clone() }).contains("prev"));
        assert!(broken(Head { slot: Slot::LAST, ..second.clone() }).contains("slot"));
        let retired = Head { entry: HeadEntry::Retired, ..first.clone() };
        assert!(second.check_follows(&retired, hash).is_err());
    }

    #[test]
    fn what_only_a_later_version_knows_is_kept_as_it_stands() {
        let first = first();
        let text = String::from_utf8(second(&first).to_canonical().unwrap()).unwrap();
        let code = |text: &str| text.parse().unwrap();
        let reads = |text: &str| {
            let head = Head::from_canonical(text.as_bytes()).unwrap();
            assert_eq!(head.to_canonical().unwrap(), text.as_bytes());
            head
        };
        assert_eq!(reads(&text).newer(), None);
        let tired = reads(&text.replace("chain_lagging", "tired"));
        assert_eq!(tired.newer(), Some(Newer::MissingReason(code("tired"))));
        let start = text.find("\"retracts\":[").unwrap() + 12;
        let end = start + text[start..].find("}]").unwrap() + 1;
        let because = |retraction: &str| format!("{}{retraction}{}", &text[..start], &text[end..]);
        let number = Slot::FIRST.number();
        let misread = reads(&because(&format!(r#"{{"code":"misread","slot":{number}}}"#)));
        assert_eq!(
            (misread.newer(), misread.retracts),
            (None, vec![Retraction::misread(Slot::FIRST)])
        );
        let moon =
            reads(&because(&format!(r#"{{"code":"moon","phase":["full"],"slot":{number}}}"#)));
        assert_eq!(moon.newer(), Some(Newer::Retraction(code("moon"))));
        assert_eq!(moon.retracts[0].slot, Slot::FIRST);
        let document = format!("0x{}", "5a".repeat(32));
        let commits = format!(r#"{{"commits":{{"fills":"{document}"}},"#);
        let committing = reads(&text.replacen('{', &commits, 1));
        assert_eq!(committing.newer(), None);
        assert_eq!(committing.commits.get("fills").unwrap().to_string(), document);
        for (from, to) in
            [("fills", "Fills"), ("5a5a", "5A5A"), ("{\"fills\"", "{\"a\":1,\"fills\"")]
        {
            let wrong = text.replacen('{', &commits.replacen(from, to, 1), 1);
            assert!(Head::from_canonical(wrong.as_bytes()).is_err(), "{to}");
        }
    }

    #[test]
    fn heads_that_break_a_rule_are_refused_by_name() {
        let text = String::from_utf8(second(&first()).to_canonical().unwrap()).unwrap();
        let read = |from: &str, to: &str| {
            let changed = text.replacen(from, to, 1);
            assert_ne!(changed, text, "the change must happen");
            Head::from_canonical(changed.as_bytes()).unwrap_err()
        };
        assert_eq!(read("\"height\":1", "\"height\":0"), E::Prev { height: 0 });
        let first = String::from_utf8(first().to_canonical().unwrap()).unwrap();
        let missing_first = first
            .replace("\"depth_usd\":[\"1000\",null],", "")
            .replace(&format!("\"snapshot\":\"0x{}\"", "01".repeat(32)), "\"slotted\":1");
        let missing_first = missing_first.replace("\"slotted\":1,", "").replace(
            "\"method_version\":\"1.0.0\"",
            "\"method_version\":\"1.0.0\",\"missing\":\"chain_lagging\"",
        );
        assert!(matches!(
            Head::from_canonical(missing_first.as_bytes()).unwrap_err(),
            E::RecordedCount { height: 0, recorded_count: 1 }
        ));
        let read_first = |from: &str, to: &str| {
            Head::from_canonical(first.replacen(from, to, 1).as_bytes()).unwrap_err()
        };
        let none = read_first("\"recorded_count\":1", "\"recorded_count\":0");
        assert!(matches!(none, E::RecordedCount { recorded_count: 0, .. }));
        let at_first = read_first(
            "\"slot\"",
            &format!(r#""retracts":[{{"code":"misread","slot":{}}}],"slot""#, Slot::FIRST.number()),
        );
        assert!(matches!(at_first, E::Retraction { .. }), "{at_first}");
        let above = read_first("7d_usd\":[\"1000\"", "7d_usd\":[\"1001\"");
        assert_eq!(above, E::LowestDepth { token: 0 });
        assert_eq!(read_first("7d_usd\":[\"1000\"", "7d_usd\":[null"), E::LowestDepth { token: 0 });
        assert!(matches!(
            read("\"recorded_count\":0", "\"recorded_count\":3"),
            E::RecordedCount { .. }
        ));
        assert!(matches!(read("[null,null]", "[\"01\",null]"), E::Depth { .. }));
        assert!(matches!(read("[null,null]", "[\"1000000001\",null]"), E::Depth { .. }));
        assert!(matches!(read("\"slot\":5957857", "\"slot\":5957856"), E::Retraction { .. }));
        assert!(matches!(read("\"slot\":5957857", "\"slot\":5958145"), E::Retraction { .. }));
        assert!(matches!(read(&"01".repeat(32), &"02".repeat(32)), E::Retraction { .. }));
        assert_eq!(read("{\"height\"", "{\"depth_usd\":[null,null],\"height\""), E::DepthPlace);
        for version in ["", "1.0.0 ", "1.0.0\u{e9}", "123456789.123456789.1"] {
            assert_eq!(read("\"1.0.0\"", &format!("\"{version}\"")), E::MethodVersion);
        }
        assert_eq!(read("\"missing\":\"chain_lagging\",", ""), E::Entry);
        assert_eq!(
            read("{\"height\"", "{ \"height\""),
            E::Document(DocumentError::NotCanonical { at: 1 })
        );
        assert!(matches!(read("chain_lagging", "Tired"), E::Document(DocumentError::Shape(_))));
        assert!(matches!(
            read("\"orphaned\",", "\"misread\","),
            E::Document(DocumentError::Shape(_))
        ));
        let version = Newer::Version { document: "a head", found: 2 };
        assert_eq!(read("\"v\":1", "\"v\":2").newer(), Some(version));
        assert!(matches!(read("\"slot\":5957857", "\"slot\":12"), E::Slot(_)));
    }
}
