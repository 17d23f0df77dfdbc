//! The tools: their names, purposes and arguments.

use exitgap_api::operations::parameters::{EVIDENCE_URL, SERIES_SIZE};
use exitgap_api::operations::{FigureOf, Operation, Parameter};
use rmcp::model::{JsonObject, Tool, ToolAnnotations};

use crate::arguments::is_of_token;
use crate::schema;

/// A tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolName {
    /// The monitored pools.
    ListPools,
    /// The estimate for a sale of a size: in one pool, or of a token over several pools, ending in cash.
    EstimateExit,
    /// The largest sale within a gap.
    MaxExitSize,
    /// One sale, split into several orders.
    SimulateOrders,
    /// Depth by gap, slippage by size.
    DepthLadder,
    /// The recorded series.
    ExitHistory,
    /// All pools, ranked.
    FragilityBoard,
    /// Verifies evidence.
    VerifyEvidence,
}

/// The data of a tool.
struct Row {
    name: &'static str,
    title: &'static str,
    about: &'static str,
    questions: Vec<Parameters>,
}

/// The parameters of one question.
pub type Parameters = &'static [&'static Parameter];

impl ToolName {
    /// All of them, in the order in which they are listed.
    pub const ALL: [Self; 8] = [
        Self::ListPools,
        Self::EstimateExit,
        Self::MaxExitSize,
        Self::SimulateOrders,
        Self::DepthLadder,
        Self::ExitHistory,
        Self::FragilityBoard,
        Self::VerifyEvidence,
    ];

    /// The tool of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// Its arguments, for each question that it answers: the parameters of the operation that it calls.
    pub fn questions(self) -> Vec<Parameters> {
        self.row().questions
    }

    /// The operation whose address answers the same as a call with these arguments, if it may cost more than one request,
    /// and the query of that address.
    pub fn asks_for(self, arguments: &JsonObject) -> Option<(Operation, String)> {
        match self {
            Self::EstimateExit if is_of_token(arguments) => Some((Operation::Cash, String::new())),
            Self::ExitHistory => {
                let size = arguments.get(SERIES_SIZE.name)?;
                let size = size.as_str().map_or_else(|| size.to_string(), str::to_owned);
                Some((Operation::History, format!("{}={size}", SERIES_SIZE.name)))
            }
            Self::VerifyEvidence => {
                let url = arguments.get(EVIDENCE_URL.name)?.as_str()?;
                FigureOf::from_url(url).map(|of| (of.operation, of.query))
            }
            _ => None,
        }
    }

    /// The tool's description for clients.
    pub fn to_tool(self) -> Tool {
        let Row { name, title, about, questions } = self.row();
        let annotations = ToolAnnotations::new()
            .read_only(true)
            .destructive(false)
            .idempotent(true)
            .open_world(false);
        Tool::new(name, about, schema::of_arguments(&questions))
            .with_title(title)
            .with_annotations(annotations)
    }

    fn row(self) -> Row {
        let (title, about) = self.words();
        let asks = |operation: Operation, name| Row {
            name,
            title,
            about,
            questions: vec![operation.row().parameters],
        };
        match self {
            Self::ListPools => asks(Operation::Pools, "list_pools"),
            Self::EstimateExit => {
                let questions = [Operation::Exit, Operation::Cash].map(|one| one.row().parameters);
                Row { questions: questions.into(), ..asks(Operation::Exit, "estimate_exit") }
            }
            Self::MaxExitSize => asks(Operation::MaxSize, "max_exit_size"),
            Self::SimulateOrders => asks(Operation::Simulation, "simulate_orders"),
            Self::DepthLadder => asks(Operation::Ladder, "depth_ladder"),
            Self::ExitHistory => asks(Operation::History, "exit_history"),
            Self::FragilityBoard => asks(Operation::Fragility, "fragility_board"),
            Self::VerifyEvidence => {
                Row { name: "verify_evidence", title, about, questions: vec![&[&EVIDENCE_URL]] }
            }
        }
    }

    /// Its purpose: a title, and what a caller must know.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::ListPools => (
                "Monitored pools",
                "Pools with name, tokens, status and series length. Paged: pass next_cursor as cursor.",
            ),
            Self::EstimateExit => (
                "Exit estimate",
                "How far below the oracle price a sale fills, exact: exit_gap_pct, positive is worse. With pool and size_usd: a sale in that pool; a size beyond liquidity returns an error with max_fillable_usd. With chain, token and size_usd or amount: the best sale for dollars over all recorded pools, with the sales to execute.",
            ),
            Self::MaxExitSize => (
                "Largest exit within a gap",
                "The largest size that fills at most gap_pct below the oracle price, and its fill.",
            ),
            Self::SimulateOrders => (
                "Exit in several orders",
                "One size sold in equal orders, compared with the same size at once. recovery_pct is your assumption, not a forecast.",
            ),
            Self::DepthLadder => (
                "Depth ladder",
                "The size that can be sold within each gap limit, and the fill of each standard size.",
            ),
            Self::ExitHistory => (
                "Recorded history",
                "Gaps at a standard size and depths over time, with missing and retracted slots.",
            ),
            Self::FragilityBoard => (
                "Fragility board",
                "Pools, most fragile first: gaps at standard sizes, depth now and over seven days.",
            ),
            Self::VerifyEvidence => (
                "Verify evidence",
                "Checks that a number, or a figure file, follows from the signed log. verified_by: operator (the service states it) or here (checked on this machine). Compare claim, or figure.result, with the answer.",
            ),
        }
    }
}
