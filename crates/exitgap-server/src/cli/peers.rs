//! The peers of a configuration, whose logs are followed.

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

/// The stored proofs of a configuration, with the nodes that create more; `None` if proofs are not kept.
pub fn challenges(
    checked: &CheckedConfig,
    proofs: Option<&Arc<Proofs>>,
) -> Result<Option<Arc<Challenges>>, CliError> {
    let made = proofs.map(|kept| Challenges::new(kept.clone(), &checked.plan));
    Ok(made.transpose().map_err(CliError::Prover)?.map(Arc::new))
}

/// The followers of a configuration's peers; `None` if no peers are configured.
pub fn followers(
    checked: &CheckedConfig,
    challenges: Option<Arc<Challenges>>,
    told: impl Fn(&PeerTold) + Send + Sync + 'static,
) -> Result<Option<Followers>, CliError> {
    let config = &checked.config;
    // The configuration check has already validated it.
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
        // Cosignatures need real time, not a rehearsal's clock.
        now_s: Arc::new(|| SystemClock::default().now().as_secs()),
    };
    let followers = Followers::new(followed, peers, Arc::new(told))?;
    let observer = followers.observer().map(|key| key.to_string());
    tracing::info!(peers = count, observer, "peers are followed");
    Ok(Some(followers))
}

/// The public bytes of a key in a file, if it can be read.
fn public(path: &Path) -> Option<[u8; 32]> {
    let key: VerifierKey = read_key(path).ok()?.verifier();
    Some(*key.public_bytes())
}
