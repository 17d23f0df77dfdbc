//! What a run of head windows proves of a period.

use super::file::MAX_FIGURE_WINDOWS;
use crate::analytics::shared::standing;
use crate::evidence::{Head, HeadError, HeadWindow, WindowError};
use crate::ids::{PoolId, SnapshotHash};
use crate::json::Part;
use crate::newer::Newer;
use crate::series::Slot;
use crate::tlog::{Checkpoint, CheckpointError, Unsigned, VerifierKey};

/// Why windows do not bear out a period.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PeriodError {
    /// None, or too many.
    #[error("a period is borne out by 1 to {most} windows, found {found}", most = MAX_FIGURE_WINDOWS)]
    Count {
        /// Windows found.
        found: usize,
    },
    /// One does not hold together.
    #[error("window {index}: {error}")]
    Window {
        /// Its place, from 0.
        index: usize,
        /// What is wrong with it.
        error: Box<WindowError>,
    },
    /// Two do not follow each other.
    #[error("window {index} does not follow the one before: {error}")]
    Broken {
        /// The later one's place.
        index: usize,
        /// The rule broken.
        error: Box<HeadError>,
    },
    /// They are of another pool.
    #[error("the windows are of {found}")]
    Pool {
        /// Its pool.
        found: PoolId,
    },
    /// They do not cover the period, or reach past it.
    #[error(
        "the windows are of slots {first} to {last}, which is not the period or more than it needs"
    )]
    Cover {
        /// Their first slot.
        first: Slot,
        /// Their last.
        last: Slot,
    },
}

/// What was found.
pub(super) struct Period {
    /// The standing slots of the period, ascending.
    pub standing: Vec<(Slot, SnapshotHash)>,
    /// How many heads bear it out.
    pub heads: usize,
    /// The signed checkpoint of each window.
    pub checkpoints: Vec<String>,
    /// What this version does not know.
    pub newer: Option<Newer>,
}

impl Period {
    /// The windows hold together, follow each other without a hole, and are those of the period.
    pub fn of(windows: &[Part], pool: &PoolId, from: Slot, to: Slot) -> Result<Self, PeriodError> {
        let found = windows.len();
        if !(1..=MAX_FIGURE_WINDOWS).contains(&found) {
            return Err(PeriodError::Count { found });
        }
        let read = |(index, window): (usize, &Part)| {
            HeadWindow::from_canonical(&window.0)
                .map_err(|error| PeriodError::Window { index, error: Box::new(error) })
        };
        let windows: Vec<HeadWindow> =
            windows.iter().enumerate().map(read).collect::<Result<_, _>>()?;
        for (index, pair) in (1..).zip(windows.windows(2)) {
            let [before, after] = pair else { continue };
            let joint = before.last().zip(after.heads().first());
            if let Some(((last, bytes), (first, _))) = joint {
                let broken = |error| PeriodError::Broken { index, error: Box::new(error) };
                first.check_follows(last, Head::hash_of(bytes)).map_err(broken)?;
            }
        }
        let heads: Vec<&Head> =
            windows.iter().flat_map(HeadWindow::heads).map(|(head, _)| head).collect();
        let Some((first, last)) = heads.first().zip(heads.last()) else {
            return Err(PeriodError::Count { found });
        };
        if first.pool != *pool {
            return Err(PeriodError::Pool { found: first.pool.clone() });
        }
        let first_ends = windows.first().and_then(HeadWindow::last).map(|(head, _)| head.slot);
        let needed = first_ends.is_some_and(|end| end >= from);
        if first.slot > from || last.slot != to || !needed {
            return Err(PeriodError::Cover { first: first.slot, last: last.slot });
        }
        let mut standing = standing(heads.iter().copied());
        standing.retain(|(slot, _)| *slot >= from);
        let checkpoints = windows.iter().map(|window| window.checkpoint().to_owned()).collect();
        let newer = windows.iter().find_map(HeadWindow::newer);
        Ok(Self { standing, heads: heads.len(), checkpoints, newer })
    }

    /// Who signed for the last heads of the windows, all of one log.
    pub fn signers(&self, keys: &[VerifierKey]) -> Result<Vec<String>, NotSigned> {
        let mut signers = Vec::new();
        let mut log: Option<String> = None;
        for note in &self.checkpoints {
            let (checkpoint, note) = Checkpoint::from_note(note).map_err(NotSigned::Unread)?;
            let found = checkpoint.origin.to_string();
            if let Some(expected) = log.clone().filter(|log| *log != found) {
                return Err(NotSigned::OtherLog { expected, found });
            }
            log = Some(found);
            let signer = note.signed_by(&checkpoint.origin, keys);
            signers.push(signer.map_err(|unsigned| NotSigned::By(Box::new(unsigned)))?);
        }
        signers.dedup();
        Ok(signers)
    }
}

/// Why windows are not signed for.
pub(super) enum NotSigned {
    Unread(CheckpointError),
    OtherLog { expected: String, found: String },
    By(Box<Unsigned>),
}
