//! Closed days: Parquet files with other values, whose manifest and log of days were made anew and signed by the log's own
//! key. The heads in a day are signed by the log itself, so that no such day holds.

use std::collections::BTreeMap;
use std::path::Path;

use exitgap_core::evidence::Verdict;
use exitgap_core::ids::BlockHash;
use exitgap_core::log_folder::days::{DayLeaf, DayManifest};
use exitgap_core::series::MissingReason;
use exitgap_core::tlog::{Checkpoint, Frontier, SignerKey, VerifierKey, push_entry};
use exitgap_store::days::{DayFolder, DaysLog, audit_day_among};
use exitgap_store::{Changes, LogFolder, NewRetraction, Reader, Store};
use serde_json::Value;

use super::Result;
use super::forged_change::{below, change_bytes, change_value, one};
use super::forged_kind::{Changed, Kind, Said};
use super::forged_parquet::ParquetTable;
use super::forged_tree::{Copies, Tree, read_tree, replaced_by_heavy, with_replaced, write_tree};
use super::memory_folder;
use super::scene::{BusyPool, key, slot};
use crate::canonical::to_canonical_json;
use crate::devchain::Rng;

/// The first day has this many slots, so that it needs no days before it.
const EVENING: u32 = 12;

/// Closed days of one log: its short first one, and the next.
pub struct Days {
    copies: Copies,
    names: Vec<String>,
    keys: Vec<VerifierKey>,
    tables: BTreeMap<String, ParquetTable>,
}

/// A log whose first two days are closed, each with a whole day after it.
fn make_log() -> Result<(Tree, Vec<VerifierKey>)> {
    let home = memory_folder()?;
    let path = home.path().join("series.db");
    let mut store = Store::create(&path, &key())?;
    let mut pools = [1, 2].map(|number| BusyPool::new(number, 1));
    for n in 0..=EVENING + 2 * 288 {
        let at = slot(288 - EVENING + n);
        let mut changes = Changes::default();
        let first = pools[0].recorded(at);
        let mut entries =
            vec![if n % 3 == 1 { pools[0].missing(MissingReason::ChainLagging) } else { first }];
        if n >= EVENING + 100 {
            entries.push(pools[1].recorded(at));
        }
        // A slot of the first day that the next one retracts, and one within the second.
        for (of, by) in [(5, EVENING + 9), (EVENING + 20, EVENING + 50)] {
            if n == by {
                let (pool, of) = (pools[0].id.clone(), slot(288 - EVENING + of));
                let retraction = NewRetraction::for_orphan(pool, of, BlockHash([9; 32]));
                changes.retractions.push(retraction);
            }
        }
        store.append_slot_with(at, &entries, &changes)?;
    }
    let folder = LogFolder::new(home.path().join("log"));
    folder.publish(store.reader())?;
    let keys = store.reader().log()?.ok_or("the store has no log")?.keys;
    let days = DaysLog::open(folder, &path, vec![key()])?;
    let reader = Reader::open(&path)?;
    while days.write_next(&reader, |_, _| {})?.is_some() {}
    Ok((read_tree(&home.path().join("log/days"))?, keys))
}

impl Days {
    /// The days of a log that is made here.
    pub fn new() -> Result<Self> {
        let (tree, keys) = make_log()?;
        let mut names: Vec<String> = tree
            .keys()
            .filter_map(|name| name.strip_suffix("/manifest.json").map(str::to_owned))
            .collect();
        names.sort();
        // The last closed day lacks the one after it.
        names.pop();
        let mut tables = BTreeMap::new();
        for (name, bytes) in tree.iter().filter(|(name, _)| name.ends_with(".parquet")) {
            tables.insert(name.clone(), ParquetTable::from_bytes(bytes)?);
        }
        let kind = Self { copies: Copies::new(tree), names, keys, tables };
        for seed in 0..kind.names.len() {
            let said = kind.read(0, &kind.whole(seed));
            if said.verdict != Verdict::Valid || !kind.is_true(&said.stated) {
                let name = &kind.names[seed];
                return Err(
                    format!("{name} is {} before anything was changed", said.compared).into()
                );
            }
        }
        if kind.names.is_empty() { Err("no day is closed".into()) } else { Ok(kind) }
    }

    /// The files of a day.
    fn files(&self, seed: usize) -> Vec<&String> {
        let prefix = format!("{}/", self.names[seed]);
        self.copies.tree().keys().filter(|name| name.starts_with(&prefix)).collect()
    }

    /// A file of the day with another value.
    fn change_file(&self, seed: usize, rng: &mut Rng) -> Result<(String, Vec<u8>, u64, String)> {
        let files: Vec<&String> =
            self.files(seed).into_iter().filter(|name| name.ends_with(".parquet")).collect();
        let name = (*one(rng, &files)).clone();
        let mut table = self.tables[&name].clone();
        if rng.once_in(8) {
            let (bytes, what) = change_bytes(rng, &self.copies.tree()[&name], &[]);
            return Ok((name, bytes, table.rows(), what));
        }
        let what = table.change(rng);
        Ok((name, table.to_bytes()?, table.rows(), what))
    }

    /// A day with a changed file or manifest, fit together up to the log of days.
    fn seal_again(&self, seed: usize, rng: &mut Rng) -> Result<Changed> {
        let day = &self.names[seed];
        let path = format!("{day}/manifest.json");
        let mut manifest: Value = serde_json::from_slice(&self.copies.tree()[&path])?;
        let mut files = Vec::new();
        let what = if rng.once_in(6) {
            let other = &self.names[below(rng, self.names.len())];
            let other = &self.copies.tree()[&format!("{other}/manifest.json")];
            change_value(rng, &mut manifest, serde_json::from_slice(other).ok().as_ref())
        } else {
            let (name, bytes, rows, what) = self.change_file(seed, rng)?;
            let short = name.rsplit('/').next().unwrap_or_default().to_owned();
            let listed = manifest["files"].as_array_mut().ok_or("a manifest without files")?;
            let listed = listed.iter_mut().find(|file| file["name"] == short.as_str());
            let listed = listed.ok_or("a file that the manifest does not name")?;
            listed["sha256"] = DayManifest::hash_of(&bytes).to_string().into();
            listed["bytes"] = bytes.len().into();
            listed["rows"] = rows.into();
            files.push((name.clone(), Some(bytes)));
            format!("{name}: {what}")
        };
        let manifest = to_canonical_json(&manifest).ok_or("a manifest that cannot be written")?;
        files.push((path, Some(manifest)));
        let (how, is_own) = *one(
            rng,
            &[("", None), ("signed by a stranger", Some(false)), ("signed by the log", Some(true))],
        );
        if let Some(is_own) = is_own {
            self.sign_again(is_own, &mut files)?;
        }
        let what = format!("{what}; {how}");
        Ok(Changed { files, ..Changed::new(seed, Vec::new(), what) })
    }

    /// The log of days over the changed manifests.
    fn sign_again(&self, is_own: bool, files: &mut Vec<(String, Option<Vec<u8>>)>) -> Result<()> {
        let tree = with_replaced(self.copies.tree(), files);
        let note = String::from_utf8(tree["checkpoint"].clone())?;
        let (before, _) = Checkpoint::from_note(&note)?;
        let (mut grown, mut entries, mut hashes) = (Frontier::default(), Vec::new(), Vec::new());
        for (name, manifest) in tree.iter().filter(|(name, _)| name.ends_with("/manifest.json")) {
            let day = name.trim_end_matches("/manifest.json").parse()?;
            let leaf = DayLeaf { day, manifest: DayManifest::hash_of(manifest) }.to_canonical()?;
            let hash = DayLeaf::leaf_of(&leaf);
            grown.push(hash);
            hashes.extend(hash.0);
            if !push_entry(&mut entries, &leaf) {
                return Err("a leaf that is too long".into());
            }
        }
        let signed = Checkpoint { root: grown.root(), ..before };
        let name = signed.origin.to_string();
        let own = key().with_name(&name)?;
        let signer = if is_own { own } else { SignerKey::from_seed(&name, [9; 32])? };
        files.push(("checkpoint".to_owned(), Some(signer.sign(&signed.to_text())?.into_bytes())));
        for (tile, bytes) in [("entries", entries), ("0", hashes)] {
            let path = format!("tile/{tile}/000.p/{}", signed.size);
            if tree.contains_key(&path) {
                files.push((path, Some(bytes)));
            }
        }
        Ok(())
    }

    /// Whether a day is valid, and the first file of it that holds something else.
    fn audited(&self, path: &Path, seed: usize, found: &Tree) -> Result<Option<String>> {
        let folder = DayFolder::new(path.join(&self.names[seed]));
        let audited = audit_day_among(&folder, Some(&self.keys), Some(path), |_, _| {})?;
        let is_whole = audited.fault.is_none()
            && audited.unchecked.is_empty()
            && audited.counts.unsupported == 0;
        if !is_whole {
            return Ok(None);
        }
        let differs = |name: &&String| {
            let (own, other) = (&self.copies.tree()[*name], found.get(*name));
            let other = other.map(Vec::as_slice).unwrap_or_default();
            if own == other {
                return false;
            }
            // Another spelling of the same rows.
            let rows = |bytes: &[u8]| ParquetTable::from_bytes(bytes).map(|table| table.groups);
            !matches!((rows(own), rows(other)), (Ok(own), Ok(other)) if own == other)
        };
        let files = self.files(seed).into_iter();
        let mut rows = files.filter(|name| name.ends_with(".parquet"));
        Ok(Some(rows.find(differs).cloned().unwrap_or_default()))
    }
}

impl Kind for Days {
    fn name(&self) -> &'static str {
        "day"
    }

    fn seeds(&self) -> usize {
        self.names.len()
    }

    fn whole(&self, seed: usize) -> Changed {
        Changed::new(seed, Vec::new(), format!("{} as it is", self.names[seed]))
    }

    fn change(&self, seed: usize, rng: &mut Rng) -> Changed {
        loop {
            let changed = if rng.once_in(5) {
                let files = self.files(seed);
                let name = (*one(rng, &files)).clone();
                let (bytes, what) = change_bytes(rng, &self.copies.tree()[&name], &[]);
                let files = vec![(name.clone(), Some(bytes))];
                Changed { files, ..Changed::new(seed, Vec::new(), format!("{name}: {what}")) }
            } else {
                // What cannot be written, such as a number out of range, is drawn again.
                let Ok(changed) = self.seal_again(seed, rng) else { continue };
                changed
            };
            if with_replaced(self.copies.tree(), &changed.files) != *self.copies.tree() {
                return changed;
            }
        }
    }

    fn heavy(&self) -> Vec<Changed> {
        let files = self.files(0).into_iter();
        files.flat_map(|name| replaced_by_heavy(0, name, &self.copies.tree()[name])).collect()
    }

    fn readers(&self) -> &'static [&'static str] {
        &["store"]
    }

    fn read(&self, _reader: usize, changed: &Changed) -> Said {
        let found = with_replaced(self.copies.tree(), &changed.files);
        let read =
            self.copies.with(&changed.files, |path| self.audited(path, changed.seed, &found));
        match read {
            Ok(Ok(Some(other))) => Said::valid(other),
            _ => Said::not_valid(Verdict::Invalid),
        }
    }

    fn is_true(&self, stated: &str) -> bool {
        stated.is_empty()
    }

    fn has_threads(&self) -> bool {
        true
    }

    fn size(&self, changed: &Changed) -> usize {
        with_replaced(self.copies.tree(), &changed.files).values().map(Vec::len).sum()
    }

    fn command(&self, changed: &Changed, folder: &Path) -> Option<std::io::Result<Vec<String>>> {
        let place = folder.join("days");
        let written = std::fs::remove_dir_all(&place)
            .or(Ok(()))
            .and_then(|()| write_tree(&place, &with_replaced(self.copies.tree(), &changed.files)));
        Some(written.map(|()| {
            let day = place.join(&self.names[changed.seed]).display().to_string();
            let mut arguments = vec!["audit".to_owned(), day, "--json".to_owned()];
            for key in &self.keys {
                arguments.extend(["--trust".to_owned(), key.to_string()]);
            }
            arguments
        }))
    }
}
