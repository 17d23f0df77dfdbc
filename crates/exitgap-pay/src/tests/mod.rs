//! Tests the wallet with services of a few lines each.

use core::cell::RefCell;
use core::future::Future;
use core::pin::pin;
use core::task::{Context, Poll, Waker};
use core::time::Duration;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use exitgap_api::operations::Method;
use exitgap_api::x402::{self, PricedOffer, Settlement, Terms, Units};
use exitgap_client::{Request, Response, Transport, TransportError};
use exitgap_core::ids::{Address, Caip2};
use serde_json::json;
use tempfile::TempDir;

use crate::*;

mod offers;
mod once;
mod outcomes;
mod refusals;
mod signing;

/// Runs a future that never waits.
pub fn now<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(found) => found,
        Poll::Pending => panic!("it waits"),
    }
}

const KEY: &str = "0x1111111111111111111111111111111111111111111111111111111111111111";
const URL: &str = "https://exitgap.example/v1/exit/ethereum:0x88e6?size_usd=250000";
const START_MS: u64 = 1_795_000_000_000;

fn base() -> Caip2 {
    Caip2(8453)
}

fn priced(units: u128) -> PricedOffer {
    let usdc = Asset::known().into_iter().find(|asset| asset.network == base()).unwrap();
    PricedOffer {
        terms: Terms {
            network: base(),
            asset: usdc.address,
            pay_to: Address([2; 20]),
            amount: Units(units),
            max_timeout_s: 120,
            domain: usdc.domain,
        },
        currency: "USDC".to_owned(),
        decimals: 6,
        url: URL.to_owned(),
        description: "what this size fills at now".to_owned(),
        error: "payment required".to_owned(),
    }
}

/// A 402 with these offers.
fn offer(priced: &PricedOffer) -> Response {
    let mut body = json!({"code": "payment_required", "status": 402});
    if let Some(members) = priced.body_members() {
        let members = serde_json::to_value(members).unwrap();
        body.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    }
    let headers = priced.headers().map(|(name, value)| (name.to_owned(), value)).to_vec();
    Response { status: 402, headers, body: body.to_string().into_bytes() }
}

fn set(mut answer: Response, name: &str, value: Option<&str>) -> Response {
    answer.headers.retain(|(other, _)| other != name);
    answer.headers.extend(value.map(|value| (name.to_owned(), value.to_owned())));
    answer
}

fn answer(status: u16) -> Response {
    Response { status, headers: Vec::new(), body: b"{}".to_vec() }
}

fn told(answer: Response, success: bool, reason: &str) -> Response {
    let error_reason = (!success).then(|| reason.to_owned());
    let transaction = if success { format!("0x{}", "12".repeat(32)) } else { String::new() };
    let network = base().to_string();
    let settlement = Settlement { success, error_reason, transaction, network, payer: None };
    set(answer, x402::PAYMENT_RESPONSE, Some(&settlement.to_header()))
}

/// Returns the given answers: first those to unpaid requests, then those to paid ones, repeating the last of each.
struct Shop {
    unpaid: RefCell<Vec<Response>>,
    paid: RefCell<Vec<Result<Response, TransportError>>>,
    asked: RefCell<Vec<Request>>,
    clock: Arc<AtomicU64>,
}

fn next<A: Clone>(answers: &RefCell<Vec<A>>) -> A {
    let mut answers = answers.borrow_mut();
    if answers.len() > 1 { answers.remove(0) } else { answers[0].clone() }
}

impl Transport for &Shop {
    async fn send(&self, request: &Request) -> Result<Response, TransportError> {
        self.asked.borrow_mut().push(request.clone());
        if request.headers.is_empty() { Ok(next(&self.unpaid)) } else { next(&self.paid) }
    }

    async fn pause(&self, time: Duration) {
        let ms = u64::try_from(time.as_millis()).unwrap();
        self.clock.fetch_add(ms, Ordering::SeqCst);
    }

    fn random(&self) -> u32 {
        0
    }
}

struct Scene {
    folder: TempDir,
    shop: Shop,
    policy: Policy,
}

impl Scene {
    fn new(unpaid: Response, paid: Vec<Result<Response, TransportError>>) -> Self {
        let shop = Shop {
            unpaid: RefCell::new(vec![unpaid]),
            paid: RefCell::new(paid),
            asked: RefCell::default(),
            clock: Arc::new(AtomicU64::new(START_MS)),
        };
        let budget = Budget {
            host: "exitgap.example".to_owned(),
            path_prefix: "/v1/exit".to_owned(),
            network: base(),
            limit: Usdc(1_000_000),
            window: Window::Total,
        };
        let policy = Policy {
            max_per_call: Usdc(20_000),
            budgets: vec![budget],
            networks: vec![base()],
            assets: Asset::known(),
            payees: Payees::FirstUse,
        };
        Self { folder: tempfile::tempdir().unwrap(), shop, policy }
    }

    fn settling(priced: &PricedOffer) -> Self {
        Self::new(offer(priced), vec![Ok(told(answer(200), true, ""))])
    }

    fn with(mut self, change: impl FnOnce(&mut Policy)) -> Self {
        change(&mut self.policy);
        self
    }

    fn ledger(&self) -> Ledger {
        let clock = Arc::clone(&self.shop.clock);
        let path = self.folder.path().join("ledger.jsonl");
        Ledger::open_by(&path, move || clock.load(Ordering::SeqCst)).unwrap()
    }

    fn paying(&self) -> PayingTransport<&Shop, LocalSigner> {
        let signer = LocalSigner::of_hex(KEY).unwrap();
        PayingTransport::new(&self.shop, signer, self.policy.clone(), self.ledger())
    }

    fn get(&self) -> Result<Response, TransportError> {
        now(self.paying().send(&request(URL)))
    }

    /// The code of an error after which nothing was signed or sent.
    fn refused(&self) -> &'static str {
        let code = code(self.get());
        let paid = self.shop.asked.borrow().iter().any(|request| !request.headers.is_empty());
        assert!(!paid, "a payment was sent: {code}");
        let counted = self.ledger().budget_usage(&self.policy.budgets[0]).unwrap();
        assert_eq!(counted, BudgetUsage::default(), "{code}");
        code
    }

    fn spent(&self) -> u128 {
        let standing = self.ledger().budget_usage(&self.policy.budgets[0]).unwrap();
        assert_eq!(standing.reserved, Usdc(0));
        standing.spent.0
    }

    /// The number of different payments sent.
    fn signed(&self) -> usize {
        self.sent().into_iter().collect::<std::collections::BTreeSet<_>>().len()
    }

    /// Advances the clock.
    fn wait(&self, time: Duration) {
        now((&self.shop).pause(time));
    }

    /// The payment headers that were sent.
    fn sent(&self) -> Vec<(&'static str, String)> {
        self.shop.asked.borrow().iter().flat_map(|request| request.headers.clone()).collect()
    }
}

fn request(url: &str) -> Request {
    let (timeout, headers) = (Duration::from_secs(30), Vec::new());
    let url = url.to_owned();
    Request {
        method: Method::Get,
        body: Vec::new(),
        url,
        accept: "application/json",
        timeout,
        max_bytes: 1 << 20,
        fresh: false,
        headers,
    }
}

fn code(outcome: Result<Response, TransportError>) -> &'static str {
    match outcome {
        Err(TransportError::Payment { code, detail, hint }) => {
            assert!(!detail.is_empty() && !hint.is_empty());
            code
        }
        other => panic!("{other:?}"),
    }
}
