//! What a plan brings.

use crate::exit::{PlanBound, PlanLeg, PlanResult};
use crate::ids::Address;
use crate::json::wire_struct;
use crate::units::{Percent, UsdMicros};
use crate::wide::U256;

/// The figure. Percentages are strings with six decimals, dollars strings of at most six decimals, amounts raw units.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RouteResult {
    /// No plan over the pools brings more, in `2^-160` dollars; `None` if the law of a pool is not known.
    pub bound: Option<U256>,
    /// The same in dollars, rounded up.
    pub bound_usd: Option<String>,
    /// `exit_gap_pct`: the cash received against the amount sold, both at their oracle prices.
    pub exit_gap_pct: String,
    /// What each leg pays, in the order of the legs.
    pub legs_out: Vec<U256>,
    /// No plan over the pools has a gap that is lower by more than this; `None` if the law of a pool is not known.
    pub optimality_gap_pct: Option<String>,
    /// The cash received, ascending by token.
    pub received: Vec<RouteReceived>,
    /// The cash received, in dollars, rounded down.
    pub received_usd: String,
    /// `live` or `preview`.
    pub status: String,
}

wire_struct!(RouteResult {
    bound,
    bound_usd,
    exit_gap_pct,
    legs_out,
    optimality_gap_pct,
    received,
    received_usd,
    status,
});

/// The amount received of a cash token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RouteReceived {
    /// Raw units.
    pub amount_out: U256,
    /// The token.
    pub token: Address,
}

wire_struct!(RouteReceived { amount_out, token });

impl RouteResult {
    pub(super) fn new(
        brought: &PlanResult,
        gap: Percent,
        bound: Option<PlanBound>,
        is_live: bool,
    ) -> Self {
        let out = |leg: &PlanLeg| leg.amount_out;
        let received = |(token, amount): &(Address, U256)| RouteReceived {
            amount_out: *amount,
            token: *token,
        };
        let dollars = |micros: UsdMicros| micros.to_string();
        Self {
            bound: bound.map(|bound| bound.most),
            bound_usd: bound.map(|bound| dollars(bound.most_usd)),
            exit_gap_pct: gap.to_fixed(),
            legs_out: brought.legs.iter().map(out).collect(),
            optimality_gap_pct: bound.map(|bound| bound.optimality_gap.to_fixed()),
            received: brought.received.iter().map(received).collect(),
            received_usd: dollars(brought.received_usd),
            status: if is_live { "live" } else { "preview" }.to_owned(),
        }
    }
}
