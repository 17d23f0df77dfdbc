//! A sort that is compiled only once.
//!
//! The library's sorts are fast for millions of rows but are compiled again for every type and every order: 5 KB each
//! in the WebAssembly module that a page loads. This crate only sorts a few rows at a time.

use core::cmp::Ordering;
use std::collections::BinaryHeap;

/// Sorts rows; equal rows keep their order.
pub fn sort<T: Clone>(rows: &mut Vec<T>, compare: impl Fn(&T, &T) -> Ordering) {
    let order = positions(rows.len(), &|a, b| compare(&rows[a], &rows[b]));
    *rows = order.into_iter().map(|position| rows[position].clone()).collect();
}

/// The positions of `count` rows in sorted order; equal rows keep their order.
pub fn positions(count: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let place = |position| Place { position, compare };
    let ordered = (0..count).map(place).collect::<BinaryHeap<_>>().into_sorted_vec();
    ordered.into_iter().map(|place| place.position).collect()
}

/// A row's position, ordered like its row.
struct Place<'a> {
    position: usize,
    compare: &'a dyn Fn(usize, usize) -> Ordering,
}

impl Ord for Place<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        let (a, b) = (self.position, other.position);
        (self.compare)(a, b).then(a.cmp(&b))
    }
}

impl PartialOrd for Place<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Place<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Place<'_> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_rows_stay_as_they_were() {
        let mut rows: Vec<(u32, u32)> = (0..200).map(|n| (n * 7 % 5, n)).collect();
        let mut expected = rows.clone();
        expected.sort_by_key(|(key, _)| *key);
        sort(&mut rows, |(a, _), (b, _)| a.cmp(b));
        assert_eq!(rows, expected);
    }
}
