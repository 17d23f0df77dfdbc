//! Crypto pools: Twocrypto-NG 2.1.0 and Tricrypto-NG 2.0.0.
//!
//! A pool is read if a factory of its kind confirms that it is the factory's own, and if the pool reports the known
//! version and uses the formula contract of that version. While its `A` and `gamma` ramp, a swap uses an invariant that
//! the contract does not expose. The slot is missing then.

use alloy::primitives::U256 as Word;
use exitgap_core::U256;
use exitgap_core::ids::{Address, PoolId};
use exitgap_core::pools::{CryptoSwap, CryptoSwapParts, PoolState};
use exitgap_core::snapshot::Observation;

use super::{TEXT_WORDS, coins_of};
use crate::abi::{
    Answer, Call, CurveCrypto, CurveCryptoOfThree, CurveFactoryOfThree, CurveFactoryOfTwo,
    CurvePool, own, wire,
};
use crate::config::{Factory, FactoryKind, NOBODY, PoolPlan};
use crate::pools::answer_cursor::{AnswerCursor, inconsistent, refuse_pool};
use crate::pools::reader::{
    Candidate, Claim, DecodedState, PoolReader, Probe, RecognisedPool, data_of,
};
use crate::read_failure::ReadFailure;
use crate::trial::{Outcome, Sale, Verdict};

/// The kinds of crypto pools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Family {
    OfTwo,
    OfThree,
}

impl Family {
    fn from_kind(kind: FactoryKind) -> Option<Self> {
        match kind {
            FactoryKind::CurveTwocryptoNg => Some(Self::OfTwo),
            FactoryKind::CurveTricryptoNg => Some(Self::OfThree),
            _ => None,
        }
    }

    fn coins(self) -> usize {
        match self {
            Self::OfTwo => 2,
            Self::OfThree => 3,
        }
    }

    /// The supported version, of a pool and of its formula contract.
    fn version(self) -> &'static str {
        match self {
            Self::OfTwo => "v2.1.0",
            Self::OfThree => "v2.0.0",
        }
    }

    /// The calls to a factory about a pool.
    fn probes(self, factory: Address, pool: Address) -> [Probe; 2] {
        let pool = wire(pool);
        match self {
            Self::OfTwo => [
                Probe::new(
                    "get_coins of two",
                    factory,
                    &CurveFactoryOfTwo::get_coinsCall { pool },
                    2,
                ),
                Probe::new(
                    "get_decimals",
                    factory,
                    &CurveFactoryOfTwo::get_decimalsCall { pool },
                    2,
                ),
            ],
            Self::OfThree => [
                Probe::new(
                    "get_coins of three",
                    factory,
                    &CurveFactoryOfThree::get_coinsCall { pool },
                    3,
                ),
                Probe::new(
                    "get_decimals",
                    factory,
                    &CurveFactoryOfThree::get_decimalsCall { pool },
                    3,
                ),
            ],
        }
    }

    /// The coins and their decimals, if the pool is the factory's.
    fn decode_coins(self, [coins, decimals]: &[Answer; 2]) -> Option<(Vec<Address>, Vec<U256>)> {
        let (coins, decimals) = match self {
            Self::OfTwo => (
                coins.exact::<CurveFactoryOfTwo::get_coinsCall>(2)?.to_vec(),
                decimals.exact::<CurveFactoryOfTwo::get_decimalsCall>(2)?.to_vec(),
            ),
            Self::OfThree => (
                coins.exact::<CurveFactoryOfThree::get_coinsCall>(3)?.to_vec(),
                decimals.exact::<CurveFactoryOfThree::get_decimalsCall>(3)?.to_vec(),
            ),
        };
        let coins: Vec<Address> = coins.into_iter().map(own).collect();
        (!coins.contains(&NOBODY)).then_some((coins, decimals))
    }
}

/// Reads one pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CryptoReader {
    pool: Address,
    family: Family,
    /// The contract with its formulas.
    math: Address,
    coins: Vec<Address>,
    decimals: Vec<u8>,
}

fn factories(known: &[Factory]) -> impl Iterator<Item = (Address, Family)> {
    known.iter().filter_map(|factory| Some((factory.address, Family::from_kind(factory.kind)?)))
}

/// Why a version is not supported.
fn version_refusal(whose: &str, said: Option<&str>, known: &str) -> String {
    let found: String = said.unwrap_or_default().chars().take(16).collect();
    format!("unverified_version: {whose} {found:?}; the supported version is {known:?}")
}

impl PoolReader for CryptoReader {
    fn probes(plan: &PoolPlan, known: &[Factory]) -> Vec<Probe> {
        let Some(pool) = plan.id.contract().address() else { return Vec::new() };
        let of_pool = [
            Probe::new("version", pool, &CurvePool::versionCall {}, TEXT_WORDS),
            Probe::new("gamma", pool, &CurveCrypto::gammaCall {}, 1),
            Probe::new("MATH", pool, &CurveCrypto::MATHCall {}, 1),
        ];
        let of_factories =
            factories(known).flat_map(|(factory, family)| family.probes(factory, pool));
        of_pool.into_iter().chain(of_factories).collect()
    }

    fn identify(candidate: &Candidate<'_>, answers: &[Answer]) -> Claim<Self> {
        let plan = candidate.plan;
        let (Some(pool), [version, gamma, math, of_factories @ ..]) =
            (plan.id.contract().address(), answers)
        else {
            return Claim::Foreign;
        };
        let version = version.exact::<CurvePool::versionCall>(TEXT_WORDS);
        let theirs = factories(candidate.factories).zip(of_factories.as_chunks::<2>().0);
        let mut theirs = theirs.filter_map(|((_, family), answers)| {
            family.decode_coins(answers).map(|(coins, decimals)| (family, coins, decimals))
        });
        let (family, coins, decimals) = match (theirs.next(), theirs.next()) {
            (Some(found), None) => found,
            (Some(_), Some(_)) => return Claim::Partly,
            (None, _)
                if version.is_some() && gamma.exact::<CurveCrypto::gammaCall>(1).is_some() =>
            {
                return Claim::Refused(
                    "it looks like a Curve crypto pool, but no known factory of such pools on this chain confirms \
                     it; name its factory under [[chain.factory]] with kind = \"curve_twocrypto_ng\" or \
                     \"curve_tricrypto_ng\""
                        .to_owned(),
                );
            }
            (None, _) => return Claim::Foreign,
        };
        if version.as_deref() != Some(family.version()) {
            return Claim::Refused(version_refusal(
                "its version is",
                version.as_deref(),
                family.version(),
            ));
        }
        if plan.fee.is_some() {
            return Claim::Refused("a Curve pool reports its own fee; remove `fee`".to_owned());
        }
        let decimals = decimals.iter().map(|decimals| u8::try_from(*decimals).ok());
        let (Some(math), Some(decimals)) =
            (math.exact::<CurveCrypto::MATHCall>(1).map(own), decimals.collect())
        else {
            return Claim::Partly;
        };
        let reader = Self { pool, family, math, coins, decimals };
        Claim::Is(RecognisedPool { reader, tokens: Vec::new(), proof: None })
    }

    /// Asks the contract with the formulas for its version.
    fn further(&self) -> Vec<Call> {
        vec![Call::new(self.math, &CurvePool::versionCall {}, TEXT_WORDS)]
    }

    fn confirm_registration(
        self,
        _plan: &PoolPlan,
        answers: &[Answer],
    ) -> Result<(Self, Vec<Address>), String> {
        let version =
            answers.first().and_then(|answer| answer.exact::<CurvePool::versionCall>(TEXT_WORDS));
        if version.as_deref() != Some(self.family.version()) {
            let whose = format!("the version of its math contract {} is", self.math);
            return Err(version_refusal(&whose, version.as_deref(), self.family.version()));
        }
        let coins = self.coins.clone();
        Ok((self, coins))
    }

    fn name(&self) -> &'static str {
        match self.family {
            Family::OfTwo => "cryptoswap of Curve's Twocrypto-NG",
            Family::OfThree => "cryptoswap of Curve's Tricrypto-NG",
        }
    }

    fn state_calls(&self) -> Vec<Call> {
        let pool = self.pool;
        let mut calls = vec![
            Call::new(pool, &CurveCrypto::future_A_gamma_timeCall {}, 1),
            Call::new(pool, &CurveCrypto::ACall {}, 1),
            Call::new(pool, &CurveCrypto::gammaCall {}, 1),
            Call::new(pool, &CurveCrypto::DCall {}, 1),
            Call::new(pool, &CurveCrypto::mid_feeCall {}, 1),
            Call::new(pool, &CurveCrypto::out_feeCall {}, 1),
            Call::new(pool, &CurveCrypto::fee_gammaCall {}, 1),
        ];
        let balance = |i| Call::new(pool, &CurveCrypto::balancesCall { i: Word::from(i) }, 1);
        calls.extend((0..self.family.coins()).map(balance));
        match self.family {
            Family::OfTwo => calls.extend([
                Call::new(pool, &CurveCrypto::price_scaleCall {}, 1),
                Call::new(pool, &CurveCrypto::last_pricesCall {}, 1),
            ]),
            Family::OfThree => {
                let scale = |k| CurveCryptoOfThree::price_scaleCall { k: Word::from(k) };
                let last = |k| CurveCryptoOfThree::last_pricesCall { k: Word::from(k) };
                calls.extend((0..2).map(|k| Call::new(pool, &scale(k), 1)));
                calls.extend((0..2).map(|k| Call::new(pool, &last(k), 1)));
            }
        }
        calls
    }

    fn decode(
        &self,
        pool: &PoolId,
        at: u64,
        answers: &[Answer],
    ) -> Result<DecodedState, ReadFailure> {
        let coins = self.family.coins();
        let mut told = AnswerCursor::new(pool, answers);
        // These answers have one word each.
        let ramped_until = told.next::<CurveCrypto::DCall>("future_A_gamma_time", 1)?;
        if ramped_until > U256::from(at) {
            let why = format!(
                "ramping: until {ramped_until} (seconds since 1970) its A and gamma change, and each swap uses a \
                 different invariant"
            );
            return Err(refuse_pool(pool, why));
        }
        let amp = told.small::<CurveCrypto::DCall>("A")?;
        let gamma = told.small::<CurveCrypto::DCall>("gamma")?;
        let invariant = told.next::<CurveCrypto::DCall>("D", 1)?;
        let mid_fee = told.small::<CurveCrypto::DCall>("mid_fee")?;
        let out_fee = told.small::<CurveCrypto::DCall>("out_fee")?;
        let fee_gamma = told.small::<CurveCrypto::DCall>("fee_gamma")?;
        let mut words = |call: &str, count: usize| -> Result<Vec<U256>, ReadFailure> {
            (0..count).map(|_| told.next::<CurveCrypto::DCall>(call, 1)).collect()
        };
        let parts = CryptoSwapParts {
            balances: words("balances", coins)?,
            decimals: self.decimals.clone(),
            price_scale: words("price_scale", coins - 1)?,
            last_prices: words("last_prices", coins - 1)?,
            invariant,
            amp,
            gamma,
            fees: [mid_fee, out_fee],
            fee_gamma,
        };
        let state = CryptoSwap::new(parts).map_err(|error| inconsistent(pool, error))?;
        Ok(DecodedState::Whole(PoolState::from(state)))
    }

    /// A quote changes nothing.
    const TRIED_AT_ONCE: usize = 2;

    fn swapped_by(&self) -> Address {
        self.pool
    }

    /// Its quote, which equals its fill whenever a fill succeeds. A quote does not show that the price update after a
    /// fill could make the swap revert.
    fn trial_calls(&self, sale: &Sale) -> Vec<Vec<u8>> {
        let [i, j] = coins_of(sale).map(Word::saturating_from);
        vec![data_of(&CurveCrypto::get_dyCall { i, j, dx: sale.amount_in })]
    }

    fn judge(&self, _pool: &Observation, sale: &Sale, outcomes: &[Outcome]) -> Verdict {
        match outcomes.first().and_then(Outcome::paid) {
            Some(quoted) if quoted == sale.amount_out => Verdict::Same,
            Some(quoted) => Verdict::Other(format!(
                "its contract quotes {quoted} for {}, but the computed fill is {}",
                sale.amount_in, sale.amount_out
            )),
            None => Verdict::Unknown("its contract gives no quote".to_owned()),
        }
    }
}
