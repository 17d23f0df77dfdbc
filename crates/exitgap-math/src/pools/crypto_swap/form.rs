//! A crypto pool as canonical JSON.

use super::{CryptoSwap, CryptoSwapParts};
use crate::ids::Code;
use crate::json::{Fields, Json, Wire};
use crate::pools::StateError;
use crate::pools::kind::StateForm;

/// The versions known, of two coins and of three.
const VERSIONS: [&str; 2] = ["twocrypto_ng_2_1_0", "tricrypto_ng_2_0_0"];

/// Numbers of eighteen decimals stand in strings.
fn spelled(number: u64) -> Json<'static> {
    Json::Text(number.to_string().into())
}

fn small(fields: &mut Fields<'_, '_>, name: &str) -> Result<u64, String> {
    let number: u128 = fields.take(name)?;
    u64::try_from(number).map_err(|_| format!("{name}: too large"))
}

impl StateForm for CryptoSwap {
    const PROTOCOL: &'static str = "cryptoswap";

    fn read(fields: &mut Fields<'_, '_>) -> Result<Self, StateError> {
        let version: Code = fields.take("version")?;
        let pool = Self::new(CryptoSwapParts {
            balances: fields.take("balances")?,
            decimals: fields.take("decimals")?,
            price_scale: fields.take("price_scale")?,
            last_prices: fields.take("last_prices")?,
            invariant: fields.take("D")?,
            amp: fields.take("A")?,
            gamma: small(fields, "gamma")?,
            fees: [fields.take("mid_fee")?, fields.take("out_fee")?],
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

    fn write(&self) -> Vec<(&'static str, Json<'_>)> {
        let parts = &self.parts;
        vec![
            ("version", Json::Text(self.version().into())),
            ("balances", parts.balances.write()),
            ("decimals", parts.decimals.write()),
            ("price_scale", parts.price_scale.write()),
            ("last_prices", parts.last_prices.write()),
            ("D", parts.invariant.write()),
            ("A", parts.amp.write()),
            ("gamma", spelled(parts.gamma)),
            ("mid_fee", parts.fees[0].write()),
            ("out_fee", parts.fees[1].write()),
            ("fee_gamma", spelled(parts.fee_gamma)),
        ]
    }
}

impl CryptoSwap {
    fn version(&self) -> &'static str {
        VERSIONS[usize::from(self.parts.balances.len() == 3)]
    }
}
