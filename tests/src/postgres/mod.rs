//! A private `PostgreSQL` cluster: with separate data, a socket in its own folder, and ended with the process that
//! started it.
//!
//! The first process that needs one creates a cluster with a migrated database in `target/postgres/`; each process
//! starts a copy of it. Commits do not wait for the disk unless requested. As root, the server runs as the user
//! `postgres`, which Debian's package creates, because it refuses to run as root.

mod kept;
mod standby;

pub use kept::Kept;

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Output, Stdio};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use exitgap_store::migrate;
use tempfile::TempDir;

/// The variable with the folder of the `PostgreSQL` programs, if it is not Debian's.
const PROGRAMS_VARIABLE: &str = "EXITGAP_POSTGRES";
/// The database from which each store is copied.
const TEMPLATE: &str = "exitgap_template";
/// The role that records.
pub const RECORDER: &str = "exitgap_recorder";
/// The role that only reads.
pub const READER: &str = "exitgap_reader";
/// The role that reads, and writes payments and rules.
pub const SERVICE: &str = "exitgap_service";
/// The port number in the socket's name.
const PORT: u16 = 5432;
/// Time limit for a server to start or end.
const START_LIMIT: Duration = Duration::from_mins(1);

/// A running cluster.
pub struct Cluster {
    // Dropped first, so that the server ends before its folder is deleted.
    server: Option<Running>,
    folder: TempDir,
    settings: Vec<String>,
    stores: AtomicU32,
    port: u16,
}

/// A server that ends when its input does: even if this process is killed.
struct Running {
    shell: Child,
    input: Option<ChildStdin>,
}

/// The cluster of this process's tests.
pub fn shared() -> &'static Cluster {
    static SHARED: LazyLock<Cluster> = LazyLock::new(|| {
        let mut cluster = Cluster::made(&["fsync=off"]).expect("PostgreSQL is made");
        // It is never dropped: the script that ends the server with this process also removes its folder.
        cluster.folder.disable_cleanup(true);
        let started = start(cluster.folder.path(), &cluster.settings, PORT, Folder::Goes);
        cluster.server = Some(started.expect("PostgreSQL starts"));
        cluster
    });
    &SHARED
}

impl Cluster {
    /// Starts a cluster with these settings.
    pub fn start(settings: &[&str]) -> io::Result<Self> {
        let mut cluster = Self::made(settings)?;
        cluster.start_again()?;
        Ok(cluster)
    }

    /// A cluster that is not started.
    fn made(settings: &[&str]) -> io::Result<Self> {
        Self::copy_of(&made()?, settings)
    }

    /// A cluster with a copy of this data, not started.
    fn copy_of(data: &Path, settings: &[&str]) -> io::Result<Self> {
        let cluster = Self::empty(settings)?;
        run(Command::new("cp").arg("-a").arg(data).arg(cluster.data()))?;
        Ok(cluster)
    }

    /// Copies the data of a stopped cluster.
    fn copy_data_to(&self, place: &Path) -> io::Result<()> {
        let _ = fs::remove_dir_all(place);
        run(Command::new("cp").arg("-a").arg(self.data()).arg(place)).map(drop)
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Stops the server, and waits until everything is written.
    fn stop(&mut self) -> io::Result<()> {
        let mut stop = as_user(&programs().join("pg_ctl"));
        run(stop.args(["stop", "-w", "-m", "fast", "-D"]).arg(self.data()))?;
        self.server = None;
        Ok(())
    }

    /// A cluster without data.
    fn empty(settings: &[&str]) -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("exitgap-pg").tempdir_in("/tmp")?;
        if let Some(user) = user() {
            chown(folder.path(), Some(user), Some(user))?;
        }
        let settings = settings.iter().map(ToString::to_string).collect();
        Ok(Self { folder, server: None, settings, stores: AtomicU32::new(0), port: PORT })
    }

    /// A cluster that also listens on a port of this machine.
    pub fn on_a_port(settings: &[&str]) -> io::Result<Self> {
        let mut cluster = Self::made(settings)?;
        cluster.take_a_port()?;
        cluster.start_again()?;
        Ok(cluster)
    }

    fn take_a_port(&mut self) -> io::Result<()> {
        self.port = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let port = format!("port={}", self.port);
        self.settings.extend(["listen_addresses=127.0.0.1".to_owned(), port]);
        Ok(())
    }

    /// Starts the stopped server again.
    pub fn start_again(&mut self) -> io::Result<()> {
        self.server = Some(start(self.folder.path(), &self.settings, self.port, Folder::Stays)?);
        Ok(())
    }

    /// Restarts the server so that it also listens on a port of this machine, and there only accepts connections
    /// encrypted with the certificate `server.pem` of a folder, with `server.key`.
    pub fn encrypt(&mut self, folder: &Path) -> io::Result<()> {
        let data = self.data();
        for name in ["server.pem", "server.key"] {
            let to = data.join(name);
            fs::copy(folder.join(name), &to)?;
            fs::set_permissions(&to, fs::Permissions::from_mode(0o600))?;
            if let Some(user) = user() {
                chown(&to, Some(user), Some(user))?;
            }
        }
        let rules = "local all all trust\nhostssl all all 127.0.0.1/32 trust\n";
        fs::write(data.join("pg_hba.conf"), rules)?;
        self.server = None;
        self.take_a_port()?;
        let encrypted = ["ssl=on", "ssl_cert_file=server.pem", "ssl_key_file=server.key"];
        self.settings.extend(encrypted.map(str::to_owned));
        self.start_again()
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The folder with its data, its socket and its log.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The URL of a database, for a role.
    pub fn url(&self, role: &str, database: &str) -> PathBuf {
        let folder = self.folder.path().display();
        let port = if self.port == PORT { String::new() } else { format!("&port={}", self.port) };
        format!("postgresql://{role}@/{database}?host={folder}{port}").into()
    }

    /// A new store, as the recorder's role.
    pub fn store(&self) -> PathBuf {
        self.url(RECORDER, &self.database())
    }

    /// A new database with a store's tables.
    pub fn database(&self) -> String {
        let name = format!("store_{}", self.stores.fetch_add(1, Ordering::Relaxed));
        self.sql("postgres", &format!("CREATE DATABASE {name} TEMPLATE {TEMPLATE}"));
        name
    }

    /// Replaces a database by a copy of another one, which must have no connections.
    pub fn copy(&self, from: &str, to: &str) {
        self.sql("postgres", &format!("DROP DATABASE {to}"));
        self.sql("postgres", &format!("CREATE DATABASE {to} TEMPLATE {from}"));
    }

    /// Changes something in a store, with its triggers disabled and restored.
    pub fn damage(&self, database: &str, change: &str) {
        let triggers = |how: &str| {
            format!(
                "DO $$ DECLARE found record; BEGIN FOR found IN \
                 SELECT tgname, tgrelid::regclass AS of_table FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid \
                 WHERE NOT tgisinternal AND relnamespace = 'exitgap'::regnamespace \
                 LOOP EXECUTE format('ALTER TABLE %s {how} TRIGGER %I', found.of_table, found.tgname); \
                 END LOOP; END $$;"
            )
        };
        let (off, on) = (triggers("DISABLE"), triggers("ENABLE ALWAYS"));
        self.sql(database, &format!("SET search_path = exitgap; {off} {change}; {on}"));
    }

    /// Runs SQL as the superuser, and returns its output.
    ///
    /// # Panics
    ///
    /// If the server returns an error.
    pub fn sql(&self, database: &str, sql: &str) -> String {
        self.sql_as("postgres", database, sql).unwrap_or_else(|error| panic!("{sql}: {error}"))
    }

    /// Runs SQL as a role, and returns its output, or the server's error message.
    pub fn sql_as(&self, role: &str, database: &str, sql: &str) -> Result<String, String> {
        let mut command = Command::new(programs().join("psql"));
        command.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-U", role, "-d", database]);
        command.arg("-h").arg(self.folder.path()).args(["-p", &self.port.to_string()]);
        let output = command.args(["-c", sql]).output();
        let output = output.map_err(|error| error.to_string())?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).trim_end_matches('\n').to_owned());
        }
        Err(String::from_utf8_lossy(&output.stderr).trim().to_owned())
    }

    /// The server's main process.
    pub fn process(&self) -> io::Result<u32> {
        let text = fs::read_to_string(self.folder.path().join("data/postmaster.pid"))?;
        let first = text.lines().next().and_then(|line| line.trim().parse().ok());
        first.ok_or_else(|| io::Error::other("postmaster.pid has no process"))
    }

    /// Kills every process of the server at once, like a power failure, and waits until none is left.
    pub fn kill(&mut self) -> io::Result<()> {
        let postmaster = self.process()?;
        let children =
            fs::read_to_string(format!("/proc/{postmaster}/task/{postmaster}/children"))?;
        let processes: Vec<_> = std::iter::once(postmaster.to_string())
            .chain(children.split_whitespace().map(str::to_owned))
            .collect();
        // Some end by themselves once the first is gone: it only matters that none is left.
        Command::new("kill").arg("-9").args(&processes).stderr(Stdio::null()).status()?;
        let begun = Instant::now();
        while processes.iter().any(|process| lives(process)) && begun.elapsed() < START_LIMIT {
            std::thread::sleep(Duration::from_millis(5));
        }
        self.server = None;
        if processes.iter().any(|process| lives(process)) {
            return Err(io::Error::other("the server lives after it was killed"));
        }
        Ok(())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // The shell, whose input ends here, stops the server.
        drop(self.input.take());
        let _ = self.shell.wait();
    }
}

/// Whether a process is running, and not a zombie.
fn lives(process: &str) -> bool {
    let state = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    state.rsplit(") ").next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with('Z'))
}

/// The database's name in the URL of a cluster; `None` if it is not a URL.
pub fn database_of(store: &Path) -> Option<&str> {
    let url = store.to_str()?.strip_prefix("postgresql://")?;
    url.split(['/', '?']).nth(1)
}

/// The cluster from which others are copied.
fn made() -> io::Result<PathBuf> {
    let version = run(Command::new(programs().join("postgres")).arg("--version"))?;
    let schema = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/exitgap-store/src/db/postgres");
    let mut of = version.stdout;
    let migrations = fs::read_dir(Path::new(schema).join("sql/migrations"))?;
    let mut parts = migrations.map(|file| Ok(file?.path())).collect::<io::Result<Vec<_>>>()?;
    parts.sort();
    let more =
        ["sql/grants.sql", "migrate.rs", "../payments/sql/server.sql", "../alerts/sql/server.sql"];
    parts.extend(more.map(|part| Path::new(schema).join(part)));
    for part in parts {
        of.extend(fs::read(part)?);
    }
    let name = format!("made-{:016x}", hash(&of));
    let home = home()?;
    let lock = File::create(home.join("lock"))?;
    lock.lock()?;
    let made = home.join(name);
    if made.join("PG_VERSION").exists() {
        return Ok(made);
    }
    let mut cluster = Cluster::empty(&["fsync=off"])?;
    let mut initdb = as_user(&programs().join("initdb"));
    initdb.args(["--no-sync", "--wal-segsize=1", "-A", "trust", "-U", "postgres", "-E", "UTF8"]);
    run(initdb.args(["--locale=C", "-D"]).arg(cluster.data()))?;
    cluster.start_again()?;
    let (store, admin) = (cluster.url(RECORDER, TEMPLATE), cluster.url("postgres", "postgres"));
    migrate(&store, &admin, Some(READER), Some(SERVICE)).map_err(io::Error::other)?;
    cluster.stop()?;
    let aside = home.join("aside");
    cluster.copy_data_to(&aside)?;
    fs::rename(aside, &made)?;
    Ok(made)
}

/// The folder of saved clusters.
fn home() -> io::Result<PathBuf> {
    let home = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../target/postgres"));
    fs::create_dir_all(home)?;
    home.canonicalize()
}

/// What happens to a server's folder when it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Folder {
    Stays,
    Goes,
}

/// Starts the server of the data in this folder, and waits until it answers.
fn start(folder: &Path, settings: &[String], port: u16, then: Folder) -> io::Result<Running> {
    // The shell waits for the end of its input, which comes with the end of this process, and then stops the server.
    let script = "\"$@\" >>\"$LOG\" 2>&1 </dev/null & server=$!; cat >/dev/null; kill -QUIT $server 2>/dev/null; wait; [ -z \"$GOES\" ] || rm -rf \"$GOES\"";
    let mut command = as_user(Path::new("/bin/sh"));
    command.args(["-c", script, "sh"]).arg(programs().join("postgres"));
    command.arg("-D").arg(folder.join("data")).arg("-k").arg(folder);
    command.args(["-c", "listen_addresses="]);
    for setting in settings {
        command.args(["-c", setting]);
    }
    command.env("LOG", folder.join("log")).stdin(Stdio::piped());
    command.env("GOES", if then == Folder::Goes { folder } else { Path::new("") });
    let mut shell = command.spawn()?;
    let input = shell.stdin.take().ok_or_else(|| io::Error::other("the shell has no input"))?;
    let running = Running { shell, input: Some(input) };
    let begun = Instant::now();
    while begun.elapsed() < START_LIMIT {
        let mut ready = Command::new(programs().join("pg_isready"));
        if ready.arg("-q").args(["-p", &port.to_string()]).arg("-h").arg(folder).status()?.success()
        {
            return Ok(running);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let log = fs::read_to_string(folder.join("log")).unwrap_or_default();
    Err(io::Error::other(format!("PostgreSQL did not start: {log}")))
}

/// The folder with the programs.
fn programs() -> &'static Path {
    static PROGRAMS: LazyLock<PathBuf> = LazyLock::new(|| {
        if let Some(named) = std::env::var_os(PROGRAMS_VARIABLE) {
            return named.into();
        }
        let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
        let mut folders: Vec<_> = versions.map(|version| version.path().join("bin")).collect();
        folders.retain(|folder| folder.join("postgres").exists());
        folders.sort();
        folders.pop().unwrap_or_else(|| {
            panic!("PostgreSQL is not installed: install Debian's postgresql, or name its programs' folder in {PROGRAMS_VARIABLE}")
        })
    });
    &PROGRAMS
}

/// The user that a server runs as if this process is root.
fn user() -> Option<u32> {
    static USER: LazyLock<Option<u32>> = LazyLock::new(|| {
        let id = |args: &[&str]| -> Option<u32> {
            let output = Command::new("id").args(args).output().ok()?;
            String::from_utf8(output.stdout).ok()?.trim().parse().ok()
        };
        (id(&["-u"]) == Some(0)).then(|| id(&["-u", "postgres"]).expect("there is a user postgres"))
    });
    *USER
}

fn as_user(program: &Path) -> Command {
    match user() {
        None => Command::new(program),
        Some(user) => {
            let mut command = Command::new("setpriv");
            command.arg(format!("--reuid={user}")).arg(format!("--regid={user}"));
            command.arg("--clear-groups").arg(program);
            // That user cannot read the folder of the test process.
            command.current_dir("/");
            command
        }
    }
}

fn run(command: &mut Command) -> io::Result<Output> {
    let output = command.output()?;
    if output.status.success() {
        return Ok(output);
    }
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(io::Error::other(format!("{command:?}: {said}")))
}

/// FNV-1a.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
