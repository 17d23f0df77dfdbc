//! The interface of a kind of pool: what its folder implements, and the properties that other code relies on.
//!
//! A kind consists of two types: its *state*, a [`PoolKind`] with its [`StateForm`], and its [`Sale`], one direction
//! prepared for many computations. All kinds are listed only in `kinds.rs`.

use super::gain::UnitValues;
use super::kinds::OneSale;
use super::{Direction, Fill, FillError, FillStep, PoolState, RawPrice, SaleCurve, Segment};
use crate::ids::Pair;
use crate::json::{Fields, Json};
use crate::pools::{FeeRate, PoolFee, StateError};
use crate::wide::{U256, U512, U1024};

/// A kind's state body: its fields as canonical JSON.
pub(super) trait StateForm: Sized {
    /// The `protocol` of the body. It determines the fields and the arithmetic: pools with other rules for fills have
    /// another protocol; pools that only differ in how they are read do not.
    const PROTOCOL: &'static str;

    /// Parses the kind's own fields of a state body.
    fn from_fields(fields: &mut Fields<'_, '_>) -> Result<Self, StateError>;

    /// The same fields. Parsing the written fields gives the same state.
    fn to_fields(&self) -> Vec<(&'static str, Json<'_>)>;
}

/// A kind of pool: the part of its contract's state that fills depend on, checked on creation.
pub(super) trait PoolKind: StateForm + Clone {
    /// One direction of the pool. Kinds with the same form of curve may share the type.
    type Sale: Sale;

    /// The number of tokens.
    fn coins(&self) -> usize {
        2
    }

    /// Whether its contract sorts its tokens by address.
    fn sorts_tokens(&self) -> bool {
        true
    }

    /// The decimals of its tokens, if the contract stores them.
    fn decimals(&self) -> &[u8] {
        &[]
    }

    /// The same pool for another pair of its tokens, which must exist.
    #[must_use]
    fn of_pair(self, _pair: Pair) -> Self {
        self
    }

    /// The fee of its contract, without an additional protocol fee.
    fn fee(&self) -> PoolFee;

    /// The common name of the form of its kind, if there are several forms.
    fn variety(&self) -> Option<&'static str> {
        None
    }

    /// The whole curve of one direction.
    fn sale(&self, direction: Direction) -> Self::Sale;

    /// The start of one direction's curve, as far as `enough` requires. `enough` is called with longer and longer
    /// starts, the last of which may be the whole curve. The start contains nothing about the part after its end.
    fn start_of_sale(&self, direction: Direction, _enough: &dyn Fn(&SaleCurve) -> bool) -> SaleCurve
    where
        Self: SaleVariant<Self::Sale>,
    {
        SaleCurve(Self::wrap_sale(self.sale(direction)))
    }

    /// Same result as [`Sale::fill`] without any preparation.
    fn fill_once(&self, direction: Direction, amount_in: U256) -> Result<Fill, FillError>;

    /// The state after a fill, which must be a fill of this state in this direction. The result is a valid state of the
    /// contract.
    fn after(&self, direction: Direction, fill: &Fill) -> Self;

    /// Whether [`PoolKind::most_gain`] has a formula.
    fn has_closed_gain(&self) -> bool {
        false
    }

    /// At least the most that any sale of any amount gains, if units have these values; rounded up. `None` if the kind
    /// has no closed formula for it. See [`PoolState::most_gain`].
    fn most_gain(&self, _direction: Direction, _values: UnitValues) -> Option<U1024> {
        None
    }

    /// Whether the state after a fill is exact. If not, [`PoolKind::after`] is an approximation, and no second fill is
    /// computed from it.
    fn is_followed(&self) -> bool {
        true
    }

    /// See [`PoolState::with_recovery`]. `start` must be of the same pool, and so is of the same kind.
    fn with_recovery(&self, start: &PoolState, direction: Direction, recovered_e8: u32) -> Self;

    /// The heap memory that it uses, in bytes.
    fn held_bytes(&self) -> usize {
        0
    }

    /// The maximum heap memory of a prepared direction, in bytes.
    fn sale_bytes_at_most(&self, _direction: Direction) -> usize {
        0
    }
}

/// The variant of a kind in the list of `kinds.rs`, with directions of type `S`.
pub(super) trait SaleVariant<S> {
    /// Wraps a direction of this kind as a direction of any kind.
    fn wrap_sale(sale: S) -> OneSale;

    /// The direction, if it is of this kind.
    fn sale_in(one: &mut OneSale) -> Option<&mut S>;
}

/// One direction of a pool: computes the fill of any amount of the token sold, and provides what is needed to find the
/// largest amount with a sufficient fill.
///
/// The whole curve is divided into *segments*, each with one formula. The search for sizes (`exit/max_size`) relies on
/// these properties, which its tests check:
///
/// - The output never falls as the input grows, within a segment and from one to the next, except as stated by
///   [`Sale::out_at_most`].
/// - [`Sale::ideal_within`] is concave in the added amount, and never below the output.
/// - A swap without any rounding is concave over the whole curve, and all roundings up to a segment's start keep the
///   output below it by less than [`Sale::rounding_before`].
///
/// The default implementations are correct for every curve with a single segment.
pub(super) trait Sale {
    /// The direction this was prepared for.
    fn direction(&self) -> Direction;

    /// The mid price before the sale: the price of an infinitely small sale without fee.
    fn mid(&self) -> RawPrice;

    /// The mid price after `fill`, which must be a fill of this sale.
    fn mid_after(&self, fill: &Fill) -> RawPrice;

    /// The minimum fee of any fill.
    fn least_fee(&self) -> FeeRate;

    /// Sells `amount_in` raw units: returns exactly what the contract's swap transfers (not what a view function
    /// quotes), and the fee of this fill.
    fn fill(&self, amount_in: U256) -> Result<Fill, FillError>;

    /// The same sale, step by step. The amounts of the steps add up to those of the fill.
    fn fill_steps(&self, amount_in: U256) -> Result<Vec<FillStep>, FillError> {
        Ok(vec![FillStep::whole(&self.fill(amount_in)?)])
    }

    /// Whether a search for sizes can rely on the properties above.
    fn is_sized(&self) -> bool {
        true
    }

    /// The largest input that the pool takes completely, and its output.
    fn most(&self) -> (U256, U256);

    /// The number of segments.
    fn segment_count(&self) -> usize {
        1
    }

    /// Segment `index`, from the start of the sale.
    fn segment(&self, index: usize) -> Segment;

    /// The output for an input inside segment `index`: after its start and at most its end.
    fn out_within(&self, index: usize, amount_in: U256) -> U256;

    /// The maximum output of all amounts from `low` to `high`, both inside segment `index`. If the output never falls,
    /// it is `out`, the output for `high`.
    fn out_at_most(&self, _index: usize, _low: U256, _high: U256, out: U256) -> U256 {
        out
    }

    /// The maximum output of all amounts from `low` to `high`, both inside segment `index`, as in
    /// [`Sale::out_at_most`]. `None` if `fails` rejects the output of the segment's formula for `low`
    /// ([`Sale::ideal_within`]) at the lowest fee of all these amounts: then all amounts up to `high` fail the limit.
    fn most_between(
        &self,
        index: usize,
        (low, high): (U256, U256),
        out: U256,
        fails: &dyn Fn(U512) -> bool,
    ) -> Option<U256> {
        let added = low - self.segment(index).in_start;
        (!fails(self.ideal_within(index, added))).then(|| self.out_at_most(index, low, high, out))
    }

    /// Whether the gap may fall as the size grows by more than rounding: because the fee depends on the size, or
    /// because the formula has branches. The search then divides a segment using [`Sale::most_between`] for its parts,
    /// and [`Sale::ideal_within`] may be above the concave curve.
    fn divides(&self) -> bool {
        false
    }

    /// Whether the point where a segment's formula meets a limit is searched by secants instead of bisection, because
    /// the formula is slow. This affects the number of comparisons of a search, so it is part of the method.
    fn by_secants(&self) -> bool {
        false
    }

    /// The output of the segment's formula without any rounding for `added` from the start of segment `index`, in units
    /// of `2^-64`, rounded up. Never less than the difference between [`Sale::out_within`] and the segment's
    /// `out_start`.
    fn ideal_within(&self, index: usize, added: U256) -> U512;

    /// The fee, if the amount that it leaves of an input inside a segment is rounded down to integer units before it
    /// moves the price.
    fn fee_rounded_first(&self) -> Option<FeeRate>;

    /// The maximum difference, in raw output units, by which all roundings up to the start of segment `index` can
    /// reduce the output compared with a swap without rounding: for the segment's `in_start`, that swap pays less than
    /// `out_start` plus this. `index` may be one after the last segment.
    fn rounding_before(&self, _index: usize) -> U256 {
        U256::ZERO
    }

    /// The mid price at the start of segment `index`.
    fn mid_at_start(&self, _index: usize) -> RawPrice {
        self.mid()
    }

    /// The heap memory that it uses, in bytes.
    fn held_bytes(&self) -> usize {
        0
    }
}
