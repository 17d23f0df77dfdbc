//! Flipped bits in published files: checkpoint, key, tiles, manifests, parts.

use std::fs;

use exitgap_core::log_folder::{Manifest, PartRef};
use exitgap_store::Reader;

use super::bit_flip::{Verdict, note};
use super::home::{Home, audit};
use super::scene::{Scene, slot};
use super::{Part, Progress, Result, disk, memory_folder};
use crate::devchain::Rng;

/// Number of slots in the log: one full tile, and a partial one.
const SLOTS: u32 = 258;

/// Flips about `flips` bits, equally many in every kind of file. Each must be found by `exitgap audit` or by the
/// recorder's check before publishing.
pub fn run(flips: u64, rng: &mut Rng, part: &mut Part, progress: Progress<'_>) -> Result<()> {
    let folder = memory_folder()?;
    let home = Home::new(folder.path(), Scene { pools: 2, positions: 3 });
    home.record_until(6)?;
    home.open_or_create()?.fill_until(slot(SLOTS - 2))?;
    home.record_until(SLOTS)?;
    let reader = Reader::open(home.store())?;
    let key = reader.log()?.ok_or("the store has no log")?.keys[0].to_string();
    audit(&home.log(), &key)?;
    let mut names = vec!["checkpoint".to_owned(), "verifier-key".to_owned()];
    for n in [100, SLOTS - 1] {
        let manifest = format!("slots/{}.jsonl", slot(n).number());
        let parts = Manifest::from_bytes(&fs::read(home.log().join(&manifest))?)?.parts;
        names.extend(parts.iter().map(PartRef::path));
        names.push(manifest);
    }
    let tiles = disk::files(&home.log().join("tile"))?;
    names.extend(tiles.keys().map(|name| format!("tile/{}", name.display())));
    part.set("bit_flip.file_kinds", names.len());
    let each = flips.div_ceil(names.len() as u64);
    for (index, name) in names.iter().enumerate() {
        let path = home.log().join(name);
        let whole = fs::read(&path)?;
        for done in 0..each {
            let bit = usize::try_from(rng.below(whole.len() as u64 * 8))?;
            let mut flipped = whole.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            fs::write(&path, &flipped)?;
            let found =
                home.log_folder().check(&reader).is_err() || audit(&home.log(), &key).is_err();
            let verdict = if found {
                Verdict::Found
            } else {
                Verdict::Missed("neither audit nor the folder's check noticed".to_owned())
            };
            part.count("bit_flip.files");
            note(verdict, &format!("{name}, bit {bit}"), part);
            progress("bit_flip (files)", index as u64 * each + done + 1, each * names.len() as u64);
        }
        fs::write(&path, whole)?;
    }
    audit(&home.log(), &key)?;
    Ok(())
}
