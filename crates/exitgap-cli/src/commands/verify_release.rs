//! `exitgap verify-release`: checks the signature and the files of a release.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use exitgap_api::Problem;
use exitgap_core::evidence::{Outcome, Verdict};
use exitgap_core::file_errors::explained;
use exitgap_core::tlog::{
    MAX_NOTE_BYTES, MAX_PROOF_BYTES, Note, RELEASE_PROOF_FILE, ReleaseFile, ReleaseList,
    ReleasePlace, ReleaseProofError, SUMS_FILE, SUMS_NOTE_FILE, VerifierKey,
};
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::print_json;
use crate::failure::{Failure, read_or_not, verdict_code};
use crate::format::{group_digits, printable};
use crate::release_arguments::VerifyReleaseArgs;
use crate::source::unreadable;
use crate::trust;

/// The largest file that is hashed.
const MAX_FILE_BYTES: u64 = 2 << 30;

/// The remedy if a file may have been changed.
const DO_NOT_USE: &str =
    "do not use this release; download it again, and report it if it stays the same";

/// The document of `--json`.
#[derive(Serialize)]
struct Report {
    verdict: Verdict,
    /// The given keys that signed, as `<name>+<id>`.
    signed_by: Vec<String>,
    checks: Vec<Check>,
    /// Names in the folder that the list does not have.
    unsigned: Vec<String>,
}

/// The result of one check.
#[derive(Debug, Serialize)]
struct Check {
    #[serde(rename = "check")]
    kind: &'static str,
    /// The file, if the check is of one.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    outcome: Outcome,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    remedy: Option<&'static str>,
}

impl Check {
    fn passed(kind: &'static str, detail: impl Into<String>) -> Self {
        let detail = Some(detail.into());
        Self { kind, name: None, outcome: Outcome::Pass, code: None, detail, remedy: None }
    }

    fn failed(kind: &'static str, code: &'static str, detail: impl Into<String>) -> Self {
        let remedy = Some(DO_NOT_USE);
        Self { outcome: Outcome::Fail, code: Some(code), remedy, ..Self::passed(kind, detail) }
    }

    fn not_made(
        kind: &'static str,
        code: &'static str,
        detail: impl Into<String>,
        remedy: &'static str,
    ) -> Self {
        let failed = Self::failed(kind, code, detail);
        Self { outcome: Outcome::NotChecked, remedy: Some(remedy), ..failed }
    }

    fn of_file(self, name: &str) -> Self {
        Self { name: Some(name.to_owned()), ..self }
    }
}

pub fn run(args: &VerifyReleaseArgs, json: bool) -> Result<ExitCode, Failure> {
    let keys = trust::release_keys("key", &args.key)?;
    let log_keys = trust::release_keys("log-key", &args.log_key)?;
    let folder = &args.folder;
    let list = read_in(folder, SUMS_FILE, MAX_NOTE_BYTES)?;
    let note = read_in(folder, SUMS_NOTE_FILE, MAX_NOTE_BYTES)?;
    let (signed_by, signature) = check_signature(&note, &list, &keys);
    let is_signed = signature.outcome == Outcome::Pass;
    let mut checks = vec![signature];
    let mut unsigned = Vec::new();
    // An unsigned list names no file that is read.
    if is_signed {
        match ReleaseList::from_text(&list) {
            Ok(list) => {
                checks.extend(list.files().iter().map(|file| check_file(folder, file)));
                if !log_keys.is_empty() {
                    checks.push(check_log(folder, &list, &log_keys));
                }
                unsigned = names_beyond(folder, &list)?;
            }
            Err(error) => {
                checks.push(Check::failed("list", "list_malformed", error.to_string()));
            }
        }
    }
    let any = |outcome| checks.iter().any(|check| check.outcome == outcome);
    let verdict = match (any(Outcome::Fail), any(Outcome::NotChecked)) {
        (true, _) => Verdict::Invalid,
        (false, true) => Verdict::Incomplete,
        (false, false) => Verdict::Valid,
    };
    let report = Report { verdict, signed_by, checks, unsigned };
    let log_is_given = !log_keys.is_empty();
    read_or_not(if json { print_json(&report) } else { print_text(&report, log_is_given) })?;
    Ok(verdict_code(verdict))
}

/// The given keys that signed, and whether that is enough.
fn check_signature(note: &str, list: &str, keys: &[VerifierKey]) -> (Vec<String>, Check) {
    const KIND: &str = "signature";
    let parsed = match Note::parse(note) {
        Ok(parsed) => parsed,
        Err(error) => {
            let detail = format!("{SUMS_NOTE_FILE}: {error}");
            return (Vec::new(), Check::failed(KIND, "note_malformed", detail));
        }
    };
    let signers = parsed.signers(keys);
    if let Some(forged) = signers.forged.first() {
        let detail = format!("the signature named {forged} was not made by that key");
        return (Vec::new(), Check::failed(KIND, "signature_forged", detail));
    }
    if signers.trusted.is_empty() {
        let others = match &signers.unknown[..] {
            [] => String::new(),
            found => format!("; it is signed by {}", found.join(", ")),
        };
        let detail = format!("no given key signed {SUMS_NOTE_FILE}{others}");
        return (Vec::new(), Check::failed(KIND, "not_signed_by_key", detail));
    }
    if parsed.text != list {
        let detail = format!("{SUMS_FILE} is not the text that was signed");
        return (Vec::new(), Check::failed(KIND, "list_differs", detail));
    }
    let check = Check::passed(KIND, signers.trusted.join(", "));
    (signers.trusted, check)
}

/// Hashes a listed file.
fn check_file(folder: &Path, file: &ReleaseFile) -> Check {
    const KIND: &str = "file";
    let path = folder.join(&file.name);
    let unread = |error: io::Error| {
        if error.kind() == io::ErrorKind::NotFound {
            let remedy = "download it from the release; the other files were checked";
            return Check::not_made(KIND, "file_missing", "the release's folder lacks it", remedy);
        }
        let remedy = "make it readable for this user";
        Check::not_made(KIND, "file_unreadable", explained(&error).to_string(), remedy)
    };
    let found = fs::symlink_metadata(&path).map_err(unread).and_then(|metadata| {
        if !metadata.is_file() {
            let detail = "it is a link, a folder or a device, not a file";
            return Err(Check::failed(KIND, "not_a_file", detail));
        }
        if metadata.len() > MAX_FILE_BYTES {
            let detail = format!(
                "it has {} bytes; at most {} are accepted",
                group_digits(&metadata.len().to_string()),
                group_digits(&MAX_FILE_BYTES.to_string())
            );
            return Err(Check::failed(KIND, "file_too_large", detail));
        }
        hash_file(&path).map_err(unread)
    });
    let check = match found {
        Ok((bytes, hash)) if hash == file.sha256 => {
            Check::passed(KIND, format!("{} bytes", group_digits(&bytes.to_string())))
        }
        Ok(_) => Check::failed(KIND, "file_differs", "it is not the file that was signed"),
        Err(check) => check,
    };
    check.of_file(&file.name)
}

/// The length and the hash of a file, of which no more than the limit is read, even if it grows meanwhile.
fn hash_file(path: &Path) -> io::Result<(u64, [u8; 32])> {
    let mut file = File::open(path)?.take(MAX_FILE_BYTES);
    let mut hash = Sha256::new();
    let bytes = io::copy(&mut file, &mut hash)?;
    Ok((bytes, hash.finalize().into()))
}

/// Checks the proof that the log of releases has the list.
fn check_log(folder: &Path, list: &ReleaseList, keys: &[VerifierKey]) -> Check {
    const KIND: &str = "log";
    if !folder.join(RELEASE_PROOF_FILE).exists() {
        let detail = format!("the release has no file {RELEASE_PROOF_FILE}");
        let remedy = "download it from the release, or check without --log-key";
        return Check::not_made(KIND, "proof_missing", detail, remedy);
    }
    let text = match read_in(folder, RELEASE_PROOF_FILE, MAX_PROOF_BYTES) {
        Ok(text) => text,
        Err(failure) => return Check::failed(KIND, "proof_malformed", failure.words()),
    };
    match list.place_in_log(&text, keys) {
        Ok(ReleasePlace { log, index, size }) => {
            Check::passed(KIND, format!("entry {index} of {size}, counted from 0, in {log}"))
        }
        Err(error) => {
            let code = match error {
                ReleaseProofError::Malformed(_) => "proof_malformed",
                ReleaseProofError::NotSigned(_) => "proof_not_signed",
                ReleaseProofError::NotInLog { .. } => "not_in_log",
            };
            Check::failed(KIND, code, error.to_string())
        }
    }
}

/// The names in the folder that the list does not have, in order.
fn names_beyond(folder: &Path, list: &ReleaseList) -> Result<Vec<String>, Failure> {
    let reading = |error| could_not_read(&folder.display().to_string(), &error);
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).map_err(reading)? {
        let name = entry.map_err(reading)?.file_name().to_string_lossy().into_owned();
        let is_own = [SUMS_FILE, SUMS_NOTE_FILE, RELEASE_PROOF_FILE].contains(&name.as_str());
        if !is_own && !list.files().iter().any(|file| file.name == name) {
            names.push(name);
        }
    }
    names.sort_unstable();
    Ok(names)
}

/// The text of a file of the release, which must be a plain file of at most this length.
fn read_in(folder: &Path, name: &str, most: usize) -> Result<String, Failure> {
    let path = folder.join(name);
    let shown = path.display().to_string();
    let metadata = fs::symlink_metadata(&path).map_err(|error| could_not_read(&shown, &error))?;
    let wrong = |why: String| Failure::from(unreadable(format!("{shown}: {why}")).hint(DO_NOT_USE));
    if !metadata.is_file() {
        return Err(wrong("it is a link, a folder or a device, not a file".to_owned()));
    }
    let mut bytes = Vec::new();
    let read = File::open(&path).and_then(|file| {
        // One byte more than the limit shows that the file is too large.
        file.take(most as u64 + 1).read_to_end(&mut bytes)
    });
    read.map_err(|error| could_not_read(&shown, &error))?;
    if bytes.len() > most {
        return Err(wrong(format!("it is larger than the limit of {most} bytes")));
    }
    String::from_utf8(bytes).map_err(|_| wrong("it is not text".to_owned()))
}

fn could_not_read(name: &str, error: &io::Error) -> Problem {
    let hint =
        "give the folder with the release's files, among them SHA256SUMS and SHA256SUMS.note";
    unreadable(format!("reading {name}: {}", explained(error))).hint(hint)
}

fn print_text(report: &Report, log_is_given: bool) -> Result<(), Failure> {
    let mut out = anstream::stdout().lock();
    let (colour, verdict) = match report.verdict {
        Verdict::Valid => (
            AnsiColor::Green,
            "VALID: a given key signed the list, and every listed file is the one in the list",
        ),
        Verdict::Invalid => (AnsiColor::Red, "INVALID"),
        Verdict::Incomplete => {
            (AnsiColor::Yellow, "INCOMPLETE: no check failed, but some checks could not be made")
        }
    };
    let style = Style::new().bold().fg_color(Some(colour.into()));
    writeln!(out, "Release: {style}{verdict}{style:#}.\n")?;
    for Check { kind, name, outcome, code, detail, remedy } in &report.checks {
        let (colour, word) = match outcome {
            Outcome::Pass => (AnsiColor::Green, "pass"),
            Outcome::Fail => (AnsiColor::Red, "FAIL"),
            Outcome::NotChecked => (AnsiColor::Yellow, "unknown"),
        };
        let style = Style::new().bold().fg_color(Some(colour.into()));
        let code = code.map_or_else(String::new, |code| format!("[{code}] "));
        let name = name.as_deref().map_or_else(String::new, |name| format!("{name}: "));
        let detail = printable(detail.as_deref().unwrap_or_default());
        writeln!(out, "{kind:<11}{style}{word:<9}{style:#}{code}{name}{detail}")?;
        if let Some(remedy) = remedy {
            writeln!(out, "{:<20}-> {remedy}", "")?;
        }
    }
    if !log_is_given {
        writeln!(out, "{:<11}not checked: give the log's key with --log-key KEY", "log")?;
    }
    for name in &report.unsigned {
        writeln!(out, "{:<11}{}: the list does not name this file", "unsigned", printable(name))?;
    }
    Ok(())
}
