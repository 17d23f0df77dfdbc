//! Every capability of the specification, with its status in this deployment.

use exitgap_api::{Capabilities, Capability, CapabilityStatus, Status};

use super::Service;

/// What a capability's status depends on.
#[derive(Clone, Copy)]
enum Basis {
    /// It is code: live wherever it runs.
    Code,
    /// It is figures: live where they are of live chains, preview else.
    Figures,
    /// It is not built.
    NotBuilt,
}
use Basis::{Code, Figures, NotBuilt};

const TABLE: [(&str, Basis, &str); 25] = [
    ("Continuous depth recording", Figures, "recorder, every five minutes per pool"),
    ("Disclosed method", Code, "fields on every result"),
    (
        "Open-source verifier",
        Code,
        "command-line verify and audit, /verify in the browser, verify() of the npm package",
    ),
    (
        "Keyless verification endpoint",
        Figures,
        "evidence per result, at its evidence_url: as a document and as a page",
    ),
    ("Pre-trade fill estimates", Figures, "GET /v1/exit/{pool}, command-line estimate"),
    (
        "Live pool pages",
        Figures,
        "/pools/{pool}: quoted against realized price on one axis, ladder, slippage",
    ),
    ("Depth ladders", Figures, "GET /v1/ladder/{pool}, command-line ladder"),
    ("Slippage forecasting", Figures, "command-line size and simulate, /pools/{pool}, npm package"),
    ("Spread history", Figures, "GET /v1/history/{pool}"),
    ("Public fragility board", Figures, "GET /v1/fragility, and as a page at /"),
    ("Portfolio view", Figures, "GET /v1/portfolio, /portfolio"),
    ("Spread alerting", NotBuilt, "/v1/alerts refuses with not_available"),
    ("Route comparison", Code, "rankRoutes() of the npm package, from ladders the caller supplies"),
    ("Stress-window queries", Figures, "GET /v1/stress/{pool}"),
    ("Depth decay tracking", NotBuilt, "how fast a book thins after a price move"),
    (
        "Multi-chain coverage",
        NotBuilt,
        "any number of chains can be recorded; broader venue and lending-market coverage is not built",
    ),
    (
        "Tokenized equity scoring",
        NotBuilt,
        "market_open and session_note are on results; scoring is not built",
    ),
    ("Market-hours risk flags", NotBuilt, "weekend, after-close and holiday exposure"),
    ("Redemption-window modelling", NotBuilt, "time-to-cash on real-world-asset tokens"),
    (
        "Liquidation exposure scoring",
        NotBuilt,
        "lowest_depth_7d_usd is on results; scoring is not built",
    ),
    ("Agent-native JSON", NotBuilt, "the read-only tool endpoint is not part of this deployment"),
    ("Machine-payable endpoints", NotBuilt, "every call is free here"),
    ("Sub-second responses", NotBuilt, "a target, not a promise"),
    ("Webhooks and streams", NotBuilt, "blocked behind alerting"),
    ("Accuracy record", NotBuilt, "every estimate compared with what happened"),
];

impl Service {
    /// What this deployment can do.
    pub fn capabilities(&self) -> Capabilities {
        let current = self.current();
        let is_live = |status: &Status| *status == Status::Live;
        let live = current
            .pools
            .values()
            .filter_map(|now| now.labels.as_ref())
            .any(|labels| is_live(&labels.status));
        let status = |basis| match basis {
            Code => CapabilityStatus::Live,
            Figures if live => CapabilityStatus::Live,
            Figures => CapabilityStatus::Preview,
            NotBuilt => CapabilityStatus::Roadmap,
        };
        let capabilities = TABLE
            .map(|(name, basis, place)| Capability {
                capability: name.to_owned(),
                status: status(basis),
                place: place.to_owned(),
            })
            .to_vec();
        Capabilities { capabilities }
    }
}
