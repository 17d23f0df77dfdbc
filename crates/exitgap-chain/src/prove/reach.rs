//! How far back a node can prove states.

use exitgap_core::ids::Address;
use exitgap_core::proof::{Layout, ProofSubject};
use exitgap_core::snapshot::{BlockRef, ChainTag};
use tokio::time::Instant;

use super::ask::BlockQuery;
use super::{ProveError, file_of};
use crate::blocks;
use crate::rpc::Rpc;

/// The ages, in blocks, that are tried in order: the newest block, what full nodes keep, and what archive nodes keep.
const BACK: [u64; 5] = [0, 127, 1_000, 10_000, 100_000];

/// The range in which a node can prove states.
#[derive(Debug)]
pub(crate) struct Reach {
    /// The oldest proven state: blocks before the newest, and the difference in seconds; `None` if not even the newest
    /// was proven.
    pub furthest: Option<(u64, u64)>,
    /// The first state that it did not prove, with the cause; `None` if it proved all that were tried.
    pub beyond: Option<(u64, ProveError)>,
}

/// Requests proofs about a contract that exists in every block, and verifies each from its block's hash.
pub(crate) async fn reach(
    rpc: &Rpc,
    chain: ChainTag,
    contract: Address,
    head: BlockRef,
    deadline: Instant,
) -> Reach {
    let mut furthest = None;
    for back in BACK {
        let Some(number) = head.number.checked_sub(back) else { break };
        match at(rpc, chain, contract, number, deadline).await {
            Ok(block) => {
                furthest = Some((back, head.timestamp.saturating_sub(block.timestamp)));
            }
            Err(error) => return Reach { furthest, beyond: Some((back, error)) },
        }
    }
    Reach { furthest, beyond: None }
}

/// Has the nodes prove a contract's state at a block, and returns the block.
pub(super) async fn at(
    rpc: &Rpc,
    chain: ChainTag,
    contract: Address,
    number: u64,
    deadline: Instant,
) -> Result<BlockRef, ProveError> {
    // Any word is sufficient, whatever its value.
    let subject = ProofSubject {
        chain: chain.caip2,
        address: contract,
        id: None,
        layout: Layout::UniswapV2,
        ranges: None,
        feeds: Vec::new(),
    };
    let block = blocks::header_at(rpc, number, deadline).await?.block;
    let asked = BlockQuery { rpc, number, deadline };
    let headers = asked.headers(block).await?;
    file_of(&asked, &subject, &headers, Vec::new()).await?;
    Ok(block)
}
