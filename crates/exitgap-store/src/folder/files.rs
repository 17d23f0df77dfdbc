//! Reads manifests, parts and bodies from the folder, each up to its size limit.

use std::fs::File;
use std::io::{BufRead, BufReader, Cursor, Read, Seek, SeekFrom};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use exitgap_core::analytics::accuracy::CommittedDocument;
use exitgap_core::ids::{DocumentHash, PoolId};
use exitgap_core::log_folder::{
    Folder, FrameError, MAX_MANIFEST_BYTES, Manifest, PartRef, Table, check_frame, is_one_frame,
};
use exitgap_core::series::Slot;
use zstd::stream::read::Decoder;

use super::manifest_path;
use crate::bodies::codec;

/// zstd's maximum window for tables, as a power of two. It limits the memory that a reader needs.
const TABLE_WINDOW_LOG: u32 = 23;

/// A file that is missing, unreadable or has invalid content.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {reason}")]
pub struct FileError {
    /// The file.
    pub path: PathBuf,
    /// The reason.
    pub reason: String,
}

/// The files of a log folder.
pub struct Files<'a> {
    folder: &'a Path,
}

impl<'a> Files<'a> {
    /// The files below `folder`.
    pub fn for_folder(folder: &'a Path) -> Self {
        Self { folder }
    }
}

impl Files<'_> {
    /// The documents of one kind that the heads of a slot commit to. Nothing is read yet.
    pub fn slot_documents<D: CommittedDocument>(&self, slot: Slot) -> SlotDocuments<D> {
        let file = D::file(slot);
        let (path, most) = (self.folder.join(file.to_string()), file.max_bytes());
        SlotDocuments { path, most, slot, lines: None, kind: PhantomData }
    }
}

/// The documents of one kind of a slot, in the order of pool ids.
pub struct SlotDocuments<D> {
    path: PathBuf,
    most: u64,
    slot: Slot,
    lines: Option<Lines>,
    kind: PhantomData<D>,
}

/// The lines of a packed file.
struct Lines {
    rest: BufReader<Decoder<'static, Cursor<Vec<u8>>>>,
    /// How many bytes were unpacked.
    unpacked: u64,
}

impl<D: CommittedDocument> SlotDocuments<D> {
    /// Reads the next document, which must have this hash.
    pub fn next(&mut self, pool: &PoolId, hash: DocumentHash) -> Result<D, FileError> {
        let mut lines = match self.lines.take() {
            Some(lines) => lines,
            None => self.open()?,
        };
        let failed = |reason: &dyn std::fmt::Display| wrong(&self.path, reason);
        let mut line = Vec::new();
        let read = (&mut lines.rest).take(D::MAX_LINE_BYTES as u64).read_until(b'\n', &mut line);
        lines.unpacked += read.map_err(|error| failed(&error))? as u64;
        let text = line.strip_suffix(b"\n").unwrap_or(&line);
        let (slot, document, found) =
            D::from_line(text).map_err(|error| failed(&format!("{pool}: {error}")))?;
        if (slot, found) != (self.slot, hash) {
            let reason =
                format!("in place of {hash}, it has a document with hash {found}, of slot {slot}");
            return Err(failed(&reason));
        }
        self.lines = Some(lines);
        Ok(document)
    }

    /// Requires that the file has no more than the documents that were read. Where none was, it is not looked at.
    pub fn end(self) -> Result<(), FileError> {
        let failed = |reason: &dyn std::fmt::Display| wrong(&self.path, reason);
        let Some(mut lines) = self.lines else { return Ok(()) };
        if !lines.rest.fill_buf().map_err(|error| failed(&error))?.is_empty() {
            return Err(failed(&"it has more documents than the heads commit to"));
        }
        let packed = lines.rest.get_ref().get_ref().get_ref();
        check_frame(packed, lines.unpacked).map_err(|error| failed(&error))
    }

    fn open(&self) -> Result<Lines, FileError> {
        let failed = |reason: &dyn std::fmt::Display| wrong(&self.path, reason);
        let mut packed = Vec::new();
        File::open(&self.path)
            .and_then(|file| file.take(self.most + 1).read_to_end(&mut packed))
            .map_err(|error| failed(&error))?;
        if packed.len() as u64 > self.most {
            return Err(failed(&format!("it is larger than the maximum of {} bytes", self.most)));
        }
        if !is_one_frame(&packed) {
            return Err(failed(&FrameError::NotOneFrame));
        }
        let decoder = Decoder::with_buffer(Cursor::new(packed)).and_then(|mut decoder| {
            decoder.window_log_max(TABLE_WINDOW_LOG)?;
            Ok(BufReader::new(decoder))
        });
        let rest = decoder.map_err(|error| failed(&error))?;
        Ok(Lines { rest, unpacked: 0 })
    }
}

impl Folder for Files<'_> {
    type Error = FileError;

    fn manifest(&self, slot: Slot) -> Result<Manifest, FileError> {
        let path = manifest_path(self.folder, slot);
        let failed = |reason: &dyn std::fmt::Display| wrong(&path, reason);
        let mut bytes = Vec::new();
        File::open(&path)
            .and_then(|file| file.take(MAX_MANIFEST_BYTES as u64 + 1).read_to_end(&mut bytes))
            .map_err(|error| failed(&error))?;
        Manifest::from_bytes(&bytes).map_err(|error| failed(&error))
    }

    fn table(&self, part: &PartRef) -> Result<(Table, u64), FileError> {
        let path = self.folder.join(part.path());
        let failed = |reason: &dyn std::fmt::Display| wrong(&path, reason);
        let mut bytes = Vec::new();
        File::open(&path)
            .and_then(|file| file.take(part.bytes + 1).read_to_end(&mut bytes))
            .map_err(|error| failed(&error))?;
        part.read_table(&bytes, unpack_table).map_err(|error| failed(&error))
    }

    fn bytes(&self, part: &PartRef, from: u64, length: u32) -> Result<Vec<u8>, FileError> {
        let path = self.folder.join(part.path());
        let mut bytes = Vec::new();
        let read = File::open(&path).and_then(|mut file| {
            file.seek(SeekFrom::Start(from))?;
            file.take(length.into()).read_to_end(&mut bytes)
        });
        read.map_err(|error| wrong(&path, &error))?;
        Ok(bytes)
    }

    fn unpack(packed: &[u8], length: usize, base: Option<&[u8]>) -> Result<Vec<u8>, String> {
        unpack_body(packed, length, base)
    }
}

/// Decompresses a body of a log folder, which must have exactly `length` bytes. The error is a text.
pub fn unpack_body(packed: &[u8], length: usize, base: Option<&[u8]>) -> Result<Vec<u8>, String> {
    check_frame(packed, length as u64).map_err(|error| error.to_string())?;
    codec::decompress(packed, length, base).map_err(|error| error.to_string())
}

/// Decompresses the table of a part of a log folder, up to `most` bytes plus one. The error is a text.
pub fn unpack_table(packed: &[u8], most: usize) -> Result<Vec<u8>, String> {
    let mut table = Vec::new();
    Decoder::with_buffer(packed)
        .and_then(|mut decoder| {
            decoder.window_log_max(TABLE_WINDOW_LOG)?;
            decoder.take(most as u64 + 1).read_to_end(&mut table)
        })
        .map_err(|error| error.to_string())?;
    check_frame(packed, table.len() as u64).map_err(|error| error.to_string())?;
    Ok(table)
}

fn wrong(path: &Path, reason: &dyn std::fmt::Display) -> FileError {
    FileError { path: path.to_owned(), reason: reason.to_string() }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use exitgap_core::analytics::accuracy::Fills;

    use super::*;

    const POOL: &str = "anvil:0x00000000000000000000000000000000000000aa";

    /// A frame, and with bytes around and in it that unpackers pass over.
    fn padded(frame: &[u8]) -> Vec<Vec<u8>> {
        let skippable = b"\x50\x2a\x4d\x18\x03\x00\x00\x00xyz";
        // Before its only block, many that are empty. Its header has the length of the content in one byte, or in more.
        let (header, rest) = frame.split_at(5 + [1, 2, 4, 8][usize::from(frame[4] >> 6)]);
        let blocks = [header, &[0_u8; 3].repeat(1_000), rest].concat();
        vec![
            [&skippable[..], frame].concat(),
            [frame, skippable].concat(),
            [frame, b"x"].concat(),
            blocks,
        ]
    }

    fn packed(bytes: &[u8]) -> Vec<u8> {
        zstd::bulk::compress(bytes, 3).unwrap()
    }

    #[test]
    fn packed_bytes_are_one_frame_of_no_more_bytes_than_it_needs() {
        let frame = packed(b"a table");
        assert_eq!(unpack_table(&frame, 100).unwrap(), b"a table");
        assert_eq!(unpack_body(&frame, 7, None).unwrap(), b"a table");
        for bytes in padded(&frame) {
            // All of them unpack to the same, if nobody looks.
            assert!(
                zstd::decode_all(&bytes[..]).is_ok_and(|same| same == b"a table")
                    || bytes.ends_with(b"x")
            );
            assert!(unpack_table(&bytes, 100).is_err(), "{bytes:x?}");
            assert!(unpack_body(&bytes, 7, None).is_err(), "{bytes:x?}");
        }
    }

    #[test]
    fn a_file_of_documents_has_those_that_heads_commit_to_and_nothing_else() {
        let (pool, slot): (PoolId, _) = (POOL.parse().unwrap(), Slot::FIRST);
        let contract = pool.contract().clone();
        let fills = Fills { contract, after_block: 7, to_block: 9, logs: Vec::new() };
        let canonical = fills.to_canonical().unwrap();
        let (line, hash) = (Fills::line(slot, &canonical).unwrap(), Fills::hash_of(&canonical));
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(Fills::file(slot).to_string());
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        let read = |bytes: &[u8]| {
            fs::write(&file, bytes).unwrap();
            let mut documents = Files::for_folder(folder.path()).slot_documents::<Fills>(slot);
            documents.next(&pool, hash)?;
            documents.end()
        };
        assert_eq!(read(&packed(&line)), Ok(()));
        let twice = read(&packed(&line.repeat(2))).unwrap_err();
        assert!(twice.reason.contains("more documents than the heads commit to"), "{twice}");
        for bytes in padded(&packed(&line)) {
            assert!(read(&bytes).is_err(), "{bytes:x?}");
        }
    }
}
