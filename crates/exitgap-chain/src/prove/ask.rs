//! A node's answers for a proof: headers, storage words with the nodes that lead to them, and the rounds of feeds.

use alloy::primitives::B256;
use alloy::rlp::encode;
use alloy_rpc_types_eth::EIP1186AccountProofResponse;
use exitgap_core::ids::{Address, BlockHash, Word};
use exitgap_core::proof::{FeedLayout, FeedSubject, ProofSubject, StateProof};
use exitgap_core::snapshot::{BlockRef, Observation, OracleReading, OracleRole, OracleSource};
use serde_json::json;
use serde_json::value::RawValue;
use tokio::time::Instant;

use super::ProveError;
use crate::blocks::Header;
use crate::rpc::{Rpc, RpcError, value};

/// The number of words in one request. Nodes allow 1,024.
const TOGETHER: usize = 512;

/// A block whose state is requested from a node.
#[derive(Debug, Clone, Copy)]
pub(super) struct BlockQuery<'a> {
    pub rpc: &'a Rpc,
    pub number: u64,
    pub deadline: Instant,
}

/// A node's answers, to be assembled.
#[derive(Debug, Clone, Default)]
pub(super) struct Answers {
    pub nodes: Vec<Vec<u8>>,
    pub feeds: Vec<FeedSubject>,
}

/// The header of a block, and of the next block if it exists.
#[derive(Debug, Clone)]
pub(super) struct Headers {
    pub header: Vec<u8>,
    pub child: Vec<u8>,
}

impl BlockQuery<'_> {
    /// Both headers, if the node has this block at its number.
    pub async fn headers(&self, block: BlockRef) -> Result<Headers, ProveError> {
        let header = self.header(block.number).await?;
        let found = header.as_deref().and_then(StateProof::block_of);
        let (Some(header), true) = (header, found == Some(block.hash)) else {
            let (number, expected) = (block.number, block.hash);
            return Err(ProveError::OtherBlock { number, expected, found });
        };
        let child = self.header(block.number + 1).await?.unwrap_or_default();
        Ok(Headers { header, child })
    }

    /// A header's RLP, whose hash must be the block's hash; `None` if the block does not exist yet.
    pub async fn header(&self, number: u64) -> Result<Option<Vec<u8>>, ProveError> {
        let params = json!([format!("{number:#x}"), false]);
        let read = |raw: &RawValue| {
            let Some((answered, _)) = Header::wire(raw)? else { return Ok(None) };
            let rlp = encode(&answered.inner);
            if StateProof::block_of(&rlp) != Some(BlockHash(answered.hash.0)) {
                let expected = answered.hash.to_string();
                let found =
                    "a different hash, because its header has fields that this version does not know".to_owned();
                return Err(RpcError::Contradiction { what: "the block's hash", expected, found });
            }
            Ok(Some(rlp))
        };
        Ok(self.rpc.request("eth_getBlockByNumber", &params, self.deadline, read).await?)
    }

    /// Storage words of a contract, with the trie nodes that lead to them.
    pub async fn words(
        &self,
        contract: Address,
        slots: &[[u8; 32]],
        nodes: &mut Vec<Vec<u8>>,
    ) -> Result<Vec<Word>, ProveError> {
        let mut words = Vec::with_capacity(slots.len());
        for slots in slots.chunks(TOGETHER) {
            let keys: Vec<String> =
                slots.iter().map(|slot| B256::from(*slot).to_string()).collect();
            let params = json!([contract.to_string(), keys, format!("{:#x}", self.number)]);
            let read = |raw: &RawValue| {
                let answer: EIP1186AccountProofResponse = value(raw)?;
                if answer.storage_proof.len() != slots.len() {
                    let (what, expected) = ("the number of proven words", slots.len().to_string());
                    let found = answer.storage_proof.len().to_string();
                    return Err(RpcError::Contradiction { what, expected, found });
                }
                Ok(answer)
            };
            let answer = self.rpc.request("eth_getProof", &params, self.deadline, read).await?;
            nodes.extend(answer.account_proof.iter().map(|node| node.to_vec()));
            for word in answer.storage_proof {
                nodes.extend(word.proof.iter().map(|node| node.to_vec()));
                words.push(Word(word.value.to_be_bytes::<32>()));
            }
        }
        Ok(words)
    }

    /// The ticks in the bitmap within a subject's range, with the trie nodes of its words.
    pub async fn with_ticks(
        &self,
        subject: ProofSubject,
        nodes: &mut Vec<Vec<u8>>,
    ) -> Result<ProofSubject, ProveError> {
        let bitmap = subject.bitmap()?;
        if bitmap.is_empty() {
            return Ok(subject);
        }
        let (names, slots): (Vec<i32>, Vec<[u8; 32]>) = bitmap.into_iter().unzip();
        let words = self.words(subject.address, &slots, nodes).await?;
        Ok(subject.with_ticks(&names.into_iter().zip(words).collect::<Vec<_>>()))
    }

    /// The round of each feed that prices a token. A feed without a known storage layout is left out.
    pub async fn feeds(&self, observation: &Observation) -> Result<Answers, ProveError> {
        let mut all = Answers::default();
        for (feed, reading) in feeds_of(observation) {
            if all.feeds.iter().all(|known| known.feed != feed) {
                let Answers { nodes, feeds } = self.answers_of(feed, reading).await?;
                all.nodes.extend(nodes);
                all.feeds.extend(feeds);
            }
        }
        all.feeds.sort_by_key(|feed| feed.feed);
        Ok(all)
    }

    /// The same for one feed.
    pub async fn answers_of(
        &self,
        feed: Address,
        reading: &OracleReading,
    ) -> Result<Answers, ProveError> {
        let mut nodes = Vec::new();
        let found = self.find_feed(feed, reading, &mut nodes).await?;
        Ok(Answers { nodes, feeds: found.into_iter().collect() })
    }

    /// One feed, if a layout leads to a round: first the recorded round, then the newest.
    async fn find_feed(
        &self,
        feed: Address,
        reading: &OracleReading,
        nodes: &mut Vec<Vec<u8>>,
    ) -> Result<Option<FeedSubject>, ProveError> {
        let proxy = self.words(feed, &[FeedSubject::proxy_slot()], nodes).await?;
        let Some(proxy) = proxy.first().copied() else { return Ok(None) };
        let aggregator = FeedSubject::aggregator_in(proxy);
        let OracleSource::Chainlink(read) = &reading.source else { return Ok(None) };
        // The low 32 bits are the aggregator's own round number.
        let round = u32::try_from(read.round & u128::from(u32::MAX)).unwrap_or_default();
        let mut candidates: Vec<FeedSubject> = FeedLayout::ALL
            .into_iter()
            .map(|layout| FeedSubject { feed, aggregator, layout, round })
            .collect();
        for _ in 0..2 {
            let slots: Vec<Vec<[u8; 32]>> = candidates.iter().map(FeedSubject::slots).collect();
            let words = self.words(aggregator, &slots.concat(), nodes).await?;
            let mut words = words.as_slice();
            for (subject, slots) in candidates.iter_mut().zip(&slots) {
                let Some((own, rest)) = words.split_at_checked(slots.len()) else { break };
                words = rest;
                // A round that was never written cannot be the newest.
                let is_found = subject
                    .decode_reading(proxy, own)
                    .is_ok_and(|found| found.updated_at > 0 && !found.answer.is_zero());
                if is_found {
                    return Ok(Some(*subject));
                }
                subject.round = own.first().map_or(0, |word| subject.newest_in(*word));
            }
        }
        Ok(None)
    }
}

/// The feeds that price an observation's tokens.
pub(super) fn feeds_of(
    observation: &Observation,
) -> impl Iterator<Item = (Address, &OracleReading)> {
    observation.oracles().iter().filter_map(|reading| match (&reading.source, reading.role) {
        (OracleSource::Chainlink(read), OracleRole::TokenUsd(_)) => Some((read.feed, reading)),
        _ => None,
    })
}
