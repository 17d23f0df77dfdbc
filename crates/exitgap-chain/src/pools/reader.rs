//! What every kind of pool says of how it is read; its folder implements [`PoolReader`], and
//! [`PartReader`] where parts of its state are remembered from slot to slot.

use std::collections::BTreeMap;

use alloy::primitives::B256;
use alloy::sol_types::SolCall;
use alloy_rpc_types_eth::Log;
use exitgap_core::U256;
use exitgap_core::ids::{Address, PoolId, Word};
use exitgap_core::pools::PoolState;
use exitgap_core::snapshot::{Fact, Observation};

use super::kinds::Reader;
use crate::abi::{Answer, Call};
use crate::config::{Factory, PoolPlan};
use crate::read_failure::ReadFailure;
use crate::rpc::RpcError;
use crate::trial::{Outcome, Sale, Verdict};

/// How the pools of one kind are read. The value is what was learnt of one pool and never changes.
pub(crate) trait PoolReader: Sized + Into<Reader> {
    /// The questions that tell whether a pool is of this kind; none where its plan alone says that
    /// it is not. A question that several kinds have is asked once.
    fn probes(plan: &PoolPlan, factories: &[Factory]) -> Vec<Probe>;

    /// What the answers to them say.
    fn identify(candidate: &Candidate<'_>, answers: &[Answer]) -> Claim<Self>;

    /// What is asked further, of whoever those answers name, before it is surely of this kind;
    /// nothing where they say all.
    fn further(&self) -> Vec<Call> {
        Vec::new()
    }

    /// What it is by the answers to that, and its tokens; or why it is refused.
    fn confirm_registration(
        self,
        _plan: &PoolPlan,
        _answers: &[Answer],
    ) -> Result<(Self, Vec<Address>), String> {
        Err("it was not queried".to_owned())
    }

    /// What it is, in a few words.
    fn name(&self) -> &'static str;

    /// The calls that read what changes with every swap, and every parameter that an owner may
    /// change.
    fn state_calls(&self) -> Vec<Call>;

    /// What the answers to them say in a block of this time.
    fn decode(
        &self,
        pool: &PoolId,
        at: u64,
        answers: &[Answer],
    ) -> Result<DecodedState, ReadFailure>;

    /// What of its state only its events change, and is therefore remembered from slot to slot;
    /// `None` where nothing is, because the calls above read all there is.
    fn part_reader(&self) -> Option<&dyn PartReader> {
        None
    }

    /// The remembered parts of a state that was recorded; `None` where it is not of this kind, or
    /// nothing of it is remembered.
    fn parts_of(_state: &PoolState) -> Option<Parts> {
        None
    }

    /// What a snapshot says beside the state, known since it was identified.
    fn facts(&self) -> Vec<Fact> {
        Vec::new()
    }

    /// In how many directions it can be tried within one request what its contract pays.
    const TRIED_AT_ONCE: usize;

    /// The contract whose function swaps.
    fn swapped_by(&self) -> Address;

    /// The calls of the contract's own swap that show whether it pays what core says.
    fn trial_calls(&self, sale: &Sale) -> Vec<Vec<u8>>;

    /// Whether the trial moves tokens, which are then ledgers of ours. Where it does not, they and
    /// all that stands on them, as what they say of their own worth, answer for themselves.
    const MOVES_TOKENS: bool = true;

    /// What the token of this index must seem to hold of the pool's during the trial; `None`:
    /// the contract does not look.
    fn trial_balance(&self, _pool: &Observation, _sale: &Sale, _token: usize) -> Option<U256> {
        None
    }

    /// What the outcomes of those calls show of the pool as it was read.
    fn judge(&self, pool: &Observation, sale: &Sale, outcomes: &[Outcome]) -> Verdict;
}

/// How the parts of a state are read that only events change. When they are is not for a kind to
/// say.
pub(crate) trait PartReader: Sync {
    /// Which logs name the parts that changed.
    fn watch(&self) -> Watch;

    /// The parts that one of these logs names.
    fn named_by(&self, log: &Log) -> Result<Vec<i32>, RpcError>;

    /// The calls that read these parts.
    fn part_calls(&self, parts: &[i32]) -> Vec<Call>;

    /// What the answers to them say; `None` of a part that is not there.
    fn decode_parts(
        &self,
        pool: &PoolId,
        parts: &[i32],
        answers: &[Answer],
    ) -> Result<Vec<(i32, Option<Part>)>, ReadFailure>;

    /// The calls that find out which parts there are.
    fn index_calls(&self) -> Vec<Call>;

    /// What the answers to them say: the parts there are, ascending.
    fn decode_index(&self, pool: &PoolId, answers: &[Answer]) -> Result<Vec<i32>, ReadFailure>;
}

/// A part of a state, as its kind packs it: a tick's gross and net liquidity.
pub(crate) type Part = U256;

/// All parts of a state that are remembered, by the number that the kind tells them apart by: a
/// tick's index.
pub(crate) type Parts = BTreeMap<i32, Part>;

/// Logs that name parts of a pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Watch {
    /// Who emits them.
    pub(crate) emitter: Address,
    /// Their first topic is one of these.
    pub(crate) events: Vec<B256>,
    /// Their second topic, where one emitter manages many pools.
    pub(crate) id: Option<Word>,
}

/// A question that tells kinds apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Probe {
    /// Its name, for messages.
    pub(crate) name: &'static str,
    pub(crate) call: Call,
}

impl Probe {
    /// A question whose answer has `words` words of 32 bytes.
    pub(crate) fn new(
        name: &'static str,
        target: Address,
        call: &impl SolCall,
        words: usize,
    ) -> Self {
        Self { name, call: Call::new(target, call, words) }
    }
}

/// What may be a pool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Candidate<'a> {
    pub(crate) plan: &'a PoolPlan,
    /// The factories whose pools are known on its chain.
    pub(crate) factories: &'a [Factory],
}

/// Whether a contract is of a kind, by what it answers.
#[derive(Debug)]
pub(crate) enum Claim<K> {
    /// It answers none of what only this kind answers.
    Foreign,
    /// It answers some of it: it is not surely of another kind either.
    Partly,
    /// It is of this kind.
    Is(RecognisedPool<K>),
    /// It is of this kind or one much like it, and cannot be read: why.
    Refused(String),
}

/// What a contract is by its own answers.
#[derive(Debug)]
pub(crate) struct RecognisedPool<K> {
    pub(crate) reader: K,
    /// The tokens it says it holds, in its order; none where it is asked [`PoolReader::further`].
    pub(crate) tokens: Vec<Address>,
    /// Where there is one, this call must answer the pool's own address: its factory is asked
    /// whether the pool is its, because any contract can name any factory.
    pub(crate) proof: Option<Call>,
}

/// What a pool answered to its state calls.
pub(crate) enum DecodedState {
    /// The whole state.
    Whole(PoolState),
    /// All of it but its parts.
    Unfinished(Box<dyn PartialState>),
}

/// A state that lacks only its parts.
pub(crate) trait PartialState: Send + Sync {
    /// Joins it and its parts; every invariant between them is checked.
    fn join(&self, parts: &Parts) -> Result<PoolState, StateJoinError>;
}

/// Why what was read is no state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StateJoinError {
    pub(crate) detail: String,
    /// Whether other parts may mend it.
    pub(crate) about_parts: bool,
}

/// The data of a call.
pub(crate) fn data_of(call: &impl SolCall) -> Vec<u8> {
    call.abi_encode()
}
