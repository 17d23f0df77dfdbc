//! `install.sh` with releases in a local folder: a good one, and changed ones.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use exitgap_core::tlog::SignerKey;
use sha2::{Digest, Sha256};
use tempfile::TempDir;

const SCRIPT: &str = "crates/exitgap-server/deploy/install.sh";
const NAME: &str = "example.org/releases";
const FOLDER: &str = "exitgap-0.2.0-x86_64-linux";

fn key(seed: u8) -> SignerKey {
    SignerKey::from_seed(NAME, [seed; 32]).unwrap()
}

fn script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join(SCRIPT)
}

/// A release for this platform, signed by these keys.
fn release(signers: &[&SignerKey]) -> TempDir {
    let release = TempDir::new().unwrap();
    let here = release.path();
    fs::create_dir(here.join(FOLDER)).unwrap();
    for program in ["exitgap", "exitgap-server"] {
        fs::write(here.join(FOLDER).join(program), format!("#!/bin/sh\necho {program} 0.2.0\n"))
            .unwrap();
    }
    let archive = format!("{FOLDER}.tar.gz");
    let packed = Command::new("tar").args(["-czf", &archive, FOLDER]).current_dir(here).status();
    assert!(packed.unwrap().success());
    fs::remove_dir_all(here.join(FOLDER)).unwrap();
    let hash = Sha256::digest(fs::read(here.join(&archive)).unwrap());
    let hash = alloy::primitives::hex::encode(hash);
    let other = "0".repeat(64);
    // With files for other platforms and purposes.
    let sums = format!(
        "{hash}  {archive}\n{other}  exitgap-0.2.0-aarch64-linux.tar.gz\n\
         {other}  exitgap-image-0.2.0-x86_64-linux.tar\n{other}  exitgap-0.2.0-source.tar.gz\n"
    );
    let (first, others) = signers.split_first().unwrap();
    let note =
        others.iter().fold(first.sign(&sums).unwrap(), |note, key| key.sign_beside(&note).unwrap());
    fs::write(here.join("SHA256SUMS"), &sums).unwrap();
    fs::write(here.join("SHA256SUMS.note"), note).unwrap();
    release
}

fn install(release: &Path, key: &str, to: &Path) -> Output {
    let mut install = Command::new("sh");
    install.arg(script()).arg("--from").arg(release).args(["--key", key]).arg("--to").arg(to);
    install.env_remove("EXITGAP_RELEASE_KEY").output().unwrap()
}

/// Requires that an installation fails with these words, and installs nothing.
fn refused(release: &Path, key: &str, words: &str) {
    let to = TempDir::new().unwrap();
    let output = install(release, key, to.path());
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains(words), "{words:?} is not in {said}");
    assert_eq!(fs::read_dir(to.path()).unwrap().count(), 0, "{words}: something was installed");
}

#[test]
fn a_signed_release_is_installed_and_runs_also_over_an_older_one() {
    let (ours, other) = (key(1), key(2));
    for release in [release(&[&ours]), release(&[&other, &ours])] {
        let to = TempDir::new().unwrap();
        fs::write(to.path().join("exitgap"), "older").unwrap();
        let output = install(release.path(), &ours.verifier().to_string(), to.path());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(said.contains(&format!("signed by {NAME}+")), "{said}");
        for program in ["exitgap", "exitgap-server"] {
            let ran = Command::new(to.path().join(program)).output().unwrap();
            assert_eq!(String::from_utf8(ran.stdout).unwrap(), format!("{program} 0.2.0\n"));
        }
    }
}

#[test]
fn nothing_is_written_beside_the_folder_of_an_installation_or_into_a_folder_of_a_programs_name() {
    let ours = key(1);
    let (release, trusted) = (release(&[&ours]), ours.verifier().to_string());
    let (to, beside) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    // The name that a program had until it was complete in an earlier version of the script.
    let victim = beside.path().join("victim");
    fs::write(&victim, "mine").unwrap();
    std::os::unix::fs::symlink(&victim, to.path().join(".exitgap.new")).unwrap();
    let output = install(release.path(), &trusted, to.path());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8(output.stdout).unwrap().contains(FOLDER));
    assert_eq!(fs::read_to_string(&victim).unwrap(), "mine");
    let to = TempDir::new().unwrap();
    fs::create_dir(to.path().join("exitgap-server")).unwrap();
    let output = install(release.path(), &trusted, to.path());
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("exitgap-server is a folder") && said.contains("--to"), "{said}");
    assert_eq!(fs::read_dir(to.path()).unwrap().count(), 1, "neither program is installed");
}

#[test]
fn a_changed_archive_list_or_signature_and_another_key_are_refused_by_name() {
    let ours = key(1);
    let trusted = ours.verifier().to_string();
    let with = |change: &dyn Fn(&Path), key: &str, words: &str| {
        let release = release(&[&ours]);
        change(release.path());
        refused(release.path(), key, words);
    };
    let replace = |name: &'static str, from: &'static str, to: &'static str| {
        move |release: &Path| {
            let path = release.join(name);
            let text = fs::read_to_string(&path).unwrap();
            assert!(text.contains(from), "{text}");
            fs::write(path, text.replace(from, to)).unwrap();
        }
    };
    let archive = |release: &Path| release.join(format!("{FOLDER}.tar.gz"));
    with(
        &|release| fs::write(archive(release), "other").unwrap(),
        &trusted,
        "is not the file that was signed",
    );
    with(
        &|release| fs::remove_file(archive(release)).unwrap(),
        &trusted,
        "the release has no file exitgap-0.2.0",
    );
    with(&replace("SHA256SUMS", "0000", "0001"), &trusted, "not the text that was signed");
    with(
        &|release| fs::remove_file(release.join("SHA256SUMS")).unwrap(),
        &trusted,
        "has no file SHA256SUMS",
    );
    let unsigned = |release: &Path| fs::remove_file(release.join("SHA256SUMS.note")).unwrap();
    with(&unsigned, &trusted, "the release has no file SHA256SUMS.note");
    let both = |release: &Path| {
        replace("SHA256SUMS", "0000", "0001")(release);
        replace("SHA256SUMS.note", "0000", "0001")(release);
    };
    with(&both, &trusted, "does not fit SHA256SUMS");
    let cut = |release: &Path| {
        fs::copy(release.join("SHA256SUMS"), release.join("SHA256SUMS.note")).map(drop).unwrap();
    };
    with(&cut, &trusted, "no signature by the key");
    with(&|_| {}, &key(2).verifier().to_string(), "no signature by the key");
    with(
        &replace("SHA256SUMS.note", NAME, "example.org/others"),
        &trusted,
        "no signature by the key",
    );
    let (name, rest) = trusted.split_once('+').unwrap();
    for wrong in [
        "none",
        &format!("{name}+00000000{}", &rest[8..]),
        &format!("{name}x+{rest}"),
        &trusted[..40],
    ] {
        with(&|_| {}, wrong, "the release key is not valid");
    }
    with(&|_| {}, "", "no release key is given");
    refused(Path::new("http://example.org/release"), &trusted, "is not an https address");
    let usage = Command::new("sh").arg(script()).arg("--wrong").output().unwrap();
    assert_eq!(usage.status.code(), Some(2));
}
