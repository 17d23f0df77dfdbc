//! The plan over the pools of a slot, and its figure.

use std::sync::Arc;

use exitgap_api::operations::parameters::{AMOUNT, CASH_POOL};
use exitgap_api::operations::{
    AmountAsked, CashAsked, CashFileAsked, PortfolioFileAsked, WholeTokens,
};
use exitgap_api::{CashPlan, Number, PlanOf, Problem, ProblemCode, find_token};
use exitgap_core::U256;
use exitgap_core::analytics::figure::Figure;
use exitgap_core::analytics::route::{
    PortfolioTerms, RoutePlanLeg, RoutePrice, RouteTerms, SoldAmount,
};
use exitgap_core::exit::{
    LegOrder, Network, NetworkPool, Plan, PlanError, PricedPool, TokenPrice, find_plan,
};
use exitgap_core::ids::{Address, PoolId};
use exitgap_core::series::Slot;
use exitgap_core::snapshot::Observation;
use exitgap_core::units::{Percent, SizeUsd, UsdMicros};

use crate::figures::{ResolvedFigure, ServedFigure};
use crate::{IntoProblem, PreparedSnapshot, Service};

/// A search to run apart from other requests.
pub struct Search {
    /// The tokens sold, ascending.
    pub sold: Vec<Address>,
    /// Ascending.
    pub cash: Vec<Address>,
    pub pools: Vec<Arc<PreparedSnapshot>>,
}

/// What a sale of several tokens brings.
pub struct FoundPlan {
    /// What it sells of each token, in their order: all, or what the pools take; and the values of that.
    pub sold: Vec<(U256, UsdMicros)>,
    /// Why that is not everything.
    pub problem: Option<Problem>,
    /// The plan and the parameters of its figure; `None` if the pools take nothing.
    pub plan: Option<(CashPlan, PortfolioTerms)>,
}

impl Search {
    fn network(&self) -> Result<Network<'_>, Problem> {
        let pools = self.pools.iter().map(|one| network_pool(one)).collect();
        Network::new(pools, &self.sold, &self.cash).map_err(|error| {
            tracing::error!(%error, "the pools on a path to cash are no network");
            Problem::new(ProblemCode::InternalError, "the pools could not be combined")
        })
    }

    /// The same for pools that a reader named, which must be those of one network.
    fn checked_network(&self) -> Result<Network<'_>, Problem> {
        let wrong = |detail: String| {
            let hint = "use the evidence_url of an answer";
            Problem::new(ProblemCode::InvalidParameter, detail).field(CASH_POOL.name).hint(hint)
        };
        let block = self.pools.first().map(|one| one.snapshot.observation().block());
        let is_other =
            |one: &&Arc<PreparedSnapshot>| Some(one.snapshot.observation().block()) != block;
        if let Some(other) = self.pools.iter().find(is_other) {
            return Err(wrong(format!("pool: {} was read at another block", other.pool.id)));
        }
        let pools = self.pools.iter().map(|one| network_pool(one)).collect();
        let network = Network::new(pools, &self.sold, &self.cash);
        let network = network.map_err(|error| wrong(format!("pool: {error}")))?;
        if let Some(at) = (0..self.pools.len()).find(|at| !network.is_on_path(*at)) {
            let pool = &self.pools[at].pool.id;
            return Err(wrong(format!("pool: {pool} is on no path of at most three pools")));
        }
        if let Some(token) = self.cash.iter().find(|token| !network.reaches(**token)) {
            return Err(wrong(format!("into: no path of the pools leads to {token}")));
        }
        Ok(network)
    }

    fn slot(&self) -> Result<Slot, Problem> {
        let first = self.pools.first().map(|one| one.slot);
        first.ok_or_else(|| Problem::new(ProblemCode::InternalError, "a plan has no pool"))
    }

    /// The plan of the one token sold in words, and the parameters of its figure.
    pub(super) fn answer(&self, asked: &CashAsked) -> Result<(CashPlan, RouteTerms), Problem> {
        let network = self.network()?;
        let (amount_in, size) = match &asked.amount {
            AmountAsked::Size(size) => {
                (asked_amount(&network, asked.token, *size)?, UsdMicros::from(*size))
            }
            AmountAsked::Tokens(tokens) => {
                let amount = self.whole_tokens(asked.token, tokens)?;
                (amount, network.size_of(&[amount]))
            }
        };
        let plan = find_plan(&network, &[amount_in]).map_err(|error| refused(&error, &network))?;
        let document = self.document(&plan, size, asked.tolerance, asked.gas)?;
        let PortfolioTerms { cash, legs, pools, prices, slot, .. } =
            self.terms(&plan, &[amount_in])?;
        let token = asked.token;
        let terms = RouteTerms { amount_in, cash, legs, pools, prices, slot, token };
        Ok((document, terms.validate().map_err(IntoProblem::into_problem)?))
    }

    /// One plan for these sizes of the tokens sold, in their order; of what the pools take if that is less.
    pub(crate) fn answer_several(
        &self,
        sizes: &[SizeUsd],
        tolerance: Percent,
    ) -> Result<FoundPlan, Problem> {
        let network = self.network()?;
        let amounts = self.sold.iter().zip(sizes);
        let amounts = amounts.map(|(token, size)| asked_amount(&network, *token, *size));
        let amounts: Vec<U256> = amounts.collect::<Result<_, _>>()?;
        let whole: u64 = sizes.iter().map(|size| size.micros()).sum();
        match find_plan(&network, &amounts) {
            Ok(plan) => {
                let values = sizes.iter().map(|size| UsdMicros::from(*size));
                let sold = amounts.iter().copied().zip(values).collect();
                let document = self.document(&plan, UsdMicros(whole), tolerance, None)?;
                let terms = self.terms(&plan, &amounts)?;
                Ok(FoundPlan { sold, problem: None, plan: Some((document, terms)) })
            }
            Err(PlanError::BeyondLiquidity { max_amounts_in }) => {
                let problem = Some(self.beyond(&amounts, &max_amounts_in));
                let found = self.part(max_amounts_in, tolerance)?;
                let (taken, plan) = match found {
                    Some((taken, document, terms)) => (taken, Some((document, terms))),
                    None => (vec![U256::ZERO; amounts.len()], None),
                };
                let value = |(at, taken): (usize, U256)| {
                    if taken == amounts[at] {
                        (taken, UsdMicros::from(sizes[at]))
                    } else {
                        (taken, self.value_of(&network, at, taken))
                    }
                };
                let sold = taken.into_iter().enumerate().map(value).collect();
                Ok(FoundPlan { sold, problem, plan })
            }
            Err(error) => Err(refused(&error, &network)),
        }
    }

    /// The value of an amount of one of the tokens sold.
    fn value_of(&self, network: &Network<'_>, at: usize, amount: U256) -> UsdMicros {
        let alone = (0..self.sold.len()).map(|one| if one == at { amount } else { U256::ZERO });
        network.size_of(&alone.collect::<Vec<_>>())
    }

    /// Why the pools do not take everything, by the tokens of which they take less.
    fn beyond(&self, amounts: &[U256], taken: &[U256]) -> Problem {
        let less = self.sold.iter().zip(amounts.iter().zip(taken));
        let less: Vec<String> = less
            .filter(|(_, (all, taken))| taken < all)
            .map(|(token, _)| token.to_string())
            .collect();
        let detail = format!(
            "the routes that were tried cannot take the whole amount of {}",
            less.join(" and ")
        );
        Problem::new(ProblemCode::BeyondLiquidity, detail)
            .hint("ask for a smaller size, or sell in several slots")
    }

    /// The amounts that pools take with their plan, beginning with amounts that a search found. A search for less may find
    /// other routes, which take less again, so it is repeated a few times. `None` if they take nothing.
    fn part(
        &self,
        mut taken: Vec<U256>,
        tolerance: Percent,
    ) -> Result<Option<(Vec<U256>, CashPlan, PortfolioTerms)>, Problem> {
        const TRIES: usize = 4;
        for _ in 0..TRIES {
            let sold = self.sold.iter().zip(&taken).filter(|(_, amount)| !amount.is_zero());
            let (sold, amounts): (Vec<Address>, Vec<U256>) =
                sold.map(|(token, amount)| (*token, *amount)).unzip();
            if sold.is_empty() {
                return Ok(None);
            }
            let (cash, pools) = (self.cash.clone(), self.pools.clone());
            let part = Self { sold, cash, pools }.without_pools_off_path()?;
            let network = part.network()?;
            match find_plan(&network, &amounts) {
                Ok(plan) => {
                    let size = network.size_of(&amounts);
                    let document = part.document(&plan, size, tolerance, None)?;
                    return Ok(Some((taken, document, part.terms(&plan, &amounts)?)));
                }
                Err(PlanError::BeyondLiquidity { max_amounts_in }) => {
                    let less = part.sold.iter().zip(max_amounts_in);
                    for (token, amount) in less {
                        let at = self.sold.iter().position(|one| one == token).unwrap_or_default();
                        // A little less than what did not fit twice.
                        taken[at] = amount - (amount >> 10);
                    }
                }
                Err(_) => return Ok(None),
            }
        }
        Ok(None)
    }

    /// The same with the pools and cash tokens alone that a path of a token sold reaches.
    fn without_pools_off_path(mut self) -> Result<Self, Problem> {
        let network = self.network()?;
        let is_kept: Vec<bool> = (0..self.pools.len()).map(|at| network.is_on_path(at)).collect();
        let cash = self.cash.iter().copied().filter(|token| network.reaches(*token)).collect();
        drop(network);
        let mut is_kept = is_kept.into_iter();
        self.pools.retain(|_| is_kept.next().unwrap_or(false));
        self.cash = cash;
        Ok(self)
    }

    fn whole_tokens(&self, token: Address, tokens: &WholeTokens) -> Result<U256, Problem> {
        let decimals = find_token(&self.observations(), token).map(|(_, _, of)| of.decimals);
        decimals.and_then(|decimals| tokens.in_units(decimals)).ok_or_else(|| {
            let decimals = decimals.unwrap_or_default();
            let detail = format!(
                "amount: {tokens} has more decimals than the token, which has {decimals}, or is too large"
            );
            Problem::new(ProblemCode::InvalidParameter, detail)
                .field(AMOUNT.name)
                .hint(AMOUNT.hint.unwrap_or_default())
        })
    }

    fn observations(&self) -> Vec<&Observation> {
        self.pools.iter().map(|one| one.snapshot.observation()).collect()
    }

    /// A plan in words.
    fn document(
        &self,
        plan: &Plan,
        size: UsdMicros,
        tolerance: Percent,
        gas: Option<UsdMicros>,
    ) -> Result<CashPlan, Problem> {
        let observations = &self.observations();
        PlanOf { observations, plan, size, tolerance, gas }.document().ok_or_else(|| {
            Problem::new(ProblemCode::InternalError, "a plan names a pool that there is not")
        })
    }

    /// The parameters of a plan's figure.
    fn terms(&self, plan: &Plan, amounts_in: &[U256]) -> Result<PortfolioTerms, Problem> {
        let leg = |order: &LegOrder| RoutePlanLeg {
            amount_in: order.amount_in,
            base: order.direction.into(),
            pool: self.pools[order.pool].pool.id.clone(),
        };
        let price = |price: &TokenPrice| RoutePrice { token: price.token, value: price.value };
        let sold = self.sold.iter().zip(amounts_in);
        let sold = sold.map(|(token, amount)| SoldAmount { amount_in: *amount, token: *token });
        let terms = PortfolioTerms {
            cash: self.cash.clone(),
            legs: plan.legs.iter().map(leg).collect(),
            pools: self.pools.iter().map(|one| one.pool.id.clone()).collect(),
            prices: plan.prices.iter().map(price).collect(),
            slot: self.slot()?,
            sold: sold.collect(),
        };
        terms.validate().map_err(IntoProblem::into_problem)
    }

    /// The parameters of the figure of a plan over pools that a reader named.
    fn named_terms(&self, amounts_in: &[U256]) -> Result<PortfolioTerms, Problem> {
        let network = self.checked_network()?;
        let plan = find_plan(&network, amounts_in).map_err(|error| refused(&error, &network))?;
        self.terms(&plan, amounts_in)
    }
}

/// The amount of a token sold that a size corresponds to.
fn asked_amount(network: &Network<'_>, token: Address, size: SizeUsd) -> Result<U256, Problem> {
    let amount = network.amount_asked(token, size).filter(|amount| !amount.is_zero());
    amount.ok_or_else(|| {
        let detail = format!("{size} USD are less than one raw unit of {token}");
        Problem::new(ProblemCode::RoundsToNoInput, detail)
    })
}

fn network_pool(prepared: &PreparedSnapshot) -> NetworkPool<'_> {
    let observation = prepared.snapshot.observation();
    let tokens = observation.tokens().each_ref().map(|token| token.address);
    let pool = NetworkPool::new(prepared.pool.id.clone(), tokens, PricedPool::from(observation));
    NetworkPool { exits: prepared.shared_exits(), ..pool }
}

impl Service {
    /// The search over pools of a slot that a reader named.
    async fn named_search(
        &self,
        sold: Vec<Address>,
        cash: Vec<Address>,
        slot: Slot,
        named: &[PoolId],
    ) -> Result<Search, Problem> {
        let mut pools = Vec::with_capacity(named.len());
        for pool in named {
            pools.push(self.find_pool(pool, slot).await?.prepared);
        }
        Ok(Search { sold, cash, pools })
    }
}

impl ServedFigure for RouteTerms {
    async fn resolve(
        service: &Service,
        asked: CashFileAsked,
    ) -> Result<ResolvedFigure<Self>, Problem> {
        let CashFileAsked { chain: _, token, amount_in, into, slot, pools } = asked;
        let search = service.named_search(vec![token], into, slot, &pools).await?;
        let terms = service.searches.run(move || search.named_terms(&[amount_in])).await??;
        let PortfolioTerms { cash, legs, pools, prices, slot, .. } = terms;
        let figure = Self { amount_in, cash, legs, pools, prices, slot, token };
        // A later version of this program may find a better plan.
        Ok(ResolvedFigure { figure, is_settled: false })
    }
}

impl ServedFigure for PortfolioTerms {
    async fn resolve(
        service: &Service,
        asked: PortfolioFileAsked,
    ) -> Result<ResolvedFigure<Self>, Problem> {
        let PortfolioFileAsked { chain: _, sold, into, slot, pools } = asked;
        let (tokens, amounts_in): (Vec<Address>, Vec<U256>) =
            sold.into_iter().map(|one| (one.token, one.amount_in)).unzip();
        let search = service.named_search(tokens, into, slot, &pools).await?;
        let figure = service.searches.run(move || search.named_terms(&amounts_in)).await??;
        // A later version of this program may find a better plan.
        Ok(ResolvedFigure { figure, is_settled: false })
    }
}

/// Why there is no plan.
fn refused(error: &PlanError, network: &Network<'_>) -> Problem {
    let code = match error {
        PlanError::NoInput => ProblemCode::RoundsToNoInput,
        PlanError::NoPath { .. } => ProblemCode::UnknownToken,
        PlanError::NoOutput => ProblemCode::RoundsToNoOutput,
        PlanError::GapOutOfRange => ProblemCode::GapOutOfRange,
        PlanError::BeyondLiquidity { max_amounts_in } => {
            let most = network.size_of(max_amounts_in);
            let detail = format!(
                "the routes that were tried cannot take this amount; the largest size that they take is {} USD",
                Number::from(most)
            );
            let problem = Problem::new(ProblemCode::BeyondLiquidity, detail);
            let problem = problem.hint("ask for a smaller size, or sell in several slots");
            return Problem { max_fillable_usd: Some(most.into()), ..problem };
        }
    };
    Problem::new(code, error.to_string())
}
