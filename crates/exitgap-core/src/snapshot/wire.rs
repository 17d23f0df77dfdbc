//! A snapshot as bytes: two documents of canonical JSON, version 1. The *state body* has the contract's state. The
//! *snapshot* names it by its hash, and contains when it was read and what was read with it.

use sha2::{Digest, Sha256};

use super::error::ObservationError;
use super::fact::{Fact, check_facts};
use super::networks::known_genesis;
use super::observation::{
    BlockRef, ChainKind, ChainTag, Observation, Snapshot, check_block, check_decimals,
    check_oracles,
};
use super::oracle::{OracleReading, OracleRole, OracleSource, RoundData};
use super::token::Token;
use super::wire_session::{WireSession, read_sessions};
use crate::Newer;
use crate::ids::{BlockHash, Caip2, Code, Contract, Pair, PoolId, SnapshotHash, StateHash};
use crate::json::{
    CanonicalError, DocumentError, Fields, Json, Part, VERSION, Wire, from_parsed, parse,
    parse_json as read_json, to_canonical_within, wire_struct,
};
use crate::pools::{MAX_STATE_BYTES, PoolState, StateError};
use crate::series::{Slot, SlotError};

/// The largest snapshot that is parsed, in bytes.
pub const MAX_SNAPSHOT_BYTES: usize = 128 << 10;

/// The largest snapshot file that is parsed, in bytes: both documents, and some white space.
pub const MAX_SNAPSHOT_FILE_BYTES: usize = MAX_SNAPSHOT_BYTES + 2 * MAX_STATE_BYTES;

/// The maximum number of tokens of one contract.
const MAX_TOKENS: usize = Pair::MAX_TOKENS as usize;
/// The most readings: two for each token, and one for the sequencer.
const MAX_ORACLES: usize = 2 * MAX_TOKENS + 1;

/// Why bytes are not a snapshot.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SnapshotError {
    /// The bytes are not a canonical document of this kind.
    #[error("not a snapshot: {0}")]
    Document(#[from] DocumentError),
    /// The slot is not one of the series.
    #[error(transparent)]
    Slot(#[from] SlotError),
    /// The state is not the one that the snapshot names.
    #[error("the snapshot names state {expected}, but the given state is {found}")]
    OtherState {
        /// The state that the snapshot names.
        expected: StateHash,
        /// The state found.
        found: StateHash,
    },
    /// The state cannot be parsed.
    #[error("state: {0}")]
    State(#[from] StateError),
    /// A contract cannot have that many tokens, or there are readings for more tokens than that.
    #[error(
        "the number of tokens, {found}, or of tokens with oracle readings is outside the range 2 to 8"
    )]
    Tokens {
        /// Tokens found.
        found: usize,
    },
    /// The snapshot belongs to a contract other than the pool's.
    #[error("it is a snapshot of {found}, not of {expected}")]
    OtherContract {
        /// The pool.
        expected: Box<PoolId>,
        /// The contract that it belongs to.
        found: Box<Contract>,
    },
    /// The values break a rule of snapshots.
    #[error(transparent)]
    Observation(#[from] ObservationError),
}

impl From<CanonicalError> for SnapshotError {
    fn from(error: CanonicalError) -> Self {
        Self::Document(error.into())
    }
}

impl SnapshotError {
    /// The later version that wrote it, if that is the cause of the error.
    pub fn newer(&self) -> Option<Newer> {
        match self {
            Self::Document(DocumentError::Newer(newer)) => Some(*newer),
            Self::State(error) => error.newer(),
            _ => None,
        }
    }
}

/// The canonical bytes of a snapshot and of the state it names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapshotDocuments {
    /// The snapshot's bytes.
    pub snapshot: Vec<u8>,
    /// The bytes of its state.
    pub state: Vec<u8>,
}

/// Both documents in one file, as written by `exitgap snapshot`. Evidence files have the same fields, and the pool in
/// their request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapshotFile {
    /// The pool, if the file names it. A pool of a contract with more than two tokens must be named.
    pub pool: Option<PoolId>,
    /// Both documents.
    pub documents: SnapshotDocuments,
}

impl SnapshotFile {
    /// Both as one JSON object: `{"snapshot": …, "state": …}`, with `"pool"` if it is named.
    pub fn to_bytes(&self) -> Result<Vec<u8>, DocumentError> {
        let parts = [&self.documents.snapshot, &self.documents.state];
        let [snapshot, state] = parts.map(|bytes| Part(bytes.clone()));
        let mut fields =
            vec![("snapshot".into(), snapshot.to_json()), ("state".into(), state.to_json())];
        if let Some(pool) = &self.pool {
            fields.push(("pool".into(), Json::Text(pool.to_string().into())));
        }
        let bytes = Json::Object(fields).to_canonical()?;
        let (found, most) = (bytes.len(), MAX_SNAPSHOT_FILE_BYTES);
        if found > most { Err(DocumentError::TooLarge { found, most }) } else { Ok(bytes) }
    }

    /// Reads both documents from a JSON object that contains them, such as a snapshot file or an evidence file, in any
    /// spelling and among other fields. Nothing is validated.
    pub fn from_json(bytes: &[u8]) -> Result<Self, DocumentError> {
        let json = parse(bytes, MAX_SNAPSHOT_FILE_BYTES)?;
        let pool = json.field("pool").or_else(|| json.field("request")?.field("pool"));
        let pool = pool.map(PoolId::from_json).transpose();
        let pool = pool.map_err(|error| DocumentError::Shape(format!("pool: {error}")))?;
        Ok(Self { pool, documents: SnapshotDocuments::from_parsed(&json)? })
    }

    /// Parses and validates the snapshot.
    pub fn open(&self) -> Result<Snapshot, SnapshotError> {
        let SnapshotDocuments { snapshot, state } = &self.documents;
        Snapshot::from_documents(self.pool.as_ref(), snapshot, state)
    }
}

impl SnapshotDocuments {
    /// The snapshot's hash.
    pub fn hash(&self) -> SnapshotHash {
        Snapshot::hash_of(&self.snapshot)
    }

    /// Both documents as one file for this pool.
    pub fn to_file(&self, pool: &PoolId) -> Result<Vec<u8>, DocumentError> {
        let pool = pool.pair().map(|_| pool.clone());
        SnapshotFile { pool, documents: self.clone() }.to_bytes()
    }

    /// Reads both documents from a JSON object that contains them.
    pub(crate) fn from_parsed(json: &Json<'_>) -> Result<Self, DocumentError> {
        let part = |name: &'static str| match json.field(name) {
            Some(part @ Json::Object(_)) => Ok(part.to_canonical()?),
            Some(_) => Err(DocumentError::Shape(format!("`{name}` is not an object"))),
            None => Err(DocumentError::Shape(format!("missing field `{name}`"))),
        };
        Ok(Self { snapshot: part("snapshot")?, state: part("state")? })
    }
}

struct WireSnapshot {
    v: u32,
    contract: Contract,
    chain: ChainTag,
    slot: u64,
    block: BlockRef,
    tokens: Vec<Token>,
    state: StateHash,
    oracles: Vec<WireOracle>,
    sessions: Vec<WireSession>,
    facts: Vec<Fact>,
}

wire_struct!(WireSnapshot {
    v,
    contract,
    chain,
    slot,
    block,
    tokens,
    state,
    oracles,
    sessions,
    facts,
});
wire_struct!(BlockRef { hash, number, timestamp });
wire_struct!(Token { address, decimals, symbol });

impl Wire for ChainTag {
    fn from_json(json: &Json<'_>) -> Result<Self, String> {
        let mut fields = Fields::from_json(json)?;
        let (caip2, kind) =
            (fields.take_field::<Caip2>("caip2")?, fields.take_field::<String>("kind")?);
        let genesis: Option<BlockHash> = fields.take_or_default("genesis")?;
        fields.end()?;
        let known = known_genesis(caip2);
        let kind = match (kind.as_str(), genesis) {
            ("live", None) if known.is_some() => ChainKind::Live,
            ("live", None) => {
                return Err(format!(
                    "genesis: required for {caip2}, a live chain that is not a known network"
                ));
            }
            ("live", Some(genesis)) if known.is_some_and(|known| known != genesis) => {
                return Err(format!("genesis: not that of {caip2}, a known network"));
            }
            ("live", Some(genesis)) => ChainKind::Configured(genesis),
            ("preview", None) => ChainKind::Preview,
            ("preview", Some(_)) => {
                return Err("genesis: not allowed for a preview chain".to_owned());
            }
            _ => return Err("kind: must be live or preview".to_owned()),
        };
        Ok(Self { caip2, kind })
    }

    fn to_json(&self) -> Json<'_> {
        let mut fields = vec![
            ("caip2".into(), self.caip2.to_json()),
            ("kind".into(), Json::Text(self.kind.code().into())),
        ];
        if let Some(genesis) = self.kind.configured_genesis() {
            fields.push(("genesis".into(), Json::Text(genesis.to_string().into())));
        }
        Json::Object(fields)
    }
}

enum WireOracle {
    Known(OracleReading),
    /// The JSON of a source that only a later version knows.
    Newer(Code, Part),
}

const FIXED: &str = "fixed";
const CHAINLINK: &str = "chainlink";
const TOKEN_USD: &str = "token_usd";
const SEQUENCER_UPTIME: &str = "sequencer_uptime";

impl Wire for WireOracle {
    fn from_json(json: &Json<'_>) -> Result<Self, String> {
        let mut fields = Fields::from_json(json)?;
        let source: Code = fields.take_field("source")?;
        if ![FIXED, CHAINLINK].contains(&source.as_str()) {
            return Ok(Self::Newer(source, Part::from_json(json)?));
        }
        let role = read_role(&mut fields)?;
        let (answer, decimals) = (fields.take_field("answer")?, fields.take_field("decimals")?);
        let source = if source.as_str() == FIXED {
            OracleSource::Fixed
        } else {
            OracleSource::Chainlink(RoundData {
                feed: fields.take_field("feed")?,
                round: fields.take_field("round")?,
                updated_at: fields.take_field("updated_at")?,
                heartbeat_s: fields.take_field("heartbeat_s")?,
            })
        };
        fields.end()?;
        Ok(Self::Known(OracleReading { role, answer, decimals, source }))
    }

    fn to_json(&self) -> Json<'_> {
        let reading = match self {
            Self::Known(reading) => reading,
            Self::Newer(_, document) => return document.to_json(),
        };
        let mut fields: Vec<(_, Json<'_>)> = vec![
            ("answer".into(), reading.answer.to_json()),
            ("decimals".into(), reading.decimals.to_json()),
        ];
        let role = match reading.role {
            OracleRole::SequencerUptime => SEQUENCER_UPTIME,
            OracleRole::TokenUsd(token) => {
                fields.push(("token".into(), Json::Number(token.to_string().into())));
                TOKEN_USD
            }
        };
        fields.push(("role".into(), Json::Text(role.into())));
        let source = match &reading.source {
            OracleSource::Fixed => FIXED,
            OracleSource::Chainlink(round) => {
                fields.push(("feed".into(), round.feed.to_json()));
                fields.push(("round".into(), round.round.to_json()));
                fields.push(("updated_at".into(), round.updated_at.to_json()));
                fields.push(("heartbeat_s".into(), round.heartbeat_s.to_json()));
                CHAINLINK
            }
        };
        fields.push(("source".into(), Json::Text(source.into())));
        Json::Object(fields)
    }
}

/// `token_usd` for a token, by index, or `sequencer_uptime` without a token.
fn read_role(fields: &mut Fields<'_, '_>) -> Result<OracleRole, String> {
    let role: String = fields.take_field("role")?;
    match role.as_str() {
        TOKEN_USD => Ok(OracleRole::TokenUsd(fields.take_field("token")?)),
        SEQUENCER_UPTIME => Ok(OracleRole::SequencerUptime),
        _ => Err("role: unknown".to_owned()),
    }
}

/// A snapshot's document, parsed as far as this version knows its values.
#[derive(Debug, Clone)]
pub(crate) struct ReadSnapshot {
    /// The contract of the pool.
    pub contract: Contract,
    /// The number of its tokens.
    pub tokens: usize,
    /// The slot.
    pub slot: Slot,
    /// The block, which obeys the slot rule.
    pub block: BlockRef,
    /// The whole snapshot, or the first value that this version does not know.
    pub snapshot: Result<Snapshot, Newer>,
}

impl Snapshot {
    /// The canonical bytes, which are stored, served and hashed.
    pub fn to_canonical(&self) -> Result<SnapshotDocuments, SnapshotError> {
        let state = self.observation().state().to_canonical()?;
        let wire = WireSnapshot::from_snapshot(self, PoolState::hash_of(&state));
        Ok(SnapshotDocuments { snapshot: to_canonical_within(&wire, MAX_SNAPSHOT_BYTES)?, state })
    }

    /// The SHA-256 of a snapshot's canonical bytes, which is its name.
    pub fn hash_of(canonical: &[u8]) -> SnapshotHash {
        SnapshotHash(Sha256::digest(canonical).into())
    }

    /// The hash of the state that a snapshot's bytes name, if any. Nothing else is parsed or checked.
    pub fn state_named_in(canonical: &[u8]) -> Option<StateHash> {
        let bytes = Some(canonical).filter(|bytes| bytes.len() <= MAX_SNAPSHOT_BYTES)?;
        StateHash::from_json(read_json(bytes).ok()?.field("state")?).ok()
    }

    /// Parses and validates untrusted bytes, which must be canonical: a snapshot of a contract with two tokens, and the
    /// state that it names.
    pub fn from_canonical(snapshot: &[u8], state: &[u8]) -> Result<Self, SnapshotError> {
        Self::from_documents(None, snapshot, state)
    }

    /// The same for a pool's contract with any number of tokens. The snapshot names only the contract; the pool id
    /// selects two of three or more tokens.
    pub fn of_pool(pool: &PoolId, snapshot: &[u8], state: &[u8]) -> Result<Self, SnapshotError> {
        Self::from_documents(Some(pool), snapshot, state)
    }

    fn from_documents(
        pool: Option<&PoolId>,
        snapshot: &[u8],
        state: &[u8],
    ) -> Result<Self, SnapshotError> {
        let read = Self::parse_documents(pool, snapshot, state)?;
        if let Some(pool) = pool.filter(|pool| *pool.contract() != read.contract) {
            let (expected, found) = (Box::new(pool.clone()), Box::new(read.contract));
            return Err(SnapshotError::OtherContract { expected, found });
        }
        read.snapshot.map_err(|newer| DocumentError::Newer(newer).into())
    }

    /// The same for any contract, as far as this version knows the values.
    pub(crate) fn parse_documents(
        pool: Option<&PoolId>,
        snapshot: &[u8],
        state: &[u8],
    ) -> Result<ReadSnapshot, SnapshotError> {
        let json = parse(snapshot, MAX_SNAPSHOT_BYTES)?;
        // The state of a later version's snapshot is not parsed.
        let wire: WireSnapshot = from_parsed(&json, snapshot, "a snapshot")?;
        let state_json = parse(state, MAX_STATE_BYTES).map_err(StateError::from)?;
        wire.with_state(pool, &state_json, state)
    }

    /// The same for bytes that were already parsed to JSON.
    pub(crate) fn from_parsed(
        pool: &PoolId,
        json: &Json<'_>,
        bytes: &[u8],
        state_json: &Json<'_>,
        state_bytes: &[u8],
    ) -> Result<ReadSnapshot, SnapshotError> {
        let (found, most) = (bytes.len(), MAX_SNAPSHOT_BYTES);
        if found > most {
            return Err(DocumentError::TooLarge { found, most }.into());
        }
        let wire: WireSnapshot = from_parsed(json, bytes, "a snapshot")?;
        wire.with_state(Some(pool), state_json, state_bytes)
    }
}

impl WireSnapshot {
    /// Combines the snapshot with the state that it names, for this pool.
    fn with_state(
        self,
        pool: Option<&PoolId>,
        json: &Json<'_>,
        bytes: &[u8],
    ) -> Result<ReadSnapshot, SnapshotError> {
        let found = PoolState::hash_of(bytes);
        if self.state != found {
            return Err(SnapshotError::OtherState { expected: self.state, found });
        }
        let state = match PoolState::from_parsed(json, bytes) {
            Ok(state) => Ok(state),
            Err(error) => Err(error.newer().ok_or(error)?),
        };
        self.check(pool, state)
    }

    fn from_snapshot(snapshot: &Snapshot, state: StateHash) -> Self {
        let observation = snapshot.observation();
        let at = observation.block().timestamp;
        Self {
            v: VERSION,
            contract: observation.pool().contract().clone(),
            chain: observation.chain(),
            slot: snapshot.slot().number().into(),
            block: observation.block(),
            tokens: observation.contract_tokens().to_vec(),
            state,
            oracles: observation.oracles().iter().cloned().map(WireOracle::Known).collect(),
            sessions: observation
                .sessions()
                .iter()
                .map(|own| WireSession::from_session(own, at))
                .collect(),
            facts: observation.facts().to_vec(),
        }
    }

    fn check(
        self,
        pool: Option<&PoolId>,
        state: Result<PoolState, Newer>,
    ) -> Result<ReadSnapshot, SnapshotError> {
        let (slot, block) = (Slot::new(self.slot)?, self.block);
        check_block(slot, block)?;
        let tokens = self.tokens.len();
        if !(2..=MAX_TOKENS).contains(&tokens) || self.oracles.len() > MAX_ORACLES {
            return Err(SnapshotError::Tokens { found: tokens });
        }
        check_decimals(&self.tokens)?;
        check_facts(&self.facts)?;
        let sessions = read_sessions(&self.sessions, tokens, block.timestamp)?;
        let mut newer = sessions.as_ref().err().copied();
        let mut readings = Vec::new();
        for oracle in self.oracles {
            match oracle {
                WireOracle::Known(reading) => readings.push(reading),
                WireOracle::Newer(source, _) => newer = Some(Newer::OracleSource(source)),
            }
        }
        check_oracles(self.chain.kind, block.timestamp, tokens, &readings)?;
        if !readings.is_sorted_by_key(OracleReading::order) {
            return Err(ObservationError::OracleOrder.into());
        }
        let read = |contract, snapshot| ReadSnapshot { contract, tokens, slot, block, snapshot };
        let (state, sessions) = match (state, newer, sessions) {
            (Ok(state), None, Ok(sessions)) => (state, sessions),
            (Err(newer), ..) | (Ok(_), Some(newer), _) | (Ok(_), None, Err(newer)) => {
                return Ok(read(self.contract, Err(newer)));
            }
        };
        let pair = pool.and_then(PoolId::pair).filter(|_| tokens > 2);
        let pool = self.contract.pool(pair);
        let observation =
            Observation::new(pool, self.chain, block, self.tokens, state, readings, self.facts)?;
        let observation = observation.with_sessions(sessions)?;
        Ok(read(self.contract, Ok(Snapshot::new(slot, observation)?)))
    }
}

#[cfg(test)]
#[path = "wire_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "many_tests.rs"]
mod many_tests;
