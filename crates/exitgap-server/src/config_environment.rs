//! Environment variables that count more than the file: `EXITGAP_<TABLE>_<KEY>`, and a
//! chain's nodes as `EXITGAP_CHAIN_<SLUG>_RPC_URLS` and `…_SECOND_RPC_URL`, so that no secret need
//! be in a file.

use exitgap_chain::config::ChainConfig;

use std::net::SocketAddr;

use super::{Config, LogFormat, LogLevel};

/// Why an environment variable is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EnvironmentError {
    /// The variable holds no acceptable value. The value is not shown: it may be a secret.
    #[error("the environment variable {name} holds no acceptable value: {expected}")]
    Value {
        /// The variable.
        name: String,
        /// What belongs there.
        expected: &'static str,
    },
    /// The variable begins like one of the configuration's, but sets nothing.
    #[error("the environment variable {name} sets nothing; {remedy}")]
    Unknown {
        /// The variable.
        name: String,
        /// What there is.
        remedy: String,
    },
}

/// The keys that may be set, as `<TABLE>_<KEY>`.
const KEYS: [&str; 16] = [
    "STORE_PATH",
    "RECORDER_SEAL_AFTER_S",
    "EVIDENCE_KEY_FILE",
    "EVIDENCE_FOLDER",
    "LOG_FORMAT",
    "LOG_LEVEL",
    "HTTP_LISTEN",
    "HTTP_BASE_URL",
    "HTTP_WEB_URL",
    "HTTP_RATE_PER_MINUTE",
    "HTTP_CLIENT_IP_HEADER",
    "HTTP_MAX_CONNECTIONS",
    "HTTP_MAX_CONNECTIONS_PER_ADDRESS",
    "SERVE_OPERATORS",
    "SERVE_READERS",
    "SERVE_CACHE_MIB",
];

/// What a variable of the configuration begins with.
const TABLES: [&str; 7] = ["STORE_", "RECORDER_", "EVIDENCE_", "LOG_", "HTTP_", "SERVE_", "CHAIN_"];

/// Sets what the variables say. Variables of other names are not looked at.
pub fn apply(
    config: &mut Config,
    variables: impl Iterator<Item = (String, String)>,
) -> Result<(), EnvironmentError> {
    for (name, value) in variables {
        let Some(key) = name.strip_prefix("EXITGAP_") else { continue };
        if !TABLES.iter().any(|table| key.starts_with(table)) {
            continue;
        }
        let of_chain = |what| key.strip_prefix("CHAIN_").and_then(|key| key.strip_suffix(what));
        if let Some(chain) = of_chain("_SECOND_RPC_URL") {
            let url = value.parse().map_err(|_| EnvironmentError::Value {
                name: name.clone(),
                expected: "a URL such as https://host/path",
            })?;
            chain_named(config, chain, &name)?.second_rpc_url = Some(url);
        } else if let Some(chain) = of_chain("_RPC_URLS") {
            set_nodes(config, chain, &name, &value)?;
        } else {
            set(config, key, &name, value)?;
        }
    }
    Ok(())
}

fn set(config: &mut Config, key: &str, name: &str, value: String) -> Result<(), EnvironmentError> {
    let wrong = |expected| EnvironmentError::Value { name: name.to_owned(), expected };
    let address = |such| value.parse::<SocketAddr>().map_err(|_| wrong(such));
    let number = || value.parse::<u32>().map_err(|_| wrong("a whole number"));
    match key {
        "STORE_PATH" => config.store.path = value.into(),
        "RECORDER_SEAL_AFTER_S" => config.recorder.seal_after_s = number()?,
        "EVIDENCE_KEY_FILE" => config.evidence.key_file = value.into(),
        "EVIDENCE_FOLDER" => config.evidence.folder = value.into(),
        "LOG_FORMAT" => {
            config.log.format = match value.as_str() {
                "text" => LogFormat::Text,
                "json" => LogFormat::Json,
                _ => return Err(wrong("text or json")),
            }
        }
        "LOG_LEVEL" => {
            config.log.level = match value.as_str() {
                "error" => LogLevel::Error,
                "warn" => LogLevel::Warn,
                "info" => LogLevel::Info,
                "debug" => LogLevel::Debug,
                _ => return Err(wrong("error, warn, info or debug")),
            }
        }
        "HTTP_LISTEN" => config.http.listen = address("an address such as 0.0.0.0:8080")?,
        "HTTP_BASE_URL" => config.http.base_url = Some(value),
        "HTTP_WEB_URL" => config.http.web_url = Some(value),
        "HTTP_RATE_PER_MINUTE" => config.http.rate_per_minute = number()?,
        "HTTP_CLIENT_IP_HEADER" => config.http.client_ip_header = Some(value),
        "HTTP_MAX_CONNECTIONS" => config.http.max_connections = number()?,
        "HTTP_MAX_CONNECTIONS_PER_ADDRESS" => {
            config.http.max_connections_per_address = number()?;
        }
        "SERVE_OPERATORS" => {
            config.serve.operators = Some(address("an address such as 127.0.0.1:9090")?);
        }
        "SERVE_READERS" => config.serve.readers = number()?,
        "SERVE_CACHE_MIB" => config.serve.cache_mib = number()?,
        _ => {
            let remedy = format!(
                "there are EXITGAP_ before {}, CHAIN_<SLUG>_RPC_URLS and CHAIN_<SLUG>_SECOND_RPC_URL",
                KEYS.join(", ")
            );
            return Err(EnvironmentError::Unknown { name: name.to_owned(), remedy });
        }
    }
    Ok(())
}

/// The chain that a variable's name means. Signs that no variable's name has are underscores in the
/// slug.
fn chain_named<'c>(
    config: &'c mut Config,
    chain: &str,
    name: &str,
) -> Result<&'c mut ChainConfig, EnvironmentError> {
    let as_variable = |slug: &str| slug.to_ascii_uppercase().replace('-', "_");
    let found = config.chain.iter_mut().find(|found| as_variable(found.slug.as_str()) == chain);
    found.ok_or_else(|| {
        let remedy = "no [[chain]] of the file has this slug".to_owned();
        EnvironmentError::Unknown { name: name.to_owned(), remedy }
    })
}

/// Sets a chain's nodes: URLs with a comma between.
fn set_nodes(
    config: &mut Config,
    chain: &str,
    name: &str,
    value: &str,
) -> Result<(), EnvironmentError> {
    let found = chain_named(config, chain, name)?;
    let wrong = || EnvironmentError::Value {
        name: name.to_owned(),
        expected: "URLs such as https://host/path, with a comma between",
    };
    let urls = value.split(',').map(|url| url.trim().parse());
    found.rpc_urls = urls.collect::<Result<_, _>>().map_err(|_| wrong())?;
    Ok(())
}
