//! Takes the answers to the calls that read a pool's state, one after the other.

use alloy::sol_types::SolCall;
use exitgap_core::U256;
use exitgap_core::ids::PoolId;
use exitgap_core::series::MissingReason;

use super::call_failure;
use crate::abi::Answer;
use crate::read_failure::ReadFailure;

/// The remaining answers for a pool.
pub(super) struct AnswerCursor<'a> {
    pool: &'a PoolId,
    answers: core::slice::Iter<'a, Answer>,
}

impl<'a> AnswerCursor<'a> {
    /// All answers, in the order of the calls.
    pub(super) fn new(pool: &'a PoolId, answers: &'a [Answer]) -> Self {
        Self { pool, answers: answers.iter() }
    }

    /// The pool that is being read.
    pub(super) fn pool(&self) -> &'a PoolId {
        self.pool
    }

    /// The next answer of any kind. A missing answer counts as reverted.
    pub(super) fn answer(&mut self) -> &'a Answer {
        self.answers.next().unwrap_or(&Answer::Reverted)
    }

    /// The next answer, with this many words.
    pub(super) fn next<C: SolCall>(
        &mut self,
        call: &str,
        words: usize,
    ) -> Result<C::Return, ReadFailure> {
        let answer = self.answer();
        answer.exact::<C>(words).ok_or_else(|| call_failure(self.pool, call, answer))
    }

    /// The next answer, a list with one entry per token.
    pub(super) fn list<C: SolCall<Return = Vec<U256>>>(
        &mut self,
        call: &str,
        tokens: usize,
    ) -> Result<Vec<U256>, ReadFailure> {
        let told = self.next::<C>(call, 2 + tokens)?;
        self.of_each(call, told, tokens)
    }

    /// Requires that a list has one entry per token.
    pub(super) fn of_each<T>(
        &self,
        call: &str,
        told: Vec<T>,
        tokens: usize,
    ) -> Result<Vec<T>, ReadFailure> {
        if told.len() == tokens {
            return Ok(told);
        }
        let what = format!("{call} returned {} of {tokens} tokens", told.len());
        Err(inconsistent(self.pool, what))
    }

    /// The next answer, a number of 64 bits.
    pub(super) fn small<C: SolCall<Return = U256>>(
        &mut self,
        call: &str,
    ) -> Result<u64, ReadFailure> {
        let found = self.next::<C>(call, 1)?;
        u64::try_from(found)
            .map_err(|_| inconsistent(self.pool, format!("{call} returned {found}")))
    }
}

/// The failure for a pool whose values contradict each other.
pub(super) fn inconsistent(pool: &PoolId, what: impl core::fmt::Display) -> ReadFailure {
    ReadFailure::new(MissingReason::StateInconsistent, format!("pool {pool}: {what}"))
}

/// The failure for a pool of a supported kind that cannot be read now. The reason begins with its code.
pub(super) fn refuse_pool(pool: &PoolId, why: impl core::fmt::Display) -> ReadFailure {
    ReadFailure::new(MissingReason::PoolUnsupported, format!("pool {pool}: {why}"))
}
