//! All capabilities of the specification, with their status in this deployment.

use std::collections::BTreeMap;

use exitgap_api::operations::Operation;
use exitgap_api::{Capabilities, Capability, CapabilityStatus, ChainCapability, Status};
use exitgap_core::series::Slot;

use super::{PoolNow, Service};

/// A chain is live only if its newest recorded slot is not older than this: three slots.
const FRESH_S: u64 = 3 * Slot::SECONDS;

/// The properties of this deployment that its capabilities depend on, other than its data.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Deployment {
    /// Whether this process records.
    pub recording: bool,
    /// Whether this process serves pages.
    pub pages: bool,
    /// Whether it stores rules for users and delivers their events.
    pub alerts: bool,
}

/// A capability that is implemented.
struct Built {
    name: &'static str,
    /// Its operations, if it has addresses.
    operations: &'static [Operation],
    /// Where it is available other than on pages; empty if it is only on a page.
    place: &'static str,
    /// Its page.
    page: &'static str,
    gated_by: &'static [&'static str],
}

/// A capability that is not implemented.
struct UnbuiltCapability {
    name: &'static str,
    /// The part that is not implemented.
    place: &'static str,
    gated_by: &'static [&'static str],
}

enum Row {
    Built(Built),
    Specified(UnbuiltCapability),
    /// Implemented if rules are stored; otherwise the fallback.
    WithAlerts(Built, UnbuiltCapability),
}

const fn built(
    name: &'static str,
    place: &'static str,
    page: &'static str,
    gated_by: &'static [&'static str],
) -> Row {
    Row::Built(Built { name, operations: &[], place, page, gated_by })
}

/// A row for a capability with addresses.
const fn operations_row(
    name: &'static str,
    operations: &'static [Operation],
    place: &'static str,
    page: &'static str,
    gated_by: &'static [&'static str],
) -> Row {
    Row::Built(Built { name, operations, place, page, gated_by })
}

const fn unbuilt_row(
    name: &'static str,
    place: &'static str,
    gated_by: &'static [&'static str],
) -> Row {
    Row::Specified(UnbuiltCapability { name, place, gated_by })
}

const RECORDER: &str = "Continuous depth recording";
const ALERTING: &str = "Spread alerting";
const STREAMS: &str = "Webhooks and streams";

/// All capabilities, in the order of the specification. The last column, which lists what gates a capability, is from
/// the specification as well.
const TABLE: [Row; 25] = [
    built(RECORDER, "recorder, every five minutes per pool", "", &[]),
    built("Disclosed method", "fields on every result", "", &[]),
    built(
        "Open-source verifier",
        "command-line verify and audit, verify() of the npm package",
        "/verify in the browser",
        &[],
    ),
    built(
        "Keyless verification endpoint",
        "evidence per result, as a document at its evidence_url",
        "as a page at the same address",
        &[RECORDER],
    ),
    operations_row(
        "Pre-trade fill estimates",
        &[Operation::Exit],
        "command-line estimate, SDK estimate()",
        "",
        &[RECORDER],
    ),
    built(
        "Live pool pages",
        "",
        "/pools/{pool}: quoted against realized price on one axis, ladder, slippage",
        &[RECORDER],
    ),
    operations_row("Depth ladders", &[Operation::Ladder], "command-line ladder", "", &[RECORDER]),
    operations_row(
        "Slippage forecasting",
        &[Operation::MaxSize, Operation::Simulation],
        "SDK maxSizeFor() and simulateOrders(), command-line size and simulate",
        "/pools/{pool}",
        &[RECORDER],
    ),
    operations_row(
        "Spread history",
        &[Operation::History, Operation::When],
        "command-line history and when, SDK history() and whenToSell()",
        "/pools/{pool}",
        &[RECORDER],
    ),
    operations_row("Public fragility board", &[Operation::Fragility], "", "/", &[RECORDER]),
    operations_row("Portfolio view", &[Operation::Portfolio], "", "/portfolio", &[RECORDER]),
    operations_row(
        ALERTING,
        &[Operation::AlertsOf],
        "for the caller's own rule, with re-arm and hysteresis; command-line alert replay computes the same events from a published log",
        "",
        &[RECORDER],
    ),
    operations_row(
        "Route comparison",
        &[Operation::Cash, Operation::Routes],
        "into cash over up to three pools, with a bound; or into any token; command-line cash and routes, SDK bestSplit() and rankRoutes()",
        "",
        &[RECORDER],
    ),
    operations_row(
        "Stress-window queries",
        &[Operation::Stress, Operation::VenueStress, Operation::Shocks],
        "after a shock, after a move, or after a named historical price drop; command-line stress and shocks, SDK stress(), venueStress() and shocks()",
        "/pools/{pool}",
        &[RECORDER, "series length"],
    ),
    operations_row(
        "Depth decay tracking",
        &[Operation::Decay],
        "command-line decay, SDK depthDecay()",
        "/pools/{pool}",
        &[RECORDER, "series length"],
    ),
    unbuilt_row(
        "Multi-chain coverage",
        "any number of chains can be recorded; broader venue and lending-market coverage is not built",
        &[],
    ),
    operations_row(
        "Tokenized equity scoring",
        &[Operation::Equities, Operation::Equity],
        "for tokens that the operator configured, with a set of measures per pool by session of the exchange; command-line equities, SDK equityScore()",
        "/equities",
        &[RECORDER, "series length"],
    ),
    operations_row(
        "Market-hours risk flags",
        &[Operation::Hours],
        "command-line hours, SDK marketHours()",
        "",
        &[],
    ),
    operations_row(
        "Redemption-window modelling",
        &[Operation::Redemption],
        "modelled from terms that the operator configured, and the facts of the snapshot that the terms name; command-line redeem, SDK redemptionWindow()",
        "",
        &[RECORDER],
    ),
    operations_row(
        "Liquidation exposure scoring",
        &[Operation::Exposure],
        "command-line exposure, SDK liquidationExposure()",
        "",
        &[RECORDER, "series length"],
    ),
    built(
        "Agent-native JSON",
        "POST /mcp: eight read-only tools; command-line mcp, on the caller's machine",
        "",
        &[],
    ),
    unbuilt_row("Machine-payable endpoints", "every call is free here", &["x402 settlement"]),
    unbuilt_row("Sub-second responses", "a target, not a promise", &[]),
    Row::WithAlerts(
        Built {
            name: STREAMS,
            operations: &[Operation::KeepAlert, Operation::Stream],
            place: "events of stored rules, signed, by webhook; sealed slots, live",
            page: "",
            gated_by: &[ALERTING],
        },
        UnbuiltCapability {
            name: STREAMS,
            place: "GET /v1/stream sends sealed slots, live; this deployment stores no rules and sends no events",
            gated_by: &[ALERTING],
        },
    ),
    operations_row(
        "Accuracy record",
        &[Operation::Accuracy, Operation::AccuracyTable],
        "every swap of a recorded pool, from documents that heads commit to, with a file to recompute the record, and one table of all pools; command-line accuracy recomputes it from any node; heads commit to the receipts of paid estimates, which their holders can present again",
        "",
        &[RECORDER],
    ),
];

/// The note of a row if the operator has not configured anything for it.
const NONE_CONFIGURED: &str = "nothing is configured here yet";

impl Service {
    /// The capabilities of this deployment.
    pub fn capabilities(&self) -> Capabilities {
        let deployment = self.deployment;
        let chains = self.chains();
        let live = |chain: &&ChainCapability| chain.status == CapabilityStatus::Live;
        let live_on: Vec<String> =
            chains.iter().filter(live).map(|chain| chain.chain.clone()).collect();
        let configured = [
            (Operation::Redemption, self.redemption.is_empty()),
            (Operation::Equities, self.equities.is_empty()),
        ];
        let idle = configured.into_iter().filter(|(_, is_idle)| *is_idle);
        let idle: Vec<Operation> = idle.map(|(operation, _)| operation).collect();
        Capabilities {
            web_url: (self.urls.web != self.urls.base).then(|| self.urls.web.clone()),
            recording: deployment.recording,
            pages: deployment.pages,
            capabilities: TABLE.iter().map(|row| word(row, deployment, &live_on, &idle)).collect(),
            chains,
        }
    }

    /// The status of every chain with a monitored pool.
    fn chains(&self) -> Vec<ChainCapability> {
        let current = self.current();
        let mut pools: BTreeMap<&str, Vec<&PoolNow>> = BTreeMap::new();
        for now in current.pools.values().filter(|now| now.pool.retired_slot.is_none()) {
            pools.entry(now.pool.id.chain().as_str()).or_default().push(now);
        }
        pools.into_iter().map(|(chain, pools)| self.chain(chain, &pools)).collect()
    }

    fn chain(&self, chain: &str, pools: &[&PoolNow]) -> ChainCapability {
        let newest =
            pools.iter().filter_map(|now| now.latest.snapshot).max_by_key(|(slot, _)| *slot);
        let newest = newest.map(|(slot, _)| slot);
        let age_s = newest.map(|slot| self.age_s(slot));
        let live = pools
            .iter()
            .any(|now| now.labels.as_ref().is_some_and(|labels| labels.status == Status::Live));
        let because = if !self.deployment.recording {
            Some("this process does not record".to_owned())
        } else if age_s.is_none() {
            Some("nothing is recorded for this chain yet".to_owned())
        } else if !live {
            Some(
                "it is not a known chain with its known genesis, and its genesis_hash is not configured"
                    .to_owned(),
            )
        } else {
            age_s
                .filter(|age| *age > FRESH_S)
                .map(|age| format!("its newest recorded slot is {age} s old, more than {FRESH_S}"))
        };
        ChainCapability {
            chain: chain.to_owned(),
            status: match because {
                None => CapabilityStatus::Live,
                Some(_) => CapabilityStatus::Preview,
            },
            newest_recorded_slot: newest.map(|slot| slot.to_string()),
            age_s,
            not_live_because: because,
        }
    }
}

/// A row for this deployment. `idle` lists the operations for which the operator has configured nothing.
fn word(row: &Row, deployment: Deployment, live_on: &[String], idle: &[Operation]) -> Capability {
    let pages = deployment.pages;
    let capability = |name: &str, status, place: String, gated_by: &[&str]| Capability {
        capability: name.to_owned(),
        status,
        live_on: if status == CapabilityStatus::Live { live_on.to_vec() } else { Vec::new() },
        place,
        gated_by: gated_by.iter().map(|gate| (*gate).to_owned()).collect(),
    };
    match row {
        Row::WithAlerts(_, UnbuiltCapability { name, place, gated_by }) if !deployment.alerts => {
            capability(name, CapabilityStatus::Roadmap, (*place).to_owned(), gated_by)
        }
        Row::Specified(UnbuiltCapability { name, place, gated_by }) => {
            capability(name, CapabilityStatus::Roadmap, (*place).to_owned(), gated_by)
        }
        Row::Built(Built { name, operations: [], place: "", gated_by, .. }) if !pages => {
            let place = "this build of the service has no pages".to_owned();
            capability(name, CapabilityStatus::Roadmap, place, gated_by)
        }
        Row::Built(built) | Row::WithAlerts(built, _) => {
            let Built { name, operations, place, page, gated_by } = built;
            let address = |operation: &Operation| {
                let row = operation.row();
                format!("{} {}", row.method.name(), row.template)
            };
            let mut places: Vec<String> = operations.iter().map(address).collect();
            let page = if pages { *page } else { "" };
            let other = [*place, page].into_iter().filter(|place| !place.is_empty());
            places.extend(other.map(str::to_owned));
            if operations.iter().any(|operation| idle.contains(operation)) {
                places.push(NONE_CONFIGURED.to_owned());
            }
            let status = match live_on {
                [] => CapabilityStatus::Preview,
                _ => CapabilityStatus::Live,
            };
            capability(name, status, places.join(", "), gated_by)
        }
    }
}
