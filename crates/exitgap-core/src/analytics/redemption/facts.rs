//! What a snapshot's facts say of a redemption, in place of what the file of terms would.

use super::{ONE_HUNDRED_PERCENT, Pace, Pays, RedemptionTerms, Worth};
use crate::U256;
use crate::ids::{Address, Code};
use crate::pools::Direction;
use crate::snapshot::{Fact, Observation};
use crate::units::{UsdMicros, UsdPrice};
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
    /// What one whole token pays, in the smallest units of the asset: `convertToAssets` or `previewRedeem` of a vault.
    pub nav: Option<Code>,
    /// How much can be redeemed, in the smallest units of the asset: what a vault holds of it.
    pub capacity_asset: Option<Code>,
    /// What the asset is, where either is named.
    pub asset: Option<RedemptionAsset>,
    /// Whether the pace of the queue is that of its recorded lengths.
    pub recorded_pace: bool,
}

/// What a redemption pays in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RedemptionAsset {
    /// A token of the pool, at the snapshot's price of it.
    Token(Address),
    /// Another, at a price that the terms give.
    Priced {
        /// Its decimals.
        decimals: u8,
        /// Its price.
        usd: UsdMicros,
    },
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
    /// What one whole token pays, in the asset.
    Nav,
    /// How much can be redeemed, in the asset.
    CapacityAsset,
}

impl FactSays {
    /// Its name in answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Capacity => "capacity",
            Self::Ahead => "ahead",
            Self::Fee => "fee",
            Self::Paused => "paused",
            Self::Nav => "nav",
            Self::CapacityAsset => "capacity_asset",
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
    #[error("the snapshot does not have exactly one fact {0}")]
    Missing(Code),
    /// A fee of more than everything, or a token that pays nothing.
    #[error("the fact {0} gives a fee above 100% or a token that pays nothing")]
    Invalid(Code),
    /// The asset is no token of the snapshot.
    #[error("the snapshot has no price for the asset {0}, which is not a token of the pool")]
    UnknownAsset(Address),
    /// The queue's lengths of a week are not known, or of too few slots.
    #[error(
        "the length of the queue was not recorded in at least half of the slots on each of seven days"
    )]
    UnknownPace,
    /// It is paused.
    #[error("redemption is paused according to the fact {0}")]
    Paused(Code),
}

impl RedemptionFacts {
    /// The facts of a snapshot that count, and the terms with what they say: in dollars by its price of the token that is sold.
    /// The pace is that of the recorded lengths of the queue, where the terms rest on it.
    pub fn said(
        &self,
        terms: &RedemptionTerms,
        observation: &Observation,
        direction: Direction,
        pace: Option<Pace>,
    ) -> (Vec<FactUsed>, Result<RedemptionTerms, FactError>) {
        let mut used = Vec::new();
        let token = direction.base_index();
        let terms = self.replace(terms.clone(), observation, token, &mut used);
        (used, terms.and_then(|terms| self.apply_pace(terms, observation, token, pace)))
    }

    /// The length of the queue, by the snapshot's one fact of that name; `None` where there is none.
    pub fn length(&self, observation: &Observation) -> Option<U256> {
        observation.fact_number(self.ahead?)
    }

    fn replace(
        &self,
        mut terms: RedemptionTerms,
        observation: &Observation,
        token: usize,
        used: &mut Vec<FactUsed>,
    ) -> Result<RedemptionTerms, FactError> {
        let mut word = |says: FactSays, name: Code| -> Result<U256, FactError> {
            let fact = observation.fact(name).ok_or(FactError::Missing(name))?;
            let word = fact.number().ok_or(FactError::Missing(name))?;
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
        if let Some(asset) = &self.asset {
            let micros = asset.micros(observation)?;
            if let Some(name) = self.nav {
                let pays = word(FactSays::Nav, name)?;
                let worth = Worth::from_payout(pays, micros, observation.prices()[token]);
                terms.worth = Some(worth.ok_or(FactError::Invalid(name))?);
            }
            if let Some(name) = self.capacity_asset {
                let held = U1024::from(word(FactSays::CapacityAsset, name)?) * micros.0 / micros.1;
                let of_token = terms.worth.map_or(held, |worth| worth.undone(held));
                terms.capacity = Some(UsdMicros(of_token.saturating_to_u64()));
            }
        }
        if let Some((name, decimals)) = self.fee {
            let share = word(FactSays::Fee, name)?;
            terms.fee_e8 = share_e8(share, decimals).ok_or(FactError::Invalid(name))?;
        }
        Ok(terms)
    }

    fn apply_pace(
        &self,
        mut terms: RedemptionTerms,
        observation: &Observation,
        token: usize,
        pace: Option<Pace>,
    ) -> Result<RedemptionTerms, FactError> {
        if self.recorded_pace
            && let Pays::InTurn { per_day, .. } = &mut terms.pays
        {
            let Pace(raw) = pace.ok_or(FactError::UnknownPace)?;
            *per_day = raw.map(|raw| in_usd(raw, observation, token, false));
        }
        Ok(terms)
    }
}

impl RedemptionAsset {
    /// Micro-dollars of one of its smallest units, as a fraction.
    fn micros(self, observation: &Observation) -> Result<(U1024, U1024), FactError> {
        match self {
            Self::Token(address) => {
                let at = observation.tokens().iter().position(|token| token.address == address);
                let at = at.ok_or(FactError::UnknownAsset(address))?;
                Ok(micros_of(&observation.prices()[at], observation.tokens()[at].decimals))
            }
            Self::Priced { decimals, usd } => {
                Ok((U1024::from(usd.0), power_of_ten(decimals.into())))
            }
        }
    }
}

/// Micro-dollars of one smallest unit of a token of this price, as a fraction.
fn micros_of(price: &UsdPrice, decimals: u8) -> (U1024, U1024) {
    let below = power_of_ten(u32::from(decimals) + price.decimals());
    (U1024::from(price.numerator()) * power_of_ten(6), below)
}

/// An amount of a token in dollars by the oracle, rounded down, or up; capped.
fn in_usd(raw: U256, observation: &Observation, token: usize, up: bool) -> UsdMicros {
    let (above, below) =
        micros_of(&observation.prices()[token], observation.tokens()[token].decimals);
    let micros = U1024::from(raw) * above;
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
