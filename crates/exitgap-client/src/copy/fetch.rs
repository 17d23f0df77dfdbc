//! Downloads files of a log: each up to its size limit, with retries where they may help, and a total time limit.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use exitgap_api::operations::Method;
use exitgap_core::log_folder::LogFile;
use exitgap_core::log_folder::days::DaysFile;

use super::error::CopyError;
use crate::{Native, Request, StreamedResponse, Transport, TransportError};

/// Maximum number of attempts for a file without an answer, or with a status such as 502.
const TRIES: u32 = 5;

/// The longest pause that a service may ask for.
pub const LONGEST_PAUSE: Duration = Duration::from_mins(1);

/// The longest total wait for one file.
pub const LONGEST_WAIT: Duration = Duration::from_mins(3);

/// Minimum timeout for an answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// The timeout grows by one second for this many bytes of the file's limit.
const BYTES_PER_SECOND: u64 = 256 << 10;

/// A log's URL, with the rules for requests to it.
pub struct Fetcher {
    native: Native,
    /// The URL, without a slash at its end.
    log: String,
    /// No request is sent before this time: a pause requested in one answer applies to all requests.
    not_before: Mutex<Instant>,
}

/// The result of one attempt.
enum FetchOutcome {
    /// All of it, or as much as is enough.
    Came(Vec<u8>),
    /// There is no such file.
    Absent,
    /// A retry may help, perhaps after a pause that the service asked for.
    Perhaps { asked: Option<Duration>, why: CopyError },
}

impl Fetcher {
    /// Downloads files below this URL.
    pub fn new(native: Native, log: String) -> Self {
        Self { native, log, not_before: Mutex::new(Instant::now()) }
    }

    /// The URL of a file.
    pub fn url(&self, file: &LogFile) -> String {
        format!("{}/{file}", self.log)
    }

    /// Downloads a file of at most this many bytes; `None` if it does not exist.
    pub async fn bytes(&self, file: &LogFile, most: usize) -> Result<Option<Vec<u8>>, CopyError> {
        self.get(file, most, |_| false).await
    }

    /// The same for a file that must exist.
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
        // Write-once files may come from a cache; files about the log's current state may not.
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

    /// Waits until a request may be sent, and returns how long that took.
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

    /// Prevents requests during this time.
    fn hold(&self, pause: Duration) {
        let mut until = self.not_before.lock().unwrap_or_else(PoisonError::into_inner);
        *until = (*until).max(Instant::now() + pause);
    }

    /// A fifth of a second, doubled with each retry, plus up to a half of that at random, so that many clients do not
    /// return at once.
    fn backoff(&self, repeated: u32) -> Duration {
        let least = 200_u64 << repeated.min(TRIES);
        Duration::from_millis(least + u64::from(self.native.random()) % (least / 2))
    }
}

/// Reads the body of an error, so that the connection can be reused: many slots have no logs document.
async fn drain(answer: &mut StreamedResponse) {
    let mut left = 64 << 10;
    while let Ok(Some(piece)) = answer.piece().await
        && let Some(rest) = usize::checked_sub(left, piece.len())
    {
        left = rest;
    }
}

/// Interprets a status other than success.
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
