//! A pool of any rule in its vault, and one direction of a pair of its tokens.

use core::fmt::Debug;
use std::sync::Arc;

use super::stable::{StableRule, ThirdStableRule};
use super::vault::{AmountRefusal, Vault};
use super::weighted::WeightedRule;
use crate::ids::Pair;
use crate::pools::fill::{WholeSegment, largest_taken};
use crate::pools::kind::{PoolKind, Sale};
use crate::pools::stable_curve::RootBelow;
use crate::pools::{Direction, FeeRate, Fill, FillError, PoolFee, PoolState, RawPrice, Segment};
use crate::wide::{U256, U512, U1024, mul_div};

/// A pool's output for the input that its vault passes on, both with eighteen decimals, for a pair of tokens: the one
/// sold and the one bought.
pub(in crate::pools) trait Rule: Clone + Debug + PartialEq + Eq {
    /// The output for an amount.
    fn out(&self, vault: &Vault, pair: (usize, usize), given: U256) -> Result<U256, AmountRefusal>;

    /// No amount between the two values of `given` pays more than this.
    fn out_at_most(
        &self,
        vault: &Vault,
        pair: (usize, usize),
        given: (U256, U256),
        root: Option<&RootBelow>,
    ) -> U256;

    /// The output without any rounding, or slightly more, in units of `2^-96`. The exact value, which this is not
    /// below, is concave.
    fn ideal(
        &self,
        vault: &Vault,
        pair: (usize, usize),
        given: U1024,
        root: Option<&RootBelow>,
    ) -> U1024;

    /// Same as [`Rule::ideal`], or less if it is concave only from `given` on: if an amount fails a limit there, all
    /// larger amounts fail it.
    fn ideal_from(
        &self,
        vault: &Vault,
        pair: (usize, usize),
        given: U1024,
        root: Option<&RootBelow>,
    ) -> U1024 {
        self.ideal(vault, pair, given, root)
    }

    /// The precomputed part of [`Rule::ideal`] for one direction.
    fn root_below(&self, _vault: &Vault, _pair: (usize, usize)) -> Option<RootBelow> {
        None
    }

    /// The output rate of an infinitely small swap without fee.
    fn mid(&self, vault: &Vault, pair: (usize, usize)) -> RawPrice;

    /// Whether the search divides the segment, as in `Sale::divides`.
    fn divides(&self) -> bool {
        false
    }

    /// The same rule for the current content of the vault.
    #[must_use]
    fn for_vault(self, _vault: &Vault) -> Self {
        self
    }

    /// The balance of the token bought if the token sold has balance `balance`.
    fn beside(&self, vault: &Vault, pair: (usize, usize), balance: U256) -> Option<U256>;
}

/// A pool in its vault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VaultPool<R> {
    pub(super) vault: Box<Vault>,
    pub(super) rule: Box<R>,
}

/// One direction of a pair of tokens.
#[derive(Debug, Clone)]
pub struct VaultSale<R> {
    pool: Arc<VaultPool<R>>,
    direction: Direction,
    root: Option<Box<RootBelow>>,
    whole: WholeSegment,
}

#[expect(private_bounds, reason = "the three kinds are the only rules there are")]
impl<R: Rule> VaultPool<R> {
    pub(super) fn of_rule(vault: Vault, rule: R) -> Self {
        Self { vault: Box::new(vault), rule: Box::new(rule) }
    }

    fn tokens_of(&self, direction: Direction) -> (usize, usize) {
        let pair = self.vault.pair;
        (pair[direction.base_index()], pair[direction.quote_index()])
    }

    /// Raw balances, one per token.
    pub fn balances(&self) -> &[U256] {
        &self.vault.raw
    }

    fn fee(&self) -> FeeRate {
        FeeRate { numerator: self.vault.swap_fee, denominator: 1_000_000_000_000_000_000 }
    }

    fn mid(&self, direction: Direction) -> RawPrice {
        self.rule.mid(&self.vault, self.tokens_of(direction))
    }

    /// The amount that the vault transfers for an input.
    fn swap(&self, direction: Direction, amount_in: U256) -> Result<U256, AmountRefusal> {
        let (sold, bought) = self.tokens_of(direction);
        let given = self.vault.given(sold, amount_in)?;
        let out = self.rule.out(&self.vault, (sold, bought), given)?;
        let out = self.vault.paid(bought, out)?;
        let after = self.vault.after((sold, amount_in), (bought, out));
        after.map(|_| out).ok_or(AmountRefusal::TooMuch)
    }

    fn most_taken(&self, direction: Direction) -> U256 {
        let (sold, _) = self.tokens_of(direction);
        let taken = |amount| self.swap(direction, amount) != Err(AmountRefusal::TooMuch);
        largest_taken(self.vault.raw[sold], taken)
    }

    fn fill(
        &self,
        direction: Direction,
        amount_in: U256,
        most: impl FnOnce() -> U256,
    ) -> Result<Fill, FillError> {
        if amount_in.is_zero() {
            return Err(FillError::ZeroInput);
        }
        match self.swap(direction, amount_in) {
            Ok(amount_out) => Ok(Fill { amount_in, amount_out, fee: self.fee(), end: None }),
            Err(AmountRefusal::TooLittle) => Err(FillError::ZeroOutput),
            Err(AmountRefusal::TooMuch) => {
                let consumed = most();
                let paid = self.swap(direction, consumed).unwrap_or(U256::ZERO);
                Err(FillError::BeyondLiquidity { consumed, paid })
            }
        }
    }

    fn with(&self, vault: Vault) -> Self {
        let rule = (*self.rule).clone().for_vault(&vault);
        Self::of_rule(vault, rule)
    }
}

#[expect(private_bounds, reason = "the three kinds are the only rules there are")]
impl<R: Rule> VaultPool<R> {
    fn settle(&self, direction: Direction, fill: &Fill) -> Self {
        let (sold, bought) = self.tokens_of(direction);
        let after = self.vault.after((sold, fill.amount_in), (bought, fill.amount_out));
        after.map_or_else(|| self.clone(), |vault| self.with(vault))
    }

    /// Moves the balance of the token sold back (rounded up), and the balance of the token bought to the value that
    /// keeps the invariant (rounded down).
    fn move_back(&self, start: &Self, direction: Direction, recovered_e8: u32) -> Self {
        let (sold, bought) = self.tokens_of(direction);
        let distance = self.vault.raw[sold].saturating_sub(start.vault.raw[sold]);
        let (share, scale) = (U256::from(recovered_e8), U256::from(100_000_000_u32));
        let back = mul_div(distance, share, scale).unwrap_or(U256::ZERO).min(distance);
        let recovered = self.vault.moved_back((sold, back), bought, |balance| {
            self.rule.beside(&self.vault, (sold, bought), balance)
        });
        recovered.map_or_else(|| self.clone(), |vault| self.with(vault))
    }

    fn bytes(&self) -> usize {
        (4 * self.vault.raw.len() + 1) * size_of::<U256>()
    }
}

/// Makes the pool of each rule a separate kind.
macro_rules! kinds_of_rules {
    ($($rule:ty),+) => {$(
        impl PoolKind for VaultPool<$rule> {
            type Sale = VaultSale<$rule>;

            fn fee(&self) -> PoolFee {
                PoolFee::Flat(Self::fee(self))
            }

            fn variety(&self) -> Option<&'static str> {
                Some(if self.vault.third { "v3" } else { "v2" })
            }

            fn coins(&self) -> usize {
                self.vault.raw.len()
            }

            fn of_pair(mut self, pair: Pair) -> Self {
                self.vault.pair = pair.indices();
                self
            }

            fn sale(&self, direction: Direction) -> Self::Sale {
                VaultSale::new(self.clone(), direction)
            }

            fn fill_once(
                &self,
                direction: Direction,
                amount_in: U256,
            ) -> Result<Fill, FillError> {
                self.fill(direction, amount_in, || self.most_taken(direction))
            }

            fn after(&self, direction: Direction, fill: &Fill) -> Self {
                self.settle(direction, fill)
            }

            fn with_recovery(
                &self,
                start: &PoolState,
                direction: Direction,
                recovered_e8: u32,
            ) -> Self {
                let start = Self::from_state(start).unwrap_or(self);
                self.move_back(start, direction, recovered_e8)
            }

            fn held_bytes(&self) -> usize {
                self.bytes()
            }

            fn sale_bytes_at_most(&self, _direction: Direction) -> usize {
                self.bytes() + size_of::<RootBelow>()
            }
        }
    )+};
}

kinds_of_rules!(WeightedRule, StableRule, ThirdStableRule);

impl<R: Rule> VaultSale<R> {
    fn new(pool: VaultPool<R>, direction: Direction) -> Self {
        let root = pool.rule.root_below(&pool.vault, pool.tokens_of(direction)).map(Box::new);
        Self { pool: Arc::new(pool), direction, root, whole: WholeSegment::default() }
    }

    fn most_in(&self) -> U256 {
        self.whole.most_in(|| self.pool.most_taken(self.direction))
    }

    fn pair(&self) -> (usize, usize) {
        self.pool.tokens_of(self.direction)
    }

    fn paid_at_most(&self, low: U256, high: U256) -> U256 {
        let (sold, bought) = self.pair();
        let vault = &self.pool.vault;
        let low = vault.given(sold, low).unwrap_or(U256::ZERO);
        let high = match vault.given(sold, high) {
            Ok(high) => high,
            Err(AmountRefusal::TooLittle) => return U256::ZERO,
            Err(AmountRefusal::TooMuch) => return U256::MAX,
        };
        let out =
            self.pool.rule.out_at_most(vault, (sold, bought), (low, high), self.root.as_deref());
        match vault.paid(bought, out) {
            Ok(paid) => paid,
            Err(AmountRefusal::TooLittle) => U256::ZERO,
            Err(AmountRefusal::TooMuch) => U256::MAX,
        }
    }
}

impl<R: Rule> Sale for VaultSale<R> {
    fn direction(&self) -> Direction {
        self.direction
    }

    fn mid(&self) -> RawPrice {
        self.pool.mid(self.direction)
    }

    fn mid_after(&self, fill: &Fill) -> RawPrice {
        self.pool.settle(self.direction, fill).mid(self.direction)
    }

    fn least_fee(&self) -> FeeRate {
        self.pool.fee()
    }

    fn fill(&self, amount_in: U256) -> Result<Fill, FillError> {
        self.pool.fill(self.direction, amount_in, || self.most_in())
    }

    fn most(&self) -> (U256, U256) {
        let most = self.most_in();
        (most, self.out_within(0, most))
    }

    fn segment(&self, _index: usize) -> Segment {
        let most = self.most_in();
        self.whole.segment(most, || self.paid_at_most(U256::ONE, most))
    }

    fn out_within(&self, _index: usize, amount_in: U256) -> U256 {
        self.pool.swap(self.direction, amount_in).unwrap_or(U256::ZERO)
    }

    fn out_at_most(&self, _index: usize, low: U256, high: U256, _out: U256) -> U256 {
        self.paid_at_most(low, high)
    }

    fn divides(&self) -> bool {
        self.pool.rule.divides()
    }

    fn by_secants(&self) -> bool {
        true
    }

    fn ideal_within(&self, _index: usize, added: U256) -> U512 {
        let (sold, bought) = self.pair();
        let vault = &self.pool.vault;
        let given = vault.given_without_rounding(sold, added);
        let out = self.pool.rule.ideal(vault, (sold, bought), given, self.root.as_deref());
        vault.paid_without_rounding(bought, out)
    }

    fn most_between(
        &self,
        _index: usize,
        (low, high): (U256, U256),
        _out: U256,
        fails: &dyn Fn(U512) -> bool,
    ) -> Option<U256> {
        let (sold, bought) = self.pair();
        let vault = &self.pool.vault;
        let given = vault.given_without_rounding(sold, low);
        let out = self.pool.rule.ideal_from(vault, (sold, bought), given, self.root.as_deref());
        let ideal = vault.paid_without_rounding(bought, out);
        (!fails(ideal)).then(|| self.paid_at_most(low, high))
    }

    /// None: the amount after the fee is not an integer.
    fn fee_rounded_first(&self) -> Option<FeeRate> {
        None
    }

    fn held_bytes(&self) -> usize {
        self.pool.bytes() + size_of::<RootBelow>()
    }
}
