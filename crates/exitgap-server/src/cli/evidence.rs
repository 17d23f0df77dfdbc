//! `evidence`: writes an evidence file, and the window of heads that belongs to it.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use exitgap_core::evidence::Base;
use exitgap_core::ids::PoolId;
use exitgap_core::units::SizeUsd;
use exitgap_store::{EvidenceError, LogFolder, Reader, write_output};

use super::CliError;
use super::slot_arg::SlotArg;
use crate::config::CheckedConfig;

#[derive(Debug, Args)]
pub struct EvidenceArgs {
    /// The pool, <chain>:<address>.
    #[arg(value_parser = pool)]
    pool: PoolId,
    /// Size in USD at the oracle price, such as 250000, 250k or 1.5m; 0.01 to 1000000000, at most six decimals.
    #[arg(long, value_name = "USD", value_parser = size)]
    size_usd: SizeUsd,
    /// The recorded slot: its number, or its time such as 2026-08-22T00:05:00Z.
    #[arg(long, value_name = "SLOT")]
    at: SlotArg,
    /// The token to sell [default: the pool's].
    #[arg(long, value_name = "TOKEN")]
    base: Option<Token>,
    /// The output file [default: standard output].
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Also write the pool's head window that ends at the slot to this file.
    #[arg(long, value_name = "FILE")]
    window: Option<PathBuf>,
    /// The configuration file.
    #[arg(long, value_name = "FILE", default_value = "exitgap.toml")]
    config: PathBuf,
}

/// Parses a pool argument.
fn pool(text: &str) -> Result<PoolId, String> {
    exitgap_api::parse_pool(text).map_err(|problem| problem.detail)
}

/// Parses a size argument.
fn size(text: &str) -> Result<SizeUsd, String> {
    exitgap_api::size_as_written(text).map_err(|problem| problem.detail)
}

/// A token of a pool.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Token {
    /// The one with the lower address.
    Token0,
    /// The other.
    Token1,
}

/// Writes the requested file, or fails with the reason why there is none.
pub fn evidence(args: &EvidenceArgs) -> Result<(), CliError> {
    let CheckedConfig { config, .. } = CheckedConfig::from_file(&args.config)?;
    let folder = LogFolder::new(&config.evidence.folder);
    let reader = Reader::open(&config.store.path)?.with_days(folder);
    let SlotArg(slot) = args.at;
    let base = match args.base {
        Some(Token::Token0) => Base::Token0,
        Some(Token::Token1) => Base::Token1,
        None => {
            let pool = reader.pool(&args.pool)?;
            let unknown = || EvidenceError::UnknownPool { pool: args.pool.clone() };
            pool.ok_or_else(unknown)?.default_base.into()
        }
    };
    let file = reader.evidence(&args.pool, base, slot, args.size_usd)?;
    if let Some(path) = &args.window {
        let window = reader.window(&args.pool, slot)?;
        write_file(path, &window.to_canonical().map_err(EvidenceError::from)?)?;
    }
    match &args.out {
        Some(path) => write_file(path, &file),
        None => io::stdout().write_all(&file).map_err(CliError::Output),
    }
}

fn write_file(path: &Path, bytes: &[u8]) -> Result<(), CliError> {
    write_output(path, bytes).map_err(|source| CliError::File { path: path.to_owned(), source })
}
