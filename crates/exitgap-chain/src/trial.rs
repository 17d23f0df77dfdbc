//! A trial: the pool's own `swap` is called with an amount, and must pay the computed fill.
//!
//! A contract's answers to probes show only what it looks like; its payment shows how it behaves. No quoter needs to be
//! deployed and no tokens are needed, because `eth_call` runs with replaced code at three accounts, which every common
//! node allows. Our caller contract calls `swap` and reverts afterwards. The two tokens are replaced with minimal
//! ledgers, so balances, transfers, pauses and fees of the real tokens do not matter, only the pool's arithmetic.
//!
//! Each kind of pool defines how its swap is called, and how the outcome is judged.

use alloy::primitives::Bytes;
use alloy::sol_types::{Revert, SolError};
use exitgap_core::U256;
use exitgap_core::ids::{Address, Pair};
use exitgap_core::pools::Direction;
use exitgap_core::snapshot::Observation;
use serde_json::{Map, Value, json};

use crate::abi::{Answer, Call};
use crate::config::NOBODY;
use crate::multicall::Multicall;
use crate::pools::Reader;
use crate::rpc::Failure;

/// The address of our caller contract during the call: the letters `exitgap` and `try`.
pub(crate) const CALLER: Address = Address(*b"exitgap\0\0\0\0\0\0\0\0\0\0try");

/// The caller's code. Its calldata is `1` in four bytes, a pool in 32 bytes, and the calldata for the pool.
///
/// With `1` it calls itself with `2` instead, and returns the data of that call's revert. With `2` it calls the pool
/// and reverts, so that nothing persists, with the call's success in 32 bytes and its return data.
/// `unlockCallback(bytes)` comes from Uniswap v4's manager: the code calls the manager with these bytes, and reverts
/// with the result. Any other selector is a pool's callback: the code reverts with the first two words of its
/// arguments, which are the amounts.
const CALLER_CODE: &[u8] = &alloy::primitives::hex!(
    "600035" "60e01c" "8060011460295780600214604c57" "6391dd734614607557" // what is asked
    "6040600460003760406000fd" // the callback
    "5b" "3660006000376002600353" "60006000366000600030" "5af150" "3d600060003e3d6000f3" // 1
    "5b" "6024360380602460003760006000826000" "6000600435" "5af1" // 2: calls the pool
    "6000523d600060203e3d6020016000fd" // and takes it back
    "5b" "602435" "806044600037" "60006000826000600033" "5af150" "3d600060003e3d6000fd" // the manager
);

/// A token's replacement code: `balanceOf` returns the storage at the account's address, `transfer` subtracts from the
/// sender's balance, and all other calls, like a transfer, return 1.
const LEDGER_CODE: &[u8] = &alloy::primitives::hex!(
    "600035" "60e01c" "80" "6370a08231" "14602357" "63a9059cbb" "14603057"
    "600160005260206000f3" "5b" "600435" "54" "60005260206000f3" // balanceOf
    "5b" "602435" "33540333" "55" "600160005260206000f3" // transfer
);

/// The assumed size of the answer to one trial, so that few are packed into one call, because a trial can use much gas.
const ANSWER_BYTES: usize = 48 << 10;

/// The share of the pool's liquidity that is tried: enough to cross ticks, with little gas.
const SHARE: u64 = 20;

/// The result of a trial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The contract pays the computed amount.
    Same,
    /// The contract pays another amount.
    Other(String),
    /// The trial had no clear result.
    Unknown(String),
}

impl Verdict {
    /// Of two directions, the more informative verdict counts.
    fn weight(&self) -> u8 {
        match self {
            Self::Unknown(_) => 0,
            Self::Same => 1,
            Self::Other(_) => 2,
        }
    }
}

/// A sale that is tried, with the computed fill.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sale {
    pub(crate) direction: Direction,
    /// The pool's two tokens, by their indices in the contract.
    pub(crate) pair: Pair,
    pub(crate) amount_in: U256,
    pub(crate) amount_out: U256,
}

/// A pool that is tried, in the state that was read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TrialPool<'a> {
    pub(crate) reader: &'a Reader,
    pub(crate) pool: &'a Observation,
}

/// Tries these pools, each at the multicall's block.
pub(crate) async fn compare(
    multicall: &Multicall<'_>,
    pools: &[TrialPool<'_>],
) -> Result<Vec<Verdict>, Failure> {
    let mut verdicts = vec![Verdict::Unknown(String::new()); pools.len()];
    // A pool that needs real tokens cannot share a request with one whose tokens are replaced.
    for moves_tokens in [true, false] {
        let of_these = |tried: &TrialPool<'_>| tried.reader.moves_tokens() == moves_tokens;
        let (places, pools): (Vec<usize>, Vec<TrialPool<'_>>) =
            pools.iter().copied().enumerate().filter(|(_, tried)| of_these(tried)).unzip();
        let found = compare_together(multicall, &pools).await?;
        for (place, verdict) in places.into_iter().zip(found) {
            verdicts[place] = verdict;
        }
    }
    Ok(verdicts)
}

/// Tries pools that either all move tokens or all do not.
async fn compare_together(
    multicall: &Multicall<'_>,
    pools: &[TrialPool<'_>],
) -> Result<Vec<Verdict>, Failure> {
    let mut calls = Vec::new();
    let mut spans = Vec::with_capacity(pools.len());
    let mut ledgers: Map<String, Value> = Map::new();
    for tried in pools {
        let mut sales = Vec::new();
        for sale in tried.sales() {
            let start = calls.len();
            calls.extend(tried.calls(&sale));
            if tried.reader.moves_tokens() {
                tried.enter(&sale, &mut ledgers);
            }
            sales.push((sale, start..calls.len()));
        }
        spans.push((tried, sales));
    }
    let mut overrides = ledgers;
    overrides.insert(CALLER.to_string(), json!({ "code": Bytes::from_static(CALLER_CODE) }));
    let answers = multicall.with_overrides(Value::Object(overrides)).read_once(&calls).await?;
    Ok(spans
        .into_iter()
        .map(|(tried, sales)| {
            let verdicts = sales.into_iter().map(|(sale, span)| tried.judge(&sale, &answers[span]));
            let nothing = || Verdict::Unknown("the pool pays no output".to_owned());
            verdicts.max_by_key(Verdict::weight).unwrap_or_else(nothing)
        })
        .collect())
}

impl TrialPool<'_> {
    /// The sales for the trial, in as many directions as can be tried at once.
    fn sales(&self) -> Vec<Sale> {
        let sales = Direction::BOTH.into_iter().filter_map(|direction| self.sale(direction));
        sales.take(self.reader.tried_at_once()).collect()
    }

    /// A sale that pays more than one unit, if there is one.
    fn sale(&self, direction: Direction) -> Option<Sale> {
        let pair = self.pool.pair();
        let curve = self.pool.state().curve(direction);
        let (mut amount_in, most_out) = curve.most();
        let enough = most_out / U256::from(SHARE);
        // Halved until it can be filled, at most as often as an amount has bits.
        for _ in 0..256 {
            let amount_out = curve.fill(amount_in).ok()?.amount_out;
            if amount_out <= enough {
                let pays = amount_out > U256::ONE;
                return pays.then_some(Sale { direction, pair, amount_in, amount_out });
            }
            amount_in >>= 1;
        }
        None
    }

    fn calls(&self, sale: &Sale) -> Vec<Call> {
        let swaps = self.reader.trial_calls(sale);
        swaps.iter().map(|swap| through_caller(self.reader.swapped_by(), swap)).collect()
    }

    /// Replaces the tokens with ledgers, and sets the pool's balances.
    fn enter(&self, sale: &Sale, ledgers: &mut Map<String, Value>) {
        let mut key = [0; 32];
        key[12..].copy_from_slice(&self.reader.swapped_by().0);
        let key = Bytes::copy_from_slice(&key).to_string();
        for (index, token) in self.pool.tokens().iter().enumerate() {
            // The chain's native coin has no contract.
            if token.address == NOBODY {
                continue;
            }
            let ledger = ledgers
                .entry(token.address.to_string())
                .or_insert_with(|| json!({ "code": Bytes::from_static(LEDGER_CODE), "state": {} }));
            if let Some(balance) = self.reader.trial_balance(self.pool, sale, index) {
                let word = Bytes::copy_from_slice(&balance.to_be_bytes::<32>()).to_string();
                ledger["state"][&key] = word.into();
            }
        }
    }

    fn judge(&self, sale: &Sale, answers: &[Answer]) -> Verdict {
        let outcomes: Option<Vec<Outcome>> = answers.iter().map(Outcome::from_answer).collect();
        let Some(outcomes) = outcomes else {
            let words = answers.first().map_or_else(String::new, Answer::in_words);
            return Verdict::Unknown(format!("the trial {words}"));
        };
        self.reader.judge(self.pool, sale, &outcomes)
    }
}

/// The call of our caller contract that makes it call the pool with this calldata.
fn through_caller(pool: Address, call: &[u8]) -> Call {
    let mut data = vec![0, 0, 0, 1];
    data.extend([0; 12]);
    data.extend(pool.0);
    data.extend(call);
    Call { target: CALLER, data: data.into(), answer_bytes: ANSWER_BYTES }
}

/// The outcome of a call of the pool.
pub(crate) struct Outcome {
    pub(crate) success: bool,
    pub(crate) data: Bytes,
}

impl Outcome {
    /// Decodes the data from our caller contract; `None` if it failed.
    fn from_answer(answer: &Answer) -> Option<Self> {
        let data = answer.return_data().filter(|data| data.len() >= 32)?;
        Some(Self { success: data[31] == 1, data: data.slice(32..) })
    }

    /// The only word returned by a successful call.
    pub(crate) fn paid(&self) -> Option<U256> {
        let word = <[u8; 32]>::try_from(self.data.as_ref()).ok()?;
        self.success.then(|| U256::from_be_bytes(word))
    }

    pub(crate) fn in_words(&self) -> String {
        match Revert::abi_decode(&self.data) {
            Ok(revert) => {
                let reason: String = revert.reason().chars().take(64).collect();
                format!("reverts with {reason:?}")
            }
            Err(_) if self.success => "ends without requesting payment".to_owned(),
            Err(_) => format!("reverts with {} bytes", self.data.len()),
        }
    }
}
