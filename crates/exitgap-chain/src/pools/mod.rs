//! Pools: how the kind of a contract is identified, and how each kind's state is read.
//!
//! Each kind has a folder that implements what `reader` requires; `kinds` lists them.

mod answer_cursor;
mod balancer;
pub(crate) mod concentrated;
mod constant_product;
mod curve;
mod identify;
mod kinds;
mod linked;
mod managed;
mod pair;
mod reader;
mod solidly;
mod tokens;

use exitgap_core::ids::PoolId;
use exitgap_core::pools::Direction;
use exitgap_core::series::MissingReason;
use exitgap_core::snapshot::{Fact, Token};

use crate::abi::Answer;
use crate::read_failure::ReadFailure;

pub(crate) use identify::identify;
pub(crate) use kinds::{Reader, parts_of};
pub(crate) use reader::{DecodedState, Part, PartReader, PartialState, Parts, Watch};

/// A pool for display.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolInfo {
    /// The pool.
    pub id: PoolId,
    /// The kind of contract: its protocol as spelled in states, and its venue if its factory is known.
    pub kind: &'static str,
    /// The pool's token 0 and token 1.
    pub tokens: [Token; 2],
    /// The default direction, which sells the default base.
    pub base: Direction,
}

/// The constant properties of a pool's contract.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) reader: Reader,
    /// All tokens, in the contract's order.
    pub(crate) tokens: Vec<Token>,
    /// The facts that every snapshot of it contains.
    pub(crate) facts: Vec<Fact>,
}

impl Identity {
    /// The pool's two tokens.
    pub(crate) fn pair(&self, pool: &PoolId) -> Option<[Token; 2]> {
        let pair = pool.tokens_of(self.tokens.len())?;
        Some(pair.indices().map(|index| self.tokens[index].clone()))
    }
}

/// The failure for a pool that did not answer a required call correctly.
fn call_failure(pool: &PoolId, call: &str, answer: &Answer) -> ReadFailure {
    let reason = match answer {
        Answer::Reverted => MissingReason::CallReverted,
        Answer::Refused(_) => MissingReason::RpcResponseInvalid,
        Answer::Returned(_) => MissingReason::StateInconsistent,
    };
    ReadFailure::new(reason, format!("pool {pool}: {call} {}", answer.in_words()))
}
