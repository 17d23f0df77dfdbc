//! A crypto pool as canonical JSON.

use super::{CryptoSwap, CryptoSwapParts};
use crate::ids::Code;
use crate::json::{Fields, Json, Wire};
use crate::pools::StateError;
use crate::pools::kind::StateForm;

/// The known versions, for two coins and for three.
const VERSIONS: [&str; 2] = ["twocrypto_ng_2_1_0", "tricrypto_ng_2_0_0"];

/// Numbers with eighteen decimals are written as strings.
fn u64_to_text(number: u64) -> Json<'static> {
    Json::Text(number.to_string().into())
}

fn small(fields: &mut Fields<'_, '_>, name: &str) -> Result<u64, String> {
    let number: u128 = fields.take_field(name)?;
    u64::try_from(number).map_err(|_| format!("{name}: too large"))
}

impl StateForm for CryptoSwap {
    const PROTOCOL: &'static str = "cryptoswap";

    fn from_fields(fields: &mut Fields<'_, '_>) -> Result<Self, StateError> {
        let version: Code = fields.take_field("version")?;
        let pool = Self::new(CryptoSwapParts {
            balances: fields.take_field("balances")?,
            decimals: fields.take_field("decimals")?,
            price_scale: fields.take_field("price_scale")?,
            last_prices: fields.take_field("last_prices")?,
            invariant: fields.take_field("D")?,
            amp: fields.take_field("A")?,
            gamma: small(fields, "gamma")?,
            fees: [fields.take_field("mid_fee")?, fields.take_field("out_fee")?],
            fee_gamma: small(fields, "fee_gamma")?,
        })?;
        if version.as_str() != pool.version() {
            return Err(format!(
                "version: {version} is unknown or does not have this number of coins"
            )
            .into());
        }
        Ok(pool)
    }

    fn to_fields(&self) -> Vec<(&'static str, Json<'_>)> {
        let parts = &self.parts;
        vec![
            ("version", Json::Text(self.version().into())),
            ("balances", parts.balances.to_json()),
            ("decimals", parts.decimals.to_json()),
            ("price_scale", parts.price_scale.to_json()),
            ("last_prices", parts.last_prices.to_json()),
            ("D", parts.invariant.to_json()),
            ("A", parts.amp.to_json()),
            ("gamma", u64_to_text(parts.gamma)),
            ("mid_fee", parts.fees[0].to_json()),
            ("out_fee", parts.fees[1].to_json()),
            ("fee_gamma", u64_to_text(parts.fee_gamma)),
        ]
    }
}

impl CryptoSwap {
    fn version(&self) -> &'static str {
        VERSIONS[usize::from(self.parts.balances.len() == 3)]
    }
}
