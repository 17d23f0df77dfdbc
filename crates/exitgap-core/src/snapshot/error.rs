//! Why values read from a chain are not a valid observation or snapshot.

use super::observation::Snapshot;
use super::token::Token;
use crate::ids::{Address, PoolId};
use crate::series::{MissingReason, Slot};
use crate::units::PriceError;

/// Why values read from a chain are not a valid observation or snapshot.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ObservationError {
    /// The name does not fit a pool of this contract.
    #[error("{pool} must name two of the {tokens} tokens of its contract, as in `….0-1`")]
    Pool {
        /// The name.
        pool: PoolId,
        /// The number of the contract's tokens.
        tokens: usize,
    },
    /// The tokens do not match the contract: their number or decimals differ from those in its state, or a reading is
    /// for a token that the contract does not have.
    #[error("the tokens do not match the contract: {0}")]
    Tokens(&'static str),
    /// A contract has a token twice, or its tokens are not ordered by address although its kind requires that.
    #[error("{first} must have a lower address than token {second}")]
    TokensOutOfOrder {
        /// A token's address.
        first: Address,
        /// The address of the next token, or of a later one that is the same.
        second: Address,
    },
    /// More than 36 decimals.
    #[error("token {token} has {found} decimals; at most {most} are accepted", most = Token::MAX_DECIMALS)]
    TooManyDecimals {
        /// The token's address.
        token: Address,
        /// Decimals found.
        found: u8,
    },
    /// A fixed price on a live chain.
    #[error("a fixed price is allowed only on a preview chain")]
    FixedPriceOnLiveChain,
    /// `updatedAt` is zero or after the block.
    #[error(
        "the feed {feed} was updated at {updated_at}, which must be a time up to the block's {block_timestamp}"
    )]
    OracleTime {
        /// The feed's address.
        feed: Address,
        /// Its `updatedAt`.
        updated_at: u64,
        /// The block's timestamp.
        block_timestamp: u64,
    },
    /// The round id is more than 80 bits.
    #[error("the feed {feed} answered with a round id above 80 bits")]
    OracleRound {
        /// The feed's address.
        feed: Address,
    },
    /// A sequencer's reading is neither up nor down, or there are two such readings.
    #[error("the sequencer uptime must be the answer of one feed, without decimals, 0 or 1")]
    SequencerUptime,
    /// The readings do not give a valid price.
    #[error("the price of token{token} in USD: {error}")]
    Price {
        /// The token's index in its contract.
        token: usize,
        /// The reason.
        error: PriceError,
    },
    /// The readings are not in canonical order.
    #[error("the oracle readings are out of order")]
    OracleOrder,
    /// There are too many facts, they are out of order, or a call or an answer is too long.
    #[error(
        "there are more than 32 facts, they are out of order, or a call or an answer is too long"
    )]
    Facts,
    /// Two sessions of one token, sessions out of order, or a session of an unknown token.
    #[error("the sessions are out of order or do not belong to a token")]
    Sessions,
    /// A session differs from what its calendar says about the block's timestamp.
    #[error(
        "the session of token {token} is {found:?}, but its calendar has {expected:?} at {timestamp}"
    )]
    SessionContradicts {
        /// The token's index in its contract.
        token: u8,
        /// The block's timestamp, seconds UTC.
        timestamp: u64,
        /// The state according to the calendar's table.
        expected: String,
        /// The state in the session.
        found: String,
    },
    /// A block number or timestamp is too large for exact JSON.
    #[error("block number {number} or timestamp {timestamp} is not below 2^53")]
    BlockOutOfRange {
        /// The block's number.
        number: u64,
        /// The block's timestamp.
        timestamp: u64,
    },
    /// The block is after the slot.
    #[error("block {number} ({timestamp}) is after slot {slot}")]
    BlockAfterSlot {
        /// The block's number.
        number: u64,
        /// The block's timestamp, seconds UTC.
        timestamp: u64,
        /// The slot.
        slot: Slot,
    },
    /// The block is more than ten minutes older than the slot.
    #[error("block {number} is {age_s} s older than slot {slot}; a chain more than {most} s behind counts as stalled", most = Snapshot::MAX_BLOCK_AGE_S)]
    ChainStalled {
        /// The block's number.
        number: u64,
        /// Seconds from the block to the slot.
        age_s: u64,
        /// The slot.
        slot: Slot,
    },
}

impl ObservationError {
    /// The missing reason of a slot whose reading failed for this cause.
    pub fn missing_reason(&self) -> MissingReason {
        match self {
            Self::FixedPriceOnLiveChain
            | Self::OracleTime { .. }
            | Self::OracleRound { .. }
            | Self::OracleOrder
            | Self::SequencerUptime
            | Self::Price { .. } => MissingReason::OracleInvalid,
            Self::ChainStalled { .. } => MissingReason::ChainStalled,
            Self::BlockAfterSlot { .. } | Self::BlockOutOfRange { .. } => {
                MissingReason::RpcResponseInvalid
            }
            Self::Pool { .. }
            | Self::Tokens(_)
            | Self::TokensOutOfOrder { .. }
            | Self::TooManyDecimals { .. }
            | Self::Facts
            | Self::Sessions
            | Self::SessionContradicts { .. } => MissingReason::StateInconsistent,
        }
    }
}
