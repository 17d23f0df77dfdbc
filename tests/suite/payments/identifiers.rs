//! The payer's own name for a request (x402's extension `payment-identifier`): a repeated request gets the same answer
//! without another charge, and the name is useless to anyone else.

use alloy::primitives::U256;
use base64ct::{Base64, Encoding};
use exitgap_tests::devchain::PrivateKeySigner;
use serde_json::{Value, json};

use crate::scenes::till::{SIZE, Till, settlement_of, transaction_of};
use crate::scenes::usdc::PRICE;

const NAME: &str = "exitgap-test-0001";

/// The same payment, in which its payer names the request `name`.
fn named((header, value): &(&'static str, String), name: &str) -> (&'static str, String) {
    let mut payment: Value = serde_json::from_slice(&Base64::decode_vec(value).unwrap()).unwrap();
    payment["extensions"] = json!({ "payment-identifier": { "info": { "id": name } } });
    (*header, Base64::encode_string(payment.to_string().as_bytes()))
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_payment_of_the_same_name_is_answered_again() {
    let till = Till::new().await;
    till.mine_at_once().await;
    let service = till.serve();
    let header = named(&till.header(&service, 1), NAME);
    let first = till.pay(&service, &header);
    assert_eq!(first.status, 200, "{}", String::from_utf8_lossy(&first.body));
    let again = till.pay(&service, &header);
    assert_eq!((again.status, again.body), (200, first.body));
    assert_eq!(till.prices_paid().await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn another_payment_of_the_same_payer_and_name_is_not_charged() {
    let till = Till::new().await;
    till.mine_at_once().await;
    let service = till.serve();
    let first = till.pay(&service, &named(&till.header(&service, 1), NAME));
    let other = named(&till.header(&service, 2), NAME);
    let again = till.pay(&service, &other);
    assert_eq!(again.status, 200, "{}", String::from_utf8_lossy(&again.body));
    assert_eq!(transaction_of(&again), transaction_of(&first));
    assert_eq!(again.body, first.body);
    assert_eq!(till.prices_paid().await, 1, "once");
    // The name is already used, so it fails for another request. Without the name, the payment still works.
    let target = till.target().replace(&format!("size_usd={SIZE}"), "size_usd=2000");
    let elsewhere = service.ask("GET", &target, &[(other.0, &other.1)]);
    assert_eq!(elsewhere.problem().1, "payment_used");
    let reason = settlement_of(&elsewhere).error_reason;
    assert_eq!(reason.as_deref(), Some("payment_identifier_conflict"));
    let unnamed = till.header(&service, 2);
    assert_eq!(service.ask("GET", &target, &[(unnamed.0, &unnamed.1)]).status, 200, "the control");
    assert_eq!(till.prices_paid().await, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_name_of_another_payer_answers_nothing() {
    let till = Till::new().await;
    let service = till.serve();
    let other = PrivateKeySigner::from_slice(&[0x55; 32]).unwrap();
    let fund = till.scene.usdc.fund(&till.scene.chain, other.address(), 10 * PRICE);
    till.scene.chain.mine_next(&[fund]).await.unwrap();
    till.mine_at_once().await;
    assert_eq!(till.pay(&service, &named(&till.header(&service, 1), NAME)).status, 200);
    let of_other = till.changed(&service, &other, |message| {
        message.from = other.address();
        message.value = U256::from(PRICE);
    });
    let refused = till.pay(&service, &named(&of_other, NAME));
    assert_eq!(refused.problem().1, "payment_used");
    let reason = settlement_of(&refused).error_reason;
    assert_eq!(reason.as_deref(), Some("payment_identifier_conflict"));
    assert_eq!(till.prices_paid().await, 1, "nobody was charged for a refusal");
    assert_eq!(till.pay(&service, &named(&of_other, "exitgap-test-0002")).status, 200);
    assert_eq!(till.prices_paid().await, 2);
}
