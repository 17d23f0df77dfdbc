//! The calls and events of the pools themselves, declared from the contracts' published ABIs.
//! What the development chain uses already is in [`crate::devchain::abi`].

#![allow(missing_docs)] // Generated from the declarations; the contracts' own pages document them.

use alloy::sol;

sol! {
    interface V3Factory {
        function enableFeeAmount(uint24 fee, int24 tickSpacing) external;
        function createPool(address tokenA, address tokenB, uint24 fee) external returns (address pool);
    }

    interface V3Pool {
        function initialize(uint160 sqrtPriceX96) external;
        function setFeeProtocol(uint8 feeProtocol0, uint8 feeProtocol1) external;
        function mint(address recipient, int24 tickLower, int24 tickUpper, uint128 amount, bytes data) external returns (uint256 amount0, uint256 amount1);
        function swap(address recipient, bool zeroForOne, int256 amountSpecified, uint160 sqrtPriceLimitX96, bytes data) external returns (int256 amount0, int256 amount1);
        function fee() external view returns (uint24);
        function tickBitmap(int16 wordPosition) external view returns (uint256);
    }

    interface V2Pair {
        function mint(address to) external returns (uint256 liquidity);
        function sync() external;
    }
}
