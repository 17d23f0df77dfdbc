//! `exitgap try` and `exitgap-server try`, on the sample that is embedded in both.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use exitgap_sample::{EVIDENCE_FILE, KEY_FILE, LOG_FOLDER};
use exitgap_tests::binaries;
use exitgap_tests::sample::Making;
use serde_json::Value;

use crate::scenes::npm::root;
use crate::scenes::service::{Answer, rest_of};

/// The program in an empty folder, without any environment variable.
fn tried(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(binaries::path("exitgap"));
    command.arg("try").args(arguments).current_dir(folder).env_clear().output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn the_sample_is_estimated_verified_and_refused_when_changed() {
    let folder = tempfile::tempdir().unwrap();
    let output = tried(folder.path(), &[]);
    let shown = text(&output.stdout);
    assert_eq!((output.status.code(), text(&output.stderr).as_str()), (Some(0), ""), "{shown}");
    let at = |part: &str| shown.find(part).unwrap_or_else(|| panic!("{part:?} is not in {shown}"));
    assert_eq!(at("SAMPLE DATA: a simulated market"), 0);
    let places = [
        "1. Estimate",
        "\n   SAMPLE  exit gap  ",
        "VALID: 8 checks",
        "INVALID: the check \"result\"",
    ]
    .map(at);
    assert!(places.is_sorted() && at("Next:") > places[3], "{shown}");
    assert!(!folder.path().read_dir().unwrap().any(|_| true), "nothing is written");
}

#[test]
fn the_sample_needs_no_network() {
    let folder = tempfile::tempdir().unwrap();
    let traced = folder.path().join("traced");
    let mut strace = Command::new("strace");
    strace.args(["-f", "-qq", "-e", "trace=network", "-o"]).arg(&traced);
    strace.arg(binaries::path("exitgap")).args(["try", "--json"]);
    let output = strace.output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(fs::read_to_string(traced).unwrap(), "");
    let shown: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(shown["sample"], true);
    assert_eq!(shown["verification"]["verdict"], "valid");
    assert_eq!(shown["tampering"]["verification"]["verdict"], "invalid");
    assert_eq!(shown["estimate"]["status"], "preview");
    assert_eq!(shown["estimate"]["size_usd"], 1_000_000);
}

#[test]
fn sizes_and_guards_are_refused_as_in_other_commands() {
    let folder = tempfile::tempdir().unwrap();
    for (arguments, code, said) in [
        (["--max-age-s", "59"], 3, "snapshot_too_old"),
        (["--min-days-observed", "7.01"], 3, "series_too_short"),
        (["--require", "live"], 3, "not_live"),
        (["--size-usd", "1000000000"], 3, "beyond_liquidity"),
        (["--size-usd", "many"], 2, "invalid_parameter"),
        (["--out", "."], 2, "invalid_parameter"),
    ] {
        let output = tried(folder.path(), &arguments);
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{error}");
        assert!(error.contains(said) && output.stdout.is_empty(), "{error}");
    }
    // The sample's clock stands 60 s after its last slot.
    let within = tried(folder.path(), &["--max-age-s", "60", "--min-days-observed", "7"]);
    assert_eq!(within.status.code(), Some(0), "{}", text(&within.stderr));
}

#[test]
fn the_written_sample_is_verified_and_audited_by_the_printed_commands() {
    let folder = tempfile::tempdir().unwrap();
    let output = tried(folder.path(), &["--out", "sample"]);
    let shown = text(&output.stdout);
    let (_, next) = shown.split_once("Next:\n").unwrap();
    let commands: Vec<&str> = next.lines().map(str::trim).collect();
    assert_eq!(commands.len(), 3, "{next}");
    for command in commands {
        let mut words = command.split(' ');
        assert_eq!(words.next(), Some("exitgap"));
        let mut program = Command::new(binaries::path("exitgap"));
        let ran = program.args(words).current_dir(folder.path()).output().unwrap();
        assert!(ran.status.success(), "{command}: {}", text(&ran.stderr));
    }
    let sample = folder.path().join("sample");
    assert!(sample.join(LOG_FOLDER).is_dir());
    let [written, committed] = [sample, root().join("crates/exitgap-sample/sample")];
    for name in [EVIDENCE_FILE, KEY_FILE] {
        assert_eq!(fs::read(written.join(name)).unwrap(), fs::read(committed.join(name)).unwrap());
    }
}

/// A running `exitgap-server try`.
struct Trying {
    child: Child,
    address: SocketAddr,
    /// What it printed up to how to stop.
    said: String,
}

impl Drop for Trying {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Trying {
    fn start(temporary: &Path) -> Self {
        let mut command = Command::new(binaries::path("exitgap-server"));
        command.arg("try").env_clear().env("TMPDIR", temporary).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut said = String::new();
        for line in lines.map_while(Result::ok) {
            said += &(line + "\n");
            if said.contains("Ctrl-C") {
                break;
            }
        }
        let address = said.split_once("http://").and_then(|(_, rest)| rest.split('/').next());
        let address = address.and_then(|address| address.parse().ok());
        let address = address.unwrap_or_else(|| panic!("no address in {said:?}"));
        Self { child, address, said }
    }

    fn ask(&self, method: &str, target: &str) -> Answer {
        let mut stream = TcpStream::connect(self.address).unwrap();
        let head = "HTTP/1.1\r\nHost: a\r\nConnection: close";
        stream.write_all(format!("{method} {target} {head}\r\n\r\n").as_bytes()).unwrap();
        rest_of(stream)
    }
}

#[test]
fn the_server_answers_from_the_sample_and_removes_it() {
    let temporary = tempfile::tempdir().unwrap();
    let mut trying = Trying::start(temporary.path());
    assert!(trying.said.starts_with("SAMPLE DATA: "), "{}", trying.said);
    let pools = trying.ask("GET", "/v1/pools").found();
    let pools = pools["pools"].as_array().unwrap();
    assert_eq!(pools.len(), 3);
    let evidence: Value = serde_json::from_slice(exitgap_sample::EVIDENCE).unwrap();
    let pool = evidence["request"]["pool"].as_str().unwrap();
    let target = format!("/v1/exit/{pool}?size_usd=1000000&max_age_s=60&min_days_observed=7");
    let exit = trying.ask("GET", &target).found();
    let published = evidence["result"]["exit_gap_pct"].as_str().unwrap();
    assert_eq!(exit["exit_gap_pct"].to_string(), published.trim_end_matches('0'));
    assert_eq!(exit["snapshot_age_s"], 60);
    assert!(trying.ask("POST", "/v1/alerts").status >= 400, "nothing is stored");
    let key = trying.ask("GET", "/log/verifier-key");
    assert_eq!(key.body_text(), exitgap_sample::VERIFIER_KEY);

    let id = trying.child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    assert_eq!(trying.child.wait().unwrap().code(), Some(0));
    assert!(!temporary.path().read_dir().unwrap().any(|_| true), "the unpacked sample is removed");
}

/// The number of slots of a trial, of which the sample has 2,016.
const TRIAL: u64 = 24;

#[tokio::test(flavor = "multi_thread")]
async fn the_samples_first_slots_are_those_of_its_seed() {
    let work = tempfile::tempdir().unwrap();
    let made = Making { work: work.path(), slots: TRIAL }.make().await.unwrap();
    assert_eq!(made.key, exitgap_sample::VERIFIER_KEY.as_bytes());
    let sample = exitgap_sample::recorded().unwrap();
    let slots = made.recorded.files().iter().filter(|file| file.path.starts_with("log/slots/"));
    let mut compared = 0;
    for file in slots {
        assert_eq!(sample.file(&file.path), Some(file.bytes.as_slice()), "{}", file.path);
        compared += 1;
    }
    assert!(compared >= TRIAL, "{compared} files");
}

#[test]
#[ignore = "slow: about ten minutes, with `cargo xtask test --all`"]
fn the_sample_is_made_again_from_its_seed() {
    let mut make = Command::new(binaries::path("exitgap-sample-maker"));
    make.arg("--check").arg("--folder").arg(root().join("crates/exitgap-sample/sample"));
    let output = make.output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
}
