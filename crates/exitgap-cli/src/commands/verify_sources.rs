//! Sources that confirm that the chain has a snapshot's block: nodes, other operators' logs, anchors from a newer
//! block.

use std::path::Path;

use exitgap_api::{VerificationReport, invalid_parameter};
use exitgap_chain::StateProver;
use exitgap_client::{ClientError, EvidenceOf};
use exitgap_core::analytics::figure::MAX_FIGURE_BYTES;
use exitgap_core::evidence::{Base, Evidence, Policy, Verdict};
use exitgap_core::exit::METHOD_VERSION;
use exitgap_core::ids::{BlockHash, PoolId};
use exitgap_core::proof::{AnchorChain, Anchors, BlockSaid, BlockSource};
use exitgap_core::snapshot::Snapshot;
use exitgap_core::tlog::{Origin, VerifierKey};
use exitgap_core::units::SizeUsd;
use tokio::runtime::Runtime;
use tokio::time::Instant;

use super::verify::signed_checkpoint;
use super::verify_anchors;
use super::verify_state::DEADLINE;
use crate::chain_arguments::ChainArgs;
use crate::failure::Failure;
use crate::format::printable;
use crate::source::{self, api, unreadable};

/// Maximum number of another operator's pools for which evidence of a slot is requested.
const MAX_PEER_POOLS: usize = 8;

/// The size in the requested evidence of another operator, which does not matter: a dollar.
const PEER_SIZE: &str = "1";

/// Maximum length of the reason why a source did not answer.
const MAX_WHY: usize = 160;

/// The reader's sources about a snapshot's block.
pub struct Sources<'a> {
    pub args: &'a ChainArgs,
    pub keys: &'a [VerifierKey],
    pub evidence: &'a Evidence,
    pub snapshot: &'a Snapshot,
    pub provers: &'a [StateProver],
    pub runtime: &'a Runtime,
}

impl Sources<'_> {
    /// The answer of each source.
    pub fn ask(&self) -> Result<Vec<BlockSource>, Failure> {
        let (chain, slot) = (self.snapshot.observation().pool().chain(), self.snapshot.slot());
        let days = verify_anchors::days(&self.args.anchors, chain, slot)?;
        let nodes = self.args.rpc.iter().zip(self.provers);
        let mut said: Vec<BlockSource> =
            nodes.map(|(url, prover)| self.node(&host(url), prover, &days)).collect();
        for peer in &self.args.peer {
            said.push(self.peer(peer)?);
        }
        if let Some(trusted) = self.args.trusted_block {
            let chain = self.snapshot.observation().chain().caip2;
            let followed = verify_anchors::follow(chain, trusted, days)?;
            let name = format!("anchors from block {}, which you trust", followed.from.number);
            said.push(BlockSource { name, said: self.by_anchors(&followed) });
        } else if !days.is_empty() && self.provers.is_empty() {
            let hint = "give the block at which one of them begins with --trusted-block, or a node with --rpc";
            let detail =
                "anchors: no source confirms that the chain has the block at which they begin";
            return Err(invalid_parameter("anchors", detail, hint).into());
        }
        if let Some(least) = self.args.at_least.filter(|least| usize::from(*least) > said.len()) {
            let detail =
                format!("at-least: {least} required, but only {} sources given", said.len());
            let hint = "add nodes (--rpc), other operators (--peer) or anchors (--anchors)";
            return Err(invalid_parameter("at_least", &detail, hint).into());
        }
        Ok(said)
    }

    /// A node's block hash at a number; the error says why there is none.
    fn hash_by(&self, prover: &StateProver, number: u64) -> Result<BlockHash, String> {
        let told = self.runtime.block_on(prover.canonical(number, Instant::now() + DEADLINE));
        told.map_err(|missing| missing.to_string())
    }

    /// A node's own answer; if it does not have that block, what follows by anchors from a newer block that it has.
    fn node(&self, host: &str, prover: &StateProver, days: &[Anchors]) -> BlockSource {
        let observation = self.snapshot.observation();
        let own = self.hash_by(prover, observation.block().number);
        let newest = days.iter().map(|day| day.from.number).max();
        if let (Err(_), Some(newest)) = (&own, newest)
            && let Ok(trusted) = self.hash_by(prover, newest)
            && let Ok(followed) =
                AnchorChain::follow(observation.chain().caip2, trusted, days.to_vec())
        {
            let name = format!("{host} by anchors from block {newest}");
            return BlockSource { name, said: self.by_anchors(&followed) };
        }
        to_block_source(host.to_owned(), own)
    }

    /// What the anchors confirm: the block itself, and the next block, which also confirms the time.
    fn by_anchors(&self, anchors: &AnchorChain) -> BlockSaid {
        let number = self.snapshot.observation().block().number;
        let next = number.checked_add(1).and_then(|next| anchors.hash(next));
        match (anchors.hash(number), next) {
            (Some(block), Some(next)) => BlockSaid::Both { block, next },
            (Some(block), None) => BlockSaid::Block(block),
            (None, Some(next)) => BlockSaid::Next(next),
            (None, None) => BlockSaid::Nothing,
        }
    }

    /// Another operator's record of the same slot. A file that no trusted key verifies is rejected, because it may not
    /// come from the operator that the reader meant.
    fn peer(&self, named: &str) -> Result<BlockSource, Failure> {
        let bytes = if named.contains("://") {
            match self.fetch_evidence(named) {
                Ok(bytes) => bytes,
                Err(why) => return Ok(to_block_source(host(named), Err(why))),
            }
        } else {
            source::read_named("evidence of a peer", Path::new(named), MAX_FIGURE_BYTES)?
        };
        let peer = Evidence::from_bytes(&bytes);
        let refused = |why: String| unreadable(format!("peer {named}: {why}"));
        let policy = Policy::with_keys(self.keys.to_vec());
        let verdict = VerificationReport::beside_tiles(&peer, &policy, false).report.verdict;
        if verdict != Verdict::Valid {
            let hint = "run `exitgap verify` on that file to see why, and give its log's key with --trust too";
            let why = "no trusted key verifies it";
            return Err(refused(why.to_owned()).hint(hint).into());
        }
        let (Some(snapshot), Some(origin)) = (peer.snapshot(), origin_of(&peer)) else {
            return Err(refused("its snapshot cannot be read".to_owned()).into());
        };
        let (own, other) = (self.snapshot.observation(), snapshot.observation());
        if origin_of(self.evidence).is_some_and(|own| own == origin) {
            let detail = "peer: it is from the log that is being verified, which counts only once";
            let hint = "give evidence of another operator's log";
            return Err(invalid_parameter("peer", detail, hint).into());
        }
        let wanted = (own.chain().caip2, self.snapshot.slot());
        if (other.chain().caip2, snapshot.slot()) != wanted {
            let (chain, slot) = wanted;
            let detail = format!("peer: it is not for chain {chain} and slot {slot}");
            let hint = "give evidence of any pool for that chain and slot";
            return Err(invalid_parameter("peer", &detail, hint).into());
        }
        // At another height, that operator's node was at a different block: this says nothing about this block.
        let same_height = other.block().number == own.block().number;
        let hash = same_height.then_some(other.block().hash);
        Ok(BlockSource::from_answer(printable(&format!("log {origin}")), hash))
    }
    /// Evidence of the slot from another operator's service, for any pool of the chain, preferably of the same
    /// contract; the error says why there is none.
    fn fetch_evidence(&self, url: &str) -> Result<Vec<u8>, String> {
        let slot = self.snapshot.slot();
        let failed = |failure: Failure| failure.words();
        let pools = api::list_pools(url, None).map_err(failed)?.pools;
        let mut pools: Vec<PoolId> =
            pools.iter().filter_map(|entry| entry.pool.parse().ok()).collect();
        let own = self.snapshot.observation().pool();
        pools.sort_by_key(|pool| {
            let is_same = pool.contract().address() == own.contract().address();
            (!is_same, pool.chain() != own.chain())
        });
        pools.truncate(MAX_PEER_POOLS);
        let size: SizeUsd = PEER_SIZE.parse().map_err(|error| format!("{error}"))?;
        let chain = self.snapshot.observation().chain().caip2;
        let is_of_chain = |bytes: &[u8]| {
            let evidence = Evidence::from_bytes(bytes);
            evidence
                .snapshot()
                .is_some_and(|snapshot| snapshot.observation().chain().caip2 == chain)
        };
        let asked = async |client: &exitgap_client::Client<exitgap_client::Native>| {
            let mut failed: Option<ClientError> = None;
            for pool in pools {
                let method_version = METHOD_VERSION.to_owned();
                let of = EvidenceOf { pool, base: Base::Token0, slot, size, method_version };
                match client.evidence(&of).await {
                    Ok(bytes) if is_of_chain(&bytes) => return Ok(Ok(bytes)),
                    Ok(_) => {}
                    Err(error) => failed = Some(error),
                }
            }
            Ok(Err(failed))
        };
        match api::with(url, asked).map_err(failed)? {
            Ok(bytes) => Ok(bytes),
            Err(Some(error)) => Err(error.to_string()),
            Err(None) => Err(format!("it records no pool of chain {chain}")),
        }
    }
}

/// A source with its answer, or why there was none.
fn to_block_source(name: String, said: Result<BlockHash, String>) -> BlockSource {
    match said {
        Ok(hash) => BlockSource::from_answer(name, Some(hash)),
        Err(why) => {
            let why: String = printable(&why).chars().take(MAX_WHY).collect();
            BlockSource::from_answer(format!("{name} ({why})"), None)
        }
    }
}

fn origin_of(evidence: &Evidence) -> Option<Origin> {
    signed_checkpoint(evidence).map(|signed| signed.checkpoint.origin)
}

/// A node's host: the rest of its URL may contain a key.
fn host(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    rest[..end].rsplit('@').next().unwrap_or_default().to_owned()
}
