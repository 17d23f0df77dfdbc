//! A figure file, checked with the snapshots that it names.

use std::collections::BTreeMap;

use exitgap_api::{Problem, ProblemCode};
use exitgap_core::analytics::figure::{FigureReport, FigureVerifier};
use exitgap_core::ids::{PoolId, SnapshotHash};
use exitgap_core::snapshot::{SnapshotDocuments, SnapshotFile};
use serde::Serialize;

use crate::verifying::verifier_keys;

/// A snapshot that a figure names.
#[derive(Debug, Serialize)]
pub struct WantedSnapshot {
    /// Its pool.
    pub pool: String,
    /// Its slot's number.
    pub slot: u32,
    /// Its hash.
    pub snapshot: String,
}

/// A figure file being checked: fed pages of snapshots while it [wants](Self::wanted) one.
#[derive(Debug)]
pub struct CheckedFigure {
    verifier: FigureVerifier,
    /// The last page of each pool.
    pages: BTreeMap<PoolId, BTreeMap<SnapshotHash, SnapshotDocuments>>,
}

impl CheckedFigure {
    /// Reads a file, and makes the checks that need no snapshot.
    pub fn read(file: &[u8], keys: &[String]) -> Result<Self, Problem> {
        let verifier = FigureVerifier::new(file, &verifier_keys(keys)?);
        Ok(Self { verifier, pages: BTreeMap::new() })
    }

    /// The next snapshot that is needed; `None` where all were given.
    pub fn wanted(&self) -> Option<WantedSnapshot> {
        let wanted = self.verifier.wanted()?;
        Some(WantedSnapshot {
            pool: wanted.pool.to_string(),
            slot: wanted.slot.number(),
            snapshot: wanted.snapshot.to_string(),
        })
    }

    /// Takes snapshot files of the pool of the one that is wanted, one a line, in place of those that it had. The one that
    /// is wanted counts as absent where it is not among them.
    pub fn take(&mut self, lines: &[u8]) -> Result<(), Problem> {
        let Some(first) = self.verifier.wanted().cloned() else { return Ok(()) };
        let lines = lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let mut page = BTreeMap::new();
        for line in lines {
            let file = SnapshotFile::read(line).map_err(|error| {
                let why = format!("page: {error}");
                Problem::new(ProblemCode::SourceUnreadable, why).field("page")
            })?;
            page.insert(file.documents.hash(), file.documents);
        }
        let found = page.remove(&first.snapshot);
        self.pages.insert(first.pool, page);
        self.verifier.take(found.as_ref());
        while let Some(wanted) = self.verifier.wanted() {
            let page = self.pages.get_mut(&wanted.pool);
            let Some(found) = page.and_then(|page| page.remove(&wanted.snapshot)) else { break };
            self.verifier.take(Some(&found));
        }
        Ok(())
    }

    /// How many of how many snapshots were looked at.
    pub fn progress(&self) -> (usize, usize) {
        self.verifier.progress()
    }

    /// What the checks found.
    pub fn report(self) -> FigureReport {
        self.verifier.finish()
    }
}
