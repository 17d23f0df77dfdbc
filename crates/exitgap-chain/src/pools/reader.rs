//! The traits that define how a kind of pool is read. Each kind's folder implements [`PoolReader`], and [`PartReader`]
//! if parts of its state are remembered from slot to slot.

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

/// How the pools of one kind are read. A value holds the constant properties of one pool.
pub(crate) trait PoolReader: Sized + Into<Reader> {
    /// The calls that show whether a pool is of this kind; empty if its plan alone rules that out. Calls that several
    /// kinds need are made once.
    fn probes(plan: &PoolPlan, factories: &[Factory]) -> Vec<Probe>;

    /// The conclusion from the answers to these calls.
    fn identify(candidate: &Candidate<'_>, answers: &[Answer]) -> Claim<Self>;

    /// Further calls, to contracts that those answers name, before the pool is known to be of this kind; empty if none
    /// are needed.
    fn further(&self) -> Vec<Call> {
        Vec::new()
    }

    /// The recognised pool with its tokens, according to those answers; or why it is refused.
    fn confirm_registration(
        self,
        _plan: &PoolPlan,
        _answers: &[Answer],
    ) -> Result<(Self, Vec<Address>), String> {
        Err("it was not queried".to_owned())
    }

    /// A short description.
    fn name(&self) -> &'static str;

    /// The calls that read the values that change with every swap, and the parameters that an owner can change.
    fn state_calls(&self) -> Vec<Call>;

    /// Decodes the answers to these calls, in a block with this timestamp.
    fn decode(
        &self,
        pool: &PoolId,
        at: u64,
        answers: &[Answer],
    ) -> Result<DecodedState, ReadFailure>;

    /// The reader of those parts of the state that only events change and that are remembered from slot to slot; `None`
    /// if the calls above read the whole state.
    fn part_reader(&self) -> Option<&dyn PartReader> {
        None
    }

    /// The remembered parts of a recorded state; `None` if the state is of another kind, or has no such parts.
    fn parts_of(_state: &PoolState) -> Option<Parts> {
        None
    }

    /// The facts for snapshots that are known from the identification.
    fn facts(&self) -> Vec<Fact> {
        Vec::new()
    }

    /// The number of directions in which one request can try what the contract pays.
    const TRIED_AT_ONCE: usize;

    /// The contract with the swap function.
    fn swapped_by(&self) -> Address;

    /// The calls of the contract's own swap that show whether it pays the computed amount.
    fn trial_calls(&self, sale: &Sale) -> Vec<Vec<u8>>;

    /// Whether the trial moves tokens, which are then replaced with our ledger contracts. If it does not, the tokens
    /// stay unchanged, including the rates that they report.
    const MOVES_TOKENS: bool = true;

    /// The pool's balance of the token with this index during the trial; `None` if the contract does not check it.
    fn trial_balance(&self, _pool: &Observation, _sale: &Sale, _token: usize) -> Option<U256> {
        None
    }

    /// Judges the outcomes of these calls for the pool as it was read.
    fn judge(&self, pool: &Observation, sale: &Sale, outcomes: &[Outcome]) -> Verdict;
}

/// How to read the parts of a state that only events change. The caller decides when.
pub(crate) trait PartReader: Sync {
    /// The logs that name changed parts.
    fn watch(&self) -> Watch;

    /// The parts that such a log names.
    fn named_by(&self, log: &Log) -> Result<Vec<i32>, RpcError>;

    /// The calls that read these parts.
    fn part_calls(&self, parts: &[i32]) -> Vec<Call>;

    /// Decodes the answers to these calls; `None` for a part that does not exist.
    fn decode_parts(
        &self,
        pool: &PoolId,
        parts: &[i32],
        answers: &[Answer],
    ) -> Result<Vec<(i32, Option<Part>)>, ReadFailure>;

    /// The calls that list the existing parts.
    fn index_calls(&self) -> Vec<Call>;

    /// Decodes the answers to these calls: the existing parts, ascending.
    fn decode_index(&self, pool: &PoolId, answers: &[Answer]) -> Result<Vec<i32>, ReadFailure>;
}

/// A part of a state in its kind's packing: a tick's gross and net liquidity.
pub(crate) type Part = U256;

/// All remembered parts of a state, by the number that identifies them: a tick's index.
pub(crate) type Parts = BTreeMap<i32, Part>;

/// Logs that name parts of a pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Watch {
    /// The emitter of the logs.
    pub(crate) emitter: Address,
    /// The possible values of their first topic.
    pub(crate) events: Vec<B256>,
    /// Their second topic, if one emitter manages many pools.
    pub(crate) id: Option<Word>,
}

/// A call that helps to distinguish kinds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Probe {
    /// Its name, for messages.
    pub(crate) name: &'static str,
    pub(crate) call: Call,
}

impl Probe {
    /// A call whose answer has `words` words of 32 bytes.
    pub(crate) fn new(
        name: &'static str,
        target: Address,
        call: &impl SolCall,
        words: usize,
    ) -> Self {
        Self { name, call: Call::new(target, call, words) }
    }
}

/// A contract that may be a pool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Candidate<'a> {
    pub(crate) plan: &'a PoolPlan,
    /// The known factories on its chain.
    pub(crate) factories: &'a [Factory],
}

/// Whether a contract is of a kind, according to its answers.
#[derive(Debug)]
pub(crate) enum Claim<K> {
    /// It answers none of the calls that only this kind answers.
    Foreign,
    /// It answers some of them, so it is not certain to be of another kind.
    Partly,
    /// It is of this kind.
    Is(RecognisedPool<K>),
    /// It is of this kind or a similar one, and cannot be read for this reason.
    Refused(String),
}

/// A contract as recognised by its own answers.
#[derive(Debug)]
pub(crate) struct RecognisedPool<K> {
    pub(crate) reader: K,
    /// The tokens that it reports, in its order; empty if [`PoolReader::further`] is needed.
    pub(crate) tokens: Vec<Address>,
    /// If present, this call must return the pool's own address. It asks the factory whether the pool is its own,
    /// because any contract can claim any factory.
    pub(crate) proof: Option<Call>,
}

/// The decoded answers to a pool's state calls.
pub(crate) enum DecodedState {
    /// The whole state.
    Whole(PoolState),
    /// The state without its parts.
    Unfinished(Box<dyn PartialState>),
}

/// A state that lacks only its parts.
pub(crate) trait PartialState: Send + Sync {
    /// Combines it with its parts, and checks all invariants between them.
    fn join(&self, parts: &Parts) -> Result<PoolState, StateJoinError>;
}

/// Why the values are not a valid state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StateJoinError {
    pub(crate) detail: String,
    /// Whether reading the parts again may solve it.
    pub(crate) about_parts: bool,
}

/// A call's data.
pub(crate) fn data_of(call: &impl SolCall) -> Vec<u8> {
    call.abi_encode()
}
