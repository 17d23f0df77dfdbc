//! `[witness]`: who cosigns this log, and which logs are cosigned here.

use std::path::PathBuf;

use exitgap_core::tlog::{VerifierKey, WitnessKey};
use reqwest::Url;
use serde::Deserialize;

use super::{WitnessedLog, list};

/// Maximum number of witnesses, and of logs.
const MOST: usize = 16;

/// The table `[witness]` as written in the configuration file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WitnessConfig {
    /// The witnesses that each checkpoint is submitted to before it is published: a key and a URL each, such as
    /// `other.example/witness+67f7aea0+BEqS… https://other.example/witness`. At most 16. Default: none.
    pub asks: Vec<String>,
    /// The logs whose checkpoints are cosigned here, at `/witness/add-checkpoint`: the public key of each log, or of
    /// all logs that a key begins. At most 16. Default: none, and the address does not exist.
    pub logs: Vec<String>,
    /// A file with a list of further logs, in the format of witness networks (`logs/v0`): at most 1,024. It is read at
    /// startup. Relative to the folder of the configuration file. Default: none.
    pub log_list: Option<PathBuf>,
    /// The cosigning key, mode 600, created by `exitgap-server key witness`; never a log's key. Relative to the folder
    /// of the configuration file. Default `witness.key`.
    pub key_file: PathBuf,
    /// The database of the last cosigned checkpoint of each log. Relative to the folder of the configuration file.
    /// Default `witness.db`.
    pub database: PathBuf,
}

impl Default for WitnessConfig {
    fn default() -> Self {
        Self {
            asks: Vec::new(),
            logs: Vec::new(),
            log_list: None,
            key_file: "witness.key".into(),
            database: "witness.db".into(),
        }
    }
}

/// A witness of this log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WitnessEndpoint {
    /// Its key.
    pub key: WitnessKey,
    /// The base URL of `/add-checkpoint`.
    pub url: Url,
}

/// The checked settings: who cosigns, and what is cosigned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WitnessPlan {
    /// This log's witnesses.
    pub asks: Vec<WitnessEndpoint>,
    /// The logs that this program is a witness for.
    pub logs: Vec<VerifierKey>,
}

impl WitnessConfig {
    /// Checks both lists. The error is the invalid key and what is wrong with its value.
    pub fn plan(&self) -> Result<WitnessPlan, (&'static str, String)> {
        for (name, lines) in [("asks", &self.asks), ("logs", &self.logs)] {
            if lines.len() > MOST {
                return Err((name, format!("{} entries; at most {MOST} are allowed", lines.len())));
            }
        }
        let mut asks: Vec<WitnessEndpoint> = Vec::new();
        for line in &self.asks {
            let asked = witness_of(line).map_err(|error| ("asks", error))?;
            let same =
                |known: &WitnessEndpoint| known.key.public_bytes() == asked.key.public_bytes();
            if asks.iter().any(same) {
                let message = format!(
                    "the key of {} is listed twice; each witness needs its own key",
                    asked.key.name()
                );
                return Err(("asks", message));
            }
            asks.push(asked);
        }
        Ok(WitnessPlan { asks, logs: logs_of(&self.logs).map_err(|error| ("logs", error))? })
    }
}

impl WitnessConfig {
    /// All logs that are cosigned here: those that are named, and those of the list.
    pub fn all_logs(&self) -> Result<Vec<WitnessedLog>, (&'static str, String)> {
        let named = logs_of(&self.logs).map_err(|error| ("logs", error))?;
        let mut logs: Vec<WitnessedLog> = named.into_iter().map(WitnessedLog::of_key).collect();
        if let Some(path) = &self.log_list {
            let listed = list::read_list(path).map_err(|error| ("log_list", error.to_string()))?;
            for log in listed {
                let known = logs.iter().find(|known| known.origin == log.origin);
                if known.is_some_and(|known| known.key.public_bytes() != log.key.public_bytes()) {
                    let message =
                        format!("{}: {} has a different key in `logs`", path.display(), log.origin);
                    return Err(("log_list", message));
                }
                if !logs.contains(&log) {
                    logs.push(log);
                }
            }
        }
        Ok(logs)
    }
}

/// Parses the keys of logs, each once.
pub fn logs_of(lines: &[String]) -> Result<Vec<VerifierKey>, String> {
    let mut logs: Vec<VerifierKey> = Vec::new();
    for line in lines {
        let key: VerifierKey = line.trim().parse().map_err(|error| format!("{line:?}: {error}"))?;
        if logs.iter().any(|known| known.name() == key.name()) {
            return Err(format!("{} is listed twice", key.name()));
        }
        logs.push(key);
    }
    Ok(logs)
}

/// Parses `<key> <address>`.
fn witness_of(line: &str) -> Result<WitnessEndpoint, String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let &[key, url] = words.as_slice() else {
        return Err(format!("{line:?} is not a witness's key and URL separated by a space"));
    };
    let key: WitnessKey = key.parse().map_err(|error| format!("{key:?}: {error}"))?;
    let wrong = || format!("{url:?} is not a URL such as https://other.example/witness");
    let url: Url = url.trim_end_matches('/').parse().map_err(|_| wrong())?;
    let plain = url.query().is_none() && url.fragment().is_none();
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() || !plain {
        return Err(wrong());
    }
    Ok(WitnessEndpoint { key, url })
}

#[cfg(test)]
mod tests {
    use exitgap_core::tlog::{Cosigner, SignerKey};

    use super::*;

    #[test]
    fn what_is_no_witness_and_no_log_is_named_with_its_key() {
        let signer = |name: &str, seed| SignerKey::from_seed(name, [seed; 32]).unwrap();
        let key = Cosigner::new(signer("w.example", 1)).verifier().to_string();
        let again = Cosigner::new(signer("v.example", 1)).verifier().to_string();
        let log = signer("l.example/exits", 2).verifier().to_string();
        let plan = |asks: &[String], logs: &[String]| {
            WitnessConfig { asks: asks.to_vec(), logs: logs.to_vec(), ..WitnessConfig::default() }
                .plan()
        };
        let fine = format!("{key} https://w.example/witness/");
        let planned = plan(std::slice::from_ref(&fine), std::slice::from_ref(&log)).unwrap();
        assert_eq!(planned.asks[0].url.as_str(), "https://w.example/witness");
        assert_eq!(planned.logs.len(), 1);
        let wrong = [
            (key.clone(), "and URL"),
            (format!("{log} https://w.example"), "not a witness key"),
            (format!("{key} ftp://w.example"), "not a URL"),
            (format!("{key} https://w.example?a=b"), "not a URL"),
            (format!("{key} w.example"), "not a URL"),
        ];
        for (line, expected) in wrong {
            let (name, message) = plan(std::slice::from_ref(&line), &[]).unwrap_err();
            assert!(name == "asks" && message.contains(expected), "{line}: {message}");
        }
        let twice = plan(&[fine.clone(), format!("{again} http://v.example")], &[]).unwrap_err();
        assert!(twice.1.contains("listed twice"), "{}", twice.1);
        let (name, message) = plan(&[], std::slice::from_ref(&key)).unwrap_err();
        assert!(name == "logs" && message.contains(&key), "{message}");
        assert!(plan(&[], &[log.clone(), log.clone()]).unwrap_err().1.contains("listed twice"));
        assert!(plan(&vec![fine; 17], &[]).unwrap_err().1.contains("at most 16"));
    }
}
