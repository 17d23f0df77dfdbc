//! Parameters of a request: each known by name and given once. What is not asked for is
//! refused by name, because a misspelt parameter that is ignored gives a wrong answer.

use std::str::FromStr;

use axum::extract::FromRequestParts;
use axum::extract::rejection::PathRejection;
use axum::http::request::Parts;
pub use exitgap_api::invalid_parameter as invalid;
use exitgap_api::{Problem, ProblemCode};
use exitgap_core::evidence::Base;
use exitgap_core::ids::PoolId;
use exitgap_core::series::Slot;
use exitgap_core::units::SizeUsd;

use super::reply::Refused;

/// How much of a wrong value is shown.
const SHOWN: usize = 40;

/// The pairs of a request's query, in order.
#[derive(Debug)]
pub struct Query(Vec<(String, String)>);

impl<S: Sync> FromRequestParts<S> for Query {
    type Rejection = Refused;
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Refused> {
        let query = parts.uri.query().unwrap_or_default().as_bytes();
        let pairs = form_urlencoded::parse(query);
        Ok(Self(pairs.map(|(name, value)| (name.into_owned(), value.into_owned())).collect()))
    }
}

impl Query {
    /// The parameters, each of one of these names.
    pub fn known(self, names: &'static [&'static str]) -> Result<Params, Problem> {
        if let Some((name, _)) = self.0.iter().find(|(name, _)| !names.contains(&name.as_str())) {
            let shown: String = name.chars().take(SHOWN).collect();
            let detail = format!("{shown:?} is not a parameter of this address");
            let hint = match names {
                [] => "it takes none".to_owned(),
                names => format!("it takes {}", names.join(", ")),
            };
            return Err(Problem::new(ProblemCode::UnknownParameter, detail)
                .field(&shown)
                .hint(hint));
        }
        Ok(Params(self.0))
    }
}

/// Parameters of known names.
#[derive(Debug)]
pub struct Params(Vec<(String, String)>);

impl Params {
    /// Every value of a parameter that may be repeated.
    pub fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        self.0.iter().filter(move |(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    /// The value of a parameter that may be left out.
    pub fn one(&self, name: &str) -> Result<Option<&str>, Problem> {
        let mut values = self.all(name);
        let first = values.next();
        if values.next().is_some() {
            let hint = "give it once";
            return Err(invalid(name, &format!("{name} is given more than once"), hint));
        }
        Ok(first)
    }

    /// `size_usd`, which is needed.
    pub fn size(&self) -> Result<SizeUsd, Problem> {
        match self.one("size_usd")? {
            Some(text) => size(text),
            None => Err(invalid("size_usd", "size_usd is missing", SIZE_HINT)),
        }
    }

    /// `at`: the slot at or before an instant.
    pub fn at(&self) -> Result<Option<Slot>, Problem> {
        self.one("at")?.map(|text| exitgap_api::slot_at("at", text)).transpose()
    }

    /// `base`, as it was given: which tokens there are only the pool knows.
    pub fn base(&self) -> Result<Option<String>, Problem> {
        self.one("base")?.map(|text| base(text).map(str::to_owned)).transpose()
    }

    /// `base` where it names a token by its place only.
    pub fn base_by_place(&self) -> Result<Option<Base>, Problem> {
        match self.one("base")? {
            None => Ok(None),
            Some("token0") => Ok(Some(Base::Token0)),
            Some("token1") => Ok(Some(Base::Token1)),
            Some(other) => {
                let detail = format!("base: {:?} is neither token0 nor token1", shown(other));
                Err(invalid("base", &detail, "by place here: token 0 has the lower address"))
            }
        }
    }

    /// `slot`: a slot by its number.
    pub fn slot(&self) -> Result<Option<Slot>, Problem> {
        let Some(text) = self.one("slot")? else { return Ok(None) };
        let hint = "a slot's number, such as 5957857: its instant is 300 s times it";
        let number = digits(text).ok_or_else(|| {
            invalid("slot", &format!("slot: {:?} is no number", shown(text)), hint)
        })?;
        Slot::new(number).map(Some).map_err(|error| {
            use exitgap_core::series::SlotError;
            let code = match error {
                SlotError::BeforeSeries { .. } => ProblemCode::BeforeSeries,
                SlotError::TooLate { .. } => ProblemCode::InvalidParameter,
            };
            Problem::new(code, error.to_string()).field("slot").hint(hint)
        })
    }

    /// `limit`: how many rows of a page, from 1 to `most`.
    pub fn limit(&self, default: usize, most: usize) -> Result<usize, Problem> {
        let Some(text) = self.one("limit")? else { return Ok(default) };
        digits(text)
            .and_then(|number| usize::try_from(number).ok())
            .filter(|number| (1..=most).contains(number))
            .ok_or_else(|| {
                let detail = format!("limit: {:?} is not from 1 to {most}", shown(text));
                invalid("limit", &detail, &format!("leave it out for {default}"))
            })
    }

    /// `cursor`: where a page begins, as the page before said.
    pub fn cursor<T: FromStr>(&self) -> Result<Option<T>, Problem> {
        let Some(text) = self.one("cursor")? else { return Ok(None) };
        let wrong = || {
            let detail = format!("cursor: {:?} is none of this address", shown(text));
            invalid("cursor", &detail, "give next_cursor of the page before, as it is")
        };
        text.parse().map(Some).map_err(|_| wrong())
    }
}

/// The longest name of a token: an address.
pub const MAX_BASE_LENGTH: usize = 42;

/// What can name a token of a pool: printable ASCII, as recorded symbols are.
pub fn base(text: &str) -> Result<&str, Problem> {
    let printable = text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    if printable && (1..=MAX_BASE_LENGTH).contains(&text.len()) {
        return Ok(text);
    }
    let detail = format!("base: {:?} names no token", shown(text));
    Err(invalid("base", &detail, "token0, token1, a symbol or an address"))
}

/// A whole number in digits only.
fn digits(text: &str) -> Option<u64> {
    let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| text.parse().ok())?
}

/// The head of a wrong value.
pub fn shown(text: &str) -> String {
    text.chars().take(SHOWN).collect()
}

const SIZE_HINT: &str = "size_usd is a plain decimal from 0.01 to 1000000000 with at most six \
    decimals: 250000, and neither 250k nor 250,000";

/// Reads a `size_usd`.
pub fn size(text: &str) -> Result<SizeUsd, Problem> {
    exitgap_api::parse_size(text).map_err(|problem| problem.hint(SIZE_HINT))
}

/// Reads a pool's identifier. Addresses are often pasted with checksum capitals; the
/// identifier is lower case.
pub fn pool(text: &str) -> Result<PoolId, Problem> {
    text.to_ascii_lowercase().parse().map_err(|error: exitgap_core::ids::IdError| {
        Problem::new(ProblemCode::InvalidPool, error.to_string())
            .field("pool")
            .hint("a pool is named <chain>:<address>; GET /v1/pools lists them")
    })
}

/// The one variable part of an address.
#[derive(Debug)]
pub struct Segment(pub String);

impl<S: Send + Sync> FromRequestParts<S> for Segment {
    type Rejection = Refused;
    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Refused> {
        let path = axum::extract::Path::<String>::from_request_parts(parts, state).await;
        let path = path.map_err(|_: PathRejection| {
            Problem::new(ProblemCode::NotFound, "the address is not UTF-8")
        })?;
        Ok(Self(path.0))
    }
}
