//! `StableSwap`: the rules of Curve's plain pools and of `StableSwap`-NG, for two to eight coins.
//!
//! - `invariant`: `D`, and the balance that keeps it (`get_D`, `get_y`)
//! - `exchange`: one exchange like in the contract, and its dynamic fee
//! - `bound`: an upper bound for the output of an exchange without rounding
//! - `sale`: one direction of one pair of coins
//! - `form`: the state as canonical JSON
//!
//! The contract has two similar functions: a fill is what `exchange` transfers, not what `get_dy` returns, which
//! differs by one unit in some plain pools and by more in NG.

mod bound;
mod exchange;
mod form;
mod invariant;
mod sale;

pub use invariant::DRule;

use std::sync::Arc;

use super::fill::largest_taken;
use super::kind::PoolKind;
use super::stable_curve::StableCurve;
use super::{Direction, FeeRate, Fill, FillError, PoolFee, PoolState, RawPrice};
use crate::ids::Pair;
use crate::wide::{U256, checked_times, mul_div, over, times};
use bound::Bound;
use invariant::AmountRefusal;
pub(super) use invariant::Form;
use sale::StableSale;

/// The unit of fees: parts of `10^10`.
const FEE_DENOMINATOR: u64 = 10_000_000_000;
/// Rates and scaled balances have eighteen decimals.
const RATE_ONE: U256 = U256::from_limbs([1_000_000_000_000_000_000, 0, 0, 0]);

/// A `StableSwap` contract's data, as read from the chain. Lists have one entry per coin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StableSwapParts {
    /// Raw units, without the administrator's part.
    pub balances: Vec<U256>,
    /// The value of one raw unit, times `10^18`, in units of `10^-18` of a whole coin.
    pub rates: Vec<U256>,
    /// The amplification at this block, times `a_precision`.
    pub amp: u64,
    /// 1 or 100.
    pub a_precision: u8,
    /// How the contract's iteration for `D` divides.
    pub d_rule: DRule,
    /// Whether the pool keeps one scaled unit of the amount that the invariant releases.
    pub less_one: bool,
    /// In parts of `10^10`.
    pub fee: u64,
    /// The administrator's share of the fee, in parts of `10^10`.
    pub admin_fee: u64,
    /// The additional data of `StableSwap`-NG.
    pub ng: Option<NgParts>,
}

/// The data of `StableSwap`-NG 7.0.0 that plain pools do not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NgParts {
    /// The maximum factor by which the fee grows as balances become unequal, in parts of `10^10`.
    pub offpeg_fee_multiplier: u64,
    /// The administrator's balances in raw units.
    pub admin_balances: Vec<U256>,
    /// 0: plain, 1: with a rate from an oracle, 3: shares of a vault. 2, rebasing, is refused.
    pub asset_types: Vec<u8>,
}

/// The state of a `StableSwap` pool, for one pair of its coins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StableSwap {
    balances: Vec<U256>,
    rates: Vec<U256>,
    amp: u64,
    less_one: bool,
    fee: u64,
    admin_fee: u64,
    ng: Option<Box<NgParts>>,
    form: Form,
    /// Balances with eighteen decimals.
    scaled: Vec<U256>,
    /// `D`; `None` after an exchange that leaves balances for which it cannot be computed.
    invariant: Option<U256>,
    pair: [usize; 2],
}

/// Why numbers are not a valid, supported state of a `StableSwap` pool.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StableSwapError {
    /// The contract does not have two to eight coins, or a list does not have one entry per coin.
    #[error(
        "{balances} balances and {other} {of} given; each list needs one entry per coin, for 2 to 8 coins"
    )]
    Lengths {
        /// The number of balances.
        balances: usize,
        /// The number of entries in the other list.
        other: usize,
        /// The name of the other list.
        of: &'static str,
    },
    /// A coin has no balance or no value, so it has no price.
    #[error("coin {coin} has no scaled balance, so the pool has no price")]
    Empty {
        /// The coin's index.
        coin: usize,
    },
    /// A rate has more than 192 bits, or the contract cannot compute a scaled balance.
    #[error("rate {rate} of coin {coin} is too large for its balance, or longer than 192 bits")]
    Rate {
        /// The coin's index.
        coin: usize,
        /// The rate found.
        rate: U256,
    },
    /// The amplification times the number of coins is below its precision, or above `2^53`.
    #[error("amplification {found} is outside the contract's bounds")]
    Amplification {
        /// The amplification found.
        found: u64,
    },
    /// The precision is not 1 or 100, the values of known contracts.
    #[error("the amplification's precision must be 1 or 100, found {found}")]
    Precision {
        /// The precision found.
        found: u8,
    },
    /// The fee could reach one, or the administrator's share exceeds one.
    #[error(
        "fee {fee}, its multiplier {multiplier} or admin fee {admin_fee} is not a valid share of 10^10"
    )]
    Fee {
        /// The fee found.
        fee: u64,
        /// Its multiplier, in parts of `10^10`.
        multiplier: u64,
        /// The administrator's share found.
        admin_fee: u64,
    },
    /// The parameters are not those of `StableSwap`-NG, which has a single rule for `D`, precision 100, and keeps one
    /// unit.
    #[error("these rules are not those of StableSwap-NG")]
    NotNg,
    /// A coin is rebasing: its balances change by themselves.
    #[error("coin {coin} rebases, so its balance is not what the contract holds")]
    Rebasing {
        /// The coin's index.
        coin: usize,
    },
    /// This version does not know the type of a coin.
    #[error("coin {coin} has the unknown type {found}")]
    AssetType {
        /// The coin's index.
        coin: usize,
        /// The type found.
        found: u8,
    },
    /// The contract's iteration for `D` does not converge for these balances, so every exchange is refused.
    #[error("the contract itself cannot compute the invariant of these balances")]
    NotConverged,
}

impl StableSwap {
    /// A pool with this state, for coins 0 and 1.
    pub fn new(parts: StableSwapParts) -> Result<Self, StableSwapError> {
        check_lengths(&parts)?;
        check_fees(&parts)?;
        let coins = parts.balances.len();
        let precision = parts.a_precision;
        if !matches!(precision, 1 | 100) {
            return Err(StableSwapError::Precision { found: precision });
        }
        let ann = parts.amp.checked_mul(coins as u64).filter(|ann| *ann < 1 << 53);
        let ann = ann.filter(|ann| *ann >= precision.into());
        let ann = ann.ok_or(StableSwapError::Amplification { found: parts.amp })?;
        check_ng(&parts)?;
        let form = Form { rule: parts.d_rule, ann, a_precision: precision.into(), coins };
        let StableSwapParts { balances, rates, amp, less_one, fee, admin_fee, ng, .. } = parts;
        let scaled = scale_balances(&balances, &rates)?;
        let invariant = form.invariant(&scaled);
        if invariant.is_none_or(|d| d.is_zero()) {
            return Err(StableSwapError::NotConverged);
        }
        let (pair, ng) = ([0, 1], ng.map(Box::new));
        Ok(Self {
            balances,
            rates,
            amp,
            less_one,
            fee,
            admin_fee,
            ng,
            form,
            scaled,
            invariant,
            pair,
        })
    }

    /// The contract's whole balance of a coin, including the administrator's part.
    pub fn held(&self, coin: usize) -> Option<U256> {
        let balance = *self.balances.get(coin)?;
        let admin = self.ng.as_ref().map_or(U256::ZERO, |ng| ng.admin_balances[coin]);
        balance.checked_add(admin)
    }

    /// The value of each coin, as stored in the contract: `10^(36 − decimals)` at face value.
    pub fn rates(&self) -> &[U256] {
        &self.rates
    }

    /// Raw balances, one per coin.
    pub fn balances(&self) -> &[U256] {
        &self.balances
    }

    /// The coins sold and bought.
    fn coins_of(&self, direction: Direction) -> (usize, usize) {
        (self.pair[direction.base_index()], self.pair[direction.quote_index()])
    }

    /// The closed formula. If the invariant cannot be computed, no exchange is possible; the sum of the balances then
    /// replaces it in the price.
    fn stable_curve(&self) -> StableCurve<'_> {
        let sum = || self.scaled.iter().fold(U256::ZERO, |sum, x| sum.saturating_add(*x));
        StableCurve {
            balances: &self.scaled,
            invariant: self.invariant.unwrap_or_else(sum),
            ann: self.form.ann,
            precision: self.form.a_precision.into(),
        }
    }

    fn mid(&self, direction: Direction) -> RawPrice {
        let (sold, bought) = self.coins_of(direction);
        self.stable_curve().mid(sold, bought, [self.rates[sold], self.rates[bought]])
    }

    /// The pool with other balances, for the same pair.
    fn with_balances(&self, balances: Vec<U256>, ng: Option<Box<NgParts>>) -> Self {
        let Ok(scaled) = scale_balances(&balances, &self.rates) else {
            let invariant = None;
            return Self { balances, ng, invariant, ..self.clone() };
        };
        let invariant = self.form.invariant(&scaled);
        Self { balances, ng, scaled, invariant, ..self.clone() }
    }

    /// The largest input that the contract accepts in this direction.
    fn most_taken(&self, sold: usize, bought: usize) -> U256 {
        let taken = |amount: U256| {
            !matches!(self.exchange(sold, bought, amount), Err(AmountRefusal::TooMuch))
        };
        let whole = over(U256::MAX, self.rates[sold]);
        if taken(whole) { whole } else { largest_taken(self.balances[sold], taken) }
    }
}

impl PoolKind for StableSwap {
    type Sale = StableSale;

    fn fee(&self) -> PoolFee {
        let rate = |numerator| FeeRate { numerator, denominator: FEE_DENOMINATOR };
        let least = rate(self.fee);
        match self.ng.as_ref().filter(|_| self.fee_varies()) {
            Some(ng) => {
                let most = u128::from(self.fee) * u128::from(ng.offpeg_fee_multiplier)
                    / u128::from(FEE_DENOMINATOR);
                PoolFee::Between { least, most: rate(u64::try_from(most).unwrap_or(u64::MAX)) }
            }
            None => PoolFee::Flat(least),
        }
    }

    fn variety(&self) -> Option<&'static str> {
        Some(if self.ng.is_some() { "StableSwap-NG" } else { "plain" })
    }

    fn coins(&self) -> usize {
        self.balances.len()
    }

    fn sorts_tokens(&self) -> bool {
        false
    }

    fn of_pair(self, pair: Pair) -> Self {
        Self { pair: pair.indices(), ..self }
    }

    fn sale(&self, direction: Direction) -> StableSale {
        StableSale::new(Arc::new(self.clone()), direction)
    }

    fn fill_once(&self, direction: Direction, amount_in: U256) -> Result<Fill, FillError> {
        sale::fill(self, direction, amount_in, || {
            let (sold, bought) = self.coins_of(direction);
            self.most_taken(sold, bought)
        })
    }

    fn after(&self, direction: Direction, fill: &Fill) -> Self {
        let (sold, bought) = self.coins_of(direction);
        let exchange = self.exchange(sold, bought, fill.amount_in).ok();
        let after =
            exchange.and_then(|done| self.balances_after(sold, bought, fill.amount_in, &done));
        let Some((balances, admin)) = after else { return self.clone() };
        let mut ng = self.ng.clone();
        if let Some(ng) = &mut ng {
            ng.admin_balances[bought] = ng.admin_balances[bought].saturating_add(admin);
        }
        self.with_balances(balances, ng)
    }

    /// Moves the balance of the coin sold back (rounded up), and the balance of the coin bought to the value that keeps
    /// the invariant (rounded down).
    fn with_recovery(&self, start: &PoolState, direction: Direction, recovered_e8: u32) -> Self {
        let Some(start) = Self::from_state(start) else { return self.clone() };
        let (sold, bought) = self.coins_of(direction);
        let distance = self.balances[sold].saturating_sub(start.balances[sold]);
        let (share, scale) = (U256::from(recovered_e8), U256::from(100_000_000_u32));
        let back = mul_div(distance, share, scale).unwrap_or(U256::ZERO).min(distance);
        let balance = self.balances[sold] - back;
        if back.is_zero() {
            return self.clone();
        }
        let Some(beside) = self.balance_beside(sold, bought, balance) else { return self.clone() };
        let mut balances = self.balances.clone();
        balances[sold] = balance;
        balances[bought] = beside.max(balances[bought]);
        self.with_balances(balances, self.ng.clone())
    }

    fn held_bytes(&self) -> usize {
        let words = self.balances.len() + self.rates.len() + self.scaled.len();
        let ng = self.ng.as_ref().map_or(0, |ng| ng.admin_balances.len());
        (words + ng) * size_of::<U256>()
    }

    fn sale_bytes_at_most(&self, _direction: Direction) -> usize {
        self.held_bytes()
    }
}

/// `⌊rate × balance ÷ 10^18⌋` of each coin. All results must be positive.
fn scale_balances(balances: &[U256], rates: &[U256]) -> Result<Vec<U256>, StableSwapError> {
    let one = |(coin, (balance, rate)): (usize, (&U256, &U256))| {
        if rate.bit_len() > 192 {
            return Err(StableSwapError::Rate { coin, rate: *rate });
        }
        let up = checked_times(*balance, *rate);
        let up = up.ok_or(StableSwapError::Rate { coin, rate: *rate })?;
        let scaled = over(up, RATE_ONE);
        if scaled.is_zero() { Err(StableSwapError::Empty { coin }) } else { Ok(scaled) }
    };
    balances.iter().zip(rates).enumerate().map(one).collect()
}

fn check_lengths(parts: &StableSwapParts) -> Result<(), StableSwapError> {
    let balances = parts.balances.len();
    let ng = parts.ng.as_ref();
    let lists = [
        (parts.rates.len(), "rates"),
        (ng.map_or(balances, |ng| ng.admin_balances.len()), "balances of the administrator"),
        (ng.map_or(balances, |ng| ng.asset_types.len()), "types"),
    ];
    for (other, of) in lists {
        if !(2..=usize::from(Pair::MAX_TOKENS)).contains(&balances) || other != balances {
            return Err(StableSwapError::Lengths { balances, other, of });
        }
    }
    Ok(())
}

fn check_fees(parts: &StableSwapParts) -> Result<(), StableSwapError> {
    let StableSwapParts { fee, admin_fee, .. } = *parts;
    let multiplier = parts.ng.as_ref().map_or(0, |ng| ng.offpeg_fee_multiplier);
    let [most, one] = [multiplier.max(FEE_DENOMINATOR), FEE_DENOMINATOR].map(U256::from);
    let reaches_one = times(most, U256::from(fee)) >= times(one, one);
    if reaches_one || admin_fee > FEE_DENOMINATOR || multiplier >> 53 != 0 {
        return Err(StableSwapError::Fee { fee, multiplier, admin_fee });
    }
    Ok(())
}

fn check_ng(parts: &StableSwapParts) -> Result<(), StableSwapError> {
    let Some(ng) = &parts.ng else { return Ok(()) };
    if parts.d_rule != DRule::NPowN || parts.a_precision != 100 || !parts.less_one {
        return Err(StableSwapError::NotNg);
    }
    for (coin, found) in ng.asset_types.iter().copied().enumerate() {
        match found {
            0 | 1 | 3 => {}
            2 => return Err(StableSwapError::Rebasing { coin }),
            _ => return Err(StableSwapError::AssetType { coin, found }),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
