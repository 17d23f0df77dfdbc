//! Vectors: a pool's state, sizes, and the contract's results, as JSON.
//!
//! Each file contains one state, in the form of a snapshot's `state`, and one direction. Raw chain integers are decimal
//! strings. Checking a file needs no contract.

use std::path::Path;

use alloy::primitives::U256;
use exitgap_core::exit::Exit;
use exitgap_core::pools::{Direction, PoolState};
use exitgap_core::units::{GapLimit, SizeUsd};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::VectorError;
use super::answer::Answer;
use super::oracle::Oracle;

/// One state, one direction, some sizes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Vector {
    /// The pool before each sale.
    pub state: VectorState,
    /// The token sold: 0 or 1.
    pub token_in: u8,
    /// The sales, each from `state`.
    pub sales: Vec<Sale>,
    /// Largest exits within a gap.
    pub depths: Vec<Depth>,
}

/// One size, with the contract's result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sale {
    /// The raw amount of the token sold.
    #[serde(with = "decimal")]
    pub amount_in: U256,
    /// The contract's result.
    pub expected: Answer,
}

/// A gap limit and the largest exit within it, according to the contract.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Depth {
    /// Decimals of token 0 and token 1.
    pub decimals: [u8; 2],
    /// `[answer, decimals]`: USD per whole token 0 and token 1.
    pub usd: [(String, u32); 2],
    /// The gap limit, percent.
    pub limit_pct: String,
    /// The largest raw amount of the token sold that passes.
    #[serde(with = "decimal")]
    pub max_amount_in: U256,
    /// The largest size that passes, USD; absent if none passes or it was not searched for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size_usd: Option<String>,
}

/// The body of a pool's state, as in a snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct VectorState(Value);

impl Vector {
    /// A vector of this state, without questions yet.
    pub fn new(state: &PoolState, direction: Direction) -> Self {
        let token_in = u8::from(direction == Direction::OneForZero);
        Self { state: VectorState::of(state), token_in, sales: Vec::new(), depths: Vec::new() }
    }

    /// Reads a vector file.
    pub fn read(path: &Path) -> Result<Self, VectorError> {
        let name = path.display();
        let text = std::fs::read_to_string(path)
            .map_err(|error| VectorError::Vector(format!("{name}: {error}")))?;
        serde_json::from_str(&text).map_err(|error| VectorError::Vector(format!("{name}: {error}")))
    }

    /// The file's text: one line for the state and one per question, so that a diff shows what changed.
    pub fn to_json(&self) -> String {
        let (state, sales, depths) = (line(&self.state), lines(&self.sales), lines(&self.depths));
        let token_in = self.token_in;
        format!(
            "{{\n\"state\": {state},\n\"token_in\": {token_in},\n\
             \"sales\": {sales},\n\"depths\": {depths}\n}}\n"
        )
    }

    /// Recomputes everything with the core; returns a description of each difference.
    pub fn differences(&self) -> Result<Vec<String>, VectorError> {
        let state = self.state.check()?;
        let direction = Direction::BOTH[usize::from(self.token_in.min(1))];
        let curve = state.curve(direction);
        let mut differences = Vec::new();
        for Sale { amount_in, expected } in &self.sales {
            match Answer::of_core(&state, &curve, *amount_in) {
                Ok(found) if found == *expected => {}
                found => differences.push(format!(
                    "selling {amount_in}: the contract says {expected:?}, core {found:?}"
                )),
            }
        }
        for depth in &self.depths {
            differences.extend(depth.difference(&state, direction)?);
        }
        Ok(differences)
    }
}

impl Depth {
    /// A limit and the largest exit within it.
    pub fn new(
        oracle: &Oracle,
        limit: GapLimit,
        max_amount_in: U256,
        size: Option<SizeUsd>,
    ) -> Self {
        Self {
            decimals: oracle.decimals,
            usd: oracle.answers.map(|(answer, decimals)| (answer.to_string(), decimals)),
            limit_pct: limit.to_string(),
            max_amount_in,
            size_usd: size.map(|size| size.to_string()),
        }
    }

    fn difference(
        &self,
        state: &PoolState,
        direction: Direction,
    ) -> Result<Option<String>, VectorError> {
        let [usd0, usd1] = &self.usd;
        let answers = [(number(&usd0.0)?, usd0.1), (number(&usd1.0)?, usd1.1)];
        let oracle = Oracle { direction, decimals: self.decimals, answers };
        let exit = Exit::new(state, direction, self.decimals, oracle.usd()?);
        let limit: GapLimit = number(&self.limit_pct)?;
        let found = exit.max_size_for(limit);
        if let Ok(found) = &found
            && Self::new(&oracle, limit, found.max_amount_in, found.size) == *self
        {
            return Ok(None);
        }
        Ok(Some(format!("within {limit}%: the contract says {self:?}, core {found:?}")))
    }
}

impl VectorState {
    fn of(state: &PoolState) -> Self {
        let bytes = state.to_canonical().expect("a vector's state is a small one");
        Self(serde_json::from_slice(&bytes).expect("what is canonical is JSON"))
    }

    /// The core's state, checked with the core's own rules.
    pub fn check(&self) -> Result<PoolState, VectorError> {
        // The keys of a value are sorted.
        let read = PoolState::from_canonical(self.0.to_string().as_bytes());
        read.map_err(|error| VectorError::Vector(error.to_string()))
    }
}

fn line<T: Serialize>(part: &T) -> String {
    serde_json::to_string(part).expect("a vector is plain data")
}

fn lines<T: Serialize>(parts: &[T]) -> String {
    let lines: Vec<String> = parts.iter().map(line).collect();
    if lines.is_empty() { "[]".to_owned() } else { format!("[\n{}\n]", lines.join(",\n")) }
}

fn number<N: std::str::FromStr>(text: &str) -> Result<N, VectorError> {
    text.parse().map_err(|_| VectorError::Vector(format!("{text:?} is not a number in range")))
}

/// Integers as decimal strings.
pub(super) mod decimal {
    use std::fmt::Display;
    use std::str::FromStr;

    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub fn serialize<N: Display, S: Serializer>(number: &N, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(number)
    }

    pub fn deserialize<'de, N: FromStr, D: Deserializer<'de>>(from: D) -> Result<N, D::Error> {
        let text = String::deserialize(from)?;
        text.parse().map_err(|_| D::Error::custom(format!("{text:?} is not a number in range")))
    }
}
