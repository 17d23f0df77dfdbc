//! Which keys the caller trusts.

use std::path::Path;

use exitgap_api::{Problem, ProblemCode};
use exitgap_core::tlog::{MAX_KEY_FILE_BYTES, NoteError, VerifierKey, keys_from_lines};

use crate::failure::Failure;
use crate::source;

/// The keys of `--trust`: each argument is a key or a file with one key per line.
pub fn keys(arguments: &[String]) -> Result<Vec<VerifierKey>, Failure> {
    keys_of("trust", HINT, arguments)
}

/// The same for keys that sign releases, given by this option.
pub fn release_keys(
    option: &'static str,
    arguments: &[String],
) -> Result<Vec<VerifierKey>, Failure> {
    keys_of(option, RELEASE_HINT, arguments)
}

fn keys_of(
    option: &'static str,
    hint: &'static str,
    arguments: &[String],
) -> Result<Vec<VerifierKey>, Failure> {
    let mut keys = Vec::new();
    for argument in arguments {
        match argument.parse::<VerifierKey>() {
            Ok(key) => keys.push(key),
            // Report a mistyped key as such and not as a missing file.
            Err(error) if argument.contains('+') && !Path::new(argument).exists() => {
                return Err(mistyped(option, hint, &error));
            }
            Err(_) => keys.extend(from_file(argument, hint)?),
        }
    }
    Ok(keys)
}

fn mistyped(option: &'static str, hint: &'static str, error: &NoteError) -> Failure {
    let problem = Problem::new(ProblemCode::InvalidParameter, format!("{option}: {error}"));
    problem.field(option).hint(hint).into()
}

fn from_file(argument: &str, hint: &'static str) -> Result<Vec<VerifierKey>, Failure> {
    let unreadable = |why: String| source::unreadable(format!("reading keys {argument}: {why}"));
    let bytes = source::read_limited(Path::new(argument), MAX_KEY_FILE_BYTES)
        .map_err(|error| unreadable(error.to_string()).hint(hint))?;
    let keys = keys_from_lines(&bytes).map_err(|error| unreadable(error).hint(hint))?;
    if keys.is_empty() {
        return Err(unreadable("it contains no key".to_owned()).hint(hint).into());
    }
    Ok(keys)
}

const HINT: &str = "a verifier key is <origin>+<8 hex digits>+<base64>, as in the log's file `verifier-key`; --trust takes the key itself or a file with one key per line";

const RELEASE_HINT: &str = "a release key is <name>+<8 hex digits>+<base64>, as its owner publishes it; give the key itself or a file with one key per line";
