//! Arguments of `exitgap verify` for checks against the chain itself.

use std::path::PathBuf;

use clap::Args;
use exitgap_core::ids::BlockHash;

/// Checks against the chain, with sources that the reader chooses.
#[derive(Debug, Args)]
pub struct ChainArgs {
    /// A node that you trust. The pool's state is proven from the block hash, and the node confirms
    /// which block the chain has. May be given several times.
    #[arg(
        long,
        value_name = "URL",
        help_heading = "Check against the chain",
        conflicts_with = "api"
    )]
    pub rpc: Vec<String>,
    /// A state proof (.egp) to use instead of one from a node. Without a source, it is not checked
    /// that the chain has the block.
    #[arg(
        long,
        value_name = "FILE",
        help_heading = "Check against the chain",
        conflicts_with = "api"
    )]
    pub state_proof: Option<PathBuf>,
    /// Save the proof from the node to this file.
    #[arg(
        long,
        value_name = "FILE",
        help_heading = "Check against the chain",
        requires = "rpc",
        conflicts_with = "state_proof"
    )]
    pub keep_proof: Option<PathBuf>,
    /// The contract's storage layout, if the snapshot does not name the factory:
    /// `uniswap_v2`, `uniswap_v3`,
    /// `pancake_v3`, `slipstream` or `aerodrome_v2`.
    #[arg(long, value_name = "NAME", help_heading = "Check against the chain", requires = "rpc")]
    pub layout: Option<String>,
    /// Another operator: the URL of their service, or their evidence file for the same slot and any
    /// pool of the chain, verified with a key of --trust. It confirms which block the chain has.
    /// May be given several times.
    #[arg(
        long,
        value_name = "URL|FILE",
        help_heading = "Check against the chain",
        conflicts_with = "api"
    )]
    pub peer: Vec<String>,
    /// Daily anchors, which link --trusted-block, or a block from a node, to older blocks: the
    /// folder of a log, the URL of its service, or the file of one day. May be given several times.
    #[arg(
        long,
        value_name = "FOLDER|URL|FILE",
        help_heading = "Check against the chain",
        conflicts_with = "api"
    )]
    pub anchors: Vec<String>,
    /// The hash of the block at which one of the anchors begins, from a source that you trust, such
    /// as a light client. The anchors then count as a source.
    #[arg(
        long,
        value_name = "HASH",
        help_heading = "Check against the chain",
        requires = "anchors"
    )]
    pub trusted_block: Option<BlockHash>,
    /// How many of all sources must have the block [default: all]. Sources with a different block
    /// are always listed; the check fails if as many have a different block as have this one.
    #[arg(
        long,
        value_name = "K",
        help_heading = "Check against the chain",
        conflicts_with = "api"
    )]
    #[arg(value_parser = clap::value_parser!(u16).range(1..))]
    pub at_least: Option<u16>,
}

impl ChainArgs {
    /// Whether any of these is given.
    pub fn is_asked(&self) -> bool {
        !self.rpc.is_empty() || self.state_proof.is_some() || self.has_sources()
    }

    /// Whether the chain's blocks are checked with any source.
    pub fn has_sources(&self) -> bool {
        let named = !self.rpc.is_empty() || !self.peer.is_empty() || !self.anchors.is_empty();
        named || self.at_least.is_some()
    }
}
