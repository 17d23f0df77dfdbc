//! Settlement through a facilitator: only the chain determines the outcome, never the facilitator's answer.

use std::time::Duration;

use alloy::sol_types::SolCall;

use crate::scenes::facilitator::{Facilitator, Way};
use crate::scenes::service::{Answer, Service};
use crate::scenes::till::{Till, settlement_of, transaction_of};
use crate::scenes::usdc::soon;

/// A service without a key for fees that uses a facilitator.
async fn served(way: Way) -> (Till, Facilitator, Service) {
    let till = Till::new().await;
    till.mine_at_once().await;
    let facilitator = Facilitator::new(&till.scene, way).await;
    let service = till.serve_with(&[
        ("EXITGAP_PAYMENTS_SETTLE", &facilitator.url),
        ("EXITGAP_PAYMENTS_HOT_KEY_FILE", "nowhere"),
    ]);
    (till, facilitator, service)
}

/// Repeats a payment while its outcome is unknown. The service must not request another payment meanwhile.
#[track_caller]
fn until_answered(till: &Till, service: &Service, header: &(&'static str, String)) -> Answer {
    for _ in 0..20 {
        let answer = till.pay(service, header);
        if answer.status == 200 {
            return answer;
        }
        assert_eq!(answer.problem().1, "payment_pending");
        std::thread::sleep(Duration::from_millis(500));
    }
    panic!("the payment stays pending");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_facilitator_settles_both_versions_and_the_chain_says_so() {
    let (till, facilitator, service) = served(Way::Honest).await;
    for (paid, header) in [(1, till.header(&service, 1)), (2, till.header_v1(&service, 2))] {
        let answer = until_answered(&till, &service, &header);
        assert!(settlement_of(&answer).success);
        assert!(answer.header("x-payment-receipt").is_some());
        assert_eq!(till.prices_paid().await, paid);
        let again = till.pay(&service, &header);
        assert_eq!((again.status, &again.body), (200, &answer.body));
    }
    for path in ["/facilitator/verify", "/facilitator/settle"] {
        let asked = facilitator.asked(path);
        assert_eq!(asked.len(), 2, "{asked:?}");
        assert_eq!((&asked[0]["x402Version"], &asked[1]["x402Version"]), (&2.into(), &1.into()));
        for (body, amount) in asked.iter().zip(["amount", "maxAmountRequired"]) {
            assert_eq!(body["paymentRequirements"][amount], "10000", "{body}");
            assert_eq!(body["paymentRequirements"]["scheme"], "exact");
            assert_eq!(body["paymentPayload"]["x402Version"], body["x402Version"]);
        }
    }
    // The service does not pass on a payment that the token would reject.
    let header = till.changed(&service, &till.scene.payer.clone(), |message| {
        message.validBefore = alloy::primitives::U256::from(1);
    });
    assert_eq!(till.pay(&service, &header).status, 402);
    assert_eq!(facilitator.asked("/facilitator/verify").len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn silence_failure_and_doubles_come_to_what_the_chain_shows() {
    let (till, facilitator, service) = served(Way::SilentAfterSettling).await;
    let ways = [Way::SilentAfterSettling, Way::SaysFailed, Way::SettlesTwice];
    for (nonce, way) in (1_u8..).zip(ways) {
        facilitator.turn(way);
        let answer = until_answered(&till, &service, &till.header(&service, nonce));
        assert_eq!(facilitator.asked("/facilitator/settle").len(), usize::from(nonce), "{way:?}");
        assert_eq!(till.prices_paid().await, u64::from(nonce), "{way:?}");
        let transaction = exitgap_core::ids::Word(transaction_of(&answer).0);
        let receipt = till.scene.node().receipt(transaction, soon()).await.unwrap().unwrap();
        assert!(receipt.succeeded, "{way:?}");
    }
    // The facilitator sent the second transaction, too.
    let sent = till.scene.node().count(facilitator.key.address(), soon()).await.unwrap();
    assert_eq!(sent, 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn success_that_is_not_on_the_chain_buys_nothing() {
    let (till, facilitator, service) = served(Way::LiesOfSuccess).await;
    let header = till.header(&service, 1);
    for _ in 0..2 {
        let answer = till.pay(&service, &header);
        assert_eq!(answer.problem().1, "payment_pending");
        assert_eq!(answer.header("payment-required"), None);
        let settlement = settlement_of(&answer);
        assert_eq!(settlement.error_reason.as_deref(), Some("settlement_pending"));
    }
    assert_eq!(facilitator.asked("/facilitator/settle").len(), 1, "it lied once");
    assert_eq!(till.prices_paid().await, 0);
    // After any settlement, by anyone, the service answers.
    let (chain, usdc) = (&till.scene.chain, &till.scene.usdc);
    let payment = exitgap_api::x402::Payment::of_v2_header(&header.1).unwrap();
    let mut message = till.scene.message(1);
    message.validBefore = alloy::primitives::U256::from(payment.authorization.valid_before_s);
    let authorized = usdc.authorize(&till.scene.payer, message);
    let request = serde_json::json!([{
        "from": chain.operator,
        "to": usdc.address,
        "input": alloy::primitives::Bytes::from(authorized.call().abi_encode()),
    }]);
    let _: serde_json::Value = chain.rpc("eth_sendTransaction", request).await.unwrap();
    until_answered(&till, &service, &header);
    assert_eq!(till.prices_paid().await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_to_settle_asks_for_no_other_payment() {
    let (till, facilitator, service) = served(Way::Refuses).await;
    let header = till.header(&service, 1);
    for (asked, way) in [(1, Way::Refuses), (2, Way::Floods)] {
        facilitator.turn(way);
        let answer = till.pay(&service, &header);
        assert_eq!(answer.problem().1, "payments_unavailable", "{way:?}");
        assert_eq!(facilitator.asked("/facilitator/verify").len(), asked);
    }
    assert_eq!(facilitator.asked("/facilitator/settle").len(), 0);
    facilitator.turn(Way::Honest);
    until_answered(&till, &service, &header);
    assert_eq!(till.prices_paid().await, 1);
}
