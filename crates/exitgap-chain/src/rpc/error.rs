//! The faults of nodes, and the missing reason that each gives.

use core::time::Duration;

use alloy::primitives::B256;
use exitgap_core::series::MissingReason;

use super::outcome::Outcome;

/// One failed exchange with one node.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum RpcError {
    /// There was no connection, or it broke. Contains the client's message without the URL.
    #[error("no connection: {0}")]
    Connection(String),
    /// The answer was not complete in time.
    #[error("no complete response within {} ms", within.as_millis())]
    TimedOut {
        /// The time allowed.
        within: Duration,
    },
    /// The reading's own deadline passed, and nothing was sent.
    #[error("the deadline passed")]
    Deadline,
    /// The reading's own deadline passed before a whole answer came.
    #[error("no complete response before the deadline, for {} ms", waited.as_millis())]
    CutOff {
        /// How long the answer was waited for.
        waited: Duration,
    },
    /// The node, or a proxy in front of it, reports that it is unavailable.
    #[error("{0}")]
    Outage(String),
    /// The node reports too many requests.
    #[error("rate limit: {0}")]
    RateLimited(String),
    /// The answer has more bytes than the limit.
    #[error("the response exceeds {most} bytes")]
    Oversized {
        /// The limit.
        most: usize,
    },
    /// The node refused to compute or return this much.
    #[error("rejected for its size: {0}")]
    RefusedForSize(String),
    /// The node gave up computing this much.
    #[error("rejected for the time it takes: {0}")]
    TooSlow(String),
    /// The node does not have the method.
    #[error("not supported: {0}")]
    NotSupported(String),
    /// An error that no row of the table matches.
    #[error("{message}")]
    Unclear {
        /// The code, if it is a JSON-RPC error.
        code: Option<i64>,
        /// The message, cut to 200 characters.
        message: String,
    },
    /// The answer is not a JSON-RPC document.
    #[error("malformed response: {0}")]
    Unreadable(String),
    /// The result does not have the expected type.
    #[error("malformed response: {0}")]
    Malformed(String),
    /// The node permanently refused a transaction.
    #[error("error {code}: {message}")]
    Refused {
        /// The error's code.
        code: i64,
        /// Its message, cut to 200 characters.
        message: String,
    },
    /// The node has another chain id.
    #[error("chain id {found}, expected {expected}")]
    WrongChainId {
        /// The configured chain id.
        expected: u64,
        /// The node's.
        found: u64,
    },
    /// The node has another first block.
    #[error("genesis hash {found}, expected {expected}")]
    WrongGenesis {
        /// The genesis hash that is known, configured or was seen first.
        expected: B256,
        /// The node's.
        found: B256,
    },
    /// Another block in the place of one that is known to be of the chain.
    #[error("block {number} is {found}, expected {expected} (known_block)")]
    WrongKnownBlock {
        /// The block's number.
        number: u64,
        /// Its configured hash.
        expected: B256,
        /// The node's.
        found: B256,
    },
    /// No block 0, and nothing else that shows which chain it is.
    #[error(
        "the node does not keep block 0, and no slot is recorded yet; set known_block in the [[chain]] to a block that it has"
    )]
    NoGenesis,
    /// The node has none of the blocks of earlier slots.
    #[error(
        "it has none of the blocks of earlier recorded slots, from number {oldest} to {newest}"
    )]
    Unlinked {
        /// The number of the newest requested block.
        newest: u64,
        /// The number of the oldest requested block.
        oldest: u64,
    },
    /// The node returns `null` for the block, or does not know it.
    #[error("block not available: {0}")]
    NoBlock(String),
    /// The node no longer has, or does not yet have, the block's state.
    #[error("state not available: {0}")]
    NoState(String),
    /// The call reverted as a whole.
    #[error("reverted: {0}")]
    Reverted(String),
    /// The answer contradicts itself or the request.
    #[error("contradiction: {what} is {found}, expected {expected}")]
    Contradiction {
        /// The contradicting value.
        what: &'static str,
        /// The expected value.
        expected: String,
        /// The value in the answer.
        found: String,
    },
}

impl RpcError {
    /// The missing reason for this cause.
    pub(crate) fn reason(&self) -> MissingReason {
        match self {
            Self::Connection(_)
            | Self::TimedOut { .. }
            | Self::Outage(_)
            | Self::TooSlow(_)
            | Self::Unclear { code: None, .. } => MissingReason::RpcUnavailable,
            Self::Deadline | Self::CutOff { .. } => MissingReason::DeadlineExceeded,
            Self::RateLimited(_) => MissingReason::RpcRateLimited,
            Self::Oversized { .. }
            | Self::RefusedForSize(_)
            | Self::NotSupported(_)
            | Self::Unclear { .. }
            | Self::Unreadable(_)
            | Self::Malformed(_)
            | Self::Refused { .. }
            | Self::Contradiction { .. } => MissingReason::RpcResponseInvalid,
            Self::WrongChainId { .. }
            | Self::WrongGenesis { .. }
            | Self::WrongKnownBlock { .. } => MissingReason::WrongChain,
            Self::Unlinked { .. } => MissingReason::ChainUnlinked,
            Self::NoBlock(_) | Self::NoState(_) | Self::NoGenesis => {
                MissingReason::BlockUnavailable
            }
            Self::Reverted(_) => MissingReason::CallReverted,
        }
    }

    /// How to react to it.
    pub(super) fn outcome(&self) -> Outcome {
        match self {
            Self::Reverted(_) | Self::Refused { .. } => Outcome::Answer,
            Self::Connection(_) | Self::TimedOut { .. } | Self::Outage(_) => Outcome::AskAgain,
            Self::NoBlock(_) | Self::NoState(_) => Outcome::AskAnother,
            Self::Oversized { .. } | Self::RefusedForSize(_) | Self::TooSlow(_) => Outcome::Narrow,
            Self::RateLimited(_) => Outcome::WaitUntil,
            Self::NotSupported(_) => Outcome::NotSupported,
            Self::Malformed(_)
            | Self::WrongChainId { .. }
            | Self::WrongGenesis { .. }
            | Self::WrongKnownBlock { .. }
            | Self::NoGenesis
            | Self::Unlinked { .. }
            | Self::Contradiction { .. } => Outcome::Contradicts,
            Self::Deadline | Self::CutOff { .. } | Self::Unclear { .. } | Self::Unreadable(_) => {
                Outcome::Unclear
            }
        }
    }

    /// Whether the node is known to refuse because of the request's size.
    pub(crate) fn is_about_size(&self) -> bool {
        self.outcome() == Outcome::Narrow
    }

    /// Whether a smaller request may help: it is known to help, the cause is unknown, or no answer came.
    pub(super) fn may_narrow(&self) -> bool {
        let is_unknown = matches!(
            self,
            Self::Unclear { .. }
                | Self::Unreadable(_)
                | Self::TimedOut { .. }
                | Self::CutOff { .. }
        );
        is_unknown || self.is_about_size()
    }

    /// Whether the same node would give the same answer again. One that gave up computing may be less busy then.
    pub(super) fn is_final_per_node(&self) -> bool {
        matches!(
            self,
            Self::Reverted(_)
                | Self::NotSupported(_)
                | Self::Oversized { .. }
                | Self::RefusedForSize(_)
        )
    }

    /// Whether it says only that the deadline passed.
    pub(super) fn is_deadline(&self) -> bool {
        matches!(self, Self::Deadline | Self::CutOff { .. })
    }

    /// Whether the node may answer as soon as an outage or a rate limit has passed.
    pub(super) fn may_pass(&self) -> bool {
        matches!(self.outcome(), Outcome::AskAgain | Outcome::WaitUntil)
    }

    /// Whether the node's identity must be checked again before its answers are used.
    pub(super) fn unsettles_identity(&self) -> bool {
        !matches!(
            self,
            Self::RateLimited(_)
                | Self::Reverted(_)
                | Self::RefusedForSize(_)
                | Self::TooSlow(_)
                | Self::NotSupported(_)
                | Self::Unclear { .. }
                | Self::Unreadable(_)
                | Self::NoBlock(_)
                | Self::NoState(_)
                | Self::Deadline
                | Self::CutOff { .. }
        )
    }

    /// If nodes fail in different ways, the most informative fault determines the slot's reason.
    fn weight(&self) -> u8 {
        match self.reason() {
            MissingReason::WrongChain => 7,
            MissingReason::ChainUnlinked => 6,
            MissingReason::RpcResponseInvalid => 5,
            MissingReason::CallReverted => 4,
            MissingReason::BlockUnavailable => 3,
            MissingReason::RpcRateLimited => 2,
            MissingReason::RpcUnavailable => 1,
            _ => 0,
        }
    }
}

/// Text from a node, cut to the length of a log line and without control characters.
pub(super) fn cut(text: &str) -> String {
    text.chars().take(200).map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// A request failed at all nodes of a chain: the most informative fault, and all faults of the last round as text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{detail}")]
pub(crate) struct Failure {
    /// The fault that determines the reason.
    pub(crate) error: RpcError,
    /// The method, the number of attempts, and each node's last fault.
    pub(crate) detail: String,
    /// Whether a node may answer a smaller request.
    may_narrow: bool,
    /// Whether a node reported that.
    is_about_size: bool,
    /// Whether every node would answer the same again.
    is_final: bool,
}

impl Failure {
    pub(super) fn of_round(method: &str, attempts: u32, faults: &[(String, RpcError)]) -> Self {
        let each: Vec<String> =
            faults.iter().map(|(node, error)| format!("{node}: {error}")).collect();
        let error = faults
            .iter()
            .map(|(_, error)| error)
            .max_by_key(|error| error.weight())
            .cloned()
            .unwrap_or(RpcError::Deadline);
        let any = |fits: fn(&RpcError) -> bool| faults.iter().any(|(_, error)| fits(error));
        Self {
            error,
            detail: format!("{method}, {attempts} attempts: {}", each.join("; ")),
            may_narrow: any(RpcError::may_narrow),
            is_about_size: any(RpcError::is_about_size),
            is_final: faults.iter().all(|(_, error)| error.is_final_per_node()),
        }
    }

    /// Whether a node may answer a smaller request.
    pub(crate) fn may_narrow(&self) -> bool {
        self.may_narrow
    }

    /// Whether a node reported that the request was too large.
    pub(crate) fn is_about_size(&self) -> bool {
        self.is_about_size
    }

    /// Whether every node would answer the same again.
    pub(crate) fn is_final(&self) -> bool {
        self.is_final
    }

    /// The missing reason for this cause.
    pub(crate) fn reason(&self) -> MissingReason {
        self.error.reason()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_weightiest_fault_names_the_reason() {
        let faults = [
            ("a".to_owned(), RpcError::Outage("HTTP status 502".to_owned())),
            ("b".to_owned(), RpcError::WrongChainId { expected: 1, found: 2 }),
            ("c".to_owned(), RpcError::RateLimited("slow".to_owned())),
        ];
        let failure = Failure::of_round("eth_call", 3, &faults);
        assert_eq!(failure.reason(), MissingReason::WrongChain);
        assert!(!failure.may_narrow() && !failure.is_about_size());
        assert_eq!(
            failure.to_string(),
            "eth_call, 3 attempts: a: HTTP status 502; b: chain id 2, expected 1; c: rate limit: slow"
        );
    }
}
