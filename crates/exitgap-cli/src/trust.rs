//! Which keys the caller trusts.

use std::path::Path;

use exitgap_api::{Problem, ProblemCode};
use exitgap_core::tlog::{MAX_KEY_FILE_BYTES, NoteError, VerifierKey, keys_from_lines};

use crate::failure::Failure;
use crate::source;

/// The keys of `--trust`: each argument is a key or a file with one key per line.
pub fn keys(arguments: &[String]) -> Result<Vec<VerifierKey>, Failure> {
    let mut keys = Vec::new();
    for argument in arguments {
        match argument.parse::<VerifierKey>() {
            Ok(key) => keys.push(key),
            Err(error) => keys.extend(from_file(argument, &error)?),
        }
    }
    Ok(keys)
}

fn from_file(argument: &str, not_a_key: &NoteError) -> Result<Vec<VerifierKey>, Failure> {
    let path = Path::new(argument);
    // Report a mistyped key as such and not as a missing file.
    if argument.contains('+') && !path.exists() {
        let problem = Problem::new(ProblemCode::InvalidParameter, format!("trust: {not_a_key}"));
        return Err(problem.field("trust").hint(HINT).into());
    }
    let unreadable = |why: String| source::unreadable(format!("reading keys {argument}: {why}"));
    let bytes = source::read_limited(path, MAX_KEY_FILE_BYTES)
        .map_err(|error| unreadable(error.to_string()).hint(HINT))?;
    let keys = keys_from_lines(&bytes).map_err(|error| unreadable(error).hint(HINT))?;
    if keys.is_empty() {
        return Err(unreadable("it contains no key".to_owned()).hint(HINT).into());
    }
    Ok(keys)
}

const HINT: &str = "a verifier key is <origin>+<8 hex digits>+<base64>, as in the log's file `verifier-key`; --trust takes the key itself or a file with one key per line";
