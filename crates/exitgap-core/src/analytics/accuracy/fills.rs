//! The logs of a range of blocks as a recorder stores them: a canonical document, named by its hash, to which a head
//! commits.
//!
//! The documents of a pool are consecutive: the first block of each is the one after the last block of the previous
//! document, so no block can be left out unnoticed. If a recorder could not read some blocks in time, it starts again
//! after them with a document that covers no blocks. Swaps in such a gap are not compared.

use sha2::{Digest as _, Sha256};

use super::committed_document::document_of_line;
use super::events::first_out_of_order;
use super::{PoolEvent, PoolLog, PriceAfter, SwapAmounts};
use crate::Newer;
use crate::evidence::Commits;
use crate::ids::{Address, Contract, DocumentHash, Word};
use crate::json::{DocumentError, VERSION, from_canonical, to_canonical_within, wire_struct};
use crate::pools::MAX_TICK;
use crate::series::Slot;
use crate::wide::U256;

/// The most logs in a document.
pub const MAX_FILLS_LOGS: usize = 4_096;

/// The maximum size of a document, in bytes.
pub const MAX_FILLS_BYTES: usize = 4 << 20;

/// The events that a pool logged in the blocks after `after_block` and up to `to_block`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fills {
    /// The pool's contract.
    pub contract: Contract,
    /// The block before the first block.
    pub after_block: u64,
    /// The last block. Equal to `after_block` if the document covers no blocks.
    pub to_block: u64,
    /// All logs of these blocks that are [`PoolEvent`]s, in chain order.
    pub logs: Vec<PoolLog>,
}

/// Why bytes are not such a document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FillsError {
    /// The bytes are not a document of this kind.
    #[error("not a fills document: {0}")]
    Document(#[from] DocumentError),
    /// A log that no pool contract can emit, or that is out of order.
    #[error("not a fills document: log {place}: {what}")]
    Log {
        /// Its index in the list, from 0.
        place: usize,
        /// The reason.
        what: &'static str,
    },
    /// Too many logs, or the first block is after the last.
    #[error("not a fills document: {0}")]
    Bounds(String),
}

impl FillsError {
    /// The newer version that wrote the document, if that is the cause of the error.
    pub fn newer(&self) -> Option<Newer> {
        match self {
            Self::Document(DocumentError::Newer(newer)) => Some(*newer),
            _ => None,
        }
    }
}

impl Fills {
    /// The name under which a head commits to such a document.
    pub const NAME: &str = Commits::FILLS;

    /// The canonical bytes. Refused if [`Fills::from_canonical`] would not accept them.
    pub fn to_canonical(&self) -> Result<Vec<u8>, FillsError> {
        self.check()?;
        Ok(to_canonical_within(&Document::from_fills(self), MAX_FILLS_BYTES)?)
    }

    /// Reads untrusted bytes.
    pub fn from_canonical(bytes: &[u8]) -> Result<Self, FillsError> {
        let document: Document = from_canonical(bytes, MAX_FILLS_BYTES, "fills")?;
        let Document { contract, after_block, to_block, logs, .. } = document;
        let logs = logs.into_iter().enumerate().map(|(place, log)| {
            let wrong = || FillsError::Log { place, what: "not one of the five kinds of event" };
            log.into_pool_log().ok_or_else(wrong)
        });
        let fills = Self { contract, after_block, to_block, logs: logs.collect::<Result<_, _>>()? };
        fills.check()?;
        Ok(fills)
    }

    /// The head's commitment to a document.
    pub fn commitment(document: DocumentHash) -> Commits {
        Self::NAME.parse().map_or_else(|_| Commits::default(), |name| Commits::to(name, document))
    }

    /// Whether these blocks can follow a document that ended at `to_block`: either they are the next blocks, or this
    /// document starts after a gap and covers no blocks.
    pub fn follows(&self, to_block: u64) -> bool {
        let begins = self.after_block == self.to_block && self.logs.is_empty();
        self.after_block == to_block || (begins && self.after_block > to_block)
    }

    /// The hash that names canonical bytes.
    pub fn hash_of(canonical: &[u8]) -> DocumentHash {
        DocumentHash(Sha256::digest(canonical).into())
    }

    /// Reads an untrusted line. Returns the slot, the document, and the hash that the pool's head of that slot must
    /// commit to.
    pub fn from_line(line: &[u8]) -> Result<(Slot, Self, DocumentHash), FillsError> {
        let (slot, document) = Self::document_of_line(line)?;
        Ok((slot, Self::from_canonical(&document)?, Self::hash_of(&document)))
    }

    /// The slot and the document's bytes of an untrusted line. The document itself is not parsed.
    pub fn document_of_line(line: &[u8]) -> Result<(Slot, Vec<u8>), FillsError> {
        Ok(document_of_line(Self::NAME, MAX_FILLS_BYTES, line)?)
    }

    fn check(&self) -> Result<(), FillsError> {
        if self.logs.len() > MAX_FILLS_LOGS {
            let found = self.logs.len();
            return Err(FillsError::Bounds(format!(
                "{found} logs are more than the maximum of {MAX_FILLS_LOGS}"
            )));
        }
        if self.after_block > self.to_block {
            let Self { after_block, to_block, .. } = self;
            return Err(FillsError::Bounds(format!("block {after_block} is after {to_block}")));
        }
        check_logs(&self.logs, self.after_block, self.to_block)
    }
}

/// Requires that the logs of the blocks after `after` and up to `up_to` are in chain order and within the bounds of a
/// pool's values. Their number is not checked.
pub fn check_logs(logs: &[PoolLog], after: u64, up_to: u64) -> Result<(), FillsError> {
    if let Some(place) = first_out_of_order(logs, after, up_to) {
        return Err(FillsError::Log {
            place,
            what: "out of order, or outside the blocks of the document",
        });
    }
    match logs.iter().position(|log| !possible(&log.event)) {
        Some(place) => Err(FillsError::Log { place, what: "outside the bounds of a pool" }),
        None => Ok(()),
    }
}

/// Whether the values are within the bounds of what contracts log.
fn possible(event: &PoolEvent) -> bool {
    let on_scale = |tick: i32| tick.unsigned_abs() <= MAX_TICK.unsigned_abs();
    match event {
        PoolEvent::Swap(_, price) => price.is_none_or(|price| on_scale(price.tick)),
        PoolEvent::Liquidity { lower, upper, .. } => {
            lower < upper && on_scale(*lower) && on_scale(*upper)
        }
        PoolEvent::Reserves(_) | PoolEvent::Deposit(_) | PoolEvent::Withdrawal(_) => true,
    }
}

struct Document {
    v: u32,
    contract: Contract,
    after_block: u64,
    to_block: u64,
    logs: Vec<Log>,
}

wire_struct!(Document { v, contract, after_block, to_block, logs });

struct Log {
    block: u64,
    index: u32,
    transaction: Word,
    parties: [Address; 2],
    swap: Option<Swap>,
    liquidity: Option<Range>,
    reserves: Option<[u128; 2]>,
    deposit: Option<[U256; 2]>,
    withdrawal: Option<[U256; 2]>,
}

wire_struct!(Log {
    block, index, transaction, parties;
    optional swap, liquidity, reserves, deposit, withdrawal
});

struct Swap {
    sold: [U256; 2],
    bought: [U256; 2],
    price: Option<Price>,
}

wire_struct!(Swap { sold, bought; optional price });

struct Price {
    sqrt_price_x96: U256,
    tick: i32,
    liquidity: u128,
}

wire_struct!(Price { sqrt_price_x96, tick, liquidity });

struct Range {
    lower: i32,
    upper: i32,
    delta: i128,
}

wire_struct!(Range { lower, upper, delta });

impl Document {
    fn from_fills(fills: &Fills) -> Self {
        let Fills { contract, after_block, to_block, logs } = fills;
        Self {
            v: VERSION,
            contract: contract.clone(),
            after_block: *after_block,
            to_block: *to_block,
            logs: logs.iter().map(Log::from_pool_log).collect(),
        }
    }
}

impl Log {
    fn from_pool_log(log: &PoolLog) -> Self {
        let PoolLog { block, index, transaction, parties, event } = log;
        let mut of = Self {
            block: *block,
            index: *index,
            transaction: Word(*transaction),
            parties: *parties,
            swap: None,
            liquidity: None,
            reserves: None,
            deposit: None,
            withdrawal: None,
        };
        match event {
            PoolEvent::Swap(SwapAmounts { sold, bought }, price) => {
                let price = price.map(|price| {
                    let PriceAfter { sqrt_price_x96, tick, liquidity } = price;
                    Price { sqrt_price_x96, tick, liquidity }
                });
                of.swap = Some(Swap { sold: *sold, bought: *bought, price });
            }
            PoolEvent::Liquidity { lower, upper, delta } => {
                of.liquidity = Some(Range { lower: *lower, upper: *upper, delta: *delta });
            }
            PoolEvent::Reserves(reserves) => of.reserves = Some(*reserves),
            PoolEvent::Deposit(amounts) => of.deposit = Some(*amounts),
            PoolEvent::Withdrawal(amounts) => of.withdrawal = Some(*amounts),
        }
        of
    }

    /// `None` unless exactly one kind of event is present.
    fn into_pool_log(self) -> Option<PoolLog> {
        let Self { block, index, transaction, parties, .. } = self;
        let event = match (self.swap, self.liquidity, self.reserves, self.deposit, self.withdrawal)
        {
            (Some(Swap { sold, bought, price }), None, None, None, None) => {
                let price = price.map(|price| {
                    let Price { sqrt_price_x96, tick, liquidity } = price;
                    PriceAfter { sqrt_price_x96, tick, liquidity }
                });
                PoolEvent::Swap(SwapAmounts { sold, bought }, price)
            }
            (None, Some(Range { lower, upper, delta }), None, None, None) => {
                PoolEvent::Liquidity { lower, upper, delta }
            }
            (None, None, Some(reserves), None, None) => PoolEvent::Reserves(reserves),
            (None, None, None, Some(amounts), None) => PoolEvent::Deposit(amounts),
            (None, None, None, None, Some(amounts)) => PoolEvent::Withdrawal(amounts),
            _ => return None,
        };
        Some(PoolLog { block, index, transaction: transaction.0, parties, event })
    }
}
