//! Tables written by other programs: metadata that does not follow from the rows, and excessive sizes, are refused.

use std::fs;
use std::sync::Arc;

use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, Int32Type};
use parquet::file::metadata::{
    ColumnChunkMetaData, FileMetaData, KeyValue, ParquetMetaDataBuilder, ParquetMetaDataWriter,
    RowGroupMetaData,
};
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesBuilder};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::SchemaDescriptor;

use super::table::{Cell, Column, Kind, MAX_GROUP_BYTES, Row, TableReader, TableWriter};

fn columns() -> Vec<Column> {
    vec![Column::new("slot", Kind::Int32), Column::new("pool", Kind::Text(1 << 30))]
}

/// The result of reading a file with these bytes: its rows, or the error.
fn read(bytes: &[u8], columns: Vec<Column>) -> Result<Vec<Row>, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.parquet");
    fs::write(&path, bytes).unwrap();
    let table = TableReader::open(&path, columns).map_err(|error| error.to_string())?;
    let groups = (0..table.groups()).map(|group| table.read_rows(group, usize::MAX));
    let rows: Result<Vec<_>, _> = groups.collect();
    rows.map(|rows| rows.concat()).map_err(|error| error.to_string())
}

/// The same two rows as another program may write them, with these properties.
fn by_others(set: impl FnOnce(WriterPropertiesBuilder) -> WriterPropertiesBuilder) -> Vec<u8> {
    let message = "message exitgap { REQUIRED INT32 slot; REQUIRED BYTE_ARRAY pool (STRING); }";
    let zstd = Compression::ZSTD(ZstdLevel::try_new(3).unwrap());
    let properties = WriterProperties::builder()
        .set_compression(zstd)
        .set_dictionary_enabled(false)
        .set_statistics_enabled(EnabledStatistics::None)
        .set_offset_index_disabled(true);
    let schema = Arc::new(parse_message_type(message).unwrap());
    let properties = Arc::new(set(properties).build());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, properties).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<Int32Type>().write_batch(&[1, 2], None, None).unwrap();
    column.close().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    let pools = ["a", "b"].map(ByteArray::from);
    column.typed::<ByteArrayType>().write_batch(&pools, None, None).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    writer.into_inner().unwrap()
}

#[test]
fn a_file_that_says_anything_beside_its_rows_is_refused() {
    let rows = vec![vec![Cell::Int(1), Cell::text("a")], vec![Cell::Int(2), Cell::text("b")]];
    assert_eq!(read(&by_others(|plain| plain), columns()), Ok(rows));
    let refused = |bytes: &[u8], what: &str| {
        let why = read(bytes, columns()).unwrap_err();
        assert!(why.contains(what), "{why:?} does not say {what:?}");
    };
    let beside = "statistics or indexes in addition to its rows";
    for level in [EnabledStatistics::Chunk, EnabledStatistics::Page] {
        refused(&by_others(|plain| plain.set_statistics_enabled(level)), beside);
    }
    refused(&by_others(|plain| plain.set_offset_index_disabled(false)), beside);
    refused(&by_others(|plain| plain.set_bloom_filter_enabled(true)), beside);
    let note = || Some(vec![KeyValue::new("ARROW:schema".to_owned(), "x".to_owned())]);
    refused(
        &by_others(|plain| plain.set_key_value_metadata(note())),
        "metadata in addition to its rows",
    );
    refused(&by_others(|plain| plain.set_dictionary_enabled(true)), "not a plain page");
    let other = vec![Column::new("slot", Kind::Int32), Column::optional("pool", Kind::Text(9))];
    assert!(
        read(&by_others(|plain| plain), other).unwrap_err().contains("does not have the columns")
    );
}

#[test]
fn what_unpacks_to_more_than_there_may_be_is_refused_by_page_group_and_cell() {
    let of_zeros = |cells: usize, bytes: usize| {
        let mut table = TableWriter::new(Vec::new(), columns()).unwrap();
        for _ in 0..cells {
            table.push(vec![Cell::Int(1), Cell::text(vec![b'0'; bytes])]);
        }
        table.finish().unwrap().0
    };
    let page = of_zeros(1, 65 << 20);
    assert!(page.len() < 1 << 20, "it is small as it lies there");
    assert!(read(&page, columns()).unwrap_err().contains("a page declares an unpacked size of"));
    // Pages of four MiB each, but more of them than a group may have.
    let group = of_zeros(MAX_GROUP_BYTES / (4 << 20) + 1, 4 << 20);
    assert!(
        read(&group, columns()).unwrap_err().contains("group unpacks to more than the maximum")
    );
    let short = vec![Column::new("slot", Kind::Int32), Column::new("pool", Kind::Text(9))];
    let cell = of_zeros(1, 10);
    assert!(read(&cell, short).unwrap_err().contains("longer than the maximum of 9 bytes"));
    assert_eq!(read(&cell, columns()).unwrap().len(), 1);
}

/// A page with one text, followed by padding that readers skip.
fn padded_page(text: &[u8], padding: usize) -> Vec<u8> {
    let length = u32::try_from(text.len()).unwrap().to_le_bytes();
    let plain = [&length, text, &vec![0; padding]].concat();
    let packed = zstd::encode_all(&plain[..], 3).unwrap();
    // Thrift's compact protocol: numbers are doubled, with seven bits per byte.
    let number = |number: usize| {
        let (mut left, mut bytes) = (number * 2, Vec::new());
        while left > 127 {
            bytes.push(u8::try_from(left & 127).unwrap() | 128);
            left >>= 7;
        }
        bytes.push(u8::try_from(left).unwrap());
        bytes
    };
    let parts: [&[u8]; 7] = [
        &[0x15, 0, 0x15],
        &number(plain.len()),
        &[0x15],
        &number(packed.len()),
        &[0x2c, 0x15, 2, 0x15, 0, 0x15, 6, 0x15, 6, 0, 0],
        &packed,
        &[],
    ];
    parts.concat()
}

/// A file with one column and this many such pages, each with one row.
fn padded_file(pages: usize, text: &[u8], padding: usize) -> Vec<u8> {
    let message = "message exitgap { REQUIRED BYTE_ARRAY pool (STRING); }";
    let schema = Arc::new(SchemaDescriptor::new(Arc::new(parse_message_type(message).unwrap())));
    let page = padded_page(text, padding);
    let mut file = [b"PAR1".to_vec(), page.repeat(pages)].concat();
    let (rows, bytes) = (i64::try_from(pages).unwrap(), i64::try_from(page.len() * pages).unwrap());
    let column = ColumnChunkMetaData::builder(schema.column(0))
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(3).unwrap()))
        .set_encodings(vec![Encoding::PLAIN, Encoding::RLE])
        .set_num_values(rows)
        .set_total_compressed_size(bytes)
        .set_total_uncompressed_size(bytes)
        .set_data_page_offset(4)
        .build()
        .unwrap();
    let group = RowGroupMetaData::builder(schema.clone())
        .set_num_rows(rows)
        .set_total_byte_size(bytes)
        .set_column_metadata(vec![column])
        .build()
        .unwrap();
    let metadata = FileMetaData::new(1, rows, None, None, schema, None);
    let metadata = ParquetMetaDataBuilder::new(metadata).set_row_groups(vec![group]).build();
    ParquetMetaDataWriter::new(&mut file, &metadata).finish().unwrap();
    file
}

#[test]
fn pages_that_unpack_to_more_than_their_values_are_refused() {
    let texts = |most| vec![Column::new("pool", Kind::Text(most))];
    // As a control, the same function without padding makes a valid file.
    let honest = read(&padded_file(3, b"abc", 0), texts(9)).unwrap();
    assert_eq!(honest, vec![vec![Cell::text("abc")]; 3]);
    // 400 rows of three bytes that decompress to 25 GiB.
    let bomb = padded_file(400, b"abc", (64 << 20) - 7);
    assert!(bomb.len() < 2 << 20, "{} bytes", bomb.len());
    let refused = read(&bomb, texts(9)).unwrap_err();
    assert!(refused.contains("more than they can need"), "{refused}");
    // If a text may be that long, all pages of a group together are too large.
    let refused = read(&bomb, texts(64 << 20)).unwrap_err();
    assert!(refused.contains("group unpacks to more than the maximum"), "{refused}");
    // If they are not too large, texts shorter than their pages are noticed.
    let padded = padded_file(3, b"abc", 1 << 20);
    let refused = read(&padded, texts(2 << 20)).unwrap_err();
    assert!(refused.contains("but its texts have only 21"), "{refused}");
}
