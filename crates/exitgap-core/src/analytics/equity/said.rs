//! A tokenized stock's state, read from a snapshot's facts.

use super::{EquityToken, SCHEDULED_WITHIN_S};
use crate::pools::PoolState;
use crate::snapshot::Observation;
use crate::units::Decimal;
use crate::wide::{U256, U1024, power_of_ten};

/// The call data of `balanceOf(address)` up to the address.
const BALANCE_OF: &str = "0x70a08231000000000000000000000000";

/// The latest instant that is reported, seconds UTC: the largest integer that every JSON reader handles exactly.
const LATEST_S: u64 = (1 << 53) - 1;

/// The state of a tokenized stock, as far as a snapshot contains it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EquitySaid {
    /// Its multiplier.
    pub multiplier: Option<U256>,
    /// The pending multiplier.
    pub pending_multiplier: Option<U256>,
    /// When the pending multiplier takes effect, seconds UTC; at most 2⁵³ − 1.
    pub effective_at: Option<u64>,
    /// Whether it is paused.
    pub paused: Option<bool>,
    /// Whether the snapshot has all facts that the configuration names.
    pub is_whole: bool,
}

impl EquitySaid {
    /// Reads the state from a snapshot.
    pub fn from_observation(token: &EquityToken, observation: &Observation) -> Self {
        let facts = token.facts;
        let mut is_whole = true;
        let mut word = |name: Option<_>| {
            let word = observation.fact_number(name?);
            is_whole &= word.is_some();
            word
        };
        let (multiplier, pending) = (word(facts.multiplier), word(facts.pending_multiplier));
        let (effective_at, paused) = (word(facts.effective_at), word(facts.paused));
        Self {
            multiplier,
            pending_multiplier: pending,
            effective_at: effective_at.map(|at| at.saturating_to::<u64>().min(LATEST_S)),
            paused: paused.map(|word| !word.is_zero()),
            is_whole,
        }
    }

    /// When the multiplier changes, seconds UTC, if that is after `at`. A pending multiplier that is zero or equals the
    /// current one changes nothing.
    pub fn due(&self, at: u64) -> Option<u64> {
        let changes =
            self.pending_multiplier.is_none_or(|to| !to.is_zero() && Some(to) != self.multiplier);
        self.effective_at.filter(|due| *due > at && changes)
    }

    /// Whether the token is paused, or its multiplier changes within a day.
    pub fn is_action(&self, at: u64) -> bool {
        let soon = |due: u64| due - at <= SCHEDULED_WITHIN_S;
        self.paused == Some(true) || self.due(at).is_some_and(soon)
    }

    /// The USD price of one share as wallets show it: the oracle price for a rebasing token, otherwise the oracle price
    /// divided by the multiplier. For display only. `None` if the multiplier is missing or zero.
    pub fn ui_price(
        &self,
        token: &EquityToken,
        observation: &Observation,
        at: usize,
    ) -> Option<Decimal> {
        let price = observation.prices()[at];
        if token.kind.rebases() {
            return Some(price.to_decimal());
        }
        let multiplier = self.multiplier.filter(|word| !word.is_zero())?;
        // The bounds are 2^480 and 2^376.
        let above = U1024::from(price.numerator()) * power_of_ten(token.multiplier_decimals.into());
        let below = power_of_ten(price.decimals()) * U1024::from(multiplier);
        Some(Decimal::of_ratio(above, below))
    }
}

/// The balance of one of a pool's tokens in the pool's own contract, if a fact of the snapshot is exactly that call.
pub(super) fn balance(observation: &Observation, token: usize) -> Option<U256> {
    let pool = observation.pool().contract().address()?.to_string();
    let call = [BALANCE_OF, pool.strip_prefix("0x")?].concat();
    let contract = observation.tokens()[token].address;
    let asked =
        observation.facts().iter().find(|fact| fact.contract == contract && fact.call == call);
    asked?.number()
}

/// Whether a pool's state is known to include every change of its balance of a token.
pub(super) fn has_noticed(observation: &Observation, token: usize, balance: Option<U256>) -> bool {
    match observation.state() {
        PoolState::ConstantProduct(pair) => balance == Some(U256::from(pair.reserves()[token])),
        _ => false,
    }
}
