//! Checks a figure file against the snapshots and logs documents that it names.

use std::collections::BTreeMap;

use exitgap_api::{Problem, ProblemCode};
use exitgap_core::analytics::accuracy::Fills;
use exitgap_core::analytics::figure::{FigureReport, FigureVerifier, FigureWant};
use exitgap_core::ids::{DocumentHash, PoolId, SnapshotHash};
use exitgap_core::snapshot::{SnapshotDocuments, SnapshotFile};
use serde::Serialize;

use crate::verification::verifier_keys;

/// An input that a figure names: a snapshot, or a document of a pool's logs.
#[derive(Debug, Serialize)]
pub struct WantedPage {
    /// Its pool.
    pub pool: String,
    /// Its slot's number.
    pub slot: u32,
    /// The snapshot's hash.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<String>,
    /// The document's hash.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fills: Option<String>,
}

/// A figure file being checked: it receives pages of the inputs that it [wants](Self::wanted_page).
#[derive(Debug)]
pub struct CheckedFigure {
    verifier: FigureVerifier,
    /// The last page of snapshots for each pool.
    pages: BTreeMap<PoolId, BTreeMap<SnapshotHash, SnapshotDocuments>>,
    /// The last page of logs documents.
    logged: BTreeMap<DocumentHash, Vec<u8>>,
}

impl CheckedFigure {
    /// Parses a file, and makes the checks that need no snapshot.
    pub fn from_file(file: &[u8], keys: &[String]) -> Result<Self, Problem> {
        let verifier = FigureVerifier::new(file, &verifier_keys(keys)?);
        Ok(Self { verifier, pages: BTreeMap::new(), logged: BTreeMap::new() })
    }

    /// The next required input; `None` if there are no more.
    pub fn wanted_page(&self) -> Option<WantedPage> {
        let (pool, slot, snapshot, fills) = match self.verifier.next_want()? {
            FigureWant::Snapshot(of) => (&of.pool, of.slot, Some(of.snapshot.to_string()), None),
            FigureWant::Fills(of) => (&of.pool, of.slot, None, Some(of.document.to_string())),
        };
        Some(WantedPage { pool: pool.to_string(), slot: slot.number(), snapshot, fills })
    }

    /// Adds a page with the wanted input, in place of the previous one: snapshot files of the pool, or its logs
    /// documents, one per line. If the page lacks the wanted input, that counts as absent.
    pub fn add_page(&mut self, lines: &[u8]) -> Result<(), Problem> {
        match self.verifier.next_want() {
            Some(FigureWant::Snapshot(first)) => {
                let first = first.clone();
                let mut page = BTreeMap::new();
                for line in lines_of(lines) {
                    let file = SnapshotFile::from_json(line).map_err(|error| unreadable(&error))?;
                    page.insert(file.documents.hash(), file.documents);
                }
                let found = page.remove(&first.snapshot);
                self.pages.insert(first.pool, page);
                self.verifier.add_snapshot(found.as_ref());
            }
            Some(FigureWant::Fills(first)) => {
                let first = first.document;
                self.logged.clear();
                for line in lines_of(lines) {
                    let (_, document) =
                        Fills::document_of_line(line).map_err(|error| unreadable(&error))?;
                    self.logged.insert(Fills::hash_of(&document), document);
                }
                let found = self.logged.remove(&first);
                self.verifier.take_fills(found.as_deref());
            }
            None => {}
        }
        self.go_on();
        Ok(())
    }

    /// Supplies wanted inputs as long as the last pages contain them.
    fn go_on(&mut self) {
        while let Some(wanted) = self.verifier.next_want() {
            match wanted {
                FigureWant::Snapshot(wanted) => {
                    let page = self.pages.get_mut(&wanted.pool);
                    let Some(found) = page.and_then(|page| page.remove(&wanted.snapshot)) else {
                        return;
                    };
                    self.verifier.add_snapshot(Some(&found));
                }
                FigureWant::Fills(wanted) => {
                    let Some(found) = self.logged.remove(&wanted.document) else { return };
                    self.verifier.take_fills(Some(&found));
                }
            }
        }
    }

    /// The number of processed inputs, and the total.
    pub fn progress(&self) -> (usize, usize) {
        self.verifier.progress()
    }

    /// The report of the checks.
    pub fn report(self) -> FigureReport {
        self.verifier.finish()
    }
}

fn lines_of(lines: &[u8]) -> impl Iterator<Item = &[u8]> {
    lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty())
}

fn unreadable(error: &impl std::fmt::Display) -> Problem {
    Problem::new(ProblemCode::SourceUnreadable, format!("page: {error}")).field("page")
}
