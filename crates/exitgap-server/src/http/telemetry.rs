//! Metrics for Prometheus.

use std::collections::BTreeMap;
use std::time::Duration;

use exitgap_api::LogsStatus;
use exitgap_chain::{RequestOutcomes, Unproven};
use exitgap_core::ids::ChainSlug;
use exitgap_core::series::MissingReason;
use exitgap_store::alerts::AlertCounts;
use exitgap_store::payments::Counts;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Metric, Registry};

use super::measures::{
    BucketMeasures, DaysMeasures, DrawMeasures, NodeMeasures, PeerMeasures, ReplicaMeasures,
};
use crate::bucket::BucketTold;
use crate::peers::PeerTold;
use crate::recorder::Drawn;
use crate::replica::ReplicaStatus;

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    route: String,
    status: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Route {
    route: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Reason {
    reason: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfWitness {
    witness: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfState {
    state: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfChain {
    chain: String,
}

/// The metrics of one process.
pub struct Telemetry {
    registry: Registry,
    requests: Family<RequestLabels, Counter>,
    latency: Family<Route, Histogram, fn() -> Histogram>,
    recorded: Counter,
    missing: Family<Reason, Counter>,
    proven: Counter,
    unproven: Family<Reason, Counter>,
    drawn: DrawMeasures,
    cosignatures: Counter,
    not_cosigned: Family<OfWitness, Counter>,
    nodes: NodeMeasures,
    peers: PeerMeasures,
    replica: ReplicaMeasures,
    bucket: BucketMeasures,
    days: DaysMeasures,
    slot_age: Family<OfChain, Gauge>,
    doubtful: Gauge,
    connections: Gauge,
    refused_connections: Counter,
    kept_bytes: Gauge,
    payments: Family<OfState, Gauge>,
    alerts: Gauge,
    deliveries: Family<OfState, Gauge>,
}

fn latencies() -> Histogram {
    Histogram::new([0.000_1, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1.0, 5.0])
}

/// Registers a metric under this name.
pub(super) fn measure<M: Metric + Clone + Default>(
    registry: &mut Registry,
    name: &str,
    help: &str,
) -> M {
    let measure = M::default();
    registry.register(name, help, measure.clone());
    measure
}

impl Default for Telemetry {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("exitgap");
        let requests = measure(&mut registry, "http_requests", "Responses by route and status");
        let latency = Family::new_with_constructor(latencies as fn() -> Histogram);
        registry.register(
            "http_request_duration_seconds",
            "Time from the request's head to the response's head",
            latency.clone(),
        );
        let recorded =
            measure(&mut registry, "snapshots_recorded", "Pool slots recorded since the start");
        let missing = measure(
            &mut registry,
            "snapshots_missing",
            "Missing pool slots by reason since the start",
        );
        let proven = measure(
            &mut registry,
            "states_proven",
            "Pool slots whose state the chain confirmed before signing, since the start",
        );
        let unproven = measure(
            &mut registry,
            "states_unproven",
            "Recorded pool slots that the chain's state could not confirm, by reason, since the start",
        );
        let cosignatures =
            measure(&mut registry, "cosignatures", "Witness cosignatures on slots since the start");
        let not_cosigned = measure(
            &mut registry,
            "not_cosigned",
            "Slots that a witness was asked to cosign but did not, since the start",
        );
        let nodes = NodeMeasures::new(&mut registry);
        let (peers, drawn) = (PeerMeasures::new(&mut registry), DrawMeasures::new(&mut registry));
        let replica = ReplicaMeasures::new(&mut registry);
        let bucket = BucketMeasures::new(&mut registry);
        let days = DaysMeasures::new(&mut registry);
        let slot_age = measure(
            &mut registry,
            "newest_slot_age_seconds",
            "Age of the newest recorded slot of a chain",
        );
        let doubtful = measure(
            &mut registry,
            "doubtful_slots",
            "Recorded pool slots whose ticks a later full reading contradicts",
        );
        let connections = measure(&mut registry, "http_connections", "Open connections");
        let refused_connections = measure(
            &mut registry,
            "http_connections_refused",
            "Connections closed above the limit per address",
        );
        let kept_bytes = measure(
            &mut registry,
            "kept_bytes",
            "Size of the cache of snapshots with their curves, and of proofs",
        );
        let payments = measure(
            &mut registry,
            "payments",
            "Payments by state; settling payments are owed, orphaned payments were reverted",
        );
        let alerts = measure(&mut registry, "alerts", "Stored alert rules");
        let deliveries = measure(
            &mut registry,
            "alert_deliveries",
            "Webhook events of the last 30 days by state; pending events wait",
        );
        Self {
            registry,
            requests,
            latency,
            recorded,
            missing,
            proven,
            unproven,
            drawn,
            cosignatures,
            not_cosigned,
            nodes,
            peers,
            replica,
            bucket,
            days,
            slot_age,
            doubtful,
            connections,
            refused_connections,
            kept_bytes,
            payments,
            alerts,
            deliveries,
        }
    }
}

impl Telemetry {
    /// Counts an answered request.
    pub fn count_request(&self, route: &str, status: u16, took: Duration) {
        let route = route.to_owned();
        self.requests.get_or_create(&RequestLabels { route: route.clone(), status }).inc();
        self.latency.get_or_create(&Route { route }).observe(took.as_secs_f64());
    }

    /// Counts the state proofs of a slot.
    pub fn proofs(&self, proven: u32, unproven: &BTreeMap<Unproven, u32>) {
        self.proven.inc_by(proven.into());
        for (why, pools) in unproven {
            let reason = Reason { reason: why.code().to_owned() };
            self.unproven.get_or_create(&reason).inc_by(u64::from(*pools));
        }
    }

    /// Counts whole-pool proofs that were drawn.
    pub fn drawn(&self, drawn: Drawn) {
        self.drawn.count(drawn);
    }

    /// Counts the result of a peer's slot.
    pub fn peer(&self, told: &PeerTold) {
        self.peers.count(told);
    }

    /// Reports how many closed days are not written yet, or counts one that could not be.
    pub fn days(&self, due: Option<u64>) {
        self.days.tell(due);
    }

    /// Reports how far the bucket is, and counts its rounds.
    pub fn bucket(&self, told: BucketTold) {
        self.bucket.tell(told);
    }

    /// Reports a replica's progress.
    pub fn replica(&self, standing: ReplicaStatus) {
        self.replica.stand(standing);
    }

    /// Counts a slot's witness signatures.
    pub fn count_cosignatures<'a>(&self, cosigned: u32, not: impl Iterator<Item = &'a String>) {
        self.cosignatures.inc_by(cosigned.into());
        for witness in not {
            self.not_cosigned.get_or_create(&OfWitness { witness: witness.clone() }).inc();
        }
    }

    /// Counts for a recorded slot: the nodes' answers, the pools whose logs arrived but cannot be read, and the
    /// documents that the store rejected.
    pub fn nodes(&self, outcomes: &[RequestOutcomes], unread: u32, refused: u32) {
        self.nodes.count(outcomes, unread, refused);
    }

    /// Counts how a chain's logs of a slot were checked for being complete.
    pub fn logs_checked(&self, chain: &ChainSlug, logs: &LogsStatus) {
        self.nodes.count_logs(chain, logs.checked_by);
    }

    /// Counts a sealed slot: the recorded pools, and the missing ones by reason.
    pub fn count_slot(&self, recorded: u64, missing: &BTreeMap<MissingReason, u64>) {
        self.recorded.inc_by(recorded);
        for (reason, pools) in missing {
            self.missing.get_or_create(&Reason { reason: reason.code().to_owned() }).inc_by(*pools);
        }
    }

    /// Reports the age of each chain's newest recorded slot, seconds. Chains that are not listed are no longer
    /// recorded.
    pub fn slot_ages<'a>(&self, ages: impl Iterator<Item = (&'a str, u64)>) {
        self.slot_age.clear();
        for (chain, seconds) in ages {
            let chain = OfChain { chain: chain.to_owned() };
            self.slot_age.get_or_create(&chain).set(i64::try_from(seconds).unwrap_or(i64::MAX));
        }
    }

    /// Reports the state of the payments.
    pub fn payments(&self, counts: Counts) {
        let Counts { claimed, settling, settled, failed, orphaned } = counts;
        for (state, number) in [
            ("claimed", claimed),
            ("settling", settling),
            ("settled", settled),
            ("failed", failed),
            ("orphaned", orphaned),
        ] {
            let of = OfState { state: state.to_owned() };
            self.payments.get_or_create(&of).set(i64::try_from(number).unwrap_or(i64::MAX));
        }
    }

    /// Reports how many rules are stored, and the state of their deliveries.
    pub fn alerts(&self, counts: AlertCounts) {
        let AlertCounts { alerts, pending, delivered, given_up, .. } = counts;
        let whole = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        self.alerts.set(whole(alerts));
        for (state, number) in
            [("pending", pending), ("delivered", delivered), ("given_up", given_up)]
        {
            let of = OfState { state: state.to_owned() };
            self.deliveries.get_or_create(&of).set(whole(number));
        }
    }

    /// Reports the size of the caches, bytes.
    pub fn kept_bytes(&self, bytes: u64) {
        self.kept_bytes.set(i64::try_from(bytes).unwrap_or(i64::MAX));
    }

    /// Counts a connection that exceeded its address's limit.
    pub fn connection_refused(&self) {
        self.refused_connections.inc();
    }

    /// Reports how many slots of pools are in doubt.
    pub fn doubtful(&self, slots: u64) {
        self.doubtful.set(i64::try_from(slots).unwrap_or(i64::MAX));
    }

    /// The number of open connections.
    pub fn connections(&self) -> &Gauge {
        &self.connections
    }

    /// All metrics, in the `OpenMetrics` text format.
    pub fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a String cannot fail.
        let _ = encode(&mut text, &self.registry);
        text
    }
}
