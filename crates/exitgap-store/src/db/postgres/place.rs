//! The URL of a server's database, and how to reach its server.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};

use crate::error::StoreError;

/// The time limit for connecting to a server.
pub const CONNECT_LIMIT: Duration = Duration::from_secs(10);
/// How long sent data may stay unacknowledged before the connection counts as lost.
const UNACKNOWLEDGED_LIMIT: Duration = Duration::from_secs(15);
/// The maximum length of a URL, in bytes.
const MAX_URL_BYTES: usize = 2_048;

/// Whether a store is on a server instead of in a file: its path is a URL.
pub fn is_server(path: &Path) -> bool {
    let text = path.as_os_str().as_encoded_bytes();
    text.starts_with(b"postgresql://") || text.starts_with(b"postgres://")
}

/// A store's path for display: a path, or a URL without its password and parameters.
pub fn shown(path: &Path) -> String {
    if !is_server(path) {
        return path.display().to_string();
    }
    Place::from_url(path)
        .map_or_else(|_| "a server".to_owned(), |place| place.shown.display().to_string())
}

/// A server's database.
#[derive(Debug, Clone)]
pub struct Place {
    pub config: Config,
    /// Its URL without a password and without parameters.
    pub shown: PathBuf,
    /// Whether the connection is encrypted, with a check of the server's certificate.
    pub encrypted: bool,
}

impl Place {
    /// The database at this URL. If the URL has no password, `PGPASSWORD` is used.
    pub fn from_url(url: &Path) -> Result<Self, StoreError> {
        let wrong = |why: &str| StoreError::ServerUrl { why: why.to_owned() };
        let text = url.to_str().ok_or_else(|| wrong("it is not UTF-8"))?;
        if text.len() > MAX_URL_BYTES {
            return Err(wrong("it is longer than 2,048 bytes"));
        }
        let mut config: Config = text.parse().map_err(|error: tokio_postgres::Error| {
            // The message could repeat a part of the URL with a password.
            let _ = error;
            wrong(
                "expected postgresql://<user>@<host>/<database>, with ?host=/<folder> for a socket, or \
                 ?sslmode=disable or require (which checks the server's certificate and name)",
            )
        })?;
        let (Some(user), Some(name)) = (config.get_user(), config.get_dbname()) else {
            return Err(wrong("it has no user or no database"));
        };
        let mut shown = format!("postgresql://{user}@");
        for (at, host) in config.get_hosts().iter().enumerate() {
            let between = if at == 0 { "" } else { "," };
            let _ = match host {
                Host::Tcp(host) => write!(shown, "{between}{host}"),
                #[cfg(unix)]
                Host::Unix(folder) => write!(shown, "{between}{}", folder.display()),
            };
            let ports = config.get_ports();
            if let Some(port) = ports.get(at).or(ports.first()).filter(|port| **port != 5432) {
                let _ = write!(shown, ":{port}");
            }
        }
        let _ = write!(shown, "/{name}");
        if config.get_hosts().is_empty() {
            return Err(wrong("it has no host"));
        }
        let addresses = config.get_hostaddrs();
        let here = config.get_hosts().iter().all(is_here)
            && addresses.iter().all(std::net::IpAddr::is_loopback);
        let said = text.contains("sslmode=");
        let encrypted = match config.get_ssl_mode() {
            SslMode::Disable => false,
            SslMode::Require => true,
            _ => said || !here,
        };
        config.ssl_mode(if encrypted { SslMode::Require } else { SslMode::Disable });
        if config.get_password().is_none()
            && let Ok(password) = std::env::var("PGPASSWORD")
        {
            config.password(password);
        }
        set_timeouts(&mut config);
        if config.get_application_name().is_none() {
            config.application_name(format!("exitgap {}", std::process::id()));
        }
        Ok(Self { config, shown: shown.into(), encrypted })
    }

    /// Of several servers, uses only one that accepts writes, not a standby.
    pub fn for_writing(&mut self) {
        self.config.target_session_attrs(TargetSessionAttrs::ReadWrite);
    }

    /// A place for each server in the URL, because all connections of a store must use the same one.
    pub fn servers(&self) -> Vec<Self> {
        let count = self.config.get_hosts().len().max(self.config.get_hostaddrs().len());
        let server = |at| Self { config: of_server(&self.config, at), ..self.clone() };
        (0..count).map(server).collect()
    }
}

/// The same for one of the servers.
fn of_server(all: &Config, at: usize) -> Config {
    let mut config = Config::new();
    if let Some(user) = all.get_user() {
        config.user(user);
    }
    if let Some(password) = all.get_password() {
        config.password(password);
    }
    if let Some(name) = all.get_dbname() {
        config.dbname(name);
    }
    if let Some(options) = all.get_options() {
        config.options(options);
    }
    if let Some(name) = all.get_application_name() {
        config.application_name(name);
    }
    match all.get_hosts().get(at) {
        Some(Host::Tcp(host)) => config.host(host),
        #[cfg(unix)]
        Some(Host::Unix(folder)) => config.host_path(folder),
        None => &mut config,
    };
    if let Some(address) = all.get_hostaddrs().get(at) {
        config.hostaddr(*address);
    }
    // A single port applies to all servers.
    let ports = all.get_ports();
    if let Some(port) = ports.get(at).or(ports.first()) {
        config.port(*port);
    }
    config.ssl_mode(all.get_ssl_mode()).ssl_negotiation(all.get_ssl_negotiation());
    config.channel_binding(all.get_channel_binding());
    config.target_session_attrs(all.get_target_session_attrs());
    set_timeouts(&mut config);
    config
}

/// Sets the time limits for connecting, and for a connection that no longer answers.
fn set_timeouts(config: &mut Config) {
    config.connect_timeout(CONNECT_LIMIT);
    config.tcp_user_timeout(UNACKNOWLEDGED_LIMIT);
    config.keepalives_idle(Duration::from_secs(5));
    config.keepalives_interval(Duration::from_secs(3));
    config.keepalives_retries(3);
}

/// Whether a host is this machine, so that its traffic cannot be intercepted.
fn is_here(host: &Host) -> bool {
    match host {
        Host::Tcp(host) => {
            host == "localhost"
                || host.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback())
        }
        #[cfg(unix)]
        Host::Unix(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_shown_without_its_password_and_encrypted_unless_it_stays_here() {
        for (url, shown, encrypted) in [
            ("postgresql://rec:secret@db.example:5433/gaps", "rec@db.example:5433/gaps", true),
            ("postgres://rec@db.example/gaps?sslmode=disable", "rec@db.example/gaps", false),
            ("postgresql://rec@localhost/gaps", "rec@localhost/gaps", false),
            ("postgresql://rec@127.0.0.1/gaps?sslmode=require", "rec@127.0.0.1/gaps", true),
            ("postgresql://rec@localhost/gaps?hostaddr=203.0.113.5", "rec@localhost/gaps", true),
            ("postgresql://rec@/gaps?host=/run/pg", "rec@/run/pg/gaps", false),
            ("postgresql://rec@a.example,b.example/gaps", "rec@a.example,b.example/gaps", true),
        ] {
            assert!(is_server(Path::new(url)));
            let place = Place::from_url(Path::new(url)).unwrap();
            assert_eq!(place.shown, Path::new(&format!("postgresql://{shown}")), "{url}");
            assert_eq!(place.encrypted, encrypted, "{url}");
        }
    }

    #[test]
    fn each_server_of_a_url_is_reached_as_the_url_says() {
        let url = "postgresql://rec:secret@a.example:5433,b.example:5434/gaps?options=-c%20x.y%3D1";
        let mut place = Place::from_url(Path::new(url)).unwrap();
        place.for_writing();
        let expected = [("a.example", 5433), ("b.example", 5434)];
        let servers = place.servers();
        assert_eq!(servers.len(), expected.len());
        for (server, (host, port)) in servers.into_iter().zip(expected) {
            let Place { config, shown, encrypted } = server;
            assert_eq!(config.get_hosts(), [Host::Tcp(host.to_owned())]);
            assert_eq!((config.get_ports(), config.get_user()), (&[port][..], Some("rec")));
            assert_eq!(config.get_password(), Some(&b"secret"[..]));
            assert_eq!(
                (config.get_dbname(), config.get_options()),
                (Some("gaps"), Some("-c x.y=1"))
            );
            assert_eq!(config.get_ssl_mode(), SslMode::Require);
            assert_eq!(config.get_target_session_attrs(), TargetSessionAttrs::ReadWrite);
            assert_eq!(config.get_connect_timeout(), Some(&CONNECT_LIMIT));
            assert!(config.get_application_name().is_some_and(|name| name.starts_with("exitgap ")));
            assert!(encrypted && shown == place.shown);
        }
        let both = Place::from_url(Path::new("postgresql://rec@a.example,b.example:5434/gaps"));
        assert_eq!(both.unwrap().servers().len(), 2);
    }

    #[test]
    fn a_url_that_names_too_little_is_refused_and_never_shown() {
        for (url, why) in [
            ("postgresql://rec:secret@db.example", "no user or no database"),
            ("postgresql://db.example/gaps", "no user or no database"),
            ("postgresql://rec:secret@/gaps", "no host"),
            ("postgresql://rec:secret@db.example:port/gaps", "expected postgresql://"),
            (
                "postgresql://rec:secret@db.example/gaps?sslmode=verify-full",
                "require (which checks",
            ),
            ("postgresql://rec:secret@db.example/gaps?what=secret", "expected postgresql://"),
        ] {
            let error = Place::from_url(Path::new(url)).unwrap_err().to_string();
            assert!(error.contains(why), "{url}: {error}");
            assert!(!error.contains("secret"), "{error}");
            assert_eq!(shown(Path::new(url)), "a server");
        }
        let url = Path::new("postgresql://rec:secret@db.example/gaps?sslmode=require");
        assert_eq!(shown(url), "postgresql://rec@db.example/gaps");
        assert_eq!(shown(Path::new("a/series.db")), "a/series.db");
        assert!(!is_server(Path::new("/data/postgresql")));
        assert!(!is_server(Path::new("series.db")));
    }
}
