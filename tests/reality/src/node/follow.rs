//! A pool's swaps in a block: the state before each follows from the state before the block and the pool's own logs.

use std::collections::BTreeMap;

use exitgap_core::U256;
use exitgap_core::ids::Address;

use super::block::Log;
use super::events::{Event, PairSwap, RangeSwap};
use super::pool::{Kind, Words};
use super::tally::Tally;
use crate::swaps::{Expectation, RangeState, State, Swap};
use crate::values::Text;

/// How many units a receiver may lack before the token is said to take a fee.
const ROUNDING_UNITS: u64 = 2;

/// A log whose event is known.
#[derive(Debug)]
pub struct Logged<'a> {
    /// The log.
    pub log: &'a Log,
    /// What it says.
    pub event: Event,
}

/// The known logs of a block, asked about one pool.
#[derive(Debug, Clone, Copy)]
pub struct PoolLogs<'a> {
    /// The pool.
    pub pool: Address,
    /// The block's number.
    pub number: u64,
    /// In their order, of all contracts.
    pub logged: &'a [Logged<'a>],
}

/// The name of a swap's kind where its contract's code is not known.
pub fn name_of(event: &Event) -> &'static str {
    if matches!(event, Event::PairSwap(_)) { "like_uniswap_v2" } else { "like_uniswap_v3" }
}

/// What a swap's log says, in one shape for both kinds.
struct Amounts {
    zero_for_one: bool,
    sold: U256,
    paid: U256,
    to: Address,
}

impl<'a> PoolLogs<'a> {
    /// The pool's swaps.
    pub fn swaps(self) -> impl Iterator<Item = &'a Event> {
        let own = self.logged.iter().filter(move |logged| logged.log.address == self.pool);
        own.map(|logged| &logged.event)
            .filter(|event| matches!(event, Event::PairSwap(_) | Event::RangeSwap(_)))
    }

    /// Judges each swap of the pool, which was in this state before the block.
    pub fn judge(self, kind: Kind, before: &Words, tally: &mut Tally) {
        match (kind, before) {
            (Kind::Pair { tokens }, Words::Pair(reserves)) => {
                self.judge_pair(tokens, *reserves, tally);
            }
            (Kind::Ranges(immutables), Words::Ranges { sqrt_price, tick, liquidity, ticks }) => {
                let state = RangeState {
                    fee: immutables.fee_pips,
                    tick_spacing: immutables.tick_spacing,
                    sqrt_price: Text(*sqrt_price),
                    tick: *tick,
                    liquidity: Text(*liquidity),
                    ticks: Vec::new(),
                    sqrt_price_after: Text(*sqrt_price),
                    liquidity_after: Text(*liquidity),
                    tick_after: *tick,
                };
                self.judge_ranges(immutables.tokens, state, ticks, tally);
            }
            _ => self.swaps().for_each(|_| tally.refuse("other_event")),
        }
    }

    fn judge_pair(self, tokens: [Address; 2], reserves: [u128; 2], tally: &mut Tally) {
        let (mut now, mut before, mut from) = (reserves, None, FROM_BLOCK);
        for Logged { log, event } in self.logged.iter().filter(|one| one.log.address == self.pool) {
            match event {
                Event::Sync(after) => {
                    before = Some((now, from));
                    (now, from) = (*after, FROM_LOG);
                }
                // The reserves after it were logged just before it.
                Event::PairSwap(swap) => match (one_way(swap), before.take()) {
                    (Some(amounts), Some((reserves, from))) => {
                        let state = State::Pair { reserves: reserves.map(Text) };
                        self.judge_one("uniswap_v2", tokens, log, (&amounts, state, from), tally);
                    }
                    (None, _) => tally.refuse("both_tokens_came_or_went"),
                    (_, None) => tally.refuse("no_reserves_logged"),
                },
                Event::RangeSwap(_) => tally.refuse("other_event"),
                _ => {}
            }
        }
    }

    fn judge_ranges(
        self,
        tokens: [Address; 2],
        mut now: RangeState,
        ticks: &[(i32, i128, u128)],
        tally: &mut Tally,
    ) {
        let (mut book, mut from) = (Book::new(ticks), FROM_BLOCK);
        for Logged { log, event } in self.logged.iter().filter(|one| one.log.address == self.pool) {
            match event {
                Event::Liquidity { ticks: [low, high], amount } => {
                    book.change([*low, *high], *amount);
                    if (*low..*high).contains(&now.tick) {
                        let changed = now.liquidity.0.checked_add_signed(*amount);
                        now.liquidity = Text(changed.unwrap_or_default());
                    }
                    from = FROM_LOG;
                }
                Event::RangeSwap(swap) => {
                    let RangeSwap { sqrt_price, liquidity, tick, .. } = *swap;
                    let (low, high) = (now.tick.min(tick), now.tick.max(tick));
                    now.ticks = book.between(low, high);
                    (now.sqrt_price_after, now.liquidity_after, now.tick_after) =
                        (Text(sqrt_price), Text(liquidity), tick);
                    let amounts = Amounts {
                        zero_for_one: swap.zero_for_one,
                        sold: swap.sold,
                        paid: swap.paid,
                        to: swap.to,
                    };
                    let state = State::Ranges(Box::new(now.clone()));
                    self.judge_one("uniswap_v3", tokens, log, (&amounts, state, from), tally);
                    (now.sqrt_price, now.liquidity, now.tick) =
                        (Text(sqrt_price), Text(liquidity), tick);
                    from = FROM_LOG;
                }
                Event::PairSwap(_) => tally.refuse("other_event"),
                _ => {}
            }
        }
    }

    fn judge_one(
        self,
        venue: &str,
        tokens: [Address; 2],
        log: &Log,
        (amounts, state, from): (&Amounts, State, &str),
        tally: &mut Tally,
    ) {
        if amounts.sold.is_zero() || amounts.paid.is_zero() {
            return tally.refuse("nothing_came_or_went");
        }
        let swap = Swap {
            block: self.number,
            tx: log.tx,
            log: log.index,
            pool: self.pool,
            venue: venue.to_owned(),
            tokens,
            state_from: from.to_owned(),
            state,
            zero_for_one: amounts.zero_for_one,
            amount_in: Text(amounts.sold),
            amount_out: Text(amounts.paid),
            source: "node".to_owned(),
            expect: Expectation::Equal,
        };
        let bought = tokens[usize::from(amounts.zero_for_one)];
        let judged = swap.before().and_then(|before| swap.judge(&before));
        match judged {
            Ok(_) if self.is_taxed(bought, log, amounts) => tally.add_taxed(),
            Ok(judgement) => tally.add(judgement),
            Err(difference) => tally.add_wrong(swap, &difference),
        }
    }

    /// Whether whom the pool paid received less of the token than it paid, by the token's own logs since the pool's swap before
    /// in the same transaction. Of a token without such logs nothing is known.
    fn is_taxed(self, bought: Address, swap: &Log, amounts: &Amounts) -> bool {
        let earlier = |one: &&Logged<'_>| one.log.tx == swap.tx && one.log.index < swap.index;
        let since = self
            .logged
            .iter()
            .filter(earlier)
            .filter(|one| one.log.address == self.pool)
            .filter(|one| matches!(one.event, Event::PairSwap(_) | Event::RangeSwap(_)))
            .map(|one| one.log.index)
            .max();
        let mut received = None;
        for Logged { log, event } in self.logged.iter().filter(earlier) {
            if let Event::Transfer { from, to, units } = event
                && log.address == bought
                && since.is_none_or(|since| log.index > since)
                && (*from, *to) == (self.pool, amounts.to)
            {
                received = Some(received.unwrap_or(U256::ZERO).saturating_add(*units));
            }
        }
        let rounded = |received: U256| received.saturating_add(U256::from(ROUNDING_UNITS));
        received.is_some_and(|received| rounded(received) < amounts.paid)
    }
}

/// Initialized ticks with their net and their gross liquidity.
struct Book(BTreeMap<i32, (i128, u128)>);

impl Book {
    fn new(ticks: &[(i32, i128, u128)]) -> Self {
        Self(ticks.iter().map(|(tick, net, gross)| (*tick, (*net, *gross))).collect())
    }

    /// Adds liquidity to a range. A tick that is left without any is no stop any more.
    fn change(&mut self, [low, high]: [i32; 2], amount: i128) {
        for (tick, change) in [(low, amount), (high, -amount)] {
            let (net, gross) = self.0.entry(tick).or_default();
            *net = net.saturating_add(change);
            *gross = gross.saturating_add_signed(amount);
            if *gross == 0 {
                self.0.remove(&tick);
            }
        }
    }

    /// The ticks of a range with their net liquidity.
    fn between(&self, low: i32, high: i32) -> Vec<(i32, Text<i128>)> {
        self.0.range(low..=high).map(|(tick, (net, _))| (*tick, Text(*net))).collect()
    }
}

const FROM_BLOCK: &str = "storage before the block";
const FROM_LOG: &str = "the log before it";

/// The amounts of a swap of a pair in which one token came and the other went.
fn one_way(swap: &PairSwap) -> Option<Amounts> {
    let PairSwap { came: [came0, came1], went: [went0, went1], to } = *swap;
    let zero_for_one = match [came0, came1, went0, went1].map(|amount| amount.is_zero()) {
        [false, true, true, false] => true,
        [true, false, false, true] => false,
        _ => return None,
    };
    let (sold, paid) = if zero_for_one { (came0, went1) } else { (came1, went0) };
    Some(Amounts { zero_for_one, sold, paid, to })
}
