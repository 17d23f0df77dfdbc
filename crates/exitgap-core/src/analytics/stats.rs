//! Code that all figures share.

use crate::evidence::{Head, HeadEntry};
use crate::ids::SnapshotHash;
use crate::pools::RawPrice;
use crate::series::Slot;
use crate::units::{Percent, round_half_even};
use crate::wide::{U1024, narrow};

/// One hundred percent in millionths of a percent.
pub const ONE_HUNDRED_PERCENT: u64 = 100_000_000;

/// The slots of a run of heads that are recorded and not retracted by a head of the run, ascending, each with its
/// snapshot.
pub fn list_standing_slots<'h>(
    heads: impl IntoIterator<Item = &'h Head>,
) -> Vec<(Slot, SnapshotHash)> {
    let mut recorded: Vec<(Slot, SnapshotHash)> = Vec::new();
    for head in heads {
        for retraction in &head.retracts {
            if let Ok(index) = recorded.binary_search_by_key(&retraction.slot, |(slot, _)| *slot) {
                recorded.remove(index);
            }
        }
        if let HeadEntry::Recorded { snapshot, .. } = &head.entry {
            recorded.push((head.slot, *snapshot));
        }
    }
    recorded
}

/// The value at rank `⌈p·n ÷ 100⌉` of `n` ascending values, counted from 1; `None` without values. `p` is at most 100.
/// Nothing is interpolated.
pub fn nearest_rank<T: Copy>(ascending: &[T], p: usize) -> Option<T> {
    let place = ascending.len().checked_mul(p.min(100))?.div_ceil(100).max(1);
    ascending.get(place - 1).copied()
}

/// `100 × part ÷ whole`, half-even to six decimals; `None` if `whole` is zero.
pub fn share_pct(part: i128, whole: u64) -> Option<Percent> {
    if whole == 0 {
        return None;
    }
    let scaled = U1024::from(part.unsigned_abs()) * U1024::from(ONE_HUNDRED_PERCENT);
    let magnitude = i128::try_from(narrow(round_half_even(scaled, U1024::from(whole)))?).ok()?;
    Some(Percent(if part < 0 { -magnitude } else { magnitude }))
}

/// How far the mid price moved, in millionths of a percent of `before`, rounded half-even, and whether it rose; `None`
/// if the exact ratio is below `least_e8`.
pub fn measure_move(before: RawPrice, now: RawPrice, least_e8: u32) -> Option<(Percent, bool)> {
    let cross =
        |a: RawPrice, b: RawPrice| U1024::from(a.numerator()) * U1024::from(b.denominator());
    let (was, is) = (cross(before, now), cross(now, before));
    let rose = is > was;
    let distance = if rose { is - was } else { was - is };
    let scaled = distance * U1024::from(ONE_HUNDRED_PERCENT);
    if scaled < was * U1024::from(least_e8) {
        return None;
    }
    let bound = Percent::BOUND - 1;
    let magnitude = narrow(round_half_even(scaled, was));
    let magnitude =
        magnitude.and_then(|wide| i128::try_from(wide).ok()).map_or(bound, |n| n.min(bound));
    Some((Percent(if rose { magnitude } else { -magnitude }), rose))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_is_one_of_the_values_by_its_rank() {
        let values = [10, 20, 30, 40, 50];
        for (p, expected) in [(0, 10), (5, 10), (20, 10), (21, 20), (50, 30), (95, 50), (100, 50)] {
            assert_eq!(nearest_rank(&values, p), Some(expected), "{p}");
        }
        assert_eq!(nearest_rank::<u8>(&[], 50), None);
    }

    #[test]
    fn a_share_is_rounded_half_even_once() {
        assert_eq!(share_pct(1, 3).unwrap().to_fixed(), "33.333333");
        assert_eq!(share_pct(-2, 3).unwrap().to_fixed(), "-66.666667");
        assert_eq!(share_pct(1, 200_000_000).unwrap(), Percent(0));
        assert_eq!(share_pct(3, 200_000_000).unwrap(), Percent(2));
        assert_eq!(share_pct(1, 0), None);
    }
}
