//! `/log`: serves the folder of the published log, file by file, for `exitgap audit` and any tlog-tiles client.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::UNIX_EPOCH;

use axum::BoxError;
use axum::body::{Body, HttpBody};
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use exitgap_api::operations::{Keep, LogFileAsked, Operation};
use exitgap_api::{Problem, ProblemCode};
use exitgap_core::log_folder::LogFile;
use exitgap_core::log_folder::days::{DayFile, DaysFile};
use exitgap_store::days::covers;
use hyper::body::{Frame, SizeHint};

use super::SharedApp;
use super::address::Address;
use super::reply::{HttpRefusal, JSON, Reply, cache_control, respond_with_tag};
use crate::ops::BlockingPool;

/// Files up to this size are read at once. Larger files are read in pieces as the client consumes them, so that slow
/// clients do not fill the memory.
const PIECE_BYTES: u64 = 128 << 10;

/// Serves a file of the folder.
pub async fn serve(
    State(app): State<SharedApp>,
    address: Address,
) -> Result<Response, HttpRefusal> {
    let LogFileAsked { path } = address.parse_question(Operation::Log)?;
    // Any other path may lead outside the folder.
    let known: LogFile = path.parse().map_err(|_| absent())?;
    let (media_type, keep) = kind_of(&known);
    let most = known.max_bytes();
    let file = app.log_folder.join(known.to_string());
    // A file that nothing commits to yet may still change, but would be cached permanently.
    let day = match &known {
        LogFile::Days(DaysFile::Day(day, _)) => Some(*day),
        _ => None,
    };
    let folder = app.log_folder.clone();
    let open = move || match day {
        Some(day) if !covers(&folder, day) => Err(io::ErrorKind::NotFound.into()),
        _ => open(&file, most),
    };
    match app.service.blocking_pool().run(open).await? {
        Ok(OpenedFile::Whole(bytes)) => Ok(Reply::new(bytes, media_type, keep).into_response()),
        Ok(OpenedFile::Large { file, bytes, tag }) => {
            let (lane, at) = (app.service.blocking_pool().clone(), At::Rest(Some(file)));
            let pieces = Pieces { lane, left: bytes, at };
            Ok(respond_with_tag(Body::new(pieces), media_type, keep, &tag))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(absent()),
        Err(error) => {
            tracing::error!(%error, path, "a file of the log could not be read");
            Err(Problem::new(ProblemCode::SourceUnreadable, "the file could not be read").into())
        }
    }
}

/// An opened file.
enum OpenedFile {
    /// The file's content.
    Whole(Vec<u8>),
    /// The file with its length and validator: it was written once, and is only ever replaced, never modified.
    Large { file: File, bytes: u64, tag: String },
}

fn open(path: &Path, most: u64) -> io::Result<OpenedFile> {
    let mut file = File::open(path)?;
    let facts = file.metadata()?;
    let bytes = facts.len();
    if bytes > most {
        return Err(io::Error::other("the file is larger than is served"));
    }
    if bytes <= PIECE_BYTES {
        let mut all = Vec::new();
        file.by_ref().take(PIECE_BYTES + 1).read_to_end(&mut all)?;
        if all.len() as u64 > PIECE_BYTES {
            return Err(io::Error::other("the file grew while it was read"));
        }
        return Ok(OpenedFile::Whole(all));
    }
    let modified = facts.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
    let tag = format!("W/\"{bytes:x}-{:x}\"", modified.as_nanos());
    Ok(OpenedFile::Large { file, bytes, tag })
}

/// Reads a file in pieces.
struct Pieces {
    lane: BlockingPool,
    /// Number of unread bytes.
    left: u64,
    at: At,
}

type PieceFuture = dyn Future<Output = Result<io::Result<(File, Bytes)>, Problem>> + Send;

enum At {
    /// Between two pieces; `None` after an error.
    Rest(Option<File>),
    /// A piece is being read.
    Reading(Pin<Box<PieceFuture>>),
}

impl HttpBody for Pieces {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let Self { lane, left, at } = &mut *self;
        if let At::Rest(file) = at {
            let Some(file) = file.take().filter(|_| *left > 0) else { return Poll::Ready(None) };
            let (lane, length) = (lane.clone(), (*left).min(PIECE_BYTES));
            let reading = async move { lane.run(move || read_piece(file, length)).await };
            *at = At::Reading(Box::pin(reading));
        }
        let At::Reading(reading) = at else { return Poll::Ready(None) };
        let (file, piece) = match ready!(reading.as_mut().poll(context)) {
            Ok(Ok((file, piece))) => (Some(file), Ok(piece)),
            Ok(Err(error)) => (None, Err(error.into())),
            Err(problem) => (None, Err(problem.detail.into())),
        };
        *at = At::Rest(file);
        if let Ok(piece) = &piece {
            *left -= piece.len() as u64;
        }
        Poll::Ready(Some(piece.map(Frame::data)))
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}

/// Reads the next `length` bytes of a file.
fn read_piece(mut file: File, length: u64) -> io::Result<(File, Bytes)> {
    let mut piece = vec![0; usize::try_from(length).unwrap_or(usize::MAX)];
    file.read_exact(&mut piece)?;
    Ok((file, piece.into()))
}

fn absent() -> HttpRefusal {
    Problem::new(ProblemCode::NotFound, "the log has no such file").hint(LogFile::PATHS).into()
}

/// The media type and the `Cache-Control` value of a file of the log.
pub fn log_file_headers(file: &LogFile) -> (&'static str, String) {
    let (media_type, keep) = kind_of(file);
    (media_type, cache_control(keep).to_str().unwrap_or_default().to_owned())
}

fn kind_of(file: &LogFile) -> (&'static str, Keep) {
    const TEXT: &str = "text/plain; charset=utf-8";
    const BYTES: &str = "application/octet-stream";
    const PARQUET: &str = "application/vnd.apache.parquet";
    match file {
        LogFile::Checkpoint | LogFile::PeerCheckpoint(_) | LogFile::Days(DaysFile::Checkpoint) => {
            (TEXT, Keep::Seconds(5))
        }
        LogFile::VerifierKey | LogFile::Days(DaysFile::VerifierKey) => (TEXT, Keep::Seconds(3_600)),
        LogFile::Predecessor => (TEXT, Keep::Forever),
        LogFile::SupersededBy | LogFile::DefaultBases => (TEXT, Keep::Seconds(60)),
        LogFile::Slot(_) => ("application/jsonl", Keep::Forever),
        LogFile::PeerSlot(..) | LogFile::Days(DaysFile::Day(_, DayFile::Manifest)) => {
            (JSON, Keep::Forever)
        }
        LogFile::Days(DaysFile::Day(..)) => (PARQUET, Keep::Forever),
        LogFile::Part(_)
        | LogFile::Fills(_)
        | LogFile::Issued(_)
        | LogFile::Proof(_)
        | LogFile::Anchors(..) => (BYTES, Keep::Forever),
        // A partial tile is replaced by the full one.
        LogFile::Tile(tile) | LogFile::Days(DaysFile::Tile(tile)) => {
            (BYTES, if tile.is_full() { Keep::Forever } else { Keep::Seconds(300) })
        }
    }
}
