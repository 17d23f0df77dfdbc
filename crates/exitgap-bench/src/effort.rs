//! The amount of work per measurement: as much as its figure needs, or a minimal amount that only shows that it still
//! works.

use std::fmt;
use std::sync::LazyLock;

/// The environment variable that makes the benchmark and its processes do only the minimal amount.
pub const FOR_A_MOMENT: &str = "EXITGAP_BENCH_FOR_A_MOMENT";

/// Whether this run does only the minimal amount; its figures are meaningless.
pub fn for_a_moment() -> bool {
    static SET: LazyLock<bool> = LazyLock::new(|| std::env::var_os(FOR_A_MOMENT).is_some());
    *SET
}

/// A number of pools, slots or rounds: the full amount, and the minimal one.
#[derive(Debug, Clone, Copy)]
pub struct Effort<T> {
    whole: T,
    moment: T,
}

impl<T: Copy> Effort<T> {
    /// Creates it from both amounts.
    pub const fn new(whole: T, moment: T) -> Self {
        Self { whole, moment }
    }

    /// The amount for this run.
    pub fn get(self) -> T {
        if for_a_moment() { self.moment } else { self.whole }
    }
}

impl<T: Copy + fmt::Display> fmt::Display for Effort<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}
