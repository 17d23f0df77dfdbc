//! A shock taken from a recorded price drop.

use super::Shock;
use crate::analytics::decay::{DecayEvent, DecayResult};
use crate::analytics::stats::share_pct;
use crate::series::Slot;
use crate::units::Percent;

impl Shock {
    /// The largest price drop in a decay figure, and its slot: how far the mid price fell, and the largest share of the
    /// depth that was withdrawn at a horizon after it, beyond the mechanical effect of the drop. Of equal drops the
    /// first counts. `None` if there was no drop. Both values are capped at [`Shock::MAX`].
    pub fn of_greatest_fall(decay: &DecayResult) -> Option<(Slot, Self)> {
        let falls = decay.events.iter().filter_map(|event| Some((event, fall_e8(event)?)));
        let (event, fall_e8) = falls.reduce(|a, b| if b.1 > a.1 { b } else { a })?;
        let gone = event.at.iter().filter_map(|step| {
            let fixed: u64 = step.book_static_usd.parse().ok()?;
            let is: u64 = step.book_usd.parse().ok()?;
            u32::try_from(share_pct(fixed.checked_sub(is)?.into(), fixed)?.0).ok()
        });
        let haircut_e8 = gone.max().unwrap_or(0).min(Self::MAX);
        Some((event.slot, Self { haircut_e8, fall_e8: fall_e8.min(Self::MAX) }))
    }
}

/// How far the mid price fell; `None` if it rose.
fn fall_e8(event: &DecayEvent) -> Option<u32> {
    let moved = Percent::parse(&event.move_pct).ok()?;
    u32::try_from(moved.0.checked_neg()?).ok().filter(|fall| *fall > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analytics::decay::DecayStep;
    use crate::analytics::made_up::slot;

    fn event(at: u32, move_pct: &str, books: &[(u64, u64)]) -> DecayEvent {
        let step = |(h_slots, (fixed, is)): (u32, &(u64, u64))| DecayStep {
            book_before_usd: "1000".to_owned(),
            book_static_usd: fixed.to_string(),
            book_usd: is.to_string(),
            h_slots,
            liquidity_usd: "0".to_owned(),
            mechanical_usd: "0".to_owned(),
        };
        DecayEvent {
            at: (0..).zip(books).map(step).collect(),
            censored: false,
            half_life_slots: None,
            move_pct: move_pct.to_owned(),
            slot: slot(at),
        }
    }

    #[test]
    fn the_greatest_fall_counts_and_the_most_that_was_gone_after_it() {
        let of = |events: Vec<DecayEvent>| {
            Shock::of_greatest_fall(&DecayResult { events, ..DecayResult::default() })
        };
        let shock = |haircut_e8, fall_e8| Shock { haircut_e8, fall_e8 };
        let events = vec![
            event(3, "9.000000", &[(100, 1)]),
            event(60, "-2.500000", &[(100, 10)]),
            // Nothing is withdrawn at first, a third later. Added liquidity is not a haircut, and an empty book has no
            // share.
            event(120, "-4.100000", &[(900, 900), (900, 600), (900, 1_200), (0, 0)]),
            event(180, "-4.100000", &[(100, 1)]),
        ];
        assert_eq!(of(events.clone()), Some((slot(120), shock(33_333_333, 4_100_000))));
        assert_eq!(of(events[..1].to_vec()), None);
        assert_eq!(of(vec![event(1, "-0.000001", &[])]), Some((slot(1), shock(0, 1))));
        let all = of(vec![event(1, "-99.900000", &[(5, 0)])]);
        assert_eq!(all, Some((slot(1), shock(Shock::MAX, Shock::MAX))));
        assert_eq!(of(Vec::new()), None);
    }
}
