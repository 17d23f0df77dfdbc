//! Receipts of payments, and witnesses' cosignatures.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

use base64ct::{Base64UrlUnpadded, Encoding};
use exitgap_api::receipt::{Receipt, ReceiptSigner};
use exitgap_api::x402::Units;
use exitgap_core::evidence::{Outcome, Verdict, WitnessCheck, check_witnessed};
use exitgap_core::ids::{Address, Caip2, SnapshotHash, Word};
use exitgap_core::tlog::{Checkpoint, Cosigner, Hash, Note, SignerKey, WitnessPolicy};
use serde_json::{Value, json};

use super::Result;
use super::forged_change::{
    below, change_bytes, change_lines, change_structure, change_value, one,
};
use super::forged_kind::{Changed, Kind, Said, hex};
use super::forged_vectors::{ORIGIN, Sealed, signer};
use crate::devchain::Rng;

/// Receipts of one payee.
pub struct Receipts {
    seeds: Vec<String>,
    signed: BTreeSet<String>,
}

fn payee() -> ReceiptSigner {
    ReceiptSigner::from_seed([7; 32])
}

fn receipt(number: u8) -> Receipt {
    let pool = format!("ethereum:0x{}", hex(&[number; 20]));
    let site = "https://exitgap.example";
    let asked = format!("{site}/v1/exit/{pool}?size_usd={number}000");
    let evidence = format!(
        "{site}/v1/exit/{pool}?base=token1&slot={}&size_usd={number}000&method_version=1.0.0",
        5_984_565 + u32::from(number)
    );
    Receipt {
        v: 1,
        network: Caip2(8_453 + u64::from(number % 2)),
        transaction: Word([number; 32]),
        payer: Address([number.wrapping_add(1); 20]),
        amount: Units(10_000 * u128::from(number)),
        asset: Address([0x83; 20]),
        resource_url: asked,
        issued_at: 1_795_369_518 + u64::from(number),
        answer_sha256: Receipt::name_of(&[number]),
        evidence_url: (!number.is_multiple_of(3)).then_some(evidence),
        snapshot_hash: SnapshotHash([number; 32]),
        method_version: "1.0.0".to_owned(),
    }
}

impl Receipts {
    /// Some receipts.
    pub fn new() -> Self {
        let receipts: Vec<Receipt> = (1..=12).map(receipt).collect();
        let seeds = receipts.iter().map(|receipt| receipt.sign(&payee())).collect();
        let signed = receipts.iter().map(|receipt| format!("{receipt:?}")).collect();
        Self { seeds, signed }
    }

    /// Changes what is inside a part of the text, which is then encoded again.
    fn change_inside(&self, seed: usize, rng: &mut Rng) -> Option<Changed> {
        let [own, other] = [seed, below(rng, self.seeds.len())].map(|of| &self.seeds[of]);
        let (mut own, other): (Vec<&str>, Vec<&str>) =
            (own.split('.').collect(), other.split('.').collect());
        let part = below(rng, 3);
        let [bytes, theirs] = [own[part], other[part]].map(Base64UrlUnpadded::decode_vec);
        let (bytes, theirs) = (bytes.ok()?, theirs.ok()?);
        let changed = match (part, rng.below(3)) {
            (2, _) | (_, 0) => change_bytes(rng, &bytes, &theirs),
            (_, 1) => change_structure(rng, &bytes)?,
            _ => {
                let mut value: Value = serde_json::from_slice(&bytes).ok()?;
                let what =
                    change_value(rng, &mut value, serde_json::from_slice(&theirs).ok().as_ref());
                (serde_json::to_vec(&value).ok()?, what)
            }
        };
        let encoded = Base64UrlUnpadded::encode_string(&changed.0);
        own[part] = &encoded;
        let mut text = own.join(".");
        let mut what = format!("part {part}: {}", changed.1);
        if rng.once_in(3) {
            // Another key signs the changed text, and names itself or the payee.
            text = signed_by_stranger(&text)?;
            what.push_str("; signed by a stranger");
        }
        Some(Changed::new(seed, text.into_bytes(), what))
    }
}

/// The text with a signature by another key.
fn signed_by_stranger(text: &str) -> Option<String> {
    let (signed, _) = text.rsplit_once('.')?;
    let stranger = ReceiptSigner::from_seed([8; 32]);
    let whole = receipt(1).sign(&stranger);
    let (_, signature) = whole.rsplit_once('.')?;
    Some(format!("{signed}.{signature}"))
}

impl Kind for Receipts {
    fn name(&self) -> &'static str {
        "receipt"
    }

    fn seeds(&self) -> usize {
        self.seeds.len()
    }

    fn whole(&self, seed: usize) -> Changed {
        Changed::new(seed, self.seeds[seed].clone().into_bytes(), "a receipt as it is")
    }

    fn change(&self, seed: usize, rng: &mut Rng) -> Changed {
        let inside = if rng.once_in(3) { None } else { self.change_inside(seed, rng) };
        inside.unwrap_or_else(|| {
            let other = self.seeds[below(rng, self.seeds.len())].as_bytes();
            let (bytes, what) = change_bytes(rng, self.seeds[seed].as_bytes(), other);
            Changed::new(seed, bytes, what)
        })
    }

    fn readers(&self) -> &'static [&'static str] {
        &["core"]
    }

    fn read(&self, _reader: usize, changed: &Changed) -> Said {
        // A reader of a file takes a line break at its end away.
        let text = String::from_utf8_lossy(&changed.file);
        let read = Receipt::verify(text.trim_end(), &payee().key());
        Said::from_content(read.ok().map(|receipt| format!("{receipt:?}")))
    }

    fn is_true(&self, stated: &str) -> bool {
        self.signed.contains(stated)
    }

    fn ask_second(&self, changed: &Changed) -> Option<Value> {
        let key = payee().key().to_string();
        Some(json!({"kind": "receipt", "file": hex(&changed.file), "key": key}))
    }

    fn command(&self, changed: &Changed, folder: &Path) -> Option<std::io::Result<Vec<String>>> {
        let path = folder.join("receipt");
        let key = payee().key().to_string();
        Some(std::fs::write(&path, &changed.file).map(|()| {
            let path = path.display().to_string();
            vec!["verify-receipt".into(), path, "--key".into(), key, "--json".into()]
        }))
    }
}

/// Cosignatures of witnesses under checkpoints.
pub struct Cosignatures {
    seeds: Vec<String>,
    policy: WitnessPolicy,
    witnesses: Vec<String>,
    signed: BTreeSet<String>,
}

/// The reader's clock.
const NOW_S: u64 = 1_800_000_000;

fn witness(number: u8) -> Cosigner {
    let name = format!("witness.example/w{number}");
    Cosigner::new(SignerKey::from_seed(&name, [number; 32]).expect("a name"))
}

impl Cosignatures {
    /// Checkpoints that two or three witnesses of a policy cosigned, of which two must.
    pub fn new() -> Result<Self> {
        let keys: Vec<_> = (1..=3).map(|number| witness(number).verifier()).collect();
        let mut lines = format!("log {}\n", signer().verifier());
        for (number, key) in (1..).zip(&keys) {
            writeln!(lines, "witness w{number} {key}")?;
        }
        lines.push_str("group g 2 w1 w2 w3\nquorum g\n");
        let policy = WitnessPolicy::parse(lines.as_bytes())?;
        let mut seeds = Vec::new();
        for size in 1..12_u64 {
            let root = Hash([u8::try_from(size)?; 32]);
            let origin = ORIGIN.parse()?;
            let checkpoint = Checkpoint { origin, size, root, extensions: Vec::new() };
            let mut note =
                Sealed::LogKey.sign("", &checkpoint).ok_or("a checkpoint is not signed")?;
            for number in (1..=3).filter(|number| size % 4 != *number) {
                let time_s = 1_700_000_000 + size * 10 + number;
                let by = witness(u8::try_from(number)?);
                note.push_str(&by.cosign(&checkpoint.to_text(), time_s));
            }
            seeds.push(note);
        }
        let witnesses = keys.iter().map(ToString::to_string).collect();
        let mut kind = Self { seeds, policy, witnesses, signed: BTreeSet::new() };
        for seed in 0..kind.seeds.len() {
            // With a cosignature less, the rest is as true: of each two, and of all.
            let whole = kind.whole(seed);
            kind.signed.extend(kind.subsets(&whole));
        }
        Ok(kind)
    }

    fn check(&self, file: &[u8]) -> Option<WitnessCheck> {
        let note = core::str::from_utf8(file).ok()?;
        Some(check_witnessed(note, &self.policy, Some(NOW_S)))
    }

    fn content(file: &[u8], check: &WitnessCheck) -> String {
        let note = core::str::from_utf8(file).unwrap_or_default();
        let text = Note::parse(note).map_or(String::new(), |note| note.text.to_owned());
        format!("{text}{:?} {:?}", check.recorded_before_s, check.cosigned)
    }

    /// What the note states with all its cosignatures, and without each one of them.
    fn subsets(&self, whole: &Changed) -> Vec<String> {
        let note = String::from_utf8_lossy(&whole.file).into_owned();
        let lines: Vec<&str> = note.split_inclusive('\n').collect();
        let without = (0..lines.len()).map(|at| {
            let kept = lines.iter().enumerate().filter(|(index, _)| *index != at);
            kept.map(|(_, line)| *line).collect::<String>()
        });
        let all = without.chain([note.clone()]);
        let passes = all.filter_map(|note| {
            let check = self.check(note.as_bytes())?;
            (check.outcome == Outcome::Pass).then(|| Self::content(note.as_bytes(), &check))
        });
        passes.collect()
    }

    /// A cosignature by a stranger under a witness's name, or of a later time.
    fn of_other_witness(&self, seed: usize, rng: &mut Rng) -> Option<Changed> {
        let note = &self.seeds[seed];
        let text = Note::parse(note).ok()?.text.to_owned();
        let name = format!("witness.example/w{}", rng.between(1, 4));
        let stranger = Cosigner::new(SignerKey::from_seed(&name, [99; 32]).ok()?);
        let line = stranger.cosign(&text, *one(rng, &[1, 1_600_000_000, NOW_S, NOW_S + 301]));
        let mut lines: Vec<String> = note.split_inclusive('\n').map(str::to_owned).collect();
        let last = lines.len() - 1;
        lines[last] = line;
        Some(Changed::new(seed, lines.concat().into_bytes(), format!("a stranger as {name}")))
    }
}

impl Kind for Cosignatures {
    fn name(&self) -> &'static str {
        "cosignatures"
    }

    fn seeds(&self) -> usize {
        self.seeds.len()
    }

    fn whole(&self, seed: usize) -> Changed {
        Changed::new(seed, self.seeds[seed].clone().into_bytes(), "a note as it is")
    }

    fn change(&self, seed: usize, rng: &mut Rng) -> Changed {
        if rng.once_in(5)
            && let Some(changed) = self.of_other_witness(seed, rng)
        {
            return changed;
        }
        let [own, other] = [seed, below(rng, self.seeds.len())].map(|of| self.seeds[of].as_bytes());
        let (bytes, what) = if rng.once_in(2) {
            change_bytes(rng, own, other)
        } else {
            change_lines(rng, own, other)
        };
        Changed::new(seed, bytes, what)
    }

    fn readers(&self) -> &'static [&'static str] {
        &["core"]
    }

    fn read(&self, _reader: usize, changed: &Changed) -> Said {
        let Some(check) = self.check(&changed.file) else {
            return Said::not_valid(Verdict::Invalid);
        };
        if check.outcome == Outcome::Pass {
            return Said::valid(Self::content(&changed.file, &check));
        }
        // Whether a note is unreadable or lacks witnesses is spelled by each reader in its way.
        Said::not_valid(Verdict::Invalid)
    }

    fn is_true(&self, stated: &str) -> bool {
        self.signed.contains(stated)
    }

    fn ask_second(&self, changed: &Changed) -> Option<Value> {
        Some(json!({
            "kind": "cosignatures", "file": hex(&changed.file), "key": signer().verifier().to_string(),
            "witnesses": self.witnesses, "least": 2, "now": NOW_S,
        }))
    }
}
