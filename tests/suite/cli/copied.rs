//! Copies a log that a service publishes: the copy reads like the original folder, no file is fetched twice, and an
//! interrupted copy can continue.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::sync::{Arc, Mutex};

use serde_json::Value;

use super::watch::{of, told};
use crate::scenes::growing::Log;
use crate::scenes::origin::{Origin, answer, files, wait_until, words};
use crate::scenes::store::slot;

#[tokio::test(flavor = "multi_thread")]
async fn a_url_is_read_like_the_folder_behind_it() {
    let origin = Origin::start(4).await;
    origin.log.write_rule();
    let replay = |log: &[&str]| {
        origin.run(&[&["alert", "replay", "rule.json", "--json", "--log"], log].concat())
    };
    let by_folder = replay(&["log"]);
    assert_eq!(by_folder.status.code(), Some(0), "{}", words(&by_folder));
    assert!(by_folder.stdout.starts_with(b"{"), "there is something to say");
    let (service, log) = (origin.url.clone(), format!("{}/", origin.log_url()));
    let thrown_away = replay(&[&service]);
    assert_eq!(thrown_away.stdout, by_folder.stdout, "the same bytes: {}", words(&thrown_away));
    assert!(words(&thrown_away).contains("Use --copy FOLDER to keep the copy"));
    let temporary = fs::read_dir(origin.log.path().join("temporary")).unwrap();
    assert_eq!(temporary.count(), 0, "what is not kept is removed");
    let kept = replay(&[&log, "--copy", "made/when/absent"]);
    assert_eq!((kept.stdout, kept.status.code()), (by_folder.stdout, Some(0)));
    let copied = origin.copied("made/when/absent");
    assert!(copied == origin.published(), "all that is published: {:?}", copied.keys());
    assert!(copied.keys().any(|file| file.starts_with("fills/")));

    let audit = |log: &[&str]| {
        let output =
            origin.run(&[&["audit", "--json", "--trust", "log/verifier-key"], log].concat());
        assert_eq!(output.status.code(), Some(0), "{}", words(&output));
        serde_json::from_slice::<Value>(&output.stdout).unwrap()
    };
    let by_folder = audit(&["log"]);
    for copied in [&[service.as_str()][..], &[&service, "--copy", "other"]] {
        let mut copied = audit(copied);
        // Of a service it is known that this is what it shows now. Its slots are of a day long ago.
        let age = copied.as_object_mut().unwrap().remove("age").unwrap();
        assert!(age["overdue_slots"].as_u64().unwrap() > 1_000, "{age}");
        assert_eq!(copied, by_folder);
    }
    let text = origin.run(&["audit", &service, "--trust", "log/verifier-key"]).stdout;
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains(" old by this machine's clock") && text.contains("overdue"), "{text}");
    assert_eq!(audit(&["other"]), by_folder, "a copy is a log's folder");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_there_is_not_fetched_again() {
    let mut origin = Origin::start(5).await;
    assert_eq!(origin.audit("copy").status.code(), Some(0));
    origin.asked();
    // Nothing is new: only the files that may have changed are requested.
    assert_eq!(origin.audit("copy").status.code(), Some(0));
    let always = ["checkpoint", "default-bases", "superseded-by", "verifier-key"];
    assert_eq!(origin.asked(), always);
    let before = files(&origin.folder());
    origin.log.seal(false);
    origin.log.seal(true);
    // Files that were fetched before need not exist at the service any more.
    for part in before.keys().filter(|file| file.starts_with("parts/")) {
        fs::rename(origin.folder().join(part), origin.log.path().join("taken")).unwrap();
    }
    let again = origin.audit("copy");
    assert_eq!(again.status.code(), Some(0), "{}", words(&again));
    let new = |kind: &str| {
        let is_new = |file: &&String| file.starts_with(kind) && !before.contains_key(*file);
        files(&origin.folder()).keys().filter(is_new).cloned().collect::<Vec<_>>()
    };
    // Documents are only requested if a head commits to them. Tiles of hashes are computed from the tiles of entries.
    let mut expected: Vec<String> = always.map(str::to_owned).to_vec();
    expected.extend(["parts/", "slots/", "fills/", "issued/"].map(new).concat());
    expected.push("tile/entries/000.p/7".to_owned());
    expected.sort();
    assert_eq!(origin.asked(), expected);
    // Only a file that was lost is fetched again.
    let lost = format!("slots/{}.jsonl", slot(6).number());
    fs::remove_file(origin.log.path().join("copy").join(&lost)).unwrap();
    assert_eq!(origin.audit("copy").status.code(), Some(0));
    let mut expected = [&always.map(str::to_owned)[..], &[lost]].concat();
    expected.sort();
    assert_eq!(origin.asked(), expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_goes_over_full_tiles_and_one_that_grew_meanwhile() {
    let mut origin = Origin::start(250).await;
    assert_eq!(origin.audit("copy").status.code(), Some(0));
    let seen = fs::read(origin.folder().join("checkpoint")).unwrap();
    (0..8).for_each(|_| origin.log.append(false));
    origin.log.publish();
    assert!(!origin.folder().join("tile/0/000.p").exists(), "narrower tiles are gone");
    // A reader with the earlier checkpoint finds the full tile instead of the partial one.
    let noted = seen.clone();
    origin.lie(move |file, _| (file == "checkpoint").then(|| answer("200 OK", "", &noted)));
    let late = origin.audit("late");
    assert!(late.status.code() == Some(0) && origin.be_honest() == 1, "{}", words(&late));
    let copied = origin.log.path().join("late");
    assert_eq!(fs::read(copied.join("checkpoint")).unwrap(), seen);
    // The copy keeps only the part of the full tile that this checkpoint covers.
    assert!(copied.join("tile/entries/000.p/250").is_file());
    assert!(!copied.join("tile/entries/000").exists() && !copied.join("tile/0/000").exists());
    // Both copies continue, and their partial tiles disappear as in the log.
    for copy in ["copy", "late"] {
        let audited = origin.audit(copy);
        assert_eq!(audited.status.code(), Some(0), "{}", words(&audited));
        assert!(origin.copied(copy) == origin.published(), "{copy}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_that_bounds_its_clients_is_heeded() {
    let origin = Origin::start_with(25, "60").await;
    let refused = Arc::new(Mutex::new(0));
    let counted = Arc::clone(&refused);
    origin.lie(move |_, truth| {
        *counted.lock().unwrap() += usize::from(truth.starts_with(b"HTTP/1.1 429"));
        None
    });
    let audited = origin.audit("copy");
    assert_eq!(audited.status.code(), Some(0), "{}", words(&audited));
    assert!(*refused.lock().unwrap() > 0, "more was asked than a client may ask");
    assert!(origin.copied("copy") == origin.published());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_that_is_killed_goes_on() {
    let origin = Origin::start(40).await;
    let whole = origin.published();
    for kill_at in [0, 1, 2, 5, 9, 14, 20, 30] {
        // After this many files are in place, every further answer is incomplete, and the process is killed. The number
        // of requests until then depends on the machine.
        let copy = format!("copy-{kill_at}");
        let here = origin.log.path().join(&copy);
        origin.lie(move |_, _| {
            let is_cut = files(&here).len() >= kill_at;
            // The beginning of an answer, and then nothing.
            is_cut.then(|| b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\nbegun".to_vec())
        });
        let url = origin.log_url();
        let mut child = origin
            .command(&["audit", &url, "--copy", &copy])
            .stderr(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        wait_until(|| origin.fired() > 0);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(origin.be_honest() > 0);
        let here = origin.copied(&copy);
        assert!(!here.contains_key("checkpoint"), "the checkpoint comes last");
        assert!(here.len() >= kill_at, "{kill_at}: {:?}", here.keys());
        assert!(kill_at > 0 || here.is_empty(), "nothing is placed before it is whole");
        origin.asked();
        let audited = origin.audit(&copy);
        assert_eq!(audited.status.code(), Some(0), "{kill_at}: {}", words(&audited));
        let asked = origin.asked();
        let again = |file: &&String| !file.contains("verifier-key") && asked.contains(file);
        assert_eq!(here.keys().find(again), None, "killed at {kill_at}");
        assert!(origin.copied(&copy) == whole, "{kill_at}");
        let aside = origin.log.path().join(&copy).join(".copy-aside");
        assert_eq!(fs::read_dir(aside).unwrap().count(), 0, "what was unfinished is removed");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_is_followed_at_its_url() {
    let mut origin = Origin::start(1).await;
    origin.log.write_rule();
    let url = origin.url.clone();
    let every = [
        "--json",
        "--rule",
        "rule.json",
        "--every-s",
        "1",
        "--late-after-s",
        "4",
        "--seen",
        "seen",
    ];
    let watch =
        [&["watch", &url, "--copy", "copy", "--trust", "log/verifier-key"], &every[..]].concat();
    // The first run starts while the service returns errors.
    origin.lie(|_, _| Some(answer("500 Sorry", "", b"")));
    let mut child =
        origin.command(&watch).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut errors = BufReader::new(child.stderr.take().unwrap()).lines().map(|line| line.unwrap());
    let said = errors.next().unwrap();
    assert!(
        said.contains("cannot be updated [not_as_specified]") && said.contains("500"),
        "{said}"
    );
    wait_until(|| origin.fired() >= 2);
    origin.be_honest();
    assert_eq!(errors.next().unwrap(), "the copy is up to date again", "it was said once");
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || of(&serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap());
    assert_eq!(next(), told("slot", 0));
    origin.log.seal(true);
    assert_eq!(
        [next(), next(), next()],
        ["missing", "alert.firing", "slot"].map(|what| told(what, 1))
    );
    // The service returns errors for longer than the allowed delay of a slot.
    origin.lie(|_, _| Some(answer("500 Sorry", "", b"")));
    assert_eq!(next(), told("late", 1));
    assert!(errors.next().unwrap().contains("cannot be updated"));
    assert!(origin.be_honest() >= 2);
    origin.log.seal(false);
    assert_eq!([next(), next()], [told("alert.resolved", 2), told("slot", 2)]);
    assert_eq!(errors.next().unwrap(), "the copy is up to date again");
    // A rewritten history, signed with the same key.
    let mut rewritten = Log::new();
    (0..5).for_each(|_| rewritten.seal(false));
    fs::remove_dir_all(origin.folder()).unwrap();
    fs::rename(rewritten.path().join("log"), origin.folder()).unwrap();
    assert!(errors.next().unwrap().contains("the log failed the audit"));
    assert_eq!(child.wait().unwrap().code(), Some(6));
    // The next run continues after the last slot that was seen.
    let mut rest = String::new();
    errors.by_ref().for_each(|line| rest.push_str(&line));
    assert_eq!(rest, "");
}
