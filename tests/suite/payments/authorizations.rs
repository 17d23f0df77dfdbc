//! x402, both versions: a payment is settled once and always answered identically, or rejected without a charge.

use std::thread;

use alloy::primitives::{Address, Bytes, U256};
use base64ct::{Base64, Encoding};
use exitgap_tests::devchain::PrivateKeySigner;
use exitgap_tests::devchain::Tx;
use exitgap_tests::devchain::abi::FiatToken;
use serde_json::{Value, json};

use crate::scenes::till::{SIZE, Till, settlement_of, transaction_of};
use crate::scenes::usdc::{PRICE, now_s, with_high_s};

#[tokio::test(flavor = "multi_thread")]
async fn what_is_paid_is_answered_and_answered_again_with_the_same_bytes() {
    let till = Till::new().await;
    till.mine_at_once().await;
    let service = till.serve();
    for (nonce, header) in [(1, till.header(&service, 1)), (2, till.header_v1(&service, 2))] {
        let first = till.pay(&service, &header);
        let estimate = first.found();
        assert!(estimate["exit_gap_pct"].is_number(), "{estimate}");
        assert_eq!(first.header("cache-control"), Some("private, no-store"));
        assert_eq!(first.header("etag"), None);
        let settlement = settlement_of(&first);
        assert!(settlement.success);
        let network = if nonce == 1 { "eip155:84532" } else { "base-sepolia" };
        assert_eq!(settlement.network, network);
        assert_eq!(till.prices_paid().await, nonce);
        // Repeats the request, also with an `If-None-Match` that matches everything; reordered parameters count as
        // another request.
        let target = format!("/v1/exit/{}?base=WETH&size_usd={SIZE}", till.pool);
        let other = service.ask("GET", &target, &[(header.0, &header.1)]);
        assert_eq!(other.problem().1, "payment_used");
        let with_tag = [(header.0, header.1.as_str()), ("If-None-Match", "*")];
        for again in [till.pay(&service, &header), service.ask("GET", &till.target(), &with_tag)] {
            assert_eq!((again.status, &again.body), (200, &first.body));
            assert_eq!(settlement_of(&again), settlement);
        }
        assert_eq!(till.prices_paid().await, nonce, "once");
    }
    let header = till.header(&service, 3);
    let [one, two] = ["size_usd=1000&base=%TOKEN", "base=%TOKEN&size_usd=1000"].map(|query| {
        let token = format!("{:#x}", till.recorded.world.pools[0].pool.token0);
        format!("/v1/exit/{}?{}", till.pool, query.replace("%TOKEN", &token))
    });
    let [one, two] = [one, two].map(|target| service.ask("GET", &target, &[(header.0, &header.1)]));
    assert_eq!((one.status, two.status), (200, 200), "{}", String::from_utf8_lossy(&one.body));
    assert_eq!(one.body, two.body);
    assert_eq!(till.prices_paid().await, 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_at_once_over_four_processes_are_one_transfer_and_one_answer() {
    let till = Till::new().await;
    till.mine_on().await;
    let services: Vec<_> = (0..4).map(|_| till.serve()).collect();
    let header = till.header(&services[0], 1);
    let answers: Vec<_> = thread::scope(|scope| {
        let asked: Vec<_> = (0..50)
            .map(|n| {
                let (till, header, service) = (&till, &header, &services[n % 4]);
                scope.spawn(move || till.pay(service, header))
            })
            .collect();
        asked.into_iter().map(|asked| asked.join().unwrap()).collect()
    });
    for answer in &answers {
        assert_eq!((answer.status, &answer.body), (200, &answers[0].body));
        assert_eq!(transaction_of(answer), transaction_of(&answers[0]));
    }
    assert_eq!(till.prices_paid().await, 1);
    let sent = till.scene.node().count(till.scene.key.address(), crate::scenes::usdc::soon()).await;
    assert_eq!(sent, Ok(1), "one transaction");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_charges_nobody_is_a_402_with_its_reason() {
    let till = Till::new().await;
    till.mine_at_once().await;
    let service = till.serve();
    let payer = till.scene.payer.clone();
    let stranger = PrivateKeySigner::from_slice(&[0x33; 32]).unwrap();
    let poor = PrivateKeySigner::from_slice(&[0x44; 32]).unwrap();
    let value = "invalid_exact_evm_payload_authorization_value";
    let before = "invalid_exact_evm_payload_authorization_valid_before";
    let signed_for = |chain_id: u64| {
        let mut usdc = till.scene.usdc.clone();
        usdc.domain.chain_id = Some(U256::from(chain_id));
        usdc.authorize(&payer, till.scene.message(9))
    };
    let of_other_chain = {
        let offers = crate::scenes::till::offers_of(&service.get(&till.target()));
        crate::scenes::till::header_of(offers.v2[0].as_ref().unwrap(), &signed_for(8_453))
    };
    let good = till.changed(&service, &payer, |_| {});
    let spoiled = |path: &str, value: Value| {
        let mut payment: Value =
            serde_json::from_slice(&Base64::decode_vec(&good.1).unwrap()).unwrap();
        *payment.pointer_mut(path).unwrap() = value;
        (good.0, Base64::encode_string(payment.to_string().as_bytes()))
    };
    let signature = "/payload/signature";
    let undeployed = format!("0x{}{}", "01".repeat(96), "6492".repeat(16));
    let signature_reason = "invalid_exact_evm_payload_signature";
    let high_s = {
        let payment: Value = serde_json::from_slice(&Base64::decode_vec(&good.1).unwrap()).unwrap();
        let text = payment.pointer(signature).and_then(Value::as_str).unwrap();
        with_high_s(&text.parse::<Bytes>().unwrap()).to_string()
    };
    let cases = [
        (till.changed(&service, &payer, |m| m.value = U256::from(PRICE - 1)), value),
        (till.changed(&service, &payer, |m| m.value = U256::from(PRICE + 1)), value),
        (
            till.changed(&service, &payer, |m| m.to = Address::repeat_byte(0x78)),
            "invalid_exact_evm_payload_recipient_mismatch",
        ),
        (till.changed(&service, &payer, |m| m.validBefore = U256::from(now_s() - 1)), before),
        (till.changed(&service, &payer, |m| m.validBefore = U256::from(now_s() + 5)), before),
        (
            till.changed(&service, &payer, |m| m.validAfter = U256::from(now_s() + 60)),
            "invalid_exact_evm_payload_authorization_valid_after",
        ),
        (till.changed(&service, &stranger, |_| {}), signature_reason),
        (till.changed(&service, &poor, |m| m.from = poor.address()), "insufficient_funds"),
        (of_other_chain, signature_reason),
        (spoiled(signature, json!(undeployed)), signature_reason),
        (spoiled(signature, json!(high_s)), signature_reason),
        (spoiled(signature, json!(format!("0x{}", "11".repeat(64)))), signature_reason),
        (
            spoiled("/accepted/asset", json!(format!("0x{}", "12".repeat(20)))),
            "invalid_payment_requirements",
        ),
        (spoiled("/accepted/amount", json!("1")), "invalid_payment_requirements"),
        (spoiled("/accepted/network", json!("eip155:8453")), "invalid_network"),
    ];
    for (header, reason) in cases {
        let answer = till.pay(&service, &header);
        let said = String::from_utf8_lossy(&answer.body);
        assert_eq!(answer.status, 402, "{reason}: {said}");
        let settlement = settlement_of(&answer);
        assert!(!settlement.success && settlement.transaction.is_empty());
        assert_eq!(settlement.error_reason.as_deref(), Some(reason), "{said}");
        assert!(answer.header("payment-required").is_some());
    }
    assert_eq!(till.prices_paid().await, 0);
    assert_eq!(till.pay(&service, &good).status, 200, "the control");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_barred_payer_and_a_paused_token_are_charged_nothing() {
    let till = Till::new().await;
    let service = till.serve();
    let (chain, usdc) = (&till.scene.chain, &till.scene.usdc);
    let send = async |call: Tx| chain.mine_next(&[call]).await.unwrap();
    send(Tx::call(chain.operator, usdc.address, &FiatToken::pauseCall {})).await;
    let header = till.header(&service, 1);
    let answer = till.pay(&service, &header);
    assert_eq!(answer.status, 402);
    send(Tx::call(chain.operator, usdc.address, &FiatToken::unpauseCall {})).await;
    let barred = FiatToken::blacklistCall { account: till.scene.payer.address() };
    send(Tx::call(chain.operator, usdc.address, &barred)).await;
    let answer = till.pay(&service, &header);
    let reason = settlement_of(&answer).error_reason;
    assert_eq!((answer.status, reason.as_deref()), (402, Some("invalid_transaction_state")));
    assert_eq!(till.prices_paid().await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_read_is_a_400() {
    let till = Till::new().await;
    let service = till.serve();
    let (name, value) = till.header(&service, 1);
    let (v1, value_v1) = till.header_v1(&service, 2);
    let target = till.target();
    let proof = format!("0x{}", "ab".repeat(31));
    let long = "A".repeat(20_000);
    let other_version = Base64::encode_string(br#"{"x402Version":3}"#);
    let cases: [&[(&str, &str)]; 9] = [
        &[(name, &value), (v1, &value_v1)],
        &[(name, &value), (name, &value)],
        &[(name, "****")],
        &[(name, "bm8=")],
        &[(name, &other_version)],
        &[(name, "")],
        &[(name, &long)],
        &[("X-Payment-Proof", &proof)],
        &[("X-Payment-Proof", "0x"), (v1, &value_v1)],
    ];
    for headers in cases {
        let answer = service.ask("GET", &target, headers);
        assert_eq!(answer.problem().1, "payment_malformed", "{headers:?}");
        assert_eq!(answer.status, 400);
    }
    let too_long = "A".repeat(64 << 10);
    let status = service.ask("GET", &target, &[(name, &too_long)]).status;
    assert!([400, 431].contains(&status), "{status}");
    assert_eq!(till.prices_paid().await, 0);
}
