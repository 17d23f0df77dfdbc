//! A deployment of real pools whose recorder the test drives slot by slot: it proves, stores and publishes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;
use std::time::Duration;

use exitgap_chain::{ChainReader, Limits};
use exitgap_core::ids::PoolId;
use exitgap_core::log_folder::LogFile;
use exitgap_core::series::Slot;
use exitgap_core::snapshot::Snapshot;
use exitgap_server::config::CheckedConfig;
use exitgap_server::recorder::{Recorder, SlotReport, Source};
use exitgap_store::proofs::Proofs;
use exitgap_store::{LogFolder, Reader, Store};
use exitgap_tests::binaries;
use exitgap_tests::demo::recorder_config;
use exitgap_tests::devchain::{DevChain, World};
use serde_json::Value;
use tempfile::TempDir;

/// A deployment in its own folder.
pub struct AtWork {
    pub folder: TempDir,
    pub checked: CheckedConfig,
    pub recorder: Recorder<ChainReader>,
    pub proofs: Option<Arc<Proofs>>,
}

impl AtWork {
    /// A deployment with the node at `url` and this name for the chain; `proves` selects whether it proves its
    /// snapshots.
    pub fn new(chain: &DevChain, world: &World, url: &str, slug: &str, proves: bool) -> Self {
        let folder = TempDir::new().unwrap();
        let text = recorder_config(chain, world).replace(&chain.url(), url);
        let text = text.replace("\"anvil\"", &format!("\"{slug}\""));
        fs::write(folder.path().join("exitgap.toml"), text).unwrap();
        let mut made = Command::new(binaries::path("exitgap-server"));
        let name = format!("{slug}.example/exits");
        made.args(["key", "new", "--out", "exitgap.key", "--name", &name]);
        assert!(made.current_dir(folder.path()).output().unwrap().status.success());
        let mut made = Self::in_folder(folder, "exitgap.toml");
        if proves {
            made.proofs = made.checked.config.proofs.open().unwrap();
            made.recorder.prove_states(made.proofs.clone());
        }
        made
    }

    /// A deployment in a folder that already has configuration and key; it does not prove its snapshots.
    pub fn in_folder(folder: TempDir, config: &str) -> Self {
        let checked = CheckedConfig::from_file(&folder.path().join(config)).unwrap();
        let key = fs::read_to_string(&checked.config.evidence.key_file).unwrap();
        let store = Store::create(&checked.config.store.path, &key.trim_end().parse().unwrap());
        let sources = Source::of_plan(&checked.plan, &Limits::default());
        let mut recorder = Recorder::new(store.unwrap(), sources, Duration::from_mins(1));
        recorder.publish_in(LogFolder::new(&checked.config.evidence.folder)).unwrap();
        Self { folder, checked, recorder, proofs: None }
    }

    pub async fn record(&mut self, slot: u64) -> SlotReport {
        let report = self.recorder.record_slot(Slot::new(slot).unwrap()).await.unwrap();
        assert!(report.missing.is_empty(), "{report:?}");
        report
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn log(&self) -> PathBuf {
        self.path("exitgap-log")
    }

    /// The recorded snapshots at a slot.
    pub fn snapshots(&self, slot: u64) -> Vec<Snapshot> {
        let reader = Reader::open(self.path("exitgap.db")).unwrap();
        let at = Slot::new(slot).unwrap();
        let of = |pool| reader.snapshot_at(pool, at).unwrap();
        reader.pools().unwrap().iter().filter_map(of).collect()
    }

    pub fn snapshot(&self, pool: &PoolId, slot: u64) -> Snapshot {
        let of_pool = |one: &Snapshot| one.observation().pool() == pool;
        self.snapshots(slot).into_iter().find(of_pool).unwrap()
    }

    /// The names of the log files below a folder of the published log.
    pub fn published(&self, below: &str) -> Vec<LogFile> {
        let mut found = Vec::new();
        for folder in fs::read_dir(self.log().join(below)).into_iter().flatten() {
            let folder = folder.unwrap();
            for file in fs::read_dir(folder.path()).unwrap() {
                let name = file.unwrap().file_name().into_string().unwrap();
                let path = format!("{below}/{}/{name}", folder.file_name().to_str().unwrap());
                found.push(path.parse().unwrap_or_else(|_| panic!("{path} is no file of a log")));
            }
        }
        found
    }

    /// Runs `exitgap` in the folder; returns the exit code and the printed document.
    pub fn exitgap(&self, arguments: &[&str]) -> (Option<i32>, Value) {
        let output = self.program("exitgap", &[arguments, &["--json"]].concat());
        let words = || String::from_utf8_lossy(&output.stderr).into_owned();
        let document = serde_json::from_slice(&output.stdout);
        (output.status.code(), document.unwrap_or_else(|_| panic!("{}", words())))
    }

    pub fn program(&self, name: &str, arguments: &[&str]) -> Output {
        Self::program_in(self.folder.path(), name, arguments)
    }

    /// Runs a program in a folder.
    pub fn program_in(folder: &Path, name: &str, arguments: &[&str]) -> Output {
        Command::new(binaries::path(name)).args(arguments).current_dir(folder).output().unwrap()
    }

    /// `exitgap audit`, with the log's own key as a trusted one.
    pub fn audit(&self) -> (Option<i32>, Value) {
        self.exitgap(&["audit", "exitgap-log", "--trust", "exitgap-log/verifier-key"])
    }
}
