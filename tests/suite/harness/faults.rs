//! Short versions of `cargo xtask faults`: each kind of fault, a few times.

use exitgap_tests::faults::{
    Part, alerts, bit_flip, budget, disk_full, failing_sync, flood, forged, ha, kill, nodes,
    old_backup, payments, power_cut, s3, strace, tamper,
};

/// Returns a part of a run after requiring that it has no problems.
#[track_caller]
fn held(part: exitgap_tests::faults::Result<Part>) -> Part {
    let part = part.unwrap();
    assert!(part.problems.is_empty(), "{:#?}", part.problems);
    part
}

/// Fails without `strace`: without it, the test cannot inject the fault.
#[track_caller]
fn require_strace() {
    if let Some(why) = strace::missing() {
        panic!("not tested: {why}");
    }
}

#[test]
fn a_killed_writer_has_lost_nothing_and_left_nothing_half() {
    let part = held(kill::run(8, 7, &mut |_, _, _| {}));
    assert_eq!(part.number("kill.count"), 8);
    assert!(part.number("kill.slots_max") >= 4);
}

#[test]
fn what_was_acknowledged_outlasts_a_power_cut_and_would_not_without_syncs() {
    require_strace();
    let part = held(power_cut::run(24, 7, &mut |_, _, _| {}));
    assert_eq!((part.number("power_cut.count"), part.number("power_cut.lost")), (24, 0));
    assert!(part.number("power_cut.control_failed") >= 23);
}

#[test]
fn a_recorder_on_a_full_disk_goes_on_when_there_is_room() {
    let part = held(disk_full::run(4, &mut |_, _, _| {}));
    assert_eq!(part.number("disk_full.count"), 4);
    assert_eq!(part.number("disk_full.resumed"), 4);
    assert!(part.number("disk_full.slots_refused") > 0);
    eprintln!("{}", part.notes.join("; "));
    // If only the database cannot grow, the log's folder is unaffected.
    let whole_disk = part.number("disk_full.mounted") == 1;
    assert_eq!(part.number("disk_full.slots_unpublished") > 0, whole_disk);
}

#[test]
fn a_recorder_whose_disk_fails_stops_and_the_next_start_settles_it() {
    require_strace();
    let part = held(failing_sync::run(5, &mut |_, _, _| {}));
    assert!(part.number("failing_sync.count") >= 6);
    assert!(part.number("failing_sync.stopped") > 0);
    assert!(part.number("failing_sync.went_on") > 0);
    // SQLite requests this sync of the folder redundantly and ignores its result.
    assert_eq!(part.number("failing_sync.redundant"), 1);
}

#[test]
fn a_flipped_bit_is_found_or_changes_nothing_that_is_read() {
    let part = held(bit_flip::run(90, 7, &mut |_, _, _| {}));
    assert!(part.number("bit_flip.found") > 90);
    assert!(part.number("bit_flip.harmless") > 0);
    assert_eq!(part.number("bit_flip.tables"), 19);
    assert!(part.number("bit_flip.page_kinds") >= 15);
}

#[test]
fn changed_evidence_is_accepted_only_where_it_is_true() {
    let part = held(tamper::run(4, 1, 1_500, 7, &mut |_, _, _| {}));
    assert!(part.number("tamper.count") > 1_500);
    assert!(part.number("tamper.still_true") > 0);
}

#[test]
fn forged_files_of_every_kind_are_rejected_by_every_reader() {
    // The command measures the time, on an optimised build; here only growth that is not linear is too much.
    let extent = forged::Extent { mutations: 2_000, most_ms: 2_000, ..forged::WHOLE };
    let part = held(forged::run(extent, 7, &mut |_, _, _| {}));
    assert!(part.number("forged.mutations") >= 1_900, "{:?}", part.figures);
    assert!(part.number("forged.still_true") > 0 && part.number("forged.control_valid") > 0);
    assert!(part.number("forged.disk_lied") > 20);
}

#[test]
#[ignore = "slow: about three minutes, with `cargo xtask test --all`"]
fn a_flood_of_requests_leaves_nothing_behind_and_holds_nobody_up() {
    let part = held(flood::run(&mut |_, _, _| {}));
    assert!(part.number("flood.requests") > 1_000);
    assert!(part.number("flood.files_left") <= 16);
}

#[test]
#[ignore = "slow: `cargo xtask test --all` runs it"]
fn wallets_that_share_a_ledger_reach_their_budget_and_never_exceed_it() {
    let part = held(budget::run(14, 8, 7, &mut |_, _, _| {}));
    assert_eq!((part.number("budget.processes"), part.number("budget.overspent_units")), (22, 0));
    assert_eq!(part.number("budget.unspent_units"), 0);
    assert_eq!(
        (part.number("budget.kills_at_steps"), part.number("budget.kills_at_random")),
        (6, 7)
    );
    assert!(part.number("budget.control_overspent_units") > 0);
}

#[test]
fn kept_rules_are_told_whole_and_in_order_whoever_is_killed() {
    let extent = alerts::Extent { kills: 12, replayed_slots: 288, replayed_rules: 12 };
    let part = held(alerts::run(extent, 7, &mut |_, _, _| {}));
    assert_eq!(part.number("alerts.kills"), 12);
    assert!(part.number("alerts.events") > 100, "{:?}", part.figures);
    assert!(
        part.number("alerts.duplicates_same_id") > 0,
        "a kill fell between sending and marking"
    );
    assert_eq!(
        (part.number("alerts.controls_noticed"), part.number("alerts.disk_full_cases")),
        (3, 5)
    );
    assert!(part.number("alerts.replayed") > 300);
    assert!(part.number("ssrf.cases") >= 60 && part.number("ssrf.control_reached") > 0);
}

/// `faults --json` prints numbers for every fault.
#[test]
fn figures_are_numbers() {
    let program = exitgap_tests::binaries::path("faults");
    let mut harness = std::process::Command::new(program);
    let output = harness.args(["--json", "old_backup", "--only", "kill", "--kills", "1"]).output();
    let output = output.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let figures: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let figures = figures.as_object().unwrap();
    for kind in ["kill.", "old_backup."] {
        assert!(figures.keys().any(|key| key.starts_with(kind)), "{figures:?}");
    }
    assert!(figures.values().all(serde_json::Value::is_u64), "{figures:?}");
}

#[test]
fn an_old_backup_is_not_gone_on_with() {
    let part = held(old_backup::run(2, &mut |_, _, _| {}));
    assert_eq!(part.number("old_backup.refused"), 4);
}

#[test]
#[ignore = "slow: `cargo xtask test --all` runs it"]
fn killed_and_raced_services_settle_once_and_answer_what_was_paid() {
    let extent = payments::Extent {
        attempts: 1_200,
        at_steps: 6,
        at_random: 2,
        control: 4,
        // With so few attempts, a block at the wrong moment may prevent the harm in some of them.
        harm_pct: 75,
        to_the_end: false,
    };
    let part = held(payments::run(extent, 7, &mut |_, _, _| {}));
    assert!(part.number("payments.attempts") >= 1_200);
    assert_eq!((part.number("payments.processes"), part.number("payments.kills")), (4, 8));
    for step in ["verifying", "claimed", "signed", "sent", "mined", "told"] {
        assert_eq!(part.number(&format!("payments.kills_{step}")), 1, "{step}");
    }
    assert!(part.number("payments.transfers") > 20);
    assert_eq!(part.number("payments.control_kills"), 4);
    assert!(part.number("payments.control_failed_pct") >= 75);
}

#[test]
#[ignore = "slow: about three minutes, with `cargo xtask test --all`"]
fn two_recorders_of_a_server_make_one_history_and_would_not_without_claims() {
    let part = held(ha::run(7, 7, &mut |_, _, _| {}));
    assert_eq!((part.number("ha.kills"), part.number("ha.server_kills")), (7, 1));
    assert!(part.number("ha.control_forks") >= 7);
    assert_eq!((part.number("ha.promotions"), part.number("ha.slots_lost")), (1, 0));
}

#[test]
#[ignore = "slow: moto, a Python program (cargo xtask test --all)"]
fn a_bucket_that_fails_in_every_way_has_the_log() {
    let part = held(s3::run(8, 7, &mut |_, _, _| {}));
    assert_eq!((part.number("s3.kills"), part.number("s3.differing")), (8, 0));
    assert!(part.number("s3.faults") >= 8);
}

#[test]
#[ignore = "slow: about a minute, with `cargo xtask test --all`"]
fn a_node_whose_answers_are_changed_harms_nothing_that_another_node_answers() {
    let extent = nodes::Extent { changed_answers: 50, per_kind: 1, alone_per_kind: 0 };
    let part = held(nodes::run(extent, 7, &mut |_, _, _| {}));
    assert!(part.number("nodes.changed_answers") >= 50, "{:?}", part.figures);
    assert_eq!((part.number("nodes.pairs"), part.number("nodes.methods")), (50, 6));
    assert_eq!(part.number("nodes.control_fired_pct"), 100);
}
