//! Crashes, timeouts and races: nobody pays twice, and every payer gets the answer.

use std::io::Write;
use std::net::TcpStream;
use std::process::Command;
use std::thread;
use std::time::Duration;

use alloy::primitives::{B256, U256};
use exitgap_tests::devchain::PrivateKeySigner;
use exitgap_tests::devchain::Tx;
use exitgap_tests::devchain::abi::TransferWithAuthorization;
use exitgap_tests::postgres::{Cluster, SERVICE};
use serde_json::Value;

use crate::scenes::proxy::{Lie, Proxy};
use crate::scenes::service::{Answer, Service};
use crate::scenes::till::{Till, header_of, offers_of, settlement_of, transaction_of};
use crate::scenes::usdc::{Scene, now_s, soon};

/// Repeats a payment until its outcome is known.
fn until_known(till: &Till, service: &Service, header: &(&'static str, String)) -> Answer {
    for _ in 0..30 {
        let answer = till.pay(service, header);
        if answer.status != 503 {
            return answer;
        }
        thread::sleep(Duration::from_millis(300));
    }
    panic!("the payment stays pending");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_mined_yet_is_a_503_and_never_another_price() {
    let till = Till::new().await;
    let service = till.serve();
    let header = till.header(&service, 1);
    let answer = till.pay(&service, &header);
    assert_eq!(answer.problem(), (503, "payment_pending".to_owned(), None));
    assert_eq!(answer.header("retry-after"), Some("2"));
    assert_eq!(answer.header("payment-required"), None);
    let settlement = settlement_of(&answer);
    assert_eq!(settlement.error_reason.as_deref(), Some("settlement_pending"));
    let sent = transaction_of(&answer);
    till.scene.mine_pending().await;
    let answer = till.pay(&service, &header);
    assert_eq!((answer.status, transaction_of(&answer)), (200, sent));
    assert_eq!(till.prices_paid().await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_hangs_up_has_paid_and_is_answered_when_it_comes_again() {
    let till = Till::new().await;
    let service = till.serve();
    let header = till.header(&service, 1);
    let mut stream = TcpStream::connect(service.address).unwrap();
    let target = till.target();
    let request = format!("GET {target} HTTP/1.1\r\nHost: a\r\n{}: {}\r\n\r\n", header.0, header.1);
    stream.write_all(request.as_bytes()).unwrap();
    till.until_sent().await;
    drop(stream);
    till.scene.mine_pending().await;
    assert_eq!(till.prices_paid().await, 1, "it was charged");
    assert_eq!(till.pay(&service, &header).status, 200);
    assert_eq!(till.prices_paid().await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_is_killed_while_it_settles_is_gone_on_with_by_the_next() {
    let till = Till::new().await;
    let mut service = till.serve();
    let header = till.header(&service, 1);
    let mut stream = TcpStream::connect(service.address).unwrap();
    let target = till.target();
    let request = format!("GET {target} HTTP/1.1\r\nHost: a\r\n{}: {}\r\n\r\n", header.0, header.1);
    stream.write_all(request.as_bytes()).unwrap();
    till.until_sent().await;
    kill(&mut service);
    // The sent transaction is lost, too: only the stored record remains.
    till.drop_sent().await;
    till.scene.mine_pending().await;
    assert_eq!(till.prices_paid().await, 0);
    let service = till.serve();
    until_sent_again(&till).await;
    let answer = until_known(&till, &service, &header);
    assert_eq!(answer.status, 200);
    assert_eq!(till.prices_paid().await, 1);
    let again = till.pay(&service, &header);
    assert_eq!(again.body, answer.body);
}

/// The lease of the killed process expires after twelve seconds, and another process checks every five.
async fn until_sent_again(till: &Till) {
    for _ in 0..25 {
        let pool: Value = till.scene.chain.rpc("txpool_status", ()).await.unwrap();
        if pool["pending"] != "0x0" {
            return till.scene.mine_pending().await;
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    panic!("nothing was sent again");
}

fn kill(service: &mut Service) {
    let pid = service.process_id().to_string();
    assert!(Command::new("kill").args(["-9", &pid]).status().unwrap().success());
    let _ = service.exit_code();
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_run_before_has_been_paid_for_all_the_same() {
    let till = Till::new().await;
    let service = till.serve();
    let (chain, usdc) = (&till.scene.chain, &till.scene.usdc);
    // Someone who saw the authorization settles it before the payer presents it.
    let header = till.header(&service, 1);
    let call = till.scene.authorized(1).call();
    let mined = chain.mine_next(&[Tx::call(chain.trader, usdc.address, &call)]).await.unwrap();
    // Payer and nonce are public now, and the token only shows that they were used.
    let thief = PrivateKeySigner::from_slice(&[0x66; 32]).unwrap();
    let stolen = till.changed(&service, &thief, |message| message.nonce = B256::repeat_byte(1));
    let refused = till.pay(&service, &stolen);
    assert_eq!(refused.status, 402);
    let reason = settlement_of(&refused).error_reason;
    assert_eq!(reason.as_deref(), Some("invalid_exact_evm_payload_signature"));
    let answer = till.pay(&service, &header);
    assert_eq!(answer.status, 200, "{}", String::from_utf8_lossy(&answer.body));
    assert_eq!(transaction_of(&answer), mined.receipts[0].transaction_hash);
    assert_eq!(till.prices_paid().await, 1);
    // The service does not return the stored answer for a signature of someone else either.
    assert_eq!(till.pay(&service, &stolen).status, 402);
    // The authorization expires so soon that the service does not settle it any more.
    let late = till.scene.usdc.authorize(&till.scene.payer, {
        let message = till.scene.message(3);
        TransferWithAuthorization { validBefore: U256::from(now_s() + 20), ..message }
    });
    let offers = offers_of(&service.get(&till.target()));
    let header = header_of(offers.v2[0].as_ref().unwrap(), &late);
    let refused = till.pay(&service, &header);
    assert_eq!(refused.status, 402, "nobody settled it");
    chain.mine_next(&[Tx::call(chain.trader, usdc.address, &late.call())]).await.unwrap();
    assert_eq!(till.pay(&service, &header).status, 200);
    assert_eq!(till.prices_paid().await, 2);
    // A third party settles it while the service is settling it.
    let header = till.header(&service, 2);
    let answer = thread::scope(|scope| {
        let asked = scope.spawn(|| till.pay(&service, &header));
        let runtime = tokio::runtime::Handle::current();
        let mined = runtime.block_on_here(async {
            till.until_sent().await;
            till.drop_sent().await;
            let call = till.scene.authorized(2).call();
            chain.mine_next(&[Tx::call(chain.trader, usdc.address, &call)]).await.unwrap()
        });
        let answer = asked.join().unwrap();
        assert_eq!(transaction_of(&answer), mined.receipts[0].transaction_hash);
        answer
    });
    assert_eq!(answer.status, 200);
    assert_eq!(till.prices_paid().await, 3);
}

/// Waits for a future on a thread of the runtime itself.
trait BlockOnHere {
    fn block_on_here<T>(&self, future: impl Future<Output = T>) -> T;
}

impl BlockOnHere for tokio::runtime::Handle {
    fn block_on_here<T>(&self, future: impl Future<Output = T>) -> T {
        tokio::task::block_in_place(|| self.block_on(future))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_payer_that_takes_back_its_authorization_gets_no_answer() {
    let till = Till::new().await;
    let service = till.serve();
    let (chain, usdc) = (&till.scene.chain, &till.scene.usdc);
    let header = till.header(&service, 1);
    let answer = thread::scope(|scope| {
        let asked = scope.spawn(|| till.pay(&service, &header));
        tokio::runtime::Handle::current().block_on_here(async {
            till.until_sent().await;
            till.drop_sent().await;
            let cancel = usdc.cancel(&till.scene.payer, B256::repeat_byte(1));
            chain.mine_next(&[Tx::call(chain.operator, usdc.address, &cancel)]).await.unwrap();
            // The background task sends it again, and it reverts.
            till.until_sent().await;
            till.scene.mine_pending().await;
        });
        asked.join().unwrap()
    });
    let answer = if answer.status == 503 { until_known(&till, &service, &header) } else { answer };
    assert_eq!(answer.status, 402, "{}", String::from_utf8_lossy(&answer.body));
    assert!(!settlement_of(&answer).success);
    assert_eq!(till.prices_paid().await, 0);
    let count = till.scene.node().count(till.scene.key.address(), soon()).await;
    assert_eq!(count, Ok(1), "its number was filled");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_falls_silent_after_a_payment_was_sent_costs_no_second_one() {
    let scene = Scene::new().await;
    let proxy = Proxy::start(&scene.chain.url());
    let till = Till::behind(scene, &proxy.url()).await;
    till.mine_at_once().await;
    let service = till.serve();
    let header = till.header(&service, 1);
    proxy.lie(|asked, _| (asked["method"] == "eth_getTransactionReceipt").then_some(Lie::Hang));
    let answer = till.pay(&service, &header);
    assert!(proxy.fired() > 0);
    assert_eq!(answer.problem(), (503, "payment_pending".to_owned(), None));
    assert_eq!(till.prices_paid().await, 1, "it was charged all the same");
    proxy.be_honest();
    let answer = until_known(&till, &service, &header);
    assert_eq!(answer.status, 200);
    assert_eq!(till.prices_paid().await, 1);
    // The node is silent from the start: the service sends nothing and offers no price.
    let header = till.header(&service, 2);
    proxy.lie(|_, _| Some(Lie::Status(503)));
    let answer = till.pay(&service, &header);
    assert!(proxy.fired() > 0);
    assert_eq!(answer.problem().1, "payments_unavailable");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reorganisation_of_a_payment_is_mended_while_it_can_be() {
    let till = Till::new().await;
    till.mine_at_once().await;
    let service = till.serve();
    let header = till.header(&service, 1);
    assert_eq!(till.pay(&service, &header).status, 200);
    let _: Value = till.scene.chain.rpc("evm_setAutomine", (false,)).await.unwrap();
    till.scene.chain.reorg(1).await.unwrap();
    assert_eq!(till.prices_paid().await, 0, "it was taken back");
    // The service does not revoke answers.
    assert_eq!(till.pay(&service, &header).status, 200);
    // The nonce of the service's account is free again; the stored transaction fills it.
    until_sent_again(&till).await;
    assert_eq!(till.prices_paid().await, 1);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: `cargo xtask test --all` runs it"]
async fn a_rise_of_fees_is_met_with_one_number_and_one_transfer() {
    let till = Till::new().await;
    let service = till.serve();
    let header = till.header(&service, 1);
    let sent = transaction_of(&till.pay(&service, &header));
    // Thirty gwei: more than the first transaction offers, less than the configured maximum.
    let dear = U256::from(30_000_000_000_u64);
    let _: Value = till.scene.chain.rpc("anvil_setNextBlockBaseFeePerGas", (dear,)).await.unwrap();
    till.scene.mine_pending().await;
    assert_eq!(till.prices_paid().await, 0, "the spike keeps it out");
    tokio::time::sleep(Duration::from_secs(36)).await;
    till.mine_on().await;
    let answer = until_known(&till, &service, &header);
    assert_eq!(answer.status, 200);
    assert_ne!(transaction_of(&answer), sent, "another transaction of the same number");
    let count = till.scene.node().count(till.scene.key.address(), soon()).await;
    assert_eq!((count, till.prices_paid().await), (Ok(1), 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_price_that_rose_is_still_taken_from_whom_it_was_offered_to() {
    let till = Till::new().await;
    till.mine_at_once().await;
    let service = till.serve();
    let header = till.header(&service, 1);
    drop(service);
    let service = till.serve_with(&[("EXITGAP_PAYMENTS_PRICE_USDC", "0.02")]);
    assert_eq!(service.get(&till.target()).header("x-payment-amount"), Some("0.02"));
    let answer = till.pay(&service, &header);
    assert_eq!(answer.status, 200, "{}", String::from_utf8_lossy(&answer.body));
    let free = till.serve_with(&[("EXITGAP_PAYMENTS_ENABLED", "false")]);
    assert_eq!(free.get(&till.target()).status, 200);
    assert_eq!(free.get("/v1/payments").problem().1, "not_available");
}

/// The service must store every payment, so it makes no offer while it cannot store one.
#[tokio::test(flavor = "multi_thread")]
async fn while_the_database_is_away_no_price_is_named_and_nobody_is_told_that_nothing_was_charged()
{
    let mut cluster = Cluster::start(&["fsync=off"]).unwrap();
    let till = Till::new().await;
    till.mine_at_once().await;
    let url = cluster.url(SERVICE, &cluster.database()).display().to_string();
    let service = till.serve_with(&[("EXITGAP_PAYMENTS_DATABASE", &url)]);
    let [header, other] = [1, 2].map(|nonce| till.header(&service, nonce));
    assert_eq!(till.pay(&service, &header).status, 200);
    cluster.kill().unwrap();
    // Without the database, the service cannot know whether the payment was made before.
    for header in [&header, &other] {
        let answer = till.pay(&service, header);
        assert_eq!(answer.problem(), (503, "payment_pending".to_owned(), None));
    }
    let answer = service.get(&till.target());
    assert_eq!(answer.problem(), (503, "payments_unavailable".to_owned(), None));
    assert_eq!(answer.header("payment-required"), None);
    assert_eq!(service.get("/v1/pools").status, 200, "what is free is answered");
    cluster.start_again().unwrap();
    let begun = std::time::Instant::now();
    while service.get(&till.target()).status != 402 {
        assert!(begun.elapsed() < Duration::from_secs(30), "nothing is offered again");
        thread::sleep(Duration::from_millis(200));
    }
    assert_eq!(till.pay(&service, &header).status, 200);
    assert_eq!(till.prices_paid().await, 1);
}
