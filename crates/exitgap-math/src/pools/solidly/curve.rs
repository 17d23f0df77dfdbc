//! The contract's arithmetic: 256-bit words, with every product and sum checked and every quotient rounded down.

use super::Solidly;
use crate::pools::Direction;
use crate::pools::fill::largest_taken;
use crate::wide::{U256, checked_mul_over, checked_times, over};

/// The contract's one, `10^18`.
pub(super) const ONE: U256 = U256::from_limbs([1_000_000_000_000_000_000, 0, 0, 0]);

/// Why the contract refuses an amount.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AmountRefusal {
    /// It pays nothing, or finds no balance that keeps its invariant. Other amounts may fill.
    Here,
    /// It cannot compute with this amount or any larger one.
    TooMuch,
}

/// `x·y·(x² + y²)`, scaled (`_f`); `None` if the contract reverts.
fn product(x: U256, y: U256) -> Option<U256> {
    let along = checked_mul_over(x, y, ONE)?;
    let squares = checked_mul_over(x, x, ONE)?.checked_add(checked_mul_over(y, y, ONE)?)?;
    checked_mul_over(along, squares, ONE)
}

/// Its derivative by `y` (`_d`).
fn slope(x: U256, y: U256) -> Option<U256> {
    let triple = checked_times(U256::from(3), x)?;
    let first = checked_mul_over(triple, checked_mul_over(y, y, ONE)?, ONE)?;
    let second = checked_mul_over(checked_mul_over(x, x, ONE)?, x, ONE)?;
    first.checked_add(second)
}

impl Solidly {
    /// `10^decimals` of a token.
    pub(super) fn unit(&self, token: usize) -> U256 {
        U256::from(10_u128.pow(self.decimals[token].into()))
    }

    /// A raw amount with eighteen decimals.
    fn scale_amount(&self, token: usize, raw: U256) -> Option<U256> {
        checked_mul_over(raw, ONE, self.unit(token))
    }

    /// Same for both reserves.
    pub(super) fn scaled_pair(&self, reserves: [U256; 2]) -> Option<[U256; 2]> {
        Some([self.scale_amount(0, reserves[0])?, self.scale_amount(1, reserves[1])?])
    }

    /// The invariant that no swap may lower (`_k`).
    pub(super) fn invariant_of(&self, reserves: [U256; 2]) -> Option<U256> {
        if self.scaled.is_none() {
            return checked_times(reserves[0], reserves[1]);
        }
        let [x, y] = self.scaled_pair(reserves)?;
        product(x, y)
    }

    /// The amount after the fee.
    fn without_fee(&self, amount_in: U256) -> Option<U256> {
        let fee = checked_times(amount_in, U256::from(self.fee_numerator))?;
        Some(amount_in - over(fee, U256::from(Self::FEE_DENOMINATOR)))
    }

    /// The output of `swap` for an amount: the contract's own quote, unless `swap` refuses it.
    pub(super) fn swap(
        &self,
        direction: Direction,
        amount_in: U256,
    ) -> Result<U256, AmountRefusal> {
        let out = self.quote(direction, amount_in)?;
        if out.is_zero() || out >= self.reserves[direction.quote_index()] {
            return Err(AmountRefusal::Here);
        }
        let after = self.after_swap(direction, amount_in, out).ok_or(AmountRefusal::TooMuch)?;
        let kept = self.invariant_of(after).ok_or(AmountRefusal::TooMuch)?;
        if kept < self.invariant { Err(AmountRefusal::Here) } else { Ok(out) }
    }

    fn quote(&self, direction: Direction, amount_in: U256) -> Result<U256, AmountRefusal> {
        let (base, quote) = (direction.base_index(), direction.quote_index());
        let left = self.without_fee(amount_in).ok_or(AmountRefusal::TooMuch)?;
        let Some(scaled) = self.scaled else {
            let [of_base, of_quote] = [base, quote].map(|token| self.reserves[token]);
            let sum = of_base.checked_add(left).ok_or(AmountRefusal::TooMuch)?;
            return checked_mul_over(left, of_quote, sum).ok_or(AmountRefusal::TooMuch);
        };
        let x = self.scale_amount(base, left).and_then(|left| left.checked_add(scaled[base]));
        let y = self.root(x.ok_or(AmountRefusal::TooMuch)?, scaled[quote])?;
        let freed = scaled[quote].checked_sub(y).ok_or(AmountRefusal::Here)?;
        checked_mul_over(freed, self.unit(quote), ONE).ok_or(AmountRefusal::TooMuch)
    }

    /// The scaled balance that keeps the invariant for `x`, from a first guess (`_get_y`).
    fn root(&self, x: U256, guess: U256) -> Result<U256, AmountRefusal> {
        let (much, target) = (AmountRefusal::TooMuch, self.invariant);
        let mut y = guess;
        for _ in 0..255 {
            let found = product(x, y).ok_or(much)?;
            let (distance, below) = (found.abs_diff(target), found < target);
            let slope = slope(x, y).ok_or(much)?;
            if slope.is_zero() {
                return Err(AmountRefusal::Here);
            }
            let mut step = checked_mul_over(distance, ONE, slope).ok_or(much)?;
            if step.is_zero() {
                if below {
                    let next = y.checked_add(U256::ONE).ok_or(much)?;
                    // This copies a mistake of the contract: these numbers already have eighteen decimals. It can make
                    // sales of few units fail as well as sales of many.
                    if self.invariant_of([x, next]).ok_or(AmountRefusal::Here)? > target {
                        return Ok(next);
                    }
                } else {
                    let less = || y.checked_sub(U256::ONE).ok_or(AmountRefusal::Here);
                    if found == target || product(x, less()?).ok_or(much)? < target {
                        return Ok(y);
                    }
                }
                step = U256::ONE;
            }
            y = if below {
                y.checked_add(step).ok_or(much)?
            } else {
                y.checked_sub(step).ok_or(AmountRefusal::Here)?
            };
        }
        Err(AmountRefusal::Here)
    }

    /// The reserves after a swap, without the fee, which is sent away. `None` if the contract reverts: it multiplies
    /// the fee by `10^18` to distribute it among its holders.
    pub(super) fn after_swap(
        &self,
        direction: Direction,
        amount_in: U256,
        amount_out: U256,
    ) -> Option<[U256; 2]> {
        let mut reserves = self.reserves;
        let (base, quote) = (direction.base_index(), direction.quote_index());
        let fee = amount_in - self.without_fee(amount_in)?;
        checked_times(fee, ONE)?;
        reserves[base] = reserves[base].checked_add(amount_in)? - fee;
        reserves[quote] = reserves[quote].checked_sub(amount_out)?;
        Some(reserves)
    }

    /// The reserve of the token bought that keeps the invariant if the token sold has reserve `reserve`, rounded down.
    pub(super) fn reserve_beside(&self, direction: Direction, reserve: U256) -> Option<U256> {
        let (base, quote) = (direction.base_index(), direction.quote_index());
        let Some(scaled) = self.scaled else {
            return crate::wide::mul_div(self.reserves[base], self.reserves[quote], reserve);
        };
        let y = self.root(self.scale_amount(base, reserve)?, scaled[quote]).ok()?;
        checked_mul_over(y, self.unit(quote), ONE)
    }

    /// The largest input that the contract can compute with.
    pub(super) fn most_taken(&self, direction: Direction) -> U256 {
        largest_taken(self.reserves[direction.base_index()], |amount| {
            self.swap(direction, amount) != Err(AmountRefusal::TooMuch)
        })
    }
}
