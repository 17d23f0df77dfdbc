//! Several positions sold at once.

use exitgap_api::operations::{Held, PortfolioAsked, PositionAsked, RoutesAsked, SnapshotAsked};
use exitgap_api::{
    Context, DepthSourceKind, Guards, Number, Portfolio, PortfolioExit, PortfolioTotal as Total,
    Position, Problem, ProblemCode, SeriesMethod, SeriesSource, Status,
};
use exitgap_core::evidence::Base;
use exitgap_core::exit::{METHOD_VERSION, PortfolioPart, PortfolioTotal, Refusal, worst_part};
use exitgap_core::ids::{Address, ChainSlug, PoolId};
use exitgap_core::pools::Direction;
use exitgap_core::units::{SizeUsd, UsdMicros};

use super::Service;
use super::answers::direction;

/// Positions of one pool and direction. It does not hold the snapshot: a hundred snapshots, with values that other
/// requests compute from them in the meantime, would exceed the memory for one request.
struct Together {
    asked: SnapshotAsked,
    direction: Direction,
    micros: u64,
    /// The context that the total uses.
    context: Context,
    recorded_count: u32,
}

impl Service {
    /// The fills of the positions. Positions of one pool and direction are sold together, and so are those of one
    /// token, because each would move the price for the others.
    pub async fn portfolio(&self, asked: &PortfolioAsked) -> Result<Portfolio, Problem> {
        let PortfolioAsked { positions: asked, guards } = asked;
        let mut exits: Vec<Together> = Vec::new();
        let mut positions = Vec::with_capacity(asked.len());
        for position in asked {
            let size_usd = position.size.into();
            positions.push(match &position.held {
                Held::Token { chain, token } => {
                    let token = Some(format!("{chain}/{token}"));
                    Position { pool: None, base: None, token, size_usd, exits: Vec::new() }
                }
                Held::InPool { pool, base } => {
                    let base = base.clone();
                    let asked =
                        SnapshotAsked { pool: pool.clone(), base, at: None, guards: *guards };
                    let (index, base) = self.add(&mut exits, asked, position.size.micros()).await?;
                    let (pool, base) = (Some(pool.to_string()), Some(base.code().to_owned()));
                    Position { pool, base, token: None, size_usd, exits: vec![place(index)] }
                }
            });
        }
        let in_pools = exits.len();
        for token in tokens_of(asked) {
            let first = exits.len();
            self.add_token(&mut exits, in_pools, &token, *guards).await?;
            let (places, name) =
                ((first..exits.len()).map(place).collect::<Vec<_>>(), Some(token.name()));
            for position in positions.iter_mut().filter(|position| position.token == name) {
                position.exits.clone_from(&places);
            }
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
            let recorded_count = found.prepared.recorded_count;
            exits.push(Together { asked, direction, micros: 0, context, recorded_count });
        }
        exits[index].micros = exits[index].micros.saturating_add(micros);
        Ok((index, direction.into()))
    }

    /// Adds an exit for each leg of a token's split. An amount that the pools cannot fill stays with the first.
    async fn add_token(
        &self,
        exits: &mut Vec<Together>,
        in_pools: usize,
        token: &TokenHeld<'_>,
        guards: Guards,
    ) -> Result<(), Problem> {
        let size = token.size()?;
        let (chain, fixed_cost) = (token.chain.clone(), UsdMicros(0));
        let asked = RoutesAsked {
            chain,
            token: *token.token,
            size,
            quote_group: None,
            fixed_cost,
            at: None,
            guards,
        };
        let venues = self.venues(&asked).await?;
        let (split, rest) = match self.split(&venues, size, fixed_cost).await {
            Ok(split) => (split, 0),
            Err(problem) => {
                let most = problem.max_fillable_usd.as_ref();
                let most = most.and_then(|most| most.as_str().parse::<SizeUsd>().ok());
                let most = most.ok_or(problem)?;
                let rest = size.micros().saturating_sub(most.micros());
                (self.split(&venues, most, fixed_cost).await?, rest)
            }
        };
        for (at, leg) in split.legs.iter().enumerate() {
            let unreadable = || Problem::new(ProblemCode::InternalError, "a leg has no size");
            let own = leg.size_usd.as_str().parse::<SizeUsd>().map_err(|_| unreadable())?;
            let pool: PoolId = leg.pool.parse().map_err(|_| unreadable())?;
            let clashes = |exit: &Together| {
                exit.asked.pool == pool && Base::from(exit.direction).code() == leg.base
            };
            if exits[..in_pools].iter().any(clashes) {
                let detail = format!(
                    "{} is also sold through {pool}, which another position names",
                    token.name()
                );
                return Err(Problem::new(ProblemCode::InvalidParameter, detail)
                    .field("position")
                    .hint("name the token or its pools, not both; their liquidity would be counted twice"));
            }
            let at_slot = SnapshotAsked {
                pool,
                base: Some(leg.base.clone()),
                at: Some(venues.slot()),
                guards,
            };
            let micros = own.micros() + if at == 0 { rest } else { 0 };
            self.add(exits, at_slot, micros).await?;
        }
        Ok(())
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

/// All positions of a token.
struct TokenHeld<'a> {
    chain: &'a ChainSlug,
    token: &'a Address,
    micros: u64,
}

impl TokenHeld<'_> {
    fn name(&self) -> String {
        format!("{}/{}", self.chain, self.token)
    }

    fn size(&self) -> Result<SizeUsd, Problem> {
        SizeUsd::from_micros(self.micros).map_err(|error| too_large(&error))
    }
}

/// The tokens that are sold through all of their pools, in the order of their first position.
fn tokens_of(asked: &[PositionAsked]) -> Vec<TokenHeld<'_>> {
    let mut tokens: Vec<TokenHeld<'_>> = Vec::new();
    for PositionAsked { held, size } in asked {
        let Held::Token { chain, token } = held else { continue };
        let same = |one: &&mut TokenHeld<'_>| (one.chain, one.token) == (chain, token);
        match tokens.iter_mut().find(same) {
            Some(known) => known.micros = known.micros.saturating_add(size.micros()),
            None => tokens.push(TokenHeld { chain, token, micros: size.micros() }),
        }
    }
    tokens
}

fn place(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

fn too_large(error: &dyn std::fmt::Display) -> Problem {
    Problem::new(ProblemCode::InvalidParameter, format!("the positions together: {error}"))
        .field("position")
        .hint("positions in one pool and base token are sold together, at most 1000000000 USD in total")
}

/// The sums and their context, which is that of the weakest exit.
fn word_total(
    exits: &[Together],
    sold: &[PortfolioExit],
    parts: &[PortfolioPart],
) -> Result<Total, Problem> {
    let total = PortfolioTotal::from_parts(parts);
    let shortest = exits.iter().min_by_key(|exit| exit.recorded_count).map(|exit| &exit.context);
    // A portfolio has at least one exit, and every answer from the store has these fields, so both are present.
    let series =
        shortest.and_then(|context| context.days_observed.clone().zip(context.window.clone()));
    let (days_observed, window) = series.ok_or_else(|| {
        Problem::new(ProblemCode::InternalError, "an exit of the portfolio has no series")
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

/// The URL of the evidence of an exit's gap or refusal.
fn evidence_url(exit: &PortfolioExit) -> Option<String> {
    let of_result = exit.result.as_ref().and_then(|result| result.evidence_url.clone());
    of_result.or_else(|| exit.problem.as_ref()?.evidence_url.clone())
}
