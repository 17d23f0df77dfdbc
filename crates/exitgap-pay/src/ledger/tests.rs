//! Tests the ledger alone: its lines, their order, its clock, and every kind of damage.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use exitgap_api::x402::TokenDomain;
use exitgap_core::ids::Caip2;
use proptest::prelude::*;
use tempfile::TempDir;

use super::record::{Line, MAX_LINE_BYTES};
use super::*;
use crate::Window;

const START_MS: u64 = 1_795_000_000_000;
const HOST: &str = "exitgap.example";
const PATH: &str = "/v1/exit/ethereum:0x88e6";

/// A folder with a ledger, and a clock that does not advance by itself.
struct Scene {
    folder: TempDir,
    clock: Arc<AtomicU64>,
}

impl Scene {
    fn new() -> Self {
        let clock = Arc::new(AtomicU64::new(START_MS));
        Self { folder: tempfile::tempdir().unwrap(), clock }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("ledger.jsonl")
    }

    fn open(&self) -> Ledger {
        self.try_open().unwrap()
    }

    fn try_open(&self) -> Result<Ledger, PayError> {
        let clock = Arc::clone(&self.clock);
        Ledger::open_by(&self.path(), move || clock.load(Ordering::SeqCst))
    }

    fn pass(&self, seconds: u64) {
        self.clock.fetch_add(seconds * 1000, Ordering::SeqCst);
    }

    fn set_back(&self, seconds: u64) {
        self.clock.fetch_sub(seconds * 1000, Ordering::SeqCst);
    }

    fn kinds(&self) -> Vec<String> {
        let text = fs::read_to_string(self.path()).unwrap();
        let kind =
            |line: &str| line.split("\"kind\":\"").nth(1)?.split('"').next().map(str::to_owned);
        text.lines().filter_map(kind).collect()
    }
}

fn terms(units: u128) -> Terms {
    let address = |digit: u8| Address([digit; 20]);
    Terms {
        network: Caip2(8453),
        asset: address(1),
        pay_to: address(2),
        amount: exitgap_api::x402::Units(units),
        max_timeout_s: 120,
        domain: TokenDomain { name: "USD Coin".to_owned(), version: "2".to_owned() },
    }
}

fn budget(limit: u128, window: Window) -> Budget {
    Budget {
        host: HOST.to_owned(),
        path_prefix: "/v1/exit".to_owned(),
        network: Caip2(8453),
        limit: Usdc(limit),
        window,
    }
}

const DAY: Window = Window::Sliding(Duration::from_hours(24));

/// Reserves and decides like a payer that does not wait.
fn try_pay(ledger: &Ledger, terms: &Terms, budget: &Budget) -> Result<String, PayError> {
    let wanted = wanted(ledger, terms);
    let id = ledger.reserve(&wanted)?;
    match ledger.admission(&id, &wanted, &[budget], &Payees::FirstUse)? {
        Admission::Holds => {
            ledger.sent(&id, Address([9; 20]), Word([7; 32]))?;
            Ok(id)
        }
        Admission::Waits(error) | Admission::Refused(error) => {
            ledger.withdraw(&id)?;
            Err(error)
        }
    }
}

fn wanted<'a>(ledger: &Ledger, terms: &'a Terms) -> PaymentIntent<'a> {
    let valid_before_s = ledger.now_ms() / 1000 + 120;
    PaymentIntent { host: HOST, path: PATH, terms, valid_before_s }
}

#[test]
fn a_budget_is_reached_exactly_and_not_exceeded() {
    let scene = Scene::new();
    let (one, other) = (scene.open(), scene.open());
    let (terms, budget) = (terms(10_000), budget(50_000, DAY));
    for round in 0..5 {
        try_pay(if round % 2 == 0 { &one } else { &other }, &terms, &budget).unwrap();
    }
    for ledger in [&one, &other] {
        let error = try_pay(ledger, &terms, &budget).unwrap_err();
        let expected = PayError::BudgetExceeded {
            asked: Usdc(10_000),
            scope: "exitgap.example/v1/exit on eip155:8453, in any 86400 s".to_owned(),
            limit: Usdc(50_000),
            spent: Usdc(50_000),
            reserved: Usdc(0),
            resets_at: Some(START_MS / 1000 + 120 + 86_400),
        };
        assert_eq!(error, expected);
    }
    let standing = scene.open().budget_usage(&budget).unwrap();
    assert_eq!((standing.spent, standing.reserved), (Usdc(50_000), Usdc(0)));
    // A smaller window, another path and another chain have separate sums.
    let elsewhere = Budget { path_prefix: "/v1/exits".to_owned(), ..budget.clone() };
    assert_eq!(one.budget_usage(&elsewhere).unwrap(), BudgetUsage::default());
    let other_chain = Budget { network: Caip2(1), ..budget };
    assert_eq!(one.budget_usage(&other_chain).unwrap(), BudgetUsage::default());
}

#[test]
fn a_window_slides_and_a_total_does_not() {
    let scene = Scene::new();
    let ledger = scene.open();
    let (terms, sliding, total) =
        (terms(10_000), budget(10_000, DAY), budget(10_000, Window::Total));
    try_pay(&ledger, &terms, &sliding).unwrap();
    // Its authorization is valid for 120 s, and it counts for a day after that.
    scene.pass(86_400 + 119);
    assert_eq!(try_pay(&ledger, &terms, &sliding).unwrap_err().code(), "budget_exceeded");
    scene.pass(1);
    let error = try_pay(&ledger, &terms, &total).unwrap_err();
    assert!(matches!(error, PayError::BudgetExceeded { resets_at: None, .. }), "{error:?}");
    try_pay(&ledger, &terms, &sliding).unwrap();
}

#[test]
fn what_was_reserved_before_is_waited_for_as_long_as_it_is_young() {
    let scene = Scene::new();
    let (one, other) = (scene.open(), scene.open());
    let (terms, budget) = (terms(10_000), budget(10_000, DAY));
    let wanted = wanted(&one, &terms);
    let admission = |ledger: &Ledger, id: &str| {
        ledger.admission(id, &wanted, &[&budget], &Payees::FirstUse).unwrap()
    };
    let first = one.reserve(&wanted).unwrap();
    let second = other.reserve(&wanted).unwrap();
    assert!(matches!(admission(&other, &second), Admission::Waits(_)));
    // The second does not delay the first.
    assert!(matches!(admission(&one, &first), Admission::Holds));
    one.withdraw(&first).unwrap();
    assert!(matches!(admission(&other, &second), Admission::Holds));
    other.withdraw(&second).unwrap();

    // Waiting for a process that has ended is limited.
    let gone = one.reserve(&wanted).unwrap();
    let third = other.reserve(&wanted).unwrap();
    scene.pass(6);
    assert!(matches!(admission(&other, &third), Admission::Refused(_)));
    // Once its authorization would have expired, the reservation is released.
    scene.pass(120);
    assert!(matches!(admission(&other, &third), Admission::Holds));
    assert_eq!(scene.kinds().last().unwrap(), "released");
    // If that process had only slept, it could no longer send.
    let error = one.sent(&gone, Address([9; 20]), Word([7; 32])).unwrap_err();
    assert!(error.to_string().contains("released by another process"), "{error}");
}

/// The chain's answer about the only payment.
struct Told(Result<(bool, u64), &'static str>);
impl Chain for Told {
    fn network(&self) -> Caip2 {
        Caip2(8453)
    }

    async fn authorization(
        &self,
        asset: Address,
        payer: Address,
        nonce: Word,
    ) -> Result<crate::AuthorizationState, String> {
        assert_eq!(asset, Address([1; 20]));
        assert_eq!((payer, nonce), (Address([9; 20]), Word([7; 32])));
        let (used, block_time_s) = self.0?;
        Ok(crate::AuthorizationState { used, block_time_s })
    }
}

#[test]
fn what_was_sent_is_given_back_by_nothing_but_the_chain() {
    let scene = Scene::new();
    let ledger = scene.open();
    let (terms, budget) = (terms(10_000), budget(10_000, Window::Total));
    let id = try_pay(&ledger, &terms, &budget).unwrap();
    let counted = || ledger.budget_usage(&budget).unwrap().spent;
    ledger.withdraw(&id).unwrap();
    ledger.never_sent(&id).unwrap();
    assert_eq!(counted(), Usdc(10_000));

    let expiry = START_MS / 1000 + 120;
    let reconcile = |told| crate::tests::now(ledger.reconcile(&Told(told))).unwrap();
    for told in [Err("no node"), Ok((false, expiry - 1))] {
        let unanswered = told.err().map(str::to_owned);
        let left = Reconciliation { left: Usdc(10_000), unanswered, ..Reconciliation::default() };
        assert_eq!(reconcile(told), left);
        assert_eq!(counted(), Usdc(10_000));
    }
    let released = Reconciliation { released: Usdc(10_000), ..Reconciliation::default() };
    assert_eq!(reconcile(Ok((false, expiry))), released);
    assert_eq!(counted(), Usdc(0));
    // A used authorization stays counted, and is not asked about again.
    try_pay(&ledger, &terms, &budget).unwrap();
    assert_eq!(reconcile(Ok((true, expiry))).settled, Usdc(10_000));
    assert_eq!(reconcile(Ok((false, expiry))), Reconciliation::default());
    assert_eq!(counted(), Usdc(10_000));
}

#[test]
fn another_payee_than_the_first_is_refused() {
    let scene = Scene::new();
    let ledger = scene.open();
    let (terms, budget) = (terms(10_000), budget(1_000_000, DAY));
    try_pay(&ledger, &terms, &budget).unwrap();
    let swapped = Terms { pay_to: Address([3; 20]), ..terms.clone() };
    let error = try_pay(&ledger, &swapped, &budget).unwrap_err();
    let (first, now) = (Address([2; 20]), Address([3; 20]));
    assert_eq!(error, PayError::PayeeChanged { host: HOST.to_owned(), first, now });
    // The rejected payee does not replace the remembered one.
    try_pay(&ledger, &terms, &budget).unwrap();
    // On another chain it is the first payee.
    let other_chain = Budget { network: Caip2(1), ..budget };
    try_pay(&ledger, &Terms { network: Caip2(1), ..swapped }, &other_chain).unwrap();
}

#[test]
fn a_clock_that_steps_back_ends_all_payments() {
    let scene = Scene::new();
    let ledger = scene.open();
    let (terms, budget) = (terms(10_000), budget(1_000_000, DAY));
    try_pay(&ledger, &terms, &budget).unwrap();
    scene.set_back(2);
    try_pay(&ledger, &terms, &budget).unwrap();
    scene.set_back(1);
    let lines = scene.kinds().len();
    let error = try_pay(&ledger, &terms, &budget).unwrap_err();
    assert_eq!(error, PayError::ClockSteppedBack { path: scene.path(), behind_ms: 3_000 });
    assert_eq!(scene.kinds().len(), lines, "nothing was written");
}

#[test]
fn a_line_that_broke_off_is_passed_over() {
    let record = {
        let scene = Scene::new();
        scene.open().reserve(&wanted(&scene.open(), &terms(10_000))).unwrap();
        fs::read(scene.path()).unwrap()
    };
    let (terms, budget) = (terms(10_000), budget(20_000, DAY));
    let last = record.len() - 24;
    for length in (0..last).step_by(5).chain(last..record.len()) {
        let scene = Scene::new();
        try_pay(&scene.open(), &terms, &budget).unwrap();
        let whole = fs::read(scene.path()).unwrap();
        fs::write(scene.path(), [&whole, &record[..length]].concat()).unwrap();
        let ledger = scene.open();
        // A record without only its line feed counts, although no one acted on it: nothing else is safe.
        let is_whole = length == record.len() - 1;
        let outcome = try_pay(&ledger, &terms, &budget);
        assert_eq!(outcome.is_ok(), !is_whole, "{length}: {outcome:?}");
        let kinds = scene.kinds();
        assert_eq!(kinds[..2], ["reserved", "sent"], "{length}");
        let counted = scene.open().budget_usage(&budget).unwrap().total();
        assert_eq!(counted, Usdc(20_000), "{length}");
    }
}

#[test]
fn a_changed_bit_in_any_byte_ends_all_payments() {
    let scene = Scene::new();
    let (terms, budget) = (terms(10_000), budget(1_000_000, DAY));
    let id = try_pay(&scene.open(), &terms, &budget).unwrap();
    scene.open().mark_settled(&id, None).unwrap();
    let whole = fs::read(scene.path()).unwrap();
    let mut changed = 0;
    for at in 0..whole.len() {
        let bit = at % 8;
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << bit;
        fs::write(scene.path(), &bytes).unwrap();
        let outcome = scene.try_open().and_then(|ledger| try_pay(&ledger, &terms, &budget));
        let error = outcome.expect_err(&format!("byte {at}, bit {bit}"));
        assert_eq!(error.code(), "ledger_unreadable", "byte {at}, bit {bit}: {error}");
        changed += 1;
    }
    assert!(changed == whole.len() && changed > 500, "{changed}");
    fs::write(scene.path(), &whole).unwrap();
    try_pay(&scene.open(), &terms, &budget).unwrap();
}

#[test]
fn a_ledger_that_is_not_the_one_that_was_opened_is_not_used() {
    let (terms, budget) = (terms(10_000), budget(1_000_000, DAY));
    let refused = |scene: &Scene, ledger: &Ledger, why: &str| {
        let error = try_pay(ledger, &terms, &budget).unwrap_err();
        assert!(error.to_string().contains(why), "{error}");
        assert!(error.to_string().contains(&scene.path().display().to_string()), "{error}");
    };
    let scene = Scene::new();
    let ledger = scene.open();
    try_pay(&ledger, &terms, &budget).unwrap();
    let whole = fs::read(scene.path()).unwrap();
    fs::write(scene.path(), &whole[..whole.len() / 2]).unwrap();
    refused(&scene, &ledger, "it became shorter");

    fs::write(scene.path(), &whole).unwrap();
    let ledger = scene.open();
    fs::rename(scene.path(), scene.folder.path().join("aside")).unwrap();
    refused(&scene, &ledger, "No such file");
    fs::write(scene.path(), "").unwrap();
    refused(&scene, &ledger, "another file took its place");

    fs::remove_file(scene.path()).unwrap();
    fs::create_dir(scene.path()).unwrap();
    assert!(scene.try_open().unwrap_err().to_string().contains("it is not a file"));

    // Without its first record, the second one belongs to no payment.
    let scene = Scene::new();
    let first = String::from_utf8(whole).unwrap();
    let second = first.lines().filter(|line| !line.is_empty()).nth(1).unwrap();
    fs::write(scene.path(), format!("{second}\n")).unwrap();
    assert!(scene.try_open().unwrap_err().to_string().contains("was never reserved"));
    let later = first.replace("{\"v\":1,", "{\"v\":2,");
    fs::write(scene.path(), later).unwrap();
    assert_eq!(scene.try_open().unwrap_err().code(), "ledger_unreadable");
    fs::write(scene.path(), format!("{}\n", "x".repeat(MAX_LINE_BYTES + 1))).unwrap();
    assert!(scene.try_open().unwrap_err().to_string().contains("longer than 4096 bytes"));
}

#[test]
fn the_format_is_what_its_page_says() {
    let page = include_str!("../../docs/pay-ledger-v1.md");
    let example = page.split("```").nth(1).unwrap().trim_start_matches("jsonl\n");
    let lines: Vec<&str> = example.lines().filter(|line| !line.is_empty()).collect();
    assert_eq!(lines.len(), 5);
    let mut book = book::Book::default();
    for line in lines {
        let Line::Record(record) = Line::from_bytes(line.as_bytes()).unwrap() else {
            panic!("{line}")
        };
        assert_eq!(record.to_line().unwrap(), line);
        book.apply(record).unwrap();
    }
    let states: Vec<State> = book.entries().iter().map(|entry| entry.state).collect();
    assert_eq!(states, [State::Settled, State::Withdrawn]);
    // A record with the longest path fits one line.
    let scene = Scene::new();
    let (terms, long) = (terms(u128::MAX), format!("/{}", "x".repeat(MAX_PATH_BYTES - 1)));
    let wanted = PaymentIntent { path: &long, ..wanted(&scene.open(), &terms) };
    scene.open().reserve(&wanted).unwrap();
    let longer = format!("{long}x");
    for path in [longer.as_str(), "/a}b", "/a\"b", "/a b", ""] {
        let error = scene.open().reserve(&PaymentIntent { path, ..wanted }).unwrap_err();
        assert_eq!(error.code(), "address_not_paid", "{path}");
    }
}

#[cfg(unix)]
#[test]
fn only_its_owner_reads_a_ledger() {
    use std::os::unix::fs::PermissionsExt;
    let scene = Scene::new();
    scene.open();
    let mode = fs::metadata(scene.path()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Whatever the order of the processes' steps, and wherever they end: the sent payments stay within every sender's
    /// limit.
    #[test]
    fn no_schedule_overspends(
        steps in proptest::collection::vec((0_usize..4, 0_u8..10, 1_u128..5), 1..60),
        limit in 5_u128..20,
    ) {
        let scene = Scene::new();
        let budget = budget(limit, Window::Total);
        let ledgers: Vec<Ledger> = (0..4).map(|_| scene.open()).collect();
        let mut at: [Option<(String, Terms)>; 4] = Default::default();
        let mut sent = 0;
        for (process, chance, units) in steps {
            let ledger = &ledgers[process];
            let Some((id, terms)) = at[process].take() else {
                let terms = terms(units);
                let id = ledger.reserve(&wanted(ledger, &terms)).unwrap();
                at[process] = Some((id, terms));
                continue;
            };
            if chance == 0 {
                // The process is killed here.
                continue;
            }
            let admission =
                ledger.admission(&id, &wanted(ledger, &terms), &[&budget], &Payees::FirstUse);
            match admission.unwrap() {
                Admission::Holds => {
                    ledger.sent(&id, Address([9; 20]), Word([7; 32])).unwrap();
                    sent += terms.amount.0;
                }
                Admission::Waits(_) if chance > 3 => at[process] = Some((id, terms)),
                Admission::Waits(_) | Admission::Refused(_) => ledger.withdraw(&id).unwrap(),
            }
            prop_assert!(sent <= limit, "{sent} of {limit}");
        }
        prop_assert_eq!(scene.open().budget_usage(&budget).unwrap().spent, Usdc(sent));
    }
}
