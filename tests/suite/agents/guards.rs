//! Guards of a call: an answer that does not satisfy them is rejected, and the rejection contains nothing else.

use serde_json::{Value, json};

use crate::scenes::agents::{Agent, call_older, document, problem};
use crate::scenes::service::{Recorded, Service, recorded};

/// The tools that answer for one pool, with valid arguments.
fn tools(recorded: &Recorded) -> [(&'static str, Value); 5] {
    let pool = recorded.pool(0);
    [
        ("estimate_exit", json!({"pool": pool, "size_usd": 1000})),
        ("max_exit_size", json!({"pool": pool, "gap_pct": 2})),
        ("simulate_orders", json!({"pool": pool, "size_usd": 1000, "orders": 2})),
        ("depth_ladder", json!({"pool": pool})),
        ("exit_history", json!({"pool": pool, "size_usd": 1000})),
    ]
}

/// For each guard: a value that the scene does not satisfy, the resulting error code, and a value that it satisfies.
fn guards() -> [(&'static str, Value, &'static str, Value); 3] {
    [
        ("max_age_s", json!(1), "snapshot_too_old", json!(u32::MAX)),
        ("min_days_observed", json!(7), "series_too_short", json!(0.01)),
        // Every chain of the scene is a preview chain: only a call without this guard passes.
        ("require", json!("live"), "not_live", Value::Null),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_guard_refuses_over_both_transports_and_lets_pass_what_meets_it() {
    let recorded = recorded(4).await;
    let variables = [("EXITGAP_HTTP_TOOLS_PER_MINUTE", "0")];
    let service = Service::start(recorded.folder.path(), &["--no-record"], &variables);
    let api = format!("http://{}", service.address);
    let there = Agent::over_stdio(recorded.folder.path(), &["--api", &api]).await;
    let here = Agent::over_stdio(recorded.folder.path(), &["--db", "exitgap.db"]).await;
    for (tool, arguments) in tools(&recorded) {
        for (guard, fails, code, passes) in guards() {
            let with = |value: &Value| {
                let mut arguments = arguments.clone();
                arguments[guard] = value.clone();
                arguments
            };
            let (fails, passes) = (with(&fails), with(&passes));
            for (refused, answered) in [
                (
                    call_older(service.address, tool, &fails),
                    call_older(service.address, tool, &passes),
                ),
                (there.call(tool, &fails).await, there.call(tool, &passes).await),
                (here.call(tool, &fails).await, here.call(tool, &passes).await),
            ] {
                let refused = problem(&refused);
                assert_eq!((&refused["code"], &refused["field"]), (&json!(code), &json!(guard)));
                assert!(document(&answered).is_object(), "{tool} {guard}");
            }
        }
        let mut arguments = arguments;
        arguments["require"] = json!("anything");
        let refused = problem(&call_older(service.address, tool, &arguments));
        assert_eq!(refused["code"], "invalid_parameter", "{tool}");
    }
    there.end().await;
    here.end().await;
    assert_eq!(service.end(), Some(0));
}
