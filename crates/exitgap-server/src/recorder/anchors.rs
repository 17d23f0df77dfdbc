//! A day's anchors, published once the day is over and final: the chain's block hashes after each of its slots, derived
//! from a newer block (`exitgap-core/docs/anchors-v1.md`).

use std::time::Duration;

use exitgap_core::ids::{Caip2, ChainSlug, PoolId};
use exitgap_core::log_folder::LogFile;
use exitgap_core::proof::{Anchors, plan_hops};
use exitgap_core::series::Slot;
use exitgap_core::snapshot::BlockRef;
use exitgap_store::{LogFolder, Reader, StoreError};
use tokio::time::Instant;

use super::chains;
use super::source::SlotReader;
use super::{Recorder, RecorderError};

/// Time limit for a day's anchors, after a slot.
const ANCHOR_WITHIN: Duration = Duration::from_secs(30);

/// A failed day is retried after this many slots, an hour's. Retries end when the day is a day old.
const AGAIN_AFTER: u32 = Slot::PER_DAY / 24;

/// The progress of a chain's anchors.
#[derive(Debug, Default)]
pub struct AnchorProgress {
    /// The last finished day.
    done: Option<u32>,
    /// No retries before this slot.
    not_before: Option<Slot>,
}

impl AnchorProgress {
    /// The day to anchor after a slot: the one before the slot's own.
    fn due(&self, slot: Slot) -> Option<u32> {
        let day = slot.day().checked_sub(1).filter(|day| *day >= Slot::FIRST.day())?;
        let waits = self.not_before.is_some_and(|not_before| slot < not_before);
        (self.done < Some(day) && !waits).then_some(day)
    }
}

/// What must be proven for a day.
struct AnchorPlan {
    /// A recorded and final block after the day: the start of the file.
    from: BlockRef,
    /// The next blocks after those of the day's slots, ascending.
    blocks: Vec<u64>,
}

impl<R: SlotReader> Recorder<R> {
    /// Publishes the anchors of the day before `slot` for each chain that has none yet. Failures are logged and retried
    /// an hour later.
    pub(super) async fn publish_anchors(&mut self, slot: Slot) -> Result<(), RecorderError> {
        let Some(folder) = self.folder.clone().filter(|_| self.anchors) else { return Ok(()) };
        for place in 0..self.chains.len() {
            let Some(day) = self.chains[place].anchoring.due(slot) else { continue };
            let chain = self.chains[place].slug().clone();
            match self.anchor_day(&folder, place, day, slot).await? {
                // The day is not final yet: the next slot tries again.
                Ok(false) => {}
                Ok(true) => self.chains[place].anchoring.done = Some(day),
                Err(why) => {
                    tracing::warn!(%chain, day, why, "the day's anchors are not published yet; next attempt in an hour");
                    let again = u64::from(slot.number()) + u64::from(AGAIN_AFTER);
                    self.chains[place].anchoring.not_before = Slot::new(again).ok();
                }
            }
        }
        Ok(())
    }

    /// Whether a chain's day is finished; the error is a message.
    async fn anchor_day(
        &mut self,
        folder: &LogFolder,
        place: usize,
        day: u32,
        slot: Slot,
    ) -> Result<Result<bool, String>, RecorderError> {
        let chain = self.chains[place].slug().clone();
        let file = LogFile::Anchors(chain.clone(), day);
        let (at, named) = (folder.clone(), file.clone());
        let before = self.store.run_blocking(move |_| before(&at, &named, &chain, day)).await?;
        let before = match before {
            Ok(Before::There) => return Ok(Ok(true)),
            Ok(Before::Leads(number)) => number,
            Err(why) => return Ok(Err(why)),
        };
        let Some(confirmations) = self.chains[place].confirmations() else { return Ok(Ok(false)) };
        let pools: Vec<PoolId> =
            self.chains[place].pools().iter().map(|(pool, _)| pool.clone()).collect();
        let read = move |store: &mut exitgap_store::Store| {
            plan_anchors(store.reader(), &pools, day, slot, confirmations)
        };
        let wanted = match self.store.run_blocking(read).await? {
            Ok(Some(wanted)) => wanted,
            Ok(None) => return Ok(Ok(false)),
            Err(error) => return Ok(Err(error.to_string())),
        };
        if wanted.blocks.is_empty() {
            return Ok(Ok(true));
        }
        let made = self.anchors_of(place, day, &wanted, before).await;
        let written = match made {
            Ok(bytes) => {
                let folder = folder.clone();
                let write =
                    move |_: &mut exitgap_store::Store| folder.publish_beside(&file, &bytes);
                self.store.run_blocking(write).await?.map_err(|error| error.to_string())
            }
            Err(why) => Err(why),
        };
        if written.is_ok() {
            let (chain, blocks) = (self.chains[place].slug(), wanted.blocks.len());
            tracing::info!(%chain, day, blocks, from = wanted.from.number, "the day's anchors are published");
        }
        Ok(written.map(|()| true))
    }

    /// The file of a day, extended to the start of the newest earlier file. If that needs an additional hop for which
    /// the node proves no old enough state, the extension is left out: a reader then needs a trusted block of their own
    /// for older days.
    async fn anchors_of(
        &mut self,
        place: usize,
        day: u32,
        wanted: &AnchorPlan,
        before: Option<(Caip2, u64)>,
    ) -> Result<Vec<u8>, String> {
        let AnchorPlan { from, blocks } = wanted;
        let deadline = Instant::now() + ANCHOR_WITHIN;
        let (mut linked, mut takes_more) = (blocks.clone(), false);
        if let Some((chain, number)) = before.filter(|(_, number)| !blocks.contains(number)) {
            linked.insert(linked.partition_point(|block| *block < number), number);
            let hops = |blocks: &[u64]| {
                plan_hops(chain, from.number, blocks.iter().copied()).map(|hops| hops.len())
            };
            takes_more = hops(&linked) != hops(blocks);
        }
        let mut file = chains::prove_anchors(
            &mut self.chains[place],
            day,
            from.number,
            linked.clone(),
            deadline,
        )
        .await;
        if let Err(why) = &file
            && takes_more
        {
            let slug = self.chains[place].slug();
            tracing::warn!(chain = %slug, day, why, "the day's anchors do not link to those of the day before");
            let alone = blocks.clone();
            file =
                chains::prove_anchors(&mut self.chains[place], day, from.number, alone, deadline)
                    .await;
        }
        let file = file?;
        let read = Anchors::from_bytes(&file).map_err(|error| error.to_string())?;
        if read.from.hash == from.hash {
            return Ok(file);
        }
        let (number, own, found) = (from.number, from.hash, read.from.hash);
        Err(format!("the node has {found} at block {number}, but {own} was recorded"))
    }
}

/// What is already published.
enum Before {
    /// The day itself is published.
    There,
    /// The chain, and the start block of the newest published day before it, if there is one.
    Leads(Option<(Caip2, u64)>),
}

fn before(
    folder: &LogFolder,
    file: &LogFile,
    chain: &ChainSlug,
    day: u32,
) -> Result<Before, String> {
    if folder.has(file).map_err(|error| error.to_string())? {
        return Ok(Before::There);
    }
    let earlier = folder.anchors_before(chain, day).map_err(|error| error.to_string())?;
    let Some((earlier, bytes)) = earlier else { return Ok(Before::Leads(None)) };
    match Anchors::from_bytes(&bytes) {
        Ok(anchors) => Ok(Before::Leads(Some((anchors.chain, anchors.from.number)))),
        Err(error) => {
            tracing::error!(chain = %chain.as_str(), day = earlier, %error, "published anchors cannot be read, so newer anchors do not link to them");
            Ok(Before::Leads(None))
        }
    }
}

/// What must be proven for a day; `None`: no recorded block after it is final yet.
fn plan_anchors(
    reader: &Reader,
    pools: &[PoolId],
    day: u32,
    slot: Slot,
    confirmations: u32,
) -> Result<Option<AnchorPlan>, StoreError> {
    let of = |slot: u32| match Slot::new(slot.into()) {
        Ok(slot) => block_at(reader, pools, slot),
        Err(_) => Ok(None),
    };
    let after = (day + 1) * Slot::PER_DAY;
    let Some(newest) = of(slot.number())? else { return Ok(None) };
    let mut from = None;
    for later in (after..slot.number()).rev() {
        let Some(block) = of(later)? else { continue };
        if block.number.saturating_add(confirmations.into()) <= newest.number {
            from = Some(block);
            break;
        }
    }
    let Some(from) = from else { return Ok(None) };
    let mut blocks = Vec::new();
    for slot in after - Slot::PER_DAY..after {
        let next = of(slot)?.and_then(|block| block.number.checked_add(1));
        // The start block of the file needs no proof.
        blocks.extend(next.filter(|next| *next < from.number && blocks.last() < Some(next)));
    }
    Ok(Some(AnchorPlan { from, blocks }))
}

/// The block at which a chain's pools were read at a slot, according to the first pool that is not retracted.
fn block_at(reader: &Reader, pools: &[PoolId], slot: Slot) -> Result<Option<BlockRef>, StoreError> {
    for pool in pools {
        let Some(pool) = reader.pool(pool)? else { continue };
        if let Some(block) = reader.block_of(&pool, slot)?
            && reader.retraction_of(&pool, slot)?.is_none()
        {
            return Ok(Some(block));
        }
    }
    Ok(None)
}
