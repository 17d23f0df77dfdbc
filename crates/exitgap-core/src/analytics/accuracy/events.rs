//! What a pool's contract logged.

use crate::ids::Address;
use crate::pools::Direction;
use crate::stable_sort::sort;
use crate::wide::U256;

/// A log of a pool, at its place in the chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolLog {
    /// The block's number.
    pub block: u64,
    /// The log's place in the block.
    pub index: u32,
    /// The hash of its transaction.
    pub transaction: [u8; 32],
    /// Who asked and who was given: of a swap its sender and its recipient; of liquidity its owner, or who put it in,
    /// and who got it, where that is said; else nobody, address zero.
    pub parties: [Address; 2],
    /// What it says.
    pub event: PoolEvent,
}

/// The place of the first log that is not in the chain's order, or not of the blocks after one and up to another. Those of
/// one transaction follow each other.
pub(super) fn first_out_of_order(logs: &[PoolLog], after: u64, up_to: u64) -> Option<usize> {
    let mut before = (after, u32::MAX);
    let follows = |log: &PoolLog| {
        let earlier = core::mem::replace(&mut before, (log.block, log.index));
        earlier < before && log.block <= up_to
    };
    let strays = logs.iter().map(follows).position(|follows| !follows);
    let transaction = |log: &PoolLog| (log.block, log.transaction);
    let begins =
        |place: &usize| *place == 0 || transaction(&logs[*place - 1]) != transaction(&logs[*place]);
    let mut begun: Vec<usize> = (0..logs.len()).filter(begins).collect();
    let key = |place: usize| (transaction(&logs[place]), place);
    sort(&mut begun, |a, b| key(*a).cmp(&key(*b)));
    let again = begun.windows(2).filter(|two| key(two[0]).0 == key(two[1]).0).map(|two| two[1]);
    again.chain(strays).min()
}

/// What a log says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PoolEvent {
    /// A swap.
    Swap(SwapAmounts, Option<PriceAfter>),
    /// Liquidity put into a range, or taken out of it where it is negative.
    Liquidity {
        /// The lower tick.
        lower: i32,
        /// The upper tick.
        upper: i32,
        /// How much.
        delta: i128,
    },
    /// The reserves of a constant product, told before what changed them.
    Reserves([u128; 2]),
    /// Both tokens of a constant product put in for shares of it.
    Deposit([U256; 2]),
    /// The same taken out.
    Withdrawal([U256; 2]),
}

/// What a swap brought into the pool and took out of it, by token; raw units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SwapAmounts {
    /// Into the pool.
    pub sold: [U256; 2],
    /// Out of it.
    pub bought: [U256; 2],
}

/// The price that a swap in ranges left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PriceAfter {
    /// √price, Q64.96.
    pub sqrt_price_x96: U256,
    /// The tick.
    pub tick: i32,
    /// The active liquidity.
    pub liquidity: u128,
}

/// What kind of swap it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SwapKind {
    /// One token for the other.
    Sale { direction: Direction, amount_in: U256, amount_out: U256 },
    /// Both tokens went in, or out: no sale of one of them.
    TwoSided,
    /// Nothing went in, or nothing came out.
    Zero,
}

impl SwapAmounts {
    pub(super) fn kind(&self) -> SwapKind {
        let has = |amounts: [U256; 2]| amounts.map(|amount| !amount.is_zero());
        match (has(self.sold), has(self.bought)) {
            ([true, false], [false, true]) => self.sale(Direction::ZeroForOne),
            ([false, true], [true, false]) => self.sale(Direction::OneForZero),
            ([false, false], _) | (_, [false, false]) => SwapKind::Zero,
            _ => SwapKind::TwoSided,
        }
    }

    /// Which token was sold, where one was for the other.
    pub(super) fn direction(&self) -> Option<Direction> {
        match self.kind() {
            SwapKind::Sale { direction, .. } => Some(direction),
            SwapKind::TwoSided | SwapKind::Zero => None,
        }
    }

    fn sale(&self, direction: Direction) -> SwapKind {
        SwapKind::Sale {
            direction,
            amount_in: self.sold[direction.base_index()],
            amount_out: self.bought[direction.quote_index()],
        }
    }
}
