//! Snapshots that were asked about, kept with what was computed from them.

use std::sync::{Arc, OnceLock};

use exitgap_api::operations::EvidenceOf;
use exitgap_api::{Context, Number, Provenance};
use exitgap_core::evidence::{Base, Depths};
use exitgap_core::exit::{Estimate, Exit, Exits, GapRow, Refusal, SizeRow};
use exitgap_core::ids::{PoolId, SnapshotHash};
use exitgap_core::pools::Direction;
use exitgap_core::series::{LookupError, Slot};
use exitgap_core::snapshot::Snapshot;
use exitgap_core::units::{GapLimit, SizeUsd};
use exitgap_store::{FindError, Pool, Reader, StoreError};
use quick_cache::Weighter;
use quick_cache::sync::Cache;

use super::urls::Urls;

/// About how many bytes a kept snapshot holds beside its ticks, curves and ladders: tokens, oracle
/// readings, names, what answers say of it, some addresses.
const SMALL_PARTS_BYTES: usize = 6 << 10;

/// What the curve of one direction may hold to be kept: some 1,800 stops. Few pools have more, and
/// of those that do, such as one with a position over the whole range at a tick spacing of 1, one
/// answer seldom needs more than the first few stops: to follow them anew costs less than to keep
/// megabytes for each.
const MOST_CURVE_BYTES: usize = 512 << 10;

/// How many snapshots the cache's own tables are made for.
const CACHE_ITEMS: usize = 2_000;

/// A recorded slot of a pool, ready for questions.
pub struct PreparedSnapshot {
    /// The pool.
    pub pool: Pool,
    /// The slot.
    pub slot: Slot,
    /// The snapshot's name.
    pub hash: SnapshotHash,
    /// The snapshot.
    pub snapshot: Snapshot,
    /// How many slots of the pool are recorded up to and with this one.
    pub recorded_count: u32,
    /// The lowest depths of the last seven days, per direction.
    lowest: Depths,
    /// Whether a curve that was followed stays for the next question.
    keeps_curves: bool,
    exits: Exits,
    sides: [Side; 2],
    urls: OnceLock<[String; 2]>,
}

/// One direction, each part computed when first asked for.
#[derive(Default)]
struct Side {
    ladder: OnceLock<(Vec<GapRow>, Vec<SizeRow>)>,
    /// What every answer says of itself, without the size asked about and the count of slots that
    /// are missing since: those two are filled in for each answer.
    context: OnceLock<Context>,
    /// The address of its evidence up to where the size stands.
    evidence: OnceLock<String>,
}

impl PreparedSnapshot {
    /// What it is kept by.
    pub fn key(&self) -> PreparedKey {
        (self.pool.id.clone(), self.hash)
    }

    /// Reads the pool's snapshot of the slot, for one question or, where it is to `stay`, for many.
    pub fn from_reader(
        reader: &Reader,
        pool: &PoolId,
        slot: Slot,
        hash: SnapshotHash,
        stay: bool,
    ) -> Result<Self, FindError> {
        let unknown = || LookupError::UnknownPool { pool: pool.clone(), nearest: Vec::new() };
        let pool = reader.pool(pool)?.ok_or_else(unknown)?;
        let gone = || StoreError::CorruptRow {
            table: "entry",
            found: format!("no snapshot of {} at {slot}", pool.id),
        };
        let snapshot = reader.snapshot_at(&pool, slot)?.ok_or_else(gone)?;
        let head = reader.head(&pool, slot)?.ok_or_else(gone)?.head;
        let (exits, sides) = Default::default();
        let (recorded_count, lowest) = (head.recorded_count, head.lowest_depth_7d_usd);
        let urls = OnceLock::new();
        let state = snapshot.observation().state();
        let is_small = |side| state.curve_bytes_at_most(side) <= MOST_CURVE_BYTES;
        let keeps_curves = stay && Direction::BOTH.into_iter().all(is_small);
        Ok(Self {
            pool,
            slot,
            hash,
            snapshot,
            recorded_count,
            lowest,
            keeps_curves,
            exits,
            sides,
            urls,
        })
    }

    /// The pool's exit in a direction, prepared and kept; `None` where it is not kept.
    pub fn exit(&self, direction: Direction) -> Option<&Exit> {
        self.keeps_curves.then(|| self.exits.get_or_prepare(self.snapshot.observation(), direction))
    }

    /// What selling `size` fills at. Where the curve is not kept it is followed no further than
    /// this answer lies.
    pub fn estimate(&self, direction: Direction, size: SizeUsd) -> Result<Estimate, Refusal> {
        match self.exit(direction) {
            Some(exit) => exit.estimate(size),
            None => Exit::estimate_once(self.snapshot.observation(), direction, size),
        }
    }

    /// Whether an estimate is a matter of microseconds: its curve is at hand.
    pub fn has_exit(&self, direction: Direction) -> bool {
        self.exits.is_ready(direction)
    }

    /// The pool's standard ladder in a direction, by gap and by size.
    pub fn ladder(&self, direction: Direction) -> &(Vec<GapRow>, Vec<SizeRow>) {
        self.sides[direction.base_index()].ladder.get_or_init(|| {
            self.with_exit(direction, |exit| {
                (exit.ladder_by_gap(&GapLimit::LADDER), exit.ladder_by_size(&SizeUsd::STANDARD))
            })
        })
    }

    /// Asks the pool's exit in a direction, with all of its curve; for this question only where it
    /// is not kept.
    pub fn with_exit<T>(&self, direction: Direction, ask: impl FnOnce(&Exit) -> T) -> T {
        match self.exit(direction) {
            Some(exit) => ask(exit),
            None => ask(&Exit::from_pool(self.snapshot.observation(), direction)),
        }
    }

    /// Whether the ladder was computed before.
    pub fn has_ladder(&self, direction: Direction) -> bool {
        self.sides[direction.base_index()].ladder.get().is_some()
    }

    /// The lowest depth of the last seven days in a direction, whole dollars.
    pub fn lowest_depth(&self, direction: Direction) -> Option<u64> {
        self.lowest[direction.base_index()]
    }

    /// What every answer about it says of itself.
    pub fn context(
        &self,
        direction: Direction,
        size: Option<SizeUsd>,
        newer_slots_missing: Option<u64>,
    ) -> Context {
        let side = &self.sides[direction.base_index()];
        let context = side.context.get_or_init(|| {
            let provenance = Provenance::Recorded {
                slot: self.slot,
                snapshot_hash: self.hash,
                first_slot: self.pool.first_slot,
                recorded_slots: self.recorded_count.into(),
                newer_slots_missing: None,
            };
            Context::new(self.snapshot.observation(), direction, &provenance, None)
        });
        let mut context = context.clone();
        context.method.assumed_size_usd = size.map(Number::from);
        context.method.depth_source.newer_slots_missing = newer_slots_missing;
        context
    }

    /// Where the evidence of a size is.
    pub fn evidence_url(&self, urls: &Urls, direction: Direction, size_usd: &str) -> String {
        let side = &self.sides[direction.base_index()];
        let head = side
            .evidence
            .get_or_init(|| urls.evidence_up_to_size(&self.pool.id, direction.into(), self.slot));
        EvidenceOf::with_size(head, size_usd)
    }

    /// Where the snapshot is, and the head window that ends at its slot.
    pub fn snapshot_and_window_urls(&self, urls: &Urls) -> &[String; 2] {
        self.urls.get_or_init(|| [urls.snapshot(self.hash), urls.window(&self.pool.id, self.slot)])
    }

    /// The bytes it holds: its ticks, the curves and ladders that were computed of it, and the
    /// rest as a round sum.
    pub fn held_bytes(&self) -> usize {
        let ladder = |side: &Side| {
            let rows = side.ladder.get();
            rows.map_or(0, |(by_gap, by_size)| size_of_val(&by_gap[..]) + size_of_val(&by_size[..]))
        };
        size_of::<Self>()
            + SMALL_PARTS_BYTES
            + self.snapshot.observation().state().held_bytes()
            + self.exits.held_bytes()
            + self.sides.iter().map(ladder).sum::<usize>()
    }

    /// The token that a direction sells.
    pub fn base(direction: Direction) -> Base {
        direction.into()
    }
}

/// A snapshot in the cache, with what it weighed when it was put there: the cache needs a weight
/// that stays the same, and a snapshot grows with what is computed of it.
#[derive(Clone)]
pub struct WeighedSnapshot {
    /// The snapshot.
    pub prepared: Arc<PreparedSnapshot>,
    bytes: u64,
}

impl WeighedSnapshot {
    /// Weighs the snapshot with all that it holds now.
    pub fn from_prepared(prepared: &Arc<PreparedSnapshot>) -> Self {
        Self { prepared: prepared.clone(), bytes: prepared.held_bytes() as u64 }
    }
}

/// Whose snapshot, and its name: pools of one contract share a snapshot, and each is asked about its own pair.
pub type PreparedKey = (PoolId, SnapshotHash);

/// The kept snapshots.
pub type PreparedCache = Cache<PreparedKey, WeighedSnapshot, ByBytes>;

/// Weighs a snapshot by the bytes it holds.
#[derive(Debug, Clone, Copy)]
pub struct ByBytes;

impl Weighter<PreparedKey, WeighedSnapshot> for ByBytes {
    fn weight(&self, _: &PreparedKey, kept: &WeighedSnapshot) -> u64 {
        kept.bytes
    }
}

/// An empty cache for so many bytes.
pub fn cache(bytes: u64) -> PreparedCache {
    Cache::with_weighter(CACHE_ITEMS, bytes, ByBytes)
}
