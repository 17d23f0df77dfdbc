//! The versions of the rules. One pass computes both.

/// A version of the rules.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AccuracyRules {
    /// `accuracy/1`: an error of less than half a millionth of a percent counts as exact, orders for an output are
    /// compared like sales, and the worst error is the worst for the seller.
    One,
    /// `accuracy/2`: exact is equal in raw units, orders for an output are judged by their bracket, and the worst error
    /// is the one farthest from zero.
    #[default]
    Two,
}

impl AccuracyRules {
    /// The rules of a version's number.
    pub(super) const fn of(version: u8) -> Self {
        if version == 1 { Self::One } else { Self::Two }
    }

    /// The name and version of these rules.
    pub const fn name(self) -> &'static str {
        match self {
            Self::One => "accuracy/1",
            Self::Two => "accuracy/2",
        }
    }
}
