//! Parquet files, read into columns and written again with other values. This is written apart from the store's reader and
//! writer: a file that it makes is that of a stranger.

use std::fmt;
use std::sync::Arc;

use alloy_primitives::bytes::Bytes;
use parquet::basic::{Compression, ZstdLevel};
use parquet::column::reader::{ColumnReader, get_typed_column_reader};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, Int32Type, Int64Type};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::TypePtr;

use super::Result;
use super::forged_change::{below, one};
use crate::devchain::Rng;

/// The values of a column; `None`: null.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Values {
    /// Yes or no.
    Bool(Vec<Option<bool>>),
    /// Numbers of 32 bits.
    Int32(Vec<Option<i32>>),
    /// Numbers of 64 bits.
    Int64(Vec<Option<i64>>),
    /// Texts.
    Text(Vec<Option<Vec<u8>>>),
}

/// A table.
#[derive(Clone)]
pub struct ParquetTable {
    schema: TypePtr,
    names: Vec<String>,
    optional: Vec<bool>,
    /// The columns of each group.
    pub groups: Vec<Vec<Values>>,
}

impl fmt::Debug for ParquetTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ParquetTable({:?})", self.names)
    }
}

impl ParquetTable {
    /// Reads a file.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let reader = SerializedFileReader::new(Bytes::copy_from_slice(bytes))?;
        let schema = reader.metadata().file_metadata().schema_descr();
        let names = schema.columns().iter().map(|column| column.name().to_owned()).collect();
        let optional: Vec<bool> =
            schema.columns().iter().map(|column| column.max_def_level() > 0).collect();
        let schema = schema.root_schema_ptr();
        let mut groups = Vec::new();
        for group in 0..reader.num_row_groups() {
            let group = reader.get_row_group(group)?;
            let rows = usize::try_from(group.metadata().num_rows())?;
            let columns = optional.iter().enumerate();
            let columns =
                columns.map(|(at, optional)| read(group.get_column_reader(at)?, rows, *optional));
            groups.push(columns.collect::<Result<_>>()?);
        }
        Ok(Self { schema, names, optional, groups })
    }

    /// The number of rows.
    pub fn rows(&self) -> u64 {
        self.groups.iter().map(|group| group.first().map_or(0, Values::len) as u64).sum()
    }

    /// Writes it as our files are written.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let properties = WriterProperties::builder()
            .set_created_by("exitgap 0.1.0".to_owned())
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
            .set_dictionary_enabled(false)
            .set_write_batch_size(8)
            .set_statistics_enabled(EnabledStatistics::None)
            .set_offset_index_disabled(true);
        let properties = Arc::new(properties.build());
        let mut writer = SerializedFileWriter::new(Vec::new(), self.schema.clone(), properties)?;
        for group in &self.groups {
            let mut written = writer.next_row_group()?;
            for (values, optional) in group.iter().zip(&self.optional) {
                let mut column = written.next_column()?.ok_or("a column is too much")?;
                write(column.untyped(), values, *optional)?;
                column.close()?;
            }
            written.close()?;
        }
        Ok(writer.into_inner()?)
    }

    /// Changes one cell, or the rows as a list; returns what was changed.
    pub fn change(&mut self, rng: &mut Rng) -> String {
        let group = below(rng, self.groups.len());
        let rows = self.groups[group].first().map_or(0, Values::len);
        let (row, other) = (below(rng, rows), below(rng, rows));
        match rng.below(12) {
            0 => {
                self.groups[group].iter_mut().for_each(|values| values.swap(row, other));
                format!("rows {row} and {other} swapped")
            }
            1 => {
                self.groups[group].iter_mut().for_each(|values| values.repeat(row));
                format!("row {row} repeated")
            }
            2 if rows > 1 => {
                self.groups[group].iter_mut().for_each(|values| values.remove(row));
                format!("row {row} removed")
            }
            3..=4 => {
                let at = below(rng, self.names.len());
                self.groups[group][at].swap(row, other);
                format!("{} of rows {row} and {other} swapped", self.names[at])
            }
            _ => {
                let at = below(rng, self.names.len());
                self.groups[group][at].change(rng, row, self.optional[at]);
                format!("{} of row {row}", self.names[at])
            }
        }
    }
}

fn read(reader: ColumnReader, rows: usize, optional: bool) -> Result<Values> {
    Ok(match reader {
        ColumnReader::BoolColumnReader(_) => {
            Values::Bool(typed::<BoolType>(reader, rows, optional)?)
        }
        ColumnReader::Int32ColumnReader(_) => {
            Values::Int32(typed::<Int32Type>(reader, rows, optional)?)
        }
        ColumnReader::Int64ColumnReader(_) => {
            Values::Int64(typed::<Int64Type>(reader, rows, optional)?)
        }
        ColumnReader::ByteArrayColumnReader(_) => {
            let texts = typed::<ByteArrayType>(reader, rows, optional)?;
            Values::Text(texts.into_iter().map(|text| Some(text?.data().to_vec())).collect())
        }
        _ => return Err("a column of another type".into()),
    })
}

fn typed<T: DataType>(
    reader: ColumnReader,
    rows: usize,
    optional: bool,
) -> Result<Vec<Option<T::T>>> {
    let mut reader = get_typed_column_reader::<T>(reader);
    let (mut levels, mut values) = (Vec::new(), Vec::new());
    let mut found = 0;
    while found < rows {
        let kept = optional.then_some(&mut levels);
        let (records, ..) = reader.read_records(rows - found, kept, None, &mut values)?;
        if records == 0 {
            return Err("a column ends before its group".into());
        }
        found += records;
    }
    if !optional {
        return Ok(values.into_iter().map(Some).collect());
    }
    let mut values = values.into_iter();
    Ok(levels.into_iter().map(|level| if level > 0 { values.next() } else { None }).collect())
}

fn write(column: &mut ColumnWriter<'_>, values: &Values, optional: bool) -> Result<()> {
    fn split<T: Clone>(cells: &[Option<T>]) -> (Vec<T>, Vec<i16>) {
        let levels = cells.iter().map(|cell| i16::from(cell.is_some())).collect();
        (cells.iter().flatten().cloned().collect(), levels)
    }
    let of = |levels: Vec<i16>| if optional { Some(levels) } else { None };
    match (column, values) {
        (ColumnWriter::BoolColumnWriter(column), Values::Bool(cells)) => {
            let (cells, levels) = split(cells);
            column.write_batch(&cells, of(levels).as_deref(), None)?;
        }
        (ColumnWriter::Int32ColumnWriter(column), Values::Int32(cells)) => {
            let (cells, levels) = split(cells);
            column.write_batch(&cells, of(levels).as_deref(), None)?;
        }
        (ColumnWriter::Int64ColumnWriter(column), Values::Int64(cells)) => {
            let (cells, levels) = split(cells);
            column.write_batch(&cells, of(levels).as_deref(), None)?;
        }
        (ColumnWriter::ByteArrayColumnWriter(column), Values::Text(cells)) => {
            let (cells, levels) = split(cells);
            let cells: Vec<ByteArray> = cells.into_iter().map(ByteArray::from).collect();
            column.write_batch(&cells, of(levels).as_deref(), None)?;
        }
        _ => return Err("a column of another type".into()),
    }
    Ok(())
}

impl Values {
    fn len(&self) -> usize {
        match self {
            Self::Bool(cells) => cells.len(),
            Self::Int32(cells) => cells.len(),
            Self::Int64(cells) => cells.len(),
            Self::Text(cells) => cells.len(),
        }
    }

    fn swap(&mut self, a: usize, b: usize) {
        match self {
            Self::Bool(cells) => cells.swap(a, b),
            Self::Int32(cells) => cells.swap(a, b),
            Self::Int64(cells) => cells.swap(a, b),
            Self::Text(cells) => cells.swap(a, b),
        }
    }

    fn repeat(&mut self, row: usize) {
        match self {
            Self::Bool(cells) => cells.insert(row, cells[row]),
            Self::Int32(cells) => cells.insert(row, cells[row]),
            Self::Int64(cells) => cells.insert(row, cells[row]),
            Self::Text(cells) => cells.insert(row, cells[row].clone()),
        }
    }

    fn remove(&mut self, row: usize) {
        match self {
            Self::Bool(cells) => drop(cells.remove(row)),
            Self::Int32(cells) => drop(cells.remove(row)),
            Self::Int64(cells) => drop(cells.remove(row)),
            Self::Text(cells) => drop(cells.remove(row)),
        }
    }

    /// Another value of a cell, which can be null only where its column allows that.
    fn change(&mut self, rng: &mut Rng, row: usize, optional: bool) {
        let is_emptied = optional && rng.once_in(4);
        match self {
            Self::Bool(cells) => {
                cells[row] = if is_emptied { None } else { Some(!cells[row].unwrap_or_default()) };
            }
            Self::Int32(cells) => {
                let number = cells[row].unwrap_or_default();
                let by = *one(rng, &[1, -1, 288, i32::MAX]);
                cells[row] = if is_emptied { None } else { Some(number.wrapping_add(by)) };
            }
            Self::Int64(cells) => {
                let number = cells[row].unwrap_or_default();
                let by = *one(rng, &[1, -1, 1_000_000, i64::MAX]);
                cells[row] = if is_emptied { None } else { Some(number.wrapping_add(by)) };
            }
            Self::Text(cells) => {
                let mut text = cells[row].clone().unwrap_or_default();
                let at = below(rng, text.len());
                match text.get_mut(at) {
                    Some(byte) if !rng.once_in(4) => *byte ^= 1,
                    _ => text.push(b' '),
                }
                cells[row] = if is_emptied { None } else { Some(text) };
            }
        }
    }
}
