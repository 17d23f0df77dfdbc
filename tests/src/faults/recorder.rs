//! The recorder as a process, with a simulated scene instead of a chain: its behaviour if its disk is full, or fails.

use std::io;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use exitgap_chain::{ReadFailure, SlotReading};
use exitgap_core::pools::Direction;
use exitgap_core::series::Slot;
use exitgap_server::recorder::{Clock, ManualClock, Recorder, SlotReader, Source, Stop};
use tokio::sync::watch;
use tokio::time::Instant;

use super::Result;
use super::home::{Home, next_slot};
use super::scene::{BusyPool, Scene, slot};
use super::writer::say;

/// How a recorder is to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::Args)]
pub struct Course {
    /// Ends before this slot.
    #[arg(long)]
    pub until: u32,
    /// Waits for a line before each slot, after having said which it is.
    #[arg(long)]
    pub paced: bool,
    /// Folds the write-ahead log into the database as soon as it holds so many pages.
    #[arg(long)]
    pub fold_after: Option<u32>,
    /// At which slots the database may not grow: the first, how many, and by how many pages it
    /// still may, with commas between.
    #[arg(long)]
    pub full: Option<Full>,
}

/// A database that may not grow for some slots: `SQLite` reports this like a full disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Full {
    /// The first of these slots.
    pub from: u32,
    /// Number of these slots.
    pub slots: u32,
    /// The number of pages by which it may still grow.
    pub pages: u32,
}

impl FromStr for Full {
    type Err = String;
    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let numbers: Vec<u32> = text.split(',').filter_map(|part| part.parse().ok()).collect();
        match numbers[..] {
            [from, slots, pages] => Ok(Self { from, slots, pages }),
            _ => Err("three numbers with commas between".to_owned()),
        }
    }
}

/// A simulated chain of the scene's pools.
struct Played {
    scene: Scene,
    /// Prints the slot's number before each slot, and waits for a line on standard input.
    paced: bool,
    /// Requests the end after the slot that is read.
    ending: Option<Arc<watch::Sender<Stop>>>,
}

impl SlotReader for Played {
    async fn read_slot(&mut self, at: Slot, _: Instant) -> SlotReading {
        let n = at.number() - Slot::FIRST.number();
        if self.paced {
            let mut line = String::new();
            let told = say(&format!("reading {n}")).and_then(|()| io::stdin().read_line(&mut line));
            if !told.is_ok_and(|bytes| bytes > 0) {
                // The process that requested slots is gone.
                std::process::exit(0);
            }
        }
        if let Some(ending) = &self.ending {
            ending.send_replace(Stop::AfterSlot);
        }
        let entries = self.scene.entries(n).into_iter();
        let missing = |reason| ReadFailure { reason, detail: "as the scene has it".to_owned() };
        let pools = entries.map(|entry| (entry.pool, entry.reading.map_err(missing))).collect();
        let chain = BusyPool::new(0, 1).id.chain().clone();
        SlotReading { slot: at, chain, block: None, pools, events: vec![], requests: 1 }
    }
}

/// Continues recording in `home`, which must have enough slots that all pools of its scene exist; prints each slot that
/// is in the store and published.
pub fn record(home: &Home, course: Course) -> Result<()> {
    tracing_subscriber::fmt().with_writer(io::stderr).with_ansi(false).init();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        // A single writing thread, so that disk operations have one order and are counted together.
        .max_blocking_threads(1)
        .build()?;
    runtime.block_on(run(home, course))
}

async fn run(home: &Home, course: Course) -> Result<()> {
    let (sender, stop) = watch::channel(Stop::No);
    let sender = Arc::new(sender);
    let mut recorder = recorder(home, course, &sender)?;
    recorder.publish_in(home.log_folder())?;
    let next = next_slot(recorder.store()?.reader())?;
    let clock = ManualClock::new(Duration::from_secs(slot(next).unix_s()));
    for n in next..course.until {
        match course.full {
            Some(full) => {
                // Slot by slot, whether written or not: the limit changes between slots.
                limit(full, n, &recorder)?;
                clock.sleep_until(Duration::from_secs(slot(n).unix_s())).await;
                sender.send_replace(Stop::No);
                recorder.run(&clock, stop.clone(), None).await?;
            }
            None => recorder.run(&clock, stop.clone(), Some(slot(n))).await?,
        }
        let last = next_slot(recorder.store()?.reader())? - 1;
        say(&format!("committed {last}"))?;
        if recorder.published_slots() > last.into() {
            say(&format!("published {last}"))?;
        }
    }
    Ok(recorder.close()?)
}

fn recorder(
    home: &Home,
    course: Course,
    ending: &Arc<watch::Sender<Stop>>,
) -> Result<Recorder<Played>> {
    let scene = home.scene();
    let pools: Vec<_> = (0..scene.pools).map(|number| BusyPool::new(number, 1).id).collect();
    let ending = course.full.map(|_| ending.clone());
    let make = move || Ok(Played { scene, paced: course.paced, ending: ending.clone() });
    let source = Source {
        chain: BusyPool::new(0, 1).id.chain().clone(),
        pools: pools.into_iter().map(|id| (id, Direction::ZeroForOne)).collect(),
        make: Box::new(make),
    };
    let mut store = home.open_or_create()?;
    if let Some(pages) = course.fold_after {
        store = store.folding_after(pages);
    }
    Ok(Recorder::new(store, vec![source], Duration::from_mins(1)))
}

/// Sets or removes the limit before slot `n`.
fn limit(full: Full, n: u32, recorder: &Recorder<Played>) -> Result<()> {
    let store = recorder.store()?;
    if n == full.from {
        store.limit_growth(Some(full.pages))?;
    } else if n == full.from + full.slots {
        store.limit_growth(None)?;
    }
    Ok(())
}
