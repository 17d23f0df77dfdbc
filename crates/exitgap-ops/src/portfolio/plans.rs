//! The tokens of a chain, sold for cash in one plan.

use std::collections::BTreeMap;

use exitgap_api::operations::parameters::{POSITION, TOKEN_IN_PATH};
use exitgap_api::operations::{FigureAddress, Held, Into, PortfolioAsked, PositionAsked};
use exitgap_api::{
    DepthSourceKind, PlanAnswer, PlanSold, PortfolioPlan, Position, Problem, ProblemCode,
    SeriesMethod, SeriesSource, find_token,
};
use exitgap_core::exit::{MAX_SOLD_TOKENS, PortfolioPart};
use exitgap_core::ids::{Address, ChainSlug, Contract};
use exitgap_core::pools::Direction;
use exitgap_core::units::{Percent, SizeUsd, UsdMicros};

use super::{Basis, Service, place, too_large};
use crate::FoundSnapshot;
use crate::cash::{
    CashNetwork, FoundPlan, NOT_CONFIGURED, NOT_COUNTED, NetworkAsked, NoNetwork, too_many_tokens,
};
use crate::legs::Legs;

/// The tokens of a chain, each with all that is held of it, micro-dollars.
type Tokens = BTreeMap<Address, u64>;

/// A plan, and what the total takes from it.
pub struct Planned {
    pub document: PortfolioPlan,
    pub part: PortfolioPart,
    pub basis: Basis,
}

/// The plans for the tokens of all chains.
#[derive(Default)]
pub struct SoldTokens {
    pub plans: Vec<Planned>,
    /// What is cash already, micro-dollars.
    pub cash: u64,
    /// The tokens from which no path leads to cash.
    pub without_path: Vec<PortfolioPart>,
    /// Why one of them is not sold.
    pub problem: Option<Problem>,
}

/// The tokens of a chain that are sold, and those that are what a sale ends in.
struct HeldTokens {
    /// Ascending by token.
    sold: Vec<(Address, SizeUsd)>,
    cash: Vec<Address>,
}

/// The tokens that are held, by chain, in the order of the first position of each.
fn tokens_of(positions: &[PositionAsked]) -> Vec<(&ChainSlug, Tokens)> {
    let mut chains: Vec<(&ChainSlug, Tokens)> = Vec::new();
    for PositionAsked { held, size } in positions {
        let Held::Token { chain, token } = held else { continue };
        let known = chains.iter().position(|(of, _)| *of == chain).unwrap_or(chains.len());
        if known == chains.len() {
            chains.push((chain, Tokens::new()));
        }
        let micros = chains[known].1.entry(*token).or_default();
        *micros = micros.saturating_add(size.micros());
    }
    chains
}

impl Service {
    /// One plan for the tokens of each chain, without the contracts that `reserved` names for it. A token from which no
    /// path leads to cash is not sold, and its positions say so.
    pub(super) async fn sell_tokens(
        &self,
        asked: &PortfolioAsked,
        reserved: impl Fn(&ChainSlug) -> Vec<Contract>,
        positions: &mut [Position],
    ) -> Result<SoldTokens, Problem> {
        let mut all = SoldTokens::default();
        for (chain, tokens) in tokens_of(&asked.positions) {
            let mut held = self.without_cash(chain, tokens, &asked.into)?;
            let (reserved, mut problems) = (reserved(chain), BTreeMap::new());
            // Each round has fewer tokens.
            let planned = loop {
                if held.sold.is_empty() {
                    break None;
                }
                match self.plan_tokens(asked, chain, &held.sold, &reserved).await {
                    Ok(planned) => break Some(planned),
                    Err(refused) if refused.tokens.is_empty() => return Err(refused.problem),
                    Err(NoNetwork { tokens, .. }) => {
                        let unsold = held.sold.extract_if(.., |(one, _)| tokens.contains_key(one));
                        all.without_path.extend(unsold.map(|(_, size)| PortfolioPart {
                            size: UsdMicros::from(size),
                            filled: UsdMicros(0),
                            gap: None,
                        }));
                        let tokens = tokens.into_iter();
                        problems.extend(tokens.map(|(token, why)| (token, of_position(why))));
                    }
                }
            };
            for (document, position) in positions.iter_mut().zip(&asked.positions) {
                let Held::Token { chain: of, token } = &position.held else { continue };
                if of != chain {
                    continue;
                }
                document.problem = problems.get(token).cloned();
                document.is_cash = held.cash.contains(token);
                let is_sold = !document.is_cash && document.problem.is_none();
                document.plan = is_sold.then(|| place(all.plans.len()));
                all.cash += if document.is_cash { position.size.micros() } else { 0 };
            }
            all.problem = all.problem.or_else(|| problems.into_values().next());
            all.plans.extend(planned);
        }
        Ok(all)
    }

    /// Which of the tokens are sold, if a sale must end in these.
    fn without_cash(
        &self,
        chain: &ChainSlug,
        tokens: Tokens,
        into: &Into,
    ) -> Result<HeldTokens, Problem> {
        self.current().require_chain(chain)?;
        let held: Vec<Address> = tokens.keys().copied().collect();
        let (ends, _) = self.named_tokens(chain, &held, into)?;
        let (cash, sold): (Vec<_>, Vec<_>) =
            tokens.into_iter().partition(|(token, _)| ends.contains(token));
        let size = |(token, micros): (Address, u64)| {
            SizeUsd::from_micros(micros)
                .map(|size| (token, size))
                .map_err(|error| too_large(&error))
        };
        if sold.len() > MAX_SOLD_TOKENS {
            return Err(too_many_tokens(chain));
        }
        let sold = sold.into_iter().map(size).collect::<Result<_, _>>()?;
        Ok(HeldTokens { sold, cash: cash.into_iter().map(|(token, _)| token).collect() })
    }

    /// One plan for these tokens, ascending, without the contracts in which positions are sold.
    async fn plan_tokens(
        &self,
        asked: &PortfolioAsked,
        chain: &ChainSlug,
        sold: &[(Address, SizeUsd)],
        reserved: &[Contract],
    ) -> Result<Planned, NoNetwork> {
        let (tokens, sizes): (Vec<Address>, Vec<SizeUsd>) = sold.iter().copied().unzip();
        // Where no pool pays for any of the tokens, all of them are without a path.
        let no_pool = |problem: Problem| match problem.code {
            ProblemCode::UnknownToken => NoNetwork::of_all(&tokens, problem),
            _ => problem.into(),
        };
        let (cash, is_configured) =
            self.cash_tokens(chain, &tokens, &asked.into).map_err(no_pool)?;
        let network = NetworkAsked { chain, sold: &tokens, cash: &cash, at: None, reserved };
        let network = self.cash_network(&network).await?;
        network.check_guards(asked.guards)?;
        let (search, of_tokens, tolerance) = (network.search(), sizes.clone(), asked.tolerance);
        let run = move || search.answer_several(&of_tokens, tolerance);
        let found = self.searches.run(run).await??;
        network.keep(self);
        let legs = found.plan.as_ref().map(|(plan, _)| network.legs(plan)).unwrap_or_default();
        for (pool, _) in &legs {
            asked.guards.check(&pool.guard_inputs())?;
        }
        let words = Words { service: self, asked, chain, network: &network, sizes: &sizes };
        let mut planned = words.planned(found, &legs)?;
        planned.document.cash = (!is_configured).then(|| NOT_CONFIGURED.to_owned());
        Ok(planned)
    }
}

/// A plan while it is put into words.
struct Words<'a> {
    service: &'a Service,
    asked: &'a PortfolioAsked,
    chain: &'a ChainSlug,
    network: &'a CashNetwork,
    sizes: &'a [SizeUsd],
}

impl Words<'_> {
    fn planned(
        &self,
        found: FoundPlan,
        legs: &[(&FoundSnapshot, Direction)],
    ) -> Result<Planned, Problem> {
        // A plan without a leg is based on the pools that it was looked for in.
        let all: Vec<_> =
            self.network.pools.iter().map(|pool| (pool, Direction::ZeroForOne)).collect();
        let based_on = if legs.is_empty() { all.as_slice() } else { legs };
        let of_legs = Legs::new(based_on)?;
        let recorded = based_on.iter().map(|(found, _)| found.prepared.recorded_count).min();
        let basis = Basis {
            recorded_count: recorded.unwrap_or_default(),
            days_observed: of_legs.days_observed.clone(),
            window: of_legs.window.clone(),
            status: of_legs.contexts[0].status,
            chain: self.chain.to_string(),
        };
        let size = UsdMicros(self.sizes.iter().map(|size| size.micros()).sum());
        let filled =
            UsdMicros(found.sold.iter().map(|(_, value)| value.0).sum::<u64>().min(size.0));
        let sold = self.sold(&found)?;
        let gap = found.plan.as_ref().map(|(plan, _)| Percent::parse(plan.exit_gap_pct.as_str()));
        let gap = gap.transpose().map_err(|_| fault("a plan has no gap"))?;
        let slot = self.network.pools.first().ok_or_else(|| fault("a plan has no pool"))?;
        let slot = slot.prepared.slot;
        let result = found.plan.is_some().then(|| self.answer(found.plan, of_legs));
        let document = PortfolioPlan {
            chain: self.chain.to_string(),
            into: self.asked.into.to_string(),
            cash: None,
            slot: slot.number(),
            slot_time: slot.to_string(),
            snapshot_age_s: self.service.age_s(slot),
            sold,
            size_usd: size.into(),
            result: result.transpose()?.map(Box::new),
            problem: found.problem,
            unfilled_usd: UsdMicros(size.0 - filled.0).into(),
            left_out: self.network.left_out.clone(),
            not_counted: NOT_COUNTED.map(str::to_owned).to_vec(),
        };
        Ok(Planned { document, part: PortfolioPart { size, filled, gap }, basis })
    }

    /// The tokens sold, with what the plan takes of each.
    fn sold(&self, found: &FoundPlan) -> Result<Vec<PlanSold>, Problem> {
        let observations = self.network.observations();
        let all = self.network.sold.iter().zip(self.sizes).zip(&found.sold);
        let sold = |((token, size), (amount, value)): ((&Address, &SizeUsd), &(_, UsdMicros))| {
            let (observation, index, known) =
                find_token(&observations, *token).ok_or_else(|| fault("no pool has the token"))?;
            let unfilled =
                if found.problem.is_some() { size.micros().saturating_sub(value.0) } else { 0 };
            Ok(PlanSold {
                token: known.into(),
                oracle_price_usd: observation.prices()[index].to_decimal().into(),
                size_usd: (*size).into(),
                amount_in_raw: exitgap_core::U256::to_string(amount),
                unfilled_usd: UsdMicros(unfilled).into(),
            })
        };
        all.map(sold).collect()
    }

    fn answer(
        &self,
        plan: Option<(exitgap_api::CashPlan, exitgap_core::analytics::route::PortfolioTerms)>,
        of_legs: Legs,
    ) -> Result<PlanAnswer, Problem> {
        let (plan, terms) = plan.ok_or_else(|| fault("a plan is missing"))?;
        let Legs {
            oracle_state, market_open, session_note, days_observed, window, exactness, ..
        } = of_legs;
        Ok(PlanAnswer {
            oracle_state,
            exactness,
            market_open,
            session_note,
            evidence_url: [self.service.urls.web.as_str(), terms.address().as_str()].concat(),
            days_observed,
            method: SeriesMethod {
                assumed_size_usd: Some(plan.size_usd.clone()),
                window,
                depth_source: SeriesSource {
                    kind: DepthSourceKind::RecordedSnapshot,
                    chain: Some(self.chain.to_string()),
                },
            },
            plan,
        })
    }
}

/// The same of a position, which here names the token.
fn of_position(problem: Problem) -> Problem {
    let is_of_token = problem.field.as_deref() == Some(TOKEN_IN_PATH.name);
    if is_of_token { problem.field(POSITION.name) } else { problem }
}

fn fault(what: &str) -> Problem {
    Problem::new(ProblemCode::InternalError, what)
}
