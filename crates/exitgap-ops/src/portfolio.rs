//! Several positions, exited at once.

use exitgap_api::operations::{PortfolioAsked, PositionAsked, SnapshotAsked};
use exitgap_api::{
    Context, DepthSourceKind, Number, Portfolio, PortfolioExit, PortfolioTotal as Total, Position,
    Problem, ProblemCode, SeriesMethod, SeriesSource, Status,
};
use exitgap_core::evidence::Base;
use exitgap_core::exit::{METHOD_VERSION, PortfolioPart, PortfolioTotal, Refusal, worst_part};
use exitgap_core::pools::Direction;
use exitgap_core::units::{SizeUsd, UsdMicros};

use super::Service;
use super::answers::direction;

/// Positions of one pool and direction. The snapshot is not held: a hundred of them, with what
/// others meanwhile compute of them, would be far more than one question may hold.
struct Together {
    asked: SnapshotAsked,
    direction: Direction,
    micros: u64,
    /// What the total says of it.
    context: Context,
    recorded_count: u32,
}

impl Service {
    /// What the positions fill at. Those of one pool and direction are sold together: each
    /// would move the price for the others.
    pub async fn portfolio(&self, asked: &PortfolioAsked) -> Result<Portfolio, Problem> {
        let PortfolioAsked { positions: asked, guards } = asked;
        let mut exits: Vec<Together> = Vec::new();
        let mut positions = Vec::with_capacity(asked.len());
        for position in asked {
            let PositionAsked { pool, base, size } = position;
            let asked =
                SnapshotAsked { pool: pool.clone(), base: base.clone(), at: None, guards: *guards };
            let found = self.find(&asked).await?;
            let direction = direction(&found.prepared, base.as_deref())?;
            let same = |exit: &Together| exit.direction == direction && exit.asked.pool == *pool;
            let index = exits.iter().position(same).unwrap_or(exits.len());
            if index == exits.len() {
                let context = found.prepared.context(direction, None, None);
                let recorded_count = found.prepared.recorded_count;
                exits.push(Together { asked, direction, micros: 0, context, recorded_count });
            }
            exits[index].micros = exits[index].micros.saturating_add(size.micros());
            positions.push(Position {
                pool: pool.to_string(),
                base: Base::from(direction).code().to_owned(),
                size_usd: (*size).into(),
                exit: u32::try_from(index).unwrap_or(u32::MAX),
            });
        }
        let mut sold = Vec::with_capacity(exits.len());
        for exit in &exits {
            sold.push(self.sell(exit).await?);
        }
        let parts: Vec<PortfolioPart> = sold.iter().map(|(_, part)| *part).collect();
        let sold: Vec<PortfolioExit> = sold.into_iter().map(|(exit, _)| exit).collect();
        Ok(Portfolio {
            positions,
            total: word_total(&exits, &sold, &parts)?,
            exits: sold,
            worst_exit: worst_part(&parts).and_then(|at| u32::try_from(at).ok()).unwrap_or(0),
        })
    }

    async fn sell(&self, exit: &Together) -> Result<(PortfolioExit, PortfolioPart), Problem> {
        let Together { asked, direction, micros, .. } = exit;
        let found = &self.find(asked).await?;
        let size = SizeUsd::from_micros(*micros).map_err(|error| {
            Problem::new(ProblemCode::InvalidParameter, format!("positions together: {error}"))
                .field("position")
                .hint("positions of one pool and base are sold together: at most 1000000000 USD")
        })?;
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

/// The sums, and what they rest on: they are no stronger than the weakest of the exits.
fn word_total(
    exits: &[Together],
    sold: &[PortfolioExit],
    parts: &[PortfolioPart],
) -> Result<Total, Problem> {
    let total = PortfolioTotal::of(parts);
    let shortest = exits.iter().min_by_key(|exit| exit.recorded_count).map(|exit| &exit.context);
    // A portfolio has at least one exit, and every answer from the store tells its series, so that
    // both are there.
    let series =
        shortest.and_then(|context| context.days_observed.clone().zip(context.window.clone()));
    let (days_observed, window) = series.ok_or_else(|| {
        Problem::new(ProblemCode::InternalError, "an exit of the portfolio tells no series")
    })?;
    let chains: Vec<String> =
        exits.iter().map(|exit| exit.asked.pool.chain().to_string()).collect();
    let one_chain = chains.first().filter(|first| chains.iter().all(|chain| chain == *first));
    let preview = exits.iter().any(|exit| exit.context.status == Status::Preview);
    Ok(Total {
        size_usd: total.size.into(),
        exit_gap_pct: total.gap.map(Number::from),
        unfilled_usd: total.unfilled.into(),
        filled_gap_pct: total.filled_gap.map(Number::from),
        status: if preview { Status::Preview } else { Status::Live },
        days_observed,
        method_version: METHOD_VERSION.to_owned(),
        method: SeriesMethod {
            assumed_size_usd: Some(total.size.into()),
            window,
            depth_source: SeriesSource {
                kind: DepthSourceKind::RecordedSnapshot,
                chain: one_chain.cloned(),
            },
        },
        evidence_urls: sold.iter().filter_map(evidence_url).collect(),
    })
}

/// What an exit's gap, or its refusal, is checked with.
fn evidence_url(exit: &PortfolioExit) -> Option<String> {
    let of_result = exit.result.as_ref().and_then(|result| result.evidence_url.clone());
    of_result.or_else(|| exit.problem.as_ref()?.evidence_url.clone())
}
