//! Several positions sold at once: those that name a pool there, and the tokens of a chain in one plan.

mod plans;

use exitgap_api::operations::{Held, PortfolioAsked, SnapshotAsked};
use exitgap_api::{
    DepthSourceKind, Number, Portfolio, PortfolioExit, PortfolioTotal as Total, Position, Problem,
    ProblemCode, SeriesMethod, SeriesSource, Status, Window,
};
use exitgap_core::evidence::Base;
use exitgap_core::exit::{METHOD_VERSION, PortfolioPart, PortfolioTotal, Refusal, worst_part};
use exitgap_core::ids::{ChainSlug, Contract};
use exitgap_core::pools::Direction;
use exitgap_core::units::{Percent, SizeUsd, UsdMicros};

use super::Service;
use super::answers::direction;
use plans::SoldTokens;

/// Positions of one pool and direction. It does not hold the snapshot: a hundred snapshots, with values that other
/// requests compute from them in the meantime, would exceed the memory for one request.
struct Together {
    asked: SnapshotAsked,
    direction: Direction,
    micros: u64,
    basis: Basis,
}

/// What the numbers of an exit or a plan are based on.
struct Basis {
    recorded_count: u32,
    days_observed: Number,
    window: Window,
    status: Status,
    chain: String,
}

impl Service {
    /// The fills of the positions. Positions of one pool and direction are sold together, and so are the tokens of one
    /// chain, because each would move the price for the others.
    pub async fn portfolio(&self, asked: &PortfolioAsked) -> Result<Portfolio, Problem> {
        let mut exits: Vec<Together> = Vec::new();
        let mut positions = Vec::with_capacity(asked.positions.len());
        for position in &asked.positions {
            let mut document = Position {
                pool: None,
                base: None,
                token: None,
                size_usd: position.size.into(),
                exits: Vec::new(),
                plan: None,
                is_cash: false,
                problem: None,
            };
            match &position.held {
                Held::Token { chain, token } => document.token = Some(format!("{chain}/{token}")),
                Held::InPool { pool, base } => {
                    let (base, guards) = (base.clone(), asked.guards);
                    let asked = SnapshotAsked { pool: pool.clone(), base, at: None, guards };
                    let (index, base) = self.add(&mut exits, asked, position.size.micros()).await?;
                    document.pool = Some(pool.to_string());
                    document.base = Some(base.code().to_owned());
                    document.exits.push(place(index));
                }
            }
            positions.push(document);
        }
        let mut sold = Vec::new();
        for exit in &exits {
            sold.push(self.sell(exit).await?);
        }
        let reserved = |chain: &ChainSlug| reserved(&exits, chain);
        let tokens = self.sell_tokens(asked, reserved, &mut positions).await?;
        let SoldTokens { plans, cash, without_path, problem } = tokens;
        if let (true, true, Some(problem)) = (exits.is_empty(), plans.is_empty(), problem) {
            return Err(problem);
        }
        let (sold, parts): (Vec<PortfolioExit>, Vec<PortfolioPart>) = sold.into_iter().unzip();
        let worst_exit = worst_part(&parts).map(place);
        let kept =
            PortfolioPart { size: UsdMicros(cash), filled: UsdMicros(cash), gap: Some(Percent(0)) };
        let parts = parts.into_iter().chain(plans.iter().map(|plan| plan.part));
        let parts = parts.chain(without_path);
        let parts: Vec<PortfolioPart> = parts.chain((cash > 0).then_some(kept)).collect();
        let bases = exits.iter().map(|exit| &exit.basis).chain(plans.iter().map(|one| &one.basis));
        let of_plans = plans.iter().filter_map(|plan| plan.document.result.as_ref());
        let urls = sold.iter().filter_map(evidence_url);
        let urls = urls.chain(of_plans.map(|result| result.evidence_url.clone())).collect();
        let total = total(&parts, &bases.collect::<Vec<_>>(), urls)?;
        let plans = plans.into_iter().map(|plan| plan.document).collect();
        Ok(Portfolio { positions, exits: sold, plans, total, worst_exit })
    }

    /// Adds an amount to the exit of a pool and direction, and returns the exit's index.
    async fn add(
        &self,
        exits: &mut Vec<Together>,
        asked: SnapshotAsked,
        micros: u64,
    ) -> Result<(usize, Base), Problem> {
        let found = self.find(&asked).await?;
        let direction = direction(&found.prepared, asked.base.as_deref())?;
        let same = |exit: &Together| exit.direction == direction && exit.asked.pool == asked.pool;
        let index = exits.iter().position(same).unwrap_or(exits.len());
        if index == exits.len() {
            let context = found.prepared.context(direction, None, None);
            let series = context.days_observed.zip(context.window);
            let (days_observed, window) = series.ok_or_else(no_series)?;
            let basis = Basis {
                recorded_count: found.prepared.recorded_count,
                days_observed,
                window,
                status: context.status,
                chain: asked.pool.chain().to_string(),
            };
            exits.push(Together { asked, direction, micros: 0, basis });
        }
        exits[index].micros = exits[index].micros.saturating_add(micros);
        Ok((index, direction.into()))
    }

    async fn sell(&self, exit: &Together) -> Result<(PortfolioExit, PortfolioPart), Problem> {
        let Together { asked, direction, micros, .. } = exit;
        let found = &self.find(asked).await?;
        let size = SizeUsd::from_micros(*micros).map_err(|error| too_large(&error))?;
        let pool = found.prepared.pool.id.to_string();
        let base = Base::from(*direction).code().to_owned();
        let size_usd = size.into();
        Ok(match self.estimate(found, *direction, size).await? {
            Ok(estimate) => {
                let result = self.exit_of(found, *direction, size, &estimate);
                let whole = UsdMicros::from(size);
                let part = PortfolioPart { size: whole, filled: whole, gap: Some(estimate.gap) };
                let unfilled_usd = UsdMicros(0).into();
                let result = Some(Box::new(result));
                (PortfolioExit { pool, base, size_usd, result, problem: None, unfilled_usd }, part)
            }
            Err(refusal) => {
                let most = match &refusal {
                    Refusal::BeyondLiquidity { max_fillable_usd, .. } => *max_fillable_usd,
                    _ => UsdMicros(0),
                };
                let gap = match SizeUsd::from_micros(most.0) {
                    Ok(size) => self.estimate(found, *direction, size).await?.ok(),
                    Err(_) => None,
                };
                let gap = gap.map(|estimate| estimate.gap);
                let filled = if gap.is_some() { most } else { UsdMicros(0) };
                let part = PortfolioPart { size: UsdMicros::from(size), filled, gap };
                let unfilled_usd = UsdMicros(part.size.0 - filled.0.min(part.size.0)).into();
                let problem = Some(self.refusal_of(found, *direction, size, &refusal));
                (PortfolioExit { pool, base, size_usd, result: None, problem, unfilled_usd }, part)
            }
        })
    }
}

/// The contracts of a chain in which positions are sold.
fn reserved(exits: &[Together], chain: &ChainSlug) -> Vec<Contract> {
    let of_chain = exits.iter().map(|exit| &exit.asked.pool).filter(|pool| pool.chain() == chain);
    of_chain.map(|pool| pool.contract().clone()).collect()
}

fn place(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

fn no_series() -> Problem {
    Problem::new(ProblemCode::InternalError, "an exit of the portfolio has no series")
}

fn too_large(error: &dyn std::fmt::Display) -> Problem {
    Problem::new(ProblemCode::InvalidParameter, format!("the positions together: {error}"))
        .field("position")
        .hint("positions in one pool and base token, and those in one token, are sold together, at most 1000000000 USD in total")
}

/// The sums and what they are based on, which is the weakest exit or plan.
fn total(
    parts: &[PortfolioPart],
    bases: &[&Basis],
    evidence_urls: Vec<String>,
) -> Result<Total, Problem> {
    let total = PortfolioTotal::from_parts(parts);
    let shortest = bases.iter().min_by_key(|basis| basis.recorded_count).ok_or_else(|| {
        Problem::new(ProblemCode::InvalidParameter, "every position is cash already")
            .field("position")
            .hint("there is nothing to sell; name other tokens with into")
    })?;
    let first = &bases[0].chain;
    let one_chain = bases.iter().all(|basis| basis.chain == *first).then(|| first.clone());
    let is_preview = bases.iter().any(|basis| basis.status == Status::Preview);
    Ok(Total {
        size_usd: total.size.into(),
        exit_gap_pct: total.gap.map(Number::from),
        unfilled_usd: total.unfilled.into(),
        filled_gap_pct: total.filled_gap.map(Number::from),
        status: if is_preview { Status::Preview } else { Status::Live },
        days_observed: shortest.days_observed.clone(),
        method_version: METHOD_VERSION.to_owned(),
        method: SeriesMethod {
            assumed_size_usd: Some(total.size.into()),
            window: shortest.window.clone(),
            depth_source: SeriesSource {
                kind: DepthSourceKind::RecordedSnapshot,
                chain: one_chain,
            },
        },
        evidence_urls,
    })
}

/// The URL of the evidence of an exit's gap or refusal.
fn evidence_url(exit: &PortfolioExit) -> Option<String> {
    let of_result = exit.result.as_ref().and_then(|result| result.evidence_url.clone());
    of_result.or_else(|| exit.problem.as_ref()?.evidence_url.clone())
}
