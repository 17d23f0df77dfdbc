//! The evaluation of a rule depends only on sealed slots: slot by slot without memory, once at the end, and in
//! WebAssembly, the result is the same.

use exitgap_tests::faults::{Part, alerts_replayed};
use serde_json::Value;

use crate::scenes::npm::Project;

/// Number of slots in a day.
const DAY: u32 = 288;

fn evaluated(days: u32, rules: u32) {
    let mut part = Part::default();
    let replayed = alerts_replayed::run(days * DAY, rules, 11, &mut part, &mut |_, _, _| {});
    let replayed = replayed.unwrap();
    assert_eq!(part.problems, Vec::<String>::new());
    assert!(part.figures["alerts.forgotten"] > 100, "{part:?}");
    assert_eq!(part.figures["alerts.replayed"], replayed.events() as u64);
    let project = Project::new();
    project.add(&["alerts.mjs"]);
    replayed.write(project.path()).unwrap();
    let counts: Value = serde_json::from_str(&project.node(&["alerts.mjs"])).unwrap();
    assert_eq!((&counts["differing"], &counts["compared"]), (&0.into(), &replayed.events().into()));
    assert!(replayed.events() > 1_000, "{counts}");
    assert_eq!(counts["slots"], 3 * (days * DAY + 1));
    for kind in ["resumed", "refused"] {
        assert!(counts[kind].as_u64().unwrap() > 20, "{counts}");
    }
}

#[test]
fn eight_days_say_the_same_slot_by_slot_at_the_end_and_in_webassembly() {
    evaluated(8, 12);
}

#[test]
#[ignore = "slow: some minutes, with `cargo xtask test --all`"]
fn thirty_days_say_the_same_slot_by_slot_at_the_end_and_in_webassembly() {
    evaluated(30, 24);
}
