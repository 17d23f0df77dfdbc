//! Reads a day's files from a folder.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use exitgap_core::evidence::Head;
use exitgap_core::ids::{DocumentHash, PoolId};
use exitgap_core::log_folder::days::{DayFile, DayManifest, FileRef, MAX_DAY_MANIFEST_BYTES};
use exitgap_core::series::Slot;
use exitgap_core::snapshot::SnapshotDocuments;
use sha2::{Digest, Sha256};

use super::fault::{AuditError, DayFault};
use super::pool::{RowSnapshot, head_of, snapshot_of};
use super::rows::{EvidenceRow, NAMING_COLUMNS, snapshots_table};
use super::table::{Column, Row, TableError, TableReader};

/// A folder with the files of one day.
pub struct DayFolder {
    path: PathBuf,
}

/// A day's data for a pool and slot.
pub struct DayEntry {
    /// The head.
    pub head: Head,
    /// The snapshot that the head names, with its state.
    pub documents: Option<SnapshotDocuments>,
}

impl DayFolder {
    /// The folder at `path`. Nothing is read yet.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// The path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn file(&self, file: DayFile) -> PathBuf {
        self.path.join(file.to_string())
    }

    /// The manifest's bytes.
    pub fn manifest_bytes(&self) -> Result<Option<Vec<u8>>, TableError> {
        let path = self.file(DayFile::Manifest);
        let failed = |source| TableError::File { path: path.clone(), source };
        let file = match File::open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            file => file.map_err(failed)?,
        };
        let mut bytes = Vec::new();
        file.take(MAX_DAY_MANIFEST_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(failed)?;
        Ok(Some(bytes))
    }

    /// The manifest, or a fault if it is invalid.
    pub fn manifest(&self) -> Result<Result<DayManifest, DayFault>, TableError> {
        let Some(bytes) = self.manifest_bytes()? else {
            return Ok(Err(DayFault::new("file_absent", "manifest.json does not exist")));
        };
        Ok(DayManifest::from_canonical(&bytes).map_err(|error| {
            let newer = error.newer().is_some();
            DayFault::new("manifest_invalid", format!("manifest.json: {error}")).unknown(newer)
        }))
    }

    /// Whether a file exists.
    pub fn has(&self, file: &FileRef) -> bool {
        self.file(file.file).is_file()
    }

    /// Requires that the folder contains only the manifest and the files that it names: other tools read every file of the
    /// folder as a part of the day.
    pub fn check_names(&self, manifest: &DayManifest) -> Result<(), AuditError> {
        let failed = |source| TableError::File { path: self.path.clone(), source };
        for entry in fs::read_dir(&self.path).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name();
            let is_named = name.to_str().and_then(|name| name.parse().ok()).is_some_and(|file| {
                file == DayFile::Manifest || manifest.files.iter().any(|one| one.file == file)
            });
            if !is_named {
                let name = name.to_string_lossy();
                let detail = format!("the manifest does not name {name:?}, which is in the folder");
                return Err(DayFault::new("file_unnamed", detail).into());
            }
        }
        Ok(())
    }

    /// Requires that a file has the hash in the manifest.
    pub fn check_hash(&self, file: &FileRef) -> Result<(), AuditError> {
        let path = self.file(file.file);
        let name = file.file;
        let absent =
            || DayFault::new("file_absent", format!("{name} does not exist")).unknown(true);
        let failed = |source| AuditError::Machine(TableError::File { path: path.clone(), source });
        // Opening something other than a regular file could block.
        if !path.is_file() {
            return Err(absent().into());
        }
        let opened = File::open(&path).map_err(failed)?;
        let found = opened.metadata().map_err(failed)?.len();
        if found != file.bytes {
            let detail = format!("{name} has {found} bytes, but the manifest has {}", file.bytes);
            return Err(DayFault::new("file_hash_mismatch", detail).into());
        }
        let found = hash_of(opened, file.bytes).map_err(failed)?;
        if found != file.sha256 {
            let detail =
                format!("{name} has the hash {found}, but the manifest has {}", file.sha256);
            return Err(DayFault::new("file_hash_mismatch", detail).into());
        }
        Ok(())
    }

    /// A day's data for a pool and slot, from the file that the manifest names for them, whose hash is checked; `None`
    /// if there is none.
    pub fn entry(
        &self,
        manifest: &DayManifest,
        pool: &PoolId,
        slot: Slot,
    ) -> Result<Option<DayEntry>, AuditError> {
        let Some(file) = file_of(manifest, pool) else { return Ok(None) };
        self.check_hash(file)?;
        let Some(row) = self.row(file, pool, slot)? else { return Ok(None) };
        let at = |fault: DayFault| fault.at(slot).by(pool);
        let head = head_of(&row).map_err(at)?;
        let documents = row.snapshot.clone();
        let documents = match snapshot_of(&head, row).map_err(at)? {
            RowSnapshot::None => None,
            RowSnapshot::Newer | RowSnapshot::Snapshot(_) => {
                documents.map(|[snapshot, state]| SnapshotDocuments { snapshot, state })
            }
        };
        Ok(Some(DayEntry { head, documents }))
    }

    /// The rows of the group with a pool's slot, for callers that know the hashes. The rows are not checked, and
    /// invalid rows are left out. Empty if there is no such group.
    pub fn rows_with(
        &self,
        manifest: &DayManifest,
        pool: &PoolId,
        slot: Slot,
    ) -> Result<Vec<EvidenceRow>, AuditError> {
        let Some(file) = file_of(manifest, pool) else { return Ok(Vec::new()) };
        let rows = self.group(file, pool, slot)?.map_or_else(Vec::new, |(rows, _)| rows);
        Ok(rows.into_iter().filter_map(|row| EvidenceRow::from_cells(row).ok()).collect())
    }

    /// The row of a pool and slot.
    fn row(
        &self,
        file: &FileRef,
        pool: &PoolId,
        slot: Slot,
    ) -> Result<Option<EvidenceRow>, AuditError> {
        let Some((rows, at)) = self.group(file, pool, slot)? else { return Ok(None) };
        let row = EvidenceRow::from_cells(rows.into_iter().nth(at).unwrap_or_default());
        Ok(Some(row.map_err(|column| wrong_column(file, column).at(slot).by(pool))?))
    }

    /// The rows of the group with a pool's slot, and the row's index. Rows are ordered by pool and then by slot, so the
    /// group is found by a search.
    fn group(
        &self,
        file: &FileRef,
        pool: &PoolId,
        slot: Slot,
    ) -> Result<Option<(Vec<Row>, usize)>, AuditError> {
        let table = TableReader::open(&self.file(file.file), snapshots_table())?;
        let wanted = (pool.to_string(), slot);
        let (mut first, mut end) = (0, table.groups());
        while first < end {
            let middle = first + (end - first) / 2;
            let mut names = Vec::new();
            for row in table.read_rows(middle, NAMING_COLUMNS)? {
                let name = EvidenceRow::name_of(&row);
                let (slot, pool) =
                    name.map_err(|column| wrong_column(file, column).at(slot).by(pool))?;
                names.push((pool.to_string(), slot));
            }
            if names.first().is_some_and(|name| wanted < *name) {
                end = middle;
            } else if names.last().is_none_or(|name| *name < wanted) {
                first = middle + 1;
            } else {
                let Some(at) = names.iter().position(|name| *name == wanted) else { break };
                return Ok(Some((table.read_rows(middle, usize::MAX)?, at)));
            }
        }
        Ok(None)
    }
}

/// The fault of a column with an impossible value.
pub fn wrong_column(file: &FileRef, column: &str) -> DayFault {
    DayFault::new("table_invalid", format!("{}: a row has an invalid {column}", file.file))
}

/// The file with the heads and snapshots of a pool.
fn file_of<'a>(manifest: &'a DayManifest, pool: &PoolId) -> Option<&'a FileRef> {
    let mut files = manifest.ranges().map(|(_, snapshots)| snapshots);
    files.find(|file| file.range.as_ref().is_some_and(|range| range.may_have(pool)))
}

/// Reads the rows of a table, group by group.
pub struct Groups {
    file: FileRef,
    table: TableReader,
    next: usize,
    /// How many of the first columns are read.
    columns: usize,
    rows: std::vec::IntoIter<Row>,
    /// The number of rows in the manifest, minus those already read.
    left: u64,
}

impl Groups {
    /// Opens a file of a day.
    pub fn open(
        folder: &DayFolder,
        file: &FileRef,
        columns: Vec<Column>,
    ) -> Result<Self, AuditError> {
        let table = TableReader::open(&folder.file(file.file), columns)?;
        let (rows, left) = (Vec::new().into_iter(), file.rows);
        Ok(Self { file: file.clone(), table, next: 0, columns: usize::MAX, rows, left })
    }

    /// The same, where only so many of the first columns are read: the cells of the others are null.
    #[must_use]
    pub fn with_columns(self, columns: usize) -> Self {
        Self { columns, ..self }
    }

    /// The reference of this file.
    pub fn file(&self) -> &FileRef {
        &self.file
    }

    /// The next row. After the last row, their number must be the one in the manifest.
    pub fn next(&mut self) -> Result<Option<Row>, AuditError> {
        loop {
            if let Some(row) = self.rows.next() {
                let less = self.left.checked_sub(1);
                self.left = less.ok_or_else(|| self.row_count_fault())?;
                return Ok(Some(row));
            }
            if self.next == self.table.groups() {
                return if self.left == 0 { Ok(None) } else { Err(self.row_count_fault().into()) };
            }
            self.rows = self.table.read_rows(self.next, self.columns)?.into_iter();
            self.next += 1;
        }
    }

    fn row_count_fault(&self) -> DayFault {
        let detail = format!(
            "{} does not have the {} rows listed in the manifest",
            self.file.file, self.file.rows
        );
        DayFault::new("rows_mismatch", detail)
    }
}

/// The hash of a file with this size.
fn hash_of(file: File, bytes: u64) -> io::Result<DocumentHash> {
    let mut digest = Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    let mut file = file.take(bytes.saturating_add(1));
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(DocumentHash(digest.finalize().into())),
            read => digest.update(buffer.get(..read).unwrap_or_default()),
        }
    }
}
