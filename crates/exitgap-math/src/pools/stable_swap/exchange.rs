//! One exchange: what the contract transfers, and the balances it keeps.
//!
//! Source: `exchange` of `StableSwap3Pool.vy`, `StableSwapSUSD.vy` and `StableSwapNG.vy`, the last
//! with the upkeep of its price oracle, which divides by the new balances and thus can refuse.

use super::invariant::{AmountRefusal, Root};
use super::{FEE_DENOMINATOR, RATE_ONE, StableSwap};
use crate::pools::stable_curve::n_pow_n;
use crate::wide::{U256, checked_over, checked_times, over, times};

/// An exchange that goes through.
#[derive(Debug, Clone, Copy)]
pub(super) struct Exchange {
    /// Raw units paid.
    pub out: U256,
    /// The fee's rate, parts of `10^10`.
    pub fee: u64,
    /// Balance of the coin sold afterwards, and of the coin bought, scaled to 18 decimals.
    x: U256,
    root: Root,
    /// Fee kept, scaled.
    fee_kept: U256,
}

/// What the amounts of a range have in common.
#[derive(Debug, Clone, Copy)]
pub(super) struct Range {
    /// A fee at or below that of each.
    pub fee: u64,
    /// A scaled balance of the coin bought at or below what each leaves; `None` where the largest
    /// leaves none that is found.
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

    /// The scaled balance of the coin sold, and what it leaves of the other, searched for from a start.
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

    /// What the amounts from `low` to `high` have in common, neither of which is too much.
    pub(super) fn range(&self, sold: usize, bought: usize, low: U256, high: U256) -> Range {
        let fee = self.fee;
        let Some(d) = self.invariant else { return Range { fee, least_left: None } };
        // Every sale leaves less than there is: nearer than where the contract starts. Of a larger `D` it
        // computes nothing.
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

    /// No amount of a range pays more than this.
    pub(super) fn paid_in(&self, range: &Range, bought: usize) -> U256 {
        let freed = |y| self.scaled[bought].checked_sub(y + self.less());
        let Some(dy) = range.least_left.and_then(freed) else { return U256::ZERO };
        let left = fee_of(dy, range.fee).map(|kept| dy - kept);
        left.and_then(|left| self.paid(left, bought)).unwrap_or(U256::MAX)
    }

    /// What the contract takes off the balance beside the root: one, but in the oldest.
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

    /// A fee at or below that of every exchange that leaves the coin sold between two balances,
    /// and the coin bought between two: it is least where both are alike.
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

    /// Balances after an exchange, and what was added to the administrator's of the coin bought.
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
            // The oldest contracts write the scaled balances back.
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

    /// What the contract computes for its price oracle after an exchange; `None` where that fails
    /// and takes the exchange with it.
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
        // It packs D into 128 bits.
        (d.bit_len() <= 128).then_some(())
    }

    /// The balance of coin `bought`, raw, that keeps the invariant where coin `sold` has `balance`
    /// raw units.
    pub(super) fn balance_beside(&self, sold: usize, bought: usize, balance: U256) -> Option<U256> {
        let x = over(checked_times(balance, self.rates[sold])?, RATE_ONE);
        let root = self.form.root(&self.scaled, self.invariant?, (sold, x), bought).ok()?;
        self.paid(root.y, bought)
    }
}

/// A share of an amount, in parts of `10^10`, rounded down.
fn fee_of(amount: U256, fee: u64) -> Option<U256> {
    Some(over(checked_times(amount, U256::from(fee))?, U256::from(FEE_DENOMINATOR)))
}

/// `_dynamic_fee`: grows as the two balances fall apart. `None` where the contract refuses.
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
