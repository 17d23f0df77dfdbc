//! `[alerts]`: off unless it is told otherwise.

use std::path::PathBuf;
use std::time::Duration;

use exitgap_store::alerts::AlertBounds;
use ipnet::IpNet;
use serde::Deserialize;

/// `[alerts]`, as written.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AlertsConfig {
    /// Whether rules are kept for others and their events sent. Default: no; that a rule is evaluated in its caller's
    /// question is free in any case.
    pub enabled: bool,
    /// The database of rules, events and deliveries: a file, shared by the processes of one machine, relative to the
    /// folder of the configuration file; or `postgresql://<role>@<host>/<database>`, that of a store on a server, shared
    /// by all that reach it. Default `alerts.db`.
    pub database: PathBuf,
    /// The key that webhooks' keys are derived from, mode 600, as `exitgap-server key alerts` makes it. Relative to the
    /// folder of the configuration file. Default `alerts.key`.
    pub key_file: PathBuf,
    /// Rules of one client; from 1 to 1000. Default 5.
    pub per_client: u32,
    /// Rules that are sent to one host; from 1 to 1000. Default 20.
    pub per_host: u32,
    /// Rules in all; from 1 to 1000000. Default 100000.
    pub most: u32,
    /// How long an endpoint has to answer, seconds; from 1 to 60. Default 15.
    pub timeout_s: u32,
    /// Networks of one's own that events may be sent to, by http and at any port, such as `10.1.0.0/16`; all others must
    /// be public. Default: none.
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

/// What is kept and sent, checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlertsPlan {
    /// The database.
    pub database: PathBuf,
    /// The key.
    pub key_file: PathBuf,
    /// How many rules there may be.
    pub bounds: AlertBounds,
    /// How long an endpoint has to answer.
    pub timeout: Duration,
    /// Networks of one's own.
    pub allowed: Vec<IpNet>,
}

impl AlertsConfig {
    /// What to keep and send; `None` where that is off. Refused with the key at fault, and what is wrong with it.
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
