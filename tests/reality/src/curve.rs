//! Swaps of Curve's pools: `curve.json`.

use exitgap_core::U256;
use exitgap_core::ids::{Address, Pair};
use exitgap_core::pools::{CryptoSwap, CryptoSwapParts, Direction, PoolState};
use serde::Deserialize;

use crate::report::Report;
use crate::values::Text;

/// A swap of a pool of Tricrypto-NG.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct CurveSwap {
    kind: String,
    block: u64,
    pool: Address,
    decimals: Vec<u8>,
    balances: Vec<Text<U256>>,
    price_scale: Vec<Text<U256>>,
    last_prices: Vec<Text<U256>>,
    invariant: Text<U256>,
    amp: u64,
    gamma: Text<u64>,
    fees: [u64; 2],
    fee_gamma: Text<u64>,
    sold: u8,
    bought: u8,
    amount_in: Text<U256>,
    amount_out: Text<U256>,
}

/// Judges every case.
pub fn check(swaps: &[CurveSwap], report: &mut Report) {
    let mut wrong = 0;
    for swap in swaps {
        if let Err(words) = swap.judge() {
            wrong += 1;
            report.complain(format!("swap of block {}, {}: {words}", swap.block, swap.pool));
        }
    }
    report.add("reality.curve", swaps.len());
    report.add("reality.curve_wrong", wrong);
}

impl CurveSwap {
    fn judge(&self) -> Result<(), String> {
        if self.kind != "curve_tricrypto_ng" {
            return Err(format!("the kind {} is not known", self.kind));
        }
        let numbers = |of: &[Text<U256>]| of.iter().map(|number| number.0).collect::<Vec<_>>();
        let pool = CryptoSwap::new(CryptoSwapParts {
            balances: numbers(&self.balances),
            decimals: self.decimals.clone(),
            price_scale: numbers(&self.price_scale),
            last_prices: numbers(&self.last_prices),
            invariant: self.invariant.0,
            amp: self.amp,
            gamma: self.gamma.0,
            fees: self.fees,
            fee_gamma: self.fee_gamma.0,
        });
        let pool = pool.map_err(|error| error.to_string())?;
        let (lower, higher) = (self.sold.min(self.bought), self.sold.max(self.bought));
        let pair = Pair::new(lower, higher).and_then(|pair| PoolState::from(pool).of_pair(pair));
        let pool = pair.ok_or("it has no such coins")?;
        let direction =
            if self.sold < self.bought { Direction::ZeroForOne } else { Direction::OneForZero };
        let once =
            pool.fill_once(direction, self.amount_in.0).map_err(|error| error.to_string())?;
        let curve = pool.curve(direction).fill(self.amount_in.0);
        if curve.as_ref() != Ok(&once) {
            return Err(format!("the contract's loop gives {once:?}, and the curve {curve:?}"));
        }
        if once.amount_out != self.amount_out.0 {
            return Err(format!(
                "{} was paid, and {} is computed",
                self.amount_out.0, once.amount_out
            ));
        }
        Ok(())
    }
}
