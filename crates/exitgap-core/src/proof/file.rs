//! A state proof as a file, `.egp`: a line of canonical JSON, then bytes as the chain has them.
//!
//! It names a block and a contract, and no snapshot: it judges anybody's. Keys are derived and never carried, so there is one
//! file for what it proves.

use super::assembly::in_order;
use super::header::{Account, BlockHeader};
use super::layout::{Layout, number as word};
use super::rlp::{self, text};
use super::trie::{InOrder, Walk, WalkError, keccak};
use crate::ids::{Address, BlockHash, Caip2, Word};
use crate::json::{DocumentError, VERSION, from_canonical, to_canonical, wire_struct};
use crate::pools::{MAX_TICK, MIN_TICK};

/// The most bytes of a file.
pub const MAX_PROOF_BYTES: usize = 4 << 20;

/// The most bytes of its line, and ticks in it.
const MAX_LINE_BYTES: usize = 128 << 10;
const MAX_TICKS: usize = 8_192;

/// The most words of a bitmap: those of a spacing of 1, at all prices.
const MAX_BITMAP_WORDS: i32 = 6_932;

/// The largest spacing of any kind.
const MAX_SPACING: i32 = 32_767;

/// What is not there.
const ZERO: Word = Word([0; 32]);

/// Why a file proves nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProofError {
    /// It is longer than one may be.
    #[error("{found} bytes are more than the {MAX_PROOF_BYTES} of a state proof")]
    TooLarge {
        /// Its length.
        found: usize,
    },
    /// Its line cannot be read.
    #[error("its first line: {0}")]
    Line(#[from] DocumentError),
    /// Its line says what no proof is.
    #[error("its first line: {0}")]
    Shape(&'static str),
    /// The header, or the one after it, is none, or of another block.
    #[error("{0}")]
    Header(&'static str),
    /// The nodes of the accounts do not lead to the contract.
    #[error("the contract's account: {0}")]
    Account(WalkError),
    /// There is no such account, or what stands under its address is none.
    #[error("the state has no such contract")]
    NoContract,
    /// The nodes of its storage do not lead to the words.
    #[error("the contract's storage: {0}")]
    Storage(WalkError),
    /// There are nodes that no walk meets.
    #[error("it has nodes that nothing leads to")]
    Surplus,
    /// A word holds what no word can.
    #[error("a word is malformed")]
    Word,
    /// The bitmap has other ticks than the file.
    #[error("the bitmap has other ticks than the file names, at tick {tick}")]
    Ticks {
        /// The first.
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
    /// Bytes of the header, of the one after it (0: none), of the nodes of accounts, of those of storage.
    lengths: Vec<u32>,
    range: Option<[i32; 2]>,
    tick_spacing: Option<i32>,
    ticks: Option<Vec<i32>>,
}

wire_struct!(Line { v, chain, block, address, layout, lengths; optional id, range, tick_spacing, ticks });

/// Ticks from one up to another, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TickRange {
    /// The lowest.
    pub low: i32,
    /// The highest.
    pub high: i32,
}

impl TickRange {
    /// Every tick there is.
    pub const ALL: Self = Self { low: MIN_TICK, high: MAX_TICK };

    /// Whether all of another lie in it.
    pub fn covers(self, other: Self) -> bool {
        self.low <= other.low && other.high <= self.high
    }
}

/// What is to be proven of a pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProofSubject {
    /// Its chain.
    pub chain: Caip2,
    /// The contract whose storage holds it.
    pub address: Address,
    /// Its id, where that contract manages many.
    pub id: Option<Word>,
    /// How that storage is laid out.
    pub layout: Layout,
    /// Of a pool of ranges: how far.
    pub ranges: Option<RangeSubject>,
}

/// The ticks of a pool of ranges that are to be proven.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RangeSubject {
    /// How far.
    pub range: TickRange,
    /// The pool's spacing.
    pub tick_spacing: i32,
    /// All initialised ticks within it, ascending.
    pub ticks: Vec<i32>,
}

/// What the chain's own state says of a pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateProof {
    /// What it is of.
    pub subject: ProofSubject,
    /// The block after which it is so.
    pub header: BlockHeader,
    /// The block after that.
    pub child: Option<BlockHeader>,
    /// The words.
    pub words: ProvenWords,
}

/// The words of a pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProvenWords {
    /// Reserves.
    Reserves(Vec<Word>),
    /// √price and tick; liquidity; and of each tick of the subject its first word.
    Ranges {
        /// √price, tick, and of Uniswap v4 the fees.
        price: Word,
        /// Active liquidity.
        liquidity: Word,
        /// Of each tick its first word.
        ticks: Vec<Word>,
    },
}

/// What a word of storage is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Reserve(usize),
    Price,
    Liquidity,
    Bitmap(i32),
    Tick(usize),
}

impl ProofSubject {
    /// The words that prove it, as the numbers of their slots.
    pub fn slots(&self) -> Result<Vec<[u8; 32]>, ProofError> {
        Ok(self.roles()?.into_iter().map(|(slot, _)| slot).collect())
    }

    /// The words of the bitmap that the range needs, and the numbers of their slots: what they hold says which ticks there are.
    pub fn bitmap(&self) -> Result<Vec<(i32, [u8; 32])>, ProofError> {
        let bitmap = |(slot, role)| match role {
            Role::Bitmap(word) => Some((word, slot)),
            _ => None,
        };
        Ok(self.roles()?.into_iter().filter_map(bitmap).collect())
    }

    /// The same subject with the ticks that these words of the bitmap have, in the order of [`ProofSubject::bitmap`].
    #[must_use]
    pub fn with_ticks(mut self, words: &[(i32, Word)]) -> Self {
        if let Some(ranges) = &mut self.ranges {
            let ticks =
                words.iter().flat_map(|(word, bits)| ranges.ticks_in(*word, *bits)).collect();
            ranges.ticks = ticks;
        }
        self
    }

    fn roles(&self) -> Result<Vec<([u8; 32], Role)>, ProofError> {
        if let Some(reserves) = self.layout.reserves() {
            if self.ranges.is_some() || self.id.is_some() {
                return Err(ProofError::Shape("reserves have no ticks and no id"));
            }
            let role = |(at, slot): (usize, &u8)| (word(*slot), Role::Reserve(at));
            return Ok(reserves.iter().enumerate().map(role).collect());
        }
        let ranges = self.ranges.as_ref().ok_or(ProofError::Shape("it names no range"))?;
        let places = self.layout.ranges(self.id);
        let places = places.ok_or(ProofError::Shape("the layout and the id do not fit"))?;
        let mut roles = vec![(places.price, Role::Price), (places.liquidity, Role::Liquidity)];
        let [first, last] = ranges.bitmap()?;
        roles.extend((first..=last).map(|word| (places.bitmap(word), Role::Bitmap(word))));
        let ticks = ranges.ticks.iter().enumerate();
        roles.extend(ticks.map(|(at, tick)| (places.tick(*tick), Role::Tick(at))));
        Ok(roles)
    }
}

impl RangeSubject {
    /// The first and the last word of the bitmap that are needed.
    fn bitmap(&self) -> Result<[i32; 2], ProofError> {
        let Self { range: TickRange { low, high }, tick_spacing, ticks } = self;
        if *low > *high || *low < MIN_TICK || *high > MAX_TICK {
            return Err(ProofError::Shape("its range is none"));
        }
        if !(1..=MAX_SPACING).contains(tick_spacing) {
            return Err(ProofError::Shape("its tick spacing is none"));
        }
        let fits = |tick: &i32| (*low..=*high).contains(tick) && tick % tick_spacing == 0;
        if ticks.len() > MAX_TICKS || !ticks.iter().all(fits) || !ticks.is_sorted_by(|a, b| a < b) {
            return Err(ProofError::Shape("its ticks are out of order, range or spacing"));
        }
        let words = [low, high].map(|tick| tick.div_euclid(*tick_spacing) >> 8);
        if words[1] - words[0] >= MAX_BITMAP_WORDS {
            return Err(ProofError::Shape("its range has too many words"));
        }
        Ok(words)
    }

    /// The ticks of the range that a word of the bitmap has.
    fn ticks_in(&self, word: i32, bits: Word) -> impl Iterator<Item = i32> + '_ {
        let tick = move |bit: i32| (word * 256 + bit) * self.tick_spacing;
        let set = move |bit: &i32| {
            usize::try_from(*bit).is_ok_and(|bit| bits.0[31 - bit / 8] >> (bit % 8) & 1 == 1)
        };
        let TickRange { low, high } = self.range;
        (0..256).filter(set).map(tick).filter(move |tick| (low..=high).contains(tick))
    }
}

impl StateProof {
    /// The hash of the block whose header this is the RLP of.
    pub fn block_of(header: &[u8]) -> Option<BlockHash> {
        Some(BlockHeader::read(header)?.hash)
    }

    /// Reads a file, and follows every word in it down from its block.
    pub fn read(file: &[u8]) -> Result<Self, ProofError> {
        if file.len() > MAX_PROOF_BYTES {
            return Err(ProofError::TooLarge { found: file.len() });
        }
        let end = file.iter().take(MAX_LINE_BYTES + 1).position(|byte| *byte == b'\n');
        let end = end.ok_or(ProofError::Shape("it does not end"))?;
        let line: Line = from_canonical(&file[..end], MAX_LINE_BYTES, "a state proof")?;
        let [header, child, accounts, storage] = parts(&line.lengths, &file[end + 1..])?;
        let subject = line.subject()?;
        let header = BlockHeader::read(header).ok_or(ProofError::Header("the header is none"))?;
        if header.hash != line.block {
            return Err(ProofError::Header("the header is of another block"));
        }
        let child = match child {
            [] => None,
            bytes => Some(
                BlockHeader::read(bytes).ok_or(ProofError::Header("the next header is none"))?,
            ),
        };
        let after = |child: BlockHeader| {
            child.parent == header.hash && header.number.checked_add(1) == Some(child.number)
        };
        if child.is_some_and(|child| !after(child)) {
            return Err(ProofError::Header("the next header is not that of the next block"));
        }
        let mut walk = Walk::new(header.state_root, InOrder(accounts));
        let account = walk.value(&keccak(&subject.address.0)).map_err(ProofError::Account)?;
        let account = account.and_then(Account::read).ok_or(ProofError::NoContract)?;
        if !walk.into_nodes().0.is_empty() {
            return Err(ProofError::Surplus);
        }
        let words = words(&subject, account.storage_root, storage)?;
        Ok(Self { subject, header, child, words })
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
            _ => return Err(ProofError::Shape("a range has a spacing")),
        };
        let Self { chain, address, id, layout, .. } = *self;
        Ok(ProofSubject { chain, address, id, layout, ranges })
    }
}

/// The four parts after the line.
fn parts<'a>(lengths: &[u32], mut bytes: &'a [u8]) -> Result<[&'a [u8]; 4], ProofError> {
    let wrong = ProofError::Shape("its lengths are not those of what follows");
    let lengths: [u32; 4] = lengths.try_into().map_err(|_| wrong.clone())?;
    let mut parts = [&[][..]; 4];
    for (part, length) in parts.iter_mut().zip(lengths) {
        let length = usize::try_from(length).map_err(|_| wrong.clone())?;
        (*part, bytes) = bytes.split_at_checked(length).ok_or(wrong.clone())?;
    }
    if bytes.is_empty() { Ok(parts) } else { Err(wrong) }
}

/// Walks to every word, and requires that the bitmap has the ticks that the subject names and no others.
fn words(subject: &ProofSubject, root: [u8; 32], nodes: &[u8]) -> Result<ProvenWords, ProofError> {
    let mut roles: Vec<_> =
        subject.roles()?.into_iter().map(|(slot, role)| (keccak(&slot), role)).collect();
    crate::sorting::sort(&mut roles, |a, b| a.0.cmp(&b.0));
    let mut walk = Walk::new(root, InOrder(nodes));
    let (mut reserves, mut price, mut liquidity) = ([ZERO; 2], ZERO, ZERO);
    let named = subject.ranges.as_ref().map_or(&[][..], |ranges| &ranges.ticks);
    let (mut bitmap, mut ticks) = (Vec::new(), vec![ZERO; named.len()]);
    for (key, role) in roles {
        let value = walk.value(&key).map_err(ProofError::Storage)?;
        let value = word_of(value).ok_or(ProofError::Word)?;
        match role {
            Role::Reserve(at) => reserves[at] = value,
            Role::Price => price = value,
            Role::Liquidity => liquidity = value,
            Role::Bitmap(word) => bitmap.push((word, value)),
            Role::Tick(at) => ticks[at] = value,
        }
    }
    if !walk.into_nodes().0.is_empty() {
        return Err(ProofError::Surplus);
    }
    let Some(ranges) = &subject.ranges else {
        let count = subject.layout.reserves().map_or(0, <[u8]>::len);
        return Ok(ProvenWords::Reserves(reserves[..count].to_vec()));
    };
    crate::sorting::sort(&mut bitmap, |a, b| a.0.cmp(&b.0));
    let mut left = named.iter().copied();
    for tick in bitmap.into_iter().flat_map(|(word, bits)| ranges.ticks_in(word, bits)) {
        match left.next() {
            Some(expected) if expected == tick => {}
            other => {
                return Err(ProofError::Ticks {
                    tick: other.map_or(tick, |other| other.min(tick)),
                });
            }
        }
    }
    match left.next() {
        Some(tick) => Err(ProofError::Ticks { tick }),
        None => Ok(ProvenWords::Ranges { price, liquidity, ticks }),
    }
}

/// The word of a leaf; one that is absent is zero.
fn word_of(leaf: Option<&[u8]>) -> Option<Word> {
    let Some(leaf) = leaf else { return Some(ZERO) };
    let digits = text(leaf).filter(|digits| !digits.is_empty())?;
    Some(Word(rlp::number(digits)?))
}

/// What a node answered, to be made a file of.
#[derive(Debug, Clone)]
pub struct ProofParts<'a> {
    /// The header's RLP.
    pub header: &'a [u8],
    /// That of the block after it; empty where it is not known.
    pub child: &'a [u8],
    /// All nodes that lead to the account, and to the words: in any order, each as often as it came.
    pub accounts: &'a [Vec<u8>],
    /// The same of storage.
    pub storage: &'a [Vec<u8>],
}

impl ProofSubject {
    /// The file of a proof of it. What nothing leads to is left out.
    pub fn file(&self, parts: &ProofParts<'_>) -> Result<Vec<u8>, ProofError> {
        let header =
            BlockHeader::read(parts.header).ok_or(ProofError::Header("the header is none"))?;
        let (accounts, met) =
            in_order(header.state_root, &[keccak(&self.address.0)], parts.accounts)
                .map_err(ProofError::Account)?;
        let account = met.into_iter().next().flatten().and_then(Account::read);
        let account = account.ok_or(ProofError::NoContract)?;
        let mut keys: Vec<[u8; 32]> = self.slots()?.iter().map(|slot| keccak(slot)).collect();
        crate::sorting::sort(&mut keys, Ord::cmp);
        let (storage, _) =
            in_order(account.storage_root, &keys, parts.storage).map_err(ProofError::Storage)?;
        let all = [parts.header, parts.child, &accounts, &storage];
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
            range: ranges.map(|ranges| [ranges.range.low, ranges.range.high]),
            tick_spacing: ranges.map(|ranges| ranges.tick_spacing),
            ticks: ranges.map(|ranges| ranges.ticks.clone()),
        };
        let mut file = to_canonical(&line)?;
        file.push(b'\n');
        for part in all {
            file.extend_from_slice(part);
        }
        // What is written is what is read.
        StateProof::read(&file)?;
        Ok(file)
    }
}
