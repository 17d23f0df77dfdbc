//! Uniswap v3 in process: real factory, real pools, real mints, real swaps.

use alloy::primitives::aliases::{I24, U24, U160};
use alloy::primitives::{Address, Bytes, I256, U256};
use alloy::sol_types::{SolConstructor, SolEvent};
use exitgap_core::pools::{
    Concentrated, Direction, MAX_SQRT_RATIO, MAX_TICK, MIN_SQRT_RATIO, MIN_TICK, Tick,
};

use super::pool_to_make::{PoolToMake, Position};
use crate::abi::{V3Factory, V3Pool as Writes};
use crate::evm::{Evm, Revert, decoded};
use crate::{ParityError, payer, two_tokens};
use exitgap_tests::devchain::abi::{Periphery, Quoter, V3Pool as Reads};
use exitgap_tests::fixtures::Artifact;

/// Pays for mints and swaps.
const PAYER: Address = Address::repeat_byte(0x22);
/// Receives what swaps pay.
const RECIPIENT: Address = Address::repeat_byte(0x33);

/// The contracts that all pools share, deployed once.
pub struct Bed {
    evm: Evm,
    factory: Address,
    quoter: Address,
    tokens: [Address; 2],
}

/// One pool on a machine of its own.
pub struct Pool {
    evm: Evm,
    quoter: Address,
    address: Address,
    tokens: [Address; 2],
    fee: U24,
    tick_spacing: i32,
    ticks: Vec<Tick>,
}

/// What `QuoterV2` answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quote {
    /// Raw units of the token bought.
    pub amount_out: U256,
    /// √price after the sale, Q64.96.
    pub sqrt_price_after_x96: U256,
    /// As the quoter counts them; see the module of the cases.
    pub initialised_ticks_crossed: u32,
}

/// What a real swap did: balances moved and the pool's own event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Swapped {
    /// Raw units taken from the payer.
    pub consumed: U256,
    /// Raw units given to the recipient.
    pub paid: U256,
    /// √price after the swap, Q64.96.
    pub sqrt_price_after_x96: U256,
    /// Active liquidity after the swap.
    pub liquidity_after: u128,
    /// The contract's tick after the swap.
    pub tick_after: i32,
}

impl Bed {
    /// Deploys factory, quoter and two tokens.
    pub fn deploy() -> Result<Self, ParityError> {
        let mut evm = Evm::new();
        let factory = evm.deploy(Artifact::UniswapV3Factory, &[])?;
        // Nothing here wraps ether.
        let periphery = Periphery::constructorCall { factory, weth: Address::ZERO };
        let quoter = evm.deploy(Artifact::QuoterV2, &periphery.abi_encode())?;
        let tokens = two_tokens(&mut evm, PAYER)?;
        evm.place(PAYER, payer::code(tokens));
        Ok(Self { evm, factory, quoter, tokens })
    }

    /// Creates a pool as planned: `createPool`, `initialize`, and a mint per position.
    pub fn pool(&self, plan: &PoolToMake) -> Result<Pool, ParityError> {
        let mut evm = self.evm.fork();
        let (fee, spacing) = (U24::from(plan.fee_pips), I24::unchecked_from(plan.tick_spacing));
        if !plan.built_in_tier() {
            evm.must(self.factory, &V3Factory::enableFeeAmountCall { fee, tickSpacing: spacing })?;
        }
        let [token0, token1] = self.tokens;
        let create = V3Factory::createPoolCall { tokenA: token0, tokenB: token1, fee };
        let address = evm.must(self.factory, &create)?;
        let sqrt_price = U160::from(plan.sqrt_price_x96);
        evm.must(address, &Writes::initializeCall { sqrtPriceX96: sqrt_price })?;
        let share = plan.protocol_fee;
        evm.must(
            address,
            &Writes::setFeeProtocolCall { feeProtocol0: share, feeProtocol1: share },
        )?;
        let mut pool = Pool {
            evm,
            quoter: self.quoter,
            address,
            tokens: self.tokens,
            fee,
            tick_spacing: 0,
            ticks: Vec::new(),
        };
        for position in &plan.positions {
            pool.mint(position)?;
        }
        pool.read_ticks()?;
        Ok(pool)
    }
}

impl Pool {
    fn mint(&mut self, position: &Position) -> Result<(), ParityError> {
        let mint = Writes::mintCall {
            recipient: PAYER,
            tickLower: I24::unchecked_from(position.lower),
            tickUpper: I24::unchecked_from(position.upper),
            amount: position.liquidity,
            data: Bytes::new(),
        };
        let called = self.evm.call(PAYER, payer::forward(self.address, &mint))?;
        decoded::<Writes::mintCall>(&called.outcome)?;
        self.evm.keep(called);
        Ok(())
    }

    /// Reads spacing, bitmap and every initialised tick. Swaps change none of them.
    fn read_ticks(&mut self) -> Result<(), ParityError> {
        let spacing = self.read(&Reads::tickSpacingCall {})?.as_i32();
        let mut ticks = Vec::new();
        let words = MIN_TICK.div_euclid(spacing) >> 8..=MAX_TICK.div_euclid(spacing) >> 8;
        for word in words {
            let position = i16::try_from(word).expect("887272 >> 8 fits");
            let bits = self.read(&Writes::tickBitmapCall { wordPosition: position })?;
            for bit in (0..256).filter(|bit| bits.bit(*bit)) {
                let bit = i32::try_from(bit).expect("below 256");
                let tick = ((word << 8) + bit) * spacing;
                let found = self.read(&Reads::ticksCall { tick: I24::unchecked_from(tick) })?;
                let (liquidity_net, liquidity_gross) = (found.liquidityNet, found.liquidityGross);
                ticks.push(Tick { tick, liquidity_net, liquidity_gross });
            }
        }
        self.tick_spacing = spacing;
        self.ticks = ticks;
        Ok(())
    }

    fn read<C: alloy::sol_types::SolCall>(&mut self, call: &C) -> Result<C::Return, ParityError> {
        let address = self.address;
        self.evm
            .ask(address, call)?
            .map_err(|revert| ParityError::Reverted { call: C::SIGNATURE, reason: revert.reason() })
    }

    /// The pool's state, as its contract tells it.
    pub fn state(&mut self) -> Result<Concentrated, ParityError> {
        let slot0 = self.read(&Reads::slot0Call {})?;
        let liquidity = self.read(&Reads::liquidityCall {})?;
        let fee = self.read(&Writes::feeCall {})?;
        Ok(Concentrated::new(
            U256::from(slot0.sqrtPriceX96),
            slot0.tick.as_i32(),
            liquidity,
            fee.to(),
            self.tick_spacing,
            self.ticks.clone(),
        )?)
    }

    /// `quoteExactInputSingle` without a price limit.
    pub fn quote(
        &mut self,
        direction: Direction,
        amount_in: U256,
    ) -> Result<Result<Quote, Revert>, ParityError> {
        let params = Quoter::QuoteExactInputSingleParams {
            tokenIn: self.tokens[direction.base_index()],
            tokenOut: self.tokens[direction.quote_index()],
            amountIn: amount_in,
            fee: self.fee,
            sqrtPriceLimitX96: U160::ZERO,
        };
        let answer = self.evm.ask(self.quoter, &Quoter::quoteExactInputSingleCall { params })?;
        Ok(answer.map(|quote| Quote {
            amount_out: quote.amountOut,
            sqrt_price_after_x96: U256::from(quote.sqrtPriceX96After),
            initialised_ticks_crossed: quote.initializedTicksCrossed,
        }))
    }

    /// A real swap up to the contract's last price; undone unless `keep`.
    pub fn swap(
        &mut self,
        direction: Direction,
        amount_in: U256,
        keep: bool,
    ) -> Result<Result<Swapped, Revert>, ParityError> {
        let zero_for_one = direction == Direction::ZeroForOne;
        let limit =
            if zero_for_one { MIN_SQRT_RATIO + U256::ONE } else { MAX_SQRT_RATIO - U256::ONE };
        let swap = Writes::swapCall {
            recipient: RECIPIENT,
            zeroForOne: zero_for_one,
            amountSpecified: I256::from_raw(amount_in),
            sqrtPriceLimitX96: U160::from(limit),
            data: Bytes::new(),
        };
        let called = self.evm.call(PAYER, payer::forward(self.address, &swap))?;
        if let Err(revert) = called.outcome {
            return Ok(Err(revert));
        }
        let event = called
            .logs
            .iter()
            .find_map(|log| Reads::Swap::decode_log(log).ok())
            .ok_or_else(|| ParityError::Machine("a swap left no event".to_owned()))?;
        let swapped = Swapped {
            consumed: called.moved(self.tokens[direction.base_index()], PAYER).1,
            paid: called.moved(self.tokens[direction.quote_index()], RECIPIENT).0,
            sqrt_price_after_x96: U256::from(event.sqrtPriceX96),
            liquidity_after: event.liquidity,
            tick_after: event.tick.as_i32(),
        };
        if keep {
            self.evm.keep(called);
        }
        Ok(Ok(swapped))
    }
}
