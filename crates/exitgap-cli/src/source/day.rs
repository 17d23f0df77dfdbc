//! A closed day's folder as a source.

use std::path::Path;

use exitgap_api::{Direct, Number, Problem, ProblemCode, Provenance};
use exitgap_core::ids::PoolId;
use exitgap_core::series::Day;
use exitgap_core::snapshot::Snapshot;
use exitgap_store::days::{AuditError, DayFault, DayFolder};

use super::{FoundPool, unreadable};
use crate::failure::Failure;

/// Finds the pool's snapshot at the requested slot.
pub fn find(path: &Path, pool: &PoolId, at: Option<&str>) -> Result<FoundPool, Failure> {
    let slot = exitgap_api::slot_at("at", at.unwrap_or_default())?;
    let folder = DayFolder::new(path);
    let manifest = folder.manifest().map_err(|error| unreadable(error.to_string()))?;
    let manifest = manifest.map_err(|fault| wrong(path, &fault))?;
    if slot < manifest.first || slot > manifest.day.last() {
        let detail =
            format!("slot {slot} is not on {}, the day in {}", manifest.day, path.display());
        let code = if Day::from_slot(slot) < manifest.day || slot < manifest.first {
            ProblemCode::BeforeSeries
        } else {
            ProblemCode::AfterSeries
        };
        return Err(Problem::new(code, detail).field("at").into());
    }
    let entry = folder.entry(&manifest, pool, slot).map_err(|stopped| match stopped {
        AuditError::Fault(fault) => wrong(path, &fault),
        AuditError::Machine(error) => unreadable(error.to_string()).into(),
    })?;
    let Some(entry) = entry else {
        let detail = format!("{} does not contain slot {slot} of {pool}", path.display());
        return Err(Problem::new(ProblemCode::UnknownPool, detail).field("pool").into());
    };
    let Some(documents) = entry.documents else {
        let detail = format!("slot {slot} of {pool} is missing or the pool's last");
        return Err(Problem::new(ProblemCode::SlotMissing, detail).field("at").into());
    };
    let snapshot = Snapshot::of_pool(pool, &documents.snapshot, &documents.state)
        .map_err(|error| unreadable(format!("{}: {error}", path.display())))?;
    let provenance = Provenance::Direct(Direct::SnapshotFile(slot, documents.hash()));
    Ok(FoundPool {
        observation: snapshot.observation().clone(),
        provenance,
        default_base: None,
        lowest_depth_7d_usd: entry.head.lowest_depth_7d_usd.map(|usd| usd.map(Number::from)),
        weeks: Default::default(),
        published: None,
        documents: Some(documents),
    })
}

fn wrong(path: &Path, fault: &DayFault) -> Failure {
    let hint = "--day takes a day's folder written by `exitgap export`; `exitgap audit` shows what is wrong with a folder";
    unreadable(format!("{}: {}", path.display(), fault.detail)).hint(hint).into()
}
