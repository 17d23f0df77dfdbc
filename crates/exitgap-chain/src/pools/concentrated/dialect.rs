//! The differences between contracts with Uniswap v3's arithmetic: the form of two answers, and the source of the fee.

use alloy::primitives::aliases::I24;
use exitgap_core::U256;
use exitgap_core::ids::Address;
use exitgap_core::pools::Tick;

use crate::abi::{Answer, Call, PancakePool, SlipstreamFactory, SlipstreamPool, V3Factory, V3Pool};
use crate::abi::{own, wire};
use crate::config::FactoryKind;

/// The form of a concentrated-liquidity pool's answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// Like Uniswap v3's pool.
    Uniswap,
    /// Like Uniswap v3's pool, from `SushiSwap`'s factory.
    Sushi,
    /// Like `PancakeSwap` v3's pool: a protocol fee of 32 bits in `slot0`.
    Pancake,
    /// Like Slipstream's pool: no protocol fee in `slot0`, staked liquidity and rewards in `ticks`, and a fee that the
    /// factory reports.
    Slipstream,
}

/// A tick as reported by the contract.
pub(super) struct ToldTick {
    pub gross: u128,
    pub net: i128,
    pub initialized: bool,
}

impl Dialect {
    /// All dialects.
    pub(super) const ALL: [Self; 4] = [Self::Uniswap, Self::Sushi, Self::Pancake, Self::Slipstream];

    /// The dialect of a factory's pools; `None` if they have none.
    pub(super) fn from_kind(kind: FactoryKind) -> Option<Self> {
        match kind {
            FactoryKind::UniswapV3 => Some(Self::Uniswap),
            FactoryKind::PancakeV3 => Some(Self::Pancake),
            FactoryKind::SushiV3 => Some(Self::Sushi),
            FactoryKind::Slipstream => Some(Self::Slipstream),
            _ => None,
        }
    }

    /// The venue whose pools use it.
    pub(super) fn owner(self) -> &'static str {
        match self {
            Self::Uniswap => "Uniswap v3",
            Self::Sushi => "SushiSwap v3",
            Self::Pancake => "PancakeSwap v3",
            Self::Slipstream => "Slipstream",
        }
    }

    /// √price and tick from the answer of `slot0`, if it has this dialect's form.
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

    /// Decodes the answer to that call.
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

    /// The call that asks the factory which pool it created for two tokens with this fee and tick spacing.
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

    /// The call that asks the factory which contract reports the pool's fee; `None` if the fee is the pool's own.
    pub(super) fn fee_module_call(self, factory: Address) -> Option<Call> {
        let call = SlipstreamFactory::swapFeeModuleCall {};
        (self == Self::Slipstream).then(|| Call::new(factory, &call, 1))
    }
}

/// Decodes the answer to [`Dialect::fee_module_call`].
pub(super) fn fee_module(answer: &Answer) -> Option<Address> {
    answer.exact::<SlipstreamFactory::swapFeeModuleCall>(1).map(own)
}

impl ToldTick {
    /// The tick with this index, if its values are consistent; `None` if it is not initialised.
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
