//! Files of a log, fetched: each up to its limit, asked for again where that may help, and at most
//! so long.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use exitgap_api::operations::Method;
use exitgap_core::log_folder::LogFile;
use exitgap_core::log_folder::days::DaysFile;

use super::error::CopyError;
use crate::{Native, Request, StreamedResponse, Transport, TransportError};

/// How often a file is asked for that is not answered, or answered with 502 and the like.
const TRIES: u32 = 5;

/// The longest pause that a service may ask for.
pub const LONGEST_PAUSE: Duration = Duration::from_mins(1);

/// The longest that is waited for one file, pause after pause.
pub const LONGEST_WAIT: Duration = Duration::from_mins(3);

/// How long an answer may take at least.
const PATIENCE: Duration = Duration::from_secs(30);

/// For so many bytes of its limit a second more.
const BYTES_PER_SECOND: u64 = 256 << 10;

/// A log's address, and the manners towards it.
pub struct Fetcher {
    native: Native,
    /// Without a slash at its end.
    log: String,
    /// No file is requested before this: a wait that one answer asks for holds for all of them.
    not_before: Mutex<Instant>,
}

/// What came of asking once.
enum FetchOutcome {
    /// All of it, or as much as is enough.
    Came(Vec<u8>),
    /// There is no such file.
    Absent,
    /// Asking again may help, perhaps after a pause that the service named.
    Perhaps { asked: Option<Duration>, why: CopyError },
}

impl Fetcher {
    /// The files below this address.
    pub fn new(native: Native, log: String) -> Self {
        Self { native, log, not_before: Mutex::new(Instant::now()) }
    }

    /// Where a file is.
    pub fn url(&self, file: &LogFile) -> String {
        format!("{}/{file}", self.log)
    }

    /// A file of at most so many bytes; `None` where it is not there.
    pub async fn bytes(&self, file: &LogFile, most: usize) -> Result<Option<Vec<u8>>, CopyError> {
        self.get(file, most, |_| false).await
    }

    /// The same of a file that has to be there.
    pub async fn require_bytes(&self, file: &LogFile, most: usize) -> Result<Vec<u8>, CopyError> {
        self.require_until(file, most, |_| false).await
    }

    /// The same of as much of a file's beginning as is enough.
    pub async fn require_until(
        &self,
        file: &LogFile,
        most: usize,
        is_enough: impl Fn(&[u8]) -> bool + Sync,
    ) -> Result<Vec<u8>, CopyError> {
        let bytes = self.get(file, most, is_enough).await?;
        bytes.ok_or_else(|| CopyError::Absent { url: self.url(file) })
    }

    /// Fetches a file of at most so many bytes, or its beginning once that is enough; `None` where it is not there.
    async fn get(
        &self,
        file: &LogFile,
        most: usize,
        is_enough: impl Fn(&[u8]) -> bool + Sync,
    ) -> Result<Option<Vec<u8>>, CopyError> {
        let seconds = (most as u64).div_ceil(BYTES_PER_SECOND);
        // What is written once may come from a cache, what says where the log stands may not.
        let fresh = matches!(
            file,
            LogFile::Checkpoint
                | LogFile::VerifierKey
                | LogFile::SupersededBy
                | LogFile::DefaultBases
                | LogFile::Days(DaysFile::Checkpoint | DaysFile::VerifierKey)
        );
        let request = Request {
            method: Method::Get,
            body: Vec::new(),
            url: self.url(file),
            accept: "*/*",
            timeout: PATIENCE + Duration::from_secs(seconds),
            max_bytes: most,
            fresh,
            headers: Vec::new(),
        };
        let (mut tries, mut waited) = (0, Duration::ZERO);
        loop {
            waited += self.wait().await;
            let (asked, why) = match self.ask(&request, &is_enough).await? {
                FetchOutcome::Came(bytes) => return Ok(Some(bytes)),
                FetchOutcome::Absent => return Ok(None),
                FetchOutcome::Perhaps { asked, why } => (asked, why),
            };
            tries += u32::from(asked.is_none());
            match asked {
                Some(asked) if waited < LONGEST_WAIT => self.hold(asked.max(self.backoff(0))),
                None if tries < TRIES => self.hold(self.backoff(tries - 1)),
                _ => return Err(why),
            }
        }
    }

    async fn ask(
        &self,
        request: &Request,
        is_enough: &(impl Fn(&[u8]) -> bool + Sync),
    ) -> Result<FetchOutcome, CopyError> {
        let unanswered = |error: TransportError| {
            let again = matches!(error, TransportError::Unreachable(_));
            let why = CopyError::Unanswered { url: request.url.clone(), error };
            if again { Ok(FetchOutcome::Perhaps { asked: None, why }) } else { Err(why) }
        };
        let mut answer = match self.native.open(request).await {
            Ok(answer) => answer,
            Err(error) => return unanswered(error),
        };
        match answer.status {
            200 => {}
            404 => {
                drain(&mut answer).await;
                return Ok(FetchOutcome::Absent);
            }
            status => return classify_status(request, status, answer.header("retry-after")),
        }
        let mut bytes = Vec::new();
        loop {
            match answer.piece().await {
                Ok(Some(piece)) => bytes.extend_from_slice(&piece),
                Ok(None) => return Ok(FetchOutcome::Came(bytes)),
                Err(error) => return unanswered(error),
            }
            if is_enough(&bytes) {
                return Ok(FetchOutcome::Came(bytes));
            }
        }
    }

    /// Waits until something may be asked for, and says how long that was.
    async fn wait(&self) -> Duration {
        let began = Instant::now();
        loop {
            let until = *self.not_before.lock().unwrap_or_else(PoisonError::into_inner);
            match until.checked_duration_since(Instant::now()) {
                Some(pause) if !pause.is_zero() => self.native.pause(pause).await,
                _ => return began.elapsed(),
            }
        }
    }

    /// Lets nothing be asked for during this time.
    fn hold(&self, pause: Duration) {
        let mut until = self.not_before.lock().unwrap_or_else(PoisonError::into_inner);
        *until = (*until).max(Instant::now() + pause);
    }

    /// A fifth of a second, doubled with each repetition, and up to a half of it more: else many clients
    /// come back at once.
    fn backoff(&self, repeated: u32) -> Duration {
        let least = 200_u64 << repeated.min(TRIES);
        Duration::from_millis(least + u64::from(self.native.random()) % (least / 2))
    }
}

/// Reads the words of a refusal, so that the connection serves the next request; many slots have no
/// fills.
async fn drain(answer: &mut StreamedResponse) {
    let mut left = 64 << 10;
    while let Ok(Some(piece)) = answer.piece().await
        && let Some(rest) = usize::checked_sub(left, piece.len())
    {
        left = rest;
    }
}

/// What an answer means that is no file.
fn classify_status(
    request: &Request,
    status: u16,
    retry_after: Option<&str>,
) -> Result<FetchOutcome, CopyError> {
    let url = request.url.clone();
    if ![429, 502, 503, 504].contains(&status) {
        return Err(CopyError::Refused { url, status });
    }
    let asked = retry_after.and_then(|text| text.parse().ok()).map(Duration::from_secs);
    let Some(asked) = asked else {
        return Ok(FetchOutcome::Perhaps { asked: None, why: CopyError::Refused { url, status } });
    };
    let why = CopyError::Busy { url, status, asked_s: asked.as_secs() };
    if asked > LONGEST_PAUSE {
        Err(why)
    } else {
        Ok(FetchOutcome::Perhaps { asked: Some(asked), why })
    }
}
