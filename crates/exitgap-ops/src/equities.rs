//! Tokenized stocks: their current states, and the figures of their pools.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use exitgap_api::operations::parameters::{BASE, SIZE};
use exitgap_api::operations::{
    EquityAsked, EquityFileAsked, FigureAddress, Operation, SeriesAsked, SnapshotAsked,
};
use exitgap_api::{
    Equities, EquityListed, EquityPool, EquityPoolOf, EquityScore, EquityState, Guards, Number,
    Problem, ProblemCode, SplitLeftOut,
};
use exitgap_core::analytics::equity::{EquityResult, EquityTerms, EquityToken};
use exitgap_core::analytics::figure::Figure;
use exitgap_core::analytics::share_pct;
use exitgap_core::evidence::Base;
use exitgap_core::exit::METHOD_VERSION;
use exitgap_core::ids::{Address, ChainSlug};
use exitgap_core::pools::Direction;
use exitgap_core::series::Slot;
use exitgap_store::Reader;

use super::current::SellingPool;
use super::figures::{ResolvedFigure, ServedFigure};
use super::history::Series;
use super::{IntoProblem, Service};

/// The period: 42 days.
const SLOTS: u32 = EquityTerms::MAX_SLOTS;

/// The maximum number of pools per stock, deepest first. Each needs a pass over six weeks.
const MOST_POOLS: usize = 12;

/// The maximum number of cached figures: those of one day for a hundred stocks.
const MOST_REMEMBERED: usize = 400;

/// A token that represents a stock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EquityOfToken {
    /// Its chain.
    pub chain: ChainSlug,
    /// The token.
    pub token: Address,
    /// How it reflects dividends and splits, and its facts.
    pub of: EquityToken,
}

/// Computed figures, by the address of their file. Periods end with a day, so most requests ask for the same figures.
#[derive(Debug, Default)]
pub(super) struct EquityResults(Mutex<BTreeMap<String, Arc<EquityResult>>>);

impl EquityResults {
    fn get(&self, of: &str) -> Option<Arc<EquityResult>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(of).cloned()
    }

    fn keep(&self, of: String, result: &Arc<EquityResult>) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= MOST_REMEMBERED {
            kept.clear();
        }
        kept.insert(of, result.clone());
    }
}

impl ServedFigure for EquityTerms {
    async fn resolve(
        service: &Service,
        asked: EquityFileAsked,
    ) -> Result<ResolvedFigure<Self>, Problem> {
        let EquityFileAsked { series, limit } = asked;
        let current = service.current();
        let labels = current.pools.get(&series.pool).and_then(|now| now.labels.clone());
        let base = service.series_base(&series).await?;
        let sides = base.map_or_else(|| Direction::BOTH.to_vec(), |base| vec![base]);
        let of_side = |direction: Direction| {
            let token = &labels.as_ref()?.tokens[direction.base_index()].address;
            let token = token.parse().ok()?;
            Some((direction, service.equity_of(series.pool.chain(), token)?.of))
        };
        let share = sides.into_iter().find_map(of_side);
        let pool = series.pool.clone();
        let base = share.map(|(direction, _)| direction);
        let find = move |reader: &Reader| Series::find(reader, &series, base, SLOTS);
        let found = service.read_store(find).await?;
        let (_, token) =
            share.ok_or_else(|| not_a_share(&format!("that is sold in {pool}")).field("base"))?;
        // The operator can change the token's kind and facts, so the file is never final.
        let figure = EquityTerms { of: found.hours_terms(), limit, token };
        Ok(ResolvedFigure { figure, is_settled: false })
    }
}

impl Service {
    /// The same service with these tokenized stocks.
    #[must_use]
    pub fn with_equities(self, mut equities: Vec<EquityOfToken>) -> Self {
        equities.sort_by(|a, b| (&a.chain, a.token).cmp(&(&b.chain, b.token)));
        Self { equities, ..self }
    }

    /// All tokenized stocks with their current states.
    pub async fn equities(&self) -> Result<Equities, Problem> {
        let mut equities = Vec::new();
        for equity in &self.equities {
            let pools = self.current().pools_selling(&equity.chain, equity.token);
            equities.push(self.list_equity(equity, &pools).await?);
        }
        Ok(Equities { figure: Equities::FIGURE.to_owned(), equities })
    }

    /// A tokenized stock and the figure of each of its pools.
    pub async fn equity(&self, asked: EquityAsked) -> Result<EquityScore, Problem> {
        let equity = self.equity_of(&asked.chain, asked.token).ok_or_else(|| {
            not_a_share(&format!("{} of {}", asked.token, asked.chain)).field("token")
        })?;
        let pools = self.current().pools_selling(&asked.chain, asked.token);
        let (mut vectors, mut left_out, mut refused) = (Vec::new(), Vec::new(), None);
        for (at, pool) in pools.iter().enumerate() {
            if at >= MOST_POOLS {
                let why = format!("{MOST_POOLS} pools of the token are deeper");
                left_out.push(SplitLeftOut::new(&pool.id, "too_many_venues", &why));
                continue;
            }
            match self.vector(equity, &asked, pool).await {
                Ok(vector) => vectors.push(vector),
                Err(problem) if problem.code.http_status() >= 500 => return Err(problem),
                Err(problem) => {
                    let (code, why) = (problem.code.as_str(), &problem.detail);
                    left_out.push(SplitLeftOut::new(&pool.id, code, why));
                    refused.get_or_insert(problem);
                }
            }
        }
        match refused {
            Some(problem) if vectors.is_empty() => Err(problem),
            _ => Ok(EquityScore {
                figure: Equities::FIGURE.to_owned(),
                listed: self.list_equity(equity, &pools).await?,
                size_usd: asked.size.into(),
                gap_pct: asked.limit.into(),
                enough: vectors.iter().any(|vector| vector.enough),
                vectors,
                left_out,
                method_version: METHOD_VERSION.to_owned(),
            }),
        }
    }

    /// The configuration of a token.
    fn equity_of(&self, chain: &ChainSlug, token: Address) -> Option<&EquityOfToken> {
        self.equities.iter().find(|equity| equity.token == token && equity.chain == *chain)
    }

    /// A tokenized stock, its current state, and the distribution of its depth over pools.
    async fn list_equity(
        &self,
        equity: &EquityOfToken,
        pools: &[SellingPool],
    ) -> Result<EquityListed, Problem> {
        let depth = |pool: &SellingPool| pool.depth_usd.unwrap_or(0);
        let all = pools.iter().map(depth).fold(0_u64, u64::saturating_add);
        let largest = pools.first().map_or(0, depth);
        let mut told = None;
        if let Some(pool) = pools.iter().find(|pool| pool.newest.is_some()) {
            let asked = SnapshotAsked {
                pool: pool.id.clone(),
                base: None,
                at: None,
                guards: Guards::default(),
            };
            let found = self.find(&asked).await?;
            let snapshot = &found.prepared.snapshot;
            let symbol = &snapshot.observation().tokens()[pool.direction.base_index()].symbol;
            let state =
                EquityState::from_snapshot(&equity.of, snapshot, pool.direction, found.age_s);
            told = Some((pool.id.to_string(), symbol.to_string(), state));
        }
        let (deepest_pool, symbol, state) = match told {
            Some((pool, symbol, state)) => (Some(pool), Some(symbol), Some(state)),
            None => (None, None, None),
        };
        Ok(EquityListed {
            chain: equity.chain.to_string(),
            token: equity.token.to_string(),
            symbol,
            kind: equity.of.kind.code().to_owned(),
            multiplier_decimals: equity.of.multiplier_decimals,
            pools: u32::try_from(pools.len()).unwrap_or(u32::MAX),
            deepest_pool,
            depth_usd: all.into(),
            concentration_pct: share_pct(largest.into(), all).map(Number::from),
            state,
        })
    }

    /// The figure of a pool, up to the last whole day of its series.
    async fn vector(
        &self,
        equity: &EquityOfToken,
        asked: &EquityAsked,
        pool: &SellingPool,
    ) -> Result<EquityPool, Problem> {
        let series = SeriesAsked {
            pool: pool.id.clone(),
            base: None,
            size: asked.size,
            from: None,
            to: last_whole_day(pool.first_slot, pool.last_slot),
            guards: Guards::default(),
        };
        let direction = Some(pool.direction);
        let find = move |reader: &Reader| Series::find(reader, &series, direction, SLOTS);
        let found = self.read_store(find).await?;
        asked.guards.check(&self.guard_inputs(&found, pool.status))?;
        let terms = EquityTerms { of: found.hours_terms(), limit: asked.limit, token: equity.of };
        let terms = terms.validate().map_err(IntoProblem::into_problem)?;
        let period = [terms.of.from, terms.of.to];
        let file = terms.address();
        let result = if let Some(kept) = self.equity_results.get(file.as_str()) {
            kept
        } else {
            let made = self.figures.read_store(move |reader| reader.figure(&terms)).await?;
            let made = Arc::new(made);
            self.equity_results.keep(file.to_string(), &made);
            made
        };
        let base = Base::from(pool.direction).code();
        let has_terms =
            self.redemption.iter().any(|one| one.token == asked.token && one.chain == asked.chain);
        let redemption = || {
            let target = Operation::Redemption.target_of(&pool.id).with(&SIZE, asked.size);
            [self.urls.base.as_str(), target.with(&BASE, base).as_str()].concat()
        };
        let of = EquityPoolOf {
            pool: pool.id.to_string(),
            name: pool.name.clone(),
            base: base.to_owned(),
            depth_usd: pool.depth_usd,
            period,
            figure_url: [self.urls.web.as_str(), file.as_str()].concat(),
            redemption_url: has_terms.then(redemption),
        };
        Ok(EquityPool::new(of, &result))
    }
}

/// The last slot of the last whole day of a series; `None` if there is no whole day, which means up to its newest slot.
fn last_whole_day(first: Slot, last: Slot) -> Option<Slot> {
    let days = (u64::from(last.number()) + 1) / u64::from(Slot::PER_DAY);
    let end = Slot::new((days * u64::from(Slot::PER_DAY)).checked_sub(1)?).ok()?;
    (end >= first).then_some(end)
}

fn not_a_share(what: &str) -> Problem {
    let detail = format!("no [[equity]] is configured for the token {what}");
    Problem::new(ProblemCode::UnknownToken, detail)
        .hint("GET /v1/equities lists the tokenized stocks of this service")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_period_ends_with_a_whole_day() {
        let slot = |index: u32| Slot::new(u64::from(Slot::FIRST.number() + index)).unwrap();
        let end = |first: u32, last: u32| last_whole_day(slot(first), slot(last));
        assert_eq!(end(0, 286), None);
        assert_eq!(end(0, 287), Some(slot(287)));
        assert_eq!(end(0, 574), Some(slot(287)));
        assert_eq!(end(0, 575), Some(slot(575)));
        // A series that began today has no whole day yet. One that began in yesterday's last slot ends there.
        assert_eq!(end(288, 400), None);
        assert_eq!(end(287, 400), Some(slot(287)));
    }
}
