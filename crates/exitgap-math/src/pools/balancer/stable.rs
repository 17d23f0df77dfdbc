//! The output of a stable pool: the balance that keeps its invariant, computed by Newton's iteration with every
//! quotient rounded up.
//!
//! Source: `StableMath.sol` of both versions (`_calcOutGivenIn`, `_getTokenBalanceGiven…`). Version 3 multiplies by the
//! precision of the amplification before it divides, version 2 after.

use super::pool::Rule;
use super::vault::{AmountRefusal, BalancerError, Vault};
use crate::pools::RawPrice;
use crate::pools::stable_curve::{BITS, RootBelow, StableCurve};
use crate::pools::stable_swap::{DRule, Form};
use crate::wide::{U256, U512, U1024, checked_times, over, product, times};

use super::fixed_point::up;

/// The unit of amplifications: thousandths.
const PRECISION: u16 = 1_000;
const PRECISION_WORD: U256 = U256::from_limbs([1_000, 0, 0, 0]);
/// Pools of January 2026 reject balances that are this many times larger than others.
const MOST_IMBALANCE: u64 = 10_000;

/// A stable pool of version 2.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StableRule {
    pub(super) amp: u64,
    form: Form,
    /// `None` after a swap that leaves balances without a computable invariant.
    invariant: Option<U256>,
    third: bool,
}

/// A stable pool of version 3.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThirdStableRule {
    pub(super) stable: StableRule,
    pub(super) release: StableRelease,
}

/// The releases of the stable pools of version 3.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StableRelease {
    /// December 2024.
    First,
    /// March 2025.
    Second,
    /// January 2026. It rejects swaps that make the balances too unequal.
    Third,
}

/// The equation `y² + (b − D)·y = c`, and the `y` that the contract computed.
struct Root {
    y: U256,
    b: U256,
    c: U256,
}

impl StableRule {
    /// A stable pool of version 2, with `amp` in thousandths.
    pub(super) fn new(vault: &Vault, amp: u64) -> Result<Self, BalancerError> {
        if !(1_000..=100_000_000).contains(&amp) {
            return Err(BalancerError::Amplification { found: amp });
        }
        let coins = vault.live.len();
        let ann = amp * coins as u64;
        let form = Form { rule: DRule::EachN, ann, a_precision: PRECISION, coins };
        let rule = Self { amp, form, invariant: None, third: vault.third }.for_vault(vault);
        if rule.invariant.is_none_or(|d| d.is_zero()) {
            return Err(BalancerError::NotConverged);
        }
        Ok(rule)
    }

    fn stable_curve<'a>(&self, vault: &'a Vault) -> StableCurve<'a> {
        let sum = || vault.live.iter().fold(U256::ZERO, |sum, x| sum.saturating_add(*x));
        StableCurve {
            balances: &vault.live,
            invariant: self.invariant.unwrap_or_else(sum),
            ann: self.form.ann,
            precision: PRECISION.into(),
        }
    }

    /// The balance of `bought` if `sold` has balance `x`.
    fn root(
        &self,
        vault: &Vault,
        (sold, bought): (usize, usize),
        x: U256,
        d: U256,
    ) -> Result<Root, AmountRefusal> {
        let (b, c) = self.equation(vault, (sold, bought), x, d)?;
        let little = AmountRefusal::TooLittle;
        let square = checked_times(d, d).ok_or(little)?;
        let down = d.checked_add(b).ok_or(AmountRefusal::TooMuch)?;
        let mut y = up(square.checked_add(c).ok_or(little)?, down).ok_or(little)?;
        for _ in 0..255 {
            let square = checked_times(y, y).and_then(|square| square.checked_add(c));
            let down = y.checked_add(y).and_then(|twice| twice.checked_add(b));
            let down = down.ok_or(AmountRefusal::TooMuch)?.checked_sub(d).ok_or(little)?;
            let next = up(square.ok_or(little)?, down).ok_or(little)?;
            if next.abs_diff(y) <= U256::ONE {
                return Ok(Root { y: next, b, c });
            }
            y = next;
        }
        Err(little)
    }

    /// `b` and `c`.
    fn equation(
        &self,
        vault: &Vault,
        (sold, bought): (usize, usize),
        x: U256,
        d: U256,
    ) -> Result<(U256, U256), AmountRefusal> {
        let (little, much) = (AmountRefusal::TooLittle, AmountRefusal::TooMuch);
        let (n, ann) = (U256::from(self.form.coins), U256::from(self.form.ann));
        let balance = |token: usize| if token == sold { x } else { vault.live[token] };
        let mut sum = balance(0);
        let mut chain = checked_times(balance(0), n).ok_or(much)?;
        for token in 1..self.form.coins {
            let next = checked_times(chain, balance(token));
            let next = next.and_then(|next| checked_times(next, n)).ok_or(much)?;
            chain = over(next, d);
            sum = sum.checked_add(balance(token)).ok_or(much)?;
        }
        let others = sum - balance(bought);
        let square = checked_times(d, d).ok_or(little)?;
        let down = checked_times(ann, chain).ok_or(much)?;
        let (quotient, part) = if self.third {
            let scaled = checked_times(square, PRECISION_WORD).ok_or(little)?;
            (up(scaled, down), over(checked_times(d, PRECISION_WORD).ok_or(much)?, ann))
        } else {
            let quotient = up(square, down).and_then(|c| checked_times(c, PRECISION_WORD));
            (quotient, times(over(d, ann), PRECISION_WORD))
        };
        let c = quotient.and_then(|quotient| checked_times(quotient, balance(bought)));
        Ok((others.checked_add(part).ok_or(much)?, c.ok_or(little)?))
    }

    /// The balances and their invariant, if it can be computed.
    fn given(
        &self,
        vault: &Vault,
        sold: usize,
        given: U256,
    ) -> Result<(U256, U256), AmountRefusal> {
        let d = self.invariant.ok_or(AmountRefusal::TooMuch)?;
        Ok((vault.live[sold].checked_add(given).ok_or(AmountRefusal::TooMuch)?, d))
    }
}

impl Root {
    /// The exact root of the equation, rounded up. It decreases as the balance of the other token increases. The
    /// iteration ends at it or just above.
    fn rounded_up(&self, d: U256) -> U256 {
        let mut y = self.y;
        let reaches =
            |y: U256| product(y, y) + product(y, self.b) >= product(y, d) + U512::from(self.c);
        for _ in 0..8 {
            if y.is_zero() || !reaches(y - U256::ONE) {
                break;
            }
            y -= U256::ONE;
        }
        y
    }
}

impl Rule for StableRule {
    fn out(
        &self,
        vault: &Vault,
        (sold, bought): (usize, usize),
        given: U256,
    ) -> Result<U256, AmountRefusal> {
        let (x, d) = self.given(vault, sold, given)?;
        let root = self.root(vault, (sold, bought), x, d)?;
        let freed = vault.live[bought].checked_sub(root.y);
        freed.and_then(|freed| freed.checked_sub(U256::ONE)).ok_or(AmountRefusal::TooLittle)
    }

    fn out_at_most(
        &self,
        vault: &Vault,
        (sold, bought): (usize, usize),
        (_, high): (U256, U256),
        _root: Option<&RootBelow>,
    ) -> U256 {
        let Ok((x, d)) = self.given(vault, sold, high) else { return U256::ZERO };
        let Ok(root) = self.root(vault, (sold, bought), x, d) else { return U256::ZERO };
        vault.live[bought].saturating_sub(root.rounded_up(d) + U256::ONE)
    }

    fn ideal(
        &self,
        vault: &Vault,
        (sold, bought): (usize, usize),
        given: U1024,
        root: Option<&RootBelow>,
    ) -> U1024 {
        let all = U1024::from(vault.live[bought]) << BITS;
        let x = (U1024::from(vault.live[sold]) << BITS) + given;
        let root = root.map_or(U512::ZERO, |root| root.beside(x));
        all.checked_sub(U1024::from(root)).unwrap_or(U1024::ZERO)
    }

    fn root_below(&self, vault: &Vault, (sold, bought): (usize, usize)) -> Option<RootBelow> {
        Some(self.stable_curve(vault).root_below(sold, bought, false))
    }

    fn mid(&self, vault: &Vault, (sold, bought): (usize, usize)) -> RawPrice {
        let weights = [sold, bought].map(|token| vault.scale(token));
        self.stable_curve(vault).mid(sold, bought, weights)
    }

    fn for_vault(mut self, vault: &Vault) -> Self {
        self.invariant = self.form.invariant(&vault.live);
        self
    }

    fn beside(&self, vault: &Vault, pair: (usize, usize), balance: U256) -> Option<U256> {
        Some(self.root(vault, pair, balance, self.invariant?).ok()?.y)
    }
}

impl Rule for ThirdStableRule {
    fn out(&self, vault: &Vault, pair: (usize, usize), given: U256) -> Result<U256, AmountRefusal> {
        let out = self.stable.out(vault, pair, given)?;
        if self.release != StableRelease::Third {
            return Ok(out);
        }
        let (sold, bought) = pair;
        let grown = vault.live[sold].checked_add(given).ok_or(AmountRefusal::TooMuch)?;
        let left = vault.live[bought].checked_sub(out).ok_or(AmountRefusal::TooMuch)?;
        let most = vault.live.iter().fold(grown, |most, x| most.max(*x));
        let least = vault.live.iter().fold(left, |least, x| least.min(*x));
        if least.is_zero() || over(most, least) >= U256::from(MOST_IMBALANCE) {
            return Err(AmountRefusal::TooMuch);
        }
        Ok(out)
    }

    fn out_at_most(
        &self,
        vault: &Vault,
        pair: (usize, usize),
        given: (U256, U256),
        root: Option<&RootBelow>,
    ) -> U256 {
        self.stable.out_at_most(vault, pair, given, root)
    }

    fn ideal(
        &self,
        vault: &Vault,
        pair: (usize, usize),
        given: U1024,
        root: Option<&RootBelow>,
    ) -> U1024 {
        self.stable.ideal(vault, pair, given, root)
    }

    fn root_below(&self, vault: &Vault, pair: (usize, usize)) -> Option<RootBelow> {
        self.stable.root_below(vault, pair)
    }

    fn mid(&self, vault: &Vault, pair: (usize, usize)) -> RawPrice {
        self.stable.mid(vault, pair)
    }

    fn for_vault(mut self, vault: &Vault) -> Self {
        self.stable = self.stable.for_vault(vault);
        self
    }

    fn beside(&self, vault: &Vault, pair: (usize, usize), balance: U256) -> Option<U256> {
        self.stable.beside(vault, pair, balance)
    }
}
