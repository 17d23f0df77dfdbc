//! The parameters of operations on tokenized stocks.

use exitgap_core::analytics::equity::EquityTerms;
use exitgap_core::evidence::Base;
use exitgap_core::ids::{Address, ChainSlug};
use exitgap_core::units::{GapLimit, SizeUsd};

use super::figures::{FigureAddress, above_zero};
use super::parameters::{
    BASE_BY_PLACE, CHAIN_IN_PATH, EQUITY_GAP, EQUITY_SIZE, FROM, SERIES_SIZE, TO, TOKEN_IN_PATH,
};
use super::questions::SeriesAsked;
use super::{Given, Operation, Question, Target, values};
use crate::{Guards, Number, Problem, parse_size};

/// The parameters of a tokenized stock's figures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EquityAsked {
    /// Its chain.
    pub chain: ChainSlug,
    /// The token.
    pub token: Address,
    /// The size of the gaps.
    pub size: SizeUsd,
    /// The gap limit of the depths.
    pub limit: GapLimit,
    /// The requirements for each pool's series.
    pub guards: Guards,
}

impl Question for EquityAsked {
    fn from_parameters(given: &Given<'_>) -> Result<Self, Problem> {
        Ok(Self {
            chain: given.parse_required(&CHAIN_IN_PATH, values::chain)?,
            token: given.parse_required(&TOKEN_IN_PATH, values::address)?,
            size: given.parse_required(&EQUITY_SIZE, parse_size)?,
            limit: limit(given)?,
            guards: Guards::from_parameters(given)?,
        })
    }
}

/// The parameters of the figure file of a stock's pool. The base must be `token0` or `token1`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EquityFileAsked {
    /// The series and its period; default: 42 days.
    pub series: SeriesAsked,
    /// The gap limit of the depths.
    pub limit: GapLimit,
}

impl Question for EquityFileAsked {
    fn from_parameters(given: &Given<'_>) -> Result<Self, Problem> {
        given.parse_optional(&BASE_BY_PLACE, |text| {
            values::word(&BASE_BY_PLACE, text, Base::from_code)
        })?;
        Ok(Self { series: SeriesAsked::from_parameters(given)?, limit: limit(given)? })
    }
}

fn limit(given: &Given<'_>) -> Result<GapLimit, Problem> {
    given.parse_required(&EQUITY_GAP, |text| {
        above_zero(&EQUITY_GAP, text)?;
        values::gap_limit(text)
    })
}

impl Operation {
    /// The address of a tokenized stock.
    pub fn of_share(self, chain: &ChainSlug, token: Address) -> Target {
        self.target_of(format_args!("{chain}/{token}"))
    }
}

impl FigureAddress for EquityTerms {
    type FileQuestion = EquityFileAsked;

    const FILE: Operation = Operation::EquityFile;

    fn address(&self) -> Target {
        let of = &self.of;
        Self::FILE
            .target_of(&of.pool)
            .with(&SERIES_SIZE, of.size)
            .with(&EQUITY_GAP, Number::from(self.limit))
            .with(&BASE_BY_PLACE, of.base.code())
            .with(&FROM, of.from)
            .with(&TO, of.to)
    }
}
