//! Files whose tokens have calendars. Their block is in the weekend in which the series begins.

use serde_json::{Value, json};

use super::{Policy, Scene, Vector, future, trusting};
use crate::hours::XNYS_1;
use crate::series::Slot;

/// A change to a file's sessions, the market state and note of its result, and the vector's name.
type Case = (&'static str, &'static dyn Fn(&mut Value), bool, &'static str);

const WEEKEND: &str = "XNYS@1/weekend";
const BOTH: &str = "XNYS@1/weekend, XNYS@1/weekend";

const CASES: [Case; 15] = [
    ("true_session", &|_| {}, false, WEEKEND),
    (
        "true_session_of_extended_hours",
        &|all| all[0]["calendar"] = json!("xnys_extended"),
        false,
        WEEKEND,
    ),
    ("true_session_of_the_bought_token", &|all| all[0]["token"] = json!(1), false, WEEKEND),
    (
        "true_session_around_the_clock",
        &|all| all[0]["calendar"] = json!("xnys_continuous"),
        true,
        WEEKEND,
    ),
    (
        "true_sessions_of_both_tokens",
        &|all| {
            *all = json!([session(0, "xnys_continuous"), session(1, "xnys_24x5")]);
        },
        false,
        BOTH,
    ),
    ("session_of_another_state", &|all| all[0]["state"] = json!("regular"), false, WEEKEND),
    ("session_with_another_note", &|all| all[0]["note"] = json!("XNYS@1/regular"), false, WEEKEND),
    (
        "session_that_is_all_open",
        &|all| {
            all[0]["state"] = json!("regular");
            all[0]["note"] = json!("XNYS@1/regular");
        },
        true,
        "XNYS@1/regular",
    ),
    ("session_that_the_result_calls_open", &|_| {}, true, WEEKEND),
    ("session_that_the_result_does_not_note", &|_| {}, false, "continuous"),
    ("session_left_out_of_the_snapshot", &|all| *all = json!([]), false, WEEKEND),
    ("session_of_no_token", &|all| all[0]["token"] = json!(2), false, WEEKEND),
    ("session_told_twice", &|all| *all = json!([all[0], all[0]]), false, BOTH),
    (
        "sessions_out_of_order",
        &|all| *all = json!([session(1, "xnys"), session(0, "xnys")]),
        false,
        BOTH,
    ),
    (
        // Known sessions are still checked next to unknown ones.
        "session_of_another_state_beside_a_future_one",
        &|all| {
            let mut other = session(1, "moon");
            other["state"] = json!("full");
            *all = json!([session(0, "xnys"), other]);
            all[0]["state"] = json!("after");
        },
        false,
        BOTH,
    ),
];

fn session(token: u8, calendar: &str) -> Value {
    json!({
        "token": token, "calendar": calendar, "table": XNYS_1.hash().to_string(),
        "state": "weekend", "note": WEEKEND,
    })
}

pub(super) fn is_true(name: &str) -> bool {
    name.starts_with("true_session")
}

pub(super) fn sessions(scene: &Scene) -> Vec<Vector> {
    let policy: fn() -> Policy = trusting;
    let mut all: Vec<Vector> = CASES
        .into_iter()
        .map(|(name, edit, market_open, note)| {
            let evidence = future(scene, &|file| {
                let mut sessions = json!([session(0, "xnys")]);
                edit(&mut sessions);
                file["snapshot"]["sessions"] = sessions;
                file["result"]["market_open"] = json!(market_open);
                file["result"]["session_note"] = json!(note);
            });
            Vector { name, evidence, policy: policy() }
        })
        .collect();
    // A block at the second at which the weekend begins, and one a second earlier with the same session note.
    for (name, second) in [("true_session_as_a_weekend_begins", 0), ("session_a_second_early", 1)] {
        let evidence = future(scene, &|file| {
            file["snapshot"]["sessions"] = json!([session(0, "xnys")]);
            file["snapshot"]["block"]["timestamp"] = json!(Slot::FIRST.unix_s() - second);
            file["result"]["market_open"] = json!(false);
            file["result"]["session_note"] = json!(WEEKEND);
        });
        all.push(Vector { name, evidence, policy: policy() });
    }
    all
}
