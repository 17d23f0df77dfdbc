//! Quotes an earlier estimate again at a later slot, to compare the two.

use crate::exit::{estimate_error, gap_of};
use crate::pools::{Direction, FillError};
use crate::snapshot::Observation;
use crate::units::Percent;
use crate::wide::U256;

/// How many slots later an issued estimate is quoted again.
pub const LATER_SLOTS: [u32; 4] = [1, 2, 6, 12];

/// The same sale at a later slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Requote {
    /// What the pool would have paid there, in raw units.
    pub amount_out: U256,
    /// `100 × (estimated − paid) × quote ÷ (sold × base)` at the oracle prices of the estimate's slot. Positive: the
    /// pool paid less than estimated. `None` if out of a percentage's bounds.
    pub error: Option<Percent>,
    /// The gap at the later slot's own oracle prices, which shows the effect of oracle changes separately. `None` as
    /// above.
    pub gap: Option<Percent>,
}

/// Quotes a sale of `amount_in` again at `later`, after `estimated` gave `estimated_out` for it. If the pool would no
/// longer fill it, returns the reason. Works for every kind of pool.
pub fn requote(
    estimated: &Observation,
    direction: Direction,
    [amount_in, estimated_out]: [U256; 2],
    later: &Observation,
) -> Result<Requote, FillError> {
    let amount_out = later.state().fill_once(direction, amount_in)?.amount_out;
    let amounts = [estimated_out, amount_out];
    Ok(Requote {
        amount_out,
        error: estimate_error(estimated, direction, amount_in, amounts),
        gap: gap_of(later, direction, [amount_in, amount_out]),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analytics::made_up::{observation, pair, slot};
    use crate::snapshot::{OracleReading, OracleRole, OracleSource};

    /// The same pool, with token 0 worth `dollars` and token 1 worth two dollars.
    fn worth(of: &Observation, dollars: u32) -> Observation {
        let price = |index: u8, dollars: u32| OracleReading {
            role: OracleRole::TokenUsd(index),
            answer: U256::from(dollars),
            decimals: 0,
            source: OracleSource::Fixed,
        };
        let (pool, chain, block) = (of.pool().clone(), of.chain(), of.block());
        let (tokens, state) = (of.tokens().clone(), of.state().clone());
        let oracles = vec![price(0, dollars), price(1, 2)];
        Observation::new(pool, chain, block, tokens, state, oracles, Vec::new()).unwrap()
    }

    #[test]
    fn an_error_is_at_the_first_oracle_and_a_gap_at_the_later_one() {
        let estimated = observation(slot(0), pair(1_000_000, 1_000_000));
        let amounts = [100_000_u32, 90_661].map(U256::from);
        let again = |later: &Observation| {
            let told = requote(&estimated, Direction::ZeroForOne, amounts, later).unwrap();
            (told.amount_out, told.error.unwrap().to_fixed(), told.gap.unwrap().to_fixed())
        };
        let of = |out: u32, error: &str, gap: &str| (U256::from(out), error.into(), gap.into());
        assert_eq!(again(&estimated), of(90_661, "0.000000", "9.339000"));
        let thinner = observation(slot(1), pair(1_000_000, 900_000));
        assert_eq!(again(&thinner), of(81_594, "9.067000", "18.406000"));
        // A change of the oracle price affects only the gap.
        assert_eq!(again(&worth(&thinner, 4)), of(81_594, "9.067000", "59.203000"));
        let deeper = observation(slot(2), pair(1_000_000, 1_100_000));
        assert_eq!(again(&deeper).1, "-9.066000", "the pool would have paid more");
        let dust = requote(
            &estimated,
            Direction::ZeroForOne,
            amounts,
            &observation(slot(3), pair(1_000_000, 1)),
        );
        assert_eq!(dust.unwrap_err(), FillError::ZeroOutput);
    }
}
