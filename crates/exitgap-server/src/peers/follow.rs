//! The schedule for reading peers' slots: after each slot of this log, concurrently, on separate threads.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use exitgap_core::log_folder::Folder;
use exitgap_core::proof::Reach;
use exitgap_core::series::Slot;
use exitgap_core::snapshot::Difference;
use exitgap_core::tlog::{Cosigner, Origin, SignerKey, WitnessKey};
use exitgap_store::proofs::Proofs;
use exitgap_store::{LogFolder, Reader};
use reqwest::Client;
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::time::{Instant, sleep};

use super::Trouble;
use super::config::Peer;
use super::judge::{Differs, Own, SlotComparison};
use super::remote::{Kept, Remote, client};
use super::slot::{self as slot_of, Said, Seen};
use super::tell::PeerFolder;
use crate::challenges::Challenges;
use crate::secret_file::{self, SecretFileError};

/// Time limit for a peer's slot.
const SLOT_WITHIN: Duration = Duration::from_mins(1);

/// Wait before requesting a slot again that was not published yet.
const AGAIN_AFTER: Duration = Duration::from_secs(5);

/// How many slots a peer may be behind and still be compared.
const FURTHEST_BACK: u32 = Slot::PER_DAY;

/// Why following could not start.
#[derive(Debug, thiserror::Error)]
pub enum FollowersError {
    /// The observer's key cannot be read.
    #[error(transparent)]
    KeyFile(#[from] SecretFileError),
    /// The file does not contain a key.
    #[error("{path}: {error}")]
    NotAKey {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        error: exitgap_core::tlog::NoteError,
    },
    /// The key is already used for something else.
    #[error(
        "{path} is the key of {whose}; an observer needs its own key: create one with `exitgap-server key witness --out FILE --name NAME`"
    )]
    OtherKey {
        /// The file.
        path: PathBuf,
        /// Whose key it is.
        whose: &'static str,
    },
    /// The HTTP client could not be created.
    #[error("peers cannot be contacted: {0}")]
    Client(#[from] reqwest::Error),
}

/// The context for comparing peers' slots and publishing the results.
pub struct FollowContext {
    /// This log's store.
    pub store: PathBuf,
    /// This log's folder.
    pub folder: LogFolder,
    /// The stored proofs, and the nodes that create more; `None`: disagreements are not decided.
    pub challenges: Option<Arc<Challenges>>,
    /// Cosigns checkpoints that agree.
    pub observer: Option<Cosigner>,
    /// Returns the Unix second for cosignatures.
    pub now_s: Arc<dyn Fn() -> u64 + Send + Sync>,
}

/// The result of a peer's slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PeerTold {
    /// The peer, by its key's name.
    pub peer: String,
    /// The slot.
    pub slot: Slot,
    /// `agreed`, `differing`, `nothing_in_common`; or why it was not compared.
    pub outcome: &'static str,
    /// Number of pools that both recorded.
    pub compared: u64,
    /// Number of pools in which they differ.
    pub differing: u64,
    /// Of these, the number in which a state proof contradicts the peer.
    pub refuted: u64,
    /// Whether the observer cosigned.
    pub observed: bool,
    /// How many slots the peer is behind this log.
    pub behind: u32,
}

/// Receives the result of each slot of a peer.
type PeerCallback = Arc<dyn Fn(&PeerTold) + Send + Sync>;

/// The tasks that follow peers.
pub struct Followers {
    followed: Arc<FollowContext>,
    client: Client,
    peers: Vec<Peer>,
    told: PeerCallback,
}

/// The known state of one peer.
#[derive(Default)]
struct Known {
    next: Option<Slot>,
    origin: Option<Origin>,
    seen: Option<Seen>,
    has_contradicted: bool,
    kept: Kept,
    /// The last slot that was reported as not available.
    waited_for: Option<Slot>,
}

impl FollowContext {
    /// Reads the observer's key, which must not be one of the given keys: each with its owner and public bytes.
    pub fn observer_key(
        path: &Path,
        others: &[(&'static str, [u8; 32])],
    ) -> Result<Cosigner, FollowersError> {
        let text = secret_file::read_secret(path, "witness")?;
        let key: SignerKey = text
            .trim_end()
            .parse()
            .map_err(|error| FollowersError::NotAKey { path: path.to_owned(), error })?;
        let public = *key.verifier().public_bytes();
        match others.iter().find(|(_, other)| *other == public) {
            Some((whose, _)) => Err(FollowersError::OtherKey { path: path.to_owned(), whose }),
            None => Ok(Cosigner::new(key)),
        }
    }
}

impl Followers {
    /// Creates followers of these peers. Sends no request yet.
    pub fn new(
        followed: FollowContext,
        peers: Vec<Peer>,
        told: PeerCallback,
    ) -> Result<Self, FollowersError> {
        Ok(Self { followed: Arc::new(followed), client: client()?, peers, told })
    }

    /// The key that cosigns checkpoints that agree.
    pub fn observer(&self) -> Option<WitnessKey> {
        self.followed.observer.as_ref().map(Cosigner::verifier)
    }

    /// Follows each peer in a separate task as slots are sealed here.
    pub fn start(self, sealed: &watch::Receiver<Option<Slot>>) {
        for peer in self.peers {
            let (followed, client, told) =
                (self.followed.clone(), self.client.clone(), self.told.clone());
            tokio::spawn(follow(followed, client, peer, told, sealed.clone()));
        }
    }
}

/// Follows one peer until the recorder ends.
async fn follow(
    followed: Arc<FollowContext>,
    client: Client,
    peer: Peer,
    told: PeerCallback,
    mut sealed: watch::Receiver<Option<Slot>>,
) {
    let mut known = Known::default();
    loop {
        let newest = *sealed.borrow_and_update();
        let Some(newest) = newest else {
            if sealed.changed().await.is_err() {
                return;
            }
            continue;
        };
        let furthest = newest.number().saturating_sub(FURTHEST_BACK);
        let mut slot = known.next.unwrap_or(newest);
        if slot.number() < furthest {
            slot = Slot::new(furthest.into()).unwrap_or(newest);
        }
        if slot > newest {
            if sealed.changed().await.is_err() {
                return;
            }
            continue;
        }
        let deadline = Instant::now() + SLOT_WITHIN;
        let behind = newest.number() - slot.number();
        let came = turn(&followed, &client, &peer, &mut known, slot, deadline).await;
        let may_come = came.as_ref().is_err_and(Trouble::may_come);
        let report = report(&peer, slot, behind, &came);
        log_report(&report, &came, known.waited_for == Some(slot));
        if !may_come || known.waited_for != Some(slot) {
            told(&report);
        }
        if may_come {
            known.waited_for = Some(slot);
            known.next = Some(slot);
            sleep(AGAIN_AFTER).await;
        } else {
            let Some(next) = slot.next() else { return };
            known.next = Some(next);
        }
    }
}

/// The result of comparing a peer's slot.
struct ComparisonCounts {
    compared: u64,
    differing: u64,
    refuted: u64,
    observed: bool,
}

fn report(
    peer: &Peer,
    slot: Slot,
    behind: u32,
    came: &Result<ComparisonCounts, Trouble>,
) -> PeerTold {
    let peer = peer.key.name().to_owned();
    let (outcome, [compared, differing, refuted], observed) = match came {
        Ok(came) => {
            let outcome = match (came.compared, came.differing) {
                (0, _) => "nothing_in_common",
                (_, 0) => "agreed",
                _ => "differing",
            };
            (outcome, [came.compared, came.differing, came.refuted], came.observed)
        }
        Err(trouble) => (trouble.code(), [0; 3], false),
    };
    PeerTold { peer, slot, outcome, compared, differing, refuted, observed, behind }
}

/// Logs the result. A slot that is still missing is logged once.
fn log_report(report: &PeerTold, came: &Result<ComparisonCounts, Trouble>, is_again: bool) {
    let PeerTold { peer, slot, outcome, compared, differing, refuted, observed, behind } = report;
    match came {
        Ok(_) if *differing > 0 => {
            tracing::error!(%slot, peer, outcome, compared, differing, refuted, behind, "a peer recorded something different");
        }
        Ok(_) => {
            tracing::info!(%slot, peer, outcome, compared, observed, behind, "a peer's slot was compared");
        }
        Err(Trouble::NotYet) => {}
        Err(trouble) if trouble.may_come() => {
            if !is_again {
                tracing::warn!(%slot, peer, outcome, why = %trouble, behind, "a peer's slot is not compared yet");
            }
        }
        Err(trouble) => {
            tracing::error!(%slot, peer, outcome, why = %trouble, behind, "a peer's slot was not compared");
        }
    }
}

/// Reads a peer's slot, compares it, decides disagreements, and publishes the results.
async fn turn(
    followed: &Arc<FollowContext>,
    client: &Client,
    peer: &Peer,
    known: &mut Known,
    slot: Slot,
    deadline: Instant,
) -> Result<ComparisonCounts, Trouble> {
    let (own, http, of, handle) =
        (followed.clone(), client.clone(), peer.clone(), Handle::current());
    let mut moved = std::mem::take(known);
    let reading = move || {
        let read = read_and_compare(&own, (&http, &of), &mut moved, slot, handle, deadline);
        (moved, read)
    };
    let ended = tokio::task::spawn_blocking(reading).await;
    let (back, read) =
        ended.map_err(|_| Trouble::own("reading a peer's slot failed unexpectedly"))?;
    *known = back;
    let (seen, mut compared) = read?;
    decide(followed, &mut compared).await;
    let observed = publish(followed, known, slot, &seen, &compared)?;
    let count = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
    let refuted =
        compared.differs.iter().filter(|one| one.told.refutes.contains(&"theirs")).count();
    known.seen = Some(seen);
    Ok(ComparisonCounts {
        compared: compared.pools,
        differing: count(compared.differs.len()),
        refuted: count(refuted),
        observed,
    })
}

fn read_and_compare(
    followed: &FollowContext,
    (client, peer): (&Client, &Peer),
    known: &mut Known,
    slot: Slot,
    handle: Handle,
    deadline: Instant,
) -> Result<(Seen, SlotComparison), Trouble> {
    let reader = Reader::open(&followed.store).map_err(Trouble::own)?;
    let own = Own::for_slot(&reader, slot)?;
    let mut kept = std::mem::take(&mut known.kept);
    let remote = Remote::new((client, &peer.log), &mut kept, handle, deadline);
    let read = read_of(followed, &remote, peer, known, slot, &own);
    drop(remote);
    known.kept = kept;
    let (seen, said) = match read {
        Ok(read) => read,
        Err(Trouble::Wrong { what, checkpoints: Some(checkpoints) }) => {
            keep_contradiction(followed, peer, known, slot, &checkpoints)?;
            return Err(Trouble::Wrong { what, checkpoints: Some(checkpoints) });
        }
        Err(trouble) => return Err(trouble),
    };
    Ok((seen, own.compare(said)?))
}

fn read_of(
    followed: &FollowContext,
    remote: &Remote<'_>,
    peer: &Peer,
    known: &mut Known,
    slot: Slot,
    own: &Own<'_>,
) -> Result<(Seen, Vec<Said>), Trouble> {
    let manifest = remote.manifest(slot)?;
    let origin =
        slot_of::verify_slot_checkpoint(&manifest.checkpoint, &peer.key, slot)?.checkpoint.origin;
    if known.origin.as_ref() != Some(&origin) {
        // What an earlier process saw of this log.
        let shelf = PeerFolder::for_origin(&followed.folder, &origin);
        known.has_contradicted = shelf.has_contradicted();
        let newest = shelf.newest()?;
        known.seen = newest.and_then(|note| slot_of::seen(&note, &peer.key).ok());
        known.origin = Some(origin);
    }
    slot_of::read_slot(remote, &peer.key, known.seen.as_ref(), slot, &own.contracts())
}

/// Publishes two checkpoints that contradict each other.
fn keep_contradiction(
    followed: &FollowContext,
    peer: &Peer,
    known: &mut Known,
    slot: Slot,
    [before, now]: &[String; 2],
) -> Result<(), Trouble> {
    known.has_contradicted = true;
    let seen = slot_of::verify_slot_checkpoint(now, &peer.key, slot)?;
    let shelf = PeerFolder::for_origin(&followed.folder, &seen.checkpoint.origin);
    shelf.differences(slot, &seen, Some(before.clone()), (0, Vec::new()))
}

/// Decides disagreements by the chain's own state: with a stored proof, or with a whole-pool proof created for this.
async fn decide(followed: &Arc<FollowContext>, compared: &mut SlotComparison) {
    let Some(challenges) = &followed.challenges else { return };
    // Each whole-pool proof is created once, and only a few per slot.
    let mut whole_proofs = 4;
    for differs in compared.differs.iter_mut().filter(|differs| differs.can_be_decided()) {
        match try_decide(challenges.kept_proofs(), differs, &[Reach::Figures, Reach::Whole]) {
            Ok(true) => continue,
            Ok(false) => {}
            Err(trouble) => {
                tracing::error!(%trouble, "a proof that could decide could not be read");
                continue;
            }
        }
        if whole_proofs == 0 {
            continue;
        }
        whole_proofs -= 1;
        let made = challenges.made(differs.proof(Reach::Whole), differs.ours.clone()).await;
        if let Err(problem) = made {
            tracing::warn!(
                why = problem.detail,
                "the chain's state does not show which log is wrong"
            );
        } else if let Err(trouble) = try_decide(challenges.kept_proofs(), differs, &[Reach::Whole])
        {
            tracing::error!(%trouble, "a proof that could decide could not be read");
        }
    }
}

fn try_decide(kept: &Proofs, differs: &mut Differs, by: &[Reach]) -> Result<bool, Trouble> {
    for reach in by {
        if differs.decide_by(kept, *reach)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Publishes differences and the compared checkpoint; returns whether the observer cosigned it, which requires that
/// everything compared agreed, at this slot and all before.
fn publish(
    followed: &FollowContext,
    known: &mut Known,
    slot: Slot,
    seen: &Seen,
    compared: &SlotComparison,
) -> Result<bool, Trouble> {
    let shelf = PeerFolder::for_origin(&followed.folder, &seen.checkpoint.origin);
    if !compared.differs.is_empty() {
        let contradicts = |differs: &Differs| differs.difference != Difference::OtherBlock;
        known.has_contradicted |= compared.differs.iter().any(contradicts);
        let told = compared.differs.iter().map(|differs| differs.told.clone()).collect();
        shelf.differences(slot, seen, None, (compared.pools, told))?;
    }
    let agrees = compared.pools > 0 && compared.differs.is_empty() && !known.has_contradicted;
    let observer = followed.observer.as_ref().filter(|_| agrees);
    shelf.checkpoint(seen, observer.map(|observer| (observer, (followed.now_s)())))?;
    Ok(observer.is_some())
}
