//! The wallet before services that are a few lines each.

use core::cell::RefCell;
use core::future::Future;
use core::pin::pin;
use core::task::{Context, Poll, Waker};
use core::time::Duration;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use base64ct::{Base64, Encoding};
use exitgap_api::x402::{
    self, PAYMENT_REQUIRED, PAYMENT_SIGNATURE, Payment, Priced, Settlement, Terms, TokenDomain,
    Units, X_PAYMENT,
};
use exitgap_client::{Request, Response, Transport, TransportError};
use exitgap_core::ids::{Address, Caip2};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::*;

/// Nothing of these waits.
pub fn now<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(found) => found,
        Poll::Pending => panic!("it waits"),
    }
}

const VECTORS: &str = include_str!("../../../tests/vectors/x402/payments.json");
const KEY: &str = "0x1111111111111111111111111111111111111111111111111111111111111111";
const URL: &str = "https://exitgap.example/v1/exit/ethereum:0x88e6?size_usd=250000";
const START_MS: u64 = 1_795_000_000_000;

fn base() -> Caip2 {
    Caip2(8453)
}

fn priced(units: u128) -> Priced {
    let usdc = Asset::known().into_iter().find(|asset| asset.network == base()).unwrap();
    Priced {
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

/// A 402 of these offers.
fn offer(priced: &Priced) -> Response {
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

/// Answers with what it is told to, first the unpaid requests, then the paid ones, the last of each
/// again and again.
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
    async fn get(&self, request: &Request) -> Result<Response, TransportError> {
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

    fn settling(priced: &Priced) -> Self {
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

    fn paying(&self) -> Paying<&Shop, LocalSigner> {
        let signer = LocalSigner::of_hex(KEY).unwrap();
        Paying::new(&self.shop, signer, self.policy.clone(), self.ledger())
    }

    fn get(&self) -> Result<Response, TransportError> {
        now(self.paying().get(&request(URL)))
    }

    /// The code of a refusal that signed nothing and sent nothing.
    fn refused(&self) -> &'static str {
        let code = code(self.get());
        let paid = self.shop.asked.borrow().iter().any(|request| !request.headers.is_empty());
        assert!(!paid, "a payment was sent: {code}");
        let counted = self.ledger().standing(&self.policy.budgets[0]).unwrap();
        assert_eq!(counted, Standing::default(), "{code}");
        code
    }

    fn spent(&self) -> u128 {
        let standing = self.ledger().standing(&self.policy.budgets[0]).unwrap();
        assert_eq!(standing.reserved, Usdc(0));
        standing.spent.0
    }

    /// The payment headers that were sent.
    fn sent(&self) -> Vec<(&'static str, String)> {
        self.shop.asked.borrow().iter().flat_map(|request| request.headers.clone()).collect()
    }
}

fn request(url: &str) -> Request {
    let (timeout, headers) = (Duration::from_secs(30), Vec::new());
    let url = url.to_owned();
    Request { url, accept: "application/json", timeout, max_bytes: 1 << 20, fresh: false, headers }
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

#[test]
fn typed_data_is_signed_as_the_official_clients_sign_it() {
    let vectors: Value = serde_json::from_str(VECTORS).unwrap();
    let text = |name: &str| vectors[name].as_str().unwrap();
    let signer = LocalSigner::of_hex(text("key")).unwrap();
    assert_eq!(signer.address().to_string(), text("payer").to_ascii_lowercase());
    let payments = [
        (Payment::of_v2_header(text("payment_signature")), text("payment_signature_hash")),
        (Payment::of_v1_header(text("x_payment")), text("x_payment_hash")),
    ];
    for (payment, hash) in payments {
        let Payment { authorization, signature, network, .. } = payment.unwrap();
        let usdc = Asset::known().into_iter().find(|asset| asset.network == network).unwrap();
        let data = TypedData { network, asset: usdc.address, domain: usdc.domain, authorization };
        assert_eq!(exitgap_core::ids::Word(data.hash()).to_string(), hash);
        assert_eq!(now(signer.sign(&data)).unwrap().to_vec(), signature);
        let json = data.to_json();
        assert_eq!(json["domain"]["chainId"], 84532);
        assert_eq!(json["message"]["value"], "10000");
    }
    assert!(!format!("{signer:?}").contains("11111"));
    for wrong in
        ["", "0x11", &KEY[..65], &format!("{KEY}1"), &KEY.replace('1', "g"), &"0".repeat(64)]
    {
        assert!(LocalSigner::of_hex(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn an_offer_is_paid_once_and_written_down() {
    let scene = Scene::settling(&priced(10_000));
    let paying = scene.paying();
    assert_eq!(now(paying.get(&request(URL))).unwrap().status, 200);
    let [(name, value)] = &scene.sent()[..] else { panic!("one payment") };
    assert_eq!(*name, PAYMENT_SIGNATURE);
    let payment = Payment::of_v2_header(value).unwrap();
    assert_eq!(payment.accepted.unwrap(), priced(10_000).terms);
    assert_eq!(payment.authorization.value, Units(10_000));
    assert_eq!(payment.authorization.valid_before_s, START_MS / 1000 + 120);
    // What the service wrote goes back as it wrote it.
    let sent: Value = serde_json::from_slice(&Base64::decode_vec(value).unwrap()).unwrap();
    assert_eq!(sent["resource"]["url"], URL);
    assert_eq!(sent["extensions"]["payment-identifier"]["info"]["required"], false);

    let [paid] = &paying.take_paid()[..] else { panic!("one payment") };
    assert_eq!((paid.status, paid.transaction.is_some()), (200, true));
    assert!(paying.take_paid().is_empty());
    let entries = scene.ledger().entries().unwrap();
    assert_eq!(entries.len(), 1);
    assert_eq!((entries[0].state, &entries[0].reserved.id), (State::Settled, &paid.id));
    assert_eq!(entries[0].reserved.path, "/v1/exit/ethereum:0x88e6");
    assert_eq!(scene.spent(), 10_000);
    // What asks for no payment gets none.
    scene.shop.unpaid.borrow_mut()[0] = answer(200);
    assert_eq!(scene.get().unwrap().status, 200);
    assert_eq!((scene.sent().len(), scene.spent()), (1, 10_000));
}

#[test]
fn an_offer_of_version_1_alone_is_paid_in_version_1() {
    let scene = Scene::settling(&priced(10_000));
    let alone = set(offer(&priced(10_000)), PAYMENT_REQUIRED, None);
    scene.shop.unpaid.borrow_mut()[0] = alone;
    scene.get().unwrap();
    let [(name, value)] = &scene.sent()[..] else { panic!("one payment") };
    assert_eq!(*name, X_PAYMENT);
    assert_eq!(Payment::of_v1_header(value).unwrap().network, base());
}

#[test]
fn what_the_policy_does_not_allow_is_not_signed() {
    let settling = || Scene::settling(&priced(10_000));
    let refused = |change: &dyn Fn(&mut Policy)| settling().with(change).refused();
    assert_eq!(refused(&|policy| policy.max_per_call = Usdc(9_999)), "max_per_call_exceeded");
    assert_eq!(refused(&|policy| policy.budgets[0].limit = Usdc(9_999)), "budget_exceeded");
    assert_eq!(refused(&|policy| policy.networks = vec![Caip2(1)]), "network_not_allowed");
    assert_eq!(refused(&|policy| policy.assets.clear()), "asset_not_allowed");
    let strangers = Payees::Listed(vec![Address([3; 20])]);
    assert_eq!(refused(&|policy| policy.payees = strangers.clone()), "payee_not_allowed");
    for (host, prefix) in [("exitgap.example:8443", "/"), ("exitgap.example", "/v1/exi")] {
        let scene = settling().with(|policy| {
            policy.budgets[0].host = host.to_owned();
            policy.budgets[0].path_prefix = prefix.to_owned();
        });
        assert_eq!(code(scene.get()), "no_budget");
        assert!(scene.sent().is_empty());
    }
    // Every budget that is for it must have room.
    let two = |policy: &mut Policy| {
        let small =
            Budget { limit: Usdc(1), path_prefix: "/".to_owned(), ..policy.budgets[0].clone() };
        policy.budgets.push(small);
    };
    assert_eq!(settling().with(two).refused(), "budget_exceeded");
    settling().get().unwrap();
    // A token that calls itself something else would be signed for in vain, or worse.
    let mut named = priced(10_000);
    named.terms.domain = TokenDomain { name: "USDC".to_owned(), version: "2".to_owned() };
    assert_eq!(Scene::settling(&named).refused(), "asset_not_allowed");
    // Beyond 2^53 nothing is rounded, and nothing paid.
    assert_eq!(Scene::settling(&priced((1 << 53) + 1)).refused(), "max_per_call_exceeded");
    let exact = (1 << 53) + 1;
    let below = |policy: &mut Policy| policy.max_per_call = Usdc(exact - 1);
    assert_eq!(Scene::settling(&priced(exact)).with(below).refused(), "max_per_call_exceeded");
    assert_eq!(Scene::settling(&priced(0)).refused(), "offer_unreadable");
}

/// A 402 whose offer of version 2 was changed.
fn changed_v2(change: impl Fn(&mut Value)) -> Response {
    let good = offer(&priced(10_000));
    let bytes = Base64::decode_vec(good.header(PAYMENT_REQUIRED).unwrap()).unwrap();
    let mut required: Value = serde_json::from_slice(&bytes).unwrap();
    change(&mut required["accepts"][0]);
    let header = Base64::encode_string(required.to_string().as_bytes());
    set(good, PAYMENT_REQUIRED, Some(&header))
}

fn changed_v1(change: impl Fn(&mut Value)) -> Response {
    let good = offer(&priced(10_000));
    let mut body: Value = serde_json::from_slice(&good.body).unwrap();
    change(&mut body["accepts"][0]);
    Response { body: body.to_string().into_bytes(), ..good }
}

#[test]
fn offers_that_disagree_or_cannot_be_read_are_not_paid() {
    let refused = |offer: Response| {
        let scene = Scene::new(offer, vec![Ok(answer(200))]);
        scene.refused()
    };
    let other = json!(Address([3; 20]));
    assert_eq!(refused(changed_v2(|terms| terms["payTo"] = other.clone())), "offer_inconsistent");
    assert_eq!(refused(changed_v1(|terms| terms["payTo"] = other.clone())), "offer_inconsistent");
    let plain = |name: &str, value: &str| refused(set(offer(&priced(10_000)), name, Some(value)));
    assert_eq!(
        refused(changed_v1(|terms| terms["maxAmountRequired"] = json!("9999"))),
        "offer_inconsistent"
    );
    assert_eq!(
        refused(changed_v1(|terms| terms["network"] = json!("base-sepolia"))),
        "offer_inconsistent"
    );
    assert_eq!(plain(x402::X_PAYMENT_AMOUNT, "0.001"), "offer_inconsistent");
    assert_eq!(plain(x402::X_PAYMENT_CURRENCY, "EURC"), "offer_inconsistent");
    assert_eq!(plain(x402::X_PAYMENT_NETWORK, "eip155:1"), "offer_inconsistent");
    let stranger = Address([3; 20]).to_string();
    assert_eq!(plain(x402::X_PAYMENT_RECIPIENT, &stranger), "offer_inconsistent");

    for wrong in ["1e3", "NaN", "-1", "0x2710", "10000.0", ""] {
        let read = refused(changed_v2(|terms| terms["amount"] = json!(wrong)));
        assert_eq!(read, "amount_unreadable", "{wrong}");
        let read = refused(changed_v1(|terms| terms["maxAmountRequired"] = json!(wrong)));
        assert_eq!(read, "amount_unreadable", "{wrong}");
        assert_eq!(plain(x402::X_PAYMENT_AMOUNT, &format!("{wrong}e")), "amount_unreadable");
    }
    assert_eq!(refused(changed_v2(|terms| terms["amount"] = json!(10000))), "offer_unreadable");
    let only_upto = changed_v2(|terms| terms["scheme"] = json!("upto"));
    assert_eq!(refused(Response { body: b"{}".to_vec(), ..only_upto }), "offer_unreadable");
    assert_eq!(refused(answer(402)), "offer_unreadable");
    let transfer = set(offer(&priced(10_000)), PAYMENT_REQUIRED, None);
    assert_eq!(refused(Response { body: b"{}".to_vec(), ..transfer }), "offer_unreadable");
}

#[test]
fn a_payee_that_was_swapped_is_not_paid() {
    let scene = Scene::settling(&priced(10_000));
    scene.get().unwrap();
    let mut swapped = priced(10_000);
    swapped.terms.pay_to = Address([3; 20]);
    scene.shop.unpaid.borrow_mut()[0] = offer(&swapped);
    assert_eq!(code(scene.get()), "payee_changed");
    assert_eq!((scene.sent().len(), scene.spent()), (1, 10_000));
}

#[test]
fn a_service_that_says_failed_gives_nothing_back() {
    let lie = told(offer(&priced(10_000)), false, "insufficient_funds");
    let scene = Scene::new(offer(&priced(10_000)), vec![Ok(lie)]);
    let error = scene.get().unwrap_err();
    assert!(error.to_string().contains("insufficient_funds"), "{error}");
    assert_eq!(code(Err(error)), "payment_refused");
    assert_eq!((scene.sent().len(), scene.spent()), (1, 10_000));
    assert_eq!(scene.ledger().entries().unwrap()[0].state, State::Sent);
}

#[test]
fn what_is_lost_is_asked_for_again_with_the_same_payment() {
    let pending = told(set(answer(503), "retry-after", Some("1")), false, "settlement_pending");
    let lost = TransportError::Unreachable("connection reset".to_owned());
    let outcomes = vec![Err(lost), Ok(pending.clone()), Ok(told(answer(200), true, ""))];
    let scene = Scene::new(offer(&priced(10_000)), outcomes);
    assert_eq!(scene.get().unwrap().status, 200);
    let sent = scene.sent();
    assert_eq!(sent.len(), 3);
    assert!(sent.iter().all(|header| *header == sent[0]), "one signature");
    assert_eq!(scene.spent(), 10_000);

    // Until it expires; then nothing is known, and it stays counted.
    let scene = Scene::new(offer(&priced(10_000)), vec![Ok(pending)]);
    let error = scene.get().unwrap_err();
    assert!(error.to_string().contains("settlement_pending"), "{error}");
    assert_eq!(code(Err(error)), "payment_unknown");
    let sent = scene.sent();
    assert!((100..=120).contains(&sent.len()), "{}", sent.len());
    assert!(sent.iter().all(|header| *header == sent[0]), "one signature");
    assert_eq!(scene.spent(), 10_000);
}

#[test]
fn a_caller_that_gave_up_gets_the_same_payment_repeated() {
    let scene = Scene::settling(&priced(10_000));
    let paying = scene.paying();
    {
        // The service answers only the second time.
        let stuck = Stuck(&scene.shop, RefCell::new(true));
        let signer = LocalSigner::of_hex(KEY).unwrap();
        let paying = Paying::new(&stuck, signer, scene.policy.clone(), scene.ledger());
        let asked = request(URL);
        {
            let mut first = pin!(paying.get(&asked));
            assert!(first.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        }
        *stuck.1.borrow_mut() = false;
        assert_eq!(now(paying.get(&asked)).unwrap().status, 200);
    }
    let sent = scene.sent();
    assert_eq!((sent.len(), scene.spent()), (2, 10_000));
    assert_eq!(sent[0], sent[1]);
    // Another wallet of the same ledger knows nothing of it and pays anew.
    now(paying.get(&request(URL))).unwrap();
    assert_eq!(scene.spent(), 20_000);
}

/// A shop that never answers a paid request while it is stuck.
struct Stuck<'a>(&'a Shop, RefCell<bool>);

impl Transport for &Stuck<'_> {
    async fn get(&self, request: &Request) -> Result<Response, TransportError> {
        let answer = (&self.0).get(request).await;
        if *self.1.borrow() && !request.headers.is_empty() {
            core::future::pending::<()>().await;
        }
        answer
    }

    async fn pause(&self, time: Duration) {
        (&self.0).pause(time).await;
    }

    fn random(&self) -> u32 {
        0
    }
}

#[test]
fn nothing_is_paid_after_a_redirect_or_without_tls() {
    let moved = set(answer(302), "location", Some("https://elsewhere.example/"));
    let scene = Scene::new(moved.clone(), vec![Ok(answer(200))]);
    assert_eq!(scene.get().unwrap().status, 302);
    assert!(scene.sent().is_empty());
    // A redirect in answer to a payment is the caller's to see; the payment goes nowhere else.
    let scene = Scene::new(offer(&priced(10_000)), vec![Ok(moved)]);
    assert_eq!(scene.get().unwrap().status, 302);
    assert_eq!((scene.shop.asked.borrow().len(), scene.spent()), (2, 10_000));

    let scene = Scene::settling(&priced(10_000));
    for url in ["http://exitgap.example/v1/exit/a", "http://127.0.0.1.example/v1/exit/a", "nowhere"]
    {
        assert_eq!(code(now(scene.paying().get(&request(url)))), "address_not_paid", "{url}");
    }
    let here = scene.with(|policy| policy.budgets[0].host = "127.0.0.1:8080".to_owned());
    let url = "http://127.0.0.1:8080/v1/exit/a";
    assert_eq!(now(here.paying().get(&request(url))).unwrap().status, 200);
    // No way around the path's budget.
    let url = "http://127.0.0.1:8080/v1/exit/%2e%2e/other";
    assert_eq!(code(now(here.paying().get(&request(url)))), "no_budget");
}

/// A device whose button nobody presses.
struct Refuses;
impl Signer for Refuses {
    fn address(&self) -> Address {
        Address([9; 20])
    }
    async fn sign(&self, _: &TypedData) -> Result<[u8; 65], String> {
        Err("the button was not pressed".to_owned())
    }
}

#[test]
fn a_signer_that_refuses_costs_nothing() {
    let scene = Scene::settling(&priced(10_000));
    let paying = Paying::new(&scene.shop, Refuses, scene.policy.clone(), scene.ledger());
    let error = now(paying.get(&request(URL))).unwrap_err();
    assert!(error.to_string().contains("the button was not pressed"), "{error}");
    assert_eq!(code(Err(error)), "signer_failed");
    assert_eq!((scene.sent().len(), scene.spent()), (0, 0));
    assert_eq!(scene.ledger().entries().unwrap()[0].state, State::Released);
}

/// The same 402s and addresses as the npm package's tests read.
#[test]
fn the_shared_cases_come_to_what_they_say() {
    const CASES: &str = include_str!("../../../tests/vectors/x402/offers.json");
    let vectors: Value = serde_json::from_str(CASES).unwrap();
    let policy = |policy: &mut Policy| {
        policy.networks.push(Caip2(84532));
        let other = Budget { path_prefix: "/v1/other".to_owned(), ..policy.budgets[0].clone() };
        policy.budgets.push(other);
    };
    let answer_of = |case: &Value| {
        let mut good = vectors["good"].clone();
        for (pointer, value) in case["set"].as_object().into_iter().flatten() {
            *good.pointer_mut(pointer).unwrap() = value.clone();
        }
        let without = case["without"].as_array().cloned().unwrap_or_default();
        let has = |part: &str| !without.contains(&json!(part));
        let mut answer = answer(402);
        if has("required") {
            let header = Base64::encode_string(good["required"].to_string().as_bytes());
            answer = set(answer, PAYMENT_REQUIRED, Some(&header));
        }
        let plain = good["plain"].as_object().unwrap().iter().filter(|_| has("plain"));
        for (name, value) in plain {
            answer = set(answer, name, value.as_str());
        }
        let body = if has("body") { good["body"].to_string() } else { String::new() };
        Response { body: body.into_bytes(), ..answer }
    };
    let paid = || vec![Ok(told(answer(200), true, ""))];
    for case in vectors["cases"].as_array().unwrap() {
        let scene = Scene::new(answer_of(case), paid()).with(policy);
        match case["pays"].as_str() {
            Some(header) => {
                assert_eq!(scene.get().unwrap().status, 200, "{case}");
                assert_eq!(scene.sent()[0].0, header, "{case}");
            }
            None => assert_eq!(scene.refused(), case["code"].as_str().unwrap(), "{case}"),
        }
    }
    for case in vectors["addresses"].as_array().unwrap() {
        let scene = Scene::new(answer_of(case), paid()).with(policy);
        let outcome = now(scene.paying().get(&request(case["url"].as_str().unwrap())));
        match case["code"].as_str() {
            Some(expected) => assert_eq!(code(outcome), expected, "{case}"),
            None => assert_eq!(outcome.unwrap().status, 200, "{case}"),
        }
    }
}
