//! A pool as if only its price had changed, but not its liquidity. With this, a figure can separate the effect of a
//! price move from the actions of liquidity providers.
//!
//! Exact for concentrated liquidity (ticks stay, √price moves) and for a constant product (`x × y` stays, `y ÷ x`
//! moves). Other kinds have no counterpart here and return `None`.

use super::concentrated::{price_of, ticks_at, ticks_thinned, ticks_under};
use super::{ConstantProduct, Direction, PoolState, RawPrice};
use crate::wide::{U256, U512, mul_div, narrow, square_root};

/// The number 1 in millionths of a percent.
const ONE_E8: u32 = 100_000_000;

impl PoolState {
    /// The mid price in raw units of the token bought per unit sold, without computing a curve. `None` for kinds whose
    /// liquidity cannot be moved to another price.
    pub fn mid_of_reserves_or_ticks(&self, direction: Direction) -> Option<RawPrice> {
        match ConstantProduct::from_state(self) {
            Some(pair) => Some(pair.mid_price(direction)),
            None => price_of(self, direction),
        }
    }

    /// Whether this kind's liquidity can be moved to another price, and thinned.
    pub fn is_movable(&self) -> bool {
        self.mid_of_reserves_or_ticks(Direction::ZeroForOne).is_some()
    }

    /// This state's liquidity at the price and the fee of `later`: its ticks at that √price and tick, with their sum as
    /// active liquidity; or reserves `⌊√(k·x′÷y′)⌋`, `⌊√(k·y′÷x′)⌋` with `k = x·y`. `None` if the two states are of
    /// different kinds, or of a kind without a counterpart.
    pub fn under_price_of(&self, later: &Self) -> Option<Self> {
        match (ConstantProduct::from_state(self), ConstantProduct::from_state(later)) {
            (Some(pair), Some(later)) => Some(pair_under(pair, later)?.into()),
            _ => ticks_under(self, later),
        }
    }
}

impl PoolState {
    /// This state's liquidity after the price of the token sold has fallen by `fall_e8` millionths of a percent (less
    /// than one hundred percent): its ticks at the √price `⌊√(R²·kept)⌋`, or `⌊√(R²÷kept)⌋` if token 1 is sold; or
    /// reserves `⌊√(b²÷kept)⌋` of the token sold and `⌊√(q²·kept)⌋` of the other. `None` if the kind has no
    /// counterpart.
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

    /// This state after `haircut_e8` millionths of a percent (less than one hundred percent) of all liquidity were
    /// removed: `⌊L·kept⌋` of each range at the same price; or `⌊r·kept⌋` of each reserve, at least 1. `None` if the
    /// kind has no counterpart.
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

/// `⌊√(value²·by ÷ over)⌋` for a value below `2^192`, with the division also rounded down. If `by` equals `over`, the
/// value itself.
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
