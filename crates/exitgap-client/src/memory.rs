//! What a reader stores about a service between visits: the newest checkpoint of each of its logs, and the keys that
//! signed them.

use std::cell::RefCell;
use std::collections::BTreeMap;

use exitgap_core::tlog::{Checkpoint, NoteError, Origin, VerifierKey};

use crate::{BaseUrl, ClientError};

/// A reader's storage: short texts by name, such as a browser's local storage.
pub trait Storage {
    /// The text stored under this name.
    fn get(&self, name: &str) -> Option<String>;
    /// Stores it, in place of an older one.
    fn put(&self, name: &str, text: &str);
}

/// A storage that lasts as long as the process.
#[derive(Debug, Default)]
pub struct Memory(RefCell<BTreeMap<String, String>>);

impl Storage for Memory {
    fn get(&self, name: &str) -> Option<String> {
        self.0.borrow().get(name).cloned()
    }

    fn put(&self, name: &str, text: &str) {
        self.0.borrow_mut().insert(name.to_owned(), text.to_owned());
    }
}

impl<S: Storage> Storage for &S {
    fn get(&self, name: &str) -> Option<String> {
        (**self).get(name)
    }

    fn put(&self, name: &str, text: &str) {
        (**self).put(name, text);
    }
}

/// A checkpoint with its note.
pub(crate) type CheckpointNote = (Checkpoint, String);

/// The stored data about one service. Data that cannot be verified now is neither used nor replaced: deleting it would
/// make a rewritten history look like a first visit.
#[derive(Debug)]
pub(crate) struct ServiceMemory<'a, S> {
    storage: &'a S,
    base: &'a BaseUrl,
}

impl<'a, S: Storage> ServiceMemory<'a, S> {
    pub fn new(storage: &'a S, base: &'a BaseUrl) -> Self {
        Self { storage, base }
    }

    /// The keys that signed the stored data; empty before the first visit.
    pub fn keys(&self) -> Result<Vec<VerifierKey>, ClientError> {
        let name = self.keys_name();
        let Some(text) = self.storage.get(&name) else { return Ok(Vec::new()) };
        if text.is_empty() {
            return Err(unusable(name, "it is empty".to_owned()));
        }
        let keys = text.lines().map(str::parse).collect::<Result<_, _>>();
        keys.map_err(|error: NoteError| unusable(name, error.to_string()))
    }

    /// The log's newest checkpoint seen, at whichever address; none where nothing of this log was. A log is known by its
    /// name and its key.
    pub fn checkpoint(
        &self,
        origin: &Origin,
        keys: &[VerifierKey],
    ) -> Result<Option<CheckpointNote>, ClientError> {
        let mut newest: Option<CheckpointNote> = None;
        let of_keys = own_keys(origin, keys).map(checkpoint_name);
        for name in of_keys.chain([self.former_checkpoint_name(origin)]) {
            let Some(note) = self.storage.get(&name) else { continue };
            let checkpoint = match Checkpoint::signed_by(&note, keys) {
                Ok(checkpoint) if checkpoint.origin == *origin => checkpoint,
                Ok(checkpoint) => {
                    return Err(unusable(name, format!("it belongs to {}", checkpoint.origin)));
                }
                Err(why) => return Err(unusable(name, why.to_string())),
            };
            if newest.as_ref().is_none_or(|(newest, _)| newest.size < checkpoint.size) {
                newest = Some((checkpoint, note));
            }
        }
        Ok(newest)
    }

    /// Stores a checkpoint that one of `keys` signed, with its log's keys, in place of the one it was compared with. If
    /// another call has stored a checkpoint meanwhile, that one stays, because the two were not compared.
    pub fn keep(
        &self,
        compared: Option<&str>,
        checkpoint: &Checkpoint,
        note: &str,
        keys: &[VerifierKey],
    ) {
        let origin = &checkpoint.origin;
        let (Ok(mut kept), Ok(before)) = (self.keys(), self.checkpoint(origin, keys)) else {
            return;
        };
        // Store the keys first: a checkpoint without its key could not be verified later.
        let own: Vec<_> = own_keys(origin, keys).collect();
        let added: Vec<_> = own.iter().filter(|key| !kept.contains(key)).collect();
        if !added.is_empty() {
            kept.extend(added.into_iter().map(|key| (*key).clone()));
            let lines: Vec<String> = kept.iter().map(ToString::to_string).collect();
            self.storage.put(&self.keys_name(), &lines.join("\n"));
        }
        let before = before.filter(|(before, _)| before.size > 0);
        let untouched = before.as_ref().map(|(_, note)| note.as_str()) == compared;
        if !untouched || before.is_some_and(|(before, _)| before.size > checkpoint.size) {
            return;
        }
        let signed =
            |key: &&&VerifierKey| Checkpoint::signed_by(note, core::slice::from_ref(**key)).is_ok();
        for key in own.iter().filter(signed) {
            let name = checkpoint_name(key);
            if self.storage.get(&name).as_deref() != Some(note) {
                self.storage.put(&name, note);
            }
        }
    }

    fn keys_name(&self) -> String {
        format!("exitgap keys {}", self.base)
    }

    /// Where earlier versions kept a log's checkpoint: by the service's address.
    fn former_checkpoint_name(&self, origin: &Origin) -> String {
        format!("exitgap checkpoint {} {origin}", self.base)
    }
}

/// Where a checkpoint is kept that a key signed. The key has the log's name.
fn checkpoint_name(key: &VerifierKey) -> String {
    format!("exitgap checkpoint {key}")
}

/// Those of the keys that are of this log.
fn own_keys<'a>(
    origin: &Origin,
    keys: &'a [VerifierKey],
) -> impl Iterator<Item = &'a VerifierKey> + use<'a> {
    let name = origin.to_string();
    keys.iter().filter(move |key| key.name() == name)
}

fn unusable(name: String, why: String) -> ClientError {
    ClientError::KeptUnusable { name, why }
}
