//! The laws of a kind of pool: what its folder states, and what everything after relies on.
//!
//! A kind is two types: its *state*, a [`PoolKind`] with its [`StateForm`], and one direction of it
//! prepared for many questions, its [`Sale`]. The names of all kinds stand in `kinds.rs`, and nowhere else.

use super::kinds::OneSale;
use super::{Direction, Fill, FillError, FillStep, PoolState, RawPrice, SaleCurve, Segment};
use crate::ids::Pair;
use crate::json::{Fields, Json};
use crate::pools::{FeeRate, PoolFee, StateError};
use crate::wide::{U256, U512};

/// A kind's state body: its fields as canonical JSON.
pub(super) trait StateForm: Sized {
    /// What the body's `protocol` says. It stands for the fields and for the arithmetic: a pool
    /// that fills by other rules is another protocol, one that only is read otherwise is not.
    const PROTOCOL: &'static str;

    /// Takes the kind's own fields of a state body.
    fn from_fields(fields: &mut Fields<'_, '_>) -> Result<Self, StateError>;

    /// The same fields: reading what was written gives the same state.
    fn to_fields(&self) -> Vec<(&'static str, Json<'_>)>;
}

/// A kind of pool: the whole of its contract's state that a fill needs, checked when made.
pub(super) trait PoolKind: StateForm + Clone {
    /// One direction of it. Kinds whose curves are made alike may share it.
    type Sale: Sale;

    /// How many tokens it pools.
    fn coins(&self) -> usize {
        2
    }

    /// Whether its contract keeps its tokens in the order of their addresses.
    fn sorts_tokens(&self) -> bool {
        true
    }

    /// The decimals of its tokens, where the contract keeps them.
    fn decimals(&self) -> &[u8] {
        &[]
    }

    /// The same pool, asked about this pair of its tokens, which it has.
    #[must_use]
    fn of_pair(self, _pair: Pair) -> Self {
        self
    }

    /// What its contract takes of a sale, without what a protocol takes beside it.
    fn fee(&self) -> PoolFee;

    /// Which of several forms of its kind it is, where there are several, as people call it.
    fn variety(&self) -> Option<&'static str> {
        None
    }

    /// One direction, whole.
    fn sale(&self, direction: Direction) -> Self::Sale;

    /// The start of a direction, as much of it as `enough` asks for: that is shown ever longer
    /// starts, the last of which may be the whole. What lies past its end is unknown to it.
    fn start_of_sale(&self, direction: Direction, _enough: &dyn Fn(&SaleCurve) -> bool) -> SaleCurve
    where
        Self: SaleVariant<Self::Sale>,
    {
        SaleCurve(Self::wrap_sale(self.sale(direction)))
    }

    /// What [`Sale::fill`] answers, without preparing anything.
    fn fill_once(&self, direction: Direction, amount_in: U256) -> Result<Fill, FillError>;

    /// The state after a fill, which came from this state in this direction. It is a state that
    /// the contract can hold.
    fn after(&self, direction: Direction, fill: &Fill) -> Self;

    /// Whether the state after a fill is the contract's. Where it is not, [`PoolKind::after`] is only
    /// near it, and no second fill is asked of it.
    fn is_followed(&self) -> bool {
        true
    }

    /// See [`PoolState::with_recovery`]. The start is of the same pool, and thus of the same kind.
    fn with_recovery(&self, start: &PoolState, direction: Direction, recovered_e8: u32) -> Self;

    /// The bytes it holds beside itself.
    fn held_bytes(&self) -> usize {
        0
    }

    /// The most bytes that a prepared direction can hold beside itself.
    fn sale_bytes_at_most(&self, _direction: Direction) -> usize {
        0
    }
}

/// A kind's place in the list of `kinds.rs`, where its directions are of type `S`.
pub(super) trait SaleVariant<S> {
    /// A direction of it, as one of a pool of some kind.
    fn wrap_sale(sale: S) -> OneSale;

    /// The direction, where it is of this kind.
    fn sale_in(one: &mut OneSale) -> Option<&mut S>;
}

/// One direction of a pool: what any amount of the token sold fills at, and what is needed to
/// find the largest amount that fills well enough.
///
/// The whole curve is cut into *segments*, each with one formula. The search for sizes
/// (`exit/max_size`) rests on these laws, which its tests try:
///
/// - The output never falls where the input grows, inside a segment and from one to the next, but
///   for what [`Sale::out_at_most`] says.
/// - [`Sale::ideal_within`] is concave in what is added, and never below what is paid.
/// - A swap without any rounding is concave over the whole curve, and all roundings up to a
///   segment's start keep the output below it by less than [`Sale::rounding_before`].
///
/// What has an answer here is so of every curve that is one segment.
pub(super) trait Sale {
    /// The direction this was prepared for.
    fn direction(&self) -> Direction;

    /// The mid price before anything is sold: what an infinitely small sale would fill at
    /// without fee.
    fn mid(&self) -> RawPrice;

    /// The mid price after `fill`, which came from this sale.
    fn mid_after(&self, fill: &Fill) -> RawPrice;

    /// The least fee that any fill pays.
    fn least_fee(&self) -> FeeRate;

    /// Sells `amount_in` raw units: what the contract's swap transfers, to the unit (not what a
    /// view of it quotes), and the fee that this fill paid.
    fn fill(&self, amount_in: U256) -> Result<Fill, FillError>;

    /// The same sale, step by step; the steps' amounts add up to the fill's.
    fn fill_steps(&self, amount_in: U256) -> Result<Vec<FillStep>, FillError> {
        Ok(vec![FillStep::whole(&self.fill(amount_in)?)])
    }

    /// Whether a search for sizes can rest on the laws above.
    fn is_sized(&self) -> bool {
        true
    }

    /// The largest input the pool takes whole, and what it pays for it.
    fn most(&self) -> (U256, U256);

    /// How many segments there are.
    fn segment_count(&self) -> usize {
        1
    }

    /// Segment `index`, counted from the start of the sale.
    fn segment(&self, index: usize) -> Segment;

    /// Output for an input inside segment `index`: after its start and not past its end.
    fn out_within(&self, index: usize, amount_in: U256) -> U256;

    /// No amount from `low` to `high`, both inside segment `index`, pays more than this. Where
    /// the output never falls, it is `out`, what `high` pays.
    fn out_at_most(&self, _index: usize, _low: U256, _high: U256, out: U256) -> U256 {
        out
    }

    /// What no amount from `low` to `high`, both inside segment `index`, pays more than, as
    /// [`Sale::out_at_most`] says it; `None` where `fails` says of what the segment's formula adds for
    /// `low` ([`Sale::ideal_within`]), but at the least fee of them all, that it fails a limit: then it
    /// fails it up to `high`.
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

    /// Whether the gap may fall where the size grows by more than roundings make it: where the fee
    /// depends on the size, or the formula has branches. The search then divides a segment by what
    /// [`Sale::most_between`] says of its parts, and [`Sale::ideal_within`] may be more than what is
    /// concave.
    fn divides(&self) -> bool {
        false
    }

    /// Whether where a segment's formula meets a limit is looked for by secants, not by halves, because
    /// the formula takes long. It decides how many comparisons a search makes, and so belongs to the
    /// method.
    fn by_secants(&self) -> bool {
        false
    }

    /// What `added` to the start of segment `index` pays by the segment's formula without any
    /// rounding, in units of `2^-64`, rounded up. Never below what [`Sale::out_within`] adds to the
    /// segment's `out_start`.
    fn ideal_within(&self, index: usize, added: U256) -> U512;

    /// The fee, where what it leaves of an input inside a segment is rounded down to whole units
    /// before it moves the price.
    fn fee_rounded_first(&self) -> Option<FeeRate>;

    /// How far, in raw output units, all roundings up to the start of segment `index` can have
    /// kept the output below the swap's without rounding: that pays, for the segment's `in_start`,
    /// less than its `out_start` plus this. `index` may be one past the last segment.
    fn rounding_before(&self, _index: usize) -> U256 {
        U256::ZERO
    }

    /// The mid price at the start of segment `index`.
    fn mid_at_start(&self, _index: usize) -> RawPrice {
        self.mid()
    }

    /// The bytes it holds beside itself.
    fn held_bytes(&self) -> usize {
        0
    }
}
