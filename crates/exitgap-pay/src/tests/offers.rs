//! Offers that disagree or cannot be parsed, and the cases shared with the npm package.

use base64ct::{Base64, Encoding};
use exitgap_api::x402::PAYMENT_REQUIRED;
use serde_json::Value;

use super::*;

/// A 402 with a changed version 2 offer.
fn changed_v2(change: impl Fn(&mut Value)) -> Response {
    let good = offer(&priced(10_000));
    let bytes = Base64::decode_vec(good.header(PAYMENT_REQUIRED).unwrap()).unwrap();
    let mut required: Value = serde_json::from_slice(&bytes).unwrap();
    change(&mut required["accepts"][0]);
    let header = Base64::encode_string(required.to_string().as_bytes());
    set(good, PAYMENT_REQUIRED, Some(&header))
}

fn changed_v1(change: impl Fn(&mut Value)) -> Response {
    let good = offer(&priced(10_000));
    let mut body: Value = serde_json::from_slice(&good.body).unwrap();
    change(&mut body["accepts"][0]);
    Response { body: body.to_string().into_bytes(), ..good }
}

#[test]
fn offers_that_disagree_or_cannot_be_read_are_not_paid() {
    let refused = |offer: Response| {
        let scene = Scene::new(offer, vec![Ok(answer(200))]);
        scene.refused()
    };
    let other = json!(Address([3; 20]));
    assert_eq!(refused(changed_v2(|terms| terms["payTo"] = other.clone())), "offer_inconsistent");
    assert_eq!(refused(changed_v1(|terms| terms["payTo"] = other.clone())), "offer_inconsistent");
    let plain = |name: &str, value: &str| refused(set(offer(&priced(10_000)), name, Some(value)));
    assert_eq!(
        refused(changed_v1(|terms| terms["maxAmountRequired"] = json!("9999"))),
        "offer_inconsistent"
    );
    assert_eq!(
        refused(changed_v1(|terms| terms["network"] = json!("base-sepolia"))),
        "offer_inconsistent"
    );
    assert_eq!(plain(x402::X_PAYMENT_AMOUNT, "0.001"), "offer_inconsistent");
    assert_eq!(plain(x402::X_PAYMENT_CURRENCY, "EURC"), "offer_inconsistent");
    assert_eq!(plain(x402::X_PAYMENT_NETWORK, "eip155:1"), "offer_inconsistent");
    let stranger = Address([3; 20]).to_string();
    assert_eq!(plain(x402::X_PAYMENT_RECIPIENT, &stranger), "offer_inconsistent");

    for wrong in ["1e3", "NaN", "-1", "0x2710", "10000.0", ""] {
        let read = refused(changed_v2(|terms| terms["amount"] = json!(wrong)));
        assert_eq!(read, "amount_unreadable", "{wrong}");
        let read = refused(changed_v1(|terms| terms["maxAmountRequired"] = json!(wrong)));
        assert_eq!(read, "amount_unreadable", "{wrong}");
        assert_eq!(plain(x402::X_PAYMENT_AMOUNT, &format!("{wrong}e")), "amount_unreadable");
    }
    assert_eq!(refused(changed_v2(|terms| terms["amount"] = json!(10000))), "offer_unreadable");
    let only_upto = changed_v2(|terms| terms["scheme"] = json!("upto"));
    assert_eq!(refused(Response { body: b"{}".to_vec(), ..only_upto }), "offer_unreadable");
    assert_eq!(refused(answer(402)), "offer_unreadable");
    let transfer = set(offer(&priced(10_000)), PAYMENT_REQUIRED, None);
    assert_eq!(refused(Response { body: b"{}".to_vec(), ..transfer }), "offer_unreadable");
}

/// The same 402s and URLs as in the npm package's tests.
#[test]
fn the_shared_cases_come_to_what_they_say() {
    const CASES: &str = include_str!("../../../../tests/vectors/x402/offers.json");
    let vectors: Value = serde_json::from_str(CASES).unwrap();
    let policy = |policy: &mut Policy| {
        policy.networks.push(Caip2(84532));
        let other = Budget { path_prefix: "/v1/other".to_owned(), ..policy.budgets[0].clone() };
        policy.budgets.push(other);
    };
    let answer_of = |case: &Value| {
        let mut good = vectors["good"].clone();
        for (pointer, value) in case["set"].as_object().into_iter().flatten() {
            *good.pointer_mut(pointer).unwrap() = value.clone();
        }
        let without = case["without"].as_array().cloned().unwrap_or_default();
        let has = |part: &str| !without.contains(&json!(part));
        let mut answer = answer(402);
        if has("required") {
            let header = Base64::encode_string(good["required"].to_string().as_bytes());
            answer = set(answer, PAYMENT_REQUIRED, Some(&header));
        }
        let plain = good["plain"].as_object().unwrap().iter().filter(|_| has("plain"));
        for (name, value) in plain {
            answer = set(answer, name, value.as_str());
        }
        let body = if has("body") { good["body"].to_string() } else { String::new() };
        Response { body: body.into_bytes(), ..answer }
    };
    let paid = || vec![Ok(told(answer(200), true, ""))];
    for case in vectors["cases"].as_array().unwrap() {
        let scene = Scene::new(answer_of(case), paid()).with(policy);
        match case["pays"].as_str() {
            Some(header) => {
                assert_eq!(scene.get().unwrap().status, 200, "{case}");
                assert_eq!(scene.sent()[0].0, header, "{case}");
            }
            None => assert_eq!(scene.refused(), case["code"].as_str().unwrap(), "{case}"),
        }
    }
    for case in vectors["addresses"].as_array().unwrap() {
        let scene = Scene::new(answer_of(case), paid()).with(policy);
        let outcome = now(scene.paying().send(&request(case["url"].as_str().unwrap())));
        match case["code"].as_str() {
            Some(expected) => assert_eq!(code(outcome), expected, "{case}"),
            None => assert_eq!(outcome.unwrap().status, 200, "{case}"),
        }
    }
}
