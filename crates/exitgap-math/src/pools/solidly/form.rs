//! A pool as canonical JSON.

use super::Solidly;
use crate::json::{Fields, Json, Wire};
use crate::pools::kind::StateForm;
use crate::pools::{FeeRate, StateError};

impl StateForm for Solidly {
    const PROTOCOL: &'static str = "solidly";

    fn from_fields(fields: &mut Fields<'_, '_>) -> Result<Self, StateError> {
        let (stable, reserves) = (fields.take_field("stable")?, fields.take_field("reserves")?);
        let decimals = fields.take_field("decimals")?;
        let (numerator, denominator) =
            (fields.take_field("fee_numerator")?, fields.take_field("fee_denominator")?);
        Ok(Self::new(stable, reserves, decimals, FeeRate { numerator, denominator })?)
    }

    fn to_fields(&self) -> Vec<(&'static str, Json<'_>)> {
        vec![
            ("stable", Json::Bool(self.scaled.is_some())),
            ("reserves", self.reserves.to_json()),
            ("decimals", self.decimals.to_json()),
            ("fee_numerator", self.fee_numerator.to_json()),
            ("fee_denominator", Self::FEE_DENOMINATOR.to_json()),
        ]
    }
}
