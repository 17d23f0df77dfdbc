//! What every kind of pool says of how it is read; its folder implements [`PoolReader`].

use alloy::sol_types::SolCall;
use exitgap_core::U256;
use exitgap_core::ids::Address;
use exitgap_core::pools::PoolState;
use exitgap_core::snapshot::Observation;

use super::concentrated::{Price, TickedReader};
use super::kinds::Reader;
use crate::abi::{Answer, Call};
use crate::config::{Factory, PoolPlan};
use crate::missing::Missing;
use crate::trial::{Outcome, Sale, Verdict};

/// How the pools of one kind are read. The value is what was learnt of one contract and never
/// changes.
pub(crate) trait PoolReader: Sized + Into<Reader> {
    /// The questions that tell whether a contract is of this kind, by name for messages.
    const PROBES: &'static [&'static str];

    /// The calls that ask them, in their order.
    fn probes(pool: Address) -> Vec<Call>;

    /// What the answers to them say.
    fn identify(candidate: &Candidate<'_>, answers: &[Answer]) -> Claim<Self>;

    /// What it is, in a few words.
    fn name(&self) -> &'static str;

    /// The calls that read what changes with every swap, and every parameter that an owner may
    /// change.
    fn state_calls(&self, pool: Address) -> Vec<Call>;

    /// What the answers to them say.
    fn decode(&self, pool: Address, answers: &[Answer]) -> Result<Reading, Missing>;

    /// How its ticks are read, followed by events and remembered from slot to slot; `None` where
    /// nothing is, because the calls above read all there is.
    fn ticks(&self) -> Option<&TickedReader> {
        None
    }

    /// In how many directions it can be tried within one request what its contract pays.
    const TRIED_AT_ONCE: usize;

    /// The calls of the contract's own swap that show whether it pays what core says.
    fn trial_calls(&self, sale: &Sale) -> Vec<Vec<u8>>;

    /// What the token of this index must seem to hold of the pool's during the trial; `None`:
    /// the contract does not look.
    fn trial_balance(&self, _pool: &Observation, _sale: &Sale, _token: usize) -> Option<U256> {
        None
    }

    /// What the outcomes of those calls show.
    fn judge(&self, sale: &Sale, outcomes: &[Outcome]) -> Verdict;
}

/// A contract that may be a pool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Candidate<'a> {
    pub(crate) plan: &'a PoolPlan,
    /// The factories whose pools are known on its chain.
    pub(crate) factories: &'a [Factory],
    /// The tokens it says it holds.
    pub(crate) tokens: [Address; 2],
    /// The factory it says it is of.
    pub(crate) factory: Address,
}

/// Whether a contract is of a kind, by what it answers.
#[derive(Debug)]
pub(crate) enum Claim<K> {
    /// It answers none of what only this kind answers.
    Foreign,
    /// It answers some of it: it is not surely of another kind either.
    Partly,
    /// It is of this kind. Where there is a proof, that call must answer the pool's own address: its
    /// factory is asked whether the pool is its, because any contract can name any factory.
    Is { reader: K, proof: Option<Call> },
    /// It is of this kind or one much like it, and cannot be read: why.
    Refused(String),
}

/// What a pool answered to its state calls.
pub(crate) enum Reading {
    /// The whole state.
    Whole(PoolState),
    /// All of it but the ticks.
    Ticked(Price),
}

/// The data of a call.
pub(crate) fn data_of(call: &impl SolCall) -> Vec<u8> {
    call.abi_encode()
}
