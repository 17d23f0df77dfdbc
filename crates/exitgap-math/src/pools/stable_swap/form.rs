//! A `StableSwap` pool as canonical JSON.

use super::{DRule, NgParts, StableSwap, StableSwapParts};
use crate::ids::Code;
use crate::json::{Fields, Json, Wire, wire_code};
use crate::pools::StateError;
use crate::pools::kind::StateForm;

/// What the body says of a plain pool's version, whose rules its other fields tell.
const PLAIN: &str = "plain";
/// The one version of `StableSwap`-NG that is known.
const NG: &str = "ng_7_0_0";

impl DRule {
    const ALL: [Self; 3] = [Self::EachN, Self::EachNPlusOne, Self::NPowN];

    /// The stable code, e.g. `each_n`.
    pub fn code(self) -> &'static str {
        match self {
            Self::EachN => "each_n",
            Self::EachNPlusOne => "each_n_plus_1",
            Self::NPowN => "n_pow_n",
        }
    }
}

wire_code!(DRule, DRule::ALL);

impl StateForm for StableSwap {
    const PROTOCOL: &'static str = "stableswap";

    fn read(fields: &mut Fields<'_, '_>) -> Result<Self, StateError> {
        let version: Code = fields.take("version")?;
        let ng = match version.as_str() {
            PLAIN => None,
            NG => Some(NgParts {
                offpeg_fee_multiplier: fields.take("offpeg_fee_multiplier")?,
                admin_balances: fields.take("admin_balances")?,
                asset_types: fields.take("asset_types")?,
            }),
            _ => return Err(format!("version: {version} is unknown").into()),
        };
        let less_one: u8 = fields.take("less_one")?;
        if less_one > 1 {
            return Err("less_one: must be 0 or 1".to_owned().into());
        }
        Ok(Self::new(StableSwapParts {
            balances: fields.take("balances")?,
            rates: fields.take("rates")?,
            amp: fields.take("amp")?,
            a_precision: fields.take("a_precision")?,
            d_rule: fields.take("d_rule")?,
            less_one: less_one == 1,
            fee: fields.take("fee")?,
            admin_fee: fields.take("admin_fee")?,
            ng,
        })?)
    }

    fn write(&self) -> Vec<(&'static str, Json<'_>)> {
        let mut fields = vec![
            ("balances", self.balances.write()),
            ("rates", self.rates.write()),
            ("amp", self.amp.write()),
            ("a_precision", Json::Number(self.form.a_precision.to_string().into())),
            ("d_rule", self.form.rule.write()),
            ("less_one", Json::Number(u8::from(self.less_one).to_string().into())),
            ("fee", self.fee.write()),
            ("admin_fee", self.admin_fee.write()),
        ];
        let Some(ng) = &self.ng else {
            fields.push(("version", Json::Text(PLAIN.into())));
            return fields;
        };
        fields.push(("version", Json::Text(NG.into())));
        fields.push(("offpeg_fee_multiplier", ng.offpeg_fee_multiplier.write()));
        fields.push(("admin_balances", ng.admin_balances.write()));
        fields.push(("asset_types", ng.asset_types.write()));
        fields
    }
}
