//! `GET /v1/routes/{chain}/{token}`: the venues of a token at one slot, each alone and in a split.

use serde::{Deserialize, Serialize};

use crate::{BestSplit, Number, OracleState, SeriesMethod, TokenLabel};

/// `GET /v1/routes/{chain}/{token}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Routes {
    /// The chain's slug.
    pub chain: String,
    /// The token sold.
    pub token: TokenLabel,
    /// The slot number. All venues are compared at this slot.
    pub slot: u32,
    /// The time of the slot, RFC 3339.
    pub slot_time: String,
    /// Seconds since the slot.
    pub snapshot_age_s: u64,
    /// USD per whole token sold, according to the oracle.
    pub oracle_price_usd: Number,
    /// How reliable the oracle answers are: the worst of the legs' pools.
    pub oracle_state: OracleState,
    /// Whether the amounts are what a holder sends and receives. `false` if a token takes a fee on
    /// transfer, as logs of swaps of a leg's pool showed: the exit is then worse than computed.
    pub exact: bool,
    /// Why the amounts are not exact, if they are not: `token_taxed`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub inexact_because: Option<String>,
    /// The same reason as a sentence that names the tokens.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub inexact_detail: Option<String>,
    /// Whether the markets of the tokens of all legs are open.
    pub market_open: bool,
    /// The market session: of a leg whose market is closed, if there is one.
    pub session_note: String,
    /// The requested quote group. Only pools that buy a token of the group were used.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub quote_group: Option<String>,
    /// The quote groups of the chain that can be requested, such as `usd`. Without one, a leg may
    /// end in any token, valued at its oracle price.
    #[serde(default)]
    pub quote_groups: Vec<String>,
    /// The exit: split, and in each venue alone.
    #[serde(flatten)]
    pub split: BestSplit,
    /// The length of the shortest series of the legs. The figures are no more reliable than that
    /// leg.
    pub days_observed: Number,
    /// The method, disclosed. Its window is that of the leg with the shortest series.
    pub method: SeriesMethod,
}
