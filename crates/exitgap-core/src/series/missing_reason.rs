//! The reasons why a slot has no snapshot.

use core::fmt;

use serde::{Deserialize, Serialize};

use crate::ids::{Code, CodeError};
use crate::json::wire_text;

/// The recorded reason why a slot has no snapshot. The codes are stable: they are stored, hashed and shown to users.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum MissingReason {
    /// No configured node answered in time (connection refused, time-out, 5xx).
    RpcUnavailable,
    /// Every node refused because of too many requests.
    RpcRateLimited,
    /// A node's answer was malformed, oversized, or contradicted itself.
    RpcResponseInvalid,
    /// The node serves another chain: its chain id or genesis hash is not the configured one.
    WrongChain,
    /// The node has none of the blocks at which earlier slots of the series were recorded.
    ChainUnlinked,
    /// Two nodes that are compared with each other gave different answers about a block or its logs.
    NodesDisagree,
    /// The slot's block or its state is not available (null block, pruned state).
    BlockUnavailable,
    /// No block later than the slot's instant was seen before the slot was sealed.
    ChainLagging,
    /// The last block is more than ten minutes older than the slot.
    ChainStalled,
    /// A call into the pool, a token or a feed reverted.
    CallReverted,
    /// The contract is not a pool of a kind exitgap reads.
    PoolUnsupported,
    /// The state read breaks an invariant of its pool kind.
    StateInconsistent,
    /// An oracle's answer was ≤ 0, had no update time, or an update time after the block.
    OracleInvalid,
    /// The recorder was not running.
    RecorderDown,
    /// The pool was not read before the slot was sealed.
    DeadlineExceeded,
    /// A reason that only a later version of exitgap knows, by its code. Never one of the above.
    Newer(Code),
}

impl MissingReason {
    /// Every known reason, in the order of the documentation.
    pub const ALL: [Self; 15] = [
        Self::RpcUnavailable,
        Self::RpcRateLimited,
        Self::RpcResponseInvalid,
        Self::WrongChain,
        Self::ChainUnlinked,
        Self::NodesDisagree,
        Self::BlockUnavailable,
        Self::ChainLagging,
        Self::ChainStalled,
        Self::CallReverted,
        Self::PoolUnsupported,
        Self::StateInconsistent,
        Self::OracleInvalid,
        Self::RecorderDown,
        Self::DeadlineExceeded,
    ];

    /// The stable code, e.g. `recorder_down`.
    pub fn code(&self) -> &str {
        match self {
            Self::RpcUnavailable => "rpc_unavailable",
            Self::RpcRateLimited => "rpc_rate_limited",
            Self::RpcResponseInvalid => "rpc_response_invalid",
            Self::WrongChain => "wrong_chain",
            Self::ChainUnlinked => "chain_unlinked",
            Self::NodesDisagree => "nodes_disagree",
            Self::BlockUnavailable => "block_unavailable",
            Self::ChainLagging => "chain_lagging",
            Self::ChainStalled => "chain_stalled",
            Self::CallReverted => "call_reverted",
            Self::PoolUnsupported => "pool_unsupported",
            Self::StateInconsistent => "state_inconsistent",
            Self::OracleInvalid => "oracle_invalid",
            Self::RecorderDown => "recorder_down",
            Self::DeadlineExceeded => "deadline_exceeded",
            Self::Newer(code) => code.as_str(),
        }
    }

    /// The reason with this code. An unknown code counts as one of a later version.
    pub fn from_code(code: &str) -> Result<Self, CodeError> {
        let known = Self::ALL.into_iter().find(|reason| reason.code() == code);
        known.map_or_else(|| code.parse().map(Self::Newer), Ok)
    }
}

wire_text!(MissingReason);

impl TryFrom<String> for MissingReason {
    type Error = CodeError;

    fn try_from(code: String) -> Result<Self, CodeError> {
        Self::from_code(&code)
    }
}

impl From<MissingReason> for String {
    fn from(reason: MissingReason) -> Self {
        reason.code().to_owned()
    }
}

impl fmt::Display for MissingReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_is_the_serialised_form() {
        for reason in MissingReason::ALL {
            assert_eq!(serde_json::to_value(reason).unwrap(), reason.code());
            assert_eq!(MissingReason::from_code(reason.code()), Ok(reason));
        }
        let newer = MissingReason::from_code("tired").unwrap();
        assert_eq!(newer, MissingReason::Newer("tired".parse().unwrap()));
        assert_eq!((newer.code(), newer.to_string()), ("tired", "tired".to_owned()));
        assert!(MissingReason::from_code("Tired").is_err());
    }
}
