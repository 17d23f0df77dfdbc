//! The slots of a recorded series, and why a slot may be missing.

mod day;
mod instant;
mod lookup;
mod missing_reason;
mod slot;

pub use day::{Day, NoDay};
pub use instant::{InstantError, unix_s_of};
pub use lookup::LookupError;
pub use missing_reason::MissingReason;
pub use slot::{Slot, SlotError, rfc3339};

/// `days_observed` in hundredths of a day: recorded slots ÷ 288, truncated to two decimals. It measures the number of
/// recorded slots, not the age of the oldest.
pub fn days_observed_hundredths(recorded_slots: u64) -> u64 {
    recorded_slots.saturating_mul(100) / u64::from(Slot::PER_DAY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_cut_not_rounded() {
        assert_eq!(days_observed_hundredths(0), 0);
        assert_eq!(days_observed_hundredths(287), 99);
        assert_eq!(days_observed_hundredths(288), 100);
        assert_eq!(days_observed_hundredths(2_016), 700);
    }
}
