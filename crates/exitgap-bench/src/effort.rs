//! How much a measurement does: as much as its figure needs, or a moment's worth, which only shows that it still works.

use std::fmt;
use std::sync::LazyLock;

/// What makes the bench and the processes it starts do a moment's worth.
pub const FOR_A_MOMENT: &str = "EXITGAP_BENCH_FOR_A_MOMENT";

/// Whether this run is for a moment; its figures mean nothing.
pub fn for_a_moment() -> bool {
    static SET: LazyLock<bool> = LazyLock::new(|| std::env::var_os(FOR_A_MOMENT).is_some());
    *SET
}

/// A number of pools, slots, rounds: what the figure needs, and a moment's worth.
#[derive(Debug, Clone, Copy)]
pub struct Effort<T> {
    whole: T,
    moment: T,
}

impl<T: Copy> Effort<T> {
    /// Both numbers.
    pub const fn new(whole: T, moment: T) -> Self {
        Self { whole, moment }
    }

    /// The number of this run.
    pub fn get(self) -> T {
        if for_a_moment() { self.moment } else { self.whole }
    }
}

impl<T: Copy + fmt::Display> fmt::Display for Effort<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}
