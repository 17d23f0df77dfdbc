//! Flipped bits: in every page of the database, in its write-ahead log, in every row, and in every kind of published
//! file.
//!
//! Each is either found by `fsck` or by the folder's check, which a starting recorder runs, or it changes nothing that
//! can be read. Otherwise it counts as missed.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use exitgap_core::evidence::Predecessor;
use exitgap_core::ids::BlockHash;
use exitgap_core::series::Slot;
use exitgap_core::tlog::{Cosigner, Hash, Note, Origin, SignerKey};
use exitgap_store::{Changes, NewRetraction, Outcome, Reader, Store};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};
use tempfile::TempDir;

use super::home::Home;
use super::scene::{BusyPool, Scene, key, slot};
use super::{Part, Progress, Result, bit_flip_files, bit_flip_rows, memory_folder};
use crate::devchain::Rng;
use crate::folders;

/// Size of the header of a database file.
const HEADER_BYTES: u64 = 100;

/// Flips about `flips` bits of the database file, its write-ahead log and published files, or every bit of the file's
/// header if that is fewer; and changes rows, or every row if that is fewer.
pub fn run(flips: u64, seed: u64, progress: Progress<'_>) -> Result<Part> {
    let mut part = Part::default();
    for key in ["count", "found", "harmless", "missed", "default_base"] {
        part.set(&format!("bit_flip.{key}"), 0_u64);
    }
    let mut rng = Rng::new(seed);
    let victim = Victim::new(false)?;
    pages(&victim, flips, &mut rng, &mut part, progress)?;
    let live = Victim::new(true)?;
    log_file(&live, flips / 8, &mut rng, &mut part, progress)?;
    bit_flip_rows::run(&victim, flips, &mut rng, &mut part, progress)?;
    bit_flip_files::run(flips / 16, &mut rng, &mut part, progress)?;
    Ok(part)
}

/// A completely published store, with its readable content.
pub struct Victim {
    _folder: TempDir,
    /// Its folder.
    pub home: Home,
    whole: Vec<(PathBuf, Vec<u8>)>,
    truth: Readable,
}

/// The result of a change.
pub enum Verdict {
    /// The change was found.
    Found,
    /// The readable content is unchanged.
    Harmless,
    /// Only the default base of a pool changed, which no figure depends on: it is not hashed, and the recorder sets it
    /// again with its next slot.
    DefaultBase,
    /// The readable content changed without an error.
    Missed(String),
}

/// Records the seventh slot, with a witness signature.
fn cosigned(made: &Home, scene: Scene) -> Result<()> {
    let mut store = made.open_or_create()?;
    store.await_cosignatures(true);
    store.append_slot(slot(6), &scene.entries(6))?;
    let note = store.reader().checkpoint(7)?.ok_or("the checkpoint is gone")?;
    let witness = Cosigner::new(SignerKey::from_seed("witness.example/w1", [7; 32])?);
    store.record_cosignatures(&witness.cosign(Note::parse(&note)?.text, 1_787_000_000))?;
    Ok(())
}

impl Victim {
    /// A store of twelve slots with rows in every table: a successor log, a pause, a retracted slot, a retired pool, a
    /// second key. With `live`, its newest slots are only in the write-ahead log, as after a recorder was killed.
    pub fn new(live: bool) -> Result<Self> {
        let folder = memory_folder()?;
        let scene = Scene { pools: 3, positions: 5 };
        let made = Home::new(folder.path().join("made"), scene);
        fs::create_dir(made.folder())?;
        Store::create_successor(made.store(), &key(), &predecessor()?)?.close()?;
        made.record_until(6)?;
        cosigned(&made, scene)?;
        made.open_or_create()?.fill_until(slot(8))?;
        made.record_until(10)?;
        let mut store = made.open_or_create()?;
        let [taken_back, given_up] = [0, scene.pools - 1].map(|pool| BusyPool::new(pool, 1).id);
        let retraction = NewRetraction::for_orphan(taken_back, slot(9), BlockHash([0xee; 32]));
        let fills = vec![BusyPool::new(1, 1).fills([1_000, 1_010])];
        let retractions = vec![retraction];
        let issued = vec![BusyPool::new(1, 1).issued(&[1, 2])];
        let changes = Changes { retractions, fills, issued, ..Changes::default() };
        store.append_slot_with(slot(10), &scene.entries(10), &changes)?;
        store.sign_beside(&SignerKey::from_seed(key().verifier().name(), [8; 32])?)?;
        let mut others = scene.entries(11);
        others.retain(|entry| entry.pool != given_up);
        let changes = Changes { retirements: vec![given_up], ..Changes::default() };
        store.append_slot_with(slot(11), &others, &changes)?;
        made.log_folder().publish(store.reader())?;
        let home = Home::new(folder.path().join("home"), scene);
        if live {
            folders::copy(made.folder(), home.folder())?;
        }
        drop(store);
        if !live {
            folders::copy(made.folder(), home.folder())?;
        }
        let mut whole = Vec::new();
        for name in ["series.db", "series.db-wal"] {
            let path = home.folder().join(name);
            if path.exists() {
                whole.push((path.clone(), fs::read(path)?));
            }
        }
        if whole.len() != usize::from(live) + 1 {
            return Err("the write-ahead log is not where it is expected".into());
        }
        let mut victim = Self { _folder: folder, home, whole, truth: Readable::default() };
        victim.restore()?;
        victim.truth = Readable::of(&victim.home)?;
        match victim.judge() {
            Verdict::Harmless => Ok(victim),
            _ => Err("the store is damaged before anything was changed".into()),
        }
    }

    /// Restores the database.
    pub fn restore(&self) -> Result<()> {
        for name in ["series.db-wal", "series.db-shm"] {
            let path = self.home.folder().join(name);
            if path.exists() {
                fs::remove_file(path)?;
            }
        }
        for (path, bytes) in &self.whole {
            fs::write(path, bytes)?;
        }
        Ok(())
    }

    /// The result of the checks for the current database.
    pub fn judge(&self) -> Verdict {
        let checks = || -> Result<()> {
            let reader = Reader::open(self.home.store())?;
            reader.fsck(|_| {})?;
            Ok(self.home.log_folder().check(&reader)?)
        };
        if checks().is_err() {
            return Verdict::Found;
        }
        match Readable::of(&self.home) {
            Err(error) => Verdict::Missed(format!("it cannot be read: {error}")),
            Ok(found) if found == self.truth => Verdict::Harmless,
            Ok(found) if found.rows == self.truth.rows => Verdict::DefaultBase,
            Ok(found) => Verdict::Missed(self.truth.difference(&found)),
        }
    }

    /// Flips one bit of a file, and records the result.
    fn flip(&self, file: usize, bit: u64, what: &str, part: &mut Part) -> Result<()> {
        let (path, bytes) = &self.whole[file];
        self.restore()?;
        let byte = bytes[usize::try_from(bit / 8)?];
        let flipped = byte ^ (1 << (bit % 8));
        OpenOptions::new().write(true).open(path)?.write_all_at(&[flipped], bit / 8)?;
        note(self.judge(), &format!("{what}, bit {bit}"), part);
        Ok(())
    }
}

/// A lost log.
fn predecessor() -> Result<Predecessor> {
    let origin = Origin::new("exitgap.example/lost", Slot::FIRST)?;
    Ok(Predecessor { origin, size: 3, root: Hash([9; 32]) })
}

/// Counts a result.
pub fn note(verdict: Verdict, what: &str, part: &mut Part) {
    part.count("bit_flip.count");
    match verdict {
        Verdict::Found => part.count("bit_flip.found"),
        Verdict::Harmless => part.count("bit_flip.harmless"),
        Verdict::DefaultBase => part.count("bit_flip.default_base"),
        Verdict::Missed(words) => part.problem("bit_flip.missed", format!("{what}: {words}")),
    }
}

/// Flips bits of pages of every kind in every table and index.
fn pages(
    victim: &Victim,
    flips: u64,
    rng: &mut Rng,
    part: &mut Part,
    progress: Progress<'_>,
) -> Result<()> {
    let bytes = &victim.whole[0].1;
    let kinds = page_kinds(&victim.home.store())?;
    let page_bytes = u64::from(u16::from_be_bytes([bytes[16], bytes[17]]));
    let header_bits = HEADER_BYTES * 8;
    let step = usize::try_from((header_bits * 4 / flips.max(1)).max(1))?;
    for bit in (0..header_bits).step_by(step) {
        victim.flip(0, bit, "the file's header", part)?;
    }
    let each = (flips * 3 / 4 / kinds.len() as u64).max(3);
    let of = each * kinds.len() as u64;
    part.set("bit_flip.page_kinds", kinds.len());
    for (index, (kind, pages)) in kinds.iter().enumerate() {
        for done in 0..each {
            let page = pages[usize::try_from(rng.below(pages.len() as u64))?] - 1;
            let mut byte = page * page_bytes + rng.below(page_bytes);
            // Every second flip is in used bytes, because most pages are not full.
            while done % 2 == 0 && bytes[usize::try_from(byte)?] == 0 {
                byte = page * page_bytes + rng.below(page_bytes);
            }
            victim.flip(0, byte * 8 + rng.below(8), kind, part)?;
            progress("bit_flip (pages)", index as u64 * each + done + 1, of);
        }
    }
    victim.restore()
}

/// The pages of each kind in each table and index, numbered from 1.
fn page_kinds(store: &Path) -> Result<BTreeMap<String, Vec<u64>>> {
    let connection = Connection::open_with_flags(store, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let mut statement = connection.prepare("SELECT name, pagetype, pageno FROM dbstat")?;
    let mut rows = statement.query(())?;
    let mut kinds: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let (name, kind): (String, String) = (row.get(0)?, row.get(1)?);
        let page: i64 = row.get(2)?;
        kinds.entry(format!("{name}, {kind} page")).or_default().push(page.unsigned_abs());
    }
    Ok(kinds)
}

/// Flips bits of a write-ahead log that contains acknowledged slots.
fn log_file(
    victim: &Victim,
    flips: u64,
    rng: &mut Rng,
    part: &mut Part,
    progress: Progress<'_>,
) -> Result<()> {
    let bits = victim.whole[1].1.len() as u64 * 8;
    for done in 0..flips.max(16) {
        // Every fourth flip is in its own header or the first frame's.
        let bit = if done % 4 == 0 { rng.below(56 * 8) } else { rng.below(bits) };
        victim.flip(1, bit, "the write-ahead log", part)?;
        progress("bit_flip (write-ahead log)", done + 1, flips);
    }
    Ok(())
}

/// The readable content of a store.
#[derive(Debug, Default, PartialEq, Eq)]
struct Readable {
    rows: Vec<String>,
    default_bases: Vec<String>,
}

impl Readable {
    /// All answers of a reader, and every row of every table except those of bodies, whose numbers and compression are
    /// internal.
    fn of(home: &Home) -> Result<Self> {
        let reader = Reader::open(home.store())?;
        let (mut rows, mut default_bases) = (Vec::new(), Vec::new());
        rows.push(format!("{:?} {:?}", reader.slots()?, reader.log()?));
        let totals = reader.totals()?;
        rows.push(format!("{} {}", totals.snapshots, totals.canonical_bytes));
        for pool in reader.pools()? {
            default_bases.push(format!("{} {:?}", pool.id, pool.default_base));
            rows.push(format!("{} {} {:?}", pool.id, pool.first_slot, reader.latest(&pool, None)?));
            for head in reader.heads(&pool, Slot::FIRST, Slot::LAST)? {
                rows.push(String::from_utf8(head.canonical)?);
            }
            let page = reader.entries(&pool, Slot::FIRST, Slot::LAST, Reader::MAX_PAGE)?;
            for fills in reader.fills(&pool, [Slot::FIRST, Slot::LAST], 99)?.entries {
                rows.push(String::from_utf8(fills.canonical)?);
            }
            for issued in reader.issued_documents(&pool, [Slot::FIRST, Slot::LAST], 99)?.entries {
                rows.push(String::from_utf8(issued.canonical)?);
            }
            for entry in page.entries {
                rows.push(format!("{entry:?}"));
                if let Outcome::Recorded(hash) = entry.outcome {
                    let documents = reader.documents(hash)?.ok_or("a body is gone")?;
                    rows.push(String::from_utf8(documents.to_file(&pool.id)?)?);
                }
            }
        }
        for size in 1..=reader.log_size()? {
            rows.push(reader.checkpoint(size)?.ok_or("a checkpoint is gone")?);
        }
        rows.extend(tables(&home.store())?);
        Ok(Self { rows, default_bases })
    }

    fn difference(&self, found: &Self) -> String {
        let pairs = self.rows.iter().zip(&found.rows);
        let other = pairs.into_iter().find(|(expected, found)| expected != found);
        let short = |text: &str| text.chars().take(160).collect::<String>();
        other.map_or_else(
            || format!("{} rows instead of {}", found.rows.len(), self.rows.len()),
            |(expected, found)| format!("{:?} instead of {:?}", short(found), short(expected)),
        )
    }
}

/// Every row of every table, except bodies and pools' default bases.
fn tables(store: &Path) -> Result<Vec<String>> {
    let connection = Connection::open_with_flags(store, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let mut found = Vec::new();
    for table in bit_flip_rows::table_names(&connection)? {
        if ["body", "fills", "issued"].contains(&&*table) {
            continue;
        }
        let mut statement = connection.prepare(&format!("SELECT * FROM \"{table}\""))?;
        let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let mut rows = statement.query(())?;
        while let Some(row) = rows.next()? {
            let mut text = table.clone();
            for (index, name) in names.iter().enumerate() {
                let value: ValueRef<'_> = row.get_ref(index)?;
                if name != "default_base_token" {
                    write!(text, " {value:?}")?;
                }
            }
            found.push(text);
        }
    }
    Ok(found)
}
