//! A wallet in a separate process: it pays repeatedly, or halts at a step to be killed there.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::{Args, ValueEnum};
use exitgap_api::operations::Method;
use exitgap_client::{Native, Request, Response, Transport, TransportError};
use exitgap_core::ids::{Address, Caip2};
use exitgap_pay::{
    Asset, Budget, Ledger, LocalSigner, Payees, PayingTransport, Policy, Signer, TypedData, Usdc,
    Window,
};

use super::Result;
use super::budget_shop::{CHAIN, PRICE};
use super::writer::say;

/// What a wallet does.
#[derive(Debug, Args)]
pub struct Course {
    /// What is paid for.
    #[arg(long)]
    url: String,
    #[arg(long)]
    ledger: PathBuf,
    /// The budget's limit, in units.
    #[arg(long)]
    limit: u128,
    /// How often it asks.
    #[arg(long)]
    attempts: u32,
    /// Asks for something else each time.
    #[arg(long)]
    distinct: bool,
    /// Halts there, in the first payment.
    #[arg(long, value_enum)]
    stop_at: Option<Step>,
}

/// The steps of a payment that a crash can come between.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Step {
    /// Before `reserved` is written.
    Reserving,
    /// It is written, and not yet known whether it holds.
    Reserved,
    /// It holds, and is about to be signed.
    Signing,
    /// It is signed; `sent` is not yet written.
    Signed,
    /// `sent` is written; nothing was sent.
    Sending,
    /// The answer came; nothing was written of it.
    Answered,
}

impl Step {
    /// The step's name on the command line.
    pub fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }
}

/// Prints the step, and waits to be killed.
fn halt(step: Step) {
    let _ = say(&format!("at {}", step.name()));
    loop {
        std::thread::sleep(Duration::from_hours(1));
    }
}

/// The common budget of these wallets.
pub fn budget(url: &str, limit: u128) -> Budget {
    let host = url.split('/').nth(2).unwrap_or_default().to_owned();
    let (path_prefix, network) = ("/v1/exit".to_owned(), Caip2(CHAIN));
    Budget { host, path_prefix, network, limit: Usdc(limit), window: Window::Total }
}

/// Uses the readings of the clock, which mark the steps: the first is for an open payment, the second for the
/// authorization's end, the third for `reserved`, the fourth for the admission, the fifth for `sent`.
fn open(ledger: &Path, stop_at: Option<Step>) -> Result<Ledger> {
    let readings = AtomicU32::new(0);
    let clock = move || {
        match (readings.fetch_add(1, Ordering::SeqCst), stop_at) {
            (2, Some(step @ Step::Reserving))
            | (3, Some(step @ Step::Reserved))
            | (4, Some(step @ Step::Signed)) => halt(step),
            _ => {}
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
    };
    Ok(Ledger::open_by(ledger, clock)?)
}

struct Halting<T> {
    inner: T,
    stop_at: Option<Step>,
}

impl Signer for Halting<LocalSigner> {
    fn address(&self) -> Address {
        self.inner.address()
    }

    async fn sign(&self, data: &TypedData) -> std::result::Result<[u8; 65], String> {
        if self.stop_at == Some(Step::Signing) {
            halt(Step::Signing);
        }
        self.inner.sign(data).await
    }
}

impl Transport for Halting<Native> {
    async fn send(&self, request: &Request) -> std::result::Result<Response, TransportError> {
        let pays = !request.headers.is_empty();
        if pays && self.stop_at == Some(Step::Sending) {
            halt(Step::Sending);
        }
        let answer = self.inner.send(request).await;
        if pays && self.stop_at == Some(Step::Answered) {
            halt(Step::Answered);
        }
        answer
    }

    async fn pause(&self, time: Duration) {
        self.inner.pause(time).await;
    }

    fn random(&self) -> u32 {
        self.inner.random()
    }
}

/// Pays, and prints a word for each attempt: `paid`, or the code of the error.
pub fn pay(course: &Course) -> Result<()> {
    let Course { url, ledger, limit, attempts, distinct, stop_at } = course;
    let stop_at = *stop_at;
    let policy = Policy {
        max_per_call: Usdc(PRICE),
        budgets: vec![budget(url, *limit)],
        networks: vec![Caip2(CHAIN)],
        assets: Asset::known(),
        payees: Payees::FirstUse,
    };
    let signer = Halting { inner: LocalSigner::of_hex(&"11".repeat(32))?, stop_at };
    let transport = Halting { inner: Native::new()?, stop_at };
    let paying = PayingTransport::new(transport, signer, policy, open(ledger, stop_at)?);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let request = Request {
        method: Method::Get,
        body: Vec::new(),
        url: url.clone(),
        accept: "application/json",
        timeout: Duration::from_secs(30),
        max_bytes: 1 << 16,
        fresh: false,
        headers: Vec::new(),
    };
    for attempt in 0..*attempts {
        let own = format!("{url}&asked={}-{attempt}", std::process::id());
        let url = if *distinct { own } else { url.clone() };
        let request = Request { url, ..request.clone() };
        match runtime.block_on(paying.send(&request)) {
            Ok(answer) if answer.status == 200 => say("paid")?,
            Ok(answer) => say(&answer.status.to_string())?,
            Err(TransportError::Payment { code, .. }) => say(code)?,
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}
