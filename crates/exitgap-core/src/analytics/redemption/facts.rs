//! What a snapshot's facts say of a redemption, in place of what the file of terms would.

use super::{ONE_HUNDRED_PERCENT, Pays, RedemptionTerms};
use crate::U256;
use crate::ids::{Code, Word};
use crate::pools::Direction;
use crate::snapshot::{Fact, Observation};
use crate::units::UsdMicros;
use crate::wide::{U1024, power_of_ten};

/// The most decimals of a fee.
pub(super) const MAX_FEE_DECIMALS: u8 = 36;

/// The names of the facts that terms rest on. The first word of each counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RedemptionFacts {
    /// How much can be redeemed, in the token's smallest units: `maxRedeem` of a vault, what a facility has left.
    pub capacity: Option<Code>,
    /// What those who came before wait for, likewise: the length of a queue.
    pub ahead: Option<Code>,
    /// What is kept of it, as a share, and of how many decimals.
    pub fee: Option<(Code, u8)>,
    /// Whether nobody is paid: any word but zero.
    pub paused: Option<Code>,
}

/// What a fact says of a redemption.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FactSays {
    /// How much can be redeemed.
    Capacity,
    /// What others wait for.
    Ahead,
    /// What is kept.
    Fee,
    /// Whether nobody is paid.
    Paused,
}

impl FactSays {
    /// Its name in answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Capacity => "capacity",
            Self::Ahead => "ahead",
            Self::Fee => "fee",
            Self::Paused => "paused",
        }
    }
}

/// A fact that terms rest on, as a snapshot has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FactUsed {
    /// What it says.
    pub says: FactSays,
    /// The fact.
    pub fact: Fact,
    /// Its first word.
    pub word: U256,
}

/// Why there is no redemption by facts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FactError {
    /// The snapshot has none of the name, or more than one: what it would say is unknown.
    #[error("the snapshot has not one fact {0}")]
    Missing(Code),
    /// A fee of more than everything.
    #[error("the fact {0} is a fee of more than all")]
    Invalid(Code),
    /// It is paused.
    #[error("redeeming is paused, by the fact {0}")]
    Paused(Code),
}

impl RedemptionFacts {
    /// The facts of a snapshot that count, and the terms with what they say: in dollars by its price of the token that is sold.
    pub fn said(
        &self,
        terms: &RedemptionTerms,
        observation: &Observation,
        direction: Direction,
    ) -> (Vec<FactUsed>, Result<RedemptionTerms, FactError>) {
        let mut used = Vec::new();
        let terms = self.replace(terms.clone(), observation, direction.base_index(), &mut used);
        (used, terms)
    }

    fn replace(
        &self,
        mut terms: RedemptionTerms,
        observation: &Observation,
        token: usize,
        used: &mut Vec<FactUsed>,
    ) -> Result<RedemptionTerms, FactError> {
        let mut word = |says: FactSays, name: Code| -> Result<U256, FactError> {
            let mut facts = observation.facts().iter().filter(|fact| fact.name == name);
            let (Some(fact), None) = (facts.next(), facts.next()) else {
                return Err(FactError::Missing(name));
            };
            let first = fact.words.first().ok_or(FactError::Missing(name))?;
            let word = number(first);
            used.push(FactUsed { says, fact: fact.clone(), word });
            Ok(word)
        };
        if let Some(name) = self.paused
            && !word(FactSays::Paused, name)?.is_zero()
        {
            return Err(FactError::Paused(name));
        }
        if let Some(name) = self.capacity {
            let most = word(FactSays::Capacity, name)?;
            terms.capacity = Some(in_usd(most, observation, token, false));
        }
        if let Some(name) = self.ahead
            && let Pays::InTurn { ahead, .. } = &mut terms.pays
        {
            *ahead = in_usd(word(FactSays::Ahead, name)?, observation, token, true);
        }
        if let Some((name, decimals)) = self.fee {
            let share = word(FactSays::Fee, name)?;
            terms.fee_e8 = share_e8(share, decimals).ok_or(FactError::Invalid(name))?;
        }
        Ok(terms)
    }
}

/// A word as a number.
fn number(word: &Word) -> U256 {
    let (digits, _) = word.0.as_chunks::<8>();
    let mut limbs = [0; 4];
    for (limb, digits) in limbs.iter_mut().rev().zip(digits) {
        *limb = u64::from_be_bytes(*digits);
    }
    U256::from_limbs(limbs)
}

/// An amount of a token in dollars by the oracle, rounded down, or up; capped.
fn in_usd(raw: U256, observation: &Observation, token: usize, up: bool) -> UsdMicros {
    let price = observation.prices()[token];
    let decimals = u32::from(observation.tokens()[token].decimals) + price.decimals();
    let micros = U1024::from(raw) * U1024::from(price.numerator()) * power_of_ten(6);
    let below = power_of_ten(decimals);
    UsdMicros(if up { micros.div_ceil(below) } else { micros / below }.saturating_to_u64())
}

/// A share of so many decimals in millionths of a percent, rounded up; `None` above all.
fn share_e8(share: U256, decimals: u8) -> Option<u32> {
    let below = power_of_ten(u32::from(decimals.min(MAX_FEE_DECIMALS)));
    let all = U1024::from(ONE_HUNDRED_PERCENT);
    if U1024::from(share) > below {
        return None;
    }
    u32::try_from((U1024::from(share) * all).div_ceil(below).saturating_to_u64()).ok()
}

#[cfg(test)]
#[path = "facts_tests.rs"]
mod tests;
