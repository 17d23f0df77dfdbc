//! A state proof as a file, `.egp`: a line of canonical JSON, followed by bytes in the chain's own encoding.
//!
//! The file names a block and a contract but no snapshot, so it can verify any operator's snapshot. Keys are derived
//! and never stored, so there is exactly one file for the same content.

use super::assembly::NodePool;
use super::feed::{FeedSubject, MAX_FEEDS, ProvenReading};
use super::header::{Account, BlockHeader};
use super::layout::Layout;
use super::rlp::split;
use super::subject::{ProofSubject, RangeSubject, TickRange};
use super::trie::{InOrder, Walk, WalkError, keccak256};
use super::words::{ProvenWords, walk_words, words};
use crate::ids::{Address, BlockHash, Caip2, Word};
use crate::json::{DocumentError, VERSION, from_canonical, to_canonical, wire_struct};

/// The maximum size of a file, in bytes.
pub const MAX_PROOF_BYTES: usize = 4 << 20;

/// The maximum length of its line, in bytes.
const MAX_LINE_BYTES: usize = 128 << 10;

/// The most parts after the line: headers, accounts, the pool's storage, and for each feed the storage of two
/// contracts.
const MAX_PARTS: usize = 4 + 2 * MAX_FEEDS;

/// Why a file is not a valid proof.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProofError {
    /// It is too long.
    #[error("{found} bytes are more than the maximum of {MAX_PROOF_BYTES} for a state proof")]
    TooLarge {
        /// Its length.
        found: usize,
    },
    /// Its line cannot be parsed.
    #[error("its first line: {0}")]
    Line(#[from] DocumentError),
    /// Its line has values that no proof has.
    #[error("its first line: {0}")]
    Shape(&'static str),
    /// The header or the next header is invalid, or belongs to another block.
    #[error("{0}")]
    Header(&'static str),
    /// The account nodes do not lead to the contracts.
    #[error("the contracts' accounts: {0}")]
    Account(WalkError),
    /// The account does not exist, or the value at its address is not an account.
    #[error("the state has no contract {0}")]
    NoContract(Address),
    /// The storage nodes of a contract do not lead to its words.
    #[error("a contract's storage: {0}")]
    Storage(WalkError),
    /// A feed's words are not those of the named round.
    #[error("a feed: {0}")]
    Feed(&'static str),
    /// The file has nodes that the walk does not reach.
    #[error("some nodes are not reachable")]
    Surplus,
    /// A storage word has an impossible value.
    #[error("a word is malformed")]
    Word,
    /// The ticks in the bitmap are not those in the file.
    #[error("the ticks of the bitmap differ from those in the file at tick {tick}")]
    Ticks {
        /// The first tick that differs.
        tick: i32,
    },
}

/// The line.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Line {
    v: u32,
    chain: Caip2,
    block: BlockHash,
    address: Address,
    id: Option<Word>,
    layout: Layout,
    /// The lengths in bytes of the header, of the next header (0 if absent), of the account nodes, of the pool's
    /// storage nodes, and for each feed of the storage nodes of its proxy and of its aggregator.
    lengths: Vec<u32>,
    feeds: Vec<FeedSubject>,
    range: Option<[i32; 2]>,
    tick_spacing: Option<i32>,
    ticks: Option<Vec<i32>>,
}

wire_struct!(Line { v, chain, block, address, layout, lengths; optional feeds, id, range, tick_spacing, ticks });

/// A pool's state as proven by the chain's own state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateProof {
    /// The subject of the proof.
    pub subject: ProofSubject,
    /// The block after which the pool has this state.
    pub header: BlockHeader,
    /// The next block.
    pub child: Option<BlockHeader>,
    /// The hash of the code of the contract whose storage holds the pool, where its account has one.
    pub code_hash: Option<[u8; 32]>,
    /// The pool's words.
    pub words: ProvenWords,
    /// The readings of its feeds, in the order of the subject's feeds.
    pub readings: Vec<ProvenReading>,
}

impl StateProof {
    /// The hash of the block with this RLP header.
    pub fn block_of(header: &[u8]) -> Option<BlockHash> {
        Some(BlockHeader::from_rlp(header)?.hash)
    }

    /// Whether this is the code of the contract whose storage holds the pool.
    pub fn is_code(&self, code: &[u8]) -> bool {
        self.code_hash == Some(keccak256(code))
    }

    /// Splits a file into its line, including the line break, and the items after it: headers and nodes. Nothing is
    /// verified.
    pub fn pieces(file: &[u8]) -> Option<(&[u8], Vec<&[u8]>)> {
        let end = file.iter().take(MAX_LINE_BYTES + 1).position(|byte| *byte == b'\n')?;
        let (line, mut left) = file.split_at(end + 1);
        let mut items = Vec::new();
        while !left.is_empty() {
            let (item, rest) = split(left)?;
            items.push(item.whole);
            left = rest;
        }
        Some((line, items))
    }

    /// Parses a file and verifies every word in it, from its block downwards.
    pub fn from_bytes(file: &[u8]) -> Result<Self, ProofError> {
        if file.len() > MAX_PROOF_BYTES {
            return Err(ProofError::TooLarge { found: file.len() });
        }
        let end = file.iter().take(MAX_LINE_BYTES + 1).position(|byte| *byte == b'\n');
        let end = end.ok_or(ProofError::Shape("it has no end"))?;
        let line: Line = from_canonical(&file[..end], MAX_LINE_BYTES, "a state proof")?;
        let subject = line.subject()?;
        let parts = parts(&line.lengths, &file[end + 1..])?;
        let [header, child, accounts, storage, feeds @ ..] = parts.as_slice() else {
            return Err(WRONG_LENGTHS);
        };
        if feeds.len() != 2 * subject.feeds.len() {
            return Err(WRONG_LENGTHS);
        }
        let header =
            BlockHeader::from_rlp(header).ok_or(ProofError::Header("the header is invalid"))?;
        if header.hash != line.block {
            return Err(ProofError::Header("the header is of another block"));
        }
        let child = match child {
            [] => None,
            bytes => Some(
                BlockHeader::from_rlp(bytes)
                    .ok_or(ProofError::Header("the next header is invalid"))?,
            ),
        };
        let after = |child: BlockHeader| {
            child.parent == header.hash && header.number.checked_add(1) == Some(child.number)
        };
        if child.is_some_and(|child| !after(child)) {
            return Err(ProofError::Header("the next header does not belong to the next block"));
        }
        let contracts = Contracts::from_nodes(&subject, header.state_root, accounts)?;
        let found = walk_words(contracts.storage(subject.address)?, &subject.slots()?, storage)?;
        let words = words(&subject, found)?;
        let mut readings = Vec::with_capacity(subject.feeds.len());
        for (feed, nodes) in subject.feeds.iter().zip(feeds.chunks(2)) {
            let proxy = [FeedSubject::proxy_slot()];
            let proxy = walk_words(contracts.storage(feed.feed)?, &proxy, nodes[0])?;
            let of_round =
                walk_words(contracts.storage(feed.aggregator)?, &feed.slots(), nodes[1])?;
            readings.push(feed.decode_reading(proxy[0], &of_round)?);
        }
        let code_hash = contracts.account(subject.address)?.code_hash;
        Ok(Self { subject, header, child, code_hash, words, readings })
    }
}

/// The contracts' accounts.
struct Contracts(Vec<(Address, Account)>);

impl Contracts {
    /// The contracts of a subject, with the keys of their accounts, ascending.
    fn keys(subject: &ProofSubject) -> Result<Vec<([u8; 32], Address)>, ProofError> {
        let mut keys: Vec<([u8; 32], Address)> =
            subject.contracts()?.into_iter().map(|one| (keccak256(&one.0), one)).collect();
        crate::stable_sort::sort(&mut keys, |a, b| a.0.cmp(&b.0));
        Ok(keys)
    }

    /// The storage roots from a file, found by a walk that must use exactly these nodes.
    fn from_nodes(
        subject: &ProofSubject,
        state_root: [u8; 32],
        accounts: &[u8],
    ) -> Result<Self, ProofError> {
        let mut walk = Walk::new(state_root, InOrder(accounts));
        let mut found = Vec::new();
        for (key, address) in Self::keys(subject)? {
            let account = walk.value(&key).map_err(ProofError::Account)?;
            found.push((address, Self::parse_account(account, address)?));
        }
        if walk.into_nodes().0.is_empty() { Ok(Self(found)) } else { Err(ProofError::Surplus) }
    }

    /// The storage roots from a node's answers, and the trie nodes that lead to them.
    fn find(
        subject: &ProofSubject,
        state_root: [u8; 32],
        nodes: &NodePool<'_>,
    ) -> Result<(Vec<u8>, Self), ProofError> {
        let (keys, addresses): (Vec<_>, Vec<_>) = Self::keys(subject)?.into_iter().unzip();
        let (met, accounts) = nodes.in_order(state_root, &keys).map_err(ProofError::Account)?;
        let found = addresses.into_iter().zip(accounts);
        let found =
            found.map(|(address, account)| Ok((address, Self::parse_account(account, address)?)));
        Ok((met, Self(found.collect::<Result<_, ProofError>>()?)))
    }

    fn parse_account(account: Option<&[u8]>, address: Address) -> Result<Account, ProofError> {
        account.and_then(Account::from_rlp).ok_or(ProofError::NoContract(address))
    }

    fn account(&self, of: Address) -> Result<Account, ProofError> {
        let account = self.0.iter().find(|(address, _)| *address == of);
        account.map(|(_, account)| *account).ok_or(ProofError::NoContract(of))
    }

    fn storage(&self, of: Address) -> Result<[u8; 32], ProofError> {
        Ok(self.account(of)?.storage_root)
    }
}

impl Line {
    fn subject(&self) -> Result<ProofSubject, ProofError> {
        let ranges = match (self.range, self.tick_spacing, &self.ticks) {
            (None, None, None) => None,
            (Some([low, high]), Some(tick_spacing), ticks) => Some(RangeSubject {
                range: TickRange { low, high },
                tick_spacing,
                ticks: ticks.clone().unwrap_or_default(),
            }),
            _ => return Err(ProofError::Shape("a range requires a tick spacing")),
        };
        let Self { chain, address, id, layout, .. } = *self;
        Ok(ProofSubject { chain, address, id, layout, ranges, feeds: self.feeds.clone() })
    }
}

const WRONG_LENGTHS: ProofError =
    ProofError::Shape("its lengths do not match the bytes that follow");

/// Splits the bytes after the line into parts.
fn parts<'a>(lengths: &[u32], bytes: &'a [u8]) -> Result<Vec<&'a [u8]>, ProofError> {
    if lengths.len() > MAX_PARTS {
        return Err(WRONG_LENGTHS);
    }
    split_parts(lengths, bytes).ok_or(WRONG_LENGTHS)
}

/// Splits bytes into parts of these lengths, which must use up all bytes.
pub(super) fn split_parts<'a>(lengths: &[u32], mut bytes: &'a [u8]) -> Option<Vec<&'a [u8]>> {
    let mut parts = Vec::with_capacity(lengths.len());
    for length in lengths {
        let (part, rest) = bytes.split_at_checked(usize::try_from(*length).ok()?)?;
        parts.push(part);
        bytes = rest;
    }
    bytes.is_empty().then_some(parts)
}

/// A node's answers, for writing a file.
#[derive(Debug, Clone)]
pub struct ProofParts<'a> {
    /// The header's RLP.
    pub header: &'a [u8],
    /// The RLP of the next block's header; empty if it is unknown.
    pub child: &'a [u8],
    /// All nodes that lead to the accounts and to their words, in any order; duplicates are allowed.
    pub nodes: &'a [Vec<u8>],
}

impl ProofSubject {
    /// Writes the proof file for this subject. Unused nodes are left out.
    pub fn file(&self, parts: &ProofParts<'_>) -> Result<Vec<u8>, ProofError> {
        let header = BlockHeader::from_rlp(parts.header)
            .ok_or(ProofError::Header("the header is invalid"))?;
        let nodes = NodePool::from_nodes(parts.nodes);
        let (accounts, contracts) = Contracts::find(self, header.state_root, &nodes)?;
        let leading = |contract: Address, slots: &[[u8; 32]]| {
            let mut keys: Vec<[u8; 32]> = slots.iter().map(|slot| keccak256(slot)).collect();
            crate::stable_sort::sort(&mut keys, Ord::cmp);
            let found = nodes.in_order(contracts.storage(contract)?, &keys);
            Ok::<_, ProofError>(found.map_err(ProofError::Storage)?.0)
        };
        let mut all = vec![parts.header.to_vec(), parts.child.to_vec(), accounts];
        all.push(leading(self.address, &self.slots()?)?);
        for feed in &self.feeds {
            all.push(leading(feed.feed, &[FeedSubject::proxy_slot()])?);
            all.push(leading(feed.aggregator, &feed.slots())?);
        }
        let length = |part: &[u8]| u32::try_from(part.len()).unwrap_or(u32::MAX);
        let ranges = self.ranges.as_ref();
        let line = Line {
            v: VERSION,
            chain: self.chain,
            block: header.hash,
            address: self.address,
            id: self.id,
            layout: self.layout,
            lengths: all.iter().map(|part| length(part)).collect(),
            feeds: self.feeds.clone(),
            range: ranges.map(|ranges| [ranges.range.low, ranges.range.high]),
            tick_spacing: ranges.map(|ranges| ranges.tick_spacing),
            ticks: ranges.map(|ranges| ranges.ticks.clone()),
        };
        let mut file = to_canonical(&line)?;
        file.push(b'\n');
        for part in all {
            file.extend_from_slice(&part);
        }
        // Verifies the written file by reading it.
        StateProof::from_bytes(&file)?;
        Ok(file)
    }
}
