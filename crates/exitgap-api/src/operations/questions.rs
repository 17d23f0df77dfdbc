//! The validated parameters of each operation.

use exitgap_core::evidence::Base;
use exitgap_core::exit::METHOD_VERSION;
use exitgap_core::ids::{ChainSlug, PoolId, SnapshotHash, StateHash};
use exitgap_core::proof::TickRange;
use exitgap_core::series::Slot;
use exitgap_core::units::{GapLimit, PercentError, SizeUsd};

use super::parameters::{
    BASE, BASE_BY_PLACE, BOARD_SIZE, CHAIN, EVIDENCE_SLOT, FROM, HIGH, HISTORY_LIMIT, INTERVAL,
    LEVEL, LIMIT, LOG_FILE, LOW, METHOD, ORDER, POOL, POOL_CURSOR, RANK_CURSOR, SERIES_SIZE, SIZE,
    SLOT, SLOT_CURSOR, SNAPSHOT_HASH, SORT, STANDARD_SIZE, STATE_HASH, TO,
};
use super::{Given, values};
use crate::parameters::{digits, shown};
use crate::{
    Guards, Interval, Problem, ProblemCode, RowOrder, parse_pool, parse_size, parse_slot, slot_at,
};

/// The highest rank that a cursor of the board can have.
pub(super) const MAX_RANK: usize = 1_000_000;

/// The validated parameters of an operation.
pub trait Question: Sized {
    /// Parses the operation's parameters. A refusal names the parameter at fault.
    fn from_parameters(given: &Given<'_>) -> Result<Self, Problem>;
}

/// For an operation without parameters.
impl Question for () {
    fn from_parameters(_: &Given<'_>) -> Result<Self, Problem> {
        Ok(())
    }
}

/// The parameters of the list of monitored pools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolsAsked {
    /// Only pools of this chain.
    pub chain: Option<ChainSlug>,
    /// Only pools after this one, in the order of their identifiers.
    pub after: Option<PoolId>,
    /// The maximum number of pools.
    pub limit: usize,
}

impl Question for PoolsAsked {
    fn from_parameters(given: &Given<'_>) -> Result<Self, Problem> {
        Ok(Self {
            chain: given.parse_optional(&CHAIN, values::chain)?,
            after: given.parse_optional(&POOL_CURSOR, |text| {
                text.parse().map_err(|_| values::no_cursor(text))
            })?,
            limit: given.parse_required(&LIMIT, |text| values::rows(&LIMIT, text))?,
        })
    }
}

/// A period of a series.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeriesAsked {
    /// The pool.
    pub pool: PoolId,
    /// The token sold, as the caller named it; default: the pool's default base.
    pub base: Option<String>,
    /// The size. Every slot stores the gaps of the standard sizes.
    pub size: SizeUsd,
    /// The first slot; default: the pool's first, or as far back as a page reaches.
    pub from: Option<Slot>,
    /// The last slot; default: the newest.
    pub to: Option<Slot>,
    /// The requirements for the series.
    pub guards: Guards,
}

impl Question for SeriesAsked {
    fn from_parameters(given: &Given<'_>) -> Result<Self, Problem> {
        // A period is clipped to the pool's series, also if it begins before the first slot of all series.
        let from = match given.parse_optional(&FROM, |text| slot_at(FROM.name, text)) {
            Err(problem) if problem.code == ProblemCode::BeforeSeries => Some(Slot::FIRST),
            from => from?,
        };
        let to = given.parse_optional(&TO, |text| slot_at(TO.name, text))?;
        if from.zip(to).is_some_and(|(from, to)| from > to) {
            return Err(Problem::new(ProblemCode::PeriodReversed, "from is after to")
                .field(FROM.name)
                .hint("give the earlier time as from"));
        }
        Ok(Self {
            pool: given.parse_required(&POOL, parse_pool)?,
            base: given.parse_optional(&BASE, values::token_name)?,
            size: given.parse_required(&SERIES_SIZE, parse_size)?,
            from,
            to,
            guards: Guards::from_parameters(given)?,
        })
    }
}

/// The parameters of the worst moments of a period.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StressAsked {
    /// The series and its period.
    pub series: SeriesAsked,
    /// The gap limit that the period is compared with.
    pub limit: Option<GapLimit>,
}

impl Question for StressAsked {
    fn from_parameters(given: &Given<'_>) -> Result<Self, Problem> {
        let limit = given.parse_optional(&LEVEL, |text| {
            text.parse().map_err(|error: PercentError| {
                values::refusal(&LEVEL, &format!("{}: {error}", LEVEL.name))
            })
        })?;
        Ok(Self { series: SeriesAsked::from_parameters(given)?, limit })
    }
}

/// The parameters of open compared with closed markets, over a whole series up to its newest slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HoursAsked {
    /// The series, without a period.
    pub series: SeriesAsked,
}

impl Question for HoursAsked {
    fn from_parameters(given: &Given<'_>) -> Result<Self, Problem> {
        let series = SeriesAsked {
            pool: given.parse_required(&POOL, parse_pool)?,
            base: given.parse_optional(&BASE, values::token_name)?,
            size: given.parse_required(&STANDARD_SIZE, values::standard_size)?,
            from: None,
            to: None,
            guards: Guards::from_parameters(given)?,
        };
        Ok(Self { series })
    }
}

/// The parameters of the figure file of market hours. The base must be `token0` or `token1`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HoursFileAsked {
    /// The series and its period; default: 28 days.
    pub series: SeriesAsked,
}

impl Question for HoursFileAsked {
    fn from_parameters(given: &Given<'_>) -> Result<Self, Problem> {
        given.parse_optional(&BASE_BY_PLACE, |text| {
            values::word(&BASE_BY_PLACE, text, Base::from_code)
        })?;
        SeriesAsked::from_parameters(given).map(|series| Self { series })
    }
}

/// The parameters of a page of a history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryAsked {
    /// The series and its period. A following page begins where the previous one ended, in its order.
    pub series: SeriesAsked,
    /// The interval of its rows.
    pub interval: Interval,
    /// Their order.
    pub order: RowOrder,
    /// The maximum number of rows.
    pub limit: usize,
}

impl Question for HistoryAsked {
    fn from_parameters(given: &Given<'_>) -> Result<Self, Problem> {
        let mut series = SeriesAsked::from_parameters(given)?;
        let order =
            given.parse_required(&ORDER, |text| values::word(&ORDER, text, RowOrder::from_code))?;
        let next = given.parse_optional(&SLOT_CURSOR, |text| match RowOrder::of_cursor(text) {
            Some((of, slot)) if of == order => Ok(slot),
            Some((of, _)) => Err(values::other_order(text, of, order)),
            None => Err(values::no_cursor(text)),
        })?;
        match order {
            RowOrder::Ascending => series.from = next.or(series.from),
            RowOrder::Descending => series.to = next.or(series.to),
        }
        Ok(Self {
            series,
            interval: given.parse_required(&INTERVAL, |text| {
                values::word(&INTERVAL, text, Interval::from_code)
            })?,
            order,
            limit: given
                .parse_required(&HISTORY_LIMIT, |text| values::rows(&HISTORY_LIMIT, text))?,
        })
    }
}

/// The sort key of the board. The most fragile pools come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SortBy {
    /// The gap at the standard size with this index. Pools that cannot fill it come first, then the widest gaps.
    Gap(usize),
    /// The score. Pools without one come last.
    Score,
    /// The score of the book. Pools without one come last.
    BookScore,
    /// The depth, lowest first.
    Depth,
}

/// The parameters of a page of the board.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoardAsked {
    /// Only pools of this chain.
    pub chain: Option<ChainSlug>,
    /// The sort key.
    pub sort_by: SortBy,
    /// The number of pools to skip.
    pub skip: usize,
    /// The maximum number of pools.
    pub limit: usize,
}

impl Question for BoardAsked {
    fn from_parameters(given: &Given<'_>) -> Result<Self, Problem> {
        let chain = given.parse_optional(&CHAIN, values::chain)?;
        let size = given.parse_required(&BOARD_SIZE, values::standard_size)?;
        let size = SizeUsd::STANDARD.iter().position(|standard| *standard == size).unwrap_or(2);
        let sort_by = |text: &str| match text {
            "gap" => Some(SortBy::Gap(size)),
            "score" => Some(SortBy::Score),
            "book_score" => Some(SortBy::BookScore),
            "depth" => Some(SortBy::Depth),
            _ => None,
        };
        let rank = |text: &str| {
            let rank = digits(text).and_then(|rank| usize::try_from(rank).ok());
            rank.filter(|rank| *rank <= MAX_RANK).ok_or_else(|| values::no_cursor(text))
        };
        Ok(Self {
            chain,
            sort_by: given.parse_required(&SORT, |text| values::word(&SORT, text, sort_by))?,
            skip: given.parse_optional(&RANK_CURSOR, rank)?.unwrap_or(0),
            limit: given.parse_required(&LIMIT, |text| values::rows(&LIMIT, text))?,
        })
    }
}

/// The parameters of an evidence file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvidenceAsked {
    /// The pool.
    pub pool: PoolId,
    /// The token sold; default: the pool's default base.
    pub base: Option<Base>,
    /// The slot; default: the newest recorded one.
    pub slot: Option<Slot>,
    /// The size.
    pub size: SizeUsd,
    /// Whether the request names the version of the rules. There is only one version.
    pub names_method: bool,
}

impl EvidenceAsked {
    /// Whether the request names everything that determines the file, so that its bytes never change.
    pub fn is_whole(&self) -> bool {
        self.base.is_some() && self.slot.is_some() && self.names_method
    }
}

impl Question for EvidenceAsked {
    fn from_parameters(given: &Given<'_>) -> Result<Self, Problem> {
        let method = given.parse_optional(&METHOD, |text| match text {
            METHOD_VERSION => Ok(()),
            other => {
                let detail = format!("method version {:?} was never released", shown(other));
                Err(Problem::new(ProblemCode::UnknownMethodVersion, detail)
                    .field(METHOD.name)
                    .hint(format!("released: {METHOD_VERSION}")))
            }
        })?;
        Ok(Self {
            base: given.parse_optional(&BASE_BY_PLACE, |text| {
                values::word(&BASE_BY_PLACE, text, Base::from_code)
            })?,
            slot: given.parse_optional(&EVIDENCE_SLOT, parse_slot)?,
            size: given.parse_required(&SIZE, parse_size)?,
            pool: given.parse_required(&POOL, parse_pool)?,
            names_method: method.is_some(),
        })
    }
}

/// A slot of a pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlotAsked {
    /// The pool.
    pub pool: PoolId,
    /// The slot.
    pub slot: Slot,
}

impl Question for SlotAsked {
    fn from_parameters(given: &Given<'_>) -> Result<Self, Problem> {
        let slot = given.parse_required(&SLOT, parse_slot)?;
        Ok(Self { pool: given.parse_required(&POOL, parse_pool)?, slot })
    }
}

/// The parameters of a state proof.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateProofAsked {
    /// The pool.
    pub pool: PoolId,
    /// The slot.
    pub slot: Slot,
    /// The ticks that the proof must cover; `None`: those that the figures use.
    pub range: Option<TickRange>,
}

impl Question for StateProofAsked {
    fn from_parameters(given: &Given<'_>) -> Result<Self, Problem> {
        let SlotAsked { pool, slot } = SlotAsked::from_parameters(given)?;
        let low = given.parse_optional(&LOW, |text| values::tick(&LOW, text))?;
        let high = given.parse_optional(&HIGH, |text| values::tick(&HIGH, text))?;
        let range = match (low, high) {
            (None, None) => None,
            (Some(low), Some(high)) if low <= high => Some(TickRange { low, high }),
            (Some(_), Some(_)) => return Err(values::refusal(&LOW, "low: it is higher than high")),
            (Some(_), None) => {
                return Err(values::refusal(&HIGH, "high: it must be given with low"));
            }
            (None, Some(_)) => {
                return Err(values::refusal(&LOW, "low: it must be given with high"));
            }
        };
        Ok(Self { pool, slot, range })
    }
}

impl Question for SnapshotHash {
    fn from_parameters(given: &Given<'_>) -> Result<Self, Problem> {
        let read = |text: &str| text.parse().map_err(|_| values::no_hash(text, "snapshot"));
        given.parse_required(&SNAPSHOT_HASH, read)
    }
}

impl Question for StateHash {
    fn from_parameters(given: &Given<'_>) -> Result<Self, Problem> {
        given.parse_required(&STATE_HASH, |text| {
            text.parse().map_err(|_| values::no_hash(text, "state"))
        })
    }
}

/// The parameters of a file in the published log. Only the log's folder shows whether the file exists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogFileAsked {
    /// Its path in the folder, as given.
    pub path: String,
}

impl Question for LogFileAsked {
    fn from_parameters(given: &Given<'_>) -> Result<Self, Problem> {
        Ok(Self { path: given.parse_required(&LOG_FILE, |text| Ok(text.to_owned()))? })
    }
}
