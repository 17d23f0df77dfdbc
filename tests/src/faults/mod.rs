//! Faults of a recorded series or its service, and their consequences: `cargo xtask faults`.
//!
//! In scope: kills, power failures, full disks, failing disks, flipped bits, modified evidence, forged files of every
//! kind, old copies, floods of requests, payments, wallets that share a budget, stored rules and their deliveries,
//! S3-compatible storage, two recorders of one store, and the answers of a chain's nodes. Each part proves that its fault
//! happened, and if possible also shows the result of the same check without the protection, or without the fault. Out of
//! scope: an operator who seals a false log with the log's own key; `exitgap audit` covers that, and is tested there.

pub mod alerts;
mod alerts_disk;
mod alerts_judge;
pub mod alerts_replayed;
mod alerts_scene;
pub mod alerts_ssrf;
mod alerts_stream;
pub mod bit_flip;
mod bit_flip_files;
mod bit_flip_rows;
pub mod budget;
pub mod budget_payer;
pub mod budget_shop;
mod disk;
pub mod disk_full;
pub mod failing_sync;
pub mod flood;
pub mod flood_clients;
mod flood_scene;
pub mod forged;
mod forged_anchors;
mod forged_change;
mod forged_days;
mod forged_disk;
mod forged_evidence;
mod forged_figures;
mod forged_folders;
mod forged_heavy;
mod forged_judge;
mod forged_kind;
mod forged_log;
mod forged_node;
mod forged_parquet;
mod forged_receipts;
mod forged_reports;
mod forged_sealed_folder;
mod forged_state;
mod forged_tree;
mod forged_trie;
mod forged_vectors;
pub mod ha;
mod ha_claims;
mod ha_lane;
mod ha_promotion;
pub mod ha_reader;
mod ha_wire;
pub mod ha_writer;
pub mod home;
pub mod kill;
pub mod nodes;
mod nodes_change;
mod nodes_claim;
mod nodes_clock;
mod nodes_data;
mod nodes_front;
mod nodes_judge;
mod nodes_lane;
mod nodes_plan;
mod nodes_recorder;
mod nodes_records;
mod nodes_reply;
mod nodes_scene;
pub mod old_backup;
pub mod payments;
mod payments_books;
pub mod payments_careless;
pub mod payments_clients;
mod payments_node;
pub mod payments_scene;
pub mod power_cut;
pub mod recorder;
pub mod s3;
pub mod s3_server;
pub mod scene;
pub mod strace;
pub mod tamper;
mod tamper_tree;
mod trace;
pub mod writer;

use std::collections::BTreeMap;
use std::error::Error;

/// Why the harness itself could not continue. Damage by a fault is in [`Part::problems`].
pub type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// Receives the progress of a part: its name, what is done, and the total.
pub type Progress<'a> = &'a mut dyn FnMut(&str, u64, u64);

/// An empty folder, in memory if the system supports that: for data that is checked once.
fn memory_folder() -> std::io::Result<tempfile::TempDir> {
    tempfile::TempDir::new_in("/dev/shm").or_else(|_| tempfile::TempDir::new())
}

/// The result of one kind of fault.
#[derive(Debug, Default)]
pub struct Part {
    /// The figures by key: only numbers, so that programs can compare runs.
    pub figures: BTreeMap<String, u64>,
    /// Notes about the method.
    pub notes: Vec<String>,
    /// Damage that a fault must not cause. Empty: everything held.
    pub problems: Vec<String>,
}

impl Part {
    /// Sets a figure.
    pub fn set(&mut self, key: &str, value: impl TryInto<u64>) {
        self.figures.insert(key.to_owned(), value.try_into().unwrap_or(u64::MAX));
    }

    /// Adds a note.
    pub fn note(&mut self, words: impl Into<String>) {
        self.notes.push(words.into());
    }

    /// Adds one to a figure.
    pub fn count(&mut self, key: &str) {
        let before = self.number(key);
        self.set(key, before + 1);
    }

    /// A figure; 0 where there is none.
    pub fn number(&self, key: &str) -> u64 {
        self.figures.get(key).copied().unwrap_or(0)
    }

    /// Records a problem, and increments the figure of its kind.
    pub fn problem(&mut self, key: &str, words: impl Into<String>) {
        self.count(key);
        self.problems.push(format!("{key}: {}", words.into()));
    }

    /// Adds the results of another part.
    pub fn absorb(&mut self, other: Self) {
        self.figures.extend(other.figures);
        self.notes.extend(other.notes);
        self.problems.extend(other.problems);
    }
}
