//! Figures of every kind, from their files and the snapshots and documents that they name.

use std::collections::{BTreeMap, BTreeSet};

use exitgap_core::analytics::accuracy::Fills;
use exitgap_core::analytics::figure::{FigureReport, FigureVerifier, FigureWant};
use exitgap_core::evidence::{SlotLeaf, Verdict};
use exitgap_core::ids::{DocumentHash, SnapshotHash};
use exitgap_core::snapshot::{Snapshot, SnapshotDocuments};
use exitgap_core::tlog::{Checkpoint, VerifierKey};
use serde_json::{Value, json};

use super::Result;
use super::forged_change::{below, change_bytes, change_structure, change_value, one};
use super::forged_kind::{Changed, Kind, Said, hex, word};
use super::forged_vectors::{Sealed, documents, signer};
use crate::canonical::to_canonical_json;
use crate::devchain::Rng;

/// A figure file, with what its reader has beside it.
struct Figure {
    name: String,
    file: Vec<u8>,
    snapshots: BTreeMap<SnapshotHash, SnapshotDocuments>,
    fills: BTreeMap<DocumentHash, Vec<u8>>,
    /// The same for the second verifier: the texts of each snapshot, and documents.
    texts: Value,
}

/// The figures of one kind.
pub struct Figures {
    name: &'static str,
    seeds: Vec<Figure>,
    /// Files that others take values from.
    others: Vec<Value>,
    keys: Vec<VerifierKey>,
    signed: BTreeSet<String>,
}

/// The kinds of figures, and their names in the table.
const KINDS: [(&str, &str); 11] = [
    ("accuracy/1", "figure: accuracy"),
    ("accuracy/2", "figure: accuracy, version 2"),
    ("decay/1", "figure: decay"),
    ("depths/1", "figure: depths"),
    ("equity/1", "figure: equity"),
    ("exposure/1", "figure: exposure"),
    ("exposure/2", "figure: exposure, version 2"),
    ("hours/1", "figure: hours"),
    ("route/1", "figure: route"),
    ("stress/1", "figure: stress"),
    ("stress/2", "figure: stress, version 2"),
];

impl Figures {
    /// Every kind, from the shared vectors.
    pub fn all() -> Result<Vec<Self>> {
        let vectors = documents("figures")?;
        KINDS.iter().map(|(rules, name)| Self::of(&vectors, rules, name)).collect()
    }

    fn of(vectors: &[(String, Value)], rules: &str, name: &'static str) -> Result<Self> {
        let keys = vec![signer().verifier()];
        let trusted = keys[0].to_string();
        let mut kind =
            Self { name, seeds: Vec::new(), others: Vec::new(), keys, signed: BTreeSet::new() };
        for (name, vector) in vectors {
            let file = vector["figure"].as_str().ok_or("a vector without a figure")?;
            let figure: Value = serde_json::from_str(file)?;
            if figure["figure"] != rules {
                continue;
            }
            if vector["keys"][0] != trusted.as_str() {
                return Err(format!("{name} is signed by another key").into());
            }
            kind.seeds.push(Figure::of(name, file, vector));
            kind.others.push(figure);
        }
        for seed in 0..kind.seeds.len() {
            let said = kind.read(0, &kind.whole(seed));
            if said.verdict != Verdict::Valid {
                return Err(format!("{} is {}", kind.seeds[seed].name, said.compared).into());
            }
            kind.signed.insert(said.stated);
        }
        if kind.seeds.is_empty() { Err(format!("no vector of {rules}").into()) } else { Ok(kind) }
    }

    fn report(&self, changed: &Changed) -> FigureReport {
        let figure = &self.seeds[changed.seed];
        let mut verifier = FigureVerifier::new(&changed.file, &self.keys);
        while let Some(wanted) = verifier.next_want() {
            match wanted {
                FigureWant::Snapshot(of) => {
                    let found = figure.snapshots.get(&of.snapshot).cloned();
                    verifier.add_snapshot(found.as_ref());
                }
                FigureWant::Fills(of) => {
                    let found = figure.fills.get(&of.document).cloned();
                    verifier.take_fills(found.as_deref());
                }
            }
        }
        verifier.finish()
    }
}

impl Figure {
    fn of(name: &str, file: &str, vector: &Value) -> Self {
        let (mut snapshots, mut fills) = (BTreeMap::new(), BTreeMap::new());
        let mut texts = Vec::new();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        for pair in vector["snapshots"].as_array().into_iter().flatten() {
            let [snapshot, state] = [0, 1].map(|at| text(&pair[at]));
            let hash = Snapshot::hash_of(snapshot.as_bytes());
            texts.push(json!([hash.to_string(), snapshot, state]));
            let documents =
                SnapshotDocuments { snapshot: snapshot.into_bytes(), state: state.into_bytes() };
            snapshots.insert(hash, documents);
        }
        for document in vector["fills"].as_array().into_iter().flatten() {
            let document = text(document);
            let hash = Fills::hash_of(document.as_bytes());
            texts.push(json!([hash.to_string(), document]));
            fills.insert(hash, document.into_bytes());
        }
        let (name, file) = (name.to_owned(), file.as_bytes().to_vec());
        Self { name, file, snapshots, fills, texts: texts.into() }
    }
}

/// What a valid figure rests on. Nothing signs its parameters: other parameters with the same result are as true.
fn content(file: &[u8]) -> Option<String> {
    let mut document: Value = serde_json::from_slice(file).ok()?;
    document.as_object_mut()?.remove("parameters");
    for window in document["windows"].as_array_mut()? {
        let proof = window["log_proof"].as_str()?;
        let signed = Checkpoint::from_note(proof.split_once("\n\n")?.1).ok()?.0.to_text();
        window["log_proof"] = signed.into();
    }
    String::from_utf8(to_canonical_json(&document)?).ok()
}

/// What a verdict on a figure names differently from the file.
fn unclear(file: &[u8], report: &FigureReport) -> Option<String> {
    let document: Value = serde_json::from_slice(file).ok()?;
    let claim = serde_json::to_value(report.claim.as_ref()).ok()?;
    let parameters = &document["parameters"];
    let venues = match parameters["venues"].as_array() {
        Some(venues) => venues.clone(),
        None => vec![parameters.clone()],
    };
    let base = |of: &Value| of.get("base").or(parameters.get("base")).cloned();
    let venues: Vec<Value> = venues
        .iter()
        .map(|of| match base(of) {
            Some(base) => json!({"pool": of["pool"], "base": base}),
            None => json!({"pool": of["pool"]}),
        })
        .collect();
    let proof = document["windows"][0]["log_proof"].as_str()?;
    let log = Checkpoint::from_note(proof.split_once("\n\n")?.1).ok()?.0.origin.to_string();
    [
        ("figure", document["figure"].clone()),
        ("venues", venues.into()),
        ("first_slot", parameters["from"].clone()),
        ("last_slot", parameters["to"].clone()),
        ("log", log.into()),
        ("status", document["result"]["status"].clone()),
    ]
    .into_iter()
    .find_map(|(name, own)| {
        let named = &claim[name];
        (*named != own).then(|| format!("{name} is {own}, and the verdict names {named}"))
    })
}

impl Kind for Figures {
    fn name(&self) -> &'static str {
        self.name
    }

    fn seeds(&self) -> usize {
        self.seeds.len()
    }

    fn whole(&self, seed: usize) -> Changed {
        let Figure { name, file, .. } = &self.seeds[seed];
        Changed::new(seed, file.clone(), format!("{name} as it is"))
    }

    fn change(&self, seed: usize, rng: &mut Rng) -> Changed {
        let file = &self.seeds[seed].file;
        let draw = rng.below(6);
        if draw == 0 {
            let other = &self.seeds[below(rng, self.seeds.len())].file;
            let (bytes, what) = change_bytes(rng, file, other);
            return Changed::new(seed, bytes, what);
        }
        if draw == 1
            && let Some((bytes, what)) = change_structure(rng, file)
        {
            return Changed::new(seed, bytes, what);
        }
        let mut document = self.others[seed].clone();
        let other = one(rng, &self.others);
        // The head of the file first: most of its values are in windows and uses.
        let what = match rng.below(3) {
            0 => within(rng, &mut document, other, "result"),
            1 => within(rng, &mut document, other, "parameters"),
            _ => change_value(rng, &mut document, Some(other)),
        };
        let how = Sealed::draw(rng);
        let sealed = (how >= Sealed::Log).then(|| seal(how, &mut document)).flatten();
        let bytes = to_canonical_json(&document).unwrap_or_else(|| [&file[..], b" "].concat());
        let is_signed = sealed.is_some() && how == Sealed::LogKey;
        let what = if sealed.is_some() { format!("{what}; sealed: {how:?}") } else { what };
        Changed { is_signed, ..Changed::new(seed, bytes, what) }
    }

    fn readers(&self) -> &'static [&'static str] {
        &["core"]
    }

    fn read(&self, _reader: usize, changed: &Changed) -> Said {
        let report = self.report(changed);
        let is_valid = report.verdict == Verdict::Valid;
        let stated =
            if is_valid { content(&changed.file).unwrap_or_default() } else { String::new() };
        let unclear = if is_valid { unclear(&changed.file, &report) } else { None };
        Said { verdict: report.verdict, compared: word(report.verdict).to_owned(), stated, unclear }
    }

    fn is_true(&self, stated: &str) -> bool {
        self.signed.contains(stated)
    }

    fn context(&self, seed: usize) -> Option<Value> {
        Some(self.seeds[seed].texts.clone())
    }

    fn ask_second(&self, changed: &Changed) -> Option<Value> {
        let keys: Vec<String> = self.keys.iter().map(ToString::to_string).collect();
        Some(json!({"kind": "figure", "keys": keys, "file": hex(&changed.file)}))
    }

    fn ask_package(&self, changed: &Changed) -> Option<Value> {
        self.ask_second(changed)
    }
}

/// Changes a value within a part of the document.
fn within(rng: &mut Rng, document: &mut Value, other: &Value, part: &str) -> String {
    let what = change_value(rng, &mut document[part], other.get(part));
    format!("{part}{what}")
}

/// Makes the windows' logs fit together again.
fn seal(how: Sealed, document: &mut Value) -> Option<()> {
    for window in document["windows"].as_array_mut()? {
        let leaf = SlotLeaf::leaf_of(&to_canonical_json(&window["leaf"])?);
        let proof = how.reseal_proof(window["log_proof"].as_str()?, leaf)?;
        window["log_proof"] = proof.into();
    }
    Some(())
}
