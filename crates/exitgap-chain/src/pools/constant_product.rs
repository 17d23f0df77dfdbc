//! Uniswap v2's pair: two reserves.

use exitgap_core::ids::Address;
use exitgap_core::pools::{ConstantProduct, FeeRate, PoolState};
use exitgap_core::series::MissingReason;

use super::unanswered;
use crate::abi::{Answer, Call, V2Pair};
use crate::missing::Missing;

/// Words of `getReserves`' answer.
pub(super) const RESERVES_WORDS: usize = 3;

pub(super) fn reserves_call(pool: Address) -> Call {
    Call::new(pool, &V2Pair::getReservesCall {}, RESERVES_WORDS)
}

/// The pair's state out of `getReserves` and its configured fee.
pub(crate) fn decode(pool: Address, fee: FeeRate, answer: &Answer) -> Result<PoolState, Missing> {
    let reserves = answer
        .exact::<V2Pair::getReservesCall>(RESERVES_WORDS)
        .ok_or_else(|| unanswered(pool, "getReserves", answer))?;
    let raw = [reserves.reserve0.to(), reserves.reserve1.to()];
    ConstantProduct::new(raw, fee).map(PoolState::ConstantProduct).map_err(|error| {
        Missing::new(MissingReason::StateInconsistent, format!("pool {pool}: {error}"))
    })
}
