//! Peers: other operators who record the same chains. After each slot their logs are read, and the records of both for
//! the same pool are compared, limited to the data that neither can choose (`exitgap-core::snapshot::Testimony`).
//!
//! **In scope**: downloading a peer's slot within limits and checking its log's signature (`remote`, `slot`); finding
//! differences, and deciding by the chain who is wrong (`judge`); publishing the results, and cosigning what agrees
//! (`tell`); the schedule (`follow`); the configuration tables (`config`). **Out of scope**: recording, which none of
//! this delays (`recorder/`); replaying a whole log (`exitgap audit`, `exitgap compare`).
//!
//! A peer is not trusted: it may be silent, slow, send huge files, or lie. Each of these has a named outcome, and no
//! slot waits for it.

mod config;
mod follow;
mod judge;
mod remote;
mod slot;
mod tell;

pub use config::{ObserverConfig, Peer, PeerConfig, peers_of};
pub use follow::{FollowContext, Followers, FollowersError, PeerTold};

/// Why a peer's slot could not be compared.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    /// The peer has not published the slot.
    #[error("the slot is not published there")]
    NotYet,
    /// The peer did not answer, or did not return a file.
    #[error("{0}")]
    Silent(String),
    /// The file is too large.
    #[error("{0}")]
    TooLarge(String),
    /// The published data is not valid.
    #[error("{what}")]
    Wrong {
        /// What is wrong.
        what: String,
        /// Two checkpoints that contradict each other.
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

    /// A stable code, for metrics.
    fn code(&self) -> &'static str {
        match self {
            Self::NotYet => "not_yet",
            Self::Silent(_) => "silent",
            Self::TooLarge(_) => "too_large",
            Self::Wrong { .. } => "wrong",
            Self::Own(_) => "own_failure",
        }
    }

    /// Whether the slot may be available later.
    fn may_come(&self) -> bool {
        matches!(self, Self::NotYet | Self::Silent(_) | Self::Own(_))
    }
}
