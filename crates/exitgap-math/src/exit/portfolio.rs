//! Sums over several exits.

use crate::units::{Percent, UsdMicros};

/// One exit of a portfolio.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PortfolioPart {
    /// The size to sell.
    pub size: UsdMicros,
    /// The part of it that can be filled: all of it, or the maximum that the pool fills.
    pub filled: UsdMicros,
    /// The gap of the filled part; `None` if nothing can be filled, or if it has no gap.
    pub gap: Option<Percent>,
}

/// The sums over the exits of a portfolio.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PortfolioTotal {
    /// The size to sell.
    pub size: UsdMicros,
    /// The part that cannot be filled.
    pub unfilled: UsdMicros,
    /// The mean gap, weighted by size; `None` if any part cannot be filled.
    pub gap: Option<Percent>,
    /// The mean gap of the parts that have one, weighted by filled size; `None` if there is none.
    pub filled_gap: Option<Percent>,
}

impl PortfolioTotal {
    /// Sums up the parts. The means are computed from the exits' published gaps, `Σ filled × gap ÷ Σ filled`, and
    /// rounded half-even to six decimals once, so a client that has the parts can compute them again.
    pub fn from_parts(parts: &[PortfolioPart]) -> Self {
        let (mut size, mut filled, mut weighted) = (0_u64, 0_u64, 0_i128);
        for part in parts {
            size = size.saturating_add(part.size.0);
            if let Some(Percent(gap)) = part.gap {
                filled = filled.saturating_add(part.filled.0);
                weighted = weighted.saturating_add(gap.saturating_mul(part.filled.0.into()));
            }
        }
        let filled_gap = (filled > 0).then(|| Percent(half_even(weighted, filled.into())));
        let unfilled = UsdMicros(size.saturating_sub(filled));
        let gap = filled_gap.filter(|_| unfilled.0 == 0);
        Self { size: UsdMicros(size), unfilled, gap, filled_gap }
    }
}

/// The index of the worst part: the first one that cannot be filled completely, or else the first one with the largest
/// gap. `None` if there are no parts.
pub fn worst_part(parts: &[PortfolioPart]) -> Option<usize> {
    let rank = |part: &PortfolioPart| (part.filled < part.size, part.gap);
    let worse = |worst: usize, index: usize| {
        if rank(&parts[index]) > rank(&parts[worst]) { index } else { worst }
    };
    (0..parts.len()).reduce(worse)
}

/// `numerator ÷ denominator`, rounded half-even. The denominator must be positive.
fn half_even(numerator: i128, denominator: i128) -> i128 {
    let (quotient, rest) = (numerator.div_euclid(denominator), numerator.rem_euclid(denominator));
    let up = match (rest.saturating_mul(2)).cmp(&denominator) {
        core::cmp::Ordering::Less => false,
        core::cmp::Ordering::Equal => quotient % 2 != 0,
        core::cmp::Ordering::Greater => true,
    };
    quotient + i128::from(up)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(size: u64, filled: u64, gap: Option<i128>) -> PortfolioPart {
        PortfolioPart { size: UsdMicros(size), filled: UsdMicros(filled), gap: gap.map(Percent) }
    }

    #[test]
    fn gaps_are_weighted_by_what_is_filled() {
        let both =
            PortfolioTotal::from_parts(&[part(100, 100, Some(10)), part(300, 300, Some(-50))]);
        assert_eq!((both.gap, both.unfilled), (Some(Percent(-35)), UsdMicros(0)));
        let halves = [(1, 0), (3, 2), (-1, 0), (-3, -2), (5, 2)];
        for (sum, mean) in halves {
            let total = PortfolioTotal::from_parts(&[part(1, 1, Some(sum)), part(1, 1, Some(0))]);
            assert_eq!(total.gap, Some(Percent(mean)), "{sum} / 2");
        }
    }

    #[test]
    fn what_cannot_be_filled_is_worse_than_any_gap() {
        let whole = |gap| part(100, 100, Some(gap));
        assert_eq!(worst_part(&[]), None);
        assert_eq!(worst_part(&[whole(-5), whole(7), whole(7)]), Some(1));
        assert_eq!(worst_part(&[whole(90), part(100, 40, Some(3)), part(100, 0, None)]), Some(1));
        assert_eq!(worst_part(&[part(100, 40, Some(3)), part(100, 40, Some(4))]), Some(1));
    }

    #[test]
    fn what_cannot_be_filled_has_no_gap_and_hides_none() {
        let total = PortfolioTotal::from_parts(&[part(100, 40, Some(10)), part(60, 60, Some(20))]);
        assert_eq!(total.gap, None);
        assert_eq!(total.unfilled, UsdMicros(60));
        assert_eq!(total.filled_gap, Some(Percent(16)));
        let nothing = PortfolioTotal::from_parts(&[part(100, 0, None)]);
        assert_eq!((nothing.gap, nothing.filled_gap), (None, None));
        assert_eq!(nothing.unfilled, UsdMicros(100));
        assert_eq!(PortfolioTotal::from_parts(&[]).gap, None);
    }
}
