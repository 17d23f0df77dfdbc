//! Files in one file: each is a line with its path and its length, then its bytes. Ascending by path, so the same files
//! have the same bytes.

use std::io;
use std::path::Path;

/// The largest archive that is read, before compression, in bytes.
const MAX_BYTES: usize = 64 << 20;

/// The longest first line of a file, in bytes.
const MAX_LINE_BYTES: usize = 200;

/// A file in an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArchivedFile {
    /// Its path from the archive's folder, with `/`.
    pub path: String,
    /// Its content.
    pub bytes: Vec<u8>,
}

/// Files, ascending by path.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Archive {
    files: Vec<ArchivedFile>,
}

/// Why bytes are not an archive.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// The first line of a file is not a path and a length.
    #[error("file {number} of the archive has no line with its path and length")]
    Line {
        /// The file's number, counted from 1.
        number: usize,
    },
    /// A path leads out of the archive's folder, or is not in order.
    #[error("file {number} of the archive has the path {path:?}, which is not allowed there")]
    Path {
        /// The file's number, counted from 1.
        number: usize,
        /// Its path.
        path: String,
    },
    /// The bytes end within a file.
    #[error("the archive ends within {path:?}")]
    Short {
        /// The file's path.
        path: String,
    },
    /// There are more bytes than any sample has.
    #[error("the archive is larger than {MAX_BYTES} bytes")]
    Large,
    /// The bytes cannot be decompressed.
    #[error("the archive cannot be decompressed: {0}")]
    Compressed(io::Error),
}

impl Archive {
    /// An archive of these files.
    pub fn new(mut files: Vec<ArchivedFile>) -> Self {
        files.sort_by(|one, other| one.path.cmp(&other.path));
        Self { files }
    }

    /// The files, ascending by path.
    pub fn files(&self) -> &[ArchivedFile] {
        &self.files
    }

    /// The bytes of the file with this path.
    pub fn file(&self, path: &str) -> Option<&[u8]> {
        self.files.iter().find(|file| file.path == path).map(|file| file.bytes.as_slice())
    }

    /// All files as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for file in &self.files {
            bytes.extend(format!("{} {}\n", file.path, file.bytes.len()).into_bytes());
            bytes.extend(&file.bytes);
        }
        bytes
    }

    /// Reads an archive from untrusted bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ArchiveError> {
        if bytes.len() > MAX_BYTES {
            return Err(ArchiveError::Large);
        }
        let (mut files, mut rest) = (Vec::<ArchivedFile>::new(), bytes);
        while !rest.is_empty() {
            let number = files.len() + 1;
            let no_line = || ArchiveError::Line { number };
            let end = rest.iter().take(MAX_LINE_BYTES).position(|byte| *byte == b'\n');
            let (line, after) = rest.split_at(end.ok_or_else(no_line)?);
            let line = std::str::from_utf8(line).map_err(|_| no_line())?;
            let (path, length) = line.split_once(' ').ok_or_else(no_line)?;
            let length: usize = length.parse().map_err(|_| no_line())?;
            let path = path.to_owned();
            let is_next = files.last().is_none_or(|before| before.path < path);
            if !is_within(&path) || !is_next {
                return Err(ArchiveError::Path { number, path });
            }
            let Some((content, next)) = after[1..].split_at_checked(length) else {
                return Err(ArchiveError::Short { path });
            };
            files.push(ArchivedFile { path, bytes: content.to_vec() });
            rest = next;
        }
        Ok(Self { files })
    }

    /// Writes the files below a folder.
    pub fn write_to(&self, folder: &Path) -> io::Result<()> {
        for file in &self.files {
            let path = folder.join(&file.path);
            std::fs::create_dir_all(path.parent().unwrap_or(folder))?;
            std::fs::write(path, &file.bytes)?;
        }
        Ok(())
    }
}

#[cfg(feature = "recorded")]
impl Archive {
    /// The strongest compression that needs no options of its own when decompressing.
    const LEVEL: i32 = 19;

    /// All files as compressed bytes.
    pub fn to_compressed(&self) -> io::Result<Vec<u8>> {
        zstd::bulk::compress(&self.to_bytes(), Self::LEVEL)
    }

    /// Reads an archive from untrusted, compressed bytes.
    pub fn from_compressed(bytes: &[u8]) -> Result<Self, ArchiveError> {
        use std::io::Read;
        let decoder = zstd::stream::Decoder::new(bytes).map_err(ArchiveError::Compressed)?;
        let mut plain = Vec::new();
        let most = MAX_BYTES as u64 + 1;
        decoder.take(most).read_to_end(&mut plain).map_err(ArchiveError::Compressed)?;
        Self::from_bytes(&plain)
    }
}

/// Whether a path stays within the folder that it counts from.
fn is_within(path: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-+".contains(&byte);
    let part = |part: &str| {
        !part.is_empty() && part.bytes().all(plain) && !part.bytes().all(|byte| byte == b'.')
    };
    path.split('/').all(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, bytes: &[u8]) -> ArchivedFile {
        ArchivedFile { path: path.to_owned(), bytes: bytes.to_vec() }
    }

    #[test]
    fn files_are_read_as_they_were_written() {
        let archive = Archive::new(vec![file("log/b", b"two\n2 2"), file("a", b"")]);
        let bytes = archive.to_bytes();
        assert_eq!(bytes, b"a 0\nlog/b 7\ntwo\n2 2");
        assert_eq!(Archive::from_bytes(&bytes).unwrap(), archive);
        assert_eq!(archive.file("log/b"), Some(b"two\n2 2".as_slice()));
        assert_eq!(archive.file("log"), None);
        assert_eq!(Archive::from_bytes(b"").unwrap(), Archive::default());
    }

    #[test]
    fn bytes_that_are_not_an_archive_are_refused() {
        for (bytes, said) in [
            (b"a".as_slice(), "file 1 of the archive has no line"),
            (b"a\n", "file 1 of the archive has no line"),
            (b"a -1\n", "file 1 of the archive has no line"),
            (b"a 0\nb x\n", "file 2 of the archive has no line"),
            (b"\xff 0\n", "file 1 of the archive has no line"),
            (b"a 1\n", "ends within \"a\""),
            (b"a 99999999999999999999\n", "file 1 of the archive has no line"),
            (b"b 0\na 0\n", "file 2 of the archive has the path \"a\""),
            (b"a 0\na 0\n", "file 2 of the archive has the path \"a\""),
            (b"/a 0\n", "has the path \"/a\""),
            (b"../a 0\n", "has the path \"../a\""),
            (b"a/./b 0\n", "has the path \"a/./b\""),
            (b"a//b 0\n", "has the path \"a//b\""),
            (b"a\\b 0\n", "has the path"),
        ] {
            let error = Archive::from_bytes(bytes).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
        let large = vec![b'a'; MAX_BYTES + 1];
        assert!(matches!(Archive::from_bytes(&large), Err(ArchiveError::Large)));
    }

    #[cfg(feature = "recorded")]
    #[test]
    fn compressed_bytes_are_bounded() {
        let archive = Archive::new(vec![file("a", &[7; 1000])]);
        let bytes = archive.to_compressed().unwrap();
        assert!(bytes.len() < 100);
        assert_eq!(Archive::from_compressed(&bytes).unwrap(), archive);
        assert!(matches!(Archive::from_compressed(b"none"), Err(ArchiveError::Compressed(_))));
        // A few kilobytes that are many megabytes when decompressed.
        let bomb = zstd::bulk::compress(&vec![0; MAX_BYTES + 1], 1).unwrap();
        assert!(matches!(Archive::from_compressed(&bomb), Err(ArchiveError::Large)));
    }
}
