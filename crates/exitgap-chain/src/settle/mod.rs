//! Payments in a token of EIP-3009 (USDC and its like) on one chain: what is authorized is verified
//! and settled, and transfers that were made are found.
//!
//! **In scope**: what the token is ([`TokenNode::describe`]); whether an authorization would go
//! through ([`TokenNode::verify`]); transactions of a local key ([`HotKey`]), their fees and their
//! sending; what became of them ([`TokenNode::receipt`], [`TokenNode::used_since`]); the transfers of a
//! transaction and the keys under which each pays once ([`Receipt::transfers`]); who claims one
//! ([`claimant`]). **Out of scope**, and who does it: prices, and what is written down before
//! anything is sent (`exitgap-server`, `exitgap-store`).
//!
//! Invariants: nothing is kept, nothing is waited for, no clock is read. What a node answers is bounded
//! in bytes and time, held to what was asked, and never more than "not yet" where it says nothing.

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
pub use node::{Head, TokenNode, Used};
pub use receipt::{Receipt, ReplayKey, Transfer, claim_text, claimant};
pub use token::Token;
pub use transaction::{Fees, SETTLE_GAS, Signed};
