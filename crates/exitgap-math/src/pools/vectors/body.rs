//! Converts a recorded state, whose fields are named like the contracts' getters, to the canonical state body that core
//! reads.

use serde_json::{Map, Value, json};

use super::{At, RecordedError};
use crate::pools::{PoolState, StateError};

/// The name of a kind's files, and the conversion of their states to bodies.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct KindOfFile {
    pub name: &'static str,
    pub rule: Rule,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Rule {
    /// The fields are already those of the body of this protocol.
    AsItIs(&'static str),
    Curve,
    Weighted,
    StableV2,
    StableV3,
    Crypto,
}

const fn file(name: &'static str, rule: Rule) -> KindOfFile {
    KindOfFile { name, rule }
}

/// All known kinds.
pub(super) const KINDS: &[KindOfFile] = &[
    file("uniswap_v3", Rule::AsItIs("concentrated_liquidity")),
    file("pancake_v3", Rule::AsItIs("concentrated_liquidity")),
    file("slipstream", Rule::AsItIs("concentrated_liquidity")),
    file("uniswap_v4", Rule::AsItIs("concentrated_v4")),
    file("algebra_integral", Rule::AsItIs("concentrated_linked")),
    file("aerodrome_stable", Rule::AsItIs("solidly")),
    file("aerodrome_volatile", Rule::AsItIs("solidly")),
    file("curve_plain", Rule::Curve),
    file("curve_ng", Rule::Curve),
    file("balancer_v2_weighted", Rule::Weighted),
    file("balancer_v3_weighted", Rule::Weighted),
    file("balancer_v2_composable_stable", Rule::StableV2),
    file("balancer_v3_stable", Rule::StableV3),
    file("curve_tricrypto_ng", Rule::Crypto),
    file("curve_twocrypto_ng", Rule::Crypto),
];

/// The state. The inner error is a state that core parses but refuses; the outer error is invalid fields.
pub(super) fn state(
    kind: &KindOfFile,
    fields: &Value,
    at: &At,
) -> Result<Result<PoolState, StateError>, RecordedError> {
    let recorded = RecordedFields { fields, at };
    let mut body = match kind.rule {
        Rule::AsItIs(protocol) => recorded.as_it_is(protocol)?,
        Rule::Curve => recorded.curve()?,
        Rule::Weighted => recorded.weighted_body()?,
        Rule::StableV2 => recorded.stable("stable_v2", None)?,
        Rule::StableV3 => recorded.stable("stable_v3", Some(recorded.release()?))?,
        Rule::Crypto => recorded.crypto()?,
    };
    body.insert("v".to_owned(), json!(1));
    match PoolState::from_canonical(Value::Object(body).to_string().as_bytes()) {
        Err(error @ StateError::Document(_)) => Err(at.wrong(error.to_string())),
        other => Ok(other),
    }
}

struct RecordedFields<'a> {
    fields: &'a Value,
    at: &'a At,
}

type Body = Result<Map<String, Value>, RecordedError>;

impl RecordedFields<'_> {
    fn has(&self, name: &str) -> bool {
        self.fields.get(name).is_some()
    }

    fn as_it_is(&self, protocol: &str) -> Body {
        let fields = self.fields.as_object();
        let mut body = fields.cloned().ok_or_else(|| self.at.wrong("not an object".to_owned()))?;
        body.insert("protocol".to_owned(), json!(protocol));
        Ok(body)
    }

    /// A body with the fields `same` unchanged and the fields `numbers` as numbers.
    fn with(&self, protocol: &str, same: &[&str], numbers: &[&str]) -> Body {
        let mut body = Map::new();
        body.insert("protocol".to_owned(), json!(protocol));
        for name in same {
            body.insert((*name).to_owned(), self.at.member(self.fields, name)?.clone());
        }
        for name in numbers {
            body.insert((*name).to_owned(), json!(self.number(name)?));
        }
        Ok(body)
    }

    /// A number, written as a JSON number or as a string.
    fn number(&self, name: &str) -> Result<u64, RecordedError> {
        let value = self.at.member(self.fields, name)?;
        let number = value.as_u64().or_else(|| value.as_str()?.parse().ok());
        number.ok_or_else(|| self.at.inside(name).wrong("no number of 64 bits".to_owned()))
    }

    fn curve(&self) -> Body {
        let same = ["balances", "rates"];
        let numbers = ["amp", "a_precision", "fee", "admin_fee"];
        let mut body = self.with("stableswap", &same, &numbers)?;
        let beside = if self.has("offpeg_fee_multiplier") {
            body.insert("d_rule".to_owned(), json!("n_pow_n"));
            body.insert("less_one".to_owned(), json!(1));
            body.insert("version".to_owned(), json!("ng_7_0_0"));
            let same = ["admin_balances", "asset_types"];
            self.with("stableswap", &same, &["offpeg_fee_multiplier"])?
        } else {
            body.insert("version".to_owned(), json!("plain"));
            self.with("stableswap", &["d_rule"], &["less_one"])?
        };
        body.extend(beside);
        Ok(body)
    }

    /// The fields of a vault. In version 2 the factors follow from the decimals, and rates default to one.
    fn vault(&self, protocol: &str) -> Body {
        if self.has("balances_raw") {
            let same =
                ["balances_raw", "balances_live_scaled18", "scaling_factors", "rates", "swap_fee"];
            return self.with(protocol, &same, &[]);
        }
        let mut body = self.with(protocol, &["balances", "swap_fee"], &[])?;
        let place = self.at.inside("decimals");
        let decimals = self.at.list(self.fields, "decimals", 8)?.iter();
        let factor = |decimals: &Value| {
            let decimals = decimals.as_u64().filter(|decimals| *decimals <= 18);
            let missing = decimals.and_then(|decimals| u32::try_from(18 - decimals).ok());
            let factor = missing.map(|missing| 10_u64.pow(missing).to_string());
            factor.ok_or_else(|| place.wrong("not from 0 to 18".to_owned()))
        };
        let factors = decimals.map(factor).collect::<Result<Vec<_>, _>>()?;
        let ones = || json!(vec!["1000000000000000000"; factors.len()]);
        let rates = self.fields.get("rates").cloned().unwrap_or_else(ones);
        body.insert("rates".to_owned(), rates);
        body.insert("scaling_factors".to_owned(), json!(factors));
        Ok(body)
    }

    fn weighted_body(&self) -> Body {
        let mut body = self.vault("weighted")?;
        let least = ["min_balances_scaled18"];
        let version = match (self.has("balances_raw"), self.has(least[0])) {
            (false, _) => "v2",
            (true, false) => "v3_1",
            (true, true) => {
                body.extend(self.with("weighted", &least, &[])?);
                "v3_2"
            }
        };
        body.extend(self.with("weighted", &["weights"], &[])?);
        body.insert("version".to_owned(), json!(version));
        Ok(body)
    }

    fn stable(&self, protocol: &str, release: Option<&str>) -> Body {
        let mut body = self.vault(protocol)?;
        body.insert("amp".to_owned(), json!(self.number("amp")?));
        if let Some(release) = release {
            body.insert("version".to_owned(), json!(release));
        }
        Ok(body)
    }

    fn release(&self) -> Result<&'static str, RecordedError> {
        let version = self.at.text(self.fields, "version")?;
        let releases = [("stable v1", "v3_1"), ("stable v2", "v3_2"), ("stable v3", "v3_3")];
        let known = releases.into_iter().find(|(start, _)| version.starts_with(start));
        let known = known.map(|(_, release)| release);
        known.ok_or_else(|| self.at.inside("version").wrong("is not known".to_owned()))
    }

    fn crypto(&self) -> Body {
        let same =
            ["balances", "decimals", "price_scale", "last_prices", "D", "gamma", "fee_gamma"];
        let mut body = self.with("cryptoswap", &same, &["A", "mid_fee", "out_fee"])?;
        let coins = self.at.list(self.fields, "balances", 8)?.len();
        let version = if coins == 3 { "tricrypto_ng_2_0_0" } else { "twocrypto_ng_2_1_0" };
        body.insert("version".to_owned(), json!(version));
        Ok(body)
    }
}
