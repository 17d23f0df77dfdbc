//! Payments that the policy does not allow, and places to which no payment is sent.

use exitgap_api::x402::TokenDomain;

use super::*;

#[test]
fn what_the_policy_does_not_allow_is_not_signed() {
    let settling = || Scene::settling(&priced(10_000));
    let refused = |change: &dyn Fn(&mut Policy)| settling().with(change).refused();
    assert_eq!(refused(&|policy| policy.max_per_call = Usdc(9_999)), "max_per_call_exceeded");
    assert_eq!(refused(&|policy| policy.budgets[0].limit = Usdc(9_999)), "budget_exceeded");
    assert_eq!(refused(&|policy| policy.networks = vec![Caip2(1)]), "network_not_allowed");
    assert_eq!(refused(&|policy| policy.assets.clear()), "asset_not_allowed");
    let strangers = Payees::Listed(vec![Address([3; 20])]);
    assert_eq!(refused(&|policy| policy.payees = strangers.clone()), "payee_not_allowed");
    for (host, prefix) in [("exitgap.example:8443", "/"), ("exitgap.example", "/v1/exi")] {
        let scene = settling().with(|policy| {
            policy.budgets[0].host = host.to_owned();
            policy.budgets[0].path_prefix = prefix.to_owned();
        });
        assert_eq!(code(scene.get()), "no_budget");
        assert!(scene.sent().is_empty());
    }
    // Every budget that covers it must have room.
    let two = |policy: &mut Policy| {
        let small =
            Budget { limit: Usdc(1), path_prefix: "/".to_owned(), ..policy.budgets[0].clone() };
        policy.budgets.push(small);
    };
    assert_eq!(settling().with(two).refused(), "budget_exceeded");
    settling().get().unwrap();
    // A signature for a token with another name would be useless, or worse.
    let mut named = priced(10_000);
    named.terms.domain = TokenDomain { name: "USDC".to_owned(), version: "2".to_owned() };
    assert_eq!(Scene::settling(&named).refused(), "asset_not_allowed");
    // Beyond 2^53 nothing is rounded, and nothing paid.
    assert_eq!(Scene::settling(&priced((1 << 53) + 1)).refused(), "max_per_call_exceeded");
    let exact = (1 << 53) + 1;
    let below = |policy: &mut Policy| policy.max_per_call = Usdc(exact - 1);
    assert_eq!(Scene::settling(&priced(exact)).with(below).refused(), "max_per_call_exceeded");
    assert_eq!(Scene::settling(&priced(0)).refused(), "offer_unreadable");
}

#[test]
fn a_payee_that_was_swapped_is_not_paid() {
    let scene = Scene::settling(&priced(10_000));
    scene.get().unwrap();
    let mut swapped = priced(10_000);
    swapped.terms.pay_to = Address([3; 20]);
    scene.shop.unpaid.borrow_mut()[0] = offer(&swapped);
    assert_eq!(code(scene.get()), "payee_changed");
    assert_eq!((scene.sent().len(), scene.spent()), (1, 10_000));
}

#[test]
fn nothing_is_paid_after_a_redirect_or_without_tls() {
    let moved = set(answer(302), "location", Some("https://elsewhere.example/"));
    let scene = Scene::new(moved.clone(), vec![Ok(answer(200))]);
    assert_eq!(scene.get().unwrap().status, 302);
    assert!(scene.sent().is_empty());
    // A redirect in answer to a payment is returned to the caller; the payment is sent nowhere else.
    let scene = Scene::new(offer(&priced(10_000)), vec![Ok(moved)]);
    assert_eq!(scene.get().unwrap().status, 302);
    assert_eq!((scene.shop.asked.borrow().len(), scene.spent()), (2, 10_000));

    let scene = Scene::settling(&priced(10_000));
    for url in ["http://exitgap.example/v1/exit/a", "http://127.0.0.1.example/v1/exit/a", "nowhere"]
    {
        assert_eq!(code(now(scene.paying().send(&request(url)))), "address_not_paid", "{url}");
    }
    let here = scene.with(|policy| policy.budgets[0].host = "127.0.0.1:8080".to_owned());
    let url = "http://127.0.0.1:8080/v1/exit/a";
    assert_eq!(now(here.paying().send(&request(url))).unwrap().status, 200);
    // The path's budget cannot be bypassed.
    let url = "http://127.0.0.1:8080/v1/exit/%2e%2e/other";
    assert_eq!(code(now(here.paying().send(&request(url)))), "no_budget");
}
