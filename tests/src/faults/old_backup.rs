//! An old copy of the store combined with the log that continued without it.

use std::fs;

use exitgap_store::{PublishError, Reader};

use super::home::{Acknowledged, Home};
use super::scene::{Scene, slot};
use super::writer::{arguments, command};
use super::{Part, Progress, Result, disk, memory_folder};

/// The maximum number of slots by which a copy is older than the log.
const SLOTS: u32 = 30;

/// Puts `copies` backups of different ages under a live log, each unchanged and with the checkpoint of its time
/// restored, and starts a recorder. The control is the newest store.
pub fn run(copies: u32, progress: Progress<'_>) -> Result<Part> {
    let mut part = Part::default();
    for key in ["old_backup.count", "old_backup.refused", "old_backup.second_history"] {
        part.set(key, 0_u64);
    }
    let folder = memory_folder()?;
    let home = Home::new(folder.path().join("home"), Scene { pools: 3, positions: 4 });
    fs::create_dir(home.folder())?;
    home.record_until(5)?;
    let backup = |size: u32| folder.path().join(format!("{size}.db"));
    for n in 5..SLOTS {
        Reader::open(home.store())?.backup(backup(n))?;
        home.record_until(n + 1)?;
    }
    let live = fs::read(home.store())?;
    let copies = copies.min(SLOTS - 5);
    for done in 0..copies {
        // Starting with the newest copy, which lacks only one slot.
        let size = SLOTS - 1 - done;
        fs::copy(backup(size), home.store())?;
        attempt(&home, size, &mut part)?;
        let newest = fs::read(home.log().join("checkpoint"))?;
        let then = Reader::open(home.store())?.checkpoint(size.into())?.ok_or("no checkpoint")?;
        fs::write(home.log().join("checkpoint"), then)?;
        attempt(&home, size, &mut part)?;
        fs::write(home.log().join("checkpoint"), newest)?;
        progress("old_backup", u64::from(done) + 1, copies.into());
    }
    fs::write(home.store(), live)?;
    let newest = Some(SLOTS - 1);
    home.check(Acknowledged { committed: newest, published: newest })?;
    home.check(home.go_on()?)?;
    part.note("old_backup: the control, the newest store, is gone on with");
    Ok(part)
}

/// Starts a recorder, which must fail and publish nothing.
fn attempt(home: &Home, size: u32, part: &mut Part) -> Result<()> {
    let before = disk::files(&home.log())?;
    let refusal = home.log_folder().check(&Reader::open(home.store())?);
    let mut words = arguments("recorder", home);
    words.extend(["--until".to_owned(), (size + 1).to_string()]);
    let output = command(&words).spawn()?.wait_with_output()?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    part.count("old_backup.count");
    let named =
        matches!(refusal, Err(PublishError::StoreOlder { .. } | PublishError::SealedBefore { .. }))
            && said.contains("create a second history");
    let recorded = Reader::open(home.store())?.slots()?.map(|(_, last)| last);
    let unchanged = disk::files(&home.log())? == before && recorded == slot(size).previous();
    if named && unchanged && !output.status.success() {
        part.count("old_backup.refused");
    } else {
        let words = format!("a copy of {size} slots: {} {said}", output.status);
        part.problem("old_backup.second_history", words);
    }
    Ok(())
}
