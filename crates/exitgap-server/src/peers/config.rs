//! `[[peer]]` and `[observer]`.

use std::path::PathBuf;

use exitgap_core::tlog::VerifierKey;
use reqwest::Url;
use serde::Deserialize;

/// Maximum number of peers.
const MOST: usize = 8;

/// The table `[[peer]]` as written in the configuration file: an operator whose log is followed.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PeerConfig {
    /// The URL of its published log, such as `https://other.example/log`: a service's `/log`, or any file server for
    /// its folder.
    pub log: String,
    /// Its public key, as printed by its `key new` or in its file `verifier-key`. It identifies every log that the key
    /// begins.
    pub key: String,
}

/// `[observer]`. The key that cosigns peers' logs if this operator's own nodes returned the same data.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ObserverConfig {
    /// The cosigning key, mode 600, created by `exitgap-server key witness`; never a log's key or the witness's,
    /// because its signatures mean something else. Relative to the folder of the configuration file. Default: none,
    /// nothing is observed.
    pub key_file: Option<PathBuf>,
}

/// A peer with checked settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Peer {
    /// The base URL of its log's files.
    pub log: Url,
    /// Its key.
    pub key: VerifierKey,
}

/// Checks the tables. The error is the invalid key and a message.
pub fn peers_of(tables: &[PeerConfig]) -> Result<Vec<Peer>, (&'static str, String)> {
    if tables.len() > MOST {
        let message = format!("{} tables; at most {MOST} are allowed", tables.len());
        return Err(("log", message));
    }
    let mut peers: Vec<Peer> = Vec::new();
    for PeerConfig { log, key } in tables {
        let wrong = || format!("{log:?} is not a URL such as https://other.example/log");
        let url: Url = log.trim_end_matches('/').parse().map_err(|_| ("log", wrong()))?;
        let plain = url.query().is_none() && url.fragment().is_none() && url.username().is_empty();
        if !matches!(url.scheme(), "http" | "https") || !url.has_host() || !plain {
            return Err(("log", wrong()));
        }
        let key: VerifierKey =
            key.trim().parse().map_err(|error| ("key", format!("{key:?}: {error}")))?;
        if peers.iter().any(|peer| peer.key.name() == key.name()) {
            return Err(("key", format!("{} is followed twice", key.name())));
        }
        peers.push(Peer { log: url, key });
    }
    Ok(peers)
}

#[cfg(test)]
mod tests {
    use exitgap_core::tlog::SignerKey;

    use super::*;

    #[test]
    fn what_is_no_peer_is_named_with_its_key() {
        let key = |name: &str| SignerKey::from_seed(name, [3; 32]).unwrap().verifier().to_string();
        let table = |log: &str, key: String| PeerConfig { log: log.to_owned(), key };
        let fine = table("https://a.example/log/", key("a.example/exits"));
        let peers = peers_of(std::slice::from_ref(&fine)).unwrap();
        assert_eq!(peers[0].log.as_str(), "https://a.example/log");
        let wrong = [
            (table("ftp://a.example/log", key("a")), "log", "not a URL"),
            (table("https://u:p@a.example/log", key("a")), "log", "not a URL"),
            (table("https://a.example/log?x=1", key("a")), "log", "not a URL"),
            (table("a.example", key("a")), "log", "not a URL"),
            (table("https://a.example/log", "a.example".to_owned()), "key", "a.example"),
        ];
        for (table, key, said) in wrong {
            let (at, message) = peers_of(std::slice::from_ref(&table)).unwrap_err();
            assert!(at == key && message.contains(said), "{at}: {message}");
        }
        let twice = peers_of(&[fine.clone(), fine.clone()]).unwrap_err();
        assert!(twice.1.contains("followed twice"), "{}", twice.1);
        let many: Vec<PeerConfig> =
            (0..=MOST).map(|n| table("https://a.example/log", key(&format!("a{n}")))).collect();
        assert!(peers_of(&many).unwrap_err().1.contains("at most 8"));
    }
}
