//! What the chain says of an authorization. Its word alone gives a sent payment's money back to a
//! budget: a service that says "failed" can still settle.

use core::future::Future;

use exitgap_core::ids::{Address, Caip2, Word};

use crate::Usdc;

/// A reader of tokens' `authorizationState` on one chain.
pub trait Chain {
    /// The chain.
    fn network(&self) -> Caip2;

    /// Whether `asset` has used up the authorization of this payer and nonce, at a block that will not
    /// be replaced. An error leaves the payment counted.
    fn authorization(
        &self,
        asset: Address,
        payer: Address,
        nonce: Word,
    ) -> impl Future<Output = Result<AuthorizationState, String>>;
}

/// What was found at a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuthorizationState {
    /// Whether the authorization was used, or cancelled.
    pub used: bool,
    /// The block's time, Unix seconds: from its `validBefore` on an authorization cannot be used.
    pub block_time_s: u64,
}

/// What asking the chain came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reconciliation {
    /// Given back: expired and unused.
    pub released: Usdc,
    /// Counted for good: the payments were made.
    pub settled: Usdc,
    /// Counted on: they can still be made, or nothing was told.
    pub left: Usdc,
    /// What the chain said instead of an answer, where it was the first time that it gave none.
    pub unanswered: Option<String>,
}
