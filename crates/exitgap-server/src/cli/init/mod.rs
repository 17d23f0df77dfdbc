//! `init`: writes a first configuration. With a chain and its pools given, the result passes `check` once the key
//! exists; without options it is the commented example.

mod ask;
mod describe;
mod price_sources;
mod text;

use std::fmt;
use std::fs::OpenOptions;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use exitgap_chain::config::{RpcUrl, UrlError, parse_address};
use exitgap_core::ids::{Address, ChainSlug, Word};

use super::{CliError, runtime};
use crate::config::{CheckedConfig, EXAMPLE};
use ask::PromptAnswers;
use price_sources::{Known, PriceError};

/// The arguments of `init`.
#[derive(Debug, Args)]
pub struct InitArgs {
    /// The file to write.
    #[arg(long, value_name = "FILE", default_value = "exitgap.toml")]
    config: PathBuf,
    /// The chain: ethereum, base, arbitrum or optimism; or your own name with --chain-id.
    #[arg(long, value_name = "CHAIN", requires_all = ["rpc", "pool"])]
    chain: Option<ChainSlug>,
    /// The EIP-155 chain id, for a chain with your own name. Its figures are marked "preview".
    #[arg(long, value_name = "ID", requires = "chain")]
    chain_id: Option<u64>,
    /// A node of the chain, from which the pools are read; give it twice for a second node.
    #[arg(long, value_name = "URL", requires = "chain")]
    rpc: Vec<NodeGiven>,
    /// A pool's address; for a contract with three or more tokens, add the pair's indices, as in
    /// 0x….0-2. May be given several times.
    #[arg(long, value_name = "ADDRESS", requires = "chain")]
    pool: Vec<PoolGiven>,
    /// A token's price source: its symbol or address, the Chainlink USD feed, and the feed's
    /// heartbeat in seconds. Not needed for well-known tokens of the four chains.
    #[arg(long, value_name = "TOKEN=FEED@SECONDS", requires = "chain")]
    feed: Vec<FeedGiven>,
}

/// A node as given. Output never includes its path, which may contain a key.
#[derive(Clone, PartialEq, Eq)]
struct NodeGiven {
    url: RpcUrl,
    text: String,
}

impl fmt::Debug for NodeGiven {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.url, f)
    }
}

impl std::str::FromStr for NodeGiven {
    type Err = UrlError;

    fn from_str(text: &str) -> Result<Self, UrlError> {
        Ok(Self { url: text.parse()?, text: text.to_owned() })
    }
}

/// A pool as given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct PoolGiven {
    address: Address,
    pair: Option<[u8; 2]>,
}

impl fmt::Display for PoolGiven {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.address)?;
        self.pair.map_or(Ok(()), |[low, high]| write!(f, ".{low}-{high}"))
    }
}

impl std::str::FromStr for PoolGiven {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text.to_ascii_lowercase().parse::<Word>().is_ok() {
            return Err(format!(
                "{text} is the id of a pool inside a pool manager and needs its key: use the commented example, and write both into a [[pool]]"
            ));
        }
        let (address, pair) = match text.split_once('.') {
            Some((address, pair)) => (address, Some(pair)),
            None => (text, None),
        };
        let indices = |pair: &str| {
            let (low, high) = pair.split_once('-')?;
            Some([low.parse().ok()?, high.parse().ok()?])
        };
        let pair = pair.map(|pair| {
            indices(pair).ok_or_else(|| {
                format!("{pair:?} is not a valid pair; write two token indices, as in 0-2")
            })
        });
        Ok(Self { address: parse_address(address)?, pair: pair.transpose()? })
    }
}

/// A token's price feed as given.
#[derive(Debug, Clone, PartialEq, Eq)]
struct FeedGiven {
    token: String,
    feed: Address,
    heartbeat_s: u32,
}

impl std::str::FromStr for FeedGiven {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('=').and_then(|(token, rest)| {
            let (feed, seconds) = rest.split_once('@')?;
            Some((token.trim(), feed.trim(), seconds.trim()))
        });
        let Some((token, feed, seconds)) = parts.filter(|(token, ..)| !token.is_empty()) else {
            return Err(format!(
                "{text:?} is not in the form WETH=0x…@3600 (token, feed, heartbeat)"
            ));
        };
        let heartbeat_s = seconds.parse().ok().filter(|seconds| *seconds > 0);
        let heartbeat_s = heartbeat_s.ok_or_else(|| {
            format!("{seconds:?} is not a valid heartbeat; write whole seconds, as in 3600")
        })?;
        Ok(Self { token: token.to_owned(), feed: parse_address(feed)?, heartbeat_s })
    }
}

/// Why no configuration was written.
#[derive(Debug, thiserror::Error)]
pub enum InitError {
    /// The chain name is unknown.
    #[error(
        "chain {chain} is unknown; known chains are {}. For another name, give its id with --chain-id; its figures are marked \"preview\"",
        Known::slugs()
    )]
    UnknownChain {
        /// The name.
        chain: ChainSlug,
    },
    /// The id does not match that of the known chain.
    #[error("chain {chain} has the id {known}, not {found}; omit --chain-id, or use another name")]
    OtherId {
        /// The name.
        chain: ChainSlug,
        /// Its id.
        known: u64,
        /// The id as given.
        found: u64,
    },
    /// The same pool twice.
    #[error("pool {pool} is given twice; give it once")]
    PoolTwice {
        /// The pool.
        pool: String,
    },
    /// The contract at a pool's address could not be read as a pool, or no node could be reached.
    #[error("pool {pool}: {error}")]
    Pool {
        /// The pool.
        pool: String,
        /// The error from the node or the contract.
        error: String,
    },
    /// A token's price source is unknown.
    #[error(transparent)]
    Price(#[from] PriceError),
    /// The chain's nodes cannot be reached.
    #[error("the nodes of chain {chain} cannot be reached: {error}")]
    Nodes {
        /// The chain.
        chain: ChainSlug,
        /// Why.
        error: String,
    },
    /// The input ended before all answers were given.
    #[error("the input ended before all questions were answered; no file was written")]
    InputEnded,
    /// The terminal.
    #[error("asking on the terminal: {0}")]
    Terminal(#[source] io::Error),
}

/// The chain and the pools of the new configuration.
struct ConfigInputs {
    chain: ChainSlug,
    chain_id: u64,
    rpc: Vec<NodeGiven>,
    pools: Vec<PoolGiven>,
    feeds: Vec<FeedGiven>,
}

/// Writes the configuration, and prints the next steps.
pub fn init(args: InitArgs) -> Result<(), CliError> {
    let path = args.config.clone();
    if path.try_exists().map_err(|source| CliError::File { path: path.clone(), source })? {
        return Err(CliError::Exists { path });
    }
    let asks = args.chain.is_none() && io::stdin().is_terminal() && io::stderr().is_terminal();
    let wanted = if asks {
        ask::prompt_setup(&mut io::stdin().lock(), &mut io::stderr())?
    } else {
        args.chain.map(|chain| PromptAnswers {
            chain,
            chain_id: args.chain_id,
            rpc: args.rpc,
            pools: args.pool,
        })
    };
    let Some(PromptAnswers { chain, chain_id, rpc, pools }) = wanted else {
        create(&path, EXAMPLE)?;
        say_next(&path, "put your nodes into rpc_urls, then run:", &["check"]);
        return Ok(());
    };
    let chain_id = Known::id_of(&chain, chain_id)?;
    if let Some(twice) = (1..pools.len()).find(|place| pools[..*place].contains(&pools[*place])) {
        return Err(InitError::PoolTwice { pool: pools[twice].to_string() }.into());
    }
    let wanted = ConfigInputs { chain, chain_id, rpc, pools, feeds: args.feed };
    let found = runtime("exitgap-server")?.block_on(describe::pools(&wanted))?;
    let prices = price_sources::prices(&wanted, &found, |token| {
        if asks {
            ask::prompt_feed(&mut io::stdin().lock(), &mut io::stderr(), token)
        } else {
            Ok(None)
        }
    })?;
    let text = text::configuration(&wanted, &found, &prices);
    // Check the text with the server's own parser before writing it.
    CheckedConfig::parse(&text, &path)?;
    create(&path, &text)?;
    let key = path.with_file_name("exitgap.key");
    let key = format!("key new --out {} --name <your domain>/exits", key.display());
    say_next(&path, "then:", &[&key, "check", "serve"]);
    Ok(())
}

/// Creates the file; fails if it exists.
fn create(path: &Path, text: &str) -> Result<(), CliError> {
    let file_error = |source| CliError::File { path: path.to_owned(), source };
    let created = OpenOptions::new().write(true).create_new(true).open(path);
    let mut file = created.map_err(|source| match source.kind() {
        io::ErrorKind::AlreadyExists => CliError::Exists { path: path.to_owned() },
        _ => file_error(source),
    })?;
    file.write_all(text.as_bytes()).map_err(file_error)
}

fn say_next(path: &Path, what: &str, commands: &[&str]) {
    let mut err = io::stderr();
    let _ = writeln!(err, "wrote {}; {what}", path.display());
    for command in commands {
        let config = if command.starts_with("key") {
            String::new()
        } else {
            format!(" --config {}", path.display())
        };
        let _ = writeln!(err, "    exitgap-server {command}{config}");
    }
}
