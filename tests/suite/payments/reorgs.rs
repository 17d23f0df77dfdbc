//! Reorganizations: the number of confirmations that a payment needs, and the treatment of a payment that the chain
//! drops.

use std::thread;
use std::time::Duration;

use alloy::primitives::{Address, B256, U256};
use alloy::sol_types::SolCall;
use exitgap_store::payments::{Payment, Payments, State};
use exitgap_tests::devchain::Tx;
use exitgap_tests::devchain::abi::FiatToken;
use serde_json::{Value, json};

use crate::scenes::till::{SIZE, Till, transaction_of};
use crate::scenes::usdc::PRICE;

impl Till {
    /// Returns the stored payment with this nonce.
    fn written(&self, nonce: u8) -> Payment {
        let payments = Payments::open(&self.database()).unwrap();
        let payer = self.scene.payer.address();
        let (asset, nonce) = (self.scene.usdc.address, B256::repeat_byte(nonce));
        let key = format!("3009:eip155:84532:{asset:#x}:{payer:#x}:{nonce}");
        payments.payment(&key).unwrap().expect("it was claimed")
    }

    /// Waits until the payment with this nonce is in this state.
    fn until_written(&self, nonce: u8, state: State) -> Payment {
        for _ in 0..200 {
            let written = self.written(nonce);
            if written.state == state {
                return written;
            }
            thread::sleep(Duration::from_millis(100));
        }
        panic!("it stays {:?}", self.written(nonce).state);
    }

    async fn mine_empty(&self, blocks: u64) {
        let _: Value = self.scene.chain.rpc("anvil_mine", (U256::from(blocks),)).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_payment_is_answered_once_it_is_as_deep_as_configured() {
    let till = Till::new().await;
    let service = till.serve_with(&[("EXITGAP_PAYMENTS_CONFIRMATIONS", "3")]);
    let header = till.header(&service, 1);
    let pending = till.pay(&service, &header);
    assert_eq!(pending.problem().1, "payment_pending", "it is sent");
    till.scene.mine_pending().await;
    assert_eq!(till.prices_paid().await, 1, "it is mined, one block deep");
    assert_eq!(till.pay(&service, &header).problem().1, "payment_pending");
    // The chain replaces the block; then the payment is mined again in another block.
    let dropped = till.written(1);
    assert_eq!((dropped.state, dropped.settled), (State::Settling, None));
    till.scene.chain.reorg(1).await.unwrap();
    assert_eq!(till.prices_paid().await, 0);
    let answer = thread::scope(|scope| {
        let asked = scope.spawn(|| till.pay(&service, &header));
        tokio::task::block_in_place(|| {
            tokio::runtime::Handle::current().block_on(async {
                for _ in 0..60 {
                    tokio::time::sleep(Duration::from_millis(150)).await;
                    till.scene.mine_pending().await;
                }
            });
        });
        asked.join().unwrap()
    });
    assert_eq!(answer.status, 200, "{}", String::from_utf8_lossy(&answer.body));
    assert_eq!(till.prices_paid().await, 1);
    // A payment proof needs as many confirmations as a payment.
    let call = FiatToken::transferCall { to: till.scene.pay_to, value: U256::from(PRICE) };
    let (chain, token) = (&till.scene.chain, till.scene.usdc.address);
    let mined = chain.mine_next(&[Tx::call(chain.operator, token, &call)]).await.unwrap();
    let proof = mined.receipts[0].transaction_hash.to_string();
    let ask = || service.ask("GET", &till.target(), &[("X-Payment-Proof", &proof)]);
    assert_eq!(ask().problem().1, "payment_pending");
    till.mine_empty(1).await;
    assert_eq!(ask().problem().1, "payment_pending");
    till.mine_empty(1).await;
    assert_eq!(ask().status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_gone_after_64_blocks_is_called_orphaned_and_sent_again() {
    let till = Till::new().await;
    till.mine_at_once().await;
    let service = till.serve();
    let header = till.header(&service, 1);
    let answer = till.pay(&service, &header);
    assert_eq!(answer.status, 200);
    let first = till.written(1).settled.expect("it is settled");
    let _: Value = till.scene.chain.rpc("evm_setAutomine", (false,)).await.unwrap();
    till.scene.chain.reorg(1).await.unwrap();
    till.drop_sent().await;
    till.mine_empty(65).await;
    assert_eq!(till.prices_paid().await, 0, "it was taken back");
    till.until_written(1, State::Orphaned);
    // The service does not revoke answers, and its metrics inform the operator.
    let again = till.pay(&service, &header);
    assert_eq!((again.status, again.body), (200, answer.body));
    let told = |service: &crate::scenes::service::Service| {
        let metrics = String::from_utf8(service.get("/metrics").body).unwrap();
        metrics.lines().any(|line| line.contains("orphaned") && line.ends_with(" 1"))
    };
    assert!((0..80).any(|_| told(&service) || {
        thread::sleep(Duration::from_millis(100));
        false
    }));
    // The transaction that was sent again is mined: the same authorization, in another block.
    for _ in 0..100 {
        let pool: Value = till.scene.chain.rpc("txpool_status", ()).await.unwrap();
        if pool["pending"] != "0x0" {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    till.scene.mine_pending().await;
    let second = till.until_written(1, State::Settled).settled.unwrap();
    assert!(second.block > first.block, "{second:?}");
    assert_eq!(till.prices_paid().await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reorganisation_that_moves_a_log_does_not_make_it_another_payment() {
    let till = Till::new().await;
    let service = till.serve();
    let (chain, usdc) = (&till.scene.chain, &till.scene.usdc);
    let pay = FiatToken::transferCall { to: till.scene.pay_to, value: U256::from(PRICE) };
    // The node signs for its own account: with the same nonce and fees, this is the same transaction.
    let request = json!([{
        "from": chain.operator, "to": usdc.address, "gas": "0x30d40",
        "maxFeePerGas": "0x2540be400", "maxPriorityFeePerGas": "0x3b9aca00",
        "input": alloy::primitives::Bytes::from(pay.abi_encode()),
    }]);
    let fund = usdc.fund(chain, chain.trader, 1_000);
    chain.mine_next(&[fund]).await.unwrap();
    let before = chain.snapshot().await.unwrap();
    let hash: B256 = chain.rpc("eth_sendTransaction", &request).await.unwrap();
    till.scene.mine_pending().await;
    let place = async || {
        let receipt: Value = chain.rpc("eth_getTransactionReceipt", (hash,)).await.unwrap();
        receipt["logs"][0]["logIndex"].as_str().unwrap().to_owned()
    };
    let (first_place, proof) = (place().await, hash.to_string());
    let ask = |size: &str| {
        let target =
            till.target().replace(&format!("size_usd={SIZE}"), &format!("size_usd={size}"));
        service.ask("GET", &target, &[("X-Payment-Proof", &proof)])
    };
    let answer = ask(SIZE);
    assert_eq!(answer.status, 200, "{}", String::from_utf8_lossy(&answer.body));
    chain.revert(before).await.unwrap();
    let other = FiatToken::transferCall { to: Address::repeat_byte(9), value: U256::from(1) };
    let ahead = json!([{
        "from": chain.trader, "to": usdc.address, "gas": "0x30d40",
        "input": alloy::primitives::Bytes::from(other.abi_encode()),
    }]);
    let _: B256 = chain.rpc("eth_sendTransaction", &ahead).await.unwrap();
    let again: B256 = chain.rpc("eth_sendTransaction", &request).await.unwrap();
    assert_eq!(again, hash, "the same transaction");
    till.scene.mine_pending().await;
    assert_ne!(place().await, first_place, "its log has moved");
    assert_eq!(ask("2000").problem().1, "payment_used");
    assert_eq!(ask(SIZE).body, answer.body);
    assert_eq!(till.prices_paid().await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_of_authorizations_in_one_transaction_pays_for_each() {
    use exitgap_tests::devchain::MULTICALL3;
    use exitgap_tests::devchain::abi::Multicall3;
    let till = Till::new().await;
    let service = till.serve();
    let (chain, usdc) = (&till.scene.chain, &till.scene.usdc);
    let headers = [1, 2].map(|nonce| till.header(&service, nonce));
    // A facilitator that settles several payments in one transaction.
    let calls = [1, 2].map(|nonce| Multicall3::Call3 {
        target: usdc.address,
        allowFailure: false,
        callData: till.scene.authorized(nonce).call().abi_encode().into(),
    });
    let calls = Multicall3::aggregate3Call { calls: calls.to_vec() };
    let mined = chain.mine_next(&[Tx::call(chain.operator, MULTICALL3, &calls)]).await.unwrap();
    let hash = mined.receipts[0].transaction_hash;
    assert_eq!(till.prices_paid().await, 2);
    let targets = ["1000", "2000", "3000"].map(|size| {
        till.target().replace(&format!("size_usd={SIZE}"), &format!("size_usd={size}"))
    });
    for (header, target) in headers.iter().zip(&targets) {
        let answer = service.ask("GET", target, &[(header.0, &header.1)]);
        assert_eq!(answer.status, 200, "{}", String::from_utf8_lossy(&answer.body));
        assert_eq!(transaction_of(&answer), hash);
    }
    let proof = hash.to_string();
    let third = service.ask("GET", &targets[2], &[("X-Payment-Proof", &proof)]);
    assert_eq!(third.problem().1, "payment_used");
    let swapped = service.ask("GET", &targets[1], &[(headers[0].0, &headers[0].1)]);
    assert_eq!(swapped.problem().1, "payment_used");
    assert_eq!(till.prices_paid().await, 2);
}
