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
    /// What kind of contract it is: its protocol as in state bodies, and whose it is where its
    /// factory says so.
    pub kind: &'static str,
    /// The pool's token 0 and token 1.
    pub tokens: [Token; 2],
    /// The default direction: sells the default base.
    pub base: Direction,
}

/// What never changes of a pool's contract.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) reader: Reader,
    /// All of them, in its order.
    pub(crate) tokens: Vec<Token>,
    /// What every snapshot of it says beside its state.
    pub(crate) facts: Vec<Fact>,
}

impl Identity {
    /// The pool's two tokens.
    pub(crate) fn pair(&self, pool: &PoolId) -> Option<[Token; 2]> {
        let pair = pool.tokens_of(self.tokens.len())?;
        Some(pair.indices().map(|index| self.tokens[index].clone()))
    }
}

/// A call that a pool of its kind must answer did not answer as it should.
fn call_failure(pool: &PoolId, call: &str, answer: &Answer) -> ReadFailure {
    let reason = match answer {
        Answer::Reverted => MissingReason::CallReverted,
        Answer::Refused(_) => MissingReason::RpcResponseInvalid,
        Answer::Returned(_) => MissingReason::StateInconsistent,
    };
    ReadFailure::new(reason, format!("pool {pool}: {call} {}", answer.in_words()))
}
