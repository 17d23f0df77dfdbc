//! A figure file, checked with the snapshots that it names.

use std::collections::BTreeMap;

use exitgap_api::{Problem, ProblemCode};
use exitgap_core::analytics::figure::{FigureReport, FigureVerifier};
use exitgap_core::ids::SnapshotHash;
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
    page: BTreeMap<SnapshotHash, SnapshotDocuments>,
}

impl CheckedFigure {
    /// Reads a file, and makes the checks that need no snapshot.
    pub fn read(file: &[u8], keys: &[String]) -> Result<Self, Problem> {
        let verifier = FigureVerifier::new(file, &verifier_keys(keys)?);
        Ok(Self { verifier, page: BTreeMap::new() })
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

    /// Takes snapshot files, one a line. The one that is wanted counts as absent where it is not among them.
    pub fn take(&mut self, lines: &[u8]) -> Result<(), Problem> {
        let lines = lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        for line in lines {
            let file = SnapshotFile::read(line).map_err(|error| {
                let why = format!("page: {error}");
                Problem::new(ProblemCode::SourceUnreadable, why).field("page")
            })?;
            self.page.insert(file.documents.hash(), file.documents);
        }
        let mut first = true;
        while let Some(wanted) = self.verifier.wanted() {
            let found = self.page.remove(&wanted.snapshot);
            if found.is_none() && !first {
                break;
            }
            self.verifier.take(found.as_ref());
            first = false;
        }
        // What a page holds beside what is wanted next is not kept.
        self.page.clear();
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
