//! What a node can do wrong, and what each fault says about a slot.

use core::time::Duration;

use alloy::primitives::B256;
use exitgap_core::series::MissingReason;

/// One failed exchange with one node.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum RpcError {
    /// No connection, or it broke. Holds the client's words, without the address.
    #[error("no connection: {0}")]
    Connection(String),
    /// No whole answer in time.
    #[error("no complete response within {} ms", within.as_millis())]
    TimedOut {
        /// The time allowed.
        within: Duration,
    },
    /// The reading's own deadline passed.
    #[error("the deadline passed")]
    Deadline,
    /// An HTTP status that is neither success nor one of the other variants.
    #[error("HTTP status {0}")]
    Status(u16),
    /// HTTP 429, or a JSON-RPC error that says the same.
    #[error("rate limit: {0}")]
    RateLimited(String),
    /// More bytes than are read of any answer.
    #[error("the response exceeds {most} bytes")]
    Oversized {
        /// Bytes read at most.
        most: usize,
    },
    /// The node refused to compute or send this much.
    #[error("rejected for its size: {0}")]
    RefusedForSize(String),
    /// Not the JSON-RPC document, or not the value, that belongs there.
    #[error("malformed response: {0}")]
    Malformed(String),
    /// A JSON-RPC error that is none of the other variants.
    #[error("error {code}: {message}")]
    Refused {
        /// The error's code.
        code: i64,
        /// Its message, cut to 200 characters.
        message: String,
    },
    /// Another chain's id.
    #[error("chain id {found}, expected {expected}")]
    WrongChainId {
        /// The configured chain id.
        expected: u64,
        /// The node's.
        found: u64,
    },
    /// Another chain's first block.
    #[error("genesis hash {found}, expected {expected}")]
    WrongGenesis {
        /// The known, configured or first seen genesis hash.
        expected: B256,
        /// The node's.
        found: B256,
    },
    /// None of the blocks at which earlier slots were recorded.
    #[error(
        "it has none of the blocks of earlier recorded slots, from number {oldest} to {newest}"
    )]
    Unlinked {
        /// Number of the newest that was asked for.
        newest: u64,
        /// Number of the oldest.
        oldest: u64,
    },
    /// The node answers `null` for the block, or does not know it.
    #[error("block not available: {0}")]
    NoBlock(String),
    /// The node no longer has, or does not yet have, the block's state.
    #[error("state not available: {0}")]
    NoState(String),
    /// The call reverted as a whole.
    #[error("reverted: {0}")]
    Reverted(String),
    /// The answer contradicts itself or what was asked.
    #[error("contradiction: {what} is {found}, expected {expected}")]
    Contradiction {
        /// What is at odds.
        what: &'static str,
        /// What it should be.
        expected: String,
        /// What was answered.
        found: String,
    },
}

impl RpcError {
    /// The reason a slot is missing for, where this is the cause.
    pub(crate) fn reason(&self) -> MissingReason {
        match self {
            Self::Connection(_) | Self::TimedOut { .. } | Self::Status(_) => {
                MissingReason::RpcUnavailable
            }
            Self::Deadline => MissingReason::DeadlineExceeded,
            Self::RateLimited(_) => MissingReason::RpcRateLimited,
            Self::Oversized { .. }
            | Self::RefusedForSize(_)
            | Self::Malformed(_)
            | Self::Refused { .. }
            | Self::Contradiction { .. } => MissingReason::RpcResponseInvalid,
            Self::WrongChainId { .. } | Self::WrongGenesis { .. } => MissingReason::WrongChain,
            Self::Unlinked { .. } => MissingReason::ChainUnlinked,
            Self::NoBlock(_) | Self::NoState(_) => MissingReason::BlockUnavailable,
            Self::Reverted(_) => MissingReason::CallReverted,
        }
    }

    /// Whether asking for less may help.
    pub(crate) fn is_about_size(&self) -> bool {
        matches!(self, Self::Oversized { .. } | Self::RefusedForSize(_))
    }

    /// Whether the same node would answer the same again.
    pub(super) fn is_final_per_node(&self) -> bool {
        self.is_about_size() || matches!(self, Self::Reverted(_))
    }

    /// Whether the node may answer as soon as an outage, or a limit on requests, has passed.
    pub(super) fn may_pass(&self) -> bool {
        matches!(
            self,
            Self::Connection(_) | Self::TimedOut { .. } | Self::Status(_) | Self::RateLimited(_)
        )
    }

    /// Whether the node's identity must be checked again before it is believed.
    pub(super) fn unsettles_identity(&self) -> bool {
        !matches!(
            self,
            Self::RateLimited(_)
                | Self::Reverted(_)
                | Self::RefusedForSize(_)
                | Self::NoBlock(_)
                | Self::NoState(_)
                | Self::Deadline
        )
    }

    /// Where nodes fail differently, the fault that says most is the slot's reason.
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

    /// Sorts a JSON-RPC error object by what nodes are known to write.
    pub(super) fn of_node(code: i64, message: &str) -> Self {
        let lower = message.to_ascii_lowercase();
        let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));
        let message = cut(message);
        if code == 429 || code == -32_029 || says(RATE_LIMIT) {
            Self::RateLimited(message)
        } else if says(NO_STATE) {
            Self::NoState(message)
        } else if says(NO_BLOCK) {
            Self::NoBlock(message)
        } else if says(TOO_MUCH) {
            Self::RefusedForSize(message)
        } else if code == 3 || says(&["revert"]) {
            Self::Reverted(message)
        } else if code == -32_005 {
            // "Limit exceeded" without a word on which: an answer's size has its own words.
            Self::RateLimited(message)
        } else if code == -32_603 {
            Self::Connection(format!("internal error {code}: {message}"))
        } else {
            Self::Refused { code, message }
        }
    }
}

/// Words of nodes and gateways, lower case, as collected from their sources and issue trackers.
const RATE_LIMIT: &[&str] = &[
    "rate limit",
    "rate-limit",
    "ratelimit",
    "too many requests",
    "request limit",
    "compute units",
    "throughput",
    "daily request count exceeded",
];
const NO_STATE: &[&str] = &[
    "missing trie node",
    "state is not available",
    "state not available",
    "state unavailable",
    "historical state",
    "state already discarded",
    "pruned",
    "required historical",
    "distance to target block exceeds",
    "no state available",
    "blockoutofrangeerror",
];
const NO_BLOCK: &[&str] = &[
    "header not found",
    "block not found",
    "unknown block",
    "header for hash not found",
    "could not find block",
    "not canonical",
    "not currently canonical",
    "resource not found",
];
const TOO_MUCH: &[&str] = &[
    "out of gas",
    "outofgas",
    "gas required exceeds",
    "response size",
    "response is too big",
    "too large",
    "query returned more than",
    "block range",
    "exceed maximum block range",
    "range is too",
    "too many blocks",
    "blocks are not supported",
    "limit the query to",
    "limited to",
    "max results",
    "execution timeout",
    "query timeout",
];

/// Text of a node, cut to a length that fits a log line and freed of control characters.
pub(super) fn cut(text: &str) -> String {
    text.chars().take(200).map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// All nodes of a chain failed a request: the weightiest fault, and all of the last round in words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{detail}")]
pub(crate) struct Failure {
    /// The fault that decides the reason.
    pub(crate) error: RpcError,
    /// Method, attempts made, and each node's last fault.
    pub(crate) detail: String,
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
        Self { error, detail: format!("{method}, {attempts} attempts: {}", each.join("; ")) }
    }

    /// The reason a slot is missing for, where this is the cause.
    pub(crate) fn reason(&self) -> MissingReason {
        self.error.reason()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_nodes_are_sorted_by_what_they_mean() {
        let reason = |code, message| RpcError::of_node(code, message).reason();
        for (code, message, expected) in [
            (-32_000, "missing trie node 12ab (path )", MissingReason::BlockUnavailable),
            (-32_000, "header not found", MissingReason::BlockUnavailable),
            (-32_000, "hash 0x12 is not currently canonical", MissingReason::BlockUnavailable),
            (3, "execution reverted: no", MissingReason::CallReverted),
            (-32_000, "execution reverted", MissingReason::CallReverted),
            (-32_005, "daily request count exceeded", MissingReason::RpcRateLimited),
            (-32_005, "limit exceeded", MissingReason::RpcRateLimited),
            (429, "slow down", MissingReason::RpcRateLimited),
            (-32_603, "Internal error", MissingReason::RpcUnavailable),
            (-32_601, "the method does not exist", MissingReason::RpcResponseInvalid),
        ] {
            assert_eq!(reason(code, message), expected, "{code} {message}");
        }
        for message in [
            "out of gas",
            "query returned more than 10000 results",
            "Response is too big",
            "exceed maximum block range: 50000",
            "requested too many blocks from 1 to 5000, maximum is set to 2048",
            "ranges over 10000 blocks are not supported on freetier",
            "please limit the query to at most 1000 blocks",
            "eth_getLogs is limited to a 10,000 range",
            "Under the Free tier plan, you can make eth_getLogs requests with up to a 10 block range",
        ] {
            assert!(RpcError::of_node(-32_005, message).is_about_size(), "{message}");
        }
    }

    #[test]
    fn the_weightiest_fault_names_the_reason() {
        let faults = [
            ("a".to_owned(), RpcError::Status(502)),
            ("b".to_owned(), RpcError::WrongChainId { expected: 1, found: 2 }),
            ("c".to_owned(), RpcError::RateLimited("slow".to_owned())),
        ];
        let failure = Failure::of_round("eth_call", 3, &faults);
        assert_eq!(failure.reason(), MissingReason::WrongChain);
        assert_eq!(
            failure.to_string(),
            "eth_call, 3 attempts: a: HTTP status 502; b: chain id 2, expected 1; c: rate limit: slow"
        );
    }
}
