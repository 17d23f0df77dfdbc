//! Payments under kills and races: four services share the record of payments and answers, many clients send requests
//! concurrently and repeatedly, and processes are killed at every step of a payment and at random times. The chain's
//! own events show who paid, the clients know who got an answer. The control is a service that stores nothing before it
//! sends, killed at the same steps.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use exitgap_store::payments::{Counts, Payments};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

use super::payments_books::{paid, tell};
use super::payments_clients::{Crowd, offer, until_up};
use super::payments_node::{Front, Order, Point};
use super::payments_scene::{PRICE, Process, Scene};
use super::{Part, Progress, Result};
use crate::binaries;
use crate::devchain::Rng;

/// The amount of work.
#[derive(Debug, Clone, Copy)]
pub struct Extent {
    /// Number of requests with a payment.
    pub attempts: u64,
    /// Number of kills at a step, cycling through the steps.
    pub at_steps: u64,
    /// Number of kills at random times, of any process.
    pub at_random: u64,
    /// The number of kills at steps, taken first, that are also done to the control.
    pub control: u64,
    /// The percentage of these kills that must do harm.
    pub harm_pct: u64,
    /// Whether to wait for payments for which nothing was sent, too: they are given up after a minute.
    pub to_the_end: bool,
}

/// The full amount.
pub const WHOLE: Extent = Extent {
    attempts: 100_000,
    at_steps: 150,
    at_random: 66,
    control: 42,
    harm_pct: 95,
    to_the_end: true,
};

/// Number of services that share a database; the last one is the victim, with a proxy in front of its node.
const SERVICES: usize = 4;
const VICTIM: usize = SERVICES - 1;

/// Number of clients that pay and repeat all the time.
const REGULARS: u64 = 8;
/// How often a regular client repeats a paid request.
const AGAIN: u64 = 64;
/// Number of clients that come one after the other before a kill at a step.
const BATCH: u64 = 8;
const SIDECARS: Duration = Duration::from_millis(60);

/// Numbers of wishes: those of regular clients start at 0, those of batches and of the control here.
const OF_BATCHES: u64 = 1_000_000;
const OF_CONTROL: u64 = 2_000_000;

/// Runs everything, with the control.
pub fn run(extent: Extent, seed: u64, progress: Progress<'_>) -> Result<Part> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let done = runtime.block_on(async {
        let mut part = Part::default();
        for key in ["attempts", "kills", "kills_at_random", "steps_not_reached"] {
            part.set(&format!("payments.{key}"), 0_u64);
        }
        progress("payments: the scene", 0, 1);
        let scene = Arc::new(Scene::new().await?);
        services(&scene, extent, seed, &mut part, progress).await?;
        control(&scene, extent, seed, &mut part, progress).await?;
        Ok(part)
    });
    runtime.shutdown_background();
    done
}

/// A crowd, the proxy in front of its victim's node, and the random generator.
struct Siege {
    crowd: Arc<Crowd>,
    front: Arc<Front>,
    clients: JoinSet<()>,
    rng: Rng,
    seed: u64,
    /// The number of the first wish in the next batch.
    next: u64,
}

async fn services(
    scene: &Arc<Scene>,
    extent: Extent,
    seed: u64,
    part: &mut Part,
    progress: Progress<'_>,
) -> Result<()> {
    let front = Front::open(&scene.chain.url())?;
    let direct = scene.configure("direct.toml", &scene.chain.url())?;
    let through = scene.configure("through.toml", &front.url())?;
    let mut processes = vec![Process::service(&direct)?];
    // The first process sweeps for all while it lives.
    let offered = offer(&processes[0], scene).await?;
    for number in 1..SERVICES {
        processes.push(Process::service(if number == VICTIM { &through } else { &direct })?);
    }
    let patience = Duration::from_secs(if extent.to_the_end { 200 } else { 15 });
    let crowd = Arc::new(Crowd::new(scene.clone(), processes, offered, patience)?);
    let ended = Arc::new(AtomicBool::new(false));
    let mut regulars = regulars(&crowd, &ended, seed);
    let (clients, rng) = (JoinSet::new(), Rng::new(seed));
    let front = Arc::new(front);
    let mut siege = Siege { crowd, front, clients, rng, seed, next: OF_BATCHES };
    siege.lay(extent, part, progress).await?;
    while siege.crowd.attempts() < extent.attempts {
        progress("payments: attempts", siege.crowd.attempts(), extent.attempts);
        sleep(Duration::from_secs(1)).await;
    }
    ended.store(true, Ordering::Relaxed);
    progress("payments: clients that still ask", siege.clients.len() as u64, 0);
    while regulars.join_next().await.is_some() {}
    while siege.clients.join_next().await.is_some() {}
    settle_up(&siege.crowd, extent, part).await
}

/// Clients that pay, repeat the request, and pay for the next.
fn regulars(crowd: &Arc<Crowd>, ended: &Arc<AtomicBool>, seed: u64) -> JoinSet<()> {
    let next = Arc::new(AtomicU64::new(0));
    let mut regulars = JoinSet::new();
    for _ in 0..REGULARS {
        let (crowd, ended, next) = (crowd.clone(), ended.clone(), next.clone());
        regulars.spawn(async move {
            while !ended.load(Ordering::Relaxed) {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let first = usize::try_from(number).unwrap_or(0) % SERVICES;
                crowd.clone().wish(number, first, AGAIN, seed).await;
            }
        });
    }
    regulars
}

impl Siege {
    /// Kills and restarts processes, at steps and at random times alternately.
    async fn lay(&mut self, extent: Extent, part: &mut Part, progress: Progress<'_>) -> Result<()> {
        let all = extent.at_steps + extent.at_random;
        let mut at_random = 0;
        for done in 0..extent.at_steps {
            let point = Point::ALL[usize::try_from(done)? % Point::ALL.len()];
            self.kill_at(point, VICTIM, part).await?;
            while at_random < extent.at_random * (done + 1) / extent.at_steps {
                at_random += 1;
                sleep(Duration::from_millis(self.rng.below(300))).await;
                let any = usize::try_from(self.rng.below(SERVICES as u64))?;
                let process = &self.crowd.processes[any];
                if process.kill() {
                    part.count("payments.kills");
                    part.count("payments.kills_at_random");
                }
                process.begin()?;
            }
            progress("payments: kills", part.number("payments.kills"), all);
        }
        Ok(())
    }

    /// Lets clients come, and kills the process with this number at that step of one of their payments.
    async fn kill_at(&mut self, point: Point, number: usize, part: &mut Part) -> Result<()> {
        let victim = self.crowd.processes[number].clone();
        until_up(&victim, &self.crowd.scene).await?;
        let stopped = victim.clone();
        let pause = if point == Point::Told { self.rng.below(30) } else { 0 };
        self.front.order(Order {
            point,
            after_sent: 4 + u32::try_from(self.rng.below(2))?,
            pause: Duration::from_millis(pause),
            stop: Box::new(move || {
                stopped.kill();
            }),
        });
        // A nonce that a killed process left unused delays later transactions until it is swept.
        let until = Instant::now() + Duration::from_secs(45);
        let mut came = 0;
        while self.front.is_waiting() && Instant::now() < until {
            if came < 3 * BATCH {
                let wish = self.crowd.clone().wish(self.next, number, 4, self.seed);
                self.clients.spawn(wish);
                self.next += 1;
                came += 1;
            }
            sleep(SIDECARS).await;
        }
        if self.front.is_waiting() {
            self.front.forget();
            part.count("payments.steps_not_reached");
            return Ok(());
        }
        part.count("payments.kills");
        part.count(&format!("payments.kills_{}", point.name()));
        victim.begin()
    }
}

/// Lets clients that lost an answer ask again, and compares the answers with the payments.
async fn settle_up(crowd: &Crowd, extent: Extent, part: &mut Part) -> Result<()> {
    let payments = Payments::open(&crowd.scene.payments())?;
    let until = Instant::now() + Duration::from_secs(if extent.to_the_end { 200 } else { 40 });
    loop {
        for nonce in crowd.books.unanswered(&paid(&crowd.scene, PRICE).await?) {
            crowd.come_again(nonce).await;
        }
        let Counts { claimed, settling, .. } = payments.counts()?;
        let open = if extent.to_the_end { claimed + settling } else { settling };
        let lost = crowd.books.unanswered(&paid(&crowd.scene, PRICE).await?).len();
        if open == 0 && lost == 0 {
            break;
        }
        if Instant::now() > until {
            part.problem(
                "payments.left_open",
                format!("{open} payments stay open, {lost} are paid and not answered"),
            );
            break;
        }
        sleep(Duration::from_secs(1)).await;
    }
    let settled = paid(&crowd.scene, PRICE).await?;
    tell(part, crowd.books.compare(&settled));
    let Counts { settled: written, failed, .. } = payments.counts()?;
    part.set("payments.processes", SERVICES);
    part.set("payments.attempts", crowd.attempts());
    part.set("payments.wishes", crowd.books.wishes());
    part.set("payments.signed", crowd.books.authorizations());
    part.set("payments.transfers", settled.values().sum::<u64>());
    part.set("payments.failed", failed);
    if written != settled.len() as u64 {
        let words = format!("{written} are written as settled, of {}", settled.len());
        part.problem("payments.miscounted", words);
    }
    Ok(())
}

/// The same kills at the same steps, of a service that stores nothing before it sends.
async fn control(
    scene: &Arc<Scene>,
    extent: Extent,
    seed: u64,
    part: &mut Part,
    progress: Progress<'_>,
) -> Result<()> {
    let front = Front::open(&scene.chain.url())?;
    let config = scene.configure("careless.toml", &front.url())?;
    let priced = Process::service(&config)?;
    let offered = offer(&priced, scene).await?;
    priced.kill();
    let program = binaries::path("faults").display().to_string();
    let words = [&program, "careless", "--config", &config.display().to_string()];
    let process = Process::start(&words)?;
    let (mut harmed, mut fired) = (0_u64, 0_u64);
    let (front, mut rng, mut next) = (Arc::new(front), Rng::new(seed), OF_CONTROL);
    for done in 0..extent.control {
        progress("payments: the control", done, extent.control);
        let point = Point::ALL[usize::try_from(done)? % Point::ALL.len()];
        let (processes, patience) = (vec![process.clone()], Duration::from_secs(12));
        let crowd = Arc::new(Crowd::new(scene.clone(), processes, offered.clone(), patience)?);
        let (clients, seed) = (JoinSet::new(), rng.next_u64());
        let mut siege =
            Siege { crowd, front: front.clone(), clients, rng: Rng::new(seed), seed, next };
        let mut of_control = Part::default();
        siege.kill_at(point, 0, &mut of_control).await?;
        while siege.clients.join_next().await.is_some() {}
        let wrongs = siege.crowd.books.compare(&paid(scene, PRICE).await?);
        let kills = of_control.number("payments.kills");
        fired += kills;
        harmed += u64::from(wrongs.any() && kills > 0);
        next = siege.next;
    }
    part.set("payments.control_kills", fired);
    let failed_pct = (harmed * 100).checked_div(fired).unwrap_or(0);
    part.set("payments.control_failed_pct", failed_pct);
    if failed_pct < extent.harm_pct {
        part.problems.push(format!("the control fails in {failed_pct} of 100 schedules only"));
    }
    Ok(())
}
