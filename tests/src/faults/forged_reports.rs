//! Reports: several files of evidence in one, whose first line names them.

use std::path::Path;

use exitgap_api::{FileVerified, FilesVerified, VerificationReport, report_first_line};
use exitgap_core::evidence::{Evidence, Policy, Verdict};
use exitgap_core::tlog::VerifierKey;
use serde_json::{Value, json};

use super::Result;
use super::forged_change::{below, change_bytes, change_lines, one};
use super::forged_evidence::{EvidenceFiles, evidence_content};
use super::forged_kind::{Changed, Kind, Said, hex};
use super::forged_vectors::{signer, valid};
use crate::devchain::Rng;

#[expect(dead_code, reason = "its sentences are for the command line alone")]
#[path = "../../../crates/exitgap-cli/src/commands/verify_whole.rs"]
mod whole;

use whole::{Length, LengthCode, MOST};

/// Reports of a few evidence files.
pub struct Reports {
    seeds: Vec<Vec<u8>>,
    files: Vec<Vec<u8>>,
    kind: EvidenceFiles,
    keys: Vec<VerifierKey>,
}

impl Reports {
    /// Some reports, with and without a first line.
    pub fn new() -> Result<Self> {
        let kind = EvidenceFiles::all()?.swap_remove(0);
        let mut files: Vec<Vec<u8>> = valid()?.into_iter().map(|vector| vector.file).collect();
        files.retain(|file| evidence_content(file).is_some_and(|content| kind.is_true(&content)));
        let mut seeds = Vec::new();
        for (number, three) in files.chunks_exact(3).enumerate() {
            let first =
                if number % 4 == 3 { String::new() } else { report_first_line(three) + "\n" };
            seeds.push([first.as_bytes(), &three.join(&b'\n'), b"\n"].concat());
        }
        Ok(Self { seeds, files, kind, keys: vec![signer().verifier()] })
    }

    /// Other files, listed in the first line anew.
    fn with_other_files(&self, seed: usize, rng: &mut Rng) -> Changed {
        let text = &self.seeds[seed];
        let mut lines: Vec<Vec<u8>> = lines_of(text).map(<[u8]>::to_vec).collect();
        if lines[0].starts_with(b"{\"files\":[") {
            drop(lines.remove(0));
        }
        let at = below(rng, lines.len());
        let what = match rng.below(4) {
            0 => {
                lines[at].clone_from(one(rng, &self.files));
                "one file replaced by a true one"
            }
            1 => {
                drop(lines.remove(at));
                "one file removed"
            }
            _ => {
                let place = below(rng, self.kind.seeds());
                let changed = self.kind.change(place, rng);
                // What the log's own key signed is not judged here.
                if changed.is_signed || changed.file.contains(&b'\n') {
                    lines[at].push(b' ');
                } else {
                    lines[at] = changed.file;
                }
                "one file replaced by a changed one"
            }
        };
        let listed: Vec<Vec<u8>> =
            if rng.once_in(4) { self.files[..2].to_vec() } else { lines.clone() };
        let first = report_first_line(&listed);
        let bytes = [first.as_bytes(), b"\n", &lines.join(&b'\n'), b"\n"].concat();
        Changed::new(seed, bytes, what)
    }

    /// The files that follow the first line, and what it says of their number.
    fn length<'a>(lines: &'a [&'a [u8]]) -> (Length, &'a [&'a [u8]]) {
        Length::from_lines(lines)
    }
}

fn lines_of(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty())
}

impl Kind for Reports {
    fn name(&self) -> &'static str {
        "report"
    }

    fn seeds(&self) -> usize {
        self.seeds.len()
    }

    fn whole(&self, seed: usize) -> Changed {
        Changed::new(seed, self.seeds[seed].clone(), "a report as it is")
    }

    fn change(&self, seed: usize, rng: &mut Rng) -> Changed {
        let [own, other] = [seed, below(rng, self.seeds.len())].map(|of| &self.seeds[of][..]);
        let (bytes, what) = match rng.below(4) {
            0..=1 => return self.with_other_files(seed, rng),
            2 => change_lines(rng, own, other),
            _ => change_bytes(rng, own, other),
        };
        Changed::new(seed, bytes, what)
    }

    fn readers(&self) -> &'static [&'static str] {
        &["command's functions"]
    }

    fn read(&self, _reader: usize, changed: &Changed) -> Said {
        let lines: Vec<&[u8]> = lines_of(&changed.file).take(MOST + 2).collect();
        let (length, files) = Self::length(&lines);
        if files.len() > MOST {
            return Said::not_valid(Verdict::Invalid);
        }
        let policy = Policy::with_keys(self.keys.clone());
        let check = |line: &&[u8]| {
            FileVerified::of_evidence(&VerificationReport::from_evidence(
                &Evidence::from_bytes(line),
                &policy,
            ))
        };
        let found = FilesVerified::from_files(files.iter().map(check).collect());
        let verdict = match (length.code, found.verdict) {
            (LengthCode::NotAsStated, _) => Verdict::Invalid,
            (LengthCode::Unsupported, Verdict::Valid) => Verdict::Incomplete,
            (_, verdict) => verdict,
        };
        if verdict != Verdict::Valid {
            return Said::not_valid(verdict);
        }
        // Of a true report, its files are true, and they are those of its first line, if it has one.
        let listed =
            lines.first().is_some_and(|first| **first == *report_first_line(files).as_bytes());
        let is_listed = length.code == LengthCode::NotStated || listed;
        let contents: Vec<Option<String>> =
            files.iter().map(|file| evidence_content(file)).collect();
        let is_true = |content: &Option<String>| {
            content.as_ref().is_some_and(|content| self.kind.is_true(content))
        };
        let stated = if is_listed && contents.iter().all(is_true) { "true" } else { "false" };
        Said::valid(stated)
    }

    fn is_true(&self, stated: &str) -> bool {
        stated == "true"
    }

    fn ask_second(&self, changed: &Changed) -> Option<Value> {
        let keys: Vec<String> = self.keys.iter().map(ToString::to_string).collect();
        Some(json!({"kind": "report", "keys": keys, "file": hex(&changed.file)}))
    }

    fn command(&self, changed: &Changed, folder: &Path) -> Option<std::io::Result<Vec<String>>> {
        // One line alone is no report.
        if lines_of(&changed.file).count() < 3 {
            return None;
        }
        let path = folder.join("report.jsonl");
        let key = self.keys[0].to_string();
        Some(std::fs::write(&path, &changed.file).map(|()| {
            let path = path.display().to_string();
            vec!["verify".into(), path, "--json".into(), "--trust".into(), key]
        }))
    }
}
