//! The invariant `D` and the balance that keeps it, by Newton's iteration like in the contracts: 256-bit words, with
//! every product and sum checked and every quotient rounded down.
//!
//! Source: `StableSwap3Pool.vy`, `StableSwapSUSD.vy`, `Plain2Basic.vy` and
//! `StableSwapNG.vy` (`get_D`, `get_y`).

use crate::pools::stable_curve::n_pow_n;
use crate::wide::{U256, U512, checked_over, checked_times, over, product, times};

/// The maximum number of rounds of an iteration.
const ROUNDS: usize = 255;

/// How a contract computes `D_P`, the product over all coins, in its iteration for `D`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DRule {
    /// Each coin divides by `x · n`.
    EachN,
    /// Each coin divides by `x · n + 1`.
    EachNPlusOne,
    /// Each coin divides by `x`, and `n^n` divides once at the end.
    NPowN,
}

/// Why a contract refuses an amount.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AmountRefusal {
    /// It also refuses every smaller amount.
    TooLittle,
    /// It also refuses every larger amount.
    TooMuch,
}

/// The parameters that the formulas share: the amplification and the number of coins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::pools) struct Form {
    pub rule: DRule,
    /// `amp × n`, positive.
    pub ann: u64,
    /// 1 or 100; 1,000 for Balancer's pools, which use the first rule.
    pub a_precision: u16,
    pub coins: usize,
}

/// A balance that keeps the invariant, and the equation that it solves: `y² + (b − D)·y = c`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Root {
    pub y: U256,
    b: U256,
    c: U256,
}

impl Form {
    /// Whether the contract continues if an iteration did not converge. Contracts with precision 1 do; the others
    /// revert.
    fn goes_on(&self) -> bool {
        self.a_precision == 1
    }

    /// `D` of these balances, which must be positive; `None` if the contract reverts.
    pub(in crate::pools) fn invariant(&self, balances: &[U256]) -> Option<U256> {
        let (n, p) = (U256::from(self.coins), U256::from(self.a_precision));
        let ann = U256::from(self.ann);
        let sum = balances.iter().try_fold(U256::ZERO, |sum, x| sum.checked_add(*x))?;
        let divisors = balances.iter().map(|x| match self.rule {
            DRule::EachN => checked_times(*x, n),
            DRule::EachNPlusOne => checked_times(*x, n)?.checked_add(U256::ONE),
            DRule::NPowN => Some(*x),
        });
        let divisors = divisors.collect::<Option<Vec<_>>>()?;
        let ann_sum = over(checked_times(ann, sum)?, p);
        let ann_less = ann.checked_sub(p)?;
        let mut d = sum;
        for _ in 0..ROUNDS {
            let mut product = d;
            for divisor in &divisors {
                product = checked_over(checked_times(product, d)?, *divisor)?;
            }
            if self.rule == DRule::NPowN {
                product = over(product, n_pow_n(balances.len()));
            }
            let up = ann_sum.checked_add(checked_times(product, n)?)?;
            let down = over(checked_times(ann_less, d)?, p)
                .checked_add(checked_times(n + U256::ONE, product)?)?;
            let next = checked_over(checked_times(up, d)?, down)?;
            if next.abs_diff(d) <= U256::ONE {
                return Some(next);
            }
            d = next;
        }
        self.goes_on().then_some(d)
    }

    /// The balance of coin `bought` that keeps `d` if coin `sold` has balance `x`, as the contract computes it.
    pub(super) fn root(
        &self,
        balances: &[U256],
        d: U256,
        moved: (usize, U256),
        bought: usize,
    ) -> Result<Root, AmountRefusal> {
        self.root_from(d, balances, d, moved, bought)
    }

    /// Same from another `start`. From any start the iteration ends at the root of the equation, rounded down, or
    /// slightly above it.
    pub(super) fn root_from(
        &self,
        start: U256,
        balances: &[U256],
        d: U256,
        (sold, x): (usize, U256),
        bought: usize,
    ) -> Result<Root, AmountRefusal> {
        let (n, p) = (U256::from(self.coins), U256::from(self.a_precision));
        let (mut sum, mut c) = (U256::ZERO, d);
        for (coin, balance) in balances.iter().enumerate() {
            if coin == bought {
                continue;
            }
            let balance = if coin == sold { x } else { *balance };
            sum = sum.checked_add(balance).ok_or(AmountRefusal::TooMuch)?;
            let divisor = checked_times(balance, n).ok_or(AmountRefusal::TooMuch)?;
            let up = checked_times(c, d).ok_or(AmountRefusal::TooLittle)?;
            c = checked_over(up, divisor).ok_or(AmountRefusal::TooLittle)?;
        }
        let c = self.constant(c, d).ok_or(AmountRefusal::TooLittle)?;
        let part = over(checked_times(d, p).ok_or(AmountRefusal::TooMuch)?, U256::from(self.ann));
        let b = sum.checked_add(part).ok_or(AmountRefusal::TooMuch)?;
        let mut y = start;
        for _ in 0..ROUNDS {
            let up = checked_times(y, y).and_then(|square| square.checked_add(c));
            let up = up.ok_or(AmountRefusal::TooLittle)?;
            let down = y.checked_add(y).and_then(|twice| twice.checked_add(b));
            let down = down
                .ok_or(AmountRefusal::TooMuch)?
                .checked_sub(d)
                .ok_or(AmountRefusal::TooLittle)?;
            let next = checked_over(up, down).ok_or(AmountRefusal::TooLittle)?;
            if next.abs_diff(y) <= U256::ONE {
                return Ok(Root { y: next, b, c });
            }
            y = next;
        }
        if self.goes_on() { Ok(Root { y, b, c }) } else { Err(AmountRefusal::TooLittle) }
    }

    /// The last step of the chain of quotients.
    fn constant(&self, c: U256, d: U256) -> Option<U256> {
        let up = checked_times(checked_times(c, d)?, U256::from(self.a_precision))?;
        checked_over(up, times(U256::from(self.ann), U256::from(self.coins)))
    }
}

impl Root {
    /// The exact root of the equation, rounded down. The iteration ends at most two above it. The root decreases as the
    /// balance of the other coin grows; `y` does so only up to that difference.
    pub(super) fn rounded_down(&self, d: U256) -> U256 {
        let mut y = self.y;
        let c = U512::from(self.c);
        let above = |y: U256| product(y, y) + product(y, self.b) > product(y, d) + c;
        while !y.is_zero() && above(y) {
            y -= U256::ONE;
        }
        y
    }
}
