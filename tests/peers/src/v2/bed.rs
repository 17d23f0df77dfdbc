//! Uniswap v2 in process: real factory, real pairs, real swaps through the router.

use alloy::primitives::{Address, U256};
use alloy::sol_types::SolConstructor;
use exitgap_core::pools::{ConstantProduct, Direction, FeeRate};

use crate::abi::V2Pair as Writes;
use crate::evm::{Evm, OPERATOR, Revert};
use crate::{ParityError, two_tokens};
use exitgap_tests::devchain::abi::{Token, V2Factory, V2Pair as Reads, V2Router};
use exitgap_tests::fixtures::Artifact;

/// Receives what swaps pay.
const RECIPIENT: Address = Address::repeat_byte(0x33);

/// The fee of Uniswap's own pairs; their code knows no other.
const FEE: FeeRate = FeeRate { numerator: 3, denominator: 1_000 };

/// The contracts that all pairs share, deployed once.
pub struct Bed {
    evm: Evm,
    factory: Address,
    router: Address,
    tokens: [Address; 2],
}

/// One pair on a machine of its own.
pub struct Pair {
    evm: Evm,
    address: Address,
    router: Address,
    tokens: [Address; 2],
}

/// What a real swap moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Swapped {
    /// Raw units taken from the seller.
    pub consumed: U256,
    /// Raw units given to the recipient.
    pub paid: U256,
}

/// Why a real swap was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refused {
    /// Nothing was offered.
    ZeroInput,
    /// The output rounds to nothing.
    ZeroOutput,
    /// A reserve would exceed 112 bits, or a product 256.
    Overflow,
    /// Anything else.
    Other(Revert),
}

impl Bed {
    /// Deploys factory, router and two tokens.
    pub fn deploy() -> Result<Self, ParityError> {
        let mut evm = Evm::new();
        let owner = V2Factory::constructorCall { feeToSetter: OPERATOR };
        let factory = evm.deploy(Artifact::UniswapV2Factory, &owner.abi_encode())?;
        // Nothing here wraps ether.
        let arguments = V2Router::constructorCall { factory, weth: Address::ZERO };
        let router = evm.deploy(Artifact::UniswapV2Router02, &arguments.abi_encode())?;
        let tokens = two_tokens(&mut evm, OPERATOR)?;
        for token in tokens {
            evm.must(token, &Token::approveCall { spender: router, amount: U256::MAX })?;
        }
        Ok(Self { evm, factory, router, tokens })
    }

    /// A pair with these reserves: minted with `minted` of each token, then raised by a donation
    /// and `sync`.
    pub fn pair(&self, minted: [U256; 2], donated: [U256; 2]) -> Result<Pair, ParityError> {
        let mut evm = self.evm.fork();
        let create = V2Factory::createPairCall { tokenA: self.tokens[0], tokenB: self.tokens[1] };
        let address = evm.must(self.factory, &create)?;
        for (token, amount) in self.tokens.into_iter().zip(minted) {
            evm.must(token, &Token::transferCall { to: address, amount })?;
        }
        evm.must(address, &Writes::mintCall { to: OPERATOR })?;
        for (token, amount) in self.tokens.into_iter().zip(donated) {
            evm.must(token, &Token::transferCall { to: address, amount })?;
        }
        evm.must(address, &Writes::syncCall {})?;
        Ok(Pair { evm, address, router: self.router, tokens: self.tokens })
    }
}

impl Pair {
    /// The pair's state, as its contract tells it.
    pub fn state(&mut self) -> Result<ConstantProduct, ParityError> {
        let reserves = self.evm.must(self.address, &Reads::getReservesCall {})?;
        Ok(ConstantProduct::new([reserves.reserve0.to(), reserves.reserve1.to()], FEE)?)
    }

    /// The router's `getAmountsOut`.
    pub fn quote(
        &mut self,
        direction: Direction,
        amount_in: U256,
    ) -> Result<Result<U256, Revert>, ParityError> {
        let quote = V2Router::getAmountsOutCall { amountIn: amount_in, path: self.path(direction) };
        let answer = self.evm.ask(self.router, &quote)?;
        Ok(answer.map(|amounts| amounts[1]))
    }

    /// A real swap through the router; undone unless `keep`.
    pub fn swap(
        &mut self,
        direction: Direction,
        amount_in: U256,
        keep: bool,
    ) -> Result<Result<Swapped, Refused>, ParityError> {
        let swap = V2Router::swapExactTokensForTokensCall {
            amountIn: amount_in,
            amountOutMin: U256::ZERO,
            path: self.path(direction),
            to: RECIPIENT,
            deadline: U256::MAX,
        };
        let data = alloy::sol_types::SolCall::abi_encode(&swap).into();
        let called = self.evm.call(self.router, data)?;
        if let Err(revert) = called.outcome {
            return Ok(Err(Refused::from(revert)));
        }
        let swapped = Swapped {
            consumed: called.moved(self.tokens[direction.base_index()], OPERATOR).1,
            paid: called.moved(self.tokens[direction.quote_index()], RECIPIENT).0,
        };
        if keep {
            self.evm.keep(called);
        }
        Ok(Ok(swapped))
    }

    fn path(&self, direction: Direction) -> Vec<Address> {
        vec![self.tokens[direction.base_index()], self.tokens[direction.quote_index()]]
    }
}

impl From<Revert> for Refused {
    fn from(revert: Revert) -> Self {
        match revert.reason().as_str() {
            "UniswapV2Library: INSUFFICIENT_INPUT_AMOUNT" => Self::ZeroInput,
            "UniswapV2: INSUFFICIENT_OUTPUT_AMOUNT" => Self::ZeroOutput,
            "UniswapV2: OVERFLOW" | "ds-math-mul-overflow" | "ds-math-add-overflow" => {
                Self::Overflow
            }
            _ => Self::Other(revert),
        }
    }
}
