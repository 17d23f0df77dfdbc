//! Days whose bodies may leave a server's database: those that closed long ago, and whose files have all of them.

use exitgap_core::log_folder::days::{DayManifest, DaysFile};
use exitgap_core::series::{Day, Slot};

use super::DaysError;
use super::audit::{DayAudited, audit_day};
use super::log::PublishedDays;
use super::open::DayFolder;
use crate::db::BodyDay;
use crate::derived::rollup::day_of;
use crate::error::StoreError;
use crate::folder::LogFolder;
use crate::reader::Reader;

/// A day whose bodies may leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OldDay {
    /// The day.
    pub day: Day,
    /// What its bodies weigh with their indices.
    pub bytes: u64,
}

/// The days whose bodies a server's database has and that are older than the newest `hot` days, the oldest first.
pub fn list_old_days(reader: &Reader, hot: u32) -> Result<Vec<OldDay>, StoreError> {
    let (Some((_, newest)), Some(log)) = (reader.slots()?, reader.log()?) else {
        return Ok(Vec::new());
    };
    // A place that was made for a first slot which was never written is of no day of the log.
    let first = Day::from_slot(log.origin.first_slot());
    let old = |there: BodyDay| {
        let midnight = Slot::new(u64::from(there.day) * u64::from(Slot::PER_DAY)).ok()?;
        let day = Day::from_slot(midnight).max(first);
        let is_old = day_of(day.first()) == there.day && there.day + hot <= day_of(newest);
        is_old.then_some(OldDay { day, bytes: there.bytes })
    };
    Ok(reader.db.body_days()?.into_iter().filter_map(old).collect())
}

/// Requires that the log's folder has all of a day of the store: that the log of days commits to it, that its files hold,
/// every head and snapshot of them, and that they make the log's own tree. `tick` is told how many pools are done, and of how
/// many.
pub fn check_leaving(
    reader: &Reader,
    folder: &LogFolder,
    day: Day,
    tick: impl FnMut(u64, u64),
) -> Result<DayManifest, DaysError> {
    let stays = |why: String| DaysError::Stays { day, why };
    let log = reader.log()?.ok_or(DaysError::Nothing)?;
    let published = PublishedDays::of_log(folder, &log.keys)?;
    let leaf = published.as_ref().and_then(|published| published.history.leaf(day));
    let (Some(published), Some(leaf)) = (&published, leaf) else {
        return Err(stays(
            "it is not in the log of days; run `exitgap-server days` to write it".to_owned(),
        ));
    };
    let manifest = published.manifest(leaf)?;
    let signed = manifest.log().map_err(|error| stays(error.to_string()))?;
    if signed.origin != log.origin || signed.root != reader.nodes().root(signed.size)? {
        return Err(stays("its files belong to a different log from the store".to_owned()));
    }
    let path = folder.path().join(format!("{}/{day}", DaysFile::FOLDER));
    let DayAudited { fault, counts, .. } = audit_day(&DayFolder::new(path), Some(&log.keys), tick)
        .map_err(|error| stays(error.to_string()))?;
    match fault {
        None if counts.unsupported > 0 => Err(stays(
            "a part was made by a later version of exitgap, and only that version can check it"
                .to_owned(),
        )),
        None => Ok(manifest),
        Some(fault) => {
            let slot = fault.slot.map(|slot| format!("{slot}: ")).unwrap_or_default();
            let pool = fault.pool.map(|pool| format!("{pool}: ")).unwrap_or_default();
            Err(stays(format!("{slot}{pool}{}", fault.detail)))
        }
    }
}

/// Requires that the log of days has every day that has left the database.
pub fn check_left(reader: &Reader, folder: &LogFolder) -> Result<(), DaysError> {
    let Some(log) = reader.log()? else { return Ok(()) };
    let Some((first, newest)) = reader.slots()? else { return Ok(()) };
    let days = Day::from_slot(newest).days_after(Day::from_slot(first)).unwrap_or_default();
    let mut published = None;
    // A day on which nothing was read has no place, and so it does not leave.
    for day in (0..days).filter_map(|days| Day::from_slot(first).later(days)) {
        if !reader.db.has_left(day_of(day.first()))? {
            continue;
        }
        if published.is_none() {
            published = PublishedDays::of_log(folder, &log.keys)?;
        }
        if published.as_ref().is_none_or(|published| published.history.leaf(day).is_none()) {
            return Err(DaysError::LeftWithout { day });
        }
    }
    Ok(())
}
