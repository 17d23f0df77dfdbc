//! `exitgap verify --log` of a figure file: whether the log sealed every head that the file's windows have. The heads of a
//! window are linked, and its last one is proven; that each earlier one is what its slot's leaf committed to only the log shows.

use std::collections::BTreeMap;
use std::path::Path;

use exitgap_api::invalid_parameter;
use exitgap_core::analytics::figure::{FigureVerifier, SealedHeads};
use exitgap_core::evidence::Head;
use exitgap_core::series::Slot;
use exitgap_core::tlog::{Checkpoint, VerifierKey};

use super::audit;
use crate::failure::Failure;
use crate::format::printable;
use crate::log::{Against, FolderReader, WatchedPools, WatchedSlot, replay};
use crate::source::unreadable;

/// Replays the log in a folder, and compares the heads of a figure's windows with those that it sealed.
pub fn check(
    verifier: &mut FigureVerifier,
    notes: &[String],
    path: &Path,
    keys: &[VerifierKey],
) -> Result<(), Failure> {
    let pools = verifier.pools().to_vec();
    if pools.is_empty() {
        return Ok(());
    }
    let folder = FolderReader::new(path);
    let newest = audit::newest(&folder)?;
    let of_other = notes.iter().filter_map(|note| Some(Checkpoint::from_note(note).ok()?.0.origin));
    if let Some(other) = of_other.into_iter().find(|origin| *origin != newest.checkpoint.origin) {
        let found = &newest.checkpoint.origin;
        let detail =
            printable(&format!("log: the folder is of {found}, but the figure of {other}"));
        let hint = "give the folder of the log that the figure is of";
        return Err(invalid_parameter("log", &detail, hint).into());
    }
    let own = if keys.is_empty() { audit::own_keys(&folder)? } else { keys.to_vec() };
    let watched = WatchedPools::Of(&pools);
    let against = Against { folder: &folder, newest: &newest, keys: &own, since: None, watched };
    let mut sealed = SealedHeads::default();
    let mut roots: BTreeMap<u64, Checkpoint> = BTreeMap::new();
    let mut failed = None;
    let mut tell = |WatchedSlot { head, checkpoint, .. }: WatchedSlot| {
        roots.insert(checkpoint.size, checkpoint);
        match head.to_canonical() {
            Ok(bytes) => {
                sealed.insert((head.pool, head.slot), Head::hash_of(&bytes));
            }
            Err(error) => failed = Some(unreadable(error.to_string())),
        }
    };
    let bar = audit::progress(newest.checkpoint.size);
    let (_, broken) = replay(&against, |counts| bar.set_position(counts.slots), &mut tell);
    bar.finish_and_clear();
    if let Some(error) = failed {
        return Err(error.into());
    }
    if let Some((fault, _)) = broken {
        let fault = audit::readable(fault)?.document();
        let detail = format!("log {}: {}", path.display(), printable(&fault.detail));
        let hint = "`exitgap audit` shows what is wrong with a log's folder";
        return Err(unreadable(detail).hint(hint).into());
    }
    let is_other = |note: &String| {
        let (own, _) = Checkpoint::from_note(note).ok()?;
        let there = roots.get(&own.size)?;
        Some(there.origin != own.origin || there.root != own.root)
    };
    let is_of_it = !notes.iter().any(|note| is_other(note) == Some(true));
    let first = newest.checkpoint.origin.first_slot();
    let slots = u32::try_from(newest.checkpoint.size).unwrap_or(u32::MAX);
    let last = u64::from(first.number().saturating_add(slots.saturating_sub(1)));
    let last = Slot::new(last).unwrap_or(Slot::LAST);
    verifier.check_sealed(&sealed, [first, last], is_of_it);
    Ok(())
}
