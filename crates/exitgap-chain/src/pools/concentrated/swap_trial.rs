//! The trial of a pool whose own `swap` is Uniswap v3's. The swap passes the amounts to its caller's callback, which
//! reverts with them.

use alloy::primitives::{Bytes, I256, U160};
use exitgap_core::U256;
use exitgap_core::pools::{Direction, MAX_SQRT_RATIO, MIN_SQRT_RATIO};

use crate::abi::{V3Pool, wire};
use crate::pools::reader::data_of;
use crate::trial::{CALLER, Outcome, Sale, Verdict};

/// The price limit of a swap without a limit of its own.
pub(in crate::pools) fn limit_of(direction: Direction) -> U160 {
    U160::saturating_from(match direction {
        Direction::ZeroForOne => MIN_SQRT_RATIO + U256::ONE,
        Direction::OneForZero => MAX_SQRT_RATIO - U256::ONE,
    })
}

pub(in crate::pools) fn calls(sale: &Sale) -> Vec<Vec<u8>> {
    vec![data_of(&V3Pool::swapCall {
        recipient: wire(CALLER),
        zeroForOne: sale.direction == Direction::ZeroForOne,
        amountSpecified: I256::from_raw(sale.amount_in),
        sqrtPriceLimitX96: limit_of(sale.direction),
        data: Bytes::new(),
    })]
}

pub(in crate::pools) fn judge(sale: &Sale, outcomes: &[Outcome]) -> Verdict {
    let [outcome] = outcomes else {
        return Verdict::Unknown("the trial was set up incorrectly".to_owned());
    };
    if outcome.success || outcome.data.len() != 64 {
        return Verdict::Unknown(format!("swap {}", outcome.in_words()));
    }
    let word = |index: usize| U256::from_be_slice(&outcome.data[32 * index..32 * index + 32]);
    let taken = word(sale.direction.base_index());
    compare(sale, taken, word(sale.direction.quote_index()).wrapping_neg())
}

/// Compares the amounts that the swap took and paid with the computed fill.
pub(in crate::pools) fn compare(sale: &Sale, taken: U256, paid: U256) -> Verdict {
    if (taken, paid) == (sale.amount_in, sale.amount_out) {
        return Verdict::Same;
    }
    Verdict::Other(format!(
        "for {taken} of token{} it pays {paid}, but its ticks and fee give {} for {}",
        sale.direction.base_index(),
        sale.amount_out,
        sale.amount_in
    ))
}
