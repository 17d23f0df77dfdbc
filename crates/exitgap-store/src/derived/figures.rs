//! A slot's figures at the standard sizes, and over the seven days up to it. They all follow from bodies, entries and
//! retractions, and are stored because answers need them quickly.

use std::cmp::Ordering;

use exitgap_core::exit::{Estimate, Exit, Refusal};
use exitgap_core::ids::BlockHash;
use exitgap_core::pools::Direction;
use exitgap_core::series::{MissingReason, Slot};
use exitgap_core::snapshot::Snapshot;
use exitgap_core::units::{GapLimit, Percent, SizeUsd, UsdMicros};

use crate::derived::week::WeekFigures;
use crate::model::{Entry, Pool};

/// The result for a size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gap {
    /// Its `exit_gap_pct`.
    Filled(Percent),
    /// The size has no gap.
    Refused(NoGap),
}

impl Gap {
    /// Converts an estimate.
    pub fn from_estimate(estimate: &Result<Estimate, Refusal>) -> Self {
        match estimate {
            Ok(estimate) => Self::Filled(estimate.gap),
            Err(refusal) => Self::Refused(refusal.into()),
        }
    }
}

/// Why a size has no gap: the core's [`Refusal`], without its raw amounts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoGap {
    /// The size buys less than one raw unit of the token to sell.
    NoInput,
    /// The contract would pay nothing.
    NoOutput,
    /// The recorded liquidity cannot fill it. It fills this much: less than the size.
    BeyondLiquidity(UsdMicros),
    /// The fill and the oracle price are too far apart for a percentage.
    GapOutOfRange,
}

/// The figures of one direction of a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DirectionFigures {
    /// The depth at 2 % in whole dollars; `None` if the search was given up.
    pub depth_usd: Option<u64>,
    /// The gaps of [`SizeUsd::STANDARD`], in that order.
    pub gaps: [Gap; 4],
    /// How far the pool's mid price is below the oracle price; `None` if that is out of a percentage's bounds.
    pub basis: Option<Percent>,
    /// The book: the depth at 2 % from the pool's own mid price, in whole dollars; `None` if the search was given up.
    pub book_usd: Option<u64>,
}

/// The figures of a snapshot in both directions, by the token sold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SnapshotFigures {
    /// Selling token 0, selling token 1.
    pub directions: [DirectionFigures; 2],
    /// Whether any oracle answer is older than its heartbeat.
    pub oracle_stale: bool,
}

/// The depths of the 2,016 slots up to and including a slot, or of those since the pool's first, as of that slot's
/// head. Slots that this head and earlier heads retracted are left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WindowFigures {
    /// The number of them that are missing.
    pub missing_slots: u32,
    /// Selling token 0, selling token 1.
    pub directions: [DepthFigures; 2],
}

/// The depths of one direction over a window; `None` if there are none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DepthFigures {
    /// The median, by nearest rank.
    pub median_usd: Option<u64>,
    /// The earliest slot with the lowest depth, and that depth.
    pub lowest: Option<(Slot, u64)>,
}

/// A retracted slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SlotRetraction {
    /// The slot whose head retracts it.
    pub by: Slot,
    /// The cause.
    pub why: TakenBack,
}

/// Why a slot was retracted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TakenBack {
    /// Its block is not on the chain that became final.
    Orphaned {
        /// The block at which the slot's snapshot was read.
        orphaned: BlockHash,
        /// The final chain's block with that number.
        canonical: BlockHash,
    },
    /// A later full reading proved that its ticks were wrong.
    Misread,
}

/// A slot of a pool, including missing, retracted and last slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Figures {
    /// The recorded entry.
    pub entry: Entry,
    /// Set if the slot was later retracted. Its own values stay, but no other figure counts it.
    pub retraction: Option<SlotRetraction>,
    /// The snapshot's figures; `None` if the slot has no snapshot.
    pub snapshot: Option<SnapshotFigures>,
    /// The seven days up to it.
    pub window: WindowFigures,
    /// Both readings of depth over these days; `None` for a slot written by a version without them, until
    /// `fsck --rebuild` adds them.
    pub week: Option<WeekFigures>,
}

/// A pool's row on a board over all pools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoardRow {
    /// The pool.
    pub pool: Pool,
    /// Its status.
    pub standing: PoolStatus,
    /// Both readings of depth over the seven days up to the newest entry; `None` as in [`Figures::week`].
    pub week: Option<WeekFigures>,
}

/// The status of a pool at its newest entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolStatus {
    /// The slot of its newest entry.
    pub slot: Slot,
    /// Why the newest entry has no snapshot; `None` if it has one or retires the pool.
    pub missing: Option<MissingReason>,
    /// Recorded, unretracted slots so far.
    pub recorded_count: u32,
    /// The newest slot that is recorded and not retracted, with its figures.
    pub newest: Option<(Slot, SnapshotFigures)>,
    /// The number of slots missing since then; all missing slots if there is no such slot.
    pub newer_missing: u32,
    /// Slots retracted since.
    pub newer_retracted: u32,
    /// The seven days up to the newest entry.
    pub window: WindowFigures,
    /// Further values of the slots with the lowest depths, by the token sold.
    pub at_lowest: [Option<AtLowest>; 2],
}

/// The slot with the lowest depth of a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AtLowest {
    /// How far the pool's mid price was below the oracle price.
    pub basis: Option<Percent>,
    /// The number of missing slots in the seven days up to it.
    pub missing_slots: u32,
}

impl SnapshotFigures {
    /// Computes the figures of a snapshot.
    pub fn from_snapshot(snapshot: &Snapshot) -> Self {
        let observation = snapshot.observation();
        let directions = Direction::BOTH.map(|direction| {
            let exit = Exit::from_pool(observation, direction);
            DirectionFigures {
                depth_usd: exit.depth_usd(GapLimit::DEPTH).ok(),
                gaps: SizeUsd::STANDARD.map(|size| Gap::from_estimate(&exit.estimate(size))),
                basis: exit.basis(),
                book_usd: exit.depth_from_mid_usd(GapLimit::DEPTH),
            }
        });
        Self { directions, oracle_stale: observation.oracle_stale() }
    }

    /// The depths, by the token sold.
    pub fn depths(&self) -> [Option<u64>; 2] {
        self.directions.map(|direction| direction.depth_usd)
    }
}

impl Gap {
    /// Compares two gaps; the worse one is greater. A refusal is worse than any gap, and refusals for different reasons
    /// are equal.
    pub fn worse(self, other: Self) -> Ordering {
        match (self, other) {
            (Self::Filled(a), Self::Filled(b)) => a.cmp(&b),
            (Self::Refused(_), Self::Refused(_)) => Ordering::Equal,
            (Self::Refused(_), Self::Filled(_)) => Ordering::Greater,
            (Self::Filled(_), Self::Refused(_)) => Ordering::Less,
        }
    }
}

impl NoGap {
    /// The stable code, that of [`Refusal::code`].
    pub fn code(self) -> &'static str {
        match self {
            Self::NoInput => "rounds_to_no_input",
            Self::NoOutput => "rounds_to_no_output",
            Self::BeyondLiquidity(_) => "beyond_liquidity",
            Self::GapOutOfRange => "gap_out_of_range",
        }
    }
}

impl From<&Refusal> for NoGap {
    fn from(refusal: &Refusal) -> Self {
        match refusal {
            Refusal::NoInput => Self::NoInput,
            Refusal::NoOutput => Self::NoOutput,
            Refusal::BeyondLiquidity { max_fillable_usd, .. } => {
                Self::BeyondLiquidity(*max_fillable_usd)
            }
            // Figures have no orders in parts, and only those can be `NotFollowed`.
            Refusal::GapOutOfRange | Refusal::NotFollowed => Self::GapOutOfRange,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use exitgap_core::U256;

    #[test]
    fn codes_are_the_cores_and_no_fill_is_worst() {
        let (max_fillable_usd, amount) = (UsdMicros(1), U256::ZERO);
        let beyond = Refusal::BeyondLiquidity {
            max_fillable_usd,
            max_amount_in: amount,
            max_amount_out: amount,
        };
        for refusal in [Refusal::NoInput, Refusal::NoOutput, beyond, Refusal::GapOutOfRange] {
            let none = NoGap::from(&refusal);
            assert_eq!(none.code(), refusal.code());
            let none = Gap::Refused(none);
            assert_eq!(none.worse(Gap::Filled(Percent(i128::MAX))), Ordering::Greater);
            assert_eq!(none.worse(Gap::Refused(NoGap::NoInput)), Ordering::Equal);
        }
        let better = Gap::Filled(Percent(-2));
        assert_eq!(better.worse(Gap::Filled(Percent(1))), Ordering::Less);
        assert_eq!(better.worse(Gap::Refused(NoGap::NoInput)), Ordering::Less);
    }
}
