//! The downloaded fixtures: the node's binary and the contracts' creation code.
//!
//! `cargo xtask setup` puts them, checked against pinned checksums, into the git-ignored `.fixtures/` folder of the
//! workspace. This module never uses the network.

use std::path::{Path, PathBuf};

use alloy::primitives::{Address, Bytes, hex};
use serde_json::Value;

/// The variable with the path of another `anvil` than the downloaded one.
pub const ANVIL_VARIABLE: &str = "EXITGAP_ANVIL";

/// Why a fixture cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FixtureError {
    /// The file does not exist: nothing was downloaded yet.
    #[error("fixture {path} is missing; run `cargo xtask setup` first")]
    Missing {
        /// The expected path.
        path: PathBuf,
    },
    /// The file is not what was downloaded.
    #[error(
        "fixture {path} is damaged ({reason}); delete the .fixtures folder and run `cargo xtask setup`"
    )]
    Damaged {
        /// The invalid file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
}

/// A contract with downloaded published bytecode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Artifact {
    /// Aave's ERC-20 with free minting and a constructor that takes name, symbol and decimals.
    MintableErc20,
    /// The canonical wrapped ether.
    Weth9,
    /// Uniswap v2 factory.
    UniswapV2Factory,
    /// Uniswap v2 pair, for its init code hash; the factory contains the code itself.
    UniswapV2Pair,
    /// Uniswap v2 router 02.
    UniswapV2Router02,
    /// Uniswap v3 factory.
    UniswapV3Factory,
    /// Uniswap v3 pool, for its init code hash; the factory contains the code itself.
    UniswapV3Pool,
    /// Uniswap v3 position manager.
    NonfungiblePositionManager,
    /// Uniswap v3 swap router.
    SwapRouter,
    /// Uniswap v3 quoter, second version.
    QuoterV2,
    /// Uniswap v3 tick lens.
    TickLens,
    /// `PancakeSwap` v3 factory.
    PancakeV3Factory,
    /// `PancakeSwap` v3 pool; its deployer, which contains the code in production, is not published.
    PancakeV3Pool,
    /// Uniswap v4's pool manager.
    PoolManager,
    /// Uniswap v4's own test caller that adds and removes liquidity.
    PoolModifyLiquidityTest,
    /// Uniswap v4's own test caller that swaps.
    PoolSwapTest,
    /// Algebra Integral's factory.
    AlgebraFactory,
    /// Algebra Integral's deployer of pools, which contains their code.
    AlgebraPoolDeployer,
    /// Algebra Integral's own test caller that adds liquidity and swaps.
    TestAlgebraCallee,
    /// Aerodrome v2: the pool that its factory clones.
    AerodromePool,
    /// Aerodrome v2: its factory of pools.
    AerodromePoolFactory,
    /// Slipstream: the pool that its factory clones.
    SlipstreamPool,
    /// Slipstream: its factory of pools.
    SlipstreamFactory,
    /// `OpenZeppelin`'s ERC-4626 vault.
    Vault,
    /// A token that takes a fee on transfer.
    TaxedToken,
    /// Balancer's second vault.
    BalancerVault,
    /// Balancer's provider of the protocol's fee shares.
    BalancerFees,
    /// Balancer's factory of weighted pools, third version, which contains their code.
    BalancerWeightedFactory,
    /// Balancer's factory of composable stable pools, third version, which contains their code.
    BalancerStableFactory,
    /// Chainlink's aggregator of answers submitted one by one.
    FluxAggregator,
    /// Chainlink's proxy, whose address consumers use.
    EacAggregatorProxy,
    /// Circle's token with authorizations (EIP-3009), to be linked with [`Self::SignatureChecker`].
    FiatTokenV2_2,
    /// The library that checks the signatures of [`Self::FiatTokenV2_2`].
    SignatureChecker,
}

impl Artifact {
    /// The path of the artifact in `.fixtures/`.
    fn path(self) -> &'static str {
        match self {
            Self::MintableErc20 => {
                "aave-core-v3/artifacts/contracts/mocks/tokens/MintableERC20.sol/MintableERC20.json"
            }
            Self::Weth9 => "canonical-weth/build/contracts/WETH9.json",
            Self::UniswapV2Factory => "uniswap-v2-core/build/UniswapV2Factory.json",
            Self::UniswapV2Pair => "uniswap-v2-core/build/UniswapV2Pair.json",
            Self::UniswapV2Router02 => "uniswap-v2-periphery/build/UniswapV2Router02.json",
            Self::UniswapV3Factory => {
                "uniswap-v3-core/artifacts/contracts/UniswapV3Factory.sol/UniswapV3Factory.json"
            }
            Self::UniswapV3Pool => {
                "uniswap-v3-core/artifacts/contracts/UniswapV3Pool.sol/UniswapV3Pool.json"
            }
            Self::NonfungiblePositionManager => {
                "uniswap-v3-periphery/artifacts/contracts/NonfungiblePositionManager.sol/NonfungiblePositionManager.json"
            }
            Self::SwapRouter => {
                "uniswap-v3-periphery/artifacts/contracts/SwapRouter.sol/SwapRouter.json"
            }
            Self::QuoterV2 => {
                "uniswap-v3-periphery/artifacts/contracts/lens/QuoterV2.sol/QuoterV2.json"
            }
            Self::TickLens => {
                "uniswap-v3-periphery/artifacts/contracts/lens/TickLens.sol/TickLens.json"
            }
            Self::PancakeV3Factory => {
                "pancakeswap-v3-core/artifacts/contracts/PancakeV3Factory.sol/PancakeV3Factory.json"
            }
            Self::PancakeV3Pool => {
                "pancakeswap-v3-core/artifacts/contracts/PancakeV3Pool.sol/PancakeV3Pool.json"
            }
            Self::PoolManager => "uniswap-v4-core/out/PoolManager.sol/PoolManager.json",
            Self::PoolModifyLiquidityTest => {
                "uniswap-v4-core/out/PoolModifyLiquidityTest.sol/PoolModifyLiquidityTest.json"
            }
            Self::PoolSwapTest => "uniswap-v4-core/out/PoolSwapTest.sol/PoolSwapTest.json",
            Self::AlgebraFactory => {
                "algebra-integral-core/artifacts/contracts/AlgebraFactory.sol/AlgebraFactory.json"
            }
            Self::AlgebraPoolDeployer => {
                "algebra-integral-core/artifacts/contracts/AlgebraPoolDeployer.sol/AlgebraPoolDeployer.json"
            }
            Self::TestAlgebraCallee => {
                "algebra-integral-core/artifacts/contracts/test/TestAlgebraCallee.sol/TestAlgebraCallee.json"
            }
            Self::AerodromePool => "compiled/Pool.json",
            Self::AerodromePoolFactory => "compiled/PoolFactory.json",
            Self::SlipstreamPool => "compiled/CLPool.json",
            Self::Vault => "compiled/Vault.json",
            Self::TaxedToken => "compiled/TaxedToken.json",
            Self::SlipstreamFactory => "compiled/CLFactory.json",
            Self::BalancerVault => "balancer-v2/dist/tasks/20210418-vault/artifact/Vault.json",
            Self::BalancerFees => {
                "balancer-v2/dist/tasks/20220725-protocol-fee-percentages-provider/artifact/ProtocolFeePercentagesProvider.json"
            }
            Self::BalancerWeightedFactory => {
                "balancer-v2/dist/tasks/20230206-weighted-pool-v3/artifact/WeightedPoolFactory.json"
            }
            Self::BalancerStableFactory => {
                "balancer-v2/dist/tasks/20230206-composable-stable-pool-v3/artifact/ComposableStablePoolFactory.json"
            }
            Self::FluxAggregator => "chainlink/abi/v0.6/FluxAggregator.json",
            Self::EacAggregatorProxy => "chainlink/abi/v0.6/EACAggregatorProxy.json",
            Self::FiatTokenV2_2 => {
                "stablecoin-evm/artifacts/hardhat/contracts/v2/FiatTokenV2_2.sol/FiatTokenV2_2.json"
            }
            Self::SignatureChecker => {
                "stablecoin-evm/artifacts/hardhat/contracts/util/SignatureChecker.sol/SignatureChecker.json"
            }
        }
    }

    /// The contract's creation code, without constructor arguments.
    pub fn creation_code(self) -> Result<Bytes, FixtureError> {
        code_in(
            None,
            &folder().join(self.path()),
            &["/bytecode", "/bytecode/object", "/compilerOutput/evm/bytecode/object"],
        )
    }

    /// The deployed code, with zeros in place of immutable values.
    pub fn deployed_code(self) -> Result<Bytes, FixtureError> {
        code_in(None, &folder().join(self.path()), &DEPLOYED)
    }

    /// The deployed code, with this address where it calls its only library.
    pub fn deployed_code_with(self, library: Address) -> Result<Bytes, FixtureError> {
        code_in(Some(library), &folder().join(self.path()), &DEPLOYED)
    }
}

/// The places of the deployed code in artifacts of different compilers.
const DEPLOYED: [&str; 3] = [
    "/deployedBytecode",
    "/evm/deployedBytecode/object",
    "/compilerOutput/evm/deployedBytecode/object",
];

/// Multicall3's creation code, a constant in a script library.
pub fn multicall3_creation_code() -> Result<Bytes, FixtureError> {
    let path = folder().join("viem/_cjs/constants/contracts.js");
    let text =
        std::fs::read_to_string(&path).map_err(|_| FixtureError::Missing { path: path.clone() })?;
    constant_in(&text, "multicall3Bytecode")
        .map_err(|reason| FixtureError::Damaged { path, reason })
}

/// The bytes in `exports.<name> = '0x…'`.
fn constant_in(script: &str, name: &str) -> Result<Bytes, String> {
    let start = format!("exports.{name} = '");
    let code = script.split_once(&start).and_then(|(_, rest)| rest.split_once('\''));
    let (code, _) = code.ok_or_else(|| format!("it holds no {name}"))?;
    match hex::decode(code) {
        Ok(bytes) if bytes.is_empty() => Err("its bytecode is empty".to_owned()),
        Ok(bytes) => Ok(bytes.into()),
        Err(error) => Err(error.to_string()),
    }
}

/// The `.fixtures/` folder of this workspace.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new(".")).join(".fixtures")
}

/// The node's binary: `EXITGAP_ANVIL` if set, else the downloaded one.
pub fn anvil() -> Result<PathBuf, FixtureError> {
    let path = std::env::var_os(ANVIL_VARIABLE)
        .map_or_else(|| folder().join("anvil/bin/anvil"), PathBuf::from);
    if path.is_file() { Ok(path) } else { Err(FixtureError::Missing { path }) }
}

/// Reads the first of `pointers` that leads to a hexadecimal text in the artifact at `path`. In place of a library's
/// address, compilers write `__$`, 34 digits that identify the library, and `$__`.
fn code_in(
    library: Option<Address>,
    path: &Path,
    pointers: &[&str],
) -> Result<Bytes, FixtureError> {
    let text = std::fs::read_to_string(path)
        .map_err(|_| FixtureError::Missing { path: path.to_owned() })?;
    let damaged = |reason: String| FixtureError::Damaged { path: path.to_owned(), reason };
    let artifact: Value =
        serde_json::from_str(&text).map_err(|error| damaged(error.to_string()))?;
    let code = pointers
        .iter()
        .find_map(|pointer| artifact.pointer(pointer).and_then(Value::as_str))
        .ok_or_else(|| damaged("it holds no bytecode".to_owned()))?;
    let mut code = code.to_owned();
    while let (Some(at), Some(library)) = (code.find("__$"), library) {
        let place = at..(at + 40).min(code.len());
        code.replace_range(place, &hex::encode(library));
    }
    let bytes = hex::decode(code).map_err(|error| damaged(error.to_string()))?;
    if bytes.is_empty() {
        return Err(damaged("its bytecode is empty".to_owned()));
    }
    Ok(bytes.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_fixture_says_which_command_fetches_it() {
        let error = code_in(None, Path::new("no/such.json"), &["/bytecode"]).unwrap_err();
        assert!(matches!(error, FixtureError::Missing { .. }));
        assert!(error.to_string().contains("cargo xtask setup"));
    }

    #[test]
    fn a_constant_is_read_or_refused_with_what_is_wrong() {
        let found = |script: &str| constant_in(script, "code");
        assert_eq!(found("exports.code = '0x6001';").unwrap().to_vec(), [0x60, 1]);
        for (script, reason) in [
            ("exports.other = '0x6001';", "no code"),
            ("exports.code = '0x';", "is empty"),
            ("exports.code = '0x6g';", "invalid character"),
        ] {
            let error = found(script).unwrap_err();
            assert!(error.contains(reason), "{error}");
        }
    }

    #[test]
    fn an_artifact_without_code_is_damaged() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.json");
        for (content, reason) in [
            ("{", "EOF"),
            ("{}", "holds no bytecode"),
            (r#"{"bytecode":"0x"}"#, "is empty"),
            (r#"{"bytecode":"0x6g"}"#, "invalid character"),
        ] {
            std::fs::write(&path, content).unwrap();
            let error = code_in(None, &path, &["/bytecode"]).unwrap_err();
            assert!(matches!(error, FixtureError::Damaged { .. }));
            assert!(error.to_string().contains(reason), "{error}");
        }
    }
}
