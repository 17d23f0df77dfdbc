//! Balancer v2 in process: real vault, factories and pools, sales through the vault.

use alloy::primitives::{Address, B256, Bytes, U256, hex};
use alloy::sol_types::{SolCall, SolConstructor, SolValue};
use exitgap_core::ids::Pair;
use exitgap_core::pools::{Direction, PoolState, StableV2, VaultParts, Weighted};

use crate::ParityError;
use crate::evm::{Evm, OPERATOR, Revert};
use crate::market::Market;
use exitgap_tests::devchain::abi::{
    BalancerFactory, BalancerFees, BalancerPool as Contract, BalancerStableFactory, BalancerVault,
    BalancerWeightedFactory, RateProvider, Token,
};
use exitgap_tests::devchain::balancer::{PAUSE_SECONDS, YES};
use exitgap_tests::fixtures::Artifact;

/// Receives what swaps pay.
const RECIPIENT: Address = Address::repeat_byte(0x33);

/// Agrees to everything.
const AUTHORIZER: Address = Address::repeat_byte(0x34);

/// Is never called.
const WETH: Address = Address::repeat_byte(0x35);

/// Decimals of the tokens that pools are made of.
const DECIMALS: [u8; 5] = [0, 2, 6, 8, 18];

/// One, of eighteen decimals.
pub const ONE: u64 = 1_000_000_000_000_000_000;

/// Bits of the balances that pools here begin with and are sold at most, with eighteen decimals: a
/// bit less than core reads, as their sum has one more, and so has a rate of two.
pub const READ_BITS: usize = 147;

/// The contracts that all pools share, deployed once.
pub struct Bed {
    evm: Evm,
    vault: Address,
    /// Of weighted and of composable stable pools.
    factories: [Address; 2],
    /// Two of each number of decimals, by address.
    tokens: Vec<(Address, u8)>,
}

/// One pool on a machine of its own.
pub struct Pool {
    evm: Evm,
    vault: Address,
    address: Address,
    id: B256,
    stable: bool,
    /// All that it trades, and who tells its rate where somebody does.
    held: Vec<(Address, u8, Option<Address>)>,
    pair: Pair,
}

/// What a pool computes by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Law {
    /// The weight of each token, in shares of `10^18`.
    Weighted(Vec<u64>),
    /// An amplification, and the rate of each token that has one, of eighteen decimals.
    Stable {
        /// Not in thousandths, as the factory takes it.
        amplification: u64,
        /// One entry for each token.
        rates: Vec<Option<u64>>,
    },
}

/// What a pool is to be.
#[derive(Debug, Clone)]
pub struct PoolToMake {
    /// What it computes by.
    pub law: Law,
    /// Which of the bed's tokens, in their order, with their first balances.
    pub tokens: Vec<(usize, U256)>,
    /// A share of `10^18`.
    pub swap_fee: u64,
    /// Which two of its tokens are sold for one another.
    pub pair: Pair,
}

/// Code that answers every call with this number.
fn answering(number: u64) -> Vec<u8> {
    let mut code = vec![0x67];
    code.extend(number.to_be_bytes());
    code.extend(hex!("60005260206000f3"));
    code
}

/// What one unit of a token with so many decimals is of one with eighteen.
pub fn down(decimals: u8) -> U256 {
    U256::from(10).pow(U256::from(18 - decimals))
}

impl Bed {
    /// How many tokens there are.
    pub const TOKENS: usize = 2 * DECIMALS.len();

    /// Deploys vault, factories and tokens.
    pub fn deploy() -> Result<Self, ParityError> {
        let mut evm = Evm::new();
        evm.place(AUTHORIZER, YES.to_vec());
        let [pause, buffer] = PAUSE_SECONDS.map(U256::from);
        let arguments = BalancerVault::constructorCall {
            authorizer: AUTHORIZER,
            weth: WETH,
            pauseWindowDuration: pause,
            bufferPeriodDuration: buffer,
        };
        let vault = evm.deploy(Artifact::BalancerVault, &arguments.abi_encode())?;
        let half = U256::from(ONE / 2);
        let arguments =
            BalancerFees::constructorCall { vault, maxYieldValue: half, maxAumValue: half };
        let fees = evm.deploy(Artifact::BalancerFees, &arguments.abi_encode())?;
        let arguments = BalancerFactory::constructorCall {
            vault,
            protocolFeeProvider: fees,
            factoryVersion: String::new(),
            poolVersion: String::new(),
        };
        let arguments = arguments.abi_encode();
        let factories = [
            evm.deploy(Artifact::BalancerWeightedFactory, &arguments)?,
            evm.deploy(Artifact::BalancerStableFactory, &arguments)?,
        ];
        let mut tokens = Vec::new();
        for decimals in [DECIMALS, DECIMALS].concat() {
            let (name, symbol) = ("Token".to_owned(), "TKN".to_owned());
            let arguments = Token::constructorCall { name, symbol, decimals };
            let token = evm.deploy(Artifact::MintableErc20, &arguments.abi_encode())?;
            evm.must(token, &Token::mintCall { account: OPERATOR, value: U256::ONE << 255 })?;
            evm.must(token, &Token::approveCall { spender: vault, amount: U256::MAX })?;
            tokens.push((token, decimals));
        }
        tokens.sort_unstable();
        Ok(Self { evm, vault, factories, tokens })
    }

    /// Decimals of one of the tokens.
    pub fn decimals(&self, token: usize) -> u8 {
        self.tokens[token].1
    }

    /// A pool with its first balances; the inner error is why it refuses them.
    pub fn pool(&self, make: &PoolToMake) -> Result<Result<Pool, Revert>, ParityError> {
        let mut evm = self.evm.fork();
        let tokens = make.tokens.iter().map(|(token, _)| self.tokens[*token]);
        let mut held: Vec<(Address, u8, Option<Address>)> =
            tokens.map(|(token, decimals)| (token, decimals, None)).collect();
        let addresses: Vec<Address> = held.iter().map(|it| it.0).collect();
        let (name, symbol) = ("Pool".to_owned(), "POOL".to_owned());
        let fee = U256::from(make.swap_fee);
        let address = match &make.law {
            Law::Weighted(weights) => {
                let create = BalancerWeightedFactory::createCall {
                    name,
                    symbol,
                    tokens: addresses,
                    normalizedWeights: weights.iter().map(|weight| U256::from(*weight)).collect(),
                    rateProviders: vec![Address::ZERO; held.len()],
                    swapFeePercentage: fee,
                    owner: OPERATOR,
                };
                evm.must(self.factories[0], &create)?
            }
            Law::Stable { amplification, rates } => {
                for (place, (token, rate)) in held.iter_mut().zip(rates).enumerate() {
                    let provider = Address::with_last_byte(0xa0 + u8::try_from(place).unwrap_or(0));
                    if let Some(rate) = rate {
                        evm.place(provider, answering(*rate));
                        token.2 = Some(provider);
                    }
                }
                let providers = held.iter().map(|it| it.2.unwrap_or_default());
                let create = BalancerStableFactory::createCall {
                    name,
                    symbol,
                    tokens: addresses,
                    amplificationParameter: U256::from(*amplification),
                    rateProviders: providers.collect(),
                    tokenRateCacheDurations: vec![U256::ZERO; held.len()],
                    exemptFromYieldProtocolFeeFlags: vec![false; held.len()],
                    swapFeePercentage: fee,
                    owner: OPERATOR,
                };
                evm.must(self.factories[1], &create)?
            }
        };
        let id = evm.must(address, &Contract::getPoolIdCall {})?;
        let (vault, pair) = (self.vault, make.pair);
        let stable = matches!(make.law, Law::Stable { .. });
        let mut pool = Pool { evm, vault, address, id, stable, held, pair };
        let balances = make.tokens.iter().map(|(token, balance)| (self.tokens[*token].0, *balance));
        Ok(pool.join(&balances.collect::<Vec<_>>())?.map(|()| pool))
    }
}

impl Pool {
    /// Gives it its first balances; the inner error is why it refuses them.
    fn join(&mut self, given: &[(Address, U256)]) -> Result<Result<(), Revert>, ParityError> {
        let asked = BalancerVault::getPoolTokensCall { poolId: self.id };
        let assets = self.evm.must(self.vault, &asked)?.tokens;
        let of = |asset: &Address| given.iter().find(|it| it.0 == *asset).map(|it| it.1);
        let amounts: Vec<U256> = assets.iter().map(|asset| of(asset).unwrap_or_default()).collect();
        let request = BalancerVault::JoinPoolRequest {
            maxAmountsIn: vec![U256::MAX; assets.len()],
            assets,
            userData: (U256::ZERO, amounts).abi_encode_params().into(),
            fromInternalBalance: false,
        };
        let (sender, recipient) = (OPERATOR, OPERATOR);
        let join = BalancerVault::joinPoolCall { poolId: self.id, sender, recipient, request };
        let called = self.evm.call(self.vault, join.abi_encode().into())?;
        if let Err(revert) = called.outcome {
            return Ok(Err(revert));
        }
        self.evm.keep(called);
        Ok(Ok(()))
    }

    /// The token of this side of the pair.
    fn token(&self, side: usize) -> Address {
        self.held[self.pair.indices()[side]].0
    }
}

impl Market for Pool {
    fn state(&mut self) -> Result<Result<PoolState, String>, ParityError> {
        let asked = BalancerVault::getPoolTokensCall { poolId: self.id };
        let told = self.evm.must(self.vault, &asked)?;
        let fee = self.evm.must(self.address, &Contract::getSwapFeePercentageCall {})?;
        let small = |found: U256| u64::try_from(found).unwrap_or(u64::MAX);
        let mut parts = VaultParts {
            balances: Vec::new(),
            live_balances: None,
            scaling_factors: Vec::new(),
            rates: Vec::new(),
            swap_fee: small(fee),
        };
        for (token, decimals, provider) in self.held.clone() {
            let place = told.tokens.iter().position(|held| *held == token);
            parts.balances.push(place.map_or(U256::ZERO, |place| told.balances[place]));
            parts.scaling_factors.push(down(decimals));
            parts.rates.push(match provider {
                Some(provider) => self.evm.must(provider, &RateProvider::getRateCall {})?,
                None => U256::from(ONE),
            });
        }
        let state: Result<PoolState, _> = if self.stable {
            let asked = Contract::getAmplificationParameterCall {};
            let amplification = self.evm.must(self.address, &asked)?.value;
            StableV2::new(parts, small(amplification)).map(Into::into)
        } else {
            let weights = self.evm.must(self.address, &Contract::getNormalizedWeightsCall {})?;
            Weighted::new(parts, weights.into_iter().map(small).collect(), None).map(Into::into)
        };
        let of_pair = |state: PoolState| state.of_pair(self.pair).ok_or("no such pair".to_owned());
        Ok(state.map_err(|error| error.to_string()).and_then(of_pair))
    }

    fn affordable(&mut self, direction: Direction) -> Result<U256, ParityError> {
        let owned = Token::balanceOfCall { owner: OPERATOR };
        self.evm.must(self.token(direction.base_index()), &owned)
    }

    fn readable(&mut self, direction: Direction) -> Result<U256, ParityError> {
        let (_, decimals, _) = self.held[self.pair.indices()[direction.base_index()]];
        Ok((U256::ONE << READ_BITS) / down(decimals))
    }

    fn sell(
        &mut self,
        direction: Direction,
        amount_in: U256,
        keep: bool,
    ) -> Result<Result<U256, Revert>, ParityError> {
        let bought = self.token(direction.quote_index());
        let swap = BalancerVault::swapCall {
            singleSwap: BalancerVault::SingleSwap {
                poolId: self.id,
                kind: 0,
                assetIn: self.token(direction.base_index()),
                assetOut: bought,
                amount: amount_in,
                userData: Bytes::new(),
            },
            funds: BalancerVault::FundManagement {
                sender: OPERATOR,
                fromInternalBalance: false,
                recipient: RECIPIENT,
                toInternalBalance: false,
            },
            limit: U256::ZERO,
            deadline: U256::MAX,
        };
        let called = self.evm.call(self.vault, swap.abi_encode().into())?;
        if let Err(revert) = called.outcome {
            return Ok(Err(revert));
        }
        let given = called.moved(bought, RECIPIENT).0;
        if keep {
            self.evm.keep(called);
        }
        Ok(Ok(given))
    }
}
