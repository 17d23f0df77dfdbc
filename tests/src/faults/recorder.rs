//! The recorder as a process over a scene instead of a chain: what does it do when its disk is
//! full, or fails?

use std::io;
use std::time::Duration;

use exitgap_chain::{Missing, SlotReading};
use exitgap_core::pools::Direction;
use exitgap_core::series::Slot;
use exitgap_server::recorder::{ManualClock, Recorder, SlotReader, Source, Stop};
use tokio::sync::watch;
use tokio::time::Instant;

use super::Result;
use super::home::{Home, next_slot};
use super::scene::{BusyPool, Scene, slot};
use super::writer::say;

/// A chain of the scene's pools.
struct Played {
    scene: Scene,
    /// Waits for a line on standard input before each slot, after having said which it is.
    paced: bool,
}

impl SlotReader for Played {
    async fn read_slot(&mut self, at: Slot, _: Instant) -> SlotReading {
        let n = at.number() - Slot::FIRST.number();
        if self.paced {
            let mut line = String::new();
            let told = say(&format!("reading {n}")).and_then(|()| io::stdin().read_line(&mut line));
            if !told.is_ok_and(|bytes| bytes > 0) {
                // Whoever asked for slots is gone.
                std::process::exit(0);
            }
        }
        let entries = self.scene.entries(n).into_iter();
        let missing = |reason| Missing { reason, detail: "as the scene has it".to_owned() };
        let pools = entries.map(|entry| (entry.pool, entry.reading.map_err(missing))).collect();
        let chain = BusyPool::new(0, 1).id.chain().clone();
        SlotReading { slot: at, chain, block: None, pools, events: vec![], requests: 1 }
    }
}

/// Goes on recording in `home`, which has slots enough that all pools of its scene are there, up
/// to, without, slot `until`; says each slot that is in the store and published. `paced`: waits
/// for a line before each.
pub fn record(home: &Home, until: u32, paced: bool) -> Result<()> {
    tracing_subscriber::fmt().with_writer(io::stderr).with_ansi(false).init();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(run(home, until, paced))
}

async fn run(home: &Home, until: u32, paced: bool) -> Result<()> {
    let scene = home.scene();
    let pools: Vec<_> = (0..scene.pools).map(|number| BusyPool::new(number, 1).id).collect();
    let source = Source {
        chain: BusyPool::new(0, 1).id.chain().clone(),
        pools: pools.into_iter().map(|id| (id, Direction::ZeroForOne)).collect(),
        make: Box::new(move || Ok(Played { scene, paced })),
    };
    let store = home.open_or_create()?;
    let next = next_slot(store.reader())?;
    let mut recorder = Recorder::new(store, vec![source], Duration::from_mins(1));
    recorder.publish_in(home.log_folder())?;
    let clock = ManualClock::new(Duration::from_secs(slot(next).unix_s()));
    let (_sender, stop) = watch::channel(Stop::No);
    for n in next..until {
        recorder.run(&clock, stop.clone(), Some(slot(n))).await?;
        let last = next_slot(recorder.store()?.reader())? - 1;
        say(&format!("committed {last}"))?;
        if home.published()? > last.into() {
            say(&format!("published {last}"))?;
        }
    }
    Ok(())
}
