// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.20;

import {ERC20, ERC4626, IERC20} from "@openzeppelin/contracts/token/ERC20/extensions/ERC4626.sol";

/// A vault as OpenZeppelin has it, of any token: what tests redeem shares of.
contract Vault is ERC4626 {
    constructor(IERC20 asset) ERC20("Vault share", "vSHARE") ERC4626(asset) {}
}
