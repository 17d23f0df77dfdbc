//! Aerodrome v2 in process: real factory, real pools, sales as its router makes them.

use alloy::primitives::{Address, Bytes, U256};
use alloy::sol_types::{SolCall, SolConstructor};
use exitgap_core::pools::{Direction, FeeRate, PoolState, Solidly};

use crate::ParityError;
use crate::evm::{Evm, OPERATOR, Revert};
use crate::market::Market;
use exitgap_tests::devchain::abi::{SolidlyFactory, SolidlyPool as Contract, Token};
use exitgap_tests::fixtures::Artifact;

/// Receives what swaps pay.
const RECIPIENT: Address = Address::repeat_byte(0x33);

/// Decimals of the tokens that pools are made of.
const DECIMALS: [u8; 6] = [0, 2, 6, 8, 18, 24];

/// Raw units of each token that the seller begins with.
const PLENTY: U256 = U256::from_limbs([0, 0, 0, 1 << 63]);

/// The contracts that all pools share, deployed once.
pub struct Bed {
    evm: Evm,
    factory: Address,
    /// Two of each number of decimals.
    tokens: Vec<(Address, u8)>,
}

/// One pool on a machine of its own.
pub struct Pool {
    evm: Evm,
    address: Address,
    factory: Address,
    tokens: [Address; 2],
    decimals: [u8; 2],
    stable: bool,
}

/// What a pool is to be.
#[derive(Debug, Clone, Copy)]
pub struct PoolToMake {
    /// Whether it is one for tokens of about the same price.
    pub stable: bool,
    /// Which of the bed's tokens, any two.
    pub tokens: [usize; 2],
    /// Its own fee in parts of 10,000; `None`: the factory's for all.
    pub fee: Option<u64>,
    /// Raw units given to the pool beside its first liquidity, in the order of `tokens`.
    pub donated: [U256; 2],
}

impl Bed {
    /// How many tokens there are.
    pub const TOKENS: usize = 2 * DECIMALS.len();

    /// Deploys factory and tokens.
    pub fn deploy() -> Result<Self, ParityError> {
        let mut evm = Evm::new();
        let implementation = evm.deploy(Artifact::AerodromePool, &[])?;
        let arguments = SolidlyFactory::constructorCall { implementation };
        let factory = evm.deploy(Artifact::AerodromePoolFactory, &arguments.abi_encode())?;
        let mut tokens = Vec::new();
        for decimals in [DECIMALS, DECIMALS].concat() {
            let (name, symbol) = ("Token".to_owned(), "TKN".to_owned());
            let arguments = Token::constructorCall { name, symbol, decimals };
            let token = evm.deploy(Artifact::MintableErc20, &arguments.abi_encode())?;
            evm.must(token, &Token::mintCall { account: OPERATOR, value: PLENTY })?;
            tokens.push((token, decimals));
        }
        Ok(Self { evm, factory, tokens })
    }

    /// Decimals of one of the tokens.
    pub fn decimals(&self, token: usize) -> u8 {
        self.tokens[token].1
    }

    /// A pool with as little liquidity of its own as its contract takes here, and what it is given
    /// beside.
    pub fn pool(&self, make: &PoolToMake) -> Result<Pool, ParityError> {
        let mut evm = self.evm.fork();
        let pair = make.tokens.map(|token| self.tokens[token]);
        let [a, b] = pair.map(|(token, _)| token);
        let create = SolidlyFactory::createPoolCall { tokenA: a, tokenB: b, stable: make.stable };
        let address = evm.must(self.factory, &create)?;
        for ((token, _), amount) in pair.into_iter().zip(first_liquidity(pair.map(|it| it.1))) {
            evm.must(token, &Token::transferCall { to: address, amount })?;
        }
        evm.must(address, &Contract::mintCall { to: OPERATOR })?;
        for ((token, _), amount) in pair.into_iter().zip(make.donated) {
            evm.must(token, &Token::transferCall { to: address, amount })?;
        }
        evm.must(address, &Contract::syncCall {})?;
        if let Some(fee) = make.fee {
            // The contract's own number for none at all.
            let fee = U256::from(if fee == 0 { 420 } else { fee });
            evm.must(self.factory, &SolidlyFactory::setCustomFeeCall { pool: address, fee })?;
        }
        let mut pair = pair;
        pair.sort_unstable();
        let (tokens, decimals) = (pair.map(|it| it.0), pair.map(|it| it.1));
        let (factory, stable) = (self.factory, make.stable);
        Ok(Pool { evm, address, factory, tokens, decimals, stable })
    }
}

/// A hundredth of a token each, or a thousand and one where a token has no so small parts.
fn first_liquidity(decimals: [u8; 2]) -> [U256; 2] {
    let small = decimals.iter().all(|decimals| *decimals >= 6);
    decimals.map(|decimals| {
        let unit = U256::from(10).pow(U256::from(decimals));
        if small { unit / U256::from(100) } else { unit * U256::from(1_001) }
    })
}

impl Market for Pool {
    fn state(&mut self) -> Result<Result<PoolState, String>, ParityError> {
        let told = self.evm.must(self.address, &Contract::metadataCall {})?;
        let asked = SolidlyFactory::getFeeCall { pool: self.address, stable: self.stable };
        let fee = self.evm.must(self.factory, &asked)?;
        let numerator = u64::try_from(fee).unwrap_or(u64::MAX);
        let fee = FeeRate { numerator, denominator: Solidly::FEE_DENOMINATOR };
        let state = Solidly::new(self.stable, [told.r0, told.r1], self.decimals, fee);
        Ok(state.map(Into::into).map_err(|error| error.to_string()))
    }

    fn affordable(&mut self, direction: Direction) -> Result<U256, ParityError> {
        let owned = Token::balanceOfCall { owner: OPERATOR };
        self.evm.must(self.tokens[direction.base_index()], &owned)
    }

    /// It is paid, and asked for what it quotes.
    fn sell(
        &mut self,
        direction: Direction,
        amount_in: U256,
        keep: bool,
    ) -> Result<Result<U256, Revert>, ParityError> {
        let [sold, bought] =
            [direction.base_index(), direction.quote_index()].map(|index| self.tokens[index]);
        let quote = Contract::getAmountOutCall { amountIn: amount_in, tokenIn: sold };
        let out = match self.evm.ask(self.address, &quote)? {
            Ok(out) => out,
            Err(revert) => return Ok(Err(revert)),
        };
        let mut outs = [U256::ZERO; 2];
        outs[direction.quote_index()] = out;
        let [amount0_out, amount1_out] = outs;
        let swap = Contract::swapCall {
            amount0Out: amount0_out,
            amount1Out: amount1_out,
            to: RECIPIENT,
            data: Bytes::new(),
        };
        let mut paid = self.evm.fork();
        paid.must(sold, &Token::transferCall { to: self.address, amount: amount_in })?;
        let called = paid.call(self.address, swap.abi_encode().into())?;
        if let Err(revert) = called.outcome {
            return Ok(Err(revert));
        }
        let given = called.moved(bought, RECIPIENT).0;
        if keep {
            paid.keep(called);
            self.evm = paid;
        }
        Ok(Ok(given))
    }
}
