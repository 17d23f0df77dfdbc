//! Compares the events that endpoints received with the expected ones.

use std::collections::{BTreeMap, BTreeSet};

use super::alerts_scene::Expected;
use super::{Part, Result};
use crate::receiver::Received;

/// Compares the events that endpoints received with the expected ones.
pub(super) fn judge(received: &[Received], expected: &Expected, part: &mut Part) {
    let mut seen: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
    for one in received.iter().filter(|one| one.kind() != "endpoint.challenge") {
        let document = one.json();
        let alert = document["data"]["alert"].as_str().unwrap_or_default();
        let seq = document["data"]["seq"].as_u64().unwrap_or(0);
        let place = usize::try_from(seq).unwrap_or(0);
        let Some((name, events)) = expected.get_key_value(alert) else {
            part.problem("alerts.duplicates_other_id", format!("{alert}: there is no such rule"));
            continue;
        };
        let should = place.checked_sub(1).and_then(|place| events.get(place));
        if should.is_none_or(|(id, body)| *id != one.header("webhook-id") || *body != one.body) {
            part.problem("alerts.duplicates_other_id", format!("{alert} {seq} is another event"));
            continue;
        }
        let of_alert = seen.entry(name).or_default();
        if of_alert.contains(&place) {
            part.count("alerts.duplicates_same_id");
            continue;
        }
        if of_alert.last().copied().unwrap_or(0) + 1 != place {
            part.problem(
                "alerts.out_of_order",
                format!("{alert}: {seq} came before the one before"),
            );
        }
        of_alert.insert(place);
    }
    for (alert, events) in expected {
        let came = seen.get(alert.as_str()).map_or(0, BTreeSet::len);
        for seq in came..events.len() {
            part.problem("alerts.lost", format!("{alert}: {} never came", seq + 1));
        }
    }
}

/// Requires that the comparison notices a missing event, an event with another id, and two swapped events.
pub(super) fn control(received: Vec<Received>, expected: &Expected, part: &mut Part) -> Result<()> {
    let events: Vec<usize> =
        (0..received.len()).filter(|at| received[*at].kind() != "endpoint.challenge").collect();
    let place = |at: usize| received[at].json()["data"]["seq"].clone();
    let alert = |at: usize| received[at].json()["data"]["alert"].clone();
    let first = *events.iter().find(|at| place(**at) == 1).ok_or("no event came")?;
    let second = events.iter().find(|at| place(**at) == 2 && alert(**at) == alert(first));
    let second = *second.ok_or("no second event came")?;
    let id = received[first].header("webhook-id").to_owned();
    let lost = received.iter().filter(|one| one.header("webhook-id") != id).cloned().collect();
    let mut renamed = received.clone();
    renamed[first].headers.insert("webhook-id".to_owned(), "evt_other".to_owned());
    let mut swapped = received;
    swapped.swap(first, second);
    let changed: [(&str, Vec<Received>); 3] =
        [("lost", lost), ("duplicates_other_id", renamed), ("out_of_order", swapped)];
    for (what, received) in changed {
        let mut found = Part::default();
        judge(&received, expected, &mut found);
        if found.number(&format!("alerts.{what}")) == 0 {
            return Err(format!("the comparison does not notice {what}").into());
        }
        part.count("alerts.controls_noticed");
    }
    Ok(())
}
