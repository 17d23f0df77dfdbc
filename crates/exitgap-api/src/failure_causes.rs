//! Why a sale over several venues failed in the slots of a report, and the venues that could not take part in it.

use exitgap_core::analytics::{FailureCauses, FigureVenue, LeftOutVenue};
use exitgap_core::series::Slot;
use serde::{Deserialize, Serialize};

use crate::Number;
use crate::number::{decimal, group_thousands};

/// The slots of a report in which the sale failed, by cause.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FailuresByCause {
    /// Slots in which the gap from the oracle price was above the limit, and the gap from the pools'
    /// own prices was not: the oracle led.
    pub oracle_led_slots: u32,
    /// The longest run of consecutive slots of that kind.
    pub oracle_led_longest_run_slots: u32,
    /// The first slot of that run, RFC 3339. `null` if there is no such slot.
    pub oracle_led_longest_run_from: Option<String>,
    /// The widest gap from the oracle price in these slots, percent. `null` in the same case.
    pub oracle_led_worst_gap_pct: Option<Number>,
    /// Slots in which the gap from the pools' own prices was above the limit, or the venues together
    /// could not absorb the sale: the book was too thin.
    pub thin_book_slots: u32,
    /// Both counts in words.
    pub note: String,
}

/// A venue that cannot take part in a report. The report continues without it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct VenueLeftOut {
    /// The pool.
    pub pool: String,
    /// `token0` or `token1`: the token sold.
    pub base: String,
    /// The kind of the pool, whose liquidity cannot be moved to another price.
    pub protocol: String,
    /// Its share of the depth of all venues at 2%, percent, in the last slot in which every venue
    /// has a snapshot. `null` if that is not known.
    pub depth_share_pct: Option<Number>,
}

impl FailuresByCause {
    /// Converts a core result. `failed` is the failure in words, such as `a liquidation lost money`, of `have` slots.
    pub fn new(causes: &FailureCauses, have: u32, failed: &str) -> Self {
        let slots = |slots: u32| group_thousands(slots.into());
        let minutes = u64::from(causes.oracle_led_longest_run_slots) * Slot::SECONDS / 60;
        let run = match causes.oracle_led_slots {
            0 => String::new(),
            _ => format!(" (longest run {} min)", group_thousands(minutes)),
        };
        let note = format!(
            "In {} of {} slots {failed} because the oracle led{run}. In {} the book was too thin.",
            slots(causes.oracle_led_slots),
            slots(have),
            slots(causes.thin_book_slots),
        );
        Self {
            oracle_led_slots: causes.oracle_led_slots,
            oracle_led_longest_run_slots: causes.oracle_led_longest_run_slots,
            oracle_led_longest_run_from: causes
                .oracle_led_longest_run_from
                .map(|slot| slot.to_string()),
            oracle_led_worst_gap_pct: causes.oracle_led_worst_gap_pct.as_deref().and_then(decimal),
            thin_book_slots: causes.thin_book_slots,
            note,
        }
    }
}

impl VenueLeftOut {
    /// Converts a core result, for the venues that were requested.
    pub fn list(left_out: &[LeftOutVenue], venues: &[FigureVenue]) -> Vec<Self> {
        let base_of = |out: &LeftOutVenue| venues.iter().find(|venue| venue.pool == out.pool);
        let listed = left_out.iter().filter_map(|out| Some((out, base_of(out)?.base)));
        listed
            .map(|(out, base)| Self {
                pool: out.pool.to_string(),
                base: base.code().to_owned(),
                protocol: out.protocol.clone(),
                depth_share_pct: out.depth_share_pct.as_deref().and_then(decimal),
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_causes_are_counted_in_one_sentence_each() {
        let from = Slot::FIRST;
        let causes = FailureCauses {
            oracle_led_longest_run_from: Some(from),
            oracle_led_longest_run_slots: 4,
            oracle_led_slots: 12,
            oracle_led_worst_gap_pct: Some("7.500000".to_owned()),
            thin_book_slots: 3,
        };
        let told = FailuresByCause::new(&causes, 2_016, "a liquidation lost money");
        assert_eq!(
            told.note,
            "In 12 of 2,016 slots a liquidation lost money because the oracle led (longest run 20 min). \
             In 3 the book was too thin."
        );
        assert_eq!(told.oracle_led_worst_gap_pct.unwrap().as_str(), "7.5");
        assert_eq!(told.oracle_led_longest_run_from, Some(from.to_string()));
        let none = FailureCauses {
            oracle_led_longest_run_from: None,
            oracle_led_longest_run_slots: 0,
            oracle_led_slots: 0,
            oracle_led_worst_gap_pct: None,
            thin_book_slots: 0,
        };
        assert_eq!(
            FailuresByCause::new(&none, 7, "the gap was above 2%").note,
            "In 0 of 7 slots the gap was above 2% because the oracle led. In 0 the book was too thin."
        );
    }
}
