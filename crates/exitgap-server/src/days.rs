//! Closed days, written while slots are recorded: on a thread of its own, one after the other, until none is left.

use std::io;
use std::path::PathBuf;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use exitgap_store::Reader;
use exitgap_store::days::{DayWritten, DaysError, DaysLog};

/// How often it is looked whether a day has closed.
const LOOK_EVERY: Duration = Duration::from_mins(1);

/// The longest pause after failures: a day that cannot be written is not tried every minute.
const AGAIN_WITHIN: Duration = Duration::from_hours(1);

/// Is told how many closed days are not written yet; `None`: that could not be found out, or one could not be written.
pub type DaysCallback = Box<dyn Fn(Option<u64>) + Send>;

/// Opens the log of days; again and again where another process writes it.
pub type Open = Box<dyn Fn() -> Result<DaysLog, DaysError> + Send>;

/// Days that are being written. Dropping it ends that, at the latest with the day in hand: what of it is there is nothing yet.
pub struct DaysWriterHandle {
    _stop: Sender<()>,
}

/// Writes the closed days of a store, now and as they close. Where many are due, and none was ever written, somebody has to
/// begin by hand: they may have been lost.
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
                    // The same is said once.
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
        // It is made with the first slot.
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
