//! Closed days in object storage: complete up to the checkpoint of the log of days at every moment.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use exitgap_core::log_folder::LogFile;
use exitgap_core::log_folder::days::{DayFile, DayManifest, DaysFile};
use exitgap_server::bucket::BucketError;
use exitgap_store::LogFolder;
use tempfile::TempDir;

use crate::scenes::days::Days;
use crate::scenes::origin::files;
use crate::store::bucket::Scene;

/// Number of days that the objects' checkpoint covers. Requires that everything it commits to exists.
fn whole(objects: &BTreeMap<String, Vec<u8>>) -> u64 {
    let Some(note) = objects.get("days/checkpoint") else { return 0 };
    let note = String::from_utf8(note.clone()).unwrap();
    let size: u64 = note.lines().nth(1).unwrap().parse().unwrap();
    let manifests = objects.iter().filter(|(name, _)| name.ends_with("/manifest.json"));
    let manifests: Vec<DayManifest> =
        manifests.map(|(_, bytes)| DayManifest::from_canonical(bytes).unwrap()).collect();
    assert!(manifests.len() as u64 >= size);
    for manifest in manifests.iter().take(usize::try_from(size).unwrap()) {
        for file in &manifest.files {
            let name = LogFile::Days(DaysFile::Day(manifest.day, file.file)).to_string();
            assert_eq!(DayManifest::hash_of(&objects[&name]), file.sha256, "{name}");
        }
    }
    for tile in [format!("days/tile/entries/000.p/{size}"), format!("days/tile/0/000.p/{size}")] {
        assert!(objects.contains_key(&tile), "{tile}");
    }
    size
}

#[test]
fn days_are_whole_in_the_bucket_after_any_write_and_come_back_from_there() {
    let days = Days::new();
    days.write();
    let folder = days.folder();
    for applies in [false, true] {
        let scene = Scene::new(applies);
        scene.bring(&without_days(folder.path()), &days.store()).unwrap();
        let (mut writes, mut size) = (0, 0);
        loop {
            scene.fail_after(writes);
            let brought = scene.bring(folder.path(), &days.store());
            let now = whole(&scene.objects());
            assert!(now >= size, "{now} days after {size}");
            size = now;
            writes += 1;
            assert!(writes < 100, "it comes no further");
            if brought.is_ok() {
                break;
            }
        }
        assert_eq!(size, 3);
        assert!(writes > 4, "cut off {writes} times");
        scene.fail_after(-1);
        let narrower = |name: &str| {
            name.starts_with("days/tile/") && (name.ends_with("/1") || name.ends_with("/2"))
        };
        let mut expected = files(folder.path());
        expected.retain(|name, _| !narrower(name));
        assert_eq!(scene.objects(), expected);
        // Downloads them again.
        let home = TempDir::new().unwrap();
        let back = LogFolder::new(home.path().join("log"));
        scene.fetch(&back).unwrap();
        assert_eq!(files(back.path()), expected);
        // Only the days were lost. The download never replaces files of a folder that is further ahead.
        fs::remove_dir_all(back.path().join("days")).unwrap();
        scene.fetch(&back).unwrap();
        assert_eq!(files(back.path()), expected);
        let newest = files(folder.path())["days/checkpoint"].clone();
        let older = String::from_utf8(newest.clone()).unwrap().replace("\n3\n", "\n2\n");
        scene.put("days/checkpoint", older.as_bytes());
        scene.fetch(&back).unwrap();
        assert_eq!(files(back.path())["days/checkpoint"], newest);
    }
}

#[test]
fn another_past_of_days_is_not_written_over() {
    let days = Days::new();
    days.write();
    let scene = Scene::new(false);
    scene.bring(days.folder().path(), &days.store()).unwrap();
    let note = String::from_utf8(fs::read(days.path("checkpoint")).unwrap()).unwrap();
    let root = note.lines().nth(2).unwrap();
    let other = note.replace(root, "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=");
    for wrong in [other.as_str(), &note.replace("\n3\n", "\n4\n"), "exitgap"] {
        scene.put("days/checkpoint", wrong.as_bytes());
        let before = scene.objects();
        let refused = scene.bring(days.folder().path(), &days.store()).unwrap_err();
        assert!(matches!(refused, BucketError::Differs { .. }), "{refused}");
        assert_eq!(scene.objects(), before);
    }
}

/// A copy of a log's folder without closed days.
fn without_days(folder: &Path) -> std::path::PathBuf {
    let copy = folder.with_extension("without-days");
    let _ = fs::remove_dir_all(&copy);
    for (name, bytes) in files(folder) {
        if !name.starts_with("days/") {
            let path = copy.join(&name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
    }
    copy
}

/// Before days leave a database, every copy is read back completely, not only listed.
#[test]
fn a_copy_of_a_day_is_read_back_to_the_last_file() {
    let days = Days::new();
    let manifests = days.write();
    let scene = Scene::new(false);
    scene.bring(days.folder().path(), &days.store()).unwrap();
    for manifest in &manifests {
        scene.check_day(manifest).unwrap();
        let files = manifest.files.iter().map(|file| file.file).chain([DayFile::Manifest]);
        for file in files {
            let name = LogFile::Days(DaysFile::Day(manifest.day, file)).to_string();
            let whole = scene.objects().remove(&name).unwrap();
            scene.remove(&name);
            let error = scene.check_day(manifest).unwrap_err();
            assert!(
                matches!(&error, BucketError::Lacks { object } if object.ends_with(&name)),
                "{error}"
            );
            let mut changed = whole.clone();
            changed[whole.len() / 2] ^= 1;
            scene.put(&name, &changed);
            let error = scene.check_day(manifest).unwrap_err();
            assert!(
                matches!(&error, BucketError::Differs { object } if object.ends_with(&name)),
                "{error}"
            );
            scene.put(&name, &whole);
        }
        scene.check_day(manifest).unwrap();
    }
}
