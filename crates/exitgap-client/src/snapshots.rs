//! A recorded slot, downloaded completely, so that the reader can compute all answers locally.

use exitgap_api::operations::{Operation, Target};
use exitgap_api::{
    Answers, Context, DepthSourceKind, ExitResult, GuardInputs, Guards, Ladder, MaxSizeResult,
    Problem, Provenance, PublishedExit, PublishedLadder, RouteLadder, RouteRanking,
    SimulationResult, slot_at,
};
use exitgap_core::exit::{Exits, METHOD_VERSION, OrderPlan};
use exitgap_core::ids::{PoolId, SnapshotHash};
use exitgap_core::pools::Direction;
use exitgap_core::series::Slot;
use exitgap_core::snapshot::Snapshot;
use exitgap_core::units::{GapLimit, SizeUsd, UsdMicros};

use crate::{Client, ClientError, EvidenceOf, Transport};

/// A snapshot with the service's statements about its series. The snapshot's hash was checked here; only its evidence
/// proves that the log commits to it, and how long the series is.
#[derive(Debug, Clone)]
pub struct FetchedSnapshot {
    /// The snapshot.
    pub snapshot: Snapshot,
    /// Its slot and its position in the series, according to the service.
    pub provenance: Provenance,
    /// The direction if no base is named: that of the base for which the state was downloaded, or the pool's default.
    pub default_direction: Direction,
    /// The service's own ladder for that direction.
    pub published: PublishedLadder,
    exits: Exits,
}

impl FetchedSnapshot {
    /// The direction that sells `base`: `token0`, `token1`, a symbol or an address.
    pub fn direction(&self, base: Option<&str>) -> Result<Direction, Problem> {
        match base {
            None => Ok(self.default_direction),
            Some(base) => Ok(self.snapshot.observation().direction_of(base)?),
        }
    }

    /// The pool, prepared for questions in one direction.
    pub fn answers(&self, direction: Direction) -> Answers<'_> {
        let observation = self.snapshot.observation();
        Answers::with_exit(
            observation,
            &self.provenance,
            self.exits.get_or_prepare(observation, direction),
        )
    }

    /// Requires that it meets these guards at `now_s`, seconds since 1970. The length of the series is only claimed by
    /// the service; status and slot are in the snapshot.
    pub fn check(&self, guards: &Guards, now_s: u64) -> Result<(), Problem> {
        guards.check(&GuardInputs::from_observation(
            self.snapshot.observation(),
            &self.provenance,
            now_s,
        ))
    }

    /// The estimate for a sale of `size`.
    pub fn estimate(&self, size: SizeUsd, base: Option<&str>) -> Result<ExitResult, Problem> {
        self.answers(self.direction(base)?).estimate(size)
    }

    /// The largest sale whose gap is at most `limit`.
    pub fn max_size_for(
        &self,
        limit: GapLimit,
        base: Option<&str>,
    ) -> Result<MaxSizeResult, Problem> {
        self.answers(self.direction(base)?).max_size_for(limit)
    }

    /// One sale, split into several orders.
    pub fn simulate_orders(
        &self,
        plan: OrderPlan,
        base: Option<&str>,
    ) -> Result<SimulationResult, Problem> {
        self.answers(self.direction(base)?).simulate_orders(plan)
    }

    /// Depth by gap and slippage by size.
    pub fn ladder(
        &self,
        limits: &[GapLimit],
        sizes: &[SizeUsd],
        base: Option<&str>,
    ) -> Result<Ladder, Problem> {
        Ok(self.answers(self.direction(base)?).ladder(limits, sizes))
    }
}

/// Ranks the venues of one token by their ladders, each alone and in an optimal split of `size`. `fixed_costs` are the
/// costs of using each venue, in the same order; empty means none.
pub fn rank_routes(
    ladders: &[Ladder],
    fixed_costs: &[UsdMicros],
    size: SizeUsd,
) -> Result<RouteRanking, Problem> {
    let ladders: Vec<RouteLadder> = ladders.iter().map(RouteLadder::from).collect();
    RouteRanking::from_ladders(&ladders, fixed_costs, size)
}

impl<T: Transport> Client<T> {
    /// Downloads the pool's newest recorded slot, or the one at or before `at`. That no newer slot exists is only
    /// claimed by the service.
    pub async fn fetch_snapshot(
        &self,
        pool: &PoolId,
        at: Option<&str>,
    ) -> Result<FetchedSnapshot, ClientError> {
        self.recorded_selling(pool, None, at).await
    }

    /// The same, selling `base` by default; `None`: the pool's default.
    pub async fn recorded_selling(
        &self,
        pool: &PoolId,
        base: Option<&str>,
        at: Option<&str>,
    ) -> Result<FetchedSnapshot, ClientError> {
        let published = self.ladder(pool, base, at).await?;
        let target = Operation::Ladder.target_of(pool);
        let asked = PoolQuery { pool, base, at };
        let Behind { snapshot, provenance, direction } =
            self.behind(&target, &asked, &published.answer.context).await?;
        let exits = Exits::default();
        Ok(FetchedSnapshot { default_direction: direction, snapshot, provenance, published, exits })
    }

    /// The service's published answer for a sale of `size`, recomputed here from the snapshot it names; an answer that
    /// does not follow from it is an error.
    pub async fn recomputed_exit(
        &self,
        pool: &PoolId,
        size: SizeUsd,
        base: Option<&str>,
        at: Option<&str>,
    ) -> Result<PublishedExit, ClientError> {
        let published = self.exit(pool, size, base, at).await?;
        let target = Operation::Exit.target_of(pool);
        let asked = PoolQuery { pool, base, at };
        let Behind { snapshot, provenance, direction } =
            self.behind(&target, &asked, &published.answer.context).await?;
        let answers = Answers::new(snapshot.observation(), &provenance, direction);
        if answers.estimate(size)? != published.answer {
            return Err(
                self.not_as_specified(&target, "the answer does not follow from its snapshot")
            );
        }
        let of = EvidenceOf {
            pool: pool.clone(),
            base: direction.into(),
            slot: snapshot.slot(),
            size,
            method_version: METHOD_VERSION.to_owned(),
        };
        let evidence = published.evidence_url.as_deref();
        if evidence.is_some_and(|url| EvidenceOf::from_url(url) != Some(of)) {
            return Err(
                self.not_as_specified(&target, "its evidence_url does not match the request")
            );
        }
        Ok(published)
    }

    /// Downloads the snapshot behind an answer, and requires that it matches the request.
    async fn behind(
        &self,
        target: &Target,
        asked: &PoolQuery<'_>,
        context: &Context,
    ) -> Result<Behind, ClientError> {
        let latest = asked.at.map(|at| slot_at("at", at)).transpose()?;
        let wrong = |why: &str| self.not_as_specified(target, why);
        let (hash, slot, provenance) = provenance(context).map_err(|why| wrong(&why))?;
        let snapshot = self.snapshot(asked.pool, hash).await?;
        let observation = snapshot.observation();
        if observation.pool() != asked.pool {
            return Err(wrong("the snapshot it names belongs to another pool"));
        }
        if snapshot.slot() != slot {
            let found = snapshot.slot();
            return Err(wrong(&format!(
                "it has slot {slot}, but names a snapshot of slot {found}"
            )));
        }
        if let Some(latest) = latest.filter(|latest| slot > *latest) {
            return Err(wrong(&format!(
                "slot {latest} or earlier was requested, but the answer has slot {slot}"
            )));
        }
        let direction = observation
            .direction_of(&context.base.address)
            .map_err(|_| wrong("its base is not one of the snapshot's tokens"))?;
        let named = asked.base.map(|base| observation.direction_of(base)).transpose();
        if named.map_err(|error| Problem::from(&error))?.is_some_and(|named| named != direction) {
            return Err(wrong("it sells a different token from the requested one"));
        }
        Ok(Behind { snapshot, provenance, direction })
    }
}

/// A question about a pool.
struct PoolQuery<'a> {
    pool: &'a PoolId,
    base: Option<&'a str>,
    at: Option<&'a str>,
}

/// The snapshot and source behind an answer.
struct Behind {
    snapshot: Snapshot,
    provenance: Provenance,
    direction: Direction,
}

/// The source that a published answer names.
fn provenance(context: &Context) -> Result<(SnapshotHash, Slot, Provenance), String> {
    let source = &context.method.depth_source;
    let absent = |what: &str| format!("{what} is missing or unreadable");
    if source.kind != DepthSourceKind::RecordedSnapshot {
        return Err("its depth is not from a recorded snapshot".to_owned());
    }
    let window = context.window.as_ref().ok_or_else(|| absent("window"))?;
    let slot = |field: &str, text: &str| slot_at(field, text).map_err(|problem| problem.detail);
    let hash = source.snapshot_hash.as_ref().and_then(|hash| hash.parse().ok());
    let hash = hash.ok_or_else(|| absent("method.depth_source.snapshot_hash"))?;
    let last = slot("window.to", &window.to)?;
    let provenance = Provenance::Recorded {
        slot: last,
        snapshot_hash: hash,
        first_slot: slot("window.from", &window.from)?,
        recorded_slots: window.slots_recorded,
        newer_slots_missing: source.newer_slots_missing,
    };
    Ok((hash, last, provenance))
}
