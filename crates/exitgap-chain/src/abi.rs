//! The contract calls and events that are used, as published by the contracts, and the decoding of answers.
//!
//! Sources: `UniswapV2Pair.sol`, `UniswapV3Pool.sol`, `PancakeV3Pool.sol`, Slipstream's `CLPool.sol`
//! and `CLFactory.sol`, Velodrome's `IPool.sol` and `IPoolFactory.sol`, `IERC20Metadata.sol`,
//! `AggregatorV3Interface.sol`, `Multicall3.sol`, Arbitrum's `ArbSys.sol`,
//! Curve's `CurveStableSwapNG.vy`, `CurveStableSwapFactoryNG.vy`, `StableSwap3Pool.vy`, `StableSwapSUSD.vy`,
//! `Factory.vy` and its implementations, and the factories and pools of its crypto pools,
//! Balancer's `IVault.sol`, `WeightedPool.sol`, `ComposableStablePool.sol` and `BasePoolFactory.sol`; of
//! its third version `IVaultExtension.sol`, `IVaultAdmin.sol`, `IVaultMain.sol` and `VaultTypes.sol`.

#![allow(missing_docs)] // Generated from the declarations; the contracts' own pages document them.

use alloy::primitives::Bytes;
use alloy::sol;
use alloy::sol_types::SolCall;
use exitgap_core::ids::Address;

sol! {
    interface Multicall3 {
        struct Call3 { address target; bool allowFailure; bytes callData; }
        struct Result { bool success; bytes returnData; }
        function aggregate3(Call3[] calldata calls) external payable returns (Result[] memory returnData);
        function getBlockNumber() external view returns (uint256 blockNumber);
        function getCurrentBlockTimestamp() external view returns (uint256 timestamp);
        function getChainId() external view returns (uint256 chainid);
    }

    interface ArbSys {
        function arbBlockNumber() external view returns (uint256);
    }

    interface Pool {
        function token0() external view returns (address);
        function token1() external view returns (address);
        function factory() external view returns (address);
    }

    interface V2Pair {
        function getReserves() external view returns (uint112 reserve0, uint112 reserve1, uint32 blockTimestampLast);
        function swap(uint256 amount0Out, uint256 amount1Out, address to, bytes calldata data) external;
        event Swap(address indexed sender, uint256 amount0In, uint256 amount1In, uint256 amount0Out, uint256 amount1Out, address indexed to);
        event Sync(uint112 reserve0, uint112 reserve1);
        event Mint(address indexed sender, uint256 amount0, uint256 amount1);
        event Burn(address indexed sender, uint256 amount0, uint256 amount1, address indexed to);
    }

    // Calls that only pairs descended from Solidly answer: Velodrome, Aerodrome and similar ones.
    interface Solidly {
        function stable() external view returns (bool);
        function metadata() external view returns (uint256 dec0, uint256 dec1, uint256 r0, uint256 r1, bool st, address t0, address t1);
        function getAmountOut(uint256 amountIn, address tokenIn) external view returns (uint256);
    }

    interface SolidlyFactory {
        function getPool(address tokenA, address tokenB, bool stable) external view returns (address pool);
        function getFee(address pool, bool stable) external view returns (uint256);
        function isPaused() external view returns (bool);
    }

    interface V3Pool {
        function slot0() external view returns (uint160 sqrtPriceX96, int24 tick, uint16 observationIndex, uint16 observationCardinality, uint16 observationCardinalityNext, uint8 feeProtocol, bool unlocked);
        function liquidity() external view returns (uint128);
        function fee() external view returns (uint24);
        function tickSpacing() external view returns (int24);
        function tickBitmap(int16 wordPosition) external view returns (uint256);
        function ticks(int24 tick) external view returns (uint128 liquidityGross, int128 liquidityNet, uint256 feeGrowthOutside0X128, uint256 feeGrowthOutside1X128, int56 tickCumulativeOutside, uint160 secondsPerLiquidityOutsideX128, uint32 secondsOutside, bool initialized);
        function swap(address recipient, bool zeroForOne, int256 amountSpecified, uint160 sqrtPriceLimitX96, bytes calldata data) external returns (int256 amount0, int256 amount1);
        event Mint(address sender, address indexed owner, int24 indexed tickLower, int24 indexed tickUpper, uint128 amount, uint256 amount0, uint256 amount1);
        event Burn(address indexed owner, int24 indexed tickLower, int24 indexed tickUpper, uint128 amount, uint256 amount0, uint256 amount1);
        event Swap(address indexed sender, address indexed recipient, int256 amount0, int256 amount1, uint160 sqrtPriceX96, uint128 liquidity, int24 tick);
    }

    interface V2Factory {
        function getPair(address tokenA, address tokenB) external view returns (address pair);
    }

    interface V3Factory {
        function getPool(address tokenA, address tokenB, uint24 fee) external view returns (address pool);
    }

    // PancakeSwap's pool equals Uniswap's except for the width of its protocol fee, which does not affect fills.
    interface PancakePool {
        function slot0() external view returns (uint160 sqrtPriceX96, int24 tick, uint16 observationIndex, uint16 observationCardinality, uint16 observationCardinalityNext, uint32 feeProtocol, bool unlocked);
        event Swap(address indexed sender, address indexed recipient, int256 amount0, int256 amount1, uint160 sqrtPriceX96, uint128 liquidity, int24 tick, uint128 protocolFeesToken0, uint128 protocolFeesToken1);
    }

    // Slipstream's pool also counts staked liquidity and rewards, which fills do not need, and gets its fee from its
    // factory.
    interface SlipstreamPool {
        function slot0() external view returns (uint160 sqrtPriceX96, int24 tick, uint16 observationIndex, uint16 observationCardinality, uint16 observationCardinalityNext, bool unlocked);
        function ticks(int24 tick) external view returns (uint128 liquidityGross, int128 liquidityNet, int128 stakedLiquidityNet, uint256 feeGrowthOutside0X128, uint256 feeGrowthOutside1X128, uint256 rewardGrowthOutsideX128, int56 tickCumulativeOutside, uint160 secondsPerLiquidityOutsideX128, uint32 secondsOutside, bool initialized);
    }

    interface SlipstreamFactory {
        function getPool(address tokenA, address tokenB, int24 tickSpacing) external view returns (address pool);
        function swapFeeModule() external view returns (address);
    }

    struct V4Key {
        address currency0;
        address currency1;
        uint24 fee;
        int24 tickSpacing;
        address hooks;
    }

    struct V4SwapParams {
        bool zeroForOne;
        int256 amountSpecified;
        uint160 sqrtPriceLimitX96;
    }

    // Uniswap v4's manager of all pools gives access only to the words of its storage.
    interface V4Manager {
        function extsload(bytes32[] calldata slots) external view returns (bytes32[] memory values);
        function unlock(bytes calldata data) external returns (bytes memory result);
        function initialize(V4Key memory key, uint160 sqrtPriceX96) external returns (int24 tick);
        function swap(V4Key memory key, V4SwapParams memory params, bytes calldata hookData) external returns (int256 swapDelta);
        event ModifyLiquidity(bytes32 indexed id, address indexed sender, int24 tickLower, int24 tickUpper, int256 liquidityDelta, bytes32 salt);
    }

    interface AlgebraPool {
        function globalState() external view returns (uint160 price, int24 tick, uint16 lastFee, uint8 pluginConfig, uint16 communityFee, bool unlocked);
        function liquidity() external view returns (uint128);
        function fee() external view returns (uint16);
        function tickSpacing() external view returns (int24);
        function plugin() external view returns (address);
        function tickTable(int16 wordPosition) external view returns (uint256);
        function ticks(int24 tick) external view returns (uint256 liquidityTotal, int128 liquidityDelta, int24 prevTick, int24 nextTick, uint256 outerFeeGrowth0Token, uint256 outerFeeGrowth1Token);
    }

    interface AlgebraFactory {
        function poolByPair(address tokenA, address tokenB) external view returns (address pool);
    }

    // Curve's pools: the calls that `StableSwap`-NG answers, some of which 3pool answers as well.
    interface CurvePool {
        function version() external view returns (string);
        function coins(uint256 i) external view returns (address);
        function A() external view returns (uint256);
        function A_precise() external view returns (uint256);
        function fee() external view returns (uint256);
        function admin_fee() external view returns (uint256);
        function offpeg_fee_multiplier() external view returns (uint256);
        function balances(uint256 i) external view returns (uint256);
        function admin_balances(uint256 i) external view returns (uint256);
        function get_balances() external view returns (uint256[] memory);
        function stored_rates() external view returns (uint256[] memory);
        function get_dy(int128 i, int128 j, uint256 dx) external view returns (uint256);
        function exchange_received(int128 i, int128 j, uint256 dx, uint256 min_dy) external returns (uint256);
    }

    // Calls that only plain pools of the first years answer, some with signed token indices.
    interface CurveOldPool {
        function coins(int128 i) external view returns (address);
        function balances(int128 i) external view returns (uint256);
        function underlying_coins(int128 i) external view returns (address);
        function base_pool() external view returns (address);
    }

    // The factory of plain pools with shared implementations. Its pools have at most four coins.
    interface CurvePlainFactory {
        function get_implementation_address(address pool) external view returns (address);
        function get_coins(address pool) external view returns (address[4] memory);
        function is_meta(address pool) external view returns (bool);
    }

    // Twocrypto-NG and, except for its prices, Tricrypto-NG.
    interface CurveCrypto {
        function MATH() external view returns (address);
        function A() external view returns (uint256);
        function gamma() external view returns (uint256);
        function D() external view returns (uint256);
        function mid_fee() external view returns (uint256);
        function out_fee() external view returns (uint256);
        function fee_gamma() external view returns (uint256);
        function future_A_gamma_time() external view returns (uint256);
        function balances(uint256 i) external view returns (uint256);
        function price_scale() external view returns (uint256);
        function last_prices() external view returns (uint256);
        function get_dy(uint256 i, uint256 j, uint256 dx) external view returns (uint256);
    }

    interface CurveCryptoOfThree {
        function price_scale(uint256 k) external view returns (uint256);
        function last_prices(uint256 k) external view returns (uint256);
    }

    interface CurveFactoryOfTwo {
        function get_coins(address pool) external view returns (address[2] memory);
        function get_decimals(address pool) external view returns (uint256[2] memory);
    }

    interface CurveFactoryOfThree {
        function get_coins(address pool) external view returns (address[3] memory);
        function get_decimals(address pool) external view returns (uint256[3] memory);
    }

    interface CurveFactory {
        function get_coins(address pool) external view returns (address[] memory);
        function is_meta(address pool) external view returns (bool);
        function get_pool_asset_types(address pool) external view returns (uint8[] memory);
    }

    // Balancer's second vault, which holds the tokens of all pools.
    interface BalancerVault {
        struct BatchSwapStep { bytes32 poolId; uint256 assetInIndex; uint256 assetOutIndex; uint256 amount; bytes userData; }
        struct FundManagement { address sender; bool fromInternalBalance; address recipient; bool toInternalBalance; }
        function getPool(bytes32 poolId) external view returns (address pool, uint8 specialization);
        function getPoolTokens(bytes32 poolId) external view returns (address[] memory tokens, uint256[] memory balances, uint256 lastChangeBlock);
        function getPausedState() external view returns (bool paused, uint256 pauseWindowEndTime, uint256 bufferPeriodEndTime);
        function queryBatchSwap(uint8 kind, BatchSwapStep[] memory swaps, address[] memory assets, FundManagement memory funds) external returns (int256[] memory assetDeltas);
    }

    // The calls that its weighted and composable stable pools answer.
    interface BalancerPool {
        function getPoolId() external view returns (bytes32);
        function getVault() external view returns (address);
        function version() external view returns (string);
        function getRateProviders() external view returns (address[] memory);
        function getPausedState() external view returns (bool paused, uint256 pauseWindowEndTime, uint256 bufferPeriodEndTime);
        function inRecoveryMode() external view returns (bool);
        function getSwapFeePercentage() external view returns (uint256);
        function getScalingFactors() external view returns (uint256[] memory);
        function getNormalizedWeights() external view returns (uint256[] memory);
        function getAmplificationParameter() external view returns (uint256 value, bool isUpdating, uint256 precision);
        function getTokenRateCache(address token) external view returns (uint256 rate, uint256 oldRate, uint256 duration, uint256 expires);
    }

    interface BalancerFactory {
        function isPoolFromFactory(address pool) external view returns (bool);
        function getVault() external view returns (address);
    }

    // Balancer's third vault, which reports the data of its pools itself.
    interface BalancerV3Vault {
        struct TokenInfo { uint8 tokenType; address rateProvider; bool paysYieldFees; }
        struct HooksConfig { bool enableHookAdjustedAmounts; bool shouldCallBeforeInitialize; bool shouldCallAfterInitialize; bool shouldCallComputeDynamicSwapFee; bool shouldCallBeforeSwap; bool shouldCallAfterSwap; bool shouldCallBeforeAddLiquidity; bool shouldCallAfterAddLiquidity; bool shouldCallBeforeRemoveLiquidity; bool shouldCallAfterRemoveLiquidity; address hooksContract; }
        struct VaultSwapParams { uint8 kind; address pool; address tokenIn; address tokenOut; uint256 amountGivenRaw; uint256 limitRaw; bytes userData; }
        function isVaultPaused() external view returns (bool vaultPaused);
        function isPoolPaused(address pool) external view returns (bool poolPaused);
        function isPoolInRecoveryMode(address pool) external view returns (bool inRecoveryMode);
        function getHooksConfig(address pool) external view returns (HooksConfig memory hooksConfig);
        function getPoolTokenInfo(address pool) external view returns (address[] memory tokens, TokenInfo[] memory tokenInfo, uint256[] memory balancesRaw, uint256[] memory lastBalancesLiveScaled18);
        function getPoolTokenRates(address pool) external view returns (uint256[] memory decimalScalingFactors, uint256[] memory tokenRates);
        function getCurrentLiveBalances(address pool) external view returns (uint256[] memory balancesLiveScaled18);
        function getStaticSwapFeePercentage(address pool) external view returns (uint256 swapFeePercentage);
        function isERC4626BufferInitialized(address wrappedToken) external view returns (bool isBufferInitialized);
        function unlock(bytes calldata data) external returns (bytes memory result);
        function swap(VaultSwapParams memory vaultSwapParams) external returns (uint256 amountCalculatedRaw, uint256 amountInRaw, uint256 amountOutRaw);
    }

    // Calls of the weighted pools of January 2026, in addition to weights.
    interface BalancerV3Pool {
        function getMinTokenBalances() external view returns (uint256[] memory);
    }

    // The callback with which a manager or a vault calls the contract that unlocked it.
    interface UnlockCallback {
        function unlockCallback(bytes calldata data) external returns (bytes memory);
    }

    interface RateProvider {
        function getRate() external view returns (uint256);
    }

    interface Erc20 {
        function symbol() external view returns (string);
        function decimals() external view returns (uint8);
    }

    interface Feed {
        function latestRoundData() external view returns (uint80 roundId, int256 answer, uint256 startedAt, uint256 updatedAt, uint80 answeredInRound);
        function decimals() external view returns (uint8);
    }
}

/// One call of a multicall.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) target: Address,
    pub(crate) data: Bytes,
    /// The expected size of its answer in bytes, for packing.
    pub(crate) answer_bytes: usize,
}

impl Call {
    /// A call whose answer has `words` words of 32 bytes.
    pub(crate) fn new(target: Address, call: &impl SolCall, words: usize) -> Self {
        Self { target, data: call.abi_encode().into(), answer_bytes: 32 * words }
    }
}

/// The answer to a call of a multicall.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answer {
    /// It returned these bytes. They are empty if there is no contract at the address.
    Returned(Bytes),
    /// It reverted, or ran out of gas.
    Reverted,
    /// No node returned its answer, even when it was the only call in a request.
    Refused(String),
}

impl Answer {
    /// Decodes the answer of `C`, if it has exactly `words` words and each is within its type's range.
    pub(crate) fn exact<C: SolCall>(&self, words: usize) -> Option<C::Return> {
        match self {
            Self::Returned(data) if data.len() == 32 * words => {
                C::abi_decode_returns_validate(data).ok()
            }
            _ => None,
        }
    }

    /// Decodes the list returned by `C`, if it has at most `most` entries of one word each.
    pub(crate) fn decode_list<C: SolCall>(&self, most: usize) -> Option<C::Return> {
        let words = self.return_data()?.len() / 32;
        if words <= 2 + most { self.exact::<C>(words) } else { None }
    }

    /// The bytes returned.
    pub(crate) fn return_data(&self) -> Option<&Bytes> {
        match self {
            Self::Returned(data) => Some(data),
            Self::Reverted | Self::Refused(_) => None,
        }
    }

    /// A description of the answer.
    pub(crate) fn in_words(&self) -> String {
        match self {
            Self::Returned(data) if data.is_empty() => "returned no data".to_owned(),
            Self::Returned(data) => format!("returned {} bytes of an unexpected shape", data.len()),
            Self::Reverted => "reverted".to_owned(),
            Self::Refused(detail) => format!("was rejected ({detail})"),
        }
    }
}

/// Converts an address to alloy's type.
pub(crate) fn wire(address: Address) -> alloy::primitives::Address {
    alloy::primitives::Address::from(address.0)
}

/// Converts an address from alloy's type.
pub(crate) fn own(address: alloy::primitives::Address) -> Address {
    Address(address.into_array())
}
