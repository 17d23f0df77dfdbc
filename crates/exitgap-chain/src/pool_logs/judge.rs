//! Decides which logs in a node's answer are accepted. Each pool and each block is judged separately, so that one
//! pool's contract, or a node that garbles one pool's logs, does not block the logs of other pools.

use std::collections::{BTreeMap, BTreeSet};

use exitgap_core::analytics::accuracy::{PoolLog, check_logs};
use exitgap_core::ids::Address;

/// Why logs of a pool cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum LogFault {
    /// It is not a log: a field has another type or length.
    #[error("a log has a field of another type or length")]
    Malformed,
    /// The log's block is not one of those requested, it has no index, or it was removed.
    #[error("a log has no place in the requested blocks")]
    NoPlace,
    /// Its topics or data do not match its event.
    #[error("a log's topics or data do not fit its event")]
    DataInvalid,
    /// Values that no pool can log: a tick outside the scale, or liquidity above its maximum.
    #[error("a log's values are outside the bounds of a pool")]
    OutOfBounds,
    /// Two different logs of one block have the same index.
    #[error("two different logs of a block have the same index")]
    PlaceRepeated,
    /// The order of the indices differs from the order of the transactions.
    #[error("the log indices of a block are counted per transaction")]
    IndexPerTransaction,
    /// No node returns the logs of this single block.
    #[error("the logs of one block are more than the nodes serve")]
    TooLarge,
}

impl LogFault {
    /// The stable code, for metrics.
    pub fn code(self) -> &'static str {
        match self {
            Self::Malformed => "malformed",
            Self::NoPlace => "no_place",
            Self::DataInvalid => "data_invalid",
            Self::OutOfBounds => "out_of_bounds",
            Self::PlaceRepeated => "place_repeated",
            Self::IndexPerTransaction => "index_per_transaction",
            Self::TooLarge => "too_large",
        }
    }
}

/// Blocks whose logs of a pool cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnreadLogs {
    /// The first of them.
    pub first_block: u64,
    /// The last of them.
    pub last_block: u64,
    /// The fault in the first of them.
    pub fault: LogFault,
}

impl UnreadLogs {
    /// Adds these blocks to others, which are apart from each other. Those that touch are one, for the reason of the first.
    pub(super) fn add_to(self, all: &mut Vec<Self>) {
        let touches = |other: &Self| {
            other.first_block <= self.last_block.saturating_add(1)
                && self.first_block <= other.last_block.saturating_add(1)
        };
        let (touching, mut others): (Vec<Self>, Vec<Self>) = all.iter().copied().partition(touches);
        let one = touching.into_iter().fold(self, |one, other| {
            let first = if other.first_block <= one.first_block { other } else { one };
            Self { last_block: one.last_block.max(other.last_block), ..first }
        });
        others.push(one);
        others.sort_unstable_by_key(|unread| unread.first_block);
        *all = others;
    }
}

/// A log of a pool as answered by a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AnsweredLog {
    pub(super) pool: Address,
    /// The index of its transaction in the block, if the node returns it.
    pub(super) transaction_index: Option<u64>,
    /// The log, or its block, if known, with the fault.
    pub(super) log: Result<PoolLog, (Option<u64>, LogFault)>,
}

/// The accepted part of an answer.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Judged {
    /// By pool, in chain order, without logs of unread blocks.
    pub(super) logs: BTreeMap<Address, Vec<PoolLog>>,
    /// By pool: ascending, and apart from each other.
    pub(super) unread: BTreeMap<Address, Vec<UnreadLogs>>,
}

impl Judged {
    /// Judges the logs of an answer about the blocks `from` to `to`. Duplicate logs count once.
    pub(super) fn of(answered: Vec<AnsweredLog>, [from, to]: [u64; 2]) -> Self {
        let mut judged = Self::default();
        let mut by_block: BTreeMap<u64, Vec<Placed>> = BTreeMap::new();
        for AnsweredLog { pool, transaction_index, log } in answered {
            match log {
                Ok(log) => {
                    let block = log.block;
                    by_block.entry(block).or_default().push(Placed {
                        pool,
                        transaction_index,
                        log,
                    });
                }
                Err((Some(block), fault)) => judged.leave_unread(pool, [block; 2], fault),
                Err((None, fault)) => judged.leave_unread(pool, [from, to], fault),
            }
        }
        for (block, logs) in by_block {
            judged.add_block(block, logs);
        }
        judged
    }

    /// Adds the logs of one block.
    fn add_block(&mut self, block: u64, mut logs: Vec<Placed>) {
        logs.sort_by_key(|placed| (placed.log.index, placed.pool));
        logs.dedup_by(|a, b| a.pool == b.pool && a.log == b.log);
        if let Some(fault) = wrong_order(&logs) {
            // It is unknown which of the logs are in the right position.
            let pools: BTreeSet<Address> = logs.iter().map(|placed| placed.pool).collect();
            for pool in pools {
                self.leave_unread(pool, [block; 2], fault);
            }
            return;
        }
        let mut by_pool: BTreeMap<Address, Vec<PoolLog>> = BTreeMap::new();
        for Placed { pool, log, .. } in logs {
            by_pool.entry(pool).or_default().push(log);
        }
        for (pool, logs) in by_pool {
            let is_unread = self.first_unread(pool).is_some_and(|first| first <= block);
            if check_logs(&logs, block.saturating_sub(1), block).is_err() {
                self.leave_unread(pool, [block; 2], LogFault::OutOfBounds);
            } else if !is_unread {
                self.logs.entry(pool).or_default().extend(logs);
            }
        }
    }

    /// Marks blocks of a pool as unread, and removes its logs from there on.
    pub(super) fn leave_unread(
        &mut self,
        pool: Address,
        [first_block, last_block]: [u64; 2],
        fault: LogFault,
    ) {
        let unread = UnreadLogs { first_block, last_block, fault };
        unread.add_to(self.unread.entry(pool).or_default());
        if let Some(logs) = self.logs.get_mut(&pool) {
            logs.retain(|log| log.block < first_block);
        }
    }

    /// The first block of a pool that is unread.
    fn first_unread(&self, pool: Address) -> Option<u64> {
        self.unread.get(&pool)?.first().map(|unread| unread.first_block)
    }

    /// Uses another node's answer for pools with unread logs if it reaches further.
    pub(super) fn replace(&mut self, mut other: Self, pools: &BTreeSet<Address>) {
        for pool in pools {
            let better = match (self.first_unread(*pool), other.first_unread(*pool)) {
                (Some(_), None) => true,
                (Some(ours), Some(theirs)) => theirs > ours,
                (None, _) => false,
            };
            if !better {
                continue;
            }
            self.logs.remove(pool);
            self.unread.remove(pool);
            self.logs.extend(other.logs.remove_entry(pool));
            self.unread.extend(other.unread.remove_entry(pool));
        }
    }
}

/// A log with its position.
struct Placed {
    pool: Address,
    transaction_index: Option<u64>,
    log: PoolLog,
}

/// The fault in the order of a block's logs, which are sorted by index.
fn wrong_order(logs: &[Placed]) -> Option<LogFault> {
    logs.windows(2).find_map(|two| {
        let [before, after] = two else { return None };
        let other_transaction = before.log.transaction != after.log.transaction;
        if before.log.index == after.log.index {
            let per_transaction = other_transaction
                && before.transaction_index.is_some()
                && before.transaction_index != after.transaction_index;
            return Some(if per_transaction {
                LogFault::IndexPerTransaction
            } else {
                LogFault::PlaceRepeated
            });
        }
        let earlier = before.transaction_index.zip(after.transaction_index);
        earlier.filter(|(before, after)| after < before).map(|_| LogFault::IndexPerTransaction)
    })
}

#[cfg(test)]
mod tests {
    use exitgap_core::U256;
    use exitgap_core::analytics::accuracy::{PoolEvent, PriceAfter, SwapAmounts};

    use super::*;

    const ONE: Address = Address([1; 20]);
    const TWO: Address = Address([2; 20]);

    fn swap(pool: Address, block: u64, index: u32, transaction: u8) -> AnsweredLog {
        let sold = [U256::from(u64::from(index) + 1), U256::ZERO];
        let amounts = SwapAmounts { sold, bought: [U256::ZERO, U256::from(4_u8)] };
        let (transaction, parties) = ([transaction; 32], [pool; 2]);
        let event = PoolEvent::Swap(amounts, None);
        let log = PoolLog { block, index, transaction, parties, event };
        AnsweredLog { pool, transaction_index: Some(u64::from(log.transaction[0])), log: Ok(log) }
    }

    fn with_tick(mut answered: AnsweredLog, tick: i32) -> AnsweredLog {
        let price = PriceAfter { sqrt_price_x96: U256::from(7_u8), tick, liquidity: 1 };
        if let Ok(PoolLog { event: PoolEvent::Swap(_, after), .. }) = &mut answered.log {
            *after = Some(price);
        }
        answered
    }

    fn places(judged: &Judged, pool: Address) -> Vec<(u64, u32)> {
        let logs = judged.logs.get(&pool).map(Vec::as_slice).unwrap_or_default();
        logs.iter().map(|log| (log.block, log.index)).collect()
    }

    fn unread(judged: &Judged, pool: Address) -> Option<(u64, u64, LogFault)> {
        let [unread] = judged.unread.get(&pool)?[..] else { panic!("{:?}", judged.unread) };
        Some((unread.first_block, unread.last_block, unread.fault))
    }

    #[test]
    fn a_log_that_is_there_twice_counts_once() {
        let once = [swap(ONE, 5, 3, 1), swap(TWO, 5, 4, 2), swap(ONE, 6, 0, 1)];
        let twice = once.iter().rev().chain(&once).cloned().collect();
        let judged = Judged::of(twice, [5, 9]);
        assert_eq!(judged, Judged::of(once.to_vec(), [5, 9]));
        assert_eq!(places(&judged, ONE), [(5, 3), (6, 0)]);
        assert!(judged.unread.is_empty());
    }

    #[test]
    fn indices_that_are_counted_per_transaction_are_not_believed() {
        // The same index in two transactions.
        let judged = Judged::of(vec![swap(ONE, 5, 0, 1), swap(ONE, 5, 0, 2)], [5, 9]);
        assert_eq!(unread(&judged, ONE), Some((5, 5, LogFault::IndexPerTransaction)));
        assert!(places(&judged, ONE).is_empty());
        // The order of indices differs from that of the transactions, in the logs of two pools.
        let later = swap(ONE, 6, 1, 1);
        let judged = Judged::of(vec![swap(ONE, 5, 7, 1), swap(TWO, 5, 2, 2), later], [5, 9]);
        assert_eq!(unread(&judged, ONE), Some((5, 5, LogFault::IndexPerTransaction)));
        assert_eq!(unread(&judged, TWO), Some((5, 5, LogFault::IndexPerTransaction)));
        assert!(places(&judged, ONE).is_empty(), "what follows is read once the block was");
        // Two different logs of one transaction with the same index.
        let mut other = swap(ONE, 5, 3, 1);
        other = with_tick(other, 1);
        let judged = Judged::of(vec![swap(ONE, 5, 3, 1), other], [5, 9]);
        assert_eq!(unread(&judged, ONE), Some((5, 5, LogFault::PlaceRepeated)));
    }

    #[test]
    fn what_a_contract_cannot_have_meant_leaves_that_pool_unread_from_there_on() {
        let wrong = with_tick(swap(ONE, 6, 1, 3), 8_388_607);
        let answered = vec![
            swap(ONE, 5, 1, 1),
            wrong,
            swap(ONE, 7, 1, 1),
            swap(TWO, 6, 2, 3),
            swap(TWO, 7, 2, 2),
        ];
        let judged = Judged::of(answered, [5, 9]);
        assert_eq!(unread(&judged, ONE), Some((6, 6, LogFault::OutOfBounds)));
        assert_eq!(places(&judged, ONE), [(5, 1)]);
        assert_eq!(places(&judged, TWO), [(6, 2), (7, 2)]);
        assert_eq!(unread(&judged, TWO), None);
        // As a control, the largest valid tick.
        let judged = Judged::of(vec![with_tick(swap(ONE, 6, 1, 3), 887_272)], [5, 9]);
        assert_eq!(places(&judged, ONE), [(6, 1)]);
        // A log without a block makes all blocks unread.
        let placeless = |fault| AnsweredLog { log: Err((None, fault)), ..swap(ONE, 5, 0, 1) };
        let judged = Judged::of(vec![swap(ONE, 5, 1, 1), placeless(LogFault::NoPlace)], [5, 9]);
        assert_eq!(unread(&judged, ONE), Some((5, 9, LogFault::NoPlace)));
        assert!(places(&judged, ONE).is_empty());
    }

    #[test]
    fn another_nodes_answer_counts_where_it_is_better() {
        let bad = with_tick(swap(ONE, 6, 1, 3), 8_388_607);
        let mut judged = Judged::of(vec![bad.clone(), swap(TWO, 6, 2, 3)], [5, 9]);
        let pools = BTreeSet::from([ONE]);
        judged.replace(Judged::of(vec![bad], [5, 9]), &pools);
        assert!(judged.unread.contains_key(&ONE));
        judged.replace(Judged::of(vec![swap(ONE, 6, 1, 3), swap(TWO, 8, 0, 0)], [5, 9]), &pools);
        assert_eq!((places(&judged, ONE), unread(&judged, ONE)), (vec![(6, 1)], None));
        assert_eq!(places(&judged, TWO), [(6, 2)]);
    }
}
