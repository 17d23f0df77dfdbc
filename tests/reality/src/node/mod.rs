//! Swaps in blocks of a node, judged like the recorded ones: `cargo xtask reality`.
//!
//! - `rpc`: requests; `block`: headers and logs; `events`: what logs say; `pool`: kinds and states
//! - `follow`: a pool's swaps in a block, one after the other; `tally`: how many ended how
//!
//! A pool is known by its code alone, so no factory has to be configured. Its state is read at the hash of the block before, and
//! its own logs lead from there to each swap.

mod block;
mod events;
mod follow;
mod pool;
mod rpc;
mod tally;

use std::collections::BTreeMap;

use exitgap_core::ids::Address;
use exitgap_core::pools::MAX_TICK;
use exitgap_core::proof::TickRange;
use serde_json::json;

use block::{Header, Logs};
use events::Event;
use follow::{Logged, PoolLogs};
use pool::{Kind, Words};
pub use rpc::{Node, NodeError};
pub use tally::Tally;

/// Which blocks are judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Range {
    /// How many.
    pub blocks: u64,
    /// The last one: a number, or a node's name of one.
    pub last: String,
}

/// Judges every swap in a range of blocks. `progress` is called after each.
pub async fn judge(
    node: &Node,
    range: &Range,
    progress: &mut dyn FnMut(u64, &Tally),
) -> Result<Tally, NodeError> {
    let chain: alloy::primitives::U64 = node.ask("eth_chainId", json!([])).await?;
    let last = Header::by_name(node, &range.last).await?.block.number;
    let first = (last + 1).saturating_sub(range.blocks).max(1);
    let mut tally = Tally::new(chain.to::<u64>(), [first, last]);
    let mut kinds = BTreeMap::new();
    let mut parent = Header::at(node, first - 1).await?;
    for number in first..=last {
        let header = Header::at(node, number).await?;
        if header.block.parent != parent.block.hash {
            let words = format!("block {number} does not follow block {}", number - 1);
            return Err(NodeError::Contradiction(words));
        }
        let logs = header.logs(node).await?;
        judge_block(node, &parent, &logs, &mut kinds, &mut tally).await?;
        progress(number, &tally);
        parent = header;
    }
    Ok(tally)
}

async fn judge_block(
    node: &Node,
    parent: &Header,
    Logs { logs, are_proven }: &Logs,
    kinds: &mut BTreeMap<Address, Kind>,
    tally: &mut Tally,
) -> Result<(), NodeError> {
    tally.add_block(*are_proven);
    let logged: Vec<Logged<'_>> =
        logs.iter().filter_map(|log| Some(Logged { log, event: Event::from_log(log)? })).collect();
    let is_swap = |event: &Event| matches!(event, Event::PairSwap(_) | Event::RangeSwap(_));
    let mut pools: Vec<Address> = Vec::new();
    for Logged { log, event } in &logged {
        match event {
            Event::OtherSwap(kind) => tally.add_unknown(kind),
            event if is_swap(event) && !pools.contains(&log.address) => pools.push(log.address),
            _ => {}
        }
    }
    for pool in pools {
        let kind = match kinds.get(&pool) {
            Some(kind) => *kind,
            None => *kinds.entry(pool).or_insert(Kind::identify(node, pool, parent).await?),
        };
        let own = PoolLogs { pool, number: parent.block.number + 1, logged: &logged };
        if kind == Kind::Unknown {
            own.swaps().for_each(|event| tally.add_unknown(follow::name_of(event)));
            continue;
        }
        let range = match kind {
            Kind::Ranges(_) => range_of(Kind::tick(node, pool, parent).await?, &own),
            _ => TickRange::ALL,
        };
        let reading = kind.read_state(node, (pool, tally.chain()), parent, range).await?;
        let Some(reading) = reading else {
            own.swaps().for_each(|_| tally.refuse("too_many_words"));
            continue;
        };
        tally.add_state(reading.is_proven);
        if let Words::Ranges { tick, .. } = reading.words
            && !range.covers(TickRange { low: tick, high: tick })
        {
            let words = format!("the tick of {pool} is not the one that it answered before");
            return Err(NodeError::Contradiction(words));
        }
        own.judge(kind, &reading.words, tally);
    }
    Ok(())
}

/// The ticks that a pool's swaps in a block may have crossed: from the one before to those after.
fn range_of(before: i32, own: &PoolLogs<'_>) -> TickRange {
    let (mut low, mut high) = (before, before);
    for event in own.swaps() {
        if let Event::RangeSwap(swap) = event {
            (low, high) = (low.min(swap.tick), high.max(swap.tick));
        }
    }
    TickRange { low: low.max(-MAX_TICK), high: high.min(MAX_TICK) }
}
