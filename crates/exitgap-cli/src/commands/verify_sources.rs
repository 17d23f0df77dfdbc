//! Who says that the chain has a snapshot's block: nodes, other operators' logs, anchors from a newer block.

use std::path::Path;

use exitgap_api::{VerificationReport, invalid_parameter};
use exitgap_chain::StateProver;
use exitgap_core::analytics::figure::MAX_FIGURE_BYTES;
use exitgap_core::evidence::{Evidence, Policy, Verdict};
use exitgap_core::ids::BlockHash;
use exitgap_core::proof::{
    AnchorChain, AnchorChainError, AnchorError, Anchors, BlockSaid, BlockSource, MAX_ANCHOR_BYTES,
};
use exitgap_core::snapshot::Snapshot;
use exitgap_core::tlog::{Origin, VerifierKey};
use tokio::runtime::Runtime;
use tokio::time::Instant;

use super::verify::signed_checkpoint;
use super::verify_state::DEADLINE;
use crate::chain_arguments::ChainArgs;
use crate::failure::Failure;
use crate::format::printable;
use crate::source::{self, unreadable};

/// The most files of anchors: a few years of days.
const MAX_ANCHOR_FILES: usize = 1_500;

/// What the reader brings to ask about a snapshot's block.
pub struct Sources<'a> {
    pub args: &'a ChainArgs,
    pub keys: &'a [VerifierKey],
    pub evidence: &'a Evidence,
    pub snapshot: &'a Snapshot,
    pub provers: &'a [StateProver],
    pub runtime: &'a Runtime,
}

impl Sources<'_> {
    /// What each of them says.
    pub fn ask(&self) -> Result<Vec<BlockSource>, Failure> {
        let days = self.days()?;
        let nodes = self.args.rpc.iter().zip(self.provers);
        let mut said: Vec<BlockSource> =
            nodes.map(|(url, prover)| self.node(&host(url), prover, &days)).collect();
        for path in &self.args.peer {
            said.push(self.peer(path)?);
        }
        if let Some(trusted) = self.args.trusted_block {
            let chain = self.snapshot.observation().chain().caip2;
            let followed = AnchorChain::follow(chain, trusted, days);
            let followed = followed.map_err(|error| unusable(&error))?;
            let name = format!("anchors from block {}, which you trust", followed.from.number);
            said.push(BlockSource { name, said: self.by_anchors(&followed) });
        } else if !days.is_empty() && said.is_empty() {
            let hint = "name the block that the newest of them begin at with --trusted-block, or a node with --rpc";
            let detail = "anchors: nothing says that the chain has the block that they begin at";
            return Err(invalid_parameter("anchors", detail, hint).into());
        }
        if let Some(least) = self.args.at_least.filter(|least| usize::from(*least) > said.len()) {
            let detail = format!("at-least: {least} of {} sources", said.len());
            let hint = "name more nodes (--rpc), other operators' evidence (--peer) or anchors (--anchors)";
            return Err(invalid_parameter("at_least", &detail, hint).into());
        }
        Ok(said)
    }

    fn days(&self) -> Result<Vec<Anchors>, Failure> {
        if self.args.anchors.len() > MAX_ANCHOR_FILES {
            let detail = format!("anchors: more than {MAX_ANCHOR_FILES} files");
            let hint = "begin at a block that is nearer to the slot";
            return Err(invalid_parameter("anchors", &detail, hint).into());
        }
        let read = |path: &Path| -> Result<Anchors, Failure> {
            let bytes = source::read_named("anchors", path, MAX_ANCHOR_BYTES)?;
            let wrong =
                |error: AnchorError| unreadable(format!("anchors {}: {error}", path.display()));
            Anchors::read(&bytes).map_err(|error| wrong(error).into())
        };
        self.args.anchors.iter().map(|path| read(path)).collect()
    }

    fn hash_by(&self, prover: &StateProver, number: u64) -> Option<BlockHash> {
        self.runtime.block_on(prover.canonical(number, Instant::now() + DEADLINE)).ok()
    }

    /// A node's own word; where it has none of that block, what follows by anchors from a newer block that it has.
    fn node(&self, host: &str, prover: &StateProver, days: &[Anchors]) -> BlockSource {
        let observation = self.snapshot.observation();
        let own = self.hash_by(prover, observation.block().number);
        let newest = days.iter().map(|day| day.from.number).max();
        if let (None, Some(newest)) = (own, newest)
            && let Some(trusted) = self.hash_by(prover, newest)
            && let Ok(followed) =
                AnchorChain::follow(observation.chain().caip2, trusted, days.to_vec())
        {
            let name = format!("{host} by anchors from block {newest}");
            return BlockSource { name, said: self.by_anchors(&followed) };
        }
        BlockSource::asked(host, own)
    }

    /// What anchors say: of the next block where they have it, which shows the instant, too; else of the block itself.
    fn by_anchors(&self, anchors: &AnchorChain) -> BlockSaid {
        let number = self.snapshot.observation().block().number;
        let next = number.checked_add(1).and_then(|next| anchors.hash(next)).map(BlockSaid::Next);
        let own = || anchors.hash(number).map(BlockSaid::Block);
        next.or_else(own).unwrap_or(BlockSaid::Nothing)
    }

    /// What another operator recorded of the same slot. A file that no trusted key verifies is refused: a source that is not
    /// the one that the reader meant says nothing.
    fn peer(&self, path: &Path) -> Result<BlockSource, Failure> {
        let bytes = source::read_named("evidence of a peer", path, MAX_FIGURE_BYTES)?;
        let peer = Evidence::read(&bytes);
        let refused = |why: String| unreadable(format!("peer {}: {why}", path.display()));
        let policy = Policy::trusting(self.keys.to_vec());
        let verdict = VerificationReport::beside_tiles(&peer, &policy, false).report.verdict;
        if verdict != Verdict::Valid {
            let hint = "see why with `exitgap verify` of that file, and name its log's key with --trust, too";
            let why = "no key that you trust verifies it";
            return Err(refused(why.to_owned()).hint(hint).into());
        }
        let (Some(snapshot), Some(origin)) = (peer.snapshot(), origin_of(&peer)) else {
            return Err(refused("it has no snapshot that can be read".to_owned()).into());
        };
        let (own, other) = (self.snapshot.observation(), snapshot.observation());
        if origin_of(self.evidence).is_some_and(|own| own == origin) {
            let detail = "peer: it is of the log that is verified, whose word counts once";
            let hint = "name evidence of another operator's log";
            return Err(invalid_parameter("peer", detail, hint).into());
        }
        let wanted = (own.chain().caip2, self.snapshot.slot());
        if (other.chain().caip2, snapshot.slot()) != wanted {
            let (chain, slot) = wanted;
            let detail = format!("peer: it is not of chain {chain} and slot {slot}");
            let hint = "name evidence of any pool of that chain and slot";
            return Err(invalid_parameter("peer", &detail, hint).into());
        }
        // Of another height its operator's node was elsewhere at the instant: no word of this block.
        let same_height = other.block().number == own.block().number;
        let hash = same_height.then_some(other.block().hash);
        Ok(BlockSource::asked(printable(&format!("log {origin}")), hash))
    }
}

fn origin_of(evidence: &Evidence) -> Option<Origin> {
    signed_checkpoint(evidence).map(|signed| signed.checkpoint.origin)
}

fn unusable(error: &AnchorChainError) -> Failure {
    let hint = "give the files of every day from that block down to the slot's, and the hash of the block that the newest begins at";
    invalid_parameter("anchors", &format!("anchors: {error}"), hint).into()
}

/// A node by its host: the rest of its address may be a key.
fn host(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    rest[..end].rsplit('@').next().unwrap_or_default().to_owned()
}
