//! This project's wallet, `exitgap exit --pay`, with the real service, and with a proxy that falsifies payees, offers
//! and outcomes.

use std::fs;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use base64ct::{Base64, Encoding};
use exitgap_api::x402::Settlement;
use exitgap_tests::binaries;
use exitgap_tests::devchain::{DevChain, Options};
use serde_json::Value;
use tempfile::TempDir;

use crate::scenes::between::between;
use crate::scenes::npm::said;
use crate::scenes::service::Service;
use crate::scenes::till::{SIZE, Till};

const HONEST: u8 = 0;
/// Replaces the payee in all offers.
const SWAPS_PAYEE: u8 = 1;
/// Replaces the payee in the version 1 offer.
const DISAGREES: u8 = 2;
/// Reports a settled payment as failed.
const SAYS_FAILED: u8 = 3;

/// A payer with a key, and a proxy between the payer and the service.
struct Wallet {
    till: Till,
    home: TempDir,
    ways: Arc<AtomicU8>,
    address: SocketAddr,
    service: Option<Service>,
}

impl Wallet {
    async fn new() -> Self {
        let till = Till::new().await;
        till.mine_at_once().await;
        let (service, home) = (till.serve(), tempfile::tempdir().unwrap());
        fs::write(home.path().join("key"), "11".repeat(32)).unwrap();
        fs::set_permissions(home.path().join("key"), fs::Permissions::from_mode(0o600)).unwrap();
        let ways = Arc::new(AtomicU8::new(HONEST));
        let (seen, payee) = (ways.clone(), format!("{:#x}", till.scene.pay_to));
        let address = between(service.address, move |head, answer| {
            lie(seen.load(Ordering::SeqCst), &payee, head, answer)
        });
        Self { till, home, ways, address, service: Some(service) }
    }

    fn lie(&self, ways: u8) {
        self.ways.store(ways, Ordering::SeqCst);
    }

    fn exit(&self, address: SocketAddr, more: &[&str]) -> Output {
        self.exit_of(SIZE, address, more)
    }

    fn exit_of(&self, size: &str, address: SocketAddr, more: &[&str]) -> Output {
        let mut command = Command::new(binaries::path("exitgap"));
        command.args(["exit", &self.till.pool, "--size-usd", size]);
        command.args(["--api", &format!("http://{address}")]).args(more);
        command.current_dir(self.home.path()).env("XDG_STATE_HOME", self.path("state"));
        command.output().unwrap()
    }

    /// Pays with a budget of 0.03 USDC.
    fn pay(&self) -> Output {
        self.pay_of(SIZE)
    }

    /// The same for another size, which is a different request.
    fn pay_of(&self, size: &str) -> Output {
        let pay = ["--pay", "--pay-key", "key", "--network", "eip155:84532"];
        let within = ["--max-per-call", "0.01", "--budget", "0.03/24h"];
        self.exit_of(size, self.address, &[&pay[..], &within].concat())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }
}

fn lie(ways: u8, payee: &str, head: &str, answer: Vec<u8>) -> Vec<u8> {
    let text = String::from_utf8_lossy(&answer).into_owned();
    let other = format!("0x{}", "99".repeat(20));
    let is_offer = text.starts_with("HTTP/1.1 402");
    let pays = head.to_ascii_lowercase().contains("payment-signature:");
    match ways {
        SWAPS_PAYEE if is_offer => {
            let offer = text.lines().find_map(|line| line.strip_prefix("payment-required: "));
            let offer = offer.expect("an offer");
            let plain = String::from_utf8(Base64::decode_vec(offer).unwrap()).unwrap();
            let swapped = Base64::encode_string(plain.replace(payee, &other).as_bytes());
            text.replace(offer, &swapped).replace(payee, &other).into_bytes()
        }
        DISAGREES if is_offer => {
            let (head, body) = text.split_once("\r\n\r\n").unwrap();
            [head, "\r\n\r\n", &body.replace(payee, &other)].concat().into_bytes()
        }
        SAYS_FAILED if pays => {
            let settlement = Settlement {
                success: false,
                error_reason: Some("insufficient_funds".to_owned()),
                transaction: String::new(),
                network: "eip155:84532".to_owned(),
                payer: None,
            };
            let told = settlement.to_header();
            let head = "HTTP/1.1 402 x\r\nConnection: close\r\nContent-Length: 2";
            format!("{head}\r\nPAYMENT-RESPONSE: {told}\r\n\r\n{{}}").into_bytes()
        }
        _ => answer,
    }
}

/// Returns the exit code and the error code.
fn refusal(output: &Output) -> (Option<i32>, String) {
    assert!(output.stdout.is_empty(), "{}", said(output));
    let words = String::from_utf8_lossy(&output.stderr);
    let code = words.split_once("error [").and_then(|(_, rest)| rest.split_once(']'));
    (output.status.code(), code.unwrap_or_else(|| panic!("{words}")).0.to_owned())
}

fn refused(code: &str) -> (Option<i32>, String) {
    (Some(8), code.to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn our_wallet_pays_the_service_and_gets_what_is_free_elsewhere() {
    let wallet = Wallet::new().await;
    let free = wallet.till.serve_with(&[("EXITGAP_PAYMENTS_ENABLED", "false")]);
    let free = wallet.exit(free.address, &[]);
    assert!(free.status.success(), "{}", said(&free));
    let paid = wallet.pay();
    assert!(paid.status.success(), "{}", said(&paid));
    // The answers differ only in the address of their evidence, and in the second at which their age was computed.
    let lines = |output: &Output| {
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let same = |line: &&str| !["evidence", "age"].iter().any(|own| line.starts_with(own));
        text.lines().filter(same).map(str::to_owned).collect()
    };
    let (answer, same): (Vec<_>, Vec<_>) = (lines(&paid), lines(&free));
    assert!(answer.len() > 10);
    assert_eq!(answer, same);
    let words = String::from_utf8_lossy(&paid.stderr);
    assert!(words.starts_with("paid 0.01 USDC on eip155:84532 to 0x7777"), "{words}");
    assert_eq!(wallet.till.prices_paid().await, 1);
    let ledger = fs::read_to_string(wallet.path("state/exitgap/pay-ledger.jsonl")).unwrap();
    assert!(ledger.contains("settled"), "{ledger}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_payee_that_was_swapped_on_the_way_is_not_paid() {
    let wallet = Wallet::new().await;
    assert!(wallet.pay().status.success(), "the payee is known from now on");
    wallet.lie(SWAPS_PAYEE);
    assert_eq!(refusal(&wallet.pay()), refused("payee_changed"));
    assert_eq!(wallet.till.prices_paid().await, 1);
    wallet.lie(HONEST);
    assert!(wallet.pay().status.success());
    assert_eq!(wallet.till.prices_paid().await, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn offers_of_the_service_that_were_made_to_disagree_are_not_paid() {
    let wallet = Wallet::new().await;
    wallet.lie(DISAGREES);
    assert_eq!(refusal(&wallet.pay()), refused("offer_inconsistent"));
    assert_eq!(wallet.till.prices_paid().await, 0);
    wallet.lie(HONEST);
    assert!(wallet.pay().status.success(), "the control");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_called_failed_and_was_settled_stays_counted() {
    let wallet = Wallet::new().await;
    wallet.lie(SAYS_FAILED);
    for (paid, size) in [(1, SIZE), (1, SIZE), (2, "2000"), (3, "3000"), (3, "3000")] {
        assert_eq!(refusal(&wallet.pay_of(size)), refused("payment_refused"));
        assert_eq!(wallet.till.prices_paid().await, paid, "it was settled all the same, and once");
    }
    wallet.lie(HONEST);
    assert_eq!(refusal(&wallet.pay_of("4000")), refused("budget_exceeded"));
    // The same payment leads to the answer that was paid for.
    let answered = wallet.pay_of("3000");
    assert!(answered.status.success(), "{}", said(&answered));
    assert_eq!(wallet.till.prices_paid().await, 3);
}

impl Wallet {
    /// Reconciles the payments with the chain at `url`; returns the exit code and the output.
    fn reconcile(&self, url: &str, network: &str) -> (Option<i32>, Value) {
        let mut command = Command::new(binaries::path("exitgap"));
        command.args(["--json", "pay", "reconcile", "--rpc", url, "--network", network]);
        command.current_dir(self.home.path()).env("XDG_STATE_HOME", self.path("state"));
        let output = command.output().unwrap();
        let told = serde_json::from_slice(&output.stdout);
        (output.status.code(), told.unwrap_or_else(|_| panic!("{}", said(&output))))
    }

    /// The states of all payments in the ledger.
    fn states(&self) -> Vec<String> {
        let mut command = Command::new(binaries::path("exitgap"));
        command.args(["--json", "pay", "ledger"]);
        command.current_dir(self.home.path()).env("XDG_STATE_HOME", self.path("state"));
        let output = command.output().unwrap();
        let list: Value = serde_json::from_slice(&output.stdout).unwrap();
        let payments = list["payments"].as_array().unwrap().iter();
        payments.map(|payment| payment["state"].as_str().unwrap().to_owned()).collect()
    }

    /// Mines blocks until everything so far is final.
    async fn make_final(&self) {
        let blocks = ("0x46", "0x0");
        let _: Value = self.till.scene.chain.rpc("anvil_mine", blocks).await.unwrap();
    }
}

/// The expected output of `reconcile`: the settled, released and remaining amounts.
fn sums(settled: &str, released: &str, left: &str) -> Value {
    serde_json::json!({
        "network": "eip155:84532",
        "settled_usdc": settled, "released_usdc": released, "left_usdc": left,
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn the_chain_alone_gives_back_what_was_sent() {
    let mut wallet = Wallet::new().await;
    let (url, here) = (wallet.till.scene.chain.url(), "eip155:84532");
    // The deployment of the token is final.
    wallet.make_final().await;
    wallet.lie(SAYS_FAILED);
    assert_eq!(refusal(&wallet.pay()), refused("payment_refused"));
    assert_eq!(wallet.till.prices_paid().await, 1, "it was settled all the same");
    // The transaction of the second payment is never mined.
    let manual: Value = wallet.till.scene.chain.rpc("evm_setAutomine", (false,)).await.unwrap();
    assert_eq!(manual, Value::Null);
    assert_eq!(refusal(&wallet.pay_of("2000")), refused("payment_refused"));
    wallet.till.until_sent().await;
    drop(wallet.service.take());
    wallet.till.drop_sent().await;
    assert_eq!(wallet.states(), ["sent", "sent"]);

    // Nothing since then is final yet.
    assert_eq!(wallet.reconcile(&url, here), (Some(0), sums("0", "0", "0.02")));
    // With an unreachable node or a node of another chain, no amount is released.
    let other = DevChain::start(Options::default()).await.unwrap();
    for wrong in ["http://127.0.0.1:9", &other.url()] {
        assert_eq!(wallet.reconcile(wrong, here), (Some(5), sums("0", "0", "0.02")), "{wrong}");
    }
    assert_eq!(wallet.states(), ["sent", "sent"]);

    wallet.make_final().await;
    assert_eq!(wallet.reconcile(&url, here), (Some(0), sums("0.01", "0", "0.01")));
    let _: Value = wallet.till.scene.chain.rpc("evm_increaseTime", (700,)).await.unwrap();
    wallet.make_final().await;
    assert_eq!(wallet.reconcile(&url, here), (Some(0), sums("0", "0.01", "0")));
    assert_eq!(wallet.states(), ["settled", "released"]);
    assert_eq!(wallet.till.prices_paid().await, 1);
    assert_eq!(wallet.reconcile("http://127.0.0.1:9", here), (Some(0), sums("0", "0", "0")));
}
