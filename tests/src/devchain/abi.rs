//! The calls and events the development chain uses, declared from the contracts' published ABIs.

// Generated from the declarations; the contracts' own pages document them.
#![allow(missing_docs, clippy::too_many_arguments)]

use alloy::sol;

sol! {
    interface Multicall3 {
        struct Call3 { address target; bool allowFailure; bytes callData; }
        struct Answer { bool success; bytes returnData; }
        function aggregate3(Call3[] calls) external payable returns (Answer[] answers);
    }

    /// ERC-20 with Aave's minting, and wrapped ether's `deposit`.
    interface Token {
        constructor(string name, string symbol, uint8 decimals);
        function symbol() external view returns (string);
        function decimals() external view returns (uint8);
        function balanceOf(address owner) external view returns (uint256);
        function approve(address spender, uint256 amount) external returns (bool);
        function transfer(address to, uint256 amount) external returns (bool);
        function mint(address account, uint256 value) external returns (bool);
        function deposit() external payable;
    }

    /// The view functions of contracts that redeem tokens: an ERC-4626 vault, Lido's queue, a facility.
    interface Desk {
        function paused() external view returns (bool);
        function unfinalizedStETH() external view returns (uint256);
        function maxRedeem(address owner) external view returns (uint256);
        function previewRedeem(uint256 shares) external view returns (uint256);
        function redemptionFee() external view returns (uint256);
    }

    /// An ERC-4626 vault.
    interface Vault {
        constructor(address asset);
        function deposit(uint256 assets, address receiver) external returns (uint256 shares);
        function redeem(uint256 shares, address receiver, address owner) external returns (uint256 assets);
        function convertToAssets(uint256 shares) external view returns (uint256);
    }

    /// A token that takes a fee on transfer.
    interface TaxedToken {
        constructor(string name, string symbol);
        function mint(address account, uint256 value) external;
        function setFeeBps(uint256 bps) external;
    }

    /// The view functions and events of a tokenized stock (ERC-8056).
    interface Share {
        function uiMultiplier() external view returns (uint256);
        function newUIMultiplier() external view returns (uint256);
        function effectiveAt() external view returns (uint256);
        function paused() external view returns (bool);
    }

    /// Circle's `FiatTokenV2_2`, which the development chain deploys once.
    interface FiatToken {
        function initialize(string tokenName, string tokenSymbol, string tokenCurrency, uint8 tokenDecimals, address newMasterMinter, address newPauser, address newBlacklister, address newOwner) external;
        function initializeV2(string newName) external;
        function initializeV2_1(address lostAndFound) external;
        function initializeV2_2(address[] accountsToBlacklist, string newSymbol) external;
        function configureMinter(address minter, uint256 minterAllowedAmount) external returns (bool);
        function mint(address to, uint256 amount) external returns (bool);
        function transfer(address to, uint256 value) external returns (bool);
        function balanceOf(address account) external view returns (uint256);
        function pause() external;
        function unpause() external;
        function blacklist(address account) external;
        function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature) external;
        function cancelAuthorization(address authorizer, bytes32 nonce, bytes signature) external;
    }

    /// The payer's message to sign.
    #[derive(Debug, PartialEq, Eq)]
    struct TransferWithAuthorization {
        address from; address to; uint256 value; uint256 validAfter; uint256 validBefore; bytes32 nonce;
    }

    /// The payer's message to cancel an authorization.
    struct CancelAuthorization { address authorizer; bytes32 nonce; }

    interface V2Factory {
        constructor(address feeToSetter);
        function createPair(address tokenA, address tokenB) external returns (address pair);
        function getPair(address tokenA, address tokenB) external view returns (address pair);
    }

    interface V2Pair {
        function getReserves() external view returns (uint112 reserve0, uint112 reserve1, uint32 blockTimestampLast);
        function token0() external view returns (address);
        function token1() external view returns (address);
        function swap(uint256 amount0Out, uint256 amount1Out, address to, bytes data) external;
        event Swap(address indexed sender, uint256 amount0In, uint256 amount1In, uint256 amount0Out, uint256 amount1Out, address indexed to);
    }

    interface V2Router {
        constructor(address factory, address weth);
        function addLiquidity(address tokenA, address tokenB, uint256 amountADesired, uint256 amountBDesired, uint256 amountAMin, uint256 amountBMin, address to, uint256 deadline) external returns (uint256 amountA, uint256 amountB, uint256 liquidity);
        function removeLiquidity(address tokenA, address tokenB, uint256 liquidity, uint256 amountAMin, uint256 amountBMin, address to, uint256 deadline) external returns (uint256 amountA, uint256 amountB);
        function swapExactTokensForTokens(uint256 amountIn, uint256 amountOutMin, address[] path, address to, uint256 deadline) external returns (uint256[] amounts);
        function getAmountsOut(uint256 amountIn, address[] path) external view returns (uint256[] amounts);
    }

    interface V3Factory {
        function enableFeeAmount(uint24 fee, int24 tickSpacing) external;
        function getPool(address tokenA, address tokenB, uint24 fee) external view returns (address pool);
    }

    interface V3Pool {
        function slot0() external view returns (uint160 sqrtPriceX96, int24 tick, uint16 observationIndex, uint16 observationCardinality, uint16 observationCardinalityNext, uint8 feeProtocol, bool unlocked);
        function liquidity() external view returns (uint128);
        function tickSpacing() external view returns (int24);
        function ticks(int24 tick) external view returns (uint128 liquidityGross, int128 liquidityNet, uint256 feeGrowthOutside0X128, uint256 feeGrowthOutside1X128, int56 tickCumulativeOutside, uint160 secondsPerLiquidityOutsideX128, uint32 secondsOutside, bool initialized);
        event Swap(address indexed sender, address indexed recipient, int256 amount0, int256 amount1, uint160 sqrtPriceX96, uint128 liquidity, int24 tick);
    }

    interface PancakeFactory {
        function createPool(address tokenA, address tokenB, uint24 fee) external returns (address pool);
    }

    interface PancakePool {
        function initialize(uint160 sqrtPriceX96) external;
    }

    // The common interface of pools derived from Uniswap v3.
    interface PaidPool {
        function mint(address recipient, int24 tickLower, int24 tickUpper, uint128 amount, bytes data) external returns (uint256 amount0, uint256 amount1);
        function swap(address recipient, bool zeroForOne, int256 amountSpecified, uint160 sqrtPriceLimitX96, bytes data) external returns (int256 amount0, int256 amount1);
    }

    interface SlipstreamFactory {
        constructor(address voter, address legacyFactory, address implementation);
        function createPool(address tokenA, address tokenB, int24 tickSpacing, uint160 sqrtPriceX96) external returns (address pool);
        function getPool(address tokenA, address tokenB, int24 tickSpacing) external view returns (address pool);
        function setSwapFeeModule(address module) external;
        event PoolCreated(address indexed token0, address indexed token1, int24 indexed tickSpacing, address pool);
    }

    #[derive(Debug, PartialEq, Eq)]
    struct V4Key { address currency0; address currency1; uint24 fee; int24 tickSpacing; address hooks; }
    struct V4SwapParams { bool zeroForOne; int256 amountSpecified; uint160 sqrtPriceLimitX96; }
    struct V4LiquidityParams { int24 tickLower; int24 tickUpper; int256 liquidityDelta; bytes32 salt; }
    struct V4SwapSettings { bool takeClaims; bool settleUsingBurn; }

    interface V4Manager {
        function initialize(V4Key memory key, uint160 sqrtPriceX96) external returns (int24 tick);
        function setProtocolFeeController(address controller) external;
        function setProtocolFee(V4Key memory key, uint24 newProtocolFee) external;
        event Swap(bytes32 indexed id, address indexed sender, int128 amount0, int128 amount1, uint160 sqrtPriceX96, uint128 liquidity, int24 tick, uint24 fee);
    }

    interface V4Liquidity {
        function modifyLiquidity(V4Key memory key, V4LiquidityParams memory params, bytes hookData) external payable returns (int256 delta);
    }

    interface V4Swap {
        function swap(V4Key memory key, V4SwapParams memory params, V4SwapSettings memory testSettings, bytes hookData) external payable returns (int256 delta);
    }

    interface AlgebraFactory {
        constructor(address poolDeployer);
        function createPool(address tokenA, address tokenB, bytes data) external returns (address pool);
        function poolByPair(address tokenA, address tokenB) external view returns (address pool);
    }

    interface AlgebraPool {
        function initialize(uint160 initialPrice) external;
        function setFee(uint16 newFee) external;
        function setTickSpacing(int24 newTickSpacing) external;
        function setPlugin(address newPluginAddress) external;
        function setPluginConfig(uint8 newConfig) external;
        event Swap(address indexed sender, address indexed recipient, int256 amount0, int256 amount1, uint160 price, uint128 liquidity, int24 tick);
    }

    interface AlgebraCallee {
        function mint(address pool, address recipient, int24 bottomTick, int24 topTick, uint128 amount) external returns (uint256 amount0Owed, uint256 amount1Owed, uint256 resultLiquidity);
        function swapExact0For1(address pool, uint256 amount0In, address recipient, uint160 limitSqrtPrice) external;
        function swapExact1For0(address pool, uint256 amount1In, address recipient, uint160 limitSqrtPrice) external;
    }

    interface SolidlyFactory {
        constructor(address implementation);
        function createPool(address tokenA, address tokenB, bool stable) external returns (address pool);
        function getPool(address tokenA, address tokenB, bool stable) external view returns (address);
        function getFee(address pool, bool stable) external view returns (uint256);
        function setCustomFee(address pool, uint256 fee) external;
        function setPauseState(bool state) external;
    }

    interface SolidlyPool {
        function metadata() external view returns (uint256 dec0, uint256 dec1, uint256 r0, uint256 r1, bool st, address t0, address t1);
        function getAmountOut(uint256 amountIn, address tokenIn) external view returns (uint256);
        function mint(address to) external returns (uint256 liquidity);
        function sync() external;
        function swap(uint256 amount0Out, uint256 amount1Out, address to, bytes data) external;
    }

    interface BalancerVault {
        struct SingleSwap { bytes32 poolId; uint8 kind; address assetIn; address assetOut; uint256 amount; bytes userData; }
        struct BatchSwapStep { bytes32 poolId; uint256 assetInIndex; uint256 assetOutIndex; uint256 amount; bytes userData; }
        struct FundManagement { address sender; bool fromInternalBalance; address recipient; bool toInternalBalance; }
        struct JoinPoolRequest { address[] assets; uint256[] maxAmountsIn; bytes userData; bool fromInternalBalance; }
        constructor(address authorizer, address weth, uint256 pauseWindowDuration, uint256 bufferPeriodDuration);
        function getPoolTokens(bytes32 poolId) external view returns (address[] tokens, uint256[] balances, uint256 lastChangeBlock);
        function joinPool(bytes32 poolId, address sender, address recipient, JoinPoolRequest request) external;
        function swap(SingleSwap singleSwap, FundManagement funds, uint256 limit, uint256 deadline) external returns (uint256 amountCalculated);
        function queryBatchSwap(uint8 kind, BatchSwapStep[] swaps, address[] assets, FundManagement funds) external returns (int256[] assetDeltas);
        function setPaused(bool paused) external;
        event Swap(bytes32 indexed poolId, address indexed tokenIn, address indexed tokenOut, uint256 amountIn, uint256 amountOut);
    }

    interface BalancerFees {
        constructor(address vault, uint256 maxYieldValue, uint256 maxAumValue);
    }

    interface BalancerFactory {
        constructor(address vault, address protocolFeeProvider, string factoryVersion, string poolVersion);
        event PoolCreated(address indexed pool);
    }

    interface BalancerWeightedFactory {
        function create(string name, string symbol, address[] tokens, uint256[] normalizedWeights, address[] rateProviders, uint256 swapFeePercentage, address owner) external returns (address pool);
    }

    interface BalancerStableFactory {
        function create(string name, string symbol, address[] tokens, uint256 amplificationParameter, address[] rateProviders, uint256[] tokenRateCacheDurations, bool[] exemptFromYieldProtocolFeeFlags, uint256 swapFeePercentage, address owner) external returns (address pool);
    }

    interface BalancerPool {
        function getPoolId() external view returns (bytes32);
        function setSwapFeePercentage(uint256 swapFeePercentage) external;
        function pause() external;
        function unpause() external;
        function enableRecoveryMode() external;
        function disableRecoveryMode() external;
        function startAmplificationParameterUpdate(uint256 rawEndValue, uint256 endTime) external;
        function updateTokenRateCache(address token) external;
        function getSwapFeePercentage() external view returns (uint256);
        function getNormalizedWeights() external view returns (uint256[] memory);
        function getScalingFactors() external view returns (uint256[] memory);
        function getAmplificationParameter() external view returns (uint256 value, bool isUpdating, uint256 precision);
    }

    interface RateProvider {
        function getRate() external view returns (uint256);
    }

    interface PositionManager {
        struct MintParams {
            address token0; address token1; uint24 fee; int24 tickLower; int24 tickUpper;
            uint256 amount0Desired; uint256 amount1Desired; uint256 amount0Min; uint256 amount1Min;
            address recipient; uint256 deadline;
        }
        struct DecreaseLiquidityParams {
            uint256 tokenId; uint128 liquidity; uint256 amount0Min; uint256 amount1Min; uint256 deadline;
        }
        struct CollectParams {
            uint256 tokenId; address recipient; uint128 amount0Max; uint128 amount1Max;
        }
        constructor(address factory, address weth, address descriptor);
        function createAndInitializePoolIfNecessary(address token0, address token1, uint24 fee, uint160 sqrtPriceX96) external payable returns (address pool);
        function mint(MintParams params) external payable returns (uint256 tokenId, uint128 liquidity, uint256 amount0, uint256 amount1);
        function decreaseLiquidity(DecreaseLiquidityParams params) external payable returns (uint256 amount0, uint256 amount1);
        function collect(CollectParams params) external payable returns (uint256 amount0, uint256 amount1);
        function burn(uint256 tokenId) external payable;
        function multicall(bytes[] data) external payable returns (bytes[] results);
        event IncreaseLiquidity(uint256 indexed tokenId, uint128 liquidity, uint256 amount0, uint256 amount1);
    }

    interface Periphery {
        constructor(address factory, address weth);
    }

    interface V3Router {
        struct ExactInputSingleParams {
            address tokenIn; address tokenOut; uint24 fee; address recipient; uint256 deadline;
            uint256 amountIn; uint256 amountOutMinimum; uint160 sqrtPriceLimitX96;
        }
        struct ExactOutputSingleParams {
            address tokenIn; address tokenOut; uint24 fee; address recipient; uint256 deadline;
            uint256 amountOut; uint256 amountInMaximum; uint160 sqrtPriceLimitX96;
        }
        function exactInputSingle(ExactInputSingleParams params) external payable returns (uint256 amountOut);
        function exactOutputSingle(ExactOutputSingleParams params) external payable returns (uint256 amountIn);
    }

    interface Quoter {
        struct QuoteExactInputSingleParams {
            address tokenIn; address tokenOut; uint256 amountIn; uint24 fee; uint160 sqrtPriceLimitX96;
        }
        function quoteExactInputSingle(QuoteExactInputSingleParams params) external returns (uint256 amountOut, uint160 sqrtPriceX96After, uint32 initializedTicksCrossed, uint256 gasEstimate);
    }

    interface Flux {
        constructor(address link, uint128 paymentAmount, uint32 timeout, address validator, int256 minSubmissionValue, int256 maxSubmissionValue, uint8 decimals, string description);
        function changeOracles(address[] removed, address[] added, address[] addedAdmins, uint32 minSubmissions, uint32 maxSubmissions, uint32 restartDelay) external;
        function submit(uint256 roundId, int256 submission) external;
        function latestRound() external view returns (uint256);
    }

    interface FeedProxy {
        constructor(address aggregator, address accessController);
        function decimals() external view returns (uint8);
        function description() external view returns (string);
        function aggregator() external view returns (address);
        function latestRoundData() external view returns (uint80 roundId, int256 answer, uint256 startedAt, uint256 updatedAt, uint80 answeredInRound);
    }
}
