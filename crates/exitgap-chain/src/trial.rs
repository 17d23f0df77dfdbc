//! A trial: the pool's own `swap` is called with an amount, and must pay what core's fill says.
//!
//! What a contract answers to probes says what it looks like; what it pays says what it is. No
//! quoter need be deployed, and nobody needs tokens: `eth_call` runs with code put in place of three
//! accounts, which every common node allows. A caller of ours calls `swap` and takes back whatever
//! it did; the two tokens become ledgers of one entry, so that balances, transfers, pauses and
//! fees of the real ones do not matter, but only the pool's arithmetic.
//!
//! - A v3 pool tells the amounts to its caller's callback, which ends the call with them.
//! - A v2 pair is paid first and then asked for exactly the fill, which it must allow, and for one
//!   unit more, which it must refuse: that holds it to the curve and to the fee.

use alloy::primitives::{Bytes, I256, U160};
use alloy::sol_types::{Revert, SolCall, SolError};
use exitgap_core::U256;
use exitgap_core::ids::Address;
use exitgap_core::pools::{Direction, MAX_SQRT_RATIO, MIN_SQRT_RATIO, PoolState};
use exitgap_core::snapshot::Observation;
use serde_json::{Map, Value, json};

use crate::abi::{Answer, Call, V2Pair, V3Pool, wire};
use crate::multicall::Multicall;
use crate::rpc::Failure;

/// Where the caller of ours stands during the call: the letters `exitgap` and `try`.
const CALLER: Address = Address(*b"exitgap\0\0\0\0\0\0\0\0\0\0try");

/// The caller's code. Its calldata is `1` in four bytes, a pool in 32, and what to call it with.
///
/// With `1` it calls itself with `2` in its place, and returns what that reverted with. With `2` it
/// calls the pool and reverts, so that nothing of it stays, with the call's success in 32 bytes and
/// what it returned. Anything else is the pool's callback: it reverts with the first two words
/// that it was given, the amounts.
const CALLER_CODE: &[u8] = &alloy::primitives::hex!(
    "600035" "60e01c" "80600114601f57" "600214604257" // what is asked
    "6040600460003760406000fd" // the callback
    "5b" "3660006000376002600353" "60006000366000600030" "5af150" "3d600060003e3d6000f3" // 1
    "5b" "6024360380602460003760006000826000" "6000600435" "5af1" // 2: calls the pool
    "6000523d600060203e3d6020016000fd" // and takes it back
);

/// A token's code: `balanceOf` is the storage at the account's address, `transfer` takes from the
/// sender's, and everything else, like a transfer, is 1.
const LEDGER_CODE: &[u8] = &alloy::primitives::hex!(
    "600035" "60e01c" "80" "6370a08231" "14602357" "63a9059cbb" "14603057"
    "600160005260206000f3" "5b" "600435" "54" "60005260206000f3" // balanceOf
    "5b" "602435" "33540333" "55" "600160005260206000f3" // transfer
);

/// Bytes that the answer to one trial is taken for, so that few are packed into one call: a trial
/// may use much gas.
const ANSWER_BYTES: usize = 48 << 10;

/// What share of all that a pool can pay is asked for: enough to cross ticks, little enough gas.
const SHARE: u64 = 20;

/// What a trial found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The contract pays what core says.
    Same,
    /// It does not.
    Other(String),
    /// It could not be found out.
    Unknown(String),
}

impl Verdict {
    /// Of two directions, the verdict that says more.
    fn weight(&self) -> u8 {
        match self {
            Self::Unknown(_) => 0,
            Self::Same => 1,
            Self::Other(_) => 2,
        }
    }
}

/// One sale that is tried.
struct Trial {
    direction: Direction,
    amount_in: U256,
    amount_out: U256,
}

/// Tries these pools, each read at the multicall's block.
pub(crate) async fn compare(
    multicall: &Multicall<'_>,
    pools: &[&Observation],
) -> Result<Vec<Verdict>, Failure> {
    let mut calls = Vec::new();
    let mut spans = Vec::with_capacity(pools.len());
    let mut ledgers: Map<String, Value> = Map::new();
    for pool in pools {
        let mut trials = Vec::new();
        for trial in Trial::of(pool) {
            let start = calls.len();
            calls.extend(trial.calls(pool));
            trial.enter(pool, &mut ledgers);
            trials.push((trial, start..calls.len()));
        }
        spans.push((pool, trials));
    }
    let mut overrides = ledgers;
    overrides.insert(CALLER.to_string(), json!({ "code": Bytes::from_static(CALLER_CODE) }));
    let answers = multicall.overriding(Value::Object(overrides)).read_once(&calls).await?;
    Ok(spans
        .into_iter()
        .map(|(pool, trials)| {
            let verdicts =
                trials.into_iter().map(|(trial, span)| trial.judge(pool, &answers[span]));
            let nothing = || Verdict::Unknown("the pool pays nothing".to_owned());
            verdicts.max_by_key(Verdict::weight).unwrap_or_else(nothing)
        })
        .collect())
}

impl Trial {
    /// The sales that a pool is tried with: of a v3 pool in both directions, whose ticks are others;
    /// of a pair in one, because only one can be paid at a time.
    fn of(pool: &Observation) -> Vec<Self> {
        let most = match pool.state() {
            PoolState::Concentrated(_) => 2,
            PoolState::ConstantProduct(_) => 1,
        };
        let trials =
            Direction::BOTH.into_iter().filter_map(|direction| Self::in_direction(pool, direction));
        trials.take(most).collect()
    }

    /// A sale that pays more than one unit, where there is one.
    fn in_direction(pool: &Observation, direction: Direction) -> Option<Self> {
        let curve = pool.state().curve(direction);
        let (mut amount_in, most_out) = curve.most();
        let enough = most_out / U256::from(SHARE);
        // Halved until it fits: at most as often as an amount has bits.
        for _ in 0..256 {
            let amount_out = curve.fill(amount_in).ok()?.amount_out;
            if amount_out <= enough {
                return (amount_out > U256::ONE).then_some(Self {
                    direction,
                    amount_in,
                    amount_out,
                });
            }
            amount_in >>= 1;
        }
        None
    }

    fn calls(&self, pool: &Observation) -> Vec<Call> {
        let Some(address) = pool.pool().contract().address() else { return Vec::new() };
        match pool.state() {
            PoolState::Concentrated(_) => {
                let zero_for_one = self.direction == Direction::ZeroForOne;
                let limit = if zero_for_one {
                    MIN_SQRT_RATIO + U256::ONE
                } else {
                    MAX_SQRT_RATIO - U256::ONE
                };
                let swap = V3Pool::swapCall {
                    recipient: wire(CALLER),
                    zeroForOne: zero_for_one,
                    amountSpecified: I256::from_raw(self.amount_in),
                    sqrtPriceLimitX96: U160::saturating_from(limit),
                    data: Bytes::new(),
                };
                vec![through_caller(address, &swap)]
            }
            PoolState::ConstantProduct(_) => {
                [self.amount_out, self.amount_out + U256::ONE, U256::ONE]
                    .map(|out| {
                        let mut outs = [U256::ZERO; 2];
                        outs[self.direction.quote_index()] = out;
                        let swap = V2Pair::swapCall {
                            amount0Out: outs[0],
                            amount1Out: outs[1],
                            to: wire(CALLER),
                            data: Bytes::new(),
                        };
                        through_caller(address, &swap)
                    })
                    .to_vec()
            }
        }
    }

    /// Enters into the tokens' ledgers what the pool holds, a v2 pair's input included.
    fn enter(&self, pool: &Observation, ledgers: &mut Map<String, Value>) {
        let Some(address) = pool.pool().contract().address() else { return };
        let mut key = [0; 32];
        key[12..].copy_from_slice(&address.0);
        let key = Bytes::copy_from_slice(&key).to_string();
        for (index, token) in pool.tokens().iter().enumerate() {
            let ledger = ledgers
                .entry(token.address.to_string())
                .or_insert_with(|| json!({ "code": Bytes::from_static(LEDGER_CODE), "state": {} }));
            if let PoolState::ConstantProduct(pair) = pool.state() {
                let mut balance = U256::from(pair.reserves()[index]);
                if index == self.direction.base_index() {
                    balance += self.amount_in;
                }
                let word = Bytes::copy_from_slice(&balance.to_be_bytes::<32>()).to_string();
                ledger["state"][&key] = word.into();
            }
        }
    }

    fn judge(&self, pool: &Observation, answers: &[Answer]) -> Verdict {
        let outcomes: Option<Vec<Outcome>> = answers.iter().map(Outcome::of).collect();
        let Some(outcomes) = outcomes else {
            let words = answers.first().map_or_else(String::new, Answer::in_words);
            return Verdict::Unknown(format!("the trial {words}"));
        };
        match (pool.state(), &outcomes[..]) {
            (PoolState::Concentrated(_), [outcome]) => self.judge_amounts(outcome),
            (PoolState::ConstantProduct(_), [fill, more, least]) => {
                let (amount_in, amount_out) = (self.amount_in, self.amount_out);
                if !least.success {
                    return Verdict::Unknown(format!("swap {}", least.in_words()));
                }
                match (fill.success, more.success) {
                    (true, false) => Verdict::Same,
                    (false, _) => Verdict::Other(format!(
                        "for {amount_in} of token{} it does not pay {amount_out} as its kind and \
                         fee would: swap {}",
                        self.direction.base_index(),
                        fill.in_words()
                    )),
                    (true, true) => Verdict::Other(format!(
                        "for {amount_in} of token{} it pays more than {amount_out}, which its kind \
                         and fee would",
                        self.direction.base_index()
                    )),
                }
            }
            _ => Verdict::Unknown("it was not tried as it should be".to_owned()),
        }
    }

    fn judge_amounts(&self, outcome: &Outcome) -> Verdict {
        if outcome.success || outcome.data.len() != 64 {
            return Verdict::Unknown(format!("swap {}", outcome.in_words()));
        }
        let word = |index: usize| U256::from_be_slice(&outcome.data[32 * index..32 * index + 32]);
        let taken = word(self.direction.base_index());
        let paid = word(self.direction.quote_index()).wrapping_neg();
        if (taken, paid) == (self.amount_in, self.amount_out) {
            return Verdict::Same;
        }
        Verdict::Other(format!(
            "for {taken} of token{} it pays {paid}, and its ticks and fee say {} for {}",
            self.direction.base_index(),
            self.amount_out,
            self.amount_in
        ))
    }
}

/// The call of our caller that makes it call the pool so.
fn through_caller(pool: Address, call: &impl SolCall) -> Call {
    let mut data = vec![0, 0, 0, 1];
    data.extend([0; 12]);
    data.extend(pool.0);
    data.extend(call.abi_encode());
    Call { target: CALLER, data: data.into(), answer_bytes: ANSWER_BYTES }
}

/// How a call of the pool ended.
struct Outcome {
    success: bool,
    data: Bytes,
}

impl Outcome {
    /// Out of what our caller returned; `None` where it did not.
    fn of(answer: &Answer) -> Option<Self> {
        let data = answer.returned().filter(|data| data.len() >= 32)?;
        Some(Self { success: data[31] == 1, data: data.slice(32..) })
    }

    fn in_words(&self) -> String {
        match Revert::abi_decode(&self.data) {
            Ok(revert) => {
                let reason: String = revert.reason().chars().take(64).collect();
                format!("reverts with {reason:?}")
            }
            Err(_) if self.success => "ends without asking to be paid".to_owned(),
            Err(_) => format!("reverts with {} bytes", self.data.len()),
        }
    }
}
