//! Peers of exitgap: what compares it with other people's code, built only when it is asked for
//! (`cargo xtask parity`, `cargo xtask test --all`).
//!
//! This library is parity with the contracts: exitgap's core against the contracts of Uniswap v2 and v3, of
//! Aerodrome v2 and of Balancer v2, executed in this process by `revm`. The tests beside it also compare the compiled
//! trading calendars and the Merkle tree with other crates'.
//!
//! In scope: random pools made by the real contracts' own calls ([`v3`], [`v2`], [`solidly`],
//! [`balancer`]), every size sold for real (and undone) and compared with core to the unit, and
//! [`record`]ing vectors that keep what the contracts said, so that the default tests can check it without them.
//! Core's state is always read back from the contracts, never taken from the generator.
//!
//! A case matches where core's [`Answer`] equals the contract's: amounts, √price, tick, active
//! liquidity and ticks crossed. Beyond the pool the contract fills in part; core refuses, and
//! names the same amounts consumed and paid.

mod abi;
pub mod balancer;
mod evm;
mod market;
pub mod max_size;
mod payer;
pub mod record;
pub mod solidly;
pub mod v2;
pub mod v3;

use alloy::primitives::{Address, U256};
use alloy::sol_types::SolConstructor;
use evm::Evm;
use exitgap_core::pools::{
    ConcentratedError, ConstantProductError, Direction, PoolState, SaleCurve,
};
use exitgap_tests::devchain::abi::Token;
use exitgap_tests::fixtures::{Artifact, FixtureError};
use exitgap_tests::parity::VectorError;
use exitgap_tests::parity::answer::Answer;
use exitgap_tests::parity::vector::{Sale, Vector};

pub use evm::Revert;

/// Why a comparison could not be made. A difference is not an error but a [`Mismatch`].
#[derive(Debug, thiserror::Error)]
pub enum ParityError {
    /// The contracts' code is not there.
    #[error(transparent)]
    Fixture(#[from] FixtureError),
    /// The machine did what it never should.
    #[error("{0}")]
    Machine(String),
    /// A contract refused a call that had to work.
    #[error("{call} reverted: {reason}")]
    Reverted {
        /// The call's signature.
        call: &'static str,
        /// The contract's reason.
        reason: String,
    },
    /// Core refuses a state that a v3 contract holds.
    #[error("core refuses the contract's state: {0}")]
    Concentrated(#[from] ConcentratedError),
    /// Core refuses a state that a v2 contract holds.
    #[error("core refuses the contract's state: {0}")]
    ConstantProduct(#[from] ConstantProductError),
    /// Recorded fills cannot be compared.
    #[error(transparent)]
    Recorded(#[from] VectorError),
}

/// What was compared so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// Sales compared.
    pub cases: u64,
    /// The most initialised ticks one of them crossed, by the contract.
    pub ticks_crossed_max: u32,
    /// All of them together, for the mean.
    pub ticks_crossed_sum: u64,
    /// What differed.
    pub mismatches: Vec<Mismatch>,
}

/// A sale on which core and the contract differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// Both words.
    pub reason: String,
    /// Reproduces the case. Its expectation is a refusal of everything where the contract's word
    /// has no form of its own.
    pub vector: Vector,
}

impl Tally {
    fn count(&mut self, ticks_crossed: u32) {
        self.cases += 1;
        self.ticks_crossed_max = self.ticks_crossed_max.max(ticks_crossed);
        self.ticks_crossed_sum += u64::from(ticks_crossed);
    }

    /// What core says of a sale; where its answers contradict one another, that is a mismatch.
    fn core_says(
        &mut self,
        state: &PoolState,
        curve: &SaleCurve,
        amount_in: U256,
    ) -> Option<Answer> {
        match Answer::of_core(state, curve, amount_in) {
            Ok(found) => Some(found),
            Err(reason) => {
                self.differ(state, curve.direction(), amount_in, None, reason);
                None
            }
        }
    }

    fn differ(
        &mut self,
        state: &PoolState,
        direction: Direction,
        amount_in: U256,
        expected: Option<Answer>,
        reason: String,
    ) {
        let nothing = Answer::BeyondLiquidity { consumed: U256::ZERO, paid: U256::ZERO };
        let sale = Sale { amount_in, expected: expected.unwrap_or(nothing) };
        let vector = Vector { sales: vec![sale], ..Vector::new(state, direction) };
        self.mismatches.push(Mismatch { reason, vector });
    }
}

/// Deploys two tokens, token 0 first, and mints half of all numbers of each to `holder`.
fn two_tokens(evm: &mut Evm, holder: Address) -> Result<[Address; 2], ParityError> {
    let mut tokens = [Address::ZERO; 2];
    for token in &mut tokens {
        let arguments = Token::constructorCall {
            name: "Token".to_owned(),
            symbol: "TKN".to_owned(),
            decimals: 18,
        };
        *token = evm.deploy(Artifact::MintableErc20, &arguments.abi_encode())?;
        evm.must(*token, &Token::mintCall { account: holder, value: U256::ONE << 255 })?;
    }
    tokens.sort();
    Ok(tokens)
}
