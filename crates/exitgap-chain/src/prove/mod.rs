//! State proofs requested from a node: `eth_getProof`, and the headers of a block and the next one.
//!
//! The core assembles a node's answers and follows every word down from the block hash; anything
//! that does not lead there is rejected. `ask`: the requests; `snapshot_proofs`: the recorder's own
//! states, before they are signed; `reach`: how far back a node can prove; `anchors`: older blocks,
//! from a newer one.

mod anchors;
mod ask;
mod reach;
mod snapshot_proofs;

use alloy::primitives::Bytes;
use exitgap_core::ids::{Address, BlockHash, ChainSlug};
use exitgap_core::pools::Ranges;
use exitgap_core::proof::{
    Layout, Place, ProofError, ProofParts, ProofSubject, RangeSubject, TickRange, ranges_of,
};
use exitgap_core::snapshot::Snapshot;
use serde_json::json;
use serde_json::value::RawValue;
use tokio::time::Instant;

pub use anchors::AnchoringError;
pub(crate) use anchors::anchors;
pub(crate) use reach::{Reach, reach};
pub(crate) use snapshot_proofs::SnapshotProver;
pub use snapshot_proofs::{Proven, Unproven, figures_range, judge_snapshot, subject_to_record};

use crate::blocks;
use crate::config::Plan;
use crate::limits::Limits;
use crate::read_failure::ReadFailure;
use crate::rpc::{ClientError, Failure, Rpc, RpcError, value};
use ask::{Answers, BlockQuery, Headers};

/// Requests proofs from a chain's nodes.
#[derive(Debug)]
pub struct StateProver {
    rpc: Rpc,
}

/// Why there is no proof.
#[derive(Debug, thiserror::Error)]
pub enum ProveError {
    /// No layout is known for the pool.
    #[error(
        "the storage layout of the pool's contract is unknown; supported layouts are those of Uniswap v2, v3, v4 \
         and their forks, and of Aerodrome v2"
    )]
    UnknownLayout,
    /// The node does not serve this proof, or did not answer.
    #[error("{0}")]
    Node(ReadFailure),
    /// The node's answer contradicts itself or the request.
    #[error("{0}")]
    Contradiction(ReadFailure),
    /// The node has another block at that height, or none.
    #[error("the node's block {number} is {}, but the snapshot has {expected}", describe_hash(*found))]
    OtherBlock {
        /// The block number.
        number: u64,
        /// The hash in the snapshot.
        expected: BlockHash,
        /// The node's hash.
        found: Option<BlockHash>,
    },
    /// Its answers do not lead down from the block hash.
    #[error("the node's response is not a valid proof: {0}")]
    Proof(#[from] ProofError),
}

fn describe_hash(hash: Option<BlockHash>) -> String {
    hash.map_or("null".to_owned(), |hash| hash.to_string())
}

impl From<Failure> for ProveError {
    fn from(failure: Failure) -> Self {
        match failure.error {
            RpcError::Contradiction { .. } => Self::Contradiction(failure.into()),
            _ => Self::Node(failure.into()),
        }
    }
}

impl StateProver {
    /// The prover for a chain of the plan; `None` if the plan does not have the chain. Sends no requests yet.
    pub fn new(
        plan: &Plan,
        chain: &ChainSlug,
        limits: Limits,
    ) -> Result<Option<Self>, ClientError> {
        let chain = plan.chains().iter().find(|planned| planned.slug() == chain);
        chain.map(|chain| Ok(Self { rpc: Rpc::new(chain, limits)? })).transpose()
    }

    /// The node's block hash at this number.
    pub async fn canonical(
        &self,
        number: u64,
        deadline: Instant,
    ) -> Result<BlockHash, ReadFailure> {
        Ok(blocks::canonical_hash(&self.rpc, number, deadline).await?)
    }

    /// A contract's code now, which no proof holds but by its hash.
    pub async fn code(&self, contract: Address, deadline: Instant) -> Result<Vec<u8>, ReadFailure> {
        let params = json!([contract.to_string(), "latest"]);
        let read = |raw: &RawValue| Ok(value::<Bytes>(raw)?.to_vec());
        Ok(self.rpc.request("eth_getCode", &params, deadline, read).await?)
    }

    /// Whether the nodes prove anything about a snapshot's contract at their newest block, regardless of older blocks.
    pub async fn proves_newest(&self, snapshot: &Snapshot, deadline: Instant) -> bool {
        let observation = snapshot.observation();
        let Some(address) = Place::from_observation(observation).address else { return false };
        let proven = async {
            let head = blocks::head(&self.rpc, deadline).await?.block;
            reach::at(&self.rpc, observation.chain(), address, head.number, deadline).await
        };
        proven.await.is_ok()
    }

    /// The proof file of a snapshot's state, with all ticks in a range, and with its feeds as far as their layouts are
    /// known. `layout` is used if the snapshot does not determine one. The ticks are those on the chain, which can
    /// differ from the snapshot's.
    pub async fn prove(
        &self,
        snapshot: &Snapshot,
        layout: Option<Layout>,
        range: TickRange,
        deadline: Instant,
    ) -> Result<Vec<u8>, ProveError> {
        prove(&self.rpc, snapshot, layout, range, deadline).await
    }
}

/// Implements [`StateProver::prove`] with these nodes.
pub(crate) async fn prove(
    rpc: &Rpc,
    snapshot: &Snapshot,
    layout: Option<Layout>,
    range: TickRange,
    deadline: Instant,
) -> Result<Vec<u8>, ProveError> {
    let subject = subject_of(snapshot, layout, range).ok_or(ProveError::UnknownLayout)?;
    let observation = snapshot.observation();
    let block = observation.block();
    let asked = BlockQuery { rpc, number: block.number, deadline };
    let headers = asked.headers(block).await?;
    let Answers { mut nodes, feeds } = asked.feeds(observation).await?;
    let mut subject = asked.with_ticks(subject, &mut nodes).await?;
    subject.feeds = feeds;
    file_of(&asked, &subject, &headers, nodes).await
}

/// The proof subject for a snapshot's pool, without ticks; `None` if its layout or the contract that holds it is
/// unknown.
fn subject_of(
    snapshot: &Snapshot,
    layout: Option<Layout>,
    range: TickRange,
) -> Option<ProofSubject> {
    let observation = snapshot.observation();
    let Place { address, id, layout: own } = Place::from_observation(observation);
    let (layout, address) = own.or(layout).zip(address)?;
    let spacing = ranges_of(observation.state()).map(Ranges::tick_spacing);
    let ranges = |tick_spacing| RangeSubject { range, tick_spacing, ticks: Vec::new() };
    let (chain, feeds) = (observation.chain().caip2, Vec::new());
    Some(ProofSubject { chain, address, id, layout, ranges: spacing.map(ranges), feeds })
}

/// The proof file of a subject. These trie nodes include those of its feeds; the words of the pool are requested here.
async fn file_of(
    asked: &BlockQuery<'_>,
    subject: &ProofSubject,
    headers: &Headers,
    mut nodes: Vec<Vec<u8>>,
) -> Result<Vec<u8>, ProveError> {
    asked.words(subject.address, &subject.slots()?, &mut nodes).await?;
    let Headers { header, child } = headers;
    Ok(subject.file(&ProofParts { header, child, nodes: &nodes })?)
}
