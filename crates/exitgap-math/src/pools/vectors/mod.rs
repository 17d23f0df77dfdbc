//! Recorded fills of real contracts, as stored in `tests/vectors/pools`: states, the amounts
//! offered, the amounts that the contract transferred, and whether core computes the same.
//!
//! - `body`: a recorded state as the state body that core reads
//!
//! Only available with the feature `vectors`, because comparing with contracts is not part of the product.

mod body;
#[cfg(test)]
mod held;

use serde_json::Value;

use super::{Direction, FillError, PoolState, StateError};
use crate::ids::Pair;
use crate::wide::U256;
#[cfg(test)]
pub(super) use held::{Held, hold, unpack_fills};

/// The maximum decompressed size of a file that is parsed.
pub const MAX_RECORDED_BYTES: usize = 32 << 20;
/// The maximum number of pools of a file.
pub const MAX_RECORDED_POOLS: usize = 10_000;
/// The maximum number of cases of a pool.
pub const MAX_RECORDED_CASES: usize = 100_000;

/// Where and how a file is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {what}")]
pub struct RecordedError {
    /// The place in the file, for example `pools[3].cases[7].in`.
    pub place: String,
    /// The reason.
    pub what: String,
}

/// A file with recorded fills of pools of one kind.
#[derive(Debug, Clone)]
pub struct RecordedFills {
    /// The kind of contract, for example `curve_plain`.
    pub kind: RecordedKind,
    /// The pools in the order of the file.
    pub pools: Vec<RecordedPool>,
}

/// A pool and the recorded transfers of its contract.
#[derive(Debug, Clone)]
pub struct RecordedPool {
    /// Its name in the file.
    pub id: String,
    /// The state of every case. Core may refuse it; then no case may be filled.
    pub state: Result<PoolState, StateError>,
    /// Sales from that state.
    pub cases: Vec<RecordedCase>,
    /// A sale that was really executed, with the state after it.
    pub after: Option<RecordedAfter>,
}

/// A sale and the state after it.
#[derive(Debug, Clone)]
pub struct RecordedAfter {
    /// The sale.
    pub case: RecordedCase,
    /// The state afterwards.
    pub state: Result<PoolState, StateError>,
}

/// One sale.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedCase {
    /// The tokens.
    pub pair: Pair,
    /// The direction of the sale.
    pub direction: Direction,
    /// The raw units offered.
    pub amount_in: U256,
    /// The contract's result.
    pub answer: RecordedAnswer,
}

/// The result of a contract.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecordedAnswer {
    /// It took the whole amount and transferred this many raw units.
    Paid(U256),
    /// It took less than offered.
    Taken {
        /// Raw units taken.
        consumed: U256,
        /// Raw units transferred.
        paid: U256,
    },
    /// It reverted.
    Refused,
}

/// The comparison of core's result with the contract's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Both have the same amount, or both refuse.
    Same,
    /// Core fills a sale that the contract refuses by a rule that core does not compute and reports as missing.
    Unmodelled,
    /// The amounts differ, or only one of them refuses.
    Different(String),
}

/// A kind of file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordedKind(&'static body::KindOfFile);

impl RecordedKind {
    /// The name, for example `curve_plain`.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// The kind with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        body::KINDS.iter().find(|kind| kind.name == name).map(Self)
    }

    /// Whether its contracts may refuse a sale after computing its fill, while they update a price, by rules that core
    /// does not have.
    pub fn has_price_upkeep(self) -> bool {
        self.0.rule == body::Rule::Crypto
    }
}

impl RecordedFills {
    /// Parses a file's decompressed bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, RecordedError> {
        let whole = At { place: String::new() };
        if bytes.len() > MAX_RECORDED_BYTES {
            let what = format!("more than {MAX_RECORDED_BYTES} bytes");
            return Err(whole.wrong(what));
        }
        let file: Value =
            serde_json::from_slice(bytes).map_err(|error| whole.wrong(error.to_string()))?;
        let name = whole.text(&file, "kind")?;
        let kind = RecordedKind::from_name(name)
            .ok_or_else(|| whole.inside("kind").wrong(format!("`{}` is not known", short(name))))?;
        let list = whole.list(&file, "pools", MAX_RECORDED_POOLS)?;
        let pools = list.iter().enumerate();
        let pools = pools.map(|(index, pool)| {
            RecordedPool::from_json(kind, pool, &whole.inside(&format!("pools[{index}]")))
        });
        Ok(Self { kind, pools: pools.collect::<Result<_, _>>()? })
    }
}

impl RecordedPool {
    fn from_json(kind: RecordedKind, pool: &Value, at: &At) -> Result<Self, RecordedError> {
        let fields = at.member(pool, "state")?;
        let state = body::state(kind.0, fields, &at.inside("state"))?;
        let coins = state.as_ref().map_or(usize::from(Pair::MAX_TOKENS), PoolState::coins);
        let list = at.list(pool, "cases", MAX_RECORDED_CASES)?.iter().enumerate();
        let cases = list.map(|(index, case)| {
            RecordedCase::from_json(case, coins, &at.inside(&format!("cases[{index}]")))
        });
        let cases = cases.collect::<Result<_, _>>()?;
        let after = match pool.get("after") {
            None => None,
            Some(sale) => {
                let at = at.inside("after");
                let left = at.member(sale, "state")?;
                // Unchanged fields may be omitted.
                let mut all = fields.clone();
                if let (Some(all), Some(left)) = (all.as_object_mut(), left.as_object()) {
                    all.extend(left.clone());
                }
                let state = body::state(kind.0, &all, &at.inside("state"))?;
                Some(RecordedAfter { case: RecordedCase::from_json(sale, coins, &at)?, state })
            }
        };
        Ok(Self { id: short(at.text(pool, "id")?), state, cases, after })
    }

    /// Compares core's result for a case with the contract's, both with and without a prepared curve.
    pub fn compare(&self, kind: RecordedKind, case: &RecordedCase) -> Verdict {
        let asked = self.state.as_ref().ok().and_then(|state| state.clone().of_pair(case.pair));
        let Some(state) = asked else {
            return match &case.answer {
                RecordedAnswer::Refused => Verdict::Same,
                other => Verdict::Different(format!(
                    "core refuses the state ({}), the contract {other}",
                    self.state.as_ref().err().map_or_else(String::new, ToString::to_string)
                )),
            };
        };
        let once = state.fill_once(case.direction, case.amount_in);
        let prepared = state.curve(case.direction).fill(case.amount_in);
        if once != prepared {
            return Verdict::Different(format!(
                "core prepared says {prepared:?}, unprepared {once:?}"
            ));
        }
        let in_part = RecordedKind::fills_in_part(kind);
        let same = match (&once, &case.answer) {
            (Ok(fill), RecordedAnswer::Paid(paid)) => fill.amount_out == *paid,
            (Ok(_), RecordedAnswer::Refused) if kind.has_price_upkeep() => {
                return Verdict::Unmodelled;
            }
            (
                Err(FillError::BeyondLiquidity { consumed, paid }),
                RecordedAnswer::Taken { consumed: taken, paid: transferred },
            ) => (consumed, paid) == (taken, transferred),
            // A contract that fills in part takes as much as it can, and refuses only if that is nothing.
            (Err(FillError::BeyondLiquidity { consumed, .. }), RecordedAnswer::Refused) => {
                !in_part || consumed.is_zero()
            }
            (Err(_), RecordedAnswer::Refused) => true,
            _ => false,
        };
        if same {
            return Verdict::Same;
        }
        let ours = match &once {
            Ok(fill) => format!("pays {}", fill.amount_out),
            Err(error) => format!("refuses: {error}"),
        };
        Verdict::Different(format!("core {ours}, the contract {}", case.answer))
    }

    /// Whether core has the contract's state after a sale; `None` if core does not follow this kind after a sale, or if
    /// the contract took less than offered.
    pub fn follows(&self, after: &RecordedAfter) -> Option<bool> {
        let RecordedCase { pair, direction, amount_in, .. } = after.case;
        let state = self.state.as_ref().ok()?.clone().of_pair(pair)?;
        let fill = state.fill_once(direction, amount_in).ok()?;
        let left = after.state.as_ref().ok().and_then(|left| left.clone().of_pair(pair));
        state.is_followed().then(|| left == Some(state.after(direction, &fill)))
    }
}

impl RecordedKind {
    /// Whether its contracts fill as much of an amount as they can.
    fn fills_in_part(self) -> bool {
        matches!(self.0.rule, body::Rule::AsItIs(protocol) if protocol != "solidly")
    }
}

impl RecordedCase {
    fn from_json(case: &Value, coins: usize, at: &At) -> Result<Self, RecordedError> {
        let [sold, bought] = [at.index(case, "i", coins)?, at.index(case, "j", coins)?];
        let pair = Pair::new(sold.min(bought), sold.max(bought));
        let pair = pair.ok_or_else(|| at.wrong("`i` and `j` are the same token".to_owned()))?;
        let direction = Direction::BOTH[usize::from(sold > bought)];
        let amount_in = at.amount(case, "in")?;
        if amount_in.is_zero() {
            return Err(at.inside("in").wrong("nothing is offered".to_owned()));
        }
        let refused = case.get("revert").is_some_and(|revert| revert == &Value::Bool(true));
        let answer = match (refused, case.get("out").is_some()) {
            (true, false) => RecordedAnswer::Refused,
            (false, true) => {
                let paid = at.amount(case, "out")?;
                let has = case.get("consumed").is_some();
                let consumed = if has { at.amount(case, "consumed")? } else { amount_in };
                if consumed == amount_in {
                    RecordedAnswer::Paid(paid)
                } else {
                    RecordedAnswer::Taken { consumed, paid }
                }
            }
            _ => return Err(at.wrong("neither `out` alone nor `revert: true` alone".to_owned())),
        };
        Ok(Self { pair, direction, amount_in, answer })
    }
}

impl core::fmt::Display for RecordedAnswer {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Paid(paid) => write!(f, "pays {paid}"),
            Self::Taken { consumed, paid } => write!(f, "takes {consumed} and pays {paid}"),
            Self::Refused => f.write_str("refuses"),
        }
    }
}

/// A place in a file.
struct At {
    place: String,
}

impl At {
    fn inside(&self, name: &str) -> Self {
        let dot = if self.place.is_empty() { "" } else { "." };
        Self { place: format!("{}{dot}{name}", self.place) }
    }

    fn wrong(&self, what: String) -> RecordedError {
        let whole = "the file".to_owned();
        RecordedError {
            place: if self.place.is_empty() { whole } else { self.place.clone() },
            what,
        }
    }

    fn member<'v>(&self, value: &'v Value, name: &str) -> Result<&'v Value, RecordedError> {
        value.get(name).ok_or_else(|| self.wrong(format!("no `{name}`")))
    }

    fn text<'v>(&self, value: &'v Value, name: &str) -> Result<&'v str, RecordedError> {
        let text = self.member(value, name)?.as_str();
        text.ok_or_else(|| self.inside(name).wrong("not a string".to_owned()))
    }

    fn list<'v>(
        &self,
        value: &'v Value,
        name: &str,
        most: usize,
    ) -> Result<&'v [Value], RecordedError> {
        let list = self.member(value, name)?.as_array();
        let list = list.ok_or_else(|| self.inside(name).wrong("not a list".to_owned()))?;
        if list.len() > most {
            return Err(self.inside(name).wrong(format!("more than {most} entries")));
        }
        Ok(list)
    }

    fn amount(&self, value: &Value, name: &str) -> Result<U256, RecordedError> {
        let text = self.text(value, name)?;
        amount(text).ok_or_else(|| {
            self.inside(name).wrong(format!("`{}` is no amount of 256 bits", short(text)))
        })
    }

    fn index(&self, value: &Value, name: &str, coins: usize) -> Result<u8, RecordedError> {
        let index = self.member(value, name)?.as_u64().and_then(|index| u8::try_from(index).ok());
        let index = index.filter(|index| usize::from(*index) < coins);
        index.ok_or_else(|| self.inside(name).wrong(format!("not one of {coins} tokens")))
    }
}

/// A decimal number without sign or leading zeros.
fn amount(text: &str) -> Option<U256> {
    let digits = (1..=78).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    let plain = digits && (text.len() == 1 || !text.starts_with('0'));
    plain.then(|| U256::from_str_radix(text, 10).ok()).flatten()
}

/// The beginning of a text, for error messages.
fn short(text: &str) -> String {
    text.chars().take(80).filter(|symbol| !symbol.is_control()).collect()
}
