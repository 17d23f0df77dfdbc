//! A pool at a block, and the snapshot of a slot.

use serde::{Deserialize, Serialize};

use super::error::ObservationError;
use super::fact::{Fact, check_facts};
use super::oracle::{OracleReading, OracleRole, OracleSource};
use super::session::TokenSession;
use super::token::{Symbol, Token};
use crate::ids::{BlockHash, Caip2, Code, Pair, PoolId};
use crate::pools::{Direction, PoolState};
use crate::series::Slot;
use crate::stable_sort::sort;
use crate::units::UsdPrice;
use crate::wide::U256;

/// Whether figures from a chain are final or a preview.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChainKind {
    /// A known chain with its known genesis.
    Live,
    /// Also live: a chain that this version does not know, with the hash of its block 0 configured by the operator.
    /// Readers who know the hash know the network.
    Configured(BlockHash),
    /// Every other chain, and every development chain. Every figure states this.
    Preview,
}

impl ChainKind {
    /// `live` or `preview`.
    pub fn code(self) -> &'static str {
        match self {
            Self::Live | Self::Configured(_) => "live",
            Self::Preview => "preview",
        }
    }

    /// Whether figures from it count as live.
    pub fn is_live(self) -> bool {
        self != Self::Preview
    }

    /// The hash of block 0 that the operator configured, if that makes the chain live.
    pub fn configured_genesis(self) -> Option<BlockHash> {
        match self {
            Self::Configured(genesis) => Some(genesis),
            Self::Live | Self::Preview => None,
        }
    }
}

/// The chain an observation was made on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChainTag {
    /// The chain's CAIP-2 id.
    pub caip2: Caip2,
    /// Live or preview.
    pub kind: ChainKind,
}

/// A block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlockRef {
    /// Its hash.
    pub hash: BlockHash,
    /// Its number.
    pub number: u64,
    /// Its timestamp, seconds UTC.
    pub timestamp: u64,
}

/// A pool at a block: everything that an exact quote and its gap need.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observation {
    pool: PoolId,
    chain: ChainTag,
    block: BlockRef,
    pair: Pair,
    /// The contract's tokens, in its order.
    contract_tokens: Vec<Token>,
    tokens: [Token; 2],
    state: PoolState,
    oracles: Vec<OracleReading>,
    facts: Vec<Fact>,
    pub(super) sessions: Vec<TokenSession>,
    prices: [UsdPrice; 2],
}

impl Observation {
    /// Validates and combines what was read of `pool` at `block`: all tokens of its contract and their readings, also
    /// those outside the pool's pair. The readings are put into canonical order: by token, fixed prices first, then by
    /// feed. No token has a calendar yet: see [`Observation::with_sessions`].
    pub fn new(
        pool: PoolId,
        chain: ChainTag,
        block: BlockRef,
        tokens: impl Into<Vec<Token>>,
        state: PoolState,
        mut oracles: Vec<OracleReading>,
        facts: Vec<Fact>,
    ) -> Result<Self, ObservationError> {
        const EXACT_IN_JSON: u64 = 1 << 53;
        let BlockRef { number, timestamp, .. } = block;
        if number >= EXACT_IN_JSON || timestamp >= EXACT_IN_JSON {
            return Err(ObservationError::BlockOutOfRange { number, timestamp });
        }
        let contract_tokens = tokens.into();
        check_tokens(&state, &contract_tokens)?;
        let pair = pool.tokens_of(contract_tokens.len());
        let (pair, state) =
            pair.and_then(|pair| Some((pair, state.of_pair(pair)?))).ok_or_else(|| {
                ObservationError::Pool { pool: pool.clone(), tokens: contract_tokens.len() }
            })?;
        check_facts(&facts)?;
        check_oracles(chain.kind, timestamp, contract_tokens.len(), &oracles)?;
        sort(&mut oracles, |a, b| a.order().cmp(&b.order()));
        let [token0, token1] = pair.indices();
        let prices = [price(&oracles, token0)?, price(&oracles, token1)?];
        let tokens = [token0, token1].map(|index| contract_tokens[index].clone());
        Ok(Self {
            pool,
            chain,
            block,
            pair,
            contract_tokens,
            tokens,
            state,
            oracles,
            facts,
            sessions: Vec::new(),
            prices,
        })
    }

    /// The observed pool.
    pub fn pool(&self) -> &PoolId {
        &self.pool
    }

    /// The pool's chain.
    pub fn chain(&self) -> ChainTag {
        self.chain
    }

    /// The block of the observation.
    pub fn block(&self) -> BlockRef {
        self.block
    }

    /// Token 0 and token 1.
    pub fn tokens(&self) -> &[Token; 2] {
        &self.tokens
    }

    /// The direction that sells `base`: `token0`, `token1`, a symbol or an address, in any case. A symbol that both
    /// tokens have is ambiguous and refused.
    pub fn direction_of(&self, base: &str) -> Result<Direction, BaseError> {
        let by_index = ["token0", "token1"].iter().position(|name| base.eq_ignore_ascii_case(name));
        let by_address = self
            .tokens
            .iter()
            .position(|token| base.eq_ignore_ascii_case(&token.address.to_string()));
        let named = |index: usize| self.tokens[index].symbol.as_str().eq_ignore_ascii_case(base);
        let index = match (by_index.or(by_address), named(0), named(1)) {
            (Some(index), ..) => index,
            (None, true, false) => 0,
            (None, false, true) => 1,
            (None, both, _) => {
                let base = base.chars().take(BaseError::SHOWN).collect();
                let symbols = self.tokens.each_ref().map(|token| token.symbol.clone());
                return Err(BaseError { base, both, symbols });
            }
        };
        Ok(Direction::BOTH[index])
    }

    /// The pool's swap-relevant state.
    pub fn state(&self) -> &PoolState {
        &self.state
    }

    /// The pool's pair among its contract's tokens.
    pub fn pair(&self) -> Pair {
        self.pair
    }

    /// All tokens of the pool's contract, in its order.
    pub fn contract_tokens(&self) -> &[Token] {
        &self.contract_tokens
    }

    /// All oracle readings of the contract's tokens, and of the chain's sequencer.
    pub fn oracles(&self) -> &[OracleReading] {
        &self.oracles
    }

    /// The readings that the pool's figures use: for its own two tokens, numbered 0 and 1 here, and for the sequencer.
    pub fn pool_oracles(&self) -> Vec<(OracleRole, &OracleReading)> {
        let [token0, token1] = self.pair.bytes();
        let mut found = Vec::with_capacity(self.oracles.len());
        for reading in &self.oracles {
            let role = match reading.role {
                OracleRole::TokenUsd(token) if token == token0 => OracleRole::TokenUsd(0),
                OracleRole::TokenUsd(token) if token == token1 => OracleRole::TokenUsd(1),
                OracleRole::TokenUsd(_) => continue,
                OracleRole::SequencerUptime => reading.role,
            };
            found.push((role, reading));
        }
        found
    }

    /// The fact with this name; `None` if there is none, or more than one, which would be ambiguous.
    pub fn fact(&self, name: Code) -> Option<&Fact> {
        let mut facts = self.facts.iter().filter(|fact| fact.name == name);
        facts.next().filter(|_| facts.next().is_none())
    }

    /// The number in that fact's first word.
    pub fn fact_number(&self, name: Code) -> Option<U256> {
        self.fact(name)?.number()
    }

    /// The facts, which fills do not depend on.
    pub fn facts(&self) -> &[Fact] {
        &self.facts
    }

    /// The pool's tokens that take a fee on transfer ([`Fact::TOKEN_TAXED`]): a holder or the pool then receives less
    /// of them than the fill states.
    pub fn taxed_tokens(&self) -> impl Iterator<Item = &Token> {
        let is_taxed = |token: &Token| {
            let of_token = |fact: &Fact| {
                fact.name.as_str() == Fact::TOKEN_TAXED && fact.contract == token.address
            };
            self.facts.iter().any(of_token)
        };
        self.tokens().iter().filter(move |token| is_taxed(token))
    }

    /// USD per whole token 0 and per whole token 1.
    pub fn prices(&self) -> &[UsdPrice; 2] {
        &self.prices
    }

    /// Whether any reading that the pool's figures use is older than its heartbeat, or the chain's sequencer is down or
    /// has only just come back.
    pub fn oracle_stale(&self) -> bool {
        self.pool_oracles().iter().any(|(_, reading)| reading.is_stale(self.block.timestamp))
    }
}

/// Why a text does not name a token of the pool.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("base {base:?} {}", if *both { "names both tokens" } else { "is neither token of the pool" })]
pub struct BaseError {
    /// The text, cut to 80 characters.
    pub base: String,
    /// Whether it names both tokens.
    pub both: bool,
    /// The symbols of token 0 and token 1.
    pub symbols: [Symbol; 2],
}

impl BaseError {
    const SHOWN: usize = 80;
}

/// Checks the contract's tokens against its state.
fn check_tokens(state: &PoolState, tokens: &[Token]) -> Result<(), ObservationError> {
    if state.coins() != tokens.len() {
        return Err(ObservationError::Tokens("its state has a different number of tokens"));
    }
    let sorts = state.sorts_tokens();
    for (index, second) in tokens.iter().enumerate() {
        for Token { address: first, .. } in &tokens[..index] {
            let (first, second) = (*first, second.address);
            if first == second || sorts && first > second {
                return Err(ObservationError::TokensOutOfOrder { first, second });
            }
        }
    }
    check_decimals(tokens)?;
    let mut told = state.decimals().iter().zip(tokens);
    let same = told.all(|(told, token)| *told == token.decimals);
    if same { Ok(()) } else { Err(ObservationError::Tokens("its state has different decimals")) }
}

pub(super) fn check_decimals(tokens: &[Token]) -> Result<(), ObservationError> {
    match tokens.iter().find(|token| token.decimals > Token::MAX_DECIMALS) {
        Some(Token { address, decimals, .. }) => {
            Err(ObservationError::TooManyDecimals { token: *address, found: *decimals })
        }
        None => Ok(()),
    }
}

pub(super) fn check_oracles(
    kind: ChainKind,
    block_timestamp: u64,
    tokens: usize,
    oracles: &[OracleReading],
) -> Result<(), ObservationError> {
    let mut sequencers = 0;
    for reading in oracles {
        match reading.role.token() {
            Some(token) if token >= tokens => {
                return Err(ObservationError::Tokens(
                    "an oracle reading is not for one of its tokens",
                ));
            }
            Some(_) => {}
            None => sequencers += 1,
        }
        if sequencers > 1 {
            return Err(ObservationError::SequencerUptime);
        }
        reading.check(kind, block_timestamp)?;
    }
    Ok(())
}

impl OracleReading {
    /// Requires that an observation on such a chain, at a block with this timestamp, can contain the reading.
    pub fn check(&self, kind: ChainKind, block_timestamp: u64) -> Result<(), ObservationError> {
        if let Some(token) = self.role.token() {
            let answer = (self.answer, u32::from(self.decimals));
            UsdPrice::product(&[answer])
                .map_err(|error| ObservationError::Price { token, error })?;
        } else {
            let says = self.decimals == 0 && self.answer <= U256::ONE;
            if !says || self.source == OracleSource::Fixed {
                return Err(ObservationError::SequencerUptime);
            }
        }
        match &self.source {
            OracleSource::Fixed if kind.is_live() => Err(ObservationError::FixedPriceOnLiveChain),
            OracleSource::Fixed => Ok(()),
            OracleSource::Chainlink(round) => {
                let (feed, updated_at) = (round.feed, round.updated_at);
                if updated_at == 0 || updated_at > block_timestamp {
                    let time = ObservationError::OracleTime { feed, updated_at, block_timestamp };
                    return Err(time);
                }
                if round.round >> 80 != 0 {
                    return Err(ObservationError::OracleRound { feed });
                }
                Ok(())
            }
        }
    }
}

fn price(oracles: &[OracleReading], token: usize) -> Result<UsdPrice, ObservationError> {
    let answers: Vec<(U256, u32)> = oracles
        .iter()
        .filter(|reading| reading.role.token() == Some(token))
        .map(|reading| (reading.answer, u32::from(reading.decimals)))
        .collect();
    UsdPrice::product(&answers).map_err(|error| ObservationError::Price { token, error })
}

/// The observation that the block rule assigns to a slot: the pool at the last
/// block whose timestamp is at or before the slot's instant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    slot: Slot,
    observation: Observation,
}

impl Snapshot {
    /// If a block is older than this at its slot, the chain had stopped.
    pub const MAX_BLOCK_AGE_S: u64 = 600;

    /// Assigns an observation to a slot. The reader of the chain must make sure that there is no later block up to the
    /// slot's instant.
    pub fn new(slot: Slot, observation: Observation) -> Result<Self, ObservationError> {
        check_block(slot, observation.block)?;
        Ok(Self { slot, observation })
    }

    /// The slot.
    pub fn slot(&self) -> Slot {
        self.slot
    }

    /// The pool at the slot's block.
    pub fn observation(&self) -> &Observation {
        &self.observation
    }
}

/// The part of the slot rule that can be checked from a snapshot alone.
pub(super) fn check_block(slot: Slot, block: BlockRef) -> Result<(), ObservationError> {
    let BlockRef { number, timestamp, .. } = block;
    let Some(age_s) = slot.unix_s().checked_sub(timestamp) else {
        return Err(ObservationError::BlockAfterSlot { number, timestamp, slot });
    };
    if age_s > Snapshot::MAX_BLOCK_AGE_S {
        return Err(ObservationError::ChainStalled { number, age_s, slot });
    }
    Ok(())
}
