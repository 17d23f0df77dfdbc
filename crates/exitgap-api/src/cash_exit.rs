//! `GET /v1/cash/{chain}/{token}`: one sale that ends in cash.

use exitgap_core::U256;
use exitgap_core::evidence::Base;
use exitgap_core::exit::{METHOD_VERSION, Plan, PlanLeg, least_accepted};
use exitgap_core::ids::Address;
use exitgap_core::snapshot::{Observation, Token};
use exitgap_core::units::{Percent, UsdMicros};
use serde::{Deserialize, Serialize};

use crate::{
    Exactness, Number, OracleState, PoolName, SeriesMethod, SplitLeftOut, Status, TokenLabel,
};

/// The answer of `GET /v1/cash/{chain}/{token}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CashExit {
    /// The chain's slug.
    pub chain: String,
    /// The token sold.
    pub token: TokenLabel,
    /// What the sale must end in, as requested: `cash`, `any`, the name of a group, or token addresses.
    pub into: String,
    /// `not_configured` if the request is for cash and the operator configured none for this chain.
    /// The sale then ends in any token in which a pool pays for the token sold, as with `any`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cash: Option<String>,
    /// The slot number. All pools are used as they were at this slot.
    pub slot: u32,
    /// The time of the slot, RFC 3339.
    pub slot_time: String,
    /// Seconds since the slot.
    pub snapshot_age_s: u64,
    /// USD per whole token sold, according to the oracle.
    pub oracle_price_usd: Number,
    /// How reliable the oracle answers of the legs' pools are: the worst of them.
    pub oracle_state: OracleState,
    /// Whether the amounts are what a holder sends and receives.
    #[serde(flatten)]
    pub exactness: Exactness,
    /// Whether the markets of the tokens of all legs are open.
    pub market_open: bool,
    /// The market session: of a leg whose market is closed, if there is one.
    pub session_note: String,
    /// The amount sold, raw units.
    pub amount_in_raw: String,
    /// The plan, and what it brings.
    #[serde(flatten)]
    pub plan: CashPlan,
    /// Pools of the chain that are not part of the search or of its bound, and why.
    pub left_out: Vec<SplitLeftOut>,
    /// What is not counted.
    pub not_counted: Vec<String>,
    /// URL of the figure file that proves the plan, what it brings, and the bound.
    pub evidence_url: String,
    /// The length of the shortest series of the legs' pools, days.
    pub days_observed: Number,
    /// The method, disclosed. Its window is that of the leg with the shortest series.
    pub method: SeriesMethod,
}

/// A plan, and what it brings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CashPlan {
    /// `live` only if the chain is live.
    pub status: Status,
    /// The amount sold at its oracle price, USD, rounded down. The requested size, if there is one.
    pub size_usd: Number,
    /// The cash received against the amount sold, both at their oracle prices, percent. Positive is
    /// worse than the oracle.
    pub exit_gap_pct: Number,
    /// No other route through the pools that count, with at most three in a row, has a gap that is
    /// lower by more than this, percent. Pools in `left_out` do not count. `null` if the law of a
    /// pool is not known.
    pub optimality_gap_pct: Option<Number>,
    /// No route through the pools that count brings more than this, USD. `null` if the law of a pool
    /// is not known.
    pub bound_usd: Option<Number>,
    /// The cash received at its oracle prices, USD, rounded down.
    pub received_usd: Number,
    /// The same less `gas_usd`, if that was given. Never below 0.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub received_after_gas_usd: Option<Number>,
    /// Your assumption of the gas, USD.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub gas_usd: Option<Number>,
    /// How much less than stated you accept, percent.
    pub tolerance_pct: Number,
    /// The cash received, by token.
    pub received: Vec<CashReceived>,
    /// The sales, in an order in which they can be executed.
    pub legs: Vec<CashLeg>,
    /// The version of the method behind the figures.
    pub method_version: String,
}

/// The amount received of a cash token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CashReceived {
    /// The token.
    pub token: TokenLabel,
    /// USD per whole token, according to the oracle.
    pub oracle_price_usd: Number,
    /// Raw units received.
    pub amount_out_raw: String,
    /// The least that you accept at your tolerance: `amount_out_raw` less `tolerance_pct`, rounded
    /// down.
    pub amount_out_min_raw: String,
}

/// A sale of a plan, which is the contract's own fill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CashLeg {
    /// The pool.
    pub pool: String,
    /// The venue and fee.
    pub name: String,
    /// `token0` or `token1`: the token sold, by its position in that pool.
    pub base: String,
    /// The token sold here.
    pub sold: TokenLabel,
    /// The token bought here.
    pub bought: TokenLabel,
    /// Raw units sold here.
    pub amount_in_raw: String,
    /// Raw units bought here.
    pub amount_out_raw: String,
}

/// A plan to put into words, with the observations of its pools.
#[derive(Debug, Clone, Copy)]
pub struct PlanOf<'a> {
    /// The pools of the network, in its order.
    pub observations: &'a [&'a Observation],
    /// The plan.
    pub plan: &'a Plan,
    /// What is sold, at its oracle price.
    pub size: UsdMicros,
    /// How much less than stated the reader accepts.
    pub tolerance: Percent,
    /// The reader's assumption of the gas.
    pub gas: Option<UsdMicros>,
}

impl PlanOf<'_> {
    /// The document; `None` if the plan has no gap or names a pool that there is not.
    pub fn document(self) -> Option<CashPlan> {
        let Self { observations, plan, size, tolerance, gas } = self;
        let result = &plan.result;
        let kind = observations.first()?.chain().kind;
        let after_gas = |gas: UsdMicros| UsdMicros(result.received_usd.0.saturating_sub(gas.0));
        let legs = result.legs.iter().map(|leg| self.leg(leg)).collect::<Option<_>>()?;
        let received = result.received.iter().map(|(token, units)| self.received(*token, *units));
        Some(CashPlan {
            status: kind.into(),
            size_usd: size.into(),
            exit_gap_pct: result.gap?.into(),
            optimality_gap_pct: plan.bound.map(|bound| bound.optimality_gap.into()),
            bound_usd: plan.bound.map(|bound| bound.most_usd.into()),
            received_usd: result.received_usd.into(),
            received_after_gas_usd: gas.map(|gas| after_gas(gas).into()),
            gas_usd: gas.map(Number::from),
            tolerance_pct: tolerance.into(),
            received: received.collect::<Option<_>>()?,
            legs,
            method_version: METHOD_VERSION.to_owned(),
        })
    }

    fn leg(self, leg: &PlanLeg) -> Option<CashLeg> {
        let observation = self.observations.get(leg.order.pool)?;
        let (tokens, direction) = (observation.tokens(), leg.order.direction);
        Some(CashLeg {
            pool: observation.pool().to_string(),
            name: PoolName::from_observation(observation).name(),
            base: Base::from(direction).code().to_owned(),
            sold: (&tokens[direction.base_index()]).into(),
            bought: (&tokens[direction.quote_index()]).into(),
            amount_in_raw: leg.order.amount_in.to_string(),
            amount_out_raw: leg.amount_out.to_string(),
        })
    }

    fn received(self, token: Address, units: U256) -> Option<CashReceived> {
        let (observation, index, known) = find_token(self.observations, token)?;
        let least = least_accepted(units, self.tolerance)?;
        Some(CashReceived {
            token: known.into(),
            oracle_price_usd: observation.prices()[index].to_decimal().into(),
            amount_out_raw: units.to_string(),
            amount_out_min_raw: least.to_string(),
        })
    }
}

/// A token as one of these pools has it, and its position there.
pub fn find_token<'o>(
    observations: &[&'o Observation],
    token: Address,
) -> Option<(&'o Observation, usize, &'o Token)> {
    observations.iter().find_map(|observation| {
        let index = observation.tokens().iter().position(|one| one.address == token)?;
        Some((*observation, index, &observation.tokens()[index]))
    })
}
