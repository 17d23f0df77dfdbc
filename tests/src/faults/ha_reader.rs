//! Each of two recorders also reads the one shard that they share: a reading that was reported to count must be in the
//! sealed slot, whichever recorder seals it, and even if the one that read it fails.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use exitgap_core::series::MissingReason;
use exitgap_store::shards::{HeldShard, Put, Share};
use exitgap_store::{Outcome, Reader, Store};

use super::Result;
use super::home::next_slot;
use super::scene::slot;
use super::writer::say;

/// The only shard.
const SHARD: &str = "all";
/// Polling interval for the next slot, and interval of the reader's heartbeat.
const LOOK_EVERY: Duration = Duration::from_millis(5);
const ATTEND_EVERY: Duration = Duration::from_millis(300);

/// How long the control takes to seal.
const SEALS_FOR: Duration = Duration::from_millis(20);

/// The readings of the first and the second recorder, and the entry if there is none.
const READ: [MissingReason; 2] = [MissingReason::RpcUnavailable, MissingReason::ChainLagging];
const UNREAD: MissingReason = MissingReason::DeadlineExceeded;

/// Reads until killed.
pub fn read(store: PathBuf, number: u32) {
    let read = move || {
        loop {
            // Failures are retried: the server may be killed, the connection cut.
            let _ = sitting(&store, number);
            std::thread::sleep(LOOK_EVERY);
        }
    };
    std::thread::spawn(read);
}

fn sitting(store: &Path, number: u32) -> Result<()> {
    let (share, reader) = (Share::open(store)?, Reader::open(store)?);
    let (mut attended, mut held): (Option<Instant>, Vec<HeldShard>) = (None, Vec::new());
    let mut read = None;
    loop {
        if attended.is_none_or(|at| at.elapsed() > ATTEND_EVERY) {
            attended = Some(Instant::now());
            held = share.attend(&[SHARD.to_owned()], true)?;
        }
        let next = next_slot(&reader)?;
        if let (Some(held), true) = (held.first(), read != Some(next)) {
            match share.put(slot(next), held, &[u8::try_from(number)?])? {
                Put::Counts => {
                    read = Some(next);
                    say(&format!("read {next}"))?;
                }
                Put::Frozen => read = Some(next),
                Put::TakenOver => attended = None,
            }
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

/// The reading of a slot, as the sealing recorder takes it; the control takes it without freezing the slot.
pub fn taken(store: &Store, n: u32, freezes: bool) -> Result<MissingReason> {
    if freezes {
        store.freeze(slot(n))?;
    }
    let reading = store.shard_reading(slot(n), SHARD)?;
    if !freezes {
        // As long as a slot of many pools takes from here to its commit.
        std::thread::sleep(SEALS_FOR);
    }
    let number = reading.and_then(|bytes| bytes.first().copied());
    Ok(number.and_then(|number| READ.get(usize::from(number)).copied()).unwrap_or(UNREAD))
}

/// Which of these slots with readings were sealed as if there were none.
pub fn lost(reader: &Reader, read: impl Iterator<Item = u32>) -> Result<Vec<u32>> {
    let pools = reader.pools()?;
    let pool = pools.first().ok_or("the store has no pool")?;
    let mut lost = Vec::new();
    for n in read {
        let entry = reader.entry(pool, slot(n))?;
        if entry.is_some_and(|entry| entry.outcome == Outcome::Missing(UNREAD)) {
            lost.push(n);
        }
    }
    Ok(lost)
}
