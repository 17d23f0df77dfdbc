//! Crypto pools: Tricrypto-NG 2.0.0 (three coins) and Twocrypto-NG 2.1.0 (two).
//!
//! - `root`: the balance that keeps the invariant
//! - `signed_int`: the contracts' signed numbers
//! - `sale`: one direction of a pair of coins
//! - `form`: the state as canonical JSON
//!
//! The output of a swap is computed exactly. The state after it is not: the contract may move its
//! price scale, which depends on more of its state than fills do, and may reject the whole swap. So
//! such a pool is not followed from one order to the next. Its output dips by more than rounding,
//! so the largest size is not computed at all rather than approximated. Its mid price is the
//! contract's last price, which is close to the price of an infinitely small swap.

mod form;
mod root;
mod sale;
mod signed_int;

use super::fill::largest_taken;
use super::kind::PoolKind;
use super::{Direction, FeeRate, Fill, FillError, PoolFee, PoolState, RawPrice};
use crate::ids::Pair;
use crate::wide::{U256, U512, U1024, checked_mul_over, checked_times, narrow, over};
use root::Curve;
use sale::CryptoSale;

/// One, with the contracts' eighteen decimals.
const ONE: u128 = 1_000_000_000_000_000_000;
const ONE_WORD: U256 = U256::from_limbs([1_000_000_000_000_000_000, 0, 0, 0]);
/// The unit of fees: parts of `10^10`.
const FEE_DENOMINATOR: u64 = 10_000_000_000;

/// A crypto pool's data, as read from its contract.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CryptoSwapParts {
    /// Raw units, one per coin.
    pub balances: Vec<U256>,
    /// One per coin, at most 18.
    pub decimals: Vec<u8>,
    /// The prices of the second and the third coin in units of the first, with eighteen decimals, which are used to
    /// scale balances.
    pub price_scale: Vec<U256>,
    /// The same prices at the last swap.
    pub last_prices: Vec<U256>,
    /// `D`.
    pub invariant: U256,
    /// The contract's `A`, with its multipliers.
    pub amp: u64,
    /// With eighteen decimals.
    pub gamma: u64,
    /// The minimum and the maximum fee, in parts of `10^10`.
    pub fees: [u64; 2],
    /// How fast the fee increases as balances become unequal, with eighteen decimals.
    pub fee_gamma: u64,
}

/// The state of a crypto pool, for a pair of its coins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CryptoSwap {
    parts: Box<CryptoSwapParts>,
    pair: [usize; 2],
}

/// Why numbers are not the state of a crypto pool.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CryptoSwapError {
    /// There are not two or three coins, or the lists do not match: one entry per coin, and one price less than coins.
    #[error(
        "{coins} balances, {decimals} decimals, {scales} and {last} prices do not match 2 or 3 coins"
    )]
    Lengths {
        /// The number of balances.
        coins: usize,
        /// The number of decimals.
        decimals: usize,
        /// The number of price scales.
        scales: usize,
        /// The number of last prices.
        last: usize,
    },
    /// A coin has more than eighteen decimals.
    #[error("coin {coin} has {found} decimals; the contract supports at most 18")]
    Decimals {
        /// The coin's index.
        coin: usize,
        /// The number of decimals found.
        found: u8,
    },
    /// A balance or a price is zero or has more than 128 bits.
    #[error("the balance or a price of coin {coin} is zero or above 128 bits")]
    OutOfRange {
        /// The coin's index.
        coin: usize,
    },
    /// A parameter is zero, or above the contracts' maximum.
    #[error("amplification, gamma, fees or invariant are outside the contract's bounds")]
    Parameters,
}

/// Why the contract refuses an amount.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AmountRefusal {
    TooLittle,
    TooMuch,
}

impl CryptoSwap {
    /// A pool with this state, for coins 0 and 1.
    pub fn new(parts: CryptoSwapParts) -> Result<Self, CryptoSwapError> {
        let lengths = [&parts.price_scale, &parts.last_prices].map(Vec::len);
        let (coins, decimals, [scales, last]) =
            (parts.balances.len(), parts.decimals.len(), lengths);
        if !matches!(coins, 2 | 3) || decimals != coins || scales + 1 != coins || last != scales {
            return Err(CryptoSwapError::Lengths { coins, decimals, scales, last });
        }
        let fits = |number: &U256| !number.is_zero() && number.bit_len() <= 128;
        for coin in 0..coins {
            let found = parts.decimals[coin];
            if found > 18 {
                return Err(CryptoSwapError::Decimals { coin, found });
            }
            let prices = [&parts.price_scale, &parts.last_prices];
            let priced = coin == 0 || prices.iter().all(|prices| fits(&prices[coin - 1]));
            if !fits(&parts.balances[coin]) || !priced {
                return Err(CryptoSwapError::OutOfRange { coin });
            }
        }
        let [mid, out] = parts.fees;
        let most = 1_000_000_000_000_000_000;
        let positive = parts.amp > 0 && parts.gamma > 0 && parts.amp >> 53 == 0;
        let bounded = parts.gamma <= most && parts.fee_gamma <= most && out < FEE_DENOMINATOR;
        if !positive || !bounded || mid > out || !fits(&parts.invariant) {
            return Err(CryptoSwapError::Parameters);
        }
        Ok(Self { parts: Box::new(parts), pair: [0, 1] })
    }

    /// Raw balances, one per coin.
    pub fn balances(&self) -> &[U256] {
        &self.parts.balances
    }

    fn coins_of(&self, direction: Direction) -> (usize, usize) {
        (self.pair[direction.base_index()], self.pair[direction.quote_index()])
    }

    /// The factor from a coin's decimals to eighteen decimals.
    fn precision(&self, coin: usize) -> U256 {
        U256::from(10_u64.pow(u32::from(18 - self.parts.decimals[coin])))
    }

    fn scale(&self, coin: usize) -> U256 {
        if coin == 0 { ONE_WORD } else { self.parts.price_scale[coin - 1] }
    }

    /// A balance in units of the first coin, with eighteen decimals.
    fn scale_balance(&self, coin: usize, balance: U256) -> Option<U256> {
        if coin == 0 {
            return checked_times(balance, self.precision(0));
        }
        let priced = checked_times(balance, self.scale(coin))?;
        checked_mul_over(priced, self.precision(coin), ONE_WORD)
    }

    /// The contract's last price.
    fn mid(&self, direction: Direction) -> RawPrice {
        let (sold, bought) = self.coins_of(direction);
        let price = |coin: usize| {
            let price = if coin == 0 { ONE_WORD } else { self.parts.last_prices[coin - 1] };
            U1024::from(price) * U1024::from(self.precision(coin))
        };
        RawPrice::of_ratio(price(sold), price(bought))
    }

    /// The output of a swap and its fee rate.
    fn swap(&self, direction: Direction, amount_in: U256) -> Result<(U256, u64), AmountRefusal> {
        let (sold, bought) = self.coins_of(direction);
        let much = AmountRefusal::TooMuch;
        let mut balances = self.parts.balances.clone();
        balances[sold] = balances[sold].checked_add(amount_in).ok_or(much)?;
        let scaled = balances.iter().enumerate().map(|(coin, x)| self.scale_balance(coin, *x));
        let mut scaled = scaled.collect::<Option<Vec<_>>>().ok_or(much)?;
        let y = self.beside(&scaled, bought).ok_or(much)?;
        let dy = scaled[bought].checked_sub(y).and_then(|dy| dy.checked_sub(U256::ONE));
        let dy = dy.ok_or(AmountRefusal::TooLittle)?;
        scaled[bought] = y;
        let raw = if bought == 0 {
            dy
        } else {
            checked_mul_over(dy, ONE_WORD, self.scale(bought)).ok_or(much)?
        };
        let raw = over(raw, self.precision(bought));
        let fee = self.fee(&scaled).ok_or(much)?;
        let kept = checked_mul_over(U256::from(fee), raw, U256::from(FEE_DENOMINATOR));
        let out = raw - kept.ok_or(much)?;
        if out > self.parts.balances[bought] { Err(much) } else { Ok((out, fee)) }
    }

    /// The scaled balance of a coin, given the other balances.
    fn beside(&self, scaled: &[U256], coin: usize) -> Option<U256> {
        let parts = &self.parts;
        let (ann, gamma) = (U256::from(parts.amp), U256::from(parts.gamma));
        let curve = Curve { ann, gamma, invariant: parts.invariant };
        let mut others = (0..scaled.len()).filter(|other| *other != coin).map(|k| scaled[k]);
        match (others.next()?, others.next()) {
            (first, Some(second)) => curve.beside_two([first, second]),
            (other, None) => curve.beside_one(other),
        }
    }

    /// The fee of a swap that leaves these balances (`_fee`), in parts of `10^10`.
    fn fee(&self, scaled: &[U256]) -> Option<u64> {
        let (one, n) = (U512::from(ONE), U512::from(scaled.len() as u64));
        let sum = scaled.iter().fold(U512::ZERO, |sum, x| sum + U512::from(*x));
        let wide = |coin: usize| U512::from(scaled[coin]);
        let alike = if scaled.len() == 2 {
            (one * n * n * wide(0)).checked_div(sum)? * wide(1) / sum
        } else {
            let next = |alike: U512, x: &U256| (alike * n * U512::from(*x)).checked_div(sum);
            scaled.iter().try_fold(one, next)?
        };
        let gamma = U512::from(self.parts.fee_gamma);
        let share = if gamma.is_zero() && scaled.len() == 3 {
            alike
        } else {
            (gamma * one).checked_div((gamma + one).checked_sub(alike)?)?
        };
        let [mid, out] = self.parts.fees.map(U512::from);
        let fee = (mid * share + out * one.checked_sub(share)?) / one;
        narrow(fee).map(|fee| fee.saturating_to::<u64>())
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
            Ok((amount_out, fee)) => {
                let fee = FeeRate { numerator: fee, denominator: FEE_DENOMINATOR };
                Ok(Fill { amount_in, amount_out, fee, end: None })
            }
            Err(AmountRefusal::TooLittle) => Err(FillError::ZeroOutput),
            Err(AmountRefusal::TooMuch) => {
                let consumed = most();
                let paid = self.swap(direction, consumed).map_or(U256::ZERO, |(out, _)| out);
                Err(FillError::BeyondLiquidity { consumed, paid })
            }
        }
    }

    /// The largest input such that it and every smaller one is accepted.
    fn most_taken(&self, direction: Direction) -> U256 {
        let (sold, _) = self.coins_of(direction);
        let taken = |amount| self.swap(direction, amount) != Err(AmountRefusal::TooMuch);
        largest_taken(self.parts.balances[sold], taken)
    }
}

impl PoolKind for CryptoSwap {
    type Sale = CryptoSale;

    fn fee(&self) -> PoolFee {
        let [least, most] =
            self.parts.fees.map(|numerator| FeeRate { numerator, denominator: FEE_DENOMINATOR });
        PoolFee::Between { least, most }
    }

    fn variety(&self) -> Option<&'static str> {
        Some(if self.parts.balances.len() == 3 { "Tricrypto-NG" } else { "Twocrypto-NG" })
    }

    fn coins(&self) -> usize {
        self.parts.balances.len()
    }

    fn sorts_tokens(&self) -> bool {
        false
    }

    fn decimals(&self) -> &[u8] {
        &self.parts.decimals
    }

    fn of_pair(self, pair: Pair) -> Self {
        Self { pair: pair.indices(), ..self }
    }

    fn is_followed(&self) -> bool {
        false
    }

    fn sale(&self, direction: Direction) -> CryptoSale {
        CryptoSale::new(self.clone(), direction)
    }

    fn fill_once(&self, direction: Direction, amount_in: U256) -> Result<Fill, FillError> {
        self.fill(direction, amount_in, || self.most_taken(direction))
    }

    /// Updates only the balances: see [`PoolKind::is_followed`].
    fn after(&self, direction: Direction, fill: &Fill) -> Self {
        let (sold, bought) = self.coins_of(direction);
        let mut after = self.clone();
        let balances = &mut after.parts.balances;
        balances[sold] = balances[sold].saturating_add(fill.amount_in);
        balances[bought] = balances[bought].saturating_sub(fill.amount_out);
        after
    }

    /// The state is not followed, so there is no recovery.
    fn with_recovery(&self, _start: &PoolState, _direction: Direction, _recovered_e8: u32) -> Self {
        self.clone()
    }

    fn held_bytes(&self) -> usize {
        size_of::<CryptoSwapParts>() + 3 * self.parts.balances.len() * size_of::<U256>()
    }

    fn sale_bytes_at_most(&self, _direction: Direction) -> usize {
        self.held_bytes()
    }
}

#[cfg(test)]
mod tests;
