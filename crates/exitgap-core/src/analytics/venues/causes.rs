//! Why a sale over several venues failed in a slot.

use crate::analytics::runs::SlotRuns;
use crate::json::{Json, Wire, wire_struct};
use crate::series::Slot;
use crate::units::{GapLimit, Percent};

/// The price that depths and gaps are measured from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reference {
    /// The oracle price of the token sold.
    Oracle,
    /// Each pool's own mid price.
    Mid,
}

impl Reference {
    /// The stable code, `oracle` or `mid`.
    pub fn code(self) -> &'static str {
        match self {
            Self::Oracle => "oracle",
            Self::Mid => "mid",
        }
    }

    /// The reference with this code.
    pub fn from_code(code: &str) -> Option<Self> {
        [Self::Oracle, Self::Mid].into_iter().find(|one| one.code() == code)
    }
}

impl Wire for Reference {
    fn from_json(json: &Json<'_>) -> Result<Self, String> {
        let code = String::from_json(json)?;
        Self::from_code(&code).ok_or_else(|| "neither oracle nor mid".to_owned())
    }

    fn to_json(&self) -> Json<'_> {
        Json::Text(self.code().into())
    }
}

/// Slots in which the sale failed, by cause. It failed if its gap was above the limit, or the venues together could not
/// fill it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct FailureCauses {
    /// The first slot of the longest run of consecutive slots in which the oracle led.
    pub oracle_led_longest_run_from: Option<Slot>,
    /// The length of that run.
    pub oracle_led_longest_run_slots: u32,
    /// Slots in which the gap from the oracle price was above the limit, and the gap from the pools' own prices was not.
    pub oracle_led_slots: u32,
    /// The widest gap from the oracle price in these slots.
    pub oracle_led_worst_gap_pct: Option<String>,
    /// Slots in which the gap from the pools' own prices was above the limit, or the venues together could not fill the
    /// sale.
    pub thin_book_slots: u32,
}

wire_struct!(FailureCauses {
    oracle_led_longest_run_from,
    oracle_led_longest_run_slots,
    oracle_led_slots,
    oracle_led_worst_gap_pct,
    thin_book_slots,
});

/// Running totals of [`FailureCauses`].
#[derive(Debug, Default)]
pub(in crate::analytics) struct CauseTally {
    oracle_led: SlotRuns,
    oracle_led_worst: Option<Percent>,
    thin_book: u32,
}

impl CauseTally {
    /// Adds a slot in which the venues filled the sale, with its gaps from the oracle price and from the mids.
    pub fn add_filled(&mut self, slot: Slot, oracle: Percent, mid: Percent, limit: GapLimit) {
        let limit = Percent::from(limit);
        if mid > limit {
            self.thin_book += 1;
        } else if oracle > limit {
            self.oracle_led.add(slot);
            self.oracle_led_worst = self.oracle_led_worst.max(Some(oracle));
        }
    }

    /// Adds a slot in which the venues together could not fill the sale.
    pub fn add_unfillable(&mut self) {
        self.thin_book += 1;
    }

    /// The totals.
    pub fn summed_up(&self) -> FailureCauses {
        FailureCauses {
            oracle_led_longest_run_from: self.oracle_led.longest.map(|(from, _)| from),
            oracle_led_longest_run_slots: self.oracle_led.longest.map_or(0, |(_, slots)| slots),
            oracle_led_slots: self.oracle_led.slots,
            oracle_led_worst_gap_pct: self.oracle_led_worst.map(Percent::to_fixed),
            thin_book_slots: self.thin_book,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analytics::made_up::slot;

    #[test]
    fn a_failure_has_the_cause_that_its_own_price_shows() {
        let limit = GapLimit::from_millionths(4_000_000).unwrap();
        let mut causes = CauseTally::default();
        let slots = [
            (0, 4_000_000, 4_000_000),
            (1, 6_000_000, 4_000_000),
            (2, 7_000_000, 1),
            (3, 5_000_000, 4_000_001),
            (5, 4_000_001, -1),
            // The pools are above the oracle: from their own price, the book is too thin all the same.
            (6, -2_000_000, 4_500_000),
        ];
        for (at, oracle, mid) in slots {
            causes.add_filled(slot(at), Percent(oracle), Percent(mid), limit);
        }
        causes.add_unfillable();
        let expected = FailureCauses {
            oracle_led_longest_run_from: Some(slot(1)),
            oracle_led_longest_run_slots: 2,
            oracle_led_slots: 3,
            oracle_led_worst_gap_pct: Some("7.000000".to_owned()),
            thin_book_slots: 3,
        };
        assert_eq!(causes.summed_up(), expected);
    }
}
