//! The parameters of a portfolio.

use core::fmt;

use exitgap_core::analytics::route::{PortfolioTerms, SoldAmount};
use exitgap_core::exit::MAX_SOLD_TOKENS;
use exitgap_core::ids::{Address, ChainSlug, PoolId};
use exitgap_core::series::Slot;
use exitgap_core::units::{Percent, SizeUsd};

use super::cash::{into_tokens, pools, units};
use super::parameters::{
    CASH_POOL, CHAIN_IN_PATH, INTO, INTO_TOKENS, POSITION, SIZE, SLOT, SOLD_AMOUNTS, TOLERANCE,
};
use super::{FigureAddress, Given, Into, Operation, Question, Target, values};
use crate::parameters::shown;
use crate::{Guards, Number, Problem, ProblemCode, parse_pool, parse_size, parse_slot};

/// The maximum number of positions in a portfolio.
pub const MAX_POSITIONS: usize = 100;

/// Where a position is sold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Held {
    /// In one pool.
    InPool {
        /// The pool.
        pool: PoolId,
        /// The token sold, as the caller named it; default: the pool's default base.
        base: Option<String>,
    },
    /// For cash, over at most three recorded pools in a row.
    Token {
        /// Its chain.
        chain: ChainSlug,
        /// The token sold.
        token: Address,
    },
}

/// A position to be sold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PositionAsked {
    /// The token and where it is sold.
    pub held: Held,
    /// Its size.
    pub size: SizeUsd,
}

impl PositionAsked {
    /// The text for a form or a link, which [`position_as_written`] can parse again: a size with three decimals would
    /// be ambiguous, so it gets a trailing zero.
    #[must_use]
    pub fn to_written(&self) -> String {
        format!("{}:{}", self.held, crate::size_to_write(self.size))
    }
}

/// As an address spells it.
impl fmt::Display for PositionAsked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.held, self.size)
    }
}

/// As an address spells it.
impl fmt::Display for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InPool { pool, base: Some(base) } => write!(f, "{pool}/{base}"),
            Self::InPool { pool, base: None } => write!(f, "{pool}"),
            Self::Token { chain, token } => write!(f, "{chain}/{token}"),
        }
    }
}

/// The parameters of a portfolio.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortfolioAsked {
    /// 1 to [`MAX_POSITIONS`] positions.
    pub positions: Vec<PositionAsked>,
    /// What tokens that are held must be sold for.
    pub into: Into,
    /// How much less than stated the reader accepts.
    pub tolerance: Percent,
    /// The requirements for each exit, and for each pool of a plan.
    pub guards: Guards,
}

impl PortfolioAsked {
    /// The address of this request.
    pub fn target(&self) -> Target {
        let Self { positions, into, tolerance, guards: _ } = self;
        let add = |target: Target, position: &PositionAsked| target.with(&POSITION, position);
        positions
            .iter()
            .fold(Operation::Portfolio.target(), add)
            .with(&INTO, into)
            .with(&TOLERANCE, Number::from(*tolerance))
    }
}

impl Question for PortfolioAsked {
    fn from_parameters(given: &Given<'_>) -> Result<Self, Problem> {
        let refused = |problem| values::add_hint(problem, &POSITION);
        // Counted before parsing, so that an excessive number is not parsed.
        let count = given.all_values(&POSITION).count();
        if !(1..=MAX_POSITIONS).contains(&count) {
            let detail = format!("a portfolio has 1 to {MAX_POSITIONS} positions, not {count}");
            let problem = Problem::new(ProblemCode::InvalidParameter, detail);
            return Err(refused(problem.field(POSITION.name)));
        }
        let plain =
            |text: &str| parse_size(text).map_err(|problem| values::add_hint(problem, &SIZE));
        let read = |text: &str| {
            position(text, plain).map_err(|problem| {
                let shown: String = text.chars().take(80).collect();
                let detail = format!("position {shown:?}: {}", problem.detail);
                Problem { detail, ..problem.field(POSITION.name) }
            })
        };
        let positions = given.all_values(&POSITION).map(read).collect::<Result<_, _>>()?;
        let into = given.parse_required(&INTO, |text| Into::parse(&INTO, text))?;
        let tolerance = given.parse_required(&TOLERANCE, values::tolerance)?;
        Ok(Self { positions, into, tolerance, guards: Guards::from_parameters(given)? })
    }
}

/// Parses `<pool>:<size_usd>`, `<pool>/<base>:<size_usd>` or `<chain>/<token>:<size_usd>`, with the size as a person
/// writes it, such as `250k`.
pub fn position_as_written(text: &str) -> Result<PositionAsked, Problem> {
    position(text, crate::size_as_written)
}

/// Split at the last colon, because a pool id contains a colon itself. A token contains a slash instead.
fn position(
    text: &str,
    read_size: impl FnOnce(&str) -> Result<SizeUsd, Problem>,
) -> Result<PositionAsked, Problem> {
    let parts = text.rsplit_once(':').filter(|(venue, _)| venue.contains([':', '/']));
    let (venue, size) = parts.ok_or_else(|| {
        values::refusal(&POSITION, "the size is missing after the pool and a colon")
    })?;
    if let Some((chain, token)) = venue.split_once('/').filter(|(chain, _)| !chain.contains(':')) {
        let held = Held::Token { chain: values::chain(chain)?, token: values::address(token)? };
        return Ok(PositionAsked { held, size: read_size(size)? });
    }
    let (pool, base) = match venue.split_once('/') {
        Some((pool, base)) => (pool, Some(base)),
        None => (venue, None),
    };
    let base = base.map(values::token_name).transpose()?;
    Ok(PositionAsked {
        held: Held::InPool { pool: parse_pool(pool)?, base },
        size: read_size(size)?,
    })
}

/// The parameters of the figure file of a portfolio, which name everything that determines it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortfolioFileAsked {
    /// The chain.
    pub chain: ChainSlug,
    /// What is sold, ascending by token.
    pub sold: Vec<SoldAmount>,
    /// The tokens that the sale ends in, ascending.
    pub into: Vec<Address>,
    /// The slot.
    pub slot: Slot,
    /// The pools that count, ascending.
    pub pools: Vec<PoolId>,
}

impl Question for PortfolioFileAsked {
    fn from_parameters(given: &Given<'_>) -> Result<Self, Problem> {
        let chain = given.parse_required(&CHAIN_IN_PATH, values::chain)?;
        let sold = sold_amounts(given)?;
        let into = given.parse_required(&INTO_TOKENS, into_tokens)?;
        let slot = given.parse_required(&SLOT, parse_slot)?;
        let pools = pools(given, &chain)?;
        if let Some(sold) = sold.iter().find(|sold| into.contains(&sold.token)) {
            let detail = format!("into: {} is sold", sold.token);
            return Err(values::refusal(&INTO_TOKENS, &detail));
        }
        Ok(Self { chain, sold, into, slot, pools })
    }
}

/// One to 24 different tokens with their amounts, ascending.
fn sold_amounts(given: &Given<'_>) -> Result<Vec<SoldAmount>, Problem> {
    let sold = |text: &str| {
        let parts = text.split_once(':');
        let read = parts.and_then(|(token, amount)| {
            Some(SoldAmount { token: token.parse().ok()?, amount_in: units(amount)? })
        });
        read.ok_or_else(|| {
            let detail = format!("sold: {:?} is not a token with raw units", shown(text));
            values::refusal(&SOLD_AMOUNTS, &detail)
        })
    };
    let values = given.all_values(&SOLD_AMOUNTS).take(MAX_SOLD_TOKENS + 1).map(sold);
    let mut sold: Vec<SoldAmount> = values.collect::<Result<_, _>>()?;
    let found = sold.len();
    sold.sort_unstable_by_key(|one| one.token);
    sold.dedup_by_key(|one| one.token);
    if !(1..=MAX_SOLD_TOKENS).contains(&found) || sold.len() < found {
        let detail = format!("sold: must be 1 to {MAX_SOLD_TOKENS} different tokens");
        return Err(values::refusal(&SOLD_AMOUNTS, &detail));
    }
    Ok(sold)
}

impl FigureAddress for PortfolioTerms {
    type FileQuestion = PortfolioFileAsked;

    const FILE: Operation = Operation::PortfolioFile;

    fn address(&self) -> Target {
        let chain = self.pools.first().map(|pool| pool.chain().to_string()).unwrap_or_default();
        let target = Self::FILE.target_of(chain);
        let sold = |target: Target, sold: &SoldAmount| {
            target.with(&SOLD_AMOUNTS, format_args!("{}:{}", sold.token, sold.amount_in))
        };
        let target = self.sold.iter().fold(target, sold);
        let target = target
            .with(&INTO_TOKENS, Into::Tokens(self.cash.clone()))
            .with(&SLOT, self.slot.number());
        self.pools.iter().fold(target, |target, pool| target.with(&CASH_POOL, pool))
    }
}
