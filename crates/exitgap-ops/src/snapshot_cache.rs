//! Caches recently used snapshots, with the values computed from them.

use std::sync::{Arc, OnceLock};

use exitgap_api::operations::EvidenceOf;
use exitgap_api::{Context, DepthWeek, Number, Provenance};
use exitgap_core::evidence::{Base, Depths};
use exitgap_core::exit::{Estimate, Exit, Exits, GapRow, Refusal, SizeRow};
use exitgap_core::ids::{PoolId, SnapshotHash};
use exitgap_core::pools::Direction;
use exitgap_core::series::{LookupError, Slot};
use exitgap_core::snapshot::Snapshot;
use exitgap_core::units::{GapLimit, SizeUsd};
use exitgap_store::{FindError, Pool, Reader, StoreError, WeekFigures};
use quick_cache::Weighter;
use quick_cache::sync::Cache;

use super::urls::Urls;

/// The approximate size of a cached snapshot without its ticks, curves and ladders: tokens, oracle readings, names, the
/// context of answers, some URLs.
const SMALL_PARTS_BYTES: usize = 6 << 10;

/// The maximum size of one direction's curve in the cache: some 1,800 stops. Few pools have more. Those that do, for
/// example with a position over the whole range at a tick spacing of 1, seldom need more than the first few stops for
/// an answer. Following them again costs less than caching megabytes for each.
const MOST_CURVE_BYTES: usize = 512 << 10;

/// The number of snapshots that the cache's tables are sized for.
const CACHE_ITEMS: usize = 2_000;

/// A recorded slot of a pool, prepared for requests.
pub struct PreparedSnapshot {
    /// The pool.
    pub pool: Pool,
    /// The slot.
    pub slot: Slot,
    /// The snapshot's hash.
    pub hash: SnapshotHash,
    /// The snapshot.
    pub snapshot: Snapshot,
    /// The number of recorded slots of the pool, up to and including this one.
    pub recorded_count: u32,
    /// The lowest depths of the last seven days, per direction.
    lowest: Depths,
    /// Their second reading.
    week: Option<WeekFigures>,
    /// Whether a computed curve is kept for the next request.
    keeps_curves: bool,
    exits: Exits,
    sides: [Side; 2],
    urls: OnceLock<[String; 2]>,
}

/// One direction. Each part is computed when it is first needed.
#[derive(Default)]
struct Side {
    ladder: OnceLock<(Vec<GapRow>, Vec<SizeRow>)>,
    /// The context of every answer, without the requested size and the number of later missing slots, which are filled
    /// in for each answer.
    context: OnceLock<Context>,
    /// The URL of its evidence up to the position of the size.
    evidence: OnceLock<String>,
}

impl PreparedSnapshot {
    /// Its key in the cache.
    pub fn key(&self) -> PreparedKey {
        (self.pool.id.clone(), self.hash)
    }

    /// Reads the pool's snapshot of the slot, for one request or, with `stay`, for many.
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
        let week = reader.week_at(&pool, slot)?;
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
            week,
            keeps_curves,
            exits,
            sides,
            urls,
        })
    }

    /// The pool's exit in a direction, computed and kept; `None` if curves are not kept.
    pub fn exit(&self, direction: Direction) -> Option<&Exit> {
        self.keeps_curves.then(|| self.exits.get_or_prepare(self.snapshot.observation(), direction))
    }

    /// The pool's exits, for a search that prepares them. They are kept if curves are.
    pub fn shared_exits(&self) -> Exits {
        if self.keeps_curves { self.exits.clone() } else { Exits::default() }
    }

    /// The fill of `size`. If the curve is not kept, it is followed only as far as this answer needs.
    pub fn estimate(&self, direction: Direction, size: SizeUsd) -> Result<Estimate, Refusal> {
        match self.exit(direction) {
            Some(exit) => exit.estimate(size),
            None => Exit::estimate_once(self.snapshot.observation(), direction, size),
        }
    }

    /// Whether an estimate takes only microseconds because its curve is already computed.
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

    /// Runs `ask` on the pool's exit in a direction, with its whole curve. If curves are not kept, it is computed for
    /// this call only.
    pub fn with_exit<T>(&self, direction: Direction, ask: impl FnOnce(&Exit) -> T) -> T {
        match self.exit(direction) {
            Some(exit) => ask(exit),
            None => ask(&Exit::from_pool(self.snapshot.observation(), direction)),
        }
    }

    /// Whether the ladder is already computed.
    pub fn has_ladder(&self, direction: Direction) -> bool {
        self.sides[direction.base_index()].ladder.get().is_some()
    }

    /// The lowest depth of the last seven days in a direction, whole dollars.
    pub fn lowest_depth(&self, direction: Direction) -> Option<u64> {
        self.lowest[direction.base_index()]
    }

    /// Its second reading, from the pool's own price, and why it is low.
    pub fn depth_week(&self, urls: &Urls, direction: Direction) -> DepthWeek {
        let lows = self.week.as_ref().map(|week| &week[direction.base_index()]);
        let url = || Some(urls.depths(&self.pool, self.slot));
        lows.map_or_else(DepthWeek::default, |lows| DepthWeek::from_lows(lows, url()))
    }

    /// The context of every answer about this snapshot.
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

    /// The URL of the evidence for a size.
    pub fn evidence_url(&self, urls: &Urls, direction: Direction, size_usd: &str) -> String {
        let side = &self.sides[direction.base_index()];
        let head = side
            .evidence
            .get_or_init(|| urls.evidence_up_to_size(&self.pool.id, direction.into(), self.slot));
        EvidenceOf::with_size(head, size_usd)
    }

    /// The URLs of the snapshot and of the head window that ends at its slot.
    pub fn snapshot_and_window_urls(&self, urls: &Urls) -> &[String; 2] {
        self.urls.get_or_init(|| [urls.snapshot(self.hash), urls.window(&self.pool.id, self.slot)])
    }

    /// Its size in bytes: ticks, the curves and ladders computed so far, and an estimate for the rest.
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

/// A snapshot in the cache, with its size when it was inserted. The cache needs a constant weight, but a snapshot grows
/// with the values computed from it.
#[derive(Clone)]
pub struct WeighedSnapshot {
    /// The snapshot.
    pub prepared: Arc<PreparedSnapshot>,
    bytes: u64,
}

impl WeighedSnapshot {
    /// Weighs the snapshot with its current contents.
    pub fn from_prepared(prepared: &Arc<PreparedSnapshot>) -> Self {
        Self { prepared: prepared.clone(), bytes: prepared.held_bytes() as u64 }
    }
}

/// The pool and the snapshot's hash. Pools of one contract share a snapshot, but each has its own pair.
pub type PreparedKey = (PoolId, SnapshotHash);

/// The cache of snapshots.
pub type PreparedCache = Cache<PreparedKey, WeighedSnapshot, ByBytes>;

/// Weighs a snapshot by its size in bytes.
#[derive(Debug, Clone, Copy)]
pub struct ByBytes;

impl Weighter<PreparedKey, WeighedSnapshot> for ByBytes {
    fn weight(&self, _: &PreparedKey, kept: &WeighedSnapshot) -> u64 {
        kept.bytes
    }
}

/// An empty cache of this size.
pub fn cache(bytes: u64) -> PreparedCache {
    Cache::with_weighter(CACHE_ITEMS, bytes, ByBytes)
}
