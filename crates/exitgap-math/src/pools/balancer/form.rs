//! Balancer's pools as canonical JSON. The fields are named like the contracts' getters: version 3 distinguishes raw
//! and live balances.

use super::stable::{StableRelease, StableRule, ThirdStableRule};
use super::vault::{BalancerError, Vault, VaultParts};
use super::weighted::WeightedRule;
use super::{StableV2, StableV3, VaultPool, Weighted};
use crate::ids::Code;
use crate::json::{Fields, Json, Wire, wire_code};
use crate::pools::StateError;
use crate::pools::kind::StateForm;
use crate::wide::U256;

const SECOND: &str = "v2";
/// The releases of weighted pools of version 3: December 2024 and January 2026.
const THIRD: [&str; 2] = ["v3_1", "v3_2"];

impl StableRelease {
    const ALL: [Self; 3] = [Self::First, Self::Second, Self::Third];

    /// The stable code, for example `v3_1`.
    pub fn code(self) -> &'static str {
        match self {
            Self::First => "v3_1",
            Self::Second => "v3_2",
            Self::Third => "v3_3",
        }
    }
}

wire_code!(StableRelease, StableRelease::ALL);

impl Vault {
    fn from_fields(fields: &mut Fields<'_, '_>, third: bool) -> Result<Self, StateError> {
        let (balances, live_balances) = if third {
            (fields.take_field("balances_raw")?, Some(fields.take_field("balances_live_scaled18")?))
        } else {
            (fields.take_field("balances")?, None)
        };
        let swap_fee =
            small(fields.take_field("swap_fee")?).ok_or("swap_fee: too large".to_owned())?;
        let (scaling_factors, rates) =
            (fields.take_field("scaling_factors")?, fields.take_field("rates")?);
        let parts = VaultParts { balances, live_balances, scaling_factors, rates, swap_fee };
        Ok(Self::new(parts)?)
    }

    fn to_fields(&self) -> Vec<(&'static str, Json<'_>)> {
        let mut fields = vec![
            ("scaling_factors", self.scaling_factors.to_json()),
            ("rates", self.rates.to_json()),
            ("swap_fee", u64_to_text(self.swap_fee)),
        ];
        if self.third {
            fields.push(("balances_raw", self.raw.to_json()));
            fields.push(("balances_live_scaled18", self.live.to_json()));
        } else {
            fields.push(("balances", self.raw.to_json()));
        }
        fields
    }
}

/// Numbers with eighteen decimals are written as strings.
fn u64_to_text(number: u64) -> Json<'static> {
    Json::Text(number.to_string().into())
}

fn small(number: U256) -> Option<u64> {
    (number.bit_len() <= 64).then(|| number.saturating_to::<u64>())
}

impl Weighted {
    /// A weighted pool. Weights are shares of `10^18`. `least` are the minimum balances with eighteen decimals, for
    /// pools that have them.
    pub fn new(
        vault: VaultParts,
        weights: Vec<u64>,
        least: Option<Vec<U256>>,
    ) -> Result<Self, BalancerError> {
        let vault = Vault::new(vault)?;
        let rule = WeightedRule::new(&vault, weights, least)?;
        Ok(VaultPool::of_rule(vault, rule))
    }
}

impl StableV2 {
    /// A stable pool of version 2, with `amp` in thousandths.
    pub fn new(vault: VaultParts, amp: u64) -> Result<Self, BalancerError> {
        let vault = Vault::new(vault)?;
        if vault.third {
            return Err(BalancerError::Version);
        }
        let rule = StableRule::new(&vault, amp)?;
        Ok(VaultPool::of_rule(vault, rule))
    }
}

impl StableV3 {
    /// A stable pool of version 3, with `amp` in thousandths.
    pub fn new(vault: VaultParts, amp: u64, release: StableRelease) -> Result<Self, BalancerError> {
        let vault = Vault::new(vault)?;
        if !vault.third {
            return Err(BalancerError::Version);
        }
        let stable = StableRule::new(&vault, amp)?;
        Ok(VaultPool::of_rule(vault, ThirdStableRule { stable, release }))
    }
}

impl StateForm for Weighted {
    const PROTOCOL: &'static str = "weighted";

    fn from_fields(fields: &mut Fields<'_, '_>) -> Result<Self, StateError> {
        let version: Code = fields.take_field("version")?;
        let newest = version.as_str() == THIRD[1];
        if version.as_str() != SECOND && !THIRD.contains(&version.as_str()) {
            return Err(format!("version: {version} is unknown").into());
        }
        let vault = Vault::from_fields(fields, version.as_str() != SECOND)?;
        let weights: Vec<U256> = fields.take_field("weights")?;
        let weights = weights.into_iter().map(small).collect::<Option<_>>();
        let weights = weights.ok_or(BalancerError::Weights)?;
        let least = if newest { Some(fields.take_field("min_balances_scaled18")?) } else { None };
        let rule = WeightedRule::new(&vault, weights, least)?;
        Ok(VaultPool::of_rule(vault, rule))
    }

    fn to_fields(&self) -> Vec<(&'static str, Json<'_>)> {
        let mut fields = self.vault.to_fields();
        let weights = self.rule.weights.iter().map(|weight| u64_to_text(*weight));
        fields.push(("weights", Json::List(weights.collect())));
        let version = match &self.rule.least {
            None if self.vault.third => THIRD[0],
            None => SECOND,
            Some(least) => {
                fields.push(("min_balances_scaled18", least.to_json()));
                THIRD[1]
            }
        };
        fields.push(("version", Json::Text(version.into())));
        fields
    }
}

impl StateForm for StableV2 {
    const PROTOCOL: &'static str = "stable_v2";

    fn from_fields(fields: &mut Fields<'_, '_>) -> Result<Self, StateError> {
        let vault = Vault::from_fields(fields, false)?;
        let rule = StableRule::new(&vault, fields.take_field("amp")?)?;
        Ok(VaultPool::of_rule(vault, rule))
    }

    fn to_fields(&self) -> Vec<(&'static str, Json<'_>)> {
        let mut fields = self.vault.to_fields();
        fields.push(("amp", self.rule.amp.to_json()));
        fields
    }
}

impl StateForm for StableV3 {
    const PROTOCOL: &'static str = "stable_v3";

    fn from_fields(fields: &mut Fields<'_, '_>) -> Result<Self, StateError> {
        let vault = Vault::from_fields(fields, true)?;
        let stable = StableRule::new(&vault, fields.take_field("amp")?)?;
        let release = fields.take_field("version")?;
        Ok(VaultPool::of_rule(vault, ThirdStableRule { stable, release }))
    }

    fn to_fields(&self) -> Vec<(&'static str, Json<'_>)> {
        let mut fields = self.vault.to_fields();
        fields.push(("amp", self.rule.stable.amp.to_json()));
        fields.push(("version", self.rule.release.to_json()));
        fields
    }
}
