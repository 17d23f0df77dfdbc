//! How far back a node proves states.

use exitgap_core::ids::Address;
use exitgap_core::proof::{Layout, ProofSubject};
use exitgap_core::snapshot::{BlockRef, ChainTag};
use tokio::time::Instant;

use super::ask::BlockQuery;
use super::{ProveError, file_of};
use crate::blocks;
use crate::rpc::Rpc;

/// Blocks back that are tried, one after the other: the newest, what full nodes keep, and what archives do.
const BACK: [u64; 5] = [0, 127, 1_000, 10_000, 100_000];

/// What a node was found to prove.
#[derive(Debug)]
pub(crate) struct Reach {
    /// So many blocks before the newest, and by how many seconds earlier; `None`: not even the newest.
    pub furthest: Option<(u64, u64)>,
    /// The first that it did not, and why; `None`: it proved all that was tried.
    pub beyond: Option<(u64, ProveError)>,
}

/// Asks for proofs of a contract that every block has, and follows each down from its block's hash.
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

/// Has the nodes prove a contract's state at a block, and gives the block.
pub(super) async fn at(
    rpc: &Rpc,
    chain: ChainTag,
    contract: Address,
    number: u64,
    deadline: Instant,
) -> Result<BlockRef, ProveError> {
    // Which word it is does not matter, and what it holds.
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
