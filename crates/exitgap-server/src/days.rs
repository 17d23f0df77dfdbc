//! Writes closed days while slots are recorded: on a separate thread, one after the other, until none is left.

use std::io;
use std::path::PathBuf;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use exitgap_store::Reader;
use exitgap_store::days::{DayWritten, DaysError, DaysLog};

/// Polling interval for newly closed days.
const LOOK_EVERY: Duration = Duration::from_mins(1);

/// The longest pause after failures: a day that cannot be written is not retried every minute.
const AGAIN_WITHIN: Duration = Duration::from_hours(1);

/// Receives the number of closed days that are not written yet; `None`: counting or writing failed.
pub type DaysCallback = Box<dyn Fn(Option<u64>) + Send>;

/// Opens the log of days; called again if another process is writing it.
pub type Open = Box<dyn Fn() -> Result<DaysLog, DaysError> + Send>;

/// Handle of the task that writes days. Dropping it ends the task, at the latest after the day in progress; a partly
/// written day does not count as written.
pub struct DaysWriterHandle {
    _stop: Sender<()>,
}

/// Writes the closed days of a store, now and as they close. If many days are due and none was ever written, an
/// operator must start by hand, because previously written days may have been lost.
pub fn start(open: Open, store: PathBuf, told: DaysCallback) -> io::Result<DaysWriterHandle> {
    let (stop, stopped) = channel::<()>();
    let (mut said, mut pause) = (None, LOOK_EVERY);
    let work = move || {
        let mut days = None;
        loop {
            let written = get_or_open(&mut days, &open)
                .and_then(|days| write_due(days, &store, &told, || stopped.try_recv().is_ok()));
            match written {
                Ok(()) => (said, pause) = (None, LOOK_EVERY),
                Err(error) => {
                    told(None);
                    let words = error.to_string();
                    // Logs the same message only once.
                    if said.as_ref() != Some(&words) {
                        tracing::error!("a closed day was not written: {words}");
                        said = Some(words);
                    }
                    pause = (pause * 2).min(AGAIN_WITHIN);
                }
            }
            match stopped.recv_timeout(pause) {
                Err(RecvTimeoutError::Timeout) => {}
                Ok(()) | Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    };
    thread::Builder::new().name("days".to_owned()).spawn(work)?;
    Ok(DaysWriterHandle { _stop: stop })
}

fn get_or_open<'a>(days: &'a mut Option<DaysLog>, open: &Open) -> Result<&'a DaysLog, DaysError> {
    match days {
        Some(days) => Ok(days),
        None => Ok(days.insert(open()?)),
    }
}

fn write_due(
    days: &DaysLog,
    store: &PathBuf,
    told: &DaysCallback,
    stopped: impl Fn() -> bool,
) -> Result<(), DaysError> {
    let reader = match Reader::open(store) {
        // The store is created with the first slot.
        Err(exitgap_store::StoreError::NotFound { .. }) => return Ok(()),
        reader => reader?,
    };
    let behind = days.behind(&reader)?;
    if behind > 1 && !days.is_begun() {
        return Err(DaysError::NotBegun { due: behind });
    }
    loop {
        told(Some(days.behind(&reader)?));
        let began = Instant::now();
        match days.write_next(&reader, |_, _| {})? {
            Some(DayWritten { manifest, days }) => {
                let (day, pools, rows) =
                    (manifest.day.to_string(), manifest.pools(), manifest.rows());
                let bytes: u64 = manifest.files.iter().map(|file| file.bytes).sum();
                let ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
                tracing::info!(day, days, pools, rows, bytes, ms, "closed day written");
            }
            None => return Ok(()),
        }
        if stopped() {
            return Ok(());
        }
    }
}
