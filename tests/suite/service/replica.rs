//! A replica gives the same answers as the service whose log it follows, and continues with it.

use std::collections::BTreeMap;
use std::fs;
use std::process::{Command, Output};

use exitgap_core::pools::Direction;
use exitgap_store::Reader;
use exitgap_tests::binaries;
use serde_json::Value;
use tempfile::TempDir;

use crate::scenes::origin::{Origin, files, wait_until, without_narrower, words};
use crate::scenes::service::{Service, recorded};
use crate::scenes::store::slot;

/// Runs a follower once, which copies a log's published slots into a folder.
pub fn once(folder: &TempDir, log: &str, trust: &str) -> Output {
    let mut command = Command::new(binaries::path("exitgap-server"));
    command.args(["follow", "--once", "--data", ".", "--log", log, "--trust", trust]);
    command.current_dir(folder.path()).output().unwrap()
}

/// The replica's copy of the log, without partial tiles that wider tiles replace.
pub fn replicated(folder: &TempDir) -> BTreeMap<String, Vec<u8>> {
    without_narrower(files(&folder.path().join("log")))
}

/// An answer without the fields that depend on time and place.
fn settled(mut answer: Value) -> Value {
    fn settle(value: &mut Value) {
        match value {
            Value::Object(members) => {
                for (name, member) in members.iter_mut() {
                    if name.ends_with("age_s")
                        || name.ends_with("age_seconds")
                        || name == "request_id"
                    {
                        *member = Value::Null;
                    }
                    settle(member);
                }
            }
            Value::Array(members) => members.iter_mut().for_each(settle),
            Value::String(text) => {
                if let Some(at) = text.find("127.0.0.1:") {
                    let port = text[at + 10..].find(|c: char| !c.is_ascii_digit());
                    let end = port.map_or(text.len(), |port| at + 10 + port);
                    text.replace_range(at..end, "here");
                }
            }
            _ => {}
        }
    }
    settle(&mut answer);
    answer
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replica_answers_as_the_service_does_and_proves_it() {
    let recorded = recorded(3).await;
    let service = Service::start(recorded.folder.path(), &["--no-record"], &[]);
    let (folder, log) = (TempDir::new().unwrap(), format!("http://{}", service.address));
    let key = recorded.path("exitgap-log").join("verifier-key");
    let key = key.to_str().unwrap();
    let replica = Service::follow(folder.path(), &log, &["--trust", key]);
    wait_until(|| replica.get("/metrics").body_text().contains("exitgap_replica_slots_held 3"));

    let pools = service.get("/v1/pools").found();
    let second =
        |pool: &Value| pool["base"]["address"].as_str() > pool["quote"]["address"].as_str();
    assert!(pools["pools"].as_array().unwrap().iter().any(second), "some sell token 1: {pools}");
    let mut asked = vec!["/v1/pools".to_owned(), "/v1/fragility".to_owned()];
    for index in 0..recorded.world.pools.len() {
        let pool = recorded.pool(index);
        // The request does not name the base token: the replica must choose the same default.
        asked.push(format!("/v1/exit/{pool}?size_usd=25000"));
        asked.push(format!("/v1/ladder/{pool}"));
        asked.push(format!("/v1/history/{pool}?size_usd=25000"));
        asked.push(format!("/v1/stress/{pool}?size_usd=25000"));
    }
    let mut answered = 0;
    for target in &asked {
        let [there, here] = [&service, &replica].map(|one| one.get(target));
        assert_eq!(here.status, there.status, "{target}");
        answered += usize::from(here.status == 200);
        assert_eq!(settled(here.json()), settled(there.json()), "{target}");
    }
    assert!(answered > 3 * recorded.world.pools.len(), "{answered} of {}", asked.len());
    // The evidence is identical, byte for byte, and so are the log's files.
    let exit = replica.get(&asked[2]).found();
    let url = exit["evidence_url"].as_str().unwrap();
    let target = &url[url.find("/api/v1/").unwrap()..];
    let [there, here] = [&service, &replica].map(|one| one.get(target));
    assert!(here.status == 200 && here.body == there.body, "{target}");
    let mut published = without_narrower(files(&recorded.path("exitgap-log")));
    published.retain(|file, _| !file.starts_with("proofs/"));
    assert!(replicated(&folder) == published, "{:?}", published.keys());

    // The programs that check any service can check the replica.
    let url = format!("http://{}", replica.address);
    let pool = recorded.pool(0);
    let run = |arguments: &[&str]| {
        let mut exitgap = Command::new(binaries::path("exitgap"));
        let output = exitgap.args(arguments).current_dir(folder.path()).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {output:?}");
    };
    run(&["audit", &url, "--copy", "audited", "--trust", key]);
    run(&["verify", &pool, "--size-usd", "25k", "--api", &url, "--kept", "kept", "--trust", key]);
    let checked = Reader::open(folder.path().join("series.db")).unwrap().fsck(|_| {}).unwrap();
    assert_eq!(checked.slots, 3);
    // A replica can be followed like its origin.
    let second = TempDir::new().unwrap();
    let followed = once(&second, &url, key);
    assert!(followed.status.success(), "{}", words(&followed));
    assert_eq!(String::from_utf8_lossy(&followed.stdout), "followed 3 slots, 3 in total\n");
    assert_eq!(replica.end(), Some(0));
    // After a restart, it reports its state, although nothing is new.
    let replica = Service::follow(folder.path(), &log, &["--trust", key]);
    wait_until(|| {
        let says = replica.get("/metrics").body_text();
        ["held 3\n", "published 3\n"]
            .iter()
            .all(|end| says.contains(&format!("exitgap_replica_slots_{end}")))
    });
    assert_eq!(replica.end(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replica_goes_on_with_the_log_while_it_answers() {
    let mut origin = Origin::start(2).await;
    let folder = TempDir::new().unwrap();
    let key = origin.folder().join("verifier-key");
    let trust = ["--trust", key.to_str().unwrap(), "--every-s", "1"];
    let replica = Service::follow(folder.path(), &origin.log_url(), &trust);
    let holds = |slots: u32| {
        let says = format!("exitgap_replica_slots_held {slots}\n");
        wait_until(|| replica.get("/metrics").body_text().contains(&says));
    };
    holds(2);
    origin.asked();
    for next in 2..5 {
        origin.log.seal(next == 3);
        holds(next + 1);
        let pool = &origin.log.pools[1].id;
        let at = slot(next).number();
        let status = replica.get(&format!("/api/v1/status/{pool}?slot={at}")).found();
        assert_eq!(status["state"] == "missing", next == 3, "{status}");
    }
    assert!(replicated(&folder) == origin.published());
    // If nothing is new, only the checkpoint is requested.
    origin.asked();
    wait_until(|| origin.asked_so_far() >= 2);
    assert!(origin.asked().iter().all(|file| file == "checkpoint"));
    // If the log is unreachable, the replica answers from its data and reports the problem.
    origin.lie(|_, _| Some(b"HTTP/1.1 500 Sorry\r\nContent-Length: 0\r\n\r\n".to_vec()));
    wait_until(|| origin.fired() > 0);
    assert_eq!(
        replica.get("/log/checkpoint").body,
        fs::read(origin.folder().join("checkpoint")).unwrap()
    );
    assert!(origin.be_honest() > 0);
    origin.log.seal(false);
    holds(6);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replica_that_is_killed_goes_on_and_ends_with_the_same_bytes() {
    // Enough slots that the last kill comes before the end.
    const SLOTS: u32 = 40;
    let origin = Origin::start(SLOTS).await;
    let key = origin.folder().join("verifier-key");
    let key = key.to_str().unwrap();
    let mut stages = Vec::new();
    for kill_at in [1, 4, 12, 25, 40] {
        let folder = TempDir::new().unwrap();
        let came = std::sync::Mutex::new(0);
        origin.lie(move |_, _| {
            let mut came = came.lock().unwrap();
            *came += 1;
            (*came >= kill_at)
                .then(|| b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\nbegun".to_vec())
        });
        let mut command = Command::new(binaries::path("exitgap-server"));
        command.args([
            "follow",
            "--once",
            "--data",
            ".",
            "--log",
            &origin.log_url(),
            "--trust",
            key,
        ]);
        let mut child = command.current_dir(folder.path()).spawn().unwrap();
        wait_until(|| origin.fired() > 0);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(origin.be_honest() > 0, "it was killed in the middle");
        stages.push(files(&folder.path().join("log")).len());
        let followed = once(&folder, &origin.log_url(), key);
        assert!(followed.status.success(), "{kill_at}: {}", words(&followed));
        assert!(replicated(&folder) == origin.published(), "{kill_at}");
        let reader = Reader::open(folder.path().join("series.db")).unwrap();
        assert_eq!(reader.fsck(|_| {}).unwrap().slots, u64::from(SLOTS), "{kill_at}");
    }
    assert!(stages.first() < stages.last(), "{stages:?}");
}

/// Kills both sides between the commit of a slot and its checkpoint, once per applied slot: the next run covers what
/// the store contains and the folder does not cover.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_replica_holds_and_did_not_cover_is_covered_with_the_next_run() {
    let origin = Origin::start(4).await;
    let key = origin.folder().join("verifier-key");
    let key = key.to_str().unwrap();
    let folder = TempDir::new().unwrap();
    assert!(once(&folder, &origin.log_url(), key).status.success());
    let log = folder.path().join("log");
    fs::remove_file(log.join("checkpoint")).unwrap();
    fs::remove_dir_all(log.join("tile")).unwrap();
    let followed = once(&folder, &origin.log_url(), key);
    assert_eq!(String::from_utf8_lossy(&followed.stdout), "followed 0 slots, 4 in total\n");
    assert!(replicated(&folder) == origin.published());
}

/// A restored store has the same default base token, which only the published folder contains.
#[tokio::test(flavor = "multi_thread")]
async fn a_restored_store_has_the_default_bases_that_are_published() {
    let recorded = recorded(1).await;
    let bases = |store: &str| {
        let pools = Reader::open(recorded.path(store)).unwrap().pools().unwrap();
        pools.into_iter().map(|pool| (pool.id.to_string(), pool.default_base)).collect::<Vec<_>>()
    };
    let before = bases("exitgap.db");
    assert!(before.iter().any(|(_, base)| *base == Direction::OneForZero));
    fs::rename(recorded.path("exitgap.db"), recorded.path("lost.db")).unwrap();
    let mut restore = Command::new(binaries::path("exitgap-server"));
    let restored = restore.arg("restore").current_dir(recorded.folder.path()).output().unwrap();
    assert!(restored.status.success(), "{}", words(&restored));
    assert_eq!(bases("exitgap.db"), before);
    // An invalid list is reported, and nothing is restored.
    fs::remove_file(recorded.path("exitgap.db")).unwrap();
    fs::write(recorded.path("exitgap-log/default-bases"), "no pool\n").unwrap();
    let mut restore = Command::new(binaries::path("exitgap-server"));
    let refused = restore.arg("restore").current_dir(recorded.folder.path()).output().unwrap();
    assert!(words(&refused).contains("line 1 of default-bases"), "{}", words(&refused));
}
