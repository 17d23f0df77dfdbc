//! Events that a pool's contract logged.

use crate::ids::Address;
use crate::pools::Direction;
use crate::stable_sort::sort;
use crate::wide::U256;

/// A log of a pool with its position in the chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolLog {
    /// The block's number.
    pub block: u64,
    /// The log's index in the block.
    pub index: u32,
    /// The transaction's hash.
    pub transaction: [u8; 32],
    /// The two parties. For a swap: sender and recipient. For liquidity: its owner or provider, and the recipient if
    /// the log names one. Address zero stands for a party that the log does not name.
    pub parties: [Address; 2],
    /// The event.
    pub event: PoolEvent,
}

/// The index of the first log that is out of chain order or outside the blocks after `after` and up to `up_to`. All
/// logs of one transaction must follow each other directly.
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

/// An event that a pool's contract logs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PoolEvent {
    /// A swap.
    Swap(SwapAmounts, Option<PriceAfter>),
    /// Liquidity added to a range, or removed from it if negative.
    Liquidity {
        /// The lower tick.
        lower: i32,
        /// The upper tick.
        upper: i32,
        /// The change of liquidity.
        delta: i128,
    },
    /// The reserves of a constant-product pair. The contract logs them before the event that changed them.
    Reserves([u128; 2]),
    /// Both tokens of a constant-product pair deposited for pool shares.
    Deposit([U256; 2]),
    /// Both tokens withdrawn in return for pool shares.
    Withdrawal([U256; 2]),
}

/// The amounts that a swap brought into the pool and took out of it, by token, in raw units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SwapAmounts {
    /// Into the pool.
    pub sold: [U256; 2],
    /// Out of it.
    pub bought: [U256; 2],
}

/// The price of a concentrated-liquidity pool after a swap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PriceAfter {
    /// √price, Q64.96.
    pub sqrt_price_x96: U256,
    /// The tick.
    pub tick: i32,
    /// The active liquidity.
    pub liquidity: u128,
}

/// The kinds of swaps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SwapKind {
    /// One token for the other.
    Sale { direction: Direction, amount_in: U256, amount_out: U256 },
    /// Both tokens went in, or both came out: not a sale of one token.
    TwoSided,
    /// The input or the output is zero.
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

    /// The direction, if one token was sold for the other.
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
