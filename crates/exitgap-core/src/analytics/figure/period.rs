//! What a sequence of head windows proves about a period.

use super::file::{FigureFills, MAX_FIGURE_WINDOWS};
use super::histories::find_contradiction;
use crate::Newer;
use crate::analytics::accuracy::Fills;
use crate::analytics::stats::list_standing_slots;
use crate::evidence::{Head, HeadError, HeadWindow, WindowError};
use crate::ids::{HeadHash, PoolId, SnapshotHash};
use crate::json::Part;
use crate::series::Slot;
use crate::stable_sort::sort;
use crate::tlog::{Checkpoint, CheckpointError, TrustError, VerifierKey};

/// Why windows do not prove a period.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PeriodError {
    /// No windows, or too many.
    #[error("a period needs 1 to {most} windows, found {found}", most = MAX_FIGURE_WINDOWS)]
    Count {
        /// Windows found.
        found: usize,
    },
    /// A window is invalid.
    #[error("window {index}: {error}")]
    Window {
        /// Its index, from 0.
        index: usize,
        /// The reason.
        error: Box<WindowError>,
    },
    /// A window does not follow the previous one.
    #[error("window {index} does not follow the previous one: {error}")]
    Broken {
        /// The later one's place.
        index: usize,
        /// The broken rule.
        error: Box<HeadError>,
    },
    /// They were proven by two histories of one log.
    #[error("window {index} is from another history of the log than those before it: {what}")]
    Histories {
        /// The later one's place.
        index: usize,
        /// Where they differ.
        what: String,
    },
    /// A window belongs to another pool.
    #[error("the windows belong to {found}")]
    Pool {
        /// Its pool.
        found: PoolId,
    },
    /// The windows do not cover the period, or cover more than it needs.
    #[error(
        "the windows cover slots {first} to {last}, which is not the period, or more than it needs"
    )]
    Cover {
        /// Their first slot.
        first: Slot,
        /// Their last slot.
        last: Slot,
    },
}

/// The content of verified windows.
#[derive(Default)]
pub(super) struct Period {
    /// The recorded, unretracted slots of the period, each with the index of its pool, ascending by both.
    pub standing: Vec<(Slot, usize, SnapshotHash)>,
    /// The documents of pool logs that heads of the period commit to, ascending within each pool.
    pub fills: Vec<FigureFills>,
    /// The number of heads in the windows.
    pub heads: usize,
    /// Each of them, in the order of the windows.
    pub hashes: Vec<(PoolId, Slot, HeadHash)>,
    /// The signed checkpoint of each window.
    pub checkpoints: Vec<String>,
    /// The first value that this version does not know.
    pub newer: Option<Newer>,
    /// A slot with a lowest depth in one direction and no depth in the other.
    pub given_up: Option<Slot>,
}

impl Period {
    /// Requires that the windows are valid, belong to the pools in their order, and for each pool are consecutive and
    /// cover exactly the period.
    pub fn from_windows(
        windows: &[Part],
        pools: &[PoolId],
        from: Slot,
        to: Slot,
    ) -> Result<Self, PeriodError> {
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
        if let Some((index, what)) = find_contradiction(windows.iter().map(HeadWindow::proof)) {
            return Err(PeriodError::Histories { index, what });
        }
        let pool_of =
            |window: &HeadWindow| window.heads().first().map(|(head, _)| head.pool.clone());
        let (mut all, mut rest) = (Self::default(), windows.as_slice());
        for (place, pool) in pools.iter().enumerate() {
            let of_another = |window: &HeadWindow| pool_of(window).as_ref() != Some(pool);
            let count = rest.iter().position(of_another).unwrap_or(rest.len());
            let (own, further) = rest.split_at(count);
            let first = windows.len() - rest.len();
            let (heads, standing) = borne_out(own, first, from, to).map_err(|error| {
                let other = rest.first().and_then(pool_of).filter(|_| own.is_empty());
                other.map_or(error, |found| PeriodError::Pool { found })
            })?;
            all.heads += heads;
            all.fills.extend(list_committed_fills(own, pool, from));
            all.standing.extend(standing.into_iter().map(|(slot, hash)| (slot, place, hash)));
            rest = further;
        }
        if let Some(found) = rest.first().and_then(pool_of) {
            return Err(PeriodError::Pool { found });
        }
        let named = windows.iter().flat_map(HeadWindow::heads);
        let hash =
            |(head, bytes): &(Head, Vec<u8>)| (head.pool.clone(), head.slot, Head::hash_of(bytes));
        all.hashes = named.map(hash).collect();
        sort(&mut all.standing, |a, b| (a.0, a.1).cmp(&(b.0, b.1)));
        all.checkpoints = windows.iter().map(|window| window.checkpoint().to_owned()).collect();
        all.newer = windows.iter().find_map(HeadWindow::newer);
        all.given_up = windows.iter().find_map(HeadWindow::given_up);
        Ok(all)
    }

    /// The keys that signed the checkpoints of the windows, which must all belong to one log.
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

/// The documents of logs that the heads of one pool commit to, from a slot on.
fn list_committed_fills<'w>(
    windows: &'w [HeadWindow],
    pool: &'w PoolId,
    from: Slot,
) -> impl Iterator<Item = FigureFills> + 'w {
    let heads = windows.iter().flat_map(HeadWindow::heads).map(|(head, _)| head);
    heads.filter(move |head| head.slot >= from).filter_map(move |head| {
        let document = head.commits.get(Fills::NAME)?;
        Some(FigureFills { document, pool: pool.clone(), slot: head.slot })
    })
}

/// The number of heads in one pool's windows, and its recorded, unretracted slots of the period. `place` is the index
/// of the first window.
fn borne_out(
    windows: &[HeadWindow],
    place: usize,
    from: Slot,
    to: Slot,
) -> Result<(usize, Vec<(Slot, SnapshotHash)>), PeriodError> {
    for (index, pair) in (place + 1..).zip(windows.windows(2)) {
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
        return Err(PeriodError::Count { found: windows.len() });
    };
    let first_ends = windows.first().and_then(HeadWindow::last).map(|(head, _)| head.slot);
    let needed = first_ends.is_some_and(|end| end >= from);
    if first.slot > from || last.slot != to || !needed {
        return Err(PeriodError::Cover { first: first.slot, last: last.slot });
    }
    let mut standing = list_standing_slots(heads.iter().copied());
    standing.retain(|(slot, _)| *slot >= from);
    Ok((heads.len(), standing))
}

/// Why windows are not signed by a trusted key.
pub(super) enum NotSigned {
    Unread(CheckpointError),
    OtherLog { expected: String, found: String },
    By(Box<TrustError>),
}
