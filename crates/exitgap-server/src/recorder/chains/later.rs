//! Requests to the chains' readers after the slot is published: proofs, anchors, and the blocks of earlier slots.

use exitgap_chain::ReadFailure;
use exitgap_core::snapshot::Snapshot;
use tokio::runtime::Handle;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};

use super::super::recheck::{Due, Hashes};
use super::super::source::SlotReader;
use super::{Chain, MARGIN};

/// The chain's current blocks at the numbers of earlier slots' blocks.
pub type Canonical = Vec<(Due, Hashes)>;

/// Requests whole-pool proofs of these snapshots from the chains' nodes, until `deadline`; returns the result for each.
pub async fn prove_whole<R: SlotReader>(
    chains: &mut [Chain<R>],
    due: Vec<Vec<Snapshot>>,
    deadline: Instant,
) -> Vec<(Snapshot, Result<Vec<u8>, String>)> {
    let mut tasks = JoinSet::new();
    for (place, (chain, due)) in chains.iter_mut().zip(due).enumerate() {
        let Some(reader) = chain.reader.take_if(|_| !due.is_empty()) else { continue };
        let runtime = Handle::current();
        tasks.spawn_blocking(move || {
            let (reader, made) = runtime.block_on(prove_each(reader, due, deadline));
            (place, reader, made)
        });
    }
    let mut all = Vec::new();
    // A reader that does not come back is made anew.
    while let Ok(Some(ended)) = timeout_at(deadline, tasks.join_next()).await {
        if let Ok((place, reader, made)) = ended {
            chains[place].reader = Some(reader);
            all.extend(made);
        }
    }
    all
}

async fn prove_each<R: SlotReader>(
    reader: R,
    due: Vec<Snapshot>,
    deadline: Instant,
) -> (R, Vec<(Snapshot, Result<Vec<u8>, String>)>) {
    let left = deadline.saturating_duration_since(Instant::now());
    let until = deadline - MARGIN.min(left / 4);
    let mut made = Vec::with_capacity(due.len());
    // One after the other: a whole pool has many storage words, and the node has other clients.
    for snapshot in due {
        let proven = timeout_at(until, reader.prove_whole(&snapshot, until)).await;
        let late = || "no time was left".to_owned();
        made.push((snapshot, proven.unwrap_or_else(|_| Err(late()))));
    }
    (reader, made)
}

/// Requests the proof of a day's anchors from a chain's nodes, until `deadline`.
pub async fn prove_anchors<R: SlotReader>(
    chain: &mut Chain<R>,
    day: u32,
    from: u64,
    blocks: Vec<u64>,
    deadline: Instant,
) -> Result<Vec<u8>, String> {
    let late = || "no time was left".to_owned();
    let reader = chain.reader.take().ok_or("the chain has no reader")?;
    let runtime = Handle::current();
    let left = deadline.saturating_duration_since(Instant::now());
    let until = deadline - MARGIN.min(left / 4);
    let making = tokio::task::spawn_blocking(move || {
        let asked = timeout_at(until, reader.anchors(day, from, &blocks, until));
        let made = runtime.block_on(asked);
        (reader, made)
    });
    // A reader that does not come back is made anew.
    let Ok(Ok((reader, made))) = timeout_at(deadline, making).await else { return Err(late()) };
    chain.reader = Some(reader);
    made.unwrap_or_else(|_| Err(late()))
}

/// Requests the blocks of earlier slots from the chains, until `deadline`. If the time does not suffice for all blocks
/// of a slot, this slot and later ones are left out.
pub async fn read_canonical<R: SlotReader>(
    chains: &mut [Chain<R>],
    due: Vec<Vec<Due>>,
    deadline: Instant,
) -> Vec<Canonical> {
    let mut found: Vec<Canonical> = chains.iter().map(|_| Vec::new()).collect();
    let mut tasks = JoinSet::new();
    for (place, (chain, due)) in chains.iter_mut().zip(due).enumerate() {
        let Some(reader) = chain.reader.take_if(|_| !due.is_empty()) else { continue };
        let runtime = Handle::current();
        tasks.spawn_blocking(move || {
            let (reader, canonical) = runtime.block_on(read_blocks(reader, due, deadline));
            (place, reader, canonical)
        });
    }
    // A reader that does not come back is made anew.
    while let Ok(Some(ended)) = timeout_at(deadline, tasks.join_next()).await {
        if let Ok((place, reader, canonical)) = ended {
            chains[place].reader = Some(reader);
            found[place] = canonical;
        }
    }
    found
}

async fn read_blocks<R: SlotReader>(reader: R, due: Vec<Due>, deadline: Instant) -> (R, Canonical) {
    let left = deadline.saturating_duration_since(Instant::now());
    let until = deadline - MARGIN.min(left / 4);
    let mut canonical = Vec::with_capacity(due.len());
    for due in due {
        match timeout_at(until, hashes_of(&reader, &due, until)).await {
            Ok(Ok(hashes)) => canonical.push((due, hashes)),
            Ok(Err(missing)) => {
                tracing::warn!(slot = %due.slot, %missing, "earlier slots are rechecked later");
                break;
            }
            Err(_) => break,
        }
    }
    (reader, canonical)
}

/// The chain's blocks at the numbers of the slot's blocks; where it has a different block, also checked against its
/// successor's parent hash, and the second node's answer.
async fn hashes_of<R: SlotReader>(
    reader: &R,
    due: &Due,
    until: Instant,
) -> Result<Hashes, ReadFailure> {
    let mut hashes = Hashes::default();
    for (number, recorded) in &due.blocks {
        let mut hash = reader.canonical_hash(*number, until).await?;
        if hash != *recorded {
            hash = reader.linked_hash(*number, until).await?;
            let second = reader.second_hash(*number, until).await;
            hashes.second.extend(second.map(|second| (*number, second)));
        }
        hashes.canonical.insert(*number, hash);
    }
    Ok(hashes)
}
