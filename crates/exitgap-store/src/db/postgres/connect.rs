//! Connections to a server. Waiting for an answer always has a time limit.
//!
//! The store's calls block the calling thread, as for a file. The sockets therefore belong to a thread of this module,
//! and callers can wait without a runtime of their own.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;
use tokio_postgres::error::{DbError, Severity, SqlState};
use tokio_postgres::{AsyncMessage, Client, Config, NoTls, Row, Statement};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::super::arg::Value;
use super::place::{CONNECT_LIMIT, Place};

/// The time limit of a statement. If it is exceeded, the server hangs, and the connection is abandoned.
const STATEMENT_LIMIT: Duration = Duration::from_mins(2);

/// Settings of every connection.
const SETTINGS: &str = include_str!("sql/connection.sql");

/// Why a server did not do what was requested.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// The server refused.
    #[error("{}", said(.0))]
    Refused(Box<DbError>),
    /// The server could not be reached, or the connection ended.
    #[error("{}", with_causes(.0))]
    Lost(tokio_postgres::Error),
    /// The server did not answer in time.
    #[error("the server did not respond within {} seconds; its connection was closed", .0.as_secs())]
    TimedOut(Duration),
    /// A connection was used again after a timeout.
    #[error("the connection was already closed")]
    GivenUp,
    /// Another process has taken over, or this machine's clock is wrong.
    #[error("the lease of this store was lost")]
    NoLease,
    /// An earlier statement of the transaction failed.
    #[error("a statement of the transaction had failed")]
    Aborted,
    /// It committed with a warning: the data may not be on the required standby.
    #[error("the server committed with a warning: {0}")]
    Warned(String),
    /// The socket thread could not be created.
    #[error("starting a thread for connections: {0}")]
    NoThread(String),
    /// There are no trusted certificates.
    #[error("no trusted certificate authority was found for an encrypted connection: {0}")]
    NoRoots(String),
}

/// An error with its causes, which its own text omits.
fn with_causes(error: &tokio_postgres::Error) -> String {
    let mut said = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        said = format!("{said}: {inner}");
        cause = inner.source();
    }
    said
}

fn said(error: &DbError) -> String {
    let detail = error.detail().map(|detail| format!(" ({detail})")).unwrap_or_default();
    format!("{}{detail}", error.message())
}

impl Fault {
    /// Whether the server's disk was full.
    pub fn is_disk_full(&self) -> bool {
        self.code() == Some(&SqlState::DISK_FULL)
    }

    /// Whether waiting for another process's lock took too long.
    pub fn is_locked(&self) -> bool {
        self.code() == Some(&SqlState::LOCK_NOT_AVAILABLE)
    }

    /// Whether a schema, table or column does not exist.
    pub fn is_undefined(&self) -> bool {
        let undefined =
            [SqlState::UNDEFINED_TABLE, SqlState::INVALID_SCHEMA_NAME, SqlState::UNDEFINED_COLUMN];
        self.code().is_some_and(|code| undefined.contains(code))
    }

    /// Whether the role lacks the permission.
    pub fn is_forbidden(&self) -> bool {
        self.code() == Some(&SqlState::INSUFFICIENT_PRIVILEGE)
    }

    /// The code of the server's refusal.
    pub fn state(&self) -> Option<&str> {
        self.code().map(SqlState::code)
    }

    fn code(&self) -> Option<&SqlState> {
        match self {
            Self::Refused(error) => Some(error.code()),
            _ => None,
        }
    }
}

impl From<tokio_postgres::Error> for Fault {
    fn from(error: tokio_postgres::Error) -> Self {
        match error.as_db_error() {
            Some(refused) => Self::Refused(Box::new(refused.clone())),
            None => Self::Lost(error),
        }
    }
}

/// The only thread that reads and writes sockets.
fn sockets() -> Result<&'static Runtime, Fault> {
    static SOCKETS: LazyLock<io::Result<Runtime>> = LazyLock::new(|| {
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(1).thread_name("exitgap-postgres").enable_all().build()
    });
    SOCKETS.as_ref().map_err(|error| Fault::NoThread(error.to_string()))
}

/// A connection.
pub struct Connection {
    client: Arc<Client>,
    /// The server's warnings since they were last taken.
    warned: Arc<Mutex<Option<String>>>,
    given_up: AtomicBool,
    /// The time limit of requests.
    limit: Duration,
}

/// The future result of a statement.
pub type Answer = Pin<Box<dyn Future<Output = Result<u64, tokio_postgres::Error>> + Send>>;

impl Connection {
    /// Connects.
    pub fn to(place: &Place) -> Result<Self, Fault> {
        let connection = Self::without_settings(place)?;
        connection.batch(SETTINGS)?;
        Ok(connection)
    }

    /// Connects without changing the server's settings.
    pub fn without_settings(place: &Place) -> Result<Self, Fault> {
        let warned = Arc::<Mutex<Option<String>>>::default();
        let config = place.config.clone();
        let connecting = async {
            if place.encrypted {
                let tls = MakeRustlsConnect::new(tls_config()?);
                connect(&config, tls, warned.clone()).await
            } else {
                connect(&config, NoTls, warned.clone()).await
            }
        };
        // The limit also applies to a server that accepts the connection but then does not answer.
        let client = block_with_timeout(CONNECT_LIMIT * 2, connecting)??;
        Ok(Self {
            client: Arc::new(client),
            warned,
            given_up: AtomicBool::new(false),
            limit: STATEMENT_LIMIT,
        })
    }

    /// Sets the time limit of requests.
    pub fn limit(&mut self, limit: Duration) {
        self.limit = limit;
    }

    /// Whether it can be used.
    pub fn is_open(&self) -> bool {
        !self.client.is_closed() && !self.given_up.load(Ordering::Relaxed)
    }

    /// Makes the connection unusable.
    pub fn give_up(&self) {
        self.given_up.store(true, Ordering::Relaxed);
    }

    /// Waits for the server's answer.
    pub fn wait<T>(
        &self,
        answer: impl Future<Output = Result<T, tokio_postgres::Error>>,
    ) -> Result<T, Fault> {
        self.wait_within(self.limit, answer)
    }

    /// The same with a time limit.
    fn wait_within<T>(
        &self,
        limit: Duration,
        answer: impl Future<Output = Result<T, tokio_postgres::Error>>,
    ) -> Result<T, Fault> {
        if self.given_up.load(Ordering::Relaxed) {
            return Err(Fault::GivenUp);
        }
        match block_with_timeout(limit, answer) {
            Ok(answered) => answered.map_err(Fault::from),
            Err(fault) => {
                self.give_up();
                Err(fault)
            }
        }
    }

    /// Runs statements without parameters.
    pub fn batch(&self, sql: &str) -> Result<(), Fault> {
        self.wait(self.client.batch_execute(sql))
    }

    pub fn prepare(&self, sql: &str) -> Result<Statement, Fault> {
        self.wait(self.client.prepare(sql))
    }

    pub fn query(&self, statement: &Statement, args: &[Value]) -> Result<Vec<Row>, Fault> {
        let args: Vec<_> =
            args.iter().map(|arg| arg as &(dyn tokio_postgres::types::ToSql + Sync)).collect();
        self.wait(self.client.query(statement, &args))
    }

    /// The same with a statement that is used once.
    pub fn ask(
        &self,
        sql: &str,
        args: &[&(dyn tokio_postgres::types::ToSql + Sync)],
    ) -> Result<Vec<Row>, Fault> {
        self.wait(self.client.query(sql, args))
    }

    /// The same with a time limit.
    pub fn ask_within(
        &self,
        limit: Duration,
        sql: &str,
        args: &[&(dyn tokio_postgres::types::ToSql + Sync)],
    ) -> Result<Vec<Row>, Fault> {
        self.wait_within(limit, self.client.query(sql, args))
    }

    pub fn execute(&self, statement: Statement, args: Vec<Value>) -> Result<u64, Fault> {
        self.wait(self.execute_async(statement, args))
    }

    /// The future result of a write. Nothing is sent before it is awaited.
    pub fn execute_async(&self, statement: Statement, args: Vec<Value>) -> Answer {
        let client = self.client.clone();
        Box::pin(async move { client.execute_raw(&statement, args).await })
    }

    /// Commits the current transaction. If a server is told to stop waiting for its standby, it commits with a warning.
    /// That counts as a failure.
    pub fn commit(&self) -> Result<(), Fault> {
        self.commit_within(self.limit)
    }

    /// The same with a time limit, because the server's own statement limit does not apply to the wait of a commit.
    pub fn commit_within(&self, limit: Duration) -> Result<(), Fault> {
        let warned = || self.warned.lock().unwrap_or_else(PoisonError::into_inner).take();
        warned();
        self.wait_within(limit, self.client.batch_execute("COMMIT"))?;
        warned().map_or(Ok(()), |warning| Err(Fault::Warned(warning)))
    }

    /// Rolls back the current transaction, if the server can still be reached.
    pub fn roll_back(&self) {
        // If not, the server rolls back when the connection ends.
        let _ = self.batch("ROLLBACK");
    }
}

/// Blocks the current thread, whichever it is.
fn block_with_timeout<T>(limit: Duration, answer: impl Future<Output = T>) -> Result<T, Fault> {
    let limited = {
        let _of_timers = sockets()?.enter();
        tokio::time::timeout(limit, answer)
    };
    futures_executor::block_on(limited).map_err(|_| Fault::TimedOut(limit))
}

/// A task that ends when its waiter is dropped.
struct AbortOnDrop<T>(JoinHandle<T>);

impl<T> Drop for AbortOnDrop<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

async fn connect<T>(
    config: &Config,
    tls: T,
    warned: Arc<Mutex<Option<String>>>,
) -> Result<Client, Fault>
where
    T: tokio_postgres::tls::MakeTlsConnect<tokio_postgres::Socket> + Send + 'static,
    T::Stream: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    T::TlsConnect: Send,
    <T::TlsConnect as tokio_postgres::tls::TlsConnect<tokio_postgres::Socket>>::Future: Send,
{
    let config = config.clone();
    let mut connecting = AbortOnDrop(sockets()?.spawn(async move { config.connect(tls).await }));
    let connected =
        (&mut connecting.0).await.map_err(|error| Fault::NoThread(error.to_string()))?;
    let (client, mut connection) = connected?;
    // It ends with the last use of the client.
    sockets()?.spawn(async move {
        loop {
            match std::future::poll_fn(|context| connection.poll_message(context)).await {
                Some(Ok(AsyncMessage::Notice(notice)))
                    if notice.parsed_severity() == Some(Severity::Warning) =>
                {
                    let mut warned = warned.lock().unwrap_or_else(PoisonError::into_inner);
                    warned.get_or_insert_with(|| said(&notice));
                }
                Some(Ok(_)) => {}
                Some(Err(_)) | None => return,
            }
        }
    });
    Ok(client)
}

/// Certificates are checked against those that the system trusts, or those named by `SSL_CERT_FILE`.
fn tls_config() -> Result<rustls::ClientConfig, Fault> {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = rustls::RootCertStore::empty();
    let (added, _) = roots.add_parsable_certificates(found.certs);
    if added == 0 {
        let why = found.errors.first().map_or("none exist".to_owned(), ToString::to_string);
        return Err(Fault::NoRoots(why));
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| Fault::NoRoots(error.to_string()))?;
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}
