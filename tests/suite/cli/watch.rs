//! Following a log: each new entry is reported once, and a log that fails its checks ends the program.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Output, Stdio};

use exitgap_tests::binaries;
use serde_json::Value;

use crate::scenes::growing::Log;
use crate::scenes::store::slot;

fn watch(log: &Log, arguments: &[&str]) -> Command {
    let mut command = Command::new(binaries::path("exitgap"));
    command.args(["watch", "log", "--json", "--rule", "rule.json"]).args(arguments);
    command.current_dir(log.path());
    command
}

fn said(output: &Output) -> Vec<(String, u64)> {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().map(|line| of(&serde_json::from_str(line).unwrap())).collect()
}

/// Returns what a line reports and its slot, counted from the log's first.
pub fn of(line: &Value) -> (String, u64) {
    let slot = line["slot"].as_u64().unwrap() - u64::from(slot(0).number());
    let event = line["event"]["type"].as_str();
    (event.or(line["alarm"].as_str()).unwrap().to_owned(), slot)
}

pub fn told(what: &str, slot: u64) -> (String, u64) {
    (what.to_owned(), slot)
}

#[test]
fn a_log_is_followed_and_what_does_not_hold_ends_it() {
    let mut log = Log::new();
    log.write_rule();
    log.seal(false);
    log.seal(true);
    let once = ["--once", "--seen", "seen"];
    let first = watch(&log, &once).output().unwrap();
    assert_eq!(first.status.code(), Some(0), "{first:?}");
    let expected = [told("missing", 1), told("alert.firing", 1), told("slot", 1)];
    assert_eq!(said(&first), expected);
    // The event equals the one from a replay.
    let mut replay = Command::new(binaries::path("exitgap"));
    replay.args(["alert", "replay", "rule.json", "--log", "log", "--json"]).current_dir(log.path());
    let replayed: Value = serde_json::from_slice(&replay.output().unwrap().stdout).unwrap();
    let line = String::from_utf8_lossy(&first.stdout).lines().nth(1).unwrap().to_owned();
    assert_eq!(serde_json::from_str::<Value>(&line).unwrap()["event"], replayed);
    // Nothing is reported twice, not even by a later run.
    assert_eq!(said(&watch(&log, &once).output().unwrap()), []);
    log.seal(false);
    let second = watch(&log, &once).output().unwrap();
    assert_eq!(said(&second), [told("alert.resolved", 2), told("slot", 2)]);

    // New slots appear while the program runs.
    let every = ["--seen", "seen", "--every-s", "1", "--late-after-s", "3"];
    let mut child =
        watch(&log, &every).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || of(&serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap());
    log.seal(true);
    assert_eq!(
        [next(), next(), next()],
        [told("missing", 3), told("alert.firing", 3), told("slot", 3)]
    );
    assert_eq!(next(), told("late", 3));
    // A rewritten history: the same slots with other contents, signed with the same key.
    let mut rewritten = Log::new();
    for _ in 0..5 {
        rewritten.seal(false);
    }
    fs::remove_dir_all(log.path().join("log")).unwrap();
    fs::rename(rewritten.path().join("log"), log.path().join("log")).unwrap();
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(6), "{ended:?}");
    assert!(
        String::from_utf8_lossy(&ended.stderr).contains("the log failed the audit"),
        "{ended:?}"
    );
    // Files that are not a stored state and not a rule.
    for arguments in
        [&["--seen", "rule.json", "--once"][..], &["--rule", "log/checkpoint", "--once"]]
    {
        let refused = watch(&log, arguments).output().unwrap();
        assert!(matches!(refused.status.code(), Some(2 | 5)), "{arguments:?}: {refused:?}");
    }
}
