//! Two recorders of one store on a `PostgreSQL` server. One recorder, the server or the connection to it is repeatedly
//! killed, stopped, cut or delayed: the result must be one history with every acknowledged slot.
//!
//! Each lane is a database with two writers that read different data, so that a slot signed by both would have two
//! roots. Half of the faults happen at the most critical time: as soon as a writer has reported what it signed, before
//! its commit. Both writers also read one shard, whichever of them holds it (`ha_reader.rs`).

use std::path::PathBuf;
use std::time::{Duration, Instant};

use exitgap_store::Reader;

use super::ha_lane::{LEASE, Lane};
use super::ha_wire::{Way, Wire};
use super::{Part, Progress, Result, ha_promotion};
use crate::devchain::Rng;
use crate::postgres::{Cluster, RECORDER};

/// Number of kills per database, before its history is checked completely.
const KILLS_PER_STORE: u64 = 10;
/// How many milliseconds data is delayed on a slow connection, and for how long: the longest delays exceed a lease plus
/// a commit.
const SLOW_MS: [u64; 2] = [150, 900];
const SLOW_FOR: Duration = Duration::from_secs(3);
/// Time limit until sent data is withheld.
const FIRES_WITHIN: Duration = Duration::from_secs(10);
/// Maximum number of faults for writers without claims, until two roots were signed.
const CONTROLS: u64 = 40;

/// A fault of a writer, of its server, or of the connection between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// The sealing writer is killed.
    Kill,
    /// It is stopped until the other has taken over, and then continues.
    Stop,
    /// All connections are cut, including the other writer's.
    Cut,
    /// The server is killed and restarted: in half of the cases with data to it still in transit.
    Server,
    /// Requests and answers are delayed.
    Slow,
    /// Nothing gets through and no one is notified, until the other has taken over: then everything arrives.
    HalfOpen,
    /// Requests arrive, but are never answered.
    Answerless,
}

const OTHERS: [Fault; 6] =
    [Fault::Stop, Fault::Cut, Fault::Server, Fault::Slow, Fault::HalfOpen, Fault::Answerless];

impl Fault {
    const ALL: [Self; 7] = [
        Self::Kill,
        Self::Stop,
        Self::Cut,
        Self::Server,
        Self::Slow,
        Self::HalfOpen,
        Self::Answerless,
    ];

    /// Its name in figures.
    fn name(self) -> &'static str {
        match self {
            Self::Kill => "kills",
            Self::Stop => "stops",
            Self::Cut => "cuts",
            Self::Server => "server_kills",
            Self::Slow => "slow",
            Self::HalfOpen => "half_open",
            Self::Answerless => "answers_lost",
        }
    }

    /// The key of its count.
    fn key(self) -> String {
        format!("ha.{}", self.name())
    }
}

/// Figures that exist even if they are zero.
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

/// Runs `kills` kills of writers and as many other faults together, then a tenth of that with writers that claim
/// nothing, and a tenth as many promotions of a standby while its primary is running.
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
            let other = OTHERS[usize::try_from(done)? % OTHERS.len()];
            for fault in [Fault::Kill, other] {
                let number = scene.lane.moment(&mut rng, &mut part)?;
                took.extend(scene.suffer(fault, number, &mut cluster, &mut rng, &mut part)?);
            }
            done += 1;
            progress("ha", done, kills);
        }
        scene.lane.judge(&scene.store, &mut part)?;
    }
    let all = Fault::ALL.map(Fault::key);
    for key in all.iter().map(String::as_str).chain(["ha.at_signature", "ha.readings"]) {
        if part.number(key) == 0 && done >= OTHERS.len() as u64 {
            part.problem("ha.not_fired", key);
        }
    }
    control(&mut cluster, &mut rng, &mut part, progress)?;
    drop(cluster);
    took.sort_unstable();
    let at = |share: usize| took.get(took.len() * share / 100).map_or(0, Duration::as_millis);
    part.set("ha.takeover_ms", u64::try_from(at(50))?);
    part.set("ha.takeover_worst_ms", u64::try_from(took.last().map_or(0, Duration::as_millis))?);
    part.note("a takeover is from a kill to the next committed slot, or from a stop or a way that is half open to the other's lease, which lasts 1 s here; PostgreSQL waits for its disk");
    ha_promotion::run((kills / 10).max(1), &mut rng, &mut part, progress)?;
    Ok(part)
}

/// Control: the same without claims and without freezing: each fault, as soon as something was signed, until two roots
/// were signed.
fn control(
    cluster: &mut Cluster,
    rng: &mut Rng,
    part: &mut Part,
    progress: Progress<'_>,
) -> Result<()> {
    let mut scene = Scene::start(cluster, true)?;
    let mut known = 0;
    for (done, fault) in (1..).zip(Fault::ALL) {
        let before = known;
        for _ in 0..CONTROLS {
            let number = scene.lane.signature()?;
            scene.suffer(fault, number, cluster, rng, &mut Part::default())?;
            known = scene.lane.forks().len();
            if known > before {
                break;
            }
        }
        let words = format!("{} where nothing is claimed had one history signed", fault.name());
        found(part, &format!("ha.control_{}_forks", fault.name()), known - before, &words);
        progress("ha: controls", done, Fault::ALL.len() as u64);
    }
    part.set("ha.control_forks", known);
    // A killed server closes its connections.
    let lost = |scene: &Scene| scene.lane.readings_lost(&Reader::open(&scene.store)?);
    for _ in 0..CONTROLS {
        if !lost(&scene)?.is_empty() {
            break;
        }
        let number = scene.lane.moment(rng, &mut Part::default())?;
        scene.suffer(Fault::Kill, number, cluster, rng, &mut Part::default())?;
    }
    let lost = lost(&scene)?.len();
    let words = "writers that freeze nothing sealed all that was read";
    found(part, "ha.control_readings_lost", lost, words);
    Ok(())
}

/// Records what a control found, with a note if it found nothing.
pub fn found(part: &mut Part, key: &str, count: usize, nothing: &str) {
    part.set(key, count);
    if count == 0 {
        part.problem("ha.control_found_nothing", nothing);
    }
}

/// A database with two writers, and each one's connection to it.
struct Scene {
    lane: Lane,
    wires: [Wire; 2],
    store: PathBuf,
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
        Ok(Self { lane: Lane::start(stores, careless, false)?, wires, store })
    }

    /// Injects a fault into this writer, and waits for a slot after it. Returns how long the other writer took to take
    /// over, if it did.
    fn suffer(
        &mut self,
        fault: Fault,
        number: usize,
        cluster: &mut Cluster,
        rng: &mut Rng,
        part: &mut Part,
    ) -> Result<Option<Duration>> {
        let begun = Instant::now();
        let mut took = None;
        part.count(&fault.key());
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
                if self.wires.iter().map(Wire::cut).sum::<usize>() == 0 {
                    part.problem("ha.not_fired", "there was no connection to cut");
                }
            }
            Fault::Server => {
                if rng.once_in(2) {
                    self.wires[number].set(Way::HalfOpen);
                }
                cluster.kill()?;
                std::thread::sleep(Duration::from_millis(rng.below(300)));
                cluster.start_again()?;
                self.wires[number].set(Way::Open);
            }
            Fault::Slow => {
                let late = Duration::from_millis(rng.between(SLOW_MS[0], SLOW_MS[1]));
                self.withheld(number, Way::Slow(late), part);
                std::thread::sleep(SLOW_FOR);
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
            // Its data arrives now, after another writer's slot.
            Fault::HalfOpen => self.wires[number].set(Way::Open),
            _ => {}
        }
        Ok(took)
    }

    /// Sets a writer's connection mode, and waits until data was withheld.
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
