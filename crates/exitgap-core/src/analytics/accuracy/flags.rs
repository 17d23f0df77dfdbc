//! What stood around a swap. A flag excludes nothing: flagged swaps are compared like all others, and counted.

use super::{PoolEvent, PoolLog};
use crate::ids::Address;

/// Whoever is not told.
const NOBODY: Address = Address([0; 20]);

/// What stood around one swap, by the pool's own logs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SwapFlags {
    /// Its transaction swapped in the pool more than once.
    pub same_tx: bool,
    /// In its block liquidity came into a range before it and left that range after it, of one owner.
    pub jit: bool,
    /// In its block one who is party to both swapped before it, and the other way after it, at most two
    /// transactions of the pool away on either side.
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

/// Transactions of the pool on either side of a swap that are looked at.
const REACH: usize = 2;

impl SwapsFlagged {
    pub(super) fn count(&mut self, flags: SwapFlags) {
        self.same_tx += u32::from(flags.same_tx);
        self.jit += u32::from(flags.jit);
        self.sandwich_suspected += u32::from(flags.sandwich_suspected);
    }
}

/// The flags of the swap at this place of a stretch's logs, which ascend.
pub(super) fn flags_of(logs: &[PoolLog], place: usize) -> SwapFlags {
    let swap = &logs[place];
    let first = logs.partition_point(|log| log.block < swap.block);
    let end = logs.partition_point(|log| log.block <= swap.block);
    let (before, after) = (&logs[first..place], &logs[place + 1..end]);
    let is_swap = |log: &&PoolLog| matches!(log.event, PoolEvent::Swap(..));
    let others = before.iter().chain(after).filter(is_swap);
    SwapFlags {
        same_tx: others.clone().any(|log| log.transaction == swap.transaction),
        jit: before.iter().any(|come| after.iter().any(|left| is_jit(come, left))),
        sandwich_suspected: is_between(swap, before, after),
    }
}

/// Whether one log takes out of a range what another put into it.
fn is_jit(come: &PoolLog, left: &PoolLog) -> bool {
    let range = |log: &PoolLog| match log.event {
        PoolEvent::Liquidity { lower, upper, delta } => Some(([lower, upper], delta)),
        _ => None,
    };
    let (Some((into, put)), Some((of, taken))) = (range(come), range(left)) else { return false };
    come.parties[0] == left.parties[0] && into == of && put > 0 && taken < 0
}

fn is_between(swap: &PoolLog, before: &[PoolLog], after: &[PoolLog]) -> bool {
    let near = |logs: &mut dyn Iterator<Item = &PoolLog>| {
        let (mut seen, mut found) = (Vec::new(), Vec::new());
        for log in logs.filter(|log| log.transaction != swap.transaction) {
            if !seen.contains(&log.transaction) {
                seen.push(log.transaction);
            }
            if seen.len() > REACH {
                break;
            }
            let PoolEvent::Swap(amounts, _) = &log.event else { continue };
            found.extend(amounts.direction().map(|direction| (direction, log.parties)));
        }
        found
    };
    let earlier = near(&mut before.iter().rev());
    let later = near(&mut after.iter());
    let same =
        |a: [Address; 2], b: [Address; 2]| a.iter().any(|one| *one != NOBODY && b.contains(one));
    earlier.iter().any(|(direction, parties)| {
        later.iter().any(|(back, others)| back != direction && same(*parties, *others))
    })
}
