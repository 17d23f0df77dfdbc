//! Snapshot facts that replace numbers in a file of terms.

use super::{ONE_HUNDRED_PERCENT, Pace, Pays, RedemptionTerms, Worth};
use crate::U256;
use crate::ids::{Address, Code};
use crate::pools::Direction;
use crate::snapshot::{Fact, Observation};
use crate::units::{UsdMicros, UsdPrice};
use crate::wide::{U1024, power_of_ten};

/// The maximum number of decimals of a fee.
pub(super) const MAX_FEE_DECIMALS: u8 = 36;

/// The names of the facts that terms use. Of each fact the first word counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RedemptionFacts {
    /// The redeemable amount, in the token's smallest units: a vault's `maxRedeem`, or a facility's remaining capacity.
    pub capacity: Option<Code>,
    /// The length of the queue: the amount ahead, in the token's smallest units.
    pub ahead: Option<Code>,
    /// The fee as a share, and the number of its decimals.
    pub fee: Option<(Code, u8)>,
    /// Whether redemption is paused: any word except zero.
    pub paused: Option<Code>,
    /// The payout of one whole token in the asset's smallest units: a vault's `convertToAssets` or `previewRedeem`.
    pub nav: Option<Code>,
    /// The redeemable amount in the asset's smallest units: the asset balance of a vault.
    pub capacity_asset: Option<Code>,
    /// The asset, if one of the previous two facts is named.
    pub asset: Option<RedemptionAsset>,
    /// Whether the pace of the queue comes from its recorded lengths.
    pub recorded_pace: bool,
}

/// The asset that a redemption pays in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RedemptionAsset {
    /// A token of the pool, at its price in the snapshot.
    Token(Address),
    /// Another asset, at a price given in the terms.
    Priced {
        /// The asset's decimals.
        decimals: u8,
        /// The asset's price.
        usd: UsdMicros,
    },
}

/// The role of a fact in a redemption.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FactSays {
    /// The redeemable amount.
    Capacity,
    /// The amount ahead in the queue.
    Ahead,
    /// The fee.
    Fee,
    /// Whether redemption is paused.
    Paused,
    /// The payout of one whole token, in the asset.
    Nav,
    /// The redeemable amount, in the asset.
    CapacityAsset,
}

impl FactSays {
    /// The name used in answers.
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

/// A fact that the terms use, as the snapshot contains it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FactUsed {
    /// Its role.
    pub says: FactSays,
    /// The fact.
    pub fact: Fact,
    /// Its first word.
    pub word: U256,
}

/// Why facts give no redemption terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FactError {
    /// The snapshot does not have exactly one readable fact with this name.
    #[error("the snapshot does not have exactly one fact {0}")]
    Missing(Code),
    /// A fee above 100 %, or a token that pays nothing.
    #[error("the fact {0} gives a fee above 100% or a token that pays nothing")]
    Invalid(Code),
    /// The asset is not a token of the snapshot.
    #[error("the snapshot has no price for the asset {0}, which is not a token of the pool")]
    UnknownAsset(Address),
    /// The queue's lengths over a week are unknown, or are known in too few slots.
    #[error(
        "the length of the queue was not recorded in at least half of the slots on each of seven days"
    )]
    UnknownPace,
    /// Redemption is paused.
    #[error("redemption is paused according to the fact {0}")]
    Paused(Code),
}

impl RedemptionFacts {
    /// The facts of a snapshot that were used, and the terms with their values filled in. Token amounts are converted
    /// to dollars at the snapshot's price of the token sold. If the terms ask for the recorded pace, `pace` is filled
    /// in as well.
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

    /// The length of the queue, if the snapshot has the named fact.
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
    /// The value of one of its smallest units in micro-dollars, as a fraction.
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

/// The value of one smallest unit of a token at this price in micro-dollars, as a fraction.
fn micros_of(price: &UsdPrice, decimals: u8) -> (U1024, U1024) {
    let below = power_of_ten(u32::from(decimals) + price.decimals());
    (U1024::from(price.numerator()) * power_of_ten(6), below)
}

/// A token amount in dollars at the oracle price, rounded up or down, and capped.
fn in_usd(raw: U256, observation: &Observation, token: usize, up: bool) -> UsdMicros {
    let (above, below) =
        micros_of(&observation.prices()[token], observation.tokens()[token].decimals);
    let micros = U1024::from(raw) * above;
    UsdMicros(if up { micros.div_ceil(below) } else { micros / below }.saturating_to_u64())
}

/// Converts a share with this many decimals to millionths of a percent, rounded up; `None` if it is above 100 %.
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
