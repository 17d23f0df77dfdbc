//! A standby of a cluster: it replicates everything that is committed there, and can take its place.

use std::io;
use std::time::{Duration, Instant};

use super::{Cluster, START_LIMIT, as_user, programs, run};

impl Cluster {
    /// Creates a standby of this cluster, and waits until it follows, and, if configured, until commits wait for it.
    pub fn standby(&self, settings: &[&str]) -> io::Result<Self> {
        let standby = self.standby_called("standby", settings)?;
        let begun = Instant::now();
        let waits = !self.sql("postgres", "SHOW synchronous_standby_names").is_empty();
        let follows = format!(
            "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming' AND (sync_state = 'sync') = {waits}"
        );
        while self.sql("postgres", &follows) == "0" {
            if begun.elapsed() > START_LIMIT {
                return Err(io::Error::other("the standby does not follow"));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(standby)
    }

    /// Creates and starts a standby with this name, as used in the setting `synchronous_standby_names`.
    pub fn standby_called(&self, name: &str, settings: &[&str]) -> io::Result<Self> {
        let mut standby = Self::empty(settings)?;
        let mut copy = as_user(&programs().join("pg_basebackup"));
        copy.arg("-h").arg(self.folder()).args(["-p", &self.port.to_string(), "-U", "postgres"]);
        copy.args(["--write-recovery-conf", "--wal-method=stream", "--checkpoint=fast"]);
        copy.args(["--no-sync", "--create-slot", "--slot", name]);
        copy.args(["-d", &format!("application_name={name}"), "-D"]);
        run(copy.arg(standby.folder().join("data")))?;
        if self.port != standby.port {
            standby.take_a_port()?;
        }
        standby.start_again()?;
        Ok(standby)
    }

    /// The number of standbys that a commit waits for.
    pub fn waited_for(&self) -> usize {
        let waited = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'";
        self.sql("postgres", waited).parse().unwrap_or(0)
    }

    /// Promotes a standby to accept writes, whatever the state of its primary.
    pub fn promote(&self) -> io::Result<()> {
        let mut promote = as_user(&programs().join("pg_ctl"));
        promote.args(["promote", "-w", "-D"]).arg(self.folder().join("data"));
        run(&mut promote).map(|_| ())
    }

    /// Stops the server from waiting for a missing standby, as an operator might: it then commits with a warning.
    /// Returns how many commits were waiting.
    pub fn stop_waiting(&self) -> usize {
        let waiting = "SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
        self.sql("postgres", waiting).parse().unwrap_or(0)
    }
}
