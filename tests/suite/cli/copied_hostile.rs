//! Services that lie to a client which copies their log: each lie is rejected with its own code, leaves nothing behind,
//! and with true answers the copy continues.

use std::fs::{self, File};

use exitgap_core::log_folder::MAX_MANIFEST_BYTES;
use exitgap_core::tlog::SignerKey;
use serde_json::Value;

use crate::scenes;
use crate::scenes::origin::{Origin, answer, files, words};
use crate::scenes::store::slot;

/// Returns the body of an answer.
fn body(answer: &[u8]) -> &[u8] {
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
    &answer[end + 4..]
}

/// Changes a byte of a part.
fn changed(mut part: Vec<u8>) -> Vec<u8> {
    *part.last_mut().unwrap() ^= 1;
    part
}

/// The file prefix, the change to the service's answer, the error code, and a part of the error message.
type Lie = (&'static str, fn(Vec<u8>) -> Vec<u8>, &'static str, &'static str);

const LIES: [Lie; 22] = [
    ("parts/", changed, "part_hash_mismatch", "which is not its name"),
    ("parts/", |_| answer("200 OK", "", b"short"), "part_hash_mismatch", "its manifest has"),
    (
        "parts/",
        |part| answer("200 OK", "", &[body(&part), b"more"].concat()),
        "answer_too_large",
        "longer than the maximum",
    ),
    ("parts/", |_| answer("404 Gone", "", b""), "file_absent", "commits to it"),
    ("slots/", |_| flood(MAX_MANIFEST_BYTES), "answer_too_large", "longer than the maximum"),
    ("slots/", |_| answer("200 OK", "", b"{}\n"), "not_as_specified", "it ends in line 2"),
    ("slots/", |_| answer("404 Gone", "", b""), "file_absent", "slots/"),
    (
        "slots/",
        |_| answer("302 Found", "Location: /log/checkpoint\r\n", b""),
        "not_as_specified",
        "redirects are not followed",
    ),
    ("slots/", |_| answer("503 Sorry", "", b""), "not_as_specified", "answered HTTP 503"),
    ("slots/", |_| answer("429 Busy", "Retry-After: 3600\r\n", b""), "rate_limited", "3600 s"),
    (
        "slots/",
        |_| b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\ncut".to_vec(),
        "unreachable",
        "slots/",
    ),
    ("fills/", |_| answer("500 Sorry", "", b""), "not_as_specified", "answered HTTP 500"),
    (
        "fills/",
        |_| answer("200 OK", "", b"no frame"),
        "not_as_signed",
        "not a complete Zstandard frame",
    ),
    (
        "fills/",
        |fills| undeclared(&body(&fills)[..20]),
        "not_as_signed",
        "not a complete Zstandard frame",
    ),
    (
        "verifier-key",
        |key| undeclared(&body(&key)[..body(&key).len() - 1]),
        "not_as_specified",
        "line break",
    ),
    ("tile/entries", |_| flood(1 << 20), "answer_too_large", "longer than the maximum"),
    (
        "tile/entries",
        |_| answer("200 OK", "", b"\0\x05abc"),
        "not_as_specified",
        "are not a valid tile",
    ),
    ("verifier-key", |_| answer("200 OK", "", b"no key\n"), "not_as_specified", "line 1"),
    ("verifier-key", |_| flood(64 << 10), "answer_too_large", "longer than the maximum"),
    ("checkpoint", |_| answer("200 OK", "", b"no checkpoint"), "not_as_specified", "checkpoint"),
    ("checkpoint", |note| sized(&note, "1000000000"), "log_too_long", "1000000000 slots"),
    (
        "checkpoint",
        |note| sized(&note, "18446744073709551615"),
        "log_too_long",
        "cannot have that many slots",
    ),
];

/// A body that is longer than the limit, without a declared length.
fn flood(most: usize) -> Vec<u8> {
    undeclared(&vec![b' '; most + 1])
}

/// A body that ends when the connection closes: the client cannot tell whether it is complete.
fn undeclared(body: &[u8]) -> Vec<u8> {
    [b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", body].concat()
}

/// The checkpoint with this size in its text.
fn sized(note: &[u8], size: &str) -> Vec<u8> {
    let note = String::from_utf8(body(note).to_vec()).unwrap();
    let mut lines: Vec<&str> = note.split('\n').collect();
    lines[1] = size;
    answer("200 OK", "", lines.join("\n").as_bytes())
}

#[tokio::test(flavor = "multi_thread")]
async fn each_lie_is_refused_by_its_name_and_the_copy_goes_on() {
    let origin = Origin::start(4).await;
    for (number, (files_of, make, code, why)) in LIES.into_iter().enumerate() {
        let copy = format!("copy-{number}");
        origin.lie(move |file, truth| file.starts_with(files_of).then(|| make(truth)));
        let refused = origin.audit(&copy);
        let said = words(&refused);
        assert!(origin.be_honest() > 0, "{number}: the lie is told");
        assert_eq!(refused.status.code(), Some(5), "{number}: {said}");
        assert!(said.contains(&format!("[{code}]")) && said.contains(why), "{number}: {said}");
        assert!(said.contains(&origin.url), "{number}: {said}");
        let here = origin.copied(&copy);
        assert!(!here.contains_key("checkpoint"), "{number}");
        let audited = origin.audit(&copy);
        assert_eq!(audited.status.code(), Some(0), "{number}: {}", words(&audited));
        assert!(origin.copied(&copy) == origin.published(), "{number}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_passes_is_waited_for() {
    let origin = Origin::start(3).await;
    for (number, passing) in [
        answer("503 Sorry", "", b""),
        answer("502 Sorry", "", b""),
        answer("429 Busy", "Retry-After: 1\r\n", b""),
        b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\nbegun".to_vec(),
        Vec::new(),
    ]
    .into_iter()
    .enumerate()
    {
        let left = std::sync::atomic::AtomicUsize::new(3);
        let take = move || {
            let order = std::sync::atomic::Ordering::SeqCst;
            left.fetch_update(order, order, |left| left.checked_sub(1)).is_ok()
        };
        origin.lie(move |file, _| (file.starts_with("parts/") && take()).then(|| passing.clone()));
        let audited = origin.audit(&format!("copy-{number}"));
        assert_eq!(audited.status.code(), Some(0), "{number}: {}", words(&audited));
        assert_eq!(origin.be_honest(), 3);
    }
}

/// Returns the checkpoint that was signed with a slot.
fn earlier(origin: &Origin, index: u32) -> Vec<u8> {
    let manifest = origin.folder().join(format!("slots/{}.jsonl", slot(index).number()));
    let manifest = fs::read_to_string(manifest).unwrap();
    let line: Value = serde_json::from_str(manifest.lines().last().unwrap()).unwrap();
    line["checkpoint"].as_str().unwrap().as_bytes().to_vec()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_is_of_one_log_and_never_shrinks() {
    let mut origin = Origin::start(4).await;
    assert_eq!(origin.audit("copy").status.code(), Some(0));
    let before = origin.copied("copy");
    let other = scenes::log::Log::honest(3).checkpoint(3).into_bytes();
    let other_key = format!("{}\n", scenes::log::signer().verifier()).into_bytes();
    let shrunk = earlier(&origin, 1);
    for (file, lie, code, why) in [
        ("checkpoint", shrunk, "log_shrank", "of 2 slots, but the copy has one of 4"),
        ("checkpoint", other, "other_log", "exitgap.example/log/5958856"),
        ("verifier-key", other_key, "other_log", "does not begin with the keys"),
    ] {
        origin.lie(move |asked, _| (asked == file).then(|| answer("200 OK", "", &lie)));
        let refused = origin.audit("copy");
        let said = words(&refused);
        assert_eq!(origin.be_honest(), 1, "{file}");
        assert_eq!(refused.status.code(), Some(5), "{said}");
        assert!(said.contains(&format!("[{code}]")) && said.contains(why), "{said}");
    }
    assert!(origin.copied("copy") == before, "nothing was changed");
    origin.log.seal(false);
    assert_eq!(origin.audit("copy").status.code(), Some(0));
    damaged(&origin);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_comparison_copies_a_log_only_by_the_trusted_keys_of_its_name() {
    let origin = Origin::start(3).await;
    let other = origin.log.path().join("other-log");
    scenes::log::Log::honest(3).publish(&other);
    let name = fs::read_to_string(origin.folder().join("verifier-key")).unwrap();
    let name = name.split('+').next().unwrap();
    let stranger = SignerKey::from_seed(name, [9; 32]).unwrap().verifier().to_string();
    let of_other = scenes::log::signer().verifier().to_string();
    let compare = |copy: &str, trusted: &str| {
        let arguments = ["compare", &origin.url, "other-log", "--copy-first", copy];
        origin.run(&[&arguments[..], &["--trust", trusted]].concat())
    };
    // A key with the log's name must have signed it.
    let refused = compare("copy", &stranger);
    assert_eq!(refused.status.code(), Some(5), "{}", words(&refused));
    assert!(words(&refused).contains("[signature_not_trusted]"), "{}", words(&refused));
    assert!(origin.copied("copy").is_empty(), "nothing was copied");
    // A key of the other log says nothing about this one: it is copied as it signs itself, and the result is open.
    let compared = compare("copy", &of_other);
    assert_eq!(compared.status.code(), Some(7), "{}", words(&compared));
    assert!(origin.copied("copy") == origin.published());
}

/// Damaged files in the copy, and folders that are not copies.
fn damaged(origin: &Origin) {
    let copy = origin.log.path().join("copy");
    let part = files(&copy).into_keys().find(|file| file.starts_with("parts/")).unwrap();
    for (file, most) in [
        (part, "its manifest has"),
        (format!("slots/{}.jsonl", slot(2).number()), "it ends in line 1"),
        ("checkpoint".to_owned(), "copy/checkpoint"),
    ] {
        let path = copy.join(&file);
        fs::write(&path, "x").unwrap();
        let said = words(&origin.audit("copy"));
        assert!(said.contains("[copy_damaged]") && said.contains(most), "{said}");
        assert!(said.contains("remove it so that it is downloaded again"), "{said}");
        fs::remove_file(&path).unwrap();
        assert_eq!(origin.audit("copy").status.code(), Some(0), "{file}");
    }
    let lock = File::create(copy.join(".copy-lock")).unwrap();
    lock.lock().unwrap();
    let said = words(&origin.audit("copy"));
    assert!(said.contains("[copy_in_use]"), "{said}");
    drop(lock);
    let other = origin.log.path().join("other");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("letter"), "dear").unwrap();
    let said = words(&origin.audit("other"));
    assert!(said.contains("[not_a_copy]"), "{said}");
    assert_eq!(fs::read_dir(&other).unwrap().count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_copied_is_an_argument_that_is_wrong() {
    let origin = Origin::start(1).await;
    let url = origin.url.clone();
    for (arguments, field, words_of) in [
        (&["watch", &url][..], "copy", "needs a folder for the copy"),
        (&["watch", "log", "--copy", "copy"], "copy", "so no copy is made"),
        (&["audit", "log", "--copy", "copy"], "copy", "so no copy is made"),
        (&["audit", "ftp://exits.example"], "log", "is not a valid log URL"),
        (
            &["audit", "http://name@exits.example", "--copy", "copy"],
            "log",
            "is not a valid log URL",
        ),
    ] {
        let refused = origin.run(&[arguments, &["--json"]].concat());
        assert_eq!(refused.status.code(), Some(2), "{arguments:?}");
        let problem: Value = serde_json::from_slice(&refused.stderr).unwrap();
        assert_eq!(problem["field"], field, "{problem}");
        assert!(problem["detail"].as_str().unwrap().contains(words_of), "{problem}");
    }
    assert!(!origin.log.path().join("copy").exists());
    // An address without a listener.
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let refused = origin.run(&["watch", &format!("http://{gone}/log"), "--copy", "copy", "--once"]);
    assert_eq!(refused.status.code(), Some(5));
    assert!(words(&refused).contains("[unreachable]"), "{}", words(&refused));
}
