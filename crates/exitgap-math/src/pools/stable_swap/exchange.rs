//! One exchange: the amount that the contract transfers, and its new balances.
//!
//! Source: `exchange` of `StableSwap3Pool.vy`, `StableSwapSUSD.vy` and `StableSwapNG.vy`. The last one also updates its
//! price oracle, which divides by the new balances and so can revert.

use super::invariant::{AmountRefusal, Root};
use super::{FEE_DENOMINATOR, RATE_ONE, StableSwap};
use crate::pools::stable_curve::n_pow_n;
use crate::wide::{U256, checked_over, checked_times, over, times};

/// A successful exchange.
#[derive(Debug, Clone, Copy)]
pub(super) struct Exchange {
    /// Raw units paid.
    pub out: U256,
    /// The fee's rate, in parts of `10^10`.
    pub fee: u64,
    /// The new balances of the coin sold and the coin bought, scaled to 18 decimals.
    x: U256,
    root: Root,
    /// The fee that the pool keeps, scaled.
    fee_kept: U256,
}

/// Common bounds for the amounts of a range.
#[derive(Debug, Clone, Copy)]
pub(super) struct Range {
    /// A lower bound of the fees of all amounts.
    pub fee: u64,
    /// A lower bound of the remaining scaled balance of the coin bought; `None` if the balance after the largest amount
    /// cannot be computed.
    least_left: Option<U256>,
}

impl StableSwap {
    /// Exchanges `amount_in` of coin `sold`.
    pub(super) fn exchange(
        &self,
        sold: usize,
        bought: usize,
        amount_in: U256,
    ) -> Result<Exchange, AmountRefusal> {
        let d = self.invariant.ok_or(AmountRefusal::TooMuch)?;
        let (x, root) = self.solve_balances(sold, bought, amount_in, (d, d))?;
        let kept = root.y.checked_add(self.less()).ok_or(AmountRefusal::TooLittle)?;
        let dy = self.scaled[bought].checked_sub(kept).ok_or(AmountRefusal::TooLittle)?;
        let fee = self.fee_at((sold, x), (bought, root.y)).ok_or(AmountRefusal::TooMuch)?;
        let fee_kept = fee_of(dy, fee).ok_or(AmountRefusal::TooMuch)?;
        let out = self.paid(dy - fee_kept, bought).ok_or(AmountRefusal::TooMuch)?;
        let exchange = Exchange { out, fee, x, root, fee_kept };
        self.balances_after(sold, bought, amount_in, &exchange).ok_or(AmountRefusal::TooMuch)?;
        if self.ng.is_some() {
            self.upkeep(sold, bought, &exchange, d).ok_or(AmountRefusal::TooMuch)?;
        }
        Ok(exchange)
    }

    /// The scaled balance of the coin sold, and the remaining balance of the other coin, searched from a start value.
    fn solve_balances(
        &self,
        sold: usize,
        bought: usize,
        amount_in: U256,
        (d, start): (U256, U256),
    ) -> Result<(U256, Root), AmountRefusal> {
        let added = checked_times(amount_in, self.rates[sold]).ok_or(AmountRefusal::TooMuch)?;
        let x =
            self.scaled[sold].checked_add(over(added, RATE_ONE)).ok_or(AmountRefusal::TooMuch)?;
        Ok((x, self.form.root_from(start, &self.scaled, d, (sold, x), bought)?))
    }

    /// Common bounds for the amounts from `low` to `high`, both of which must be acceptable.
    pub(super) fn range(&self, sold: usize, bought: usize, low: U256, high: U256) -> Range {
        let fee = self.fee;
        let Some(d) = self.invariant else { return Range { fee, least_left: None } };
        // Every sale leaves less than the current balance, so this start is closer than the contract's. The contract
        // computes nothing for a larger `D`.
        let near = self.fee_varies() && d.bit_len() < 128;
        let from = (d, if near { self.scaled[bought].min(d) } else { d });
        let Ok((x_high, at_high)) = self.solve_balances(sold, bought, high, from) else {
            return Range { fee, least_left: None };
        };
        let y_low = at_high.rounded_down(d);
        let least_left = Some(y_low);
        let at_low = if self.fee_varies() {
            self.solve_balances(sold, bought, low, from).ok()
        } else {
            None
        };
        let Some((x_low, at_low)) = at_low else { return Range { fee, least_left } };
        // The iteration ends at most two above the root.
        let y_high = at_low.rounded_down(d).saturating_add(U256::from(2));
        let fee = self.least_fee_between((sold, x_low, x_high), (bought, y_low, y_high));
        Range { fee, least_left }
    }

    /// The maximum output of all amounts of a range.
    pub(super) fn paid_in(&self, range: &Range, bought: usize) -> U256 {
        let freed = |y| self.scaled[bought].checked_sub(y + self.less());
        let Some(dy) = range.least_left.and_then(freed) else { return U256::ZERO };
        let left = fee_of(dy, range.fee).map(|kept| dy - kept);
        left.and_then(|left| self.paid(left, bought)).unwrap_or(U256::MAX)
    }

    /// The amount that the contract subtracts besides the root: one, except in the oldest contracts.
    fn less(&self) -> U256 {
        U256::from(u8::from(self.less_one))
    }

    /// Scaled units in raw units of a coin, rounded down.
    fn paid(&self, scaled: U256, coin: usize) -> Option<U256> {
        checked_over(checked_times(scaled, RATE_ONE)?, self.rates[coin])
    }

    /// The fee of an exchange that leaves these balances.
    fn fee_at(&self, (sold, x): (usize, U256), (bought, y): (usize, U256)) -> Option<u64> {
        let Some(ng) = &self.ng else { return Some(self.fee) };
        let a = self.scaled[sold].checked_add(x)? >> 1;
        let b = self.scaled[bought].checked_add(y)? >> 1;
        dynamic_fee(a, b, self.fee, ng.offpeg_fee_multiplier)
    }

    /// A lower bound of the fee of every exchange that leaves the balance of the coin sold and that of the coin bought
    /// within these ranges. The fee is lowest if both balances are equal.
    fn least_fee_between(
        &self,
        (sold, x_low, x_high): (usize, U256, U256),
        (bought, y_low, y_high): (usize, U256, U256),
    ) -> u64 {
        let Some(ng) = &self.ng else { return self.fee };
        let a = [x_low, x_high].map(|x| self.scaled[sold].saturating_add(x) >> 1);
        let b = [y_low, y_high].map(|y| self.scaled[bought].saturating_add(y) >> 1);
        let nearest = if a[1] < b[0] {
            (a[1], b[0])
        } else if a[0] > b[1] {
            (a[0], b[1])
        } else {
            return self.fee;
        };
        dynamic_fee(nearest.0, nearest.1, self.fee, ng.offpeg_fee_multiplier).unwrap_or(self.fee)
    }

    /// Whether the fee depends on the size.
    pub(super) fn fee_varies(&self) -> bool {
        self.ng.as_ref().is_some_and(|ng| ng.offpeg_fee_multiplier > FEE_DENOMINATOR)
    }

    /// The balances after an exchange, and the amount added to the administrator's balance of the coin bought.
    pub(super) fn balances_after(
        &self,
        sold: usize,
        bought: usize,
        amount_in: U256,
        exchange: &Exchange,
    ) -> Option<(Vec<U256>, U256)> {
        let mut balances = self.balances.clone();
        let admin = fee_of(exchange.fee_kept, self.admin_fee)?;
        if !self.less_one {
            // The oldest contracts write back the scaled balances.
            let left = exchange.root.y.checked_add(exchange.fee_kept - admin)?;
            balances[sold] = checked_over(checked_times(exchange.x, RATE_ONE)?, self.rates[sold])?;
            balances[bought] = self.paid(left, bought)?;
            return Some((balances, U256::ZERO));
        }
        let admin = self.paid(admin, bought)?;
        balances[sold] = balances[sold].checked_add(amount_in)?;
        balances[bought] = balances[bought].checked_sub(exchange.out)?.checked_sub(admin)?;
        Some((balances, admin))
    }

    /// The contract's computation for its price oracle after an exchange; `None` if it fails, which reverts the
    /// exchange.
    fn upkeep(&self, sold: usize, bought: usize, exchange: &Exchange, d: U256) -> Option<()> {
        let balance = |coin: usize| match coin {
            coin if coin == sold => exchange.x,
            coin if coin == bought => exchange.root.y,
            coin => self.scaled[coin],
        };
        let coins = self.scaled.len();
        let mut product = over(d, n_pow_n(coins));
        for coin in 0..coins {
            product = checked_over(checked_times(product, d)?, balance(coin))?;
        }
        let first = balance(0);
        let along = over(
            checked_times(U256::from(self.form.ann), first)?,
            U256::from(self.form.a_precision),
        );
        let down = along.checked_add(product)?;
        for coin in 1..coins {
            let part = checked_over(checked_times(product, first)?, balance(coin))?;
            checked_over(checked_times(RATE_ONE, along.checked_add(part)?)?, down)?;
        }
        // The contract packs D into 128 bits.
        (d.bit_len() <= 128).then_some(())
    }

    /// The raw balance of coin `bought` that keeps the invariant if coin `sold` has `balance` raw units.
    pub(super) fn balance_beside(&self, sold: usize, bought: usize, balance: U256) -> Option<U256> {
        let x = over(checked_times(balance, self.rates[sold])?, RATE_ONE);
        let root = self.form.root(&self.scaled, self.invariant?, (sold, x), bought).ok()?;
        self.paid(root.y, bought)
    }
}

/// The fee of an amount, with a rate in parts of `10^10`, rounded down.
fn fee_of(amount: U256, fee: u64) -> Option<U256> {
    Some(over(checked_times(amount, U256::from(fee))?, U256::from(FEE_DENOMINATOR)))
}

/// `_dynamic_fee`: increases as the two balances become unequal. `None` if the contract reverts.
fn dynamic_fee(a: U256, b: U256, fee: u64, multiplier: u64) -> Option<u64> {
    if multiplier <= FEE_DENOMINATOR {
        return Some(fee);
    }
    let sum = a.checked_add(b)?;
    let square = checked_times(sum, sum)?;
    let above = times(U256::from(multiplier - FEE_DENOMINATOR), U256::from(4));
    let alike = checked_over(checked_times(checked_times(above, a)?, b)?, square)?;
    let up = times(U256::from(multiplier), U256::from(fee));
    let rate = over(up, alike.checked_add(U256::from(FEE_DENOMINATOR))?);
    Some(rate.saturating_to::<u64>())
}
