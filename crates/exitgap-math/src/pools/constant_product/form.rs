//! A constant-product pair as canonical JSON.

use super::ConstantProduct;
use crate::json::{Fields, Json, Wire};
use crate::pools::kind::StateForm;
use crate::pools::{FeeRate, StateError};

impl StateForm for ConstantProduct {
    const PROTOCOL: &'static str = "constant_product";

    fn read(fields: &mut Fields<'_, '_>) -> Result<Self, StateError> {
        let reserves = fields.take("reserves")?;
        let (numerator, denominator) =
            (fields.take("fee_numerator")?, fields.take("fee_denominator")?);
        Ok(Self::new(reserves, FeeRate { numerator, denominator })?)
    }

    fn write(&self) -> Vec<(&'static str, Json<'_>)> {
        vec![
            ("reserves", self.reserves.write()),
            ("fee_numerator", self.fee.numerator.write()),
            ("fee_denominator", self.fee.denominator.write()),
        ]
    }
}
