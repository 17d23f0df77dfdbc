//! A constant-product pair as canonical JSON.

use super::ConstantProduct;
use crate::json::{Fields, Json, Wire};
use crate::pools::{FeeRate, StateError};

impl ConstantProduct {
    pub(crate) const PROTOCOL: &str = "constant_product";

    /// Takes the pair's own fields.
    pub(crate) fn read(fields: &mut Fields<'_, '_>) -> Result<Self, StateError> {
        let reserves = fields.take("reserves")?;
        let (numerator, denominator) =
            (fields.take("fee_numerator")?, fields.take("fee_denominator")?);
        Ok(Self::new(reserves, FeeRate { numerator, denominator })?)
    }

    pub(crate) fn write(&self) -> Vec<(&'static str, Json<'_>)> {
        vec![
            ("reserves", self.reserves.write()),
            ("fee_numerator", self.fee.numerator.write()),
            ("fee_denominator", self.fee.denominator.write()),
        ]
    }
}
