//! What a log publishes about itself: its newest checkpoint, its keys, its predecessor and its successor, and which token of
//! each pool is sold by default. The checkpoint's signature is checked first, by keys that were known before; nothing that a
//! dishonest server serves once makes the copy unusable for an honest one.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use exitgap_core::evidence::Predecessor;
use exitgap_core::log_folder::{DefaultBases, LogFile, MAX_BASES_BYTES};
use exitgap_core::series::Slot;
use exitgap_core::tlog::{
    Checkpoint, MAX_KEY_FILE_BYTES, MAX_NOTE_BYTES, Note, VerifierKey, keys_from_lines,
};

use super::error::CopyError;
use super::leaves::{Entries, Leaves};
use super::{Log, MAX_ORIGIN_BYTES, Newest};

/// The most bytes of a line that names a pool and its token.
const MAX_BASE_LINE_BYTES: usize = 256;

/// How far a log may be ahead of this machine's clock: a day of slots.
const SLACK_SLOTS: u64 = Slot::PER_DAY as u64;

impl Log {
    /// The newest checkpoint, which is signed, with the tiles of entries that were fetched for its leaves. The log's keys,
    /// its predecessor, its successor and its default tokens come into the copy. Where the checkpoint is the one that is
    /// `known`, nothing else is requested.
    pub(super) async fn fetch_metadata(
        self: &Arc<Self>,
        known: Option<&Newest>,
    ) -> Result<(Newest, Entries), CopyError> {
        let newest = self.newest().await?;
        if known == Some(&newest) {
            return Ok((newest, Entries::new()));
        }
        let (here, trusted) = (self.keys_named()?, self.trusted.for_log(&newest.checkpoint.origin));
        // By keys that were known before the log names its own: what they did not sign leaves nothing behind.
        let known = if trusted.is_empty() { &here } else { &trusted };
        if !known.is_empty() {
            self.check_signed(&newest, known)?;
        }
        self.keys(&newest, &here, &trusted).await?;
        let (leaves, entries) = self.leaves(&newest.checkpoint).await?;
        self.predecessor(&leaves).await?;
        self.superseded_by().await?;
        self.bases(&leaves).await?;
        Ok((newest, entries))
    }

    /// Requires that one of these keys signed a checkpoint.
    fn check_signed(&self, newest: &Newest, keys: &[VerifierKey]) -> Result<(), CopyError> {
        let signed = Checkpoint::signed_by(&newest.note, keys);
        signed.map(drop).map_err(|error| {
            let url = self.fetcher.url(&LogFile::Checkpoint);
            CopyError::Unsigned { url, error: Box::new(error) }
        })
    }

    /// The keys that the copy names as the log's.
    pub(super) fn keys_named(&self) -> Result<Vec<VerifierKey>, CopyError> {
        let file = LogFile::VerifierKey;
        let lines = self.place.read_file(&file, MAX_KEY_FILE_BYTES)?.unwrap_or_default();
        let path = self.place.path_of(&file);
        keys_from_lines(&lines).map_err(|why| CopyError::Damaged { path, why })
    }

    /// The log's keys: those that are here, and perhaps more behind them. A key that is new must be trusted, or have signed
    /// the newest checkpoint. Where none was known before, the log's own count if one of them signed it.
    async fn keys(
        &self,
        newest: &Newest,
        here: &[VerifierKey],
        trusted: &[VerifierKey],
    ) -> Result<(), CopyError> {
        let (file, most) = (LogFile::VerifierKey, MAX_KEY_FILE_BYTES);
        let bytes = self.fetcher.require_bytes(&file, most).await?;
        self.check_end(&file, &bytes)?;
        let url = || self.fetcher.url(&file);
        let there = match keys_from_lines(&bytes) {
            Ok(keys) if !keys.is_empty() => keys,
            Ok(_) => return Err(CopyError::Invalid { url: url(), why: "it has no key".into() }),
            Err(why) => return Err(CopyError::Invalid { url: url(), why }),
        };
        if here == there {
            return Ok(());
        }
        let is_of_log = |key: &VerifierKey| trusted.contains(key) || is_signed_by(newest, key);
        if here.is_empty() && trusted.is_empty() {
            self.check_signed(newest, &there)?;
        } else if let Some(added) = there.strip_prefix(here) {
            if let Some(key) = added.iter().find(|key| !is_of_log(key)) {
                let why =
                    format!("it adds the key {key}, which did not sign the newest checkpoint");
                return Err(CopyError::NotSigned { url: url(), why });
            }
        } else if here.strip_prefix(&there[..]).is_none_or(|more| more.iter().any(is_of_log)) {
            return Err(CopyError::OtherKeys { url: url() });
        }
        // Fewer keys are here now only where the others never signed: a dishonest server named them at first.
        self.place.put(&file, &bytes)
    }

    /// The newest checkpoint: of the log that is here, no smaller, and no larger than time allows.
    async fn newest(&self) -> Result<Newest, CopyError> {
        let file = LogFile::Checkpoint;
        let note = self.fetcher.require_bytes(&file, MAX_NOTE_BYTES).await?;
        let url = self.fetcher.url(&file);
        let newest =
            read_checkpoint(note).map_err(|why| CopyError::Invalid { url: url.clone(), why })?;
        let there = &newest.checkpoint;
        if let Some(here) = self.place.read_file(&file, MAX_NOTE_BYTES)? {
            let path = self.place.path_of(&file);
            let here = read_checkpoint(here).map_err(|why| CopyError::Damaged { path, why })?;
            let here = here.checkpoint;
            if here.origin != there.origin {
                let there = there.origin.clone();
                return Err(CopyError::OtherLog { url, here: here.origin, there });
            }
            if here.size > there.size {
                return Err(CopyError::Shrank { url, here: here.size, there: there.size });
            }
        }
        let (size, first, now) = (there.size, there.origin.first_slot(), now_s() / Slot::SECONDS);
        let end = u64::from(first.number()).saturating_add(size);
        if size > 0 && end > now.saturating_add(SLACK_SLOTS) {
            return Err(CopyError::TooManySlots { url, size, first, now });
        }
        Ok(newest)
    }

    /// The log that this one succeeds: it is requested where the first leaf commits to one, and is never another.
    async fn predecessor(&self, leaves: &Leaves) -> Result<(), CopyError> {
        let file = LogFile::Predecessor;
        let here = self.place.read_file(&file, MAX_NOTE_BYTES)?;
        let Some(signed) = leaves.predecessor() else {
            return here.map_or(Ok(()), |_| self.place.remove(&file));
        };
        let is_signed = |bytes: &[u8]| {
            let text = core::str::from_utf8(bytes).ok();
            let read = text.and_then(|text| Predecessor::from_document(text).ok());
            read.is_some_and(|read| read.commitment().get(Predecessor::NAME) == Some(signed))
        };
        if here.is_some_and(|here| is_signed(&here)) {
            return Ok(());
        }
        let there = self.fetcher.require_bytes(&file, MAX_NOTE_BYTES).await?;
        if !is_signed(&there) {
            let why = "it is not the predecessor that the log's first leaf commits to".to_owned();
            return Err(CopyError::NotSigned { url: self.fetcher.url(&file), why });
        }
        self.place.put(&file, &there)
    }

    /// The log that succeeds this one. Nothing signs it, so the newest answer counts.
    async fn superseded_by(&self) -> Result<(), CopyError> {
        let file = LogFile::SupersededBy;
        let there = self.fetcher.bytes(&file, MAX_ORIGIN_BYTES).await?;
        let here = self.place.read_file(&file, MAX_ORIGIN_BYTES)?;
        if here == there {
            return Ok(());
        }
        let Some(there) = there else { return self.place.remove(&file) };
        self.check_end(&file, &there)?;
        let name = core::str::from_utf8(&there).ok().and_then(|text| text.strip_suffix('\n'));
        let is_name = |name: &str| {
            !name.is_empty() && !name.contains(|of: char| of.is_control() || of.is_whitespace())
        };
        if !name.is_some_and(is_name) {
            let why = "it is not the name of a log".to_owned();
            return Err(CopyError::Invalid { url: self.fetcher.url(&file), why });
        }
        self.place.put(&file, &there)
    }

    /// Which token of each pool is sold where a question does not say so: it may be absent, and may change. It has a line
    /// at most for each pool, and each pool has a head.
    async fn bases(&self, leaves: &Leaves) -> Result<(), CopyError> {
        let file = LogFile::DefaultBases;
        let most = usize::try_from(leaves.heads()).unwrap_or(usize::MAX);
        let most = most.saturating_mul(MAX_BASE_LINE_BYTES).min(MAX_BASES_BYTES);
        let Some(there) = self.fetcher.bytes(&file, most).await? else { return Ok(()) };
        let read = core::str::from_utf8(&there).map_err(|error| error.to_string());
        read.and_then(|text| DefaultBases::from_text(text).map_err(|error| error.to_string()))
            .map_err(|why| CopyError::Invalid { url: self.fetcher.url(&file), why })?;
        if self.place.read_file(&file, MAX_BASES_BYTES)?.as_ref() == Some(&there) {
            return Ok(());
        }
        self.place.put(&file, &there)
    }

    /// Requires that a text ends as it must: else it was cut off.
    fn check_end(&self, file: &LogFile, text: &[u8]) -> Result<(), CopyError> {
        if text.ends_with(b"\n") {
            return Ok(());
        }
        let why = "it does not end with a line break".to_owned();
        Err(CopyError::Invalid { url: self.fetcher.url(file), why })
    }
}

/// Whether this key signed a checkpoint.
fn is_signed_by(newest: &Newest, key: &VerifierKey) -> bool {
    let origin = &newest.checkpoint.origin;
    Note::parse(&newest.note)
        .is_ok_and(|note| note.signed_by(origin, core::slice::from_ref(key)).is_ok())
}

fn read_checkpoint(note: Vec<u8>) -> Result<Newest, String> {
    let note = String::from_utf8(note).map_err(|error| error.to_string())?;
    let (checkpoint, _) = Checkpoint::from_note(&note).map_err(|error| error.to_string())?;
    Ok(Newest { note, checkpoint })
}

fn now_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}
