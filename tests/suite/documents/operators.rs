//! The files for operators: the dashboard and the alerting rules use only existing metrics. Also the systemd unit and
//! the container file, tested as far as a single machine allows.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use exitgap_api::{LogsCheckedBy, LogsStatus};
use exitgap_chain::{RequestOutcomes, Unproven};
use exitgap_core::series::{MissingReason, Slot};
use exitgap_server::bucket::BucketTold;
use exitgap_server::http::Telemetry;
use exitgap_server::peers::PeerTold;
use exitgap_server::recorder::Drawn;
use exitgap_server::replica::ReplicaStatus;
use exitgap_store::alerts::AlertCounts;
use exitgap_store::payments::Counts;
use serde_json::Value;

use super::document;

const DASHBOARD: &str = "crates/exitgap-server/deploy/grafana.json";
const RULES: &str = "crates/exitgap-server/deploy/prometheus-rules.yml";
const GUIDE: &str = "crates/exitgap-server/docs/operators.md";

/// The output of `/metrics` after every metric has occurred.
fn measured() -> String {
    let told = Telemetry::default();
    told.count_request("/v1/pools", 200, Duration::from_millis(1));
    told.count_slot(3, &BTreeMap::from([(MissingReason::RecorderDown, 1)]));
    told.proofs(1, &BTreeMap::from([(Unproven::UnsupportedLayout, 1), (Unproven::NoTime, 1)]));
    told.drawn(Drawn { due: 1, proven: 1 });
    let (node, method, outcome) = ("http://node".to_owned(), "eth_call", "answer");
    told.nodes(&[RequestOutcomes { node, method, outcome, requests: 1 }], 0, 0);
    let logs = LogsStatus { checked_by: LogsCheckedBy::Unproven, unproven_because: None };
    told.logs_checked(&"ethereum".parse().unwrap(), &logs);
    told.count_cosignatures(1, [&"other".to_owned()].into_iter());
    let peer = "other".to_owned();
    let (slot, observed) = (Slot::FIRST, false);
    let counted = PeerTold {
        peer,
        slot,
        outcome: "agreed",
        compared: 1,
        differing: 0,
        refuted: 0,
        observed,
        behind: 0,
    };
    told.peer(&counted);
    told.slot_ages([("ethereum", 60)].into_iter());
    told.payments(Counts { settling: 1, ..Counts::default() });
    told.alerts(AlertCounts { alerts: 1, ..AlertCounts::default() });
    told.kept_bytes(1);
    told.bucket(BucketTold::Covers(1));
    told.bucket(BucketTold::Ended("brought"));
    told.days(Some(1));
    told.days(None);
    told.replica(ReplicaStatus { held: 1, published: 1, refuses: false });
    told.doubtful(0);
    told.connection_refused();
    told.text()
}

/// The metrics by name, each with its labels and their values.
struct Measures {
    families: BTreeSet<String>,
    samples: BTreeMap<String, BTreeMap<String, BTreeSet<String>>>,
}

impl Measures {
    fn read(text: &str) -> Self {
        let mut families = BTreeSet::new();
        let mut samples: BTreeMap<String, BTreeMap<String, BTreeSet<String>>> = BTreeMap::new();
        for line in text.lines() {
            if let Some(family) = line.strip_prefix("# TYPE ") {
                families.insert(family.split(' ').next().unwrap().to_owned());
            } else if !line.starts_with('#') {
                let name = line.split(['{', ' ']).next().unwrap();
                let labels = samples.entry(name.to_owned()).or_default();
                for (label, value) in labels_of(line) {
                    labels.entry(label.to_owned()).or_default().insert(value.to_owned());
                }
            }
        }
        Self { families, samples }
    }

    /// Returns the metrics and labels in a query that do not exist.
    fn unknown_in(&self, query: &str) -> Vec<String> {
        let names = words(query).filter(|word| word.starts_with("exitgap_"));
        let mut unknown = Vec::new();
        let mut labels: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for name in names {
            let Some(known) = self.samples.get(name) else {
                unknown.push(name.to_owned());
                continue;
            };
            for (label, values) in known {
                labels.entry(label).or_default().extend(values.iter().map(String::as_str));
            }
        }
        let grouped = query
            .split(" by (")
            .skip(1)
            .flat_map(|rest| rest.split(')').next().unwrap_or_default().split(',').map(str::trim));
        // Prometheus itself adds this label.
        let is_known = |label: &str| label == "job" || labels.contains_key(label);
        unknown.extend(grouped.filter(|label| !is_known(label)).map(str::to_owned));
        for (label, value) in labels_of(query) {
            let spelled = !value.contains(['.', '$', '*', '|']);
            let says = |found: &BTreeSet<&str>| !spelled || found.contains(value);
            let found = label == "job" || labels.get(label).is_some_and(says);
            if !found {
                unknown.push(format!("{label}={value}"));
            }
        }
        unknown
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
}

/// The labels that a line or a query compares, each with its value.
fn labels_of(text: &str) -> Vec<(&str, &str)> {
    let parts: Vec<&str> = text.split('"').collect();
    parts
        .chunks_exact(2)
        .filter_map(|pair| {
            let before = pair[0].trim_end_matches(['=', '~', '!']);
            let label = before.rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '_').next()?;
            (before.len() < pair[0].len()).then_some((label, pair[1]))
        })
        .collect()
}

/// Collects every text with this key, anywhere in a document.
fn texts_under<'a>(value: &'a Value, name: &str, found: &mut Vec<&'a str>) {
    match value {
        Value::Object(members) => {
            for (key, member) in members {
                match member.as_str() {
                    Some(text) if key == name => found.push(text),
                    _ => texts_under(member, name, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| texts_under(item, name, found)),
        _ => {}
    }
}

#[test]
fn dashboard_and_rules_ask_for_what_is_measured_and_the_guide_names_all_of_it() {
    let measures = Measures::read(&measured());
    assert!(measures.families.len() >= 19, "{:?}", measures.families);
    for wrong in [
        "exitgap_slots_total",
        "exitgap_snapshots_missing",
        "sum by (witness) (exitgap_snapshots_missing_total)",
        "exitgap_payments{state=\"settled_twice\"}",
        "exitgap_payments{chain=\"ethereum\"}",
    ] {
        assert_eq!(measures.unknown_in(wrong).len(), 1, "{wrong}");
    }

    let dashboard: Value = serde_json::from_str(&document(DASHBOARD)).unwrap();
    let mut queries = Vec::new();
    texts_under(&dashboard, "expr", &mut queries);
    let rules = document(RULES);
    let ruled: Vec<&str> =
        rules.lines().filter_map(|line| line.trim().strip_prefix("expr: ")).collect();
    assert_eq!(ruled.len(), rules.matches("- alert: ").count());
    assert!(ruled.len() >= 12);
    for query in queries.iter().chain(&ruled) {
        assert_eq!(measures.unknown_in(query), Vec::<String>::new(), "{query}");
    }

    // The dashboard and the guide mention every metric.
    let guide = document(GUIDE);
    let guided: BTreeSet<&str> = words(&guide).collect();
    let drawn: BTreeSet<&str> = queries.iter().flat_map(|query| words(query)).collect();
    for family in &measures.families {
        assert!(guided.contains(family.as_str()), "the guide does not name {family}");
        let is_drawn = ["", "_total", "_bucket"].map(|end| format!("{family}{end}"));
        assert!(is_drawn.iter().any(|name| drawn.contains(name.as_str())), "{family} is not drawn");
    }
    let named = guided.iter().filter(|word| word.starts_with("exitgap_"));
    for name in named.filter(|name| **name != "exitgap_") {
        assert!(measures.families.contains(*name), "the guide names {name}, which is not measured");
    }
    for alert in rules.lines().filter_map(|line| line.trim().strip_prefix("- alert: ")) {
        assert!(guided.contains(alert), "the guide does not say what to do about {alert}");
    }
}
