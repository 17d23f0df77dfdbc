//! The single table of operations: for each one its address, its parameters and its answer.
//!
//! The service's router, its checks of parameters, its `OpenAPI` description, the links in answers, the clients'
//! addresses and the pages' links are all generated from this table. Each address and each parameter is therefore
//! written only once.
//!
//! - [`Operation`] names them; its [`Row`] in `table` has all data about one operation
//! - [`Parameter`], [`Kind`]: the values that a parameter accepts, also as a JSON schema
//! - [`Given`]: the checked parameters of a request; [`Question`]: their parsed values
//! - [`Target`]: the reverse, which writes an address

mod alerts;
mod cash;
mod equities;
mod evidence_of;
mod export;
mod exposure;
mod figures;
mod given;
mod kinds;
mod parameter;
mod portfolio;
mod questions;
mod sales;
mod streams;
mod table;
mod target;
mod values;
mod venue_stress;

#[cfg(test)]
mod tests;

pub use alerts::{AlertAsked, EventsAsked, KeepAsked, NamedAlert, SendAgainAsked};
pub use cash::{AmountAsked, CashAsked, CashFileAsked, Into, WholeTokens};
pub use equities::{EquityAsked, EquityFileAsked};
pub use evidence_of::{EvidenceOf, FigureOf, ProofOf, VerificationAsked};
pub use export::ExportAsked;
pub use exposure::{ExposureAsked, ExposureFileAsked, VenueAsked, venue};
pub use figures::{
    AccuracyAsked, AccuracyFileAsked, DecayAsked, DecayFileAsked, DepthsFileAsked, FigureAddress,
};
pub use given::Given;
pub use kinds::{Bound, Kind};
pub use parameter::{Parameter, Place, Presence};
pub use portfolio::{
    Held, MAX_POSITIONS, PortfolioAsked, PortfolioFileAsked, PositionAsked, position_as_written,
};
pub use questions::{
    BoardAsked, EvidenceAsked, HistoryAsked, HoursAsked, HoursFileAsked, LogFileAsked, PoolsAsked,
    Question, SeriesAsked, SlotAsked, SortBy, StateProofAsked, StressAsked,
};
pub use sales::{ExitAsked, MaxSizeAsked, RoutesAsked, SimulationAsked, SnapshotAsked};
pub use streams::{EventPlace, MAX_WATCHED, StreamAsked};
pub use target::Target;
pub use venue_stress::{VenueStressAsked, VenueStressFileAsked};

/// The parameters of all operations, grouped by meaning.
pub mod parameters {
    pub use super::parameter::alerts::*;
    pub use super::parameter::cash::*;
    pub use super::parameter::common::*;
    pub use super::parameter::venues::*;
}

/// Every operation of a service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operation {
    /// The monitored pools.
    Pools,
    /// The gap of a sale of a size.
    Exit,
    /// The largest sale within a gap.
    MaxSize,
    /// One sale in several orders.
    Simulation,
    /// Depth by gap, slippage by size.
    Ladder,
    /// The recorded history.
    History,
    /// The worst moments of a period.
    Stress,
    /// The gap by hour of the week, and the rank of the newest slot.
    When,
    /// All pools, ranked.
    Fragility,
    /// Several positions, sold at once.
    Portfolio,
    /// The capabilities of a deployment.
    Capabilities,
    /// The payment terms.
    Payments,
    /// The rules of an owner.
    Alerts,
    /// Liveness check.
    Livez,
    /// Readiness check.
    Readyz,
    /// Metrics.
    Metrics,
    /// The evidence file of a result.
    Evidence,
    /// A pool's heads of seven days.
    Window,
    /// The current status of a slot.
    SlotStatus,
    /// The state proof of a pool at a slot.
    StateProof,
    /// A snapshot's canonical bytes.
    Snapshot,
    /// A state's canonical bytes.
    State,
    /// A file of the published log.
    Log,
    /// Open and closed markets compared.
    Hours,
    /// The figure file of market hours.
    HoursFile,
    /// The venues of a token, each alone and split.
    Routes,
    /// What a sale brings in cash, over up to three pools in a row.
    Cash,
    /// The figure file of such a sale.
    CashFile,
    /// The figure file of a portfolio's plan.
    PortfolioFile,
    /// Closed days, as files.
    Export,
    /// Depth after a move of the price.
    Decay,
    /// The figure file of the depth after a move.
    DecayFile,
    /// The figure file of both depths of a week.
    DepthsFile,
    /// Whether the venues could have absorbed a liquidation.
    Exposure,
    /// The figure file of liquidation exposure.
    ExposureFile,
    /// The fills of an exit over several venues after a shock.
    VenueStress,
    /// The figure file of that stress.
    VenueStressFile,
    /// The effect of recorded price drops, by name.
    Shocks,
    /// Snapshots of a pool, slot by slot.
    Snapshots,
    /// Selling now compared with redeeming later.
    Redemption,
    /// The accuracy of the estimates of all pools.
    AccuracyTable,
    /// The swaps of a pool compared with estimates.
    Accuracy,
    /// The figure file of the accuracy record.
    AccuracyFile,
    /// The logged swaps of a pool, document by document.
    Fills,
    /// The receipts of paid estimates of a pool.
    Issued,
    /// Tokenized stocks.
    Equities,
    /// One tokenized stock and its pools.
    Equity,
    /// The figure file of a pool of a tokenized stock.
    EquityFile,
    /// Sealed slots, live.
    Stream,
    /// The events of a caller's rule over a period.
    AlertsOf,
    /// Creates a stored rule.
    KeepAlert,
    /// A stored rule.
    Alert,
    /// Deletes a stored rule.
    EndAlert,
    /// The events of a stored rule.
    AlertEvents,
    /// Sends a webhook the verification request again.
    AskEndpoint,
    /// Rotates the keys of a webhook.
    RotateKeys,
    /// Sends events again.
    SendAgain,
    /// Creates a ticket for a stream with the events of an owner's rules.
    StreamTicket,
}

/// How many exits a token sold through its pools counts as.
pub const EXITS_OF_TOKEN: u32 = 5;

/// The number of operations.
const COUNT: usize = Operation::StreamTicket as usize + 1;

/// The data about one operation.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// The operation.
    pub operation: Operation,
    /// Its name in descriptions, such as `estimateExit`.
    pub id: &'static str,
    /// Its address. `{name}` stands for a parameter in the path. All path parameters are adjacent.
    pub template: &'static str,
    /// Its HTTP method.
    pub method: Method,
    /// The group in which it is described.
    pub group: Group,
    /// Its purpose, in one line.
    pub title: &'static str,
    /// A description for callers.
    pub about: &'static str,
    /// Its parameters.
    pub parameters: &'static [&'static Parameter],
    /// The form of its answer.
    pub answer: Answer,
    /// The HTTP statuses of its refusals, in addition to those common to all addresses.
    pub refusals: &'static [u16],
    /// How long caches may keep its answer; `None` if that depends on the request.
    pub keep: Option<Keep>,
    /// Its price class.
    pub price: PriceClass,
    /// The number of requests that it counts as for rate limits.
    pub weight: u32,
    /// Its names in the clients.
    pub calls: Calls,
}

/// Whether a request is sent with the token of an owner of rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnerToken {
    /// Never.
    Unused,
    /// With or without it.
    Optional,
    /// Always.
    Required,
}

/// The name of an operation in each client; empty if the client has none of its own.
#[derive(Debug, Clone, Copy)]
pub struct Calls {
    /// In the crate `exitgap-client`.
    pub rust: &'static str,
    /// In the npm package.
    pub javascript: &'static str,
    /// In the Python package.
    pub python: &'static str,
}

/// The name that every client uses for operations that return figure files.
const FIGURE_FILE: &str = "figure";

impl Calls {
    /// The names of operations that return figure files.
    const FIGURE: Self = Self { rust: FIGURE_FILE, javascript: FIGURE_FILE, python: FIGURE_FILE };

    /// No client has a method for it.
    const NONE: Self = Self { rust: "", javascript: "", python: "" };
}

/// The HTTP method of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// GET and HEAD: it only reads.
    Get,
    /// It creates or changes something that the caller owns. Parameters outside the path are in the body, a JSON
    /// object.
    Post,
    /// It deletes something that the caller owns.
    Delete,
}

impl Method {
    /// The name as used in HTTP.
    pub fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Delete => "DELETE",
        }
    }
}

/// The form of an operation's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// A document of this crate, by the name of its schema.
    Document(&'static str),
    /// Bytes of this media type.
    Bytes(&'static str),
    /// A JSON object, the same with 200 (ready) and with 503 (not ready).
    Readiness,
    /// Only refusals.
    Nothing,
}

/// How long caches may keep an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// Forever: its bytes never change.
    Forever,
    /// For this many seconds.
    Seconds(u32),
    /// Not at all.
    Never,
}

/// The price class of an operation, as in the interface specification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PriceClass {
    /// Free, without a key.
    Free,
    /// A price per call, if the operator charges one.
    Priced,
}

impl PriceClass {
    /// Its name in descriptions.
    pub fn code(self) -> &'static str {
        match self {
            Self::Free => "free",
            Self::Priced => "priced",
        }
    }
}

/// The group in which an operation is described.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// Answers from the newest recorded slot, or from the requested one.
    Estimates,
    /// Recorded data.
    Series,
    /// Data to verify a number with.
    Evidence,
    /// Rules that report events of a pool.
    Alerts,
    /// The deployment itself.
    Service,
    /// For operators of the service.
    Operators,
}

impl Group {
    /// All groups, in the order of the description.
    pub const ALL: [Self; 6] = [
        Self::Estimates,
        Self::Series,
        Self::Evidence,
        Self::Alerts,
        Self::Service,
        Self::Operators,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Estimates => "Estimates",
            Self::Series => "Series",
            Self::Evidence => "Evidence",
            Self::Alerts => "Alerts",
            Self::Service => "Service",
            Self::Operators => "Operators",
        }
    }

    /// A description of what its operations have in common.
    pub fn about(self) -> &'static str {
        match self {
            Self::Estimates => "From the newest recorded slot, or the requested slot",
            Self::Series => "Recorded data; free, without a key, permanent",
            Self::Evidence => "Data to verify a number with; free and without a key",
            Self::Alerts => {
                "Your own rules over the sealed slots, stored and delivered if the operator offers that. Creating the first rule returns a token. Send it with every later call as `Authorization: Bearer`"
            }
            Self::Service => "Information about the deployment",
            Self::Operators => "For the operator",
        }
    }
}

/// Only the addresses. Code that only writes an address then does not link the texts of the whole table.
static TEMPLATES: [&str; COUNT] = {
    let mut templates = [""; COUNT];
    let mut index = 0;
    while index < COUNT {
        let row = &table::ROWS[index];
        assert!(row.operation as usize == index, "rows stand in the order of their operations");
        templates[index] = row.template;
        index += 1;
    }
    templates
};

/// Only the methods, for the same reason.
static METHODS: [Method; COUNT] = {
    let mut methods = [Method::Get; COUNT];
    let mut index = 0;
    while index < COUNT {
        methods[index] = table::ROWS[index].method;
        index += 1;
    }
    methods
};

impl Operation {
    /// All operations, in the order of the description.
    pub fn list_all() -> impl ExactSizeIterator<Item = Self> {
        table::ROWS.iter().map(|row| row.operation)
    }

    /// The data about this operation.
    pub fn row(self) -> &'static Row {
        &table::ROWS[self as usize]
    }

    /// Its address, with `{name}` for variable parts.
    pub fn template(self) -> &'static str {
        TEMPLATES[self as usize]
    }

    /// Its method.
    pub fn method(self) -> Method {
        METHODS[self as usize]
    }

    /// Its address up to the first variable part, or the whole address if there is none.
    pub fn prefix(self) -> &'static str {
        let template = self.template();
        template.find('{').map_or(template, |at| &template[..at])
    }

    /// The part after the last variable part.
    pub(super) fn suffix(self) -> &'static str {
        let template = self.template();
        template.rfind('}').map_or("", |at| &template[at + 1..])
    }

    /// Whether a path matches its address.
    pub fn is_at(self, path: &str) -> bool {
        let (mut of, mut at) = (self.template().split('/'), path.split('/'));
        loop {
            match (of.next(), at.next()) {
                // A path of a log file can contain slashes.
                (None, None) | (Some("{path}"), Some(_)) => return true,
                (Some(of), Some(at)) if of == at || (of.starts_with('{') && !at.is_empty()) => {}
                _ => return false,
            }
        }
    }

    /// Whether a request is sent with the token of an owner of rules.
    pub fn owner_token(self) -> OwnerToken {
        match self {
            // Creating a rule can return a token; a stream of slots needs none.
            Self::KeepAlert | Self::Stream => OwnerToken::Optional,
            _ if self.row().refusals.contains(&401) => OwnerToken::Required,
            _ => OwnerToken::Unused,
        }
    }

    /// Whether it returns a figure file.
    pub fn is_figure_file(self) -> bool {
        self.row().calls.rust == FIGURE_FILE
    }

    /// Whether it belongs to the API's host. All other operations belong to the host of evidence, log and pages, which
    /// can be a different one.
    pub fn is_of_api(self) -> bool {
        self.template().starts_with("/v1/")
    }
}
