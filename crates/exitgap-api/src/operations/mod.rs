//! The one table of operations: what can be asked, where, with which parameters, what answers it.
//!
//! The service's router, its checks of parameters, its `OpenAPI` description, the links in answers,
//! the clients' addresses and the pages' links all come from here, so that an address or a
//! parameter is spelled once.
//!
//! - [`Operation`] names them; its [`Row`] in `table` holds all that is known of one
//! - [`Parameter`], [`Kind`]: what a parameter may hold, also as a JSON schema
//! - [`Given`]: the parameters of a request, checked; [`Question`]: read into what is asked
//! - [`Target`]: the other way, an address written

mod alerts;
mod equities;
mod evidence_of;
mod export;
mod exposure;
mod figures;
mod given;
mod kinds;
mod parameter;
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
pub use equities::{EquityAsked, EquityFileAsked};
pub use evidence_of::{EvidenceOf, VerificationAsked};
pub use export::ExportAsked;
pub use exposure::{ExposureAsked, ExposureFileAsked, VenueAsked, venue};
pub use figures::{AccuracyAsked, AccuracyFileAsked, DecayAsked, DecayFileAsked, FigureAddress};
pub use given::Given;
pub use kinds::{Bound, Kind};
pub use parameter::{Parameter, Place, Presence};
pub use questions::{
    BoardAsked, EvidenceAsked, Held, HistoryAsked, HoursAsked, HoursFileAsked, LogFileAsked,
    MAX_POSITIONS, PoolsAsked, PortfolioAsked, PositionAsked, Question, SeriesAsked, SlotAsked,
    SortBy, StateProofAsked, StressAsked, position_as_written,
};
pub use sales::{ExitAsked, MaxSizeAsked, RoutesAsked, SimulationAsked, SnapshotAsked};
pub use streams::{EventPlace, MAX_WATCHED, StreamAsked};
pub use target::Target;
pub use venue_stress::{VenueStressAsked, VenueStressFileAsked};

/// The parameters of all operations, by what each means.
pub mod parameters {
    pub use super::parameter::alerts::*;
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
    /// Its figure file.
    HoursFile,
    /// The venues of a token, each alone and split.
    Routes,
    /// Closed days, as files.
    Export,
    /// Depth after a move of the price.
    Decay,
    /// The figure file of the depth after a move.
    DecayFile,
    /// Whether the venues could have absorbed a liquidation.
    Exposure,
    /// Its figure file.
    ExposureFile,
    /// What an exit over several venues fills at after a shock.
    VenueStress,
    /// Its figure file.
    VenueStressFile,
    /// The effect of recorded price drops, by name.
    Shocks,
    /// Snapshots of a pool, slot by slot.
    Snapshots,
    /// Selling now compared with redeeming later.
    Redemption,
    /// The accuracy of the estimates of all pools.
    AccuracyTable,
    /// Swaps of a pool against estimates.
    Accuracy,
    /// Its figure file.
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
    /// Events are sent again.
    SendAgain,
    /// Creates a ticket for a stream with the events of an owner's rules.
    StreamTicket,
}

/// How many there are.
const COUNT: usize = Operation::StreamTicket as usize + 1;

/// All that is known of an operation.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// Which one it is.
    pub operation: Operation,
    /// Its name in descriptions, such as `estimateExit`.
    pub id: &'static str,
    /// Its address: `{name}` stands for a parameter in the path. What varies stands together.
    pub template: &'static str,
    /// The method it answers.
    pub method: Method,
    /// Among which others it is described.
    pub group: Group,
    /// What it is for, in a line.
    pub title: &'static str,
    /// What a caller must know of it.
    pub about: &'static str,
    /// What it is asked with.
    pub parameters: &'static [&'static Parameter],
    /// What it answers.
    pub answer: Answer,
    /// The HTTP statuses of its refusals, beside those that every address has.
    pub refusals: &'static [u16],
    /// How long its answer may be kept by others; `None` where that depends on what is asked.
    pub keep: Option<Keep>,
    /// What it costs.
    pub price: PriceClass,
    /// As how many requests one counts where requests are limited.
    pub weight: u32,
    /// What it is called in the clients.
    pub calls: Calls,
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

/// What every client calls the operations of figure files.
const FIGURE_FILE: &str = "figure";

impl Calls {
    /// Of the operations of figure files.
    const FIGURE: Self = Self { rust: FIGURE_FILE, javascript: FIGURE_FILE, python: FIGURE_FILE };

    /// No client has a name for it.
    const NONE: Self = Self { rust: "", javascript: "", python: "" };
}

/// The method that an operation answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// GET, and HEAD: it reads.
    Get,
    /// It makes or changes something of its caller's. What does not stand in the path stands in its body, a JSON object.
    Post,
    /// It ends something of its caller's.
    Delete,
}

impl Method {
    /// As HTTP spells it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Delete => "DELETE",
        }
    }
}

/// What an operation answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// A document of this crate, by its schema's name.
    Document(&'static str),
    /// Bytes of this media type.
    Bytes(&'static str),
    /// A JSON object, the same with 200 (ready) and with 503 (not ready).
    Readiness,
    /// Nothing but refusals.
    Nothing,
}

/// How long an answer may be kept by others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// Its bytes never change.
    Forever,
    /// For so many seconds.
    Seconds(u32),
    /// Not at all.
    Never,
}

/// What an operation costs its caller, as the interface's specification says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PriceClass {
    /// Nothing, and no key is needed.
    Free,
    /// A price per call, where the operator asks for one.
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

/// Among which others an operation is described.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// From the newest recorded slot, or the one asked for.
    Estimates,
    /// What was recorded.
    Series,
    /// What a number is checked with.
    Evidence,
    /// Rules that speak when a pool is worth a word.
    Alerts,
    /// The deployment itself.
    Service,
    /// For whoever runs it.
    Operators,
}

impl Group {
    /// All of them, in the order in which they are described.
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

    /// What its operations have in common.
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

/// The addresses alone: whoever only writes one does not carry all the words of the table.
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

/// The methods alone, likewise.
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
    /// All of them, in the order in which they are described.
    pub fn list_all() -> impl ExactSizeIterator<Item = Self> {
        table::ROWS.iter().map(|row| row.operation)
    }

    /// All that is known of it.
    pub fn row(self) -> &'static Row {
        &table::ROWS[self as usize]
    }

    /// Its address, with `{name}` for the part that varies.
    pub fn template(self) -> &'static str {
        TEMPLATES[self as usize]
    }

    /// Its method.
    pub fn method(self) -> Method {
        METHODS[self as usize]
    }

    /// Its address up to the first part that varies; all of it where none does.
    pub fn prefix(self) -> &'static str {
        let template = self.template();
        template.find('{').map_or(template, |at| &template[..at])
    }

    /// What comes after the last part that varies.
    pub(super) fn suffix(self) -> &'static str {
        let template = self.template();
        template.rfind('}').map_or("", |at| &template[at + 1..])
    }

    /// Whether a path is one of its addresses.
    pub fn is_at(self, path: &str) -> bool {
        let (mut of, mut at) = (self.template().split('/'), path.split('/'));
        loop {
            match (of.next(), at.next()) {
                // A file of the log has slashes of its own.
                (None, None) | (Some("{path}"), Some(_)) => return true,
                (Some(of), Some(at)) if of == at || (of.starts_with('{') && !at.is_empty()) => {}
                _ => return false,
            }
        }
    }

    /// Whether it answers the file of a figure.
    pub fn is_figure_file(self) -> bool {
        self.row().calls.rust == FIGURE_FILE
    }

    /// Whether it is asked for where the API is. All others are asked for where evidence, log and
    /// pages are, which may be another host.
    pub fn is_of_api(self) -> bool {
        self.template().starts_with("/v1/")
    }
}
