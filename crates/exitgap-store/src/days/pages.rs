//! Checks the page headers of a Parquet file before any page is decompressed, because a page reader allocates whatever
//! size is stated, and trusts that the page is of the expected type. Our files have only plain data pages.
//!
//! A reader takes as many values from a page as the header states, and skips the rest. A few bytes can decompress to
//! thousands of times their size. The size of a page is therefore limited by its values, and that of a group by its
//! maximum.

use std::fs::File;
use std::os::unix::fs::FileExt;

use parquet::file::metadata::ParquetMetaData;

/// The maximum decompressed size of a page, in bytes.
const MAX_PAGE_BYTES: u64 = 64 << 20;

/// The most pages in a file.
const MAX_PAGES: usize = 1 << 20;

/// The number of bytes read for a page header: more than a header has if its statistics are cut at 64 bytes.
const HEADER_BYTES: usize = 4 << 10;

/// The maximum nesting depth of skipped header fields.
const MAX_DEPTH: u32 = 8;

/// The maximum size of the levels of this many values: a run with one value takes two bytes, preceded by its length.
const fn level_bytes(values: u64) -> u64 {
    2 * values + 8
}

/// The decompressed size of a column's pages in a group.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Unpacked {
    /// The total size.
    pub bytes: u64,
    /// The part of it that can be levels instead of values.
    pub levels: u64,
}

/// Requires that every page of a file is inside the file and decompresses to no more than the page limit and its values
/// allow. `widest` has the maximum size of a value in each column. A group's values have at most `group_bytes` bytes.
/// Returns the decompressed sizes by group and column.
pub fn check_pages(
    file: &File,
    metadata: &ParquetMetaData,
    widest: &[u64],
    group_bytes: u64,
) -> Result<Vec<Vec<Unpacked>>, String> {
    let length = file.metadata().map_err(|error| error.to_string())?.len();
    let (mut pages, mut groups) = (0, Vec::new());
    for (number, group) in metadata.row_groups().iter().enumerate() {
        let mut columns = Vec::new();
        for (column, widest) in group.columns().iter().zip(widest) {
            let (mut unpacked, mut values) = (Unpacked::default(), 0_u64);
            let wrong =
                |what: &str| format!("group {number}, column {}: {what}", column.column_path());
            let starts = [column.dictionary_page_offset(), Some(column.data_page_offset())];
            let start =
                starts.into_iter().flatten().min().and_then(|start| u64::try_from(start).ok());
            let size = u64::try_from(column.compressed_size()).ok();
            let run =
                start.zip(size).and_then(|(start, size)| Some(start..start.checked_add(size)?));
            let run = run
                .filter(|run| run.end <= length)
                .ok_or_else(|| wrong("it is outside the file"))?;
            let mut at = run.start;
            while at < run.end {
                pages += 1;
                if pages > MAX_PAGES {
                    return Err(wrong("the file has too many pages"));
                }
                let page = read_header(file, at).map_err(|what| wrong(&what))?;
                if !page.is_plain {
                    return Err(wrong("a page is not a plain page"));
                }
                if page.unpacked > MAX_PAGE_BYTES {
                    let what = format!(
                        "a page declares an unpacked size of {} bytes, which is too large",
                        page.unpacked
                    );
                    return Err(wrong(&what));
                }
                let levels = level_bytes(page.values);
                let most = page.values.saturating_mul(*widest).saturating_add(levels);
                if page.unpacked > most {
                    let (declared, count) = (page.unpacked, page.values);
                    return Err(wrong(&format!(
                        "a page of {count} values declares an unpacked size of {declared} bytes, which is more than \
                         they can need"
                    )));
                }
                unpacked.bytes = unpacked.bytes.saturating_add(page.unpacked);
                unpacked.levels = unpacked.levels.saturating_add(levels);
                values = values.saturating_add(page.values);
                at = at.saturating_add(page.header).saturating_add(page.packed);
            }
            if at != run.end {
                return Err(wrong("its last page ends outside the column"));
            }
            if i64::try_from(values) != Ok(group.num_rows()) {
                return Err(wrong("its pages do not have as many values as the group has rows"));
            }
            columns.push(unpacked);
        }
        let of_values = |column: &Unpacked| column.bytes.saturating_sub(column.levels);
        if columns.iter().map(of_values).sum::<u64>() > group_bytes {
            return Err(format!("group {number}: its group unpacks to more than the maximum"));
        }
        groups.push(columns);
    }
    Ok(groups)
}

/// The content of a page's header.
struct Page {
    header: u64,
    packed: u64,
    unpacked: u64,
    values: u64,
    /// Whether it is a data page of version 1 with plain values, and with levels as runs.
    is_plain: bool,
}

/// Parquet's codes: the type of a data page of version 1, plain values, runs of levels.
const DATA_PAGE: i64 = 0;
const PLAIN: i64 = 0;
const RLE: i64 = 3;

fn read_header(file: &File, at: u64) -> Result<Page, String> {
    let mut buffer = [0; HEADER_BYTES];
    let mut filled = 0;
    while filled < buffer.len() {
        let read = file.read_at(&mut buffer[filled..], at + filled as u64);
        match read.map_err(|error| error.to_string())? {
            0 => break,
            read => filled += read,
        }
    }
    let mut header = Compact { bytes: &buffer[..filled] };
    let page = header.page().ok_or("a page's header cannot be read")?;
    let used = filled - header.bytes.len();
    Ok(Page { header: used as u64, ..page })
}

/// Thrift's compact protocol, as far as a page's header needs it.
struct Compact<'a> {
    bytes: &'a [u8],
}

impl Compact<'_> {
    /// Parses the needed parts of a page's header: its type and sizes, which are fields 1 to 3, and the values and
    /// encodings of a data page.
    fn page(&mut self) -> Option<Page> {
        let (mut id, mut numbers, mut encodings) = (0, [None; 3], None);
        while let kind @ 1.. = self.field(&mut id)? {
            match (id, kind) {
                (1..=3, 5) => numbers[usize::try_from(id - 1).ok()?] = Some(self.zigzag()?),
                (5, 12) => encodings = Some(self.data_page()?),
                _ => self.pass(kind, 0)?,
            }
        }
        let [Some(of), Some(unpacked), Some(packed)] = numbers else { return None };
        let (values, encodings) = match encodings {
            Some([values, encodings @ ..]) => (values, Some(encodings)),
            None => (0, None),
        };
        let is_plain = of == DATA_PAGE && encodings == Some([PLAIN, RLE, RLE]);
        let sizes = [unpacked, packed, values].map(|size| u64::try_from(size).ok());
        let [Some(unpacked), Some(packed), Some(values)] = sizes else { return None };
        Some(Page { header: 0, packed, unpacked, values, is_plain })
    }

    /// The number of a data page's values, and the encodings of its values and levels.
    fn data_page(&mut self) -> Option<[i64; 4]> {
        let (mut id, mut found) = (0, [-1; 4]);
        while let kind @ 1.. = self.field(&mut id)? {
            match (id, kind) {
                (1..=4, 5) => found[usize::try_from(id - 1).ok()?] = self.zigzag()?,
                // A page's own statistics cannot be verified.
                (5.., _) => return None,
                _ => self.pass(kind, 1)?,
            }
        }
        Some(found)
    }

    /// The next field's type, with its id in `id`; 0 at the end.
    fn field(&mut self, id: &mut i64) -> Option<u8> {
        let head = self.byte()?;
        if head == 0 {
            return Some(0);
        }
        *id = match head >> 4 {
            0 => self.zigzag()?,
            step => id.checked_add(step.into())?,
        };
        // A field without a type is invalid.
        Some(head & 15).filter(|kind| *kind > 0)
    }

    /// Skips a value.
    fn pass(&mut self, kind: u8, depth: u32) -> Option<()> {
        if depth > MAX_DEPTH {
            return None;
        }
        match kind {
            // A boolean's value is encoded in its type.
            1 | 2 => Some(()),
            3 => self.byte().map(|_| ()),
            4..=6 => self.varint().map(|_| ()),
            7 => self.skip_bytes(8),
            8 => {
                let length = self.varint()?;
                self.skip_bytes(usize::try_from(length).ok()?)
            }
            9 | 10 => {
                let head = self.byte()?;
                let count = match head >> 4 {
                    15 => self.varint()?,
                    count => count.into(),
                };
                for _ in 0..count {
                    // In a list a boolean takes one byte.
                    match head & 15 {
                        1 | 2 => self.skip_bytes(1)?,
                        item => self.pass(item, depth + 1)?,
                    }
                }
                Some(())
            }
            12 => {
                let mut id = 0;
                while let kind @ 1.. = self.field(&mut id)? {
                    self.pass(kind, depth + 1)?;
                }
                Some(())
            }
            _ => None,
        }
    }

    fn byte(&mut self) -> Option<u8> {
        let (byte, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        Some(*byte)
    }

    fn skip_bytes(&mut self, count: usize) -> Option<()> {
        self.bytes = self.bytes.get(count..)?;
        Some(())
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 127) << shift;
            if byte < 128 {
                return Some(value);
            }
        }
        None
    }

    fn zigzag(&mut self) -> Option<i64> {
        let value = self.varint()?;
        i64::try_from(value >> 1).ok().map(|half| if value & 1 == 1 { !half } else { half })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A header in Thrift's compact protocol: type, both sizes, and the encodings of a data page.
    fn header(of: u8, unpacked: &[u8], encoding: u8, more: &[u8]) -> Vec<u8> {
        let parts: [&[u8]; 6] = [
            &[0x15, of, 0x15],
            unpacked,
            &[0x15, 0x50, 0x2c],
            &[0x15, 0x10, 0x15, encoding, 0x15, 6, 0x15, 6],
            more,
            &[0, 0, 0xaa],
        ];
        parts.concat()
    }

    fn read(bytes: &[u8]) -> Option<(u64, u64, bool, usize)> {
        let mut header = Compact { bytes };
        let page = header.page()?;
        Some((page.unpacked, page.packed, page.is_plain, header.bytes.len()))
    }

    #[test]
    fn a_pages_header_is_read_up_to_its_end_and_says_what_it_is() {
        // Numbers are zigzag-encoded, which doubles them: 40 compressed, 300 and 2^30 decompressed.
        assert_eq!(read(&header(0, &[0xd8, 0x04], 0, &[])), Some((300, 40, true, 1)));
        let huge = [0x80, 0x80, 0x80, 0x80, 0x08];
        assert_eq!(read(&header(0, &huge, 0, &[])), Some((1 << 30, 40, true, 1)));
        // A dictionary page, values with a dictionary, and negative sizes.
        assert_eq!(read(&header(4, &[0xd8, 0x04], 0, &[])).map(|page| page.2), Some(false));
        assert_eq!(read(&header(0, &[0xd8, 0x04], 16, &[])).map(|page| page.2), Some(false));
        assert_eq!(read(&header(0, &[0x01], 0, &[])), None);
        // A page's statistics are refused, whatever they contain.
        assert_eq!(read(&header(0, &[0xd8, 0x04], 0, &[0x1c, 0x18, 1, b'a', 0])), None);
        let whole = header(0, &[0xd8, 0x04], 0, &[]);
        for cut in 0..whole.len() - 1 {
            assert_eq!(read(&whole[..cut]), None, "{cut}");
        }
        // A deeply nested header, and one longer than the data, are refused.
        let deep = [vec![0x15, 0, 0x15, 2, 0x15, 2], [0x1c; 200].to_vec()].concat();
        assert_eq!(read(&deep), None);
        assert_eq!(read(&[0x15, 0, 0x15, 2, 0x15, 2, 0x18, 0xff, 0xff, 0xff, 0x7f, 1]), None);
    }
}
