//! `exitgap verify --api`: the state that the command line keeps of a log, and its reaction to a different log at the
//! next run.

use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use exitgap_client::{Client, EvidenceOf, LogWatch, Memory, Request, Response};
use exitgap_core::evidence::{Base, Outcome, Verdict};
use exitgap_core::exit::METHOD_VERSION;
use exitgap_tests::binaries;
use serde_json::Value;

use crate::scenes::client::{Log, Meddling, Outcomes, base, scene};
use crate::scenes::holes::tear_holes;
use crate::scenes::service::{Service, recorded};

struct Reader {
    arguments: Vec<String>,
}

impl Reader {
    fn of(service: &Service, pool: &str) -> Self {
        let api = format!("http://{}", service.address);
        let arguments = ["verify", pool, "--size-usd", "1000", "--api", &api];
        Self { arguments: arguments.map(str::to_owned).to_vec() }
    }

    fn run(&self, more: &[&str]) -> (Option<i32>, String, String) {
        let mut command = Command::new(binaries::path("exitgap"));
        let Output { status, stdout, stderr } =
            command.args(&self.arguments).args(more).output().unwrap();
        let [stdout, stderr] = [stdout, stderr].map(|text| String::from_utf8(text).unwrap());
        (status.code(), stdout, stderr)
    }
}

/// Finds the stored file whose name contains this text.
fn kept(folder: &Path, part: &str) -> PathBuf {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut found = paths.filter(|path| path.to_string_lossy().contains(part));
    let one = found.next().unwrap();
    assert_eq!(found.next(), None);
    one
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rewritten_log_is_noticed_by_the_next_run() {
    let (recorded, service, _) = scene().await;
    let log = Log::of(&recorded, &service);
    let reader = Reader::of(&service, &recorded.pool(0));
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("made/when/absent");
    let flags = ["--kept", folder.to_str().unwrap()];

    let (code, stdout, stderr) = reader.run(&[]);
    assert_eq!(code, Some(0), "{stdout}{stderr}");
    assert!(stdout.contains("VALID") && stdout.contains("window       pass"), "{stdout}");
    assert!(stderr.contains("Nothing is kept; with --kept FOLDER"), "{stderr}");

    let (code, _, stderr) = reader.run(&flags);
    assert_eq!(code, Some(0), "{stderr}");
    assert!(stderr.contains("named by the service just now"), "{stderr}");
    assert!(stderr.contains("This log was not seen before; its newest checkpoint is kept"));
    let checkpoint = kept(&folder, "checkpoint");
    assert_eq!(fs::read_to_string(&checkpoint).unwrap(), log.note);

    let (code, stdout, stderr) = reader.run(&[&flags[..], &["--json"]].concat());
    assert_eq!(code, Some(0), "{stderr}");
    let document: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(document["verdict"], "valid");
    let (trusted, continuity) = (&document["log"]["trusted"], &document["log"]["continuity"]);
    assert_eq!((trusted, continuity), (&"kept".into(), &"continues".into()));

    // The earlier run saw another history, signed with the same key.
    let fork = log.sign(&log.fork(3));
    fs::write(&checkpoint, &fork).unwrap();
    let (code, stdout, stderr) = reader.run(&flags);
    assert_eq!(code, Some(6), "{stdout}{stderr}");
    assert!(stdout.contains("PROOF OF MISBEHAVIOUR"), "{stdout}");
    assert!(stderr.contains("THE LOG DIFFERS FROM THE ONE AN EARLIER RUN SAW"), "{stderr}");
    assert_eq!(fs::read_to_string(&checkpoint).unwrap(), fork, "what was seen stays");

    // The earlier run saw more slots than the service shows now.
    let more = [&log.leaves[..], &log.leaves[..1]].concat();
    let more = log.sign(&more);
    fs::write(&checkpoint, &more).unwrap();
    let (code, _, stderr) = reader.run(&flags);
    assert_eq!(code, Some(7), "{stderr}");
    assert!(stderr.contains("fewer slots than an earlier run saw"), "{stderr}");
    assert_eq!(fs::read_to_string(&checkpoint).unwrap(), more, "what was seen stays");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_kept_and_cannot_be_read_is_not_taken_for_a_first_visit() {
    let (recorded, service, _) = scene().await;
    let reader = Reader::of(&service, &recorded.pool(0));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    assert_eq!(reader.run(&["--kept", path]).0, Some(0));
    let (checkpoint, keys) = (kept(folder.path(), "checkpoint"), kept(folder.path(), "keys"));
    let [whole, key] = [&checkpoint, &keys].map(|path| fs::read(path).unwrap());

    let long = vec![b'x'; 1 << 20];
    let cut = &whole[..whole.len() / 2];
    for (file, damaged) in [
        (&checkpoint, cut),
        (&checkpoint, b"\xff".as_slice()),
        (&checkpoint, &long),
        (&keys, b"\xff".as_slice()),
        (&keys, b"nobody".as_slice()),
        (&keys, &long),
    ] {
        fs::write(file, damaged).unwrap();
        let (code, stdout, stderr) = reader.run(&["--kept", path]);
        assert_eq!((code, stdout.as_str()), (Some(5), ""), "{stderr}");
        assert!(stderr.contains("kept"), "{stderr}");
        assert_eq!(fs::read(file).unwrap(), damaged, "it stays for its owner to look at");
        fs::write(&checkpoint, &whole).unwrap();
        fs::write(&keys, &key).unwrap();
    }
    assert_eq!(reader.run(&["--kept", path]).0, Some(0));

    // A checkpoint without its keys does not count as a first visit.
    fs::write(&keys, "").unwrap();
    let (code, _, stderr) = reader.run(&["--kept", path]);
    assert_eq!(code, Some(5), "{stderr}");
    assert!(stderr.contains("it is empty") && stderr.contains("--kept"), "{stderr}");
    fs::write(&keys, &key).unwrap();

    // A named pipe without a writer takes the place of the file: the program must not wait for it.
    fs::remove_file(&checkpoint).unwrap();
    assert!(Command::new("mkfifo").arg(&checkpoint).status().unwrap().success());
    let mut waiting = Command::new("timeout");
    waiting.arg("30").arg(binaries::path("exitgap")).args(&reader.arguments);
    let output = waiting.args(["--kept", path]).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(5), "{stderr}");
    assert!(stderr.contains("not a file"), "{stderr}");

    // A folder in the place of the file cannot be read, and a file cannot serve as the folder.
    fs::remove_file(&checkpoint).unwrap();
    fs::create_dir(&checkpoint).unwrap();
    assert_eq!(reader.run(&["--kept", path]).0, Some(5));
    let (code, _, stderr) = reader.run(&["--kept", keys.to_str().unwrap()]);
    assert_eq!(code, Some(5), "{stderr}");
    assert!(stderr.contains("--kept takes a folder"), "{stderr}");
}

#[tokio::test(flavor = "multi_thread")]
async fn questions_that_have_no_evidence_are_refused_and_a_refusal_is_proven() {
    let (recorded, service, _) = scene().await;
    let reader = Reader::of(&service, &recorded.pool(0));
    for (more, code, said) in [
        (&["--base", "NOBODY"][..], 2, "neither token"),
        (&["--at", "yesterday"], 2, "RFC 3339"),
        (&["--at", "2020-01-01T00:00:00Z"], 4, "begins"),
        (&["--trust", "nobody"], 5, "nobody"),
        (&["--since", "checkpoint"], 2, "cannot be used with"),
    ] {
        let (found, stdout, stderr) = reader.run(more);
        assert_eq!((found, stdout.as_str()), (Some(code), ""), "{more:?}: {stderr}");
        assert!(stderr.contains(said), "{more:?}: {stderr}");
    }
    let stranger = Reader::of(&service, "anvil:0x1111111111111111111111111111111111111111");
    assert_eq!(stranger.run(&[]).0, Some(4));
    let mut huge = Reader::of(&service, &recorded.pool(0));
    huge.arguments[3] = "1000000000".to_owned();
    // The verification also proves that a pool cannot fill a size.
    let (code, stdout, stderr) = huge.run(&[]);
    assert_eq!(code, Some(0), "{stderr}");
    assert!(stdout.contains("cannot be filled (beyond_liquidity)"), "{stdout}");
    assert!(stdout.contains("VALID: it follows from the signed log"), "{stdout}");
    let mut unnamed = Reader::of(&service, &recorded.pool(0));
    unnamed.arguments[1] = "a pool".to_owned();
    assert_eq!(unnamed.run(&[]).0, Some(2));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_verdict_stands_whoever_reads_it_and_whatever_cannot_be_kept() {
    let (recorded, service, _) = scene().await;
    let log = Log::of(&recorded, &service);
    let reader = Reader::of(&service, &recorded.pool(0));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    assert_eq!(reader.run(&["--kept", path]).0, Some(0));
    let checkpoint = kept(folder.path(), "checkpoint");
    fs::write(&checkpoint, log.sign(&log.fork(3))).unwrap();

    // If the reader of the output closes the pipe, the verdict on an invalid log stays the same.
    let (end, mut writer) = std::io::pipe().unwrap();
    drop(end);
    assert_eq!(writer.write(b"x").unwrap_err().kind(), ErrorKind::BrokenPipe);
    let exitgap = binaries::path("exitgap");
    let mut unread = Command::new(&exitgap);
    unread.args(&reader.arguments).args(["--kept", path]).stdout(writer);
    assert_eq!(unread.output().unwrap().status.code(), Some(6));

    // If the state cannot be stored, the program prints the answer and the error.
    let fresh = folder.path().join("fresh");
    let limited = format!(
        "trap '' XFSZ; ulimit -f 0; exec {} {} --kept {}",
        exitgap.display(),
        reader.arguments.join(" "),
        fresh.display()
    );
    let output = Command::new("bash").args(["-c", &limited]).output().unwrap();
    let [stdout, stderr] =
        [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    assert_eq!(output.status.code(), Some(5), "{stdout}{stderr}");
    assert!(stdout.contains("VALID") && stderr.contains("File too large"), "{stdout}{stderr}");
    // The next run knows that no earlier state was stored.
    let (code, _, stderr) = reader.run(&["--kept", fresh.to_str().unwrap()]);
    assert_eq!(code, Some(0), "{stderr}");
    assert!(stderr.contains("This log was not seen before"), "{stderr}");
}

/// The number still follows from the recorded snapshot, so the verdict stays valid. The output additionally reports the
/// retraction, as text and as JSON.
#[tokio::test(flavor = "multi_thread")]
async fn a_slot_that_was_taken_back_is_told_with_its_verdict() {
    let recorded = recorded(14).await;
    let (pool, slot) = tear_holes(&recorded);
    let service = Service::start(recorded.folder.path(), &["--no-record"], &[]);
    let reader = Reader::of(&service, &pool.to_string());
    let at = slot.to_string();
    let (code, stdout, stderr) = reader.run(&["--at", &at]);
    assert_eq!(code, Some(0), "{stdout}{stderr}");
    assert!(stdout.contains("VALID: it follows from the signed log"), "{stdout}");
    let by = recorded.last.next().unwrap().number();
    let words = format!("Since then   RETRACTED by the head of slot {by}: block 0x");
    assert!(stdout.contains(&words), "{stdout}");
    assert!(stdout.contains(&format!("replaced by 0x{}", "ee".repeat(32))), "{stdout}");
    let (_, stdout, _) = reader.run(&["--at", &at, "--json"]);
    let document: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(document["verdict"], "valid");
    let since = &document["since"];
    assert_eq!(
        (&since["taken_back"], &since["status"]["state"]),
        (&true.into(), &"retracted".into())
    );
    assert_eq!(since["heads"]["code"], "slot_retracted");

    // The newest recorded slot is not retracted, and the later heads are in the log.
    let (code, stdout, _) = reader.run(&[]);
    assert_eq!(code, Some(0), "{stdout}");
    assert!(stdout.contains("Since then   not retracted; 0x"), "{stdout}");
    assert!(
        stdout.contains(", then 26 heads up to 0x")
            && stdout.contains(", proven, 26 of them missing"),
        "{stdout}"
    );

    // If the service hides the retraction, the later heads reveal it, because the service cannot omit them.
    let of = EvidenceOf {
        pool: pool.clone(),
        base: Base::Token0,
        slot,
        size: "1000".parse().unwrap(),
        method_version: METHOD_VERSION.to_owned(),
    };
    let silent = Meddling::new(|request: &Request, outcome: Outcomes| {
        if !request.url.contains("/api/v1/status/") {
            return outcome;
        }
        let mut status: Value = serde_json::from_slice(&outcome.unwrap().body).unwrap();
        assert!(status["retraction"].is_object(), "{status}");
        status["state"] = "recorded".into();
        status.as_object_mut().unwrap().remove("retraction");
        Ok(Response { status: 200, headers: Vec::new(), body: status.to_string().into_bytes() })
    });
    let client = Client::new(&silent, base(&service));
    let watch = LogWatch::new(&client, Memory::default(), Vec::new());
    let verification = watch.verify_remote(&of, true).await.unwrap();
    assert_eq!(verification.report.report.verdict, Verdict::Valid);
    let since = client.since(&of, &verification).await.unwrap();
    assert!(since.is_taken_back() && since.status.retraction.is_none(), "{since:?}");

    // A failing request or an answer for another slot is an error, not an absent retraction.
    let other = Meddling::new(|request: &Request, outcome: Outcomes| {
        let body = outcome.unwrap().body;
        let body = if request.url.contains("/api/v1/status/") {
            let mut status: Value = serde_json::from_slice(&body).unwrap();
            status["slot"] = (slot.number() + 1).into();
            status.to_string().into_bytes()
        } else {
            body
        };
        Ok(Response { status: 200, headers: Vec::new(), body })
    });
    let client = Client::new(&other, base(&service));
    let error = client.since(&of, &verification).await.unwrap_err();
    assert_eq!(error.code(), "not_as_specified", "{error}");
    // The later heads must follow the head of the evidence.
    let elsewhere = recorded.pool(1);
    let swapped = Meddling::new(|request: &Request, outcome: Outcomes| {
        if !request.url.contains("/api/v1/window/") {
            return outcome;
        }
        let target = format!("/api/v1/window/{elsewhere}?slot={}", recorded.last.number());
        Ok(Response { status: 200, headers: Vec::new(), body: service.get(&target).body })
    });
    let client = Client::new(&swapped, base(&service));
    let heads = client.since(&of, &verification).await.unwrap().heads.unwrap();
    assert_eq!((heads.outcome, heads.code), (Outcome::Fail, "window_ends_elsewhere"));
}
