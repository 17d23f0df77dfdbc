//! Payments in an EIP-3009 token (such as USDC) on one chain: authorizations are verified and
//! settled, and completed transfers are found.
//!
//! **In scope**: what the token is ([`TokenNode::describe`]); whether an authorization would
//! succeed ([`TokenNode::verify`]); transactions of a local key ([`HotKey`]), their fees and
//! sending; their outcome ([`TokenNode::receipt`], [`TokenNode::used_since`]); the transfers of a
//! transaction and the keys under which each pays once ([`Receipt::transfers`]); who claims a
//! transfer ([`claimant`]). **Out of scope**, with the crate responsible: prices, and what is
//! written down before anything is sent (`exitgap-server`, `exitgap-store`).
//!
//! Invariants: this module stores nothing, waits for nothing and reads no clock. A node's answer is
//! bounded in bytes and time and checked against the request. A missing answer never means more
//! than "not yet".

mod abi;
mod authorization;
mod error;
mod key;
mod node;
mod receipt;
mod signature;
mod token;
mod transaction;

pub use authorization::{Authorization, Verdict};
pub use error::{KeyFileError, SettleError};
pub use key::HotKey;
pub use node::{AuthorizationUse, Head, TokenNode};
pub use receipt::{Receipt, ReplayKey, Transfer, claim_text, claimant};
pub use token::Token;
pub use transaction::{Fees, SETTLE_GAS, SignedTransaction};
