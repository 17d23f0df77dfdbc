//! State proofs, asked of a node: `eth_getProof`, and the headers of a block and of the next.
//!
//! What a node answers is put together by the core, which follows every word of it down from the block's hash: what does
//! not lead there is refused.

use alloy::consensus::Header as Sealed;
use alloy::rlp::encode;
use alloy::rpc::types::{EIP1186AccountProofResponse, Header as Answered};
use exitgap_core::ids::{BlockHash, ChainSlug, Word};
use exitgap_core::pools::Ranges;
use exitgap_core::proof::{
    Layout, Place, ProofError, ProofParts, ProofSubject, RangeSubject, StateProof, TickRange,
    ranges_of,
};
use exitgap_core::series::MissingReason;
use exitgap_core::snapshot::Snapshot;
use serde_json::json;
use serde_json::value::RawValue;
use tokio::time::Instant;

use crate::blocks;
use crate::config::Plan;
use crate::limits::Limits;
use crate::missing::Missing;
use crate::rpc::{ClientError, Rpc, RpcError, value};

/// Words asked for in one request: nodes allow 1,024.
const TOGETHER: usize = 512;

/// A node of a chain, asked for proofs.
#[derive(Debug)]
pub struct StateProver {
    rpc: Rpc,
}

/// Why there is no proof.
#[derive(Debug, thiserror::Error)]
pub enum ProveError {
    /// No layout is known for the pool.
    #[error(
        "how the pool's contract keeps its words is not known; layouts are those of Uniswap v2, v3 and v4 and their kin, and of Aerodrome v2"
    )]
    UnknownLayout,
    /// The node did not answer, or what no node answers.
    #[error("{0}")]
    Node(Missing),
    /// The node has another block at that height.
    #[error("the node's block {number} is {found}, and the snapshot is of {expected}")]
    OtherBlock {
        /// The height.
        number: u64,
        /// The snapshot's.
        expected: BlockHash,
        /// The node's.
        found: BlockHash,
    },
    /// What it answered does not lead down from the block.
    #[error("what the node answered proves nothing: {0}")]
    Proof(#[from] ProofError),
}

impl<F: Into<Missing>> From<F> for ProveError {
    fn from(failure: F) -> Self {
        Self::Node(failure.into())
    }
}

/// What a node answered, as it is put together.
#[derive(Default)]
struct Answers {
    accounts: Vec<Vec<u8>>,
    storage: Vec<Vec<u8>>,
    values: Vec<Word>,
}

impl StateProver {
    /// The nodes of a chain that the plan has; `None` where it has none. Sends nothing yet.
    pub fn new(
        plan: &Plan,
        chain: &ChainSlug,
        limits: Limits,
    ) -> Result<Option<Self>, ClientError> {
        let chain = plan.chains().iter().find(|planned| planned.slug() == chain);
        chain.map(|chain| Ok(Self { rpc: Rpc::new(chain, limits)? })).transpose()
    }

    /// The hash that the node has at this number.
    pub async fn canonical(&self, number: u64, deadline: Instant) -> Result<BlockHash, Missing> {
        Ok(blocks::canonical_hash(&self.rpc, number, deadline).await?)
    }

    /// The file of a proof of a snapshot's state, of all ticks of a range; `layout` counts where the snapshot does not say it.
    pub async fn prove(
        &self,
        snapshot: &Snapshot,
        layout: Option<Layout>,
        range: TickRange,
        deadline: Instant,
    ) -> Result<Vec<u8>, ProveError> {
        let observation = snapshot.observation();
        let block = observation.block();
        let Place { address, id, layout: own } = Place::of(observation);
        let known = own.or(layout).zip(address).ok_or(ProveError::UnknownLayout)?;
        let spacing = ranges_of(observation.state()).map(Ranges::tick_spacing);
        let ranges = |tick_spacing| RangeSubject { range, tick_spacing, ticks: Vec::new() };
        let mut subject = ProofSubject {
            chain: observation.chain().caip2,
            address: known.1,
            id,
            layout: known.0,
            ranges: spacing.map(ranges),
        };
        let header = self.header(block.number, deadline).await?;
        let header = header.ok_or_else(|| invalid(format!("block {} is null", block.number)))?;
        let found = StateProof::block_of(&header);
        if found != Some(block.hash) {
            let found = found.unwrap_or(BlockHash([0; 32]));
            return Err(ProveError::OtherBlock {
                number: block.number,
                expected: block.hash,
                found,
            });
        }
        let child = self.header(block.number + 1, deadline).await?.unwrap_or_default();
        let mut answers = Answers::default();
        let bitmap = subject.bitmap()?;
        if !bitmap.is_empty() {
            let slots: Vec<[u8; 32]> = bitmap.iter().map(|(_, slot)| *slot).collect();
            self.words(&subject, &slots, block.number, &mut answers, deadline).await?;
            let words: Vec<(i32, Word)> =
                bitmap.iter().map(|(word, _)| *word).zip(answers.values.drain(..)).collect();
            subject = subject.with_ticks(&words);
        }
        let asked: Vec<[u8; 32]> = bitmap.into_iter().map(|(_, slot)| slot).collect();
        let rest: Vec<[u8; 32]> =
            subject.slots()?.into_iter().filter(|slot| !asked.contains(slot)).collect();
        self.words(&subject, &rest, block.number, &mut answers, deadline).await?;
        let Answers { accounts, storage, .. } = answers;
        let parts =
            ProofParts { header: &header, child: &child, accounts: &accounts, storage: &storage };
        Ok(subject.file(&parts)?)
    }

    /// A header's RLP, which hashes to the block's hash; `None`: there is no such block yet.
    async fn header(&self, number: u64, deadline: Instant) -> Result<Option<Vec<u8>>, ProveError> {
        let params = json!([format!("{number:#x}"), false]);
        let read = |raw: &RawValue| {
            let answered: Option<Answered<Sealed>> = value(raw)?;
            let Some(answered) = answered else { return Ok(None) };
            let rlp = encode(&answered.inner);
            if StateProof::block_of(&rlp) != Some(BlockHash(answered.hash.0)) {
                let expected = answered.hash.to_string();
                let found =
                    "another: its header has fields that this version does not know".to_owned();
                return Err(RpcError::Contradiction { what: "the block's hash", expected, found });
            }
            Ok(Some(rlp))
        };
        Ok(self.rpc.request("eth_getBlockByNumber", &params, deadline, read).await?)
    }

    /// Asks for words with their proofs.
    async fn words(
        &self,
        subject: &ProofSubject,
        slots: &[[u8; 32]],
        number: u64,
        answers: &mut Answers,
        deadline: Instant,
    ) -> Result<(), ProveError> {
        for slots in slots.chunks(TOGETHER) {
            let keys: Vec<String> =
                slots.iter().map(|slot| alloy::primitives::B256::from(*slot).to_string()).collect();
            let params = json!([subject.address.to_string(), keys, format!("{number:#x}")]);
            let read = |raw: &RawValue| value::<EIP1186AccountProofResponse>(raw);
            let answer = self.rpc.request("eth_getProof", &params, deadline, read).await?;
            if answer.storage_proof.len() != slots.len() {
                let (asked, found) = (slots.len(), answer.storage_proof.len());
                return Err(invalid(format!("{asked} words were asked for, {found} answered")));
            }
            answers.accounts.extend(answer.account_proof.iter().map(|node| node.to_vec()));
            for word in answer.storage_proof {
                answers.storage.extend(word.proof.iter().map(|node| node.to_vec()));
                answers.values.push(Word(word.value.to_be_bytes::<32>()));
            }
        }
        Ok(())
    }
}

fn invalid(detail: String) -> ProveError {
    Missing::new(MissingReason::RpcResponseInvalid, detail).into()
}
