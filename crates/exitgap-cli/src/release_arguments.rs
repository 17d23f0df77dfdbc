//! The arguments of `exitgap verify-release`.

use std::path::PathBuf;

use clap::Args;

pub const RELEASE_NOTES: &str = "\
A release is a folder with SHA256SUMS (a hash and a name for each file) and SHA256SUMS.note (the same text, signed: a signed note of
C2SP). One valid signature by one of the keys given with --key is enough, so that a release can carry signatures by an old and a new
key. Get the key from another place than the release. No network is used.

Files in the folder that the list does not name are shown as unsigned, and change no verdict. The release may contain `release-proof`,
a proof that a public log of releases has this list (C2SP tlog-proof). With --log-key it is checked; without, it is not.

Examples:
  exitgap verify-release ./release --key 'example.org/releases+…'
  exitgap verify-release ./release --key releases.pub --json
  exitgap verify-release ./release --key old.pub --key new.pub --log-key log.pub

Exit codes:
  0  valid       6  invalid       7  incomplete: a listed file or the proof is missing
  5  could not be read       2  wrong arguments";

#[derive(Debug, Args)]
pub struct VerifyReleaseArgs {
    /// The folder of the release.
    #[arg(value_name = "FOLDER")]
    pub folder: PathBuf,
    /// A release key, `<name>+<id>+<base64>`, or a file with one key per line; may be given several times.
    #[arg(long, value_name = "KEY|FILE", required = true)]
    pub key: Vec<String>,
    /// The key of the log of releases, or a file with one key per line: checks that the log has this release.
    #[arg(long, value_name = "KEY|FILE")]
    pub log_key: Vec<String>,
}
