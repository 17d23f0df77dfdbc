//! Both readings of a depth, from the oracle price and from the pool's own price, and the one sentence that says why
//! a depth is low.

use exitgap_core::analytics::depths::{DepthCause, DepthLows, OracleLead, SlotDepths};
use exitgap_core::series::Slot;
use exitgap_core::units::Percent;
use serde::{Deserialize, Serialize};

use crate::Number;
use crate::number::group_thousands;

/// How far the oracle price was above the pool's own price in the 2,016 slots (7 days) up to a
/// slot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct OracleLead7d {
    /// The largest lead, percent of the oracle price. 0 if the oracle was never ahead.
    pub largest_pct: Number,
    /// The first slot with that lead, RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub largest_time: Option<String>,
    /// The limit above which slots are counted, percent.
    pub limit_pct: Number,
    /// Slots with a lead above the limit.
    pub slots_above: u32,
    /// The longest run of consecutive slots above the limit.
    pub longest_run_slots: u32,
    /// The first slot of that run, RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub longest_run_from: Option<String>,
}

/// The second reading of the lowest depth of the 2,016 slots (7 days) up to a slot. Absent fields
/// are not computed for that slot.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DepthWeek {
    /// The lowest depth at 2% from the pool's own mid price instead of the oracle price, whole USD.
    /// Heads do not commit to it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub lowest_book_7d_usd: Option<Number>,
    /// Why the lowest depth is low. `oracle_led`: the oracle price was above the pool's own price,
    /// around which the pool had more than twice that depth. `thin_book`: around its own price the
    /// pool had nothing either. Absent if neither applies.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub lowest_depth_7d_cause: Option<String>,
    /// The same as a sentence.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub lowest_depth_7d_note: Option<String>,
    /// How far the oracle price was above the pool's own price in these days.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub oracle_lead_7d: Option<OracleLead7d>,
    /// URL of the figure file that proves both lows and the lead, from the snapshots of these days.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub depths_url: Option<String>,
}

/// The second reading of the depth of one slot.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DepthReading {
    /// The depth within the same limit from the pool's own mid price instead of the oracle price,
    /// whole USD. If only the oracle moved away, the other depth falls and this one does not.
    /// Absent if its computation was given up.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub book_usd: Option<Number>,
    /// Why the depth is low: `oracle_led` or `thin_book`. Absent if neither applies.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub depth_cause: Option<String>,
    /// The same as a sentence.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub depth_note: Option<String>,
}

impl DepthWeek {
    /// The readings of a week, with the URL of its figure file if a service answers.
    pub fn from_lows(lows: &DepthLows, depths_url: Option<String>) -> Self {
        let note =
            lows.slot_of_lowest_depth().and_then(|(_, depths)| note(depths, Some(&lows.lead)));
        Self {
            lowest_book_7d_usd: lows.lowest_book.map(|(_, usd)| usd.into()),
            lowest_depth_7d_cause: lows.cause().map(|cause| cause.code().to_owned()),
            lowest_depth_7d_note: note,
            oracle_lead_7d: Some(OracleLead7d::from(&lows.lead)),
            depths_url,
        }
    }
}

impl DepthReading {
    /// The reading of one slot.
    pub fn from_depths(depths: SlotDepths) -> Self {
        Self {
            book_usd: depths.book_usd.map(Number::from),
            depth_cause: depths.cause().map(|cause| cause.code().to_owned()),
            depth_note: note(depths, None),
        }
    }
}

impl From<&OracleLead> for OracleLead7d {
    fn from(lead: &OracleLead) -> Self {
        let percent = |e6: u32| Number::from(Percent(e6.into()));
        Self {
            largest_pct: percent(lead.largest.map_or(0, |(_, largest)| largest)),
            largest_time: lead.largest.map(|(slot, _)| slot.to_string()),
            limit_pct: percent(SlotDepths::LEAD_LIMIT),
            slots_above: lead.slots,
            longest_run_slots: lead.longest_run.map_or(0, |(_, slots)| slots),
            longest_run_from: lead.longest_run.map(|(from, _)| from.to_string()),
        }
    }
}

/// Why a depth is low, as a sentence: of a slot, or with the lead of a week, of the slot with its lowest depth.
fn note(depths: SlotDepths, week: Option<&OracleLead>) -> Option<String> {
    let (depth, book) = (dollars(depths.depth_usd?), dollars(depths.book_usd?));
    let (was, held) = if week.is_some() { ("was", "held") } else { ("is", "holds") };
    Some(match depths.cause()? {
        DepthCause::OracleLed => {
            let lead = lead_in_words(depths.lead_e6);
            let long = week.map_or(String::new(), run_in_words);
            format!(
                "{depth}: the oracle {was} {lead} above the pool{long}. Around its own price the pool {held} {book}."
            )
        }
        DepthCause::ThinBook => {
            format!(
                "{depth}: around its own price, after its fee, the pool {held} nothing within the limit either."
            )
        }
    })
}

/// How long the lead was above its limit.
fn run_in_words(lead: &OracleLead) -> String {
    let slots =
        |slots: u32| if slots == 1 { "1 slot".to_owned() } else { format!("{slots} slots") };
    match lead.longest_run {
        None => String::new(),
        Some((_, run)) if run == lead.slots => {
            format!(" for {} ({} min)", slots(run), u64::from(run) * Slot::SECONDS / 60)
        }
        Some((_, run)) => format!(
            " in {}, at most {} in a row ({} min)",
            slots(lead.slots),
            run,
            u64::from(run) * Slot::SECONDS / 60
        ),
    }
}

/// A lead with one decimal, or two below one percent, rounded half up.
fn lead_in_words(lead_e6: u32) -> String {
    if lead_e6 < 1_000_000 {
        let hundredths = (lead_e6 + 5_000) / 10_000;
        return format!("{}.{:02}%", hundredths / 100, hundredths % 100);
    }
    let tenths = (lead_e6.saturating_add(50_000)) / 100_000;
    format!("{}.{}%", tenths / 10, tenths % 10)
}

fn dollars(usd: u64) -> String {
    format!("${}", group_thousands(usd))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot(n: u32) -> Slot {
        Slot::new(u64::from(Slot::FIRST.number() + n)).unwrap()
    }

    #[test]
    fn a_zero_states_its_cause_in_one_sentence() {
        let led = SlotDepths { depth_usd: Some(0), book_usd: Some(486_468), lead_e6: 5_960_000 };
        let even = SlotDepths { depth_usd: Some(480_000), lead_e6: 0, ..led };
        let week = |from: u32, slots: u32| {
            let depths = |n: u32| if (from..from + slots).contains(&n) { led } else { even };
            let of = (0..20).map(|n| (slot(n), depths(n)));
            DepthWeek::from_lows(&DepthLows::from_slots(of), None)
        };
        let told = week(3, 4);
        assert_eq!(
            told.lowest_depth_7d_note.unwrap(),
            "$0: the oracle was 6.0% above the pool for 4 slots (20 min). Around its own price the pool held $486,468."
        );
        assert_eq!(told.lowest_depth_7d_cause.unwrap(), "oracle_led");
        let lead = told.oracle_lead_7d.unwrap();
        assert_eq!((lead.slots_above, lead.longest_run_slots), (4, 4));
        assert_eq!((lead.largest_pct.as_str(), lead.limit_pct.as_str()), ("5.96", "2"));
        assert_eq!(lead.longest_run_from, Some(slot(3).to_string()));
        assert_eq!(week(3, 0).lowest_depth_7d_note, None);
        let now = DepthReading::from_depths(led);
        assert_eq!(
            now.depth_note.unwrap(),
            "$0: the oracle is 6.0% above the pool. Around its own price the pool holds $486,468."
        );
        let thin = DepthReading::from_depths(SlotDepths { book_usd: Some(0), ..led });
        assert_eq!(thin.depth_cause.as_deref(), Some("thin_book"));
        assert_eq!(
            thin.depth_note.unwrap(),
            "$0: around its own price, after its fee, the pool holds nothing within the limit either."
        );
        assert_eq!(DepthReading::from_depths(even).depth_note, None);
    }

    #[test]
    fn two_runs_are_both_counted() {
        let led = SlotDepths { depth_usd: Some(1), book_usd: Some(90), lead_e6: 2_000_001 };
        let slots = [0, 1, 5].map(|n| (slot(n), led));
        let told = DepthWeek::from_lows(&DepthLows::from_slots(slots), None);
        assert_eq!(
            told.lowest_depth_7d_note.unwrap(),
            "$1: the oracle was 2.0% above the pool in 3 slots, at most 2 in a row (10 min). Around its own price the pool held $90."
        );
        assert_eq!(lead_in_words(994_999), "0.99%");
        assert_eq!(lead_in_words(40_000), "0.04%");
    }
}
