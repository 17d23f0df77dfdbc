//! A synthetic month of a tokenized stock: the oracle price rises each day, and the pool is thin while the exchange is
//! closed.

use super::result::basis;
use super::scan::Line;
use super::*;
use crate::analytics::figure::{Figure, FigurePass};
use crate::analytics::hours::HoursTerms;
use crate::analytics::made_up::{pair, pool, ranges, slot};
use crate::evidence::Base;
use crate::hours::{Calendar, Hours};
use crate::ids::{Address, BlockHash, PoolId, Word};
use crate::pools::PoolState;
use crate::series::Slot;
use crate::snapshot::{
    BlockRef, ChainKind, ChainTag, Fact, Observation, OracleReading, OracleRole, OracleSource,
    RoundData, Symbol, Token, TokenSession,
};
use crate::units::{GapLimit, Percent};
use crate::wide::U256;

/// From a Saturday to a Monday: twenty regular sessions, four weekends, and one long weekend.
pub(crate) const DAYS: u32 = 31;

/// The slot of a day of the series, counted from its first, a Saturday.
pub(crate) fn on(day: u32, hour: u32, minute: u32) -> Slot {
    slot(day * Slot::PER_DAY + hour * 12 + minute / 5)
}

pub(crate) fn calendar() -> Calendar {
    Calendar::for_exchange("XNYS", Hours::Regular).unwrap()
}

pub(crate) fn sessions() -> Vec<TokenSession> {
    vec![TokenSession { token: 0, calendar: calendar() }]
}

/// A fact with one word.
pub(crate) fn fact(name: &str, word: u128) -> Fact {
    let mut bytes = [0; 32];
    bytes[16..].copy_from_slice(&word.to_be_bytes());
    Fact {
        name: name.parse().unwrap(),
        contract: Address([1; 20]),
        call: "0x5c975abb".to_owned(),
        words: vec![Word(bytes)],
    }
}

/// The pool contract's balance of token 0, as a fact.
pub(crate) fn balance(of: &PoolId, word: u128) -> Fact {
    let pool = of.contract().address().unwrap().to_string();
    let call = format!("0x70a08231{}{}", "0".repeat(24), &pool[2..]);
    Fact { call, ..fact("held", word) }
}

/// A tokenized stock at a price in thousandths of a dollar (token 0), against a token worth one dollar.
pub(crate) fn share(
    id: &PoolId,
    at: Slot,
    state: PoolState,
    milli_usd: u64,
    updated_at: u64,
    mut facts: Vec<Fact>,
) -> Observation {
    facts.sort();
    let token = |last: u8| Token {
        address: Address([last; 20]),
        decimals: 6,
        symbol: Symbol::clean("TOK"),
    };
    let timestamp = at.unix_s() - 12;
    let reading = |index: u8, answer: u64, updated_at: u64| OracleReading {
        role: OracleRole::TokenUsd(index),
        answer: U256::from(answer),
        decimals: 3,
        source: OracleSource::Chainlink(RoundData {
            feed: Address([7 + index; 20]),
            round: 1,
            updated_at,
            heartbeat_s: 3_600,
        }),
    };
    let number = u64::from(at.number());
    Observation::new(
        id.clone(),
        ChainTag { caip2: "eip155:31337".parse().unwrap(), kind: ChainKind::Preview },
        BlockRef { hash: BlockHash([5; 32]), number, timestamp },
        [token(1), token(2)],
        state,
        vec![reading(0, milli_usd, updated_at), reading(1, 1_000, timestamp)],
        facts,
    )
    .unwrap()
    .with_sessions(sessions())
    .unwrap()
}

/// The token at a slot. Its oracle price rises by a thousandth of a dollar each day and is held from 15:00 on. Its pool
/// is deep while the exchange is open.
pub(crate) fn usual(id: &PoolId, at: Slot, facts: Vec<Fact>) -> Observation {
    let index = at.number() - Slot::FIRST.number();
    let (day, minutes) = (u64::from(index / Slot::PER_DAY), index % Slot::PER_DAY * 5);
    let is_open = calendar().market(at.unix_s() - 12).is_open();
    let today = is_open && minutes > 15 * 60;
    let (told, updated_at) = if today {
        (day, at.unix_s() - 12)
    } else {
        // The last round of the previous trading day, one minute before its close.
        let regular = crate::hours::Markets::new(vec![calendar()]);
        let now = at.unix_s() - 12;
        let closed = regular.closure_at(now);
        let from = closed.map_or(at.unix_s() - 14 * 3_600, |closed| closed.from);
        (from.saturating_sub(Slot::FIRST.unix_s()) / 86_400, from - 60)
    };
    let depth = if is_open { 4_000_000_000_000 } else { 500_000_000_000 };
    share(id, at, ranges(30, depth, depth / 4), 1_000 + told, updated_at, facts)
}

pub(crate) fn token(kind: EquityKind) -> EquityToken {
    EquityToken { kind, facts: EquityFactNames::default(), multiplier_decimals: 18 }
}

/// A token whose facts are all named.
pub(crate) fn told(kind: EquityKind) -> EquityToken {
    let name = |name: &str| Some(name.parse().unwrap());
    let facts = EquityFactNames {
        multiplier: name("now"),
        pending_multiplier: name("next"),
        effective_at: name("since"),
        paused: name("paused"),
    };
    EquityToken { facts, ..token(kind) }
}

/// The facts of such a token.
pub(crate) fn facts(now: u128, next: u128, since: u64, paused: u128) -> Vec<Fact> {
    let [now, next] = [("now", now), ("next", next)].map(|(name, word)| fact(name, word));
    vec![now, next, fact("since", since.into()), fact("paused", paused)]
}

pub(crate) fn terms(id: &PoolId, days: u32, token: EquityToken) -> EquityTerms {
    let of = HoursTerms {
        pool: id.clone(),
        base: Base::Token0,
        from: slot(0),
        to: slot(days * Slot::PER_DAY - 1),
        size: "100".parse().unwrap(),
        sessions: sessions(),
    };
    EquityTerms { of, limit: GapLimit::DEPTH, token }
}

/// The recorded slots of a month: one of each session of each day, and one of a day without sessions.
pub(crate) fn month() -> Vec<Slot> {
    let of_day = |day: u32| {
        let is_traded =
            calendar().state(on(day, 15, 0).unix_s()) == crate::hours::MarketState::Regular;
        let hours: &[(u32, u32)] =
            if is_traded { &[(4, 0), (10, 0), (14, 0), (19, 55), (22, 0)] } else { &[(12, 0)] };
        hours.iter().map(move |(hour, minute)| on(day, *hour, *minute)).collect::<Vec<_>>()
    };
    (0..DAYS).flat_map(of_day).collect()
}

fn figure(
    terms: EquityTerms,
    slots: impl IntoIterator<Item = (Slot, Observation)>,
) -> EquityResult {
    let mut scan = EquityPass::new(terms).unwrap();
    for (slot, observation) in slots {
        scan.add_snapshot(&pool(), slot, observation).unwrap();
    }
    scan.finish().unwrap()
}

fn usual_month() -> Vec<(Slot, Observation)> {
    month().into_iter().map(|at| (at, usual(&pool(), at, Vec::new()))).collect()
}

fn of_session<'r>(result: &'r EquityResult, name: &str) -> &'r EquitySession {
    result.sessions.iter().find(|session| session.session == name).unwrap()
}

#[test]
fn a_month_has_a_vector_of_its_sessions() {
    let result = figure(terms(&pool(), DAYS, token(EquityKind::ScaledUi)), usual_month());
    assert!(result.enough);
    assert_eq!((result.have_regular_sessions, result.have_weekends), (20, 4));
    assert_eq!((result.needed_regular_sessions, result.needed_weekends), (20, 4));
    let slots: Vec<(&str, u32)> =
        result.sessions.iter().map(|one| (one.session.as_str(), one.spread.slots)).collect();
    assert_eq!(
        slots,
        [
            ("regular", 40),
            ("pre", 20),
            ("after", 20),
            ("overnight", 20),
            ("weekend", 8),
            ("holiday", 3),
            ("unknown", 0)
        ]
    );
    assert_eq!(result.have_slots, 111);
    assert_eq!(result.slots_missing, DAYS * 288 - 111);
    let depth = |name: &str| -> u64 {
        let spread = &of_session(&result, name).spread;
        spread.depth_q50_usd.as_ref().unwrap().parse().unwrap()
    };
    assert!(depth("regular") > 7 * depth("weekend"), "{result:?}");
    assert_eq!(of_session(&result, "unknown").spread.depth_q50_usd, None);
    assert!(of_session(&result, "pre").gap_worst_pct.is_some());
    // Every session is compared with the last close, except the first weekend, which has no close before it.
    assert_eq!(of_session(&result, "regular").basis_to_last_close_pct_q50, None);
    let weekend = of_session(&result, "weekend");
    assert!(weekend.basis_to_last_close_pct_q50.is_some());
    assert!(result.basis_to_last_close_pct_worst.is_some());
    // Half of the regular slots are before the day's first round, and during a night the answer is held over.
    let shares =
        [&result.oracle_fresh_pct, &result.oracle_held_over_close_pct, &result.oracle_stale_pct];
    assert_eq!(
        shares.map(|share| share.as_deref().unwrap()),
        ["18.018018", "63.963964", "18.018018"]
    );
    let reopened: Vec<(u32, u32)> =
        result.reopening.iter().map(|kind| (kind.closures, kind.reopened)).collect();
    assert_eq!(reopened, [(16, 15), (4, 4), (1, 1)]);
    assert!(result.reopening[1].reopening_gap_pct_worst.is_some());
    assert!(result.exact && result.inexact_because.is_none() && result.events.is_empty());
    assert_eq!((result.status.as_str(), &result.balance), ("preview", &None));
    let newest = result.newest.unwrap();
    assert_eq!(
        (newest.slot, newest.multiplier_raw, newest.feed_paused),
        (on(30, 22, 0), None, None)
    );
    assert_eq!((newest.oracle_price_usd.as_str(), newest.ui_price_usd), ("1.03", None));
}

#[test]
fn a_session_or_a_weekend_less_is_too_little() {
    for (without, have) in
        [(on(30, 14, 0)..=on(30, 19, 55), (19, 4)), (on(21, 0, 0)..=on(22, 12, 0), (20, 3))]
    {
        let slots = usual_month().into_iter().filter(|(at, _)| !without.contains(at));
        let result = figure(terms(&pool(), DAYS, token(EquityKind::ScaledUi)), slots);
        assert_eq!((result.have_regular_sessions, result.have_weekends), have);
        assert!(!result.enough);
        assert_eq!(result.oracle_fresh_pct, None);
        assert_eq!(result.basis_to_last_close_pct_q50, None);
        assert_eq!(result.basis_to_last_close_pct_worst, None);
        for session in &result.sessions {
            let EquitySession { gap_worst_pct, spread, .. } = session;
            let told = [gap_worst_pct, &spread.depth_q50_usd, &spread.gap_q95_pct];
            assert_eq!(told, [&None; 3], "{session:?}");
        }
        assert!(result.reopening.iter().all(|kind| kind.reopening_gap_pct_q50.is_none()));
        assert!(of_session(&result, "after").spread.slots >= 19);
        assert!(result.newest.is_some());
    }
}

/// The counts after one slot with these facts.
fn counted(token: EquityToken, facts: Vec<Fact>) -> (u32, u32, u32) {
    let at = on(2, 15, 5);
    let result = figure(terms(&pool(), 3, token), [(at, usual(&pool(), at, facts))]);
    let counts: u32 = result.sessions.iter().map(|session| session.spread.slots).sum();
    (counts, result.slots_corporate_action, result.slots_without_facts)
}

#[test]
fn a_slot_of_a_corporate_action_is_counted_and_left_out() {
    let now = on(2, 15, 5).unix_s() - 12;
    let scaled = told(EquityKind::ScaledUi);
    let (counts, action, without) = ((1, 0, 0), (0, 1, 0), (0, 0, 1));
    for (facts, expected) in [
        (facts(5, 5, 0, 0), counts),
        // Paused: any word except zero.
        (facts(5, 5, 0, 1), action),
        (facts(5, 5, 0, u128::MAX), action),
        // A change exactly one day ahead counts. One second more is too far, and from its effective time on nothing is
        // due.
        (facts(5, 6, now + 86_400, 0), action),
        (facts(5, 6, now + 86_401, 0), counts),
        (facts(5, 6, now + 1, 0), action),
        (facts(5, 6, now, 0), counts),
        // A change to the current multiplier, or to zero, changes nothing.
        (facts(5, 5, now + 60, 0), counts),
        (facts(5, 0, now + 60, 0), counts),
    ] {
        assert_eq!(counted(scaled, facts.clone()), expected, "{facts:?}");
    }
    // If one of the named facts is missing, the state is unknown.
    for left_out in 0..4 {
        let mut some = facts(5, 6, 0, 0);
        let _ = some.remove(left_out);
        assert_eq!(counted(scaled, some), without, "{left_out}");
    }
    let twice = [facts(5, 5, 0, 0), vec![Fact { contract: Address([9; 20]), ..fact("now", 5) }]];
    assert_eq!(counted(scaled, twice.concat()), without);
    let wordless = Fact { words: Vec::new(), ..fact("paused", 0) };
    assert_eq!(counted(scaled, [&facts(5, 5, 0, 0)[..3], &[wordless]].concat()), without);
    // A token with a paused fact is paused, whichever other facts are missing.
    assert_eq!(counted(scaled, vec![fact("paused", 1)]), action);
    // An effective time alone is a change, if the token names no pending multiplier.
    let mut dated = scaled;
    dated.facts.pending_multiplier = None;
    assert_eq!(counted(dated, facts(5, 5, now + 60, 0)), action);
    assert_eq!(counted(token(EquityKind::ScaledUi), facts(5, 6, now + 60, 1)), counts);
}

#[test]
fn a_multiplier_that_changes_is_told_once() {
    let of_day = |day: u32| -> Vec<Fact> {
        let due = on(4, 13, 30).unix_s();
        match day {
            2 => facts(1_000, 0, 0, 0),
            3 => facts(1_000, 1_020, due, 0),
            4 => facts(1_000, 1_020, due, 1),
            _ => facts(1_020, 1_020, due, 0),
        }
    };
    let slots = || {
        (2..7)
            .flat_map(|day| [(day, on(day, 9, 0)), (day, on(day, 22, 0))])
            .map(move |(day, at)| (at, usual(&pool(), at, of_day(day))))
    };
    let result = figure(terms(&pool(), 7, told(EquityKind::TotalReturn)), slots());
    let found: Vec<(&str, Slot)> =
        result.events.iter().map(|event| (event.event.as_str(), event.slot)).collect();
    assert_eq!(
        found,
        [
            ("scheduled", on(3, 9, 0)),
            ("paused", on(4, 9, 0)),
            ("multiplier_changed", on(5, 9, 0)),
            ("resumed", on(5, 9, 0))
        ]
    );
    let [scheduled, _, changed, _] = result.events.as_slice() else { panic!("{result:?}") };
    let word = |word: u64| Some(U256::from(word));
    assert_eq!(scheduled.effective_at_s, Some(on(4, 13, 30).unix_s()));
    assert_eq!((scheduled.from_raw, scheduled.to_raw), (word(1_000), word(1_020)));
    assert_eq!((changed.from_raw, changed.to_raw), (word(1_000), word(1_020)));
    // On the day before, the evening is within a day of the change; on the day itself both slots are paused.
    assert_eq!(result.slots_corporate_action, 3);
    let newest = result.newest.unwrap();
    assert_eq!((newest.multiplier_raw, newest.pending_multiplier_raw), (word(1_020), word(1_020)));
    assert_eq!(
        (newest.effective_at_s, newest.feed_paused),
        (scheduled.effective_at_s, Some(false))
    );
    assert!(result.exact);
    // For a rebasing token, a split makes the pool's state inexact, and dividends do so immediately.
    let exact = |kind| figure(terms(&pool(), 7, told(kind)), slots()).exact;
    assert!(!exact(EquityKind::SplitRebase));
    assert!(!exact(EquityKind::Rebasing));
    let before = figure(terms(&pool(), 7, told(EquityKind::SplitRebase)), slots().take(4));
    assert!(before.exact);
}

#[test]
fn a_share_as_wallets_show_it_costs_what_its_multiplier_says() {
    let price = |kind, decimals: u8, multiplier: u128| {
        let of = EquityToken { multiplier_decimals: decimals, ..told(kind) };
        let at = on(2, 15, 5);
        let seen = usual(&pool(), at, facts(multiplier, 0, 0, 0));
        figure(terms(&pool(), 3, of), [(at, seen)]).newest.unwrap().ui_price_usd
    };
    // The oracle price of the token is 1.002.
    assert_eq!(price(EquityKind::ScaledUi, 18, 2 * 10_u128.pow(18)).as_deref(), Some("0.501"));
    assert_eq!(price(EquityKind::TotalReturn, 2, 50).as_deref(), Some("2.004"));
    assert_eq!(price(EquityKind::ScaledUi, 18, 0), None);
    assert_eq!(price(EquityKind::Rebasing, 18, 5).as_deref(), Some("1.002"));
}

/// A slot with an oracle price and a pool tick.
fn priced(at: Slot, milli_usd: u64, tick: i32, multiplier: u128) -> (Slot, Observation) {
    let updated_at = at.unix_s() - 12;
    let state = ranges(tick, 4_000_000_000_000, 0);
    (at, share(&pool(), at, state, milli_usd, updated_at, vec![fact("now", multiplier)]))
}

/// The basis of the newest after-hours slot.
fn basis_after(kind: EquityKind, slots: Vec<(Slot, Observation)>) -> Option<i128> {
    let mut of = token(kind);
    of.facts.multiplier = Some("now".parse().unwrap());
    let mut scan = EquityPass::new(terms(&pool(), DAYS, of)).unwrap();
    for (slot, observation) in slots {
        scan.add_snapshot(&pool(), slot, observation).unwrap();
    }
    scan.lines().last().unwrap().basis.map(|basis| basis.0)
}

#[test]
fn a_closed_sessions_mid_is_held_against_the_oracle_of_the_close_before_it() {
    let after = |kind, slots: &[(Slot, Observation)]| basis_after(kind, slots.to_vec());
    let scaled = EquityKind::ScaledUi;
    let (noon, close) = (priced(on(2, 15, 0), 900, 0, 7), priced(on(2, 20, 0), 2_000, 0, 7));
    let evening = priced(on(2, 20, 5), 5_000, 0, 7);
    // The pool price is one dollar: half of the last oracle price while the exchange was open, whatever the oracle says
    // now.
    let half = Some(50_000_000);
    assert_eq!(after(scaled, &[noon.clone(), close.clone(), evening.clone()]), half);
    assert_eq!(after(scaled, &[noon.clone(), evening.clone()]), Some(-11_111_111));
    assert_eq!(after(scaled, std::slice::from_ref(&evening)), None);
    // Overnight and before the opening the same close applies; the next evening it does not.
    for closed in [on(3, 4, 0), on(3, 13, 30)] {
        assert_eq!(after(scaled, &[close.clone(), priced(closed, 5_000, 0, 7)]), half);
    }
    assert_eq!(after(scaled, &[close.clone(), priced(on(3, 20, 5), 5_000, 0, 7)]), None);
    // While the exchange is open there is no basis.
    assert_eq!(after(scaled, &[close.clone(), priced(on(3, 13, 35), 5_000, 0, 7)]), None);
    // A changed multiplier does not change the token's value, except for a rebasing token.
    let changed = priced(on(2, 20, 5), 5_000, 0, 8);
    assert_eq!(after(scaled, &[close.clone(), changed.clone()]), half);
    assert_eq!(after(EquityKind::Rebasing, &[close, changed]), None);
}

#[test]
fn the_worst_basis_is_the_one_farthest_from_zero() {
    let mut slots = usual_month();
    let week = |index: usize, tick: i32| {
        let at = on(7 + 7 * u32::try_from(index).unwrap(), 12, 0);
        priced(at, 1_000, tick, 7)
    };
    for (at, observation) in [week(0, 900), week(2, -500)] {
        let place = slots.iter().position(|(slot, _)| *slot == at).unwrap();
        slots[place].1 = observation;
    }
    let result = figure(terms(&pool(), DAYS, token(EquityKind::ScaledUi)), slots);
    let weekend = of_session(&result, "weekend");
    let worst = weekend.basis_to_last_close_pct_worst.as_deref().unwrap();
    assert!(worst.starts_with("-8."), "{worst}");
    assert_eq!(result.basis_to_last_close_pct_worst, weekend.basis_to_last_close_pct_worst);
}

#[test]
fn of_two_bases_as_far_from_zero_the_one_above_it_is_the_worst() {
    let of = |bases: &[i128]| {
        let line = |basis: &i128| Line {
            session: crate::hours::MarketState::Weekend,
            recorded: crate::hours::RecordedSlot { at: 0, depth_usd: None, gap: None },
            oracle: crate::snapshot::OracleState::Fresh,
            basis: Some(Percent(*basis)),
        };
        let lines: Vec<Line> = bases.iter().map(line).collect();
        let [q50, worst] = basis(&lines.iter().collect::<Vec<_>>(), true);
        (q50.unwrap(), worst.unwrap())
    };
    let told = |q50: &str, worst: &str| (q50.to_owned(), worst.to_owned());
    assert_eq!(of(&[-5, 5, 1]), told("0.000001", "0.000005"));
    assert_eq!(of(&[5, -6, 1]), told("0.000001", "-0.000006"));
    assert_eq!(of(&[3, 5]), told("0.000003", "0.000005"));
    assert_eq!(basis(&[], true), [None, None]);
}

#[test]
fn a_share_without_a_calendar_has_no_session() {
    let without = |at: Slot| usual(&pool(), at, Vec::new()).with_sessions(Vec::new()).unwrap();
    let mut of = terms(&pool(), DAYS, token(EquityKind::ScaledUi));
    of.of.sessions = Vec::new();
    let result = figure(of, month().into_iter().map(|at| (at, without(at))));
    assert_eq!((result.have_regular_sessions, result.have_weekends, result.enough), (0, 0, false));
    assert_eq!(of_session(&result, "unknown").spread.slots, 111);
    // The parameters must name the calendars of the last snapshot, or no figure is made.
    let mut scan = EquityPass::new(terms(&pool(), DAYS, token(EquityKind::ScaledUi))).unwrap();
    scan.add_snapshot(&pool(), slot(0), without(slot(0))).unwrap();
    assert_eq!(scan.finish().unwrap_err().code(), "figure_calendars");
}

#[test]
fn a_pool_that_holds_less_than_a_purchase_pays_is_short() {
    let id = pool();
    let held = |word: u128, at: Slot| {
        let state = ranges(0, 4_000_000_000_000, 0);
        (at, share(&id, at, state, 1_000, at.unix_s() - 12, vec![balance(&id, word)]))
    };
    let bought = {
        let (_, seen) = held(0, on(2, 15, 0));
        let size = "100".parse().unwrap();
        crate::exit::Exit::estimate_once(&seen, crate::pools::Direction::OneForZero, size)
    };
    let paid = bought.unwrap().amount_out.to_string().parse::<u128>().unwrap();
    assert!((90_000_000..100_000_000).contains(&paid), "{paid}");
    let slots = [(on(2, 15, 0), paid), (on(2, 15, 5), paid - 1), (on(2, 15, 10), paid + 1)];
    let slots = slots.map(|(at, word)| held(word, at));
    let result = figure(terms(&id, 3, token(EquityKind::Rebasing)), slots.clone());
    let expected = EquityBalance {
        balance_raw: U256::from(paid + 1),
        purchase_raw: Some(U256::from(paid)),
        slot: on(2, 15, 10),
        slots: 3,
        slots_short: 1,
    };
    assert_eq!(result.balance, Some(expected));
    assert!(!result.exact);
    assert_eq!(result.inexact_because.as_deref(), Some("balances_change_unseen"));
    // For a token that does not rebase the balance is not measured, nor is another pool's or another token's balance.
    assert_eq!(figure(terms(&id, 3, token(EquityKind::ScaledUi)), slots).balance, None);
    let of_other = crate::analytics::made_up::pool_of(9);
    for other in [balance(&of_other, 5), Fact { contract: Address([2; 20]), ..balance(&id, 5) }] {
        let at = on(2, 15, 0);
        let seen =
            share(&id, at, ranges(0, 4_000_000_000_000, 0), 1_000, at.unix_s() - 12, vec![other]);
        assert_eq!(figure(terms(&id, 3, token(EquityKind::Rebasing)), [(at, seen)]).balance, None);
    }
}

#[test]
fn a_pair_whose_reserve_is_its_balance_has_noticed() {
    let id = pool();
    let exact = |words: &[u128]| {
        let slots = words.iter().zip(0..).map(|(word, index)| {
            let at = on(2, 15, index * 5);
            let facts = vec![balance(&id, *word)];
            (at, share(&id, at, pair(1 << 40, 1 << 41), 2_000, at.unix_s() - 12, facts))
        });
        figure(terms(&id, 3, token(EquityKind::Rebasing)), slots).exact
    };
    assert!(exact(&[1 << 40, 1 << 40]));
    assert!(!exact(&[1 << 40, (1 << 40) + 1]));
    assert!(!exact(&[(1 << 40) - 1, 1 << 40]));
}

#[test]
fn terms_have_one_spelling_and_bounds() {
    let good = terms(&pool(), DAYS, told(EquityKind::SplitRebase));
    assert_eq!(EquityTerms::from_parameters(&good.parameters()).unwrap(), good);
    let refused = |terms: &EquityTerms| EquityPass::new(terms.clone()).unwrap_err().to_string();
    for millionths in [0, -1] {
        let limit = GapLimit::from_millionths(millionths).unwrap();
        assert!(
            refused(&EquityTerms { limit, ..good.clone() }).starts_with("gap_pct: must be above 0")
        );
    }
    let mut decimals = good.clone();
    decimals.token.multiplier_decimals = 37;
    assert_eq!(refused(&decimals), "multiplier_decimals: must be from 0 to 36");
    let alone = "pending_multiplier_fact: requires multiplier_fact and effective_at_fact";
    let mut pending = good.clone();
    pending.token.facts.multiplier = None;
    assert_eq!(refused(&pending), alone);
    pending = good.clone();
    pending.token.facts.effective_at = None;
    assert_eq!(refused(&pending), alone);
    let mut long = good;
    long.of.to = slot(EquityTerms::MAX_SLOTS - 1);
    assert!(EquityPass::new(long.clone()).is_ok());
    assert_eq!(EquityTerms::from_parameters(&long.parameters()).unwrap(), long);
    long.of.to = slot(EquityTerms::MAX_SLOTS);
    assert_eq!(EquityPass::new(long).unwrap_err().code(), "figure_period");
}
