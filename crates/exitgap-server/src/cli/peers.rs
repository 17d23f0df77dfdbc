//! Whose logs a configuration follows.

use std::path::Path;
use std::sync::Arc;

use exitgap_core::tlog::VerifierKey;
use exitgap_store::LogFolder;
use exitgap_store::proofs::Proofs;

use super::CliError;
use super::key::read_key;
use crate::challenges::Challenges;
use crate::config::CheckedConfig;
use crate::peers::{FollowContext, Followers, PeerTold, peers_of};
use crate::recorder::{Clock, SystemClock};

/// The proofs of a configuration, and the nodes that make more; `None`: none are kept.
pub fn challenges(
    checked: &CheckedConfig,
    proofs: Option<&Arc<Proofs>>,
) -> Result<Option<Arc<Challenges>>, CliError> {
    let made = proofs.map(|kept| Challenges::new(kept.clone(), &checked.plan));
    Ok(made.transpose().map_err(CliError::Prover)?.map(Arc::new))
}

/// Who follows the peers of a configuration; `None`: it names none.
pub fn followers(
    checked: &CheckedConfig,
    challenges: Option<Arc<Challenges>>,
    told: impl Fn(&PeerTold) + Send + Sync + 'static,
) -> Result<Option<Followers>, CliError> {
    let config = &checked.config;
    // It was checked with the configuration.
    let peers = peers_of(&config.peer).unwrap_or_default();
    if peers.is_empty() {
        return Ok(None);
    }
    let mut others = Vec::new();
    let files = config.evidence.retiring_key_file.iter().chain([&config.evidence.key_file]);
    others.extend(files.filter_map(|path| Some(("this log", public(path)?))));
    others.extend(public(&config.witness.key_file).map(|key| ("this witness", key)));
    others.extend(peers.iter().map(|peer| ("a peer's log", *peer.key.public_bytes())));
    let observer = config.observer.key_file.as_deref();
    let observer = observer.map(|path| FollowContext::observer_key(path, &others)).transpose()?;
    let count = peers.len();
    let followed = FollowContext {
        store: config.store.path.clone(),
        folder: LogFolder::new(&config.evidence.folder),
        challenges,
        observer,
        // A rehearsal's clock is not what others date by.
        now_s: Arc::new(|| SystemClock::default().now().as_secs()),
    };
    let followers = Followers::new(followed, peers, Arc::new(told))?;
    let observer = followers.observer().map(|key| key.to_string());
    tracing::info!(peers = count, observer, "peers are followed");
    Ok(Some(followers))
}

/// The public bytes of a key in a file, where it can be read.
fn public(path: &Path) -> Option<[u8; 32]> {
    let key: VerifierKey = read_key(path).ok()?.verifier();
    Some(*key.public_bytes())
}
