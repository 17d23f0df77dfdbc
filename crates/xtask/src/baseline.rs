//! The benchmark's committed baseline: the median of three runs for every key; and the comparison of a new run with it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::failure::{Context, Failure, Result};

/// The path of the baseline.
pub const FILE: &str = "crates/exitgap-bench/baseline.json";

/// Number of runs for the median.
pub const RUNS: usize = 3;

/// How much worse than the baseline a key may be, percent.
const TOLERATED_PCT: f64 = 10.0;

/// The numbers of one run.
pub type Figures = BTreeMap<String, f64>;

/// A key of the baseline.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Kept {
    median: f64,
    least: f64,
    most: f64,
}

/// The direction in which a key gets worse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Worse {
    /// Times and sizes.
    Higher,
    /// Rates, shares and scores.
    Lower,
    /// Other people's code, and counts of attempts.
    Neither,
}

/// Decided by the key's name, as listed in the benchmark's README.
fn worse(key: &str) -> Worse {
    let last = key.rsplit('.').next().unwrap_or(key);
    let is_peer = (key.starts_with("quote.") || key.starts_with("wasm.quote."))
        && last.ends_with("_ns")
        && last != "ours_ns";
    let counts = [
        "proof.changed",
        "proof.lies",
        "proof.lies_recorded",
        "proof.lies_unread",
        "proof.alloy_trie_times",
        "witness.forks",
        "agree.slots",
        "verify.files",
        "http.empty_rps",
        "web.lighthouse.not_measured",
    ];
    if is_peer || key.starts_with("peer.") || counts.contains(&key) {
        return Worse::Neither;
    }
    let rises = ["_per_s", "_rps", "_share", "_pct", ".connections"];
    if key.starts_with("web.lighthouse.") || rises.iter().any(|end| key.ends_with(end)) {
        return Worse::Lower;
    }
    Worse::Higher
}

impl Kept {
    /// The median by nearest rank, the minimum and the maximum of several runs.
    fn from_runs(values: &[f64]) -> Option<Self> {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (least, most) = (*sorted.first()?, *sorted.last()?);
        Some(Self { median: sorted[(sorted.len() - 1) / 2], least, most })
    }

    /// By how many percent a value is worse, if that exceeds both the tolerance and the spread of the baseline's runs.
    fn exceeded_by(self, key: &str, value: f64) -> Option<f64> {
        let loss = match worse(key) {
            Worse::Higher => value - self.median,
            Worse::Lower => self.median - value,
            Worse::Neither => return None,
        };
        let pct = 100.0 * loss / self.median.abs().max(f64::MIN_POSITIVE);
        (pct > TOLERATED_PCT && loss > self.most - self.least).then_some(pct)
    }
}

/// Parses the output of a benchmark run with `--json`.
pub fn read_figures(json: &str) -> Result<Figures> {
    let wrong = || Failure::new(format!("the bench printed no JSON object of numbers: {json:?}"));
    let last = json.lines().rev().find(|line| line.starts_with('{')).ok_or_else(wrong)?;
    let found: Map<String, Value> = serde_json::from_str(last).map_err(|_| wrong())?;
    found.into_iter().map(|(key, value)| Ok((key, value.as_f64().ok_or_else(wrong)?))).collect()
}

/// Writes the medians of these runs to the baseline; keys of other parts are kept.
pub fn keep(root: &Path, runs: &[Figures]) -> Result<()> {
    let mut kept = read_baseline(root)?;
    let keys = runs.first().map(|run| run.keys().cloned().collect::<Vec<_>>());
    for key in keys.unwrap_or_default() {
        let values: Vec<f64> = runs.iter().filter_map(|run| run.get(&key).copied()).collect();
        if let Some(figure) = Kept::from_runs(&values) {
            kept.insert(key, figure);
        }
    }
    // One line per key, so that a change of one key changes one line.
    let lines: Vec<String> = kept
        .iter()
        .map(|(key, Kept { median, least, most })| {
            format!("  {}: {}", json!(key), json!({"median": median, "least": least, "most": most}))
        })
        .collect();
    let path = path(root);
    fs::write(&path, format!("{{\n{}\n}}\n", lines.join(",\n")))
        .context(format!("writing {}", path.display()))?;
    println!("{} keys are in {FILE}", kept.len());
    Ok(())
}

/// Compares a run with the baseline: prints every key that is worse, and fails if there is any.
pub fn compare(root: &Path, run: &Figures) -> Result<()> {
    let kept = read_baseline(root)?;
    let mut worse = 0;
    let mut compared = 0;
    for (key, value) in run {
        let Some(before) = kept.get(key) else {
            println!("{key}: {value}, not in the baseline");
            continue;
        };
        compared += 1;
        if let Some(pct) = before.exceeded_by(key, *value) {
            let Kept { median, least, most } = before;
            println!("{key}: {value}, {pct:.0}% worse than {median} ({least} to {most})");
            worse += 1;
        }
    }
    println!("bench.keys_compared {compared}\nbench.keys_worse {worse}");
    if compared == 0 {
        return Err(Failure::new("the baseline has none of these keys")
            .remedy("measure one first: cargo xtask bench --baseline"));
    }
    if worse > 0 {
        return Err(Failure::new(format!("{worse} keys are worse than the baseline"))
            .remedy("measure again on an idle machine; if it is still worse, find the change that caused it"));
    }
    Ok(())
}

fn path(root: &Path) -> PathBuf {
    root.join(FILE)
}

fn read_baseline(root: &Path) -> Result<BTreeMap<String, Kept>> {
    let path = path(root);
    if !path.exists() {
        return Ok(BTreeMap::new());
    }
    let text = fs::read_to_string(&path).context(format!("reading {}", path.display()))?;
    let wrong = |what: &str| Failure::new(format!("{FILE}: {what}"));
    let found: Map<String, Value> =
        serde_json::from_str(&text).map_err(|error| wrong(&error.to_string()))?;
    found
        .into_iter()
        .map(|(key, value)| {
            let number = |name: &str| {
                value[name].as_f64().ok_or_else(|| wrong(&format!("{key} has no {name}")))
            };
            let kept =
                Kept { median: number("median")?, least: number("least")?, most: number("most")? };
            Ok((key, kept))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace;

    #[test]
    fn a_key_is_worse_beyond_a_tenth_and_beyond_the_runs_own_spread() {
        let steady = Kept::from_runs(&[100.0, 99.0, 101.0]).unwrap();
        assert_eq!(steady, Kept { median: 100.0, least: 99.0, most: 101.0 });
        assert_eq!(steady.exceeded_by("seal.100_pools_ms", 109.0), None);
        assert_eq!(steady.exceeded_by("seal.100_pools_ms", 120.0), Some(20.0));
        assert_eq!(steady.exceeded_by("seal.100_pools_ms", 50.0), None);
        assert_eq!(steady.exceeded_by("http.exit_rps", 120.0), None);
        assert_eq!(steady.exceeded_by("http.exit_rps", 80.0), Some(20.0));
        let restless = Kept::from_runs(&[100.0, 80.0, 130.0]).unwrap();
        assert_eq!(restless.exceeded_by("seal.100_pools_ms", 140.0), None);
        assert_eq!(restless.exceeded_by("seal.100_pools_ms", 151.0), Some(51.0));
    }

    #[test]
    fn other_peoples_speed_is_not_ours_to_lose() {
        for key in ["quote.10.js_sdk_ns", "wasm.quote.1.js_sdk_ns", "peer.helios_gzip_bytes"] {
            assert_eq!(worse(key), Worse::Neither, "{key}");
        }
        for key in ["quote.10.ours_ns", "wasm.quote.1.ours_ns", "size.v2_us"] {
            assert_eq!(worse(key), Worse::Higher, "{key}");
        }
        for key in ["export.write_rows_per_s", "proof.coverage_pct", "web.lighthouse.phone.seo"] {
            assert_eq!(worse(key), Worse::Lower, "{key}");
        }
    }

    #[test]
    fn figures_are_read_from_the_last_object() {
        let found = read_figures("words\n{\"a.b_ms\":1.5,\"c\":2}\n").unwrap();
        assert_eq!(found, Figures::from([("a.b_ms".to_owned(), 1.5), ("c".to_owned(), 2.0)]));
        for wrong in ["", "words", "{\"a\":\"b\"}", "{"] {
            assert!(read_figures(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_committed_baseline_is_read_and_written_again_as_it_is() {
        let root = workspace::root();
        let folder = std::env::temp_dir().join(format!("baseline-{}", std::process::id()));
        fs::create_dir_all(folder.join(FILE).parent().unwrap()).unwrap();
        let before = fs::read_to_string(path(&root)).unwrap();
        fs::write(folder.join(FILE), &before).unwrap();
        keep(&folder, &[]).unwrap();
        assert_eq!(fs::read_to_string(folder.join(FILE)).unwrap(), before);
        // New keys are added, existing ones are kept.
        let runs = [3.0, 1.0, 2.0].map(|value| Figures::from([("a.made_up_ms".to_owned(), value)]));
        keep(&folder, &runs).unwrap();
        let (committed, now) = (read_baseline(&root).unwrap(), read_baseline(&folder).unwrap());
        assert_eq!(now["a.made_up_ms"], Kept { median: 2.0, least: 1.0, most: 3.0 });
        assert_eq!(now.len(), committed.len() + 1);
        assert!(committed.iter().all(|(key, kept)| now[key] == *kept));
        let found = |key: &str, value: f64| Figures::from([(key.to_owned(), value)]);
        compare(&folder, &found("a.made_up_ms", 2.0)).unwrap();
        let slower = compare(&folder, &found("a.made_up_ms", 20.0)).unwrap_err();
        assert!(slower.to_string().contains("1 keys are worse"), "{slower}");
        let unknown = compare(&folder, &found("another_ms", 2.0)).unwrap_err();
        assert!(unknown.to_string().contains("none of these keys"), "{unknown}");
        fs::remove_dir_all(folder).unwrap();
    }
}
