//! Environment variables, which take precedence over the file: `EXITGAP_<TABLE>_<KEY>`, and a chain's nodes as
//! `EXITGAP_CHAIN_<SLUG>_RPC_URLS` and `…_SECOND_RPC_URL`, so that secrets need not be in a file.

use std::str::FromStr;

use exitgap_chain::config::ChainConfig;
use serde::de::DeserializeOwned;

use super::Config;

/// Why an environment variable is rejected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EnvironmentError {
    /// The value is not valid. The error does not show it, because it may be a secret.
    #[error("the environment variable {name} has an invalid value: {expected}")]
    Value {
        /// The variable.
        name: String,
        /// What a valid value looks like.
        expected: &'static str,
    },
    /// The variable has the configuration's prefix, but sets nothing.
    #[error("the environment variable {name} has no effect; {remedy}")]
    Unknown {
        /// The variable.
        name: String,
        /// What to do, with the valid names.
        remedy: String,
    },
}

/// A configuration key that a variable can set.
struct Key {
    /// `<TABLE>_<KEY>`, as in the file but in upper case.
    name: &'static str,
    /// What belongs there.
    expected: &'static str,
    /// Sets the value; `None` if it is not valid.
    set: fn(&mut Config, &str) -> Option<()>,
}

const fn key(
    name: &'static str,
    expected: &'static str,
    set: fn(&mut Config, &str) -> Option<()>,
) -> Key {
    Key { name, expected, set }
}

const NUMBER: &str = "a whole number";

/// All keys that variables can set. A test compares them with the keys of the example.
static KEYS: [Key; 53] = [
    key("STORE_PATH", "a path", |config, path| parse(path, &mut config.store.path)),
    key("RECORDER_SEAL_AFTER_S", NUMBER, |config, seconds| {
        parse(seconds, &mut config.recorder.seal_after_s)
    }),
    key("RECORDER_SHARD_POOLS", NUMBER, |config, pools| {
        parse(pools, &mut config.recorder.shard_pools)
    }),
    key("EVIDENCE_KEY_FILE", "a path", |config, path| parse(path, &mut config.evidence.key_file)),
    key("EVIDENCE_RETIRING_KEY_FILE", "a path", |config, path| {
        parse_some(path, &mut config.evidence.retiring_key_file)
    }),
    key("EVIDENCE_FOLDER", "a path", |config, path| parse(path, &mut config.evidence.folder)),
    key("EVIDENCE_DAYS", "true or false", |config, word| parse(word, &mut config.evidence.days)),
    key("PROOFS_EACH_SLOT", "true or false", |config, word| {
        parse(word, &mut config.proofs.each_slot)
    }),
    key("PROOFS_KEEP", "true or false", |config, word| parse(word, &mut config.proofs.keep)),
    key("PROOFS_ANCHORS", "true or false", |config, word| parse(word, &mut config.proofs.anchors)),
    key("PROOFS_DATABASE", "a path", |config, path| parse(path, &mut config.proofs.database)),
    key("WITNESS_LOG_LIST", "a path", |config, path| {
        parse_some(path, &mut config.witness.log_list)
    }),
    key("WITNESS_KEY_FILE", "a path", |config, path| parse(path, &mut config.witness.key_file)),
    key("WITNESS_DATABASE", "a path", |config, path| parse(path, &mut config.witness.database)),
    key("OBSERVER_KEY_FILE", "a path", |config, path| {
        parse_some(path, &mut config.observer.key_file)
    }),
    key("BUCKET_URL", "a bucket such as s3://exits/log", |config, url| {
        parse_some(url, &mut config.bucket.url)
    }),
    key("BUCKET_ENDPOINT", "a URL", |config, url| parse_some(url, &mut config.bucket.endpoint)),
    key("BUCKET_REGION", "a region", |config, name| parse_some(name, &mut config.bucket.region)),
    key("BUCKET_ALLOW_HTTP", "true or false", |config, word| {
        parse(word, &mut config.bucket.allow_http)
    }),
    key("BUCKET_CLAIMS", "true or false", |config, word| parse(word, &mut config.bucket.claims)),
    key("BUCKET_CREDENTIALS_FILE", "a path", |config, path| {
        parse_some(path, &mut config.bucket.credentials_file)
    }),
    key("LOG_FORMAT", "text or json", |config, word| choose(word, &mut config.log.format)),
    key("LOG_LEVEL", "error, warn, info or debug", |config, word| {
        choose(word, &mut config.log.level)
    }),
    key("HTTP_LISTEN", "an address such as 0.0.0.0:8080", |config, address| {
        parse(address, &mut config.http.listen)
    }),
    key("HTTP_BASE_URL", "a URL", |config, url| parse_some(url, &mut config.http.base_url)),
    key("HTTP_WEB_URL", "a URL", |config, url| parse_some(url, &mut config.http.web_url)),
    key("HTTP_RATE_PER_MINUTE", NUMBER, |config, rate| {
        parse(rate, &mut config.http.rate_per_minute)
    }),
    key("HTTP_TOOLS_PER_MINUTE", NUMBER, |config, rate| {
        parse(rate, &mut config.http.tools_per_minute)
    }),
    key("HTTP_CLIENT_IP_HEADER", "a header's name", |config, name| {
        parse_some(name, &mut config.http.client_ip_header)
    }),
    key("HTTP_MAX_CONNECTIONS", NUMBER, |config, most| {
        parse(most, &mut config.http.max_connections)
    }),
    key("HTTP_MAX_CONNECTIONS_PER_ADDRESS", NUMBER, |config, most| {
        parse(most, &mut config.http.max_connections_per_address)
    }),
    key("SERVE_OPERATORS", "an address such as 127.0.0.1:9090", |config, address| {
        parse_some(address, &mut config.serve.operators)
    }),
    key("SERVE_READERS", NUMBER, |config, readers| parse(readers, &mut config.serve.readers)),
    key("SERVE_CACHE_MIB", NUMBER, |config, mib| parse(mib, &mut config.serve.cache_mib)),
    key("ALERTS_ENABLED", "true or false", |config, word| parse(word, &mut config.alerts.enabled)),
    key("ALERTS_DATABASE", "a path or a URL", |config, path| {
        parse(path, &mut config.alerts.database)
    }),
    key("ALERTS_KEY_FILE", "a path", |config, path| parse(path, &mut config.alerts.key_file)),
    key("ALERTS_PER_CLIENT", NUMBER, |config, most| parse(most, &mut config.alerts.per_client)),
    key("ALERTS_PER_HOST", NUMBER, |config, most| parse(most, &mut config.alerts.per_host)),
    key("ALERTS_MOST", NUMBER, |config, most| parse(most, &mut config.alerts.most)),
    key("ALERTS_TIMEOUT_S", NUMBER, |config, seconds| parse(seconds, &mut config.alerts.timeout_s)),
    key("PAYMENTS_ENABLED", "true or false", |config, word| {
        parse(word, &mut config.payments.enabled)
    }),
    key("PAYMENTS_PRICE_USDC", "a price such as 0.01", |config, price| {
        parse_some(price, &mut config.payments.price_usdc)
    }),
    key("PAYMENTS_PAY_TO", "an address", |config, address| {
        parse_some(address, &mut config.payments.pay_to)
    }),
    key("PAYMENTS_CHAIN", "a chain's slug", |config, slug| {
        parse_some(slug, &mut config.payments.chain)
    }),
    key("PAYMENTS_ASSET", "an address", |config, address| {
        parse_some(address, &mut config.payments.asset)
    }),
    key("PAYMENTS_SETTLE", "local or a facilitator's URL", |config, who| {
        parse(who, &mut config.payments.settle)
    }),
    key("PAYMENTS_HOT_KEY_FILE", "a path", |config, path| {
        parse(path, &mut config.payments.hot_key_file)
    }),
    key("PAYMENTS_RECEIPT_KEY_FILE", "a path", |config, path| {
        parse(path, &mut config.payments.receipt_key_file)
    }),
    key("PAYMENTS_DATABASE", "a path or a URL", |config, path| {
        parse(path, &mut config.payments.database)
    }),
    key("PAYMENTS_CONFIRMATIONS", NUMBER, |config, blocks| {
        parse_some(blocks, &mut config.payments.confirmations)
    }),
    key("PAYMENTS_FREE_ESTIMATES_PER_DAY", NUMBER, |config, estimates| {
        parse(estimates, &mut config.payments.free_estimates_per_day)
    }),
    key("PAYMENTS_MAX_FEE_GWEI", NUMBER, |config, gwei| {
        parse(gwei, &mut config.payments.max_fee_gwei)
    }),
];

/// The file's table that a variable's name begins with.
fn table_of(name: &str) -> Option<&str> {
    name.split_once('_').map(|(table, _)| table)
}

/// Applies the variables. Variables without the prefix are ignored.
pub fn apply(
    config: &mut Config,
    variables: impl Iterator<Item = (String, String)>,
) -> Result<(), EnvironmentError> {
    for (name, value) in variables {
        let Some(key) = name.strip_prefix("EXITGAP_") else { continue };
        if let Some(of_chain) = key.strip_prefix("CHAIN_") {
            set_of_chain(config, of_chain, &name, &value)?;
        } else if let Some(known) = KEYS.iter().find(|known| known.name == key) {
            (known.set)(config, &value).ok_or_else(|| EnvironmentError::Value {
                name: name.clone(),
                expected: known.expected,
            })?;
        } else if KEYS.iter().any(|known| table_of(known.name) == table_of(key)) {
            return Err(unknown(&name));
        }
    }
    Ok(())
}

fn parse<T: FromStr>(text: &str, place: &mut T) -> Option<()> {
    *place = text.parse().ok()?;
    Some(())
}

fn parse_some<T: FromStr>(text: &str, place: &mut Option<T>) -> Option<()> {
    *place = Some(text.parse().ok()?);
    Some(())
}

/// Parses one of the words that the file allows.
fn choose<T: DeserializeOwned>(word: &str, place: &mut T) -> Option<()> {
    *place = toml::Value::from(word).try_into().ok()?;
    Some(())
}

fn unknown(name: &str) -> EnvironmentError {
    let known: Vec<&str> = KEYS.iter().map(|known| known.name).collect();
    let remedy = format!(
        "valid names are EXITGAP_ followed by {}, CHAIN_<SLUG>_RPC_URLS and CHAIN_<SLUG>_SECOND_RPC_URL",
        known.join(", ")
    );
    EnvironmentError::Unknown { name: name.to_owned(), remedy }
}

/// Applies a variable about a chain: `key` is the part after `EXITGAP_CHAIN_`.
fn set_of_chain(
    config: &mut Config,
    key: &str,
    name: &str,
    value: &str,
) -> Result<(), EnvironmentError> {
    if let Some(chain) = key.strip_suffix("_SECOND_RPC_URL") {
        let url = value.parse().map_err(|_| EnvironmentError::Value {
            name: name.to_owned(),
            expected: "a URL such as https://host/path",
        })?;
        chain_named(config, chain, name)?.second_rpc_url = Some(url);
        return Ok(());
    }
    match key.strip_suffix("_RPC_URLS") {
        Some(chain) => set_nodes(config, chain, name, value),
        None => Err(unknown(name)),
    }
}

/// The chain that a variable's name refers to. Characters of the slug that are not allowed in variable names are
/// replaced by underscores.
fn chain_named<'c>(
    config: &'c mut Config,
    chain: &str,
    name: &str,
) -> Result<&'c mut ChainConfig, EnvironmentError> {
    let as_variable = |slug: &str| slug.to_ascii_uppercase().replace('-', "_");
    let found = config.chain.iter_mut().find(|found| as_variable(found.slug.as_str()) == chain);
    found.ok_or_else(|| {
        let remedy = "no [[chain]] in the file has this slug".to_owned();
        EnvironmentError::Unknown { name: name.to_owned(), remedy }
    })
}

/// Sets a chain's nodes from comma-separated URLs.
fn set_nodes(
    config: &mut Config,
    chain: &str,
    name: &str,
    value: &str,
) -> Result<(), EnvironmentError> {
    let found = chain_named(config, chain, name)?;
    let wrong = || EnvironmentError::Value {
        name: name.to_owned(),
        expected: "URLs such as https://host/path, separated by commas",
    };
    let urls = value.split(',').map(|url| url.trim().parse());
    found.rpc_urls = urls.collect::<Result<_, _>>().map_err(|_| wrong())?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::EXAMPLE;
    use super::*;

    /// Every key of the file can also be set in the environment, and the other way round. Without this test, a missing
    /// key would be noticed only by the first operator who needs it.
    #[test]
    fn every_plain_key_of_the_example_can_be_set() {
        let (mut table, mut of_file) = (String::new(), Vec::new());
        for line in EXAMPLE.lines() {
            if line.starts_with("[[") {
                break;
            }
            if let Some(name) = line.strip_prefix('[') {
                name.trim_end_matches(']').clone_into(&mut table);
            }
            // The example shows keys without a useful default as comments.
            let (key, value) = line.trim_start_matches("# ").split_once(" = ").unwrap_or_default();
            let is_key =
                !key.is_empty() && key.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
            if is_key && !value.starts_with('[') {
                of_file.push(format!("{table}_{key}").to_uppercase());
            }
        }
        let mut known: Vec<&str> = KEYS.iter().map(|key| key.name).collect();
        known.sort_unstable();
        of_file.sort_unstable();
        assert_eq!(of_file, known);
    }
}
