//! Receipts: every paid answer has one, a repeated answer has the same one, and a receipt can be verified offline.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use alloy::sol_types::SolCall;
use base64ct::{Base64UrlUnpadded, Encoding};
use exitgap_api::receipt::{Receipt, ReceiptJwk, ReceiptKey, ReceiptSigner};
use exitgap_core::evidence::Evidence;
use exitgap_tests::binaries;
use exitgap_tests::devchain::abi::FiatToken;
use serde_json::Value;
use tempfile::TempDir;

use crate::scenes::npm::said;
use crate::scenes::service::{Answer, Service};
use crate::scenes::till::{SIZE, Till, header_of, offers_of, transaction_of};
use crate::scenes::usdc::{PRICE, write_key};

/// Returns the receipt key that the service names.
fn key_of(service: &Service) -> ReceiptKey {
    let document = service.get("/v1/payments").found();
    let jwk: ReceiptJwk = serde_json::from_value(document["receipt_key"].clone()).unwrap();
    ReceiptKey::of_jwk(&jwk).unwrap()
}

/// Returns the receipt of a paid answer after verifying it.
#[track_caller]
fn receipt_of(service: &Service, answer: &Answer) -> (Receipt, String) {
    let estimate = answer.found();
    let text = answer.header("x-payment-receipt").expect("a receipt").to_owned();
    let receipt = Receipt::verify(&text, &key_of(service)).unwrap();
    receipt.check_answer(&answer.body).unwrap();
    assert_eq!(receipt.evidence_url.as_deref(), estimate["evidence_url"].as_str());
    let depth = &estimate["method"]["depth_source"];
    assert_eq!(Some(receipt.snapshot_hash.to_string().as_str()), depth["snapshot_hash"].as_str());
    assert_eq!(receipt.amount.0, u128::from(PRICE));
    (receipt, text)
}

/// The size of all response headers in bytes.
fn header_bytes(answer: &Answer) -> usize {
    answer.headers.iter().map(|(name, value)| name.len() + value.len() + 4).sum()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_paid_answer_has_a_receipt_of_it_and_the_same_again() {
    let till = Till::new().await;
    till.mine_at_once().await;
    let service = till.serve();
    for header in [till.header(&service, 1), till.header_v1(&service, 2)] {
        let answer = till.pay(&service, &header);
        let (receipt, text) = receipt_of(&service, &answer);
        assert_eq!(receipt.transaction.0, transaction_of(&answer).0);
        assert_eq!(receipt.payer.0, till.scene.payer.address().into_array());
        assert!(receipt.resource_url.ends_with(&till.target()), "{}", receipt.resource_url);
        let url = receipt.evidence_url.as_deref().unwrap();
        let evidence = service.get(&url[url.find("/api/").unwrap()..]);
        receipt.check_evidence(&Evidence::from_bytes(&evidence.body)).unwrap();
        // Another process, even with another key, returns the same receipt.
        let again = till.pay(&service, &header);
        assert_eq!(again.header("x-payment-receipt"), Some(text.as_str()));
        let signer = ReceiptSigner::from_seed([9; 32]);
        let other_key = till.recorded.path("other.key");
        let _ = exitgap_server::payments::write_signer(&other_key, &signer);
        let other = till.serve_with(&[("EXITGAP_PAYMENTS_RECEIPT_KEY_FILE", "other.key")]);
        assert_eq!(key_of(&other), signer.key());
        let again = till.pay(&other, &header);
        assert_eq!(again.header("x-payment-receipt"), Some(text.as_str()));
    }
    // A payment by a direct transfer has a receipt, too.
    let (chain, usdc) = (&till.scene.chain, &till.scene.usdc);
    let call = FiatToken::transferCall {
        to: till.scene.pay_to,
        value: alloy::primitives::U256::from(PRICE),
    };
    let request = serde_json::json!([{
        "from": chain.operator,
        "to": usdc.address,
        "input": alloy::primitives::Bytes::from(call.abi_encode()),
    }]);
    let hash: alloy::primitives::B256 = chain.rpc("eth_sendTransaction", request).await.unwrap();
    let proof = hash.to_string();
    let answer = service.ask("GET", &till.target(), &[("X-Payment-Proof", &proof)]);
    let (receipt, _) = receipt_of(&service, &answer);
    assert_eq!(receipt.transaction.to_string(), proof);
    // An unpaid answer has no receipt.
    assert_eq!(service.get(&till.target()).header("x-payment-receipt"), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn all_headers_pass_a_proxy_of_4096_bytes_also_of_the_longest_address() {
    let till = Till::new().await;
    till.mine_at_once().await;
    let host = format!("https://{}.example", "h".repeat(240));
    let service = till.serve_with(&[("EXITGAP_HTTP_BASE_URL", &host)]);
    // Every character of every value percent-encoded, and as many parameters as fit.
    let spelled = |byte: u8| ["%", &alloy::hex::encode_upper([byte])].concat();
    let spell = |text: &str| text.bytes().map(spelled).collect::<String>();
    let token = format!("{:#x}", till.recorded.world.pools[0].pool.token0);
    let slot = till.recorded.last.to_string();
    let values = [("size_usd", SIZE), ("base", &token), ("at", &slot), ("max_age_s", "4000000000")];
    let mut long = format!("/v1/exit/{}", spell(&till.pool));
    for (at, (name, value)) in values.into_iter().enumerate() {
        let name = spell(name);
        long.push(if at == 0 { '?' } else { '&' });
        long.extend([&name, "=", &spell(value)]);
    }
    assert!((440..=512).contains(&long.len()), "{}", long.len());
    let headers = [("Origin", "https://page.example")];
    for target in [till.target(), long] {
        let offer = service.ask("GET", &target, &headers);
        let offers = offers_of(&offer);
        assert!(header_bytes(&offer) < 4096, "{} {}", target.len(), header_bytes(&offer));
        let authorized = till.scene.authorized(u8::try_from(target.len() % 251).unwrap());
        let paid = header_of(offers.v2[0].as_ref().unwrap(), &authorized);
        let answer = service.ask("GET", &target, &[headers[0], (paid.0, &paid.1)]);
        assert_eq!(answer.status, 200, "{}", String::from_utf8_lossy(&answer.body));
        let exposed = answer.header("access-control-expose-headers").unwrap();
        assert!(exposed.contains("x-payment-receipt"), "{exposed}");
        assert!(header_bytes(&answer) < 4096, "{} {}", target.len(), header_bytes(&answer));
    }
    let longer = format!("{}&base={}", till.target(), "a".repeat(512));
    assert_eq!(service.get(&longer).problem().1, "address_too_long");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_key_of_its_own_nothing_is_sold() {
    let till = Till::new().await;
    let path = till.recorded.path("payments-receipt.key");
    let serve = || {
        let mut command = Command::new(binaries::path("exitgap-server"));
        command.args(["serve", "--listen", "127.0.0.1:0", "--no-record"]);
        let output = command.current_dir(till.recorded.folder.path()).output().unwrap();
        assert!(!output.status.success());
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    fs::copy(till.recorded.path("exitgap.key"), &path).unwrap();
    let words = serve();
    assert!(words.contains("[payments] receipt_key_file"), "{words}");
    assert!(words.contains("this is the key of a log; receipts use a separate key"), "{words}");
    // The same secret key in the format of receipt keys.
    let secret = fs::read_to_string(till.recorded.path("exitgap.key")).unwrap();
    let encoded = secret.trim().splitn(5, '+').nth(4).unwrap();
    let seed = base64ct::Base64::decode_vec(encoded).unwrap();
    fs::remove_file(&path).unwrap();
    let signer = ReceiptSigner::from_seed(seed[1..].try_into().unwrap());
    exitgap_server::payments::write_signer(&path, &signer).unwrap();
    let words = serve();
    assert!(words.contains("this is the key of a log"), "{words}");
    fs::remove_file(&path).unwrap();
    let words = serve();
    assert!(words.contains("exitgap-server key receipts --out"), "{words}");
}

/// A client with a key and a ledger, and the paid service.
struct Buyer {
    till: Till,
    service: Service,
    home: TempDir,
}

impl Buyer {
    async fn new() -> Self {
        let till = Till::new().await;
        till.mine_at_once().await;
        let service = till.serve();
        let home = TempDir::new().unwrap();
        write_key(&home.path().join("hex"), 0x11);
        let hex = fs::read_to_string(home.path().join("hex")).unwrap();
        fs::write(home.path().join("hex"), hex.trim().trim_start_matches("0x")).unwrap();
        Self { till, service, home }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(binaries::path("exitgap"));
        command.args(arguments).current_dir(self.home.path());
        command.env("XDG_STATE_HOME", self.path("state")).output().unwrap()
    }

    fn pay(&self, more: &[&str]) -> Output {
        let api = format!("http://{}", self.service.address);
        let words = ["exit", &self.till.pool, "--size-usd", SIZE, "--api", &api, "--pay"];
        let wallet = ["--pay-key", "hex", "--max-per-call", "0.01", "--budget", "1/24h"];
        let network = ["--network", "eip155:84532", "--ledger", "ledger.jsonl"];
        self.run(&[&words[..], &wallet, &network, more].concat())
    }

    fn verify(&self, more: &[&str]) -> (Option<i32>, Value) {
        let output = self.run(&[&["verify-receipt", "--json"][..], more].concat());
        let document = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
        (output.status.code(), document)
    }
}

fn code(output: &Output) -> (Option<i32>, String) {
    let words = String::from_utf8_lossy(&output.stderr);
    let code = words.split_once("error [").and_then(|(_, rest)| rest.split_once(']'));
    (output.status.code(), code.map_or(String::new(), |(code, _)| code.to_owned()))
}

#[tokio::test(flavor = "multi_thread")]
async fn the_command_keeps_its_receipt_and_holds_the_service_to_its_first_key() {
    let buyer = Buyer::new().await;
    let paid = buyer.pay(&["--receipt", "receipt.jws", "--json"]);
    assert!(paid.status.success(), "{}", said(&paid));
    let words = String::from_utf8_lossy(&paid.stderr).into_owned();
    let kid = key_of(&buyer.service).kid();
    assert!(
        words.contains(&format!("receipt verified with key {kid}, saved to receipt.jws")),
        "{words}"
    );
    let text = fs::read_to_string(buyer.path("receipt.jws")).unwrap();
    Receipt::verify(text.trim_end(), &key_of(&buyer.service)).unwrap();
    let kept = fs::read_to_string(buyer.path("ledger.jsonl.receipt-keys")).unwrap();
    assert_eq!(kept.lines().filter(|line| !line.is_empty()).count(), 1);
    // The printed document is the paid answer.
    fs::write(buyer.path("printed.json"), &paid.stdout).unwrap();
    let key = key_of(&buyer.service).to_string();
    let (status, document) =
        buyer.verify(&["receipt.jws", "--key", &key, "--answer", "printed.json"]);
    assert_eq!(status, Some(0), "{document}");
    // The client does not overwrite an existing file, and then it does not pay.
    let before = buyer.till.prices_paid().await;
    assert_eq!(
        code(&buyer.pay(&["--receipt", "receipt.jws"])),
        (Some(2), "invalid_parameter".to_owned())
    );
    assert_eq!(buyer.till.prices_paid().await, before);
    let again = buyer.pay(&[]);
    assert!(said(&again).contains("use --receipt FILE to save it"), "{}", said(&again));
    // If the service uses another key than the remembered one, the answer is accepted, but the receipt is not.
    let stranger = ReceiptSigner::from_seed([5; 32]).key().to_string();
    let other = kept.replace(&key_of(&buyer.service).to_string(), &stranger);
    fs::write(buyer.path("ledger.jsonl.receipt-keys"), other).unwrap();
    let changed = buyer.pay(&["--json"]);
    assert_eq!(code(&changed).0, Some(6), "{}", said(&changed));
    let document: Value = serde_json::from_slice(&changed.stdout).unwrap();
    assert!(document["exit_gap_pct"].is_number());
    assert!(said(&changed).contains("receipt_other_key"), "{}", said(&changed));
    let named = buyer.pay(&["--receipt-key", &key_of(&buyer.service).to_string()]);
    assert!(named.status.success(), "{}", said(&named));
    let named = buyer.pay(&["--receipt-key", &stranger]);
    assert_eq!(code(&named), (Some(6), "receipt_other_key".to_owned()));
    assert_eq!(buyer.till.prices_paid().await, 5);
}

/// The receipt's text with one part changed.
fn with_part(text: &str, part: usize, change: impl Fn(&str) -> String) -> String {
    let mut parts: Vec<String> = text.split('.').map(str::to_owned).collect();
    let bytes = Base64UrlUnpadded::decode_vec(&parts[part]).unwrap();
    let changed = change(std::str::from_utf8(&bytes).unwrap());
    parts[part] = Base64UrlUnpadded::encode_string(changed.as_bytes());
    parts.join(".")
}

/// A receipt with its key, its answer and its evidence, as files.
async fn bought() -> (Buyer, String) {
    let buyer = Buyer::new().await;
    let header = buyer.till.header(&buyer.service, 1);
    let answer = buyer.till.pay(&buyer.service, &header);
    let text = answer.header("x-payment-receipt").unwrap().to_owned();
    let write = |name: &str, bytes: &[u8]| fs::write(buyer.path(name), bytes).unwrap();
    write("receipt.jws", format!("{text}\n").as_bytes());
    write("answer.json", &answer.body);
    write("payments.json", &buyer.service.get("/v1/payments").body);
    let url = answer.found()["evidence_url"].as_str().unwrap().to_owned();
    let target = url[url.find("/api/").unwrap()..].to_owned();
    write("evidence.json", &buyer.service.get(&target).body);
    let other = target.replace(&format!("size_usd={SIZE}"), "size_usd=2000");
    assert_ne!(other, target);
    write("other-size.json", &buyer.service.get(&other).body);
    let other = buyer.till.recorded.pool(1);
    let ladder = buyer.service.get(&format!("/v1/ladder/{other}")).found();
    let url = ladder["by_size"][0]["evidence_url"].as_str().expect("evidence").to_owned();
    write("other-pool.json", &buyer.service.get(&url[url.find("/api/").unwrap()..]).body);
    (buyer, text)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_receipt_is_checked_offline_and_refusals_say_what_is_wrong() {
    let (buyer, text) = bought().await;
    let key = ["--key", "payments.json"];
    let all =
        [&["receipt.jws"][..], &key, &["--answer", "answer.json", "--evidence", "evidence.json"]];
    let words = buyer.run(&[&["verify-receipt"][..], &all.concat()].concat());
    assert!(words.status.success(), "{}", said(&words));
    let words = String::from_utf8_lossy(&words.stdout).into_owned();
    for expected in [
        "VALID",
        "0.01 USDC on eip155:84532",
        "signature   pass",
        "answer      pass",
        "evidence    pass",
    ] {
        assert!(words.contains(expected), "{expected}: {words}");
    }
    let (status, document) = buyer.verify(&all.concat());
    assert_eq!((status, document["verdict"].as_str()), (Some(0), Some("valid")));
    assert_eq!(document["receipt"]["network"], "eip155:84532");
    let refused = |more: &[&str], expected: (i32, &str, &str)| {
        let (status, document) = buyer.verify(more);
        let found = document["checks"]
            .as_array()
            .and_then(|checks| checks.iter().find(|check| check["code"].is_string()).cloned());
        let found = found.unwrap_or_else(|| panic!("{expected:?}: {document}"));
        let code = found["code"].as_str().unwrap();
        let verdict = document["verdict"].as_str().unwrap();
        assert_eq!((status.unwrap(), verdict, code), expected, "{document}");
        assert!(!found["detail"].as_str().unwrap().is_empty());
    };
    let of = |name: &'static str| [&["receipt.jws"][..], &key, &["--evidence", name]].concat();
    refused(&of("other-size.json"), (6, "invalid", "receipt_other_evidence"));
    refused(&of("other-pool.json"), (6, "invalid", "receipt_other_snapshot"));
    refused(&of("answer.json"), (7, "incomplete", "evidence_unreadable"));
    let other_answer = [&["receipt.jws"][..], &key, &["--answer", "payments.json"]].concat();
    refused(&other_answer, (6, "invalid", "receipt_other_answer"));
    let stranger = ReceiptSigner::from_seed([5; 32]).key().to_string();
    refused(&["receipt.jws", "--key", &stranger], (6, "invalid", "receipt_other_key"));
    let changes: [(String, &str); 6] = [
        (with_part(&text, 0, |json| json.replace("EdDSA", "none")), "receipt_algorithm"),
        (with_part(&text, 0, |json| json.replace("EdDSA", "HS256")), "receipt_algorithm"),
        (with_part(&text, 1, |json| json.replace("\"10000\"", "\"10\"")), "receipt_signature"),
        (format!("{text}="), "receipt_malformed"),
        (text.replace('.', ","), "receipt_malformed"),
        ("A".repeat(20_000), "receipt_too_large"),
    ];
    for (changed, code) in changes {
        fs::write(buyer.path("changed.jws"), changed).unwrap();
        refused(&[&["changed.jws"][..], &key].concat(), (6, "invalid", code));
    }
    let unreadable = |more: &[&str]| buyer.run(&[&["verify-receipt"][..], more].concat());
    assert_eq!(code(&unreadable(&["nowhere", "--key", "payments.json"])).0, Some(5));
    assert_eq!(code(&unreadable(&["receipt.jws", "--key", "nowhere"])).0, Some(2));
    assert_eq!(code(&unreadable(&["receipt.jws", "--key", "answer.json"])).0, Some(5));
    fs::write(buyer.path("long"), vec![b' '; (1 << 20) + 1]).unwrap();
    let long = [&["receipt.jws"][..], &key, &["--answer", "long"]].concat();
    assert!(said(&unreadable(&long)).contains("larger than the limit of 1048576 bytes"));
}
