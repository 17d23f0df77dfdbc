//! The plan over the pools of a slot, and its figure.

use std::sync::Arc;

use exitgap_api::operations::parameters::{AMOUNT, CASH_POOL};
use exitgap_api::operations::{AmountAsked, CashAsked, CashFileAsked};
use exitgap_api::{CashPlan, Number, PlanOf, Problem, ProblemCode, find_token};
use exitgap_core::U256;
use exitgap_core::analytics::figure::Figure;
use exitgap_core::analytics::route::{RoutePlanLeg, RoutePrice, RouteTerms};
use exitgap_core::exit::{
    LegOrder, Network, NetworkPool, Plan, PlanError, PricedPool, TokenPrice, find_plan,
};
use exitgap_core::ids::Address;
use exitgap_core::series::Slot;
use exitgap_core::snapshot::Observation;
use exitgap_core::units::UsdMicros;

use crate::figures::{ResolvedFigure, ServedFigure};
use crate::{IntoProblem, PreparedSnapshot, Service};

/// A search to run apart from other requests.
pub struct Search {
    pub token: Address,
    pub cash: Vec<Address>,
    pub pools: Vec<Arc<PreparedSnapshot>>,
}

impl Search {
    fn network(&self) -> Result<Network<'_>, Problem> {
        let pools = self.pools.iter().map(|one| network_pool(one)).collect();
        Network::new(pools, self.token, &self.cash).map_err(|error| {
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
        let network = Network::new(pools, self.token, &self.cash);
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

    /// The plan in words, and the parameters of its figure.
    pub(super) fn answer(&self, asked: &CashAsked) -> Result<(CashPlan, RouteTerms), Problem> {
        let network = self.network()?;
        let observations: Vec<&Observation> =
            self.pools.iter().map(|one| one.snapshot.observation()).collect();
        let (amount_in, size) = match &asked.amount {
            AmountAsked::Size(size) => {
                let amount = network.amount_asked(*size).filter(|amount| !amount.is_zero());
                let amount = amount.ok_or_else(|| refused(&PlanError::NoInput, &network))?;
                (amount, UsdMicros::from(*size))
            }
            AmountAsked::Tokens(tokens) => {
                let decimals = find_token(&observations, self.token).map(|(_, _, of)| of.decimals);
                let amount = decimals.and_then(|decimals| tokens.in_units(decimals));
                let amount = amount.ok_or_else(|| {
                    let decimals = decimals.unwrap_or_default();
                    let detail = format!(
                        "amount: {tokens} has more decimals than the token, which has {decimals}, or is too large"
                    );
                    Problem::new(ProblemCode::InvalidParameter, detail)
                        .field(AMOUNT.name)
                        .hint(AMOUNT.hint.unwrap_or_default())
                })?;
                (amount, network.size_of(amount))
            }
        };
        let plan = find_plan(&network, amount_in).map_err(|error| refused(&error, &network))?;
        let (tolerance, gas) = (asked.tolerance, asked.gas);
        let of =
            PlanOf { observations: &observations, plan: &plan, amount_in, size, tolerance, gas };
        let document = of.document();
        let document = document.ok_or_else(|| {
            Problem::new(ProblemCode::InternalError, "a plan names a pool that there is not")
        })?;
        Ok((document, self.terms(&plan, amount_in)?))
    }

    /// The parameters of a plan's figure.
    fn terms(&self, plan: &Plan, amount_in: U256) -> Result<RouteTerms, Problem> {
        let leg = |order: &LegOrder| RoutePlanLeg {
            amount_in: order.amount_in,
            base: order.direction.into(),
            pool: self.pools[order.pool].pool.id.clone(),
        };
        let price = |price: &TokenPrice| RoutePrice { token: price.token, value: price.value };
        let terms = RouteTerms {
            amount_in,
            cash: self.cash.clone(),
            legs: plan.legs.iter().map(leg).collect(),
            pools: self.pools.iter().map(|one| one.pool.id.clone()).collect(),
            prices: plan.prices.iter().map(price).collect(),
            slot: self.slot()?,
            token: self.token,
        };
        terms.validate().map_err(IntoProblem::into_problem)
    }
}

fn network_pool(prepared: &PreparedSnapshot) -> NetworkPool<'_> {
    let observation = prepared.snapshot.observation();
    let tokens = observation.tokens().each_ref().map(|token| token.address);
    let pool = NetworkPool::new(prepared.pool.id.clone(), tokens, PricedPool::from(observation));
    NetworkPool { exits: prepared.shared_exits(), ..pool }
}

impl ServedFigure for RouteTerms {
    async fn resolve(
        service: &Service,
        asked: CashFileAsked,
    ) -> Result<ResolvedFigure<Self>, Problem> {
        let CashFileAsked { chain: _, token, amount_in, into, slot, pools: named } = asked;
        let mut pools = Vec::with_capacity(named.len());
        for pool in &named {
            pools.push(service.find_pool(pool, slot).await?.prepared);
        }
        let search = Search { token, cash: into, pools };
        let run = move || {
            let network = search.checked_network()?;
            let plan = find_plan(&network, amount_in).map_err(|error| refused(&error, &network))?;
            search.terms(&plan, amount_in)
        };
        let figure = service.lane.run(run).await??;
        // A later version of this program may find a better plan.
        Ok(ResolvedFigure { figure, is_settled: false })
    }
}

/// Why there is no plan.
fn refused(error: &PlanError, network: &Network<'_>) -> Problem {
    let code = match error {
        PlanError::NoInput => ProblemCode::RoundsToNoInput,
        PlanError::NoPath => ProblemCode::UnknownToken,
        PlanError::NoOutput => ProblemCode::RoundsToNoOutput,
        PlanError::GapOutOfRange => ProblemCode::GapOutOfRange,
        PlanError::BeyondLiquidity { max_amount_in } => {
            let most = network.size_of(*max_amount_in);
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
