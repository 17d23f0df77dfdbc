//! Reads the files of a log's folder, each up to its limit.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use exitgap_core::evidence::MAX_LEAF_BYTES;
use exitgap_core::log_folder::{LogFile, ProofName};
use exitgap_core::tlog::{self, Hash, Tile, TileKind, split_entries};

use super::fault::Rule;

/// Number of hashes or entries in a full tile.
pub const TILE_WIDTH: usize = 256;

const _: () =
    assert!(TILE_WIDTH as u64 == tlog::TILE_WIDTH, "a tile has the width defined by the core");

const HASH_BYTES: usize = 32;

/// A log's folder.
pub struct FolderReader {
    path: PathBuf,
}

impl FolderReader {
    /// The folder at `path`; this reads nothing yet.
    pub fn new(path: &Path) -> Self {
        Self { path: path.to_owned() }
    }

    /// Removes a file from a copy.
    pub fn remove(&self, file: &str) {
        // If it cannot be removed, the next audit reads and rejects it again.
        let _ = fs::remove_file(self.path.join(file));
    }

    /// Reads a text file of at most `most` bytes.
    pub fn text(&self, file: &str, most: usize) -> Result<String, Rule> {
        let bytes = self.read_file(file, most)?;
        String::from_utf8(bytes).map_err(|_| Rule::FileNotText { file: file.to_owned() })
    }

    /// Whether this folder was published by a version of exitgap from before the first release.
    pub fn is_older(&self) -> bool {
        self.path.join("bundles").exists()
    }

    /// Reads up to `length` bytes of a file, starting at `from`.
    pub fn read_range(&self, file: &str, from: u64, length: u32) -> Result<Vec<u8>, Rule> {
        let mut bytes = Vec::new();
        let mut opened = self.open(file)?;
        let read = opened
            .seek(SeekFrom::Start(from))
            .and_then(|_| opened.take(length.into()).read_to_end(&mut bytes));
        read.map_err(|error| io_fault(file, error))?;
        Ok(bytes)
    }

    /// The first `width` hashes of a tile, and the file that contains them.
    pub fn hashes(
        &self,
        level: u32,
        index: u64,
        width: usize,
    ) -> Result<(String, Vec<Hash>), Rule> {
        let most = TILE_WIDTH * HASH_BYTES;
        let (file, stored, bytes) = self.tile(TileKind::Level(level), index, width, most)?;
        let (hashes, rest) = bytes.as_chunks::<HASH_BYTES>();
        if hashes.len() != stored || !rest.is_empty() {
            let reason = format!("{} bytes are not {stored} hashes", bytes.len());
            return Err(Rule::TileInvalid { file, reason });
        }
        let hashes = hashes.iter().take(width).map(|hash| Hash(*hash)).collect();
        Ok((file, hashes))
    }

    /// The first `width` entries of a tile of entries.
    pub fn entries(&self, index: u64, width: usize) -> Result<Vec<Vec<u8>>, Rule> {
        let most = TILE_WIDTH * (MAX_LEAF_BYTES + 2);
        let (file, stored, bytes) = self.tile(TileKind::Entries, index, width, most)?;
        let (entries, rest) = split_entries(&bytes);
        if entries.len() != stored || !rest.is_empty() {
            let reason = format!("it contains {} whole entries of {stored}", entries.len());
            return Err(Rule::TileInvalid { file, reason });
        }
        Ok(entries.into_iter().take(width).map(<[u8]>::to_vec).collect())
    }

    /// A tile of at least `width` entries: its file, its actual width, its bytes. A growing log replaces partial tiles
    /// by wider ones that begin with the same bytes.
    fn tile(
        &self,
        shelf: TileKind,
        index: u64,
        width: usize,
        most: usize,
    ) -> Result<(String, usize, Vec<u8>), Rule> {
        let tile = Tile::new(shelf, index, width as u64).ok_or(Rule::SizeBeyondSeries)?;
        let full = tile.path_when_full();
        let widths = if width == TILE_WIDTH { Vec::new() } else { self.widths(&full, width) };
        for stored in widths {
            let file = format!("{full}.p/{stored}");
            match self.read_file(&file, most) {
                // A wider tile has replaced it since the folder was listed.
                Err(Rule::FileAbsent { .. }) => {}
                read => return Ok((file, stored, read?)),
            }
        }
        match self.read_file(&full, most) {
            Ok(bytes) => Ok((full, TILE_WIDTH, bytes)),
            Err(Rule::FileAbsent { .. }) if width < TILE_WIDTH => {
                Err(Rule::FileAbsent { file: tile.path() })
            }
            Err(rule) => Err(rule),
        }
    }

    /// Whether a partial tile begins the tile that now has `present` hashes or entries of the log, and has as many of them as
    /// its name says.
    pub fn begins_present(&self, tile: &Tile, present: u64) -> Result<bool, Rule> {
        let count = |number| usize::try_from(number).unwrap_or(usize::MAX);
        let index = tile.places().start / tlog::TILE_WIDTH;
        let most = match tile.kind() {
            TileKind::Level(_) => TILE_WIDTH * HASH_BYTES,
            TileKind::Entries => TILE_WIDTH * (MAX_LEAF_BYTES + 2),
        };
        let (_, _, whole) = self.tile(tile.kind(), index, count(present), most)?;
        let own = match self.read_file(&tile.path(), most) {
            Err(Rule::FileTooLarge { .. }) => return Ok(false),
            own => own?,
        };
        let (entries, rest) = split_entries(&own);
        let is_as_wide = match tile.kind() {
            TileKind::Level(_) => own.len() == count(tile.width()) * HASH_BYTES,
            TileKind::Entries => rest.is_empty() && entries.len() == count(tile.width()),
        };
        Ok(is_as_wide && whole.starts_with(&own))
    }

    /// The widths of partial tiles that are at least `width`, ascending.
    fn widths(&self, full: &str, width: usize) -> Vec<usize> {
        let Ok(files) = fs::read_dir(self.path.join(format!("{full}.p"))) else {
            return Vec::new();
        };
        let names = files.filter_map(|file| file.ok()?.file_name().into_string().ok());
        let widths = names
            .filter_map(|name| name.parse().ok().filter(|width: &usize| width.to_string() == name));
        let mut widths: Vec<_> =
            widths.filter(|stored| (width..TILE_WIDTH).contains(stored)).collect();
        widths.sort_unstable();
        widths
    }

    /// The state proofs in the folder, by their names; other files are ignored.
    pub fn proofs(&self) -> BTreeSet<ProofName> {
        let names = |path: &Path| {
            let files = fs::read_dir(path).into_iter().flatten();
            files.filter_map(|file| file.ok()?.file_name().into_string().ok())
        };
        let path = self.path.join("proofs");
        let mut proofs = BTreeSet::new();
        for contract in names(&path) {
            for file in names(&path.join(&contract)) {
                if let Ok(LogFile::Proof(name)) = format!("proofs/{contract}/{file}").parse() {
                    proofs.insert(name);
                }
            }
        }
        proofs
    }

    pub fn open(&self, file: &str) -> Result<File, Rule> {
        File::open(self.path.join(file)).map_err(|error| io_fault(file, error))
    }

    /// Reads a file of at most `most` bytes.
    pub fn read_file(&self, file: &str, most: usize) -> Result<Vec<u8>, Rule> {
        let mut bytes = Vec::new();
        let mut limited = self.open(file)?.take(most as u64 + 1);
        limited.read_to_end(&mut bytes).map_err(|error| io_fault(file, error))?;
        if bytes.len() > most {
            return Err(Rule::FileTooLarge { file: file.to_owned(), most });
        }
        Ok(bytes)
    }
}

fn io_fault(file: &str, error: io::Error) -> Rule {
    let file = file.to_owned();
    match error.kind() {
        io::ErrorKind::NotFound => Rule::FileAbsent { file },
        _ => Rule::FileUnreadable { file, error },
    }
}
