//! Days whose bodies can be removed from a server's database: those that closed long ago and whose files are complete.

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

/// A day whose bodies can be removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OldDay {
    /// The day.
    pub day: Day,
    /// The size of its bodies with their indices.
    pub bytes: u64,
}

/// The days with bodies in a server's database that are older than the newest `hot` days, oldest first.
pub fn list_old_days(reader: &Reader, hot: u32) -> Result<Vec<OldDay>, StoreError> {
    let (Some((_, newest)), Some(log)) = (reader.slots()?, reader.log()?) else {
        return Ok(Vec::new());
    };
    // A partition that was created for a first slot that was never written does not belong to a day of the log.
    let first = Day::from_slot(log.origin.first_slot());
    let old = |there: BodyDay| {
        let midnight = Slot::new(u64::from(there.day) * u64::from(Slot::PER_DAY)).ok()?;
        let day = Day::from_slot(midnight).max(first);
        let is_old = day_of(day.first()) == there.day && there.day + hot <= day_of(newest);
        is_old.then_some(OldDay { day, bytes: there.bytes })
    };
    Ok(reader.db.body_days()?.into_iter().filter_map(old).collect())
}

/// Requires that the log's folder has all data of a day in the store: the log of days commits to it, its files with
/// every head and snapshot are valid, and they give the log's own tree. `tick` gets the number of finished pools and
/// their total.
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

/// Requires that the log of days has every day that was removed from the database.
pub fn check_left(reader: &Reader, folder: &LogFolder) -> Result<(), DaysError> {
    let Some(log) = reader.log()? else { return Ok(()) };
    let Some((first, newest)) = reader.slots()? else { return Ok(()) };
    let days = Day::from_slot(newest).days_after(Day::from_slot(first)).unwrap_or_default();
    let mut published = None;
    // A day without recorded slots has no partition, so it is never removed.
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
