//! What a kind of file is to the harness: its true files, how they are changed, and what a reader says of a file.

use std::path::Path;

use exitgap_core::evidence::Verdict;
use serde_json::Value;

use super::forged_heavy::heavy_files;
use crate::devchain::Rng;

/// A changed file, or a folder with changed files.
#[derive(Debug, Clone)]
pub struct Changed {
    /// The seed that was changed.
    pub seed: usize,
    /// The file; of a folder, the bytes that were changed.
    pub file: Vec<u8>,
    /// The files of a folder that were replaced, or removed.
    pub files: Vec<(String, Option<Vec<u8>>)>,
    /// What was changed.
    pub what: String,
    /// Whether the log's own key signed the change. Then the file is what the log signed, and only the readers' agreement
    /// is required.
    pub is_signed: bool,
}

impl Changed {
    /// A changed file that the log's key did not sign.
    pub fn new(seed: usize, file: Vec<u8>, what: impl Into<String>) -> Self {
        Self { seed, file, files: Vec::new(), what: what.into(), is_signed: false }
    }
}

/// What a reader says of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// Its verdict.
    pub verdict: Verdict,
    /// What every reader of the file must say alike.
    pub compared: String,
    /// If valid: what the verdict rests on, which must have been signed.
    pub stated: String,
    /// If valid: what the verdict names differently from the file.
    pub unclear: Option<String>,
}

impl Said {
    /// A verdict on a file that is not valid.
    pub fn not_valid(verdict: Verdict) -> Self {
        Self { verdict, compared: word(verdict).to_owned(), stated: String::new(), unclear: None }
    }

    /// The verdict on a valid file, and what it rests on.
    pub fn valid(stated: impl Into<String>) -> Self {
        let compared = word(Verdict::Valid).to_owned();
        Self { verdict: Verdict::Valid, compared, stated: stated.into(), unclear: None }
    }

    /// Valid with this content, or invalid without any.
    pub fn from_content(content: Option<String>) -> Self {
        content.map_or_else(|| Self::not_valid(Verdict::Invalid), Self::valid)
    }
}

/// A verdict as the documents spell it.
pub fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Valid => "valid",
        Verdict::Invalid => "invalid",
        Verdict::Incomplete => "incomplete",
    }
}

/// A kind of file.
pub trait Kind: Send + Sync {
    /// Its name in the table.
    fn name(&self) -> &'static str;

    /// The number of true files.
    fn seeds(&self) -> usize;

    /// A true file as it is.
    fn whole(&self, seed: usize) -> Changed;

    /// A changed file, which differs from its seed.
    fn change(&self, seed: usize, rng: &mut Rng) -> Changed;

    /// Files that could take long to read.
    fn heavy(&self) -> Vec<Changed> {
        let whole = self.whole(0);
        let files = heavy_files(&whole.file).into_iter();
        files.map(|(file, what)| Changed::new(0, file, what)).collect()
    }

    /// The readers in this process.
    fn readers(&self) -> &'static [&'static str];

    /// What one of these readers says.
    fn read(&self, reader: usize, changed: &Changed) -> Said;

    /// Whether a statement was signed.
    fn is_true(&self, stated: &str) -> bool;

    /// The size that a reader's time is compared with, in bytes.
    fn size(&self, changed: &Changed) -> usize {
        changed.file.len()
    }

    /// Whether its readers start threads of their own, so that the time of one thread says nothing.
    fn has_threads(&self) -> bool {
        false
    }

    /// What a process of Node.js has to know of a seed before it reads its changed files.
    fn context(&self, _seed: usize) -> Option<Value> {
        None
    }

    /// The question to the second verifier; `None` if it does not know this kind.
    fn ask_second(&self, _changed: &Changed) -> Option<Value> {
        None
    }

    /// The question to the package that is compiled to WebAssembly; `None` if it does not know this kind.
    fn ask_package(&self, _changed: &Changed) -> Option<Value> {
        None
    }

    /// The arguments of the command line for a file that is written into `folder`; `None` if it has no command for this kind.
    fn command(&self, _changed: &Changed, _folder: &Path) -> Option<std::io::Result<Vec<String>>> {
        None
    }
}

/// Bytes in hex, as questions have them.
pub fn hex(bytes: &[u8]) -> String {
    alloy_primitives::hex::encode(bytes)
}
