//! `check`: compares the configuration with what the nodes report.

use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use exitgap_chain::{ChainReader, CheckFinding, Limits, Severity};
use exitgap_core::ids::Word;
use exitgap_store::alerts::Alerts;
use exitgap_store::payments::Payments;
use exitgap_store::{Reader, ServerState, StoreError, is_server};
use tokio::time::Instant;

use super::key::read_key;
use super::{CliError, runtime};
use crate::bucket::Bucket;
use crate::config::{CheckedConfig, Config};

/// Time limit for the nodes of one chain.
const CHECK_WITHIN: Duration = Duration::from_mins(2);

/// Prints one line per finding, and a remedy for each error.
pub fn check(path: &Path) -> Result<(), CliError> {
    let checked = CheckedConfig::from_file(path)?;
    let Config { store, evidence, .. } = &checked.config;
    let mut errors = print(&check_store(&store.path))?;
    errors += print(&[check_key(&evidence.key_file)])?;
    if let Some(retiring) = &evidence.retiring_key_file {
        errors += print(&[check_key(retiring)])?;
    }
    errors += print(check_bucket(&checked.config).as_slice())?;
    errors += print(&check_apart(&checked.config))?;
    let runtime = runtime("exitgap-server")?;
    for plan in checked.plan.into_chains() {
        let chain = plan.slug().to_string();
        let mut reader = ChainReader::new(plan, Limits::for_one_answer())
            .map_err(|error| CliError::Chain { chain, error: error.to_string() })?;
        let findings =
            runtime.block_on(async { reader.check(Instant::now() + CHECK_WITHIN).await });
        errors += print(&findings)?;
    }
    if errors == 0 { Ok(()) } else { Err(CliError::Findings { errors }) }
}

/// From this many days of snapshots in a server's database, `check` suggests pruning.
const MANY_DAYS: u64 = 100;

fn check_store(path: &Path) -> Vec<CheckFinding> {
    let subject = if is_server(path) {
        "store on a server".to_owned()
    } else {
        format!("store {}", path.display())
    };
    let finding = |severity, message| CheckFinding { severity, subject: subject.clone(), message };
    let server = match Reader::open(path).and_then(|reader| reader.server()) {
        Ok(Some(server)) => server,
        Ok(None) => return vec![finding(Severity::Fine, "exists".to_owned())],
        Err(StoreError::NotFound { .. }) => {
            return vec![finding(Severity::Fine, "will be created at the first start".to_owned())];
        }
        Err(error) => return vec![finding(Severity::Error, error.to_string())],
    };
    let ServerState { version, may_change, unsafe_settings, standbys, sealer, days } = server;
    let sealer = sealer.map(|sealer| format!(", {sealer} seals")).unwrap_or_default();
    let mut findings = vec![finding(Severity::Fine, format!("PostgreSQL {version}{sealer}"))];
    if may_change {
        let why =
            "its role can change recorded data: use a role created by `exitgap-server migrate`";
        findings.push(finding(Severity::Warning, why.to_owned()));
    }
    if days >= MANY_DAYS {
        let why = format!(
            "it has the snapshots of {days} days, each in its own partition that every query locks: remove old days with `exitgap-server prune`, or raise max_locks_per_transaction"
        );
        findings.push(finding(Severity::Warning, why));
    }
    for setting in unsafe_settings {
        findings
            .push(finding(Severity::Warning, format!("{setting}: a power failure may lose slots")));
    }
    findings.push(if let Some(standbys) = standbys {
        finding(Severity::Fine, format!("commits wait for standbys: {standbys}"))
    } else {
        let why = "no commit waits for a standby: if this server is lost, unpublished data since its last backup is lost too";
        finding(Severity::Warning, why.to_owned())
    });
    findings
}

fn check_key(path: &Path) -> CheckFinding {
    let (severity, message) = match read_key(path) {
        Ok(key) => (Severity::Fine, format!("signs as {}", key.verifier().name())),
        Err(error) => (Severity::Error, error.to_string()),
    };
    CheckFinding { severity, subject: format!("key {}", path.display()), message }
}

/// Checks that the bucket is reachable and that its log belongs to this store.
fn check_bucket(config: &Config) -> Option<CheckFinding> {
    let plan = config.bucket.plan().ok().flatten()?;
    let said = Bucket::open(&plan).and_then(|bucket| {
        let slots = match Reader::open(&config.store.path) {
            Ok(reader) => bucket.check(&reader),
            Err(_) => bucket.ask(),
        };
        slots.map_err(|error| error.to_string())
    });
    let (severity, message) = match said {
        Ok(slots) => (Severity::Fine, format!("has {slots} slots")),
        Err(why) => (Severity::Error, why),
    };
    Some(CheckFinding { severity, subject: format!("bucket {plan}"), message })
}

/// Checks that payments and alerts can be written if their databases are on a server. Database files are created at the
/// first start.
fn check_apart(Config { payments, alerts, .. }: &Config) -> Vec<CheckFinding> {
    let finding = |what: &str, opened: Result<(), String>| {
        let (severity, message) = match opened {
            Ok(()) => (Severity::Fine, "can be written".to_owned()),
            Err(why) => (Severity::Error, why),
        };
        CheckFinding { severity, subject: format!("{what} on a server"), message }
    };
    let mut findings = Vec::new();
    if payments.enabled && is_server(&payments.database) {
        let opened = Payments::open(&payments.database)
            .and_then(|payments| payments.mark_committed(&[Word([0; 32])]));
        findings.push(finding("payments", opened.map_err(|error| error.to_string())));
    }
    if alerts.enabled && is_server(&alerts.database) {
        let opened = Alerts::open(&alerts.database).and_then(|alerts| alerts.ask_again(-1, 0));
        findings.push(finding("alerts", opened.map_err(|error| error.to_string())));
    }
    findings
}

/// Prints findings and returns how many are errors.
fn print(findings: &[CheckFinding]) -> Result<usize, CliError> {
    let mut out = io::stdout();
    let mut errors = 0;
    for finding in findings {
        writeln!(out, "{finding}").map_err(CliError::Output)?;
        if finding.severity == Severity::Error {
            errors += 1;
            writeln!(out, "  remedy: {}", remedy(&finding.subject)).map_err(CliError::Output)?;
        }
    }
    Ok(errors)
}

/// The remedy for an error, by its subject: a store, a key, a pool, an oracle or a node.
fn remedy(subject: &str) -> &'static str {
    match subject.split(' ').next() {
        Some("store") => {
            "set [store] path to a store, to a new file, or to a database on a server, postgresql://<recorder>@<host>/<database>, created by `exitgap-server migrate`"
        }
        Some("key") => "set [evidence] key_file to a key created by `exitgap-server key new`",
        Some("bucket") => {
            "check url, endpoint, region and credentials of [bucket], and that the credentials may list, read and write there; for a bucket that holds another log, use another prefix"
        }
        Some("payments" | "alerts") => {
            "set database of [payments] or [alerts] to postgresql://<role>@<host>/<database>, with a database created by `exitgap-server migrate` and the role given to it with --service"
        }
        Some("pool") => {
            "check address, chain and oracles of its [[pool]]; v2 pairs (with fee), v3 pools and v4 pools (with key) are supported, each token priced by an [[oracle]] of the same chain"
        }
        Some("oracle") => "compare feed and heartbeat_s of its [[oracle]] with the feed's page",
        _ => {
            "check rpc_urls, chain_id and genesis_hash of its [[chain]], and that the node is up, in sync and accepts requests from this machine"
        }
    }
}
