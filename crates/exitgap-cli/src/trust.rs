//! Which keys the caller trusts.

use std::path::Path;

use exitgap_api::{Problem, ProblemCode};
use exitgap_core::tlog::{NoteError, VerifierKey};

use crate::failure::Failure;
use crate::source;

/// The most bytes of a file of keys.
pub const MAX_KEY_FILE_BYTES: usize = 64 << 10;

/// The keys that `--trust` names, each as itself or in a file with one per line.
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
    // A key mistyped is not a file that is absent.
    if argument.contains('+') && !path.exists() {
        let problem = Problem::new(ProblemCode::InvalidParameter, format!("trust: {not_a_key}"));
        return Err(problem.field("trust").hint(HINT).into());
    }
    let unreadable = |why: String| source::unreadable(format!("reading keys {argument}: {why}"));
    let bytes = source::read(path, MAX_KEY_FILE_BYTES)
        .map_err(|error| unreadable(error.to_string()).hint(HINT))?;
    let keys = from_lines(&bytes).map_err(|error| unreadable(error).hint(HINT))?;
    if keys.is_empty() {
        return Err(unreadable("it holds no key".to_owned()).hint(HINT).into());
    }
    Ok(keys)
}

/// Reads keys, one per line; empty lines count for nothing.
pub fn from_lines(bytes: &[u8]) -> Result<Vec<VerifierKey>, String> {
    if bytes.len() > MAX_KEY_FILE_BYTES {
        return Err(format!("more than the {MAX_KEY_FILE_BYTES} bytes accepted"));
    }
    let text = core::str::from_utf8(bytes).map_err(|error| error.to_string())?;
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(number, line)| {
            line.trim().parse().map_err(|error| format!("line {number}: {error}"))
        })
        .collect()
}

const HINT: &str = "a verifier key is <origin>+<8 hex digits>+<base64>, as the log's file \
                    `verifier-key` has it; --trust takes the key itself or a file with one per line";
