//! A connection to a server, and waiting for what it answers: never longer than a limit.
//!
//! The store's calls block, as those on a file do, on whatever thread they are made. So the sockets belong to one
//! thread of this module's own, and a caller waits for it without a runtime of its own.

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

/// How long a statement may take. What takes longer is a server that stands still, and its connection is given up.
const STATEMENT_LIMIT: Duration = Duration::from_mins(2);

/// Settings of every connection.
const SETTINGS: &str = include_str!("sql/connection.sql");

/// Why a server did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// It refused.
    #[error("{}", said(.0))]
    Refused(Box<DbError>),
    /// It was not reached, or the connection ended.
    #[error("{}", with_causes(.0))]
    Lost(tokio_postgres::Error),
    /// It did not answer in time.
    #[error("the server did not respond within {} seconds; its connection was closed", .0.as_secs())]
    TimedOut(Duration),
    /// A connection that did not answer in time was used again.
    #[error("the connection was already closed")]
    GivenUp,
    /// Another has taken over, or this machine's clock is wrong.
    #[error("the lease of this store was lost")]
    NoLease,
    /// A statement of the transaction failed before.
    #[error("a statement of the transaction had failed")]
    Aborted,
    /// It committed, and warned: it may not be on the standby that it was to wait for.
    #[error("the server committed with a warning: {0}")]
    Warned(String),
    /// There is no thread for sockets.
    #[error("starting a thread for connections: {0}")]
    NoThread(String),
    /// There are no certificates to trust.
    #[error("no trusted certificate authority was found for an encrypted connection: {0}")]
    NoRoots(String),
}

/// An error with what it comes of, which it does not say by itself.
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
    /// Whether the server had no room on its disk.
    pub fn is_disk_full(&self) -> bool {
        self.code() == Some(&SqlState::DISK_FULL)
    }

    /// Whether another's lock was waited for too long.
    pub fn is_locked(&self) -> bool {
        self.code() == Some(&SqlState::LOCK_NOT_AVAILABLE)
    }

    /// Whether what was asked of is not there: a schema, a table, a column.
    pub fn is_undefined(&self) -> bool {
        let undefined =
            [SqlState::UNDEFINED_TABLE, SqlState::INVALID_SCHEMA_NAME, SqlState::UNDEFINED_COLUMN];
        self.code().is_some_and(|code| undefined.contains(code))
    }

    /// Whether the role may not do it.
    pub fn is_forbidden(&self) -> bool {
        self.code() == Some(&SqlState::INSUFFICIENT_PRIVILEGE)
    }

    /// The code of what the server refused.
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

/// The one thread that reads and writes sockets.
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
    /// What the server warned of since this was last taken.
    warned: Arc<Mutex<Option<String>>>,
    given_up: AtomicBool,
    /// How long what is asked may take.
    limit: Duration,
}

/// What is to come of a statement.
pub type Answer = Pin<Box<dyn Future<Output = Result<u64, tokio_postgres::Error>> + Send>>;

impl Connection {
    /// Connects.
    pub fn to(place: &Place) -> Result<Self, Fault> {
        let connection = Self::without_settings(place)?;
        connection.batch(SETTINGS)?;
        Ok(connection)
    }

    /// Connects, and leaves everything as the server has it.
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
        // Also what answers nothing after it let the connection in.
        let client = block_with_timeout(CONNECT_LIMIT * 2, connecting)??;
        Ok(Self {
            client: Arc::new(client),
            warned,
            given_up: AtomicBool::new(false),
            limit: STATEMENT_LIMIT,
        })
    }

    /// Has nothing take longer than this.
    pub fn limit(&mut self, limit: Duration) {
        self.limit = limit;
    }

    /// Whether it can be used.
    pub fn is_open(&self) -> bool {
        !self.client.is_closed() && !self.given_up.load(Ordering::Relaxed)
    }

    /// Has it not be used any more.
    pub fn give_up(&self) {
        self.given_up.store(true, Ordering::Relaxed);
    }

    /// Waits for what the server answers.
    pub fn wait<T>(
        &self,
        answer: impl Future<Output = Result<T, tokio_postgres::Error>>,
    ) -> Result<T, Fault> {
        self.wait_within(self.limit, answer)
    }

    /// The same, and no longer than this.
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

    /// Runs statements that are given nothing.
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

    /// The same, and no longer than this.
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

    /// What is to come of writing: nothing is sent before it is asked for.
    pub fn execute_async(&self, statement: Statement, args: Vec<Value>) -> Answer {
        let client = self.client.clone();
        Box::pin(async move { client.execute_raw(&statement, args).await })
    }

    /// Commits the transaction at hand. A server that is told to stop waiting for its standby says that it
    /// committed, and warns: that is not what was asked for.
    pub fn commit(&self) -> Result<(), Fault> {
        self.commit_within(self.limit)
    }

    /// The same, and no longer than this: the server's own limit of a statement does not hold for the wait of a commit.
    pub fn commit_within(&self, limit: Duration) -> Result<(), Fault> {
        let warned = || self.warned.lock().unwrap_or_else(PoisonError::into_inner).take();
        warned();
        self.wait_within(limit, self.client.batch_execute("COMMIT"))?;
        warned().map_or(Ok(()), |warning| Err(Fault::Warned(warning)))
    }

    /// Rolls the transaction at hand back, where the server can still be told.
    pub fn roll_back(&self) {
        // Where it cannot, it does so itself when the connection ends.
        let _ = self.batch("ROLLBACK");
    }
}

/// Waits, on whatever thread this is.
fn block_with_timeout<T>(limit: Duration, answer: impl Future<Output = T>) -> Result<T, Fault> {
    let limited = {
        let _of_timers = sockets()?.enter();
        tokio::time::timeout(limit, answer)
    };
    futures_executor::block_on(limited).map_err(|_| Fault::TimedOut(limit))
}

/// A task that ends with whoever waits for it.
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
    // Ends with the last use of the client.
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

/// Certificates are checked against those that the system trusts, or `SSL_CERT_FILE` names.
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
