//! The parameters of a sale that ends in cash.

use core::fmt;

use exitgap_core::U256;
use exitgap_core::analytics::route::RouteTerms;
use exitgap_core::exit::{MAX_CASH_TOKENS, MAX_NETWORK_POOLS};
use exitgap_core::ids::{Address, ChainSlug, PoolId};
use exitgap_core::series::Slot;
use exitgap_core::units::{Percent, SizeUsd, UsdMicros, parse_scaled};

use super::parameters::{
    AMOUNT, AMOUNT_IN, AT, CASH_POOL, CHAIN_IN_PATH, GAS, INTO, INTO_TOKENS, SIZE_OR_AMOUNT, SLOT,
    TOKEN_IN_PATH, TOLERANCE,
};
use super::{FigureAddress, Given, Operation, Parameter, Question, Target, values};
use crate::parameters::shown;
use crate::{Guards, Number, Problem, parse_pool, parse_size, parse_slot, slot_at};

/// A number of whole tokens, as written: digits, of which the last ones are decimals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WholeTokens {
    digits: String,
    decimals: usize,
}

impl WholeTokens {
    /// The maximum number of digits before and after the point.
    const MOST: [usize; 2] = [40, 36];

    /// Parses a plain decimal; `None` if it is none.
    pub fn parse(text: &str) -> Option<Self> {
        let (whole, fraction) = match text.split_once('.') {
            Some((whole, fraction)) => (whole, Some(fraction)),
            None => (text, None),
        };
        let is_plain = |part: &str, most: usize| {
            (1..=most).contains(&part.len()) && part.bytes().all(|digit| digit.is_ascii_digit())
        };
        let whole = whole.trim_start_matches('0');
        let is_whole = whole.is_empty() || is_plain(whole, Self::MOST[0]);
        if text.starts_with('.') || text.is_empty() || !is_whole {
            return None;
        }
        if fraction.is_some_and(|fraction| !is_plain(fraction, Self::MOST[1])) {
            return None;
        }
        let fraction = fraction.unwrap_or_default().trim_end_matches('0');
        Some(Self { digits: format!("{whole}{fraction}"), decimals: fraction.len() })
    }

    fn is_zero(&self) -> bool {
        self.digits.bytes().all(|digit| digit == b'0')
    }

    /// The same in raw units of a token with these decimals; `None` if it has more decimals, or is zero or too large.
    pub fn in_units(&self, decimals: u8) -> Option<U256> {
        let missing = usize::from(decimals).checked_sub(self.decimals)?;
        let digits = format!("{}{}", self.digits, "0".repeat(missing));
        digits.parse().ok().filter(|units: &U256| !units.is_zero())
    }
}

impl fmt::Display for WholeTokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, fraction) = self.digits.split_at(self.digits.len() - self.decimals);
        let whole = if whole.is_empty() { "0" } else { whole };
        if fraction.is_empty() { f.write_str(whole) } else { write!(f, "{whole}.{fraction}") }
    }
}

/// How much is sold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AmountAsked {
    /// This size at the oracle price.
    Size(SizeUsd),
    /// This many whole tokens.
    Tokens(WholeTokens),
}

/// The tokens that a sale must end in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Into {
    /// Those of a group: `cash`, or another that the operator configured.
    Group(String),
    /// These, ascending.
    Tokens(Vec<Address>),
}

impl Into {
    /// The default group.
    pub const CASH: &'static str = "cash";
    /// Any token in which a pool pays for the token sold.
    pub const ANY: &'static str = "any";

    pub(super) fn parse(parameter: &Parameter, text: &str) -> Result<Self, Problem> {
        let wrong = || {
            let detail = format!("{}: {:?} names no tokens", parameter.name, shown(text));
            values::refusal(parameter, &detail)
        };
        if let Ok(group) = text.parse::<ChainSlug>() {
            return Ok(Self::Group(group.to_string()));
        }
        let tokens = text.split(',').take(MAX_CASH_TOKENS + 1).map(str::parse::<Address>);
        let mut tokens: Vec<Address> = tokens.collect::<Result<_, _>>().map_err(|_| wrong())?;
        tokens.sort_unstable();
        let is_repeated = tokens.windows(2).any(|pair| pair[0] == pair[1]);
        if tokens.len() > MAX_CASH_TOKENS || is_repeated {
            Err(wrong())
        } else {
            Ok(Self::Tokens(tokens))
        }
    }
}

impl fmt::Display for Into {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Group(name) => f.write_str(name),
            Self::Tokens(tokens) => {
                let tokens: Vec<String> = tokens.iter().map(ToString::to_string).collect();
                f.write_str(&tokens.join(","))
            }
        }
    }
}

/// The parameters of a sale that ends in cash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CashAsked {
    /// The chain.
    pub chain: ChainSlug,
    /// The token sold.
    pub token: Address,
    /// The amount sold.
    pub amount: AmountAsked,
    /// The tokens that the sale must end in.
    pub into: Into,
    /// How much less than stated the reader accepts.
    pub tolerance: Percent,
    /// The reader's assumption of the gas.
    pub gas: Option<UsdMicros>,
    /// The exact slot; default: the newest at which one of the pools is recorded.
    pub at: Option<Slot>,
    /// The requirements for each pool that is used.
    pub guards: Guards,
}

impl Question for CashAsked {
    fn from_parameters(given: &Given<'_>) -> Result<Self, Problem> {
        let tokens = given.parse_optional(&AMOUNT, |text| {
            WholeTokens::parse(text).filter(|whole| !whole.is_zero()).ok_or_else(|| {
                let detail = format!("amount: {:?} is not a positive decimal", shown(text));
                values::refusal(&AMOUNT, &detail)
            })
        })?;
        let size = given.parse_optional(&SIZE_OR_AMOUNT, parse_size)?;
        let chain = given.parse_required(&CHAIN_IN_PATH, values::chain)?;
        let token = given.parse_required(&TOKEN_IN_PATH, values::address)?;
        let into = given.parse_required(&INTO, |text| Into::parse(&INTO, text))?;
        let tolerance = given.parse_required(&TOLERANCE, values::tolerance)?;
        let gas = given.parse_optional(&GAS, gas)?;
        let at = given.parse_optional(&AT, |text| slot_at(AT.name, text))?;
        let guards = Guards::from_parameters(given)?;
        // Last, so that a wrong value is named before one that is not there.
        let amount = match (size, tokens) {
            (Some(size), None) => AmountAsked::Size(size),
            (None, Some(tokens)) => AmountAsked::Tokens(tokens),
            (Some(_), Some(_)) => {
                return Err(values::refusal(&AMOUNT, "amount and size_usd are both given"));
            }
            (None, None) => {
                return Err(values::refusal(
                    &SIZE_OR_AMOUNT,
                    "neither size_usd nor amount is given",
                ));
            }
        };
        Ok(Self { chain, token, amount, into, tolerance, gas, at, guards })
    }
}

/// At most a million dollars.
fn gas(text: &str) -> Result<UsdMicros, Problem> {
    let micros = parse_scaled(text, 6, false).ok().and_then(|micros| u64::try_from(micros).ok());
    micros.filter(|micros| *micros <= 1_000_000_000_000).map(UsdMicros).ok_or_else(|| {
        values::refusal(&GAS, &format!("gas_usd: {:?} is not from 0 to 1000000", shown(text)))
    })
}

impl CashAsked {
    /// The address of this request.
    pub fn target(&self) -> Target {
        let Self { chain, token, amount, into, tolerance, gas, at, guards: _ } = self;
        let (size, tokens) = match amount {
            AmountAsked::Size(size) => (Some(size), None),
            AmountAsked::Tokens(tokens) => (None, Some(tokens)),
        };
        Operation::Cash
            .target_of(format_args!("{chain}/{token}"))
            .maybe(&SIZE_OR_AMOUNT, size)
            .maybe(&AMOUNT, tokens)
            .with(&INTO, into)
            .with(&TOLERANCE, Number::from(*tolerance))
            .maybe(&GAS, gas.map(Number::from))
            .maybe(&AT, at.as_ref())
    }
}

/// The parameters of its figure file, which name everything that determines it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CashFileAsked {
    /// The chain.
    pub chain: ChainSlug,
    /// The token sold.
    pub token: Address,
    /// The amount sold, in raw units.
    pub amount_in: U256,
    /// The tokens that the sale ends in, ascending.
    pub into: Vec<Address>,
    /// The slot.
    pub slot: Slot,
    /// The pools that count, ascending.
    pub pools: Vec<PoolId>,
}

impl Question for CashFileAsked {
    fn from_parameters(given: &Given<'_>) -> Result<Self, Problem> {
        let units = |text: &str| {
            units(text).ok_or_else(|| {
                let detail = format!("amount_in: {:?} is not a number of raw units", shown(text));
                values::refusal(&AMOUNT_IN, &detail)
            })
        };
        let chain = given.parse_required(&CHAIN_IN_PATH, values::chain)?;
        let token = given.parse_required(&TOKEN_IN_PATH, values::address)?;
        let amount_in = given.parse_required(&AMOUNT_IN, units)?;
        let into = given.parse_required(&INTO_TOKENS, into_tokens)?;
        let slot = given.parse_required(&SLOT, parse_slot)?;
        let pools = pools(given, &chain)?;
        if into.contains(&token) {
            let detail = format!("into: {token} is the token sold");
            return Err(values::refusal(&INTO_TOKENS, &detail));
        }
        Ok(Self { chain, token, amount_in, into, slot, pools })
    }
}

/// A positive number of raw units, in its one spelling.
pub(super) fn units(text: &str) -> Option<U256> {
    let is_plain = text.bytes().all(|digit| digit.is_ascii_digit()) && !text.starts_with('0');
    text.parse().ok().filter(|units: &U256| is_plain && !units.is_zero())
}

pub(super) fn into_tokens(text: &str) -> Result<Vec<Address>, Problem> {
    match Into::parse(&INTO_TOKENS, text)? {
        Into::Tokens(tokens) => Ok(tokens),
        Into::Group(name) => {
            let detail = format!("into: {name:?} is not a token address");
            Err(values::refusal(&INTO_TOKENS, &detail))
        }
    }
}

/// One to 24 different pools of the chain, ascending.
pub(super) fn pools(given: &Given<'_>, chain: &ChainSlug) -> Result<Vec<PoolId>, Problem> {
    let pools = given.all_values(&CASH_POOL).take(MAX_NETWORK_POOLS + 1).map(parse_pool);
    let mut pools: Vec<PoolId> = pools.collect::<Result<_, _>>()?;
    let found = pools.len();
    pools.sort_unstable();
    pools.dedup();
    let is_wrong = !(1..=MAX_NETWORK_POOLS).contains(&found)
        || pools.len() < found
        || pools.iter().any(|pool| pool.chain() != chain);
    if is_wrong {
        let detail = format!("pool: must be 1 to {MAX_NETWORK_POOLS} different pools of {chain}");
        return Err(values::refusal(&CASH_POOL, &detail));
    }
    Ok(pools)
}

impl FigureAddress for RouteTerms {
    type FileQuestion = CashFileAsked;

    const FILE: Operation = Operation::CashFile;

    fn address(&self) -> Target {
        let chain = self.pools.first().map(|pool| pool.chain().to_string()).unwrap_or_default();
        let target = Self::FILE
            .target_of(format_args!("{chain}/{}", self.token))
            .with(&AMOUNT_IN, self.amount_in)
            .with(&INTO_TOKENS, Into::Tokens(self.cash.clone()))
            .with(&SLOT, self.slot.number());
        self.pools.iter().fold(target, |target, pool| target.with(&CASH_POOL, pool))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_tokens_are_raw_units_without_rounding() {
        for (text, decimals, units) in [
            ("0.125", 18, Some("125000000000000000")),
            ("1", 0, Some("1")),
            ("007.50", 1, Some("75")),
            ("0.0000001", 6, None),
            ("0.0000010", 6, Some("1")),
            ("0", 6, None),
            ("0.000", 6, None),
        ] {
            let found = WholeTokens::parse(text).unwrap().in_units(decimals);
            assert_eq!(found.map(|units| units.to_string()).as_deref(), units, "{text}");
        }
        for wrong in ["", ".5", "5.", "1e3", "-1", "+1", "1,000", " 1", "0x1", "1.2.3"] {
            assert_eq!(WholeTokens::parse(wrong), None, "{wrong}");
        }
        let long = |whole: usize, fraction: usize| {
            format!("{}.{}", "9".repeat(whole), "9".repeat(fraction))
        };
        assert!(WholeTokens::parse(&long(40, 36)).is_some());
        assert!(WholeTokens::parse(&long(41, 1)).is_none());
        assert!(WholeTokens::parse(&long(1, 37)).is_none());
        assert_eq!(WholeTokens::parse("9".repeat(40).as_str()).unwrap().in_units(76), None);
        for (text, shown) in [("007.50", "7.5"), ("0.125", "0.125"), ("12", "12"), ("0.0", "0")] {
            assert_eq!(WholeTokens::parse(text).unwrap().to_string(), shown);
        }
    }

    #[test]
    fn cash_is_a_group_or_one_to_eight_different_tokens() {
        let parse = |text: &str| Into::parse(&INTO, text).map(|into| into.to_string());
        let token = |last: u8| Address([last; 20]).to_string();
        assert_eq!(parse("cash").unwrap(), "cash");
        assert_eq!(
            parse(&format!("{},{}", token(2), token(1))).unwrap(),
            format!("{},{}", token(1), token(2))
        );
        let nine: Vec<String> = (1..=9).map(token).collect();
        assert!(parse(&nine[..8].join(",")).is_ok());
        let repeated = format!("{},{}", token(1), token(1));
        for wrong in ["", "Cash", "USDC,USDT", ",", &nine.join(","), &repeated] {
            let problem = parse(wrong).unwrap_err();
            assert_eq!(problem.field.as_deref(), Some("into"), "{wrong}");
            assert!(problem.hint.is_some(), "{wrong}");
        }
    }
}
