//! The offers, who gets them, and what is free of charge.

use exitgap_api::x402::{Units, Version};
use exitgap_core::ids::Caip2;

use crate::scenes::till::{Till, offers_of};
use crate::scenes::usdc::{CHAIN_ID, PRICE, own};

#[tokio::test(flavor = "multi_thread")]
async fn one_402_offers_three_ways_and_all_else_is_free() {
    let till = Till::new().await;
    let service = till.serve();
    let answer = service.get(&till.target());
    assert_eq!(answer.header("content-type"), Some("application/json"));
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    let document = answer.json();
    assert_eq!(
        (document["code"].as_str(), document["status"].as_u64()),
        (Some("payment_required"), Some(402))
    );
    assert_eq!(document["request_id"].as_str(), answer.header("x-request-id"));
    let offers = offers_of(&answer);
    let [v2, v1] = [&offers.v2, &offers.v1].map(|all| all[0].as_ref().unwrap());
    assert_eq!((v2.version(), v1.version()), (Version::V2, Version::V1));
    assert_eq!(v1.terms, v2.terms);
    assert_eq!(v2.terms.amount, Units(PRICE.into()));
    assert_eq!((v2.terms.network, v2.terms.pay_to), (Caip2(CHAIN_ID), own(till.scene.pay_to)));
    assert_eq!((v2.terms.domain.name.as_str(), v2.terms.domain.version.as_str()), ("USDC", "2"));
    let plain = offers.plain.unwrap();
    assert_eq!((plain.amount.as_str(), plain.currency.as_str()), ("0.01", "USDC"));
    let bytes: usize =
        answer.headers.iter().map(|(name, value)| name.len() + value.len() + 4).sum();
    assert!(bytes < 4096, "{bytes}");
    let of_page = service.ask("GET", &till.target(), &[("Origin", "https://page.example")]);
    let exposed = of_page.header("access-control-expose-headers").unwrap();
    for name in ["payment-required", "payment-response", "x-payment-response", "x-payment-receipt"]
    {
        assert!(exposed.contains(name), "{name} in {exposed}");
    }
    let free = [
        format!("/v1/ladder/{}", till.pool),
        format!("/v1/portfolio?position={}:1000", till.pool),
        "/v1/pools".to_owned(),
        "/v1/fragility?size_usd=1000000".to_owned(),
        "/v1/payments".to_owned(),
    ];
    for target in free {
        let answer = service.get(&target);
        assert_eq!(answer.status, 200, "{target}: {}", String::from_utf8_lossy(&answer.body));
    }
    let document = service.get("/v1/payments").json();
    assert_eq!(
        (document["price"].as_str(), document["network"].as_str()),
        (Some("0.01"), Some("eip155:84532"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_asks_for_no_answer_is_never_settled() {
    let till = Till::new().await;
    till.mine_at_once().await;
    let service = till.serve();
    let (name, value) = till.header(&service, 1);
    let target = till.target();
    let head = service.ask("HEAD", &target, &[(name, &value)]);
    assert_eq!((head.status, head.body.len()), (402, 0));
    assert_eq!(service.ask("OPTIONS", &target, &[(name, &value)]).status, 204);
    let preflight =
        [("Origin", "https://a.example"), ("Access-Control-Request-Method", "GET"), (name, &value)];
    assert!(service.ask("OPTIONS", &target, &preflight).status < 300);
    for (target, status) in [
        (format!("/v1/exit/{}?size_usd=-1", till.pool), 400),
        (format!("/v1/exit/{}", till.pool), 400),
        ("/v1/exit/anvil:0x00000000000000000000000000000000000000aa?size_usd=1".to_owned(), 404),
        (format!("/v1/exit/{}?size_usd=999999999", till.pool), 422),
    ] {
        let answer = service.ask("GET", &target, &[(name, &value)]);
        assert_eq!(answer.status, status, "{target} {}", String::from_utf8_lossy(&answer.body));
    }
    assert_eq!(till.prices_paid().await, 0);
    // The payment is still unused.
    assert_eq!(till.pay(&service, &(name, value)).status, 200);
    assert_eq!(till.prices_paid().await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_coin_for_fees_nothing_is_offered() {
    let till = Till::new().await;
    let key = till.scene.key.address().0.into();
    till.scene.chain.set_balance(key, alloy::primitives::U256::from(1_000)).await.unwrap();
    let service = till.serve();
    let answer = service.get(&till.target());
    assert_eq!(answer.problem(), (503, "payments_unavailable".to_owned(), None));
    assert_eq!(answer.header("payment-required"), None);
    assert!(answer.header("retry-after").is_some());
}
