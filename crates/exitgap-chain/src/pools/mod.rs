//! Pools: what kind a contract is, and how each kind's state is read.

pub(crate) mod concentrated;
pub(crate) mod constant_product;
mod identify;
pub(crate) mod logs;
mod tokens;

use exitgap_core::ids::{Address, PoolId};
use exitgap_core::pools::{Direction, FeeRate};
use exitgap_core::series::MissingReason;
use exitgap_core::snapshot::Token;

use crate::abi::{Answer, Call};
use crate::missing::Missing;

pub(crate) use identify::identify;

/// The kinds of pools that are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PoolKind {
    /// Uniswap v2's pair, and forks that answer as it does.
    ConstantProduct,
    /// Uniswap v3's pool, and forks that answer as it does.
    ConcentratedLiquidity,
}

impl PoolKind {
    /// `constant_product` or `concentrated_liquidity`, as in snapshots.
    pub fn code(self) -> &'static str {
        match self {
            Self::ConstantProduct => "constant_product",
            Self::ConcentratedLiquidity => "concentrated_liquidity",
        }
    }
}

/// A pool for display.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolInfo {
    /// The pool.
    pub id: PoolId,
    /// What kind of contract it is.
    pub kind: PoolKind,
    /// Token 0 and token 1.
    pub tokens: [Token; 2],
    /// The default direction: sells the default base.
    pub base: Direction,
}

/// What never changes of a pool's contract.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) rules: Rules,
    pub(crate) tokens: [Token; 2],
}

/// The rules a pool fills by, as far as they are constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rules {
    ConstantProduct { fee: FeeRate },
    Concentrated { tick_spacing: i32 },
}

impl Rules {
    pub(crate) fn kind(self) -> PoolKind {
        match self {
            Self::ConstantProduct { .. } => PoolKind::ConstantProduct,
            Self::Concentrated { .. } => PoolKind::ConcentratedLiquidity,
        }
    }

    /// The calls that read what changes with every swap.
    pub(crate) fn state_calls(self, pool: Address) -> Vec<Call> {
        match self {
            Self::ConstantProduct { .. } => vec![constant_product::reserves_call(pool)],
            Self::Concentrated { .. } => concentrated::price_calls(pool).to_vec(),
        }
    }
}

/// A call that a pool of its kind must answer did not answer as it should.
fn unanswered(pool: Address, call: &str, answer: &Answer) -> Missing {
    let reason = match answer {
        Answer::Reverted => MissingReason::CallReverted,
        Answer::Refused(_) => MissingReason::RpcResponseInvalid,
        Answer::Returned(_) => MissingReason::StateInconsistent,
    };
    Missing::new(reason, format!("pool {pool}: {call} {}", answer.in_words()))
}
