//! The kinds of pools: the one place that names them all and asks the right one.
//!
//! A new kind is a folder beside this file, a line in the list below, and a variant of
//! [`StateError`] for the rules that its numbers can break.

use super::kind::{PoolKind, Sale, SaleVariant, StateForm};
use super::{
    Concentrated, ConcentratedLinked, ConcentratedV4, ConstantProduct, Direction, FeeRate, Fill,
    FillError, FillStep, PoolFee, RawPrice, Segment, StateError,
};
use super::{CryptoSwap, Solidly, StableSwap, StableV2, StableV3, Weighted};
use crate::ids::Pair;
use crate::json::{Fields, Json};
use crate::wide::{U256, U512};

/// Makes of a list of kinds the types that hold one of them, and the one `match` over it. The sign `$` is handed
/// in because the macro defines another one, whose own signs it would read as its own.
macro_rules! kinds {
    ($dollar:tt $($(#[doc = $doc:literal])+ $kind:ident,)+) => {
        /// The whole swap-relevant state of a pool.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum PoolState {
            $($(#[doc = $doc])+ $kind($kind),)+
        }

        /// One direction of a pool of some kind.
        #[derive(Debug, Clone)]
        pub(super) enum OneSale {
            $($kind(<$kind as PoolKind>::Sale),)+
        }

        $(
            impl $kind {
                /// The name of its kind, as in state bodies.
                pub const PROTOCOL: &'static str = <Self as StateForm>::PROTOCOL;

                /// The state, where it is of this kind.
                pub fn from_state(state: &PoolState) -> Option<&Self> {
                    match state {
                        PoolState::$kind(pool) => Some(pool),
                        _ => None,
                    }
                }
            }

            impl From<$kind> for PoolState {
                fn from(pool: $kind) -> Self {
                    Self::$kind(pool)
                }
            }

            impl SaleVariant<<$kind as PoolKind>::Sale> for $kind {
                fn wrap_sale(sale: <Self as PoolKind>::Sale) -> OneSale {
                    OneSale::$kind(sale)
                }

                fn sale_in(one: &mut OneSale) -> Option<&mut <Self as PoolKind>::Sale> {
                    match one {
                        OneSale::$kind(sale) => Some(sale),
                        _ => None,
                    }
                }
            }
        )+

        impl PoolState {
            /// Takes the fields of the kind that `protocol` names; `None`: no kind is named so.
            pub(super) fn from_fields(
                protocol: &str,
                fields: &mut Fields<'_, '_>,
            ) -> Option<Result<Self, StateError>> {
                match protocol {
                    $($kind::PROTOCOL => {
                        Some(<$kind as StateForm>::from_fields(fields).map(Self::$kind))
                    })+
                    _ => None,
                }
            }
        }

        /// Asks the kind that is there.
        macro_rules! ask {
            ($dollar one:expr, $dollar of:ident, $dollar it:ident => $dollar answer:expr) => {
                match $dollar one {
                    $($dollar of::$kind($dollar it) => $dollar answer,)+
                }
            };
        }
    };
}

kinds! { $
    /// `x × y = k`: Uniswap v2 and its forks.
    ConstantProduct,
    /// Liquidity by price range: Uniswap v3, its forks, `PancakeSwap` v3, `SushiSwap` v3 and Slipstream.
    Concentrated,
    /// The same in Uniswap v4's manager: a fee per direction, wider tick spacings.
    ConcentratedV4,
    /// The same where the loop stops at initialised ticks alone, which are linked: Algebra Integral.
    ConcentratedLinked,
    /// Curve's plain pools and `StableSwap`-NG.
    StableSwap,
    /// Aerodrome v2 and Velodrome v2, volatile and stable.
    Solidly,
    /// Balancer's weighted pools of both vaults.
    Weighted,
    /// Balancer's stable pools of version 2.
    StableV2,
    /// Balancer's stable pools of version 3.
    StableV3,
    /// Tricrypto-NG and Twocrypto-NG: fills only.
    CryptoSwap,
}

/// One direction of a pool, prepared for many questions: `amount_in → amount_out`, never falling,
/// and what is needed to invert it.
#[derive(Debug, Clone)]
pub struct SaleCurve(pub(super) OneSale);

impl PoolState {
    /// The stable name of its kind, as in state bodies, e.g. `concentrated_liquidity`.
    pub fn protocol(&self) -> &'static str {
        fn protocol_of<K: StateForm>(_: &K) -> &'static str {
            K::PROTOCOL
        }
        ask!(self, PoolState, pool => protocol_of(pool))
    }

    /// The fields of its state body that are its kind's own.
    pub(super) fn write_fields(&self) -> Vec<(&'static str, Json<'_>)> {
        ask!(self, PoolState, pool => pool.to_fields())
    }

    /// How many tokens its contract pools.
    pub fn coins(&self) -> usize {
        ask!(self, PoolState, pool => pool.coins())
    }

    /// Whether its contract keeps its tokens in the order of their addresses.
    pub fn sorts_tokens(&self) -> bool {
        ask!(self, PoolState, pool => pool.sorts_tokens())
    }

    /// The decimals of its tokens; none where the contract does not keep them.
    pub fn decimals(&self) -> &[u8] {
        ask!(self, PoolState, pool => pool.decimals())
    }

    /// What its contract takes of a sale, without what a protocol takes beside it.
    pub fn fee(&self) -> PoolFee {
        ask!(self, PoolState, pool => PoolKind::fee(pool))
    }

    /// Which of several forms of its kind it is, where there are several, as people call it: `stable`.
    pub fn variety(&self) -> Option<&'static str> {
        ask!(self, PoolState, pool => pool.variety())
    }

    /// The same state, asked about this pair of its tokens; `None` where it has not both. A state
    /// of more than two tokens is read as one that is asked about the first two: its bytes are
    /// the contract's, and the same for every pair.
    pub fn of_pair(self, pair: Pair) -> Option<Self> {
        if pair.indices()[1] >= self.coins() {
            return None;
        }
        Some(ask!(self, PoolState, pool => pool.of_pair(pair).into()))
    }

    /// The bytes it holds beside itself: the ticks, which its copies share.
    pub fn held_bytes(&self) -> usize {
        ask!(self, PoolState, pool => pool.held_bytes())
    }

    /// The most bytes that a direction's whole curve can hold, told without preparing it.
    pub fn curve_bytes_at_most(&self, direction: Direction) -> usize {
        ask!(self, PoolState, pool => pool.sale_bytes_at_most(direction))
    }

    /// Prepares one direction for many questions. For concentrated liquidity this
    /// walks every initialised tick on that side once.
    pub fn curve(&self, direction: Direction) -> SaleCurve {
        fn prepare_curve<K>(pool: &K, direction: Direction) -> SaleCurve
        where
            K: PoolKind + SaleVariant<K::Sale>,
        {
            SaleCurve(K::wrap_sale(pool.sale(direction)))
        }
        ask!(self, PoolState, pool => prepare_curve(pool, direction))
    }

    /// The start of a direction's curve, as much of it as `enough` asks for; whatever lies
    /// past its end is unknown to it. Pools without ticks have it whole.
    pub(crate) fn start_of_curve(
        &self,
        direction: Direction,
        enough: &dyn Fn(&SaleCurve) -> bool,
    ) -> SaleCurve {
        ask!(self, PoolState, pool => pool.start_of_sale(direction, enough))
    }

    /// Sells `amount_in` once, without preparing a curve; for concentrated
    /// liquidity this is the contract's own loop.
    pub fn fill_once(&self, direction: Direction, amount_in: U256) -> Result<Fill, FillError> {
        ask!(self, PoolState, pool => pool.fill_once(direction, amount_in))
    }

    /// Whether the state after a fill is exactly the contract's, so that another can follow.
    pub fn is_followed(&self) -> bool {
        ask!(self, PoolState, pool => pool.is_followed())
    }

    /// The state after `fill`, which came from this state in this direction.
    #[must_use]
    pub fn after(&self, direction: Direction, fill: &Fill) -> Self {
        ask!(self, PoolState, pool => pool.after(direction, fill).into())
    }

    /// Moves √price back towards `start`, the state before anything was sold, by
    /// `recovered_e8 ÷ 10^8` of the distance, liquidity unchanged. Rounded so that
    /// the pool never recovers further than asked.
    #[must_use]
    pub fn with_recovery(&self, start: &Self, direction: Direction, recovered_e8: u32) -> Self {
        ask!(self, PoolState, pool => pool.with_recovery(start, direction, recovered_e8).into())
    }
}

/// Each question is `Sale`'s of the same name, which says what its answer holds to.
impl SaleCurve {
    /// Segments of the first piece of a curve of which only the start is wanted; each further
    /// piece doubles it.
    pub(crate) const FIRST_PIECE: usize = 16;

    /// The bytes it holds beside itself, which are most of what a pool with many stops weighs.
    pub fn held_bytes(&self) -> usize {
        ask!(&self.0, OneSale, sale => sale.held_bytes())
    }

    /// The direction this curve was prepared for.
    pub fn direction(&self) -> Direction {
        ask!(&self.0, OneSale, sale => sale.direction())
    }

    /// Whether sizes can be searched for.
    pub fn is_sized(&self) -> bool {
        ask!(&self.0, OneSale, sale => sale.is_sized())
    }

    /// The least fee that any sale pays.
    pub(crate) fn least_fee(&self) -> FeeRate {
        ask!(&self.0, OneSale, sale => sale.least_fee())
    }

    /// The mid price before anything is sold.
    pub fn mid(&self) -> RawPrice {
        ask!(&self.0, OneSale, sale => sale.mid())
    }

    /// The mid price after `fill`, which came from this curve.
    pub fn mid_after(&self, fill: &Fill) -> RawPrice {
        ask!(&self.0, OneSale, sale => sale.mid_after(fill))
    }

    /// Sells `amount_in` raw units: what the contract would pay, to the unit.
    pub fn fill(&self, amount_in: U256) -> Result<Fill, FillError> {
        ask!(&self.0, OneSale, sale => sale.fill(amount_in))
    }

    /// The same sale, step by step; the steps' amounts add up to the fill's.
    pub fn fill_steps(&self, amount_in: U256) -> Result<Vec<FillStep>, FillError> {
        ask!(&self.0, OneSale, sale => sale.fill_steps(amount_in))
    }

    /// The largest input the pool takes whole, and what it pays for it.
    pub fn most(&self) -> (U256, U256) {
        ask!(&self.0, OneSale, sale => sale.most())
    }

    /// How many segments the curve has.
    pub fn segment_count(&self) -> usize {
        ask!(&self.0, OneSale, sale => sale.segment_count())
    }

    /// Segment `index`, counted from the start of the sale.
    pub fn segment(&self, index: usize) -> Segment {
        ask!(&self.0, OneSale, sale => sale.segment(index))
    }

    pub(crate) fn out_within(&self, index: usize, amount_in: U256) -> U256 {
        ask!(&self.0, OneSale, sale => sale.out_within(index, amount_in))
    }

    pub(crate) fn out_at_most(&self, index: usize, low: U256, high: U256, out: U256) -> U256 {
        ask!(&self.0, OneSale, sale => sale.out_at_most(index, low, high, out))
    }

    pub(crate) fn divides(&self) -> bool {
        ask!(&self.0, OneSale, sale => sale.divides())
    }

    pub(crate) fn by_secants(&self) -> bool {
        ask!(&self.0, OneSale, sale => sale.by_secants())
    }

    pub(crate) fn ideal_within(&self, index: usize, added: U256) -> U512 {
        ask!(&self.0, OneSale, sale => sale.ideal_within(index, added))
    }

    pub(crate) fn most_between(
        &self,
        index: usize,
        range: (U256, U256),
        out: U256,
        fails: &dyn Fn(U512) -> bool,
    ) -> Option<U256> {
        ask!(&self.0, OneSale, sale => sale.most_between(index, range, out, fails))
    }

    pub(crate) fn fee_rounded_first(&self) -> Option<FeeRate> {
        ask!(&self.0, OneSale, sale => sale.fee_rounded_first())
    }

    pub(crate) fn rounding_before(&self, index: usize) -> U256 {
        ask!(&self.0, OneSale, sale => sale.rounding_before(index))
    }

    pub(crate) fn mid_at_start(&self, index: usize) -> RawPrice {
        ask!(&self.0, OneSale, sale => sale.mid_at_start(index))
    }
}
