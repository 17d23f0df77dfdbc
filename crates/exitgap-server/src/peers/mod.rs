//! Peers: other operators who record the same chains. After each slot their logs are read, and what both say of one pool is
//! compared: only what neither can choose (`exitgap-core::snapshot::Testimony`).
//!
//! **In scope**: fetching a peer's slot within bounds and whether its log signed it (`remote`, `slot`); what differs, and who the
//! chain says is wrong (`judge`); publishing that, and cosigning what agrees (`tell`); when (`follow`); the tables of the
//! configuration (`config`). **Out of scope**, and who does it: recording, which none of this delays (`recorder/`); replaying a
//! whole log (`exitgap audit`, `exitgap compare`).
//!
//! A peer is not trusted: it may be silent, slow, huge, or lie. Each of these is an outcome with a name, and no slot waits for it.

mod config;
mod follow;
mod judge;
mod remote;
mod slot;
mod tell;

pub use config::{ObserverConfig, Peer, PeerConfig, peers_of};
pub use follow::{FollowContext, Followers, FollowersError, PeerTold};

/// Why nothing came of a peer's slot.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    /// The peer has not published the slot.
    #[error("the slot is not published there")]
    NotYet,
    /// It did not answer, or with something else than a file.
    #[error("{0}")]
    Silent(String),
    /// It is more than is fetched.
    #[error("{0}")]
    TooLarge(String),
    /// What it published does not hold.
    #[error("{what}")]
    Wrong {
        /// What is wrong.
        what: String,
        /// Two checkpoints of which one contradicts the other.
        checkpoints: Option<Box<[String; 2]>>,
    },
    /// This operator's own store, proofs or folder failed.
    #[error("{0}")]
    Own(String),
}

impl Trouble {
    fn wrong(what: impl Into<String>) -> Self {
        Self::Wrong { what: what.into(), checkpoints: None }
    }

    fn own(error: impl std::fmt::Display) -> Self {
        Self::Own(error.to_string())
    }

    /// A stable code, for measures.
    fn code(&self) -> &'static str {
        match self {
            Self::NotYet => "not_yet",
            Self::Silent(_) => "silent",
            Self::TooLarge(_) => "too_large",
            Self::Wrong { .. } => "wrong",
            Self::Own(_) => "own_failure",
        }
    }

    /// Whether the slot may be had later.
    fn may_come(&self) -> bool {
        matches!(self, Self::NotYet | Self::Silent(_) | Self::Own(_))
    }
}
