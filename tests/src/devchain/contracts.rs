//! Deployment of the protocols: Multicall3, WETH9, Uniswap v2 and v3.

use alloy::primitives::{Address, Bytes, address, aliases::I24, aliases::U24};
use alloy::sol_types::SolConstructor;
use alloy_rpc_types_eth::TransactionRequest;

use super::{DevChain, Result, Tx, abi};
use crate::fixtures::{self, Artifact};

/// The address of Multicall3 on public chains, where it is placed before block 1.
pub const MULTICALL3: Address = address!("0xcA11bde05977b3631167028862bE2a173976CA11");

/// The fee tier added to the v3 factory, as on public chains: 0.01% with tick spacing 1.
const EXTRA_FEE: (u32, i32) = (100, 1);

/// The protocols' contracts. Their addresses are the same on every start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Contracts {
    /// Wrapped ether.
    pub weth: Address,
    /// Uniswap v2 factory.
    pub v2_factory: Address,
    /// Uniswap v2 router 02.
    pub v2_router: Address,
    /// Uniswap v3 factory; fees 100, 500, 3000 and 10000 are enabled.
    pub v3_factory: Address,
    /// Uniswap v3 position manager.
    pub v3_positions: Address,
    /// Uniswap v3 swap router.
    pub v3_router: Address,
    /// Uniswap v3 quoter, second version.
    pub v3_quoter: Address,
    /// Uniswap v3 tick lens.
    pub v3_tick_lens: Address,
}

impl Contracts {
    /// The addresses if `deployer` creates them in order as its first transactions.
    pub(super) fn of_deployer(deployer: Address) -> Self {
        Self {
            weth: deployer.create(0),
            v2_factory: deployer.create(1),
            v2_router: deployer.create(2),
            v3_factory: deployer.create(3),
            v3_positions: deployer.create(4),
            v3_router: deployer.create(5),
            v3_quoter: deployer.create(6),
            v3_tick_lens: deployer.create(7),
        }
    }

    /// Deploys all of them in one block.
    pub(super) async fn deploy(chain: &DevChain) -> Result<Self> {
        place_multicall(chain).await?;
        let operator = chain.operator;
        let contracts = Self::of_deployer(operator);
        let Self { weth, v2_factory, v3_factory, .. } = contracts;
        let periphery = abi::Periphery::constructorCall { factory: v3_factory, weth }.abi_encode();
        let create = |artifact: Artifact, arguments: Vec<u8>| -> Result<Tx> {
            Ok(Tx::create(operator, &artifact.creation_code()?, &arguments))
        };
        let v2_factory_arguments = abi::V2Factory::constructorCall { feeToSetter: operator };
        let v2_router_arguments = abi::V2Router::constructorCall { factory: v2_factory, weth };
        let positions_arguments = abi::PositionManager::constructorCall {
            factory: v3_factory,
            weth,
            // The descriptor is only needed to draw positions, which these tests do not use.
            descriptor: Address::ZERO,
        };
        let enable_fee = abi::V3Factory::enableFeeAmountCall {
            fee: U24::from(EXTRA_FEE.0),
            tickSpacing: I24::unchecked_from(EXTRA_FEE.1),
        };
        let txs = [
            create(Artifact::Weth9, Vec::new())?,
            create(Artifact::UniswapV2Factory, v2_factory_arguments.abi_encode())?,
            create(Artifact::UniswapV2Router02, v2_router_arguments.abi_encode())?,
            create(Artifact::UniswapV3Factory, Vec::new())?,
            create(Artifact::NonfungiblePositionManager, positions_arguments.abi_encode())?,
            create(Artifact::SwapRouter, periphery.clone())?,
            create(Artifact::QuoterV2, periphery)?,
            create(Artifact::TickLens, Vec::new())?,
            Tx::call(operator, v3_factory, &enable_fee),
        ];
        chain.mine_next(&txs).await?;
        Ok(contracts)
    }
}

/// Places Multicall3 at its public address: the code that its creation code returns, set before block 1.
pub(super) async fn place_multicall(chain: &DevChain) -> Result<()> {
    let request = TransactionRequest {
        to: Some(alloy::primitives::TxKind::Create),
        ..TransactionRequest::default()
    };
    let request = request.input(fixtures::multicall3_creation_code()?.into());
    let runtime: Bytes = chain.rpc("eth_call", (request, "latest")).await?;
    chain.set_code(MULTICALL3, runtime).await
}
