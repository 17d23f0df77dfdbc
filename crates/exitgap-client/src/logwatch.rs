//! Watches a log: evidence is verified against the last checkpoint that this reader saw, so a reader from before
//! notices a history that was rewritten since.

use std::sync::Arc;

use exitgap_api::operations::FigureOf;
use exitgap_api::{Claim, Contradiction, VerificationReport};
use exitgap_core::analytics::figure::FigureReport;
use exitgap_core::evidence::{
    Check, CheckName, Evidence, EvidenceRequest, Outcome, Policy, SeenCheckpoint, Verdict,
};
use exitgap_core::tlog::{
    Checkpoint, LogProof, NoteError, SignedError, VerifierKey, is_consistent,
};

use crate::client::log_file;
use crate::memory::ServiceMemory;
use crate::tiles::TileProof;
use crate::{Client, ClientError, EvidenceOf, Storage, Transport};

/// Why a key is trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrustBasis {
    /// The caller gave it.
    Named,
    /// This reader has stored it since an earlier visit.
    Kept,
    /// The service returned it just now, and no key was known before.
    FirstUse,
}

/// How the newest checkpoint relates to the one seen before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Continuity {
    /// No state of this log was seen before.
    FirstSeen,
    /// It continues the state seen before, or is that state.
    Continues,
    /// The service shows fewer slots than were seen before. This may be a copy that lags behind, or one that hides a
    /// rewritten history: the two could not be compared.
    NotCompared,
    /// The two checkpoints cannot belong to one log.
    Contradicts,
}

/// The known state of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogState {
    /// The trusted keys.
    pub keys: Vec<VerifierKey>,
    /// Why they are trusted.
    pub basis: TrustBasis,
    /// The newest checkpoint: a signed note.
    pub newest: String,
    /// The checkpoint seen before, if there is one of the same log.
    pub seen: Option<String>,
    /// How the two relate to each other.
    pub continuity: Continuity,
    /// Two signed states that cannot belong to one log: proof of misbehaviour.
    pub contradiction: Option<Contradiction>,
}

/// Downloaded and verified evidence.
#[derive(Debug, Clone)]
pub struct Verification {
    /// The bytes that were verified.
    pub bytes: Vec<u8>,
    /// The parsed evidence.
    pub evidence: Arc<Evidence>,
    /// Every check.
    pub report: VerificationReport,
    /// The state of the log.
    pub log: LogState,
}

/// A downloaded figure file, verified.
#[derive(Debug, Clone)]
pub struct FigureVerification {
    /// The bytes that were verified.
    pub bytes: Vec<u8>,
    /// Every check of the file.
    pub report: FigureReport,
    /// Whether the file's checkpoints and what was seen of the log belong to one history.
    pub consistency: Check,
    /// The state of the log.
    pub log: LogState,
}

/// A client that remembers what it saw of a log.
#[derive(Debug)]
pub struct LogWatch<'a, T, S> {
    client: &'a Client<T>,
    storage: S,
    named: Vec<VerifierKey>,
}

/// Why the file's checkpoint was not compared with another one.
struct NotCompared {
    needs: String,
    found: String,
}

impl<'a, T: Transport, S: Storage> LogWatch<'a, T, S> {
    /// Trusts `keys`; if there are none, the keys stored earlier, else the service's own on first use.
    pub fn new(client: &'a Client<T>, storage: S, keys: Vec<VerifierKey>) -> Self {
        Self { client, storage, named: keys }
    }

    /// The client.
    pub(crate) fn client(&self) -> &'a Client<T> {
        self.client
    }

    /// Reads the log's newest checkpoint, and compares it with the one seen before. The newest is then stored, unless
    /// it has fewer slots or the two contradict each other: then the older one stays.
    pub async fn log(&self) -> Result<LogState, ClientError> {
        let log = self.look().await?;
        self.remember(&log);
        Ok(log)
    }

    /// Reads the newest checkpoint, and compares it with the stored one. Stores nothing.
    async fn look(&self) -> Result<LogState, ClientError> {
        let (keys, basis) = self.keys().await?;
        let newest = self.client.checkpoint().await?;
        let checkpoint = Checkpoint::signed_by(&newest, &keys).map_err(|why| {
            let error = self.client.not_as_specified(&log_file("checkpoint"), why.to_string());
            match (why, error) {
                (SignedError::Unsigned(_), ClientError::NotAsSpecified { url, why }) => {
                    ClientError::NotTrusted { url, why }
                }
                (_, error) => error,
            }
        })?;
        let seen = self.kept().checkpoint(&checkpoint.origin, &keys)?;
        let seen = seen.filter(|(before, _)| before.size > 0);
        let (continuity, contradiction) = match &seen {
            None => (Continuity::FirstSeen, None),
            Some((before, _)) if before.size > checkpoint.size => (Continuity::NotCompared, None),
            Some((before, note)) => {
                match self.client.contradicts((before, note), (&checkpoint, &newest)).await? {
                    None => (Continuity::Continues, None),
                    proof => (Continuity::Contradicts, proof),
                }
            }
        };
        let seen = seen.map(|(_, note)| note);
        Ok(LogState { keys, basis, newest, seen, continuity, contradiction })
    }

    /// Stores the newest checkpoint and its keys, in place of the one it was compared with.
    fn remember(&self, log: &LogState) {
        if log.contradiction.is_none()
            && let Ok(checkpoint) = Checkpoint::signed_by(&log.newest, &log.keys)
        {
            self.kept().keep(log.seen.as_deref(), &checkpoint, &log.newest, &log.keys);
        }
    }

    /// Downloads a result's evidence and verifies it, comparing its log with the one seen before. With `window`, also
    /// downloads the head window, and requires that it confirms the seven-day figures. Evidence for another request is
    /// an error.
    ///
    /// If the log could not be compared with what was seen, the check `consistency` is not made, and the verdict is
    /// `incomplete` at best.
    pub async fn verify_remote(
        &self,
        of: &EvidenceOf,
        window: bool,
    ) -> Result<Verification, ClientError> {
        let bytes = self.client.evidence(of).await?;
        let evidence = Evidence::from_bytes(&bytes);
        if let Some(stated) = evidence.statement() {
            self.answers(of, &stated.request)?;
        }
        let head_window =
            if window { Some(self.client.window(&of.pool, of.slot).await?) } else { None };
        // The checkpoint is read last: an honest service's is then at least as new as the file's.
        let log = self.look().await?;
        // A key from the service itself is stored only after a successful verification, so that a failure leaves
        // nothing behind that the next attempt would trust.
        let first_use = log.basis == TrustBasis::FirstUse;
        if !first_use {
            self.remember(&log);
        }
        let report = self.judge(&evidence, head_window, &log).await?;
        if first_use && report.report.verdict != Verdict::Invalid {
            self.remember(&log);
        }
        Ok(Verification { bytes, evidence: Arc::new(evidence), report, log })
    }

    /// Downloads a figure file and verifies it with the service's snapshots, comparing its log with the one seen before. A
    /// file for another request is an error.
    ///
    /// If one of its checkpoints could not be compared, the check `consistency` is not made.
    pub async fn verify_figure(&self, of: &FigureOf) -> Result<FigureVerification, ClientError> {
        of.check()?;
        let bytes = self.client.figure_file(of).await?;
        let log = self.look().await?;
        let first_use = log.basis == TrustBasis::FirstUse;
        if !first_use {
            self.remember(&log);
        }
        let report = self.client.verify_figure(&bytes, &log.keys, |_, _| {}).await?;
        if report.verdict == Verdict::Valid && of.is_of_file(&bytes) != Some(true) {
            let why = "it is the file of another version of this figure";
            return Err(self.client.not_as_specified(&of.operation.target(), why));
        }
        let notes = report.claim.as_ref().map_or(&[][..], |claim| &claim.checkpoints);
        let consistency = self.compare_with(notes, &log).await?;
        let holds = report.verdict != Verdict::Invalid && consistency.outcome != Outcome::Fail;
        if first_use && holds {
            self.remember(&log);
        }
        Ok(FigureVerification { bytes, report, consistency, log })
    }

    /// Whether a figure's checkpoints and what was seen of the log belong to one history.
    async fn compare_with(&self, notes: &[String], log: &LogState) -> Result<Check, ClientError> {
        let check = |outcome, code, expected: String, found: String| Check {
            name: CheckName::Consistency,
            outcome,
            code,
            expected,
            found,
        };
        let mut not_compared = None;
        for note in notes {
            let of_file = Checkpoint::from_note(note).ok().map(|(checkpoint, _)| checkpoint);
            let seen = match self.seen_for(of_file.as_ref(), log).await? {
                Ok(seen) => seen,
                Err(why) => {
                    // Another one may contradict what was seen.
                    not_compared = Some(why);
                    continue;
                }
            };
            let other = Checkpoint::from_note(&seen.note).ok().map(|(checkpoint, _)| checkpoint);
            let Some((own, other)) = of_file.zip(other) else { continue };
            let (old, new) = if own.size <= other.size { (&own, &other) } else { (&other, &own) };
            if !is_consistent(old.size, old.root, new.size, new.root, &seen.proof) {
                let code = if old.size == new.size { "split_view" } else { "history_rewritten" };
                let of = |checkpoint: &Checkpoint| {
                    format!("{} slots, root {}", checkpoint.size, checkpoint.root)
                };
                let expected = format!("the same history as {}", of(&other));
                return Ok(check(Outcome::Fail, code, expected, of(&own)));
            }
        }
        if let Some(NotCompared { needs, found }) = not_compared {
            return Ok(check(Outcome::NotChecked, "not_compared", needs, found));
        }
        if notes.is_empty() {
            let (needs, found) = ("a checkpoint with each window", "none that can be read");
            return Ok(check(Outcome::NotChecked, "no_checkpoint", needs.into(), found.into()));
        }
        let found = format!("{} of one history with the newest", notes.len());
        Ok(check(Outcome::Pass, "ok", found.clone(), found))
    }

    /// Verifies a file from any source, comparing its log with the stored checkpoint, with the keys given to `new`.
    /// `None` if nothing of its log was stored: then the file can only be verified alone.
    pub async fn verify_file(
        &self,
        evidence: &Evidence,
    ) -> Result<Option<(VerificationReport, LogState)>, ClientError> {
        let Some(file) = checkpoint_of(evidence) else { return Ok(None) };
        if self.kept().checkpoint(&file.origin, &self.named)?.is_none() {
            return Ok(None);
        }
        let log = self.look().await?;
        self.remember(&log);
        let report = self.judge(evidence, None, &log).await?;
        Ok(Some((report, log)))
    }

    /// Verifies evidence against the log's state.
    async fn judge(
        &self,
        evidence: &Evidence,
        head_window: Option<Vec<u8>>,
        log: &LogState,
    ) -> Result<VerificationReport, ClientError> {
        let file = checkpoint_of(evidence);
        let mut policy = Policy::with_keys(log.keys.clone());
        if head_window.is_some() {
            policy.window = head_window;
            // A window that continues beyond the file's head need not confirm this head's seven-day figures.
            policy.window_ends_with_file = true;
            policy.required.push(CheckName::Window);
        }
        policy.required.push(CheckName::Consistency);
        let mut not_compared = None;
        match self.seen_for(file.as_ref(), log).await? {
            Ok(seen) => policy.seen = Some(seen),
            Err(why) => not_compared = Some(why),
        }
        let mut report = evidence.verify(&policy);
        let check = report.checks.iter_mut().find(|check| check.name == CheckName::Consistency);
        if let (Some(check), Some(NotCompared { needs, found })) = (check, not_compared)
            && file.is_some()
        {
            (check.code, check.expected, check.found) = ("not_compared", needs, found);
        }
        let claim = Claim::from_evidence(evidence);
        let contradiction = log.contradiction.clone();
        Ok(VerificationReport { claim, report, contradiction })
    }

    /// Requires that evidence answers the request: genuine evidence for another pool, slot or size proves nothing about
    /// it.
    fn answers(&self, of: &EvidenceOf, found: &EvidenceRequest) -> Result<(), ClientError> {
        let asked = EvidenceRequest {
            base: of.base,
            method_version: of.method_version.clone(),
            pool: of.pool.clone(),
            size_usd: of.size.to_string(),
            slot: u64::from(of.slot.number()),
        };
        if *found == asked {
            return Ok(());
        }
        let text = |request: &EvidenceRequest| {
            let EvidenceRequest { base, method_version, pool, size_usd, slot } = request;
            format!(
                "{size_usd} USD of {} of {pool} in slot {slot} by {method_version}",
                base.code()
            )
        };
        let why = format!(
            "requested evidence of {}, but received evidence of {}",
            text(&asked),
            text(found)
        );
        Err(self.client.not_as_specified(&of.target(), why))
    }

    fn kept(&self) -> ServiceMemory<'_, S> {
        ServiceMemory::new(&self.storage, self.client.base())
    }

    async fn keys(&self) -> Result<(Vec<VerifierKey>, TrustBasis), ClientError> {
        if !self.named.is_empty() {
            return Ok((self.named.clone(), TrustBasis::Named));
        }
        let kept = self.kept().keys()?;
        if !kept.is_empty() {
            return Ok((kept, TrustBasis::Kept));
        }
        let text = self.client.verifier_key().await?;
        let keys = text.lines().map(str::parse).collect::<Result<Vec<_>, _>>();
        let keys = keys.map_err(|error: NoteError| {
            self.client.not_as_specified(&log_file("verifier-key"), error.to_string())
        })?;
        Ok((keys, TrustBasis::FirstUse))
    }

    /// The checkpoint with which the file's must be consistent: the newest, which extends the one seen before; else the
    /// one seen before, as far as the two can be compared.
    async fn seen_for(
        &self,
        file: Option<&Checkpoint>,
        log: &LogState,
    ) -> Result<Result<SeenCheckpoint, NotCompared>, ClientError> {
        let read = |note: &str| Checkpoint::from_note(note).ok().map(|(checkpoint, _)| checkpoint);
        let (seen, newest) = (log.seen.as_deref().and_then(read), read(&log.newest));
        let not =
            |needs: &str, found: String| Ok(Err(NotCompared { needs: needs.to_owned(), found }));
        let (Some(file), Some(newest)) = (file, newest) else {
            return not("a checkpoint in the file", "no readable checkpoint".to_owned());
        };
        let alone =
            |note: &str| Ok(Ok(SeenCheckpoint { note: note.to_owned(), proof: Vec::new() }));
        match (log.continuity, &seen, &log.seen) {
            (Continuity::Contradicts, Some(seen), Some(note)) => {
                // The file matches at most one of the two; it is compared with the other one.
                let with_seen = (seen.size, seen.root) == (file.size, file.root);
                return alone(if with_seen { &log.newest } else { note });
            }
            (Continuity::NotCompared, Some(seen), Some(note)) => {
                if file.origin == seen.origin && file.size == seen.size {
                    return alone(note);
                }
                let needs = format!("a newest checkpoint of at least the {} slots seen", seen.size);
                return not(&needs, format!("one of {} slots", newest.size));
            }
            _ => {}
        }
        if file.origin != newest.origin {
            return not(&format!("a checkpoint of {}", newest.origin), file.origin.to_string());
        }
        if file.size == 0 || file.size > newest.size {
            let needs = format!("a newest checkpoint of at least the file's {} slots", file.size);
            return not(&needs, format!("one of {} slots", newest.size));
        }
        if file.size == newest.size {
            return alone(&log.newest);
        }
        let TileProof { proof, .. } = self.client.tile_proof(file.size, &newest).await?;
        Ok(Ok(SeenCheckpoint { note: log.newest.clone(), proof }))
    }
}

/// The checkpoint in an evidence file, if it can be read.
fn checkpoint_of(evidence: &Evidence) -> Option<Checkpoint> {
    let note = LogProof::from_text(&evidence.statement()?.log_proof).ok()?.checkpoint;
    Some(Checkpoint::from_note(&note).ok()?.0)
}
