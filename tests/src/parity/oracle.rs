//! Oracle prices for a pool, and the definition of a gap in independent arithmetic.

use alloy::primitives::{U256, Uint};
use exitgap_core::pools::{Direction, PoolState, SaleCurve};
use exitgap_core::units::{GapLimit, SizeUsd, UsdPrice};

use super::VectorError;
use super::draw::log_uniform;
use crate::devchain::Rng;

/// Wide enough for every product here.
type Wide = Uint<2048, 32>;

/// One, in millionths of a percent.
const ONE_E8: i64 = 100_000_000;

/// Decimals and USD answers of a pool's tokens, for one direction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Oracle {
    /// The direction sold.
    pub direction: Direction,
    /// Decimals of token 0 and token 1.
    pub decimals: [u8; 2],
    /// `answer ÷ 10^decimals` USD per whole token 0 and token 1.
    pub answers: [(U256, u32); 2],
}

impl Oracle {
    /// Prices within about 10% of the pool's own; `None` if no decimals can express them.
    pub fn near(rng: &mut Rng, state: &PoolState, direction: Direction) -> Option<Self> {
        let (bought, sold) = raw_price(state, direction);
        let (base, quote) = (direction.base_index(), direction.quote_index());
        for _ in 0..400 {
            let mut decimals = [0; 2];
            decimals.fill_with(|| u8::try_from(rng.below(37)).unwrap_or_default());
            let mut scales = [0; 2];
            scales.fill_with(|| u32::try_from(rng.below(37)).unwrap_or_default());
            let quote_answer = U256::from(1 + rng.below(10_u64.pow(10)));
            // base · 10^-(bd+bo) ÷ (quote · 10^-(qd+qo)) = raw price, some percent off.
            let up = ten(u32::from(decimals[base]) + scales[base]);
            let down = ten(u32::from(decimals[quote]) + scales[quote]);
            let off = Wide::from(9_000 + rng.below(2_001));
            let wanted = Wide::from(quote_answer) * bought * up * off;
            let base_answer = wanted / (sold * down * Wide::from(10_000_u32));
            if base_answer < Wide::from(1_000_u32) || base_answer > ten(36) {
                continue;
            }
            let mut answers = [(U256::ZERO, 0); 2];
            answers[base] = (base_answer.to(), scales[base]);
            answers[quote] = (quote_answer, scales[quote]);
            return Some(Self { direction, decimals, answers });
        }
        None
    }

    /// The answers as prices of the core.
    pub fn usd(&self) -> Result<[UsdPrice; 2], VectorError> {
        let price = |answer| {
            UsdPrice::product(&[answer]).map_err(|error| VectorError::Vector(error.to_string()))
        };
        Ok([price(self.answers[0])?, price(self.answers[1])?])
    }

    /// The condition for a limit, prepared for many fills.
    pub fn definition(&self, limit: GapLimit) -> Definition {
        let (bought, sold) = self.worth(U256::ONE, U256::ONE);
        Definition { bought: bought * Wide::from(ONE_E8), sold: sold * kept(limit) }
    }

    /// Whether the exact gap of this fill is at most `limit`.
    pub fn passes(&self, amount_in: U256, amount_out: U256, limit: GapLimit) -> bool {
        self.definition(limit).passes(amount_in, amount_out)
    }

    /// The largest input for which `amount_out` would pass, cut at 256 bits.
    pub fn largest_input(&self, amount_out: U256, limit: GapLimit) -> U256 {
        self.definition(limit).largest_input(amount_out)
    }

    /// `⌊size ÷ oracle price⌋`, the raw amount of the token sold.
    pub fn amount_in(&self, size: SizeUsd) -> U256 {
        let (value, scale) = self.base_unit();
        (Wide::from(size.micros()) * scale / value).saturating_to()
    }

    /// The largest size, if any, whose amount is at most `amount`.
    pub fn largest_size(&self, amount: U256) -> Option<SizeUsd> {
        let (value, scale) = self.base_unit();
        let micros = ((Wide::from(amount) + Wide::ONE) * value - Wide::ONE) / scale;
        SizeUsd::from_micros(micros.saturating_to::<u64>().min(SizeUsd::MAX.micros())).ok()
    }

    /// A useful limit: one that some fill of the curve just reaches or misses, a step of a ladder, or a random one.
    pub fn limit(&self, rng: &mut Rng, curve: &SaleCurve) -> GapLimit {
        let anything = i64::try_from(rng.below(200_000_001)).unwrap_or_default() - ONE_E8;
        let millionths = match rng.below(8) {
            0 => anything,
            1 => anything / 20,
            2 => return GapLimit::LADDER[usize::from(rng.once_in(2)) * 4],
            _ => {
                let amount_in = log_uniform(rng, curve.most().0);
                return self.limit_at(rng, curve, amount_in);
            }
        };
        bounded(millionths)
    }

    /// A limit that the fill of this amount just reaches or misses.
    pub fn limit_at(&self, rng: &mut Rng, curve: &SaleCurve, amount_in: U256) -> GapLimit {
        let amount_out = curve.fill(amount_in).map_or(U256::ZERO, |fill| fill.amount_out);
        let (realized, oracle) = self.worth(amount_in.max(U256::ONE), amount_out);
        let share = (realized * Wide::from(ONE_E8) / oracle).saturating_to::<i64>();
        let off = i64::try_from(rng.below(3)).unwrap_or_default() - 1;
        bounded(ONE_E8.saturating_sub(share).saturating_add(off))
    }

    /// The values of what was bought and what was sold, in one unit.
    fn worth(&self, amount_in: U256, amount_out: U256) -> (Wide, Wide) {
        let (base, quote) = (self.direction.base_index(), self.direction.quote_index());
        let exponent = |token: usize| u32::from(self.decimals[token]) + self.answers[token].1;
        let bought = Wide::from(amount_out) * Wide::from(self.answers[quote].0);
        let sold = Wide::from(amount_in) * Wide::from(self.answers[base].0);
        (bought * ten(exponent(base)), sold * ten(exponent(quote)))
    }

    /// The value of one raw unit of the token sold in micro-dollars, as a fraction.
    fn base_unit(&self) -> (Wide, Wide) {
        let base = self.direction.base_index();
        let (answer, scale) = self.answers[base];
        (Wide::from(answer) * ten(6), ten(u32::from(self.decimals[base]) + scale))
    }
}

/// The condition for a limit: `out × bought ≥ in × sold`.
#[derive(Debug, Clone)]
pub struct Definition {
    bought: Wide,
    sold: Wide,
}

impl Definition {
    /// Whether this fill passes.
    pub fn passes(&self, amount_in: U256, amount_out: U256) -> bool {
        Wide::from(amount_out) * self.bought >= Wide::from(amount_in) * self.sold
    }

    /// The largest input for which `amount_out` would pass, cut at 256 bits.
    pub fn largest_input(&self, amount_out: U256) -> U256 {
        let largest = (Wide::from(amount_out) * self.bought).checked_div(self.sold);
        largest.map_or(U256::MAX, |largest| largest.saturating_to())
    }
}

/// The nearest valid limit.
fn bounded(millionths: i64) -> GapLimit {
    GapLimit::from_millionths(millionths.clamp(-ONE_E8, ONE_E8)).unwrap_or(GapLimit::DEPTH)
}

fn kept(limit: GapLimit) -> Wide {
    Wide::from(ONE_E8.abs_diff(limit.millionths()))
}

fn ten(exponent: u32) -> Wide {
    Wide::from(10).pow(Wide::from(exponent))
}

/// The price of token 0 in token 1 at a √price, Q64.96.
fn of_root(sqrt_price_x96: U256) -> (Wide, Wide) {
    let root = Wide::from(sqrt_price_x96);
    (root * root, Wide::ONE << 192)
}

/// Raw units bought per raw unit sold by the smallest sale that shows a price.
fn paid_for_little(state: &PoolState, direction: Direction) -> (Wide, Wide) {
    /// Number of bits of a sufficiently precise price.
    const BITS: usize = 16;
    let curve = state.curve(direction);
    let fine = |bits: usize| {
        let fill = curve.fill(U256::ONE << bits).ok()?;
        let fine = fill.amount_out.bit_len() > BITS && bits > BITS;
        (!fill.amount_out.is_zero()).then_some((fine, fill))
    };
    let fills = || (0..200).filter_map(fine);
    let found = fills().find(|(fine, _)| *fine).or_else(|| fills().last());
    found.map_or((Wide::ONE, Wide::ONE), |(_, fill)| {
        (Wide::from(fill.amount_out), Wide::from(fill.amount_in))
    })
}

/// Raw units bought per raw unit sold, at the mid price.
fn raw_price(state: &PoolState, direction: Direction) -> (Wide, Wide) {
    let (token1, token0) = match state {
        PoolState::ConstantProduct(pair) => {
            (Wide::from(pair.reserves()[1]), Wide::from(pair.reserves()[0]))
        }
        PoolState::Concentrated(pool) => of_root(pool.sqrt_price_x96()),
        PoolState::ConcentratedV4(pool) => of_root(pool.ranges().sqrt_price_x96()),
        PoolState::ConcentratedLinked(pool) => of_root(pool.ranges().sqrt_price_x96()),
        // Other kinds have no explicit price here: use the first sale whose output is precise enough.
        other => return paid_for_little(other, direction),
    };
    match direction {
        Direction::ZeroForOne => (token1, token0),
        Direction::OneForZero => (token0, token1),
    }
}
