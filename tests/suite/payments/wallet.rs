//! Our own wallet, `exitgap exit --pay`, before the real service, and before somebody between them who
//! lies about payees, offers and outcomes.

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
use tempfile::TempDir;

use crate::scenes::between::between;
use crate::scenes::npm::said;
use crate::scenes::till::{SIZE, Till};

const HONEST: u8 = 0;
/// Names another payee in all offers.
const SWAPS_PAYEE: u8 = 1;
/// Names another payee in the offer of version 1.
const DISAGREES: u8 = 2;
/// Says that what was settled has failed.
const SAYS_FAILED: u8 = 3;

/// A payer with a key, and somebody between it and the service.
struct Wallet {
    till: Till,
    home: TempDir,
    ways: Arc<AtomicU8>,
    address: SocketAddr,
    _service: crate::scenes::service::Service,
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
        Self { till, home, ways, address, _service: service }
    }

    fn lie(&self, ways: u8) {
        self.ways.store(ways, Ordering::SeqCst);
    }

    fn exit(&self, address: SocketAddr, more: &[&str]) -> Output {
        let mut command = Command::new(binaries::path("exitgap"));
        command.args(["exit", &self.till.pool, "--size-usd", SIZE]);
        command.args(["--api", &format!("http://{address}")]).args(more);
        command.current_dir(self.home.path()).env("XDG_STATE_HOME", self.path("state"));
        command.output().unwrap()
    }

    /// Pays within 0.03 USDC.
    fn pay(&self) -> Output {
        let pay = ["--pay", "--pay-key", "key", "--network", "eip155:84532"];
        let within = ["--max-per-call", "0.01", "--budget", "0.03/24h"];
        self.exit(self.address, &[&pay[..], &within].concat())
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

/// The exit code and the code of a refusal.
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
    // But for the address at which each of them has its evidence.
    let lines = |output: &Output| {
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.lines().filter(|line| !line.starts_with("evidence")).map(str::to_owned).collect()
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
    for paid in 1..=3 {
        assert_eq!(refusal(&wallet.pay()), refused("payment_refused"));
        assert_eq!(wallet.till.prices_paid().await, paid, "it was settled all the same");
    }
    wallet.lie(HONEST);
    assert_eq!(refusal(&wallet.pay()), refused("budget_exceeded"));
    assert_eq!(wallet.till.prices_paid().await, 3);
}
