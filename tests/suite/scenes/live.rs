//! An operator of a chain that counts as live: the programs as they are, with a clock that the test sets.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

use exitgap_core::evidence::Outcome;
use exitgap_core::ids::PoolId;
use exitgap_core::log_folder::ProofName;
use exitgap_core::proof::{Reach, StateCheckName, StateProof, check_state};
use exitgap_core::series::Slot;
use exitgap_core::snapshot::Snapshot;
use exitgap_server::config::CheckedConfig;
use exitgap_store::Reader;
use exitgap_tests::binaries;
use serde_json::Value;
use tempfile::TempDir;

use super::clock;

const CONFIG: &str = "exitgap.toml";

pub struct Live {
    folder: TempDir,
    /// What the programs' clocks show, in seconds since 1970.
    pub now: u64,
}

/// How a program ended.
#[derive(Debug)]
pub struct Ended {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Ended {
    fn of(output: Output) -> Self {
        let [out, err] =
            [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
        Self { code: output.status.code(), out, err }
    }

    /// The document that it printed.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|_| panic!("{self:?}"))
    }
}

impl Live {
    /// An operator whose configuration `init` writes for one pool of Ethereum, with a key.
    pub fn init(now: u64, url: &str, pool: &str, more: &[&str]) -> Self {
        let live = Self { folder: TempDir::new().unwrap(), now };
        let of_pool = ["init", "--chain", "ethereum", "--rpc", url, "--pool", pool];
        let made = live.server(&[&of_pool, more].concat());
        assert_eq!(made.code, Some(0), "{made:?}");
        let made =
            live.server(&["key", "new", "--out", "exitgap.key", "--name", "a.example/exits"]);
        assert_eq!(made.code, Some(0), "{made:?}");
        live
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Adds tables to the configuration.
    pub fn configure(&self, tables: &str) {
        let mut file = fs::OpenOptions::new().append(true).open(self.path(CONFIG)).unwrap();
        file.write_all(tables.as_bytes()).unwrap();
    }

    pub fn configuration(&self) -> String {
        fs::read_to_string(self.path(CONFIG)).unwrap()
    }

    pub fn server(&self, arguments: &[&str]) -> Ended {
        self.program("exitgap-server", arguments)
    }

    pub fn exitgap(&self, arguments: &[&str]) -> Ended {
        self.program("exitgap", arguments)
    }

    fn program(&self, name: &str, arguments: &[&str]) -> Ended {
        let machine = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
        let file = self.path("clock");
        let (ahead, behind) = (self.now.checked_sub(machine), machine.checked_sub(self.now));
        let offset = ahead.map_or_else(
            || format!("-{}\n", behind.unwrap_or_default()),
            |ahead| format!("+{ahead}\n"),
        );
        fs::write(&file, offset).unwrap();
        let mut command = Command::new(binaries::path(name));
        command.args(arguments).current_dir(self.folder.path()).stdin(Stdio::null());
        command.envs(clock::set_by(&file, &clock::faketime()));
        command.env("EXITGAP_LOG_FORMAT", "json").env_remove("EXITGAP_CONFIG");
        Ended::of(command.env_remove("EXITGAP_DB").output().unwrap())
    }

    /// Runs the recorder from a slot's instant until it has recorded it; returns what it says of the slot.
    pub fn record(&mut self, slot: Slot) -> Value {
        self.now = slot.unix_s() + 5;
        let ended = self.server(&["record", "--until", &slot.number().to_string()]);
        assert_eq!(ended.code, Some(0), "{ended:?}");
        let lines = ended.err.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let said: Vec<Value> = lines.filter(|line| line["message"] == "slot").collect();
        let [said] = &said[..] else { panic!("it recorded one slot: {ended:?}") };
        assert_eq!(said["slot"], slot.to_string(), "{said}");
        said.clone()
    }

    fn checked(&self) -> CheckedConfig {
        CheckedConfig::from_file(&self.path(CONFIG)).unwrap()
    }

    /// The snapshot that was recorded.
    pub fn snapshot(&self, pool: &PoolId, slot: Slot) -> Snapshot {
        let reader = Reader::open(self.checked().config.store.path).unwrap();
        let pool = reader.pool(pool).unwrap().expect("the pool is recorded");
        reader.snapshot_at(&pool, slot).unwrap().expect("the slot is recorded")
    }

    /// The proof that was kept with a snapshot: of everything in it, or of all but the readings of oracles.
    pub fn proof(&self, snapshot: &Snapshot, with_oracles: bool) -> StateProof {
        let proofs = self.checked().config.proofs.open().unwrap().unwrap();
        let contract = snapshot.observation().pool().contract().clone();
        let name = ProofName { contract, slot: snapshot.slot(), reach: Reach::Figures };
        let file = proofs.file(&name).unwrap().expect("its proof is kept");
        let proof = StateProof::from_bytes(&file);
        for check in check_state(&proof, snapshot, None) {
            let is_due = with_oracles || check.name != StateCheckName::OracleState;
            let expected = if is_due { Outcome::Pass } else { Outcome::NotChecked };
            assert_eq!(check.outcome, expected, "{check:?}");
        }
        proof.unwrap()
    }
}
