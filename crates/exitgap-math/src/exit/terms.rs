//! The parameters of an exit: oracle prices and decimals, reduced to two integers.

use super::PricedPool;
use crate::pools::{Direction, FeeRate, RawPrice};
use crate::units::{Decimal, GapLimit, Percent, SizeUsd, UsdPrice, round_half_even};
use crate::wide::{U256, U512, U1024, narrow, power_of_ten, product};

/// `10^8`: the number 1 in millionths of a percent.
const ONE_E8: u64 = 100_000_000;

/// Compares fills with the oracle price exactly.
///
/// Bounds: an oracle numerator is at most `10^72`, and the decimals of token and oracle sum to at most 108, so each
/// value below is less than `2^600`, and every product with an amount and a scale stays below `2^960`.
#[derive(Debug, Clone)]
pub(super) struct Terms {
    /// The value of one raw unit of the token bought …
    quote_value: U1024,
    /// … and of one raw unit of the token sold, in the same unit.
    base_value: U1024,
    /// `amount_in = ⌊size in micro-dollars × size_scale.0 ÷ size_scale.1⌋`.
    size_scale: (U512, U512),
    base_usd: UsdPrice,
    /// `USD per whole base token = raw price × usd_scale.0 ÷ usd_scale.1`.
    usd_scale: (U1024, U1024),
}

impl Terms {
    /// The parameters of one direction. Decimals and prices are those of token 0 and token 1.
    pub(super) fn for_direction(
        direction: Direction,
        decimals: [u8; 2],
        usd: [UsdPrice; 2],
    ) -> Self {
        let (base, quote) = (direction.base_index(), direction.quote_index());
        Self::new(usd[base], decimals[base], usd[quote], decimals[quote])
    }

    /// Same for a pool with its prices.
    pub(super) fn of_priced(pool: PricedPool<'_>, direction: Direction) -> Self {
        Self::for_direction(direction, pool.decimals, *pool.usd)
    }

    pub(super) fn new(
        base_usd: UsdPrice,
        base_decimals: u8,
        quote_usd: UsdPrice,
        quote_decimals: u8,
    ) -> Self {
        let base_decimals = u32::from(base_decimals.min(36));
        let quote_decimals = u32::from(quote_decimals.min(36));
        // out · q ÷ 10^(qd+qo)  against  in · b ÷ 10^(bd+bo)
        let quote_exponent = base_decimals + base_usd.decimals();
        let base_exponent = quote_decimals + quote_usd.decimals();
        let common = quote_exponent.min(base_exponent);
        let (quote_value, base_value) = reduce_fraction(
            U1024::from(quote_usd.numerator()) * power_of_ten(quote_exponent - common),
            U1024::from(base_usd.numerator()) * power_of_ten(base_exponent - common),
        );
        let (scale, per) = reduce_fraction(
            power_of_ten(quote_exponent),
            U1024::from(base_usd.numerator()) * power_of_ten(6),
        );
        let usd_scale = reduce_fraction(
            U1024::from(quote_usd.numerator()) * power_of_ten(base_decimals),
            power_of_ten(base_exponent),
        );
        // 10^108 and 10^78 fit 512 bits.
        let size_scale = (truncate_to_u512(scale), truncate_to_u512(per));
        Self { quote_value, base_value, size_scale, base_usd, usd_scale }
    }

    /// The oracle price of the base token.
    pub(super) fn oracle_price(&self) -> Decimal {
        self.base_usd.to_decimal()
    }

    /// `⌊size ÷ oracle price⌋` in raw units of the base token; `None` if it exceeds 256 bits.
    pub(super) fn amount_in(&self, size: SizeUsd) -> Option<U256> {
        narrow(U512::from(size.micros()) * self.size_scale.0 / self.size_scale.1)
    }

    /// The largest size in micro-dollars whose [`Terms::amount_in`] is at most `amount`, capped at the largest allowed
    /// size. The result may be below the smallest allowed size.
    pub(super) fn largest_size_within(&self, amount: U256) -> u64 {
        let above = (U1024::from(amount) + U1024::ONE) * U1024::from(self.size_scale.1);
        let micros = (above - U1024::ONE) / U1024::from(self.size_scale.0);
        narrow(micros).map_or(u64::MAX, |n| n.saturating_to::<u64>()).min(SizeUsd::MAX.micros())
    }

    /// Raw units of the base token per `step` micro-dollars, as a fraction.
    pub(super) fn size_scale(&self, step: u64) -> (U512, U512) {
        // 359 and 64 bits.
        (self.size_scale.0 * U512::from(step), self.size_scale.1)
    }

    /// `100 × (1 − realized ÷ oracle)`, rounded half-even; `None` if it is outside a percentage's bounds.
    pub(super) fn gap(&self, amount_in: U256, amount_out: U256) -> Option<Percent> {
        let realized = U1024::from(amount_out) * self.quote_value;
        shortfall(realized, U1024::from(amount_in) * self.base_value)
    }

    /// `100 × out · quote ÷ (in · base)`, rounded half-even; `None` if it is outside a percentage's bounds.
    pub(super) fn share(&self, amount_in: U256, amount_out: U256) -> Option<Percent> {
        let sold = U1024::from(amount_in) * self.base_value;
        if sold.is_zero() {
            return None;
        }
        // Below 2^957. The hundred million of a percentage adds 27 bits.
        let part = U1024::from(amount_out) * self.quote_value * U1024::from(ONE_E8);
        let share = i128::try_from(narrow(round_half_even(part, sold))?).ok()?;
        (share < Percent::BOUND).then_some(Percent(share))
    }

    /// The value in micro-dollars at the oracle price, rounded down and capped.
    pub(super) fn worth(&self, amount_in: U256) -> u64 {
        let micros = U1024::from(amount_in) * U1024::from(self.size_scale.1)
            / U1024::from(self.size_scale.0);
        narrow(micros).map_or(u64::MAX, |micros| micros.saturating_to())
    }

    /// `100 × (1 − mid ÷ oracle)`, half-even.
    pub(super) fn basis(&self, mid: RawPrice) -> Option<Percent> {
        let mid_value = U1024::from(mid.numerator) * self.quote_value;
        shortfall(mid_value, U1024::from(mid.denominator) * self.base_value)
    }

    /// USD per whole base token at a raw price, minus a fee.
    pub(super) fn usd(&self, price: RawPrice, fee: FeeRate) -> Decimal {
        let kept = U1024::from(fee.denominator - fee.numerator);
        Decimal::of_ratio(
            U1024::from(price.numerator) * kept * self.usd_scale.0,
            U1024::from(price.denominator) * U1024::from(fee.denominator) * self.usd_scale.1,
        )
    }

    /// The gap limit as a test that can be applied to many fills.
    pub(super) fn threshold(&self, limit: GapLimit) -> Threshold {
        // gap ≤ limit  ⇔  out · quote_value · 10^8 ≥ in · base_value · (10^8 − limit)
        let kept = ONE_E8.saturating_add_signed(-limit.millionths());
        let (out_weight, in_weight) = reduce_fraction(
            self.quote_value * U1024::from(ONE_E8),
            self.base_value * U1024::from(kept),
        );
        match (narrow(out_weight), narrow(in_weight)) {
            (Some(out_weight), Some(in_weight)) => Threshold::Narrow { out_weight, in_weight },
            _ => Threshold::Wide { out_weight, in_weight },
        }
    }
}

/// The gap limit measured against a pool's own mid price instead of the oracle price.
pub(super) fn threshold_from_mid(mid: RawPrice, limit: GapLimit) -> Threshold {
    // out ÷ in ≥ mid · (1 − limit); both terms of a price are below 2^320.
    let kept = ONE_E8.saturating_add_signed(-limit.millionths());
    let out_weight = U1024::from(mid.denominator) * U1024::from(ONE_E8);
    let in_weight = U1024::from(mid.numerator) * U1024::from(kept);
    match (narrow(out_weight), narrow(in_weight)) {
        (Some(out_weight), Some(in_weight)) => Threshold::Narrow { out_weight, in_weight },
        _ => Threshold::Wide { out_weight, in_weight },
    }
}

/// A gap limit as two integer weights: a fill passes if `out × out_weight ≥ in × in_weight`.
#[derive(Debug, Clone)]
pub(super) enum Threshold {
    Narrow { out_weight: U256, in_weight: U256 },
    Wide { out_weight: U1024, in_weight: U1024 },
}

impl Threshold {
    /// Whether the fill's exact gap is at most the limit.
    pub(super) fn passes(&self, amount_in: U256, amount_out: U256) -> bool {
        match self {
            Self::Narrow { out_weight, in_weight } => {
                product(amount_out, *out_weight) >= product(amount_in, *in_weight)
            }
            Self::Wide { out_weight, in_weight } => {
                U1024::from(amount_out) * out_weight >= U1024::from(amount_in) * in_weight
            }
        }
    }

    /// [`Threshold::passes`] for amounts of up to 340 bits.
    pub(super) fn passes_wide(&self, amount_in: U1024, amount_out: U1024) -> bool {
        let (out_weight, in_weight) = self.weights();
        amount_out * out_weight >= amount_in * in_weight
    }

    /// The weights of output and input.
    pub(super) fn weights(&self) -> (U1024, U1024) {
        match self {
            Self::Narrow { out_weight, in_weight } => {
                (U1024::from(*out_weight), U1024::from(*in_weight))
            }
            Self::Wide { out_weight, in_weight } => (*out_weight, *in_weight),
        }
    }

    /// The largest input that passes with this output.
    pub(super) fn largest_input(&self, amount_out: U256) -> U256 {
        let quotient = match self {
            Self::Narrow { in_weight, .. } if in_weight.is_zero() => None,
            Self::Narrow { out_weight, in_weight } => {
                narrow(product(amount_out, *out_weight) / U512::from(*in_weight))
            }
            Self::Wide { in_weight, .. } if in_weight.is_zero() => None,
            Self::Wide { out_weight, in_weight } => {
                narrow(U1024::from(amount_out) * out_weight / in_weight)
            }
        };
        quotient.unwrap_or(U256::MAX)
    }

    /// Whether selling one more unit at `price` minus `fee` moves a passing fill further above the limit.
    pub(super) fn improves_at(&self, price: RawPrice, fee: FeeRate) -> bool {
        let (out_weight, in_weight) = self.weights();
        let kept = U1024::from(fee.denominator - fee.numerator);
        U1024::from(price.numerator) * kept * out_weight
            > U1024::from(price.denominator) * U1024::from(fee.denominator) * in_weight
    }
}

/// `100 × (1 − part ÷ whole)` in millionths of a percent, computed exactly and rounded half-even; `None` if it is
/// outside a percentage's bounds.
pub(super) fn shortfall(part: U1024, whole: U1024) -> Option<Percent> {
    let (distance, better) =
        if part > whole { (part - whole, true) } else { (whole - part, false) };
    let magnitude = narrow(round_half_even(distance * U1024::from(ONE_E8), whole))?;
    let magnitude = i128::try_from(magnitude).ok().filter(|n| *n < Percent::BOUND)?;
    Some(Percent(if better { -magnitude } else { magnitude }))
}

/// Both numbers divided by their greatest common divisor.
fn reduce_fraction(a: U1024, b: U1024) -> (U1024, U1024) {
    let divisor = a.gcd(b);
    if divisor.is_zero() { (a, b) } else { (a / divisor, b / divisor) }
}

/// The low 512 bits. The caller must ensure that no higher bits are set.
fn truncate_to_u512(wide: U1024) -> U512 {
    U512::low_bits_of(wide.as_limbs())
}
