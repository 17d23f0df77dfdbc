//! `[alerts]`: off by default.

use std::path::PathBuf;
use std::time::Duration;

use exitgap_store::alerts::AlertBounds;
use ipnet::IpNet;
use serde::Deserialize;

/// The table `[alerts]` as written in the configuration file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AlertsConfig {
    /// Whether this service stores rules for clients and sends their events. Default: no. A caller can evaluate a rule
    /// in a single request in any case, without charge.
    pub enabled: bool,
    /// The database of rules, events and deliveries: a file shared by the processes of one machine, relative to the
    /// folder of the configuration file; or `postgresql://<role>@<host>/<database>`, the database of a store on a
    /// server, shared by all processes that can reach it. Default `alerts.db`.
    pub database: PathBuf,
    /// The key from which the webhooks' keys are derived, mode 600, created by `exitgap-server key alerts`. Relative to
    /// the folder of the configuration file. Default `alerts.key`.
    pub key_file: PathBuf,
    /// Maximum number of rules per client; from 1 to 1000. Default 5.
    pub per_client: u32,
    /// Maximum number of rules whose events go to one host; from 1 to 1000. Default 20.
    pub per_host: u32,
    /// Maximum number of rules in total; from 1 to 1000000. Default 100000.
    pub most: u32,
    /// Timeout for an endpoint's answer, seconds; from 1 to 60. Default 15.
    pub timeout_s: u32,
    /// The operator's own networks to which events may be sent by http and to any port, such as `10.1.0.0/16`; all
    /// other addresses must be public. Default: none.
    pub allow_networks: Vec<String>,
}

impl Default for AlertsConfig {
    fn default() -> Self {
        Self {
            enabled: false,
            database: "alerts.db".into(),
            key_file: "alerts.key".into(),
            per_client: 5,
            per_host: 20,
            most: 100_000,
            timeout_s: 15,
            allow_networks: Vec::new(),
        }
    }
}

/// The checked settings of the alert service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlertsPlan {
    /// The database.
    pub database: PathBuf,
    /// The key.
    pub key_file: PathBuf,
    /// Maximum numbers of rules.
    pub bounds: AlertBounds,
    /// Timeout for an endpoint's answer.
    pub timeout: Duration,
    /// The operator's own networks.
    pub allowed: Vec<IpNet>,
}

impl AlertsConfig {
    /// Checks the table; `None` if alerts are off. The error is the invalid key and what is wrong with its value.
    pub fn plan(&self) -> Result<Option<AlertsPlan>, (&'static str, String)> {
        let within = |key, found: u32, most: u32| {
            let wrong = || (key, format!("{found} is outside 1 to {most}"));
            (1..=most).contains(&found).then_some(found).ok_or_else(wrong)
        };
        let bounds = AlertBounds {
            per_client: within("per_client", self.per_client, 1_000)?,
            per_host: within("per_host", self.per_host, 1_000)?,
            most: within("most", self.most, 1_000_000)?,
        };
        let timeout_s = within("timeout_s", self.timeout_s, 60)?;
        let network = |text: &String| {
            let wrong =
                || ("allow_networks", format!("{text:?} is not a network such as \"10.1.0.0/16\""));
            text.parse().map_err(|_| wrong())
        };
        let allowed = self.allow_networks.iter().map(network).collect::<Result<Vec<IpNet>, _>>()?;
        Ok(self.enabled.then(|| AlertsPlan {
            database: self.database.clone(),
            key_file: self.key_file.clone(),
            bounds,
            timeout: Duration::from_secs(timeout_s.into()),
            allowed,
        }))
    }
}
