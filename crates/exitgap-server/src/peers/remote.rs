//! Reads a peer's published log over HTTP: each file up to its limit, and each turn within a maximum number of bytes
//! and a time limit.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

use exitgap_core::ids::DocumentHash;
use exitgap_core::log_folder::{Folder, LogFile, MAX_MANIFEST_BYTES, Manifest, PartRef, Table};
use exitgap_core::series::Slot;
use exitgap_core::tlog::{Hash, TILE_WIDTH, Tile, TileKind, join, subtrees};
use exitgap_store::{unpack_body, unpack_table};
use reqwest::{Client, StatusCode, Url};
use tokio::runtime::Handle;
use tokio::time::Instant;

use super::Trouble;

/// Maximum number of bytes downloaded from one peer for one slot.
const MAX_TURN_BYTES: usize = 64 << 20;

/// Time limit for one file.
const FILE_WITHIN: Duration = Duration::from_secs(20);

/// Size of the cache of parts that later slots may refer to, bytes.
const MAX_KEPT_BYTES: usize = 32 << 20;

/// Maximum number of cached manifests: bodies refer at most a day back, to three of them.
const MAX_MANIFESTS: usize = 16;

/// A client that follows no redirects.
pub fn client() -> Result<Client, reqwest::Error> {
    // An error means that this process has already chosen its cryptography provider.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .referer(false)
        .user_agent(concat!("exitgap/", env!("CARGO_PKG_VERSION")))
        .build()
}

/// Data of a peer's log that is kept from slot to slot.
#[derive(Debug, Default)]
pub struct Kept {
    manifests: BTreeMap<Slot, Manifest>,
    parts: BTreeMap<DocumentHash, Vec<u8>>,
    /// Their hashes, oldest download first.
    order: Vec<DocumentHash>,
}

/// A peer's log, for one turn. Use it on a thread that may block.
pub struct Remote<'a> {
    client: &'a Client,
    log: &'a Url,
    handle: Handle,
    deadline: Instant,
    left: Cell<usize>,
    kept: RefCell<&'a mut Kept>,
}

impl<'a> Remote<'a> {
    /// The log at a URL, until `deadline`.
    pub fn new(
        (client, log): (&'a Client, &'a Url),
        kept: &'a mut Kept,
        handle: Handle,
        deadline: Instant,
    ) -> Self {
        let (left, kept) = (Cell::new(MAX_TURN_BYTES), RefCell::new(kept));
        Self { client, log, handle, deadline, left, kept }
    }

    /// A file of at most this many bytes; `None` if it does not exist.
    pub fn file(&self, file: &LogFile, most: usize) -> Result<Option<Vec<u8>>, Trouble> {
        self.handle.block_on(self.fetch(file, most))
    }

    async fn fetch(&self, file: &LogFile, most: usize) -> Result<Option<Vec<u8>>, Trouble> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(Trouble::Silent("no time was left".to_owned()));
        }
        let url = format!("{}/{file}", self.log.as_str().trim_end_matches('/'));
        let failed = |error: reqwest::Error| {
            let why = if error.is_timeout() {
                "it did not answer in time"
            } else if error.is_connect() {
                "no connection could be made"
            } else {
                "the connection ended before the answer did"
            };
            Trouble::Silent(format!("{file}: {why}"))
        };
        let sent = self.client.get(url).timeout(left.min(FILE_WITHIN)).send().await;
        let mut answer = sent.map_err(failed)?;
        match answer.status() {
            StatusCode::OK => {}
            StatusCode::NOT_FOUND => return Ok(None),
            status => {
                return Err(Trouble::Silent(format!("{file}: it answered {}", status.as_u16())));
            }
        }
        let mut bytes = Vec::new();
        while let Some(piece) = answer.chunk().await.map_err(failed)? {
            if bytes.len() + piece.len() > most {
                let what = format!("{file} is larger than the limit of {most} bytes");
                return Err(Trouble::TooLarge(what));
            }
            let left = self.left.get().checked_sub(piece.len());
            let left = left.ok_or_else(|| {
                let what =
                    format!("the slot is larger than the download limit of {MAX_TURN_BYTES} bytes");
                Trouble::TooLarge(what)
            })?;
            self.left.set(left);
            bytes.extend_from_slice(&piece);
        }
        Ok(Some(bytes))
    }

    /// A part's bytes, checked against its hash.
    fn part(&self, part: &PartRef) -> Result<Vec<u8>, Trouble> {
        if let Some(bytes) = self.kept.borrow().parts.get(&part.sha256) {
            return Ok(bytes.clone());
        }
        let file = LogFile::Part(part.sha256);
        let most = usize::try_from(part.bytes).unwrap_or(usize::MAX);
        let bytes = self.file(&file, most)?;
        let bytes = bytes.ok_or_else(|| Trouble::Silent(format!("{file} does not exist")))?;
        let found = PartRef::hash_of(&bytes);
        if found != part.sha256 {
            return Err(Trouble::wrong(format!("{file} has the hash {found}")));
        }
        self.kept.borrow_mut().keep(part.sha256, &bytes);
        Ok(bytes)
    }

    /// The root over a range of leaves of the log with `size` slots.
    pub fn root_of(&self, run: Range<u64>, size: u64) -> Result<Hash, Trouble> {
        let mut roots = Vec::new();
        for subtree in subtrees(run) {
            let absent = || Trouble::wrong("its tiles do not contain the slots that it signed");
            let tile = Tile::for_subtree(subtree, size).ok_or_else(absent)?;
            let hashes = self.tile(&tile)?;
            roots.push(tile.root_of(subtree, &hashes).ok_or_else(absent)?);
        }
        Ok(join(&roots))
    }

    /// The hashes of a tile, or the first hashes of the full tile at its place if the log has grown since.
    fn tile(&self, tile: &Tile) -> Result<Vec<Hash>, Trouble> {
        let width = usize::try_from(tile.width()).unwrap_or(usize::MAX);
        let index = tile.places().start / TILE_WIDTH;
        let full = Tile::new(tile.kind(), index, TILE_WIDTH).filter(|_| !tile.is_full());
        debug_assert!(matches!(tile.kind(), TileKind::Level(_)), "only hashes are requested");
        for there in [Some(*tile), full].into_iter().flatten() {
            let file = LogFile::Tile(there);
            let most = usize::try_from(there.width()).unwrap_or(usize::MAX) * size_of::<Hash>();
            let Some(bytes) = self.file(&file, most)? else { continue };
            let (hashes, rest) = bytes.as_chunks::<32>();
            if bytes.len() != most || !rest.is_empty() {
                return Err(Trouble::wrong(format!(
                    "{file}: {} bytes are not a valid tile",
                    bytes.len()
                )));
            }
            return Ok(hashes.iter().take(width).copied().map(Hash).collect());
        }
        Err(Trouble::Silent(format!("{} does not exist", LogFile::Tile(*tile))))
    }
}

impl Kept {
    fn keep(&mut self, hash: DocumentHash, bytes: &[u8]) {
        let weight = |parts: &BTreeMap<DocumentHash, Vec<u8>>| -> usize {
            parts.values().map(Vec::len).sum()
        };
        while !self.order.is_empty() && weight(&self.parts) + bytes.len() > MAX_KEPT_BYTES {
            let oldest = self.order.remove(0);
            self.parts.remove(&oldest);
        }
        if bytes.len() <= MAX_KEPT_BYTES {
            self.parts.insert(hash, bytes.to_vec());
            self.order.push(hash);
        }
    }
}

impl Folder for Remote<'_> {
    type Error = Trouble;

    fn manifest(&self, slot: Slot) -> Result<Manifest, Trouble> {
        if let Some(manifest) = self.kept.borrow().manifests.get(&slot) {
            return Ok(manifest.clone());
        }
        let file = LogFile::Slot(slot);
        let bytes = self.file(&file, MAX_MANIFEST_BYTES)?.ok_or(Trouble::NotYet)?;
        let manifest = Manifest::from_bytes(&bytes)
            .map_err(|error| Trouble::wrong(format!("{file}: {error}")))?;
        let mut kept = self.kept.borrow_mut();
        if kept.manifests.len() >= MAX_MANIFESTS {
            kept.manifests.pop_first();
        }
        kept.manifests.insert(slot, manifest.clone());
        Ok(manifest)
    }

    fn table(&self, part: &PartRef) -> Result<(Table, u64), Trouble> {
        let bytes = self.part(part)?;
        part.read_table(&bytes, unpack_table)
            .map_err(|error| Trouble::wrong(format!("{}: {error}", part.path())))
    }

    fn bytes(&self, part: &PartRef, from: u64, length: u32) -> Result<Vec<u8>, Trouble> {
        let bytes = self.part(part)?;
        let from = usize::try_from(from).unwrap_or(usize::MAX);
        let to = from.saturating_add(length as usize);
        let short = || Trouble::wrong(format!("{} ends before its bodies do", part.path()));
        bytes.get(from..to).map(<[u8]>::to_vec).ok_or_else(short)
    }

    fn unpack(packed: &[u8], length: usize, base: Option<&[u8]>) -> Result<Vec<u8>, String> {
        unpack_body(packed, length, base)
    }
}
