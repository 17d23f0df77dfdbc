//! `StableSwap`-NG 7.0.0: rates from oracles and vaults, and a fee that grows with the imbalance of the balances.

use alloy::primitives::U256 as Word;
use alloy::sol_types::SolCall;
use exitgap_core::U256;
use exitgap_core::ids::{Address, PoolId};
use exitgap_core::pools::{DRule, NgParts, StableSwap, StableSwapParts};
use exitgap_core::series::MissingReason;
use exitgap_core::snapshot::Observation;

use super::{MAX_COINS, TEXT_WORDS, coins_of, decode_answer, list_words, state_of};
use crate::abi::{Answer, Call, CurveFactory, CurvePool, own, wire};
use crate::config::{Factory, FactoryKind, PoolPlan};
use crate::pools::reader::{
    Candidate, Claim, DecodedState, PoolReader, Probe, RecognisedPool, data_of,
};
use crate::read_failure::ReadFailure;
use crate::trial::{Outcome, Sale, Verdict};

/// The supported version.
const VERSION: &str = "v7.0.0";

/// Reads one pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NgReader {
    pub(super) pool: Address,
    /// The asset type of each coin.
    pub(super) asset_types: Vec<u8>,
}

fn factories(factories: &[Factory]) -> impl Iterator<Item = Address> {
    let ours = factories.iter().filter(|factory| factory.kind == FactoryKind::CurveStableNg);
    ours.map(|factory| factory.address)
}

/// The calls to a factory about a pool.
fn factory_probes(factory: Address, pool: Address) -> [Probe; 3] {
    let pool = wire(pool);
    let words = list_words(MAX_COINS);
    [
        Probe::new("get_coins", factory, &CurveFactory::get_coinsCall { pool }, words),
        Probe::new("is_meta", factory, &CurveFactory::is_metaCall { pool }, 1),
        Probe::new(
            "get_pool_asset_types",
            factory,
            &CurveFactory::get_pool_asset_typesCall { pool },
            words,
        ),
    ]
}

/// A factory's data about a pool.
struct FactoryEntry {
    coins: Vec<Address>,
    is_meta: bool,
    pub(super) asset_types: Vec<u8>,
}

impl FactoryEntry {
    /// `None` if the pool is not the factory's.
    fn from_answers(answers: &[Answer]) -> Option<Self> {
        let [coins, is_meta, asset_types] = answers else { return None };
        let coins = coins.decode_list::<CurveFactory::get_coinsCall>(MAX_COINS)?;
        let coins: Vec<Address> = coins.into_iter().map(own).collect();
        let is_meta = is_meta.exact::<CurveFactory::is_metaCall>(1)?;
        let asset_types =
            asset_types.decode_list::<CurveFactory::get_pool_asset_typesCall>(MAX_COINS)?;
        (coins.len() >= 2).then_some(Self { coins, is_meta, asset_types })
    }
}

impl PoolReader for NgReader {
    fn probes(plan: &PoolPlan, known: &[Factory]) -> Vec<Probe> {
        let Some(pool) = plan.id.contract().address() else { return Vec::new() };
        let version = Probe::new("version", pool, &CurvePool::versionCall {}, TEXT_WORDS);
        let of_factories = factories(known).flat_map(|factory| factory_probes(factory, pool));
        core::iter::once(version).chain(of_factories).collect()
    }

    fn identify(candidate: &Candidate<'_>, answers: &[Answer]) -> Claim<Self> {
        let plan = candidate.plan;
        let (Some(pool), [version, answers @ ..]) = (plan.id.contract().address(), answers) else {
            return Claim::Foreign;
        };
        let version = version.exact::<CurvePool::versionCall>(TEXT_WORDS);
        let Some(FactoryEntry { coins, is_meta, asset_types }) =
            answers.chunks_exact(3).find_map(FactoryEntry::from_answers)
        else {
            return match version.as_deref() {
                Some(VERSION) => Claim::Refused(
                    "it looks like a StableSwap-NG pool, but no known Curve factory on this chain confirms it; \
                     name its factory under [[chain.factory]] with kind = \"curve_stable_ng\""
                        .to_owned(),
                ),
                _ => Claim::Foreign,
            };
        };
        if is_meta {
            return Claim::Refused(
                "metapool: one of its coins is a share of another pool".to_owned(),
            );
        }
        if version.as_deref() != Some(VERSION) {
            let found: String = version.unwrap_or_default().chars().take(16).collect();
            return Claim::Refused(format!(
                "unverified_version: its version is {found:?}; the supported version is {VERSION:?}"
            ));
        }
        if let Some(coin) = asset_types.iter().position(|kind| *kind == 2) {
            return Claim::Refused(format!("rebasing: its coin {coin} rebases"));
        }
        if plan.fee.is_some() {
            return Claim::Refused("a Curve pool reports its own fee; remove `fee`".to_owned());
        }
        if asset_types.len() != coins.len() {
            return Claim::Partly;
        }
        let reader = Self { pool, asset_types };
        Claim::Is(RecognisedPool { reader, tokens: coins, proof: None })
    }

    fn name(&self) -> &'static str {
        "stableswap of Curve's StableSwap-NG"
    }

    fn state_calls(&self) -> Vec<Call> {
        let (pool, coins) = (self.pool, self.asset_types.len());
        let of_all = [
            Call::new(pool, &CurvePool::get_balancesCall {}, list_words(coins)),
            Call::new(pool, &CurvePool::stored_ratesCall {}, list_words(coins)),
            Call::new(pool, &CurvePool::A_preciseCall {}, 1),
            Call::new(pool, &CurvePool::feeCall {}, 1),
            Call::new(pool, &CurvePool::admin_feeCall {}, 1),
            Call::new(pool, &CurvePool::offpeg_fee_multiplierCall {}, 1),
        ];
        let of_coins = (0..coins).map(|i| CurvePool::admin_balancesCall { i: Word::from(i) });
        of_all.into_iter().chain(of_coins.map(|call| Call::new(pool, &call, 1))).collect()
    }

    fn decode(
        &self,
        pool: &PoolId,
        _at: u64,
        answers: &[Answer],
    ) -> Result<DecodedState, ReadFailure> {
        let coins = self.asset_types.len();
        let list = |call: &str, found: Vec<U256>| {
            if found.len() == coins {
                return Ok(found);
            }
            let detail = format!("pool {pool}: {call} returned {} of {coins} coins", found.len());
            Err(ReadFailure::new(MissingReason::StateInconsistent, detail))
        };
        let words = list_words(coins);
        let [balances, rates, rest @ ..] = answers else {
            return Err(super::call_failure(pool, "get_balances", &Answer::Reverted));
        };
        let balances = decode_answer::<CurvePool::get_balancesCall>(
            pool,
            "get_balances",
            Some(balances),
            words,
        )?;
        if *rates == Answer::Reverted {
            let detail = format!("pool {pool}: rate_unreadable: stored_rates reverted");
            return Err(ReadFailure::new(MissingReason::CallReverted, detail));
        }
        let rates =
            decode_answer::<CurvePool::stored_ratesCall>(pool, "stored_rates", Some(rates), words)?;
        let number = |at: usize, call: &'static str| -> Result<U256, ReadFailure> {
            // These answers have one word each.
            decode_answer::<CurvePool::feeCall>(pool, call, rest.get(at), 1)
        };
        let small = |at: usize, call: &'static str| -> Result<u64, ReadFailure> {
            let found = number(at, call)?;
            u64::try_from(found).map_err(|_| {
                let detail = format!("pool {pool}: {call} returned {found}");
                ReadFailure::new(MissingReason::StateInconsistent, detail)
            })
        };
        let admin_balances =
            (0..coins).map(|coin| number(4 + coin, "admin_balances")).collect::<Result<_, _>>()?;
        state_of(
            pool,
            StableSwapParts {
                balances: list("get_balances", balances)?,
                rates: list("stored_rates", rates)?,
                amp: small(0, "A_precise")?,
                a_precision: 100,
                d_rule: DRule::NPowN,
                less_one: true,
                fee: small(1, "fee")?,
                admin_fee: small(2, "admin_fee")?,
                ng: Some(NgParts {
                    offpeg_fee_multiplier: small(3, "offpeg_fee_multiplier")?,
                    admin_balances,
                    asset_types: self.asset_types.clone(),
                }),
            },
        )
    }

    /// Each trial affects only its own token.
    const TRIED_AT_ONCE: usize = 2;

    fn swapped_by(&self) -> Address {
        self.pool
    }

    /// An exchange of tokens that were sent before, which the contract detects by its balance; and the contract's
    /// rates, which can depend on a coin that the trial has replaced with our ledger contract.
    fn trial_calls(&self, sale: &Sale) -> Vec<Vec<u8>> {
        let [i, j] = coins_of(sale);
        let (dx, min_dy) = (sale.amount_in, U256::ZERO);
        vec![
            data_of(&CurvePool::exchange_receivedCall { i, j, dx, min_dy }),
            data_of(&CurvePool::stored_ratesCall {}),
        ]
    }

    fn trial_balance(&self, pool: &Observation, sale: &Sale, token: usize) -> Option<U256> {
        let coin = pool.pair().indices()[token];
        let held = StableSwap::from_state(pool.state())?.held(coin)?;
        let sent = if token == sale.direction.base_index() { sale.amount_in } else { U256::ZERO };
        held.checked_add(sent)
    }

    /// An exchange that fails shows nothing, and neither does one at other rates, because its tokens are our ledger
    /// contracts.
    fn judge(&self, pool: &Observation, sale: &Sale, outcomes: &[Outcome]) -> Verdict {
        let [exchange, rates] = outcomes else {
            return Verdict::Unknown("the trial was not run".to_owned());
        };
        match exchange.paid() {
            Some(paid) if paid == sale.amount_out => Verdict::Same,
            Some(_) if !same_rates(pool, rates) => Verdict::Unknown(
                "its rates depend on its own tokens, which a trial replaces with simulated ledgers"
                    .to_owned(),
            ),
            Some(paid) => Verdict::Other(format!(
                "its contract pays {paid} for {}, but the computed fill is {}",
                sale.amount_in, sale.amount_out
            )),
            None => Verdict::Unknown(format!("the trial {}", exchange.in_words())),
        }
    }
}

/// Whether the contract's rates are the same as when the pool was read.
fn same_rates(pool: &Observation, told: &Outcome) -> bool {
    let told = CurvePool::stored_ratesCall::abi_decode_returns(&told.data).ok();
    let read = StableSwap::from_state(pool.state()).map(|state| state.rates().to_vec());
    told.is_some() && told == read
}
