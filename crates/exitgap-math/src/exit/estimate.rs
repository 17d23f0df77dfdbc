//! One sale of a stated size.

use super::terms::{Terms, shortfall};
use super::{Exit, PricedPool};
use crate::pools::{Direction, FeeRate, Fill, FillError, RawPrice, SaleCurve};
use crate::units::{Decimal, Percent, SizeUsd, UsdMicros, UsdPrice};
use crate::wide::{U256, U512, U1024};

/// The result of a sale of `size`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Estimate {
    /// The requested size.
    pub size: SizeUsd,
    /// `⌊size ÷ oracle price⌋`, raw units of the token sold.
    pub amount_in: U256,
    /// The amount that the contract pays, in raw units of the token bought.
    pub amount_out: U256,
    /// `exit_gap_pct`.
    pub gap: Percent,
    /// The components of the gap.
    pub split: Split,
    /// The oracle's price: USD per whole token sold.
    pub oracle_price: Decimal,
    /// The realized price: USD per whole token sold, with the token bought valued at its oracle price.
    pub realized_price: Decimal,
    /// The pool's mid price before the sale: USD per whole token sold.
    pub mid_price: Decimal,
    /// The price of the next unit after the sale: USD per whole token sold, including the fee.
    pub marginal_price: Decimal,
    /// The number of initialised ticks crossed; `None` for pools without ticks.
    pub ticks_crossed: Option<u32>,
}

/// The three factors of a gap: `1 − gap = (1 − basis) × (1 − fee) × (1 − impact)`. This is exact for the rational
/// numbers; each factor is then rounded half-even to six decimals separately.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Split {
    /// How far the pool's mid price is below the oracle price.
    pub basis: Percent,
    /// The fee rate that this sale paid.
    pub fee: Percent,
    /// The loss from moving the price, including the contract's roundings.
    pub impact: Percent,
}

/// Why a sale of a size has no gap. There is then no number at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The size corresponds to less than one raw unit of the token sold.
    #[error("the size is worth less than one unit of the token sold, so it rounds to zero")]
    NoInput,
    /// The contract would pay nothing.
    #[error("the pool would pay less than one unit for this size, so the output rounds to zero")]
    NoOutput,
    /// The pool cannot take the whole size.
    #[error(
        "the recorded liquidity cannot fill this size; the most it fills is {max_fillable_usd} USD"
    )]
    BeyondLiquidity {
        /// The largest size that the pool fills, at most the largest allowed size; 0 if it fills none.
        max_fillable_usd: UsdMicros,
        /// The maximum amount that the pool takes, in raw units of the token sold.
        max_amount_in: U256,
        /// The amount that it pays for that, in raw units of the token bought.
        max_amount_out: U256,
    },
    /// The basis is a billion percent or more. The gap of a small sale would be as large, so no sale of this pool has a
    /// gap.
    #[error(
        "the pool price and the oracle price are too far apart for a percentage; one of them must be wrong"
    )]
    GapOutOfRange,
    /// A second order cannot be computed: for this kind of pool the state after the first order is unknown.
    #[error(
        "the state of this kind of pool after an order is not computed, so a second order cannot be computed"
    )]
    NotFollowed,
}

impl Refusal {
    /// The stable code, for example `beyond_liquidity`.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoInput => "rounds_to_no_input",
            Self::NoOutput => "rounds_to_no_output",
            Self::BeyondLiquidity { .. } => "beyond_liquidity",
            Self::GapOutOfRange => "gap_out_of_range",
            Self::NotFollowed => "orders_not_exact",
        }
    }
}

/// For prices without fee.
const NO_FEE: FeeRate = FeeRate { numerator: 0, denominator: 1 };

/// The values that all estimates of an exit share: the prices before anything is sold.
#[derive(Debug, Clone)]
pub(super) struct BeforeSale {
    /// `None` if it is a billion percent or more.
    basis: Option<Percent>,
    oracle_price: Decimal,
    mid_price: Decimal,
}

impl BeforeSale {
    pub(super) fn new(curve: &SaleCurve, terms: &Terms) -> Self {
        Self {
            basis: terms.basis(curve.mid()),
            oracle_price: terms.oracle_price(),
            mid_price: terms.usd(curve.mid(), NO_FEE),
        }
    }
}

impl Exit {
    /// Sells `size`: returns the exact fill and its gap, or why there is none.
    pub fn estimate(&self, size: SizeUsd) -> Result<Estimate, Refusal> {
        let fill = self.fill(self.amount_in(size)?)?;
        let fee = fill.fee;
        let gap = self.gap(&fill)?;
        let split = Split {
            basis: self.before.basis.ok_or(Refusal::GapOutOfRange)?,
            fee: fee_percent(fee),
            impact: impact(&fill, self.curve.mid(), fee).ok_or(Refusal::GapOutOfRange)?,
        };
        let realized = RawPrice {
            numerator: U512::from(fill.amount_out),
            denominator: U512::from(fill.amount_in),
        };
        Ok(Estimate {
            size,
            amount_in: fill.amount_in,
            amount_out: fill.amount_out,
            gap,
            split,
            oracle_price: self.before.oracle_price,
            realized_price: self.terms.usd(realized, NO_FEE),
            mid_price: self.before.mid_price,
            marginal_price: self.terms.usd(self.curve.mid_after(&fill), fee),
            ticks_crossed: fill.ticks_crossed(),
        })
    }

    /// How far the pool's mid price is below the oracle price; `None` if that is a billion percent or more.
    pub fn basis(&self) -> Option<Percent> {
        self.before.basis
    }

    /// How far a pool's mid price is below the oracle price; `None` if that is outside a percentage's bounds.
    pub fn mid_basis<'p>(pool: impl Into<PricedPool<'p>>, direction: Direction) -> Option<Percent> {
        Self::of_size(pool, direction, SizeUsd::MIN).basis()
    }

    /// `100 × (1 − mid ÷ price)`, rounded half-even: compares the pool's mid price with another price of the token sold
    /// instead of the oracle's. `pool` must be the pool of this exit. `None` if the result is outside a percentage's
    /// bounds.
    pub fn basis_to<'p>(
        &self,
        pool: impl Into<PricedPool<'p>>,
        base_usd: UsdPrice,
    ) -> Option<Percent> {
        let PricedPool { decimals, usd, .. } = pool.into();
        let direction = self.direction();
        let mut usd = *usd;
        usd[direction.base_index()] = base_usd;
        Terms::for_direction(direction, decimals, usd).basis(self.curve.mid())
    }

    /// The raw amount of the token sold that a size corresponds to; `None` if it exceeds 256 bits.
    pub fn amount_asked(&self, size: SizeUsd) -> Option<U256> {
        self.terms.amount_in(size)
    }

    /// Same as [`Self::amount_asked`], but returns the reason if there is nothing to sell.
    pub(super) fn amount_in(&self, size: SizeUsd) -> Result<U256, Refusal> {
        match self.terms.amount_in(size) {
            None => Err(self.beyond_liquidity()),
            Some(amount) if amount.is_zero() => Err(Refusal::NoInput),
            Some(amount) => Ok(amount),
        }
    }

    /// Sells a raw amount: returns what the contract pays, or why it pays nothing.
    pub fn fill(&self, amount_in: U256) -> Result<Fill, Refusal> {
        let fill = self.curve.fill(amount_in).map_err(|error| self.refusal(&error))?;
        if fill.amount_out.is_zero() { Err(Refusal::NoOutput) } else { Ok(fill) }
    }

    /// √price after a sale of one raw unit, whatever that brings; `None` if the pool does not take it, or has no such price.
    pub fn sqrt_price_after_one_unit(&self) -> Option<U256> {
        self.curve.fill(U256::from(1_u8)).ok()?.sqrt_price_after_x96()
    }

    pub(super) fn gap(&self, fill: &Fill) -> Result<Percent, Refusal> {
        self.terms.gap(fill.amount_in, fill.amount_out).ok_or(Refusal::GapOutOfRange)
    }

    pub(super) fn refusal(&self, error: &FillError) -> Refusal {
        match error {
            FillError::ZeroInput => Refusal::NoInput,
            FillError::ZeroOutput => Refusal::NoOutput,
            FillError::BeyondLiquidity { consumed, paid } => self.beyond(*consumed, *paid),
        }
    }

    fn beyond_liquidity(&self) -> Refusal {
        let (most, paid) = self.curve.most();
        self.beyond(most, paid)
    }

    /// The refusal for a pool state that takes at most these amounts.
    fn beyond(&self, max_amount_in: U256, max_amount_out: U256) -> Refusal {
        let max_fillable_usd = self.largest_filled(max_amount_in).map_or(UsdMicros(0), Into::into);
        Refusal::BeyondLiquidity { max_fillable_usd, max_amount_in, max_amount_out }
    }

    /// The largest size that a pool fills if it takes at most this amount. A request for that size is not refused
    /// again.
    fn largest_filled(&self, max_amount_in: U256) -> Option<SizeUsd> {
        self.before.basis?;
        let size = SizeUsd::from_micros(self.terms.largest_size_within(max_amount_in)).ok()?;
        // A smaller amount never pays more: if the largest one pays nothing, no amount pays anything.
        let fill = self.curve.fill(self.terms.amount_in(size)?).ok()?;
        (!fill.amount_out.is_zero()).then_some(size)
    }

    /// Whether no sale has a gap because the pool's own price is out of range for a percentage.
    pub(super) fn has_no_gap(&self) -> bool {
        self.before.basis.is_none()
    }
}

fn fee_percent(fee: FeeRate) -> Percent {
    let kept = U1024::from(fee.denominator - fee.numerator);
    shortfall(kept, U1024::from(fee.denominator)).unwrap_or(Percent(0))
}

/// `1 − impact = (out ÷ in) ÷ (mid × (1 − fee))`.
fn impact(fill: &Fill, mid: RawPrice, fee: FeeRate) -> Option<Percent> {
    let kept = U1024::from(fee.denominator - fee.numerator);
    shortfall(
        U1024::from(fill.amount_out) * U1024::from(mid.denominator) * U1024::from(fee.denominator),
        U1024::from(fill.amount_in) * U1024::from(mid.numerator) * kept,
    )
}
