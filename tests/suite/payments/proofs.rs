//! Payments that prove an existing transfer.

use alloy::primitives::{Address, B256, U256};
use alloy::sol_types::SolCall;
use exitgap_chain::settle::claim_text;
use exitgap_core::ids::{Caip2, Word};
use exitgap_server::payments::fingerprint;
use exitgap_tests::devchain::abi::{FiatToken, Multicall3};
use exitgap_tests::devchain::{MULTICALL3, Mined, Tx};

use crate::scenes::service::{Answer, Service};
use crate::scenes::till::{SIZE, Till, transaction_of};
use crate::scenes::usdc::{CHAIN_ID, PRICE};

const PROOF: &str = "X-Payment-Proof";

impl Till {
    /// Sends a transfer of this many units from the payer to the payee and mines it.
    async fn transfer(&self, to: Address, units: u64) -> Mined {
        let (chain, usdc) = (&self.scene.chain, &self.scene.usdc);
        let call = FiatToken::transferCall { to, value: U256::from(units) };
        chain.mine_next(&[Tx::call(chain.operator, usdc.address, &call)]).await.unwrap()
    }

    fn prove(&self, service: &Service, size: &str, proof: &str) -> Answer {
        let target = format!("/v1/exit/{}?size_usd={size}", self.pool);
        service.ask("GET", &target, &[(PROOF, proof)])
    }
}

fn hash_of(mined: &Mined) -> B256 {
    mined.receipts[0].transaction_hash
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transfer_pays_for_one_request_and_only_what_it_is() {
    let till = Till::new().await;
    let service = till.serve();
    let pay_to = till.scene.pay_to;
    let proof = hash_of(&till.transfer(pay_to, PRICE).await).to_string();
    let answer = till.prove(&service, SIZE, &proof);
    assert_eq!(answer.status, 200, "{}", String::from_utf8_lossy(&answer.body));
    assert_eq!(answer.header("cache-control"), Some("private, no-store"));
    let again = till.prove(&service, SIZE, &proof);
    assert_eq!((again.status, again.body), (200, answer.body));
    assert_eq!(till.prove(&service, "2000", &proof).problem().1, "payment_used");

    let reason = |answer: Answer| {
        let document = answer.json();
        (answer.status, document["reason"].as_str().unwrap_or_default().to_owned())
    };
    let short = hash_of(&till.transfer(pay_to, PRICE - 1).await).to_string();
    let unpaid = |reason: &str| (402, reason.to_owned());
    assert_eq!(reason(till.prove(&service, SIZE, &short)), unpaid("payment_too_low"));
    let to_others = hash_of(&till.transfer(Address::repeat_byte(5), PRICE).await).to_string();
    assert_eq!(reason(till.prove(&service, SIZE, &to_others)), unpaid("payment_not_found"));
    // A higher amount than the price is accepted; the service returns no change.
    let more = hash_of(&till.transfer(pay_to, 2 * PRICE).await).to_string();
    assert_eq!(till.prove(&service, SIZE, &more).status, 200);
    // One that nobody knows pays nothing, but it may still come.
    let unknown = B256::repeat_byte(0xee).to_string();
    let answer = till.prove(&service, SIZE, &unknown);
    assert_eq!(answer.header("retry-after"), Some("2"));
    for name in ["amount", "currency", "network", "recipient"] {
        assert!(answer.header(&format!("x-payment-{name}")).is_some(), "{name}");
    }
    assert_eq!(reason(answer), unpaid("payment_not_found"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_look_alike_of_another_contract_pays_nothing() {
    let till = Till::new().await;
    let service = till.serve();
    let chain = &till.scene.chain;
    let fake = chain.create_tokens(&[("USDC", 6)]).await.unwrap().remove(0);
    let call = FiatToken::transferCall { to: till.scene.pay_to, value: U256::from(PRICE) };
    let mined = chain.mine_next(&[Tx::call(chain.operator, fake.address, &call)]).await.unwrap();
    let answer = till.prove(&service, SIZE, &hash_of(&mined).to_string());
    assert_eq!((answer.status, answer.json()["reason"].as_str()), (402, Some("payment_not_found")));
}

#[tokio::test(flavor = "multi_thread")]
async fn two_transfers_of_one_transaction_pay_for_two_requests_and_not_for_a_third() {
    let till = Till::new().await;
    let service = till.serve();
    let (chain, usdc) = (&till.scene.chain, &till.scene.usdc);
    let call = FiatToken::transferCall { to: till.scene.pay_to, value: U256::from(PRICE) };
    let once = Multicall3::Call3 {
        target: usdc.address,
        allowFailure: false,
        callData: call.abi_encode().into(),
    };
    let both = Multicall3::aggregate3Call { calls: vec![once.clone(), once] };
    let fund = usdc.fund(chain, MULTICALL3, 2 * PRICE);
    chain.mine_next(&[fund]).await.unwrap();
    let mined = chain.mine_next(&[Tx::call(chain.operator, MULTICALL3, &both)]).await.unwrap();
    let proof = hash_of(&mined).to_string();
    let asked: Vec<_> =
        ["1000", "2000", "3000"].iter().map(|size| till.prove(&service, size, &proof)).collect();
    assert_eq!([asked[0].status, asked[1].status], [200, 200]);
    assert_eq!(asked[2].problem().1, "payment_used");
    for (n, size) in ["1000", "2000"].into_iter().enumerate() {
        assert_eq!(till.prove(&service, size, &proof).body, asked[n].body);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_comes_with_a_hash_before_it_is_mined_has_its_transfer() {
    let till = Till::new().await;
    let service = till.serve();
    let (chain, usdc) = (&till.scene.chain, &till.scene.usdc);
    let call = FiatToken::transferCall { to: till.scene.pay_to, value: U256::from(PRICE) };
    let request = serde_json::json!([{
        "from": chain.operator,
        "to": usdc.address,
        "input": alloy::primitives::Bytes::from(call.abi_encode()),
    }]);
    let hash: B256 = chain.rpc("eth_sendTransaction", request).await.unwrap();
    let proof = hash.to_string();
    assert_eq!(till.prove(&service, SIZE, &proof).problem().1, "payment_pending");
    till.scene.mine_pending().await;
    assert_eq!(till.prove(&service, "2000", &proof).problem().1, "payment_used", "a thief");
    assert_eq!(till.prove(&service, SIZE, &proof).status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_comes_with_a_hash_before_any_node_has_it_has_its_transfer_too() {
    let till = Till::new().await;
    let service = till.serve();
    let (chain, usdc) = (&till.scene.chain, &till.scene.usdc);
    let call = FiatToken::transferCall { to: till.scene.pay_to, value: U256::from(PRICE) };
    // Signed by the node for its own account: of the same number and fees it is the same transaction.
    let request = serde_json::json!([{
        "from": chain.operator, "to": usdc.address, "gas": "0x30d40",
        "maxFeePerGas": "0x2540be400", "maxPriorityFeePerGas": "0x3b9aca00",
        "input": alloy::primitives::Bytes::from(call.abi_encode()),
    }]);
    let hash: B256 = chain.rpc("eth_sendTransaction", &request).await.unwrap();
    let proof = hash.to_string();
    till.drop_sent().await;
    let asked = till.prove(&service, SIZE, &proof);
    assert_eq!((asked.status, &asked.json()["code"]), (402, &"payment_required".into()));
    assert_eq!(asked.json()["reason"], "payment_not_found");
    let sent: B256 = chain.rpc("eth_sendTransaction", &request).await.unwrap();
    assert_eq!(sent, hash, "the same transaction");
    assert_eq!(till.prove(&service, SIZE, &proof).problem().1, "payment_pending");
    till.scene.mine_pending().await;
    assert_eq!(till.prove(&service, "2000", &proof).problem().1, "payment_used", "a thief");
    assert_eq!(till.prove(&service, SIZE, &proof).status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn hashes_of_nothing_pay_nothing() {
    let till = Till::new().await;
    let service = till.serve();
    for n in 0..200_u64 {
        let hash = alloy::primitives::keccak256(n.to_be_bytes());
        let answer = till.prove(&service, SIZE, &hash.to_string());
        assert_eq!((answer.status, &answer.json()["code"]), (402, &"payment_required".into()));
    }
    assert_eq!(till.prices_paid().await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_x402_payment_is_no_proof_for_another_request() {
    let till = Till::new().await;
    till.mine_at_once().await;
    let service = till.serve();
    let header = till.header(&service, 1);
    let paid = till.pay(&service, &header);
    let hash = transaction_of(&paid).to_string();
    assert_eq!(till.prove(&service, "2000", &hash).problem().1, "payment_used");
    let same = till.prove(&service, SIZE, &hash);
    assert_eq!((same.status, same.body), (200, paid.body), "for the same request it is the same");
    assert_eq!(till.prices_paid().await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_signs_for_its_transfer_has_it_whoever_came_first() {
    let till = Till::new().await;
    let service = till.serve();
    // The payer's own transaction; the scene has its key.
    let payer = till.scene.payer.clone();
    let (chain, usdc) = (&till.scene.chain, &till.scene.usdc);
    let _: serde_json::Value =
        chain.rpc("anvil_impersonateAccount", (payer.address(),)).await.unwrap();
    chain.set_balance(payer.address(), U256::from(10).pow(U256::from(20))).await.unwrap();
    let call = FiatToken::transferCall { to: till.scene.pay_to, value: U256::from(PRICE) };
    let mined = chain.mine_next(&[Tx::call(payer.address(), usdc.address, &call)]).await.unwrap();
    let hash = hash_of(&mined);
    let stolen = till.prove(&service, "2000", &hash.to_string());
    assert_eq!(stolen.status, 200, "a thief that was faster");
    let path = format!("/v1/exit/{}", till.pool);
    let of = fingerprint("GET", &path, &format!("size_usd={SIZE}"));
    let claim = |signer: &exitgap_tests::devchain::PrivateKeySigner| {
        let text = claim_text(Caip2(CHAIN_ID), Word(hash.0), of);
        let signature = signer.sign_message_sync(text.as_bytes()).unwrap().as_bytes();
        format!("{hash}{}", alloy::primitives::hex::encode(signature))
    };
    let stranger = exitgap_tests::devchain::PrivateKeySigner::from_slice(&[0x33; 32]).unwrap();
    assert_eq!(till.prove(&service, SIZE, &claim(&stranger)).status, 402);
    let answer = till.prove(&service, SIZE, &claim(&payer));
    assert_eq!(answer.status, 200, "{}", String::from_utf8_lossy(&answer.body));
    // The claim is valid for one request only, so a second request with it is rejected.
    assert_eq!(till.prove(&service, "3000", &claim(&payer)).status, 402);
    assert_eq!(till.prove(&service, "2000", &hash.to_string()).problem().1, "payment_used");
    assert_eq!(till.prices_paid().await, 1);
}
