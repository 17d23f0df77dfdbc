//! A slot's bundle: compressed lines, read one at a time, never more than allowed.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Take};

use zstd::stream::read::Decoder;

use super::fault::Rule;

/// The most bytes of a bundle when decompressed.
const MAX_BUNDLE_BYTES: u64 = 256 << 20;

/// The largest back-reference window a bundle may ask memory for: 128 MiB, as
/// Zstandard's own tools allow.
const WINDOW_LOG_MAX: u32 = 27;

/// A bundle being read.
pub struct Bundle {
    lines: BufReader<Take<Decoder<'static, BufReader<File>>>>,
    file: String,
    line: usize,
    read: u64,
}

impl Bundle {
    pub fn new(input: File, file: String) -> Result<Self, Rule> {
        let unreadable = |error| Rule::FileUnreadable { file: file.clone(), error };
        let mut decoder = Decoder::new(input).map_err(unreadable)?;
        decoder.window_log_max(WINDOW_LOG_MAX).map_err(unreadable)?;
        let lines = BufReader::new(decoder.take(MAX_BUNDLE_BYTES + 1));
        Ok(Self { lines, file, line: 0, read: 0 })
    }

    /// The file's name in the folder.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The next line, without its line break: `what` of at most `most` bytes.
    pub fn next(&mut self, what: &'static str, most: usize) -> Result<Vec<u8>, Rule> {
        self.line += 1;
        let mut bytes = Vec::new();
        let found = self.lines.by_ref().take(most as u64 + 1).read_until(b'\n', &mut bytes);
        self.read += found.map_err(|error| self.failed(error))? as u64;
        if self.read > MAX_BUNDLE_BYTES {
            return Err(Rule::BundleTooLarge { file: self.file.clone(), most: MAX_BUNDLE_BYTES });
        }
        let (file, line) = (self.file.clone(), self.line);
        match bytes.pop() {
            Some(b'\n') => Ok(bytes),
            Some(_) if bytes.len() == most => {
                Err(Rule::BundleLineTooLong { file, line, what, most })
            }
            _ => Err(Rule::BundleIncomplete { file, line, what }),
        }
    }

    /// Checks that nothing follows.
    pub fn end(mut self) -> Result<(), Rule> {
        let rest = self.lines.fill_buf().map(<[u8]>::is_empty);
        if rest.map_err(|error| self.failed(error))? {
            return Ok(());
        }
        Err(Rule::BundleGoesOn { file: self.file, line: self.line + 1 })
    }

    /// The operating system's errors have a number, the decoder's have none.
    fn failed(&self, error: io::Error) -> Rule {
        let file = self.file.clone();
        if error.raw_os_error().is_some() {
            return Rule::FileUnreadable { file, error };
        }
        Rule::BundleCompression { file, reason: error.to_string() }
    }
}
