//! When peers' slots are read: after each slot of this log, side by side, on threads of their own.

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

/// How long a peer's slot may take.
const SLOT_WITHIN: Duration = Duration::from_mins(1);

/// How long until a slot is asked for again that was not there.
const AGAIN_AFTER: Duration = Duration::from_secs(5);

/// How many slots a peer may be behind and still be compared.
const FURTHEST_BACK: u32 = Slot::PER_DAY;

/// Why peers are not followed.
#[derive(Debug, thiserror::Error)]
pub enum FollowersError {
    /// The observer's key cannot be read.
    #[error(transparent)]
    KeyFile(#[from] SecretFileError),
    /// The file holds something else.
    #[error("{path}: {error}")]
    NotAKey {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        error: exitgap_core::tlog::NoteError,
    },
    /// The key says something else already.
    #[error(
        "{path} is the key of {whose}; an observer needs its own key: create one with `exitgap-server key witness --out FILE --name NAME`"
    )]
    OtherKey {
        /// The file.
        path: PathBuf,
        /// Whose key it is.
        whose: &'static str,
    },
    /// No client can be made.
    #[error("peers cannot be contacted: {0}")]
    Client(#[from] reqwest::Error),
}

/// What peers' slots are compared with, and where that is told.
pub struct FollowContext {
    /// This log's store.
    pub store: PathBuf,
    /// This log's folder.
    pub folder: LogFolder,
    /// The proofs that are kept here, and the nodes that make more; `None`: nobody decides who lied.
    pub challenges: Option<Arc<Challenges>>,
    /// Who cosigns what agrees.
    pub observer: Option<Cosigner>,
    /// The Unix second that cosignatures name.
    pub now_s: Arc<dyn Fn() -> u64 + Send + Sync>,
}

/// What came of a peer's slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PeerTold {
    /// The peer, by its key's name.
    pub peer: String,
    /// The slot.
    pub slot: Slot,
    /// `agreed`, `differing`, `nothing_in_common`; or why it was not compared.
    pub outcome: &'static str,
    /// Pools that both recorded.
    pub compared: u64,
    /// Pools in which they differ.
    pub differing: u64,
    /// Of these, those in which a state proof contradicts the peer.
    pub refuted: u64,
    /// Whether the observer cosigned.
    pub observed: bool,
    /// How many slots the peer is behind this log.
    pub behind: u32,
}

/// Is told of each slot of a peer.
type PeerCallback = Arc<dyn Fn(&PeerTold) + Send + Sync>;

/// Those who follow peers.
pub struct Followers {
    followed: Arc<FollowContext>,
    client: Client,
    peers: Vec<Peer>,
    told: PeerCallback,
}

/// What is known of one peer.
#[derive(Default)]
struct Known {
    next: Option<Slot>,
    origin: Option<Origin>,
    seen: Option<Seen>,
    has_contradicted: bool,
    kept: Kept,
    /// Which slot was last said not to be there.
    waited_for: Option<Slot>,
}

impl FollowContext {
    /// The key of an observer, which is neither of these: whose they are, and their public bytes.
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
    /// Of these peers. Nothing is asked for yet.
    pub fn new(
        followed: FollowContext,
        peers: Vec<Peer>,
        told: PeerCallback,
    ) -> Result<Self, FollowersError> {
        Ok(Self { followed: Arc::new(followed), client: client()?, peers, told })
    }

    /// The key by which what agrees is cosigned.
    pub fn observer(&self) -> Option<WitnessKey> {
        self.followed.observer.as_ref().map(Cosigner::verifier)
    }

    /// Follows each peer in a task of its own, as slots are sealed here.
    pub fn start(self, sealed: &watch::Receiver<Option<Slot>>) {
        for peer in self.peers {
            let (followed, client, told) =
                (self.followed.clone(), self.client.clone(), self.told.clone());
            tokio::spawn(follow(followed, client, peer, told, sealed.clone()));
        }
    }
}

/// Follows one peer until nobody seals slots any more.
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

/// What came of comparing a peer's slot.
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

/// Writes a line of the log. That a slot is still not there is said once.
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

/// Reads a peer's slot, compares, decides, and publishes what was found.
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
        // What was seen of it before this process began.
        let shelf = PeerFolder::for_origin(&followed.folder, &origin);
        known.has_contradicted = shelf.has_contradicted();
        let newest = shelf.newest()?;
        known.seen = newest.and_then(|note| slot_of::seen(&note, &peer.key).ok());
        known.origin = Some(origin);
    }
    slot_of::read_slot(remote, &peer.key, known.seen.as_ref(), slot, &own.contracts())
}

/// Publishes two checkpoints of which one contradicts the other.
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

/// Lets the chain's own state say who is wrong: by a proof that is kept, or by one of the whole pool that is made for it.
async fn decide(followed: &Arc<FollowContext>, compared: &mut SlotComparison) {
    let Some(challenges) = &followed.challenges else { return };
    // Each whole proof is made once, and not more than a few for one slot.
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

/// Publishes differences, and the checkpoint that was compared; whether the observer cosigned it: all that was compared agreed,
/// at this slot and at all before.
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
