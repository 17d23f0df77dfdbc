//! The venues of a token at one slot: each alone, and one exit split over them.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use exitgap_api::operations::parameters::{QUOTE_GROUP, TOKEN_IN_PATH};
use exitgap_api::operations::{RoutesAsked, SnapshotAsked};
use exitgap_api::{
    BestSplit, DepthSourceKind, Number, Problem, ProblemCode, Routes, SeriesMethod, SeriesSource,
    SplitCandidate, SplitLeftOut,
};
use exitgap_core::exit::Exit;
use exitgap_core::ids::{Address, ChainSlug, PoolId};
use exitgap_core::pools::Direction;
use exitgap_core::series::Slot;
use exitgap_core::units::{SizeUsd, UsdMicros};

use super::current::SellingPool;
use super::legs::Legs;
use super::snapshot_cache::WeighedSnapshot;
use super::{FoundSnapshot, PreparedSnapshot, Service};

/// The maximum number of pools of a token, deepest first. This many snapshots are held at once.
const MOST_VENUES: usize = 24;

/// A group of tokens that count as equivalent proceeds, such as dollars.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuoteGroup {
    /// Its chain.
    pub chain: ChainSlug,
    /// Its name, in the form of a chain slug.
    pub name: String,
    /// Its tokens.
    pub tokens: BTreeSet<Address>,
}

/// A pool, and the direction that sells the token.
type Sold = (PoolId, Direction);

/// The venues of a token that are recorded at a slot.
pub(super) struct Venues {
    slot: Slot,
    /// Deepest first.
    found: Vec<(FoundSnapshot, Direction)>,
    left_out: Vec<SplitLeftOut>,
}

impl Service {
    /// The same service with groups of equivalent tokens.
    #[must_use]
    pub fn with_quote_groups(self, quote_groups: Vec<QuoteGroup>) -> Self {
        Self { quote_groups, ..self }
    }

    /// All recorded venues of a token, each alone, and the optimal split over them.
    pub async fn routes(&self, asked: &RoutesAsked) -> Result<Routes, Problem> {
        let venues = self.venues(asked).await?;
        let split = self.split(&venues, asked.size, asked.fixed_cost).await?;
        let legs: Vec<(&FoundSnapshot, Direction)> =
            venues.split_venues(&split).map(|(found, direction)| (found, *direction)).collect();
        let Legs {
            contexts,
            oracle_state,
            market_open,
            session_note,
            days_observed,
            window,
            exactness,
        } = Legs::new(&legs)?;
        let first = &contexts[0];
        Ok(Routes {
            chain: asked.chain.to_string(),
            token: first.base.clone(),
            slot: venues.slot.number(),
            slot_time: venues.slot.to_string(),
            snapshot_age_s: self.age_s(venues.slot),
            oracle_price_usd: first.oracle_price_usd.clone(),
            oracle_state,
            exact: exactness.exact,
            inexact_because: exactness.inexact_because,
            inexact_detail: exactness.inexact_detail,
            market_open,
            session_note,
            quote_group: asked.quote_group.clone(),
            quote_groups: self.groups_of(&asked.chain).map(|group| group.name.clone()).collect(),
            days_observed,
            method: SeriesMethod {
                assumed_size_usd: Some(asked.size.into()),
                window,
                depth_source: SeriesSource {
                    kind: DepthSourceKind::RecordedSnapshot,
                    chain: Some(asked.chain.to_string()),
                },
            },
            split,
        })
    }

    /// The venues of a token, at the requested slot or at the newest at which one is recorded.
    pub(super) async fn venues(&self, asked: &RoutesAsked) -> Result<Venues, Problem> {
        let (pools, newest) = self.pools_of(asked)?;
        let slot = asked.at.or(newest).ok_or_else(|| {
            let detail = format!("no pool of {} has a snapshot yet", asked.token);
            Problem::new(ProblemCode::NoSnapshotYet, detail).hint("ask again in five minutes")
        })?;
        let (mut found, mut left_out, mut refused) = (Vec::new(), Vec::new(), None);
        for (at, (pool, direction)) in pools.into_iter().enumerate() {
            if at >= MOST_VENUES {
                let why = format!("{MOST_VENUES} pools of the token are deeper");
                left_out.push(SplitLeftOut::new(&pool, "too_many_venues", &why));
                continue;
            }
            let (id, guards) = (pool.clone(), asked.guards);
            let asked = SnapshotAsked { pool, base: None, at: Some(slot), guards };
            match self.find(&asked).await {
                Ok(one) => found.push((one, direction)),
                Err(problem) if problem.code.http_status() >= 500 => return Err(problem),
                Err(problem) => {
                    left_out.push(SplitLeftOut::new(&id, problem.code.as_str(), &problem.detail));
                    refused.get_or_insert(problem);
                }
            }
        }
        match refused {
            Some(problem) if found.is_empty() => Err(problem),
            _ => Ok(Venues { slot, found, left_out }),
        }
    }

    /// The pools that sell a token, deepest first, and the newest slot of any. Fails if no pool sells the token, or if
    /// the requested group is not configured.
    fn pools_of(&self, asked: &RoutesAsked) -> Result<(Vec<Sold>, Option<Slot>), Problem> {
        let current = self.current();
        current.require_chain(&asked.chain)?;
        let group = asked.quote_group.as_deref().map(|name| self.quote_group(&asked.chain, name));
        let group = group.transpose()?;
        let selling = current.pools_selling(&asked.chain, asked.token);
        let is_traded = !selling.is_empty();
        let is_of_group = |pool: &SellingPool| {
            group.is_none_or(|group| group.tokens.iter().any(|one| one.to_string() == pool.quote))
        };
        let of_group: Vec<SellingPool> = selling.into_iter().filter(is_of_group).collect();
        let newest = of_group.iter().filter_map(|pool| pool.newest).max();
        let pools: Vec<Sold> = of_group.into_iter().map(|pool| (pool.id, pool.direction)).collect();
        if pools.is_empty() {
            return Err(not_traded(asked, is_traded));
        }
        Ok((pools, newest))
    }

    /// The groups configured for a chain.
    pub(super) fn groups_of(
        &self,
        chain: &ChainSlug,
    ) -> impl Iterator<Item = &QuoteGroup> + use<'_> {
        let chain = chain.clone();
        self.quote_groups.iter().filter(move |group| group.chain == chain)
    }

    fn quote_group(&self, chain: &ChainSlug, name: &str) -> Result<&QuoteGroup, Problem> {
        self.groups_of(chain).find(|group| group.name == name).ok_or_else(|| {
            let names: Vec<&str> = self.groups_of(chain).map(|group| group.name.as_str()).collect();
            let hint = match names.as_slice() {
                [] => format!("no group is configured for {chain}; omit the parameter"),
                names => format!("groups configured for {chain}: {}", names.join(", ")),
            };
            let detail = format!("quote_group: no group {name} is configured for {chain}");
            Problem::new(ProblemCode::InvalidParameter, detail).field(QUOTE_GROUP.name).hint(hint)
        })
    }

    /// Splits a size over venues.
    pub(super) async fn split(
        &self,
        venues: &Venues,
        size: SizeUsd,
        fixed_cost: UsdMicros,
    ) -> Result<BestSplit, Problem> {
        let of: Vec<(Arc<PreparedSnapshot>, Direction)> = venues
            .found
            .iter()
            .map(|(found, direction)| (found.prepared.clone(), *direction))
            .collect();
        let urls = self.urls.clone();
        // With fixed costs every subset of venues is tried, which takes longer.
        let lane = if fixed_cost.0 == 0 { &self.lane } else { &self.searches };
        let split = move || {
            let exits: Vec<Cow<'_, Exit>> =
                of.iter().map(|(one, side)| exit_of(one, *side)).collect();
            let candidates: Vec<SplitCandidate<'_>> = of
                .iter()
                .zip(&exits)
                .map(|((one, _), exit)| {
                    let hash = Some(one.hash);
                    SplitCandidate { snapshot: &one.snapshot, hash, exit, fixed_cost }
                })
                .collect();
            let evidence = |at: usize, size: &Number| {
                let (one, direction) = &of[at];
                Some(one.evidence_url(&urls, *direction, size.as_str()))
            };
            BestSplit::from_candidates(&candidates, size, evidence)
        };
        let mut split = lane.run(split).await??;
        for (found, _) in venues.found.iter().filter(|(found, _)| found.kept) {
            let _ = self.prepared.replace(
                found.prepared.key(),
                WeighedSnapshot::from_prepared(&found.prepared),
                true,
            );
        }
        split.left_out.extend(venues.left_out.iter().cloned());
        Ok(split)
    }
}

impl Venues {
    /// The venues of a split's legs.
    fn split_venues<'a>(
        &'a self,
        split: &'a BestSplit,
    ) -> impl Iterator<Item = &'a (FoundSnapshot, Direction)> {
        let of = |pool: &'a str| {
            self.found.iter().find(move |(found, _)| found.prepared.pool.id.to_string() == pool)
        };
        split.legs.iter().filter_map(move |leg| of(&leg.pool))
    }
}

fn exit_of(prepared: &PreparedSnapshot, direction: Direction) -> Cow<'_, Exit> {
    match prepared.exit(direction) {
        Some(exit) => Cow::Borrowed(exit),
        None => Cow::Owned(Exit::from_pool(prepared.snapshot.observation(), direction)),
    }
}

fn not_traded(asked: &RoutesAsked, is_traded: bool) -> Problem {
    let RoutesAsked { chain, token, quote_group, .. } = asked;
    let hint = format!("GET /v1/pools?chain={chain} lists the pools with their tokens");
    let detail = match quote_group.as_deref().filter(|_| is_traded) {
        Some(group) => {
            format!("no monitored pool of {chain} trades {token} for a token of {group}")
        }
        None => format!("no monitored pool of {chain} trades {token}"),
    };
    Problem::new(ProblemCode::UnknownToken, detail).field(TOKEN_IN_PATH.name).hint(hint)
}
