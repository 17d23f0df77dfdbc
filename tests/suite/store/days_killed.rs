//! The writing of closed days is killed at random times: the published days are always valid, and the next start
//! continues.

use std::fs;
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

use exitgap_core::log_folder::days::DayManifest;
use exitgap_store::LogFolder;
use exitgap_store::days::PublishedDays;

use crate::scenes::days::{Days, audit, require_held};

/// The published days, each of which must have its files; at least as many as before.
fn published(days: &Days, before: &[DayManifest]) -> Vec<DayManifest> {
    let folder: LogFolder = days.folder();
    let Some(read) = PublishedDays::from_folder(&folder).unwrap() else { return Vec::new() };
    let manifests = read.history.leaves.iter().map(|leaf| read.manifest(leaf).unwrap());
    let manifests: Vec<DayManifest> = manifests.collect();
    assert_eq!(&manifests[..before.len()], before, "what was published stays");
    for file in manifests.iter().flat_map(|day| day.files.iter().map(move |file| (day.day, file))) {
        let bytes = fs::read(days.path(&format!("{}/{}", file.0, file.1.file))).unwrap();
        assert_eq!(DayManifest::hash_of(&bytes), file.1.sha256);
    }
    manifests
}

#[test]
fn killed_at_any_instant_days_go_on_where_they_were() {
    let days = Days::new();
    days.configure();
    let clean = {
        let clean = Days::new();
        clean.configure();
        let began = Instant::now();
        assert!(clean.command().stdout(Stdio::null()).status().unwrap().success());
        (began.elapsed(), clean.write(), published(&clean, &[]))
    };
    let (whole, rest, expected) = clean;
    assert!(rest.is_empty() && expected.len() == 3);
    let (mut kills, mut known) = (0, Vec::new());
    // The time grows from nothing to the whole duration, and a written day stays.
    for step in 1..=40 {
        let mut child = days.command().stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        sleep(whole.mul_f64(f64::from(step) / 40.0).min(Duration::from_secs(20)));
        let running = child.try_wait().unwrap().is_none();
        child.kill().unwrap();
        child.wait().unwrap();
        kills += u32::from(running);
        known = published(&days, &known);
        if known.len() == 3 {
            break;
        }
    }
    assert!(kills >= 5, "it was killed {kills} times while it wrote");
    assert!(days.command().stdout(Stdio::null()).status().unwrap().success());
    assert_eq!(published(&days, &known), expected, "as if nothing had happened");
    for (day, lacking) in expected.iter().zip([&[][..], &[], &["day_after"]]) {
        require_held(&audit(&days.path(&day.day.to_string()), &days.key()), lacking);
    }
}
