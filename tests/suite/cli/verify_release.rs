//! `exitgap verify-release` on a small release: a good one, and every way in which one is refused.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output};

use exitgap_core::tlog::{
    Hash, LogProof, MAX_NOTE_BYTES, ReleaseFile, ReleaseList, SignerKey, inclusion_proof,
    leaf_hash, root,
};
use exitgap_tests::binaries;
use serde_json::Value;
use sha2::{Digest, Sha256};
use tempfile::TempDir;

const NAME: &str = "example.org/releases";
const LOG: &str = "example.org/release-log";
const FILES: [(&str, &str); 2] =
    [("exitgap-1.0-x86_64-linux.tar.gz", "programs"), ("install.sh", "script")];

fn key(name: &str, seed: u8) -> SignerKey {
    SignerKey::from_seed(name, [seed; 32]).unwrap()
}

fn trusted(key: &SignerKey) -> String {
    key.verifier().to_string()
}

fn list() -> ReleaseList {
    let file = |(name, text): &(&str, &str)| ReleaseFile {
        name: (*name).to_owned(),
        sha256: Sha256::digest(text).into(),
    };
    ReleaseList::new(FILES.iter().map(file).collect()).unwrap()
}

/// The proof that a log of three releases has the list, the second of them.
fn proof(signer: &SignerKey) -> String {
    let entry = list().log_entry();
    let entries = ["first", &entry, "third"];
    let leaves: Vec<Hash> = entries.iter().map(|entry| leaf_hash(entry.as_bytes())).collect();
    let checkpoint = signer.sign(&format!("{LOG}\n3\n{}\n", root(&leaves))).unwrap();
    LogProof { index: 1, hashes: inclusion_proof(&leaves, 1).unwrap(), checkpoint }.to_text()
}

/// A release signed by these keys, with a proof of its place in the log.
fn release(signers: &[&SignerKey]) -> TempDir {
    let folder = TempDir::new().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    for (name, text) in FILES {
        write(name, text);
    }
    let (first, others) = signers.split_first().unwrap();
    let note = first.sign(&list().to_text()).unwrap();
    let note = others.iter().fold(note, |note, key| key.sign_beside(&note).unwrap());
    write("SHA256SUMS", &list().to_text());
    write("SHA256SUMS.note", &note);
    write("release-proof", &proof(&key(LOG, 9)));
    folder
}

fn verify(release: &Path, arguments: &[&str]) -> Output {
    let mut verify = Command::new(binaries::path("exitgap"));
    verify.arg("verify-release").arg(release).args(arguments).output().unwrap()
}

/// The document of `--json`, and the exit code.
fn document(release: &Path, arguments: &[&str]) -> (Option<i32>, Value) {
    let output = verify(release, &[arguments, &["--json"]].concat());
    let said = String::from_utf8_lossy(&output.stderr);
    let document = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{said}"));
    (output.status.code(), document)
}

/// The check that did not pass: its code, the file, and whether there is a remedy.
fn refused(document: &Value) -> (String, Option<String>) {
    let checks = document["checks"].as_array().unwrap();
    let found: Vec<_> = checks.iter().filter(|check| check["outcome"] != "pass").collect();
    assert_eq!(found.len(), 1, "{document}");
    assert!(found[0]["detail"].is_string() && found[0]["remedy"].is_string(), "{document}");
    let text = |value: &Value| value.as_str().map(str::to_owned);
    (text(&found[0]["code"]).unwrap(), text(&found[0]["name"]))
}

#[test]
fn a_release_is_valid_by_one_of_the_given_keys_and_names_what_is_unsigned() {
    let (old, new, stranger) = (key(NAME, 1), key(NAME, 2), key("example.net/others", 3));
    let release = release(&[&old, &new]);
    let log_key = trusted(&key(LOG, 9));
    for given in [vec![&old], vec![&new], vec![&stranger, &new]] {
        let keys: Vec<String> = given.into_iter().map(trusted).collect();
        let arguments: Vec<&str> = keys.iter().flat_map(|key| ["--key", key]).collect();
        let (code, found) = document(release.path(), &arguments);
        assert_eq!((code, found["verdict"].as_str()), (Some(0), Some("valid")), "{found}");
        assert_eq!(found["signed_by"].as_array().unwrap().len(), 1);
        // The signature, and both files. The proof is not checked without the log's key.
        assert_eq!(found["checks"].as_array().unwrap().len(), 3);
    }
    let keys = release.path().join("keys.txt");
    fs::write(&keys, format!("{}\n{}\n", trusted(&stranger), trusted(&old))).unwrap();
    fs::create_dir(release.path().join("notes")).unwrap();
    let keys = keys.display().to_string();
    let (code, found) = document(release.path(), &["--key", &keys, "--log-key", &log_key]);
    assert_eq!(code, Some(0), "{found}");
    assert_eq!(found["unsigned"], serde_json::json!(["keys.txt", "notes"]));
    let place = found["checks"].as_array().unwrap().last().unwrap();
    assert_eq!(place["check"], "log");
    assert_eq!(place["detail"], format!("entry 1 of 3, counted from 0, in {LOG}"));
    let said = verify(release.path(), &["--key", &keys]);
    let said = String::from_utf8(said.stdout).unwrap();
    for words in [
        "VALID: ",
        "install.sh: 6 bytes",
        "log        not checked: give the log's key with --log-key KEY",
        "unsigned   keys.txt: the list does not name this file",
    ] {
        assert!(said.contains(words), "{words:?} is not in {said}");
    }
}

/// A code, the file that is named with it, and the change that it is for.
type Case<'a> = (&'a str, Option<&'a str>, &'a dyn Fn(&Path));

#[test]
fn every_changed_part_of_a_release_is_refused_by_its_name() {
    let ours = key(NAME, 1);
    let (key_text, log_key) = (trusted(&ours), trusted(&key(LOG, 9)));
    let cases: [Case<'_>; 14] = [
        ("file_differs", Some("install.sh"), &|at| {
            fs::write(at.join("install.sh"), "scripT").unwrap();
        }),
        ("file_differs", Some("install.sh"), &|at| fs::write(at.join("install.sh"), "").unwrap()),
        ("not_a_file", Some("install.sh"), &|at| {
            fs::rename(at.join("install.sh"), at.join("moved")).unwrap();
            symlink("moved", at.join("install.sh")).unwrap();
        }),
        ("not_a_file", Some("install.sh"), &|at| {
            fs::remove_file(at.join("install.sh")).unwrap();
            fs::create_dir(at.join("install.sh")).unwrap();
        }),
        ("file_too_large", Some("install.sh"), &|at| {
            let file = File::options().write(true).open(at.join("install.sh")).unwrap();
            file.set_len((2 << 30) + 1).unwrap();
        }),
        ("list_differs", None, &|at| {
            let text = list().to_text().replace("install.sh", "other.sh");
            fs::write(at.join("SHA256SUMS"), text).unwrap();
        }),
        ("note_malformed", None, &|at| {
            fs::write(at.join("SHA256SUMS.note"), list().to_text()).unwrap();
        }),
        ("signature_forged", None, &|at| {
            let note = fs::read_to_string(at.join("SHA256SUMS.note")).unwrap();
            let text = list().to_text();
            let other = key(NAME, 1).sign("another text\n").unwrap();
            let line = other.lines().last().unwrap();
            assert!(note.starts_with(&text));
            fs::write(at.join("SHA256SUMS.note"), format!("{text}\n{line}\n")).unwrap();
        }),
        ("not_signed_by_key", None, &|at| {
            let note = key(NAME, 7).sign(&list().to_text()).unwrap();
            fs::write(at.join("SHA256SUMS.note"), note).unwrap();
        }),
        ("list_malformed", None, &|at| {
            sign_text(at, &list().to_text().replace("install.sh", "../install.sh"));
        }),
        ("list_malformed", None, &|at| sign_text(at, &list().to_text().repeat(2))),
        ("proof_malformed", None, &|at| fs::write(at.join("release-proof"), "proof\n").unwrap()),
        ("proof_not_signed", None, &|at| {
            fs::write(at.join("release-proof"), proof(&key(LOG, 8))).unwrap();
        }),
        ("not_in_log", None, &|at| {
            let changed = proof(&key(LOG, 9)).replace("index 1", "index 2");
            fs::write(at.join("release-proof"), changed).unwrap();
        }),
    ];
    for (expected, name, change) in cases {
        let release = release(&[&ours]);
        change(release.path());
        let (code, found) = document(release.path(), &["--key", &key_text, "--log-key", &log_key]);
        assert_eq!(refused(&found), (expected.to_owned(), name.map(str::to_owned)), "{found}");
        assert_eq!((code, found["verdict"].as_str()), (Some(6), Some("invalid")), "{found}");
        let said = verify(release.path(), &["--key", &key_text, "--log-key", &log_key]);
        let said = String::from_utf8(said.stdout).unwrap();
        assert!(said.contains("INVALID") && said.contains("-> "), "{said}");
    }
}

/// Replaces the list by a text that our key really signed.
fn sign_text(release: &Path, text: &str) {
    fs::write(release.join("SHA256SUMS"), text).unwrap();
    fs::write(release.join("SHA256SUMS.note"), key(NAME, 1).sign(text).unwrap()).unwrap();
}

#[test]
fn what_is_absent_is_incomplete_and_what_cannot_be_read_is_an_error() {
    let ours = key(NAME, 1);
    let (key_text, log_key) = (trusted(&ours), trusted(&key(LOG, 9)));
    let arguments = ["--key", &*key_text, "--log-key", &*log_key];
    for (absent, expected) in [("install.sh", "file_missing"), ("release-proof", "proof_missing")] {
        let release = release(&[&ours]);
        fs::remove_file(release.path().join(absent)).unwrap();
        let (code, found) = document(release.path(), &arguments);
        assert_eq!(refused(&found).0, expected);
        assert_eq!((code, found["verdict"].as_str()), (Some(7), Some("incomplete")), "{found}");
    }
    let failed = |change: &dyn Fn(&Path), arguments: &[&str], code: i32, words: &str| {
        let release = release(&[&ours]);
        change(release.path());
        let output = verify(release.path(), arguments);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{said}");
        assert!(said.contains(words) && output.stdout.is_empty(), "{words:?} is not in {said}");
    };
    let remove = |name: &'static str| move |at: &Path| fs::remove_file(at.join(name)).unwrap();
    failed(&remove("SHA256SUMS"), &arguments, 5, "among them SHA256SUMS and SHA256SUMS.note");
    failed(&remove("SHA256SUMS.note"), &arguments, 5, "among them SHA256SUMS and SHA256SUMS.note");
    let long =
        |at: &Path| fs::write(at.join("SHA256SUMS"), "a".repeat(MAX_NOTE_BYTES + 1)).unwrap();
    failed(&long, &arguments, 5, "it is larger than the limit");
    let link = |at: &Path| {
        fs::rename(at.join("SHA256SUMS"), at.join("moved")).unwrap();
        symlink("moved", at.join("SHA256SUMS")).unwrap();
    };
    failed(&link, &arguments, 5, "it is a link, a folder or a device");
    failed(
        &|at| fs::write(at.join("SHA256SUMS"), [0xff]).unwrap(),
        &arguments,
        5,
        "it is not text",
    );
    failed(&|_| {}, &["--key", &key_text[..40]], 2, "a release key is <name>+");
    failed(&|_| {}, &["--key", "no-such-file"], 5, "reading keys no-such-file");
    failed(&|_| {}, &["--key", &key_text, "--log-key", &log_key[..40]], 2, "log-key: ");
    failed(&|_| {}, &[], 2, "--key <KEY|FILE>");
}
