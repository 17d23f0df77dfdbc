//! What the checks of logs cost for a slot, measured at one node.

use std::collections::BTreeSet;

use alloy::primitives::B256;
use alloy::sol_types::SolEvent;
use alloy_rpc_types_eth::Log;
use exitgap_core::ids::Address;
use exitgap_core::snapshot::BlockRef;
use serde_json::json;
use serde_json::value::RawValue;
use tokio::time::Instant;

use super::{
    MAX_HEADERS, MAX_RECEIPT_BLOCKS, PoolBloom, Unchecked, linked_headers, logs_by_receipts,
    most_reread,
};
use crate::abi::{V3Pool, own};
use crate::config::LogsCheck;
use crate::limits::MAX_NAMED;
use crate::pools::Watch;
use crate::rpc::{Failure, Rpc, value};

/// The events that change the ticks of most pools.
const TICK_EVENTS: [B256; 2] = [V3Pool::Mint::SIGNATURE_HASH, V3Pool::Burn::SIGNATURE_HASH];

/// What each check of the logs of some contracts costs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ChecksCost {
    /// Blocks of the slot, each a request for its header.
    pub(crate) blocks: u64,
    /// The length of the answers.
    pub(crate) header_bytes: usize,
    /// Contracts that blooms name without a log: they would be read in full without cause.
    pub(crate) named: usize,
    /// The number of requests for receipts, and the length of the answers; or why they are not served.
    pub(crate) receipts: Result<(usize, usize), String>,
}

impl ChecksCost {
    /// The check that [`LogsCheck::Auto`] uses for so many contracts; `None`: no check.
    pub(crate) fn chosen(&self, contracts: usize) -> Option<LogsCheck> {
        if self.named <= most_reread(contracts) {
            return Some(LogsCheck::Blooms);
        }
        (self.blocks <= MAX_RECEIPT_BLOCKS && self.receipts.is_ok()).then_some(LogsCheck::Receipts)
    }
}

/// Measures the checks over so many blocks up to this one. The error says why logs cannot be checked.
pub(crate) async fn measure(
    rpc: &Rpc,
    contracts: &[Address],
    last: BlockRef,
    count: u64,
    deadline: Instant,
) -> Result<ChecksCost, String> {
    let count = count.clamp(1, last.number.max(1));
    if count > MAX_HEADERS {
        return Err(format!("a slot has {count} blocks, more than {MAX_HEADERS}"));
    }
    let first = last.number + 1 - count;
    let headers = linked_headers(rpc, first, last, deadline).await;
    let headers = headers.map_err(|Unchecked { why, .. }| why)?;
    let logged = logged_in(rpc, contracts, [first, last.number], deadline).await;
    let logged = logged.map_err(|failure| failure.detail)?;
    let (mut named, mut receipts, mut refused) = (BTreeSet::new(), (0, 0), None);
    let emitters: BTreeSet<Address> = contracts.iter().copied().collect();
    let bloom = |emitter| PoolBloom::of(&Watch { emitter, events: TICK_EVENTS.to_vec(), id: None });
    let blooms: Vec<_> = emitters.iter().map(|emitter| (*emitter, bloom(*emitter))).collect();
    for header in &headers {
        let number = header.header.block.number;
        let of_block = blooms.iter().filter(|(_, bloom)| bloom.is_named_by(&header.bloom));
        let of_block: Vec<Address> = of_block.map(|(contract, _)| *contract).collect();
        if !of_block.is_empty() && refused.is_none() {
            match logs_by_receipts(rpc, header, &emitters, deadline).await {
                Ok(block) => receipts = (receipts.0 + 1, receipts.1 + block.answer_bytes),
                Err(failure) => refused = Some(failure.detail),
            }
        }
        named.extend(of_block.into_iter().filter(|one| !logged.contains(&(*one, number))));
    }
    let header_bytes = headers.iter().map(|header| header.answer_bytes).sum();
    let receipts = refused.map_or(Ok(receipts), Err);
    Ok(ChecksCost { blocks: count, header_bytes, named: named.len(), receipts })
}

/// In which blocks these contracts logged such events, as the node says.
async fn logged_in(
    rpc: &Rpc,
    contracts: &[Address],
    [from, to]: [u64; 2],
    deadline: Instant,
) -> Result<BTreeSet<(Address, u64)>, Failure> {
    let contracts = contracts.iter().take(MAX_NAMED);
    let addresses: Vec<String> = contracts.map(ToString::to_string).collect();
    let params = json!([{
        "fromBlock": format!("{from:#x}"), "toBlock": format!("{to:#x}"),
        "address": addresses, "topics": [TICK_EVENTS],
    }]);
    let read = |raw: &RawValue| {
        let logs = value::<Vec<Log>>(raw)?;
        Ok(logs.iter().filter_map(|log| Some((own(log.address()), log.block_number?))).collect())
    };
    rpc.request("eth_getLogs", &params, deadline, read).await
}
