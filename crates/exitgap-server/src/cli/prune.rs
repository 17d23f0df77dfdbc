//! `prune`: removes days of snapshots from the database; they stay in their files.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use exitgap_core::series::Day;
use exitgap_store::days::{OldDay, check_leaving, list_old_days};
use exitgap_store::{LogFolder, Reader, is_server};
use indicatif::ProgressBar;

use super::CliError;
use super::bucket::bucket;
use crate::bucket::Bucket;
use crate::config::{CheckedConfig, Config};

/// The fewest days to keep: seven of them may be read again, and a day closes one day after its end.
const FEWEST_DAYS: i64 = 9;

#[derive(Debug, Args)]
pub struct PruneArgs {
    /// The configuration file.
    #[arg(long, value_name = "FILE", default_value = "exitgap.toml")]
    config: PathBuf,
    /// A URL on the same server of the role that ran `migrate`; the recorder's role may not remove
    /// data. If both roles need a password, put one in its URL, because PGPASSWORD holds only one.
    #[arg(long = "as", value_name = "URL")]
    admin: PathBuf,
    /// Number of days to keep in the database, including today.
    #[arg(long, value_name = "DAYS", default_value_t = 35, value_parser = clap::value_parser!(u32).range(FEWEST_DAYS..))]
    hot_days: u32,
    /// Proceed without a bucket; the log's folder is then the only copy.
    #[arg(long)]
    one_copy: bool,
    /// Check the days and the copies without removing anything.
    #[arg(long)]
    dry_run: bool,
}

/// Removes old days, the oldest first, each after its files were verified.
pub fn prune(args: &PruneArgs) -> Result<(), CliError> {
    let config = CheckedConfig::from_file(&args.config)?.config;
    let Config { store, evidence, .. } = &config;
    if !is_server(&store.path) {
        return Err(CliError::NothingToPrune { path: store.path.clone() });
    }
    let copy = bucket(&config)?;
    if copy.is_none() && !args.one_copy {
        return Err(CliError::OneCopy { folder: evidence.folder.clone() });
    }
    let reader = Reader::open(&store.path)?;
    let folder = LogFolder::new(&evidence.folder);
    let (mut out, mut days, mut freed) = (io::stdout(), 0_u32, 0_u64);
    for OldDay { day, bytes } in list_old_days(&reader, args.hot_days)? {
        check(&reader, &folder, copy.as_ref(), day)?;
        let copies =
            if copy.is_some() { "the folder and the bucket have" } else { "the folder has" };
        if args.dry_run {
            writeln!(out, "{day}: {copies} a complete copy; {} would be freed", shown(bytes))
        } else {
            let bodies = reader.leave(&args.admin, day)?;
            writeln!(
                out,
                "{day}: {bodies} snapshots removed, {} freed; {copies} a complete copy",
                shown(bytes)
            )
        }
        .map_err(CliError::Output)?;
        days += 1;
        freed += bytes;
    }
    let (done, hot) = (if args.dry_run { "would leave" } else { "left" }, args.hot_days);
    writeln!(out, "{days} days {done} the database, {}; the newest {hot} days stay", shown(freed))
        .map_err(CliError::Output)
}

/// Requires that every copy has the complete day.
fn check(
    reader: &Reader,
    folder: &LogFolder,
    copy: Option<&Bucket>,
    day: Day,
) -> Result<(), CliError> {
    // Shown on a terminal only.
    let bar = ProgressBar::new(0);
    let checked = check_leaving(reader, folder, day, |done, of| {
        bar.set_length(of);
        bar.set_position(done);
    });
    bar.finish_and_clear();
    let manifest = checked?;
    if let Some(copy) = copy {
        copy.check_day(&manifest).map_err(|error| CliError::Copy(Box::new(error)))?;
    }
    Ok(())
}

fn shown(bytes: u64) -> String {
    indicatif::HumanBytes(bytes).to_string()
}
