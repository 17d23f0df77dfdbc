//! A part's file: the length of its compressed table, the table, and the bodies.

use super::{MAX_TABLE_BYTES, PartRef, PublishedError, Table};
use crate::ids::DocumentHash;

/// Why a file is not the part named by a manifest.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PartError {
    /// Its hash is different.
    #[error("the hash of its bytes is {found}, which is not its name")]
    Hash {
        /// The hash of the file.
        found: DocumentHash,
    },
    /// Its length is not the one in the manifest.
    #[error("it has {found} bytes, but its manifest has {expected}")]
    Length {
        /// The length in the manifest.
        expected: u64,
        /// Its length.
        found: u64,
    },
    /// It ends within its table.
    #[error("its table extends beyond its end")]
    Short,
    /// Its table cannot be decompressed.
    #[error("its table cannot be unpacked: {0}")]
    Packed(String),
    /// Its table is invalid.
    #[error(transparent)]
    Table(#[from] PublishedError),
}

impl PartRef {
    /// Reads the table of this part's file, and the offset of its first body. `unpack` gets the compressed table and
    /// the maximum size of the result.
    pub fn read_table(
        &self,
        file: &[u8],
        unpack: impl FnOnce(&[u8], usize) -> Result<Vec<u8>, String>,
    ) -> Result<(Table, u64), PartError> {
        let found = Self::hash_of(file);
        if found != self.sha256 {
            return Err(PartError::Hash { found });
        }
        let (expected, found) = (self.bytes, file.len() as u64);
        if expected != found {
            return Err(PartError::Length { expected, found });
        }
        self.read_beginning(file, unpack)
    }

    /// Reads the table out of the beginning of this part's file, which has it whole, and where its first body begins. That
    /// the file is the one that the manifest names is not checked.
    pub fn read_beginning(
        &self,
        beginning: &[u8],
        unpack: impl FnOnce(&[u8], usize) -> Result<Vec<u8>, String>,
    ) -> Result<(Table, u64), PartError> {
        let packed = packed_table(beginning).ok_or(PartError::Short)?;
        let table = unpack(packed, MAX_TABLE_BYTES).map_err(PartError::Packed)?;
        let table = Table::from_bytes(&table, self.pools)?;
        let start = 4 + packed.len() as u64;
        table.check_length(start, self.bytes)?;
        Ok((table, start))
    }

    /// The beginning of a part's file, up to its first body; `None` where these bytes do not have all of it.
    pub fn beginning_in(file: &[u8]) -> Option<&[u8]> {
        file.get(..4 + packed_table(file)?.len())
    }
}

fn packed_table(beginning: &[u8]) -> Option<&[u8]> {
    let (length, rest) = beginning.split_first_chunk()?;
    rest.get(..u32::from_be_bytes(*length) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log_folder::FrameRef;

    #[test]
    fn only_the_file_that_the_manifest_names_is_read() {
        let frame = FrameRef { back: 0, bytes: 3, snapshot: 1, state: 1 };
        let table = Table { heads: vec![b"{}".to_vec()], frames: vec![frame] };
        let packed = table.to_bytes().unwrap();
        let length = u32::try_from(packed.len()).unwrap().to_be_bytes();
        let file = [&length[..], &packed, b"abc"].concat();
        let part_of = |file: &[u8]| PartRef {
            sha256: PartRef::hash_of(file),
            bytes: file.len() as u64,
            first: "anvil:0x00000000000000000000000000000000000000aa".parse().unwrap(),
            pools: 1,
        };
        let plain = |packed: &[u8], _: usize| Ok(packed.to_vec());
        let part = part_of(&file);
        let whole = Ok((table, 4 + packed.len() as u64));
        assert_eq!(part.read_table(&file, plain), whole);
        let beginning = PartRef::beginning_in(&file).unwrap();
        assert_eq!(beginning, &file[..file.len() - 3]);
        assert_eq!(part.read_beginning(beginning, plain), whole);
        for cut in 0..beginning.len() {
            assert_eq!(PartRef::beginning_in(&file[..cut]), None);
            assert_eq!(part.read_beginning(&file[..cut], plain), Err(PartError::Short));
        }
        let longer = [&file[..], b"d"].concat();
        assert!(matches!(part.read_table(&longer, plain), Err(PartError::Hash { .. })));
        assert!(matches!(part_of(&longer).read_table(&longer, plain), Err(PartError::Table(_))));
        for bytes in [0, part.bytes - 1, part.bytes + 1, u64::MAX] {
            let part = PartRef { bytes, ..part.clone() };
            assert!(
                matches!(part.read_table(&file, plain), Err(PartError::Length { .. })),
                "{bytes}"
            );
        }
        for short in [&file[..3], &file[..5], b"\xff\xff\xff\xff{}"] {
            assert_eq!(part_of(short).read_table(short, plain), Err(PartError::Short));
        }
        let refused = part.read_table(&file, |_, _| Err("no frame".to_owned()));
        assert_eq!(refused, Err(PartError::Packed("no frame".to_owned())));
    }
}
