//! One exit over the venues of one slot: each venue alone, and the optimal split with a bound on its distance from the
//! best.

use exitgap_core::U256;
use exitgap_core::evidence::Base;
use exitgap_core::exit::{
    Exit, MAX_ROUTE_VENUES, METHOD_VERSION, Refusal, SizedSplit, SplitError, SplitVenue,
    largest_split, split_size,
};
use exitgap_core::ids::{PoolId, SnapshotHash};
use exitgap_core::snapshot::Snapshot;
use exitgap_core::units::{Percent, SizeUsd, UsdMicros};
use serde::{Deserialize, Serialize};

use crate::{Number, PoolName, Problem, ProblemCode, Status, TokenLabel, invalid_parameter};

/// A recorded venue that an exit can use.
#[derive(Debug, Clone, Copy)]
pub struct SplitCandidate<'a> {
    /// The slot's snapshot.
    pub snapshot: &'a Snapshot,
    /// The snapshot's hash, if known.
    pub hash: Option<SnapshotHash>,
    /// Its exit in the direction that sells the token.
    pub exit: &'a Exit,
    /// The fixed cost of using the venue, whatever the size.
    pub fixed_cost: UsdMicros,
}

/// One venue's share of an exit. Each share is a sale with its own evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SplitLeg {
    /// The pool.
    pub pool: String,
    /// The venue and fee.
    pub name: String,
    /// `token0` or `token1`: the token sold, by its position in that pool.
    pub base: String,
    /// The token bought.
    pub quote: TokenLabel,
    /// The size sold here, USD. The sizes of all legs add up to the requested size.
    pub size_usd: Number,
    /// The gap of this leg, percent: exact. Positive is worse than the oracle.
    pub exit_gap_pct: Number,
    /// Raw units of the token sold.
    pub amount_in_raw: String,
    /// Raw units of the token bought: the amount that the contract pays.
    pub amount_out_raw: String,
    /// The fixed cost of using the venue, USD.
    pub fixed_cost_usd: Number,
    /// URL of the evidence for this leg.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub evidence_url: Option<String>,
}

/// The whole exit in one venue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SplitAlone {
    /// The pool.
    pub pool: String,
    /// The venue and fee.
    pub name: String,
    /// The gap of selling everything here, percent, after the fixed cost. `null` if the venue
    /// cannot fill the size.
    pub exit_gap_pct: Option<Number>,
    /// Why the venue cannot fill the size: a code such as `beyond_liquidity`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub code: Option<String>,
    /// The largest size that the venue fills, USD. Present if that is the reason.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub max_fillable_usd: Option<Number>,
    /// URL of the evidence for this result.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub evidence_url: Option<String>,
    /// SHA-256 of the snapshot behind this result and the leg of this pool.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub snapshot_hash: Option<String>,
}

/// A venue that is not part of the split.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SplitLeftOut {
    /// The pool.
    pub pool: String,
    /// Why: `not_concave`, `oracle_differs`, `gap_out_of_range`, `too_many_venues`, `slot_missing`
    /// or `no_snapshot_yet`. For pools of a tokenized stock: `too_many_venues`, or the code of a
    /// problem.
    pub code: String,
    /// The same reason as a sentence.
    pub detail: String,
}

impl SplitLeftOut {
    /// Leaves out a pool, with this code as the reason.
    pub fn new(pool: &PoolId, code: &str, detail: &str) -> Self {
        Self { pool: pool.to_string(), code: code.to_owned(), detail: detail.to_owned() }
    }
}

/// The optimal split of an exit over venues.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BestSplit {
    /// The requested size, USD.
    pub size_usd: Number,
    /// `live` only if the chain is live.
    pub status: Status,
    /// The gap of all legs together with their fixed costs, percent: exact. Positive is worse than
    /// the oracle. Never worse than any venue alone.
    pub exit_gap_pct: Number,
    /// No other split over the venues that are not in `left_out` improves the gap by more than
    /// this, percent. `null` if a venue in `left_out` alone is better than all others together.
    pub optimality_gap_pct: Option<Number>,
    /// Raw units of the token sold by all legs. At most one unit per leg less than one single sale
    /// of the size.
    pub amount_in_raw: String,
    /// The fixed costs of the venues of the legs, USD.
    pub fixed_cost_usd: Number,
    /// The share of each venue used.
    pub legs: Vec<SplitLeg>,
    /// Each venue if it took the whole size, best first. Venues that cannot fill the size come
    /// last, the one that fills most first.
    pub alone: Vec<SplitAlone>,
    /// Venues that are not part of the split, and why.
    pub left_out: Vec<SplitLeftOut>,
    /// The version of the method behind the figures.
    pub method_version: String,
}

impl BestSplit {
    /// Splits `size` over these venues, given in any order. All must be of one chain and slot and sell the same token.
    /// The oracle price that most venues have is used, and venues with another price are left out. `evidence` returns
    /// the evidence URL of a size sold in a venue, given the venue's index.
    pub fn from_candidates(
        candidates: &[SplitCandidate<'_>],
        size: SizeUsd,
        evidence: impl Fn(usize, &Number) -> Option<String>,
    ) -> Result<Self, Problem> {
        require_one_exit(candidates)?;
        let venues: Vec<SplitVenue<'_>> = candidates
            .iter()
            .map(|one| SplitVenue::from_pool(one.snapshot.observation(), one.exit, one.fixed_cost))
            .collect();
        let alone: Vec<_> = venues.iter().map(|venue| venue.alone(size)).collect();
        let ranked = rank_candidates(candidates, &alone);
        let reference = reference(&venues, &ranked);
        let (mut over, mut left_out) = (Vec::new(), Vec::new());
        for at in ranked.iter().copied() {
            match why_left_out(reference, &venues[at], over.len()) {
                None => over.push(at),
                Some((code, why)) => {
                    let pool = candidates[at].snapshot.observation().pool();
                    left_out.push(SplitLeftOut::new(pool, code, why));
                }
            }
        }
        let used: Vec<SplitVenue<'_>> = over.iter().map(|at| venues[*at].clone()).collect();
        let split = split_size(&used, size);
        // Its gap is comparable if its oracle price is the same, but the quality of a split with it is unknown.
        let other = (ranked.iter().copied())
            .filter(|at| !over.contains(at) && venues[*at].sells_alike(reference))
            .find_map(|at| Some((*alone[at].as_ref().ok()?, at)));
        let worded = SplitBuilder { candidates, size, evidence: &evidence };
        let legs = match (split, other) {
            (Ok(split), None) => worded.split(&over, &split),
            (Ok(split), Some((gap, _))) if split.split.gap <= gap => worded.split(&over, &split),
            (_, Some((gap, at))) => worded.build_single(at, gap),
            (Err(error), None) => Err(refusal(&error, size, &used, &alone)),
        }?;
        Ok(Self { alone: worded.alone(&ranked, &alone), left_out, ..legs })
    }
}

/// Ranks the venues: the lowest gap first; venues that cannot fill the size last, the largest fillable size first; then
/// by pool name.
fn rank_candidates(
    candidates: &[SplitCandidate<'_>],
    alone: &[Result<Percent, Refusal>],
) -> Vec<usize> {
    let mut ranked: Vec<usize> = (0..alone.len()).collect();
    ranked.sort_by_cached_key(|at| {
        let pool = candidates[*at].snapshot.observation().pool().to_string();
        match &alone[*at] {
            Ok(gap) => (false, gap.0, pool),
            Err(refusal) => (true, -most(refusal).map_or(0, |most| i128::from(most.0)), pool),
        }
    });
    ranked
}

/// The best-ranked venue among those whose oracle price of the token sold is the most common one.
fn reference<'v, 'a>(venues: &'v [SplitVenue<'a>], ranked: &[usize]) -> &'v SplitVenue<'a> {
    let alike = |at: usize| venues.iter().filter(|other| other.sells_alike(&venues[at])).count();
    let first = ranked.iter().copied().min_by_key(|at| core::cmp::Reverse(alike(*at)));
    &venues[first.unwrap_or(0)]
}

/// The largest size that a pool can fill, if a lack of liquidity is the reason for the refusal.
fn most(refusal: &Refusal) -> Option<UsdMicros> {
    match refusal {
        Refusal::BeyondLiquidity { max_fillable_usd, .. } => Some(*max_fillable_usd),
        _ => None,
    }
}

/// Why a venue is not part of the split: a code and a text.
fn why_left_out(
    first: &SplitVenue<'_>,
    venue: &SplitVenue<'_>,
    used: usize,
) -> Option<(&'static str, &'static str)> {
    if !venue.sells_alike(first) {
        Some(("oracle_differs", "the token sold has a different oracle price in this pool"))
    } else if !venue.has_gap() {
        Some((
            "gap_out_of_range",
            "the pool price and the oracle price are too far apart for a percentage",
        ))
    } else if !venue.is_concave() {
        let why = "in this pool a larger sale may get a better marginal price, so the bound of a split would not hold";
        Some(("not_concave", why))
    } else if used == MAX_ROUTE_VENUES {
        Some(("too_many_venues", "as many venues as the split can use are better alone"))
    } else {
        None
    }
}

/// Refuses venues that do not form a single exit: of different slots, chains or tokens, or a pool given twice, whose
/// liquidity exists only once.
fn require_one_exit(candidates: &[SplitCandidate<'_>]) -> Result<(), Problem> {
    let wrong = |detail: String| {
        let hint = "give snapshots of one chain and slot, one for each pool, that sell one token";
        invalid_parameter("snapshots", &detail, hint)
    };
    let Some(first) = candidates.first() else {
        return Err(wrong("no venue is given".to_owned()));
    };
    let sold = |one: &SplitCandidate<'_>| {
        one.snapshot.observation().tokens()[one.exit.direction().base_index()].address
    };
    for (at, one) in candidates.iter().enumerate() {
        let (slot, pool) = (one.snapshot.slot(), one.snapshot.observation().pool());
        let of_first = first.snapshot.observation().pool();
        if slot != first.snapshot.slot() {
            return Err(wrong(format!(
                "{pool} is at slot {slot}, but {of_first} is at another slot"
            )));
        }
        if pool.chain() != of_first.chain() || sold(one) != sold(first) {
            return Err(wrong(format!("{pool} sells a different token than {of_first}")));
        }
        if candidates[..at].iter().any(|other| other.snapshot.observation().pool() == pool) {
            return Err(wrong(format!("{pool} is given twice")));
        }
    }
    Ok(())
}

/// Builds the answer's documents.
struct SplitBuilder<'a, E> {
    candidates: &'a [SplitCandidate<'a>],
    size: SizeUsd,
    evidence: &'a E,
}

impl<E: Fn(usize, &Number) -> Option<String>> SplitBuilder<'_, E> {
    fn split(&self, over: &[usize], found: &SizedSplit) -> Result<BestSplit, Problem> {
        let SizedSplit { sizes, split } = found;
        let legs = split.legs.iter().zip(sizes).map(|(leg, size)| self.leg(over[leg.venue], *size));
        let legs = legs.collect::<Result<Vec<_>, _>>()?;
        let sold = split.legs.iter().fold(U256::ZERO, |sum, leg| sum + leg.amount_in);
        let whole = self.whole(split.gap, split.fixed_cost, sold.to_string(), legs);
        Ok(BestSplit { optimality_gap_pct: Some(split.optimality_gap.into()), ..whole })
    }

    fn build_single(&self, at: usize, gap: Percent) -> Result<BestSplit, Problem> {
        let leg = self.leg(at, self.size)?;
        let sold = leg.amount_in_raw.clone();
        Ok(self.whole(gap, self.candidates[at].fixed_cost, sold, vec![leg]))
    }

    fn whole(
        &self,
        gap: Percent,
        fixed_cost: UsdMicros,
        amount_in_raw: String,
        legs: Vec<SplitLeg>,
    ) -> BestSplit {
        // All venues are on one chain.
        let chain = self.candidates.first().map(|one| one.snapshot.observation().chain().kind);
        BestSplit {
            size_usd: self.size.into(),
            status: chain.map_or(Status::Preview, Status::from),
            exit_gap_pct: gap.into(),
            optimality_gap_pct: None,
            amount_in_raw,
            fixed_cost_usd: fixed_cost.into(),
            legs,
            alone: Vec::new(),
            left_out: Vec::new(),
            method_version: METHOD_VERSION.to_owned(),
        }
    }

    fn leg(&self, at: usize, size: SizeUsd) -> Result<SplitLeg, Problem> {
        let SplitCandidate { snapshot, exit, fixed_cost, .. } = self.candidates[at];
        let observation = snapshot.observation();
        let estimate = exit.estimate(size).map_err(|refusal| Problem::from(&refusal))?;
        let direction = exit.direction();
        let size_usd = Number::from(size);
        Ok(SplitLeg {
            pool: observation.pool().to_string(),
            name: PoolName::from_observation(observation).name(),
            base: Base::from(direction).code().to_owned(),
            quote: (&observation.tokens()[direction.quote_index()]).into(),
            exit_gap_pct: estimate.gap.into(),
            amount_in_raw: estimate.amount_in.to_string(),
            amount_out_raw: estimate.amount_out.to_string(),
            fixed_cost_usd: fixed_cost.into(),
            evidence_url: (self.evidence)(at, &size_usd),
            size_usd,
        })
    }

    fn alone(&self, ranked: &[usize], alone: &[Result<Percent, Refusal>]) -> Vec<SplitAlone> {
        let size = Number::from(self.size);
        let row = |at: usize| {
            let observation = self.candidates[at].snapshot.observation();
            let refused = alone[at].as_ref().err();
            let is_proven =
                refused.is_none_or(|refusal| Problem::from(refusal).code.has_evidence());
            SplitAlone {
                pool: observation.pool().to_string(),
                name: PoolName::from_observation(observation).name(),
                exit_gap_pct: alone[at].as_ref().ok().map(|gap| (*gap).into()),
                code: refused.map(|refusal| refusal.code().to_owned()),
                max_fillable_usd: refused.and_then(most).map(Number::from),
                evidence_url: is_proven.then(|| (self.evidence)(at, &size)).flatten(),
                snapshot_hash: self.candidates[at].hash.map(|hash| hash.to_string()),
            }
        };
        ranked.iter().copied().map(row).collect()
    }
}

/// Why the venues cannot fill the size.
fn refusal(
    error: &SplitError,
    size: SizeUsd,
    used: &[SplitVenue<'_>],
    alone: &[Result<Percent, Refusal>],
) -> Problem {
    let code = match error {
        SplitError::NoInput => ProblemCode::RoundsToNoInput,
        SplitError::NoOutput => ProblemCode::RoundsToNoOutput,
        SplitError::GapOutOfRange => ProblemCode::GapOutOfRange,
        SplitError::Venues { .. }
        | SplitError::NotConcave { .. }
        | SplitError::BaseDiffers { .. }
        | SplitError::BeyondLiquidity { .. } => ProblemCode::BeyondLiquidity,
    };
    if code != ProblemCode::BeyondLiquidity {
        return Problem::new(code, error.to_string());
    }
    let of_one = alone.iter().filter_map(|refused| most(refused.as_ref().err()?));
    let most = of_one.fold(largest_split(used), Ord::max);
    let detail = format!(
        "the recorded liquidity of {} venues cannot fill {size} USD; the largest size that they can fill is {} USD",
        alone.len(),
        Number::from(most)
    );
    let hint = "ask for a smaller size, or sell in several slots";
    Problem { max_fillable_usd: Some(most.into()), ..Problem::new(code, detail).hint(hint) }
}

#[cfg(test)]
#[path = "best_split_tests.rs"]
mod tests;
