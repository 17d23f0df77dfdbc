//! Plain pools: one formula, coins with constant rates, no oracle.
//!
//! A plain pool does not report which of the published rules it uses. The rules are known for some pools by their own
//! address, whose code cannot change, and for pools of Curve's first factory by the implementation that the factory
//! reports. Other pools that answer like a plain pool are refused, with a code if their answers identify one.

use alloy::primitives::U256 as Word;
use exitgap_core::U256;
use exitgap_core::ids::{Address, PoolId};
use exitgap_core::pools::{DRule, StableSwapParts};
use exitgap_core::snapshot::Observation;

use super::{TEXT_WORDS, coins_of, state_of};
use crate::abi::{Answer, Call, CurveOldPool, CurvePlainFactory, CurvePool, Erc20, own, wire};
use crate::config::{Factory, FactoryKind, NOBODY, PoolPlan};
use crate::pools::answer_cursor::{AnswerCursor, inconsistent};
use crate::pools::reader::{
    Candidate, Claim, DecodedState, PoolReader, Probe, RecognisedPool, data_of,
};
use crate::read_failure::ReadFailure;
use crate::trial::{Outcome, Sale, Verdict};

/// The address that Curve's contracts use for the chain's native coin.
const NATIVE: Address = Address([0xee; 20]);
/// The decimals of a raw unit's rate and of a scaled balance together.
const RATE_DECIMALS: u64 = 36;

/// The rules of one published contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PlainRule {
    coins: usize,
    /// The precision of its amplification.
    a_precision: u8,
    d_rule: DRule,
    less_one: bool,
    /// Whether it uses signed coin indices everywhere, like the first pools.
    signed: bool,
    name: &'static str,
}

impl PlainRule {
    /// The rules of 3pool.
    pub(super) const THREE: Self = Self {
        coins: 3,
        a_precision: 1,
        d_rule: DRule::EachN,
        less_one: true,
        signed: false,
        name: "stableswap of Curve's 3pool",
    };
    /// The rules common to the factory's implementations.
    const MADE: Self =
        Self { a_precision: 100, name: "stableswap of Curve's plain pools", ..Self::THREE };

    /// The rules of a pool that is known by its own address.
    fn of_pool(kind: FactoryKind) -> Option<Self> {
        match kind {
            FactoryKind::Curve3pool => Some(Self::THREE),
            FactoryKind::CurveHbtc => {
                Some(Self { coins: 2, name: "stableswap of Curve's hBTC pool", ..Self::THREE })
            }
            FactoryKind::CurveSusd => Some(Self {
                coins: 4,
                d_rule: DRule::EachNPlusOne,
                less_one: false,
                signed: true,
                name: "stableswap of Curve's sUSD pool",
                ..Self::THREE
            }),
            FactoryKind::CurveEurs => {
                Some(Self { coins: 2, name: "stableswap of Curve's EURS pool", ..Self::MADE })
            }
            _ => None,
        }
    }

    /// The rules of an implementation.
    fn of_implementation(kind: FactoryKind) -> Option<Self> {
        match kind {
            FactoryKind::CurvePlain2Basic => {
                Some(Self { coins: 2, d_rule: DRule::NPowN, ..Self::MADE })
            }
            FactoryKind::CurvePlain3Basic => Some(Self::MADE),
            FactoryKind::CurvePlain4Basic => Some(Self { coins: 4, ..Self::MADE }),
            _ => None,
        }
    }
}

/// Reads one pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PlainReader {
    pub(super) pool: Address,
    pub(super) coins: Vec<Address>,
    pub(super) rule: PlainRule,
}

/// The rules of a pool that is known by its own address.
fn known_rule(pool: Address, known: &[Factory]) -> Option<PlainRule> {
    let mut same = known.iter().filter(|known| known.address == pool);
    same.find_map(|known| PlainRule::of_pool(known.kind))
}

fn factories(known: &[Factory]) -> impl Iterator<Item = Address> {
    let ours = known.iter().filter(|factory| factory.kind == FactoryKind::CurvePlain);
    ours.map(|factory| factory.address)
}

/// The calls to a pool whose address is unknown, for an informative refusal.
fn own_probes(pool: Address) -> [Probe; 6] {
    [
        // A pool with a version is of a later generation.
        Probe::new("version", pool, &CurvePool::versionCall {}, TEXT_WORDS),
        Probe::new("A", pool, &CurvePool::ACall {}, 1),
        Probe::new("coins", pool, &CurvePool::coinsCall { i: Word::ZERO }, 1),
        Probe::new("coins by signed index", pool, &CurveOldPool::coinsCall { i: 0 }, 1),
        Probe::new("base_pool", pool, &CurveOldPool::base_poolCall {}, 1),
        Probe::new("underlying_coins", pool, &CurveOldPool::underlying_coinsCall { i: 0 }, 1),
    ]
}

/// The calls to a factory about a pool.
fn factory_probes(factory: Address, pool: Address) -> [Probe; 3] {
    let pool = wire(pool);
    let implementation = CurvePlainFactory::get_implementation_addressCall { pool };
    [
        Probe::new("get_implementation_address", factory, &implementation, 1),
        Probe::new("is_meta", factory, &CurvePlainFactory::is_metaCall { pool }, 1),
        Probe::new("get_coins of four", factory, &CurvePlainFactory::get_coinsCall { pool }, 4),
    ]
}

/// A factory's data about a pool that is its own.
struct FactoryEntry {
    implementation: Address,
    is_meta: bool,
    coins: Vec<Address>,
}

impl FactoryEntry {
    fn from_answers(answers: &[Answer; 3]) -> Option<Self> {
        let [implementation, is_meta, coins] = answers;
        let implementation =
            own(implementation.exact::<CurvePlainFactory::get_implementation_addressCall>(1)?);
        let is_meta = is_meta.exact::<CurvePlainFactory::is_metaCall>(1)?;
        let coins = coins.exact::<CurvePlainFactory::get_coinsCall>(4)?.map(own);
        let coins: Vec<Address> = coins.into_iter().filter(|coin| *coin != NOBODY).collect();
        (implementation != NOBODY).then_some(Self { implementation, is_meta, coins })
    }

    /// The rules that the pool uses, or why it is refused.
    fn rule(&self, known: &[Factory]) -> Result<PlainRule, String> {
        let Self { implementation, is_meta, coins } = self;
        if *is_meta {
            return Err(META.to_owned());
        }
        if coins.contains(&NATIVE) {
            return Err(NATIVE_POOL.to_owned());
        }
        let mut same = known.iter().filter(|known| known.address == *implementation);
        same.find_map(|known| PlainRule::of_implementation(known.kind)).ok_or_else(|| {
            format!(
                "unverified_version: according to its factory its code is {implementation}, whose rule is unknown"
            )
        })
    }
}

const META: &str = "metapool: one of its coins is a share of another pool";
const NATIVE_POOL: &str =
    "native_pool: it pools the chain's native coin, which is sent with the call";

/// Why a contract that answers like a plain pool, but belongs to no factory, is not read.
fn refusal(answers: &[Answer; 6]) -> Option<String> {
    let [version, a, coin, signed, base, underlying] = answers;
    let coins = [
        coin.exact::<CurvePool::coinsCall>(1).map(own),
        signed.exact::<CurveOldPool::coinsCall>(1).map(own),
    ];
    let unversioned = version.exact::<CurvePool::versionCall>(TEXT_WORDS).is_none();
    let amplified = a.exact::<CurvePool::ACall>(1).is_some();
    let first = coins.into_iter().flatten().next().filter(|_| unversioned && amplified)?;
    let why = if first == NATIVE {
        NATIVE_POOL
    } else if base.exact::<CurveOldPool::base_poolCall>(1).is_some() {
        META
    } else if underlying.exact::<CurveOldPool::underlying_coinsCall>(1).is_some() {
        "lending_coins: its coins are lent out, and their rates come from the lending protocol"
    } else {
        "unverified_version: it looks like a plain Curve pool, but neither its address nor a factory identifies \
         the rule it uses"
    };
    Some(why.to_owned())
}

impl PoolReader for PlainReader {
    fn probes(plan: &PoolPlan, known: &[Factory]) -> Vec<Probe> {
        let Some(pool) = plan.id.contract().address() else { return Vec::new() };
        if let Some(rule) = known_rule(pool, known) {
            return (0..rule.coins).map(|coin| rule.coin_probe(pool, coin)).collect();
        }
        let of_factories = factories(known).flat_map(|factory| factory_probes(factory, pool));
        own_probes(pool).into_iter().chain(of_factories).collect()
    }

    fn identify(candidate: &Candidate<'_>, answers: &[Answer]) -> Claim<Self> {
        let (plan, known) = (candidate.plan, candidate.factories);
        let Some(pool) = plan.id.contract().address() else { return Claim::Foreign };
        let (rule, coins) = if let Some(rule) = known_rule(pool, known) {
            let coin = |answer: &Answer| Some(own(answer.exact::<CurvePool::coinsCall>(1)?));
            let Some(coins) = answers.iter().map(coin).collect::<Option<Vec<_>>>() else {
                return Claim::Partly;
            };
            (rule, coins)
        } else {
            let Some((of_pool, of_factories)) = answers.split_first_chunk::<6>() else {
                return Claim::Foreign;
            };
            let mut registered =
                of_factories.as_chunks::<3>().0.iter().filter_map(FactoryEntry::from_answers);
            let Some(registered) = registered.next() else {
                return refusal(of_pool).map_or(Claim::Foreign, Claim::Refused);
            };
            match registered.rule(known) {
                Ok(rule) => (rule, registered.coins),
                Err(why) => return Claim::Refused(why),
            }
        };
        if plan.fee.is_some() {
            return Claim::Refused("a Curve pool reports its own fee; remove `fee`".to_owned());
        }
        if coins.len() != rule.coins {
            return Claim::Partly;
        }
        let reader = Self { pool, coins: coins.clone(), rule };
        Claim::Is(RecognisedPool { reader, tokens: coins, proof: None })
    }

    fn name(&self) -> &'static str {
        self.rule.name
    }

    fn state_calls(&self) -> Vec<Call> {
        let (pool, rule) = (self.pool, self.rule);
        let amp = if rule.a_precision == 1 {
            Call::new(pool, &CurvePool::ACall {}, 1)
        } else {
            Call::new(pool, &CurvePool::A_preciseCall {}, 1)
        };
        let of_all = [
            amp,
            Call::new(pool, &CurvePool::feeCall {}, 1),
            Call::new(pool, &CurvePool::admin_feeCall {}, 1),
        ];
        let balances = (0..rule.coins).map(|coin| rule.balance_call(pool, coin));
        let decimals = self.coins.iter().map(|coin| Call::new(*coin, &Erc20::decimalsCall {}, 1));
        of_all.into_iter().chain(balances).chain(decimals).collect()
    }

    fn decode(
        &self,
        pool: &PoolId,
        _at: u64,
        answers: &[Answer],
    ) -> Result<DecodedState, ReadFailure> {
        let rule = self.rule;
        let mut told = AnswerCursor::new(pool, answers);
        // These answers have one word each.
        let amp = told.small::<CurvePool::feeCall>("its amplification")?;
        let fee = told.small::<CurvePool::feeCall>("fee")?;
        let admin_fee = told.small::<CurvePool::feeCall>("admin_fee")?;
        let mut balances = Vec::new();
        for _ in 0..rule.coins {
            balances.push(told.next::<CurvePool::feeCall>("balances", 1)?);
        }
        let mut rates = Vec::new();
        for coin in &self.coins {
            let decimals = told.small::<CurvePool::feeCall>("decimals")?;
            let power = RATE_DECIMALS.checked_sub(decimals).ok_or_else(|| {
                inconsistent(pool, format!("decimals returned {decimals} for its coin {coin}"))
            })?;
            rates.push(U256::from(10_u64).pow(Word::from(power)));
        }
        state_of(
            pool,
            StableSwapParts {
                balances,
                rates,
                amp,
                a_precision: rule.a_precision,
                d_rule: rule.d_rule,
                less_one: rule.less_one,
                fee,
                admin_fee,
                ng: None,
            },
        )
    }

    /// A quote changes nothing.
    const TRIED_AT_ONCE: usize = 2;

    fn swapped_by(&self) -> Address {
        self.pool
    }

    /// An exchange returns nothing, so the quote is requested instead, which rounds once more.
    fn trial_calls(&self, sale: &Sale) -> Vec<Vec<u8>> {
        let [i, j] = coins_of(sale);
        vec![data_of(&CurvePool::get_dyCall { i, j, dx: sale.amount_in })]
    }

    fn judge(&self, _pool: &Observation, sale: &Sale, outcomes: &[Outcome]) -> Verdict {
        let quoted = outcomes.first().and_then(Outcome::paid);
        match quoted {
            Some(quoted) if quoted.abs_diff(sale.amount_out) <= U256::ONE => Verdict::Same,
            Some(quoted) => Verdict::Other(format!(
                "its contract quotes {quoted} for {}, but the computed fill is {}",
                sale.amount_in, sale.amount_out
            )),
            None => Verdict::Unknown("its contract gives no quote".to_owned()),
        }
    }
}

impl PlainRule {
    fn coin_probe(self, pool: Address, coin: usize) -> Probe {
        if self.signed {
            return Probe::new("coins", pool, &CurveOldPool::coinsCall { i: coin_index(coin) }, 1);
        }
        Probe::new("coins", pool, &CurvePool::coinsCall { i: Word::from(coin) }, 1)
    }

    fn balance_call(self, pool: Address, coin: usize) -> Call {
        if self.signed {
            return Call::new(pool, &CurveOldPool::balancesCall { i: coin_index(coin) }, 1);
        }
        Call::new(pool, &CurvePool::balancesCall { i: Word::from(coin) }, 1)
    }
}

/// A coin's index as the first contracts number it.
fn coin_index(coin: usize) -> i128 {
    i128::try_from(coin).unwrap_or(i128::MAX)
}
