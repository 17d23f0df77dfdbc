//! The chain's record of an authorization. Only the chain can return a sent payment's amount to a budget: a service
//! that reports "failed" can still settle.

use core::future::Future;

use exitgap_core::ids::{Address, Caip2, Word};

use crate::Usdc;

/// A reader of tokens' `authorizationState` on one chain.
pub trait Chain {
    /// The chain.
    fn network(&self) -> Caip2;

    /// Whether the authorization of this payer and nonce is used up in `asset`, at a final block. With an error, the
    /// payment stays counted.
    fn authorization(
        &self,
        asset: Address,
        payer: Address,
        nonce: Word,
    ) -> impl Future<Output = Result<AuthorizationState, String>>;
}

/// The state of an authorization at a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuthorizationState {
    /// Whether the authorization was used, or cancelled.
    pub used: bool,
    /// The block's time, Unix seconds: an authorization cannot be used from its `validBefore` on.
    pub block_time_s: u64,
}

/// The result of asking the chain.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reconciliation {
    /// Returned to the budgets: expired and unused.
    pub released: Usdc,
    /// Counted permanently: the payments were made.
    pub settled: Usdc,
    /// Still counted: the payments can still be made, or the chain did not answer.
    pub left: Usdc,
    /// The first error from the chain, if any.
    pub unanswered: Option<String>,
}
