//! A pool as it would be, had the price moved and nobody's liquidity: what a figure needs to tell
//! what a move of the price does from what providers do.
//!
//! Exact for concentrated liquidity (ticks stay, √price moves) and for a constant product (`x × y`
//! stays, `y ÷ x` moves). Other kinds have no such counterpart here, and are refused by name.

use super::concentrated::{price_of, ticks_at, ticks_thinned, ticks_under};
use super::{ConstantProduct, Direction, PoolState, RawPrice};
use crate::wide::{U256, U512, mul_div, narrow, square_root};

/// One, counted in millionths of a percent.
const ONE_E8: u32 = 100_000_000;

impl PoolState {
    /// The mid price, raw units of the token bought per one sold, without following a curve.
    /// `None`: of this kind no liquidity can be put under another price.
    pub fn mid_of_reserves_or_ticks(&self, direction: Direction) -> Option<RawPrice> {
        match ConstantProduct::from_state(self) {
            Some(pair) => Some(pair.mid_price(direction)),
            None => price_of(self, direction),
        }
    }

    /// This state's liquidity under the price and the fee of `later`: its ticks at that √price and
    /// tick, the active liquidity being their sum; or reserves `⌊√(k·x′÷y′)⌋`, `⌊√(k·y′÷x′)⌋` with
    /// `k = x·y`. `None` where the two are not of one kind, or of one that has no such counterpart.
    pub fn under_price_of(&self, later: &Self) -> Option<Self> {
        match (ConstantProduct::from_state(self), ConstantProduct::from_state(later)) {
            (Some(pair), Some(later)) => Some(pair_under(pair, later)?.into()),
            _ => ticks_under(self, later),
        }
    }
}

impl PoolState {
    /// This state's liquidity once the price of the token sold has fallen by `fall_e8` millionths of a percent, below
    /// one hundred percent: its ticks at the √price `⌊√(R²·kept)⌋`, or with token 1 sold `⌊√(R²÷kept)⌋`; or reserves
    /// `⌊√(b²÷kept)⌋` of the token sold and `⌊√(q²·kept)⌋` of the other. `None` where the kind has no such counterpart.
    pub fn fallen(&self, direction: Direction, fall_e8: u32) -> Option<Self> {
        let kept = ONE_E8.checked_sub(fall_e8).filter(|kept| *kept > 0)?;
        if let Some(pair) = ConstantProduct::from_state(self) {
            let mut reserves = pair.reserves();
            let [base, quote] = [direction.base_index(), direction.quote_index()];
            reserves[base] = reserve(scale_by_sqrt(U256::from(reserves[base]), ONE_E8, kept));
            reserves[quote] = reserve(scale_by_sqrt(U256::from(reserves[quote]), kept, ONE_E8));
            return Some(ConstantProduct::new(reserves, pair.fee()).ok()?.into());
        }
        let (by, over) = match direction {
            Direction::ZeroForOne => (kept, ONE_E8),
            Direction::OneForZero => (ONE_E8, kept),
        };
        ticks_at(self, &|sqrt_price| scale_by_sqrt(sqrt_price, by, over))
    }

    /// This state once `haircut_e8` millionths of a percent, below one hundred percent, of everybody's liquidity have
    /// gone: of each range `⌊L·kept⌋`, at the same price; or of each reserve `⌊r·kept⌋`, at least 1. `None` where the kind
    /// has no such counterpart.
    pub fn with_haircut(&self, haircut_e8: u32) -> Option<Self> {
        let kept = ONE_E8.checked_sub(haircut_e8).filter(|kept| *kept > 0)?;
        if let Some(pair) = ConstantProduct::from_state(self) {
            let left = |held: u128| {
                mul_div(U256::from(held), U256::from(kept), U256::from(ONE_E8)).map(reserve)
            };
            let [first, second] = pair.reserves().map(left);
            return Some(ConstantProduct::new([first?, second?], pair.fee()).ok()?.into());
        }
        ticks_thinned(self, kept, ONE_E8)
    }
}

/// `⌊√(value²·by ÷ over)⌋`, the division rounded down too, of a value below `2^192`; the value itself where the
/// two are one.
fn scale_by_sqrt(value: U256, by: u32, over: u32) -> U256 {
    if by == over {
        return value;
    }
    let squared = U512::from(value) * U512::from(value) * U512::from(by) / U512::from(over);
    narrow(square_root(squared)).unwrap_or(U256::MAX)
}

fn reserve(value: U256) -> u128 {
    value.saturating_to::<u128>().clamp(1, ConstantProduct::MAX_RESERVE)
}

/// Both products are below `2^336`.
fn pair_under(pair: &ConstantProduct, later: &ConstantProduct) -> Option<ConstantProduct> {
    let [x, y] = pair.reserves().map(U512::from);
    let [later_x, later_y] = later.reserves().map(U512::from);
    let k = x * y;
    let root = |squared: U512| reserve(narrow(square_root(squared)).unwrap_or(U256::MAX));
    let reserves = [root(k * later_x / later_y), root(k * later_y / later_x)];
    ConstantProduct::new(reserves, later.fee()).ok()
}
