//! Flags for suspicious surroundings of a swap. Flags exclude nothing: flagged swaps are compared like all others, and
//! counted.

use super::{PoolEvent, PoolLog};
use crate::ids::Address;
use crate::pools::Direction;
use crate::stable_sort::sort;

/// The address of a party that the log does not name.
const NOBODY: Address = Address([0; 20]);

/// The surroundings of one swap, according to the pool's own logs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SwapFlags {
    /// Its transaction swapped in the pool more than once.
    pub same_tx: bool,
    /// In the swap's block, one owner added liquidity to a range before the swap and removed it from that range after
    /// it.
    pub jit: bool,
    /// In the swap's block, the same party swapped before it and, in the opposite direction, after it, each within two
    /// of the pool's transactions.
    pub sandwich_suspected: bool,
}

/// How many of the compared swaps have each flag.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SwapsFlagged {
    /// See [`SwapFlags::same_tx`].
    pub same_tx: u32,
    /// See [`SwapFlags::jit`].
    pub jit: u32,
    /// See [`SwapFlags::sandwich_suspected`].
    pub sandwich_suspected: u32,
}

/// How many of the pool's transactions are examined on either side of a swap.
const REACH: usize = 2;

impl SwapsFlagged {
    pub(super) fn count(&mut self, flags: SwapFlags) {
        self.same_tx += u32::from(flags.same_tx);
        self.jit += u32::from(flags.jit);
        self.sandwich_suspected += u32::from(flags.sandwich_suspected);
    }
}

/// The flags of each log of an interval; the logs must be ascending. The flags of a log that is not a swap have no
/// meaning. The logs are untrusted, so the work is linear in their number, apart from sorting.
pub(super) fn flags_of(logs: &[PoolLog]) -> Vec<SwapFlags> {
    logs.chunk_by(|a, b| a.block == b.block).flat_map(of_block).collect()
}

fn of_block(logs: &[PoolLog]) -> Vec<SwapFlags> {
    let transactions: Vec<&[PoolLog]> =
        logs.chunk_by(|a, b| a.transaction == b.transaction).collect();
    let swappers: Vec<Vec<Swapper>> = transactions.iter().map(|logs| swappers_of(logs)).collect();
    let jit = within_jit(logs);
    let mut flags = Vec::with_capacity(logs.len());
    for (at, logs) in transactions.iter().enumerate() {
        let swaps = logs.iter().filter(|log| matches!(log.event, PoolEvent::Swap(..)));
        let (same_tx, sandwich_suspected) = (swaps.count() > 1, is_between(&swappers, at));
        for _ in *logs {
            flags.push(SwapFlags { same_tx, jit: jit[flags.len()], sandwich_suspected });
        }
    }
    flags
}

/// For each log of a block: whether one owner added liquidity to a range before it and removed it from that range after
/// it.
fn within_jit(logs: &[PoolLog]) -> Vec<bool> {
    let changed = |place: &usize| match logs[*place].event {
        PoolEvent::Liquidity { lower, upper, delta } => {
            Some((logs[*place].parties[0].0, lower, upper, *place, delta))
        }
        _ => None,
    };
    let mut changes: Vec<_> = (0..logs.len()).filter_map(|place| changed(&place)).collect();
    sort(&mut changes, |a, b| (a.0, a.1, a.2, a.3).cmp(&(b.0, b.1, b.2, b.3)));
    // The change, from one log to the next, in the number of such ranges that surround a log.
    let mut steps = vec![0_i32; logs.len() + 1];
    for of_range in changes.chunk_by(|a, b| (a.0, a.1, a.2) == (b.0, b.1, b.2)) {
        let put = of_range.iter().find(|(.., delta)| *delta > 0);
        let taken = of_range.iter().rfind(|(.., delta)| *delta < 0);
        if let (Some((.., put, _)), Some((.., taken, _))) = (put, taken)
            && put < taken
        {
            steps[put + 1] += 1;
            steps[*taken] -= 1;
        }
    }
    let around = steps.iter().scan(0, |around, step| {
        *around += step;
        Some(*around > 0)
    });
    around.take(logs.len()).collect()
}

/// The direction of a swap, and one of its parties.
type Swapper = (bool, [u8; 20]);

/// The parties and directions of all swaps in a transaction, sorted.
fn swappers_of(logs: &[PoolLog]) -> Vec<Swapper> {
    let mut found = Vec::new();
    for log in logs {
        let PoolEvent::Swap(amounts, _) = &log.event else { continue };
        let Some(direction) = amounts.direction() else { continue };
        let named = log.parties.iter().filter(|party| **party != NOBODY);
        found.extend(named.map(|party| (direction == Direction::ZeroForOne, party.0)));
    }
    sort(&mut found, Ord::cmp);
    found
}

/// Whether the same party swapped shortly before a transaction and, in the opposite direction, shortly after it.
fn is_between(swappers: &[Vec<Swapper>], at: usize) -> bool {
    let later = &swappers[at + 1..swappers.len().min(at + 1 + REACH)];
    let mut earlier = swappers[at.saturating_sub(REACH)..at].iter().flatten();
    earlier.any(|(way, who)| later.iter().any(|some| some.binary_search(&(!way, *who)).is_ok()))
}
