//! What differs between the contracts whose arithmetic is Uniswap v3's: the shape of two answers,
//! and where the fee comes from.

use alloy::primitives::aliases::I24;
use exitgap_core::U256;
use exitgap_core::ids::Address;
use exitgap_core::pools::Tick;

use crate::abi::{Answer, Call, PancakePool, SlipstreamFactory, SlipstreamPool, V3Factory, V3Pool};
use crate::abi::{own, wire};
use crate::config::FactoryKind;

/// How a pool of concentrated liquidity answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// As Uniswap v3's pool does.
    Uniswap,
    /// As Uniswap v3's, of `SushiSwap`'s factory.
    Sushi,
    /// As `PancakeSwap` v3's: a protocol fee of 32 bits in `slot0`.
    Pancake,
    /// As Slipstream's: no protocol fee in `slot0`, staked liquidity and rewards in `ticks`, and a
    /// fee that its factory tells.
    Slipstream,
}

/// A tick as the contract tells it.
pub(super) struct ToldTick {
    pub gross: u128,
    pub net: i128,
    pub initialized: bool,
}

impl Dialect {
    /// All of them.
    pub(super) const ALL: [Self; 4] = [Self::Uniswap, Self::Sushi, Self::Pancake, Self::Slipstream];

    /// That of a factory's pools; `None` where they do not answer so.
    pub(super) fn from_kind(kind: FactoryKind) -> Option<Self> {
        match kind {
            FactoryKind::UniswapV3 => Some(Self::Uniswap),
            FactoryKind::PancakeV3 => Some(Self::Pancake),
            FactoryKind::SushiV3 => Some(Self::Sushi),
            FactoryKind::Slipstream => Some(Self::Slipstream),
            _ => None,
        }
    }

    /// Whose pools answer so.
    pub(super) fn owner(self) -> &'static str {
        match self {
            Self::Uniswap => "Uniswap v3",
            Self::Sushi => "SushiSwap v3",
            Self::Pancake => "PancakeSwap v3",
            Self::Slipstream => "Slipstream",
        }
    }

    /// √price and tick out of `slot0`'s answer, where it has this shape.
    pub(super) fn slot0(self, answer: &Answer) -> Option<(U256, i32)> {
        let (price, tick) = match self {
            Self::Uniswap | Self::Sushi => {
                let told = answer.exact::<V3Pool::slot0Call>(7)?;
                (told.sqrtPriceX96, told.tick)
            }
            Self::Pancake => {
                let told = answer.exact::<PancakePool::slot0Call>(7)?;
                (told.sqrtPriceX96, told.tick)
            }
            Self::Slipstream => {
                let told = answer.exact::<SlipstreamPool::slot0Call>(6)?;
                (told.sqrtPriceX96, told.tick)
            }
        };
        Some((U256::from(price), tick.as_i32()))
    }

    /// The call that reads a tick.
    pub(super) fn tick_call(self, pool: Address, tick: i32) -> Call {
        let tick = I24::try_from(tick).unwrap_or(I24::MAX);
        Call::new(pool, &V3Pool::ticksCall { tick }, self.tick_words())
    }

    fn tick_words(self) -> usize {
        match self {
            Self::Uniswap | Self::Sushi | Self::Pancake => 8,
            Self::Slipstream => 10,
        }
    }

    /// What the answer to that says.
    pub(super) fn tick(self, answer: &Answer) -> Option<ToldTick> {
        let words = self.tick_words();
        let (gross, net, initialized) = match self {
            Self::Uniswap | Self::Sushi | Self::Pancake => {
                let told = answer.exact::<V3Pool::ticksCall>(words)?;
                (told.liquidityGross, told.liquidityNet, told.initialized)
            }
            Self::Slipstream => {
                let told = answer.exact::<SlipstreamPool::ticksCall>(words)?;
                (told.liquidityGross, told.liquidityNet, told.initialized)
            }
        };
        Some(ToldTick { gross, net, initialized })
    }

    /// The call by which the factory says which pool it made of two tokens with this fee and tick
    /// spacing.
    pub(super) fn proof(
        self,
        factory: Address,
        [token0, token1]: [Address; 2],
        fee_pips: u32,
        tick_spacing: i32,
    ) -> Option<Call> {
        let (token0, token1) = (wire(token0), wire(token1));
        match self {
            Self::Uniswap | Self::Sushi | Self::Pancake => {
                let fee = alloy::primitives::aliases::U24::try_from(fee_pips).ok()?;
                let call = V3Factory::getPoolCall { tokenA: token0, tokenB: token1, fee };
                Some(Call::new(factory, &call, 1))
            }
            Self::Slipstream => {
                let spacing = I24::try_from(tick_spacing).ok()?;
                let call = SlipstreamFactory::getPoolCall {
                    tokenA: token0,
                    tokenB: token1,
                    tickSpacing: spacing,
                };
                Some(Call::new(factory, &call, 1))
            }
        }
    }

    /// The call by which the factory says which contract tells the pool's fee; `None` where the fee
    /// is the pool's own.
    pub(super) fn fee_module_call(self, factory: Address) -> Option<Call> {
        let call = SlipstreamFactory::swapFeeModuleCall {};
        (self == Self::Slipstream).then(|| Call::new(factory, &call, 1))
    }
}

/// What the answer to [`Dialect::fee_module_call`] says.
pub(super) fn fee_module(answer: &Answer) -> Option<Address> {
    answer.exact::<SlipstreamFactory::swapFeeModuleCall>(1).map(own)
}

impl ToldTick {
    /// The tick of this index, if its own words agree; `None` where it is not initialised.
    pub(super) fn at(&self, tick: i32) -> Result<Option<Tick>, String> {
        let Self { gross, net, initialized } = *self;
        if initialized != (gross != 0) {
            return Err(format!(
                "tick {tick} has gross liquidity {gross} and initialized {initialized}"
            ));
        }
        Ok(initialized.then_some(Tick { tick, liquidity_net: net, liquidity_gross: gross }))
    }
}
