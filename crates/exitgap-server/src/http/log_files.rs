//! `/log`: the folder the log is published in, file by file, so that `exitgap audit` and
//! any tlog-tiles client can read it.

use std::io;
use std::path::PathBuf;

use axum::extract::State;
use exitgap_api::{Problem, ProblemCode};

use super::App;
use super::params::{Query, Segment};
use super::reply::{Keep, Refused, Reply};

/// The largest file that is served: a bundle's bound, which holds before it is compressed.
const MAX_FILE_BYTES: u64 = 256 << 20;

/// `GET /log/{path}`.
pub async fn serve(
    State(app): State<App>,
    Segment(path): Segment,
    query: Query,
) -> Result<Reply, Refused> {
    query.known(&[])?;
    let Some((media_type, keep)) = kind_of(&path) else { return Err(absent()) };
    let file = app.log_folder.join(&path);
    let read = tokio::task::spawn_blocking(move || read_file(file)).await;
    match read {
        Ok(Ok(bytes)) => Ok(Reply::new(bytes, media_type, keep)),
        Ok(Err(error)) if error.kind() == io::ErrorKind::NotFound => Err(absent()),
        Ok(Err(error)) => {
            tracing::error!(%error, path, "a file of the log could not be read");
            Err(Problem::new(ProblemCode::SourceUnreadable, "the file could not be read").into())
        }
        Err(_) => Err(Problem::new(ProblemCode::InternalError, "reading was cut off").into()),
    }
}

fn read_file(path: PathBuf) -> io::Result<Vec<u8>> {
    use std::io::Read;
    let file = std::fs::File::open(path)?;
    let mut bytes = Vec::new();
    file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(io::Error::other("the file is larger than is served"));
    }
    Ok(bytes)
}

fn absent() -> Refused {
    Problem::new(ProblemCode::NotFound, "the log has no such file")
        .hint("checkpoint, verifier-key, superseded-by, tile/<level>/<index>, tile/entries/<index>, bundles/<slot>.jsonl.zst")
        .into()
}

/// Media type and lifetime of a file of the log; `None` for every other path. This grammar
/// is what keeps a path inside the folder: no part of it begins with a dot.
fn kind_of(path: &str) -> Option<(&'static str, Keep)> {
    const TEXT: &str = "text/plain; charset=utf-8";
    const BYTES: &str = "application/octet-stream";
    let number = |part: &str| {
        (1..=10).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit())
    };
    // An index above 999 is written in groups of three digits: x001/234.
    let group = |part: &str| number(part.strip_prefix('x').unwrap_or(part));
    match path.split('/').collect::<Vec<_>>().as_slice() {
        ["checkpoint"] => Some((TEXT, Keep::Seconds(5))),
        ["verifier-key"] => Some((TEXT, Keep::Seconds(3_600))),
        ["superseded-by"] => Some((TEXT, Keep::Seconds(60))),
        ["bundles", file] => {
            let slot = file.strip_suffix(".jsonl.zst").filter(|slot| number(slot));
            slot.map(|_| ("application/zstd", Keep::Forever))
        }
        ["tile", level, index @ ..] if *level == "entries" || number(level) => {
            let (index, partial) = match index {
                [index @ .., last, width] if last.strip_suffix(".p").is_some() => {
                    if !number(width) {
                        return None;
                    }
                    let last = last.strip_suffix(".p").unwrap_or(last);
                    (index.iter().copied().chain([last]).collect::<Vec<_>>(), true)
                }
                index => (index.to_vec(), false),
            };
            let whole = (1..=4).contains(&index.len()) && index.iter().all(|part| group(part));
            let keep = if partial { Keep::Seconds(300) } else { Keep::Forever };
            whole.then_some((BYTES, keep))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_logs_own_files_have_a_kind() {
        for path in [
            "checkpoint",
            "verifier-key",
            "superseded-by",
            "bundles/5957856.jsonl.zst",
            "tile/0/000",
            "tile/0/x001/234",
            "tile/1/000.p/7",
            "tile/entries/x001/234.p/255",
        ] {
            assert!(kind_of(path).is_some(), "{path}");
        }
        for path in [
            "",
            "../exitgap.key",
            "bundles/../../exitgap.key",
            "bundles/..jsonl.zst",
            "bundles/5957856.jsonl.zst/..",
            "tile/0/..",
            "tile/../checkpoint",
            "tile/0//etc/passwd",
            "tile/0/000.p/..",
            "tile/0/000.p/7/8",
            "checkpoint/",
            "/checkpoint",
            "bundles/1\0.jsonl.zst",
            "tile/0/x1/x2/x3/x4/5",
        ] {
            assert!(kind_of(path).is_none(), "{path}");
        }
    }
}
