//! Pools that are known by their code, and their words before a block, proven down from its parent's hash where the node serves
//! proofs.

use alloy_rpc_types_eth::EIP1186AccountProofResponse;
use exitgap_core::ids::{Address, Caip2, Word};
use exitgap_core::proof::{
    Layout, ProofParts, ProofSubject, ProvenWords, RangeSubject, StateProof, TickRange,
    V3Immutables, is_v2_pair,
};
use exitgap_math::keccak256;
use serde_json::json;

use super::block::Header;
use super::events::unsigned;
use super::rpc::{Node, NodeError};
use exitgap_core::U256;

/// The most words that are asked for a pool and a block.
const MOST_WORDS: usize = 4_096;

/// Words in one request.
const TOGETHER: usize = 256;

/// A pool's kind, with what does not change of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A pair of Uniswap v2.
    Pair {
        /// Its tokens.
        tokens: [Address; 2],
    },
    /// A pool of Uniswap v3.
    Ranges(V3Immutables),
    /// Code that is not known.
    Unknown,
}

/// A pool's state after a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Words {
    /// Reserves.
    Pair([u128; 2]),
    /// Price, tick, liquidity, and net liquidities of the ticks in the range that was asked for.
    Ranges {
        /// √price.
        sqrt_price: U256,
        /// The tick.
        tick: i32,
        /// Active liquidity.
        liquidity: u128,
        /// Initialized ticks with their net and their gross liquidity, ascending.
        ticks: Vec<(i32, i128, u128)>,
    },
}

/// A state, and whether it is proven.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// The state.
    pub words: Words,
    /// Whether it leads down from the block's hash; else the node is believed.
    pub is_proven: bool,
}

impl Kind {
    /// The kind of a contract, by its code.
    pub async fn identify(node: &Node, pool: Address, at: &Header) -> Result<Self, NodeError> {
        let number = format!("{:#x}", at.block.number);
        let params = json!([pool.to_string(), number]);
        let code: alloy::primitives::Bytes = node.ask("eth_getCode", params).await?;
        if is_v2_pair(keccak256(&code)) {
            let mut tokens = [Address([0; 20]); 2];
            for (token, slot) in tokens.iter_mut().zip([6, 7]) {
                let word = storage(node, pool, &place(slot), at).await?;
                token.0.copy_from_slice(&word.0[12..]);
            }
            return Ok(Self::Pair { tokens });
        }
        match V3Immutables::from_code(&code) {
            Some(immutables) if immutables.pool == pool => Ok(Self::Ranges(immutables)),
            Some(_) => {
                let words = format!("the code of {pool} is that of another pool");
                Err(NodeError::Contradiction(words))
            }
            None => Ok(Self::Unknown),
        }
    }

    fn subject(&self, pool: Address, chain: u64, range: TickRange) -> ProofSubject {
        let (layout, ranges) = match self {
            Self::Ranges(V3Immutables { tick_spacing, .. }) => {
                let ranges = RangeSubject { range, tick_spacing: *tick_spacing, ticks: Vec::new() };
                (Layout::UniswapV3, Some(ranges))
            }
            Self::Pair { .. } | Self::Unknown => (Layout::UniswapV2, None),
        };
        let (chain, feeds) = (Caip2(chain), Vec::new());
        ProofSubject { chain, address: pool, id: None, layout, ranges, feeds }
    }

    /// The tick that the node has for a pool of ranges. It is believed only until the words are read around it.
    pub async fn tick(node: &Node, pool: Address, at: &Header) -> Result<i32, NodeError> {
        Ok(tick_of(storage(node, pool, &place(0), at).await?))
    }

    /// A pool's state after a block, with the ticks of a range; `None`: that takes too many words.
    pub async fn read_state(
        &self,
        node: &Node,
        (pool, chain): (Address, u64),
        at: &Header,
        range: TickRange,
    ) -> Result<Option<Reading>, NodeError> {
        let mut subject = self.subject(pool, chain, range);
        let invalid = |error: exitgap_core::proof::ProofError| {
            NodeError::Contradiction(format!("the state of {pool}: {error}"))
        };
        let (mut nodes, mut code) = (Vec::new(), None);
        let bitmap = subject.bitmap().map_err(invalid)?;
        if bitmap.len() > MOST_WORDS {
            return Ok(None);
        }
        let (names, slots): (Vec<i32>, Vec<[u8; 32]>) = bitmap.into_iter().unzip();
        let bits = words(node, pool, &slots, at, &mut nodes, &mut code).await?;
        subject = subject.with_ticks(&names.into_iter().zip(bits).collect::<Vec<_>>());
        let slots = subject.slots().map_err(invalid)?;
        if slots.len() > MOST_WORDS {
            return Ok(None);
        }
        let found = words(node, pool, &slots, at, &mut nodes, &mut code).await?;
        if nodes.is_empty() {
            let words = decode(&subject, &found).ok_or_else(|| {
                NodeError::Contradiction(format!("the state of {pool} has too few words"))
            })?;
            return Ok(Some(Reading { words, is_proven: false }));
        }
        let parts = ProofParts { header: &at.rlp, child: &[], nodes: &nodes };
        let file = subject.file(&parts).map_err(invalid)?;
        let proof = StateProof::from_bytes(&file).map_err(invalid)?;
        let proven = match &proof.words {
            ProvenWords::Reserves(words) => words.clone(),
            ProvenWords::Ranges { price, liquidity, ticks } => {
                let bitmaps = vec![Word([0; 32]); slots.len() - 2 - ticks.len()];
                [&[*price, *liquidity][..], &bitmaps, ticks].concat()
            }
        };
        let words = decode(&subject, &proven).ok_or_else(|| {
            NodeError::Contradiction(format!("the state of {pool} has too few words"))
        })?;
        Ok(Some(Reading { words, is_proven: true }))
    }
}

/// What words say, in the order of a subject's slots: price, liquidity, the bitmap, ticks.
fn decode(subject: &ProofSubject, words: &[Word]) -> Option<Words> {
    let Some(ranges) = &subject.ranges else {
        let both = words.first()?.0;
        let reserve = |bytes: &[u8]| bytes.iter().fold(0, |sum, byte| sum << 8 | u128::from(*byte));
        return Some(Words::Pair([reserve(&both[18..]), reserve(&both[4..18])]));
    };
    let (price, liquidity) = (words.first()?, words.get(1)?);
    let of_ticks = words.get(words.len().checked_sub(ranges.ticks.len())?..)?;
    let half = |word: &[u8]| Some(u128::from_be_bytes(word.try_into().ok()?));
    let ticks = ranges.ticks.iter().zip(of_ticks).map(|(tick, word)| {
        let (net, gross) = word.0.split_at(16);
        Some((*tick, half(net)?.cast_signed(), half(gross)?))
    });
    Some(Words::Ranges {
        sqrt_price: unsigned(&price.0[12..]),
        tick: tick_of(*price),
        liquidity: half(&liquidity.0[16..])?,
        ticks: ticks.collect::<Option<_>>()?,
    })
}

/// The tick in the word of a price: 24 bits above the √price.
fn tick_of(word: Word) -> i32 {
    let high = if word.0[9] >> 7 == 1 { 0xff } else { 0 };
    i32::from_be_bytes([high, word.0[9], word.0[10], word.0[11]])
}

fn place(slot: u8) -> [u8; 32] {
    let mut place = [0; 32];
    place[31] = slot;
    place
}

/// Words of a contract, with the nodes that lead to them; without nodes where the node serves no proofs.
async fn words(
    node: &Node,
    pool: Address,
    slots: &[[u8; 32]],
    at: &Header,
    nodes: &mut Vec<Vec<u8>>,
    is_served: &mut Option<bool>,
) -> Result<Vec<Word>, NodeError> {
    let number = format!("{:#x}", at.block.number);
    let mut words = Vec::with_capacity(slots.len());
    for slots in slots.chunks(TOGETHER) {
        if *is_served != Some(false) {
            let keys: Vec<String> = slots.iter().map(|slot| Word(*slot).to_string()).collect();
            let params = json!([pool.to_string(), keys, number]);
            match node.ask::<EIP1186AccountProofResponse>("eth_getProof", params).await {
                Ok(answer) if answer.storage_proof.len() == slots.len() => {
                    *is_served = Some(true);
                    nodes.extend(answer.account_proof.iter().map(|node| node.to_vec()));
                    for word in answer.storage_proof {
                        nodes.extend(word.proof.iter().map(|node| node.to_vec()));
                        words.push(Word(word.value.to_be_bytes::<32>()));
                    }
                    continue;
                }
                Ok(_) => {
                    let reason = format!("the proof of {pool} has another number of words");
                    return Err(NodeError::Contradiction(reason));
                }
                Err(NodeError::Refused { .. }) if is_served.is_none() => *is_served = Some(false),
                Err(error) => return Err(error),
            }
        }
        for slot in slots {
            words.push(storage(node, pool, slot, at).await?);
        }
    }
    Ok(words)
}

async fn storage(
    node: &Node,
    pool: Address,
    slot: &[u8; 32],
    at: &Header,
) -> Result<Word, NodeError> {
    let number = format!("{:#x}", at.block.number);
    let params = json!([pool.to_string(), Word(*slot).to_string(), number]);
    let word: alloy::primitives::U256 = node.ask("eth_getStorageAt", params).await?;
    Ok(Word(word.to_be_bytes::<32>()))
}
