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
/// Nothing is interpolated. Every quantile of the product is computed in this way.
pub fn nearest_rank<T: Copy>(ascending: &[T], p: usize) -> Option<T> {
    nearest_rank_among(ascending, ascending.len(), p)
}

/// The same among `count` values of which only the lowest are given; `None` also if the value at that rank is not given.
pub fn nearest_rank_among<T: Copy>(lowest: &[T], count: usize, p: usize) -> Option<T> {
    lowest.get(index_of_rank(count, p)?).copied()
}

/// The median of values in any order: the one at rank `⌈n ÷ 2⌉`, as [`nearest_rank`] of 50. The order of the values is
/// changed.
pub fn median<T: Copy + Ord>(values: &mut [T]) -> Option<T> {
    let index = index_of_rank(values.len(), 50)?;
    Some(*values.select_nth_unstable(index).1)
}

/// The index of the value at rank `⌈p·n ÷ 100⌉`; `None` without values.
fn index_of_rank(count: usize, p: usize) -> Option<usize> {
    let rank = count.checked_mul(p.min(100))?.div_ceil(100).max(1);
    (count > 0).then_some(rank - 1)
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
    fn the_median_of_an_even_number_is_the_lower_of_the_middle_two() {
        assert_eq!(median(&mut [40, 10, 30, 20]), Some(20));
        assert_eq!(median(&mut [50, 10, 30, 20, 40]), Some(30));
        assert_eq!(median(&mut [7]), Some(7));
        assert_eq!(median::<u8>(&mut []), None);
        for count in 1..40_u32 {
            let ascending: Vec<u32> = (0..count).collect();
            let mut mixed: Vec<u32> = (0..count).map(|n| n * 7_919 % count).collect();
            mixed.sort_unstable_by_key(|n| n.wrapping_mul(2_654_435_761));
            let mut distinct = mixed.clone();
            distinct.sort_unstable();
            assert_eq!(median(&mut mixed), nearest_rank(&distinct, 50), "{count}");
            assert_eq!(nearest_rank(&ascending, 50), Some((count - 1) / 2), "{count}");
        }
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
