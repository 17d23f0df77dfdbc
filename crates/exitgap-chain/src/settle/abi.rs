//! The calls and events of a token that are used, from `EIP3009.sol`, `FiatTokenV2_2.sol` and EIP-20.

#![allow(missing_docs)] // Generated from the declarations; the standards' own pages document them.

use alloy::sol;

sol! {
    interface FiatToken {
        function name() external view returns (string);
        function version() external view returns (string);
        function decimals() external view returns (uint8);
        function DOMAIN_SEPARATOR() external view returns (bytes32);
        function authorizationState(address authorizer, bytes32 nonce) external view returns (bool);
        function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature) external;
        event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce);
        event Transfer(address indexed from, address indexed to, uint256 value);
    }

    /// EIP-1271: a contract decides whether a signature in its name is valid.
    interface Wallet {
        function isValidSignature(bytes32 hash, bytes signature) external view returns (bytes4);
    }

    /// The message that a payer signs, EIP-712.
    struct TransferWithAuthorization {
        address from;
        address to;
        uint256 value;
        uint256 validAfter;
        uint256 validBefore;
        bytes32 nonce;
    }
}
