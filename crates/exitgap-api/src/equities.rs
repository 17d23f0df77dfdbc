//! Tokenized stocks: the state of each, and of its pools in each session of its exchange.

use exitgap_core::analytics::equity::{
    EQUITY, EquityBalance, EquityEvent, EquityReopening, EquityResult, EquitySaid, EquitySession,
    EquityToken,
};
use exitgap_core::exit::Exit;
use exitgap_core::hours::MarketState;
use exitgap_core::pools::Direction;
use exitgap_core::series::{Slot, rfc3339};
use exitgap_core::snapshot::{Fact, Snapshot};
use serde::{Deserialize, Serialize};

use crate::number::decimal;
use crate::{Number, OracleState, SplitLeftOut, Status, inexact_detail};

/// The current state of a tokenized stock, from the newest snapshot of its deepest pool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct EquityState {
    /// The slot of the snapshot, RFC 3339.
    pub slot_time: String,
    /// Seconds since that slot.
    pub snapshot_age_s: u64,
    /// Live or preview.
    pub status: Status,
    /// `regular`, `pre`, `after`, `overnight`, `weekend`, `holiday` or `unknown`: the session of
    /// the stock's exchange at the snapshot's block.
    pub session: String,
    /// How reliable the oracle answers are.
    pub oracle_state: OracleState,
    /// Whether the amounts are what a holder sends and receives. `false` if a token takes a fee on
    /// transfer, as logs of the pool's own swaps showed: the exit is then worse than computed.
    pub exact: bool,
    /// Why the amounts are not exact, if they are not: `token_taxed`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub inexact_because: Option<String>,
    /// The same reason as a sentence that names the tokens.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub inexact_detail: Option<String>,
    /// The oracle price of the token, USD.
    pub oracle_price_usd: Number,
    /// The price of one share as shown in wallets, from the oracle price, USD. `null` without a
    /// multiplier. For display only.
    pub ui_price_usd: Option<Number>,
    /// The discount of the pool's mid price to the oracle price, percent. `null` if it is outside
    /// the range of a percentage.
    pub basis_pct: Option<Number>,
    /// The token's multiplier, read from the contract. `null` if no fact is configured or it could
    /// not be read.
    pub multiplier_raw: Option<String>,
    /// The next multiplier. `null` in the same cases.
    pub pending_multiplier_raw: Option<String>,
    /// When the next multiplier takes effect, RFC 3339. It may be in the past.
    pub effective_at: Option<String>,
    /// Whether the token or its feed is paused. `null` in the same cases.
    pub feed_paused: Option<bool>,
    /// Whether trading is paused or a change is due within a day. Such slots are excluded from the
    /// statistics.
    pub corporate_action: bool,
    /// Whether the snapshot has all facts that the operator configured.
    pub facts_whole: bool,
}

impl EquityState {
    /// The state according to a snapshot in which the token is sold in this direction.
    pub fn from_snapshot(
        token: &EquityToken,
        snapshot: &Snapshot,
        direction: Direction,
        age_s: u64,
    ) -> Self {
        let (observation, share) = (snapshot.observation(), direction.base_index());
        let at = observation.block().timestamp;
        let said = EquitySaid::from_observation(token, observation);
        let own = observation.pool_sessions().into_iter();
        let own = own.map(|session| (usize::from(session.token), session.calendar));
        let session =
            own.filter(|(token, _)| *token == share).map(|(_, calendar)| calendar.state(at)).next();
        let ui_price = said.ui_price(token, observation, share);
        let inexact_detail = inexact_detail(observation);
        Self {
            slot_time: snapshot.slot().to_string(),
            snapshot_age_s: age_s,
            status: observation.chain().kind.into(),
            session: session.unwrap_or(MarketState::Unknown).as_str().to_owned(),
            oracle_state: observation.oracle_state().into(),
            exact: inexact_detail.is_none(),
            inexact_because: inexact_detail.as_ref().map(|_| Fact::TOKEN_TAXED.to_owned()),
            inexact_detail,
            oracle_price_usd: observation.prices()[share].to_decimal().into(),
            ui_price_usd: ui_price.map(Number::from),
            basis_pct: Exit::mid_basis(observation, direction).map(Number::from),
            multiplier_raw: said.multiplier.map(|word| word.to_string()),
            pending_multiplier_raw: said.pending_multiplier.map(|word| word.to_string()),
            effective_at: said.effective_at.map(rfc3339),
            feed_paused: said.paused,
            corporate_action: said.is_action(at),
            facts_whole: said.is_whole,
        }
    }
}

/// A tokenized stock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct EquityListed {
    /// The chain.
    pub chain: String,
    /// The token's address.
    pub token: String,
    /// The token's name for itself. `null` before its first snapshot.
    pub symbol: Option<String>,
    /// `scaled_ui`, `total_return`, `rebasing` or `split_rebase`.
    pub kind: String,
    /// The decimals of its multiplier.
    pub multiplier_decimals: u8,
    /// Its monitored pools.
    pub pools: u32,
    /// The deepest pool. `null` before the first snapshot.
    pub deepest_pool: Option<String>,
    /// The total depth at 2% of its pools, each in its newest slot, whole USD.
    pub depth_usd: Number,
    /// The share of the deepest pool in that depth, percent. `null` if the depth is zero.
    pub concentration_pct: Option<Number>,
    /// The current state. `null` before the first snapshot.
    pub state: Option<EquityState>,
}

/// `GET /v1/equities`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Equities {
    /// The name and version of the method, `equity/1`.
    pub figure: String,
    /// All configured tokens, ordered by chain and address.
    pub equities: Vec<EquityListed>,
}

impl Equities {
    /// The name and version of the rules.
    pub const FIGURE: &'static str = EQUITY;
}

/// One session of the exchange. Statistics are `null` if too little is recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct EquitySessionTold {
    /// `regular`, `pre`, `after`, `overnight`, `weekend`, `holiday` or `unknown`.
    pub session: String,
    /// Slots that count.
    pub slots: u32,
    /// Slots in which the size had no gap: worse than any number.
    pub slots_refused: u32,
    /// The median depth at the gap limit, whole USD.
    pub depth_usd_q50: Option<Number>,
    /// The lowest depth at the gap limit, whole USD.
    pub depth_usd_lowest: Option<Number>,
    /// The median gap at the size, percent. `null` if the median slot could not fill the size.
    pub exit_gap_pct_q50: Option<Number>,
    /// The 95th percentile of the gap, percent. `null` in the same case.
    pub exit_gap_pct_q95: Option<Number>,
    /// The widest gap, percent. `null` if any slot could not fill the size.
    pub exit_gap_pct_worst: Option<Number>,
    /// The median discount of the pool's mid price to the oracle price at the last regular close,
    /// percent. `null` in the regular session.
    pub basis_to_last_close_pct_q50: Option<Number>,
    /// The discount farthest from zero, percent.
    pub basis_to_last_close_pct_worst: Option<Number>,
}

/// The market's reopenings after closures of one kind. Gaps are `null` if too little is recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct EquityReopeningTold {
    /// `night`, `weekend` or `holiday`.
    pub closure_kind: String,
    /// Closures with a slot that counts.
    pub closures: u32,
    /// Closures with a reopening gap.
    pub reopened: u32,
    /// The median reopening gap: how much less a sale in the last closed slot paid than the oracle
    /// price afterwards, percent.
    pub reopening_gap_pct_q50: Option<Number>,
    /// The greatest reopening gap, percent.
    pub reopening_gap_pct_worst: Option<Number>,
}

/// A corporate action of a tokenized stock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct EquityEventTold {
    /// `multiplier_changed`, `scheduled`, `paused` or `resumed`.
    pub event: String,
    /// The first slot that shows the action, RFC 3339.
    pub slot_time: String,
    /// The multiplier before.
    pub from_raw: Option<String>,
    /// The multiplier after.
    pub to_raw: Option<String>,
    /// When the change takes effect, RFC 3339.
    pub effective_at: Option<String>,
}

/// The amount that a pool holds of a tokenized stock whose balances change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct EquityBalanceTold {
    /// The slot of the amounts, RFC 3339.
    pub slot_time: String,
    /// The amount held, raw units.
    pub balance_raw: String,
    /// The amount that a purchase of the token for the size would pay out, raw units. `null` if the
    /// pool cannot fill the purchase.
    pub purchase_raw: Option<String>,
    /// Slots that have the fact.
    pub slots: u32,
    /// Slots in which the purchase would pay out more than the pool holds. Such a purchase reverts.
    pub slots_short: u32,
}

/// A pool of a tokenized stock: a set of measures, never one score.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct EquityPool {
    /// The pool.
    pub pool: String,
    /// The venue and fee.
    pub name: String,
    /// `token0` or `token1`: the tokenized stock.
    pub base: String,
    /// The depth at 2% in the pool's newest slot, whole USD. `null` if no depth was found.
    pub depth_usd: Option<Number>,
    /// Live or preview.
    pub status: Status,
    /// The first slot of the period, RFC 3339.
    pub from: String,
    /// The last slot of the period, RFC 3339: the last slot of the last full UTC day that the
    /// series has.
    pub to: String,
    /// Whether there are enough regular sessions and weekends. If not, statistics are `null`.
    pub enough: bool,
    /// Regular sessions with a slot that counts.
    pub have_regular_sessions: u32,
    /// The number of regular sessions needed.
    pub needed_regular_sessions: u32,
    /// Weekends with a slot that counts.
    pub have_weekends: u32,
    /// The number of weekends needed.
    pub needed_weekends: u32,
    /// Slots of the period with a snapshot that was not retracted.
    pub slots_recorded: u32,
    /// Slots without one.
    pub slots_missing: u32,
    /// Slots while trading was paused or a change was due within a day. They are excluded from the
    /// statistics.
    pub slots_corporate_action: u32,
    /// Other slots that lack a fact that the operator configured. They are also excluded from the
    /// statistics.
    pub slots_without_facts: u32,
    /// Whether the pool's state is known to include every change of its balance.
    pub exact: bool,
    /// Why not: `balances_change_unseen`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub inexact_because: Option<String>,
    /// The slots that count with fresh oracle answers, percent. `null` if too little is recorded.
    pub oracle_fresh_pct: Option<Number>,
    /// The slots with an oracle answer kept while the market was closed, percent.
    pub oracle_held_over_close_pct: Option<Number>,
    /// The slots with a stale oracle answer, percent.
    pub oracle_stale_pct: Option<Number>,
    /// The median discount over all closed sessions, percent.
    pub basis_to_last_close_pct_q50: Option<Number>,
    /// The discount farthest from zero, percent.
    pub basis_to_last_close_pct_worst: Option<Number>,
    /// Statistics for each session of the exchange.
    pub sessions: Vec<EquitySessionTold>,
    /// Statistics for each kind of closure.
    pub reopening: Vec<EquityReopeningTold>,
    /// Corporate actions, ascending.
    pub events: Vec<EquityEventTold>,
    /// The amount that the pool holds. `null` without that fact, or if the token's balances do not
    /// change.
    pub balance: Option<EquityBalanceTold>,
    /// URL of the figure file. Anyone can recompute the measures from this file.
    pub figure_url: String,
    /// Sale compared with redemption, if the operator has redemption terms for the token.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub redemption_url: Option<String>,
}

/// `GET /v1/equities/{chain}/{token}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct EquityScore {
    /// The name and version of the method, `equity/1`.
    pub figure: String,
    /// The token and its current state.
    #[serde(flatten)]
    pub listed: EquityListed,
    /// The size of the gaps, USD.
    pub size_usd: Number,
    /// The gap limit of the depths in the sessions, percent.
    pub gap_pct: Number,
    /// Whether any pool has enough data for statistics.
    pub enough: bool,
    /// The token's pools, deepest first.
    pub vectors: Vec<EquityPool>,
    /// Pools that are not included, and why.
    pub left_out: Vec<SplitLeftOut>,
    /// The version of the method behind each number.
    pub method_version: String,
}

/// The values that are reported for a pool next to its figure.
#[derive(Debug, Clone)]
pub struct EquityPoolOf {
    /// The pool.
    pub pool: String,
    /// The venue and fee.
    pub name: String,
    /// `token0` or `token1`.
    pub base: String,
    /// The depth at 2 % in its newest slot.
    pub depth_usd: Option<u64>,
    /// The first and the last slot.
    pub period: [Slot; 2],
    /// The URL of its figure file.
    pub figure_url: String,
    /// The URL of the comparison of selling with redeeming.
    pub redemption_url: Option<String>,
}

impl EquityPool {
    /// Converts a core result to a document.
    pub fn new(of: EquityPoolOf, result: &EquityResult) -> Self {
        let EquityPoolOf { pool, name, base, depth_usd, period, figure_url, redemption_url } = of;
        let [from, to] = period.map(|slot| slot.to_string());
        Self {
            pool,
            name,
            base,
            depth_usd: depth_usd.map(Number::from),
            status: if result.status == "live" { Status::Live } else { Status::Preview },
            from,
            to,
            enough: result.enough,
            have_regular_sessions: result.have_regular_sessions,
            needed_regular_sessions: result.needed_regular_sessions,
            have_weekends: result.have_weekends,
            needed_weekends: result.needed_weekends,
            slots_recorded: result.have_slots,
            slots_missing: result.slots_missing,
            slots_corporate_action: result.slots_corporate_action,
            slots_without_facts: result.slots_without_facts,
            exact: result.exact,
            inexact_because: result.inexact_because.clone(),
            oracle_fresh_pct: percent(result.oracle_fresh_pct.as_ref()),
            oracle_held_over_close_pct: percent(result.oracle_held_over_close_pct.as_ref()),
            oracle_stale_pct: percent(result.oracle_stale_pct.as_ref()),
            basis_to_last_close_pct_q50: percent(result.basis_to_last_close_pct_q50.as_ref()),
            basis_to_last_close_pct_worst: percent(result.basis_to_last_close_pct_worst.as_ref()),
            sessions: result.sessions.iter().map(EquitySessionTold::from).collect(),
            reopening: result.reopening.iter().map(EquityReopeningTold::from).collect(),
            events: result.events.iter().map(EquityEventTold::from).collect(),
            balance: result.balance.as_ref().map(EquityBalanceTold::from),
            figure_url,
            redemption_url,
        }
    }
}

/// A percentage from the core's text.
fn percent(text: Option<&String>) -> Option<Number> {
    decimal(text?)
}

fn whole(text: Option<&String>) -> Option<Number> {
    text.map(|text| Number::from_whole(text))
}

impl From<&EquitySession> for EquitySessionTold {
    fn from(told: &EquitySession) -> Self {
        let spread = &told.spread;
        Self {
            session: told.session.clone(),
            slots: spread.slots,
            slots_refused: spread.slots_refused,
            depth_usd_q50: whole(spread.depth_q50_usd.as_ref()),
            depth_usd_lowest: whole(spread.depth_lowest_usd.as_ref()),
            exit_gap_pct_q50: percent(spread.gap_q50_pct.as_ref()),
            exit_gap_pct_q95: percent(spread.gap_q95_pct.as_ref()),
            exit_gap_pct_worst: percent(told.gap_worst_pct.as_ref()),
            basis_to_last_close_pct_q50: percent(told.basis_to_last_close_pct_q50.as_ref()),
            basis_to_last_close_pct_worst: percent(told.basis_to_last_close_pct_worst.as_ref()),
        }
    }
}

impl From<&EquityReopening> for EquityReopeningTold {
    fn from(told: &EquityReopening) -> Self {
        Self {
            closure_kind: told.closure_kind.clone(),
            closures: told.closures,
            reopened: told.reopened,
            reopening_gap_pct_q50: percent(told.reopening_gap_pct_q50.as_ref()),
            reopening_gap_pct_worst: percent(told.reopening_gap_pct_worst.as_ref()),
        }
    }
}

impl From<&EquityEvent> for EquityEventTold {
    fn from(told: &EquityEvent) -> Self {
        Self {
            event: told.event.clone(),
            slot_time: told.slot.to_string(),
            from_raw: told.from_raw.map(|word| word.to_string()),
            to_raw: told.to_raw.map(|word| word.to_string()),
            effective_at: told.effective_at_s.map(rfc3339),
        }
    }
}

impl From<&EquityBalance> for EquityBalanceTold {
    fn from(told: &EquityBalance) -> Self {
        Self {
            slot_time: told.slot.to_string(),
            balance_raw: told.balance_raw.to_string(),
            purchase_raw: told.purchase_raw.map(|paid| paid.to_string()),
            slots: told.slots,
            slots_short: told.slots_short,
        }
    }
}
