//! Short forms of `cargo xtask faults`: each kind of fault, a few times.

use exitgap_tests::faults::{
    Part, bit_flip, disk_full, failing_sync, kill, old_backup, power_cut, strace, tamper,
};

/// The part of a run in which everything held.
#[track_caller]
fn held(part: exitgap_tests::faults::Result<Part>) -> Part {
    let part = part.unwrap();
    assert!(part.problems.is_empty(), "{:#?}", part.problems);
    part
}

/// Whether `strace` is here; says so where it is not, and what is not tested then.
fn traces(what: &str) -> bool {
    let missing = strace::missing();
    if let Some(why) = &missing {
        eprintln!("{what} not tested: {why}");
    }
    missing.is_none()
}

#[test]
fn a_killed_writer_has_lost_nothing_and_left_nothing_half() {
    let part = held(kill::run(8, 7, &mut |_, _, _| {}));
    assert_eq!(part.number("kill.count"), 8);
    assert!(part.number("kill.slots_max") >= 4);
}

#[test]
fn what_was_acknowledged_outlasts_a_power_cut_and_would_not_without_syncs() {
    if !traces("power cuts are") {
        return;
    }
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
    let method = part.figures["disk_full.method"].as_str().unwrap();
    eprintln!("the disk that was full: {method}");
    // A database that may not grow leaves the log's folder alone.
    let whole_disk = method.starts_with("a file system");
    assert_eq!(part.number("disk_full.slots_unpublished") > 0, whole_disk);
}

#[test]
fn a_recorder_whose_disk_fails_stops_and_the_next_start_settles_it() {
    if !traces("failing disks are") {
        return;
    }
    let part = held(failing_sync::run(5, &mut |_, _, _| {}));
    assert!(part.number("failing_sync.count") >= 6);
    assert!(part.number("failing_sync.stopped") > 0);
    assert!(part.number("failing_sync.went_on") > 0);
    // The folder's sync that SQLite asks for again, and heeds no answer to.
    assert_eq!(part.number("failing_sync.redundant"), 1);
}

#[test]
fn a_flipped_bit_is_found_or_changes_nothing_that_is_read() {
    let part = held(bit_flip::run(90, 7, &mut |_, _, _| {}));
    assert!(part.number("bit_flip.found") > 90);
    assert!(part.number("bit_flip.harmless") > 0);
    assert_eq!(part.number("bit_flip.tables"), 12);
    assert!(part.number("bit_flip.page_kinds") >= 15);
}

#[test]
fn changed_evidence_is_accepted_only_where_it_is_true() {
    let part = held(tamper::run(4, 1, 1_500, 7, &mut |_, _, _| {}));
    assert!(part.number("tamper.count") > 1_500);
    assert!(part.number("tamper.still_true") > 0);
}

#[test]
fn an_old_backup_is_not_gone_on_with() {
    let part = held(old_backup::run(2, &mut |_, _, _| {}));
    assert_eq!(part.number("old_backup.refused"), 4);
}
