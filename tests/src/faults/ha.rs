//! Two recorders of one store on a `PostgreSQL` server, of which one, the server or the way to it is killed, stopped, cut off or
//! held up, again and again: one history, with every slot that was acknowledged.
//!
//! Each lane is a database with two writers that read differently, so that a slot that both signed has two roots. Faults fall
//! where they hurt: half of them as soon as a writer has said what it signed, which is before its commit. Both read one shard beside that,
//! whichever holds it (`ha_reader.rs`).

use std::path::PathBuf;
use std::time::{Duration, Instant};

use exitgap_store::Reader;

use super::ha_lane::{LEASE, Lane};
use super::ha_wire::{Way, Wire};
use super::{Part, Progress, Result, ha_promotion};
use crate::devchain::Rng;
use crate::postgres::{Cluster, RECORDER};

/// Kills of one database, before its history is looked at whole.
const KILLS_PER_STORE: u64 = 10;
/// How late pieces come on a slow way, and for how long.
const SLOW: (Duration, Duration) = (Duration::from_millis(150), Duration::from_secs(2));
/// How long what is sent may take to be withheld.
const FIRES_WITHIN: Duration = Duration::from_secs(10);

/// What is done to a writer, to its server, or to the way between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// The writer that seals is killed.
    Kill,
    /// It is stopped until the other has taken over, and goes on then.
    Stop,
    /// All connections are cut.
    Cut,
    /// The server is killed, and started again.
    Server,
    /// What is sent and answered comes late.
    Slow,
    /// Nothing comes through and nobody is told, until the other has taken over: then all of it comes.
    HalfOpen,
    /// What is asked arrives, and is never answered.
    Answerless,
}

const OTHERS: [Fault; 6] =
    [Fault::Stop, Fault::Cut, Fault::Server, Fault::Slow, Fault::HalfOpen, Fault::Answerless];

impl Fault {
    /// What counts it.
    fn key(self) -> &'static str {
        match self {
            Self::Kill => "ha.kills",
            Self::Stop => "ha.stops",
            Self::Cut => "ha.cuts",
            Self::Server => "ha.server_kills",
            Self::Slow => "ha.slow",
            Self::HalfOpen => "ha.half_open",
            Self::Answerless => "ha.answers_lost",
        }
    }
}

/// Figures that are there where nothing is counted.
const FIGURES: [&str; 16] = [
    "ha.kills",
    "ha.stops",
    "ha.cuts",
    "ha.server_kills",
    "ha.slow",
    "ha.half_open",
    "ha.answers_lost",
    "ha.slots",
    "ha.slots_lost",
    "ha.readings",
    "ha.readings_lost",
    "ha.claims_sealed",
    "ha.forks_signed",
    "ha.at_signature",
    "ha.not_fired",
    "pg.acknowledged_lost",
];

/// Does `kills` kills of writers, and as many other faults together, and then a tenth of it to writers that claim nothing; and a
/// tenth as many promotions of a standby while its primary lives.
pub fn run(kills: u64, seed: u64, progress: Progress<'_>) -> Result<Part> {
    let mut part = Part::default();
    for key in FIGURES {
        part.set(key, 0_u64);
    }
    let mut cluster = Cluster::on_a_port(&[])?;
    let mut rng = Rng::new(seed);
    let mut took = Vec::new();
    let mut done = 0;
    while done < kills {
        let mut scene = Scene::start(&cluster, false)?;
        for _ in 0..KILLS_PER_STORE.min(kills - done) {
            took.extend(scene.suffer(Fault::Kill, &mut cluster, &mut rng, &mut part)?);
            let other = OTHERS[usize::try_from(rng.below(OTHERS.len() as u64))?];
            took.extend(scene.suffer(other, &mut cluster, &mut rng, &mut part)?);
            done += 1;
            progress("ha", done, kills);
        }
        scene.lane.judge(&scene.store, &mut part)?;
    }
    if part.number("ha.readings") == 0 {
        part.problem("ha.not_fired", "nothing that was read was said to count");
    }
    // The control: what the same finds where nothing is claimed.
    let mut scene = Scene::start(&cluster, true)?;
    // A kill between signature and commit is what it takes; until one came, within reason.
    let reader = Reader::open(&scene.store)?;
    for done in 0..kills.max(100) {
        let found =
            !scene.lane.forks().is_empty() && !scene.lane.readings_lost(&reader)?.is_empty();
        if done >= (kills / 10).max(10) && found {
            break;
        }
        scene.suffer(Fault::Kill, &mut cluster, &mut rng, &mut Part::default())?;
    }
    let forks = scene.lane.forks().len();
    part.set("ha.control_forks", forks);
    if forks == 0 {
        part.problem("ha.control_found_nothing", "writers that claim nothing signed one history");
    }
    let lost = scene.lane.readings_lost(&reader)?.len();
    part.set("ha.control_readings_lost", lost);
    if lost == 0 {
        let words = "writers that freeze nothing sealed all that was read";
        part.problem("ha.control_found_nothing", words);
    }
    drop((reader, scene, cluster));
    took.sort_unstable();
    let at = |share: usize| took.get(took.len() * share / 100).map_or(0, Duration::as_millis);
    part.set("ha.takeover_ms", u64::try_from(at(50))?);
    part.set("ha.takeover_worst_ms", u64::try_from(took.last().map_or(0, Duration::as_millis))?);
    part.note("a takeover is from a kill to the next committed slot, or from a stop or a way that is half open to the other's lease, which lasts 1 s here; PostgreSQL waits for its disk");
    ha_promotion::run((kills / 10).max(1), &mut rng, &mut part, progress)?;
    Ok(part)
}

/// A database with two writers, and each one's way to it.
struct Scene {
    lane: Lane,
    wires: [Wire; 2],
    store: PathBuf,
    database: String,
}

impl Scene {
    fn start(cluster: &Cluster, careless: bool) -> Result<Self> {
        let database = cluster.database();
        let wires = [Wire::to(cluster.port())?, Wire::to(cluster.port())?];
        let stores = wires.each_ref().map(|wire| {
            let port = wire.port();
            format!("postgresql://{RECORDER}@127.0.0.1:{port}/{database}?sslmode=disable&{LEASE}")
                .into()
        });
        let store = cluster.url(RECORDER, &database);
        Ok(Self { lane: Lane::start(stores, careless, false)?, wires, store, database })
    }

    /// A fault, and a slot after it. How long the other took to take over, where it did.
    fn suffer(
        &mut self,
        fault: Fault,
        cluster: &mut Cluster,
        rng: &mut Rng,
        part: &mut Part,
    ) -> Result<Option<Duration>> {
        let number = self.lane.moment(rng, part)?;
        let begun = Instant::now();
        let mut took = None;
        part.count(fault.key());
        match fault {
            Fault::Kill => {
                self.lane.writers[number].kill()?;
                self.lane.hear();
                let again = self.lane.writer(number)?;
                self.lane.writers[number] = again;
            }
            Fault::Stop => {
                self.lane.writers[number].signal("-STOP")?;
                took = Some(self.taken_over(number, begun)?);
            }
            Fault::Cut => {
                let database = &self.database;
                let cut = format!(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{database}'"
                );
                cluster.sql("postgres", &cut);
            }
            Fault::Server => {
                cluster.kill()?;
                std::thread::sleep(Duration::from_millis(rng.below(300)));
                cluster.start_again()?;
            }
            Fault::Slow => {
                self.withheld(number, Way::Slow(SLOW.0), part);
                std::thread::sleep(SLOW.1);
                self.wires[number].set(Way::Open);
            }
            Fault::HalfOpen => {
                self.withheld(number, Way::HalfOpen, part);
                took = Some(self.taken_over(number, begun)?);
            }
            Fault::Answerless => {
                self.withheld(number, Way::Answerless, part);
                self.wires[number].set(Way::Open);
            }
        }
        self.lane.hear();
        let before = self.lane.committed;
        self.lane.wait("a slot after a fault", |lane| lane.committed > before)?;
        match fault {
            Fault::Kill => took = Some(begun.elapsed()),
            Fault::Stop => self.lane.writers[number].signal("-CONT")?,
            // What it sent arrives now, after another's slot.
            Fault::HalfOpen => self.wires[number].set(Way::Open),
            _ => {}
        }
        Ok(took)
    }

    /// Sets a writer's way, and waits until something was withheld on it.
    fn withheld(&self, number: usize, way: Way, part: &mut Part) {
        let (wire, begun) = (&self.wires[number], Instant::now());
        let before = wire.withheld();
        wire.set(way);
        while wire.withheld() == before {
            if begun.elapsed() > FIRES_WITHIN {
                part.problem("ha.not_fired", format!("nothing was sent on a way that was {way:?}"));
                return;
            }
            std::thread::sleep(Duration::from_micros(200));
        }
    }

    fn taken_over(&mut self, number: usize, begun: Instant) -> Result<Duration> {
        let other = move |lane: &Lane| lane.holds.is_some_and(|holds| holds != number);
        self.lane.wait("a takeover", other)?;
        Ok(begun.elapsed())
    }
}
