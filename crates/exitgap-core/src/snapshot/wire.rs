//! A snapshot as bytes: canonical JSON, version 1.

use sha2::{Digest, Sha256};

use super::canonical::CanonicalError;
use super::observation::{
    BlockRef, ChainKind, ChainTag, Observation, ObservationError, Session, Snapshot,
};
use super::oracle::{OracleReading, OracleRole, OracleSource, RoundData};
use super::token::Token;
use crate::ids::{Address, PoolId, SnapshotHash};
use crate::json::{Fields, Json, Wire, read, wire_code, wire_struct};
use crate::pools::{
    Concentrated, ConcentratedError, ConstantProduct, ConstantProductError, FeeRate, PoolState,
    TickNet,
};
use crate::series::{Slot, SlotError};
use crate::wide::U256;

/// The most bytes of a snapshot that are looked at: room for the most ticks
/// accepted, each with the longest numbers.
pub const MAX_SNAPSHOT_BYTES: usize = 4 << 20;

/// The version written and read.
const VERSION: u32 = 1;

/// Why bytes are not a snapshot.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SnapshotError {
    /// More than [`MAX_SNAPSHOT_BYTES`].
    #[error("a snapshot of {found} bytes is larger than the {most} accepted", most = MAX_SNAPSHOT_BYTES)]
    TooLarge {
        /// Bytes found.
        found: usize,
    },
    /// Not JSON of the snapshot's shape: says what and where.
    #[error("not a snapshot: {0}")]
    Shape(String),
    /// A version this build does not know.
    #[error("snapshot version {found} is not known; this build reads version {VERSION}")]
    Version {
        /// The version found.
        found: u32,
    },
    /// The bytes are not the canonical ones: white space, key order or another
    /// spelling of the same document.
    #[error("the bytes are not the snapshot's canonical JSON (they differ from byte {at})")]
    NotCanonical {
        /// The first byte that differs.
        at: usize,
    },
    /// A field holds a number that is not a plain decimal in range.
    #[error("{field}: {found:?} is not a whole number in range without sign or leading zeros")]
    Number {
        /// The field's name.
        field: &'static str,
        /// The text found, cut to 90 characters.
        found: String,
    },
    /// The slot is not one of the series.
    #[error(transparent)]
    Slot(#[from] SlotError),
    /// The pool's state breaks a rule of constant-product pairs.
    #[error("state: {0}")]
    ConstantProduct(#[from] ConstantProductError),
    /// The pool's state breaks a rule of concentrated-liquidity pools.
    #[error("state: {0}")]
    Concentrated(#[from] ConcentratedError),
    /// The readings break a rule of snapshots.
    #[error(transparent)]
    Observation(#[from] ObservationError),
    /// The document has no canonical form.
    #[error(transparent)]
    Canonical(#[from] CanonicalError),
}

struct WireSnapshot {
    v: u32,
    pool: PoolId,
    chain: ChainTag,
    slot: u64,
    block: BlockRef,
    tokens: [Token; 2],
    state: WireState,
    oracles: Vec<WireOracle>,
    session: Session,
}

wire_struct!(WireSnapshot { v, pool, chain, slot, block, tokens, state, oracles, session });
wire_struct!(ChainTag { caip2, kind });
wire_struct!(BlockRef { hash, number, timestamp });
wire_struct!(Token { address, decimals, symbol });
wire_struct!(Session { market_open, note });
wire_code!(ChainKind, [ChainKind::Live, ChainKind::Preview]);
wire_code!(OracleRole, [OracleRole::Token0Usd, OracleRole::Token1Usd, OracleRole::SequencerUptime]);

enum WireState {
    ConstantProduct {
        reserves: [String; 2],
        fee_numerator: u32,
        fee_denominator: u32,
    },
    ConcentratedLiquidity {
        sqrt_price_x96: String,
        tick: i32,
        liquidity: String,
        fee_pips: u32,
        tick_spacing: i32,
        /// `[tick, liquidity_net]`, ascending.
        ticks: Vec<(i32, String)>,
    },
}

enum WireOracle {
    Fixed {
        role: OracleRole,
        answer: String,
        decimals: u8,
    },
    Chainlink {
        role: OracleRole,
        answer: String,
        decimals: u8,
        feed: Address,
        round: String,
        updated_at: u64,
        heartbeat_s: u32,
    },
}

/// An object of the variant that its tag names.
fn tagged<'j>(
    tag: &'static str,
    name: &'static str,
    fields: Vec<(&'static str, Json<'j>)>,
) -> Json<'j> {
    let name = (tag.into(), Json::Text(name.into()));
    let fields = fields.into_iter().map(|(field, json)| (field.into(), json));
    Json::Object(core::iter::once(name).chain(fields).collect())
}

impl Wire for WireState {
    fn read(json: &Json<'_>) -> Result<Self, String> {
        let mut fields = Fields::of(json)?;
        let protocol: String = fields.take("protocol")?;
        let state = match protocol.as_str() {
            "constant_product" => Self::ConstantProduct {
                reserves: fields.take("reserves")?,
                fee_numerator: fields.take("fee_numerator")?,
                fee_denominator: fields.take("fee_denominator")?,
            },
            "concentrated_liquidity" => Self::ConcentratedLiquidity {
                sqrt_price_x96: fields.take("sqrt_price_x96")?,
                tick: fields.take("tick")?,
                liquidity: fields.take("liquidity")?,
                fee_pips: fields.take("fee_pips")?,
                tick_spacing: fields.take("tick_spacing")?,
                ticks: fields.take("ticks")?,
            },
            _ => return Err("protocol: unknown variant".to_owned()),
        };
        fields.end()?;
        Ok(state)
    }

    fn write(&self) -> Json<'_> {
        match self {
            Self::ConstantProduct { reserves, fee_numerator, fee_denominator } => {
                let fields = [
                    ("reserves", reserves.write()),
                    ("fee_numerator", fee_numerator.write()),
                    ("fee_denominator", fee_denominator.write()),
                ];
                tagged("protocol", "constant_product", fields.into())
            }
            Self::ConcentratedLiquidity {
                sqrt_price_x96,
                tick,
                liquidity,
                fee_pips,
                tick_spacing,
                ticks,
            } => {
                let fields = [
                    ("sqrt_price_x96", sqrt_price_x96.write()),
                    ("tick", tick.write()),
                    ("liquidity", liquidity.write()),
                    ("fee_pips", fee_pips.write()),
                    ("tick_spacing", tick_spacing.write()),
                    ("ticks", ticks.write()),
                ];
                tagged("protocol", "concentrated_liquidity", fields.into())
            }
        }
    }
}

impl Wire for WireOracle {
    fn read(json: &Json<'_>) -> Result<Self, String> {
        let mut fields = Fields::of(json)?;
        let source: String = fields.take("source")?;
        let (role, answer, decimals) =
            (fields.take("role")?, fields.take("answer")?, fields.take("decimals")?);
        let oracle = match source.as_str() {
            "fixed" => Self::Fixed { role, answer, decimals },
            "chainlink" => Self::Chainlink {
                role,
                answer,
                decimals,
                feed: fields.take("feed")?,
                round: fields.take("round")?,
                updated_at: fields.take("updated_at")?,
                heartbeat_s: fields.take("heartbeat_s")?,
            },
            _ => return Err("source: unknown variant".to_owned()),
        };
        fields.end()?;
        Ok(oracle)
    }

    fn write(&self) -> Json<'_> {
        let (Self::Fixed { role, answer, decimals }
        | Self::Chainlink { role, answer, decimals, .. }) = self;
        let mut fields = vec![
            ("role", role.write()),
            ("answer", answer.write()),
            ("decimals", decimals.write()),
        ];
        let Self::Chainlink { feed, round, updated_at, heartbeat_s, .. } = self else {
            return tagged("source", "fixed", fields);
        };
        fields.push(("feed", feed.write()));
        fields.push(("round", round.write()));
        fields.push(("updated_at", updated_at.write()));
        fields.push(("heartbeat_s", heartbeat_s.write()));
        tagged("source", "chainlink", fields)
    }
}

impl Snapshot {
    /// The canonical bytes: what is stored, served and hashed.
    pub fn to_canonical(&self) -> Result<Vec<u8>, SnapshotError> {
        Ok(WireSnapshot::from(self).write().to_canonical()?)
    }

    /// The SHA-256 of canonical bytes: the snapshot's name.
    pub fn hash_of(canonical: &[u8]) -> SnapshotHash {
        SnapshotHash(Sha256::digest(canonical).into())
    }

    /// Reads and checks untrusted bytes. They must be the canonical ones.
    pub fn from_canonical(bytes: &[u8]) -> Result<Self, SnapshotError> {
        check_size(bytes)?;
        Self::from_parsed(&read(bytes).map_err(SnapshotError::Shape)?, bytes)
    }

    /// The same where the bytes were parsed before.
    pub(crate) fn from_parsed(json: &Json<'_>, bytes: &[u8]) -> Result<Self, SnapshotError> {
        check_size(bytes)?;
        let snapshot = WireSnapshot::read(json).map_err(SnapshotError::Shape)?.check()?;
        let canonical = snapshot.to_canonical()?;
        if canonical != bytes {
            let at = canonical.iter().zip(bytes).take_while(|(a, b)| a == b).count();
            return Err(SnapshotError::NotCanonical { at });
        }
        Ok(snapshot)
    }
}

fn check_size(bytes: &[u8]) -> Result<(), SnapshotError> {
    if bytes.len() > MAX_SNAPSHOT_BYTES {
        return Err(SnapshotError::TooLarge { found: bytes.len() });
    }
    Ok(())
}

impl WireSnapshot {
    fn check(self) -> Result<Snapshot, SnapshotError> {
        if self.v != VERSION {
            return Err(SnapshotError::Version { found: self.v });
        }
        let oracles = self.oracles.into_iter().map(WireOracle::check).collect::<Result<_, _>>()?;
        let state = self.state.check()?;
        let observation = Observation::new(
            self.pool,
            self.chain,
            self.block,
            self.tokens,
            state,
            oracles,
            self.session,
        )?;
        Ok(Snapshot::new(Slot::new(self.slot)?, observation)?)
    }
}

impl From<&Snapshot> for WireSnapshot {
    fn from(snapshot: &Snapshot) -> Self {
        let observation = snapshot.observation();
        Self {
            v: VERSION,
            pool: observation.pool().clone(),
            chain: observation.chain(),
            slot: snapshot.slot().number().into(),
            block: observation.block(),
            tokens: observation.tokens().clone(),
            state: WireState::from(observation.state()),
            oracles: observation.oracles().iter().map(WireOracle::from).collect(),
            session: observation.session().clone(),
        }
    }
}

impl WireState {
    fn check(self) -> Result<PoolState, SnapshotError> {
        Ok(match self {
            Self::ConstantProduct {
                reserves: [reserve0, reserve1],
                fee_numerator,
                fee_denominator,
            } => {
                let reserves = [number("reserves", &reserve0)?, number("reserves", &reserve1)?];
                let fee = FeeRate { numerator: fee_numerator, denominator: fee_denominator };
                PoolState::ConstantProduct(ConstantProduct::new(reserves, fee)?)
            }
            Self::ConcentratedLiquidity {
                sqrt_price_x96,
                tick,
                liquidity,
                fee_pips,
                tick_spacing,
                ticks,
            } => {
                let ticks = ticks
                    .iter()
                    .map(|(tick, net)| {
                        Ok(TickNet { tick: *tick, liquidity_net: number("ticks", net)? })
                    })
                    .collect::<Result<_, SnapshotError>>()?;
                PoolState::Concentrated(Concentrated::new(
                    number("sqrt_price_x96", &sqrt_price_x96)?,
                    tick,
                    number("liquidity", &liquidity)?,
                    fee_pips,
                    tick_spacing,
                    ticks,
                )?)
            }
        })
    }
}

impl From<&PoolState> for WireState {
    fn from(state: &PoolState) -> Self {
        match state {
            PoolState::ConstantProduct(pool) => Self::ConstantProduct {
                reserves: pool.reserves().map(|reserve| reserve.to_string()),
                fee_numerator: pool.fee().numerator,
                fee_denominator: pool.fee().denominator,
            },
            PoolState::Concentrated(pool) => Self::ConcentratedLiquidity {
                sqrt_price_x96: pool.sqrt_price_x96().to_string(),
                tick: pool.tick(),
                liquidity: pool.liquidity().to_string(),
                fee_pips: pool.fee_pips(),
                tick_spacing: pool.tick_spacing(),
                ticks: pool
                    .ticks()
                    .iter()
                    .map(|tick| (tick.tick, tick.liquidity_net.to_string()))
                    .collect(),
            },
        }
    }
}

impl WireOracle {
    fn check(self) -> Result<OracleReading, SnapshotError> {
        Ok(match self {
            Self::Fixed { role, answer, decimals } => OracleReading {
                role,
                answer: number("answer", &answer)?,
                decimals,
                source: OracleSource::Fixed,
            },
            Self::Chainlink { role, answer, decimals, feed, round, updated_at, heartbeat_s } => {
                let round = number("round", &round)?;
                OracleReading {
                    role,
                    answer: number("answer", &answer)?,
                    decimals,
                    source: OracleSource::Chainlink(RoundData {
                        feed,
                        round,
                        updated_at,
                        heartbeat_s,
                    }),
                }
            }
        })
    }
}

impl From<&OracleReading> for WireOracle {
    fn from(reading: &OracleReading) -> Self {
        let (role, answer, decimals) = (reading.role, reading.answer.to_string(), reading.decimals);
        match &reading.source {
            OracleSource::Fixed => Self::Fixed { role, answer, decimals },
            OracleSource::Chainlink(round) => Self::Chainlink {
                role,
                answer,
                decimals,
                feed: round.feed,
                round: round.round.to_string(),
                updated_at: round.updated_at,
                heartbeat_s: round.heartbeat_s,
            },
        }
    }
}

/// An integer type read from its one decimal spelling.
trait Number: core::str::FromStr {}
impl Number for u128 {}
impl Number for i128 {}
impl Number for U256 {}

fn number<N: Number>(field: &'static str, text: &str) -> Result<N, SnapshotError> {
    let wrong = || SnapshotError::Number { field, found: text.chars().take(90).collect() };
    // 2^256 has 78 digits; anything longer is not worth parsing.
    let digits = text.strip_prefix('-').unwrap_or(text);
    let plain = (1..=80).contains(&digits.len()) && digits.bytes().all(|c| c.is_ascii_digit());
    if !plain || (digits.starts_with('0') && text != "0") {
        return Err(wrong());
    }
    text.parse().map_err(|_| wrong())
}

#[cfg(test)]
#[path = "wire_tests.rs"]
mod tests;
