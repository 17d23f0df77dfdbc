//! Evidence, refusals, windows and kept checkpoints: each is a file that a reader of evidence is given.

use std::collections::BTreeSet;
use std::path::Path;

use exitgap_api::VerificationReport;
use exitgap_core::evidence::{
    CheckName, Evidence, HeadWindow, Outcome, Policy, Report, SeenCheckpoint, Verdict,
};
use exitgap_core::tlog::{Checkpoint, Hash, VerifierKey};
use serde_json::{Value, json};

use super::Result;
use super::forged_change::{
    below, change_bytes, change_lines, change_structure, change_value, one,
};
use super::forged_kind::{Changed, Kind, Said, hex};
use super::forged_vectors::{Sealed, Vector, signer, valid};
use crate::canonical::to_canonical_json;
use crate::devchain::Rng;

/// Which file of a reader's inputs is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Evidence,
    Refusal,
    Window,
    Seen,
}

/// Evidence with what a reader may have beside it, one of these files changed.
pub struct EvidenceFiles {
    part: Part,
    seeds: Vec<Vector>,
    keys: Vec<VerifierKey>,
    signed: BTreeSet<String>,
}

impl EvidenceFiles {
    /// Each of the four kinds.
    pub fn all() -> Result<Vec<Self>> {
        [Part::Evidence, Part::Refusal, Part::Window, Part::Seen]
            .map(Self::of)
            .into_iter()
            .collect()
    }

    fn of(part: Part) -> Result<Self> {
        let has = |vector: &Vector| {
            let refused = serde_json::from_slice::<Value>(&vector.file)
                .is_ok_and(|file| file.get("refusal").is_some());
            match part {
                Part::Evidence => !refused,
                Part::Refusal => refused,
                Part::Window => vector.window.is_some(),
                Part::Seen => vector.seen.is_some(),
            }
        };
        let seeds: Vec<Vector> = valid()?.into_iter().filter(has).collect();
        let mut kind =
            Self { part, seeds, keys: vec![signer().verifier()], signed: BTreeSet::new() };
        for seed in 0..kind.seeds.len() {
            let whole = kind.whole(seed);
            let said = kind.read(0, &whole);
            // A vector's window may be of a later version, which is then not checked.
            if said.verdict == Verdict::Valid {
                kind.signed.insert(said.stated);
            }
        }
        if kind.signed.is_empty() {
            return Err(format!("no valid vector of {}", kind.name()).into());
        }
        Ok(kind)
    }

    fn file(&self, seed: usize) -> Vec<u8> {
        let vector = &self.seeds[seed];
        match self.part {
            Part::Evidence | Part::Refusal => vector.file.clone(),
            Part::Window => vector.window.clone().unwrap_or_default(),
            Part::Seen => {
                let (note, proof) = vector.seen.clone().unwrap_or_default();
                format!("{}\n\n{note}", proof.join("\n")).into_bytes()
            }
        }
    }

    /// The evidence, and the reader's policy.
    fn given(&self, changed: &Changed) -> (Vec<u8>, Policy) {
        let vector = &self.seeds[changed.seed];
        let mut policy = Policy::with_keys(self.keys.clone());
        let mut evidence = vector.file.clone();
        match self.part {
            Part::Evidence | Part::Refusal => evidence.clone_from(&changed.file),
            Part::Window => {
                policy.window = Some(changed.file.clone());
                policy.required.push(CheckName::Window);
            }
            Part::Seen => {
                let (note, proof) = kept(&changed.file);
                let proof = proof.iter().filter_map(|hash| Hash::from_base64(hash)).collect();
                policy.seen = Some(SeenCheckpoint { note, proof });
                policy.required.push(CheckName::Consistency);
            }
        }
        (evidence, policy)
    }

    /// What a valid verdict rests on.
    fn stated(&self, changed: &Changed) -> Option<String> {
        match self.part {
            Part::Evidence | Part::Refusal => evidence_content(&changed.file),
            Part::Window => {
                let window = HeadWindow::from_canonical(&changed.file).ok()?;
                let heads: Vec<_> = window
                    .heads()
                    .iter()
                    .map(|(_, bytes)| String::from_utf8_lossy(bytes).into_owned())
                    .collect();
                let (checkpoint, _) = Checkpoint::from_note(window.checkpoint()).ok()?;
                Some(format!("{}{}", checkpoint.to_text(), heads.join("\n")))
            }
            Part::Seen => {
                let (note, _) = kept(&changed.file);
                Some(Checkpoint::from_note(&note).ok()?.0.to_text())
            }
        }
    }

    fn question(&self, changed: &Changed) -> Value {
        let keys: Vec<String> = self.keys.iter().map(ToString::to_string).collect();
        let mut asked = json!({"kind": "evidence", "keys": keys});
        let (evidence, policy) = self.given(changed);
        asked["file"] = hex(&evidence).into();
        if let Some(window) = &policy.window {
            asked["window"] = hex(window).into();
        }
        if let Some(SeenCheckpoint { note, proof }) = &policy.seen {
            let proof: Vec<String> = proof.iter().map(ToString::to_string).collect();
            asked["seen"] = json!({"note": note, "proof": proof});
        }
        asked
    }
}

/// A kept checkpoint, and the lines of its proof that are hashes.
fn kept(file: &[u8]) -> (String, Vec<String>) {
    let text = String::from_utf8_lossy(file).into_owned();
    let (proof, note) = text.split_once("\n\n").unwrap_or(("", &text));
    let proof = proof.lines().filter(|line| Hash::from_base64(line).is_some());
    (note.to_owned(), proof.take(80).map(str::to_owned).collect())
}

/// The documents of an evidence file that were signed, and its answer. Nothing signs what was requested: a size that
/// rounds down to the same amount has the same answer, and the other token of a pool in which both are alike.
pub fn evidence_content(file: &[u8]) -> Option<String> {
    let mut document: Value = serde_json::from_slice(file).ok()?;
    let proof = document["log_proof"].as_str()?;
    let note = proof.split_once("\n\n")?.1;
    let signed = Checkpoint::from_note(note).ok()?.0.to_text();
    document["log_proof"] = signed.into();
    let request = document["request"].as_object_mut()?;
    request.remove("size_usd");
    request.remove("base");
    String::from_utf8(to_canonical_json(&document)?).ok()
}

/// What a verdict on evidence names differently from the file.
fn unclear(file: &[u8], report: &VerificationReport) -> Option<String> {
    let document: Value = serde_json::from_slice(file).ok()?;
    let claim = serde_json::to_value(report.claim.as_ref()).ok()?;
    let chain = &document["snapshot"]["chain"];
    let status = document["result"].get("status").unwrap_or(&chain["kind"]);
    let request = &document["request"];
    [
        ("pool", &request["pool"]),
        ("slot", &request["slot"]),
        ("base", &request["base"]),
        ("size_usd", &request["size_usd"]),
        ("status", status),
        ("chain", &chain["caip2"]),
        ("genesis_hash", &chain["genesis"]),
    ]
    .into_iter()
    .find_map(|(name, own)| {
        let named = &claim[name];
        (named != own).then(|| format!("{name} is {own}, and the verdict names {named}"))
    })
}

/// The outcomes of all checks, which readers must have alike.
pub fn outcomes(report: &Report) -> String {
    let one = |check: &exitgap_core::evidence::Check| {
        let name = serde_json::to_value(check.name).unwrap_or_default();
        let outcome = match check.outcome {
            Outcome::Pass => "pass",
            Outcome::Fail => "fail",
            Outcome::NotChecked => "not_checked",
        };
        format!("{} {outcome}", name.as_str().unwrap_or_default())
    };
    report.checks.iter().map(one).collect::<Vec<_>>().join(", ")
}

impl Kind for EvidenceFiles {
    fn name(&self) -> &'static str {
        match self.part {
            Part::Evidence => "evidence",
            Part::Refusal => "refusal",
            Part::Window => "window",
            Part::Seen => "kept checkpoint",
        }
    }

    fn seeds(&self) -> usize {
        self.seeds.len()
    }

    fn whole(&self, seed: usize) -> Changed {
        Changed::new(seed, self.file(seed), format!("{} as it is", self.seeds[seed].name))
    }

    fn change(&self, seed: usize, rng: &mut Rng) -> Changed {
        let (file, other) = (self.file(seed), self.file(below(rng, self.seeds.len())));
        let draw = rng.below(4);
        if self.part == Part::Seen {
            let (bytes, what) = change_lines(rng, &file, &other);
            return Changed::new(seed, bytes, what);
        }
        if draw == 0 {
            let (bytes, what) = change_bytes(rng, &file, &other);
            return Changed::new(seed, bytes, what);
        }
        if draw == 1
            && let Some((bytes, what)) = change_structure(rng, &file)
        {
            return Changed::new(seed, bytes, what);
        }
        let other = serde_json::from_slice(&other).ok();
        change_and_seal(rng, seed, &file, other.as_ref(), self.part == Part::Window)
    }

    fn readers(&self) -> &'static [&'static str] {
        &["core", "browser's functions"]
    }

    fn read(&self, reader: usize, changed: &Changed) -> Said {
        let (evidence, policy) = self.given(changed);
        let (report, unclear) = if reader == 0 {
            let report =
                VerificationReport::from_evidence(&Evidence::from_bytes(&evidence), &policy);
            let unclear = unclear(&evidence, &report);
            (report.report, unclear)
        } else {
            let keys: Vec<String> = self.keys.iter().map(ToString::to_string).collect();
            let seen = policy.seen.map(|seen| (seen.note, texts(&seen.proof)));
            let seen = seen.as_ref().map(|(note, proof)| (note.clone(), proof.as_slice()));
            match exitgap_wasm::verify(&evidence, &keys, seen, policy.window) {
                Ok(report) => (report.report.clone(), unclear(&evidence, &report)),
                Err(_) => return Said::not_valid(Verdict::Invalid),
            }
        };
        let valid = report.verdict == Verdict::Valid;
        Said {
            verdict: report.verdict,
            compared: outcomes(&report),
            stated: if valid { self.stated(changed).unwrap_or_default() } else { String::new() },
            unclear: unclear.filter(|_| valid),
        }
    }

    fn is_true(&self, stated: &str) -> bool {
        self.signed.contains(stated)
    }

    fn ask_second(&self, changed: &Changed) -> Option<Value> {
        Some(self.question(changed))
    }

    fn ask_package(&self, changed: &Changed) -> Option<Value> {
        Some(self.question(changed))
    }

    fn command(&self, changed: &Changed, folder: &Path) -> Option<std::io::Result<Vec<String>>> {
        Some(self.files_of_command(changed, folder))
    }
}

impl EvidenceFiles {
    fn files_of_command(&self, changed: &Changed, folder: &Path) -> std::io::Result<Vec<String>> {
        let place = |name: &str| folder.join(name).display().to_string();
        let (evidence, policy) = self.given(changed);
        std::fs::write(place("evidence.json"), evidence)?;
        let mut arguments = vec!["verify".to_owned(), place("evidence.json"), "--json".to_owned()];
        for key in &self.keys {
            arguments.extend(["--trust".to_owned(), key.to_string()]);
        }
        if let Some(window) = policy.window {
            std::fs::write(place("window.json"), window)?;
            arguments.extend(["--window".to_owned(), place("window.json")]);
        }
        if let Some(seen) = policy.seen {
            std::fs::write(place("since"), seen.note)?;
            std::fs::write(place("proof"), texts(&seen.proof).join("\n"))?;
            arguments.extend(["--since".to_owned(), place("since")]);
            arguments.extend(["--proof".to_owned(), place("proof")]);
        }
        Ok(arguments)
    }
}

fn texts(hashes: &[Hash]) -> Vec<String> {
    hashes.iter().map(ToString::to_string).collect()
}

/// Changes a value of a document, and makes it fit together again.
fn change_and_seal(
    rng: &mut Rng,
    seed: usize,
    file: &[u8],
    other: Option<&Value>,
    is_window: bool,
) -> Changed {
    let Ok(mut document) = serde_json::from_slice::<Value>(file) else {
        return Changed::new(seed, [file, b" "].concat(), "a space added");
    };
    let mut what = if is_window || !rng.once_in(12) {
        change_value(rng, &mut document, other)
    } else {
        raise_to_live(rng, &mut document)
    };
    if rng.once_in(4) {
        what = format!("{what}; {}", change_value(rng, &mut document, other));
    }
    let mut is_signed = false;
    let how = Sealed::draw(rng);
    let sealed = if is_window { seal_window(how, &mut document) } else { how.apply(&mut document) };
    if sealed.is_some() {
        what = format!("{what}; sealed: {how:?}");
        is_signed = how == Sealed::LogKey;
    }
    let bytes = to_canonical_json(&document).filter(|bytes| bytes != file);
    let bytes = bytes.unwrap_or_else(|| {
        is_signed = false;
        let (bytes, _) = change_bytes(rng, file, b"}\n0");
        bytes
    });
    Changed { is_signed, ..Changed::new(seed, bytes, what) }
}

/// Claims that a preview is of a live chain, with the genesis that such a chain needs or without.
fn raise_to_live(rng: &mut Rng, document: &mut Value) -> String {
    let hash = format!("0x{}", "07".repeat(32));
    let known = "0xd4e56740f876aef8c010b86a40d5f56745a118d0906a34e69aec8c0db1cb8fa3";
    let chains = [
        json!({"caip2": "eip155:31337", "kind": "live"}),
        json!({"caip2": "eip155:31337", "kind": "live", "genesis": hash}),
        json!({"caip2": "eip155:1", "kind": "live"}),
        json!({"caip2": "eip155:1", "kind": "live", "genesis": hash}),
        json!({"caip2": "eip155:1", "kind": "live", "genesis": known}),
        json!({"caip2": "eip155:1", "kind": "preview", "genesis": known}),
        json!({"caip2": "eip155:2", "kind": "preview"}),
    ];
    let chain = one(rng, &chains).clone();
    if let Some(status) = document.pointer_mut("/result/status").filter(|_| !rng.once_in(4)) {
        *status = chain["kind"].clone();
    }
    let what = format!("the chain became {chain}");
    document["snapshot"]["chain"] = chain;
    what
}

/// Makes a window's leaf and log fit together again. What its last head becomes is computed by its reader alone.
fn seal_window(how: Sealed, window: &mut Value) -> Option<()> {
    if how < Sealed::Log {
        return Some(());
    }
    let leaf = to_canonical_json(&window["leaf"])?;
    let leaf = exitgap_core::evidence::SlotLeaf::leaf_of(&leaf);
    let proof = how.reseal_proof(window["log_proof"].as_str()?, leaf)?;
    window["log_proof"] = proof.into();
    Some(())
}
