//! A snapshot as bytes: two documents of canonical JSON, version 1. The *state body* holds what
//! the contract holds; the *snapshot* names it by its hash, and says when it was read and what
//! was read with it.

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

/// The most bytes of a snapshot that are looked at.
pub const MAX_SNAPSHOT_BYTES: usize = 128 << 10;

/// The most bytes of a snapshot file that are looked at: both documents, and some white space.
pub const MAX_SNAPSHOT_FILE_BYTES: usize = MAX_SNAPSHOT_BYTES + 2 * MAX_STATE_BYTES;

/// The most tokens of one contract.
const MAX_TOKENS: usize = Pair::MAX_TOKENS as usize;
/// The most readings: two for each token, and one of the sequencer.
const MAX_ORACLES: usize = 2 * MAX_TOKENS + 1;

/// Why bytes are not a snapshot.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SnapshotError {
    /// The bytes are no canonical document of its shape.
    #[error("not a snapshot: {0}")]
    Document(#[from] DocumentError),
    /// The slot is not one of the series.
    #[error(transparent)]
    Slot(#[from] SlotError),
    /// The state is another than the one the snapshot names.
    #[error("the snapshot names state {expected}, but the given state is {found}")]
    OtherState {
        /// The state that the snapshot names.
        expected: StateHash,
        /// The state found.
        found: StateHash,
    },
    /// The state cannot be read.
    #[error("state: {0}")]
    State(#[from] StateError),
    /// A contract does not pool so many tokens, or there are more readings than of so many.
    #[error(
        "the number of tokens, {found}, or of tokens with oracle readings is outside the range 2 to 8"
    )]
    Tokens {
        /// Tokens found.
        found: usize,
    },
    /// It is of another contract than the pool's.
    #[error("it is a snapshot of {found}, not of {expected}")]
    OtherContract {
        /// The pool.
        expected: Box<PoolId>,
        /// The contract that it is of.
        found: Box<Contract>,
    },
    /// The readings break a rule of snapshots.
    #[error(transparent)]
    Observation(#[from] ObservationError),
}

impl From<CanonicalError> for SnapshotError {
    fn from(error: CanonicalError) -> Self {
        Self::Document(error.into())
    }
}

impl SnapshotError {
    /// What a later version of exitgap made, where that is the reason.
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
    /// The snapshot's.
    pub snapshot: Vec<u8>,
    /// Its state's.
    pub state: Vec<u8>,
}

/// Both as one file: what `exitgap snapshot` writes. Evidence files have them likewise, and the
/// pool in their request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapshotFile {
    /// Whose it is, where the file says so: a pool of a contract of more than two tokens must.
    pub pool: Option<PoolId>,
    /// Both documents.
    pub documents: SnapshotDocuments,
}

impl SnapshotFile {
    /// Both as one JSON object: `{"snapshot": …, "state": …}`, with `"pool"` where it is said.
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

    /// Both from a JSON object that has them, whatever else it has and however it is spelled:
    /// a snapshot file, or an evidence file. Nothing of them is checked.
    pub fn from_json(bytes: &[u8]) -> Result<Self, DocumentError> {
        let json = parse(bytes, MAX_SNAPSHOT_FILE_BYTES)?;
        let pool = json.field("pool").or_else(|| json.field("request")?.field("pool"));
        let pool = pool.map(PoolId::from_json).transpose();
        let pool = pool.map_err(|error| DocumentError::Shape(format!("pool: {error}")))?;
        Ok(Self { pool, documents: SnapshotDocuments::from_parsed(&json)? })
    }

    /// The snapshot, checked.
    pub fn open(&self) -> Result<Snapshot, SnapshotError> {
        let SnapshotDocuments { snapshot, state } = &self.documents;
        Snapshot::from_documents(self.pool.as_ref(), snapshot, state)
    }
}

impl SnapshotDocuments {
    /// The snapshot's name.
    pub fn hash(&self) -> SnapshotHash {
        Snapshot::hash_of(&self.snapshot)
    }

    /// As one file, of this pool.
    pub fn to_file(&self, pool: &PoolId) -> Result<Vec<u8>, DocumentError> {
        let pool = pool.pair().map(|_| pool.clone());
        SnapshotFile { pool, documents: self.clone() }.to_bytes()
    }

    /// Both of a JSON object that has them.
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
                    "genesis: required for {caip2}, a live chain that is no known network"
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
    /// Of a source that only a later version knows, as it stands.
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

/// `token_usd` of a token by its index, or `sequencer_uptime` of none.
fn read_role(fields: &mut Fields<'_, '_>) -> Result<OracleRole, String> {
    let role: String = fields.take_field("role")?;
    match role.as_str() {
        TOKEN_USD => Ok(OracleRole::TokenUsd(fields.take_field("token")?)),
        SEQUENCER_UPTIME => Ok(OracleRole::SequencerUptime),
        _ => Err("role: unknown".to_owned()),
    }
}

/// A snapshot's document, read as far as it is known.
#[derive(Debug, Clone)]
pub(crate) struct ReadSnapshot {
    /// What holds the pool.
    pub contract: Contract,
    /// How many tokens it pools.
    pub tokens: usize,
    /// The slot.
    pub slot: Slot,
    /// The block, which obeys the rule of slots.
    pub block: BlockRef,
    /// The whole of it, or what of it this version does not know.
    pub snapshot: Result<Snapshot, Newer>,
}

impl Snapshot {
    /// The canonical bytes: what is stored, served and hashed.
    pub fn to_canonical(&self) -> Result<SnapshotDocuments, SnapshotError> {
        let state = self.observation().state().to_canonical()?;
        let wire = WireSnapshot::from_snapshot(self, PoolState::hash_of(&state));
        Ok(SnapshotDocuments { snapshot: to_canonical_within(&wire, MAX_SNAPSHOT_BYTES)?, state })
    }

    /// The SHA-256 of a snapshot's canonical bytes: its name.
    pub fn hash_of(canonical: &[u8]) -> SnapshotHash {
        SnapshotHash(Sha256::digest(canonical).into())
    }

    /// The name of the state that a snapshot's bytes name, where they name one. Nothing else of
    /// them is read or checked.
    pub fn state_named_in(canonical: &[u8]) -> Option<StateHash> {
        let bytes = Some(canonical).filter(|bytes| bytes.len() <= MAX_SNAPSHOT_BYTES)?;
        StateHash::from_json(read_json(bytes).ok()?.field("state")?).ok()
    }

    /// Reads and checks untrusted bytes, which must be the canonical ones: a snapshot's of a contract
    /// of two tokens, and those of the state it names.
    pub fn from_canonical(snapshot: &[u8], state: &[u8]) -> Result<Self, SnapshotError> {
        Self::from_documents(None, snapshot, state)
    }

    /// The same of a pool's contract, however many tokens it has. The snapshot names only the
    /// contract: which two of three and more, the pool says.
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

    /// The same, as far as the bytes are known, whatever contract they are of.
    pub(crate) fn parse_documents(
        pool: Option<&PoolId>,
        snapshot: &[u8],
        state: &[u8],
    ) -> Result<ReadSnapshot, SnapshotError> {
        let json = parse(snapshot, MAX_SNAPSHOT_BYTES)?;
        // Of a later snapshot the state is not looked at.
        let wire: WireSnapshot = from_parsed(&json, snapshot, "a snapshot")?;
        let state_json = parse(state, MAX_STATE_BYTES).map_err(StateError::from)?;
        wire.with_state(pool, &state_json, state)
    }

    /// The same where the bytes were parsed before, as far as they are known.
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
    /// The snapshot beside the state that it names, asked about the pool.
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
