//! The stream of an owner's events: every event once, in order, equal to what anyone with the rule and the log
//! computes.

use exitgap_api::operations::EventPlace;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::alerts::{Keeping, computed};
use super::stream::{Event, Stream};
use crate::scenes::here::{Here, With};
use crate::scenes::store::slot;

impl Keeping {
    fn ticket(&self, token: &str) -> String {
        let told = self.send("/v1/alerts/ticket", Some(token), &json!({})).found();
        told["ticket"].as_str().unwrap().to_owned()
    }

    fn stream(&self, query: &str, last: Option<&str>) -> Stream {
        Stream::open(self.here.address, &format!("/v1/stream{query}"), last)
    }

    fn status(&self, query: &str) -> u16 {
        self.stream(query, None).head.split(' ').nth(1).unwrap().parse().unwrap()
    }
}

/// The event's name, the slot, and its position in the slot.
fn place(event: &Event) -> (&str, u32, u32) {
    let place = EventPlace::parse(&event.id).unwrap();
    (&event.name, place.slot.number() - slot(0).number(), place.place)
}

#[test]
fn an_owners_stream_tells_of_its_rules_once_they_are_evaluated() {
    let mut keeping = Keeping::new();
    let first = keeping.keep(&keeping.rule(None));
    let token = first["token"].as_str().unwrap().to_owned();
    let mut later = keeping.rule(None);
    later["for_slots"] = json!(2);
    let second = keeping.send("/v1/alerts", Some(&token), &later).json();
    let stranger = keeping.keep(&keeping.rule(None));
    let ticket = keeping.ticket(&token);
    let query = format!("?pool={}&ticket={ticket}", keeping.pool.id);
    let mut stream = keeping.stream(&query, None);
    assert_eq!(place(&stream.next().unwrap()), ("", 0, 1), "where it begins");
    // Seals the slots before any of them is evaluated.
    for n in 0..40 {
        keeping.seal(if n % 5 < 3 { "missing" } else { "recorded" });
    }
    let mut told = Vec::new();
    let is_before = |last: &Event, end: (u32, u32)| (place(last).1, place(last).2) < end;
    while told.last().is_none_or(|last| is_before(last, (40, 1))) {
        told.push(stream.next().unwrap());
    }
    let ids: Vec<EventPlace> = told.iter().map(|one| EventPlace::parse(&one.id).unwrap()).collect();
    assert!(ids.is_sorted_by_key(|one| (one.slot, one.place)), "{ids:?}");
    let slots = told.iter().filter(|one| one.name == "slot").count();
    assert_eq!(slots, 40, "no slot is left out");
    // The events of each rule equal the computed ones, byte for byte.
    for made in [&first, &second] {
        let name = &made["alert"]["alert"];
        let mine = |event: &&Value| event["document"]["data"]["alert"] == *name;
        let events: Vec<Value> = told
            .iter()
            .filter(|one| one.name == "alert")
            .map(|one| serde_json::from_str(&one.data).unwrap())
            .collect();
        let documents: Vec<Vec<u8>> =
            events.iter().filter(mine).map(|one| one["document"].to_string().into()).collect();
        assert!(documents.len() > 10, "{events:?}");
        assert_eq!(documents, computed(keeping.folder.path(), made));
    }
    // In a slot, pool events come first, then the rules in the order of their names; a client that reconnects continues
    // from there.
    let both = told.iter().position(|one| place(one).2 == 3).expect("two rules spoke in a slot");
    let names: Vec<&str> = told[both - 3..=both].iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["slot", "pool", "alert", "alert"]);
    let mut back = keeping.stream(&query, Some(&told[both - 1].id));
    assert_eq!(back.next().unwrap().id, told[both - 1].id, "an id and no data");
    for expected in &told[both..] {
        assert_eq!(back.next().unwrap(), *expected);
    }
    // Another owner gets the events of their own rules, or none.
    let other = keeping.ticket(stranger["token"].as_str().unwrap());
    let from = format!("{}.0", slot(1).number());
    let mut of_other = keeping.stream(&format!("?ticket={other}"), Some(&from));
    let mut of_nobody = keeping.stream("", Some(&from));
    assert_eq!(of_other.next().unwrap().id, of_nobody.next().unwrap().id);
    let event = of_other.next().unwrap();
    assert_eq!(place(&event), ("alert", 1, 1));
    assert!(event.data.contains(stranger["alert"]["alert"].as_str().unwrap()));
    assert_eq!(place(&of_nobody.next().unwrap()), ("slot", 2, 0));
}

#[test]
fn a_ticket_opens_its_owners_stream_and_nothing_else() {
    let keeping = Keeping::new();
    let made = keeping.keep(&keeping.rule(None));
    let token = made["token"].as_str().unwrap();
    assert_eq!(keeping.send("/v1/alerts/ticket", None, &json!({})).status, 401);
    let stranger = format!("exa_{}", "A".repeat(43));
    assert_eq!(keeping.send("/v1/alerts/ticket", Some(&stranger), &json!({})).status, 401);
    let told = keeping.send("/v1/alerts/ticket", Some(token), &json!({})).found();
    let (ticket, expires) = (told["ticket"].as_str().unwrap(), told["expires"].as_str().unwrap());
    assert!(expires.ends_with('Z') && expires.len() == 20, "{expires}");
    assert_eq!(keeping.status(&format!("?ticket={ticket}")), 200);
    // A ticket with another key, a ticket of another owner with this owner's code, the token itself, and an invalid
    // ticket.
    let other = exitgap_server::alerts::AlertKey::from_seed([6; 32]).ticket(&[0; 32], u32::MAX);
    let swapped = format!("ext_{}{}", &other[4..48], &ticket[48..]);
    for wrong in [&other, &swapped] {
        assert_eq!(keeping.status(&format!("?ticket={wrong}")), 401, "{wrong}");
    }
    for wrong in [token, "ext_", &ticket[1..], &ticket[..73], &format!("{ticket}A")] {
        assert_eq!(keeping.status(&format!("?ticket={wrong}")), 400, "{wrong}");
    }
    assert_eq!(keeping.ask("GET", "/v1/alerts", ticket).status, 401, "it lists nothing");
    // A service without stored rules has no such stream.
    let empty = TempDir::new().unwrap();
    let here = Here::start(empty.path(), With::default());
    let stream = Stream::open(here.address, &format!("/v1/stream?ticket={ticket}"), None);
    assert!(stream.head.contains(" 404 "), "{}", stream.head);
}
