//! Metrics about everything except slots: randomly drawn proofs, followed peers, the bucket, closed days, and a
//! replica.

use exitgap_api::LogsCheckedBy;
use exitgap_chain::RequestOutcomes;
use exitgap_core::ids::ChainSlug;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use super::telemetry::measure;
use crate::bucket::BucketTold;
use crate::peers::PeerTold;
use crate::recorder::Drawn;
use crate::replica::ReplicaStatus;

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfPeer {
    peer: String,
    outcome: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct PeerName {
    peer: String,
}

/// Metrics about whole-pool proofs.
pub struct DrawMeasures {
    due: Counter,
    proven: Counter,
}

impl DrawMeasures {
    /// Under their names.
    pub fn new(registry: &mut Registry) -> Self {
        Self {
            due: measure(registry, "whole_proofs_drawn", "Whole-pool proofs drawn since the start"),
            proven: measure(
                registry,
                "whole_proofs_made",
                "Drawn whole-pool proofs that were created and kept, since the start",
            ),
        }
    }

    /// Counts those of a slot.
    pub fn count(&self, Drawn { due, proven }: Drawn) {
        self.due.inc_by(due.into());
        self.proven.inc_by(proven.into());
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfLogs {
    chain: String,
    by: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfRequest {
    node: String,
    method: String,
    outcome: String,
}

/// Metrics about the nodes.
pub struct NodeMeasures {
    requests: Family<OfRequest, Counter>,
    logs: Family<OfLogs, Counter>,
    unread: Gauge,
    refused: Counter,
}

impl NodeMeasures {
    /// Under their names.
    pub fn new(registry: &mut Registry) -> Self {
        Self {
            requests: measure(
                registry,
                "node_requests",
                "Requests to nodes by node, method and outcome since the start",
            ),
            logs: measure(
                registry,
                "logs_checked",
                "Slots by how the chain's logs were checked for being complete, since the start",
            ),
            unread: measure(
                registry,
                "pools_with_unread_logs",
                "Pools whose logs arrived with the last slot but could not be read",
            ),
            refused: measure(
                registry,
                "refused_documents",
                "Documents of logs and receipts that the store refused, since the start",
            ),
        }
    }

    /// Counts those of a slot.
    pub fn count(&self, outcomes: &[RequestOutcomes], unread: u32, refused: u32) {
        for of in outcomes {
            let label = OfRequest {
                node: of.node.clone(),
                method: of.method.to_owned(),
                outcome: of.outcome.to_owned(),
            };
            self.requests.get_or_create(&label).inc_by(of.requests);
        }
        self.unread.set(unread.into());
        self.refused.inc_by(refused.into());
    }

    /// Counts how a chain's logs of a slot were checked.
    pub fn count_logs(&self, chain: &ChainSlug, checked_by: LogsCheckedBy) {
        let by = match checked_by {
            LogsCheckedBy::Blooms => "blooms",
            LogsCheckedBy::Receipts => "receipts",
            LogsCheckedBy::Unproven => "unproven",
        };
        let label = OfLogs { chain: chain.to_string(), by: by.to_owned() };
        self.logs.get_or_create(&label).inc();
    }
}

/// Metrics about peers.
pub struct PeerMeasures {
    slots: Family<OfPeer, Counter>,
    differing: Family<PeerName, Counter>,
    behind: Family<PeerName, Gauge>,
}

impl PeerMeasures {
    /// Under their names.
    pub fn new(registry: &mut Registry) -> Self {
        Self {
            slots: measure(registry, "peer_slots", "Compared peer slots by result since the start"),
            differing: measure(
                registry,
                "peer_differing_pools",
                "Pool slots in which a peer's record differs, since the start",
            ),
            behind: measure(
                registry,
                "peer_behind_slots",
                "Slots by which the newest comparison with a peer is behind this log",
            ),
        }
    }

    /// Counts a slot of a peer.
    pub fn count(&self, told: &PeerTold) {
        let PeerTold { peer, outcome, differing, behind, .. } = told;
        let slots = OfPeer { peer: peer.clone(), outcome: (*outcome).to_owned() };
        self.slots.get_or_create(&slots).inc();
        let name = PeerName { peer: peer.clone() };
        self.differing.get_or_create(&name).inc_by(*differing);
        self.behind.get_or_create(&name).set((*behind).into());
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfBucket {
    outcome: String,
}

/// Metrics about the bucket that the log is uploaded to. Zero if there is none.
pub struct BucketMeasures {
    slots: Gauge,
    rounds: Family<OfBucket, Counter>,
}

impl BucketMeasures {
    /// Under their names.
    pub fn new(registry: &mut Registry) -> Self {
        Self {
            slots: measure(
                registry,
                "bucket_slots",
                "Slots covered by the last checkpoint uploaded to the bucket",
            ),
            rounds: measure(
                registry,
                "bucket_rounds",
                "Uploads of the log to the bucket by result since the start",
            ),
        }
    }

    /// Reports how far the bucket is, and counts a round.
    pub fn tell(&self, told: BucketTold) {
        match told {
            BucketTold::Covers(slots) => {
                self.slots.set(i64::try_from(slots).unwrap_or(i64::MAX));
            }
            BucketTold::Ended(outcome) => {
                let outcome = OfBucket { outcome: outcome.to_owned() };
                self.rounds.get_or_create(&outcome).inc();
            }
        }
    }
}

/// Metrics about closed days. Zero if none are written.
pub struct DaysMeasures {
    due: Gauge,
    failures: Counter,
}

impl DaysMeasures {
    /// Under their names.
    pub fn new(registry: &mut Registry) -> Self {
        Self {
            due: measure(registry, "days_due", "Closed days not written yet"),
            failures: measure(
                registry,
                "days_failures",
                "Failed attempts to write a closed day since the start",
            ),
        }
    }

    /// Reports how many days are due, or that one could not be written.
    pub fn tell(&self, due: Option<u64>) {
        match due {
            Some(due) => {
                self.due.set(i64::try_from(due).unwrap_or(i64::MAX));
            }
            None => {
                self.failures.inc();
            }
        }
    }
}

/// Metrics about a replica. Zero if this is not a replica.
pub struct ReplicaMeasures {
    held: Gauge,
    published: Gauge,
    refuses: Gauge,
}

impl ReplicaMeasures {
    /// Under their names.
    pub fn new(registry: &mut Registry) -> Self {
        Self {
            held: measure(registry, "replica_slots_held", "Slots of the followed log stored here"),
            published: measure(
                registry,
                "replica_slots_published",
                "Slots of the followed log at the last check",
            ),
            refuses: measure(
                registry,
                "replica_refuses",
                "1 if the followed log is refused because it contradicts stored data or is not signed",
            ),
        }
    }

    /// Reports the replica's progress.
    pub fn stand(&self, ReplicaStatus { held, published, refuses }: ReplicaStatus) {
        let whole = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        self.held.set(whole(held));
        self.published.set(whole(published));
        self.refuses.set(refuses.into());
    }
}
