//! A day's anchors, once the day is over and final: which blocks the chain had after each of its slots, as it follows from a
//! newer one (`exitgap-core/docs/anchors-v1.md`).

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

/// How long a day's anchors may take, after a slot.
const ANCHOR_WITHIN: Duration = Duration::from_secs(30);

/// After so many slots a day that failed is tried again: those of an hour. It is tried until it is a day old.
const AGAIN_AFTER: u32 = Slot::PER_DAY / 24;

/// How far a chain's anchors have come.
#[derive(Debug, Default)]
pub struct AnchorProgress {
    /// The last day of which nothing is left to be done.
    done: Option<u32>,
    /// Before this slot nothing is tried again.
    not_before: Option<Slot>,
}

impl AnchorProgress {
    /// The day that is to be anchored after a slot: the one before the slot's own.
    fn due(&self, slot: Slot) -> Option<u32> {
        let day = slot.day().checked_sub(1).filter(|day| *day >= Slot::FIRST.day())?;
        let waits = self.not_before.is_some_and(|not_before| slot < not_before);
        (self.done < Some(day) && !waits).then_some(day)
    }
}

/// What is to be proven of a day.
struct AnchorPlan {
    /// A recorded block after the day that is final: where the file begins.
    from: BlockRef,
    /// The next blocks after those of the day's slots, ascending.
    blocks: Vec<u64>,
}

impl<R: SlotReader> Recorder<R> {
    /// Publishes the anchors of the day before `slot`, of each chain of which there are none yet. What fails is told and tried
    /// again an hour later.
    pub(super) async fn publish_anchors(&mut self, slot: Slot) -> Result<(), RecorderError> {
        let Some(folder) = self.folder.clone().filter(|_| self.anchors) else { return Ok(()) };
        for place in 0..self.chains.len() {
            let Some(day) = self.chains[place].anchoring.due(slot) else { continue };
            let chain = self.chains[place].slug().clone();
            match self.anchor_day(&folder, place, day, slot).await? {
                // The day is not final yet: the next slot asks again.
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

    /// Whether nothing is left to be done of a chain's day; in words, why it failed.
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

    /// The file of a day, which leads to where the newest earlier one begins, too. Where that takes a hop that the day alone
    /// does not, and the node proves no state so old, it is left out: a reader then needs a block of their own for what is older.
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

/// What is published already.
enum Before {
    /// The day itself.
    There,
    /// The chain of the newest day before it, where there is one, and the block at which that begins.
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

/// What is to be proven of a day; `None`: no recorded block after it is final yet.
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
        // The block that the file begins at needs no proof.
        blocks.extend(next.filter(|next| *next < from.number && blocks.last() < Some(next)));
    }
    Ok(Some(AnchorPlan { from, blocks }))
}

/// The block at which a chain's pools were read at a slot, as the first of them says of which that stands.
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
