//! Writes and reads Parquet: rows of typed cells in groups. Input is untrusted: a file must have exactly the expected
//! columns, and its decompressed size is limited.

use std::fs::File;
use std::io::{self, Write};
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::{Compression, LogicalType, Repetition, TimeUnit, Type as Physical, ZstdLevel};
use parquet::column::reader::ColumnReader;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{SchemaDescriptor, Type, TypePtr};

use super::pages::{Unpacked, check_pages};

/// The maximum number of rows in a group: one pool's day, or several if they are small.
pub const MAX_GROUP_ROWS: usize = 1 << 14;

/// The maximum decompressed size of a group, in bytes.
pub const MAX_GROUP_BYTES: usize = 256 << 20;

/// The decompressed size after which a column's next page begins.
const PAGE_BYTES: usize = 16 << 20;

/// A text is preceded by its length.
const LENGTH_BYTES: usize = 4;

/// zstd's compression level. The rows of a pool's day are similar, and higher levels hardly make them smaller.
const EFFORT: i32 = 3;

/// The type of a column's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A whole number of 32 bits.
    Int32,
    /// A whole number of 64 bits.
    Int64,
    /// Milliseconds since 1970, UTC.
    Instant,
    /// Millionths, shown as a decimal with six digits.
    Millionths,
    /// Yes or no.
    Bool,
    /// UTF-8 text with this maximum size in bytes.
    Text(usize),
}

impl Kind {
    /// The maximum size of a value in a page, in bytes.
    fn widest(self) -> u64 {
        match self {
            Self::Int32 => 4,
            Self::Int64 | Self::Instant | Self::Millionths => 8,
            Self::Bool => 1,
            Self::Text(most) => (most as u64).saturating_add(LENGTH_BYTES as u64),
        }
    }
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// The type of its values.
    pub kind: Kind,
    /// Whether its cells can be null.
    pub optional: bool,
}

impl Column {
    /// A column without null cells.
    pub fn new(name: impl Into<String>, kind: Kind) -> Self {
        Self { name: name.into(), kind, optional: false }
    }

    /// A column whose cells can be null.
    pub fn optional(name: impl Into<String>, kind: Kind) -> Self {
        Self { name: name.into(), kind, optional: true }
    }

    fn field(&self) -> Result<Type, ParquetError> {
        let (physical, logical) = match self.kind {
            Kind::Int32 => (Physical::INT32, None),
            Kind::Int64 => (Physical::INT64, None),
            Kind::Instant => {
                (Physical::INT64, Some(LogicalType::timestamp(true, TimeUnit::MILLIS)))
            }
            Kind::Millionths => (Physical::INT64, Some(LogicalType::decimal(6, 18))),
            Kind::Bool => (Physical::BOOLEAN, None),
            Kind::Text(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        };
        let repetition = if self.optional { Repetition::OPTIONAL } else { Repetition::REQUIRED };
        let field = Type::primitive_type_builder(&self.name, physical)
            .with_repetition(repetition)
            .with_logical_type(logical);
        let field = match self.kind {
            Kind::Millionths => field.with_precision(18).with_scale(6),
            _ => field,
        };
        field.build()
    }
}

/// The value in a row's column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cell {
    /// Nothing.
    Null,
    /// A whole number.
    Int(i64),
    /// Yes or no.
    Bool(bool),
    /// A text.
    Text(Bytes),
}

impl Cell {
    /// A text.
    pub fn text(text: impl Into<Vec<u8>>) -> Self {
        Self::Text(Bytes::from(text.into()))
    }

    /// A whole number, or null.
    pub fn int(value: Option<i64>) -> Self {
        value.map_or(Self::Null, Self::Int)
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Text(text) => text.len() + LENGTH_BYTES,
            _ => 8,
        }
    }
}

/// A row with one cell per column.
pub type Row = Vec<Cell>;

/// Why a table cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// The file could not be read or written.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// It is not a valid table with these columns.
    #[error("{path}: {reason}")]
    Wrong {
        /// The file.
        path: PathBuf,
        /// The cause.
        reason: String,
    },
}

/// A table that is being written.
pub struct TableWriter<W: Write + Send> {
    columns: Vec<Column>,
    writer: SerializedFileWriter<W>,
    rows: Vec<Row>,
    bytes: usize,
    /// The number of rows, including those not yet written.
    count: u64,
}

impl<W: Write + Send> TableWriter<W> {
    /// A table of these columns, into `file`.
    pub fn new(file: W, columns: Vec<Column>) -> Result<Self, ParquetError> {
        let level = ZstdLevel::try_new(EFFORT)?;
        let properties = WriterProperties::builder()
            .set_created_by(concat!("exitgap ", env!("CARGO_PKG_VERSION")).to_owned())
            .set_compression(Compression::ZSTD(level))
            .set_dictionary_enabled(false)
            .set_data_page_size_limit(PAGE_BYTES)
            // Pages end only between batches, and a batch contains only a few of the largest states.
            .set_write_batch_size(8)
            // Other readers trust statistics in the file, but no one could verify them, so none are written.
            .set_statistics_enabled(EnabledStatistics::None)
            .set_offset_index_disabled(true);
        let writer =
            SerializedFileWriter::new(file, schema(&columns)?, Arc::new(properties.build()))?;
        Ok(Self { columns, writer, rows: Vec::new(), bytes: 0, count: 0 })
    }

    /// Adds a row to the group.
    pub fn push(&mut self, row: Row) {
        self.bytes += row.iter().map(Cell::bytes).sum::<usize>();
        self.count += 1;
        self.rows.push(row);
    }

    /// The size of the rows that are not yet written.
    pub fn waiting_bytes(&self) -> usize {
        self.bytes
    }

    /// The number of rows that are not yet written.
    pub fn waiting_rows(&self) -> usize {
        self.rows.len()
    }

    /// The compressed size written so far.
    pub fn written(&self) -> usize {
        self.writer.bytes_written()
    }

    /// Writes the waiting rows as a group. Does nothing without any.
    pub fn end_group(&mut self) -> Result<(), ParquetError> {
        self.bytes = 0;
        let rows = std::mem::take(&mut self.rows);
        if rows.is_empty() {
            return Ok(());
        }
        let mut group = self.writer.next_row_group()?;
        for (index, column) in self.columns.iter().enumerate() {
            let Some(mut writer) = group.next_column()? else {
                return Err(ParquetError::General("a table has fewer columns than given".into()));
            };
            let cells = || rows.iter().filter_map(|row| row.get(index));
            let levels: Vec<i16> = cells().map(|cell| i16::from(*cell != Cell::Null)).collect();
            let levels = column.optional.then_some(levels.as_slice());
            let ints = || {
                cells().filter_map(|cell| match cell {
                    Cell::Int(value) => Some(*value),
                    _ => None,
                })
            };
            match column.kind {
                Kind::Int32 => {
                    let values: Result<Vec<i32>, _> = ints().map(i32::try_from).collect();
                    let values =
                        values.map_err(|error| ParquetError::General(error.to_string()))?;
                    writer.typed::<Int32Type>().write_batch(&values, levels, None)?;
                }
                Kind::Int64 | Kind::Instant | Kind::Millionths => {
                    let values: Vec<i64> = ints().collect();
                    writer.typed::<Int64Type>().write_batch(&values, levels, None)?;
                }
                Kind::Bool => {
                    let values: Vec<bool> = cells()
                        .filter_map(|cell| match cell {
                            Cell::Bool(value) => Some(*value),
                            _ => None,
                        })
                        .collect();
                    writer.typed::<BoolType>().write_batch(&values, levels, None)?;
                }
                Kind::Text(_) => {
                    let values: Vec<ByteArray> = cells()
                        .filter_map(|cell| match cell {
                            Cell::Text(text) => Some(text.clone().into()),
                            _ => None,
                        })
                        .collect();
                    writer.typed::<ByteArrayType>().write_batch(&values, levels, None)?;
                }
            }
            writer.close()?;
        }
        group.close()?;
        Ok(())
    }

    /// Ends the table. Returns the file and the number of its rows.
    pub fn finish(mut self) -> Result<(W, u64), ParquetError> {
        self.end_group()?;
        let count = self.count;
        Ok((self.writer.into_inner()?, count))
    }
}

/// A table that is being read.
pub struct TableReader {
    path: PathBuf,
    columns: Vec<Column>,
    reader: SerializedFileReader<File>,
    /// The decompressed sizes of each group's columns.
    unpacked: Vec<Vec<Unpacked>>,
}

impl TableReader {
    /// Opens a table, which must have exactly these columns and no other metadata.
    pub fn open(path: &Path, columns: Vec<Column>) -> Result<Self, TableError> {
        let failed = |source| TableError::File { path: path.to_owned(), source };
        let wrong = |reason: String| TableError::Wrong { path: path.to_owned(), reason };
        let file = File::open(path).map_err(failed)?;
        let footer = file.try_clone().map_err(failed)?;
        let reader = catch_panic(|| {
            let reader = SerializedFileReader::new(footer).map_err(|error| error.to_string())?;
            let expected =
                SchemaDescriptor::new(schema(&columns).map_err(|error| error.to_string())?);
            let found = reader.metadata().file_metadata().schema_descr();
            if found.root_schema().get_fields() != expected.root_schema().get_fields() {
                return Err("it does not have the columns of this table".to_owned());
            }
            check_alone(reader.metadata())?;
            let widest: Vec<u64> = columns.iter().map(|column| column.kind.widest()).collect();
            let unpacked = check_pages(&file, reader.metadata(), &widest, MAX_GROUP_BYTES as u64)?;
            Ok((reader, unpacked))
        });
        let (reader, unpacked) = reader.map_err(wrong)?;
        Ok(Self { path: path.to_owned(), columns, reader, unpacked })
    }

    /// The number of row groups.
    pub fn groups(&self) -> usize {
        self.reader.num_row_groups()
    }

    /// Reads a group's first `columns` columns. The other cells are null.
    pub fn read_rows(&self, group: usize, columns: usize) -> Result<Vec<Row>, TableError> {
        let columns = columns.min(self.columns.len());
        let read = catch_panic(|| self.read_group(group, columns));
        read.map_err(|reason| TableError::Wrong { path: self.path.clone(), reason })
    }

    fn read_group(&self, index: usize, columns: usize) -> Result<Vec<Row>, String> {
        let told = |error: ParquetError| error.to_string();
        let group = self.reader.get_row_group(index).map_err(told)?;
        let count = usize::try_from(group.metadata().num_rows()).ok();
        let count = count.filter(|rows| (1..=MAX_GROUP_ROWS).contains(rows));
        let count = count.ok_or_else(|| format!("group {index} has an invalid number of rows"))?;
        let mut rows = vec![vec![Cell::Null; self.columns.len()]; count];
        let mut left = MAX_GROUP_BYTES;
        for (at, column) in self.columns.iter().enumerate().take(columns) {
            let reader = group.get_column_reader(at).map_err(told)?;
            let unpacked = self.unpacked.get(index).and_then(|group| group.get(at));
            let cells = read_column(reader, column, count, &mut left)
                .and_then(|cells| check_whole(&cells, column, unpacked).map(|()| cells))
                .map_err(|reason| format!("group {index}, column {}: {reason}", column.name))?;
            for (row, cell) in rows.iter_mut().zip(cells) {
                row[at] = cell;
            }
        }
        Ok(rows)
    }
}

/// Pages were checked before. A panic of the library about anything else in a file becomes an error.
fn catch_panic<T>(read: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    let read = panic::catch_unwind(AssertUnwindSafe(read));
    read.unwrap_or_else(|_| Err("its reader failed".to_owned()))
}

/// Refuses metadata that does not follow from the rows. Other readers trust minimum and maximum values, indexes and
/// notes without verifying them.
fn check_alone(metadata: &ParquetMetaData) -> Result<(), String> {
    let file = metadata.file_metadata();
    let rows: i64 = metadata.row_groups().iter().map(|group| group.num_rows().max(0)).sum();
    if file.num_rows() != rows {
        return Err(format!("it declares {} rows, but its groups have {rows}", file.num_rows()));
    }
    if file.key_value_metadata().is_some_and(|notes| !notes.is_empty()) {
        return Err("it has metadata in addition to its rows".to_owned());
    }
    for group in metadata.row_groups() {
        for column in group.columns() {
            let places = [
                column.bloom_filter_offset(),
                column.column_index_offset(),
                column.offset_index_offset(),
            ];
            if column.statistics().is_some() || places.iter().any(Option::is_some) {
                return Err("it has statistics or indexes in addition to its rows".to_owned());
            }
            if column.num_values() != group.num_rows() {
                return Err("a column does not have the number of rows of its group".to_owned());
            }
        }
    }
    Ok(())
}

/// Requires that a column of texts decompressed to exactly these texts, because a page can be as large as its longest
/// texts would allow and contain more. Values of other columns have a fixed size, which was checked before.
fn check_whole(cells: &[Cell], column: &Column, unpacked: Option<&Unpacked>) -> Result<(), String> {
    let (Kind::Text(_), Some(unpacked)) = (column.kind, unpacked) else { return Ok(()) };
    let texts = cells.iter().filter(|cell| **cell != Cell::Null).map(Cell::bytes).sum::<usize>();
    if unpacked.bytes > (texts as u64).saturating_add(unpacked.levels) {
        let bytes = unpacked.bytes;
        return Err(format!("its pages unpack to {bytes} bytes, but its texts have only {texts}"));
    }
    Ok(())
}

fn schema(columns: &[Column]) -> Result<TypePtr, ParquetError> {
    let fields = columns.iter().map(|column| column.field().map(Arc::new));
    let fields = fields.collect::<Result<_, _>>()?;
    Type::group_type_builder("exitgap").with_fields(fields).build().map(Arc::new)
}

/// A column's cells, one per row. `left` is the remaining decompressed size allowed.
fn read_column(
    reader: ColumnReader,
    column: &Column,
    rows: usize,
    left: &mut usize,
) -> Result<Vec<Cell>, String> {
    match (reader, column.kind) {
        (ColumnReader::Int32ColumnReader(reader), Kind::Int32) => {
            read_typed::<Int32Type>(reader, column, rows, left, |value| Cell::Int(value.into()))
        }
        (
            ColumnReader::Int64ColumnReader(reader),
            Kind::Int64 | Kind::Instant | Kind::Millionths,
        ) => read_typed::<Int64Type>(reader, column, rows, left, Cell::Int),
        (ColumnReader::BoolColumnReader(reader), Kind::Bool) => {
            read_typed::<BoolType>(reader, column, rows, left, Cell::Bool)
        }
        (ColumnReader::ByteArrayColumnReader(reader), Kind::Text(_)) => {
            read_typed::<ByteArrayType>(reader, column, rows, left, |value| {
                Cell::Text(Bytes::copy_from_slice(value.data()))
            })
        }
        _ => Err("it has a different type".to_owned()),
    }
}

fn read_typed<T: DataType>(
    mut reader: parquet::column::reader::ColumnReaderImpl<T>,
    column: &Column,
    rows: usize,
    left: &mut usize,
    cell: impl Fn(T::T) -> Cell,
) -> Result<Vec<Cell>, String> {
    let mut cells = Vec::with_capacity(rows);
    while cells.len() < rows {
        let (mut levels, mut values) = (Vec::new(), Vec::new());
        // In small batches, so that an excessive size is noticed early.
        let most = (rows - cells.len()).min(64);
        let read = reader.read_records(most, Some(&mut levels), None, &mut values);
        let (records, found, _) = read.map_err(|error| error.to_string())?;
        if records == 0 {
            return Err(format!("it ends after {} of {rows} rows", cells.len()));
        }
        let mut values = values.into_iter().take(found).map(&cell);
        let before = cells.len();
        if column.optional {
            let nulls = levels.iter().take(records);
            cells.extend(nulls.map(|level| match level {
                0 => Cell::Null,
                _ => values.next().unwrap_or(Cell::Null),
            }));
        } else {
            cells.extend(values);
        }
        let bytes: usize = cells[before..].iter().map(Cell::bytes).sum();
        if let Kind::Text(most) = column.kind
            && cells[before..].iter().any(|cell| cell.bytes() > most + LENGTH_BYTES)
        {
            return Err(format!("a text is longer than the maximum of {most} bytes"));
        }
        *left = left.checked_sub(bytes).ok_or("its group unpacks to more than the maximum")?;
    }
    let (mut levels, mut values) = (Vec::new(), Vec::new());
    match reader.read_records(1, Some(&mut levels), None, &mut values) {
        Ok((0, ..)) => Ok(cells),
        _ => Err(format!("it continues after its {rows} rows")),
    }
}
