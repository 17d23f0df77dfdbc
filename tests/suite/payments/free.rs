//! The daily free allowance of each client if answers have a price.

use serde_json::json;

use crate::scenes::agents::{call_newest, call_older, document};
use crate::scenes::till::{SIZE, Till};

#[tokio::test(flavor = "multi_thread")]
async fn a_days_free_estimates_are_counted_by_tools_and_portfolios_together() {
    let till = Till::new().await;
    let service = till.serve_with(&[("EXITGAP_PAYMENTS_FREE_ESTIMATES_PER_DAY", "5")]);
    assert_eq!(service.get("/v1/payments").found()["free_estimates_per_day"], 5);
    let (pool, address) = (&till.pool, service.address);
    let size = json!({"pool": pool, "size_usd": 1000});
    let sized = [
        ("estimate_exit", size.clone()),
        ("max_exit_size", json!({"pool": pool, "gap_pct": 2})),
        ("simulate_orders", json!({"pool": pool, "size_usd": 1000, "orders": 2})),
    ];
    let free = [("list_pools", json!({})), ("depth_ladder", json!({"pool": pool}))];
    for (tool, arguments) in sized.iter().chain(&free).chain(&free) {
        document(&call_newest(address, tool, arguments));
    }
    // An invalid request does not count.
    let wrong = call_older(address, "estimate_exit", &json!({"pool": pool}));
    assert!(wrong["content"][0]["text"].as_str().unwrap().contains("invalid_parameter"), "{wrong}");
    // Two estimates are left: a portfolio of three positions is rejected and does not count; one of two succeeds.
    let portfolio = |positions: usize| {
        let positions = vec![format!("position={pool}:1000"); positions].join("&");
        service.get(&format!("/v1/portfolio?{positions}"))
    };
    assert_eq!(portfolio(3).problem(), (429, "free_estimates_used".to_owned(), None));
    portfolio(2).found();
    let refused = portfolio(1);
    assert_eq!(refused.problem().1, "free_estimates_used");
    let hint = refused.json()["hint"].as_str().unwrap().to_owned();
    assert!(hint.contains("/v1/exit/{pool}?size_usd="), "{hint}");
    for (tool, arguments) in &sized {
        for result in [call_newest(address, tool, arguments), call_older(address, tool, arguments)]
        {
            assert_eq!(result["isError"], true, "{tool}: {result}");
            assert!(result.get("structuredContent").is_none_or(serde_json::Value::is_null));
            let text = result["content"][0]["text"].as_str().unwrap();
            assert!(text.contains("free_estimates_used") && text.contains("/v1/exit/"), "{text}");
        }
    }
    for (tool, arguments) in &free {
        document(&call_newest(address, tool, arguments));
    }
    // Priced operations are not part of the allowance, and snapshots and evidence do not count.
    assert_eq!(service.get(&format!("/v1/exit/{pool}?size_usd={SIZE}")).status, 402);
    service.get(&format!("/v1/ladder/{pool}")).found();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_a_tool_sells_over_its_pools_counts_as_five_estimates() {
    let till = Till::new().await;
    let service = till.serve_with(&[("EXITGAP_PAYMENTS_FREE_ESTIMATES_PER_DAY", "6")]);
    let (pool, address) = (&till.pool, service.address);
    let listed = service.get("/v1/pools").found();
    let (chain, token) = (&listed["pools"][0]["chain"], &listed["pools"][0]["base"]["address"]);
    let sale = json!({"chain": chain, "token": token, "size_usd": 1000, "into": "any"});
    document(&call_newest(address, "estimate_exit", &sale));
    let refused = call_newest(address, "estimate_exit", &sale);
    let text = refused["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("free_estimates_used"), "{text}");
    document(&call_newest(address, "estimate_exit", &json!({"pool": pool, "size_usd": 1000})));
}
