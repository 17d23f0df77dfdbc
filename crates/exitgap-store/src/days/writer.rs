//! Writes a day's files from a store.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

use exitgap_core::analytics::accuracy::{Fills, IssuedReceipts};
use exitgap_core::evidence::{Head, HeadEntry, MAX_RETRACTION_SLOTS, SlotLeaf};
use exitgap_core::file_errors::explained;
use exitgap_core::ids::DocumentHash;
use exitgap_core::log_folder::days::{
    DayFile, DayManifest, DaysFile, FileRef, MAX_DAY_FILE_BYTES, MAX_RANGE_POOLS, RangeRef,
};
use exitgap_core::series::{Day, Slot};
use exitgap_core::tlog::{Frontier, subtrees};
use parquet::errors::ParquetError;
use sha2::{Digest, Sha256};

use super::DaysError;
use super::rows::{EvidenceRow, SlotRow, figures_row, figures_table, slots_table, snapshots_table};
use super::table::{Column, TableWriter};
use crate::bodies::codec::Dictionaries;
use crate::corrupt::{CorruptBody, CorruptLog};
use crate::error::StoreError;
use crate::folder::durable::{self, Pieces};
use crate::log::StoredHead;
use crate::model::Pool;
use crate::reader::Reader;

/// The maximum decompressed size of a group of evidence: a pool's day, or a part of it.
const GROUP_BYTES: usize = 64 << 20;

/// The compressed size of a file of snapshots at which a range ends, so that files to serve and copy stay small.
const RANGE_BYTES: usize = 48 << 20;

/// The number of rows of figures in a group: one day of about thirty pools.
const FIGURES_ROWS: usize = 8_192;

/// The last closed day of a store: no future head can retract any of its slots. `None` if no day is closed yet.
pub fn last_closed(reader: &Reader) -> Result<Option<Day>, StoreError> {
    let (Some((first, _)), size) = (reader.slots()?, reader.publishable()?) else {
        return Ok(None);
    };
    let last = size.checked_sub(1).and_then(|index| u64::from(first.number()).checked_add(index));
    let final_until = last.and_then(|last| last.checked_sub(MAX_RETRACTION_SLOTS.into()));
    let Some(slot) = final_until.and_then(|slot| Slot::new(slot).ok()) else { return Ok(None) };
    let day = Day::from_slot(slot);
    let day =
        if day.last() == slot { Some(day) } else { day.first().previous().map(Day::from_slot) };
    Ok(day.filter(|day| day.last() >= first))
}

/// Writes a closed day's files below the folder of a log, and the manifest last. Returns the manifest.
pub fn write_day(
    reader: &Reader,
    folder: &Path,
    day: Day,
    mut progress: impl FnMut(usize, usize),
) -> Result<DayManifest, DaysError> {
    let log = reader.log()?.ok_or(DaysError::Nothing)?;
    let first = day.first().max(log.origin.first_slot());
    let last = day.last();
    let absent = |what| StoreError::CorruptLog { slot: last, what: CorruptLog::Absent(what) };
    let indices = log.origin.index_of(first).zip(log.origin.index_of(last));
    let (index, last_index) = indices.ok_or(DaysError::Nothing)?;
    let pools = reader.pools()?.into_iter().filter(|pool| {
        pool.first_slot <= last && pool.retired_slot.is_none_or(|retired| retired >= first)
    });
    let pools: Vec<Pool> = pools.collect();
    durable::remove_unfinished(&folder.join(DaysFile::FOLDER).join(day.to_string()))?;
    let mut slots = Trees::default();
    let (mut ranges, mut rest) = (Vec::new(), pools.as_slice());
    for number in 0_u16.. {
        if rest.is_empty() {
            break;
        }
        let done = pools.len() - rest.len();
        let tell = |more: usize| progress(done + more, pools.len());
        let range = Range { reader, folder, day, number, run: [first, last] };
        let (files, count) = range.write_files(rest, &mut slots, tell)?;
        rest = rest.get(count..).unwrap_or_default();
        ranges.extend(files);
    }
    let before = subtrees(0..index).into_iter();
    let before: Result<Vec<_>, StoreError> =
        before.map(|node| reader.nodes().node(node.height, node.index)).collect();
    let before = before?;
    let tree =
        Frontier::from_roots(index, before.clone()).ok_or_else(|| absent("the tree before"))?;
    let slots = write_slots(reader, folder, day, index..=last_index, slots, tree)?;
    let checkpoint = reader
        .published_checkpoint(last_index + 1)?
        .ok_or_else(|| absent("the checkpoint of a day's last slot"))?;
    let manifest = DayManifest {
        day,
        first,
        checkpoint,
        before,
        keys: log.keys,
        files: std::iter::once(slots).chain(ranges).collect(),
    };
    let path = folder.join(DaysFile::Day(day, DayFile::Manifest).to_string());
    durable::replace_file(&path, &manifest.to_canonical()?)?;
    Ok(manifest)
}

/// The tree over each slot's heads, for the pools written so far.
#[derive(Default)]
struct Trees(BTreeMap<Slot, Frontier>);

/// Consecutive pools of a day.
struct Range<'a> {
    reader: &'a Reader,
    folder: &'a Path,
    day: Day,
    number: u16,
    run: [Slot; 2],
}

impl Range<'_> {
    /// Writes both files, with as many of these pools as a range may have. Returns their number. `tell` gets the number
    /// of finished pools.
    fn write_files(
        &self,
        pools: &[Pool],
        slots: &mut Trees,
        mut tell: impl FnMut(usize),
    ) -> Result<([FileRef; 2], usize), DaysError> {
        let begin = |file, columns| DayTable::begin(self.folder, self.day, file, columns);
        let mut figures = begin(DayFile::Figures(self.number), figures_table())?;
        let mut evidence = begin(DayFile::Snapshots(self.number), snapshots_table())?;
        let (mut count, mut range): (usize, Option<RangeRef>) = (0, None);
        for pool in pools.iter().take(MAX_RANGE_POOLS as usize) {
            if evidence.table.written() >= RANGE_BYTES {
                break;
            }
            self.pool(pool, slots, [&mut figures, &mut evidence])?;
            if figures.table.waiting_rows() >= FIGURES_ROWS {
                figures.end_group()?;
            }
            let (last, pools) =
                (pool.id.clone(), range.as_ref().map_or(0, |range| range.pools) + 1);
            let first = range.map_or_else(|| pool.id.clone(), |range| range.first);
            range = Some(RangeRef { first, last, pools });
            count += 1;
            tell(count);
        }
        let files = [figures.end(range.clone())?, evidence.end(range)?];
        match files.iter().find(|file| file.bytes > MAX_DAY_FILE_BYTES) {
            Some(file) => Err(DaysError::TooLarge { file: file.file, bytes: file.bytes }),
            None => Ok((files, count)),
        }
    }

    /// Adds a pool's day.
    fn pool(
        &self,
        pool: &Pool,
        slots: &mut Trees,
        [figures, evidence]: [&mut DayTable; 2],
    ) -> Result<(), DaysError> {
        let [first, last] = self.run;
        let heads = self.reader.heads(pool, first, last)?;
        let of_slots = self.reader.figures(pool, first, last, heads.len())?.entries;
        let mut kept = Dictionaries::default();
        if heads.len() != of_slots.len() {
            let found =
                format!("{} figures of {} slots of {}", of_slots.len(), heads.len(), pool.id);
            return Err(StoreError::CorruptRow { table: "figures", found }.into());
        }
        for (StoredHead { head, canonical }, of_slot) in heads.into_iter().zip(of_slots) {
            slots.0.entry(head.slot).or_default().push(Head::leaf_of(&canonical));
            figures.push(figures_row(&head, &of_slot));
            let snapshot = match head.entry {
                HeadEntry::Recorded { snapshot: hash, .. } => {
                    let absent = || StoreError::Corrupt { hash, what: CorruptBody::Absent };
                    let documents = self.reader.documents_after(hash, head.slot, &mut kept)?;
                    let documents = documents.ok_or_else(absent)?;
                    Some([documents.snapshot, documents.state])
                }
                HeadEntry::Missing(_) | HeadEntry::Retired => None,
            };
            let fills =
                head.commits.get(Fills::NAME).map(|_| self.reader.fills_of(pool, head.slot));
            let issued = head
                .commits
                .get(IssuedReceipts::NAME)
                .map(|_| self.reader.issued_of(pool, head.slot));
            evidence.push(
                EvidenceRow {
                    slot: head.slot,
                    pool: pool.id.clone(),
                    head: canonical,
                    snapshot,
                    fills: fills.transpose()?.map(|stored| stored.canonical),
                    issued: issued.transpose()?.map(|stored| stored.canonical),
                }
                .cells(),
            );
            if evidence.table.waiting_bytes() >= GROUP_BYTES {
                evidence.end_group()?;
            }
        }
        evidence.end_group()
    }
}

/// Writes the file of slots. The contents of the day's other files are compared with each slot's leaf, and the leaves
/// with the checkpoints that were signed over them.
fn write_slots(
    reader: &Reader,
    folder: &Path,
    day: Day,
    indices: std::ops::RangeInclusive<u64>,
    mut trees: Trees,
    mut tree: Frontier,
) -> Result<FileRef, DaysError> {
    let mut table = DayTable::begin(folder, day, DayFile::Slots, slots_table())?;
    for index in indices {
        let slot = reader.slot_at(Some(index))?.ok_or(DaysError::Nothing)?;
        let corrupt = |what| StoreError::CorruptLog { slot, what };
        let sealed = reader.sealed_slot(slot)?;
        let (stored, sealed) =
            sealed.ok_or_else(|| corrupt(CorruptLog::Absent("a sealed slot")))?;
        let heads = trees.0.remove(&slot).unwrap_or_default();
        let (expected, found) = (stored.leaf.pools, heads.size());
        if u64::from(expected) != found {
            let found = usize::try_from(found).unwrap_or(usize::MAX);
            return Err(corrupt(CorruptLog::Pools { expected, found }).into());
        }
        let (expected, found) = (stored.leaf.root, heads.root());
        if expected != found {
            return Err(corrupt(CorruptLog::HeadsRoot { expected, found }).into());
        }
        tree.push(SlotLeaf::leaf_of(&stored.canonical));
        reader.check_checkpoint(slot, &sealed, tree.root())?;
        let checkpoint = reader.published_checkpoint(index + 1)?;
        let checkpoint =
            checkpoint.ok_or_else(|| corrupt(CorruptLog::Absent("a slot's checkpoint")))?;
        let (pools, leaf) = (stored.leaf.pools, stored.canonical);
        table.push(SlotRow { slot, pools, leaf, checkpoint: checkpoint.into_bytes() }.cells());
    }
    table.end(None)
}

/// A file of a day that is being written.
struct DayTable {
    file: DayFile,
    table: TableWriter<HashWriter>,
}

impl DayTable {
    fn begin(
        folder: &Path,
        day: Day,
        file: DayFile,
        columns: Vec<Column>,
    ) -> Result<Self, DaysError> {
        let path = folder.join(DaysFile::Day(day, file).to_string());
        let hashed = HashWriter { inner: Pieces::begin(&path)?, digest: Sha256::new(), bytes: 0 };
        let table = TableWriter::new(hashed, columns).map_err(|error| write_error(file, &error))?;
        Ok(Self { file, table })
    }

    fn push(&mut self, row: super::table::Row) {
        self.table.push(row);
    }

    fn end_group(&mut self) -> Result<(), DaysError> {
        self.table.end_group().map_err(|error| write_error(self.file, &error))
    }

    fn end(self, range: Option<RangeRef>) -> Result<FileRef, DaysError> {
        let Self { file, table } = self;
        let (hashed, rows) = table.finish().map_err(|error| write_error(file, &error))?;
        let HashWriter { inner, digest, bytes } = hashed;
        inner.end()?;
        let sha256 = DocumentHash(digest.finalize().into());
        Ok(FileRef { file, sha256, bytes, rows, range })
    }
}

fn write_error(file: DayFile, error: &ParquetError) -> DaysError {
    let of_file = match error {
        ParquetError::External(inner) => inner.downcast_ref::<io::Error>(),
        _ => None,
    };
    let reason = of_file.map_or_else(|| error.to_string(), |error| explained(error).to_string());
    DaysError::Write { file, reason }
}

/// A file whose bytes are hashed while they are written.
struct HashWriter {
    inner: Pieces,
    digest: Sha256,
    bytes: u64,
}

impl Write for HashWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.digest.update(bytes.get(..written).unwrap_or_default());
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}
