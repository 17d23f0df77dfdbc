//! The parameters of requests about one snapshot of a pool: the sale, and the requirements for the snapshot.

use exitgap_core::exit::OrderPlan;
use exitgap_core::ids::{Address, ChainSlug, PoolId};
use exitgap_core::series::Slot;
use exitgap_core::units::{GapLimit, SizeUsd, UsdMicros};

use super::parameters::{
    AT, BASE, CHAIN_IN_PATH, FIXED_COST, GAP, MAX_AGE, MIN_DAYS, ORDER_INTERVAL, ORDERS, POOL,
    QUOTE_GROUP, RECOVERY, REQUIRE, SIZE, TOKEN_IN_PATH,
};
use super::{Given, Question, values};
use crate::parameters::{order_plan, parse_recovery};
use crate::{Days, Guards, Problem, parse_fixed_cost, parse_pool, parse_size, slot_at};

/// The snapshot of a request, and the token sold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapshotAsked {
    /// The pool.
    pub pool: PoolId,
    /// The token sold: `token0`, `token1`, a symbol or an address; default: the pool's default base.
    pub base: Option<String>,
    /// The exact slot; default: the newest recorded one.
    pub at: Option<Slot>,
    /// The requirements for the snapshot.
    pub guards: Guards,
}

impl Question for Guards {
    fn from_parameters(given: &Given<'_>) -> Result<Self, Problem> {
        let live = |text: &str| values::word(&REQUIRE, text, |word| (word == "live").then_some(()));
        Ok(Self {
            max_age_s: given.parse_optional(&MAX_AGE, |text| values::whole(&MAX_AGE, text))?,
            min_days_observed: given.parse_optional(&MIN_DAYS, Days::parse)?,
            require_live: given.parse_optional(&REQUIRE, live)?.is_some(),
        })
    }
}

impl Question for SnapshotAsked {
    fn from_parameters(given: &Given<'_>) -> Result<Self, Problem> {
        Ok(Self {
            pool: given.parse_required(&POOL, parse_pool)?,
            base: given.parse_optional(&BASE, values::token_name)?,
            at: given.parse_optional(&AT, |text| slot_at(AT.name, text))?,
            guards: Guards::from_parameters(given)?,
        })
    }
}

/// A sale.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExitAsked {
    /// The snapshot.
    pub snapshot: SnapshotAsked,
    /// The size.
    pub size: SizeUsd,
}

impl Question for ExitAsked {
    fn from_parameters(given: &Given<'_>) -> Result<Self, Problem> {
        let size = given.parse_required(&SIZE, parse_size)?;
        Ok(Self { snapshot: SnapshotAsked::from_parameters(given)?, size })
    }
}

/// The parameters of the largest sale within a gap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MaxSizeAsked {
    /// The snapshot.
    pub snapshot: SnapshotAsked,
    /// The widest gap accepted.
    pub limit: GapLimit,
}

impl Question for MaxSizeAsked {
    fn from_parameters(given: &Given<'_>) -> Result<Self, Problem> {
        let limit = given.parse_required(&GAP, values::gap_limit)?;
        Ok(Self { snapshot: SnapshotAsked::from_parameters(given)?, limit })
    }
}

/// The parameters of a token's venues.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoutesAsked {
    /// The chain.
    pub chain: ChainSlug,
    /// The token sold.
    pub token: Address,
    /// The size.
    pub size: SizeUsd,
    /// Only pools that pay with a token of this group.
    pub quote_group: Option<String>,
    /// The fixed cost of using a venue.
    pub fixed_cost: UsdMicros,
    /// The exact slot; default: the newest at which one of the venues is recorded.
    pub at: Option<Slot>,
    /// The requirements for each venue that is used.
    pub guards: Guards,
}

impl Question for RoutesAsked {
    fn from_parameters(given: &Given<'_>) -> Result<Self, Problem> {
        let size = given.parse_required(&SIZE, parse_size)?;
        Ok(Self {
            chain: given.parse_required(&CHAIN_IN_PATH, values::chain)?,
            token: given.parse_required(&TOKEN_IN_PATH, values::address)?,
            size,
            quote_group: given.parse_optional(&QUOTE_GROUP, values::group)?,
            fixed_cost: given.parse_required(&FIXED_COST, parse_fixed_cost)?,
            at: given.parse_optional(&AT, |text| slot_at(AT.name, text))?,
            guards: Guards::from_parameters(given)?,
        })
    }
}

/// A sale in several orders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SimulationAsked {
    /// The snapshot.
    pub snapshot: SnapshotAsked,
    /// The size, and how it is split into orders.
    pub plan: OrderPlan,
}

impl Question for SimulationAsked {
    fn from_parameters(given: &Given<'_>) -> Result<Self, Problem> {
        let size = given.parse_required(&SIZE, parse_size)?;
        let orders = given.parse_required(&ORDERS, |text| values::whole(&ORDERS, text))?;
        let recovery = given.parse_required(&RECOVERY, parse_recovery)?;
        let interval_s =
            given.parse_required(&ORDER_INTERVAL, |text| values::whole(&ORDER_INTERVAL, text))?;
        let plan = order_plan(size, orders, recovery, interval_s)?;
        Ok(Self { snapshot: SnapshotAsked::from_parameters(given)?, plan })
    }
}
