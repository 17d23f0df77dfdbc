//! The current state of all pools, read once per sealed slot and shared by all requests.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use exitgap_api::{PoolLabels, Problem, ProblemCode, Status, names_apart};
use exitgap_core::evidence::LOWEST_DEPTH_SLOTS;
use exitgap_core::ids::{Address, ChainSlug, PoolId, SnapshotHash};
use exitgap_core::pools::Direction;
use exitgap_core::series::Slot;
use exitgap_store::{BoardRow, Latest, Pool, Reader, StoreError, day_of};

/// All pools as of the newest sealed slot.
#[derive(Debug, Default)]
pub struct Current {
    /// The newest sealed slot; `None` before the first.
    pub last_slot: Option<Slot>,
    /// The pools by name, in order.
    pub pools: BTreeMap<PoolId, PoolNow>,
    /// Their rows of the fragility board.
    pub board: Vec<BoardRow>,
    /// The number of their slots that are in doubt.
    pub doubtful_slots: u64,
}

/// A pool as of the newest sealed slot.
#[derive(Debug, Clone)]
pub struct PoolNow {
    /// The pool.
    pub pool: Pool,
    /// Its newest entry and snapshot.
    pub latest: Latest,
    /// Tokens, status, venue and fee; `None` before the first snapshot, or if that snapshot is archived and its day's
    /// files are not available.
    pub labels: Option<Arc<PoolLabels>>,
    /// Venue and fee, made distinct from other pools of the same pair; empty before the first snapshot.
    pub name: String,
    /// The lowest depth of each of the last eight UTC days, when selling the default base; newest last.
    pub daily_lowest: Vec<Option<u64>>,
    /// Slots of the seven days up to its newest entry that were retracted.
    pub retracted_7d: u32,
}

/// The number of days in a depth chart: seven days can touch eight UTC days.
const DAYS_SHOWN: u32 = 8;

/// A pool's newest snapshot.
pub struct Newest {
    /// Its slot.
    pub slot: Slot,
    /// Its hash.
    pub hash: SnapshotHash,
    /// The number of later slots that are missing.
    pub newer_slots_missing: u64,
}

/// A monitored pool in which a token is sold.
#[derive(Debug, Clone)]
pub struct SellingPool {
    /// The pool.
    pub id: PoolId,
    /// The direction that sells the token.
    pub direction: Direction,
    /// The token that it is sold for.
    pub quote: String,
    /// Live or preview.
    pub status: Status,
    /// Venue and fee.
    pub name: String,
    /// The depth at 2 % in its newest slot; `None` if the search was given up.
    pub depth_usd: Option<u64>,
    /// The newest recorded slot.
    pub newest: Option<Slot>,
    /// The pool's first slot.
    pub first_slot: Slot,
    /// The pool's newest slot.
    pub last_slot: Slot,
}

impl Current {
    /// The monitored pools in which a token is sold, deepest first.
    pub fn pools_selling(&self, chain: &ChainSlug, token: Address) -> Vec<SellingPool> {
        let sold = token.to_string();
        let depths: BTreeMap<&PoolId, [Option<u64>; 2]> = self
            .board
            .iter()
            .filter_map(|row| {
                let (_, figures) = row.standing.newest?;
                Some((&row.pool.id, figures.directions.map(|direction| direction.depth_usd)))
            })
            .collect();
        let of = |(id, now): (&PoolId, &PoolNow)| {
            let labels = now.labels.as_ref()?;
            let sells =
                |direction: &Direction| labels.tokens[direction.base_index()].address == sold;
            let direction = Direction::BOTH.into_iter().find(sells)?;
            Some(SellingPool {
                id: id.clone(),
                direction,
                quote: labels.tokens[direction.quote_index()].address.clone(),
                status: labels.status,
                name: now.name.clone(),
                depth_usd: depths.get(id).and_then(|depths| depths[direction.base_index()]),
                newest: now.latest.snapshot.map(|(slot, _)| slot),
                first_slot: now.pool.first_slot,
                last_slot: now.latest.entry.slot,
            })
        };
        let monitored = |(id, now): &(&PoolId, &PoolNow)| {
            id.chain() == chain && now.pool.retired_slot.is_none()
        };
        let mut pools: Vec<SellingPool> =
            self.pools.iter().filter(monitored).filter_map(of).collect();
        pools.sort_by_cached_key(|one| (Reverse(one.depth_usd), one.id.clone()));
        pools
    }

    /// Reads the state of all pools; `None` if no slot was sealed since `before`.
    pub fn from_reader(reader: &Reader, before: &Self) -> Result<Option<Self>, StoreError> {
        let last_slot = reader.slots()?.map(|(_, last)| last);
        if last_slot == before.last_slot {
            return Ok(None);
        }
        let mut pools = BTreeMap::new();
        for pool in reader.pools()? {
            let Some(latest) = reader.latest(&pool, last_slot)? else { continue };
            let known = before.pools.get(&pool.id).and_then(|now| now.labels.clone());
            let lasts = |labels: &Arc<PoolLabels>| {
                labels.naming.is_lasting && labels.status == Status::Live
            };
            let labels = match known.clone().filter(lasts) {
                Some(labels) => Some(labels),
                None => read_labels(reader, &pool, &latest)?.or(known),
            };
            let daily_lowest = daily_lowest(reader, &pool, last_slot)?;
            let to = latest.entry.slot;
            let retracted = reader.retractions(&pool, first_of_7d(&pool, to), to)?;
            let retracted_7d = u32::try_from(retracted.len()).unwrap_or(u32::MAX);
            let name = String::new();
            let now = PoolNow { pool, latest, labels, name, daily_lowest, retracted_7d };
            pools.insert(now.pool.id.clone(), now);
        }
        tell_apart(&mut pools);
        let (board, doubtful_slots) = (reader.board()?, reader.doubted_slots()?);
        Ok(Some(Self { last_slot, pools, board, doubtful_slots }))
    }

    /// The pool's newest snapshot; `None` if it has none or does not exist.
    pub fn newest_of(&self, pool: &PoolId) -> Option<Newest> {
        let latest = &self.pools.get(pool)?.latest;
        let (slot, hash) = latest.snapshot?;
        let newer_slots_missing =
            u64::from(latest.newer_missing) + u64::from(latest.newer_retracted);
        Some(Newest { slot, hash, newer_slots_missing })
    }

    /// Requires that a pool of the chain is recorded.
    pub fn require_chain(&self, chain: &ChainSlug) -> Result<(), Problem> {
        if self.pools.keys().any(|pool| pool.chain() == chain) {
            return Ok(());
        }
        let chains: BTreeSet<&str> = self.pools.keys().map(|pool| pool.chain().as_str()).collect();
        let chains = chains.into_iter().collect::<Vec<_>>().join(", ");
        let detail = format!("no pool of chain {chain} is monitored");
        Err(Problem::new(ProblemCode::UnknownChain, detail)
            .field("chain")
            .hint(format!("monitored: {chains}")))
    }

    /// The newest recorded slot of each recorded chain. Retired pools are ignored, because they have no newer slots and
    /// so say nothing about whether the chain is still read.
    pub fn newest_by_chain(&self) -> BTreeMap<&str, Option<Slot>> {
        let mut newest = BTreeMap::new();
        let recorded = |now: &PoolNow| now.pool.retired_slot.is_none();
        for (pool, now) in self.pools.iter().filter(|(_, now)| recorded(now)) {
            let slot = now.latest.snapshot.map(|(slot, _)| slot);
            let of_chain = newest.entry(pool.chain().as_str()).or_insert(slot);
            *of_chain = slot.max(*of_chain);
        }
        newest
    }
}

/// Gives every pool with a snapshot a distinct name.
fn tell_apart(pools: &mut BTreeMap<PoolId, PoolNow>) {
    let labelled = pools.iter().filter_map(|(id, now)| Some((id, now.labels.as_deref()?)));
    let names = names_apart(&labelled.collect::<Vec<_>>());
    let labelled = pools.values_mut().filter(|now| now.labels.is_some());
    for (now, name) in labelled.zip(names) {
        now.name = name;
    }
}

/// The first of the seven days up to `to`, or the pool's first slot.
pub fn first_of_7d(pool: &Pool, to: Slot) -> Slot {
    let first = to.number().saturating_sub(LOWEST_DEPTH_SLOTS - 1);
    Slot::new(first.into()).unwrap_or(Slot::FIRST).max(pool.first_slot)
}

fn daily_lowest(
    reader: &Reader,
    pool: &Pool,
    last_slot: Option<Slot>,
) -> Result<Vec<Option<u64>>, StoreError> {
    let Some(today) = last_slot.map(day_of) else { return Ok(Vec::new()) };
    let days = reader.days(pool, today.saturating_sub(DAYS_SHOWN - 1), today)?;
    let side = pool.default_base.base_index();
    let lowest = days.iter().map(|day| day.rollup.directions[side].lowest);
    Ok(lowest.map(|lowest| lowest.map(|(_, depth)| depth)).collect())
}

fn read_labels(
    reader: &Reader,
    pool: &Pool,
    latest: &Latest,
) -> Result<Option<Arc<PoolLabels>>, StoreError> {
    let Some((_, hash)) = latest.snapshot else { return Ok(None) };
    let snapshot = match reader.snapshot(&pool.id, hash) {
        // If its day's files are not available, a retired pool is listed without its labels.
        Err(error @ (StoreError::Left { .. } | StoreError::LeftUnread { .. })) => {
            tracing::warn!(pool = %pool.id, %error, "what a pool is called is not known");
            return Ok(None);
        }
        snapshot => snapshot?,
    };
    Ok(snapshot.map(|snapshot| Arc::new(PoolLabels::from_observation(snapshot.observation()))))
}
