//! Every tool returns the same result as the HTTP operation with the same arguments, over every transport.

use exitgap_tests::devchain::World;
use serde_json::{Value, json};

use crate::scenes::agents::{Agent, NEWEST, OLDER, call_newest, call_older, document, problem};
use crate::scenes::service::{Recorded, Service, recorded};

const TOOLS: [&str; 8] = [
    "list_pools",
    "estimate_exit",
    "max_exit_size",
    "simulate_orders",
    "depth_ladder",
    "exit_history",
    "fragility_board",
    "verify_evidence",
];

/// A tool, its arguments, and the HTTP address of the equivalent request.
type Question = (&'static str, Value, String);

fn questions(recorded: &Recorded) -> Vec<Question> {
    let (pool, other) = (recorded.pool(0), recorded.pool(1));
    let token = format!("{:#x}", recorded.world.assets[World::WETH].token.address);
    let at = "2026-08-22T00:05:00Z";
    vec![
        ("list_pools", json!({}), "/v1/pools".to_owned()),
        (
            "list_pools",
            json!({"chain": "anvil", "limit": 1, "cursor": null}),
            "/v1/pools?chain=anvil&limit=1".to_owned(),
        ),
        ("list_pools", json!({"chain": "none"}), "/v1/pools?chain=none".to_owned()),
        (
            "estimate_exit",
            json!({"pool": pool, "size_usd": 25000.5, "base": "token0"}),
            format!("/v1/exit/{pool}?size_usd=25000.5&base=token0"),
        ),
        (
            "estimate_exit",
            json!({"pool": other, "size_usd": "1000", "at": at}),
            format!("/v1/exit/{other}?size_usd=1000&at={at}"),
        ),
        (
            "estimate_exit",
            json!({"pool": pool, "size_usd": 1_000_000_000}),
            format!("/v1/exit/{pool}?size_usd=1000000000"),
        ),
        (
            "estimate_exit",
            json!({"pool": pool, "size_usd": 1000, "at": "2026-08-21T00:00:00Z"}),
            format!("/v1/exit/{pool}?size_usd=1000&at=2026-08-21T00:00:00Z"),
        ),
        (
            "estimate_exit",
            json!({"chain": "anvil", "token": token, "amount": "1.5", "into": "any"}),
            format!("/v1/cash/anvil/{token}?amount=1.5&into=any"),
        ),
        (
            "estimate_exit",
            json!({"chain": "anvil", "token": token, "size_usd": 25_000, "tolerance_pct": 1}),
            format!("/v1/cash/anvil/{token}?size_usd=25000&tolerance_pct=1"),
        ),
        (
            "estimate_exit",
            json!({"chain": "anvil", "token": token}),
            format!("/v1/cash/anvil/{token}"),
        ),
        (
            "estimate_exit",
            json!({"chain": "anvil", "token": token, "size_usd": 1, "require": "live"}),
            format!("/v1/cash/anvil/{token}?size_usd=1&require=live"),
        ),
        (
            "max_exit_size",
            json!({"pool": pool, "gap_pct": 2, "base": "token1"}),
            format!("/v1/size/{pool}?gap_pct=2&base=token1"),
        ),
        (
            "max_exit_size",
            json!({"pool": pool, "gap_pct": -100}),
            format!("/v1/size/{pool}?gap_pct=-100"),
        ),
        (
            "simulate_orders",
            json!({"pool": pool, "size_usd": 20_000, "orders": 3, "recovery_pct": 12.5}),
            format!("/v1/simulate/{pool}?size_usd=20000&orders=3&recovery_pct=12.5"),
        ),
        (
            "simulate_orders",
            json!({"pool": pool, "size_usd": 20_000, "orders": 0}),
            format!("/v1/simulate/{pool}?size_usd=20000&orders=0"),
        ),
        ("depth_ladder", json!({"pool": pool}), format!("/v1/ladder/{pool}")),
        (
            "exit_history",
            json!({"pool": pool, "size_usd": 10_000, "interval": "5m", "limit": 2}),
            format!("/v1/history/{pool}?size_usd=10000&interval=5m&limit=2"),
        ),
        (
            "exit_history",
            json!({"pool": pool, "size_usd": 123}),
            format!("/v1/history/{pool}?size_usd=123"),
        ),
        (
            "fragility_board",
            json!({"sort": "depth", "limit": 1}),
            "/v1/fragility?sort=depth&limit=1".to_owned(),
        ),
    ]
}

/// Removes the fields that depend on the current time.
fn timeless(document: &Value) -> Value {
    let mut document = document.clone();
    if let Some(members) = document.as_object_mut() {
        members.remove("snapshot_age_s");
    }
    document
}

/// Requires that a tool's result equals the answer of the equivalent address.
fn require_same(result: &Value, service: &Service, (tool, arguments, target): &Question) {
    let answer = service.get(target);
    let about = format!("{tool} {arguments}");
    if answer.status == 200 {
        assert_eq!(timeless(&document(result)), timeless(&answer.json()), "{about}");
        return;
    }
    let (refused, told) = (problem(result), answer.json());
    for member in ["code", "detail", "field", "hint", "reason", "max_fillable_usd", "evidence_url"]
    {
        assert_eq!(refused.get(member), told.get(member), "{about}: {member}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_tool_answers_as_its_address_does_in_both_eras() {
    let recorded = recorded(4).await;
    let variables = [("EXITGAP_HTTP_TOOLS_PER_MINUTE", "0")];
    let service = Service::start(recorded.folder.path(), &["--no-record"], &variables);
    let (older, newest) = (
        Agent::over_http(service.address, OLDER).await,
        Agent::over_http(service.address, NEWEST).await,
    );
    assert_eq!(older.tools().await, TOOLS);
    assert_eq!(newest.tools().await, TOOLS);
    for question in questions(&recorded) {
        let (tool, arguments, _) = &question;
        require_same(&call_older(service.address, tool, arguments), &service, &question);
        require_same(&call_newest(service.address, tool, arguments), &service, &question);
        require_same(&older.call(tool, arguments).await, &service, &question);
        require_same(&newest.call(tool, arguments).await, &service, &question);
    }
    older.end().await;
    newest.end().await;
    assert_eq!(service.end(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn every_tool_answers_the_same_on_the_callers_machine() {
    let recorded = recorded(4).await;
    let service = Service::start(recorded.folder.path(), &["--no-record"], &[]);
    let api = format!("http://{}", service.address);
    let agent = Agent::over_stdio(recorded.folder.path(), &["--api", &api]).await;
    assert_eq!(agent.tools().await, TOOLS);
    for question in questions(&recorded) {
        let (tool, arguments, _) = &question;
        require_same(&agent.call(tool, arguments).await, &service, &question);
    }
    agent.end().await;
    assert_eq!(service.end(), Some(0));
}
