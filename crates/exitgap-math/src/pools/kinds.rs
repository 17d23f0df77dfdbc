//! The list of all kinds of pools, and the dispatch to the right kind.
//!
//! A new kind needs a folder next to this file, a line in the list below, and a variant of [`StateError`] for the rules
//! that its numbers can violate.

use super::gain::UnitValues;
use super::kind::{PoolKind, Sale, SaleVariant, StateForm};
use super::{
    Concentrated, ConcentratedLinked, ConcentratedV4, ConstantProduct, Direction, FeeRate, Fill,
    FillError, FillStep, PoolFee, RawPrice, Segment, StateError,
};
use super::{CryptoSwap, Solidly, StableSwap, StableV2, StableV3, Weighted};
use crate::ids::Pair;
use crate::json::{Fields, Json};
use crate::wide::{U256, U512, U1024};

/// Generates the types that hold any one of the listed kinds, and the one `match` over them. The caller passes the
/// token `$` because this macro defines another macro, whose own `$` it would otherwise expand itself.
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
                /// The name of its kind in state bodies.
                pub const PROTOCOL: &'static str = <Self as StateForm>::PROTOCOL;

                /// The state, if it is of this kind.
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
            /// Parses the fields of the kind with this `protocol`; `None` if there is no such kind.
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

        /// Calls the implementation of the actual kind.
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
    /// Concentrated liquidity: Uniswap v3, its forks, `PancakeSwap` v3, `SushiSwap` v3 and Slipstream.
    Concentrated,
    /// Concentrated liquidity in Uniswap v4's manager contract: a fee per direction, wider tick spacings.
    ConcentratedV4,
    /// Concentrated liquidity whose loop stops only at initialised ticks, which form a linked list: Algebra Integral.
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
    /// Tricrypto-NG and Twocrypto-NG: only fills.
    CryptoSwap,
}

/// One direction of a pool, prepared for many computations: the function `amount_in → amount_out`, which never falls,
/// and what is needed to invert it.
#[derive(Debug, Clone)]
pub struct SaleCurve(pub(super) OneSale);

impl PoolState {
    /// The stable name of its kind in state bodies, for example `concentrated_liquidity`.
    pub fn protocol(&self) -> &'static str {
        fn protocol_of<K: StateForm>(_: &K) -> &'static str {
            K::PROTOCOL
        }
        ask!(self, PoolState, pool => protocol_of(pool))
    }

    /// The fields of its state body that belong to its kind.
    pub(super) fn write_fields(&self) -> Vec<(&'static str, Json<'_>)> {
        ask!(self, PoolState, pool => pool.to_fields())
    }

    /// The number of tokens of its contract.
    pub fn coins(&self) -> usize {
        ask!(self, PoolState, pool => pool.coins())
    }

    /// Whether its contract sorts its tokens by address.
    pub fn sorts_tokens(&self) -> bool {
        ask!(self, PoolState, pool => pool.sorts_tokens())
    }

    /// The decimals of its tokens; empty if the contract does not store them.
    pub fn decimals(&self) -> &[u8] {
        ask!(self, PoolState, pool => pool.decimals())
    }

    /// The fee of its contract, without an additional protocol fee.
    pub fn fee(&self) -> PoolFee {
        ask!(self, PoolState, pool => PoolKind::fee(pool))
    }

    /// The common name of the form of its kind, if there are several forms: for example `stable`.
    pub fn variety(&self) -> Option<&'static str> {
        ask!(self, PoolState, pool => pool.variety())
    }

    /// The same state for another pair of its tokens; `None` if it does not have both. A state with more than two
    /// tokens is parsed for the first two: its bytes are those of the contract, and the same for every pair.
    pub fn of_pair(self, pair: Pair) -> Option<Self> {
        if pair.indices()[1] >= self.coins() {
            return None;
        }
        Some(ask!(self, PoolState, pool => pool.of_pair(pair).into()))
    }

    /// The heap memory that it uses, in bytes: the ticks, which its copies share.
    pub fn held_bytes(&self) -> usize {
        ask!(self, PoolState, pool => pool.held_bytes())
    }

    /// The maximum heap memory of the whole curve of a direction, in bytes, computed without preparing it.
    pub fn curve_bytes_at_most(&self, direction: Direction) -> usize {
        ask!(self, PoolState, pool => pool.sale_bytes_at_most(direction))
    }

    /// Prepares one direction for many computations. For concentrated liquidity this goes through every initialised
    /// tick on that side once.
    pub fn curve(&self, direction: Direction) -> SaleCurve {
        fn prepare_curve<K>(pool: &K, direction: Direction) -> SaleCurve
        where
            K: PoolKind + SaleVariant<K::Sale>,
        {
            SaleCurve(K::wrap_sale(pool.sale(direction)))
        }
        ask!(self, PoolState, pool => prepare_curve(pool, direction))
    }

    /// The start of a direction's curve, as far as `enough` requires. It contains nothing about the part after its end.
    /// Pools without ticks return the whole curve.
    pub(crate) fn start_of_curve(
        &self,
        direction: Direction,
        enough: &dyn Fn(&SaleCurve) -> bool,
    ) -> SaleCurve {
        ask!(self, PoolState, pool => pool.start_of_sale(direction, enough))
    }

    /// Sells `amount_in` once, without preparing a curve. For concentrated liquidity this runs the contract's own loop.
    pub fn fill_once(&self, direction: Direction, amount_in: U256) -> Result<Fill, FillError> {
        ask!(self, PoolState, pool => pool.fill_once(direction, amount_in))
    }

    /// At least `max (bought × F(d) − sold × d)` over all amounts `d` of the token sold, zero included, where `F` is
    /// what the pool pays without any rounding; rounded up, in the unit of the values. `None` if the kind has no closed
    /// formula for it.
    pub(crate) fn most_gain(&self, direction: Direction, values: UnitValues) -> Option<U1024> {
        ask!(self, PoolState, pool => pool.most_gain(direction, values))
    }

    /// Whether its kind has a closed formula for that. The pool then pays no more for a further unit than for the one
    /// before, except for rounding.
    pub(crate) fn has_closed_gain(&self) -> bool {
        ask!(self, PoolState, pool => pool.has_closed_gain())
    }

    /// Whether the state after a fill is exact, so that another fill can be computed from it.
    pub fn is_followed(&self) -> bool {
        ask!(self, PoolState, pool => pool.is_followed())
    }

    /// The state after `fill`, which must be a fill of this state in this direction.
    #[must_use]
    pub fn after(&self, direction: Direction, fill: &Fill) -> Self {
        ask!(self, PoolState, pool => pool.after(direction, fill).into())
    }

    /// Moves √price back towards `start`, the state before anything was sold, by `recovered_e8 ÷ 10^8` of the distance;
    /// the liquidity stays unchanged. Rounded so that the pool never recovers further than requested.
    #[must_use]
    pub fn with_recovery(&self, start: &Self, direction: Direction, recovered_e8: u32) -> Self {
        ask!(self, PoolState, pool => pool.with_recovery(start, direction, recovered_e8).into())
    }
}

/// Each function calls the function of the same name in `Sale`, which documents it.
impl SaleCurve {
    /// The number of segments in the first piece of a curve when only its start is needed. Each further piece doubles
    /// it.
    pub(crate) const FIRST_PIECE: usize = 16;

    /// The heap memory that it uses, in bytes, which is most of the memory of a pool with many stops.
    pub fn held_bytes(&self) -> usize {
        ask!(&self.0, OneSale, sale => sale.held_bytes())
    }

    /// The direction this curve was prepared for.
    pub fn direction(&self) -> Direction {
        ask!(&self.0, OneSale, sale => sale.direction())
    }

    /// Whether sizes can be computed.
    pub fn is_sized(&self) -> bool {
        ask!(&self.0, OneSale, sale => sale.is_sized())
    }

    /// The minimum fee of any sale.
    pub(crate) fn least_fee(&self) -> FeeRate {
        ask!(&self.0, OneSale, sale => sale.least_fee())
    }

    /// The mid price before anything is sold.
    pub fn mid(&self) -> RawPrice {
        ask!(&self.0, OneSale, sale => sale.mid())
    }

    /// The mid price after `fill`, which must be a fill of this curve.
    pub fn mid_after(&self, fill: &Fill) -> RawPrice {
        ask!(&self.0, OneSale, sale => sale.mid_after(fill))
    }

    /// Sells `amount_in` raw units: returns exactly what the contract would pay.
    pub fn fill(&self, amount_in: U256) -> Result<Fill, FillError> {
        ask!(&self.0, OneSale, sale => sale.fill(amount_in))
    }

    /// The same sale, step by step. The amounts of the steps add up to those of the fill.
    pub fn fill_steps(&self, amount_in: U256) -> Result<Vec<FillStep>, FillError> {
        ask!(&self.0, OneSale, sale => sale.fill_steps(amount_in))
    }

    /// The largest input that the pool takes completely, and its output.
    pub fn most(&self) -> (U256, U256) {
        ask!(&self.0, OneSale, sale => sale.most())
    }

    /// The number of segments.
    pub fn segment_count(&self) -> usize {
        ask!(&self.0, OneSale, sale => sale.segment_count())
    }

    /// Segment `index`, from the start of the sale.
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
