//! Limits, owners, two evaluators, order, leases, verification, and the deletion of old entries.

use exitgap_core::alerts::{AlertEvent, AlertEventType};
use exitgap_core::series::Slot;
use exitgap_store::alerts::{
    AlertBounds, AlertCounts, AlertStep, Alerts, DeliveryAttempt, DeliveryTask, EndpointState,
    Full, Kept, KeptAlert, NewAlert, NewEndpoint, Outcome, Owner, Sent,
};

use crate::scenes::store::Place;

const BOUNDS: AlertBounds = AlertBounds { per_client: 3, per_host: 4, most: 6 };
const OWNER: Owner = [1; 32];
const DAY_MS: u64 = 86_400_000;
const HOUR_MS: u64 = 3_600_000;

struct Home(Place);

impl Home {
    fn new() -> Self {
        Self(Place::new("alerts.db"))
    }

    fn open(&self) -> Alerts {
        Alerts::open(&self.0.path).unwrap()
    }
}

/// A mark later than all changes.
const MARK: i64 = i64::MAX;

pub fn new(id: &str, client: u8, host: Option<&str>) -> NewAlert {
    let endpoint = host.map(|host| NewEndpoint {
        url: format!("https://{host}/{id}"),
        host: host.to_owned(),
        salt: [7; 16],
    });
    NewAlert {
        id: id.to_owned(),
        owner: OWNER,
        client: [client; 16],
        idempotency: None,
        request: [0; 32],
        rule: b"{}".to_vec(),
        first_slot: Slot::LAST,
        endpoint,
        expires_s: 1_000,
        run: b"{}".to_vec(),
        state: "ok".to_owned(),
    }
}

fn kept(alerts: &Alerts, new: &NewAlert) -> KeptAlert {
    match alerts.keep(new, &BOUNDS, 0).unwrap() {
        Kept::New(kept) => *kept,
        other => panic!("{other:?}"),
    }
}

fn event(seq: u32, slot: Slot) -> AlertEvent {
    AlertEvent {
        id: format!("evt_{seq}"),
        event: AlertEventType::Firing,
        seq,
        slot,
        canonical: format!("{{\"seq\":{seq}}}").into_bytes(),
    }
}

fn stepped(no: i64, events: Vec<AlertEvent>) -> AlertStep {
    AlertStep { no, events, run: None, state: None, ended: false }
}

/// Takes the next deliveries, without marking them.
fn taken(alerts: &Alerts, now_ms: u64) -> Vec<DeliveryTask> {
    alerts.turn(&[], 10, |_| 4, now_ms, now_ms + 100).unwrap()
}

fn marked(
    alerts: &Alerts,
    sending: &DeliveryTask,
    outcome: Outcome,
    now_ms: u64,
) -> Vec<DeliveryTask> {
    let attempted = [DeliveryAttempt { sending: sending.clone(), outcome }];
    alerts.turn(&attempted, 10, |_| 4, now_ms, now_ms + 100).unwrap()
}

fn seqs(sendings: &[DeliveryTask]) -> Vec<u32> {
    let seq = |sending: &DeliveryTask| match sending.what {
        Sent::Event { seq, .. } => seq,
        Sent::Challenge => 0,
    };
    sendings.iter().map(seq).collect()
}

/// A rule whose endpoint has been verified.
fn verified(alerts: &Alerts, id: &str, host: &str) -> KeptAlert {
    let alert = kept(alerts, &new(id, 1, Some(host)));
    let asked = taken(alerts, 0);
    assert_eq!(asked.len(), 1);
    assert!(marked(alerts, &asked[0], Outcome::Taken, 1).is_empty());
    alert
}

#[test]
fn there_is_room_for_so_many_of_a_client_a_host_and_in_all() {
    let home = Home::new();
    let alerts = home.open();
    for id in ["a1", "a2", "a3"] {
        kept(&alerts, &new(id, 1, Some("one.example")));
    }
    let full = |new: &NewAlert| match alerts.keep(new, &BOUNDS, 0).unwrap() {
        Kept::Full(full) => full,
        other => panic!("{other:?}"),
    };
    assert_eq!(full(&new("a4", 1, None)), Full::Client);
    kept(&alerts, &new("b1", 2, Some("one.example")));
    assert_eq!(full(&new("b2", 2, Some("one.example"))), Full::Host);
    kept(&alerts, &new("b2", 2, Some("two.example")));
    let last = kept(&alerts, &new("c1", 3, None));
    assert_eq!(full(&new("c2", 3, None)), Full::All);
    assert!(alerts.end(last.no, 5).unwrap() && !alerts.end(last.no, 6).unwrap());
    kept(&alerts, &new("c2", 3, None));
    assert_eq!(alerts.counts().unwrap().alerts, 6);
    // Rules that expired make room, too.
    alerts.tidy(1_000_000).unwrap();
    assert_eq!(alerts.counts().unwrap().alerts, 0);
    let ended: Vec<_> = alerts.of_owner(&OWNER, 2_000).unwrap();
    assert!(ended.iter().all(|alert| alert.ended.is_some()) && ended.len() == 7, "{ended:?}");
}

#[test]
fn a_request_that_comes_again_makes_one_rule_and_others_see_none() {
    let home = Home::new();
    let alerts = home.open();
    let named = |id: &str, request: u8| NewAlert {
        idempotency: Some("mine".to_owned()),
        request: [request; 32],
        ..new(id, 1, None)
    };
    let first = kept(&alerts, &named("a1", 1));
    match alerts.keep(&named("a2", 1), &BOUNDS, 9).unwrap() {
        Kept::Again(again) => assert_eq!(*again, first),
        other => panic!("{other:?}"),
    }
    assert_eq!(alerts.keep(&named("a2", 2), &BOUNDS, 9).unwrap(), Kept::OtherRequest);
    assert!(alerts.is_owner(&OWNER).unwrap() && !alerts.is_owner(&[2; 32]).unwrap());
    assert_eq!(alerts.find_alert(&[2; 32], "a1", 0).unwrap(), None);
    // Any request of its owner extends a rule's expiry and never shortens it.
    assert_eq!(alerts.find_alert(&OWNER, "a1", 3_000).unwrap().unwrap().expires_s, 3_000);
    assert_eq!(alerts.find_alert(&OWNER, "a1", 2_000).unwrap().unwrap().expires_s, 3_000);
}

#[test]
fn two_evaluators_make_one_event_and_one_delivery() {
    let home = Home::new();
    let (one, two) = (home.open(), home.open());
    let alert = verified(&one, "a1", "one.example");
    let slot = Slot::FIRST;
    let (changed, mark) = two.changed_since(0).unwrap();
    assert_eq!(changed.len(), 1);
    assert_eq!(two.changed_since(mark).unwrap(), (Vec::new(), mark));
    let step = |run: &str| AlertStep {
        run: Some(run.as_bytes().to_vec()),
        state: Some(run.to_owned()),
        ..stepped(alert.no, vec![event(1, slot)])
    };
    let later = slot.next().unwrap();
    assert_eq!(one.take_slot(later, &[step("later")], MARK, 10).unwrap(), 1);
    // An evaluator that comes later changes nothing, because its stored run is older.
    assert_eq!(two.take_slot(slot, &[step("earlier")], MARK, 11).unwrap(), 0);
    assert_eq!(two.evaluated_slot().unwrap(), Some(later));
    assert_eq!(one.find_alert(&OWNER, "a1", 0).unwrap().unwrap().state, "later");
    assert_eq!(two.changed_since(0).unwrap().0[0].run, b"later");
    let taken = [taken(&one, 20), taken(&two, 20)].concat();
    assert_eq!(seqs(&taken), [1]);
    marked(&one, &taken[0], Outcome::Taken, 21);
    assert_eq!(one.counts().unwrap().delivered, 1);
    // An event that is computed again after its delivery is not sent again.
    assert_eq!(two.take_slot(slot, &[step("earlier")], MARK, 30).unwrap(), 0);
    assert_eq!(self::taken(&two, 500), []);
}

#[test]
fn a_slot_is_evaluated_when_no_event_of_it_is_yet_to_come() {
    let home = Home::new();
    let alerts = home.open();
    let (_, mark) = alerts.changed_since(0).unwrap();
    let [first, second, third] =
        [0, 1, 2].map(|n| Slot::FIRST.number() + n).map(|number| Slot::new(number.into()).unwrap());
    alerts.take_slot(first, &[], mark, 10).unwrap();
    assert_eq!(alerts.evaluated_slot().unwrap(), Some(first));
    let begins = |id: &str, first_slot| NewAlert { first_slot, ..new(id, 1, None) };
    assert_eq!(alerts.keep(&begins("late", first), &BOUNDS, 0).unwrap(), Kept::Passed);
    let rule = kept(&alerts, &begins("a1", second));
    // An evaluation without this rule does not count for the slot.
    alerts.take_slot(second, &[], mark, 11).unwrap();
    assert_eq!(alerts.evaluated_slot().unwrap(), Some(first));
    let (changed, mark) = alerts.changed_since(mark).unwrap();
    assert_eq!(changed.len(), 1);
    let last = AlertStep { ended: true, ..stepped(rule.no, vec![event(1, second)]) };
    alerts.take_slot(second, &[last], mark, 12).unwrap();
    assert_eq!(alerts.evaluated_slot().unwrap(), Some(second), "that the rule ended came after");
    assert_eq!(alerts.said_in(&OWNER, second).unwrap().len(), 1);
    assert_eq!(alerts.said_in(&OWNER, first).unwrap(), []);
    assert_eq!(alerts.said_in(&[0; 32], second).unwrap(), []);
    // A mark that no change has any more does not hide later changes.
    alerts.tidy(40 * 86_400_000).unwrap();
    let (changed, mark) = alerts.changed_since(0).unwrap();
    assert_eq!(changed, []);
    alerts.take_slot(third, &[], mark, 13).unwrap();
    assert_eq!(alerts.evaluated_slot().unwrap(), Some(third));
}

#[test]
fn a_clock_that_was_an_hour_ahead_keeps_nothing_back() {
    let home = Home::new();
    let alerts = home.open();
    let alert = verified(&alerts, "a1", "one.example");
    let right_ms = (Slot::FIRST.unix_s() + 60) * 1_000;
    let ahead_ms = right_ms + 3_600_000;
    let events = vec![event(1, Slot::FIRST)];
    alerts.take_slot(Slot::FIRST, &[stepped(alert.no, events)], MARK, ahead_ms).unwrap();
    assert_eq!(seqs(&taken(&alerts, right_ms)), [1], "it is due when its slot is over");
    // A killed process had taken the delivery, with a lease from a wrong clock.
    assert_eq!(taken(&alerts, right_ms + 1), []);
    assert_eq!(seqs(&taken(&alerts, ahead_ms)), [1]);
    assert_eq!(seqs(&taken(&alerts, right_ms + 2)), [1]);
    assert_eq!(taken(&alerts, right_ms + 3), [], "and a right one is kept to");
}

#[test]
fn a_lease_that_another_took_a_moment_later_is_kept_to() {
    let home = Home::new();
    let (one, two) = (home.open(), home.open());
    let alert = verified(&one, "a1", "one.example");
    let events = vec![event(1, Slot::FIRST)];
    one.take_slot(Slot::FIRST, &[stepped(alert.no, events)], MARK, 1_000).unwrap();
    assert_eq!(seqs(&taken(&one, 1_001)), [1]);
    assert_eq!(taken(&two, 1_000), [], "it looked at its clock and then waited for the other");
    assert_eq!(taken(&two, 1_001 + 100 - 1), [], "until the lease ends");
    assert_eq!(seqs(&taken(&two, 1_001 + 100)), [1]);
}

#[test]
fn of_a_rule_one_event_after_the_other_is_sent_and_what_nobody_marks_again() {
    let home = Home::new();
    let alerts = home.open();
    let alert = verified(&alerts, "a1", "one.example");
    let events = (1..=3).map(|seq| event(seq, Slot::FIRST)).collect();
    assert_eq!(alerts.take_slot(Slot::FIRST, &[stepped(alert.no, events)], MARK, 10).unwrap(), 3);
    let first = taken(&alerts, 10);
    assert_eq!((seqs(&first), first[0].attempt), (vec![1], 1));
    assert_eq!(taken(&alerts, 50), [], "it is leased");
    // The process with the lease ended: the delivery is repeated as the same event.
    let again = taken(&alerts, 120);
    assert_eq!((seqs(&again), again[0].attempt), (vec![1], 1), "nothing is known to have failed");
    let off = Outcome::Failed { again_ms: Some(500), said: "500".to_owned() };
    assert_eq!(marked(&alerts, &again[0], off, 130), [], "the others wait with it");
    let third = taken(&alerts, 500);
    assert_eq!((seqs(&third), third[0].attempt), (vec![1], 2));
    let never = Outcome::Failed { again_ms: None, said: "500".to_owned() };
    let second = marked(&alerts, &third[0], never, 510);
    assert_eq!(seqs(&second), [2]);
    let last = marked(&alerts, &second[0], Outcome::Taken, 520);
    assert_eq!(seqs(&last), [3]);
    marked(&alerts, &last[0], Outcome::Taken, 530);
    let told: Vec<_> = alerts.events(alert.no, 0, 10).unwrap();
    let states: Vec<_> = told.iter().map(|event| event.delivery.clone().unwrap().0).collect();
    assert_eq!(states, ["given_up", "delivered", "delivered"]);
    assert_eq!(alerts.events(alert.no, 2, 10).unwrap().len(), 1);
    // The owner can request redelivery, starting at an event.
    assert_eq!(alerts.send_again(alert.no, 2, 600).unwrap(), 2);
    assert_eq!(seqs(&taken(&alerts, 600)), [2]);
}

#[test]
fn an_endpoint_is_asked_first_three_times_an_hour_and_disabled_when_it_only_fails() {
    let home = Home::new();
    let alerts = home.open();
    let alert = kept(&alerts, &new("a1", 1, Some("one.example")));
    alerts
        .take_slot(Slot::FIRST, &[stepped(alert.no, vec![event(1, Slot::FIRST)])], MARK, 10)
        .unwrap();
    let endpoint = alert.endpoint.unwrap().id;
    for at_ms in [10, 20, 30] {
        let asked = taken(&alerts, at_ms);
        assert_eq!(seqs(&asked), [0], "nothing but the challenge");
        let no = Outcome::Failed { again_ms: Some(at_ms + 1), said: "404".to_owned() };
        assert!(marked(&alerts, &asked[0], no, at_ms).is_empty());
    }
    assert_eq!(taken(&alerts, 40), [], "three times an hour");
    let hour_ms = HOUR_MS;
    let asked = taken(&alerts, hour_ms + 100);
    assert_eq!(seqs(&asked), [0]);
    let event = marked(&alerts, &asked[0], Outcome::Taken, hour_ms + 110);
    assert_eq!(seqs(&event), [1], "what was made before is sent now");
    let fails = |again_ms| Outcome::Failed { again_ms: Some(again_ms), said: "500".to_owned() };
    marked(&alerts, &event[0], fails(2 * DAY_MS), hour_ms + 120);
    let event = taken(&alerts, 2 * DAY_MS);
    marked(&alerts, &event[0], fails(6 * DAY_MS), 2 * DAY_MS);
    let event = taken(&alerts, 6 * DAY_MS);
    marked(&alerts, &event[0], fails(6 * DAY_MS), 6 * DAY_MS);
    let now = alerts.find_alert(&OWNER, "a1", 0).unwrap().unwrap();
    let disabled = now.endpoint.clone().unwrap();
    assert_eq!((disabled.state, now.pending), (EndpointState::Disabled, 1));
    assert_eq!(taken(&alerts, 7 * DAY_MS), []);
    alerts.ask_again(endpoint, 7 * DAY_MS).unwrap();
    let asked = taken(&alerts, 7 * DAY_MS);
    let event = marked(&alerts, &asked[0], Outcome::Taken, 7 * DAY_MS);
    let gone = Outcome::Gone { said: "410".to_owned() };
    assert_eq!(seqs(&event), [1]);
    marked(&alerts, &event[0], gone, 7 * DAY_MS + 1);
    let now = alerts.find_alert(&OWNER, "a1", 0).unwrap().unwrap().endpoint.unwrap();
    assert_eq!((now.state, now.said.as_deref()), (EndpointState::Disabled, Some("410")));
    alerts.rotate(endpoint, 8).unwrap();
    let keys = alerts.find_alert(&OWNER, "a1", 0).unwrap().unwrap().endpoint.unwrap().keys;
    assert_eq!((keys.generation, keys.rotated_ms), (2, Some(8)));
}

#[test]
fn a_host_has_so_many_at_once_and_others_do_not_wait_for_it() {
    let home = Home::new();
    let alerts = home.open();
    let bounds = AlertBounds { per_client: 20, per_host: 20, most: 20 };
    let mut all = Vec::new();
    for place in 0..8 {
        let host = if place < 6 { "busy.example" } else { "other.example" };
        let new = NewAlert { owner: [place; 32], ..new(&format!("a{place}"), 1, Some(host)) };
        match alerts.keep(&new, &bounds, 0).unwrap() {
            Kept::New(kept) => all.push(kept.no),
            other => panic!("{other:?}"),
        }
    }
    let hour_ms = HOUR_MS;
    for turn in 0..3 {
        for asked in taken(&alerts, turn * (hour_ms + 1)) {
            marked(&alerts, &asked, Outcome::Taken, turn * (hour_ms + 1));
        }
    }
    let now_ms = 4 * hour_ms;
    let steps: Vec<_> = all.iter().map(|no| stepped(*no, vec![event(1, Slot::FIRST)])).collect();
    alerts.take_slot(Slot::FIRST, &steps, MARK, now_ms).unwrap();
    let room = |host: &str| if host == "busy.example" { 2 } else { 4 };
    let taken = alerts.turn(&[], 10, room, now_ms, now_ms + 100).unwrap();
    let of = |host: &str| taken.iter().filter(|sending| sending.host == host).count();
    assert_eq!((of("busy.example"), of("other.example")), (2, 2));
}

#[test]
fn what_is_long_past_is_forgotten() {
    let home = Home::new();
    let alerts = home.open();
    let alert = verified(&alerts, "a1", "one.example");
    alerts
        .take_slot(Slot::FIRST, &[stepped(alert.no, vec![event(1, Slot::FIRST)])], MARK, 10)
        .unwrap();
    alerts.end(alert.no, 20).unwrap();
    assert_eq!(taken(&alerts, 20), [], "an owner who deletes it is sent nothing more");
    assert_eq!(alerts.counts().unwrap().events, 1);
    alerts.tidy(31 * DAY_MS).unwrap();
    assert_eq!(alerts.counts().unwrap(), AlertCounts::default());
    assert!(!alerts.is_owner(&OWNER).unwrap());
}
