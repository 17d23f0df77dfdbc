//! The process that is killed, stopped and cut off; two of them record into one store on a server.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use exitgap_core::series::MissingReason;
use exitgap_store::{LogFolder, NewEntry, Store, StoreError};

use super::Result;
use super::ha_claims::FolderClaims;
use super::ha_reader;
use super::home::next_slot;
use super::scene::{Scene, key, slot};
use super::writer::say;

/// The recorded scene.
pub const SCENE: Scene = Scene { pools: 3, positions: 4 };
/// Retry interval for a store that is not available.
const ASKED_EVERY: Duration = Duration::from_millis(20);

/// How it is to write.
#[derive(Debug, Clone, Args)]
pub struct Course {
    /// The store's URL.
    #[arg(long)]
    store: PathBuf,
    /// Where it publishes.
    #[arg(long)]
    log: PathBuf,
    /// Which of the two it is: they read differently.
    #[arg(long)]
    number: u32,
    /// Claims nothing: the control.
    #[arg(long)]
    careless: bool,
    /// A folder that both claim in, as in a bucket, whatever becomes of the server.
    #[arg(long)]
    claims: Option<PathBuf>,
}

/// Records and publishes until killed, and prints what it did to standard output.
pub fn record(course: &Course) -> Result<()> {
    let mut lost = 0;
    ha_reader::read(course.store.clone(), course.number);
    loop {
        match sitting(course) {
            Ok(()) => {}
            // Another writer holds the lease, or none does yet.
            Err(error) if matches!(error.downcast_ref(), Some(StoreError::Leased { .. })) => {}
            Err(error) => {
                lost += 1;
                say(&format!("lost {lost} {error}"))?;
            }
        }
        std::thread::sleep(ASKED_EVERY);
    }
}

/// Seals as long as the store is available.
fn sitting(course: &Course) -> Result<()> {
    let store = Store::open(&course.store, &key())?.telling_signed(signed);
    let mut store = if course.careless { store.without_claims() } else { store };
    let folder = LogFolder::new(&course.log);
    say(&format!("holds {}", next_slot(store.reader())?))?;
    if let Some(claims) = &course.claims {
        store.claim_in(Arc::new(FolderClaims(claims.clone())));
        seal_claimed(&folder, &mut store)?;
    }
    folder.check(store.reader())?;
    folder.publish(store.reader())?;
    if !course.careless {
        seal_claimed(&folder, &mut store)?;
    }
    loop {
        let n = next_slot(store.reader())?;
        let read = ha_reader::taken(&store, n, !course.careless)?;
        match store.append_slot(slot(n), &entries(course.number, read, n)) {
            // The other writer claimed it, with its own database.
            Err(StoreError::Claimed { .. }) if course.claims.is_some() => {
                seal_claimed(&folder, &mut store)?;
                continue;
            }
            appended => appended?,
        };
        say(&format!("committed {n}"))?;
        folder.publish_newest(&mut store)?;
        say(&format!("published {n}"))?;
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Seals what was claimed before, and prints it.
fn seal_claimed(folder: &LogFolder, store: &mut Store) -> Result<()> {
    while folder.seal_claimed(store)?.is_some() {
        say(&format!("claimed {}", next_slot(store.reader())?))?;
    }
    Ok(())
}

/// Prints what was signed, in one line.
fn signed(text: &str) {
    let words: Vec<_> = text.lines().skip(1).take(2).collect();
    // The output may be closed.
    let _ = say(&format!("signed {}", words.join(" ")));
}

/// The entries that this writer seals at slot `n`: the reading from either writer, and never data that only the other
/// one reads.
fn entries(number: u32, read: MissingReason, n: u32) -> Vec<NewEntry> {
    let mut entries = SCENE.entries(n);
    let own = if number == 0 { MissingReason::RpcUnavailable } else { MissingReason::ChainLagging };
    (entries[0].reading, entries[1].reading) = (Err(read), Err(own));
    entries
}

/// The command line of a writer.
pub fn arguments(
    program: &Path,
    store: &Path,
    log: &Path,
    number: u32,
    careless: bool,
    claims: Option<&Path>,
) -> Vec<String> {
    let text = |path: &Path| path.display().to_string();
    let mut words = vec![text(program), "ha-writer".to_owned(), "--store".to_owned(), text(store)];
    words.extend(["--log".to_owned(), text(log), "--number".to_owned(), number.to_string()]);
    words.extend(careless.then(|| "--careless".to_owned()));
    words.extend(claims.into_iter().flat_map(|claims| ["--claims".to_owned(), text(claims)]));
    words
}
