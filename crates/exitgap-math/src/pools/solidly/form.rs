//! A pool as canonical JSON.

use super::Solidly;
use crate::json::{Fields, Json, Wire};
use crate::pools::kind::StateForm;
use crate::pools::{FeeRate, StateError};

impl StateForm for Solidly {
    const PROTOCOL: &'static str = "solidly";

    fn read(fields: &mut Fields<'_, '_>) -> Result<Self, StateError> {
        let (stable, reserves) = (fields.take("stable")?, fields.take("reserves")?);
        let decimals = fields.take("decimals")?;
        let (numerator, denominator) =
            (fields.take("fee_numerator")?, fields.take("fee_denominator")?);
        Ok(Self::new(stable, reserves, decimals, FeeRate { numerator, denominator })?)
    }

    fn write(&self) -> Vec<(&'static str, Json<'_>)> {
        vec![
            ("stable", Json::Bool(self.scaled.is_some())),
            ("reserves", self.reserves.write()),
            ("decimals", self.decimals.write()),
            ("fee_numerator", self.fee_numerator.write()),
            ("fee_denominator", Self::FEE_DENOMINATOR.write()),
        ]
    }
}
