//! A `StableSwap` pool as canonical JSON.

use super::{DRule, NgParts, StableSwap, StableSwapParts};
use crate::ids::Code;
use crate::json::{Fields, Json, Wire, wire_code};
use crate::pools::StateError;
use crate::pools::kind::StateForm;

/// The version of plain pools in the body. Their other fields determine their rules.
const PLAIN: &str = "plain";
/// The only known version of `StableSwap`-NG.
const NG: &str = "ng_7_0_0";

impl DRule {
    const ALL: [Self; 3] = [Self::EachN, Self::EachNPlusOne, Self::NPowN];

    /// The stable code, for example `each_n`.
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

    fn from_fields(fields: &mut Fields<'_, '_>) -> Result<Self, StateError> {
        let version: Code = fields.take_field("version")?;
        let ng = match version.as_str() {
            PLAIN => None,
            NG => Some(NgParts {
                offpeg_fee_multiplier: fields.take_field("offpeg_fee_multiplier")?,
                admin_balances: fields.take_field("admin_balances")?,
                asset_types: fields.take_field("asset_types")?,
            }),
            _ => return Err(format!("version: {version} is unknown").into()),
        };
        let less_one: u8 = fields.take_field("less_one")?;
        if less_one > 1 {
            return Err("less_one: must be 0 or 1".to_owned().into());
        }
        Ok(Self::new(StableSwapParts {
            balances: fields.take_field("balances")?,
            rates: fields.take_field("rates")?,
            amp: fields.take_field("amp")?,
            a_precision: fields.take_field("a_precision")?,
            d_rule: fields.take_field("d_rule")?,
            less_one: less_one == 1,
            fee: fields.take_field("fee")?,
            admin_fee: fields.take_field("admin_fee")?,
            ng,
        })?)
    }

    fn to_fields(&self) -> Vec<(&'static str, Json<'_>)> {
        let mut fields = vec![
            ("balances", self.balances.to_json()),
            ("rates", self.rates.to_json()),
            ("amp", self.amp.to_json()),
            ("a_precision", Json::Number(self.form.a_precision.to_string().into())),
            ("d_rule", self.form.rule.to_json()),
            ("less_one", Json::Number(u8::from(self.less_one).to_string().into())),
            ("fee", self.fee.to_json()),
            ("admin_fee", self.admin_fee.to_json()),
        ];
        let Some(ng) = &self.ng else {
            fields.push(("version", Json::Text(PLAIN.into())));
            return fields;
        };
        fields.push(("version", Json::Text(NG.into())));
        fields.push(("offpeg_fee_multiplier", ng.offpeg_fee_multiplier.to_json()));
        fields.push(("admin_balances", ng.admin_balances.to_json()));
        fields.push(("asset_types", ng.asset_types.to_json()));
        fields
    }
}
