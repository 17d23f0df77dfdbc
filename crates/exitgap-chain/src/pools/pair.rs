//! Calls that all contracts with two tokens and a factory answer, whatever their kind.

use alloy::primitives::Bytes;
use exitgap_core::U256;
use exitgap_core::ids::Address;

use super::reader::{Probe, data_of};
use crate::abi::{Answer, Pool, V2Pair, own, wire};
use crate::trial::{CALLER, Sale};

/// The probes: the two tokens and the factory.
pub(super) fn probes(pool: Address) -> Vec<Probe> {
    vec![
        Probe::new("token0", pool, &Pool::token0Call {}, 1),
        Probe::new("token1", pool, &Pool::token1Call {}, 1),
        Probe::new("factory", pool, &Pool::factoryCall {}, 1),
    ]
}

/// The call that asks a pair, after it was paid, for `out` units of the token bought.
pub(super) fn swap(sale: &Sale, out: U256) -> Vec<u8> {
    let mut outs = [U256::ZERO; 2];
    outs[sale.direction.quote_index()] = out;
    data_of(&V2Pair::swapCall {
        amount0Out: outs[0],
        amount1Out: outs[1],
        to: wire(CALLER),
        data: Bytes::new(),
    })
}

/// A contract's own data.
pub(super) struct Pair {
    pub(super) tokens: [Address; 2],
    pub(super) factory: Address,
}

impl Pair {
    /// Decodes the answers to [`probes`], and returns the remaining answers; `None` if the contract does not answer
    /// like one with two tokens.
    pub(super) fn from_answers(answers: &[Answer]) -> Option<(Self, &[Answer])> {
        let [token0, token1, factory, rest @ ..] = answers else { return None };
        let token0 = own(token0.exact::<Pool::token0Call>(1)?);
        let token1 = own(token1.exact::<Pool::token1Call>(1)?);
        let factory = own(factory.exact::<Pool::factoryCall>(1)?);
        Some((Self { tokens: [token0, token1], factory }, rest))
    }
}
