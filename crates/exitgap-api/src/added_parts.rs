//! The parts of a gap as people read them: they add up to the gap that they are shown with.

use exitgap_core::units::{Percent, SizeUsd};

use crate::Amounts;

/// One hundred percent in millionths of a percent.
const WHOLE: i128 = 100_000_000;

/// The parts of a gap, which add up to it. All are percent of the value at the oracle price. The factors in documents
/// ([`SplitPct`](crate::SplitPct)) multiply instead, and the later ones are percent of what the earlier ones leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AddedParts {
    /// The gap: the sum of the parts.
    pub gap: Percent,
    /// How far the pool's mid price is below the oracle price. Negative: the pool pays more than the oracle price.
    pub basis: Percent,
    /// The fee.
    pub fee: Percent,
    /// The price impact, with what rounding leaves.
    pub impact: Percent,
}

impl AddedParts {
    /// The parts of a gap with this basis, whose fee is a percentage of what the basis leaves. `None` if a number is not
    /// a valid percentage.
    pub fn from_factors(gap: Percent, basis: Percent, fee: Percent) -> Option<Self> {
        let fee = fee.0.checked_mul(WHOLE.checked_sub(basis.0)?)?;
        Self::with_rest(gap, basis, Percent(divide_half_even(fee, WHOLE)?))
    }

    fn with_rest(gap: Percent, basis: Percent, fee: Percent) -> Option<Self> {
        let impact = gap.0.checked_sub(basis.0)?.checked_sub(fee.0)?;
        Some(Self { gap, basis, fee, impact: Percent(impact) })
    }

    /// The parts of a gap of several sales together, weighted by their sizes. `None` without sales.
    pub fn of_sales(gap: Percent, sales: &[(SizeUsd, Self)]) -> Option<Self> {
        let sum = |part: fn(&Self) -> Percent| {
            let weighted = sales
                .iter()
                .map(|(size, parts)| i128::from(size.micros()).checked_mul(part(parts).0));
            let sum = weighted.into_iter().try_fold(0_i128, |sum, one| sum.checked_add(one?))?;
            let size = sales.iter().map(|(size, _)| i128::from(size.micros())).sum();
            divide_half_even(sum, size).map(Percent)
        };
        Self::with_rest(gap, sum(|parts| parts.basis)?, sum(|parts| parts.fee)?)
    }

    /// What the sale costs against the pool's own price: fee and impact. `None` if the pool's price is that of the
    /// oracle.
    pub fn against_pool(&self) -> Option<Percent> {
        (self.basis != Percent(0)).then_some(Percent(self.gap.0 - self.basis.0))
    }

    /// The same with fewer decimals, at most six: gap, basis and fee rounded half-even, so that the shown parts add up to
    /// the shown gap.
    pub fn rounded(self, decimals: u32) -> Option<Self> {
        let unit = 10_i128.pow(6_u32.saturating_sub(decimals));
        let round = |percent: Percent| Some(Percent(divide_half_even(percent.0, unit)? * unit));
        Self::with_rest(round(self.gap)?, round(self.basis)?, round(self.fee)?)
    }
}

impl Amounts {
    /// The parts of the gap as they add up.
    pub fn added_parts(&self) -> Option<AddedParts> {
        let percent = |number: &crate::Number| Percent::parse(number.as_str()).ok();
        let (gap, split) = (percent(&self.exit_gap_pct)?, &self.split);
        AddedParts::from_factors(gap, percent(&split.basis_pct)?, percent(&split.fee_pct)?)
    }
}

/// `None` if `by` is not positive.
fn divide_half_even(value: i128, by: i128) -> Option<i128> {
    if by <= 0 {
        return None;
    }
    let (whole, rest) = (value.div_euclid(by), value.rem_euclid(by));
    let up = match rest.cmp(&(by - rest)) {
        core::cmp::Ordering::Greater => 1,
        core::cmp::Ordering::Equal => whole.rem_euclid(2),
        core::cmp::Ordering::Less => 0,
    };
    Some(whole + up)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(gap: i128, basis: i128, fee: i128) -> AddedParts {
        AddedParts::from_factors(Percent(gap), Percent(basis), Percent(fee)).unwrap()
    }

    #[test]
    fn a_gap_that_an_oracle_s_lag_flatters_says_what_the_sale_costs_at_the_pool() {
        let parts = parts(100_000, -350_000, 50_000);
        assert_eq!(parts.against_pool(), Some(Percent(450_000)));
        // The fee is charged on more than the oracle's value.
        assert_eq!((parts.fee, parts.impact), (Percent(50_175), Percent(399_825)));
        let level = AddedParts::from_factors(Percent(31), Percent(0), Percent(3)).unwrap();
        assert_eq!(
            (level.fee, level.impact, level.against_pool()),
            (Percent(3), Percent(28), None)
        );
    }

    #[test]
    fn shown_parts_add_up_to_the_shown_gap_with_any_number_of_decimals() {
        for (gap, basis, fee) in [
            (100_000, -350_000, 50_000),
            (1_005_000, 333_333, 50_000),
            (-12_345, -70_001, 10_000),
            (99_999_999, 99_000_000, 300_000),
            (0, 0, 0),
        ] {
            for decimals in 0..7 {
                let shown = parts(gap, basis, fee).rounded(decimals).unwrap();
                let AddedParts { gap, basis, fee, impact } = shown;
                assert_eq!(basis.0 + fee.0 + impact.0, gap.0, "{shown:?}");
                let unit = 10_i128.pow(6 - decimals);
                assert!([gap, basis, fee, impact].iter().all(|one| one.0 % unit == 0), "{shown:?}");
            }
        }
        let rounded = parts(100_000, -354_999, 50_000).rounded(2).unwrap();
        assert_eq!(
            (rounded.basis, rounded.against_pool()),
            (Percent(-350_000), Some(Percent(450_000)))
        );
    }

    #[test]
    fn sales_count_by_their_sizes() {
        let size = |usd: &str| usd.parse::<SizeUsd>().unwrap();
        let sales = [
            (size("3000"), parts(200_000, -100_000, 50_000)),
            (size("1000"), parts(0, 300_000, 10_000)),
        ];
        let together = AddedParts::of_sales(Percent(150_000), &sales).unwrap();
        assert_eq!(together.basis, Percent(0));
        assert_eq!(together.fee.0 + together.impact.0, 150_000);
        assert_eq!(AddedParts::of_sales(Percent(1), &[]), None);
        let far = Percent(i128::MAX);
        assert_eq!(AddedParts::from_factors(Percent(1), far, far), None);
    }
}
