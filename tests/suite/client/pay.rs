//! `exitgap exit --pay` with a service that requires payment, and the npm package's wallet. The test's shop stands
//! between the client and a real service and answers 402 as specified.

use std::fs;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use exitgap_tests::faults::budget_shop::{PRICE, Shop, Ways};
use exitgap_tests::{binaries, fixtures};
use serde_json::Value;
use tempfile::TempDir;

use crate::scenes::npm::{root, said};
use crate::scenes::service::{Recorded, Service, recorded};

const KEY: &str = "1111111111111111111111111111111111111111111111111111111111111111";

/// A service behind a shop, and a client with a key.
struct Scene {
    recorded: Recorded,
    service: Service,
    shop: Shop,
    home: TempDir,
}

impl Scene {
    async fn new(ways: Ways) -> Self {
        let recorded = recorded(3).await;
        let service = Service::start(recorded.folder.path(), &["--no-record"], &[]);
        let shop = Shop::before(Some(service.address), ways, true).unwrap();
        let home = tempfile::tempdir().unwrap();
        let scene = Self { recorded, service, shop, home };
        scene.write_key(KEY, 0o600);
        scene
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    fn write_key(&self, text: &str, mode: u32) {
        fs::write(self.path("key"), text).unwrap();
        fs::set_permissions(self.path("key"), fs::Permissions::from_mode(mode)).unwrap();
    }

    /// Runs `exitgap exit` for one size with `address` as the service and more arguments.
    fn exit(&self, address: SocketAddr, more: &[&str]) -> Output {
        self.exit_of("25000", address, more)
    }

    fn exit_of(&self, size: &str, address: SocketAddr, more: &[&str]) -> Output {
        let mut command = Command::new(binaries::path("exitgap"));
        command.args(["exit", &self.recorded.pool(0), "--size-usd", size]);
        command.args(["--api", &format!("http://{address}")]).args(more);
        command.current_dir(self.home.path()).env("XDG_STATE_HOME", self.path("state"));
        command.output().unwrap()
    }

    /// The same with the shop as the service and these payment arguments.
    fn pay(&self, more: &[&str]) -> Output {
        self.pay_of("25000", more)
    }

    fn pay_of(&self, size: &str, more: &[&str]) -> Output {
        let pay = ["--pay", "--pay-key", "key", "--network", "eip155:84532"];
        self.exit_of(size, self.shop.address, &[&pay, more].concat())
    }
}

const WITHIN: [&str; 4] = ["--max-per-call", "0.01", "--budget", "0.02/24h"];

/// Returns the exit code and the error code.
fn refusal(output: &Output) -> (Option<i32>, String) {
    assert!(output.stdout.is_empty(), "{}", said(output));
    let words = String::from_utf8_lossy(&output.stderr);
    let code = words.split_once("error [").and_then(|(_, rest)| rest.split_once(']'));
    let code = code.unwrap_or_else(|| panic!("{words}")).0.to_owned();
    assert!(words.contains("hint: "), "{words}");
    (output.status.code(), code)
}

/// What a client answered, without the lines that name the time at which it answered.
fn without_clock(output: &Output) -> String {
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    let (clock, rest): (Vec<_>, Vec<_>) =
        text.lines().partition(|line| line.starts_with("age ") || line.starts_with("WARNING "));
    assert_eq!(clock.len(), 2, "{text}");
    rest.join("\n")
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_is_paid_for_within_its_budget_and_not_beyond() {
    let scene = Scene::new(Ways::Honest).await;
    let free = scene.exit(scene.service.address, &[]);
    assert!(free.status.success(), "{}", said(&free));
    assert_eq!(String::from_utf8_lossy(&free.stderr), "");

    let unpaid = scene.exit(scene.shop.address, &[]);
    assert_eq!(refusal(&unpaid), (Some(5), "payment_required".to_owned()));
    assert!(said(&unpaid).contains("exitgap exit --pay"), "{}", said(&unpaid));

    // The paid answer equals the free one, and the client recomputes it.
    let paid = scene.pay(&WITHIN);
    assert_eq!(without_clock(&paid), without_clock(&free));
    let words = String::from_utf8_lossy(&paid.stderr);
    assert!(words.starts_with("paid 0.01 USDC on eip155:84532 to 0x2020"), "{words}");
    assert!(words.contains("  0.01 of 0.02 USDC counted for 127.0.0.1:"), "{words}");
    assert!(scene.path("state/exitgap/pay-ledger.jsonl").is_file(), "the default ledger");

    // With --json, standard output contains only the document. The third payment exceeds the budget.
    let json = scene.pay(&[&WITHIN[..], &["--json"]].concat());
    let document: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert!(document["exit_gap_pct"].is_number(), "{document}");
    let third = scene.pay(&WITHIN);
    assert_eq!(refusal(&third), (Some(8), "budget_exceeded".to_owned()));
    assert!(said(&third).contains("of 0.02 for 127.0.0.1:"), "{}", said(&third));
    let taken = scene.shop.taken();
    assert_eq!((taken.payments.len(), taken.units()), (2, 2 * PRICE));
    assert_eq!(taken.refused, Vec::<String>::new(), "signatures are the payer's");

    // Another ledger has another budget, so naming one is a deliberate choice.
    let own = ["--ledger", "own.jsonl"];
    assert!(scene.pay(&[&WITHIN[..], &own].concat()).status.success());
    assert_eq!(scene.shop.taken().payments.len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_with_a_payment_is_said_before_anything_is_paid() {
    let scene = Scene::new(Ways::Honest).await;
    let with = |more: &[&str]| refusal(&scene.pay(more));
    let not_paid = |code: &str| (Some(8), code.to_owned());
    let budget = ["--budget", "1/24h"];
    let dear = [&["--max-per-call", "0.009"][..], &budget].concat();
    assert_eq!(with(&dear), not_paid("max_per_call_exceeded"));
    let stranger =
        [&WITHIN[..], &["--payee", "0x3333333333333333333333333333333333333333"]].concat();
    assert_eq!(with(&stranger), not_paid("payee_not_allowed"));
    let elsewhere = ["--pay", "--pay-key", "key"];
    let base = scene.exit(scene.shop.address, &[&elsewhere[..], &WITHIN].concat());
    assert_eq!(
        refusal(&base),
        not_paid("network_not_allowed"),
        "Base is what is paid on by default"
    );

    let usage = |more: &[&str]| {
        let output = scene.exit(scene.shop.address, more);
        (output.status.code(), said(&output))
    };
    let (code, words) = usage(&["--pay"]);
    assert!(code == Some(2) && words.contains("--max-per-call <USDC>"), "{words}");
    assert_eq!(usage(&WITHIN).0, Some(2), "without --pay");
    for wrong in ["1", "1/day", "NaN/24h", "1e3/24h"] {
        let found = with(&["--max-per-call", "0.01", "--budget", wrong]);
        assert_eq!(found, (Some(2), "invalid_parameter".to_owned()), "{wrong}");
    }
    assert_eq!(with(&[&["--max-per-call", "1e-2"][..], &budget].concat()).0, Some(2));

    // Only the owner may read the key, and it must not be an argument.
    scene.write_key(KEY, 0o644);
    let open = scene.pay(&WITHIN);
    assert_eq!(refusal(&open), (Some(5), "source_unreadable".to_owned()));
    assert!(said(&open).contains("chmod 600 key"), "{}", said(&open));
    scene.write_key(&format!("{KEY}22"), 0o600);
    let wrong = scene.pay(&WITHIN);
    assert_eq!(refusal(&wrong).0, Some(5));
    assert!(!said(&wrong).contains("1111"), "{}", said(&wrong));
    fs::remove_file(scene.path("key")).unwrap();
    assert!(said(&scene.pay(&WITHIN)).contains("No such file"));

    scene.write_key(KEY, 0o600);
    fs::write(scene.path("spent.jsonl"), "nothing of ours\n").unwrap();
    let broken = [&WITHIN[..], &["--ledger", "spent.jsonl"]].concat();
    assert_eq!(with(&broken), not_paid("ledger_unreadable"));
    assert!(scene.shop.taken().payments.is_empty(), "nothing was paid");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_payment_that_is_called_failed_is_said_and_counted() {
    let scene = Scene::new(Ways::SaysFailed).await;
    for (signed, size) in [(1, "25000"), (1, "25000"), (2, "26000"), (2, "26000")] {
        let lied = scene.pay_of(size, &WITHIN);
        assert_eq!(refusal(&lied), (Some(8), "payment_refused".to_owned()));
        assert!(said(&lied).contains("insufficient_funds"), "{}", said(&lied));
        assert!(said(&lied).contains("no other was signed"), "{}", said(&lied));
        assert_eq!(scene.shop.taken().payments.len(), signed, "a run continues with the payment");
    }
    assert_eq!(refusal(&scene.pay_of("27000", &WITHIN)), (Some(8), "budget_exceeded".to_owned()));
    assert_eq!(scene.shop.taken().units(), 2 * PRICE);
}

/// Runs a program with the package's wallet.
fn node(program: &str, arguments: &[&Path]) -> Output {
    let program = root().join("tests/js/pay").join(program);
    Command::new("node").arg(program).args(arguments).output().expect("node is there")
}

#[test]
fn the_packages_wallet_holds_what_it_says() {
    let output = node("cases.mjs", &[]);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "sound\n", "{}", said(&output));
}

#[test]
#[ignore = "fetches the official client: `cargo xtask test --all` runs it"]
fn the_official_client_is_guarded() {
    let clients = fixtures::folder().join("x402-clients");
    assert!(clients.is_dir(), "{} is missing: run `cargo xtask test --all`", clients.display());
    let output = node("official.mjs", &[&clients]);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "sound\n", "{}", said(&output));
}
