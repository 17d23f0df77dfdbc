//! The pool known as 3pool, and what has its code: one formula, three coins, no oracle.

use alloy::primitives::U256 as Word;
use exitgap_core::U256;
use exitgap_core::ids::{Address, PoolId};
use exitgap_core::pools::{DRule, StableSwapParts};
use exitgap_core::series::MissingReason;
use exitgap_core::snapshot::Observation;

use super::{coins_of, state_of, told};
use crate::abi::{Answer, Call, CurvePool, Erc20, own};
use crate::config::{Factory, FactoryKind, PoolPlan};
use crate::missing::Missing;
use crate::pools::reader::{Candidate, Claim, PoolReader, Probe, Reading, Recognised, data_of};
use crate::trial::{Outcome, Sale, Verdict};

const COINS: usize = 3;
/// Decimals of a raw unit's rate and of a scaled balance together.
const RATE_DECIMALS: u8 = 36;

/// Reads one pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ThreeReader {
    pub(super) pool: Address,
    pub(super) coins: [Address; COINS],
}

/// Whether the pool is one that is known by its own address.
fn is_known(pool: Address, factories: &[Factory]) -> bool {
    let same = |known: &Factory| known.kind == FactoryKind::Curve3pool && known.address == pool;
    factories.iter().any(same)
}

impl PoolReader for ThreeReader {
    fn probes(plan: &PoolPlan, factories: &[Factory]) -> Vec<Probe> {
        let known = plan.id.contract().address().filter(|pool| is_known(*pool, factories));
        let Some(pool) = known else { return Vec::new() };
        let coin =
            |i: usize| Probe::new("coins", pool, &CurvePool::coinsCall { i: Word::from(i) }, 1);
        (0..COINS).map(coin).collect()
    }

    fn identify(candidate: &Candidate<'_>, answers: &[Answer]) -> Claim<Self> {
        let Some(pool) = candidate.plan.id.contract().address() else { return Claim::Foreign };
        if !is_known(pool, candidate.factories) {
            return Claim::Foreign;
        }
        if candidate.plan.fee.is_some() {
            return Claim::Refused("a pool of Curve tells its own fee; remove `fee`".to_owned());
        }
        let coin = |answer: &Answer| Some(own(answer.exact::<CurvePool::coinsCall>(1)?));
        let coins: Option<Vec<Address>> = answers.iter().map(coin).collect();
        match coins.and_then(|coins| <[Address; COINS]>::try_from(coins).ok()) {
            Some(coins) => {
                let reader = Self { pool, coins };
                Claim::Is(Recognised { reader, tokens: coins.to_vec(), proof: None })
            }
            None => Claim::Partly,
        }
    }

    fn name(&self) -> &'static str {
        "stableswap of Curve's 3pool"
    }

    fn state_calls(&self) -> Vec<Call> {
        let pool = self.pool;
        let of_all = [
            Call::new(pool, &CurvePool::ACall {}, 1),
            Call::new(pool, &CurvePool::feeCall {}, 1),
            Call::new(pool, &CurvePool::admin_feeCall {}, 1),
        ];
        let balances =
            (0..COINS).map(|i| Call::new(pool, &CurvePool::balancesCall { i: Word::from(i) }, 1));
        let decimals = self.coins.iter().map(|coin| Call::new(*coin, &Erc20::decimalsCall {}, 1));
        of_all.into_iter().chain(balances).chain(decimals).collect()
    }

    fn decode(&self, pool: &PoolId, _at: u64, answers: &[Answer]) -> Result<Reading, Missing> {
        let number = |at: usize, call: &'static str| -> Result<U256, Missing> {
            told::<CurvePool::feeCall>(pool, call, answers.get(at), 1)
        };
        let small = |at: usize, call: &'static str, below: u64| -> Result<u64, Missing> {
            let found = number(at, call)?;
            u64::try_from(found).ok().filter(|found| *found < below).ok_or_else(|| {
                let detail = format!("pool {pool}: {call} tells {found}");
                Missing::new(MissingReason::StateInconsistent, detail)
            })
        };
        let balances =
            (0..COINS).map(|coin| number(3 + coin, "balances")).collect::<Result<_, _>>()?;
        let rate = |coin: usize| {
            let decimals = small(3 + COINS + coin, "decimals", u64::from(RATE_DECIMALS) + 1)?;
            let power = Word::from(u64::from(RATE_DECIMALS) - decimals);
            Ok(U256::from(10_u64).pow(power))
        };
        state_of(
            pool,
            StableSwapParts {
                balances,
                rates: (0..COINS).map(rate).collect::<Result<_, Missing>>()?,
                amp: small(0, "A", u64::MAX)?,
                a_precision: 1,
                d_rule: DRule::EachN,
                less_one: true,
                fee: small(1, "fee", u64::MAX)?,
                admin_fee: small(2, "admin_fee", u64::MAX)?,
                ng: None,
            },
        )
    }

    /// A quote changes nothing.
    const TRIED_AT_ONCE: usize = 2;

    fn swapped_by(&self) -> Address {
        self.pool
    }

    /// An exchange returns nothing, so that its quote is asked for, which rounds once more.
    fn trial_calls(&self, sale: &Sale) -> Vec<Vec<u8>> {
        let [i, j] = coins_of(sale);
        vec![data_of(&CurvePool::get_dyCall { i, j, dx: sale.amount_in })]
    }

    fn judge(&self, _pool: &Observation, sale: &Sale, outcomes: &[Outcome]) -> Verdict {
        let quoted = outcomes.first().and_then(Outcome::paid);
        match quoted {
            Some(quoted) if quoted.abs_diff(sale.amount_out) <= U256::ONE => Verdict::Same,
            Some(quoted) => Verdict::Other(format!(
                "its contract quotes {quoted} for {}, our fill says {}",
                sale.amount_in, sale.amount_out
            )),
            None => Verdict::Unknown("its contract quotes nothing".to_owned()),
        }
    }
}
