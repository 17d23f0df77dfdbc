//! Watching a log: evidence is verified against the last checkpoint that this reader saw, so that a
//! history rewritten since is noticed by whoever was there before.

use std::cell::RefCell;
use std::collections::BTreeMap;

use exitgap_api::{Claim, Contradiction, VerificationReport};
use exitgap_core::evidence::{
    CheckName, Checkpoint, Hash, LogProof, Policy, SeenCheckpoint, VerifierKey, is_consistent,
    verify,
};
use serde::Deserialize;

use crate::tiles::TileProof;
use crate::{Client, ClientError, EvidenceOf, Transport};

/// Where a reader keeps what it saw: small texts by name, such as a browser's local storage.
pub trait Storage {
    /// The text kept under this name.
    fn get(&self, name: &str) -> Option<String>;
    /// Keeps it, in place of an older one.
    fn put(&self, name: &str, text: &str);
}

/// A storage that ends with the process.
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

/// Why a key is trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrustBasis {
    /// The caller named it.
    Named,
    /// This reader has kept it since an earlier visit.
    Kept,
    /// The service named it just now, and nothing was known before.
    FirstUse,
}

/// What this reader knows of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogState {
    /// Keys whose signatures count.
    pub keys: Vec<VerifierKey>,
    /// Why they do.
    pub basis: TrustBasis,
    /// The newest checkpoint: a signed note.
    pub newest: String,
    /// The checkpoint seen before, where there is one of the same log.
    pub seen: Option<String>,
    /// Two signed states that cannot both be the log's: proof of misbehaviour.
    pub contradiction: Option<Contradiction>,
}

/// Evidence, fetched and verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verification {
    /// The bytes that were verified.
    pub evidence: Vec<u8>,
    /// Every check.
    pub report: VerificationReport,
    /// What the log was found to be.
    pub log: LogState,
}

/// A client that remembers.
#[derive(Debug)]
pub struct LogWatch<'a, T, S> {
    client: &'a Client<T>,
    storage: S,
    named: Vec<VerifierKey>,
}

impl<'a, T: Transport, S: Storage> LogWatch<'a, T, S> {
    /// Trusts `keys`; where there are none, the key kept from before, else the service's own on
    /// first use.
    pub fn new(client: &'a Client<T>, storage: S, keys: Vec<VerifierKey>) -> Self {
        Self { client, storage, named: keys }
    }

    /// Reads the log's newest checkpoint, and requires that it continues the one seen before. The
    /// newest is then kept, unless the two contradict each other: then the older one stays.
    pub async fn log(&self) -> Result<LogState, ClientError> {
        let (keys, basis) = self.keys().await?;
        let newest = self.client.checkpoint().await?;
        let wrong = |why: String| self.client.not_as_specified("/log/checkpoint", why);
        let checkpoint = signed_by(&newest, &keys).map_err(wrong)?;
        let name = self.name("checkpoint");
        let seen =
            self.storage.get(&name).and_then(|note| Some((signed_by(&note, &keys).ok()?, note)));
        let seen = seen.filter(|(before, _)| before.origin == checkpoint.origin && before.size > 0);
        let contradiction = match &seen {
            None => None,
            Some((before, note)) => self.compare(before, note, &checkpoint, &newest).await?,
        };
        // An older state than the one seen is no misbehaviour yet: a copy may lag behind.
        let newer = seen.as_ref().is_none_or(|(before, _)| before.size < checkpoint.size);
        if contradiction.is_none() && newer {
            self.storage.put(&name, &newest);
            if basis == TrustBasis::FirstUse {
                let lines: Vec<String> = keys.iter().map(ToString::to_string).collect();
                self.storage.put(&self.name("keys"), &lines.join("\n"));
            }
        }
        let seen = seen.map(|(_, note)| note);
        Ok(LogState { keys, basis, newest, seen, contradiction })
    }

    /// Fetches a result's evidence and verifies it, its log against the one seen before. `window`
    /// fetches the head window, too, and requires that it bears out the seven-day figures.
    pub async fn verify_remote(
        &self,
        of: &EvidenceOf,
        window: bool,
    ) -> Result<Verification, ClientError> {
        let log = self.log().await?;
        let evidence = self.client.evidence(of).await?;
        let mut policy = Policy::trusting(log.keys.clone());
        if window {
            policy.window = Some(self.client.window(&of.pool, of.slot).await?);
            policy.required.push(CheckName::Window);
        }
        policy.seen = self.seen_for(&evidence, &log).await?;
        if policy.seen.is_some() {
            policy.required.push(CheckName::Consistency);
        }
        let report = verify(&evidence, &policy);
        let claim = Claim::of(&evidence);
        let contradiction = log.contradiction.clone();
        let report = VerificationReport { claim, report, contradiction };
        Ok(Verification { evidence, report, log })
    }

    fn name(&self, what: &str) -> String {
        format!("exitgap {what} {}", self.client.base())
    }

    async fn keys(&self) -> Result<(Vec<VerifierKey>, TrustBasis), ClientError> {
        if !self.named.is_empty() {
            return Ok((self.named.clone(), TrustBasis::Named));
        }
        let kept = self.storage.get(&self.name("keys")).unwrap_or_default();
        let kept: Vec<_> = kept.lines().filter_map(|line| line.parse().ok()).collect();
        if !kept.is_empty() {
            return Ok((kept, TrustBasis::Kept));
        }
        let text = self.client.verifier_key().await?;
        let key = text.parse().map_err(|error: exitgap_core::evidence::NoteError| {
            self.client.not_as_specified("/log/verifier-key", error.to_string())
        })?;
        Ok((vec![key], TrustBasis::FirstUse))
    }

    /// Whether two signed checkpoints are states of one log; if not, the proof that they are not.
    async fn compare(
        &self,
        seen: &Checkpoint,
        seen_note: &str,
        newest: &Checkpoint,
        newest_note: &str,
    ) -> Result<Option<Contradiction>, ClientError> {
        let (old, new) = if seen.size <= newest.size { (seen, newest) } else { (newest, seen) };
        let proof = match () {
            // Equal sizes need no proof.
            () if old.size == new.size => Vec::new(),
            // A copy that lags behind holds no tiles of what lies after it.
            () if new.size > newest.size => return Ok(None),
            () => self.tile_proof(old.size, new, newest.size).await?,
        };
        if is_consistent(old.size, old.root, new.size, new.root, &proof) {
            return Ok(None);
        }
        let proves = if old.size == new.size {
            "two different logs of one size are signed in this log's name: these two texts alone prove it"
        } else {
            "the log's tiles lead to the newer checkpoint and not to the one seen before: with a copy \
             of the tiles these two texts prove that history was rewritten"
        };
        let checkpoints = [seen_note.to_owned(), newest_note.to_owned()];
        Ok(Some(Contradiction { checkpoints, proves: proves.to_owned() }))
    }

    /// The proof from the first `old` slots to `new`, from tiles that lead to `new`: others say
    /// nothing of either.
    async fn tile_proof(
        &self,
        old: u64,
        new: &Checkpoint,
        size: u64,
    ) -> Result<Vec<Hash>, ClientError> {
        let TileProof { proof, root } = self.client.proof_from_tiles(old, new.size, size).await?;
        if root != new.root {
            let why = format!("its tiles do not make the root of its {} slots", new.size);
            return Err(self.client.not_as_specified("/log/tile", why));
        }
        Ok(proof)
    }

    /// What the file's checkpoint must be consistent with: the one seen before where the log
    /// contradicts it, else the newest.
    async fn seen_for(
        &self,
        evidence: &[u8],
        log: &LogState,
    ) -> Result<Option<SeenCheckpoint>, ClientError> {
        let note = match (&log.contradiction, &log.seen) {
            (Some(_), Some(seen)) => seen,
            _ => &log.newest,
        };
        let (Some(file), Ok((seen, _)), Ok((newest, _))) = (
            checkpoint_of(evidence),
            Checkpoint::from_note(note),
            Checkpoint::from_note(&log.newest),
        ) else {
            return Ok(None);
        };
        let (old, new) = if file.size <= seen.size { (&file, &seen) } else { (&seen, &file) };
        let proof = if old.size == new.size || new.size > newest.size || log.contradiction.is_some()
        {
            Vec::new()
        } else {
            self.tile_proof(old.size, new, newest.size).await?
        };
        Ok(Some(SeenCheckpoint { note: note.clone(), proof }))
    }
}

/// The checkpoint of a note that a trusted key signed.
fn signed_by(note: &str, keys: &[VerifierKey]) -> Result<Checkpoint, String> {
    let (checkpoint, signed) = Checkpoint::from_note(note).map_err(|error| error.to_string())?;
    let origin = checkpoint.origin.to_string();
    let own: Vec<_> = keys.iter().filter(|key| key.name() == origin).cloned().collect();
    let signers = signed.signers(&own);
    if signers.trusted.is_empty() || !signers.forged.is_empty() {
        return Err(format!("the checkpoint of {origin} bears no signature of a trusted key"));
    }
    Ok(checkpoint)
}

#[derive(Deserialize)]
struct Signed {
    log_proof: String,
}

/// The checkpoint that an evidence file rests on, where it has a readable one.
fn checkpoint_of(evidence: &[u8]) -> Option<Checkpoint> {
    let Signed { log_proof } = serde_json::from_slice(evidence).ok()?;
    let note = LogProof::from_text(&log_proof).ok()?.checkpoint;
    Some(Checkpoint::from_note(&note).ok()?.0)
}
