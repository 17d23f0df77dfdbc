//! Arguments of `exitgap verify` that ask the chain itself.

use std::path::PathBuf;

use clap::Args;
use exitgap_core::ids::BlockHash;

/// The chain itself, by sources of the reader's own choice.
#[derive(Debug, Args)]
pub struct ChainArgs {
    /// A node that you trust: the pool's state is proven from the block's own hash, and the node is a source of which block
    /// the chain has. May be given several times.
    #[arg(long, value_name = "URL", help_heading = "The chain's word", conflicts_with = "api")]
    pub rpc: Vec<String>,
    /// A state proof (.egp) to use in place of one asked of the node; without a source nobody says that the chain has the
    /// block.
    #[arg(long, value_name = "FILE", help_heading = "The chain's word", conflicts_with = "api")]
    pub state_proof: Option<PathBuf>,
    /// Keeps the proof that the node gave.
    #[arg(
        long,
        value_name = "FILE",
        help_heading = "The chain's word",
        requires = "rpc",
        conflicts_with = "state_proof"
    )]
    pub keep_proof: Option<PathBuf>,
    /// How the contract keeps its words, where the snapshot does not say whose factory made it: `uniswap_v2`, `uniswap_v3`,
    /// `pancake_v3`, `slipstream` or `aerodrome_v2`.
    #[arg(long, value_name = "NAME", help_heading = "The chain's word", requires = "rpc")]
    pub layout: Option<String>,
    /// Another operator: the URL of their service, or a file of their evidence of the same slot, of any pool of the chain,
    /// verified by a key of --trust. A source of which block the chain has. May be given several times.
    #[arg(
        long,
        value_name = "URL|FILE",
        help_heading = "The chain's word",
        conflicts_with = "api"
    )]
    pub peer: Vec<String>,
    /// Days' anchors, which lead from --trusted-block, or from a block that a node has, to older ones: the folder of a
    /// log, the URL of its service, or a file of one day. May be given several times.
    #[arg(
        long,
        value_name = "FOLDER|URL|FILE",
        help_heading = "The chain's word",
        conflicts_with = "api"
    )]
    pub anchors: Vec<String>,
    /// The hash of a block at which one of the anchors begins, which you have from elsewhere, such as a light client: makes
    /// them a source.
    #[arg(long, value_name = "HASH", help_heading = "The chain's word", requires = "anchors")]
    pub trusted_block: Option<BlockHash>,
    /// How many of all sources must have the block [default: all]. Who has another is named whatever comes of it, and as many
    /// of those as have it fail.
    #[arg(long, value_name = "K", help_heading = "The chain's word", conflicts_with = "api")]
    #[arg(value_parser = clap::value_parser!(u16).range(1..))]
    pub at_least: Option<u16>,
}

impl ChainArgs {
    /// Whether anything of it is asked for.
    pub fn is_asked(&self) -> bool {
        !self.rpc.is_empty() || self.state_proof.is_some() || self.has_sources()
    }

    /// Whether somebody is to say which block the chain has.
    pub fn has_sources(&self) -> bool {
        let named = !self.rpc.is_empty() || !self.peer.is_empty() || !self.anchors.is_empty();
        named || self.at_least.is_some()
    }
}
