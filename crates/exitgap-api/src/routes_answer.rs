//! `GET /v1/routes/{chain}/{token}`: the venues of a token at one slot, each alone and split.

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
    /// The slot's number: all venues are of this one.
    pub slot: u32,
    /// Its instant, RFC 3339.
    pub slot_time: String,
    /// Seconds since it.
    pub snapshot_age_s: u64,
    /// USD per whole token sold, by the oracle.
    pub oracle_price_usd: Number,
    /// How far the oracles' answers may be relied on: the worst of the legs' pools.
    pub oracle_state: OracleState,
    /// Whether the markets of the tokens of all legs are open.
    pub market_open: bool,
    /// The market session: of a leg whose market is closed, where one is.
    pub session_note: String,
    /// The quote group asked for: only pools that buy a token of it were looked at.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub quote_group: Option<String>,
    /// The quote groups of the chain that may be asked for, such as `usd`: without one, a leg may end in any token, which is
    /// counted at its oracle's price.
    #[serde(default)]
    pub quote_groups: Vec<String>,
    /// The exit: split, and in each venue alone.
    #[serde(flatten)]
    pub split: BestSplit,
    /// That of the leg with the shortest series: the figures are no stronger than it.
    pub days_observed: Number,
    /// The method, disclosed; its window is that of the leg with the shortest series.
    pub method: SeriesMethod,
}
