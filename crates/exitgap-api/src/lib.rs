//! exitgap's wire types: the documents that the command line prints with `--json`
//! and that the service serves, the stable error codes, and their conversions from
//! the core's values.
//!
//! **In scope**: shapes and names ([`ExitResult`], [`Ladder`], [`MaxSizeResult`], [`SimulationResult`],
//! [`RouteRanking`], [`PoolList`], [`VerificationReport`], [`AuditReport`], [`Problem`]); the operations with their
//! addresses and parameters ([`operations`]), and parsing them; the format of prices and payments ([`x402`]); receipts
//! of payments ([`receipt`]). **Out of scope**: computing anything (`exitgap-core`), serving or printing.
//!
//! Numbers in documents: raw chain integers are decimal strings; USD amounts, prices and percentages are JSON numbers
//! with at most fifteen significant digits ([`Number`]), which every JSON parser keeps exactly.

#![allow(
    clippy::result_large_err,
    reason = "a problem carries what it found, and a request makes one at most; on 32 bits it is small enough"
)]

mod accuracy;
mod accuracy_table;
mod added_parts;
mod alert;
mod alert_kept;
mod answers;
mod best_split;
mod capabilities;
mod cash_exit;
mod comparison;
mod context;
mod decay;
mod depth_readings;
mod equities;
mod exit;
mod explanation;
mod export;
mod exposure;
mod failure_causes;
mod fragility;
mod guards;
mod handed_over;
mod history;
mod hours;
mod instant;
mod ladder;
mod log_age;
mod names;
mod number;
pub mod operations;
mod parameters;
mod payments;
mod pools;
mod portfolio;
mod problem;
mod problem_document;
mod published_answer;
pub mod receipt;
mod redemption;
mod routes;
mod routes_answer;
mod series_method;
mod shocks;
mod simulation;
mod slots_after_clock;
mod state;
mod stream;
mod venue_stress;
mod verification;
mod verified_evidence;
mod when;
mod witness_check;
mod written;
pub mod x402;

pub use accuracy::{
    AccuracyByAge, AccuracyBySize, AccuracyErrors, AccuracyFlagged, AccuracyNotCompared,
    AccuracyRecord, AccuracySwap, PoolAccuracy,
};
pub use accuracy_table::{AccuracyRow, AccuracySummary, AccuracyTable};
pub use added_parts::AddedParts;
pub use alert::{AlertEventTold, AlertStanding, AlertsTold};
pub use alert_kept::{
    AlertEventKept, AlertEventsKept, AlertKept, AlertMade, AlertsKept, AlertsResent, StreamTicket,
    WebhookKeys, WebhookTold,
};
pub use answers::Answers;
pub use best_split::{BestSplit, SplitAlone, SplitCandidate, SplitLeftOut, SplitLeg};
pub use capabilities::{Capabilities, Capability, CapabilityStatus, ChainCapability};
pub use cash_exit::{CashExit, CashLeg, CashPlan, CashReceived, PlanOf, find_token};
pub use comparison::{ComparedLog, ComparedSlot, ComparisonReport, PeerDifference, PeerSlot};
pub use context::{
    Answer, Context, DepthSource, DepthSourceKind, Direct, Exactness, Method, OracleDisclosure,
    OracleState, Provenance, Status, TokenLabel, Window, inexact_detail,
};
pub use decay::{
    DepthDecay, DepthDecayEvent, DepthDecayHorizon, DepthDecayOf, DepthDecaySide, DepthDecayStep,
    MAX_SNAPSHOT_PAGE_BYTES, SNAPSHOT_PAGE_BYTES,
};
pub use depth_readings::{DepthReading, DepthWeek, OracleLead7d};
pub use equities::{
    Equities, EquityBalanceTold, EquityEventTold, EquityListed, EquityPool, EquityPoolOf,
    EquityReopeningTold, EquityScore, EquitySessionTold, EquityState,
};
pub use exit::{Amounts, ExitResult, SplitPct};
pub use explanation::{Explanation, check_name};
pub use export::{Export, ExportedDay, ExportedFile};
pub use exposure::{
    Band, LiquidationCascade, LiquidationExposure, LiquidationExposureOf, LiquidationVenue,
};
pub use failure_causes::{FailuresByCause, VenueLeftOut};
pub use fragility::{Fragility, FragilityRow, LowestDepth, StandardGap};
pub use guards::{Days, GuardInputs, Guards};
pub use handed_over::{
    FileKind, FileVerified, FilesVerified, is_report_first_line, report_first_line,
};
pub use history::{
    DepthPoint, FillablePoint, GapPoint, History, HistoryRow, Interval, PoolBook, RowOrder,
    SeriesOf, Stress, StressDetail, TimeAbove,
};
pub use hours::{HoursClosed, HoursClosure, HoursSpread, HoursToken, MarketHours};
pub use instant::slot_at;
pub use ladder::{GapRung, Ladder, LadderRows, MaxSize, MaxSizeResult, SizeRung};
pub use log_age::LogAge;
pub use names::{PoolLabels, PoolName, names_apart};
pub use number::Number;
pub use parameters::{
    MAX_LADDER_STEPS, invalid_parameter, parse_gap_limit, parse_order_plan, parse_pool, parse_size,
    parse_slot, parse_steps, parse_token_name,
};
pub use payments::Payments;
pub use pools::{PoolEntry, PoolFacts, PoolList};
pub use portfolio::{
    PlanAnswer, PlanSold, Portfolio, PortfolioExit, PortfolioPlan, PortfolioTotal, Position,
};
pub use problem::{Problem, ProblemCode};
pub use problem_document::{PROBLEM_JSON, ProblemDocument};
pub use published_answer::{
    LogsCheckedBy, LogsStatus, Published, PublishedExit, PublishedLadder, PublishedMaxSize,
    PublishedRedemption, PublishedSimulation, RetractionNotice, SlotState, SlotStatus,
};
pub use redemption::{RedemptionFact, RedemptionPath, RedemptionWindow, RedemptionWindowResult};
pub use routes::{
    RankedVenue, Route, RouteExit, RouteLadder, RouteLeg, RouteRanking, RouteRung, RouteSplit,
    RouteToken, parse_fixed_cost, parse_fixed_costs,
};
pub use routes_answer::Routes;
pub use series_method::{SeriesMethod, SeriesSource};
pub use shocks::{NamedShock, NamedShocks};
pub use simulation::{AtOnce, OrderFill, Simulation, SimulationResult};
pub use slots_after_clock::SlotsAfterClock;
pub use state::{StateReport, size_asked, state_claim, still_unproven};
pub use stream::{StreamedPool, StreamedSlot};
pub use venue_stress::{StressedSlot, StressedVenue, VenueStress, VenueStressOf};
pub use verification::{
    AuditFault, AuditReport, AuditedCounts, AuditedProofs, Claim, Contradiction, DayReport,
    ExportReport, ForkReport, Recomputation, UncheckedColumns, UnsignedFiles, VerificationReport,
};
pub use verified_evidence::{
    KeysFrom, LogContinuity, VerifiedBy, VerifiedCheck, VerifiedEvidence, VerifiedFigure,
};
pub use when::{HourOfWeek, RankedSlot, WhenToSell};
pub use witness_check::{check_witnesses, parse_witness_policy};
pub use written::{WrittenSizeError, size_as_written, size_to_write, usd_as_written, written_size};
