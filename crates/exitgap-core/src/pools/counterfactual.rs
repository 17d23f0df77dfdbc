//! A pool as it would be, had the price moved and nobody's liquidity: what a figure needs to tell
//! what a move of the price does from what providers do.
//!
//! Exact for concentrated liquidity (ticks stay, √price moves) and for a constant product (`x × y`
//! stays, `y ÷ x` moves). Other kinds have no such counterpart here, and are refused by name.

use super::concentrated::{price_of, ticks_under};
use super::{ConstantProduct, Direction, PoolState, RawPrice};
use crate::wide::{U512, narrow, square_root};

impl PoolState {
    /// The mid price, raw units of the token bought per one sold, without following a curve.
    /// `None`: of this kind no liquidity can be put under another price.
    pub fn mid_of_reserves_or_ticks(&self, direction: Direction) -> Option<RawPrice> {
        match ConstantProduct::of(self) {
            Some(pair) => Some(pair.mid_price(direction)),
            None => price_of(self, direction),
        }
    }

    /// This state's liquidity under the price and the fee of `later`: its ticks at that √price and
    /// tick, the active liquidity being their sum; or reserves `⌊√(k·x′÷y′)⌋`, `⌊√(k·y′÷x′)⌋` with
    /// `k = x·y`. `None` where the two are not of one kind, or of one that has no such counterpart.
    pub fn under_price_of(&self, later: &Self) -> Option<Self> {
        match (ConstantProduct::of(self), ConstantProduct::of(later)) {
            (Some(pair), Some(later)) => Some(pair_under(pair, later)?.into()),
            _ => ticks_under(self, later),
        }
    }
}

/// Both products are below `2^336`.
fn pair_under(pair: &ConstantProduct, later: &ConstantProduct) -> Option<ConstantProduct> {
    let [x, y] = pair.reserves().map(U512::from);
    let [later_x, later_y] = later.reserves().map(U512::from);
    let k = x * y;
    let reserve = |squared: U512| {
        let root = narrow(square_root(squared)).map_or(u128::MAX, |root| root.saturating_to());
        root.clamp(1, ConstantProduct::MAX_RESERVE)
    };
    let reserves = [reserve(k * later_x / later_y), reserve(k * later_y / later_x)];
    ConstantProduct::new(reserves, later.fee()).ok()
}
