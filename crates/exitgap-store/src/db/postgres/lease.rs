//! The lease for sealing: one holder at a time, by the server's clock, with a counter.
//!
//! Taking the lease increments `epoch`. The schema accepts a slot's seal only from a connection that names the newest
//! epoch. A recorder that was suspended or disconnected, and resumes after another took over, can therefore seal
//! nothing more, whatever it believes. The lease itself only prevents two recorders from doing the same work.
//!
//! A machine whose clock is far from the server's would read slots too early or too late, so it cannot take or keep the
//! lease.

use std::cell::RefCell;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::connect::{Connection, Fault};
use super::database_error;
use super::place::Place;
use crate::error::StoreError;

/// The seconds for which a lease holds after its last renewal, and that another process must wait before it takes over:
/// 15, or the value in the URL, `?options=-c exitgap.lease_s=…`. It is renewed three times in that time.
pub const LEASE_S: &str =
    "coalesce(nullif(current_setting('exitgap.lease_s', true), ''), '15')::float8";
/// The allowed values.
const LEASES: std::ops::RangeInclusive<f64> = 1.0..=300.0;

/// The maximum difference between this machine's clock and the server's, in milliseconds.
const CLOCK_WITHIN_MS: i64 = 10_000;
/// The server's clock.
const SERVER_CLOCK: &str = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint";

/// Ends it, also for connections that still name its epoch.
const GIVE_BACK: &str =
    "UPDATE exitgap.sealer SET until = '-infinity', epoch = epoch + 1 WHERE epoch = $1";
/// The time limit for giving it back. If that fails, it expires.
const GIVE_BACK_LIMIT: Duration = Duration::from_secs(3);
/// Limits for taking it, so that another holder is reported soon.
const TAKE_LIMITS: &str =
    "BEGIN; SET LOCAL lock_timeout = '2s'; SET LOCAL statement_timeout = '10s'";
/// The time limit of its commit. A server whose commits wait for a lost standby cannot be written to.
const TAKE_LIMIT: Duration = Duration::from_secs(10);

const DOING: &str = "taking the store's lease";

/// A lease that is held, and renewed by a thread.
pub struct Lease {
    pub epoch: i64,
    /// The holder: this process, with a random value for its store.
    pub owner: String,
    holds: Duration,
    lost: Arc<AtomicBool>,
    /// Dropping it ends the renewal.
    renewing: RefCell<Option<Sender<()>>>,
}

impl Lease {
    /// Takes the lease for `owner`, which may already hold it. Refused while another process holds it.
    pub fn acquire(
        connection: &Connection,
        place: &Place,
        owner: Option<&str>,
    ) -> Result<Self, StoreError> {
        let owner = owner.map_or_else(somebody, str::to_owned);
        require_clock(connection, place)?;
        connection.batch(TAKE_LIMITS).map_err(|fault| database_error(DOING, fault))?;
        let taken = taken(connection, place, &owner);
        let (epoch, holds) = match taken {
            Ok(taken) => taken,
            Err(error) => {
                connection.roll_back();
                return Err(error);
            }
        };
        // With this commit, all data that was read is on the standby, if the server waits for one.
        connection.commit_within(TAKE_LIMIT).map_err(|fault| database_error(DOING, fault))?;
        let lost = Arc::<AtomicBool>::default();
        let (ended, told) = channel();
        let (place, of_thread) = (place.clone(), lost.clone());
        let renew = move || {
            let mut connection = None;
            while let Err(RecvTimeoutError::Timeout) = told.recv_timeout(holds / 3) {
                if !renew_lease(&mut connection, &place, epoch) {
                    of_thread.store(true, Ordering::Relaxed);
                    return;
                }
            }
        };
        let thread = std::thread::Builder::new().name("exitgap-lease".to_owned()).spawn(renew);
        thread.map_err(|error| database_error(DOING, Fault::NoThread(error.to_string())))?;
        let renewing = RefCell::new(Some(ended));
        let lease = Self { epoch, owner, holds, lost, renewing };
        lease.tell(connection).map_err(|fault| database_error(DOING, fault))?;
        Ok(lease)
    }

    /// Makes a connection write as the holder of the lease.
    pub fn tell(&self, connection: &Connection) -> Result<(), Fault> {
        // A holder that stops in the middle of a transaction would prevent others from taking over, so the transaction
        // ends with the lease.
        let settings = "SELECT set_config('exitgap.epoch', $1, false), \
                        set_config('idle_in_transaction_session_timeout', $2, false)";
        let (epoch, holds) = (self.epoch.to_string(), self.holds.as_millis().to_string());
        connection.ask(settings, &[&epoch, &holds]).map(|_| ())
    }

    /// Whether another process is known to have taken over.
    pub fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Relaxed)
    }

    /// Ends the renewal. The lease counts as lost, and expires unless it is taken again.
    pub fn end(&self) {
        self.renewing.borrow_mut().take();
        self.lost.store(true, Ordering::Relaxed);
    }

    /// Gives the lease back if the server can still be reached, without waiting long.
    pub fn give_back(&self, connection: &Connection) {
        self.end();
        if connection.is_open() {
            // If the server cannot be reached, the lease expires.
            let _ = connection.ask_within(GIVE_BACK_LIMIT, GIVE_BACK, &[&self.epoch]);
        }
    }
}

/// Increments the epoch if no other process holds the lease, by the server's clock.
fn taken(
    connection: &Connection,
    place: &Place,
    owner: &str,
) -> Result<(i64, Duration), StoreError> {
    let holds = holds(connection)?;
    let seconds = holds.as_secs_f64();
    let held = "SELECT owner, until > clock_timestamp(), \
                ceil(extract(epoch FROM until - clock_timestamp()))::bigint \
                FROM exitgap.sealer WHERE until > clock_timestamp()";
    let rows = connection.ask(held, &[]).map_err(|fault| database_error(DOING, fault))?;
    if let Some(row) = rows.first() {
        let holder: String = row.try_get(0).unwrap_or_default();
        let seconds = row.try_get(2).unwrap_or(0_i64);
        if holder != owner {
            let path = place.shown.clone();
            return Err(StoreError::Leased { path, holder, seconds: seconds.unsigned_abs() });
        }
    }
    // The row stays locked while a slot is being sealed, so the lease is held that long.
    let take = "UPDATE exitgap.sealer SET owner = $1, epoch = epoch + 1, \
                until = clock_timestamp() + make_interval(secs => $2) \
                WHERE until <= clock_timestamp() OR owner = $1 RETURNING epoch";
    let rows = match connection.ask(take, &[&owner, &seconds]) {
        Ok(rows) => rows,
        Err(fault) if fault.is_locked() => Vec::new(),
        Err(fault) => return Err(database_error(DOING, fault)),
    };
    let epoch = rows.first().and_then(|row| row.try_get(0).ok());
    epoch.map(|epoch| (epoch, holds)).ok_or_else(|| StoreError::Leased {
        path: place.shown.clone(),
        holder: "another".to_owned(),
        seconds: holds.as_secs(),
    })
}

/// How long a lease of this connection holds.
pub fn holds(connection: &Connection) -> Result<Duration, StoreError> {
    let asked = connection.ask(&format!("SELECT {LEASE_S}"), &[]);
    let asked = asked.map_err(|fault| database_error(DOING, fault))?;
    let seconds: f64 = asked.first().and_then(|row| row.try_get(0).ok()).unwrap_or(0.0);
    if !LEASES.contains(&seconds) {
        let why = "exitgap.lease_s must be 1 to 300 seconds".to_owned();
        return Err(StoreError::ServerUrl { why });
    }
    Ok(Duration::from_secs_f64(seconds))
}

/// Renews the lease, and returns whether it may still be held. A failed request does not mean that it is lost.
fn renew_lease(connection: &mut Option<Connection>, place: &Place, epoch: i64) -> bool {
    if connection.as_ref().is_none_or(|connection| !connection.is_open()) {
        *connection = Connection::to(place).ok();
    }
    let Some(connection) = connection else { return true };
    if matches!(clock_differs(connection), Ok(Some(_))) {
        // If it cannot be given back, it expires.
        let _ = connection.ask(GIVE_BACK, &[&epoch]);
        return false;
    }
    let renew = format!(
        "UPDATE exitgap.sealer SET until = clock_timestamp() + make_interval(secs => {LEASE_S}) \
         WHERE epoch = $1 RETURNING epoch"
    );
    connection.ask(&renew, &[&epoch]).map_or(true, |rows| !rows.is_empty())
}

/// Requires that this machine's clock is close to the server's.
pub fn require_clock(connection: &Connection, place: &Place) -> Result<(), StoreError> {
    let differs = clock_differs(connection);
    let Some(differs_s) =
        differs.map_err(|fault| database_error("asking for the server's clock", fault))?
    else {
        return Ok(());
    };
    let (path, most_s) = (place.shown.clone(), CLOCK_WITHIN_MS / 1_000);
    Err(StoreError::ClockDiffers { path, differs_s, most_s })
}

/// The seconds by which this machine's clock differs from the server's, if that is too much.
fn clock_differs(connection: &Connection) -> Result<Option<i64>, Fault> {
    let here = || {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    };
    let before = here();
    let rows = connection.ask(SERVER_CLOCK, &[])?;
    let after = here();
    let Some(server) = rows.first().and_then(|row| row.try_get::<_, i64>(0).ok()) else {
        return Ok(None);
    };
    // The server read its clock between the two readings here.
    let ahead_ms = if server > after { after - server } else { (before - server).max(0) };
    Ok((ahead_ms.abs() > CLOCK_WITHIN_MS).then_some(ahead_ms / 1_000))
}

/// A unique name: this machine, this process, and a random number for this store.
pub fn somebody() -> String {
    let machine = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    // Cloned machines have the same name, and can have the same process id.
    let drawn = RandomState::new().hash_one(std::process::id());
    format!("{}, process {}, {drawn:016x}", machine.trim(), std::process::id())
}
