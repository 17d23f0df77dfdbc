//! A standby is promoted while its primary is running. The old primary's commits wait for a standby that no longer
//! exists, so that nothing is claimed or signed there, and a waiting recorder gets the lease from the new primary. The
//! control: if commits do not wait for a standby and a recorder writes to each, both sign. If both also claim outside
//! of their databases, there is one history again.

use std::time::{Duration, Instant};

use exitgap_store::Reader;

use super::ha::found;
use super::ha_lane::{LEASE, Lane};
use super::{Part, Progress, Result};
use crate::devchain::Rng;
use crate::postgres::{Cluster, RECORDER};

/// How long the old primary keeps running in parallel to the new one.
const BESIDE: Duration = Duration::from_millis(1_500);
/// Maximum number of promotions without a synchronous standby, until both sides sign and one has lost acknowledged
/// data.
const CONTROLS: u64 = 5;

/// Runs this many promotions, and the control.
pub fn run(promotions: u64, rng: &mut Rng, part: &mut Part, progress: Progress<'_>) -> Result<()> {
    for key in [
        "ha.promotions",
        "ha.promotions_without_a_recorder",
        "ha.old_primary_waits",
        "ha.old_primary_told",
    ] {
        part.set(key, 0_u64);
    }
    let mut took = Vec::new();
    for done in 1..=promotions {
        let mut pair = Pair::start(true, false)?;
        took.push(pair.promote(rng, part)?);
        pair.outlive(part)?;
        let store = pair.standby.url(RECORDER, &pair.database);
        pair.lane.judge(&store, part)?;
        part.count("ha.promotions");
        progress("ha: promotions", done, promotions);
    }
    if part.number("ha.old_primary_waits") == 0 {
        part.problem("ha.not_fired", "no commit ever waited on the old primary");
    }
    took.sort_unstable();
    let middle = took.get(took.len() / 2).map_or(0, Duration::as_millis);
    part.set("pg.failover_ms", u64::try_from(middle)?);
    part.set("pg.failover_worst_ms", u64::try_from(took.last().map_or(0, Duration::as_millis))?);
    part.note("a failover is from a standby's promotion to the next slot that is committed on it");
    claimed_beside(promotions, rng, part, progress)?;
    control(rng, part)
}

/// The same without synchronous standbys, with both recorders claiming outside of the databases.
fn claimed_beside(
    promotions: u64,
    rng: &mut Rng,
    part: &mut Part,
    progress: Progress<'_>,
) -> Result<()> {
    let sealed = part.number("ha.claims_sealed");
    for done in 1..=promotions {
        let mut pair = Pair::start(false, true)?;
        pair.promote(rng, part)?;
        pair.outlive(part)?;
        let store = pair.standby.url(RECORDER, &pair.database);
        pair.lane.judge(&store, part)?;
        progress("ha: promotions without a standby", done, promotions);
    }
    part.set("ha.promotions_claimed_beside", promotions);
    part.set("ha.claims_beside_sealed", part.number("ha.claims_sealed") - sealed);
    if part.number("ha.claims_beside_sealed") == 0 {
        part.problem("ha.not_fired", "no recorder ever sealed what the other primary's claimed");
    }
    Ok(())
}

/// Control: the same without synchronous standbys.
fn control(rng: &mut Rng, part: &mut Part) -> Result<()> {
    let (mut forks, mut lost) = (0, 0);
    for _ in 0..CONTROLS {
        let mut pair = Pair::start(false, false)?;
        pair.promote(rng, &mut Part::default())?;
        std::thread::sleep(BESIDE);
        pair.lane.hear();
        forks += pair.lane.forks().len();
        let reader = Reader::open(pair.standby.url(RECORDER, &pair.database))?;
        lost += usize::from(pair.lane.lost(&reader)?);
        if forks > 0 && lost > 0 {
            break;
        }
    }
    let words = "two primaries without a standby signed once";
    found(part, "ha.control_promotion_forks", forks, words);
    let words = "two primaries without a standby have all that either acknowledged";
    found(part, "ha.control_promotion_lost", lost, words);
    Ok(())
}

/// A primary with its standby, and two writers of one database.
struct Pair {
    primary: Cluster,
    standby: Cluster,
    database: String,
    /// Whether commits wait for the standby.
    waits: bool,
    lane: Lane,
}

impl Pair {
    fn start(waits: bool, beside: bool) -> Result<Self> {
        let names = format!("synchronous_standby_names={}", if waits { "*" } else { "" });
        let primary = Cluster::start(&["fsync=off", &names])?;
        let standby = primary.standby(&["fsync=off"])?;
        if primary.waited_for() != usize::from(waits) {
            return Err("the primary waits for another number of standbys".into());
        }
        let database = primary.database();
        // Socket folders, escaped as hosts in a URL.
        let folder = |cluster: &Cluster| cluster.folder().display().to_string().replace('/', "%2F");
        let (first, second) = (folder(&primary), folder(&standby));
        let url = |hosts: String| format!("postgresql://{RECORDER}@{hosts}/{database}?{LEASE}");
        // With synchronous commits, a URL that names the old primary first skips it.
        let both = format!("{first},{second}");
        let of_second = if waits { both.clone() } else { format!("{second},{first}") };
        let stores = [url(both).into(), url(of_second).into()];
        let lane = Lane::start(stores, false, beside)?;
        Ok(Self { primary, standby, database, waits, lane })
    }

    /// Promotes the standby at a random moment, and waits until the second writer has written a slot there. Returns how
    /// long that took.
    fn promote(&mut self, rng: &mut Rng, part: &mut Part) -> Result<Duration> {
        // If the machine stalled, the lease may have changed hands before.
        if self.lane.moment(rng, part)? != 0 || self.lane.holds != Some(0) {
            self.lane.writers[1].kill()?;
            self.lane.hear();
            let again = self.lane.writer(1)?;
            self.lane.writers[1] = again;
            self.lane.wait("the first writer's lease", |lane| lane.holds == Some(0))?;
        }
        // In half of the cases the sealing writer ends with the primary: then nothing of it waits there.
        let ends = self.waits && rng.once_in(2);
        if ends {
            self.lane.writers[0].kill()?;
            self.lane.hear();
            part.count("ha.promotions_without_a_recorder");
        }
        let begun = Instant::now();
        self.standby.promote()?;
        self.lane.wait("a lease of the new primary", |lane| lane.holds == Some(1))?;
        self.lane.wait("a slot of the new primary", |lane| lane.last_committed == Some(1))?;
        let took = begun.elapsed();
        if ends {
            self.lane.writers[0] = self.lane.writer(0)?;
        }
        Ok(took)
    }

    /// Lets the old primary run for a while, stops it from waiting for its standby if it does, and kills it.
    fn outlive(&mut self, part: &mut Part) -> Result<()> {
        let begun = Instant::now();
        let mut told = 0;
        while begun.elapsed() < BESIDE {
            std::thread::sleep(BESIDE / 10);
            told += if self.waits { self.primary.stop_waiting() } else { 0 };
        }
        part.set("ha.old_primary_told", part.number("ha.old_primary_told") + told as u64);
        if told > 0 {
            part.count("ha.old_primary_waits");
        }
        self.primary.kill()?;
        // The first writer finds the new primary, and waits there: it takes over when the second ends.
        self.lane.writers[1].kill()?;
        self.lane.hear();
        let before = self.lane.committed;
        self.lane.wait("a takeover on the new primary", |lane| lane.committed > before)
    }
}
