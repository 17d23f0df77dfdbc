//! The context of every result: the pool, the oracle, the method and the source of its depth.

use exitgap_core::exit::METHOD_VERSION;
use exitgap_core::ids::SnapshotHash;
use exitgap_core::pools::Direction;
use exitgap_core::series::{Slot, days_observed_hundredths, rfc3339};
use exitgap_core::snapshot::{
    ChainKind, Fact, Observation, OracleReading, OracleRole, OracleSource, Token,
};
use exitgap_core::units::SizeUsd;
use serde::{Deserialize, Serialize};

use crate::{Number, PoolName};

/// Whether a figure is reliable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// From a known chain with its known genesis, or from one whose operator configured its genesis hash.
    Live,
    /// From any other chain. The format is real, but do not rely on the figures.
    Preview,
}

impl From<ChainKind> for Status {
    fn from(kind: ChainKind) -> Self {
        match kind {
            ChainKind::Live | ChainKind::Configured(_) => Self::Live,
            ChainKind::Preview => Self::Preview,
        }
    }
}

/// How reliable the oracle answers are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum OracleState {
    /// No answer is older than its heartbeat.
    Fresh,
    /// An answer is older than its heartbeat, but was fresh when its token's market closed, and the
    /// market is still closed. The feed does not promise updates until it opens.
    HeldOverClose,
    /// An answer is older than its heartbeat for another reason, or the chain's sequencer is down
    /// or was down until just now.
    Stale,
}

impl From<exitgap_core::snapshot::OracleState> for OracleState {
    fn from(state: exitgap_core::snapshot::OracleState) -> Self {
        match state {
            exitgap_core::snapshot::OracleState::Fresh => Self::Fresh,
            exitgap_core::snapshot::OracleState::HeldOverClose => Self::HeldOverClose,
            exitgap_core::snapshot::OracleState::Stale => Self::Stale,
        }
    }
}

/// A token, as its contract describes it. The symbol is only a label: any contract may choose any
/// symbol.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TokenLabel {
    /// The token contract's address.
    pub address: String,
    /// Its symbol, cleaned to printable ASCII.
    pub symbol: String,
    /// The number of decimals of the token.
    pub decimals: u8,
}

impl From<&Token> for TokenLabel {
    fn from(token: &Token) -> Self {
        Self {
            address: token.address.to_string(),
            symbol: token.symbol.to_string(),
            decimals: token.decimals,
        }
    }
}

/// The slots that a result is computed from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Window {
    /// Time of the first slot of the series, RFC 3339.
    pub from: String,
    /// Time of the last slot used, RFC 3339.
    pub to: String,
    /// Slots with a snapshot.
    pub slots_recorded: u64,
    /// Slots without a snapshot.
    pub slots_missing: u64,
}

/// Where the depth behind a result was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum DepthSourceKind {
    /// A snapshot of the recorded series.
    RecordedSnapshot,
    /// The chain's latest block, read for this answer; not recorded.
    LatestBlock,
    /// A snapshot file that the caller supplied.
    SnapshotFile,
}

/// The block behind a result, and the slot if one is recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DepthSource {
    /// The source of the depth.
    pub kind: DepthSourceKind,
    /// The chain's CAIP-2 id.
    pub chain: String,
    /// The hash of the chain's block 0, if the chain is live because its operator configured that
    /// hash. Whether it is the intended network has to be checked by someone who knows the hash.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub genesis_hash: Option<String>,
    /// The kind of pool state: `constant_product`, `concentrated_liquidity`, `concentrated_v4` or
    /// `concentrated_linked`.
    pub protocol: String,
    /// Block number.
    pub block_number: u64,
    /// Block hash.
    pub block_hash: String,
    /// Block timestamp, RFC 3339.
    pub block_time: String,
    /// The slot number. Absent if nothing is recorded.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub slot: Option<u32>,
    /// The time of the slot, RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub slot_time: Option<String>,
    /// SHA-256 of the snapshot's canonical bytes.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub snapshot_hash: Option<String>,
    /// Slots after this one that are missing or retracted, if the request was for the newest
    /// recorded slot.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub newer_slots_missing: Option<u64>,
}

/// One oracle answer behind a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct OracleDisclosure {
    /// `token0_usd` or `token1_usd`: the price that this answer is a factor of. `sequencer_uptime`:
    /// whether the chain's sequencer is up (0) or down (1).
    pub role: String,
    /// `chainlink` or `fixed`.
    pub source: String,
    /// The feed's address.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub feed: Option<String>,
    /// The answer, raw.
    pub answer_raw: String,
    /// The decimals of the answer.
    pub decimals: u8,
    /// Seconds from the answer to the block. For a sequencer, how long it has been up or down.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub age_s: Option<u64>,
    /// Whether the age exceeds the feed's heartbeat. For a sequencer, whether it is down, or has
    /// been up for no longer than its grace period.
    pub stale: bool,
}

/// The method behind a result, disclosed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Method {
    /// The size that the figure is for. Absent if the size is the answer.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub assumed_size_usd: Option<Number>,
    /// Where the depth was read.
    pub depth_source: DepthSource,
    /// Every oracle answer used.
    pub oracles: Vec<OracleDisclosure>,
}

/// The context of every result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Context {
    /// The pool's identifier, `<chain>:<address>`.
    pub pool: String,
    /// Live or preview.
    pub status: Status,
    /// The token sold.
    pub base: TokenLabel,
    /// The token bought.
    pub quote: TokenLabel,
    /// Venue and fee as of this state: `Uniswap v3 0.05%`.
    pub name: String,
    /// The venue. Absent if the pool's factory is not known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub venue: Option<String>,
    /// The fee that the pool charges on a sale, percent. Absent if it depends on the sale; `name`
    /// then shows how.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub fee_pct: Option<Number>,
    /// USD per whole base token, according to the oracle.
    pub oracle_price_usd: Number,
    /// Whether any oracle answer is older than its heartbeat, or the chain's sequencer is down or
    /// was down until just now.
    pub oracle_stale: bool,
    /// Why the oracle is stale, if it is. While a market is closed, the oracle keeps its last
    /// answer.
    pub oracle_state: OracleState,
    /// Whether the amounts are what a holder sends and receives. `false` if a token takes a fee on
    /// transfer, as logs of the pool's own swaps showed: the exit is then worse than computed.
    pub exact: bool,
    /// Why the amounts are not exact, if they are not: `token_taxed`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub inexact_because: Option<String>,
    /// The same reason as a sentence that names the tokens.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub inexact_detail: Option<String>,
    /// Whether the markets of both tokens are open at the block.
    pub market_open: bool,
    /// The market session at the block, e.g. `XNYS@1/regular`. `continuous` for assets without a
    /// calendar.
    pub session_note: String,
    /// Recorded slots ÷ 288. Absent if nothing is recorded.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub days_observed: Option<Number>,
    /// The series behind the result. Absent if nothing is recorded.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub window: Option<Window>,
    /// The version of the method behind the figures.
    pub method_version: String,
    /// The method, disclosed.
    pub method: Method,
}

/// Figures with their context: the document of every answer about a pool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Answer<F> {
    /// The figures asked for.
    #[serde(flatten)]
    pub figures: F,
    /// Pool, oracle, method.
    #[serde(flatten)]
    pub context: Context,
}

/// Where an observation came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Provenance {
    /// A slot of a recorded series.
    Recorded {
        /// The slot.
        slot: Slot,
        /// The snapshot's hash.
        snapshot_hash: SnapshotHash,
        /// The pool's first slot.
        first_slot: Slot,
        /// Slots with a snapshot, from the first up to this one.
        recorded_slots: u64,
        /// The number of later slots that are missing, if the newest slot was requested.
        newer_slots_missing: Option<u64>,
    },
    /// Read for this answer only.
    Direct(Direct),
}

impl Provenance {
    /// The slot of the observation, if it has one.
    pub fn slot(&self) -> Option<Slot> {
        match self {
            Self::Recorded { slot, .. } | Self::Direct(Direct::SnapshotFile(slot, _)) => {
                Some(*slot)
            }
            Self::Direct(Direct::LatestBlock) => None,
        }
    }
}

/// Where an unrecorded observation was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direct {
    /// At the chain's latest block.
    LatestBlock,
    /// From a snapshot file for this slot.
    SnapshotFile(Slot, SnapshotHash),
}

impl Context {
    /// The context of an answer about `observation` for an exit in `direction`. `size` is the size that the figures are
    /// for, if there is one.
    pub fn new(
        observation: &Observation,
        direction: Direction,
        provenance: &Provenance,
        size: Option<SizeUsd>,
    ) -> Self {
        let (base, quote) = (direction.base_index(), direction.quote_index());
        let block_time = observation.block().timestamp;
        let (days_observed, window) = series(provenance);
        let naming = PoolName::from_observation(observation);
        let session = observation.session();
        let inexact_detail = inexact_detail(observation);
        let disclose = |(role, reading)| disclosure(role, reading, block_time);
        Self {
            pool: observation.pool().to_string(),
            status: observation.chain().kind.into(),
            base: (&observation.tokens()[base]).into(),
            quote: (&observation.tokens()[quote]).into(),
            name: naming.name(),
            venue: naming.venue,
            fee_pct: naming.fee_pct,
            oracle_price_usd: observation.prices()[base].to_decimal().into(),
            oracle_stale: observation.oracle_stale(),
            oracle_state: observation.oracle_state().into(),
            exact: inexact_detail.is_none(),
            inexact_because: inexact_detail.as_ref().map(|_| Fact::TOKEN_TAXED.to_owned()),
            inexact_detail,
            market_open: session.market_open,
            session_note: session.note,
            days_observed,
            window,
            method_version: METHOD_VERSION.to_owned(),
            method: Method {
                assumed_size_usd: size.map(Number::from),
                depth_source: depth_source(observation, provenance),
                oracles: observation.pool_oracles().into_iter().map(disclose).collect(),
            },
        }
    }
}

/// Whether the amounts of a series are what a holder sends and receives, by the newest snapshot of its pools.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Exactness {
    /// Whether the amounts are what a holder sends and receives. `false` if a token takes a fee on
    /// transfer, as logs of swaps showed up to the newest snapshot: exits are then worse than computed.
    pub exact: bool,
    /// Why the amounts are not exact, if they are not: `token_taxed`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub inexact_because: Option<String>,
    /// The same reason as a sentence that names the tokens.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub inexact_detail: Option<String>,
}

impl Exactness {
    /// Amounts that are exact, unless a sentence states why they are not.
    pub fn new(inexact_detail: Option<String>) -> Self {
        let inexact_because = inexact_detail.as_ref().map(|_| Fact::TOKEN_TAXED.to_owned());
        Self { exact: inexact_detail.is_none(), inexact_because, inexact_detail }
    }
}

/// A sentence that states why amounts computed for a pool are not what a holder sends and receives; `None` if no fact
/// states it.
pub fn inexact_detail(observation: &Observation) -> Option<String> {
    let taxed: Vec<String> =
        observation.taxed_tokens().map(|token| token.symbol.to_string()).collect();
    let (takes, them) = if taxed.len() == 1 { ("takes", "it") } else { ("take", "them") };
    (!taxed.is_empty()).then(|| {
        format!(
            "{} {takes} a fee on transfer, so less of {them} arrives than was sent",
            taxed.join(" and ")
        )
    })
}

fn series(provenance: &Provenance) -> (Option<Number>, Option<Window>) {
    let Provenance::Recorded { slot, first_slot, recorded_slots, .. } = provenance else {
        return (None, None);
    };
    let slots = u64::from(slot.number().saturating_sub(first_slot.number())) + 1;
    let window = Window {
        from: first_slot.to_string(),
        to: slot.to_string(),
        slots_recorded: *recorded_slots,
        slots_missing: slots.saturating_sub(*recorded_slots),
    };
    let days = Number::from_hundredths(days_observed_hundredths(*recorded_slots));
    (Some(days), Some(window))
}

fn depth_source(observation: &Observation, provenance: &Provenance) -> DepthSource {
    let block = observation.block();
    let (kind, slot, hash, newer_slots_missing) = match provenance {
        Provenance::Recorded { slot, snapshot_hash, newer_slots_missing, .. } => {
            let kind = DepthSourceKind::RecordedSnapshot;
            (kind, Some(*slot), Some(*snapshot_hash), *newer_slots_missing)
        }
        Provenance::Direct(Direct::LatestBlock) => (DepthSourceKind::LatestBlock, None, None, None),
        Provenance::Direct(Direct::SnapshotFile(slot, hash)) => {
            (DepthSourceKind::SnapshotFile, Some(*slot), Some(*hash), None)
        }
    };
    DepthSource {
        kind,
        chain: observation.chain().caip2.to_string(),
        genesis_hash: observation.chain().kind.configured_genesis().map(|hash| hash.to_string()),
        protocol: observation.state().protocol().to_owned(),
        block_number: block.number,
        block_hash: block.hash.to_string(),
        block_time: rfc3339(block.timestamp),
        slot: slot.map(Slot::number),
        slot_time: slot.map(|slot| slot.to_string()),
        snapshot_hash: hash.map(|hash| hash.to_string()),
        newer_slots_missing,
    }
}

fn disclosure(role: OracleRole, reading: &OracleReading, block_time: u64) -> OracleDisclosure {
    let role = match role {
        OracleRole::TokenUsd(0) => "token0_usd",
        OracleRole::TokenUsd(_) => "token1_usd",
        OracleRole::SequencerUptime => "sequencer_uptime",
    };
    let (source, feed) = match &reading.source {
        OracleSource::Fixed => ("fixed", None),
        OracleSource::Chainlink(round) => ("chainlink", Some(round.feed.to_string())),
    };
    OracleDisclosure {
        role: role.to_owned(),
        source: source.to_owned(),
        feed,
        answer_raw: reading.answer.to_string(),
        decimals: reading.decimals,
        age_s: reading.age_s(block_time),
        stale: reading.is_stale(block_time),
    }
}
