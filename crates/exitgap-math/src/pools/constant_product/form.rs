//! A constant-product pair as canonical JSON.

use super::ConstantProduct;
use crate::json::{Fields, Json, Wire};
use crate::pools::kind::StateForm;
use crate::pools::{FeeRate, StateError};

impl StateForm for ConstantProduct {
    const PROTOCOL: &'static str = "constant_product";

    fn from_fields(fields: &mut Fields<'_, '_>) -> Result<Self, StateError> {
        let reserves = fields.take_field("reserves")?;
        let (numerator, denominator) =
            (fields.take_field("fee_numerator")?, fields.take_field("fee_denominator")?);
        Ok(Self::new(reserves, FeeRate { numerator, denominator })?)
    }

    fn to_fields(&self) -> Vec<(&'static str, Json<'_>)> {
        vec![
            ("reserves", self.reserves.to_json()),
            ("fee_numerator", self.fee.numerator.to_json()),
            ("fee_denominator", self.fee.denominator.to_json()),
        ]
    }
}
