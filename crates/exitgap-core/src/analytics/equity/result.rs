//! The result of a pass.

use super::scan::{Counts, Line};
use super::{EquitySaid, EquityToken, NEEDED_SESSIONS, NEEDED_WEEKENDS};
use crate::analytics::hours::{ClosureFound, HoursSpreadResult};
use crate::analytics::stats::{nearest_rank, share_pct};
use crate::hours::{ClosureKind, MarketState, RecordedSlot, Spread};
use crate::json::wire_struct;
use crate::series::Slot;
use crate::snapshot::{Observation, OracleState};
use crate::stable_sort::sort;
use crate::units::Percent;
use crate::wide::U256;

/// The figure. Percentages are strings with six decimals; dollars and raw amounts are strings of integers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EquityResult {
    /// The pool's balance of a rebasing token; `null` without a recorded fact for it.
    pub balance: Option<EquityBalance>,
    /// The median discount of the mid price to the oracle price at the last regular close, over all closed sessions.
    pub basis_to_last_close_pct_q50: Option<String>,
    /// The discount that is farthest from zero.
    pub basis_to_last_close_pct_worst: Option<String>,
    /// Whether there are enough regular sessions and weekends. If not, the statistics are `null`.
    pub enough: bool,
    /// Corporate actions, ascending.
    pub events: Vec<EquityEvent>,
    /// Whether the pool's recorded state is known to include every change of its balance.
    pub exact: bool,
    /// Slots that are recorded and not retracted.
    pub have_slots: u32,
    /// Regular sessions with a slot that is evaluated.
    pub have_regular_sessions: u32,
    /// Weekends with a slot that is evaluated.
    pub have_weekends: u32,
    /// The reason if it is not exact: `balances_change_unseen`.
    pub inexact_because: Option<String>,
    /// The number of regular sessions that the statistics need.
    pub needed_regular_sessions: u32,
    /// The number of weekends that the statistics need.
    pub needed_weekends: u32,
    /// The token's state in the last recorded, unretracted slot.
    pub newest: Option<EquityNewest>,
    /// The share of the counted slots in which the oracle answers were fresh, …
    pub oracle_fresh_pct: Option<String>,
    /// … held over a market close, …
    pub oracle_held_over_close_pct: Option<String>,
    /// … and stale.
    pub oracle_stale_pct: Option<String>,
    /// The gaps to reopening prices, by kind of closure.
    pub reopening: Vec<EquityReopening>,
    /// Each session of the exchange.
    pub sessions: Vec<EquitySession>,
    /// Recorded slots while the token was paused or a change was due within a day. They are in no statistic.
    pub slots_corporate_action: u32,
    /// Slots of the period that are missing or retracted.
    pub slots_missing: u32,
    /// Other recorded slots that lack a required fact. They are in no statistic either.
    pub slots_without_facts: u32,
    /// `live`, or `preview` if any input is from a preview chain.
    pub status: String,
}

/// A session of the exchange.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EquitySession {
    /// The median discount of the mid price to the oracle price at the last regular close; `null` in the regular
    /// session.
    pub basis_to_last_close_pct_q50: Option<String>,
    /// The discount that is farthest from zero.
    pub basis_to_last_close_pct_worst: Option<String>,
    /// The widest gap; `null` if the size was refused in any slot.
    pub gap_worst_pct: Option<String>,
    /// `regular`, `pre`, `after`, `overnight`, `weekend`, `holiday` or `unknown`.
    pub session: String,
    /// Depths and gaps.
    pub spread: HoursSpreadResult,
}

/// The closures of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EquityReopening {
    /// `night`, `weekend` or `holiday`.
    pub closure_kind: String,
    /// Closures with a slot that is evaluated.
    pub closures: u32,
    /// The median gap, measured at the reopening price.
    pub reopening_gap_pct_q50: Option<String>,
    /// The largest such gap.
    pub reopening_gap_pct_worst: Option<String>,
    /// Closures with such a gap.
    pub reopened: u32,
}

/// A corporate action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EquityEvent {
    /// When the change is due, seconds UTC.
    pub effective_at_s: Option<u64>,
    /// `multiplier_changed`, `scheduled`, `paused` or `resumed`.
    pub event: String,
    /// The multiplier before.
    pub from_raw: Option<U256>,
    /// The slot that shows it first.
    pub slot: Slot,
    /// The multiplier after. For a scheduled change, only if it is known.
    pub to_raw: Option<U256>,
}

/// The state of a tokenized stock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EquityNewest {
    /// The reported effective time, seconds UTC, even if it is in the past.
    pub effective_at_s: Option<u64>,
    /// Whether it is paused.
    pub feed_paused: Option<bool>,
    /// Its multiplier.
    pub multiplier_raw: Option<U256>,
    /// The oracle's price of the token.
    pub oracle_price_usd: String,
    /// The pending multiplier.
    pub pending_multiplier_raw: Option<U256>,
    /// The slot.
    pub slot: Slot,
    /// The price of one share as wallets show it.
    pub ui_price_usd: Option<String>,
}

/// A pool's balance of a tokenized stock, over slots that have the fact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EquityBalance {
    /// The balance in the last such slot.
    pub balance_raw: U256,
    /// What a purchase for the size would pay out, in raw units; `null` if that is refused.
    pub purchase_raw: Option<U256>,
    /// The slot.
    pub slot: Slot,
    /// Slots with the fact.
    pub slots: u32,
    /// Those slots in which the pool holds less than the purchase would pay out, so that the purchase would revert.
    pub slots_short: u32,
}

wire_struct!(EquityResult {
    balance,
    basis_to_last_close_pct_q50,
    basis_to_last_close_pct_worst,
    enough,
    events,
    exact,
    have_slots,
    have_regular_sessions,
    have_weekends,
    inexact_because,
    needed_regular_sessions,
    needed_weekends,
    newest,
    oracle_fresh_pct,
    oracle_held_over_close_pct,
    oracle_stale_pct,
    reopening,
    sessions,
    slots_corporate_action,
    slots_missing,
    slots_without_facts,
    status,
});
wire_struct!(EquitySession {
    basis_to_last_close_pct_q50,
    basis_to_last_close_pct_worst,
    gap_worst_pct,
    session,
    spread,
});
wire_struct!(EquityReopening {
    closure_kind,
    closures,
    reopening_gap_pct_q50,
    reopening_gap_pct_worst,
    reopened,
});
wire_struct!(EquityEvent { effective_at_s, event, from_raw, slot, to_raw });
wire_struct!(EquityNewest {
    effective_at_s,
    feed_paused,
    multiplier_raw,
    oracle_price_usd,
    pending_multiplier_raw,
    slot,
    ui_price_usd,
});
wire_struct!(EquityBalance { balance_raw, purchase_raw, slot, slots, slots_short });

impl EquityEvent {
    /// The multiplier changed.
    pub(super) const CHANGED: &str = "multiplier_changed";
    pub(super) const SCHEDULED: &str = "scheduled";
    pub(super) const PAUSED: &str = "paused";
    pub(super) const RESUMED: &str = "resumed";
}

impl EquityNewest {
    /// The state of the token at index `at`, from a snapshot's facts.
    pub fn from_snapshot(
        slot: Slot,
        said: &EquitySaid,
        token: &EquityToken,
        observation: &Observation,
        at: usize,
    ) -> Self {
        Self {
            effective_at_s: said.effective_at,
            feed_paused: said.paused,
            multiplier_raw: said.multiplier,
            oracle_price_usd: observation.prices()[at].to_decimal().to_string(),
            pending_multiplier_raw: said.pending_multiplier,
            slot,
            ui_price_usd: said.ui_price(token, observation, at).map(|price| price.to_string()),
        }
    }
}

impl EquityBalance {
    /// Adds a slot.
    pub(super) fn and(
        before: Option<Self>,
        slot: Slot,
        balance_raw: U256,
        purchase_raw: Option<U256>,
    ) -> Self {
        let (slots, short) = before.map_or((0, 0), |before| (before.slots, before.slots_short));
        let is_short = purchase_raw.is_some_and(|paid| paid > balance_raw);
        let slots_short = short + u32::from(is_short);
        Self { balance_raw, purchase_raw, slot, slots: slots + 1, slots_short }
    }
}

impl EquityResult {
    /// The figure of the counted slots. The pass adds events, balance, the newest state and the missing slots.
    pub(super) fn from_lines(
        lines: &[Line],
        counts: Counts,
        closures: &[ClosureFound],
        exact: bool,
        is_live: bool,
    ) -> Self {
        let enough = counts.sessions >= NEEDED_SESSIONS && counts.weekends >= NEEDED_WEEKENDS;
        let all: Vec<&Line> = lines.iter().collect();
        let [q50, worst] = basis(&all, enough);
        let of_state = |state: OracleState| {
            let part = lines.iter().filter(|line| line.oracle == state).count();
            let part = share_pct(i128::try_from(part).ok()?, u64::try_from(lines.len()).ok()?);
            part.filter(|_| enough).map(Percent::to_fixed)
        };
        Self {
            balance: None,
            basis_to_last_close_pct_q50: q50,
            basis_to_last_close_pct_worst: worst,
            enough,
            events: Vec::new(),
            exact,
            have_slots: counts.standing,
            have_regular_sessions: counts.sessions,
            have_weekends: counts.weekends,
            inexact_because: (!exact).then(|| "balances_change_unseen".to_owned()),
            needed_regular_sessions: NEEDED_SESSIONS,
            needed_weekends: NEEDED_WEEKENDS,
            newest: None,
            oracle_fresh_pct: of_state(OracleState::Fresh),
            oracle_held_over_close_pct: of_state(OracleState::HeldOverClose),
            oracle_stale_pct: of_state(OracleState::Stale),
            reopening: ClosureKind::ALL
                .into_iter()
                .map(|kind| EquityReopening::from_closures(kind, closures, enough))
                .collect(),
            sessions: MarketState::ALL
                .into_iter()
                .map(|session| EquitySession::from_lines(session, lines, enough))
                .collect(),
            slots_corporate_action: counts.corporate_action,
            slots_missing: 0,
            slots_without_facts: counts.without_facts,
            status: if is_live { "live" } else { "preview" }.to_owned(),
        }
    }
}

impl EquitySession {
    fn from_lines(session: MarketState, lines: &[Line], enough: bool) -> Self {
        let own: Vec<&Line> = lines.iter().filter(|line| line.session == session).collect();
        let slots: Vec<&RecordedSlot> = own.iter().map(|line| &line.recorded).collect();
        let mut spread = Spread::from_slots(&slots);
        if !enough {
            let Spread { slots, slots_refused, .. } = spread;
            spread = Spread { slots, slots_refused, ..Spread::default() };
        }
        let widest = slots.iter().filter_map(|slot| slot.gap).max();
        let is_told = enough && spread.slots_refused == 0;
        let [q50, worst] = basis(&own, enough);
        Self {
            basis_to_last_close_pct_q50: q50,
            basis_to_last_close_pct_worst: worst,
            gap_worst_pct: widest.filter(|_| is_told).map(Percent::to_fixed),
            session: session.as_str().to_owned(),
            spread: HoursSpreadResult::from_spread(&spread),
        }
    }
}

impl EquityReopening {
    fn from_closures(kind: ClosureKind, closures: &[ClosureFound], enough: bool) -> Self {
        let own = closures.iter().filter(|found| found.closed.kind == kind);
        let mut gaps: Vec<Percent> = own.clone().filter_map(|found| found.reopened?.1).collect();
        sort(&mut gaps, Ord::cmp);
        let told = |gap: Option<Percent>| gap.filter(|_| enough).map(Percent::to_fixed);
        Self {
            closure_kind: kind.as_str().to_owned(),
            closures: u32::try_from(own.count()).unwrap_or(u32::MAX),
            reopening_gap_pct_q50: told(nearest_rank(&gaps, 50)),
            reopening_gap_pct_worst: told(gaps.last().copied()),
            reopened: u32::try_from(gaps.len()).unwrap_or(u32::MAX),
        }
    }
}

/// The median of the bases, and the one farthest from zero. If two are equally far, the positive one counts.
pub(super) fn basis(lines: &[&Line], enough: bool) -> [Option<String>; 2] {
    let mut all: Vec<Percent> = lines.iter().filter_map(|line| line.basis).collect();
    sort(&mut all, Ord::cmp);
    let ends = [all.first(), all.last()].into_iter().flatten();
    let worst = ends.max_by_key(|basis| (basis.0.unsigned_abs(), basis.0)).copied();
    [nearest_rank(&all, 50), worst].map(|one| one.filter(|_| enough).map(Percent::to_fixed))
}
