//! Swaps with the pool's state before and what was logged: `swaps.json`, and its format for cases that are found later.

use std::fmt::{self, Display};

use exitgap_core::U256;
use exitgap_core::ids::Address;
use exitgap_core::pools::{
    Concentrated, ConstantProduct, Direction, FeeRate, Fill, FillError, MAX_TICK, PoolState, Tick,
};
use serde::{Deserialize, Serialize};

use crate::report::Report;
use crate::values::Text;

/// The fee of pairs of Uniswap v2 and of `SushiSwap`.
const PAIR_FEE: FeeRate = FeeRate { numerator: 3, denominator: 1_000 };

/// A swap as it was logged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Swap {
    /// The block's number.
    pub block: u64,
    /// The transaction's place in the block.
    pub tx: u64,
    /// The log's place in the block.
    pub log: u64,
    /// The pool.
    pub pool: Address,
    /// Whose factory made it.
    pub venue: String,
    /// Its tokens.
    pub tokens: [Address; 2],
    /// Where the state before is from.
    pub state_from: String,
    /// The state before, and of ranges that after.
    #[serde(flatten)]
    pub state: State,
    /// Whether token 0 was sold.
    pub zero_for_one: bool,
    /// Raw units that were sold, fee included.
    pub amount_in: Text<U256>,
    /// Raw units that were paid.
    pub amount_out: Text<U256>,
    /// Which source it is from.
    pub source: String,
    /// How it must end.
    pub expect: Expectation,
}

/// The state of a pool around a swap.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum State {
    /// A pool of ranges.
    Ranges(Box<RangeState>),
    /// A pair.
    Pair {
        /// Its reserves before.
        reserves: [Text<u128>; 2],
    },
}

/// The state of a pool of ranges before a swap and after it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RangeState {
    /// The fee in millionths.
    pub fee: u32,
    /// The tick spacing.
    pub tick_spacing: i32,
    /// √price before.
    pub sqrt_price: Text<U256>,
    /// The tick before.
    pub tick: i32,
    /// Active liquidity before.
    pub liquidity: Text<u128>,
    /// The ticks between that before and that after whose words are known, with their net liquidity.
    pub ticks: Vec<(i32, Text<i128>)>,
    /// √price after.
    pub sqrt_price_after: Text<U256>,
    /// Active liquidity after.
    pub liquidity_after: Text<u128>,
    /// The tick after.
    pub tick_after: i32,
}

/// How a swap must end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Expectation {
    /// As computed, to the unit.
    Equal,
    /// The same, over a tick.
    EqualCrossing,
    /// The order was for an output: selling what was sold pays at least it, a unit less at most it.
    ExactOutput,
    /// The caller took less than what is computed.
    TookLess,
    /// It went over a tick whose word is not known: there is nothing to be computed.
    TicksUnknown,
}

/// How a swap ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Judgement {
    /// What was computed, after so many ticks.
    Equal {
        /// Initialized ticks that were crossed.
        crossed: u32,
    },
    /// Between what the amount sold pays and what a unit less does.
    ExactOutput,
    /// Less than what is computed.
    TookLess,
    /// The ticks that are known are not enough to compute it.
    TicksUnknown,
}

/// Why a swap did not end as it must.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference(String);

impl Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn differs(words: impl Into<String>) -> Difference {
    Difference(words.into())
}

/// Judges every case.
pub fn check(swaps: &[Swap], report: &mut Report) {
    let (mut equal, mut exact, mut less, mut refused, mut wrong) = (0, 0, 0, 0, 0);
    let mut crossings = 0;
    for swap in swaps {
        match swap.judge_as_expected() {
            Ok(Judgement::Equal { crossed }) => {
                equal += 1;
                crossings += usize::from(crossed > 0);
            }
            Ok(Judgement::ExactOutput) => exact += 1,
            Ok(Judgement::TookLess) => less += 1,
            Ok(Judgement::TicksUnknown) => refused += 1,
            Err(difference) => {
                wrong += 1;
                let Swap { block, log, pool, .. } = swap;
                report.complain(format!("swap of block {block}, log {log}, {pool}: {difference}"));
            }
        }
    }
    report.add("reality.swaps", swaps.len());
    report.add("reality.equal", equal);
    report.add("reality.exact_output", exact);
    report.add("reality.took_less", less);
    report.add("reality.refused_by_name", refused);
    report.add("reality.wrong", wrong);
    report.add("reality.crossings", crossings);
}

impl Swap {
    /// Which token was sold.
    pub fn direction(&self) -> Direction {
        if self.zero_for_one { Direction::ZeroForOne } else { Direction::OneForZero }
    }

    /// How it ended, where that is how it must.
    pub fn judge_as_expected(&self) -> Result<Judgement, Difference> {
        match self.expect {
            Expectation::Equal => self.judge_equal(&self.before()?),
            Expectation::EqualCrossing => match self.judge_equal(&self.before()?)? {
                Judgement::Equal { crossed: 0 } => Err(differs("no tick was crossed")),
                judgement => Ok(judgement),
            },
            Expectation::ExactOutput => self.judge_exact_output(&self.before()?),
            Expectation::TookLess => self.judge_took_less(&self.before()?),
            Expectation::TicksUnknown => self.judge_refused(),
        }
    }

    /// How it ended in this state, where nothing says how it must. Only pairs let a caller take less.
    pub fn judge(&self, before: &PoolState) -> Result<Judgement, Difference> {
        let equal = self.judge_equal(before);
        if equal.is_ok() {
            return equal;
        }
        if let Ok(judgement) = self.judge_exact_output(before) {
            return Ok(judgement);
        }
        match self.state {
            State::Pair { .. } => self.judge_took_less(before).or(equal),
            State::Ranges(_) => equal,
        }
    }

    /// The state before. Of ranges it has the ticks that were crossed, between the lowest and the highest there can be: what
    /// lies beyond was not reached.
    pub fn before(&self) -> Result<PoolState, Difference> {
        match &self.state {
            State::Pair { reserves: [zero, one] } => {
                let pair = ConstantProduct::new([zero.0, one.0], PAIR_FEE);
                Ok(pair.map_err(|error| differs(error.to_string()))?.into())
            }
            State::Ranges(ranges) => ranges.pool(ranges.crossed()?),
        }
    }

    fn judge_equal(&self, before: &PoolState) -> Result<Judgement, Difference> {
        let fill =
            self.fill(before, self.amount_in.0)?.map_err(|error| differs(error.to_string()))?;
        if fill.amount_out != self.amount_out.0 {
            let words =
                format!("{} was paid, and {} is computed", self.amount_out.0, fill.amount_out);
            return Err(differs(words));
        }
        if let State::Ranges(ranges) = &self.state {
            let after = before.after(self.direction(), &fill);
            let after = Concentrated::from_state(&after).ok_or_else(|| differs("another kind"))?;
            let found = (after.sqrt_price_x96(), after.liquidity(), after.tick());
            let RangeState { sqrt_price_after, liquidity_after, tick_after, .. } = **ranges;
            if found != (sqrt_price_after.0, liquidity_after.0, tick_after) {
                let words = format!(
                    "the state after has √price {}, liquidity {} and tick {tick_after}, and {found:?} is computed",
                    sqrt_price_after.0, liquidity_after.0
                );
                return Err(differs(words));
            }
        }
        Ok(Judgement::Equal { crossed: fill.ticks_crossed().unwrap_or_default() })
    }

    fn judge_exact_output(&self, before: &PoolState) -> Result<Judgement, Difference> {
        let (sold, paid) = (self.amount_in.0, self.amount_out.0);
        let whole = self.fill(before, sold)?.map_err(|error| differs(error.to_string()))?;
        if whole.amount_out < paid {
            return Err(differs(format!(
                "{paid} was paid, and only {} is computed",
                whole.amount_out
            )));
        }
        let one = U256::from(1_u8);
        let (less, price_less) = match self.fill(before, sold.saturating_sub(one))? {
            Ok(less) => (less.amount_out, less.sqrt_price_after_x96()),
            Err(FillError::ZeroInput | FillError::ZeroOutput) => (U256::ZERO, None),
            Err(error) => return Err(differs(error.to_string())),
        };
        let is_pair = matches!(self.state, State::Pair { .. });
        if less > paid || (is_pair && less == paid) {
            return Err(differs(format!("{paid} was paid, and a unit less pays {less}")));
        }
        if let State::Ranges(ranges) = &self.state {
            let more = self.fill(before, sold.saturating_add(one))?.ok();
            let price_more = more.and_then(|more| more.sqrt_price_after_x96());
            let furthest = if self.zero_for_one { U256::ZERO } else { U256::MAX };
            let price_less = price_less.unwrap_or(ranges.sqrt_price.0);
            ranges.require_price([price_less, price_more.unwrap_or(furthest)])?;
        }
        Ok(Judgement::ExactOutput)
    }

    fn judge_took_less(&self, before: &PoolState) -> Result<Judgement, Difference> {
        let fill =
            self.fill(before, self.amount_in.0)?.map_err(|error| differs(error.to_string()))?;
        if fill.amount_out <= self.amount_out.0 {
            let words = format!(
                "{} was paid, and no more than {} is computed",
                self.amount_out.0, fill.amount_out
            );
            return Err(differs(words));
        }
        Ok(Judgement::TookLess)
    }

    /// It must be refused where the ticks that are known end: at the next ones of the spacing around the price.
    fn judge_refused(&self) -> Result<Judgement, Difference> {
        let State::Ranges(ranges) = &self.state else {
            return Err(differs("a pair has no ticks"));
        };
        let pool = ranges.pool(Closed::around(ranges)?)?;
        match self.fill(&pool, self.amount_in.0)? {
            Err(FillError::BeyondLiquidity { .. }) => Ok(Judgement::TicksUnknown),
            Err(error) => Err(differs(error.to_string())),
            Ok(fill) => {
                let words = "is computed without the ticks that are not known";
                Err(differs(format!("{} {words}", fill.amount_out)))
            }
        }
    }

    /// What is computed in both ways, which agree.
    fn fill(&self, pool: &PoolState, amount: U256) -> Result<Result<Fill, FillError>, Difference> {
        let once = pool.fill_once(self.direction(), amount);
        let curve = pool.curve(self.direction()).fill(amount);
        if once == curve {
            return Ok(once);
        }
        Err(differs(format!("the contract's loop gives {once:?}, and the curve {curve:?}")))
    }
}

/// Ticks whose net liquidities come to nothing.
struct Closed(Vec<Tick>);

impl Closed {
    /// These ticks, between a lowest and a highest that hold the rest of the liquidity.
    fn new(
        ranges: &RangeState,
        [low, high]: [i32; 2],
        inner: Vec<Tick>,
    ) -> Result<Self, Difference> {
        let overflow = || differs("the liquidity is too large");
        let active = i128::try_from(ranges.liquidity.0).map_err(|_| overflow())?;
        let sum_to = |last: i32| {
            let ticks = inner.iter().filter(|tick| tick.tick <= last);
            ticks.map(|tick| tick.liquidity_net).try_fold(0_i128, i128::checked_add)
        };
        let below = sum_to(ranges.tick).and_then(|below| active.checked_sub(below));
        let below = below.ok_or_else(overflow)?;
        let all = sum_to(MAX_TICK).and_then(|all| all.checked_add(below)).ok_or_else(overflow)?;
        let ends =
            [Tick::new(low, below), Tick::new(high, all.checked_neg().ok_or_else(overflow)?)];
        let mut ticks = inner;
        ticks.extend(ends.into_iter().filter(|end| end.liquidity_net != 0));
        ticks.sort_by_key(|tick| tick.tick);
        Ok(Self(ticks))
    }

    /// The ticks of the spacing around the price, and nothing beyond.
    fn around(ranges: &RangeState) -> Result<Self, Difference> {
        let spacing = ranges.spacing()?;
        let low = ranges.tick.div_euclid(spacing) * spacing;
        Self::new(ranges, [low, low + spacing], Vec::new())
    }
}

impl RangeState {
    fn spacing(&self) -> Result<i32, Difference> {
        let is_spacing = (1..=16_383).contains(&self.tick_spacing);
        is_spacing
            .then_some(self.tick_spacing)
            .ok_or_else(|| differs("the tick spacing is out of range"))
    }

    /// The known ticks that lie between the price before and the one after, and the ends of all prices.
    fn crossed(&self) -> Result<Closed, Difference> {
        let [low, high] = [self.tick.min(self.tick_after), self.tick.max(self.tick_after)];
        let most = MAX_TICK / self.spacing()? * self.tick_spacing;
        let is_crossed = |tick: &i32| low < *tick && *tick <= high && -most < *tick && *tick < most;
        let crossed = self.ticks.iter().filter(|(tick, _)| is_crossed(tick));
        // A tick whose positions begin and end alike is a stop of the contract's loop, too.
        let initialized = |net: i128| net.unsigned_abs().max(1);
        let crossed = crossed.map(|(tick, Text(net))| Tick {
            liquidity_gross: initialized(*net),
            ..Tick::new(*tick, *net)
        });
        let crossed = crossed.collect();
        Closed::new(self, [-most, most], crossed)
    }

    /// Requires that the price after lies between two others: those that a unit less and a unit more lead to.
    fn require_price(&self, [one, other]: [U256; 2]) -> Result<(), Difference> {
        let after = self.sqrt_price_after.0;
        if (one.min(other)..=one.max(other)).contains(&after) {
            return Ok(());
        }
        Err(differs(format!(
            "√price {after} is after it, and it must be between {one} and {other}"
        )))
    }

    fn pool(&self, Closed(ticks): Closed) -> Result<PoolState, Difference> {
        let pool = Concentrated::new(
            self.sqrt_price.0,
            self.tick,
            self.liquidity.0,
            self.fee,
            self.tick_spacing,
            ticks,
        );
        Ok(pool.map_err(|error| differs(error.to_string()))?.into())
    }
}
