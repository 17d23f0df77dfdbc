//! State proofs: the files of the shared vectors, each held against true and false snapshots.

use std::collections::{BTreeMap, BTreeSet};

use exitgap_core::evidence::{Outcome, Verdict};
use exitgap_core::ids::PoolId;
use exitgap_core::log_folder::PartRef;
use exitgap_core::proof::{StateCheck, StateClaim, StateProof, check_claim, check_code};
use exitgap_core::snapshot::{Snapshot, SnapshotError};
use serde_json::{Value, json};

use super::Result;
use super::forged_change::{below, change_bytes, change_structure, change_value};
use super::forged_kind::{Changed, Kind, Said, hex};
use super::forged_vectors::documents;
use crate::canonical::to_canonical_json;
use crate::devchain::Rng;

/// A proof, and a snapshot that is held against it.
struct Seed {
    name: String,
    proof: Vec<u8>,
    pool: PoolId,
    snapshot: Value,
    state: Value,
    /// The checks of this snapshot that pass with some proof of the vectors.
    passes: BTreeSet<String>,
}

/// State proofs.
pub struct StateProofs {
    seeds: Vec<Seed>,
}

/// What a proof covers of a snapshot: a false value there must not pass.
const COVERED: [(&str, &str); 7] = [
    ("header", "/snapshot/block/number"),
    ("header", "/snapshot/block/timestamp"),
    ("pool_state", "/state/reserves"),
    ("pool_state", "/state/sqrt_price_x96"),
    ("pool_state", "/state/tick"),
    ("pool_state", "/state/liquidity"),
    ("oracle_state", "/snapshot/oracles"),
];

impl StateProofs {
    /// Each proof of the vectors with each snapshot that they hold against it.
    pub fn new() -> Result<Self> {
        let mut seeds = Vec::new();
        for (name, vector) in documents("proofs")? {
            let mut passes: BTreeMap<u64, BTreeSet<String>> = BTreeMap::new();
            let mut pairs = BTreeSet::new();
            for case in vector["cases"].as_array().into_iter().flatten() {
                let place = |of: &str| case[of].as_u64();
                let (Some(snapshot), Some(proof)) = (place("snapshot"), place("proof")) else {
                    return Err(format!("{name}: a case without snapshot or proof").into());
                };
                let of = passes.entry(snapshot).or_default();
                let expected = case["expected"].as_array().into_iter().flatten();
                let passed = expected.filter_map(|check| check.as_str()?.strip_suffix(" pass ok"));
                of.extend(passed.map(str::to_owned));
                pairs.insert((snapshot, proof));
            }
            for (snapshot, proof) in pairs {
                let documents = &vector["snapshots"][usize::try_from(snapshot)?];
                let pool = vector["pools"][usize::try_from(snapshot)?].as_str();
                let proof = vector["proofs"][usize::try_from(proof)?].as_str();
                let proof = proof.unwrap_or_default().trim_start_matches("0x");
                seeds.push(Seed {
                    name: format!("{name}, snapshot {snapshot}"),
                    proof: alloy_primitives::hex::decode(proof)?,
                    pool: pool.ok_or("a snapshot without a pool")?.parse()?,
                    snapshot: documents["snapshot"].clone(),
                    state: documents["state"].clone(),
                    passes: passes.get(&snapshot).cloned().unwrap_or_default(),
                });
            }
        }
        if seeds.len() < 20 { Err("too few state proofs".into()) } else { Ok(Self { seeds }) }
    }

    /// The snapshot of a changed file: the seed's, if that was not changed.
    fn snapshot(&self, changed: &Changed) -> (Value, Value) {
        let seed = &self.seeds[changed.seed];
        let read = |name: &str, own: &Value| {
            let found = changed.files.iter().find(|(file, _)| file == name);
            found
                .and_then(|(_, bytes)| serde_json::from_slice(bytes.as_deref()?).ok())
                .unwrap_or_else(|| own.clone())
        };
        (read("snapshot", &seed.snapshot), read("state", &seed.state))
    }

    /// A snapshot with another value, and the hash of its state.
    fn change_snapshot(&self, seed: usize, rng: &mut Rng) -> Option<Changed> {
        let own = &self.seeds[seed];
        let other = &self.seeds[below(rng, self.seeds.len())];
        let (mut snapshot, mut state) = (own.snapshot.clone(), own.state.clone());
        let what = if rng.once_in(2) {
            change_value(rng, &mut state, Some(&other.state))
        } else {
            change_value(rng, &mut snapshot, Some(&other.snapshot))
        };
        let bytes = to_canonical_json(&state)?;
        *snapshot.pointer_mut("/state")? = PartRef::hash_of(&bytes).to_string().into();
        let files = vec![
            ("snapshot".to_owned(), Some(to_canonical_json(&snapshot)?)),
            ("state".to_owned(), Some(bytes)),
        ];
        let what = format!("the snapshot's {what}");
        Some(Changed { files, ..Changed::new(seed, own.proof.clone(), what) })
    }

    /// A proof with another line, or other bytes after it.
    fn change_proof(&self, seed: usize, rng: &mut Rng) -> Changed {
        let file = &self.seeds[seed].proof;
        let other = &self.seeds[below(rng, self.seeds.len())].proof;
        let end = file.iter().position(|byte| *byte == b'\n').unwrap_or_default();
        let line = &file[..end];
        let (bytes, what) = match rng.below(6) {
            0 => match change_structure(rng, line) {
                Some((line, what)) => ([&line, &file[end..]].concat(), what),
                None => change_bytes(rng, file, other),
            },
            1..=2 => {
                let mut value: Value = serde_json::from_slice(line).unwrap_or_default();
                let what = change_value(rng, &mut value, None);
                let line = to_canonical_json(&value).unwrap_or_default();
                ([&line, &file[end..]].concat(), what)
            }
            3 => {
                // The line of one proof over the nodes of another.
                let theirs = other.iter().position(|byte| *byte == b'\n').unwrap_or_default();
                ([line, &other[theirs..]].concat(), "the nodes of another proof".to_owned())
            }
            4 => {
                let (rest, what) = change_bytes(rng, &file[end..], &other[end.min(other.len())..]);
                ([line, &rest].concat(), what)
            }
            _ => change_bytes(rng, file, other),
        };
        Changed::new(seed, bytes, what)
    }

    fn checks(&self, changed: &Changed) -> std::result::Result<Vec<StateCheck>, SnapshotError> {
        let (snapshot, state) = self.snapshot(changed);
        let [snapshot, state] =
            [snapshot, state].map(|value| to_canonical_json(&value).unwrap_or_default());
        let pool = &self.seeds[changed.seed].pool;
        let snapshot = Snapshot::of_pool(pool, &snapshot, &state)?;
        let (proof, claim) =
            (StateProof::from_bytes(&changed.file), StateClaim::from_snapshot(&snapshot, None));
        let mut checks = check_claim(&proof, &claim).to_vec();
        checks.extend(check_code(&proof, &claim, None));
        Ok(checks)
    }

    /// A false value that a passing check covers.
    fn false_value(&self, changed: &Changed, passes: &BTreeSet<String>) -> Option<&'static str> {
        let seed = &self.seeds[changed.seed];
        let (snapshot, state) = self.snapshot(changed);
        let now = json!({"snapshot": snapshot, "state": state});
        let before = json!({"snapshot": seed.snapshot, "state": seed.state});
        let differs = |place: &str| match place {
            // The words of a reading that a feed stores: its heartbeat and scale are configured.
            "/snapshot/oracles" => {
                let answers = |of: &Value| {
                    let all = of.pointer(place).and_then(Value::as_array).cloned();
                    let all = all.unwrap_or_default();
                    // Of a sequencer's feed nothing is proven: when it was last asked counts.
                    let prices = all.iter().filter(|reading| reading["role"] == "token_usd");
                    prices.map(|reading| reading["answer"].clone()).collect::<Vec<_>>()
                };
                answers(&now) != answers(&before)
            }
            place => now.pointer(place) != before.pointer(place),
        };
        let is_false = |(check, place): &&(&str, &'static str)| {
            passes.contains(*check) && seed.passes.contains(*check) && differs(place)
        };
        COVERED.iter().find(is_false).map(|(_, place)| *place)
    }
}

fn spelled(check: &StateCheck) -> (String, &'static str) {
    let name = serde_json::to_value(check.name).unwrap_or_default();
    let outcome = match check.outcome {
        Outcome::Pass => "pass",
        Outcome::Fail => "fail",
        Outcome::NotChecked => "not_checked",
    };
    (name.as_str().unwrap_or_default().to_owned(), outcome)
}

impl Kind for StateProofs {
    fn name(&self) -> &'static str {
        "state proof"
    }

    fn seeds(&self) -> usize {
        self.seeds.len()
    }

    fn whole(&self, seed: usize) -> Changed {
        let Seed { name, proof, .. } = &self.seeds[seed];
        Changed::new(seed, proof.clone(), format!("{name} as it is"))
    }

    fn change(&self, seed: usize, rng: &mut Rng) -> Changed {
        let snapshot = if rng.once_in(2) { self.change_snapshot(seed, rng) } else { None };
        snapshot.unwrap_or_else(|| self.change_proof(seed, rng))
    }

    fn readers(&self) -> &'static [&'static str] {
        &["core"]
    }

    fn read(&self, _reader: usize, changed: &Changed) -> Said {
        let checks = match self.checks(changed) {
            Ok(checks) => checks,
            // What a later version knows is read as far as each reader can.
            Err(error) if error.newer().is_some() => {
                let compared = String::new();
                return Said { compared, ..Said::not_valid(Verdict::Incomplete) };
            }
            Err(_) => return Said::not_valid(Verdict::Invalid),
        };
        let all: Vec<(String, &str)> = checks.iter().map(spelled).collect();
        let compared = checks.iter().zip(&all);
        let compared: Vec<String> = compared
            .map(|(check, (name, outcome))| format!("{name} {outcome} {}", check.code))
            .collect();
        let passes: BTreeSet<String> = all
            .into_iter()
            .filter(|(_, outcome)| *outcome == "pass")
            .map(|(name, _)| name)
            .collect();
        let false_value = self.false_value(changed, &passes);
        let more = passes.difference(&self.seeds[changed.seed].passes).next();
        let stated = match (false_value, more) {
            (Some(place), _) => format!("a false {place} passes"),
            // A changed snapshot may pass what its seed does not: it may have become true.
            (None, Some(check)) if changed.files.is_empty() => format!("{check} passes"),
            _ => "true".to_owned(),
        };
        // Something is proven where a check passes.
        let verdict = if passes.is_empty() { Verdict::Incomplete } else { Verdict::Valid };
        Said { verdict, compared: compared.join(", "), stated, unclear: None }
    }

    fn is_true(&self, stated: &str) -> bool {
        stated == "true"
    }

    fn ask_second(&self, changed: &Changed) -> Option<Value> {
        let (snapshot, state) = self.snapshot(changed);
        let texts = [snapshot, state].map(|value| to_canonical_json(&value).unwrap_or_default());
        let texts = texts.map(|bytes| String::from_utf8(bytes).unwrap_or_default());
        let pool = self.seeds[changed.seed].pool.to_string();
        Some(json!({
            "kind": "state proof", "file": hex(&changed.file),
            "snapshot": texts[0], "state": texts[1], "pool": pool,
        }))
    }
}
