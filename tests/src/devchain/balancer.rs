//! Balancer v2: its real vault, factories and pools, weighted and composable stable.

use alloy::primitives::aliases::{B256, I256};
use alloy::primitives::{Address, Bytes, U256, hex};
use alloy::sol_types::{SolConstructor, SolValue};

use super::{DevChain, Result, Token, Tx, abi};
use crate::fixtures::Artifact;

/// The recipient of swaps, which receives nothing else.
const PAID: Address = Address::repeat_byte(0xba);

/// The account that authorizes actions on vault and pools. These tests do not use Balancer's own authorizer contract.
const AUTHORIZER: Address = Address::repeat_byte(0xbb);

/// Code that answers every call with 1, so that everyone may do everything.
pub const YES: [u8; 10] = hex!("600160005260206000f3");

/// The pause window and the maximum pause duration of vault and pools, in seconds.
pub const PAUSE_SECONDS: [u64; 2] = [90 * 86_400, 30 * 86_400];

/// The version text of the weighted pool factory, as published with it.
pub const WEIGHTED_VERSION: &str =
    r#"{"name":"WeightedPool","version":3,"deployment":"20230206-weighted-pool-v3"}"#;

/// The version text of the composable stable pool factory, as published with it.
pub const STABLE_VERSION: &str = r#"{"name":"ComposableStablePool","version":3,"deployment":"20230206-composable-stable-pool-v3"}"#;

/// The contracts shared by all pools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Balancer {
    /// The vault, which holds the tokens of all pools.
    pub vault: Address,
    /// The provider of the protocol's fee shares.
    pub fees: Address,
    /// The factory of weighted pools.
    pub weighted: Address,
    /// The factory of composable stable pools.
    pub stable: Address,
}

/// A pool of the real contracts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BalancerPool {
    /// The vault.
    pub vault: Address,
    /// The pool, which is also its own pool token.
    pub address: Address,
    /// Its id in the vault.
    pub id: B256,
    /// Its tokens in the vault's order, without its own pool token.
    pub tokens: Vec<Address>,
}

/// A token, its initial balance in raw units, and optionally its rate provider with the seconds for which a rate is
/// cached.
pub type RatedHolding<'a> = (&'a Token, U256, Option<(Address, u64)>);

/// An operator's action on a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BalancerAct {
    /// Sets its fee, a share of `10^18`.
    Fee(u64),
    /// Pauses or unpauses it.
    Pause(bool),
    /// Enters or leaves recovery mode.
    Recovery(bool),
    /// Changes a stable pool's amplification to this value until this time.
    Amplify(u64, u64),
    /// Refreshes the rate of the token with this address.
    Refresh(Address),
}

impl DevChain {
    /// Deploys vault and factories, on which the operator may do everything.
    pub async fn deploy_balancer(&self) -> Result<Balancer> {
        self.set_code(AUTHORIZER, Bytes::from_static(&YES)).await?;
        let nonce = self.nonce(self.operator).await?;
        let [vault, fees, weighted, stable] =
            [0, 1, 2, 3].map(|place| self.operator.create(nonce + place));
        let create = |artifact: Artifact, arguments: Vec<u8>| -> Result<Tx> {
            Ok(Tx::create(self.operator, &artifact.creation_code()?, &arguments))
        };
        let [pause, buffer] = PAUSE_SECONDS.map(U256::from);
        let of_vault = abi::BalancerVault::constructorCall {
            authorizer: AUTHORIZER,
            weth: self.contracts.weth,
            pauseWindowDuration: pause,
            bufferPeriodDuration: buffer,
        };
        let half = U256::from(500_000_000_000_000_000_u64);
        let of_fees =
            abi::BalancerFees::constructorCall { vault, maxYieldValue: half, maxAumValue: half };
        let of_factory = |version: &str| {
            let call = abi::BalancerFactory::constructorCall {
                vault,
                protocolFeeProvider: fees,
                factoryVersion: String::new(),
                poolVersion: version.to_owned(),
            };
            call.abi_encode()
        };
        self.mine_all(&[
            create(Artifact::BalancerVault, of_vault.abi_encode())?,
            create(Artifact::BalancerFees, of_fees.abi_encode())?,
            create(Artifact::BalancerWeightedFactory, of_factory(WEIGHTED_VERSION))?,
            create(Artifact::BalancerStableFactory, of_factory(STABLE_VERSION))?,
        ])
        .await?;
        Ok(Balancer { vault, fees, weighted, stable })
    }

    /// Creates a weighted pool of tokens with weights and initial balances, in raw units; weights and fee are shares of
    /// `10^18`.
    pub async fn create_balancer_weighted(
        &self,
        balancer: &Balancer,
        holdings: &[(&Token, u64, U256)],
        swap_fee: u64,
    ) -> Result<BalancerPool> {
        let mut holdings = holdings.to_vec();
        holdings.sort_by_key(|(token, ..)| token.address);
        let create = abi::BalancerWeightedFactory::createCall {
            name: "Weighted".to_owned(),
            symbol: "WEIGHTED".to_owned(),
            tokens: holdings.iter().map(|it| it.0.address).collect(),
            normalizedWeights: holdings.iter().map(|it| U256::from(it.1)).collect(),
            rateProviders: vec![Address::ZERO; holdings.len()],
            swapFeePercentage: U256::from(swap_fee),
            owner: self.operator,
        };
        let tx = Tx::call(self.operator, balancer.weighted, &create);
        let balances = holdings.iter().map(|it| (it.0.address, it.2));
        self.open_balancer(balancer, (balancer.weighted, tx), balances.collect()).await
    }

    /// Creates a composable stable pool.
    pub async fn create_balancer_stable(
        &self,
        balancer: &Balancer,
        holdings: &[RatedHolding<'_>],
        amplification: u64,
        swap_fee: u64,
    ) -> Result<BalancerPool> {
        let mut holdings = holdings.to_vec();
        holdings.sort_by_key(|(token, ..)| token.address);
        let rates = holdings.iter().map(|it| it.2.unwrap_or((Address::ZERO, 0)));
        let (providers, seconds): (Vec<Address>, Vec<u64>) = rates.unzip();
        let create = abi::BalancerStableFactory::createCall {
            name: "Stable".to_owned(),
            symbol: "STABLE".to_owned(),
            tokens: holdings.iter().map(|it| it.0.address).collect(),
            amplificationParameter: U256::from(amplification),
            rateProviders: providers,
            tokenRateCacheDurations: seconds.into_iter().map(U256::from).collect(),
            exemptFromYieldProtocolFeeFlags: vec![false; holdings.len()],
            swapFeePercentage: U256::from(swap_fee),
            owner: self.operator,
        };
        let tx = Tx::call(self.operator, balancer.stable, &create);
        let balances = holdings.iter().map(|it| (it.0.address, it.1));
        self.open_balancer(balancer, (balancer.stable, tx), balances.collect()).await
    }

    /// Creates the pool and joins it with its initial balances.
    async fn open_balancer(
        &self,
        balancer: &Balancer,
        (factory, create): (Address, Tx),
        balances: Vec<(Address, U256)>,
    ) -> Result<BalancerPool> {
        let vault = balancer.vault;
        let mined = self.mine_next(&[create]).await?;
        let address = mined.event::<abi::BalancerFactory::PoolCreated>(0, factory)?.pool;
        let now = mined.number.into();
        let id = self.call(address, &abi::BalancerPool::getPoolIdCall {}, now).await?;
        let asked = abi::BalancerVault::getPoolTokensCall { poolId: id };
        let assets = self.call(vault, &asked, now).await?.tokens;
        // Its own pool token is among the assets, and none of it is deposited.
        let given = |asset: &Address| balances.iter().find(|it| it.0 == *asset).map(|it| it.1);
        let amounts: Vec<U256> =
            assets.iter().map(|asset| given(asset).unwrap_or_default()).collect();
        let first = U256::ZERO;
        let request = abi::BalancerVault::JoinPoolRequest {
            maxAmountsIn: vec![U256::MAX; assets.len()],
            assets,
            userData: (first, amounts).abi_encode_params().into(),
            fromInternalBalance: false,
        };
        let (sender, recipient) = (self.operator, self.operator);
        let join = abi::BalancerVault::joinPoolCall { poolId: id, sender, recipient, request };
        let approve = abi::Token::approveCall { spender: vault, amount: U256::MAX };
        let tokens: Vec<Address> = balances.into_iter().map(|it| it.0).collect();
        let mut txs: Vec<Tx> =
            tokens.iter().map(|token| Tx::call(self.operator, *token, &approve)).collect();
        txs.push(Tx::call(self.operator, vault, &join));
        self.mine_next(&txs).await?;
        Ok(BalancerPool { vault, address, id, tokens })
    }

    /// A real swap through the vault, in a separate block: returns the amount transferred to the buyer. Tokens are
    /// identified by their index in the pool.
    pub async fn swap_balancer(
        &self,
        pool: &BalancerPool,
        [sold, bought]: [usize; 2],
        amount: U256,
    ) -> Result<U256> {
        let before = self.head().await?.number.into();
        let before = self.balance_of(pool.tokens[bought], PAID, before).await?;
        let swap = abi::BalancerVault::swapCall {
            singleSwap: abi::BalancerVault::SingleSwap {
                poolId: pool.id,
                kind: 0,
                assetIn: pool.tokens[sold],
                assetOut: pool.tokens[bought],
                amount,
                userData: Bytes::new(),
            },
            funds: self.balancer_funds(),
            limit: U256::ZERO,
            deadline: U256::MAX,
        };
        let mined = self.mine_next(&[Tx::call(self.operator, pool.vault, &swap)]).await?;
        Ok(self.balance_of(pool.tokens[bought], PAID, mined.number.into()).await? - before)
    }

    /// The vault's quote after this block, at its time.
    pub async fn query_balancer(
        &self,
        pool: &BalancerPool,
        [sold, bought]: [usize; 2],
        amount: U256,
        block: u64,
    ) -> Result<U256> {
        let step = abi::BalancerVault::BatchSwapStep {
            poolId: pool.id,
            assetInIndex: U256::ZERO,
            assetOutIndex: U256::ONE,
            amount,
            userData: Bytes::new(),
        };
        let query = abi::BalancerVault::queryBatchSwapCall {
            kind: 0,
            swaps: vec![step],
            assets: vec![pool.tokens[sold], pool.tokens[bought]],
            funds: self.balancer_funds(),
        };
        let deltas = self.call(pool.vault, &query, block.into()).await?;
        Ok(deltas.get(1).copied().map_or(U256::ZERO, I256::unsigned_abs))
    }

    /// Executes an action on a pool, in a separate block.
    pub async fn act_balancer(&self, pool: &BalancerPool, act: BalancerAct) -> Result<()> {
        use abi::BalancerPool as Contract;
        let (from, to) = (self.operator, pool.address);
        let tx = match act {
            BalancerAct::Fee(fee) => {
                let swap_fee_percentage = U256::from(fee);
                let call =
                    Contract::setSwapFeePercentageCall { swapFeePercentage: swap_fee_percentage };
                Tx::call(from, to, &call)
            }
            BalancerAct::Pause(true) => Tx::call(from, to, &Contract::pauseCall {}),
            BalancerAct::Pause(false) => Tx::call(from, to, &Contract::unpauseCall {}),
            BalancerAct::Recovery(true) => Tx::call(from, to, &Contract::enableRecoveryModeCall {}),
            BalancerAct::Recovery(false) => {
                Tx::call(from, to, &Contract::disableRecoveryModeCall {})
            }
            BalancerAct::Amplify(value, time) => {
                let [value, time] = [value, time].map(U256::from);
                let call = Contract::startAmplificationParameterUpdateCall {
                    rawEndValue: value,
                    endTime: time,
                };
                Tx::call(from, to, &call)
            }
            BalancerAct::Refresh(token) => {
                Tx::call(from, to, &Contract::updateTokenRateCacheCall { token })
            }
        };
        self.mine_next(&[tx]).await?;
        Ok(())
    }

    /// Pauses or unpauses the vault, and with it all pools.
    pub async fn pause_balancer(&self, vault: Address, paused: bool) -> Result<()> {
        let pause = abi::BalancerVault::setPausedCall { paused };
        self.mine_next(&[Tx::call(self.operator, vault, &pause)]).await?;
        Ok(())
    }

    fn balancer_funds(&self) -> abi::BalancerVault::FundManagement {
        abi::BalancerVault::FundManagement {
            sender: self.operator,
            fromInternalBalance: false,
            recipient: PAID,
            toInternalBalance: false,
        }
    }
}
