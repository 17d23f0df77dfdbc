//! `exitgap-server` as a process: keys, a recorded and published log of real contracts, and evidence from it that
//! `exitgap` verifies.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use exitgap_core::tlog::SignerKey;
use exitgap_store::Reader;
use exitgap_tests::binaries;
use exitgap_tests::demo::recorder_config;
use exitgap_tests::devchain::{FIRST_SLOT, Market};
use tempfile::TempDir;

use crate::scenes::chain::scene;
use crate::store::folder::audit;

fn run(program: &str, folder: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(binaries::path(program));
    let output = command.args(arguments).current_dir(folder).output().unwrap();
    let Output { status, stdout, stderr } = output;
    (status.code(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

#[test]
fn a_key_is_made_once_on_request_and_for_its_owner_only() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("exitgap.key");
    let new = |name| {
        run(
            "exitgap-server",
            folder.path(),
            &["key", "new", "--out", "exitgap.key", "--name", name],
        )
    };
    let (code, _, err) = new("not a name");
    assert_eq!(code, Some(1));
    assert!(err.contains("--name") && !file.exists(), "{err}");
    let (code, out, err) = new("example.org/exits");
    assert_eq!(code, Some(0), "{err}");
    let text = fs::read_to_string(&file).unwrap();
    let key: SignerKey = text.trim_end().parse().unwrap();
    assert_eq!(out.trim_end(), key.verifier().to_string());
    assert!(!out.contains("PRIVATE") && !err.contains("PRIVATE"));
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let (code, out, err) = new("example.org/exits");
    assert_eq!((code, out.as_str()), (Some(1), ""));
    assert!(err.contains("already exists and is not overwritten"), "{err}");
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_recorder_published_is_audited_and_its_evidence_verified() {
    let (chain, world) = scene().await;
    let mut market = Market::new(&chain, &world, 8).await.unwrap();
    let home = TempDir::new().unwrap();
    let (folder, log) = (home.path(), home.path().join("exitgap-log"));
    let config = recorder_config(&chain, &world);
    fs::write(folder.join("exitgap.toml"), config.replace("\"warn\"", "\"info\"")).unwrap();
    let record = |n: u64| {
        let slot = (FIRST_SLOT + n).to_string();
        run("exitgap-server", folder, &["record", "--rehearse-at", &slot, "--until", &slot])
    };
    for n in 0..4 {
        market.play_slot(FIRST_SLOT + n).await.unwrap();
    }
    let (code, _, err) = record(0);
    assert_eq!(code, Some(1));
    assert!(err.contains("exitgap-server key new --out"), "{err}");
    assert!(!folder.join("exitgap.db").exists(), "no store is made for nothing");
    let key = ["key", "new", "--out", "exitgap.key", "--name", "example.org/exits"];
    assert_eq!(run("exitgap-server", folder, &key).0, Some(0));
    for n in 0..3 {
        let (code, _, err) = record(n);
        assert_eq!(code, Some(0), "{err}");
        assert!(!err.contains("not published yet"), "{err}");
    }
    let store = folder.join("exitgap.db");
    let report = audit(&log, &store);
    assert_eq!((&report["verdict"], &report["slots"]), (&"valid".into(), &3.into()), "{report}");
    assert_eq!(report["without_snapshot"], 0);

    let (code, out, err) = run("exitgap-server", folder, &["fsck"]);
    assert_eq!(code, Some(0), "{err}");
    let pools = world.pools.len();
    let expected =
        format!("ok: example.org/exits/5957856, 3 slots, {0} heads, {0} snapshots\n", 3 * pools);
    assert_eq!(out, expected);

    let reader = Reader::open(&store).unwrap();
    let trust = fs::read_to_string(log.join("verifier-key")).unwrap();
    assert_eq!(trust.trim_end(), reader.log().unwrap().unwrap().keys[0].to_string());
    for (number, pool) in reader.pools().unwrap().iter().enumerate() {
        let (pool, at) = (pool.id.to_string(), (FIRST_SLOT + number as u64 % 3).to_string());
        let files = ["--out", "evidence.json", "--window", "window.json"];
        let ask = ["evidence", &pool, "--size-usd", "1000", "--at", &at];
        let (code, _, err) = run("exitgap-server", folder, &[&ask[..], &files].concat());
        assert_eq!(code, Some(0), "{err}");
        let verify =
            ["verify", "evidence.json", "--window", "window.json", "--trust", trust.trim_end()];
        let (code, out, err) = run("exitgap", folder, &verify);
        assert_eq!(code, Some(0), "{out}{err}");
        // Standard output gets the same bytes.
        let (_, out, _) = run("exitgap-server", folder, &ask);
        assert_eq!(out, fs::read_to_string(folder.join("evidence.json")).unwrap());
    }

    let pool = reader.pools().unwrap()[0].id.to_string();
    let refused = |pool: &str, at: u64| {
        let at = (FIRST_SLOT + at).to_string();
        let ask = ["evidence", pool, "--size-usd", "1000", "--at", &at, "--out", "none.json"];
        let (code, _, err) = run("exitgap-server", folder, &ask);
        assert_eq!(code, Some(1));
        assert!(!folder.join("none.json").exists());
        err
    };
    assert!(refused(&pool, 3).contains("has no head for slot"));
    let stranger = format!("anvil:0x{:040x}", 7);
    assert!(refused(&stranger, 2).contains("is not in the store"));

    drop(reader);
    let copy = fs::read(&store).unwrap();
    let change = "UPDATE entry SET depth0_usd = 7 WHERE slot = 5957857 AND pool_no = 1";
    crate::store::sealing::damage(&store, change);
    let (code, out, err) = run("exitgap-server", folder, &["fsck"]);
    assert_eq!((code, out.as_str()), (Some(1), ""));
    assert!(err.contains("damaged: slot 2026-08-22T00:05:00Z: anvil:"), "{err}");
    fs::write(&store, copy).unwrap();

    // A wrong key or an older store cannot continue the log.
    fs::rename(folder.join("exitgap.key"), folder.join("right.key")).unwrap();
    assert_eq!(run("exitgap-server", folder, &key).0, Some(0));
    let (code, _, err) = record(3);
    assert_eq!(code, Some(1));
    assert!(err.contains("use the log's key"), "{err}");
    fs::rename(folder.join("right.key"), folder.join("exitgap.key")).unwrap();
    fs::remove_file(&store).unwrap();
    let (code, _, err) = record(3);
    assert_eq!(code, Some(1));
    assert!(err.contains("has 3 slots, but the store has only 0"), "{err}");
    assert!(err.contains("exitgap-server restore"), "{err}");
    let (code, out, err) = run("exitgap-server", folder, &["restore"]);
    assert_eq!((code, out.as_str()), (Some(0), "restored 3 slots\n"), "{err}");
    let (code, out, err) = run("exitgap-server", folder, &["fsck"]);
    assert_eq!((code, out), (Some(0), expected), "{err}");
    let (code, _, err) = record(3);
    assert_eq!(code, Some(0), "{err}");
    assert_eq!(audit(&log, &store)["slots"], 4);
}
