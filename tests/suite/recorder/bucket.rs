//! `exitgap-server` with a bucket on a third-party S3 server (moto): `record` uploads the log, anyone can audit and
//! follow it over HTTP, and `restore` downloads it. A recorder does not continue from a store that is older than the
//! bucket.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use exitgap_tests::binaries;
use exitgap_tests::demo::recorder_config;
use exitgap_tests::devchain::{FIRST_SLOT, Market};
use exitgap_tests::faults::s3::bucket;
use exitgap_tests::faults::s3_server::{BUCKET, Moto};
use exitgap_tests::folders::copy;
use tempfile::TempDir;

use crate::scenes::chain::scene;
use crate::scenes::left_days::Scene;
use crate::scenes::origin::files;

fn run(program: &str, folder: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(binaries::path(program));
    let output = command.args(arguments).current_dir(folder).output().unwrap();
    let Output { status, stdout, stderr } = output;
    (status.code(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

/// A configuration with a bucket, in its own folder.
struct Home {
    folder: TempDir,
    /// The configuration without the bucket.
    config: String,
    server: Moto,
}

impl Home {
    fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Configures the bucket at an endpoint; with `None`, no bucket.
    fn configure(&self, endpoint: Option<&str>) {
        let table = endpoint.map(|endpoint| {
            format!(
                "\n[bucket]\nurl = \"s3://{BUCKET}/log\"\nendpoint = \"{endpoint}\"\nallow_http = true\n\
                 credentials_file = \"bucket.toml\"\n"
            )
        });
        let text = self.config.clone() + &table.unwrap_or_default();
        fs::write(self.path().join("exitgap.toml"), text).unwrap();
    }

    fn endpoint(&self) -> String {
        format!("http://{}", self.server.address())
    }

    fn server(&self, arguments: &[&str]) -> (Option<i32>, String, String) {
        run("exitgap-server", self.path(), arguments)
    }

    /// Records one slot; returns the exit code and the error output.
    fn record(&self, n: u64) -> (Option<i32>, String) {
        let slot = (FIRST_SLOT + n).to_string();
        let (code, _, err) = self.server(&["record", "--rehearse-at", &slot, "--until", &slot]);
        (code, err)
    }

    fn recorded(&self, n: u64) {
        let (code, err) = self.record(n);
        assert!(code == Some(0), "{err}");
    }
}

/// A chain that the caller keeps alive, and a folder with a key.
async fn home(slots: u64) -> (impl Sized, Home) {
    let (chain, world) = scene().await;
    let mut market = Market::new(&chain, &world, 8).await.unwrap();
    for n in 0..slots {
        market.play_slot(FIRST_SLOT + n).await.unwrap();
    }
    let config = recorder_config(&chain, &world).replace("\"warn\"", "\"info\"");
    let home = Home { folder: TempDir::new().unwrap(), config, server: Moto::start().unwrap() };
    home.configure(Some(&home.endpoint()));
    let key = ["key", "new", "--out", "exitgap.key", "--name", "example.org/exits"];
    assert_eq!(home.server(&key).0, Some(0));
    ((chain, world), home)
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: moto, a Python program (cargo xtask test --all)"]
async fn who_claims_in_a_bucket_goes_on_where_another_ended() {
    let (_chain, home) = home(5).await;
    credentials_are_asked_for(&home);
    let folder = home.path();
    let claiming = |endpoint: &str| {
        home.configure(Some(endpoint));
        let path = folder.join("exitgap.toml");
        let text = fs::read_to_string(&path).unwrap();
        fs::write(path, text + "claims = true\n").unwrap();
    };
    claiming(&home.endpoint());
    for n in 0..2 {
        home.recorded(n);
    }
    let names = ["exitgap.db", "exitgap-log"];
    for name in names {
        copy(&folder.join(name), &folder.join("backup").join(name)).unwrap();
    }
    home.recorded(2);
    let newest = files(&folder.join("exitgap-log"));
    let lose = || {
        for name in ["exitgap.db", "exitgap.db-wal", "exitgap.db-shm", "exitgap-log"] {
            let there = folder.join(name);
            let _ = fs::remove_file(&there);
            let _ = fs::remove_dir_all(&there);
        }
    };
    // With an older store and folder, and without any: the recorder seals the missing slots exactly as they were
    // claimed.
    lose();
    for name in names {
        copy(&folder.join("backup").join(name), &folder.join(name)).unwrap();
    }
    let (code, err) = home.record(3);
    assert!(code == Some(0) && err.matches("sealed as claimed earlier").count() == 1, "{err}");
    lose();
    let (code, err) = home.record(4);
    assert!(code == Some(0) && err.matches("sealed as claimed earlier").count() == 4, "{err}");
    let now = files(&folder.join("exitgap-log"));
    let slots =
        newest.keys().filter(|name| name.starts_with("slots/") || name.starts_with("parts/"));
    for name in slots {
        assert!(now.get(name) == newest.get(name), "{name}");
    }
    let log = format!("{}/{BUCKET}/log", home.endpoint());
    let trust = fs::read_to_string(folder.join("exitgap-log/verifier-key")).unwrap();
    let audit = ["audit", "--json", &log, "--trust", trust.trim_end()];
    let (code, out, err) = run("exitgap", folder, &audit);
    assert!(code == Some(0) && out.contains("\"slots\": 5"), "{out}{err}");
    claiming("http://127.0.0.1:9");
    let (code, err) = home.record(5);
    assert!(
        code == Some(1) && err.contains("recording starts only when it can be reached"),
        "{err}"
    );
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: moto, a Python program (cargo xtask test --all)"]
async fn a_log_is_recorded_into_a_bucket_and_everything_is_made_from_it_again() {
    let (_chain, home) = home(7).await;
    credentials_are_asked_for(&home);
    for n in 0..3 {
        let (code, err) = home.record(n);
        assert!(code == Some(0) && err.contains("uploaded to the bucket"), "{err}");
    }
    let (_, out, err) = home.server(&["check"]);
    assert!(out.contains(&format!("bucket s3://{BUCKET}/log: has 3 slots")), "{out}{err}");
    anybody_reads_it(&home);
    an_old_backup_is_not_gone_on_with(&home);
    nothing_is_recorded_while_it_cannot_be_asked(&home);
}

fn credentials_are_asked_for(home: &Home) {
    let (code, err) = home.record(0);
    assert!(code == Some(1) && err.contains("bucket.toml: the file does not exist"), "{err}");
    let file = home.path().join("bucket.toml");
    fs::write(&file, "access_key_id = \"one\"\nsecret_access_key = \"topsecret\"\n").unwrap();
    let (code, err) = home.record(0);
    assert!(code == Some(1) && err.contains("600") && !err.contains("topsecret"), "{err}");
    fs::set_permissions(file, fs::Permissions::from_mode(0o600)).unwrap();
}

/// The bucket is readable like any folder on a file server, with correct caching headers.
fn anybody_reads_it(home: &Home) {
    let (folder, address) = (home.path(), home.server.address());
    let log = format!("http://{address}/{BUCKET}/log");
    let trust = fs::read_to_string(folder.join("exitgap-log/verifier-key")).unwrap();
    let audit = ["audit", &log, "--trust", trust.trim_end(), "--copy", "copied"];
    let (code, out, err) = run("exitgap", folder, &audit);
    assert!(code == Some(0) && out.contains('3'), "{out}{err}");
    let follow =
        ["follow", "--log", &log, "--trust", trust.trim_end(), "--data", "replica", "--once"];
    let (code, out, err) = home.server(&follow);
    assert_eq!(code, Some(0), "{out}{err}");
    let newest = fs::read(folder.join("exitgap-log/checkpoint")).unwrap();
    assert_eq!(fs::read(folder.join("replica/log/checkpoint")).unwrap(), newest);
    let published = files(&folder.join("exitgap-log"));
    for (name, bytes) in files(&folder.join("copied")) {
        assert!(published.get(&name) == Some(&bytes), "{name}");
    }
    let kept = |file: &str| {
        let mut server = TcpStream::connect(address).unwrap();
        let asked = format!("GET /{BUCKET}/log/{file} HTTP/1.0\r\nHost: {address}\r\n\r\n");
        server.write_all(asked.as_bytes()).unwrap();
        let mut answer = Vec::new();
        server.read_to_end(&mut answer).unwrap();
        String::from_utf8_lossy(&answer).to_ascii_lowercase()
    };
    let manifest = format!("slots/{FIRST_SLOT}.jsonl");
    assert!(kept(&manifest).contains("max-age=31536000, immutable"), "{}", kept(&manifest));
    assert!(kept("checkpoint").contains("max-age=5\r\n"), "{}", kept("checkpoint"));
}

/// The store and the folder of an old backup are consistent, but the bucket has newer data.
fn an_old_backup_is_not_gone_on_with(home: &Home) {
    let folder = home.path();
    for name in ["exitgap.db", "exitgap-log"] {
        copy(&folder.join(name), &folder.join("backup").join(name)).unwrap();
    }
    home.recorded(3);
    let newest = files(&folder.join("exitgap-log"));
    for name in ["exitgap.db", "exitgap.db-wal", "exitgap.db-shm", "exitgap-log"] {
        let there = folder.join(name);
        let _ = fs::remove_file(&there);
        let _ = fs::remove_dir_all(&there);
    }
    for name in ["exitgap.db", "exitgap-log"] {
        copy(&folder.join("backup").join(name), &folder.join(name)).unwrap();
    }
    let (code, err) = home.record(4);
    assert!(code == Some(1) && err.contains("has 4 slots, but the store has only 3"), "{err}");
    let (code, out, _) = home.server(&["check"]);
    let said = format!("error: bucket s3://{BUCKET}/log: the log published in");
    assert!(code == Some(1) && out.contains(&said), "{out}");
    let (code, out, err) = home.server(&["restore"]);
    assert!(code == Some(0) && out.contains("restored 1 slots"), "{out}{err}");
    assert!(files(&folder.join("exitgap-log"))["checkpoint"] == newest["checkpoint"]);
    home.recorded(4);
}

fn nothing_is_recorded_while_it_cannot_be_asked(home: &Home) {
    home.configure(Some("http://127.0.0.1:9"));
    let (code, err) = home.record(5);
    assert!(code == Some(1) && err.contains("remove [bucket] url"), "{err}");
    home.configure(None);
    home.recorded(5);
    // The next start uploads what was recorded without the bucket.
    home.configure(Some(&home.endpoint()));
    home.recorded(6);
    let (_, out, _) = home.server(&["check"]);
    assert!(out.contains("has 7 slots"), "{out}");
}

/// A day leaves the server's database only after its copy in the bucket was read back.
#[test]
#[ignore = "slow: moto, a Python program (cargo xtask test --all)"]
fn a_day_leaves_a_database_once_the_bucket_has_it() {
    let (scene, server) = (Scene::new(), Moto::start().unwrap());
    scene.write_days();
    let table = format!(
        "\n[bucket]\nurl = \"s3://{BUCKET}/log\"\nendpoint = \"http://{}\"\nallow_http = true\n\
         credentials_file = \"bucket.toml\"\n",
        server.address()
    );
    let config = scene.home().join("exitgap.toml");
    fs::write(&config, fs::read_to_string(&config).unwrap() + &table).unwrap();
    let credentials = scene.home().join("bucket.toml");
    fs::write(&credentials, "access_key_id = \"one\"\nsecret_access_key = \"two\"\n").unwrap();
    fs::set_permissions(credentials, fs::Permissions::from_mode(0o600)).unwrap();
    let (code, said) = scene.prune(&["--hot-days", "10"]);
    assert!(
        code == Some(1) && said.contains("the bucket's copy: ") && said.contains("does not exist"),
        "{said}"
    );
    bucket(server.address(), "log").unwrap().upload_folder(&scene.folder(), &scene.url).unwrap();
    let (code, said) = scene.prune(&["--hot-days", "10"]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(said.matches("the folder and the bucket have a complete copy").count(), 3, "{said}");
}
