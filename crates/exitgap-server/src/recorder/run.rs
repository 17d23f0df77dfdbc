//! The loop that decides which slot is due when.

use std::future::pending;
use std::mem::discriminant;
use std::time::Duration;

use exitgap_core::series::{Slot, SlotError};
use exitgap_store::{PublishError, Store, StoreError};
use tokio::sync::watch;

use super::clock::Clock;
use super::source::SlotReader;
use super::{Recorder, RecorderError, SlotReport};

/// Delay from a slot's instant to its reading: the last block before the instant is only known once a later block
/// exists, which takes a moment.
pub const READ_AFTER: Duration = Duration::from_secs(2);

/// Polling interval for reopening a lost store.
const REOPEN_EVERY: Duration = Duration::from_secs(2);

/// The minimum time for which starting a reading is worthwhile.
pub const MIN_BUDGET: Duration = Duration::from_secs(2);

/// Whether and how the recorder should end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stop {
    /// Continue.
    #[default]
    No,
    /// Finish the slot in progress, within its deadline, and end.
    AfterSlot,
    /// End immediately; the slot in progress is dropped, or completely written if its transaction has begun.
    Now,
}

/// What is due according to the clock.
#[derive(Debug, PartialEq, Eq)]
enum Due {
    /// Record this slot within this time.
    Record(Slot, Duration),
    /// Nothing until this time.
    Wait(Duration),
}

impl<R: SlotReader> Recorder<R> {
    /// Records every slot as it comes, until `stop` asks for the end or `until` is recorded.
    ///
    /// The clock may jump. Ahead: the skipped slots are `recorder_down`, but no slot is written unless a chain has a
    /// block at or after its instant, or enough time has passed on the monotonic clock since such a block was last
    /// seen. Back: nothing is due until the slot after the store's last.
    ///
    /// Continues if a slot could not be written and nothing of it was ([`StoreError::Database`],
    /// [`StoreError::NotClaimed`], [`StoreError::ClockDiffers`], and whatever the store rejects in the readings,
    /// [`StoreError::is_of_entries`]). Ends with any other error of a store in a file, such as a failed commit; the
    /// next start then opens the store again. A lost store on a server is reopened here, and waited for while another
    /// recorder seals; what was claimed is sealed first.
    pub async fn run(
        &mut self,
        clock: &impl Clock,
        mut stop: watch::Receiver<Stop>,
        until: Option<Slot>,
    ) -> Result<(), RecorderError> {
        self.check_pools()?;
        self.check_nodes().await?;
        self.confirmed.begin(clock, self.last_slot()?);
        for (pool, _) in self.unconfigured_pools()? {
            tracing::warn!(%pool, "in the store but not configured: recorded as missing, recorder_down");
        }
        match self.seal_claimed().await {
            // The store is reopened below, and claimed slots are sealed then.
            Err(error) if !self.store()?.is_open() => {
                tracing::error!(%error, "the store was lost while claimed slots were being sealed");
            }
            // The first slot creates its claim, or finds an existing one.
            Err(error) if error.passes() => {
                tracing::error!(%error, "claimed slots cannot be read yet");
            }
            sealed => {
                sealed?;
                self.resume_cosigning().await?;
            }
        }
        if self.shards.is_none()
            && self
                .store
                .run_blocking(|store| store.shards_held())
                .await?
                .is_ok_and(|held| !held.is_empty())
        {
            tracing::error!(
                "other recorders share the reading of this store, but this recorder ignores what they read: set [recorder] shard_pools to the same value on each machine"
            );
        }
        let (mut tried, mut left, mut is_warm) = (None, None, false);
        loop {
            if !self.store()?.is_open() {
                if !self.reopen_store(&mut stop).await? {
                    return Ok(());
                }
                (tried, left, is_warm) = (None, None, false);
            }
            let last = match self.last_slot() {
                Err(RecorderError::Store(_)) if !self.store()?.is_open() => continue,
                last => last?,
            };
            let done = until.is_some_and(|until| last >= Some(until));
            if done || *stop.borrow() != Stop::No {
                return Ok(());
            }
            let now = clock.now();
            let mut due = due(now, last, tried, self.seal_after);
            let current = Slot::at_or_before(now.as_secs()).ok();
            let found = match self.left_read(last, &due, now).await {
                Err(_) if !self.store()?.is_open() => continue,
                Err(error) if error.passes() => {
                    tracing::warn!(%error, "whether a slot was skipped is not known yet");
                    tokio::time::sleep(REOPEN_EVERY / 4).await;
                    continue;
                }
                found => found?.map(|found| (found, current)),
            };
            // It is tried once per slot.
            let is_left = found.is_some() && found != left;
            if let Some((slot, _)) = found.filter(|_| is_left) {
                (left, due) = (found, Due::Record(slot, Duration::ZERO));
            }
            match due {
                Due::Wait(_) if !is_warm => {
                    is_warm = true;
                    // A failed warm-up is harmless: the data is read with the slot.
                    if let Err(error) = self.store.run_blocking(Store::warm).await? {
                        tracing::warn!(%error, "the state that the next slot needs was not read in time");
                    }
                }
                Due::Wait(time) => self.wait_until(time, clock, &mut stop).await,
                Due::Record(slot, budget) => {
                    if !is_left {
                        tried = Some(slot);
                    }
                    match self.record_due(clock, slot, budget, &mut stop).await? {
                        Turn::Ends => return Ok(()),
                        // This must not lose the readings of the current slot, either.
                        Turn::Again if is_left => tried = current,
                        Turn::Again => {}
                        Turn::Tried(recorded) => {
                            let recorded = *recorded;
                            if is_left && recorded.as_ref().is_err_and(RecorderError::passes) {
                                tried = current;
                            }
                            settle(slot, recorded)?;
                        }
                        Turn::Claimed => (tried, left) = (None, None),
                    }
                }
            }
        }
    }

    /// Records a due slot. If another slot was claimed, that one is sealed first.
    async fn record_due(
        &mut self,
        clock: &impl Clock,
        slot: Slot,
        budget: Duration,
        stop: &mut watch::Receiver<Stop>,
    ) -> Result<Turn, RecorderError> {
        let recorded = tokio::select! {
            biased;
            recorded = self.record_slot_by(clock, slot, budget) => recorded,
            () = wait_for_stop(stop, Stop::Now) => {
                tracing::warn!(slot = %slot, "stopping at once: the slot is skipped");
                return Ok(Turn::Ends);
            }
        };
        if let Err(error) = &recorded
            && self.store.is_disconnected()
        {
            tracing::error!(slot = %slot, %error, "the store was lost during a slot");
            return Ok(Turn::Again);
        }
        let Err(RecorderError::Store(error @ StoreError::Claimed { .. })) = &recorded else {
            return Ok(Turn::Tried(Box::new(recorded)));
        };
        tracing::warn!(slot = %slot, %error, "claimed slots are sealed first");
        match self.seal_claimed().await {
            Err(error) if !self.store()?.is_open() => {
                tracing::error!(slot = %slot, %error, "the store was lost during a slot");
                Ok(Turn::Again)
            }
            Err(error) if error.passes() => {
                tracing::error!(slot = %slot, %error, "the slot was not written");
                Ok(Turn::Again)
            }
            sealed => Ok(if sealed? { Turn::Claimed } else { Turn::Tried(Box::new(recorded)) }),
        }
    }
}

/// The result of a due slot.
enum Turn {
    /// It was told to end immediately.
    Ends,
    /// Nothing to remember: the next turn finds out again.
    Again,
    /// Another slot was claimed and is now sealed: try this slot again.
    Claimed,
    /// It was tried.
    Tried(Box<Result<SlotReport, RecorderError>>),
}

impl<R: SlotReader> Recorder<R> {
    /// Waits until the clock shows a time, a stop is requested, or the store is lost, which should be noticed before
    /// the next slot.
    async fn wait_until(
        &self,
        time: Duration,
        clock: &impl Clock,
        stop: &mut watch::Receiver<Stop>,
    ) {
        while !self.store.is_disconnected() {
            tokio::select! {
                () = wait_for_stop(stop, Stop::AfterSlot) => return,
                () = clock.sleep_until(time) => return,
                () = tokio::time::sleep(REOPEN_EVERY) => {}
            }
        }
    }

    /// A slot that was read by the sharing recorders but not sealed by the one in charge: it is sealed before any other
    /// slot, and needs no reading time. After a day without success it no longer blocks other slots.
    async fn left_read(
        &mut self,
        last: Option<Slot>,
        due: &Due,
        now: Duration,
    ) -> Result<Option<Slot>, RecorderError> {
        let Some(current) =
            Slot::at_or_before(now.as_secs()).ok().filter(|_| self.shards.is_some())
        else {
            return Ok(None);
        };
        let is_due = matches!(due, Due::Record(..));
        // Freeze it before a later slot takes its place, so that no more readings are added.
        let ended = current.previous().filter(|ended| is_due && Some(*ended) > last);
        let left = self.store.run_blocking(move |store| {
            ended.map_or(Ok(()), |ended| store.freeze(ended))?;
            store.next_read(last)
        });
        let began = now >= Duration::from_secs(current.unix_s()) + READ_AFTER;
        Ok(left.await??.filter(|left| {
            let age = current.number().saturating_sub(left.number());
            (*left < current && age <= Slot::PER_DAY) || (*left == current && began && !is_due)
        }))
    }

    /// Reopens a lost store: its server was unreachable, or another recorder took over and is waited for. Returns
    /// whether it is open; `false` means that a stop was requested.
    async fn reopen_store(
        &mut self,
        stop: &mut watch::Receiver<Stop>,
    ) -> Result<bool, RecorderError> {
        let mut said = None;
        loop {
            match self.open_again().await {
                Ok(()) => {
                    tracing::info!("the store is open again");
                    return Ok(true);
                }
                Err(error) if error.passes() => {
                    // Log once per reason, and not every two seconds.
                    let why = error.of_store().map(discriminant);
                    if said != why {
                        tracing::warn!(%error, "the store is lost; trying to reconnect every 2 s");
                    }
                    said = why;
                }
                // It was lost again during the comparison with what is published.
                Err(_) if !self.store()?.is_open() => {}
                Err(error) => return Err(error),
            }
            tokio::select! {
                () = wait_for_stop(stop, Stop::AfterSlot) => return Ok(false),
                () = tokio::time::sleep(REOPEN_EVERY) => {}
            }
        }
    }

    /// Opens the store, and brings the publication up to date.
    async fn open_again(&mut self) -> Result<(), RecorderError> {
        self.store.run_blocking(Store::reopen).await??;
        if self.store()?.claims_beside() {
            // A database that lacks slots must get the claimed ones before it is compared with what is published.
            self.seal_claimed().await?;
        }
        if let Some(folder) = self.folder.clone() {
            let published = self.store.run_blocking(move |store| {
                folder.check(store.reader())?;
                folder.publish(store.reader())
            });
            self.published = published.await?.map_err(RecorderError::Folder)?.size;
        }
        self.seal_claimed().await?;
        self.resume_cosigning().await
    }

    /// Seals what was claimed when the previous writer of the store ended; returns whether there was anything.
    async fn seal_claimed(&mut self) -> Result<bool, RecorderError> {
        let Some(folder) = self.folder.clone() else { return Ok(false) };
        let mut any = false;
        loop {
            let folder = folder.clone();
            let sealed = self.store.run_blocking(move |store| folder.seal_claimed(store)).await?;
            let sealed = sealed.map_err(|error| RecorderError::Claimed(Box::new(error)))?;
            let Some(slot) = sealed else { return Ok(any) };
            any = true;
            tracing::warn!(%slot, "sealed as claimed earlier");
            self.forget_own_course()?;
            match self.publish_newest().await? {
                // The slot was published before, and the folder has later ones that are still to be sealed.
                Err(PublishError::StoreOlder { .. }) if self.store()?.claims_beside() => {}
                Err(error) => {
                    tracing::error!(%slot, %error, "the slot is recorded but not published yet");
                }
                Ok(()) => {}
            }
        }
    }
}

impl<R: SlotReader> Recorder<R> {
    /// Drops the state that another recorder's slot made obsolete: the progress of logs and rechecks is read from the
    /// store again, and pools that are already retired are removed from the list.
    fn forget_own_course(&mut self) -> Result<(), RecorderError> {
        for chain in &mut self.chains {
            (chain.fills, chain.recheck) = Default::default();
        }
        let mut retired = Vec::new();
        for id in &self.retiring {
            let pool = self.store()?.reader().pool(id)?;
            if pool.is_some_and(|pool| pool.retired_slot.is_some()) {
                retired.push(id.clone());
            }
        }
        self.retiring.retain(|id| !retired.contains(id));
        Ok(())
    }
}

/// Ready when `stop` is at least `how`; never if the sender is gone.
async fn wait_for_stop(stop: &mut watch::Receiver<Stop>, how: Stop) {
    if stop.wait_for(|stop| *stop >= how).await.is_err() {
        pending::<()>().await;
    }
}

/// Logs the result of a slot, and returns errors after which the recorder must not continue.
fn settle(slot: Slot, recorded: Result<SlotReport, RecorderError>) -> Result<(), RecorderError> {
    match recorded {
        Ok(report) => {
            let missing: Vec<_> =
                report.missing.iter().map(|(reason, pools)| format!("{reason}={pools}")).collect();
            let unproven: Vec<_> = report
                .unproven
                .iter()
                .map(|(why, pools)| format!("{}={pools}", why.code()))
                .collect();
            tracing::info!(
                slot = %slot,
                recorded = report.recorded,
                proven = report.proven,
                oracles_proven = report.oracles_proven,
                unproven = unproven.join(" "),
                drawn = report.drawn.due,
                drawn_proven = report.drawn.proven,
                retracted = report.retracted,
                doubts = report.doubts,
                cosigned = report.cosigned,
                missing = missing.join(" "),
                filled_slots = report.filled_slots,
                unread_logs = report.unread_logs,
                refused_documents = report.refused_documents,
                requests = report.requests,
                ms = u64::try_from(report.elapsed.as_millis()).unwrap_or(u64::MAX),
                "slot"
            );
            for (witness, why) in &report.not_cosigned {
                tracing::warn!(slot = %slot, witness, why, "not cosigned");
            }
            if let Some(error) = report.unpublished {
                tracing::error!(slot = %slot, error, "the slot is recorded but not published yet");
            }
            Ok(())
        }
        Err(error) if error.leaves_store_whole() => {
            tracing::error!(slot = %slot, %error, "the slot was not written");
            Ok(())
        }
        Err(error) => Err(error),
    }
}

/// What is due at `now`, if `last` was the last written slot and `tried` the last one read.
fn due(now: Duration, last: Option<Slot>, tried: Option<Slot>, seal_after: Duration) -> Due {
    let instant = |slot: Slot| Duration::from_secs(slot.unix_s());
    let current = match Slot::at_or_before(now.as_secs()) {
        Ok(slot) => slot,
        Err(SlotError::BeforeSeries { .. }) => {
            tracing::warn!(unix_s = now.as_secs(), "the clock shows a time before the series");
            return Due::Wait(instant(Slot::FIRST) + READ_AFTER);
        }
        Err(SlotError::TooLate { .. }) => {
            tracing::error!(unix_s = now.as_secs(), "the clock shows a time after the year 9999");
            return Due::Wait(now + Duration::from_secs(Slot::SECONDS));
        }
    };
    if last.is_none_or(|last| current > last) && tried != Some(current) {
        let (start, end) = (instant(current) + READ_AFTER, instant(current) + seal_after);
        if now < start {
            return Due::Wait(start);
        }
        if now + MIN_BUDGET <= end {
            return Due::Record(current, end.saturating_sub(now));
        }
    }
    if let Some(last) = last.filter(|last| current < *last) {
        let behind_s = last.unix_s().saturating_sub(now.as_secs());
        tracing::warn!(last = %last, behind_s, "the clock is behind the store's last slot");
    }
    match last.map_or(current, |last| last.max(current)).next() {
        Some(next) => Due::Wait(instant(next) + READ_AFTER),
        None => Due::Wait(now + Duration::from_secs(Slot::SECONDS)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEAL_AFTER: Duration = Duration::from_mins(1);

    fn slot(n: u32) -> Slot {
        Slot::new((Slot::FIRST.number() + n).into()).unwrap()
    }

    fn at(n: u32, seconds: u64) -> Duration {
        Duration::from_secs(slot(n).unix_s() + seconds)
    }

    #[test]
    fn a_slot_is_due_once_and_only_before_it_is_sealed() {
        let due = |now, last, tried| due(now, last, tried, SEAL_AFTER);
        let record = |n, seconds| Due::Record(slot(n), Duration::from_secs(seconds));
        assert_eq!(due(at(5, 0), None, None), Due::Wait(at(5, 2)));
        assert_eq!(due(at(5, 2), None, None), record(5, 58));
        assert_eq!(due(at(5, 58), Some(slot(4)), None), record(5, 2));
        assert_eq!(due(at(5, 59), Some(slot(4)), None), Due::Wait(at(6, 2)));
        assert_eq!(due(at(5, 3), Some(slot(5)), None), Due::Wait(at(6, 2)));
        assert_eq!(due(at(5, 3), Some(slot(4)), Some(slot(5))), Due::Wait(at(6, 2)));
        // An hour behind, years ahead, before the series, after the calendar's end.
        assert_eq!(due(at(5, 3), Some(slot(17)), Some(slot(17))), Due::Wait(at(18, 2)));
        assert_eq!(due(at(900_000, 2), Some(slot(5)), Some(slot(5))), record(900_000, 58));
        assert_eq!(due(Duration::ZERO, Some(slot(5)), None), Due::Wait(at(0, 2)));
        let end = Duration::from_secs(Slot::LAST.unix_s());
        let later = Duration::from_secs(Slot::SECONDS);
        assert_eq!(due(end + later, None, None), Due::Wait(end + later * 2));
        assert_eq!(due(end + SEAL_AFTER, None, None), Due::Wait(end + SEAL_AFTER + later));
    }
}
