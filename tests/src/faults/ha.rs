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
/// How many milliseconds late pieces come on a slow way, and for how long: its longest outlast a lease with what a commit takes.
const SLOW_MS: [u64; 2] = [150, 900];
const SLOW_FOR: Duration = Duration::from_secs(3);
/// How long what is sent may take to be withheld.
const FIRES_WITHIN: Duration = Duration::from_secs(10);
/// How often at most a fault is done to writers that claim nothing, until it had two roots signed.
const CONTROLS: u64 = 40;

/// What is done to a writer, to its server, or to the way between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// The writer that seals is killed.
    Kill,
    /// It is stopped until the other has taken over, and goes on then.
    Stop,
    /// All connections are cut, the other's, too.
    Cut,
    /// The server is killed, and started again: in half of them with what was sent to it still on its way.
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

    /// What counts it.
    fn key(self) -> String {
        format!("ha.{}", self.name())
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

/// What the same finds where nothing is claimed and nothing is frozen: each fault, as soon as something was signed, until it
/// had two roots signed.
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
    // A server that is killed ends what was open.
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

/// Sets what a control found, and notes where it found nothing.
pub fn found(part: &mut Part, key: &str, count: usize, nothing: &str) {
    part.set(key, count);
    if count == 0 {
        part.problem("ha.control_found_nothing", nothing);
    }
}

/// A database with two writers, and each one's way to it.
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

    /// A fault to this writer, and a slot after it. How long the other took to take over, where it did.
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
