//! Attempts to get answers without paying, and their defenses: the service neither charges nor answers wrongly.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::thread;
use std::time::Duration;

use alloy::primitives::{Address, B256, U256};
use alloy::sol_types::SolCall;
use exitgap_tests::devchain::abi::FiatToken;
use exitgap_tests::devchain::{Rng, Tx};
use serde_json::{Value, json};

use crate::scenes::between::between;
use crate::scenes::service::{Answer, exchange};
use crate::scenes::till::{Till, settlement_of, transaction_of};
use crate::scenes::usdc::{PRICE, Scene, now_s};

const PROOF: &str = "X-Payment-Proof";

fn reason_of(answer: &Answer) -> (u16, String) {
    (answer.status, answer.json()["reason"].as_str().unwrap_or_default().to_owned())
}

fn unpaid(reason: &str) -> (u16, String) {
    (402, reason.to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transaction_that_reverted_pays_nothing() {
    let till = Till::new().await;
    let service = till.serve();
    let chain = &till.scene.chain;
    // The transfer exceeds the sender's balance. The gas limit is explicit, because the node would otherwise refuse to
    // send a call that reverts.
    let call = FiatToken::transferCall { to: till.scene.pay_to, value: U256::from(PRICE) };
    let request = json!([{
        "from": chain.trader, "to": till.scene.usdc.address, "gas": "0x30d40",
        "input": alloy::primitives::Bytes::from(call.abi_encode()),
    }]);
    let hash: B256 = chain.rpc("eth_sendTransaction", request).await.unwrap();
    till.scene.mine_pending().await;
    let receipt: Value = chain.rpc("eth_getTransactionReceipt", (hash,)).await.unwrap();
    assert_eq!(receipt["status"], "0x0", "it reverted");
    let answer = service.ask("GET", &till.target(), &[(PROOF, &hash.to_string())]);
    assert_eq!(reason_of(&answer), unpaid("payment_reverted"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transfer_of_long_ago_pays_nothing() {
    let scene = Scene::begun(3_600).await;
    let call = FiatToken::transferCall { to: scene.pay_to, value: U256::from(PRICE) };
    let pay = async |at_s: u64| {
        let tx = Tx::call(scene.chain.operator, scene.usdc.address, &call);
        scene.chain.mine(at_s, &[tx]).await.unwrap().receipts[0].transaction_hash.to_string()
    };
    let old = pay(now_s() - 1_000).await;
    let recent = pay(now_s() - 600).await;
    scene.chain.mine(now_s(), &[]).await.unwrap();
    let url = scene.chain.url();
    let till = Till::behind(scene, &url).await;
    let service = till.serve();
    let ask = |proof: &str| service.ask("GET", &till.target(), &[(PROOF, proof)]);
    assert_eq!(reason_of(&ask(&old)), unpaid("proof_expired"));
    assert_eq!(ask(&recent).status, 200, "the control");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transaction_of_something_else_pays_nothing() {
    let till = Till::new().await;
    let service = till.serve();
    let (chain, usdc) = (&till.scene.chain, &till.scene.usdc);
    // Native coin to the payee, and a token transfer between two other accounts.
    let coin = Tx {
        from: chain.trader,
        to: Some(till.scene.pay_to),
        data: alloy::primitives::Bytes::new(),
        value: U256::from(10).pow(U256::from(18)),
    };
    let other = FiatToken::transferCall { to: Address::repeat_byte(6), value: U256::from(PRICE) };
    let other = Tx::call(chain.operator, usdc.address, &other);
    for receipt in chain.mine_next(&[coin, other]).await.unwrap().receipts {
        let proof = receipt.transaction_hash.to_string();
        let answer = service.ask("GET", &till.target(), &[(PROOF, &proof)]);
        assert_eq!(reason_of(&answer), unpaid("payment_not_found"));
    }
    assert_eq!(till.prices_paid().await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_payer_that_empties_its_account_after_it_was_verified_gets_no_answer() {
    let till = Till::new().await;
    let service = till.serve();
    let (chain, usdc, payer) = (&till.scene.chain, &till.scene.usdc, till.scene.payer.address());
    let header = till.header(&service, 1);
    let _: Value = chain.rpc("anvil_impersonateAccount", (payer,)).await.unwrap();
    chain.set_balance(payer, U256::from(10).pow(U256::from(20))).await.unwrap();
    let all = usdc.balance(chain, payer).await.unwrap();
    let answer = thread::scope(|scope| {
        let asked = scope.spawn(|| till.pay(&service, &header));
        tokio::task::block_in_place(|| {
            tokio::runtime::Handle::current().block_on(async {
                till.until_sent().await;
                till.drop_sent().await;
                let drain = FiatToken::transferCall { to: Address::repeat_byte(9), value: all };
                chain.mine_next(&[Tx::call(payer, usdc.address, &drain)]).await.unwrap();
                // The service sends it again, and it reverts.
                till.until_sent().await;
                till.scene.mine_pending().await;
            });
        });
        asked.join().unwrap()
    });
    let mut answer = answer;
    for _ in 0..30 {
        if answer.status != 503 {
            break;
        }
        thread::sleep(Duration::from_millis(300));
        answer = till.pay(&service, &header);
    }
    assert_eq!(answer.status, 402, "{}", String::from_utf8_lossy(&answer.body));
    assert!(!settlement_of(&answer).success);
    assert_eq!(till.prices_paid().await, 0);
}

/// A random proof: its length is random, up to twice that of a claim, or one of the two valid lengths.
fn made_up(rng: &mut Rng) -> String {
    let bytes = match rng.below(4) {
        0 => rng.below(200),
        1 | 2 => 32,
        _ => 97,
    };
    let bytes: Vec<u8> = (0..bytes).map(|_| rng.next_u64().to_be_bytes()[0]).collect();
    let hex = alloy::primitives::hex::encode(bytes);
    let prefix = if rng.once_in(5) { "" } else { "0x" };
    format!("{prefix}{hex}")
}

/// Asks with 625 of them; how many were no proofs, and how many paid nothing.
async fn ask_made_up(url: String, seed: u64) -> [u32; 2] {
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let (mut rng, mut codes) = (Rng::new(seed), [0; 2]);
    for _ in 0..625 {
        let proof = made_up(&mut rng);
        let answer = http.get(&url).header(PROOF, &proof).send().await.unwrap();
        let status = answer.status().as_u16();
        let document: Value = serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap();
        let place = match (status, document["code"].as_str().unwrap()) {
            (400, "payment_malformed") => 0,
            (402, "payment_required") => 1,
            other => panic!("{other:?} to {proof}"),
        };
        codes[place] += 1;
    }
    codes
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: `cargo xtask test --all` runs it"]
async fn ten_thousand_made_up_proofs_are_refused_and_break_nothing() {
    let till = Till::new().await;
    let unlimited =
        [("EXITGAP_HTTP_RATE_PER_MINUTE", "0"), ("EXITGAP_HTTP_MAX_CONNECTIONS_PER_ADDRESS", "0")];
    let service = till.serve_with(&unlimited);
    let url = format!("http://{}{}", service.address, till.target());
    let mut clients = tokio::task::JoinSet::new();
    for seed in 0..16 {
        clients.spawn(ask_made_up(url.clone(), seed));
    }
    let mut all = [0; 2];
    while let Some(codes) = clients.join_next().await {
        all.iter_mut().zip(codes.unwrap()).for_each(|(sum, more)| *sum += more);
    }
    assert_eq!(all.iter().sum::<u32>(), 10_000);
    assert!(all.iter().all(|count| *count > 500), "{all:?}");
    assert_eq!(till.prices_paid().await, 0);
    till.mine_at_once().await;
    let header = till.header(&service, 1);
    assert_eq!(till.pay(&service, &header).status, 200, "it goes on");
}

/// A proxy that rejects request heads of more than 4 KiB, as some proxies do by default.
fn narrow_proxy(service: SocketAddr) -> SocketAddr {
    between(service, |_, answer| {
        let head = answer.windows(4).position(|four| four == b"\r\n\r\n").unwrap_or(answer.len());
        if head + 4 > 4_096 {
            return b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n".to_vec();
        }
        answer
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_proxy_that_takes_heads_of_4_kib_passes_every_answer() {
    let till = Till::new().await;
    let service = till.serve();
    let proxy = narrow_proxy(service.address);
    // The longest accepted address: the offer repeats it.
    let target = format!("{}&base={:#x}", till.target(), till.recorded.world.pools[0].pool.token0);
    let ask = |headers: &[(&str, &str)]| {
        let lines: Vec<_> =
            headers.iter().flat_map(|(name, value)| [*name, ": ", *value, "\r\n"]).collect();
        let lines = lines.concat();
        let request =
            format!("GET {target} HTTP/1.1\r\nHost: a\r\n{lines}Connection: close\r\n\r\n");
        exchange(proxy, request.as_bytes())
    };
    let offer = ask(&[("Origin", "https://page.example")]);
    assert_eq!(offer.status, 402);
    assert!(offer.header("payment-required").is_some());
    let [v2, v1] = [till.header(&service, 1), till.header_v1(&service, 2)];
    let pending = ask(&[(v2.0, &v2.1)]);
    assert_eq!(pending.problem().1, "payment_pending");
    till.mine_at_once().await;
    till.scene.mine_pending().await;
    for header in [&v2, &v1] {
        let answer = ask(&[(header.0, &header.1), ("Origin", "https://page.example")]);
        assert_eq!(answer.status, 200, "{}", String::from_utf8_lossy(&answer.body));
        assert!(!transaction_of(&answer).is_zero());
    }
    assert_eq!(till.prices_paid().await, 2);
    // Control: a longer head does not pass the proxy.
    let long = TcpListener::bind("127.0.0.1:0").unwrap();
    let behind = long.local_addr().unwrap();
    thread::spawn(move || {
        let (mut client, _) = long.accept().unwrap();
        let _ = client.read(&mut [0; 1_024]);
        let head = format!("HTTP/1.1 200 OK\r\nA: {}\r\n\r\n", "a".repeat(4_096));
        client.write_all(head.as_bytes()).unwrap();
    });
    let refused = exchange(narrow_proxy(behind), b"GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_eq!(refused.status, 502);
}
